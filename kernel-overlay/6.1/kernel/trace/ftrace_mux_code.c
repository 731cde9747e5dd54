// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jumps that functions with several ops call, and the trampolines they lead to
 *
 * ftrace_mux.c decides which of them are needed. This file creates them, finds
 * them for unwinders, and frees them when no task can be in them any more.
 */
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/*
 * Jumps and trampolines to be freed: those that tasks may be in, and those that
 * only unwinders may still use. Protected by ftrace_lock
 */
static LIST_HEAD(ftrace_mux_retired);
static LIST_HEAD(ftrace_mux_erased);

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES

/* All jumps and trampolines by address; read without ftrace_lock */
static struct latch_tree_root ftrace_mux_tree __cacheline_aligned;

static __always_inline struct ftrace_mux_code *
ftrace_mux_node_code(struct latch_tree_node *node)
{
	return container_of(node, struct ftrace_mux_code, node);
}

static __always_inline bool
ftrace_mux_tree_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return ftrace_mux_node_code(a)->start < ftrace_mux_node_code(b)->start;
}

static __always_inline int
ftrace_mux_tree_comp(void *addr, struct latch_tree_node *node)
{
	struct ftrace_mux_code *code = ftrace_mux_node_code(node);

	if ((unsigned long)addr < code->start)
		return -1;
	return (unsigned long)addr >= code->start + code->size;
}

static const struct latch_tree_ops ftrace_mux_tree_ops = {
	.less	= ftrace_mux_tree_less,
	.comp	= ftrace_mux_tree_comp,
};

/* With preemption disabled. The result is valid until it is enabled again */
static struct ftrace_mux_code *ftrace_mux_find_code(unsigned long addr)
{
	struct latch_tree_node *node;

	node = latch_tree_find((void *)addr, &ftrace_mux_tree,
			       &ftrace_mux_tree_ops);

	return node ? ftrace_mux_node_code(node) : NULL;
}

/**
 * ftrace_mux_has_code - is an address in a jump or a trampoline?
 * @addr:	any address
 *
 * Context: any, including NMI.
 * Return: true if it is.
 */
bool ftrace_mux_has_code(unsigned long addr)
{
	bool found;

	preempt_disable_notrace();
	found = ftrace_mux_find_code(addr);
	preempt_enable_notrace();

	return found;
}

/**
 * ftrace_mux_template - find the template code with the same stack layout
 * @addr:	any address
 *
 * Context: any, including NMI.
 * Return: an address in ftrace_caller or ftrace_regs_caller where the stack
 * layout is the same as at @addr; 0 if @addr is not in a jump or a trampoline.
 */
unsigned long ftrace_mux_template(unsigned long addr)
{
	struct ftrace_mux_code *code;
	unsigned long template = 0;

	preempt_disable_notrace();
	code = ftrace_mux_find_code(addr);
	if (code)
		template = arch_ftrace_code_template(code, addr);
	preempt_enable_notrace();

	return template;
}

/**
 * ftrace_mux_add_symbol - announce memory for code to kallsyms and perf
 * @start:	address of the memory, which is never freed
 * @size:	in bytes
 *
 * One symbol covers all trampolines and jumps that will be allocated there.
 *
 * Context: ftrace_lock held, may sleep.
 */
void ftrace_mux_add_symbol(unsigned long start, unsigned int size)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);

	if (!ops)
		return;

	ops->trampoline = start;
	ops->trampoline_size = size;
	ops->flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_SET;
	ftrace_announce_trampoline(ops);
}

static void ftrace_mux_code_insert(struct ftrace_mux_code *code)
{
	latch_tree_insert(&code->node, &ftrace_mux_tree, &ftrace_mux_tree_ops);
}

static void ftrace_mux_code_erase(struct ftrace_mux_code *code)
{
	latch_tree_erase(&code->node, &ftrace_mux_tree, &ftrace_mux_tree_ops);
}

