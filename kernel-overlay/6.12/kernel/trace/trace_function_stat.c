// SPDX-License-Identifier: GPL-2.0-only
/*
 * function_stat - how often and how long functions run
 *
 * Like function_graph, it traces calls and returns of the functions that its
 * trace array selects. It writes no events, but counts: in memory for each
 * function and each possible CPU, allocated before the function is traced. The
 * trace file shows the sums.
 */
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/trace_clock.h>
#include <linux/uaccess.h>

#include "fgraph_stack.h"
#include "ftrace_internal.h"
#include "trace.h"
#include "trace_call_rate.h"
#include "trace_func_times.h"

/**
 * struct func_stat - the calls of a function on one CPU
 * @times:	number of calls, and their times
 * @nested:	sum of the times of their traced callees, in ns
 * @min:	shortest time, U64_MAX if there is none
 * @max:	longest time
 *
 * A cache line on 64-bit machines. With the option stat-hist, STAT_BUCKETS
 * counters of a histogram follow.
 */
struct func_stat {
	struct func_times	times;
	local64_t		nested;
	local64_t		min;
	local64_t		max;
};

/**
 * struct stat_slot - a function in a stat_table; at most STAT_GRANULE bytes
 * @ip:		address of its call site, as in the record; 0 for none, 1 for a
 *		function that is gone
 * @stat:	its counters
 */
struct stat_slot {
	unsigned long		ip;
	struct func_stat __percpu *stat;
};

#define STAT_SLOT_GONE	1UL

/* Bits of an address below this are the same for most functions */
#define STAT_GRANULE	16

/**
 * struct stat_table - finds the counters of functions by their address
 * @mask:	bits of the hash of an address that select a slot; at least
 *		half of the slots are empty
 * @used:	number of slots with a function, or with one that is gone
 * @slots:	the slots, and an empty one. A function is in the first one that
 *		was free, from that of its address on
 */
struct stat_table {
	unsigned long		mask;
	unsigned long		used;
	struct stat_slot	slots[];
};

/* What callbacks use while nothing is to be counted */
static struct stat_table stat_no_table = {
	.slots = { [1] = {} },
};

/* Counters that were allocated at once; percpu memory is limited to 32 KiB */
struct stat_block {
	struct list_head	list;
	void __percpu		*stats;
	unsigned long		nr;
};

#define STAT_BLOCK_SIZE	16384

/* Calls of 2^i up to 2^(i + 1) ns; the last bucket is for all longer ones */
#define STAT_BUCKETS	40

static struct tracer function_stat_tracer;

/* Options of function_stat */
enum {
	STAT_OPT_HIST	= BIT(0),	/* Count histograms */
};

static struct tracer_opt stat_opts[] = {
	{ TRACER_OPT(stat-hist, STAT_OPT_HIST) },
	{ }
};

static struct tracer_flags stat_flags = {
	.opts = stat_opts,
};

/**
 * struct function_stat - the function_stat tracer of a trace array
 * @table:	what callbacks use: @functions, or stat_no_table while the
 *		counters are being cleared
 * @since:	the time from which on calls are counted, in ns of
 *		trace_clock_local()
 * @untracked:	calls of functions without counters
 * @hist:	there are histograms
 * @list:	entry in function_stats
 * @tr:		the trace array
 * @functions:	all functions that have counters
 * @blocks:	all counters
 * @spare:	counters that no function has, of which there are @nr_spare
 * @nr_spare:	number of @spare
 * @nr_stats:	number of all counters
 * @gone:	calls of functions that are gone
 * @overruns:	overruns of the shadow stack before @since
 *
 * trace_types_lock protects all but what callbacks use; @functions to
 * @nr_stats also change with ftrace_lock held.
 */
struct function_stat {
	struct stat_table	*table;
	u64			since;
	atomic_long_t		untracked;
	bool			hist;

	struct list_head	list;
	struct trace_array	*tr;
	struct stat_table	*functions;
	struct list_head	blocks;
	struct func_stat __percpu **spare;
	unsigned long		nr_spare;
	unsigned long		nr_stats;
	u64			gone;
	unsigned long		overruns;
};

/* All that run; changes with ftrace_lock held */
static LIST_HEAD(function_stats);

/**
 * struct stat_call - what is on the shadow stack for each call
 * @nested:	time of traced callees
 * @calltime:	when it was entered; that in the frame moves on while the task
 *		sleeps, with sleep-time off
 */
struct stat_call {
	u64			nested;
	u64			calltime;
};

/* The clocks of CPUs may differ, and the task have moved to one that is behind. */
static __always_inline u64 stat_time(struct ftrace_graph_ret *trace)
{
	return likely(trace->rettime >= trace->calltime) ?
	       trace->rettime - trace->calltime : 0;
}

#define STAT_CALL_WORDS	(sizeof(struct stat_call) / sizeof(long))

/*
 * Counting
 */

static __always_inline struct stat_slot *
stat_table_slot(struct stat_table *table, unsigned long ip)
{
	/* Functions are close to each other, and so would be their slots */
	unsigned long hash = ip * GOLDEN_RATIO_32;

	/* No division: both are powers of two, and often equal */
	return (void *)table->slots +
	       (hash & table->mask) / (STAT_GRANULE / sizeof(struct stat_slot));
}

static unsigned long stat_table_size(struct stat_table *table)
{
	return table->mask / STAT_GRANULE + 1;
}

static struct stat_slot *stat_table_next(struct stat_table *table,
					 struct stat_slot *slot)
{
	return ++slot == table->slots + stat_table_size(table) ? table->slots : slot;
}

