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

/* Value of &ftrace_subset.data */
#define FTRACE_SUBSET_STALE	BIT(BITS_PER_LONG - 1)

#ifdef CONFIG_FTRACE_MUX

/**
 * struct ftrace_subset - those subops of a manager that trace a function
 * @ops:	passed to the callback of the manager instead of the manager
 *		itself. Has copies of the fields that the callback may read:
 *		func, saved_func, flags, private, func_hash. Its
 *		&ftrace_ops.managed is the manager
 * @nr:		number of subops
 * @subops:	the subops
 * @data:	derived from @subops by the callback of the manager and cached
 *		with ftrace_subset_set_data(). Initially zero;
 *		FTRACE_SUBSET_STALE when one of the subops has been
 *		unregistered, or the trampoline is going to be freed
 */
struct ftrace_subset {
	struct ftrace_ops	ops;
	unsigned int		nr;
	struct ftrace_ops	**subops;
	unsigned long		data;
};

/**
 * struct ftrace_mux_code - what trampolines and jumps have in common
 * @retired:	node in the list of trampolines and jumps to be freed
 * @tramp:	the trampoline with this code, NULL for a jump
 * @node:	node in the tree of all jumps and trampolines
 * @start:	address
 * @size:	in bytes
 *
 * Without CONFIG_FTRACE_MUX_TRAMPOLINES there is no code; the list function
 * calls the ops instead.
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
 * @code:	its code
 * @regs:	save all registers, because a callee requires them
 * @direct:	a callee may set a direct caller to continue at
 * @nr_subsets:	number of subsets among @callees
 * @subsets:	for those managers among the callees that support subsets
 * @func:	what the list function calls: the callback of the only callee,
 *		or a function that calls all of them
 * @arg:	the ops argument of @func; this trampoline if @func calls all
 * @nr_callees:	number of ops that it calls
 * @callees:	the ops, each passed to its own callback: registered ops, or the
 *		subset in place of a manager
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
 * struct ftrace_mux_jump - a jump to a trampoline, called by functions
 * @code:	its code
 * @target:	address that it leads to
 * @tramp:	trampoline that it leads to, if there is no code
 *
 * Also used for jumps to callbacks that may change, called by trampolines.
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
 * ftrace_ops_is_subset - was a subset passed to the callback of a manager?
 * @ops:	ops argument of the callback
 *
 * Return: true if ftrace_ops_subset() may be called with @ops.
 */
static __always_inline bool ftrace_ops_is_subset(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SET;
}

/**
 * ftrace_ops_subset - get the subops that a call is for
 * @ops:	ops argument of the callback of a manager, with
 *		ftrace_ops_is_subset() true
 *
 * Context: the callback of a manager that has FTRACE_OPS_FL_USES_SUBSETS, with
 * preemption disabled. The result is valid until preemption is enabled.
 * Return: exactly the subops that the call is for. If ftrace_ops_subset_data()
 * is FTRACE_SUBSET_STALE, the subops may have been freed.
 */
static __always_inline struct ftrace_subset *
ftrace_ops_subset(struct ftrace_ops *ops)
{
	return container_of(ops, struct ftrace_subset, ops);
}

/**
 * ftrace_ops_subset_data - get the data that a manager has cached in a subset
 * @ops:	ops argument of the callback, with ftrace_ops_is_subset() true
 *
 * Context: as for ftrace_ops_subset().
 * Return: &ftrace_subset.data.
 */
static __always_inline unsigned long
ftrace_ops_subset_data(struct ftrace_ops *ops)
{
	/*
	 * The list function finds the subset through a pointer that
	 * smp_store_release() in ftrace_mux_jump_redirect() or
	 * ftrace_rec_call_slot() has published; the address dependency orders
	 * this read. The acquire extends that to later reads of data that the
	 * manager stored before, such as its table of users.
	 */
	return smp_load_acquire(&ftrace_ops_subset(ops)->data);
}

/**
 * ftrace_subset_set_data - cache data derived from a subset
 * @subset:	the subset
 * @data:	not zero. Only the first value is stored, except that
 *		FTRACE_SUBSET_STALE always replaces it
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

/* Keeps a trampoline at about one page */
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