/**
 * ftrace_mux_jump_redirect - redirect a jump to a trampoline
 * @jump:	the jump, which may be in use
 * @tramp:	the trampoline, or NULL for the list function
 * @regs:	for the list function: an ops requires all registers
 *
 * The caller has to call arch_ftrace_mux_sync() afterwards.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void ftrace_mux_jump_redirect(struct ftrace_mux_jump *jump,
			      struct ftrace_mux_tramp *tramp, bool regs)
{
	unsigned long target = regs ? FTRACE_REGS_ADDR : FTRACE_ADDR;

	if (tramp)
		target = tramp->code.start;
	if (jump->target == target)
		return;

	jump->target = target;
	arch_ftrace_jump_update(jump);
}

static void ftrace_mux_jump_init(struct ftrace_mux_jump *jump,
				 struct ftrace_mux_tramp *tramp)
{
	jump->target = tramp->code.start;
}

/* A subset is called through the callback of its manager */
static struct ftrace_ops *ftrace_callee_ops(struct ftrace_ops *callee)
{
	return ftrace_ops_is_subset(callee) ? callee->managed : callee;
}

/**
 * ftrace_mux_callback - get the address that a trampoline calls for a callee
 * @callee:	the callee
 *
 * Context: ftrace_lock held.
 * Return: the address of the callback, or of the jump that leads to it.
 */
void *ftrace_mux_callback(struct ftrace_ops *callee)
{
	struct ftrace_ops *ops = ftrace_callee_ops(callee);

	if (ops->mux_jump)
		return (void *)ops->mux_jump->code.start;

	return ftrace_ops_get_func(ops);
}

/*
 * Writing set_ftrace_pid changes the callback of an ops that may be in many
 * sets. Create a jump to the callback, which their trampolines call, so that
 * only this jump has to be patched.
 */
static bool ftrace_mux_make_callback(struct ftrace_ops *ops)
{
	struct ftrace_mux_jump *jump;

	if (!(ops->flags & FTRACE_OPS_FL_PID) || ops->mux_jump)
		return true;

	jump = kzalloc(sizeof(*jump), GFP_KERNEL);
	if (!jump)
		return false;

	jump->target = (unsigned long)ftrace_ops_get_func(ops);
	if (!arch_ftrace_jump_create(jump)) {
		kfree(jump);
		return false;
	}

	ftrace_mux_code_insert(&jump->code);
	ops->mux_jump = jump;

	return true;
}

static bool ftrace_mux_make_callbacks(struct ftrace_mux_tramp *tramp)
{
	unsigned int i;

	for (i = 0; i < tramp->nr_callees; i++) {
		if (!ftrace_mux_make_callback(ftrace_callee_ops(tramp->callees[i])))
			return false;
	}
	return true;
}

/**
 * ftrace_mux_update_funcs - redirect jumps to callbacks that have changed
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void ftrace_mux_update_funcs(void)
{
	struct ftrace_ops *op;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		unsigned long func = (unsigned long)ftrace_ops_get_func(op);

		if (!op->mux_jump || op->mux_jump->target == func)
			continue;

		op->mux_jump->target = func;
		arch_ftrace_jump_update(op->mux_jump);
	} while_for_each_ftrace_op(op);

	arch_ftrace_mux_sync();
}

/**
 * ftrace_mux_remove_callback - free the callback jump of an unregistered ops
 * @ops:	the ops. Trampolines may still call its callback
 *
 * Context: ftrace_lock held. The caller must not release it before functions
 * have stopped calling these trampolines.
 */
void ftrace_mux_remove_callback(struct ftrace_ops *ops)
{
	if (ops->mux_jump)
		ftrace_mux_retire(&ops->mux_jump->code);
	ops->mux_jump = NULL;
}

/**
 * ftrace_mux_show_tramp - show the address of a trampoline
 * @m:		output
 * @tramp:	the trampoline
 */
void ftrace_mux_show_tramp(struct seq_file *m, struct ftrace_mux_tramp *tramp)
{
	seq_printf(m, "\ttramp: %pS", (void *)tramp->code.start);
}

#else /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

static void ftrace_mux_code_insert(struct ftrace_mux_code *code) { }
static void ftrace_mux_code_erase(struct ftrace_mux_code *code) { }

static bool ftrace_mux_make_callbacks(struct ftrace_mux_tramp *tramp)
{
	return true;
}

void ftrace_mux_remove_callback(struct ftrace_ops *ops) { }

void ftrace_mux_jump_redirect(struct ftrace_mux_jump *jump,
			      struct ftrace_mux_tramp *tramp, bool regs)
{
	/* Pairs with READ_ONCE() in ftrace_mux_find_tramp() */
	smp_store_release(&jump->tramp, tramp ?: &ftrace_mux_walk);
}

static void ftrace_mux_jump_init(struct ftrace_mux_jump *jump,
				 struct ftrace_mux_tramp *tramp)
{
	jump->tramp = tramp;
}

