// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of ftrace_ops: the list function calls the ops that trace a function
 *
 * The call site of a function that several ops trace calls the list function.
 * Without sets, that walks all registered ops and tests their filters on every
 * call. Here, the ops that trace a function form a set. The list function finds
 * the set by the address of the call site, and calls its members.
 *
 * The set of a function is updated together with the ops count of its record.
 * The set that results when an ops joins or leaves another set is looked up
 * once per update, so only the filter that changes is tested. The list function
 * uses the new sets from ftrace_mux_prepare() on, just before call sites are
 * patched, where memory may still be allocated.
 *
 * On architectures where each call site has a pointer to an ops, it points to
 * one that is part of the set, and the list function is not involved.
 *
 * On architectures that can generate trampolines, a function with several ops
 * calls the trampoline of its set through a jump, see ftrace_mux_tramp.c. Without
 * a trampoline it calls the list function.
 *
 * Life cycle of a set. ftrace_lock is held in each step, but not while waiting:
 *
 *   created    by ftrace_mux_join() or ftrace_mux_leave(), for the first record
 *     |        with these ops
 *     v
 *   called     from ftrace_mux_prepare() on, which creates its trampoline. Tasks
 *     |        in the list function or the trampoline, or on their way from a
 *     |        call site to the set, hold no lock and can be preempted there
 *     v
 *   unused     when the last record has moved to another set.
 *     |        ftrace_mux_remove_ops() removes the sets of an unregistered ops
 *     |        from the table, so that no record is assigned to them
 *     v
 *   retired    by ftrace_mux_finish(), after call sites have been patched
 *     |  ftrace_ops_synchronize(): tasks have left
 *     v
 *   freed      by ftrace_mux_free_retired()
 */
#include "ftrace_mux_compat.h"
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/list_sort.h>
#include <linux/memory.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/* This file is part of libftrace.o */
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ftrace_mux."

/* ftrace_lock protects everything below */

/* All sets */
static LIST_HEAD(ftrace_sets);
/* Sets with all members registered, by hash of the members */
static DEFINE_HASHTABLE(ftrace_set_table, 10);
/* Sets that tasks may still be using, to be freed */
static LIST_HEAD(ftrace_sets_retired);
/* Slots whose jumps tasks may still be executing, to be freed */
static LIST_HEAD(ftrace_slots_retired);

/*
 * How many sets have functions at most. Tracers with unrelated filters can give
 * each function a set of its own. Each takes 512 bytes or more, and each update
 * visits all of them several times. Functions without a set call the list function,
 * which walks all ops. Zero turns sets off. KUnit tests change it.
 */
unsigned int ftrace_mux_max_sets = FTRACE_MUX_MAX_SETS;
module_param_named(max_sets, ftrace_mux_max_sets, uint, 0444);
/* How many have functions now. Others are unused until ftrace_mux_finish() */
static unsigned int ftrace_mux_nr_sets;

/**
 * enum ftrace_mux_state - what the next update has to do
 * @FTRACE_MUX_IDLE:	nothing
 * @FTRACE_MUX_MOVED:	functions have moved to other sets. Let the list function
 *			and jumps use these, and retire what is unused
 * @FTRACE_MUX_CODE:	a set may get a trampoline or slot that it lacks. Create
 *			it, and patch functions that have not moved
 * @FTRACE_MUX_TRACK:	traced functions may get a set that they lack. Test all
 *			filters to find it
 *
 * Each state includes what has to be done in those before it:
 *
 *   state      event                                            next state
 *
 *   any        a function moves                                 MOVED, or as it was
 *   any        no memory for a set, or for a function           TRACK
 *   any        no function belongs to a set any more, and       CODE or TRACK
 *              ftrace_mux_limited is CODE or TRACK
 *   not IDLE   ftrace_mux_prepare() starts                      MOVED
 *   MOVED      it has no memory for a trampoline or slot        CODE
 *   MOVED      ftrace_mux_finish()                              IDLE
 *
 * An update that starts in CODE or TRACK but lacks memory again ends in that state.
 */
