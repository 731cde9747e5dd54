// SPDX-License-Identifier: GPL-2.0-only
/*
 * max_call_rate - keep functions that are called too often from a tracer
 *
 * With a limit, the function, function_graph and function_stat tracers of a
 * trace array count the calls of each function in seconds: one begins with a
 * call, and the next one with the first call after its end. From the first call
 * above the limit on, calls are not traced. A work item then mutes the function:
 * it adds it to what the trace array does not trace, as if its name had been
 * written to set_ftrace_notrace, so that its call sites no longer call the
 * tracer. set_ftrace_notrace neither shows nor changes that. muted_functions
 * does both.
 *
 * All functions together may make CALL_RATE_ALL times as many calls. If they make
 * more, the work also mutes those that make most of them.
 */
#include <linux/cpumask.h>
#include <linux/glob.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/trace_clock.h>
#include <linux/uaccess.h>

#include "ftrace_internal.h"
#include "trace.h"
#include "trace_call_rate.h"

/* Until functions that are called too often are muted: others may follow */
#define CALL_RATE_DELAY		msecs_to_jiffies(10)

/* How many times the limit all functions may be called together */
#define CALL_RATE_ALL		10

/* How often their calls are summed up */
#define CALL_RATE_PERIOD	(HZ / 4)

/* A function that finds none of so many slots empty is not counted */
#define CALL_RATE_PROBES	16

#define CALL_RATE_MIN_SLOTS	1024

/* What call_rate_slot.left is set to: calls of a second do not make it positive */
#define CALL_RATE_COLLECTED	(INT_MIN / 2)

/**
 * struct muted_function - a function that was called too often
 * @list:	entry in call_rate.muted
 * @ip:		address of its call site, as in the record
 * @calls:	number of calls in the second in which it was muted, until then
 * @time:	when it was muted, in ns of trace_clock_local()
 * @user:	it is also in set_ftrace_notrace
 * @written:	it is in what is about to become set_ftrace_notrace
 */
struct muted_function {
	struct list_head	list;
	unsigned long		ip;
	unsigned int		calls;
	u64			time;
	bool			user;
	bool			written;
};

/* With ftrace_lock held */
static LIST_HEAD(call_rates);

enum {
	CALL_RATE_NOT_MUTED,
};

static const char *call_rate_errors[] = {
	[CALL_RATE_NOT_MUTED]	= "No such function is muted",
};

/*
 * Counting
 */

/* Have the work run, from a callback in any context. @flag tells it what to do */
static __always_inline void call_rate_notify(struct call_rate *rate, bool *flag)
{
	/* Set before, as what irq_work_queue() calls may be traced */
	WRITE_ONCE(*flag, true);
	irq_work_queue(&rate->irq_work);
}

/* Find the slot of a function, or take one. Returns NULL if there is no room */
static __always_inline struct call_rate_slot *
call_rate_find(struct call_rate_table *table, unsigned long ip)
{
	struct call_rate_slot *slot = call_rate_slot(table, ip);
	struct call_rate *rate = table->rate;
	unsigned long offset, key;
	int i;

	for (i = 0; i < CALL_RATE_PROBES; i++) {
		key = READ_ONCE(slot->ip);
		if (!key) {
			/* Nothing runs the irq_work of a CPU that is going offline */
			if (unlikely(!cpu_online(raw_smp_processor_id())))
				return NULL;
			/*
			 * Pairs with smp_store_release() in call_rate_end():
			 * what is left is that of the new second. A full barrier,
			 * too, which pairs with smp_mb() in call_rate_scan()
			 */
			key = cmpxchg(&slot->ip, 0, ip) ?: ip;
			/* Irq work of a CPU that goes offline never runs */
			if (!READ_ONCE(rate->called) &&
			    likely(cpu_online(raw_smp_processor_id()))) {
				WRITE_ONCE(rate->end, jiffies + HZ);
				call_rate_notify(rate, &rate->called);
			}
		}
		if (key == ip)
			return slot;

		offset = (void *)(slot + 1) - (void *)table->slots;
		slot = (void *)table->slots + (offset & table->mask);
	}

	return NULL;
}

/**
 * call_rate_count_slow - count a call, for any function
 * @table:	the table
 * @ip:		address of the call site
 * @tried:	call_rate_try() has been called for this call, and has failed
 *
 * Return: false if the function has made too many calls.
 *
 * Context: any. Kprobes are not allowed, as in the callbacks of graph tracers.
 */
