/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sets of ftrace_ops, and the slots and jumps of the functions they trace
 *
 * Shared by ftrace_mux.c, ftrace_mux_code.c, ftrace_mux_table.c and their
 * tests. Everything here requires ftrace_lock, except what the list function
 * calls.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_H
#define _KERNEL_TRACE_FTRACE_MUX_H

#include <linux/ftrace_mux.h>
#include <linux/rculist.h>

#ifdef CONFIG_FTRACE_MUX

/* Slot IDs range from 1 to this value */
#define FTRACE_SLOT_MASK	0xffffUL

/**
 * struct ftrace_set - a set of ops that trace some functions
 * @hash:	node in the table of sets, while all of its ops are registered
 * @list:	node in the list of all sets
 * @slots:	slots of the functions that the set traces
 * @records:	number of records that belong to these slots
 * @tramp:	trampoline that calls the ops; NULL if there is none
 * @stale:	one of the ops has been unregistered
 * @rank:	priority for getting a trampoline, as of the last update
 * @selected:	the set may have a trampoline
 * @nr:		number of ops
 * @ops:	the ops, newest first. Each manager that supports subsets is
 *		followed by its subops that are in the set
 */
struct ftrace_set {
	struct hlist_node	hash;
	struct list_head	list;
	struct list_head	slots;
	unsigned long		records;
	struct ftrace_mux_tramp	*tramp;
	bool			stale;
	unsigned long		rank;
	bool			selected;
	unsigned int		nr;
	struct ftrace_ops	*ops[];
};

/**
 * struct ftrace_slot_change - slot for records after an ops joins or leaves
 * @ops:	the ops that joins or leaves
 * @to:		slot that the records move to; NULL for none
 * @generation:	ftrace_mux_generation when @to was looked up
 */
struct ftrace_slot_change {
	struct ftrace_ops	*ops;
	struct ftrace_slot	*to;
	unsigned long		generation;
};

/**
 * struct ftrace_slot - functions with the same set that call the same jump
 * @jump:	the jump. NULL if there is none, for example if there are
 *		trampolines and only one ops traces the functions
 * @set:	the ops that trace the functions
 * @list:	node in the list of slots of @set
 * @unused:	node in the list of slots that may be unused
 * @id:		ID that the records store, from 1 to 65535
 * @records:	number of records that belong to the slot
 * @callers:	number of functions that call @jump
 * @fresh:	node in the list of slots to be resolved
 * @root:	if fresh, the slot that its records had before, if any
 * @moved:	if fresh, how many of @records are callers of @root
 * @first_slot:	its records had no slot before, and are patched anyway
 * @merged_into:	if fresh and merged, the slot that its records belong to now
 * @changes:	cached lookups for an ops that leaves, and for one that joins
 */
struct ftrace_slot {
	struct ftrace_mux_jump	*jump;
	struct ftrace_set	*set;
	struct list_head	list;
	struct list_head	unused;
	unsigned int		id;
	unsigned long		records;
	unsigned long		callers;
	struct list_head	fresh;
	struct ftrace_slot	*root;
	unsigned long		moved;
	bool			first_slot;
	struct ftrace_slot	*merged_into;
	struct ftrace_slot_change changes[2];
};

struct ftrace_mux_tramp *ftrace_mux_tramp_create(struct ftrace_ops *const *ops,
						 unsigned int nr);
struct ftrace_mux_jump *ftrace_mux_jump_create(struct ftrace_mux_tramp *tramp);
void ftrace_mux_jump_redirect(struct ftrace_mux_jump *jump,
			      struct ftrace_mux_tramp *tramp, bool regs);
void ftrace_mux_show_tramp(struct seq_file *m, struct ftrace_mux_tramp *tramp);
void ftrace_mux_tramp_stale(struct ftrace_mux_tramp *tramp);
void ftrace_mux_retire(struct ftrace_mux_code *code);
void ftrace_mux_remove_callback(struct ftrace_ops *ops);

unsigned int ftrace_rec_target(struct dyn_ftrace *rec);
void ftrace_rec_call(struct dyn_ftrace *rec, unsigned int id);
struct ftrace_slot *ftrace_mux_slot(unsigned int id);
struct list_head *ftrace_mux_sets(void);
unsigned int ftrace_mux_max_sets(void);
bool ftrace_mux_alloc_failed(void);
bool ftrace_mux_lost_records(void);
unsigned int ftrace_mux_limit(unsigned int max);

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES

#define FTRACE_SLOT_CALLED_SHIFT	32
#define FTRACE_SLOT_SHIFT		48