enum ftrace_mux_state {
	FTRACE_MUX_IDLE,
	FTRACE_MUX_MOVED,
	FTRACE_MUX_CODE,
	FTRACE_MUX_TRACK,
};

static enum ftrace_mux_state ftrace_mux_state;
/*
 * The state to enter once there are fewer sets: TRACK if functions have none because
 * there are too many, else CODE if some have no trampoline for that reason
 */
static enum ftrace_mux_state ftrace_mux_limited;
/* Incremented to invalidate each cached struct ftrace_set_change */
static unsigned long ftrace_mux_generation = 1;

static void ftrace_mux_need(enum ftrace_mux_state state)
{
	ftrace_mux_state = max(ftrace_mux_state, state);
}

static bool ftrace_set_has(struct ftrace_set *set, struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->members[i] == ops)
			return true;
	}
	return false;
}

/**
 * ftrace_set_alloc - allocate a set without members
 * @nr:		number of members that the caller fills in
 *
 * Context: may sleep. KUnit tests make it fail.
 * Return: the set; NULL on allocation failure.
 */
struct ftrace_set *ftrace_set_alloc(unsigned int nr)
{
	struct ftrace_set *set;

	KUNIT_STATIC_STUB_REDIRECT(ftrace_set_alloc, nr);

	set = kzalloc(struct_size(set, members, nr), GFP_KERNEL);
	if (set)
		set->nr = nr;

	return set;
}

/* Without memory, the next update tries again */
static struct ftrace_set *ftrace_set_new(unsigned int nr)
{
	struct ftrace_set *set = ftrace_set_alloc(nr);

	if (!set)
		ftrace_mux_need(FTRACE_MUX_TRACK);

	return set;
}

static u32 ftrace_set_key(struct ftrace_set *set)
{
	return jhash(set->members, array_size(set->nr, sizeof(*set->members)), 0);
}

/* May functions come to a set without any? If not, its functions have no set */
static bool ftrace_set_fits(void)
{
	if (likely(ftrace_mux_nr_sets < ftrace_mux_max_sets))
		return true;

	ftrace_mux_limited = FTRACE_MUX_TRACK;
	return false;
}

/*
 * Add @set. If a set with the same ops exists, free @set and return that one. If
 * there are too many, free it and return NULL.
 */
static struct ftrace_set *ftrace_set_find(struct ftrace_set *set)
{
	u32 key = ftrace_set_key(set);
	struct ftrace_set *other;

	hash_for_each_possible(ftrace_set_table, other, hash, key) {
		if (other->nr == set->nr &&
		    !memcmp(other->members, set->members,
			    array_size(set->nr, sizeof(*set->members)))) {
			kfree(set);
			return other;
		}
	}

	if (!ftrace_set_fits()) {
		kfree(set);
		return NULL;
	}

	ftrace_set_init(set);
	hash_add(ftrace_set_table, &set->hash, key);
	list_add_tail(&set->list, &ftrace_sets);

	return set;
}

/*
 * Get the set with the members of @old and @ops; NULL on allocation failure, or if
 * there are too many. A set lists its members in the order in which the list
 * function calls them.
 */
static struct ftrace_set *
ftrace_set_join(struct ftrace_set *old, struct ftrace_ops *ops)
{
	unsigned int i, before = 0, nr = old ? old->nr : 0;
	struct ftrace_set *set = ftrace_set_new(nr + 1);
	struct ftrace_ops *op;

	if (!set)
		return NULL;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op == ops)
			break;
		before += before < nr && old->members[before] == op;
	} while_for_each_ftrace_op(op);

	for (i = 0; i < before; i++)
		set->members[i] = old->members[i];
	set->members[i] = ops;
	for (; i < nr; i++)
		set->members[i + 1] = old->members[i];

	return ftrace_set_find(set);
}

