/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trampolines that call several ftrace_ops, see kernel/trace/ftrace_mux.c
 */
#ifndef _LINUX_FTRACE_MUX_H
#define _LINUX_FTRACE_MUX_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/rbtree_latch.h>

/* For &ftrace_subset.data */
#define FTRACE_SUBSET_STALE	BIT(BITS_PER_LONG - 1)

#ifdef CONFIG_FTRACE_MUX

/**
 * struct ftrace_subset - those subops of a manager that trace a function
 * @ops:	what the callback of the manager is handed. A copy of the
 *		manager's ops in what the callback may look at: func, flags,
 *		private. Its &ftrace_ops.managed is the manager
 * @nr:		how many subops there are
 * @subops:	the subops
 * @data:	what the manager's callback has worked out of @subops, with
 *		ftrace_subset_set_data(). Zero at first, and FTRACE_SUBSET_STALE
 *		when one of the subops is not registered any more, or functions
 *		call other trampolines
 */
struct ftrace_subset {
	struct ftrace_ops	ops;
	unsigned int		nr;
	struct ftrace_ops	**subops;
	unsigned long		data;
};

/**
 * struct ftrace_mux_code - a piece of code that functions call
 * @retired:	in the list of those to be freed
 * @tramp:	the trampoline that this is, NULL if it is a jump
 * @node:	in the tree of all of them
 * @start:	its address
 * @size:	in bytes
 *
 * Without CONFIG_FTRACE_MUX_TRAMPOLINES there is no code: the list function does
 * what it would do.
 */
struct ftrace_mux_code {
	struct list_head	retired;
	struct ftrace_mux_tramp	*tramp;
#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
	struct latch_tree_node	node;
	unsigned long		start;
	unsigned int		size;
#endif
};

/**
 * struct ftrace_mux_tramp - a trampoline that calls several ops
 * @code:	where it is
 * @regs:	all registers are saved, as some callee asks for
 * @direct:	a callee may set a direct caller to go on at
 * @nr_subsets:	how many of @callees are in @subsets
 * @subsets:	for the managers among the callees that know of subsets
 * @func:	what the list function calls: the callback of the only callee, or
 *		what calls all of them
 * @arg:	the ops for @func. For what calls all, this trampoline
 * @nr_callees:	how many ops it calls
 * @callees:	the ops, each called with itself as an argument: those that are
 *		registered, or the subset for a manager
 */
struct ftrace_mux_tramp {
	struct ftrace_mux_code	code;
	bool			regs;
	bool			direct;
	unsigned int		nr_subsets;
	struct ftrace_subset	*subsets;
#ifndef CONFIG_FTRACE_MUX_TRAMPOLINES
	ftrace_func_t		func;
	void			*arg;
#endif
	unsigned int		nr_callees;
	struct ftrace_ops	*callees[];
};

/**
 * struct ftrace_mux_jump - what functions call: a jump to a trampoline
 * @code:	where it is
 * @target:	the address that it leads to
 * @tramp:	the trampoline that it leads to, if there is no code
 *
 * Or what trampolines call: a jump to a callback that may change.
 */
struct ftrace_mux_jump {
	struct ftrace_mux_code	code;
#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
	unsigned long		target;
#else
	struct ftrace_mux_tramp	*tramp;
#endif
};

/**
 * ftrace_ops_is_subset - was the callback of a manager handed a subset?
 * @ops:	what it was handed
 *
 * Return: whether ftrace_ops_subset() may be called for it.
 */
static __always_inline bool ftrace_ops_is_subset(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SET;
}

/**
 * ftrace_ops_subset - the subops that a call is for
 * @ops:	what the callback of a manager was handed, for which
 *		ftrace_ops_is_subset()
 *
 * Context: the callback of a manager that has FTRACE_OPS_FL_SUBSET, with
 * preemption disabled, until that is enabled.
 * Return: exactly the subops that the call is for, unless
 * ftrace_ops_subset_data() is FTRACE_SUBSET_STALE: then they may be gone.
 */
static __always_inline struct ftrace_subset *
ftrace_ops_subset(struct ftrace_ops *ops)
{
	return container_of(ops, struct ftrace_subset, ops);
}

/**
 * ftrace_ops_subset_data - what a manager has worked out of a subset
 * @ops:	what its callback was handed, for which ftrace_ops_is_subset()
 *
 * Context: as for ftrace_ops_subset().
 * Return: &ftrace_subset.data.
 */
static __always_inline unsigned long
ftrace_ops_subset_data(struct ftrace_ops *ops)
{
	/*
	 * What a manager has published before is seen afterwards. Pairs with
	 * smp_store_release() in ftrace_mux_jump_lead() and ftrace_rec_call_slot()
	 */
	return smp_load_acquire(&ftrace_ops_subset(ops)->data);
}

/**
 * ftrace_subset_set_data - remember what has been worked out of a subset
 * @subset:	the subset
 * @data:	not zero. FTRACE_SUBSET_STALE stays whatever comes after it
 *
 * Context: as for ftrace_ops_subset().
 */
static inline void
ftrace_subset_set_data(struct ftrace_subset *subset, unsigned long data)
{
	if (data == FTRACE_SUBSET_STALE)
		WRITE_ONCE(subset->data, data);
	else
		cmpxchg(&subset->data, 0, data);
}

#else /* !CONFIG_FTRACE_MUX */

struct ftrace_subset {
	unsigned int		nr;
	struct ftrace_ops	**subops;
	unsigned long		data;
};

static __always_inline bool ftrace_ops_is_subset(struct ftrace_ops *ops)
{
	return false;
}

static __always_inline struct ftrace_subset *
ftrace_ops_subset(struct ftrace_ops *ops)
{
	return NULL;
}

static __always_inline unsigned long
ftrace_ops_subset_data(struct ftrace_ops *ops)
{
	return 0;
}

static inline void
ftrace_subset_set_data(struct ftrace_subset *subset, unsigned long data) { }

#endif /* !CONFIG_FTRACE_MUX */

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES

/* So that a trampoline stays smaller than a page */
#define FTRACE_MUX_MAX_CALLEES	128

bool arch_ftrace_tramp_create(struct ftrace_mux_tramp *tramp);
bool arch_ftrace_jump_create(struct ftrace_mux_jump *jump);
void arch_ftrace_jump_update(struct ftrace_mux_jump *jump);
void arch_ftrace_mux_sync(void);
void arch_ftrace_code_free(struct ftrace_mux_code *code);
unsigned long arch_ftrace_code_template(struct ftrace_mux_code *code,
					unsigned long addr);

const char *arch_ftrace_tramp_check(struct ftrace_mux_tramp *tramp);
const char *arch_ftrace_ops_check(struct ftrace_ops *ops);
unsigned long arch_ftrace_call_target(unsigned long ip);
unsigned long arch_ftrace_jump_target(unsigned long addr);

void ftrace_mux_add_symbol(unsigned long start, unsigned int size);
bool ftrace_mux_has_code(unsigned long addr);
unsigned long ftrace_mux_template(unsigned long addr);
void *ftrace_mux_callback(struct ftrace_ops *callee);

#else /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

#define FTRACE_MUX_MAX_CALLEES	UINT_MAX

static inline bool ftrace_mux_has_code(unsigned long addr)
{
	return false;
}

static inline unsigned long ftrace_mux_template(unsigned long addr)
{
	return 0;
}

#endif /* !CONFIG_FTRACE_MUX_TRAMPOLINES */
#endif /* _LINUX_FTRACE_MUX_H */
