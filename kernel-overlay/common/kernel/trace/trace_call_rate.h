/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * max_call_rate - count the calls of functions against a limit
 */
#ifndef _TRACE_CALL_RATE_H
#define _TRACE_CALL_RATE_H

#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

/**
 * struct call_rate - max_call_rate and muted_functions of a trace array
 * @tr:		the trace array
 * @limit:	calls of a function in a second, or 0
 * @called:	a second has begun, and @work will see its end
 * @exceeded:	a function was called too often, and @work will mute it
 * @end:	when the second ends, in jiffies
 * @irq_work:	queues @work for callbacks
 * @work:	mutes functions, and ends a second
 * @lock:	held where the table changes; taken before regex_lock
 * @muted:	all &struct muted_function, the oldest first; changes with
 *		ftrace_lock held
 * @list:	entry in call_rates
 *
 * There is one from the first write of max_call_rate on.
 */
struct call_rate {
	struct trace_array	*tr;
	unsigned int		limit;
	bool			called;
	bool			exceeded;
	unsigned long		end;
	struct irq_work		irq_work;
	struct delayed_work	work;
	struct mutex		lock;		/* where the table changes */
	struct list_head	muted;
	struct list_head	list;
};

/**
 * struct call_rate_slot - a function in a call_rate_table
 * @ip:		address of its call site, as in the record; 0 for none
 * @left:	how many calls it may still make in this second; negative if it
 *		has made more. What an empty slot has is right for the function
 *		that takes it
 */
struct call_rate_slot {
	unsigned long		ip;
	atomic_t		left;
};

/**
 * struct call_rate_table - the functions that were called in this second
 * @mask:	bits of the hash of an address that are the offset of its slot
 * @rate:	what the table is a part of
 * @slots:	the slots. A function is in the first one that was empty, from
 *		that of its address on
 */
struct call_rate_table {
	unsigned long		mask;
	struct call_rate	*rate;
	struct call_rate_slot	slots[];
};

bool call_rate_count_slow(struct call_rate_table *table, unsigned long ip,
			  bool tried);
u64 call_rate_allowed(struct call_rate_table *table, long elapsed);

static __always_inline struct call_rate_slot *
call_rate_slot(struct call_rate_table *table, unsigned long ip)
{
	/* Functions are close to each other, and so would be their slots */
	return (void *)table->slots + (ip * GOLDEN_RATIO_32 & table->mask);
}

/*
 * Count a call. Returns false if the function may have made too many, which
 * call_rate_count_slow() finds out: callers need save no registers for this.
 */
static __always_inline bool call_rate_try(struct call_rate_table *table,
					  unsigned long ip)
{
	struct call_rate_slot *slot = call_rate_slot(table, ip);

	return likely(READ_ONCE(slot->ip) == ip) &&
	       likely(!atomic_add_negative(-1, &slot->left));
}

/* Count a call. Returns false if the function has made too many */
static __always_inline bool call_rate_count(struct call_rate_table *table,
					    unsigned long ip)
{
	return call_rate_try(table, ip) || call_rate_count_slow(table, ip, true);
}

/* Is there a limit? With trace_types_lock or call_rate.lock held */
static inline bool call_rate_is_limited(struct trace_array *tr)
{
	return tr->call_rate_table;
}

/*
 * For callbacks of a trace array that has a limit, with preemption disabled: count
 * a call. Returns false if the function has made too many, and the call is not to be
 * traced.
 */
static __always_inline bool call_rate_allows(struct trace_array *tr,
					     unsigned long ip)
{
	return call_rate_count(READ_ONCE(tr->call_rate_table), ip);
}

/* For the same callbacks. Returns false if call_rate_allows_slow() has to find out */
static __always_inline bool call_rate_may_trace(struct trace_array *tr,
						unsigned long ip)
{
	return call_rate_try(READ_ONCE(tr->call_rate_table), ip);
}

/*
 * Returns false if the call is not to be traced. @tried: call_rate_may_trace() has
 * been called for it
 */
static __always_inline bool call_rate_allows_slow(struct trace_array *tr,
						  unsigned long ip, bool tried)
{
	return call_rate_count_slow(READ_ONCE(tr->call_rate_table), ip, tried);
}

void call_rate_create_files(struct trace_array *tr, struct dentry *parent);
void call_rate_destroy(struct trace_array *tr);
void call_rate_hide_muted(struct ftrace_ops_hash *filter, struct ftrace_hash *hash);
int call_rate_keep_muted(struct ftrace_ops_hash *filter, struct ftrace_hash *hash);
void call_rate_notrace_changed(struct ftrace_ops_hash *filter);
void call_rate_forget_freed(void);

#else /* CONFIG_DYNAMIC_FTRACE */

static inline bool call_rate_is_limited(struct trace_array *tr)
{
	return false;
}

static inline bool call_rate_allows(struct trace_array *tr, unsigned long ip)
{
	return true;
}

static inline bool call_rate_may_trace(struct trace_array *tr, unsigned long ip)
{
	return true;
}

static inline bool call_rate_allows_slow(struct trace_array *tr, unsigned long ip,
					 bool tried)
{
	return true;
}

static inline void call_rate_destroy(struct trace_array *tr) { }

#endif /* CONFIG_DYNAMIC_FTRACE */

#endif /* _TRACE_CALL_RATE_H */