/* Get the set with the members of @old except @ops; there must be others */
static struct ftrace_set *
ftrace_set_leave(struct ftrace_set *old, struct ftrace_ops *ops)
{
	struct ftrace_set *set = ftrace_set_new(old->nr - 1);
	unsigned int i, nr = 0;

	if (!set)
		return NULL;

	for (i = 0; i < old->nr; i++) {
		if (old->members[i] != ops)
			set->members[nr++] = old->members[i];
	}

	return ftrace_set_find(set);
}

/* Like &ftrace_set.changes, for functions that had no set */
static struct ftrace_set_change ftrace_first_change;

/* Get the set for ftrace_set_next(), and store it in @change */
static noinline struct ftrace_set *
ftrace_set_make_next(struct ftrace_set *old, struct ftrace_ops *ops, bool join,
		     struct ftrace_set_change *change)
{
	struct ftrace_set *to = NULL;

	/* A joining ops must not be in the set yet, a leaving one must be */
	if (WARN_ON_ONCE(old && ftrace_set_has(old, ops) == join)) {
		ftrace_mux_need(FTRACE_MUX_TRACK);
	} else if (join || old->nr > 1) {
		to = join ? ftrace_set_join(old, ops) : ftrace_set_leave(old, ops);
	}
	change->ops = ops;
	change->to = to;
	change->generation = ftrace_mux_generation;

	return to;
}

/* Get the set of functions of @old, or of no set, if @ops joins or leaves */
static struct ftrace_set *
ftrace_set_next(struct ftrace_set *old, struct ftrace_ops *ops, bool join)
{
	struct ftrace_set_change *change;

	change = old ? &old->changes[join] : &ftrace_first_change;
	if (change->ops == ops && change->generation == ftrace_mux_generation)
		return change->to;

	return ftrace_set_make_next(old, ops, join, change);
}

static struct ftrace_set *ftrace_func_set(struct ftrace_mux_func *func)
{
	return func ? func->set : NULL;
}

/*
 * Move @rec to set @to, or just remove it from its set if @to is NULL. @func is
 * its entry in the table; NULL if it has none. Inlined, as an update may do this
 * for all functions of the kernel.
 */
static __always_inline void
ftrace_rec_set_set(struct dyn_ftrace *rec, struct ftrace_mux_func *func,
		   struct ftrace_set *to)
{
	/* It may have become unused earlier in this update */
	if (to && !to->records && !ftrace_set_fits())
		to = NULL;
	if (!func && to)
		func = ftrace_mux_add_func(rec->ip);
	ftrace_mux_need(func || !to ? FTRACE_MUX_MOVED : FTRACE_MUX_TRACK);
	if (!func)
		return;

	if (func->set && !--func->set->records) {
		ftrace_mux_nr_sets--;
		ftrace_mux_need(ftrace_mux_limited);
	}
	if (to && !to->records++)
		ftrace_mux_nr_sets++;
	ftrace_mux_change_func(func, to);
}

/*
 * An ops joins, and @rec has no set. If that is not the first ops of @rec, an
 * allocation has failed or there were too many sets, and ftrace_mux_track() is going
 * to find all of them.
 */
static bool ftrace_rec_is_new(struct dyn_ftrace *rec)
{
	return ftrace_rec_count(rec) == 1 && ftrace_mux_state != FTRACE_MUX_TRACK;
}

unsigned long ftrace_mux_changed_first = ULONG_MAX;
unsigned long ftrace_mux_changed_last;

static void ftrace_mux_rec_changed(struct dyn_ftrace *rec)
{
	ftrace_mux_changed_first = min(ftrace_mux_changed_first, rec->ip);
	ftrace_mux_changed_last = max(ftrace_mux_changed_last, rec->ip);
}