noinline notrace bool call_rate_count_slow(struct call_rate_table *table,
					   unsigned long ip, bool tried)
{
	struct call_rate_slot *slot = call_rate_find(table, ip);

	if (!slot)
		return true;

	/* call_rate_try() has counted it if it has found the function */
	if (!(tried && slot == call_rate_slot(table, ip) &&
	      atomic_read(&slot->left) < 0) &&
	    !atomic_add_negative(-1, &slot->left))
		return true;

	/*
	 * The counter became negative before, by an atomic operation that returns
	 * a value: that full barrier pairs with smp_mb() in call_rate_scan()
	 */
	if (!READ_ONCE(table->rate->exceeded) &&
	    likely(cpu_online(raw_smp_processor_id())))
		call_rate_notify(table->rate, &table->rate->exceeded);

	return false;
}
NOKPROBE_SYMBOL(call_rate_count_slow);

static void call_rate_irq_work(struct irq_work *irq_work)
{
	struct call_rate *rate = container_of(irq_work, struct call_rate, irq_work);

	if (READ_ONCE(rate->exceeded))
		mod_delayed_work(system_unbound_wq, &rate->work, CALL_RATE_DELAY);
	else
		queue_delayed_work(system_unbound_wq, &rate->work, CALL_RATE_PERIOD);
}

/*
 * The table. The work changes it with call_rate.lock held
 */

static unsigned long call_rate_slots(struct call_rate_table *table)
{
	return table->mask / sizeof(struct call_rate_slot) + 1;
}

#define for_each_call_rate_slot(table, slot)				\
	for (slot = (table)->slots;					\
	     slot < (table)->slots + call_rate_slots(table); slot++)

/* Room for all functions at least twice, so that most are in the first slot */
static unsigned long call_rate_slots_needed(void)
{
	return roundup_pow_of_two(max_t(unsigned long, 2 * ftrace_update_tot_cnt,
					CALL_RATE_MIN_SLOTS));
}

static struct call_rate_table *call_rate_alloc_table(struct call_rate *rate)
{
	unsigned long slots = call_rate_slots_needed();
	struct call_rate_table *table;
	struct call_rate_slot *slot;

	table = kvzalloc(struct_size(table, slots, slots), GFP_KERNEL | __GFP_NOWARN);
	if (!table)
		return NULL;

	table->rate = rate;
	table->mask = (slots - 1) * sizeof(*slot);
	for_each_call_rate_slot(table, slot)
		atomic_set(&slot->left, rate->limit);

	return table;
}

/* Begin a new second for a function */
static void call_rate_end(struct call_rate *rate, struct call_rate_slot *slot)
{
	atomic_set(&slot->left, rate->limit);
	/* Pairs with cmpxchg() in call_rate_find() */
	smp_store_release(&slot->ip, 0);
}

/* If modules have added functions. Without memory, some calls are not counted */
static void call_rate_enlarge(struct call_rate *rate)
{
	struct call_rate_table *table, *old = rate->tr->call_rate_table;

	if (call_rate_slots(old) >= call_rate_slots_needed())
		return;

	table = call_rate_alloc_table(rate);
	if (!table)
		return;

	/* Callbacks depend on the address for what they read there */
	smp_store_release(&rate->tr->call_rate_table, table);
	/* Callbacks that use the old one */
	ftrace_synchronize();
	kvfree(old);
}

/*
 * Muting
 */

static void call_rate_free_list(struct list_head *functions)
{
	struct muted_function *muted, *next;

	list_for_each_entry_safe(muted, next, functions, list)
		kfree(muted);
}

/*
 * Change what the trace array does not trace: add @add, remove @remove. Functions
 * that need not be added leave @add.
 */
static int call_rate_change(struct trace_array *tr, struct list_head *add,
			    struct list_head *remove)
{
	struct muted_function *muted, *next;
	struct ftrace_func_entry *entry;
	struct ftrace_hash *hash;
	int ret = -ENOMEM;

	hash = ftrace_copy_notrace(tr->ops);
	if (!hash)
		return -ENOMEM;

	list_for_each_entry_safe(muted, next, add, list) {
		/* Muted already, in set_ftrace_notrace, or freed since it was called */
		if (ftrace_lookup_ip(hash, muted->ip) || !ftrace_location(muted->ip)) {
			list_del(&muted->list);
			kfree(muted);
		} else if (add_hash_entry(hash, muted->ip)) {
			goto out;
		}
	}