#define for_each_stat_slot(table, slot)					\
	for (slot = (table)->slots;					\
	     slot < (table)->slots + stat_table_size(table); slot++)

static struct stat_slot *stat_table_find(struct stat_table *table, unsigned long ip)
{
	struct stat_slot *slot = stat_table_slot(table, ip);
	unsigned long key;

	/* Ends at an empty slot. Pairs with smp_store_release() in stat_table_insert() */
	while ((key = smp_load_acquire(&slot->ip))) {
		if (key == ip)
			return slot;
		slot = stat_table_next(table, slot);
	}

	return NULL;
}

/*
 * Find the counters of a function that is in the slot of its address, or in the
 * one behind it. Otherwise return false, and stat_table_find() has to look for
 * it. The slot behind the last one is always empty.
 */
static __always_inline bool stat_find(struct function_stat *fs, unsigned long ip,
				      struct func_stat __percpu **stat)
{
	/* Pairs with smp_store_release() in stat_publish() */
	struct stat_table *table = smp_load_acquire(&fs->table);
	struct stat_slot *slot = stat_table_slot(table, ip);

	/* Pairs with smp_store_release() in stat_table_insert() */
	if (unlikely(smp_load_acquire(&slot->ip) != ip)) {
		slot++;
		/* So does this */
		if (smp_load_acquire(&slot->ip) != ip)
			return false;
	}

	*stat = slot->stat;
	return true;
}

/* The histogram of a function on one CPU */
static inline local64_t *stat_hist(struct func_stat *stat)
{
	return (local64_t *)(stat + 1);
}

static unsigned int stat_bucket(u64 time)
{
	return time ? min(ilog2(time), STAT_BUCKETS - 1) : 0;
}

/* What is allocated for a function and a CPU */
static size_t stat_size(struct function_stat *fs)
{
	return sizeof(struct func_stat) +
	       (fs->hist ? STAT_BUCKETS * sizeof(local64_t) : 0);
}

/* Test tracing_on and tracing_cpumask */
static __always_inline bool stat_is_on(struct trace_array *tr)
{
	return likely(!READ_ONCE(tr->buffer_disabled) &&
		      cpumask_test_cpu(raw_smp_processor_id(), tr->tracing_cpumask));
}

/* A new maximum or minimum, which is rare */
static noinline void stat_widen(struct func_stat *stat, u64 time)
{
	u64 old;

	/* Interrupts may do the same */
	do {
		old = local64_read(&stat->max);
	} while (time > old && local64_cmpxchg(&stat->max, old, time) != old);

	do {
		old = local64_read(&stat->min);
	} while (time < old && local64_cmpxchg(&stat->min, old, time) != old);
}

/*
 * Count a return. Returns false if stat_widen() has to be called. Callers do that:
 * arguments of a call here would take up registers of all returns.
 */
static __always_inline bool stat_count(struct func_stat *stat, u64 time, u64 nested)
{
	func_times_return(&stat->times, time);
	/* More than @time if an interrupt came while it was taken, or sleep-time changed */
	if (nested)
		local64_add(min(nested, time), &stat->nested);

	return likely(time <= (u64)local64_read(&stat->max) &&
		      time >= (u64)local64_read(&stat->min));
}

/* A call that no filter has excluded. Returns 1 if its return is to be handled */
static int stat_entry_passed(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			     unsigned long *task_var)
{
	struct trace_array *tr = gops->private;
	struct function_stat *fs;
	struct stat_table *table;
	struct stat_slot *slot;
	struct stat_call *call;

	if (!stat_is_on(tr))
		goto ignore;

	fs = READ_ONCE(tr->function_stat);
	/* Pairs with smp_store_release() in stat_publish() */
	table = smp_load_acquire(&fs->table);
	slot = stat_table_find(table, trace->func);
	if (!slot || func_times_ignore()) {
		if (table != &stat_no_table)
			atomic_long_inc(&fs->untracked);
		goto ignore;
	}

	call = fgraph_reserve_data(gops->idx, sizeof(*call));
	if (!call)
		goto ignore;

	call->nested = 0;
	call->calltime = fgraph_get_calltime();
	func_times_enter(&this_cpu_ptr(slot->stat)->times);

	return 1;
ignore:
	ftrace_graph_addr_finish(task_var, trace->depth);
	return 0;
}

/* Any call */
static noinline int
stat_entry_slow(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	unsigned long *task_var = fgraph_get_task_var(gops);
	struct trace_array *tr = gops->private;

	if (READ_ONCE(tr->graph_checks) || *task_var) {
		int ret = trace_graph_test_entry(trace, gops, task_var);

		if (ret >= 0)
			return ret;
	}

	return stat_entry_passed(trace, gops, task_var);
}

/* Any call, with max_call_rate set */
static noinline int
stat_limited_entry_slow(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			bool tried)
{
	unsigned long *task_var = fgraph_get_task_var(gops);
	int ret = trace_graph_test_entry(trace, gops, task_var);

	if (ret >= 0)
		return ret;

	if (!call_rate_allows_slow(gops->private, trace->func, tried)) {
		ftrace_graph_addr_finish(task_var, trace->depth);
		return 0;
	}

	return stat_entry_passed(trace, gops, task_var);
}

/*
 * What nearly all calls need, without a call of another function, so that no
 * registers are saved. The others leave before anything has changed.
 */
static __always_inline int stat_entry_fast(struct ftrace_graph_ent *trace,
					   struct fgraph_ops *gops, bool limit)
{
	unsigned long *task_var = ret_stack_get_task_var(current, gops->idx);
	struct trace_array *tr = gops->private;
	struct func_stat __percpu *stat;
	struct ftrace_ret_stack *frame;
	struct stat_call *call;