/**
 * ftrace_mux_join - add an ops to the set of a function
 * @rec:	record of the function, with a count that already includes @ops
 * @ops:	the ops, which is registered
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_join(struct dyn_ftrace *rec, struct ftrace_ops *ops)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);
	struct ftrace_set *set = ftrace_func_set(func);

	ftrace_mux_rec_changed(rec);
	if (set || ftrace_rec_is_new(rec))
		ftrace_rec_set_set(rec, func, ftrace_set_next(set, ops, true));
}

/**
 * ftrace_mux_leave - remove an ops from the set of a function
 * @rec:	record of the function, with a count that excludes @ops
 * @ops:	the ops
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_leave(struct dyn_ftrace *rec, struct ftrace_ops *ops)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);
	struct ftrace_set *set = ftrace_func_set(func);

	ftrace_mux_rec_changed(rec);
	if (set)
		ftrace_rec_set_set(rec, func, ftrace_set_next(set, ops, false));
}

/**
 * ftrace_mux_drop - remove a record from its set and from the table
 * @rec:	the record
 *
 * This may leave the set unused. ftrace_mux_finish() frees it, possibly only
 * after the next update.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_drop(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (!func)
		return;

	ftrace_rec_set_set(rec, func, NULL);
	ftrace_mux_patch_site(rec, false);
	ftrace_mux_remove_func(func);
}

/* Find the set of @rec by testing all filters */
static void ftrace_rec_track(struct dyn_ftrace *rec)
{
	unsigned int nr = 0, max = ftrace_rec_count(rec);
	struct ftrace_set *set = ftrace_set_new(max);
	struct ftrace_ops *op;

	if (!set)
		return;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		/* Pass a pointer in place of registers that have been saved */
		if (!ftrace_ops_test(op, rec->ip, rec))
			continue;
		if (nr < max)
			set->members[nr] = op;
		nr++;
	} while_for_each_ftrace_op(op);

	if (WARN_ON_ONCE(nr != max)) {
		kfree(set);
		return;
	}

	set = ftrace_set_find(set);
	if (set)
		ftrace_rec_set_set(rec, ftrace_mux_find(rec->ip), set);
}

/* Find the ops that trace the functions of records without a set */
static void ftrace_mux_track(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		if (ftrace_rec_is_skipped(rec) || !ftrace_rec_count(rec) ||
		    ftrace_func_set(ftrace_mux_find(rec->ip)))
			continue;

		ftrace_rec_track(rec);
		/* Try again at the next update, rather than for each record */
		if (ftrace_mux_state == FTRACE_MUX_TRACK)
			return;
		cond_resched();
	}
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/*
 * How many sets that are in use have a trampoline at most. Tracers with unrelated
 * filters can give each function a set of its own, and updates, /proc/kallsyms and
 * memory have to cope with the code of all. KUnit tests change it.
 */
unsigned int ftrace_mux_max_trampolines = 1024;

/*
 * Create missing trampolines and slots, and make jumps lead to the trampolines of
 * the new sets.
 * Return: true if functions whose set has not changed have to be patched, too.
 */
static bool ftrace_mux_make_code(void)
{
	struct ftrace_set *set;
	unsigned int nr = 0;
	bool all;

	/* Sets without records are about to be retired */
	list_for_each_entry(set, &ftrace_sets, list)
		nr += set->records && set->ops.trampoline;

	list_for_each_entry(set, &ftrace_sets, list) {
		if (set->ops.trampoline || set->nr < 2 || !set->records)
			continue;
		if (nr >= ftrace_mux_max_trampolines) {
			ftrace_mux_limited = max(ftrace_mux_limited, FTRACE_MUX_CODE);
			break;
		}
		if (!ftrace_set_make_trampoline(set))
			ftrace_mux_need(FTRACE_MUX_CODE);
		nr += !!set->ops.trampoline;
	}

	ftrace_mux_count_moved();
	/* Call sites of unchanged functions are patched before late jumps are redirected */
	all = ftrace_mux_redirect_slots();

	list_for_each_entry(set, &ftrace_sets, list) {
		struct ftrace_slot *slot = set->slot;

		if (!ftrace_set_make_slot(set))
			ftrace_mux_need(FTRACE_MUX_CODE);
		/* A jump that is made for a single ops is for all its functions */
		all |= set->slot != slot && set->nr == 1;
	}

	return all;
}