	list_for_each_entry(muted, remove, list) {
		entry = ftrace_lookup_ip(hash, muted->ip);
		if (entry && !muted->user)
			free_hash_entry(hash, entry);
	}

	ret = list_empty(add) && list_empty(remove) ? 0 :
	      ftrace_move_notrace(tr->ops, hash);
out:
	free_ftrace_hash(hash);

	return ret;
}

/* Mute functions that have made too many calls, all at once */
static void call_rate_mute(struct call_rate *rate, struct list_head *functions)
{
	struct ftrace_ops *ops = rate->tr->ops;
	LIST_HEAD(none);

	mutex_lock(&ops->func_hash->regex_lock);
	mutex_lock(&ftrace_lock);
	/* Otherwise, they are tried again if they are still called too often */
	if (!call_rate_change(rate->tr, functions, &none))
		list_splice_tail_init(functions, &rate->muted);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&ops->func_hash->regex_lock);

	call_rate_free_list(functions);
}

/* Give functions back, all of them or those that @glob matches */
static int call_rate_unmute(struct call_rate *rate, const char *glob)
{
	struct ftrace_ops *ops = rate->tr->ops;
	struct muted_function *muted, *next;
	struct call_rate_slot *slot;
	char name[KSYM_SYMBOL_LEN];
	LIST_HEAD(functions);
	LIST_HEAD(none);
	int ret = 0;

	mutex_lock(&rate->lock);
	mutex_lock(&ops->func_hash->regex_lock);
	mutex_lock(&ftrace_lock);
	list_for_each_entry_safe(muted, next, &rate->muted, list) {
		if (*glob && !(kallsyms_lookup(muted->ip, NULL, NULL, NULL, name) &&
			       glob_match(glob, name)))
			continue;
		list_move_tail(&muted->list, &functions);
		/* The next call begins a second, even if the last is not over */
		if (call_rate_is_limited(rate->tr)) {
			slot = call_rate_find(rate->tr->call_rate_table, muted->ip);
			if (slot)
				call_rate_end(rate, slot);
		}
	}

	if (!list_empty(&functions))
		ret = call_rate_change(rate->tr, &none, &functions);
	else if (*glob)
		ret = -ENOENT;

	if (ret)
		list_splice_init(&functions, &rate->muted);
	mutex_unlock(&ftrace_lock);
	mutex_unlock(&ops->func_hash->regex_lock);
	mutex_unlock(&rate->lock);

	call_rate_free_list(&functions);

	return ret;
}

/* How many calls a function has made in this second, if it is not collected yet */
static unsigned int call_rate_calls(struct call_rate *rate,
				    struct call_rate_slot *slot)
{
	int left = atomic_read(&slot->left);

	return left > CALL_RATE_COLLECTED / 2 ? rate->limit - left : 0;
}

/**
 * call_rate_allowed - how many calls may a function have made?
 * @table:	the calls of all functions
 * @elapsed:	jiffies since the second began; negative if it has just begun
 *
 * Return: as many calls as the limit says, or fewer if all functions that made no
 * more than that made too many together. Then it is a power of two, less one.
 *
 * Context: task, with call_rate.lock held. May schedule.
 */
u64 call_rate_allowed(struct call_rate_table *table, long elapsed)
{
	struct call_rate *rate = table->rate;
	/* The work may have had to wait, for longer than a second */
	u64 allowed = mul_u64_u32_div(rate->limit, max_t(long, elapsed, HZ), HZ);
	u64 sums[BITS_PER_TYPE(int)] = {}, sum = 0, all;
	struct call_rate_slot *slot;
	unsigned int calls, bits;

	if (elapsed < CALL_RATE_PERIOD)
		return allowed;

	for_each_call_rate_slot(table, slot) {
		cond_resched();
		calls = call_rate_calls(rate, slot);
		/* Those that have made more are muted anyway */
		if (calls && calls <= allowed) {
			sums[ilog2(calls)] += calls;
			sum += calls;
		}
	}

	if (sum <= CALL_RATE_ALL * allowed)
		return allowed;

	/* They may have made all of them in a part of the second */
	all = mul_u64_u32_div(CALL_RATE_ALL * (u64)rate->limit, elapsed, HZ);
	for (bits = ARRAY_SIZE(sums); sum > all; bits--)
		sum -= sums[bits - 1];

	return min(allowed, BIT_ULL(bits) - 1);
}