void ftrace_mux_show_tramp(struct seq_file *m, struct ftrace_mux_tramp *tramp)
{
	seq_puts(m, "\t->ftrace_ops_list_func");
}

#endif /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

static bool ftrace_is_subop(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SUBOP;
}

/* Set up the subset of manager @ops[0]. Returns the number of its subops */
static unsigned int ftrace_subset_init(struct ftrace_subset *subset,
				       struct ftrace_ops **ops, unsigned int nr)
{
	struct ftrace_ops *manager = ops[0];

	while (1 + subset->nr < nr && ftrace_is_subop(ops[1 + subset->nr]))
		subset->nr++;

	subset->subops = ops + 1;
	subset->ops.func = manager->func;
	subset->ops.saved_func = manager->saved_func;
	subset->ops.flags = manager->flags | FTRACE_OPS_FL_SET;
	subset->ops.private = manager->private;
	subset->ops.managed = manager;
	subset->ops.func_hash = manager->func_hash;
	INIT_LIST_HEAD(&subset->ops.subop_list);

	return subset->nr;
}

static void ftrace_mux_tramp_free(struct ftrace_mux_tramp *tramp)
{
	kfree(tramp->subsets);
	kfree(tramp);
}

/* Allocate a trampoline, and determine its callees from the ops of a set */
static struct ftrace_mux_tramp *
ftrace_mux_tramp_alloc(struct ftrace_ops *const *ops, unsigned int nr)
{
	unsigned int i, nr_subsets = 0;
	struct ftrace_ops **copy, *manager = NULL;
	struct ftrace_mux_tramp *tramp;

	for (i = 0; i < nr; i++) {
		if (!ftrace_is_subop(ops[i])) {
			manager = ops[i];
			continue;
		}
		/* The manager is not counted yet, or not any more */
		if (ops[i]->managed != manager)
			return NULL;
		nr_subsets += ops[i - 1] == manager;
	}

	/* The callees, followed by the array that subsets point into */
	tramp = kzalloc(struct_size(tramp, callees, 2 * nr), GFP_KERNEL);
	if (!tramp)
		return NULL;
	tramp->code.tramp = tramp;

	if (nr_subsets) {
		tramp->subsets = kcalloc(nr_subsets, sizeof(*tramp->subsets),
					 GFP_KERNEL);
		if (!tramp->subsets) {
			kfree(tramp);
			return NULL;
		}
	}

	copy = tramp->callees + nr;
	memcpy(copy, ops, nr * sizeof(*ops));

	for (i = 0; i < nr; i++) {
		struct ftrace_ops *callee = copy[i];

		tramp->regs |= !!(callee->flags & FTRACE_OPS_FL_SAVE_REGS);
		tramp->direct |= !!(callee->flags & FTRACE_OPS_FL_DIRECT);

		if (i + 1 < nr && ftrace_is_subop(copy[i + 1])) {
			struct ftrace_subset *subset;

			subset = &tramp->subsets[tramp->nr_subsets++];
			i += ftrace_subset_init(subset, copy + i, nr - i);
			callee = &subset->ops;
		}
		tramp->callees[tramp->nr_callees++] = callee;
	}

	return tramp;
}

/**
 * ftrace_mux_tramp_create - create a trampoline that calls several ops
 * @ops:	the ops. Each manager that supports subsets is followed by the
 *		subops to be called
 * @nr:		number of ops
 *
 * The caller has to call arch_ftrace_mux_sync() before the trampoline is used.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: the trampoline; NULL on allocation failure, or if @ops starts with a
 * subop.
 */
struct ftrace_mux_tramp *
ftrace_mux_tramp_create(struct ftrace_ops *const *ops, unsigned int nr)
{
	struct ftrace_mux_tramp *tramp = ftrace_mux_tramp_alloc(ops, nr);

	if (!tramp)
		return NULL;

	if (!ftrace_mux_make_callbacks(tramp) || !arch_ftrace_tramp_create(tramp)) {
		ftrace_mux_tramp_free(tramp);
		return NULL;
	}

	ftrace_mux_code_insert(&tramp->code);

	return tramp;
}

/**
 * ftrace_mux_jump_create - create a jump that functions can call
 * @tramp:	the trampoline that it leads to
 *
 * The caller has to call arch_ftrace_mux_sync() before the jump is used.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: the jump, or NULL on allocation failure.
 */