/* Free code and slots that no task can be using any more */
static void ftrace_mux_free_code_of(struct list_head *sets, struct list_head *slots)
{
	struct ftrace_slot *slot, *next;
	struct ftrace_set *set;

	mutex_lock(&ftrace_lock);
	list_for_each_entry(set, sets, list)
		ftrace_mux_withdraw_code(&set->code);
	list_for_each_entry(slot, slots, list)
		ftrace_mux_withdraw_code(&slot->code);
	mutex_unlock(&ftrace_lock);

	/* Wait for unwinders and kallsyms that have found the code */
	synchronize_rcu();

	mutex_lock(&ftrace_lock);
	list_for_each_entry(set, sets, list)
		ftrace_mux_free_code(&set->code);
	list_for_each_entry_safe(slot, next, slots, list) {
		ftrace_mux_free_code(&slot->code);
		kfree(slot);
	}
	mutex_unlock(&ftrace_lock);
}
#else
static bool ftrace_mux_make_code(void) { return false; }
static void ftrace_mux_redirect_late_slots(void) { }
static void ftrace_mux_retire_slots(struct list_head *retired) { }
static void ftrace_mux_free_code_of(struct list_head *sets, struct list_head *slots) { }
#endif

/**
 * ftrace_mux_prepare - make functions use their new sets
 *
 * Call this when the records are up to date, before call sites are patched.
 * ftrace_mux_finish() has to follow. The list function and jumps lead to the
 * new sets from here on: an ops that joins can be called before call sites are
 * patched, as it can be by the list function once it is registered.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: true if call sites have to be patched because of changed sets.
 */
bool ftrace_mux_prepare(void)
{
	enum ftrace_mux_state state = ftrace_mux_state;
	bool all = false;
	bool patch;

	if (unlikely(ftrace_is_dead()))
		return false;

	if (state != FTRACE_MUX_IDLE) {
		ftrace_mux_state = FTRACE_MUX_MOVED;
		/* Functions that lack a set still do, unless all are looked at */
		if (ftrace_mux_limited != FTRACE_MUX_TRACK || state == FTRACE_MUX_TRACK)
			ftrace_mux_limited = FTRACE_MUX_IDLE;
		if (state == FTRACE_MUX_TRACK)
			ftrace_mux_track();
		all = ftrace_mux_make_code();
		/* Functions that have not moved do not call the new code yet */
		all |= state >= FTRACE_MUX_CODE;
	}
	if (all) {
		ftrace_mux_changed_first = 0;
		ftrace_mux_changed_last = ULONG_MAX;
	}
	patch = ftrace_mux_update_funcs() || all;
	ftrace_mux_prepared = true;

	/*
	 * Call sites may be patched to point to sets, without a barrier. Pairs
	 * with the address dependency of ftrace_caller, which loads the ops
	 * from the call site, and the callback from the ops.
	 */
	smp_wmb();

	return patch;
}

/* Free what no task can be using any more, without ftrace_lock while waiting */
static void ftrace_mux_free_retired(struct work_struct *work)
{
	struct ftrace_mux_func *func, *next_func;
	struct ftrace_set *set, *next;
	LIST_HEAD(slots);
	LIST_HEAD(funcs);
	LIST_HEAD(sets);

	mutex_lock(&ftrace_lock);
	list_splice_init(&ftrace_sets_retired, &sets);
	list_splice_init(&ftrace_slots_retired, &slots);
	ftrace_mux_take_removed_funcs(&funcs);
	mutex_unlock(&ftrace_lock);

	if (list_empty(&sets) && list_empty(&slots) && list_empty(&funcs))
		return;

	/* The list function, and callbacks that it has called */
	ftrace_ops_synchronize();

	ftrace_mux_free_code_of(&sets, &slots);

	list_for_each_entry_safe(func, next_func, &funcs, changed)
		ftrace_mux_free_func(func);
	list_for_each_entry_safe(set, next, &sets, list)
		kfree(set);
}

static DECLARE_DELAYED_WORK(ftrace_mux_free_work, ftrace_mux_free_retired);

/**
 * ftrace_mux_finish - retire sets that no function belongs to
 *
 * Context: ftrace_lock held, after call sites were patched or records removed.
 */
