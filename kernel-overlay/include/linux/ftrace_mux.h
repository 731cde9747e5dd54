/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of ftrace_ops, see kernel/trace/ftrace_mux.c
 */
#ifndef _LINUX_FTRACE_MUX_H
#define _LINUX_FTRACE_MUX_H

#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/ftrace.h>
#include <linux/list.h>

#ifdef CONFIG_FTRACE_MUX

struct ftrace_set;

/**
 * struct ftrace_subset - those subops of a manager that are in a set
 * @ops:	what the callback of the manager is handed. A copy of the
 *		manager's ops in what that may want to know: func, flags, private.
 *		Its &ftrace_ops.managed is the manager
 * @set:	the set
 * @nr:		how many subops there are
 * @subops:	the subops, part of the leaves of @set
 * @data:	what the manager's callback has worked out of @subops, zero at
 *		first. The subops stay the same until the set is stale
 */
struct ftrace_subset {
	struct ftrace_ops	ops;
	struct ftrace_set	*set;
	unsigned int		nr;
	struct ftrace_ops	**subops;
	unsigned long		data;
};

/**
 * struct ftrace_set - those who are called by some functions
 * @ops:	what the trampoline is made for. Never registered, it has neither
 *		a filter nor flags but what the trampoline needs
 * @hash:	in the table of the sets that can be found
 * @list:	in the list of all sets, under RCU
 * @retired:	in the list of sets to be freed
 * @id:		how the records name it, from 1 to 65535
 * @records:	how many records named it when they were last counted
 * @stale:	one of the leaves is not registered any more. Set before that is
 *		waited for with synchronize_rcu_tasks_rude()
 * @direct:	the trampoline calls the members itself, by instructions that the
 *		architecture has put there
 * @nr_members:	how many there are to be called
 * @members:	the ops to be called, each with itself as an argument: those that
 *		are registered, or the subset for a manager
 * @subsets:	for the managers among them that know of subsets
 * @nr_subsets:	how many these are
 * @nr_leaves:	how many ops there are in @leaves
 * @leaves:	the ops that the functions are traced for, newest first. Where a
 *		manager has a subset, it is followed by these subops
 */
struct ftrace_set {
	struct ftrace_ops	ops;
	struct hlist_node	hash;
	struct list_head	list;
	struct list_head	retired;
	unsigned int		id;
	unsigned long		records;
	bool			stale;
	bool			direct;
	unsigned int		nr_members;
	struct ftrace_ops	**members;
	struct ftrace_subset	*subsets;
	unsigned int		nr_subsets;
	unsigned int		nr_leaves;
	struct ftrace_ops	*leaves[];
};

static inline struct ftrace_set *ftrace_ops_set(struct ftrace_ops *ops)
{
	return container_of(ops, struct ftrace_set, ops);
}

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
 * @ops:	what the callback of a manager was handed
 *
 * Context: the callback of a manager that has FTRACE_OPS_FL_SUBSET, with
 * preemption disabled, until that is enabled.
 * Return: exactly the subops that the call is for; NULL if that is for the
 * manager to find out.
 */
static __always_inline struct ftrace_subset *
ftrace_ops_subset(struct ftrace_ops *ops)
{
	struct ftrace_subset *subset;

	if (!ftrace_ops_is_subset(ops))
		return NULL;

	subset = container_of(ops, struct ftrace_subset, ops);
	/*
	 * A task may have been preempted on its way here for so long that what
	 * was a subop then is not any more. Pairs with ftrace_mux_forget().
	 */
	return READ_ONCE(subset->set->stale) ? NULL : subset;
}

/**
 * ftrace_ops_subset_data - what a manager has worked out of a subset
 * @ops:	what its callback was handed, for which ftrace_ops_is_subset()
 *
 * Context: as for ftrace_ops_subset().
 * Return: &ftrace_subset.data; zero if ftrace_ops_subset() returns NULL.
 */
static __always_inline unsigned long
ftrace_ops_subset_data(struct ftrace_ops *ops)
{
	struct ftrace_subset *subset = container_of(ops, struct ftrace_subset, ops);

	return READ_ONCE(subset->set->stale) ? 0 : READ_ONCE(subset->data);
}

void arch_ftrace_set_create(struct ftrace_set *set);
void arch_ftrace_set_update(struct ftrace_set *set, unsigned int i);
void arch_ftrace_set_free(struct ftrace_set *set);
bool arch_ftrace_set_check(struct ftrace_set *set);
unsigned long arch_ftrace_call_target(unsigned long ip);
unsigned long
arch_ftrace_set_template_offset(struct ftrace_set *set, unsigned long offset);

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

#endif /* !CONFIG_FTRACE_MUX */
#endif /* _LINUX_FTRACE_MUX_H */