struct ftrace_mux_jump *ftrace_mux_jump_create(struct ftrace_mux_tramp *tramp)
{
	struct ftrace_mux_jump *jump = kzalloc(sizeof(*jump), GFP_KERNEL);

	if (!jump)
		return NULL;

	ftrace_mux_jump_init(jump, tramp);
	if (!arch_ftrace_jump_create(jump)) {
		kfree(jump);
		return NULL;
	}

	ftrace_mux_code_insert(&jump->code);

	return jump;
}

/**
 * ftrace_mux_tramp_stale - mark the subsets of a trampoline as stale
 * @tramp:	the trampoline. From now on, subops of its subsets may be freed,
 *		or functions may call other trampolines instead
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_tramp_stale(struct ftrace_mux_tramp *tramp)
{
	unsigned int i;

	for (i = 0; i < tramp->nr_subsets; i++)
		ftrace_subset_set_data(&tramp->subsets[i], FTRACE_SUBSET_STALE);
}

/* How long to wait for another change whose grace period can be used */
#define FTRACE_MUX_FREE_DELAY	(HZ / 4)

/*
 * A grace period has elapsed, so that no task is in the code of @retired, and
 * no unwinder uses that of @erased. Free the latter. Erase @retired from the
 * tree, and move it to @erased.
 */
static void ftrace_mux_advance(struct list_head *retired, struct list_head *erased)
{
	struct ftrace_mux_code *code, *next;

	list_for_each_entry_safe(code, next, erased, retired) {
		arch_ftrace_code_free(code);
		if (code->tramp)
			ftrace_mux_tramp_free(code->tramp);
		else
			kfree(container_of(code, struct ftrace_mux_jump, code));
	}
	INIT_LIST_HEAD(erased);

	list_for_each_entry(code, retired, retired)
		ftrace_mux_code_erase(code);
	list_splice_init(retired, erased);
}

static void ftrace_mux_free_retired(struct work_struct *work);
static DECLARE_DELAYED_WORK(ftrace_mux_free_work, ftrace_mux_free_retired);

/* Free retired code. Does not hold ftrace_lock while it waits for tasks */
static void ftrace_mux_free_retired(struct work_struct *work)
{
	LIST_HEAD(retired);
	LIST_HEAD(erased);

	mutex_lock(&ftrace_lock);
	list_splice_init(&ftrace_mux_retired, &retired);
	list_splice_init(&ftrace_mux_erased, &erased);
	mutex_unlock(&ftrace_lock);

	if (list_empty(&retired) && list_empty(&erased))
		return;

	/* Wait for tasks in the code, like ftrace_ops_release_trampoline() */
	ftrace_synchronize();
	if (IS_ENABLED(CONFIG_PREEMPTION))
		synchronize_rcu_tasks();

	mutex_lock(&ftrace_lock);
	/* If patching failed, functions may still call the code */
	if (!ftrace_is_dead()) {
		ftrace_mux_advance(&retired, &erased);
		list_splice(&erased, &ftrace_mux_erased);
		if (!list_empty(&ftrace_mux_erased))
			queue_delayed_work(system_long_wq, &ftrace_mux_free_work,
					   FTRACE_MUX_FREE_DELAY);
	}
	mutex_unlock(&ftrace_lock);
}

/**
 * ftrace_mux_synchronized - use a grace period to free retired code
 *
 * Call this when all tasks have left the code that was retired before, and all
 * sections with preemption disabled have ended.
 *
 * Context: ftrace_lock held since before the grace period; may sleep.
 */
void ftrace_mux_synchronized(void)
{
	if (unlikely(ftrace_is_dead()))
		return;

	ftrace_mux_advance(&ftrace_mux_retired, &ftrace_mux_erased);
	/* The next change that waits for tasks may free the rest */
	if (!list_empty(&ftrace_mux_erased))
		mod_delayed_work(system_long_wq, &ftrace_mux_free_work,
				 FTRACE_MUX_FREE_DELAY);
}

/**
 * ftrace_mux_retire - free a jump or a trampoline when no task is in it
 * @code:	code of a jump or a trampoline. By the time ftrace_lock is
 *		released, no call or jump may lead to it, but tasks may still be
 *		in it
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_retire(struct ftrace_mux_code *code)
{
	if (code->tramp)
		ftrace_mux_tramp_stale(code->tramp);
	list_add(&code->retired, &ftrace_mux_retired);
	queue_delayed_work(system_long_wq, &ftrace_mux_free_work,
			   FTRACE_MUX_FREE_DELAY);
}
