// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hash table to find the set of a function by the address of its call site
 *
 * On architectures without trampolines for sets, functions call the list
 * function whenever several ops are registered. The list function finds the ops
 * to call here, with a single lookup. The table also stores which slots each
 * record belongs to and uses, as struct dyn_ftrace has no room for that.
 */
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/* Empty table, used until the first function is traced */
static struct ftrace_mux_table ftrace_mux_no_funcs = {
	.heads = { [0] = {} },
};

/* Written with ftrace_lock held. The table is allocated once and never freed */
struct hlist_head *ftrace_mux_heads __read_mostly = ftrace_mux_no_funcs.heads;

/* Makes the list function walk all registered ops and test their filters */
struct ftrace_mux_tramp ftrace_mux_walk = {
	.func = ftrace_ops_walk,
};

/* For functions that belong to no slot yet, or not any more */
static struct ftrace_mux_jump ftrace_mux_no_slot = {
	.tramp = &ftrace_mux_walk,
};

/*
 * The list function. Like a trampoline, it does not change the preemption state
 * for callbacks. It ends with a tail call, so it leaves no frame on the stack.
 */
#if ARCH_SUPPORTS_FTRACE_OPS
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_mux_tramp *tramp = ftrace_mux_find_tramp(ip);
	ftrace_func_t func = READ_ONCE(tramp->func);

	func(ip, parent_ip, tramp->arg, fregs);
}
#else
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip)
{
	struct ftrace_mux_tramp *tramp = ftrace_mux_find_tramp(ip);
	ftrace_func_t func = READ_ONCE(tramp->func);

	func(ip, parent_ip, tramp->arg, NULL);
}
#endif
NOKPROBE_SYMBOL(arch_ftrace_ops_list_func);

/*
 * Call several ops, or a single one if its flags must be tested on each call.
 * @arg is the trampoline, passed as an ops because of ftrace_func_t.
 */
static void ftrace_mux_call_all(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *arg, struct ftrace_regs *fregs)
{
	struct ftrace_mux_tramp *tramp = (void *)arg;
	unsigned int i;

	for (i = 0; i < tramp->nr_callees; i++) {
		struct ftrace_ops *op = tramp->callees[i];
		ftrace_func_t func = READ_ONCE(op->func);

		if (unlikely(op->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_RCU |
					  FTRACE_OPS_FL_RECURSION |
					  FTRACE_OPS_FL_SAVE_REGS))) {
			if (op->flags & FTRACE_OPS_FL_STUB)
				continue;
			/* The call site is yet to be patched to save them */
			if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&
			    op->flags & FTRACE_OPS_FL_SAVE_REGS &&
			    !ftrace_get_regs(fregs))
				continue;
			func = ftrace_ops_get_func(op);
		}
		func(ip, parent_ip, op, fregs);
	}
}
NOKPROBE_SYMBOL(ftrace_mux_call_all);

/**
 * arch_ftrace_tramp_create - set up what the list function calls
 * @tramp:	holds the callees
 *
 * Context: ftrace_lock held.
 * Return: true.
 */
bool arch_ftrace_tramp_create(struct ftrace_mux_tramp *tramp)
{
	struct ftrace_ops *op = tramp->callees[0];

	if (tramp->nr_callees > 1 ||
	    op->flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SAVE_REGS)) {
		tramp->func = ftrace_mux_call_all;
		tramp->arg = tramp;
	} else {
		tramp->func = ftrace_ops_get_func(op);
		tramp->arg = op;
	}

	return true;
}

/**
 * arch_ftrace_tramp_update - update the callback that the list function calls
 * @tramp:	holds the callees; their callbacks may have changed
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_tramp_update(struct ftrace_mux_tramp *tramp)
{
	if (tramp->arg != tramp)
		WRITE_ONCE(tramp->func, ftrace_ops_get_func(tramp->arg));
}

/**
 * ftrace_mux_find_callee - find the ops argument of a callback for a function
 * @ip:		address of the call site, as in the record
 * @ops:	the ops, which may be a manager
 *
 * Context: any, NMI included. Preemption has to be disabled as long as the
 * result is used.
 * Return: @ops, or the subset of its subops that trace the function; NULL if
 * the set of the function does not contain @ops. @ops if the function has no
 * set.
 */
