/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which ops trace each function, and what the function calls for that
 *
 * Between ftrace_mux.c and ftrace_mux_code.c, and for tests of them. All of it
 * with ftrace_lock held, but for what the list function calls.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_H
#define _KERNEL_TRACE_FTRACE_MUX_H

#include <linux/ftrace_mux.h>
#include <linux/rculist.h>

#ifdef CONFIG_FTRACE_MUX

/* Slots are numbered from 1 to this */
#define FTRACE_SLOT_MASK	0xffffUL

/**
 * struct ftrace_set - the ops that trace some functions
 * @hash:	in the table of the sets that can be found
 * @list:	in the list of all sets
 * @slots:	the slots of these functions
 * @records:	how many functions there are
 * @tramp:	the trampoline that calls the ops; NULL if there is none
 * @stale:	one of the ops is not registered any more
 * @rank:	how much it wants a trampoline, at the last update
 * @selected:	may have a trampoline
 * @nr:		how many ops there are
 * @ops:	the ops, newest first. Each manager that knows of subsets is
 *		followed by its subops among them
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
 * struct ftrace_slot_change - what becomes of a slot's records with an ops
 * @ops:	the ops that joins or leaves
 * @to:		the slot that the records belong to then; NULL for none
 * @generation:	when that was worked out
 */
struct ftrace_slot_change {
	struct ftrace_ops	*ops;
	struct ftrace_slot	*to;
	unsigned long		generation;
};

/**
 * struct ftrace_slot - functions with the same set that call the same jump
 * @jump:	the jump. NULL if there is none, as for the functions of a
 *		single ops
 * @set:	the ops that trace the functions
 * @list:	in the list of @set
 * @unused:	in the list of those that may be unused
 * @id:		how the records name it, from 1 to 65535
 * @records:	how many records belong to it
 * @callers:	how many functions call @jump
 * @fresh:	in the list of those that are to be settled
 * @root:	if fresh, the slot that its records belonged to before, if any
 * @moved:	if fresh, how many of @records are among the callers of @root
 * @newcomers:	its records had no slot before, and so are patched anyway
 * @settled:	if fresh and merged, the slot that its records belong to now
 * @changes:	for an ops that leaves, and one that joins
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
	bool			newcomers;
	struct ftrace_slot	*settled;
	struct ftrace_slot_change changes[2];
};

struct ftrace_mux_tramp *ftrace_mux_tramp_create(struct ftrace_ops *const *ops,
						 unsigned int nr);
struct ftrace_mux_jump *ftrace_mux_jump_create(struct ftrace_mux_tramp *tramp);
void ftrace_mux_jump_lead(struct ftrace_mux_jump *jump,
			  struct ftrace_mux_tramp *tramp, bool regs);
void ftrace_mux_show_tramp(struct seq_file *m, struct ftrace_mux_tramp *tramp);
void ftrace_mux_tramp_stale(struct ftrace_mux_tramp *tramp);
void ftrace_mux_retire(struct ftrace_mux_code *code);
void ftrace_mux_forget_callback(struct ftrace_ops *ops);

unsigned int ftrace_rec_target(struct dyn_ftrace *rec);
void ftrace_rec_call(struct dyn_ftrace *rec, unsigned int id);
struct ftrace_slot *ftrace_mux_slot(unsigned int id);
struct list_head *ftrace_mux_sets(void);
unsigned int ftrace_mux_max_sets(void);
bool ftrace_mux_lacks_memory(void);
bool ftrace_mux_lost_records(void);
unsigned int ftrace_mux_limit(unsigned int max);

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES

#define FTRACE_SLOT_CALLED_SHIFT	32
#define FTRACE_SLOT_SHIFT		48

/* The slot whose jump the function of a record calls, 0 if none */
static inline unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec)
{
	return rec->flags >> FTRACE_SLOT_CALLED_SHIFT & FTRACE_SLOT_MASK;
}

/* The slot that it belongs to, 0 if none */
static inline unsigned int ftrace_rec_slot(struct dyn_ftrace *rec)
{
	return rec->flags >> FTRACE_SLOT_SHIFT & FTRACE_SLOT_MASK;
}

static inline bool ftrace_rec_is_known(struct dyn_ftrace *rec)
{
	return true;
}

static inline bool ftrace_rec_may_have_slot(struct dyn_ftrace *rec)
{
	return true;
}

static inline void
ftrace_rec_choose_slot(struct dyn_ftrace *rec, unsigned long id)
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
 * struct ftrace_mux_func - a function that some ops traces
 * @node:	in the table
 * @ip:		address of its record
 * @jump:	what leads to the ops that trace it
 * @slot:	number of the slot that it belongs to, zero for none
 * @called:	number of the slot of @jump, zero for none
 * @rcu:	to free it
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
 * struct ftrace_mux_table - functions by address
 * @mask:	how many heads there are, less one
 * @heads:	the functions
 */
struct ftrace_mux_table {
	unsigned long		mask;
	struct hlist_head	heads[];
};

/* Those of the table */
extern struct hlist_head *ftrace_mux_heads;
extern struct ftrace_mux_tramp ftrace_mux_walk;

static __always_inline struct hlist_head *ftrace_mux_head(unsigned long ip)
{
	/* Pairs with smp_store_release() in ftrace_mux_make_table() */
	struct hlist_head *heads = READ_ONCE(ftrace_mux_heads);
	struct ftrace_mux_table *table;

	table = container_of(heads, struct ftrace_mux_table, heads[0]);

	/* There are seldom two functions in 16 bytes; nothing better is as fast */
	return &heads[ip >> 4 & table->mask];
}

/* With ftrace_lock held, or as for ftrace_mux_find_tramp() */
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
 * ftrace_mux_find_tramp - find out which ops trace a function
 * @ip:		address of its record
 *
 * Context: any, NMI included. What is returned is valid until the task schedules
 * voluntarily or goes to user space.
 * Return: the ops to be called; ftrace_mux_walk if they are not known.
 */
static __always_inline struct ftrace_mux_tramp *
ftrace_mux_find_tramp(unsigned long ip)
{
	struct ftrace_mux_func *func = ftrace_mux_find(ip);

	if (unlikely(!func))
		return &ftrace_mux_walk;

	/*
	 * Pair with smp_store_release() in ftrace_rec_call_slot() and in
	 * ftrace_mux_jump_lead()
	 */
	return READ_ONCE(READ_ONCE(func->jump)->tramp);
}

/* Has it, or may it have, a slot? */
static inline bool ftrace_rec_is_known(struct dyn_ftrace *rec)
{
	return ftrace_mux_find(rec->ip);
}

unsigned int ftrace_rec_slot_called(struct dyn_ftrace *rec);
unsigned int ftrace_rec_slot(struct dyn_ftrace *rec);
bool ftrace_rec_may_have_slot(struct dyn_ftrace *rec);
void ftrace_rec_choose_slot(struct dyn_ftrace *rec, unsigned long id);
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