	if (unlikely(READ_ONCE(tr->graph_checks) | *task_var))
		return limit ? stat_limited_entry_slow(trace, gops, false) :
			       stat_entry_slow(trace, gops);

	if (limit && !call_rate_may_trace(tr, trace->func))
		return stat_limited_entry_slow(trace, gops, true);

	if (func_times_ignore() ||
	    !stat_find(READ_ONCE(tr->function_stat), trace->func, &stat) ||
	    !fgraph_stack_reserve(gops->idx, STAT_CALL_WORDS, (void **)&call,
				  &frame))
		return stat_entry_slow(trace, gops);

	call->nested = 0;
	call->calltime = frame->calltime;
	func_times_enter(&this_cpu_ptr(stat)->times);

	return 1;
}

static int stat_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops)
{
	return stat_entry_fast(trace, gops, false);
}

/* With max_call_rate set */
static int stat_limited_entry(struct ftrace_graph_ent *trace,
			      struct fgraph_ops *gops)
{
	return stat_entry_fast(trace, gops, true);
}

/* The return of any call */
static noinline void
stat_return_slow(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	unsigned long *task_var = fgraph_get_task_var(gops);
	struct trace_array *tr = gops->private;
	struct stat_call *call, *parent;
	struct function_stat *fs;
	struct stat_table *table;
	struct func_stat *stat;
	struct stat_slot *slot;
	u64 time, nested;

	if (*task_var & TRACE_GRAPH_NOTRACE) {
		*task_var &= ~TRACE_GRAPH_NOTRACE;
		return;
	}

	ftrace_graph_addr_finish(task_var, trace->depth);

	call = fgraph_retrieve_data(gops->idx, NULL);
	if (!call)
		return;

	time = stat_time(trace);
	nested = call->nested;
	parent = fgraph_retrieve_parent_data(gops->idx, NULL, 1);
	if (parent)
		parent->nested += time;

	if (!stat_is_on(tr))
		return;

	fs = READ_ONCE(tr->function_stat);
	if (call->calltime < fs->since)
		return;

	/* Pairs with smp_store_release() in stat_publish() */
	table = smp_load_acquire(&fs->table);
	slot = stat_table_find(table, trace->func);
	if (!slot)
		return;

	stat = this_cpu_ptr(slot->stat);
	if (trace_graph_check(tr, TRACE_GRAPH_CHECK_NESTED)) {
		time -= min(nested, time);
		nested = 0;
	}
	if (fs->hist)
		local64_inc(&stat_hist(stat)[stat_bucket(time)]);
	if (!stat_count(stat, time, nested))
		stat_widen(stat, time);
}

/* A return that has been counted, and took longer or shorter than all before */
static noinline void
stat_return_widen(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	struct trace_array *tr = gops->private;
	struct function_stat *fs = READ_ONCE(tr->function_stat);
	struct stat_slot *slot;

	/* Pairs with smp_store_release() in stat_publish() */
	slot = stat_table_find(smp_load_acquire(&fs->table), trace->func);
	if (slot)
		stat_widen(this_cpu_ptr(slot->stat), stat_time(trace));
}

/*
 * As stat_entry(), for the return. With @last, others must not have reserved data
 * after this user. Returns false if nothing was done.
 */
static __always_inline bool
stat_return_fast(struct ftrace_graph_ret *trace, struct fgraph_ops *gops, bool last)
{
	struct task_struct *task = current;
	unsigned long *stack = task->ret_stack;
	struct trace_array *tr = gops->private;
	struct function_stat *fs = READ_ONCE(tr->function_stat);
	long end = task->curr_ret_stack;
	struct func_stat __percpu *stat;
	struct stat_call *call, *parent;
	int idx = gops->idx;
	u64 time;

	if (unlikely(READ_ONCE(tr->graph_checks) | SHADOW_STACK_TASK_VARS(stack)[idx]) ||
	    !stat_find(fs, trace->func, &stat) ||
	    !fgraph_stack_data(stack, end, idx, STAT_CALL_WORDS, last, (void **)&call) ||
	    unlikely(call->calltime < fs->since))
		return false;

	time = stat_time(trace);
	/* Most often, the next frame is that of the next calling function that has data */
	for (;;) {
		end -= __get_offset(stack[end - 1]) + 1;
		if (end <= 0)
			break;
		if (fgraph_stack_data(stack, end, idx, STAT_CALL_WORDS, last,
				      (void **)&parent)) {
			parent->nested += time;
			break;
		}
		if (last && __get_type(stack[end - 1]) == FGRAPH_TYPE_DATA)
			return false;
	}

	if (unlikely(!stat_count(this_cpu_ptr(stat), time, call->nested)))
		stat_return_widen(trace, gops);

	return true;
}

/* Several users have reserved data, as several instances do */
static noinline void
stat_return_several(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	if (!stat_return_fast(trace, gops, false))
		stat_return_slow(trace, gops);
}

static void stat_return(struct ftrace_graph_ret *trace, struct fgraph_ops *gops)
{
	if (!stat_return_fast(trace, gops, true))
		stat_return_several(trace, gops);
}

/*
 * Memory. With ftrace_lock held, unless only one task knows the function_stat
 */

/* Add a function that the table does not have; there is room for it */
static void stat_table_insert(struct stat_table *table, unsigned long ip,
			      struct func_stat __percpu *stat)
{
	struct stat_slot *slot = stat_table_slot(table, ip);