/* Collect functions that have made too many calls; begin a new second if @end */
static void call_rate_collect(struct call_rate *rate, u64 allowed, bool end,
			      struct list_head *functions)
{
	struct call_rate_table *table = rate->tr->call_rate_table;
	struct muted_function *muted;
	struct call_rate_slot *slot;
	u64 now = trace_clock_local();
	unsigned int calls;
	unsigned long ip;

	for_each_call_rate_slot(table, slot) {
		cond_resched();
		ip = READ_ONCE(slot->ip);
		if (!ip)
			continue;

		calls = call_rate_calls(rate, slot);
		if (calls > allowed) {
			/* Not again before the end of a second: it is being muted */
			atomic_set(&slot->left, CALL_RATE_COLLECTED);
			muted = kzalloc(sizeof(*muted), GFP_KERNEL | __GFP_NOWARN);
			if (muted) {
				muted->ip = ip;
				muted->calls = calls;
				muted->time = now;
				list_add_tail(&muted->list, functions);
			}
		} else if (end) {
			call_rate_end(rate, slot);
		}
	}
}

static void call_rate_scan(struct call_rate *rate)
{
	/* May be negative if a second is just beginning */
	long elapsed = jiffies - READ_ONCE(rate->end) + HZ;
	u64 allowed = call_rate_allowed(rate->tr->call_rate_table, elapsed);
	/* Others are called more often without those that are muted early */
	bool end = elapsed >= HZ || allowed < rate->limit;
	LIST_HEAD(functions);

	WRITE_ONCE(rate->exceeded, false);
	if (end)
		WRITE_ONCE(rate->called, false);
	/*
	 * Either the slots below show what a callback has changed there, or that
	 * callback sees the above, and has the work run again. Pairs with the
	 * atomic operations on slots in call_rate_find() and call_rate_try()
	 */
	smp_mb();

	call_rate_collect(rate, allowed, end, &functions);
	if (!list_empty(&functions))
		call_rate_mute(rate, &functions);

	if (end)
		call_rate_enlarge(rate);
	else
		queue_delayed_work(system_unbound_wq, &rate->work,
				   clamp_t(long, rate->end - jiffies, 1, CALL_RATE_PERIOD));
}

static void call_rate_work(struct work_struct *work)
{
	struct call_rate *rate = container_of(to_delayed_work(work),
					      struct call_rate, work);

	mutex_lock(&rate->lock);
	if (call_rate_is_limited(rate->tr))
		call_rate_scan(rate);
	mutex_unlock(&rate->lock);
}

/* Who has muted functions in this filter? With ftrace_lock held */
static struct call_rate *call_rate_of(struct ftrace_ops_hash *filter)
{
	struct call_rate *rate;

	list_for_each_entry(rate, &call_rates, list) {
		if (rate->tr->ops->func_hash == filter)
			return rate;
	}

	return NULL;
}

/**
 * call_rate_hide_muted - remove muted functions from a copy of a notrace hash
 * @filter:	what the hash was copied from
 * @hash:	the copy
 *
 * Functions that set_ftrace_notrace contains, too, stay.
 *
 * Context: regex_lock of the filter held.
 */
void call_rate_hide_muted(struct ftrace_ops_hash *filter, struct ftrace_hash *hash)
{
	struct muted_function *muted;
	struct ftrace_func_entry *entry;
	struct call_rate *rate;

	mutex_lock(&ftrace_lock);
	rate = call_rate_of(filter);
	if (!rate)
		goto out;

	list_for_each_entry(muted, &rate->muted, list) {
		entry = ftrace_lookup_ip(hash, muted->ip);
		if (entry && !muted->user)
			free_hash_entry(hash, entry);
	}
out:
	mutex_unlock(&ftrace_lock);
}

/**
 * call_rate_keep_muted - add muted functions to a new notrace hash
 * @filter:	what will get the hash
 * @hash:	what was written to set_ftrace_notrace
 *
 * Return: 0, or -ENOMEM.
 *
 * Context: regex_lock of the filter, and ftrace_lock held.
 */
int call_rate_keep_muted(struct ftrace_ops_hash *filter, struct ftrace_hash *hash)
{
	struct call_rate *rate = call_rate_of(filter);
	struct muted_function *muted;

	if (!rate)
		return 0;

	list_for_each_entry(muted, &rate->muted, list)
		muted->written = ftrace_lookup_ip(hash, muted->ip);

	list_for_each_entry(muted, &rate->muted, list) {
		if (!muted->written && add_hash_entry(hash, muted->ip))
			return -ENOMEM;
	}

	return 0;
}