/* Slot ID of the jump that the function of @rec calls, 0 if none */
static inline unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec)
{
	return rec->flags >> FTRACE_SLOT_CALLED_SHIFT & FTRACE_SLOT_MASK;
}

/* ID of the slot that @rec belongs to, 0 if none */
static inline unsigned int ftrace_rec_slot(struct dyn_ftrace *rec)
{
	return rec->flags >> FTRACE_SLOT_SHIFT & FTRACE_SLOT_MASK;
}

static inline bool ftrace_rec_has_entry(struct dyn_ftrace *rec)
{
	return true;
}

static inline bool ftrace_rec_reserve_slot(struct dyn_ftrace *rec)
{
	return true;
}

static inline void
ftrace_rec_assign_slot(struct dyn_ftrace *rec, unsigned long id)
{
	rec->flags &= ~(FTRACE_SLOT_MASK << FTRACE_SLOT_SHIFT);
	rec->flags |= id << FTRACE_SLOT_SHIFT;
}

static inline void ftrace_rec_call_slot(struct dyn_ftrace *rec, unsigned long id,
					struct ftrace_mux_jump *jump)
{
	rec->flags &= ~(FTRACE_SLOT_MASK << FTRACE_SLOT_CALLED_SHIFT);
	rec->flags |= id << FTRACE_SLOT_CALLED_SHIFT;
}

static inline void ftrace_rec_drop(struct dyn_ftrace *rec) { }

#else /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

/**
 * struct ftrace_mux_func - a traced function
 * @node:	node in the hash table
 * @ip:		address of the call site, as in the record
 * @jump:	leads to the ops that trace the function
 * @slot:	ID of the slot that the record belongs to, zero for none
 * @called:	ID of the slot of @jump, zero for none
 * @rcu:	for freeing after a grace period
 */
struct ftrace_mux_func {
	struct hlist_node	node;
	unsigned long		ip;
	struct ftrace_mux_jump	*jump;
	u16			slot;
	u16			called;
	struct rcu_head		rcu;
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

/* Buckets of the current table */
extern struct hlist_head *ftrace_mux_heads;
extern struct ftrace_mux_tramp ftrace_mux_walk;

static __always_inline struct hlist_head *ftrace_mux_head(unsigned long ip)
{
	/* Pairs with smp_store_release() in ftrace_mux_make_table() */
	struct hlist_head *heads = READ_ONCE(ftrace_mux_heads);
	struct ftrace_mux_table *table;

	table = container_of(heads, struct ftrace_mux_table, heads[0]);

	/* Few call sites share 16 bytes, and a better hash would be slower */
	return &heads[(ip >> 4) & table->mask];
}

/* With ftrace_lock held, or in the context of ftrace_mux_find_tramp() */
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
 * ftrace_mux_find_tramp - find the ops that trace a function
 * @ip:		address of the call site, as in the record
 *
 * Context: any, NMI included. The returned pointer is valid until the task
 * schedules voluntarily or enters user space.
 * Return: the ops to be called; ftrace_mux_walk if no set was found.
 */
static __always_inline struct ftrace_mux_tramp *
ftrace_mux_find_tramp(unsigned long ip)
{
	struct ftrace_mux_func *func = ftrace_mux_find(ip);

	if (unlikely(!func))
		return &ftrace_mux_walk;

	/*
	 * Pairs with smp_store_release() in ftrace_rec_call_slot() and in
	 * ftrace_mux_jump_redirect()
	 */
	return READ_ONCE(READ_ONCE(func->jump)->tramp);
}

/* Does @rec have a table entry? Only then can it have a slot */
static inline bool ftrace_rec_has_entry(struct dyn_ftrace *rec)
{
	return ftrace_mux_find(rec->ip);
}

unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec);
unsigned int ftrace_rec_slot(struct dyn_ftrace *rec);
bool ftrace_rec_reserve_slot(struct dyn_ftrace *rec);
void ftrace_rec_assign_slot(struct dyn_ftrace *rec, unsigned long id);
void ftrace_rec_call_slot(struct dyn_ftrace *rec, unsigned long id,
			  struct ftrace_mux_jump *jump);
void ftrace_rec_drop(struct dyn_ftrace *rec);

bool arch_ftrace_tramp_create(struct ftrace_mux_tramp *tramp);
void arch_ftrace_tramp_update(struct ftrace_mux_tramp *tramp);

static inline bool arch_ftrace_jump_create(struct ftrace_mux_jump *jump)
{
	return true;
}

static inline void arch_ftrace_mux_sync(void) { }
static inline void arch_ftrace_code_free(struct ftrace_mux_code *code) { }

#endif /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

#endif /* CONFIG_FTRACE_MUX */
#endif /* _KERNEL_TRACE_FTRACE_MUX_H */