	while (slot->ip)
		slot = stat_table_next(table, slot);

	slot->stat = stat;
	table->used++;
	/* Pairs with smp_load_acquire() in stat_table_find() */
	smp_store_release(&slot->ip, ip);
}

/* Have callbacks use @table */
static void stat_publish(struct function_stat *fs, struct stat_table *table)
{
	/* Pairs with smp_load_acquire() in stat_entry() and stat_return() */
	smp_store_release(&fs->table, table);
}

/* Replace the table by one that has room for @nr more functions */
static int stat_enlarge_table(struct function_stat *fs, unsigned long nr)
{
	struct stat_table *old = fs->functions, *table;
	unsigned long used = 0, slots;
	struct stat_slot *slot;

	if (old) {
		for_each_stat_slot(old, slot)
			used += slot->ip > STAT_SLOT_GONE;
	}

	slots = roundup_pow_of_two(max(2 * (used + nr), 16UL));
	table = kvzalloc(struct_size(table, slots, slots + 1), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	table->mask = (slots - 1) * STAT_GRANULE;
	if (old) {
		for_each_stat_slot(old, slot) {
			if (slot->ip > STAT_SLOT_GONE)
				stat_table_insert(table, slot->ip, slot->stat);
		}
	}

	fs->functions = table;
	/* Otherwise stat_start() is going to publish it */
	if (fs->table != &stat_no_table)
		stat_publish(fs, table);
	if (old) {
		/* Callbacks that have read it */
		ftrace_synchronize(false);
		kvfree(old);
	}

	return 0;
}

static void stat_zero(struct function_stat *fs, struct func_stat __percpu *percpu)
{
	struct func_stat *stat;
	int cpu;

	for_each_possible_cpu(cpu) {
		stat = per_cpu_ptr(percpu, cpu);
		memset(stat, 0, stat_size(fs));
		local64_set(&stat->min, U64_MAX);
	}
}

static void stat_free_blocks(struct list_head *blocks)
{
	struct stat_block *block, *next;

	list_for_each_entry_safe(block, next, blocks, list) {
		free_percpu(block->stats);
		kfree(block);
	}
}

/* Have at least @nr counters to spare, and room for as many functions */
static int stat_prepare(struct function_stat *fs, unsigned long nr)
{
	struct func_stat __percpu **spare;
	unsigned long nr_stats, missing, i;
	struct stat_block *block;
	LIST_HEAD(blocks);

	missing = nr > fs->nr_spare ? nr - fs->nr_spare : 0;
	nr_stats = fs->nr_stats + missing;
	spare = fs->spare;
	if (missing) {
		/* Whatever is not in use must fit */
		spare = kvmalloc_array(nr_stats, sizeof(*spare), GFP_KERNEL);
		if (!spare)
			return -ENOMEM;
	}

	while (missing) {
		block = kmalloc(sizeof(*block), GFP_KERNEL);
		if (!block)
			goto nomem;
		block->nr = min_t(unsigned long, missing,
				  STAT_BLOCK_SIZE / stat_size(fs));
		block->stats = __alloc_percpu_gfp(block->nr * stat_size(fs),
						  SMP_CACHE_BYTES,
						  GFP_KERNEL | __GFP_NOWARN);
		if (!block->stats) {
			kfree(block);
			goto nomem;
		}
		list_add(&block->list, &blocks);
		missing -= block->nr;
	}

	if (!fs->functions ||
	    2 * (fs->functions->used + nr) > stat_table_size(fs->functions)) {
		if (stat_enlarge_table(fs, nr))
			goto nomem;
	}

	if (spare == fs->spare)
		return 0;

	if (fs->nr_spare)
		memcpy(spare, fs->spare, fs->nr_spare * sizeof(*spare));
	kvfree(fs->spare);
	fs->spare = spare;
	fs->nr_stats = nr_stats;
	list_for_each_entry(block, &blocks, list) {
		for (i = 0; i < block->nr; i++) {
			spare[fs->nr_spare] = block->stats + i * stat_size(fs);
			stat_zero(fs, spare[fs->nr_spare++]);
		}
	}
	list_splice(&blocks, &fs->blocks);

	return 0;
nomem:
	stat_free_blocks(&blocks);
	if (spare != fs->spare)
		kvfree(spare);
	return -ENOMEM;
}

/* Handle a function that a filter matches: add it, if not known, or count it */
static bool stat_visit(struct function_stat *fs, struct ftrace_ops_hash *hash,
		       unsigned long ip, bool add)
{
	if (!ip || !hash_contains_ip(ip, hash) ||
	    (fs->functions && stat_table_find(fs->functions, ip)))
		return false;

	if (add)
		stat_table_insert(fs->functions, ip, fs->spare[--fs->nr_spare]);

	return true;
}

/* All functions that a filter matches. Returns the number that were not known */
static unsigned long stat_visit_all(struct function_stat *fs,
				    struct ftrace_ops_hash *hash, bool add)
{
	struct ftrace_func_entry *entry;
	unsigned long i, nr = 0;
	struct dyn_ftrace *rec;
	struct ftrace_page *pg;

	if (ftrace_hash_empty(hash->filter_hash)) {
		for_each_ftrace_rec(pg, rec) {
			if (!ftrace_rec_is_skipped(rec))
				nr += stat_visit(fs, hash, rec->ip, add);
		}
		return nr;
	}

	for (i = 0; i < 1UL << hash->filter_hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->filter_hash->buckets[i], hlist)
			nr += stat_visit(fs, hash, entry->ip, add);
	}
	return nr;
}