struct ftrace_ops *
ftrace_mux_find_callee(unsigned long ip, struct ftrace_ops *ops)
{
	struct ftrace_mux_tramp *tramp = ftrace_mux_find_tramp(ip);
	unsigned int i;

	for (i = 0; i < tramp->nr_callees; i++) {
		struct ftrace_ops *callee = tramp->callees[i];

		if (callee == ops ||
		    (ftrace_ops_is_subset(callee) && callee->managed == ops))
			return callee;
	}

	return tramp->nr_callees ? NULL : ops;
}

/* About one bucket per function, but no more than 65536 */
static bool ftrace_mux_make_table(void)
{
	unsigned int bits = clamp(order_base_2(ftrace_update_tot_cnt + 1), 8, 16);
	struct ftrace_mux_table *table;

	table = kvzalloc(struct_size(table, heads, 1UL << bits), GFP_KERNEL);
	if (!table)
		return false;

	table->mask = (1UL << bits) - 1;
	/* Pairs with READ_ONCE() in ftrace_mux_head() */
	smp_store_release(&ftrace_mux_heads, table->heads);

	return true;
}

/**
 * ftrace_rec_reserve_slot - make sure that a record has a table entry
 * @rec:	the record
 *
 * Context: ftrace_lock held; may sleep.
 * Return: false on allocation failure.
 */
bool ftrace_rec_reserve_slot(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func;

	if (ftrace_mux_find(rec->ip))
		return true;

	if (ftrace_mux_heads == ftrace_mux_no_funcs.heads && !ftrace_mux_make_table())
		return false;

	func = kzalloc(sizeof(*func), GFP_KERNEL);
	if (!func)
		return false;

	func->ip = rec->ip;
	func->jump = &ftrace_mux_no_slot;
	hlist_add_head_rcu(&func->node, ftrace_mux_head(rec->ip));

	return true;
}

/**
 * ftrace_rec_slot - find the slot that a record belongs to
 * @rec:	the record
 *
 * Context: ftrace_lock held.
 * Return: the slot ID, 0 if there is none.
 */
unsigned int ftrace_rec_slot(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	return func ? func->slot : 0;
}

/**
 * ftrace_rec_slot_called - find the slot that the list function uses
 * @rec:	record of the traced function
 *
 * Context: ftrace_lock held.
 * Return: the slot ID, 0 if there is none.
 */
unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	return func ? func->called : 0;
}

/**
 * ftrace_rec_assign_slot - assign a record to a slot
 * @rec:	the record
 * @id:		the slot ID; zero for none. Otherwise,
 *		ftrace_rec_reserve_slot() must have returned true for @rec
 *
 * Context: ftrace_lock held.
 */
void ftrace_rec_assign_slot(struct dyn_ftrace *rec, unsigned long id)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (func)
		func->slot = id;
}

/**
 * ftrace_rec_call_slot - make the list function call the ops of a slot
 * @rec:	record of the traced function
 * @id:		the slot ID; zero to walk all registered ops
 * @jump:	the jump of the slot, or NULL
 *
 * Context: ftrace_lock held.
 */
void ftrace_rec_call_slot(struct dyn_ftrace *rec, unsigned long id,
			  struct ftrace_mux_jump *jump)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (!func)
		return;

	func->called = id;
	/* Pairs with READ_ONCE() in ftrace_mux_find_tramp() */
	smp_store_release(&func->jump, jump ?: &ftrace_mux_no_slot);
}

static void ftrace_mux_func_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct ftrace_mux_func, rcu));
}

static void ftrace_mux_func_free_rude(struct rcu_head *rcu)
{
	/* Functions are also traced where RCU is not watching */
	call_rcu_tasks_rude(rcu, ftrace_mux_func_free);
}

/**
 * ftrace_rec_drop - remove the table entry of a record without a slot
 * @rec:	the record
 *
 * Context: ftrace_lock held.
 */
void ftrace_rec_drop(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (!func)
		return;

	hlist_del_rcu(&func->node);
	/* Tasks may have been preempted in the list function */
	call_rcu_tasks(&func->rcu, ftrace_mux_func_free_rude);
}
