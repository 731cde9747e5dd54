/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of ftrace_ops, and the table of the functions that they trace
 *
 * Shared by ftrace_mux.c, ftrace_mux_table.c, fgraph.c and the tests. Everything
 * here requires ftrace_lock, except what traced functions call.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_H
#define _KERNEL_TRACE_FTRACE_MUX_H

#include <linux/ftrace.h>
#include <linux/rbtree_latch.h>
#include <linux/rculist.h>

struct ftrace_hash;
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
 * struct ftrace_mux_code - code that can be found by address
 * @node:	node in the tree of all such code
 * @ops:	has the address and the size of the code as its trampoline
 */
struct ftrace_mux_code {
	struct latch_tree_node	node;
	struct ftrace_ops	*ops;
};

/**
 * struct ftrace_slot - functions that call the same jump
 * @ops:	has the jump as its trampoline. The call sites of functions call it
 * @code:	the jump
 * @list:	node in the list of all slots, or of those to be freed
 * @set:	set to whose trampoline the jump leads, or to that of its only member
 * @callers:	number of functions that call the jump
 * @moved:	number of @callers that belong to another set than @set, from
 *		ftrace_mux_count_moved() to ftrace_mux_redirect_slots()
 * @next:	the set that all @moved functions belong to now; NULL if not all of
 *		them belong to the same one
 * @late:	the jump does not lead to @set before call sites have been patched
 */
struct ftrace_slot {
	struct ftrace_ops	ops;
	struct ftrace_mux_code	code;
	struct list_head	list;
	struct ftrace_set	*set;
	unsigned long		callers;
	unsigned long		moved;
	struct ftrace_set	*next;
	bool			late;
};

/**
 * struct ftrace_set - a set of ops that trace some functions
 * @call:	what the list function calls, and what call sites may point to:
 *		the only member, or @ops
 * @ops:	has the callback that calls all members, and the trampoline
 * @code:	the trampoline
 * @slot:	slot for functions that come to the set; NULL for none
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
#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
	struct ftrace_mux_code	code;
	struct ftrace_slot	*slot;
#endif
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
 * @site:	with call ops, the ops that the call site points to: @ops of the
 *		set, or its only member. With trampolines, @ops of the slot whose
 *		jump it calls. NULL if the call site does not depend on a set
 * @graph:	users of function graph whose filter has the function, or whose last
 *		filter had it, by index
 * @changed:	node in the list of functions to be updated, or to be freed
 */
struct ftrace_mux_func {
	struct hlist_node	node;
	unsigned long		ip;
	struct ftrace_set	*called;
	struct ftrace_set	*set;
#ifdef CONFIG_FTRACE_MUX_SITES
	struct ftrace_ops	*site;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	unsigned long		graph;
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
/* Call sites may be patched: ftrace_mux_prepare() is done, and finish() is not */
extern bool ftrace_mux_prepared;
/* Users of function graph that have no filter, by index, and FGRAPH_NO_FILTERS */
extern unsigned long fgraph_unfiltered;
/* All users are in it, so that no function has to be looked up */
#define FGRAPH_NO_FILTERS	BIT(BITS_PER_LONG - 1)
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

/* With ftrace_lock held, in a callback, or while function graph enters a function */
static __always_inline struct ftrace_mux_func *ftrace_mux_find(unsigned long ip)
{
	struct ftrace_mux_func *func;

	hlist_for_each_entry_rcu_notrace(func, ftrace_mux_head(ip), node) {
		if (likely(func->ip == ip))
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

/* Unless the kernel command line changes it */
#define FTRACE_MUX_MAX_SETS 4096
extern unsigned int ftrace_mux_max_sets;

struct ftrace_set *ftrace_set_alloc(unsigned int nr);
struct ftrace_mux_func *ftrace_mux_alloc_func(void);
struct ftrace_mux_func *ftrace_mux_add_func(unsigned long ip);
void ftrace_mux_update_bits(unsigned long user, struct ftrace_ops *ops,
			    struct ftrace_hash *old);
void ftrace_mux_change_func(struct ftrace_mux_func *func, struct ftrace_set *set);
void ftrace_mux_remove_func(struct ftrace_mux_func *func);
void ftrace_mux_free_func(struct ftrace_mux_func *func);
bool ftrace_mux_update_funcs(void);
void ftrace_mux_take_removed_funcs(struct list_head *funcs);
void ftrace_set_init(struct ftrace_set *set);
void ftrace_set_reset(struct ftrace_set *set);

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
static inline struct ftrace_slot *ftrace_site_slot(struct ftrace_ops *site)
{
	return container_of(site, struct ftrace_slot, ops);
}

extern unsigned int ftrace_mux_max_trampolines;
extern unsigned int ftrace_mux_max_calls;
extern unsigned long ftrace_mux_min_callers;

struct ftrace_slot *ftrace_slot_alloc(void);
bool ftrace_set_shares_lock(struct ftrace_set *set);
bool ftrace_set_make_trampoline(struct ftrace_set *set);
bool ftrace_set_make_slot(struct ftrace_set *set);
void ftrace_mux_count_moved(void);
bool ftrace_mux_redirect_slots(void);
void ftrace_mux_redirect_late_slots(void);
void ftrace_mux_retire_slots(struct list_head *retired);
void ftrace_mux_withdraw_code(struct ftrace_mux_code *code);
void ftrace_mux_free_code(struct ftrace_mux_code *code);
#endif

#endif /* _KERNEL_TRACE_FTRACE_MUX_H */