/* Allocate counters for all functions that a filter matches */
static int stat_add_functions(struct function_stat *fs,
			      struct ftrace_ops_hash *hash)
{
	unsigned long nr = stat_visit_all(fs, hash, false);
	int ret;

	/* There is always a table, even for no functions */
	if (!nr && fs->functions)
		return 0;

	ret = stat_prepare(fs, nr);
	if (!ret)
		stat_visit_all(fs, hash, true);

	return ret;
}

static void stat_destroy(struct function_stat *fs)
{
	mutex_lock(&ftrace_lock);
	list_del(&fs->list);
	mutex_unlock(&ftrace_lock);

	kvfree(fs->functions);
	stat_free_blocks(&fs->blocks);
	kvfree(fs->spare);
	kfree(fs);
}

static struct function_stat *stat_create(struct trace_array *tr, bool hist)
{
	struct function_stat *fs = kzalloc(sizeof(*fs), GFP_KERNEL);
	int ret;

	if (!fs)
		return NULL;

	fs->table = &stat_no_table;
	fs->tr = tr;
	fs->hist = hist;
	INIT_LIST_HEAD(&fs->list);
	INIT_LIST_HEAD(&fs->blocks);

	mutex_lock(&ftrace_lock);
	ret = stat_add_functions(fs, tr->gops->ops.func_hash);
	/* What is in the list has a table */
	if (!ret)
		list_add(&fs->list, &function_stats);
	mutex_unlock(&ftrace_lock);
	if (ret) {
		stat_destroy(fs);
		return NULL;
	}

	return fs;
}

/* Count from now on; callbacks have not counted anything before */
static void stat_start(struct function_stat *fs)
{
	mutex_lock(&ftrace_lock);
	fs->overruns = fgraph_get_overruns(fs->tr->gops);
	fs->since = trace_clock_local();
	/*
	 * A call that is being entered may have an earlier time. Its entry must
	 * not be counted, as its return is not. Callbacks that find the table
	 * find @since, too.
	 */
	ftrace_synchronize(false);
	stat_publish(fs, fs->functions);
	mutex_unlock(&ftrace_lock);
}

/* For error_log */
static const char *stat_errors[] = {
	"No memory for the counters of function_stat; the filter is unchanged",
};

/**
 * function_stat_change_filter - allocate counters for what a filter adds
 * @old:	the filter that is about to change
 * @new:	its new hashes
 *
 * Functions that a filter does not match any more keep their counters. A failure
 * is logged, as filters change when their file is closed, which cannot report it.
 *
 * Context: ftrace_lock held, before call sites are patched.
 * Return: 0 or -ENOMEM.
 */
int function_stat_change_filter(struct ftrace_ops_hash *old,
				struct ftrace_ops_hash *new)
{
	struct function_stat *fs;
	int ret;

	list_for_each_entry(fs, &function_stats, list) {
		if (fs->tr->gops->ops.func_hash != old)
			continue;
		ret = stat_add_functions(fs, new);
		if (ret) {
			tracing_log_err(fs->tr, "set_ftrace_filter",
					"function_stat", stat_errors, 0, 0);
			return ret;
		}
	}

	return 0;
}

/**
 * function_stat_add_module - allocate counters for the functions of a module
 *
 * Without memory, the module is loaded all the same. The calls of its functions
 * are counted as lost.
 *
 * Context: ftrace_lock held, before call sites are patched.
 */
void function_stat_add_module(void)
{
	struct function_stat *fs;

	list_for_each_entry(fs, &function_stats, list)
		stat_add_functions(fs, fs->tr->gops->ops.func_hash);
}

/**
 * function_stat_remove - forget a function that is freed
 * @ip:		address of its call site, as in the record
 *
 * Another function may be at that address later.
 *
 * Context: ftrace_lock held; the function is not called any more.
 */
void function_stat_remove(unsigned long ip)
{
	struct function_stat *fs;
	struct stat_slot *slot;
	int cpu;

	list_for_each_entry(fs, &function_stats, list) {
		slot = stat_table_find(fs->functions, ip);
		if (!slot)
			continue;

		for_each_possible_cpu(cpu)
			fs->gone += local64_read(&per_cpu_ptr(slot->stat, cpu)->times.calls);
		stat_zero(fs, slot->stat);
		fs->spare[fs->nr_spare++] = slot->stat;
		WRITE_ONCE(slot->ip, STAT_SLOT_GONE);
	}
}

/*
 * The tracer
 */

static trace_func_graph_ent_t stat_entryfunc(bool limit)
{
	return limit ? stat_limited_entry : stat_entry;
}

static void function_stat_limit_calls(struct trace_array *tr, bool limit)
{
	fgraph_set_funcs(tr->gops, stat_entryfunc(limit), stat_return);
}

static int function_stat_init(struct trace_array *tr)
{
	bool hist = trace_array_tracer_flags(tr, &function_stat_tracer,
					     STAT_OPT_HIST)->val & STAT_OPT_HIST;
	struct fgraph_ops *gops = tr->gops;
	int ret;

	gops->entryfunc = stat_entryfunc(call_rate_is_limited(tr));
	gops->retfunc = stat_return;

	tr->function_stat = stat_create(tr, hist);
	if (!tr->function_stat)
		return -ENOMEM;

	trace_graph_set_check(tr, TRACE_GRAPH_CHECK_HIST, hist);

	stat_start(tr->function_stat);
	ret = register_ftrace_graph(gops);
	if (ret) {
		stat_destroy(tr->function_stat);
		tr->function_stat = NULL;
		trace_graph_set_check(tr, TRACE_GRAPH_CHECK_HIST, false);
	}

	return ret;
}