void ftrace_mux_finish(void)
{
	struct ftrace_set *set, *next;

	ftrace_mux_prepared = false;
	/*
	 * While calls are disabled, slots have no callers, but are still needed.
	 * After a failure of ftrace, the list function may use old sets.
	 */
	if (ftrace_mux_state == FTRACE_MUX_IDLE || !ftrace_enabled ||
	    unlikely(ftrace_is_dead()))
		return;

	ftrace_mux_update_funcs();
	ftrace_mux_redirect_late_slots();
	ftrace_mux_retire_slots(&ftrace_slots_retired);

	list_for_each_entry_safe(set, next, &ftrace_sets, list) {
		if (set->records)
			continue;
		hash_del(&set->hash);
		list_move(&set->list, &ftrace_sets_retired);
	}

	ftrace_mux_generation++;
	if (ftrace_mux_state == FTRACE_MUX_MOVED)
		ftrace_mux_state = FTRACE_MUX_IDLE;
	/*
	 * "ftrace=function" starts before there are workqueues. Free it later.
	 * With the delay, a tracer that stops soon does not have to wait for
	 * the grace periods of this work before its own.
	 */
	if (system_long_wq)
		queue_delayed_work(system_long_wq, &ftrace_mux_free_work, HZ);
}

/**
 * ftrace_mux_pending - has an update anything to do?
 *
 * Context: ftrace_lock held.
 * Return: true if ftrace_mux_prepare() has to be called, even if no call site has
 * to be patched so far.
 */
bool ftrace_mux_pending(void)
{
	return ftrace_mux_state != FTRACE_MUX_IDLE;
}

/**
 * ftrace_mux_incomplete - does an update concern functions that have not moved?
 *
 * Context: ftrace_lock held.
 * Return: true if functions lack a set, trampoline or slot that the next update
 * tries to get for them.
 */
bool ftrace_mux_incomplete(void)
{
	return ftrace_mux_state > FTRACE_MUX_MOVED;
}

/**
 * ftrace_mux_remove_ops - do not use the sets of an unregistered ops any more
 * @ops:	the ops
 *
 * Sets that contain @ops are not assigned to functions any more, as another ops
 * may be allocated at the same address. Until these functions have another set,
 * the list function walks all registered ops.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_remove_ops(struct ftrace_ops *ops)
{
	struct ftrace_set *set;

	ftrace_mux_generation++;

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!ftrace_set_has(set, ops))
			continue;
		ftrace_set_reset(set);
		hash_del(&set->hash);
	}
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
static int ftrace_set_cmp(void *priv, const struct list_head *a,
			  const struct list_head *b)
{
	struct ftrace_set *set_a = list_entry(a, struct ftrace_set, list);
	struct ftrace_set *set_b = list_entry(b, struct ftrace_set, list);

	return set_a->ops.trampoline > set_b->ops.trampoline;
}

/**
 * ftrace_mux_update_callback - update trampolines that call an ops
 * @ops:	a registered ops whose callback has changed
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void ftrace_mux_update_callback(struct ftrace_ops *ops)
{
	struct ftrace_set *set;
	unsigned int i;

	/* Then sets stay, although their members may have been freed */
	if (unlikely(ftrace_is_dead()))
		return;

	/* ftrace_ops_assist_func() reads the callback from the ops */
	if (ops->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
		return;

	/* Sorted by address, calls are patched in batches */
	list_sort(NULL, &ftrace_sets, ftrace_set_cmp);

	mutex_lock(&text_mutex);
	list_for_each_entry(set, &ftrace_sets, list) {
		/* So does ftrace_set_call_checked() */
		if (!set->ops.trampoline || ftrace_set_shares_lock(set))
			continue;
		for (i = 0; i < set->nr; i++) {
			if (set->members[i] == ops)
				arch_ftrace_set_update(&set->ops, i,
						       ftrace_ops_get_func(ops));
		}
	}
	arch_ftrace_mux_sync();
	mutex_unlock(&text_mutex);
}
#endif