/**
 * call_rate_notrace_changed - the hash of call_rate_keep_muted() is in use
 * @filter:	as there
 *
 * Context: as there.
 */
void call_rate_notrace_changed(struct ftrace_ops_hash *filter)
{
	struct call_rate *rate = call_rate_of(filter);
	struct muted_function *muted;

	if (!rate)
		return;

	list_for_each_entry(muted, &rate->muted, list)
		muted->user = muted->written;
}

/**
 * call_rate_forget_freed - forget functions that are freed
 *
 * Other functions may be at their addresses later.
 *
 * Context: ftrace_lock held; the records are gone.
 */
void call_rate_forget_freed(void)
{
	struct muted_function *muted, *next;
	struct call_rate *rate;

	list_for_each_entry(rate, &call_rates, list) {
		list_for_each_entry_safe(muted, next, &rate->muted, list) {
			if (!ftrace_location(muted->ip)) {
				list_del(&muted->list);
				kfree(muted);
			}
		}
	}
}

/*
 * Limits
 */

static struct call_rate *call_rate_create(struct trace_array *tr)
{
	struct call_rate *rate = kzalloc(sizeof(*rate), GFP_KERNEL);

	if (!rate)
		return NULL;

	rate->tr = tr;
	rate->irq_work = IRQ_WORK_INIT_HARD(call_rate_irq_work);
	INIT_DELAYED_WORK(&rate->work, call_rate_work);
	mutex_init(&rate->lock);
	INIT_LIST_HEAD(&rate->muted);

	mutex_lock(&ftrace_lock);
	list_add(&rate->list, &call_rates);
	tr->call_rate = rate;
	mutex_unlock(&ftrace_lock);

	return rate;
}

static void call_rate_stop(struct call_rate *rate)
{
	struct trace_array *tr = rate->tr;
	struct call_rate_table *table;

	if (!call_rate_is_limited(tr))
		return;

	if (tr->current_trace->limit_calls)
		tr->current_trace->limit_calls(tr, false);
	/* Callbacks that use the table */
	ftrace_synchronize();

	irq_work_sync(&rate->irq_work);
	cancel_delayed_work_sync(&rate->work);
	/* The work may have replaced it until now */
	table = tr->call_rate_table;
	tr->call_rate_table = NULL;
	rate->limit = 0;
	kvfree(table);
}

static int call_rate_start(struct call_rate *rate, unsigned int limit)
{
	struct trace_array *tr = rate->tr;
	struct call_rate_table *table;

	rate->limit = limit;
	rate->called = false;
	rate->exceeded = false;
	table = call_rate_alloc_table(rate);
	if (!table) {
		rate->limit = 0;
		return -ENOMEM;
	}

	WRITE_ONCE(tr->call_rate_table, table);
	/* Callbacks that see that there is a limit also see the table */
	ftrace_synchronize();
	if (tr->current_trace->limit_calls)
		tr->current_trace->limit_calls(tr, true);

	return 0;
}

static void call_rate_change_limit(struct call_rate *rate, unsigned int limit)
{
	struct call_rate_slot *slot;

	mutex_lock(&rate->lock);
	rate->limit = limit;
	for_each_call_rate_slot(rate->tr->call_rate_table, slot)
		atomic_set(&slot->left, limit);
	mutex_unlock(&rate->lock);
}

/* With trace_types_lock held */
static int call_rate_set_limit(struct trace_array *tr, unsigned int limit)
{
	struct call_rate *rate = tr->call_rate;

	if (!rate) {
		if (!limit)
			return 0;
		/* Not done yet if the filter has never been used */
		ftrace_ops_init(tr->ops);
		rate = call_rate_create(tr);
		if (!rate)
			return -ENOMEM;
	}

	if (limit && !call_rate_is_limited(tr))
		return call_rate_start(rate, limit);

	if (limit)
		call_rate_change_limit(rate, limit);
	else
		call_rate_stop(rate);

	return 0;
}

/**
 * call_rate_destroy - free what a trace array has for max_call_rate
 * @tr:		the trace array, which has no users and no tracer any more
 *
 * Context: trace_types_lock held; may sleep.
 */
void call_rate_destroy(struct trace_array *tr)
{
	struct call_rate *rate = tr->call_rate;

	if (!rate)
		return;

	call_rate_stop(rate);
	mutex_lock(&ftrace_lock);
	list_del(&rate->list);
	tr->call_rate = NULL;
	mutex_unlock(&ftrace_lock);
	call_rate_free_list(&rate->muted);
	mutex_destroy(&rate->lock);
	kfree(rate);
}

