/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of ftrace_ops, and the table of the functions that they trace
 *
 * Shared by ftrace_mux.c, ftrace_mux_table.c and their tests. Everything here
 * requires ftrace_lock, except what the list function calls.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_H
#define _KERNEL_TRACE_FTRACE_MUX_H

#include <linux/ftrace.h>
#include <linux/rculist.h>

struct ftrace_set;

/**
 * struct ftrace_set_change - set of a function after an ops joins or leaves
 * @ops:	the ops that joins or leaves
 * @to:		the new set; NULL for none
 * @generation:	ftrace_mux_generation when @to was looked up
 */
struct ftrace_set_change {
	struct ftrace_ops	*ops;
	struct ftrace_set	*to;
	unsigned long		generation;
};

/**
 * struct ftrace_set - a set of ops that trace some functions
 * @call:	what the list function calls, and what call sites may point to:
 *		the only member, or @ops
 * @ops:	has the callback that calls all members
 * @hash:	node in the table of sets, while all members are registered
 * @list:	node in the list of all sets, or of those to be freed
 * @records:	number of functions that belong to the set
 * @changes:	cached lookups for an ops that leaves, and for one that joins
 * @nr:		number of members
 * @members:	the ops that trace the functions, newest first
 */
struct ftrace_set {
	struct ftrace_ops	*call;
	struct ftrace_ops	ops;
	struct hlist_node	hash;
	struct list_head	list;
	unsigned long		records;
	struct ftrace_set_change changes[2];
	unsigned int		nr;
	struct ftrace_ops	*members[] __counted_by(nr);
};

/**
 * struct ftrace_mux_func - a traced function
 * @node:	node in the hash table
 * @ip:		address of the call site, as in the record
 * @called:	set whose members the list function calls
 * @set:	set that the function belongs to; NULL for none
 * @site:	ops of @set that the call site points to; NULL for another ops
 * @changed:	node in the list of functions to be updated, or to be freed
 */
struct ftrace_mux_func {
	struct hlist_node	node;
	unsigned long		ip;
	struct ftrace_set	*called;
	struct ftrace_set	*set;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	struct ftrace_ops	*site;
#endif
	struct list_head	changed;
};

/**
 * struct ftrace_mux_table - hash table of traced functions
 * @mask:	number of buckets, minus one
 * @heads:	the buckets
 */
struct ftrace_mux_table {
	unsigned long		mask;
	struct hlist_head	heads[];
};

/* Buckets of the table */
extern struct hlist_head *ftrace_mux_heads;
/* Makes the list function walk all registered ops and test their filters */
extern struct ftrace_set ftrace_no_set;

static __always_inline struct hlist_head *ftrace_mux_head(unsigned long ip)
{
	/* Pairs with smp_store_release() in ftrace_mux_make_table() */
	struct hlist_head *heads = READ_ONCE(ftrace_mux_heads);
	struct ftrace_mux_table *table;

	table = container_of(heads, struct ftrace_mux_table, heads[0]);

	/* Few call sites share 16 bytes, and a better hash would be slower */
	return &heads[(ip >> 4) & table->mask];
}

/* With ftrace_lock held, or in the context of ftrace_mux_find_set() */
static __always_inline struct ftrace_mux_func *ftrace_mux_find(unsigned long ip)
{
	struct ftrace_mux_func *func;

	hlist_for_each_entry_rcu_notrace(func, ftrace_mux_head(ip), node) {
		if (func->ip == ip)
			return func;
	}

	return NULL;
}

/**
 * ftrace_mux_find_set - find the ops that trace a function
 * @ip:		address of the call site, as in the record
 *
 * Context: any, NMI included. The returned pointer is valid until the task
 * schedules voluntarily or enters user space.
 * Return: the set; ftrace_no_set if it is not known.
 */
static __always_inline struct ftrace_set *ftrace_mux_find_set(unsigned long ip)
{
	struct ftrace_mux_func *func = ftrace_mux_find(ip);

	if (unlikely(!func))
		return &ftrace_no_set;

	/* Pairs with smp_store_release() in ftrace_mux_update_funcs() */
	return READ_ONCE(func->called);
}

struct ftrace_set *ftrace_set_alloc(unsigned int nr);
struct ftrace_mux_func *ftrace_mux_add_func(unsigned long ip);
void ftrace_mux_change_func(struct ftrace_mux_func *func, struct ftrace_set *set);
void ftrace_mux_remove_func(struct ftrace_mux_func *func);
void ftrace_mux_update_funcs(void);
void ftrace_mux_take_removed_funcs(struct list_head *funcs);
void ftrace_set_init(struct ftrace_set *set);
void ftrace_set_reset(struct ftrace_set *set);

#endif /* _KERNEL_TRACE_FTRACE_MUX_H */
