// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the set of a function by its address, where functions can't call it
 *
 * On architectures without trampolines for sets, functions call the list function
 * whenever there are several ops in the system. That finds here which ops to call,
 * with a single look-up. The table also says which slot each record belongs to, for
 * which records have no room.
 */
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/* Before anything is traced: there is nothing to be found */
static struct ftrace_mux_table ftrace_mux_no_funcs = {
	.heads = { [0] = {} },
};

/* Written with ftrace_lock held. Once there is another table it stays */
struct hlist_head *ftrace_mux_heads __read_mostly = ftrace_mux_no_funcs.heads;

/* Has the list function look for the ops that are to be called among all */
struct ftrace_mux_tramp ftrace_mux_walk = {
	.func = ftrace_ops_walk,
};

/* For functions that do not belong to any slot yet, or not any more */
static struct ftrace_mux_jump ftrace_mux_no_slot = {
	.tramp = &ftrace_mux_walk,
};

/*
 * The list function. Like a trampoline it calls callbacks with preemption as it
 * was. Its last call is a jump: there is nothing of it on the stack then.
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

/* Call several ops that trace a function, or one whose flags have to be looked at */
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
			/* The call site is just being patched to save them */
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
 * arch_ftrace_tramp_create - find out what the list function is to call
 * @tramp:	for the callees of this
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
 * arch_ftrace_tramp_update - have the list function call another callback
 * @tramp:	for the callees of this, whose callbacks may have changed
 *
 * Context: ftrace_lock held.
 */
void arch_ftrace_tramp_update(struct ftrace_mux_tramp *tramp)
{
	if (tramp->arg != tramp)
		WRITE_ONCE(tramp->func, ftrace_ops_get_func(tramp->arg));
}

/**
 * ftrace_mux_find_callee - find out with what an ops is called for a function
 * @ip:		address of its record
 * @ops:	the ops, maybe a manager
 *
 * Context: any, NMI included, with preemption disabled until what is returned is
 * not used any more.
 * Return: @ops itself, or the subset of its subops; NULL if it is not called for
 * the function. If that is not known, @ops.
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

/* About as many heads as there are functions, but no more than 64 thousand */
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
 * ftrace_rec_may_have_slot - make room to say which slot a record belongs to
 * @rec:	the record
 *
 * Context: ftrace_lock held; may sleep.
 * Return: false if there is no memory.
 */
bool ftrace_rec_may_have_slot(struct dyn_ftrace *rec)
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
 * ftrace_rec_slot - the slot that a record belongs to
 * @rec:	the record
 *
 * Context: ftrace_lock held.
 * Return: the number of the slot, 0 if there is none.
 */
unsigned int ftrace_rec_slot(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	return func ? func->slot : 0;
}

/**
 * ftrace_rec_slot_called - the slot whose ops the list function calls
 * @rec:	the record of the function for which it does
 *
 * Context: ftrace_lock held.
 * Return: the number of the slot, 0 if there is none.
 */
unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	return func ? func->called : 0;
}

/**
 * ftrace_rec_choose_slot - have a record belong to a slot
 * @rec:	the record
 * @id:		the number of the slot, after ftrace_rec_may_have_slot(); zero for
 *		none
 *
 * Context: ftrace_lock held.
 */
void ftrace_rec_choose_slot(struct dyn_ftrace *rec, unsigned long id)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (func)
		func->slot = id;
}

/**
 * ftrace_rec_call_slot - have the list function call the ops of a slot
 * @rec:	the record of the function for which it is to do so
 * @id:		the number of the slot; zero to have it look for the ops
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

static void ftrace_mux_func_left(struct rcu_head *rcu)
{
	/* Functions are traced where RCU is not watching, too */
	call_rcu_tasks_rude(rcu, ftrace_mux_func_free);
}

/**
 * ftrace_rec_drop - a record is not in any slot any more
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
	call_rcu_tasks(&func->rcu, ftrace_mux_func_left);
}