/*
 * Files
 */

static ssize_t max_call_rate_read(struct file *filp, char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	unsigned int limit;
	char buf[16];
	int n;

	mutex_lock(&trace_types_lock);
	limit = tr->call_rate ? tr->call_rate->limit : 0;
	mutex_unlock(&trace_types_lock);

	n = scnprintf(buf, sizeof(buf), "%u\n", limit);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, n);
}

static ssize_t max_call_rate_write(struct file *filp, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	struct trace_array *tr = filp->private_data;
	unsigned int limit;
	int ret;

	ret = kstrtouint_from_user(ubuf, cnt, 10, &limit);
	if (ret)
		return ret;

	if (limit > INT_MAX)
		return -ERANGE;

	mutex_lock(&trace_types_lock);
	ret = call_rate_set_limit(tr, limit);
	mutex_unlock(&trace_types_lock);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations max_call_rate_fops = {
	.open		= tracing_open_generic_tr,
	.read		= max_call_rate_read,
	.write		= max_call_rate_write,
	.llseek		= generic_file_llseek,
	.release	= tracing_release_generic_tr,
};

static void *muted_start(struct seq_file *m, loff_t *pos)
{
	struct trace_array *tr = m->private;

	mutex_lock(&ftrace_lock);
	if (!tr->call_rate)
		return NULL;

	return seq_list_start_head(&tr->call_rate->muted, *pos);
}

static void *muted_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_array *tr = m->private;

	return seq_list_next(v, &tr->call_rate->muted, pos);
}

static void muted_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&ftrace_lock);
}

static int muted_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;
	struct muted_function *muted;
	u64 s;
	u32 ns;

	if (v == &tr->call_rate->muted) {
		seq_printf(m, "#%9s %18s  %s\n", "CALLS", "MUTED AT (s)", "FUNCTION");
		return 0;
	}

	muted = list_entry(v, struct muted_function, list);
	s = div_u64_rem(muted->time, NSEC_PER_SEC, &ns);
	seq_printf(m, "%10u %11llu.%06lu  %ps\n", muted->calls, s,
		   ns / NSEC_PER_USEC, (void *)muted->ip);

	return 0;
}

static const struct seq_operations muted_seq_ops = {
	.start	= muted_start,
	.next	= muted_next,
	.stop	= muted_stop,
	.show	= muted_show,
};

static int muted_functions_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = seq_open(file, &muted_seq_ops);
	if (ret)
		trace_array_put(tr);
	else
		((struct seq_file *)file->private_data)->private = tr;

	return ret;
}

static int muted_functions_release(struct inode *inode, struct file *file)
{
	trace_array_put(inode->i_private);

	return seq_release(inode, file);
}

static ssize_t muted_functions_write(struct file *file, const char __user *ubuf,
				     size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct trace_array *tr = m->private;
	char buf[KSYM_NAME_LEN + 1], *glob;
	struct call_rate *rate;
	int ret = 0;

	if (!cnt)
		return 0;
	if (cnt >= sizeof(buf))
		return -EINVAL;
	if (copy_from_user(buf, ubuf, cnt))
		return -EFAULT;
	buf[cnt] = 0;
	glob = strim(buf);

	mutex_lock(&trace_types_lock);
	rate = tr->call_rate;
	if (rate)
		ret = call_rate_unmute(rate, glob);
	else if (*glob)
		ret = -ENOENT;
	mutex_unlock(&trace_types_lock);

	if (ret == -ENOENT)
		tracing_log_err(tr, "muted_functions", glob, call_rate_errors,
				CALL_RATE_NOT_MUTED, 0);
	if (ret)
		return ret;

	*ppos += cnt;

	return cnt;
}

static const struct file_operations muted_functions_fops = {
	.open		= muted_functions_open,
	.read		= seq_read,
	.write		= muted_functions_write,
	.llseek		= seq_lseek,
	.release	= muted_functions_release,
};

/**
 * call_rate_create_files - create max_call_rate and muted_functions
 * @tr:		the trace array
 * @parent:	its directory
 *
 * Context: may sleep.
 */
void call_rate_create_files(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("max_call_rate", TRACE_MODE_WRITE, parent, tr,
			  &max_call_rate_fops);
	trace_create_file("muted_functions", TRACE_MODE_WRITE, parent, tr,
			  &muted_functions_fops);
}