static void function_stat_reset(struct trace_array *tr)
{
	unregister_ftrace_graph(tr->gops);
	/* No callback runs any more */
	trace_graph_set_check(tr, TRACE_GRAPH_CHECK_HIST, false);
	stat_destroy(tr->function_stat);
	tr->function_stat = NULL;
}

/* Histograms need other memory: start again */
static int function_stat_set_flag(struct trace_array *tr, u32 old_flags, u32 bit,
				  int set)
{
	struct function_stat *new, *old = tr->function_stat;

	if (!old || old->hist == set)
		return 0;

	new = stat_create(tr, set);
	if (!new)
		return -ENOMEM;

	trace_graph_set_check(tr, TRACE_GRAPH_CHECK_HIST, set);
	/* Callbacks depend on the address for what they read there */
	smp_store_release(&tr->function_stat, new);
	/* Callbacks that use the old one */
	ftrace_synchronize(false);
	stat_start(new);
	stat_destroy(old);

	return 0;
}

static int function_stat_clear(struct trace_array *tr, int cpu)
{
	struct function_stat *fs = tr->function_stat;
	struct stat_table *table;
	struct stat_slot *slot;

	/* A call that began on this CPU may return on another */
	if (cpu != RING_BUFFER_ALL_CPUS)
		return -EOPNOTSUPP;

	mutex_lock(&ftrace_lock);
	stat_publish(fs, &stat_no_table);
	mutex_unlock(&ftrace_lock);
	/* Callbacks that have read the table */
	ftrace_synchronize(false);

	mutex_lock(&ftrace_lock);
	table = fs->functions;
	for_each_stat_slot(table, slot) {
		if (slot->ip > STAT_SLOT_GONE)
			stat_zero(fs, slot->stat);
	}
	fs->gone = 0;
	atomic_long_set(&fs->untracked, 0);
	mutex_unlock(&ftrace_lock);

	stat_start(fs);

	return 0;
}

/*
 * Showing
 */

/* What function_stat_sort may contain */
enum stat_sort {
	STAT_SORT_TOTAL,
	STAT_SORT_SELF,
	STAT_SORT_CALLS,
	STAT_SORT_AVERAGE,
	STAT_SORT_MAX,
	STAT_SORT_NAME,
};

static const char * const stat_sorts[] = {
	[STAT_SORT_TOTAL]	= "total",
	[STAT_SORT_SELF]	= "self",
	[STAT_SORT_CALLS]	= "calls",
	[STAT_SORT_AVERAGE]	= "average",
	[STAT_SORT_MAX]		= "max",
	[STAT_SORT_NAME]	= "name",
};

/* What the trace file shows of a function; times in ns */
struct stat_line {
	unsigned long		ip;
	union {
		u64		key;
		char		*name;
	};
	u64			calls;
	struct func_times_sum	times;
	u64			nested;
	u64			min;
	u64			max;
	/* NULL without the option stat-hist */
	u64			*hist;
};

/* What an open trace file shows */
struct stat_lines {
	u64			since;
	u64			now;
	unsigned long		no_room;
	unsigned long		untracked;
	u64			gone;
	unsigned long		nr;
	u64			*hists;
	struct stat_line	lines[];
};

/* Add the calls on one CPU */
static void stat_line_add(struct stat_line *line, struct func_stat *stat)
{
	unsigned int i;

	line->calls += local64_read(&stat->times.calls);
	func_times_sum(&line->times, &stat->times);
	line->nested += local64_read(&stat->nested);
	line->max = max_t(u64, line->max, local64_read(&stat->max));
	line->min = min_t(u64, line->min, local64_read(&stat->min));
	for (i = 0; line->hist && i < STAT_BUCKETS; i++)
		line->hist[i] += local64_read(&stat_hist(stat)[i]);
}

static u64 stat_line_self(const struct stat_line *line)
{
	/* Of a return that is counted meanwhile, only @nested may be seen */
	return line->times.time - min(line->nested, line->times.time);
}

/* Returns false if the function was not called */
static bool stat_line_fill(struct stat_line *line, struct stat_slot *slot, int cpu,
			   u64 *hist)
{
	int first = cpu, last = cpu;

	if (cpu == RING_BUFFER_ALL_CPUS) {
		first = 0;
		last = nr_cpu_ids - 1;
	}

	memset(line, 0, sizeof(*line));
	line->ip = slot->ip;
	line->min = U64_MAX;
	line->hist = hist;

	for (; first <= last; first++) {
		if (cpu_possible(first))
			stat_line_add(line, per_cpu_ptr(slot->stat, first));
	}
	/* Of a call that is made meanwhile, only the return may be seen */
	if (cpu == RING_BUFFER_ALL_CPUS)
		line->calls = max(line->calls, line->times.returned);

	return line->calls || line->times.returned;
}

static int stat_cmp_ip(const struct stat_line *a, const struct stat_line *b)
{
	return a->ip < b->ip ? -1 : a->ip > b->ip;
}

/* The largest first */
static int stat_cmp_key(const void *p1, const void *p2)
{
	const struct stat_line *a = p1, *b = p2;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;

	return stat_cmp_ip(a, b);
}

static int stat_cmp_name(const void *p1, const void *p2)
{
	const struct stat_line *a = p1, *b = p2;

	return strcmp(a->name, b->name) ?: stat_cmp_ip(a, b);
}

static u64 stat_line_key(const struct stat_line *line, enum stat_sort by)
{
	switch (by) {
	case STAT_SORT_SELF:
		return stat_line_self(line);
	case STAT_SORT_CALLS:
		return line->calls;
	case STAT_SORT_AVERAGE:
		return line->times.returned ?
		       div64_u64(line->times.time, line->times.returned) : 0;
	case STAT_SORT_MAX:
		return line->max;
	default:
		return line->times.time;
	}
}

static int stat_lines_sort_by_name(struct stat_lines *lines)
{
	unsigned long i, nr;
	int ret = 0;

	for (nr = 0; nr < lines->nr; nr++) {
		struct stat_line *line = &lines->lines[nr];

		line->name = kasprintf(GFP_KERNEL, "%ps", (void *)line->ip);
		if (!line->name) {
			ret = -ENOMEM;
			break;
		}
	}

	if (!ret)
		sort(lines->lines, lines->nr, sizeof(lines->lines[0]),
		     stat_cmp_name, NULL);
	for (i = 0; i < nr; i++)
		kfree(lines->lines[i].name);

	return ret;
}

static int stat_lines_sort(struct stat_lines *lines, enum stat_sort by)
{
	unsigned long i;

	if (by == STAT_SORT_NAME)
		return stat_lines_sort_by_name(lines);

	for (i = 0; i < lines->nr; i++)
		lines->lines[i].key = stat_line_key(&lines->lines[i], by);
	sort(lines->lines, lines->nr, sizeof(lines->lines[0]), stat_cmp_key, NULL);

	return 0;
}

static void stat_lines_free(struct stat_lines *lines)
{
	kvfree(lines->hists);
	kvfree(lines);
}

static struct stat_lines *stat_lines_create(struct function_stat *fs, int cpu)
{
	struct stat_lines *lines;
	struct stat_table *table;
	struct stat_slot *slot;
	u64 *hist = NULL;
	int ret;

	/* Functions may be added and removed only with ftrace_lock held */
	mutex_lock(&ftrace_lock);
	table = fs->functions;
	lines = kvmalloc(struct_size(lines, lines, table->used), GFP_KERNEL);
	if (!lines) {
		mutex_unlock(&ftrace_lock);
		return ERR_PTR(-ENOMEM);
	}

	lines->hists = NULL;
	if (fs->hist) {
		/* One to spare: a function that was not called uses it before */
		hist = kvcalloc(table->used + 1, STAT_BUCKETS * sizeof(*hist),
				GFP_KERNEL);
		lines->hists = hist;
		if (!hist) {
			mutex_unlock(&ftrace_lock);
			kvfree(lines);
			return ERR_PTR(-ENOMEM);
		}
	}

	lines->since = fs->since;
	lines->now = trace_clock_local();
	lines->no_room = fgraph_get_overruns(fs->tr->gops) - fs->overruns;
	lines->untracked = atomic_long_read(&fs->untracked);
	lines->gone = fs->gone;
	lines->nr = 0;
	for_each_stat_slot(table, slot) {
		cond_resched();
		if (slot->ip <= STAT_SLOT_GONE)
			continue;
		if (stat_line_fill(&lines->lines[lines->nr], slot, cpu, hist)) {
			lines->nr++;
			if (hist)
				hist += STAT_BUCKETS;
		} else if (hist) {
			/* A first call may have been counted there meanwhile */
			memset(hist, 0, STAT_BUCKETS * sizeof(*hist));
		}
	}
	mutex_unlock(&ftrace_lock);

	ret = stat_lines_sort(lines, READ_ONCE(fs->tr->function_stat_sort));
	if (ret) {
		stat_lines_free(lines);
		return ERR_PTR(ret);
	}

	return lines;
}

static void function_stat_open(struct trace_iterator *iter)
{
	iter->private = NULL;
	/* A snapshot goes on with the ring buffer */
	if (iter->snapshot)
		return;

	/* A trace that is being read may have been another tracer's till now */
	iter->ent = NULL;
	iter->idx = -1;
	iter->lost_events = 0;
	iter->leftover = 0;
	trace_seq_init(&iter->seq);
	/* ftrace_dump() opens and prints the ring buffer in any context */
	if (irqs_disabled())
		return;

	iter->private = stat_lines_create(iter->tr->function_stat, iter->cpu_file);
}

static void function_stat_close(struct trace_iterator *iter)
{
	if (iter->snapshot)
		return;

	if (!IS_ERR_OR_NULL(iter->private))
		stat_lines_free(iter->private);
	iter->private = NULL;
	/* Another tracer may go on, and ent was the lines */
	iter->ent = NULL;
	iter->leftover = 0;
	trace_seq_init(&iter->seq);
}

static void *function_stat_next_line(struct trace_iterator *iter)
{
	struct stat_lines *lines = iter->private;

	if (IS_ERR_OR_NULL(lines))
		return lines;

	if (iter->idx + 1 >= (long)lines->nr)
		return NULL;

	/* Only tells lines from the header */
	iter->ent = iter->private;
	iter->idx++;

	return iter;
}

/* In us, with three decimals */
static void stat_print_time(struct trace_seq *s, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, NSEC_PER_USEC, &rest);

	trace_seq_printf(s, " %11llu.%03u", us, rest);
}

/* From the first bucket to the last one that has calls, with bars */
static void stat_print_hist(struct trace_seq *s, const u64 *hist)
{
	static const char bar[] = "####################";
	int i, first = STAT_BUCKETS, last = 0;
	u64 most = 1;

	for (i = 0; i < STAT_BUCKETS; i++) {
		if (!hist[i])
			continue;
		first = min(first, i);
		last = i;
		most = max(most, hist[i]);
	}

	for (i = first; i <= last; i++) {
		int len = div64_u64(hist[i] * 20 + most - 1, most);

		trace_seq_puts(s, "hist");
		stat_print_time(s, i ? 1ULL << i : 0);
		if (i < STAT_BUCKETS - 1)
			stat_print_time(s, 2ULL << i);
		else
			trace_seq_printf(s, " %15s", "inf");
		trace_seq_printf(s, " %10llu |%-20.*s|\n", hist[i], len, bar);
	}
}

static enum print_line_t function_stat_print_line(struct trace_iterator *iter)
{
	struct stat_lines *lines = iter->private;
	struct trace_seq *s = &iter->seq;
	struct stat_line *line;
	unsigned int shift;
	u64 deviation, nr;

	if (IS_ERR_OR_NULL(lines))
		return TRACE_TYPE_UNHANDLED;

	line = &lines->lines[iter->idx];
	nr = line->times.returned;
	deviation = func_times_variance(&line->times, &shift);
	deviation = (u64)int_sqrt64(deviation) << shift;

	trace_seq_printf(s, "%10llu %10llu", line->calls, nr);
	stat_print_time(s, line->times.time);
	stat_print_time(s, stat_line_self(line));
	stat_print_time(s, nr ? div64_u64(line->times.time, nr) : 0);
	/* No minimum: nothing has returned, or not quite */
	stat_print_time(s, line->min <= line->max ? line->min : 0);
	stat_print_time(s, line->max);
	stat_print_time(s, deviation);
	trace_seq_printf(s, "  %ps\n", (void *)line->ip);
	if (line->hist)
		stat_print_hist(s, line->hist);

	return trace_handle_return(s);
}

static void stat_print_seconds(struct seq_file *m, u64 ns)
{
	u32 rest;
	u64 s = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	seq_printf(m, "%llu.%06lu s", s, rest / NSEC_PER_USEC);
}

static void function_stat_print_header(struct seq_file *m)
{
	struct trace_iterator *iter = m->private;
	struct stat_lines *lines = iter->private;

	if (IS_ERR_OR_NULL(lines)) {
		trace_default_header(m);
		return;
	}

	if (!(iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO))
		return;

	seq_puts(m, "# since ");
	stat_print_seconds(m, lines->since);
	seq_puts(m, ", for ");
	stat_print_seconds(m, lines->now - lines->since);
	if (iter->cpu_file == RING_BUFFER_ALL_CPUS)
		seq_printf(m, ", on CPUs %*pbl\n", nr_cpu_ids,
			   cpumask_bits(iter->tr->tracing_cpumask));
	else
		seq_printf(m, ", on CPU %d\n", iter->cpu_file);
	seq_printf(m, "# calls lost: %lu no room on the shadow stack, %lu no counters\n",
		   lines->no_room, lines->untracked);
	if (lines->gone)
		seq_printf(m, "# calls of functions that are gone: %llu\n",
			   lines->gone);
	seq_printf(m, "# times in us, functions: %lu\n#\n", lines->nr);
	seq_printf(m, "#%9s %10s %15s %15s %15s %15s %15s %15s  %s\n", "CALLS",
		   "RETURNS", "TOTAL", "SELF", "AVERAGE", "MIN", "MAX", "STDDEV",
		   "FUNCTION");
}

static ssize_t function_stat_sort_read(struct file *filp, char __user *ubuf,
				       size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	unsigned int i, by = READ_ONCE(tr->function_stat_sort);
	char buf[64];
	int n = 0;

	for (i = 0; i < ARRAY_SIZE(stat_sorts); i++) {
		n += scnprintf(buf + n, sizeof(buf) - n,
			       i == by ? "%s[%s]" : "%s%s", i ? " " : "",
			       stat_sorts[i]);
	}
	n += scnprintf(buf + n, sizeof(buf) - n, "\n");

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, n);
}

static ssize_t function_stat_sort_write(struct file *filp,
					const char __user *ubuf, size_t cnt,
					loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	char buf[16];
	int by;

	if (cnt >= sizeof(buf))
		return -EINVAL;

	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;
	buf[cnt] = 0;

	by = __sysfs_match_string(stat_sorts, ARRAY_SIZE(stat_sorts), strim(buf));
	if (by < 0)
		return by;

	WRITE_ONCE(tr->function_stat_sort, by);
	*ppos += cnt;

	return cnt;
}

static const struct file_operations function_stat_sort_fops = {
	.open		= tracing_open_generic_tr,
	.read		= function_stat_sort_read,
	.write		= function_stat_sort_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

/**
 * function_stat_create_files - create the file that controls function_stat
 * @tr:		the trace array
 * @parent:	its directory
 *
 * Context: may sleep.
 */
void function_stat_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_stat_sort", TRACE_MODE_WRITE, parent, tr,
			  &function_stat_sort_fops);
}

static struct tracer function_stat_tracer __tracer_data = {
	.name			= "function_stat",
	.init			= function_stat_init,
	.reset			= function_stat_reset,
	.open			= function_stat_open,
	.close			= function_stat_close,
	.next_line		= function_stat_next_line,
	.clear			= function_stat_clear,
	.print_header		= function_stat_print_header,
	.print_line		= function_stat_print_line,
	.flags			= &stat_flags,
	.own_flags		= STAT_OPT_HIST,
	.set_flag		= function_stat_set_flag,
	.limit_calls		= function_stat_limit_calls,
	.allow_instances	= true,
};

static __init int init_function_stat(void)
{
	return register_tracer(&function_stat_tracer);
}
core_initcall(init_function_stat);
