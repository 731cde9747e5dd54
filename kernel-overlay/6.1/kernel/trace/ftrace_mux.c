// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets of ftrace_ops: each call site calls exactly the ops that trace it
 *
 * A function that one ops traces calls the trampoline of that ops. Without
 * sets, a function that several ops trace calls ftrace_ops_list_func(), which
 * walks all registered ops and tests their filters on every call. Here, the ops
 * that trace a function form a set. The set has a trampoline that calls these
 * ops, and the function calls that trampoline.
 *
 * Call sites do not call the trampoline directly. They call a jump that leads
 * to it. All functions that call the same jump form a slot. When an ops joins
 * or leaves all functions of a slot, the jump is redirected to the trampoline
 * of another set, and no call site is patched. When the set changes for only
 * some functions of a slot, these functions move to another slot, and their
 * call sites are patched.
 *
 * Each record holds two slot IDs. The first is that of the slot it belongs to,
 * which determines the set of ops that trace the function. The second is that
 * of the jump that the function calls now. The first is updated together with
 * the ops count of the record. The set that results when an ops joins or leaves
 * the set of a slot is looked up once per update, so only the filter that
 * changes is tested. Slots created during an update are "fresh". Before call
 * sites are patched, ftrace_mux_prepare() resolves them: a fresh slot takes
 * over the slot that its records come from, is merged with another slot of its
 * set, or is kept.
 *
 * If there are more sets than may have a trampoline, the sets with the most
 * functions get one. Functions of the other sets call the list function, as
 * they do without sets.
 *
 * Life cycle of a set. ftrace_lock is held in each step:
 *
 *   created    by ftrace_mux_join() or ftrace_mux_leave(), for the first record
 *     |        with these ops; the record gets a fresh slot
 *     v
 *   selected   by ftrace_mux_prepare(), which creates the trampoline and jumps,
 *     |        and redirects jumps in use [text_mutex]
 *     v
 *   called     when call sites are patched [text_mutex]; tasks in the code hold
 *     |        no lock, and can be preempted there
 *     v
 *   unused     when the last record has moved to another set. Jumps and call
 *     |        sites are patched as above. ftrace_mux_remove_ops() removes the
 *     |        sets of an unregistered ops from the table, so that no record
 *     |        is assigned to them
 *     v
 *   retired    by ftrace_mux_finish(), which frees the set and its slots and
 *     |        queues trampoline and jumps
 *     |  a grace period: tasks have left
 *     v
 *   erased     by ftrace_mux_advance(), from the tree in which unwinders search
 *     |        with preemption disabled
 *     |  another one: unwinders have finished
 *     v
 *   freed      by ftrace_mux_advance()
 *
 * Unregistering an ops waits for such a grace period in any case, with
 * ftrace_lock held. If none is unregistered soon, ftrace_mux_free_retired()
 * waits, without ftrace_lock.
 *
 * ftrace_mux_prepare() retires only the trampoline if another set is selected
 * instead; the jumps then lead to the list function.
 */
#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ftrace_mux."

/*
 * Maximum number of sets with a trampoline. Each takes about 1 kB, and a few
 * microseconds of an update in which an ops joins or leaves it. Zero disables
 * sets.
 */
static unsigned int max_sets = 1024;

/* ftrace_lock protects everything below */

/* All sets */
static LIST_HEAD(ftrace_sets);
/* Sets with all ops registered, by hash of the ops */
static DEFINE_HASHTABLE(ftrace_set_table, 8);

/* Slots by ID; entry 0 is NULL */
static struct ftrace_slot **ftrace_slots;
static unsigned int ftrace_slots_size;
/* No ID below this one is free */
static unsigned int ftrace_slots_free = 1;
/* Slots to be resolved by ftrace_mux_resolve() */
static LIST_HEAD(ftrace_slots_fresh);
/* Slots that may be unused */
static LIST_HEAD(ftrace_slots_unused);

/* ftrace_mux_prepare() and ftrace_mux_finish() have something to update */
static bool ftrace_mux_dirty;
/* Some traced functions have no slot; ftrace_mux_track() looks for their ops */
static bool ftrace_mux_untracked;
/* More sets qualify for a trampoline than may have one */
static bool ftrace_mux_exhausted;
/* The allocation of a slot, trampoline or jump has failed */
static bool ftrace_mux_nomem;
/* Traced functions were removed since trampolines were last assigned */
static bool ftrace_mux_lost;
/* Incremented to invalidate each cached struct ftrace_slot_change */
static unsigned long ftrace_mux_generation = 1;

static bool ftrace_mux_is_on(void)
{
	return max_sets;
}

static bool ftrace_set_has(struct ftrace_set *set, struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i] == ops)
			return true;
	}
	return false;
}

/*
 * Do the functions of @set call a jump? With CONFIG_FTRACE_MUX_TRAMPOLINES, a
 * function with a single ops calls the trampoline of that ops. A manager with
 * subops needs a jump nevertheless, as its callback is passed the subops that
 * the call is for.
 */
static bool ftrace_set_needs_tramp(struct ftrace_set *set)
{
	return set->nr > 1 || !IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES);
}

static struct ftrace_set *ftrace_set_alloc(unsigned int nr)
{
	struct ftrace_set *set;

	set = kzalloc(struct_size(set, ops, nr), GFP_KERNEL);
	if (set)
		INIT_LIST_HEAD(&set->slots);

	return set;
}

static u32 ftrace_set_key(struct ftrace_set *set)
{
	return jhash(set->ops, set->nr * sizeof(*set->ops), 0);
}

/* Add @set. If a set with the same ops exists, free @set and return that one */
static struct ftrace_set *ftrace_set_find(struct ftrace_set *set)
{
	u32 key = ftrace_set_key(set);
	struct ftrace_set *other;

	hash_for_each_possible(ftrace_set_table, other, hash, key) {
		if (other->nr == set->nr &&
		    !memcmp(other->ops, set->ops, set->nr * sizeof(*set->ops))) {
			kfree(set);
			return other;
		}
	}

	hash_add(ftrace_set_table, &set->hash, key);
	list_add_tail(&set->list, &ftrace_sets);

	return set;
}

/* @set must not have slots any more */
static void ftrace_set_free(struct ftrace_set *set)
{
	if (hash_hashed(&set->hash))
		hash_del(&set->hash);
	list_del(&set->list);
	if (set->tramp)
		ftrace_mux_retire(&set->tramp->code);
	kfree(set);
}

/* Do sets include the subops of @ops? */
static bool ftrace_mux_uses_subset(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_USES_SUBSETS && ftrace_is_manager(ops);
}

/*
 * Get the set with the ops of @old and @ops; NULL on allocation failure. A set
 * lists its ops in the order in which the list function calls them, and each
 * manager is followed by its subops.
 */
static struct ftrace_set *
ftrace_set_join(struct ftrace_set *old, struct ftrace_ops *ops)
{
	unsigned int before = 0, nr = old ? old->nr : 0;
	struct ftrace_set *set = ftrace_set_alloc(nr + 1);
	struct ftrace_ops *op, *subops;

	if (!set)
		return NULL;

	if (!nr)
		goto found;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op == ops)
			goto found;
		before += before < nr && old->ops[before] == op;
		if (!ftrace_mux_uses_subset(op))
			continue;
		ftrace_for_each_subop(op, subops) {
			if (subops == ops)
				goto found;
			before += before < nr && old->ops[before] == subops;
		}
	} while_for_each_ftrace_op(op);

found:
	set->nr = nr + 1;
	if (nr) {
		memcpy(set->ops, old->ops, before * sizeof(*set->ops));
		memcpy(set->ops + before + 1, old->ops + before,
		       (nr - before) * sizeof(*set->ops));
	}
	set->ops[before] = ops;

	return ftrace_set_find(set);
}

/* Get the set with the ops of @old except @ops; there must be others */
static struct ftrace_set *
ftrace_set_leave(struct ftrace_set *old, struct ftrace_ops *ops)
{
	struct ftrace_set *set = ftrace_set_alloc(old->nr - 1);
	unsigned int i;

	if (!set)
		return NULL;

	for (i = 0; i < old->nr; i++) {
		if (old->ops[i] != ops)
			set->ops[set->nr++] = old->ops[i];
	}

	return ftrace_set_find(set);
}

static struct ftrace_slot *ftrace_slot(unsigned int id)
{
	return id ? ftrace_slots[id] : NULL;
}

/* Find a free slot ID, growing ftrace_slots if needed; zero on failure */
static unsigned int ftrace_slots_find_free(void)
{
	struct ftrace_slot **slots;
	unsigned int id, size;

	for (id = ftrace_slots_free; id < ftrace_slots_size; id++) {
		if (!ftrace_slots[id])
			return id;
	}
	if (id > FTRACE_SLOT_MASK)
		return 0;

	size = max(2 * ftrace_slots_size, 64U);
	slots = kvcalloc(size, sizeof(*slots), GFP_KERNEL);
	if (!slots)
		return 0;

	memcpy(slots, ftrace_slots, ftrace_slots_size * sizeof(*slots));
	kvfree(ftrace_slots);
	ftrace_slots = slots;
	ftrace_slots_size = size;

	return id;
}

/* Create a fresh slot of @set for records of @root; NULL if they had no slot */
static struct ftrace_slot *
ftrace_slot_create(struct ftrace_set *set, struct ftrace_slot *root)
{
	unsigned int id = ftrace_slots_find_free();
	struct ftrace_slot *slot;

	if (!id)
		return NULL;

	slot = kzalloc(sizeof(*slot), GFP_KERNEL);
	if (!slot)
		return NULL;

	slot->id = id;
	slot->set = set;
	slot->root = root;
	list_add_tail(&slot->list, &set->slots);
	list_add_tail(&slot->fresh, &ftrace_slots_fresh);
	/* ftrace_mux_finish() frees it unless a record is moved to it */
	list_add(&slot->unused, &ftrace_slots_unused);
	ftrace_slots[id] = slot;
	ftrace_slots_free = id + 1;

	return slot;
}

static bool ftrace_slot_is_fresh(struct ftrace_slot *slot)
{
	return !list_empty(&slot->fresh);
}

/* Does the function of @rec call the jump of @slot->root? */
static bool ftrace_rec_calls_root(struct dyn_ftrace *rec, struct ftrace_slot *slot)
{
	return slot->root && ftrace_rec_slot_called(rec) == slot->root->id;
}

static void ftrace_slot_may_be_unused(struct ftrace_slot *slot)
{
	if (!slot->records && !slot->callers && list_empty(&slot->unused))
		list_add(&slot->unused, &ftrace_slots_unused);
}

/* Move @rec to slot @to, or just remove it from its slot if @to is NULL */
static void ftrace_rec_set_slot(struct dyn_ftrace *rec, struct ftrace_slot *to)
{
	struct ftrace_slot *from = ftrace_slot(ftrace_rec_slot(rec));

	if (to && !ftrace_rec_reserve_slot(rec)) {
		ftrace_mux_untracked = true;
		ftrace_mux_nomem = true;
		to = NULL;
	}

	if (from) {
		from->records--;
		from->set->records--;
		if (ftrace_rec_calls_root(rec, from))
			from->moved--;
		ftrace_slot_may_be_unused(from);
	}

	if (to) {
		to->records++;
		to->set->records++;
		if (ftrace_rec_calls_root(rec, to))
			to->moved++;
	}

	ftrace_rec_assign_slot(rec, to ? to->id : 0);
	ftrace_mux_dirty = true;
}

/**
 * ftrace_rec_call - update a record whose call site is patched
 * @rec:	the record
 * @id:		slot ID of the jump that its function calls from now on, or zero
 *
 * Context: ftrace_lock held.
 */
void ftrace_rec_call(struct dyn_ftrace *rec, unsigned int id)
{
	struct ftrace_slot *slot;

	if (ftrace_rec_slot_called(rec) == id)
		return;

	slot = ftrace_slot(ftrace_rec_slot_called(rec));
	if (slot) {
		slot->callers--;
		ftrace_slot_may_be_unused(slot);
	}

	slot = ftrace_slot(id);
	if (slot)
		slot->callers++;

	ftrace_rec_call_slot(rec, id, slot ? slot->jump : NULL);
}

/* Get a slot of @set for records of @root: @root itself, or a fresh one */
static struct ftrace_slot *
ftrace_slot_get(struct ftrace_set *set, struct ftrace_slot *root)
{
	struct ftrace_slot *slot;

	if (root && root->set == set)
		return root;

	list_for_each_entry(slot, &set->slots, list) {
		if (ftrace_slot_is_fresh(slot) && slot->root == root)
			return slot;
	}

	return ftrace_slot_create(set, root);
}

/* Get the slot for records of @from, or of no slot, if @ops joins or leaves */
static struct ftrace_slot *
ftrace_slot_change(struct ftrace_slot *from, struct ftrace_ops *ops, bool join)
{
	struct ftrace_set *set;

	if (join)
		set = ftrace_set_join(from ? from->set : NULL, ops);
	else
		set = ftrace_set_leave(from->set, ops);
	if (!set)
		return NULL;

	if (from && ftrace_slot_is_fresh(from))
		from = from->root;

	return ftrace_slot_get(set, from);
}

/* Like &ftrace_slot.changes, for records that had no slot */
static struct ftrace_slot_change ftrace_first_change;

/* Like ftrace_slot_change(), but with one lookup per change and generation */
static struct ftrace_slot *
ftrace_slot_next(struct ftrace_slot *from, struct ftrace_ops *ops, bool join)
{
	struct ftrace_slot_change *change;
	struct ftrace_slot *to = NULL;

	change = from ? &from->changes[join] : &ftrace_first_change;
	if (change->ops == ops && change->generation == ftrace_mux_generation)
		return change->to;

	/* A joining ops must not be in the set yet, a leaving one must be */
	if (WARN_ON_ONCE(from && ftrace_set_has(from->set, ops) == join)) {
		ftrace_mux_untracked = true;
	} else if (join || from->set->nr > 1) {
		to = ftrace_slot_change(from, ops, join);
		if (!to)
			ftrace_mux_untracked = true;
	}
	change->ops = ops;
	change->to = to;
	change->generation = ftrace_mux_generation;

	return to;
}

static void ftrace_rec_change(struct dyn_ftrace *rec, struct ftrace_ops *ops,
			      bool join)
{
	struct ftrace_slot *from = ftrace_slot(ftrace_rec_slot(rec));

	ftrace_rec_set_slot(rec, ftrace_slot_next(from, ops, join));
}

/*
 * An ops joins, and @rec has no slot. That is as expected if no other ops is
 * counted, so that the count is @count now. Otherwise an allocation has failed,
 * and ftrace_mux_track() is going to find all ops that trace the function.
 */
static bool ftrace_rec_is_new(struct dyn_ftrace *rec, unsigned long count)
{
	return ftrace_rec_count(rec) == count && !ftrace_mux_untracked;
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
	if (!ftrace_mux_is_on())
		return;

	if (ftrace_rec_slot(rec) || ftrace_rec_is_new(rec, 1))
		ftrace_rec_change(rec, ops, true);
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
	if (ftrace_rec_slot(rec))
		ftrace_rec_change(rec, ops, false);
}

/**
 * ftrace_mux_join_new - add an ops to the set of a function of a new module
 * @rec:	record of the function, with a count that already includes @ops
 * @slot:	result for the previous ops that traces it, NULL for the first
 * @ops:	the ops; those before it in ftrace_ops_list have joined already
 *
 * Context: ftrace_lock held; may sleep.
 * Return: the slot to pass to ftrace_mux_add() after the last ops.
 */
struct ftrace_slot *ftrace_mux_join_new(struct dyn_ftrace *rec,
					struct ftrace_slot *slot,
					struct ftrace_ops *ops)
{
	struct ftrace_ops *subops;

	/* Other ops are counted, but their slot could not be allocated */
	if (!ftrace_mux_is_on() || (!slot && ftrace_rec_count(rec) > 1))
		return NULL;

	slot = ftrace_slot_next(slot, ops, true);
	if (!ftrace_mux_uses_subset(ops))
		return slot;

	ftrace_for_each_subop(ops, subops) {
		if (slot && hash_contains_ip(rec->ip, subops->func_hash))
			slot = ftrace_slot_next(slot, subops, true);
	}

	return slot;
}

/**
 * ftrace_mux_add - assign a slot to a function of a newly loaded module
 * @rec:	record of the function
 * @slot:	from ftrace_mux_join_new() for the last ops that traces it
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_add(struct dyn_ftrace *rec, struct ftrace_slot *slot)
{
	if (slot)
		ftrace_rec_set_slot(rec, slot);
}

static bool ftrace_filter_traces(struct ftrace_ops_hash *filter, unsigned long ip)
{
	return filter && hash_contains_ip(ip, filter);
}

/**
 * ftrace_mux_subops_change - update sets for a new filter of a subop
 * @subops:	the subop, linked to its manager
 * @old:	filter before the change; NULL if the subop traced nothing
 * @new:	filter after the change; NULL if the subop traces nothing
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_subops_change(struct ftrace_ops *subops,
			      struct ftrace_ops_hash *old,
			      struct ftrace_ops_hash *new)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	if (!ftrace_mux_is_on() ||
	    !(subops->managed->flags & FTRACE_OPS_FL_USES_SUBSETS))
		return;

	for_each_ftrace_rec(pg, rec) {
		bool was, is;

		if (ftrace_rec_is_skipped(rec))
			continue;

		was = ftrace_filter_traces(old, rec->ip);
		is = ftrace_filter_traces(new, rec->ip);
		if (was == is)
			continue;

		/*
		 * A record without a slot gets one if no ops is counted: the
		 * manager joins later. Otherwise its slot is not allocated
		 */
		if (ftrace_rec_slot(rec) || (is && ftrace_rec_is_new(rec, 0)))
			ftrace_rec_change(rec, subops, is);
		cond_resched();
	}
}

/**
 * ftrace_mux_drop - remove a record from its slot and from the table
 * @rec:	the record
 *
 * This may leave its slot unused. ftrace_mux_finish() frees the slot, possibly
 * only after the next update.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_drop(struct dyn_ftrace *rec)
{
	if (ftrace_rec_slot(rec)) {
		ftrace_rec_set_slot(rec, NULL);
		ftrace_mux_lost = true;
	}
	ftrace_rec_call(rec, 0);
	ftrace_rec_drop(rec);
}

/* Test all filters for the function of @rec; at most @max ops match */
static void ftrace_rec_track(struct dyn_ftrace *rec, unsigned int max)
{
	struct ftrace_ops *op, *subops;
	struct ftrace_slot *slot;
	struct ftrace_set *set;

	set = ftrace_set_alloc(max);
	if (!set)
		goto out_untracked;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op == &ftrace_list_end ||
		    !hash_contains_ip(rec->ip, op->func_hash))
			continue;
		set->ops[set->nr++] = op;
		if (!ftrace_mux_uses_subset(op))
			continue;
		ftrace_for_each_subop(op, subops) {
			if (hash_contains_ip(rec->ip, subops->func_hash))
				set->ops[set->nr++] = subops;
		}
	} while_for_each_ftrace_op(op);

	set = ftrace_set_find(set);
	slot = ftrace_slot_get(set, NULL);
	if (!slot)
		goto out_untracked;

	ftrace_rec_set_slot(rec, slot);
	return;

out_untracked:
	ftrace_mux_untracked = true;
	ftrace_mux_nomem = true;
}

/* Find the ops that trace the functions of records without a slot */
static void ftrace_mux_track(void)
{
	struct ftrace_ops *op, *subops;
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;
	unsigned int nr = 0;

	ftrace_mux_untracked = false;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		nr++;
		ftrace_for_each_subop(op, subops)
			nr++;
	} while_for_each_ftrace_op(op);

	for_each_ftrace_rec(pg, rec) {
		if (ftrace_rec_is_skipped(rec) || ftrace_rec_slot(rec) ||
		    !ftrace_rec_count(rec))
			continue;

		ftrace_rec_track(rec, nr);
		cond_resched();
	}
}

/* If @slot has all callers of its root, move the root to the set of @slot */
static bool ftrace_slot_take_over(struct ftrace_slot *slot)
{
	struct ftrace_slot *root = slot->root;

	if (!root || !root->jump || !ftrace_set_needs_tramp(slot->set))
		return false;

	/* All functions that call its jump must belong to the new set */
	if (root->records || slot->moved != root->callers)
		return false;

	list_move_tail(&root->list, &slot->set->slots);
	root->set = slot->set;

	return true;
}

/* Find a slot of the same set that a fresh slot can be merged into */
static struct ftrace_slot *ftrace_slot_find_other(struct ftrace_slot *slot)
{
	struct ftrace_slot *other;

	list_for_each_entry(other, &slot->set->slots, list) {
		if (!ftrace_slot_is_fresh(other))
			return other;
	}

	return NULL;
}

static void ftrace_slot_merge(struct ftrace_slot *slot, struct ftrace_slot *into)
{
	slot->merged_into = into;
	into->records += slot->records;
	slot->records = 0;
}

/* Reassign the records of merged slots to the slots they were merged into */
static void ftrace_mux_rename(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		unsigned int id = ftrace_rec_slot(rec);

		if (id && ftrace_slots[id]->merged_into)
			ftrace_rec_assign_slot(rec, ftrace_slots[id]->merged_into->id);
	}
}

/* No record refers to @slot any more, but tasks may still be in its jump */
static void ftrace_slot_free(struct ftrace_slot *slot)
{
	list_del(&slot->list);
	list_del(&slot->unused);
	ftrace_slots[slot->id] = NULL;
	ftrace_slots_free = min(ftrace_slots_free, slot->id);
	if (slot->jump)
		ftrace_mux_retire(&slot->jump->code);
	kfree(slot);
}

/* Resolve the fresh slots. Returns whether call sites have to be patched */
static bool ftrace_mux_resolve(void)
{
	struct ftrace_slot *slot, *next, *other;
	bool rename = false, patch = false;

	list_for_each_entry(slot, &ftrace_slots_fresh, fresh) {
		if (slot->records && ftrace_slot_take_over(slot)) {
			ftrace_slot_merge(slot, slot->root);
			rename = true;
		}
	}

	list_for_each_entry_safe(slot, next, &ftrace_slots_fresh, fresh) {
		if (!slot->records)
			continue;

		other = ftrace_slot_find_other(slot);
		/*
		 * Call sites that call no jump, and will call none, do not
		 * depend on slots. Records that had no slot are patched anyway.
		 */
		if (slot->moved || (slot->root && other && other->jump))
			patch = true;
		if (other) {
			ftrace_slot_merge(slot, other);
			rename = true;
		} else {
			slot->first_slot = !slot->root;
			slot->root = NULL;
			slot->moved = 0;
			list_del_init(&slot->fresh);
		}
	}

	if (rename)
		ftrace_mux_rename();

	/* The remaining slots were merged, or have no records */
	list_for_each_entry_safe(slot, next, &ftrace_slots_fresh, fresh) {
		list_del(&slot->fresh);
		ftrace_slot_free(slot);
	}
	ftrace_mux_generation++;

	return patch;
}

/* Does a slot of @set have a jump that functions may call? */
static bool ftrace_set_is_called(struct ftrace_set *set)
{
	struct ftrace_slot *slot;

	list_for_each_entry(slot, &set->slots, list) {
		if (slot->jump)
			return true;
	}
	return false;
}

/*
 * Rank a set by its number of functions. Among equals, prefer sets that have a
 * trampoline or jumps already, so that these and their call sites can stay.
 * Zero means that the set needs no trampoline, or cannot have one.
 */
static unsigned long ftrace_set_rank(struct ftrace_set *set)
{
	unsigned int i, callees = 0;

	if (!set->records || set->stale || !ftrace_set_needs_tramp(set))
		return 0;

	for (i = 0; i < set->nr; i++)
		callees += !(set->ops[i]->flags & FTRACE_OPS_FL_SUBOP);
	if (callees > FTRACE_MUX_MAX_CALLEES)
		return 0;

	return 4 * set->records + 2 * !!set->tramp + ftrace_set_is_called(set);
}

static unsigned int ftrace_mux_count_sets(unsigned long rank)
{
	struct ftrace_set *set;
	unsigned int nr = 0;

	list_for_each_entry(set, &ftrace_sets, list)
		nr += set->rank >= rank;

	return nr;
}

/* Select at most @max sets, those of the highest ranks, for trampolines */
static void ftrace_mux_select_sets(unsigned int max)
{
	unsigned long low = 0, high = 1, mid;
	struct ftrace_set *set;
	unsigned int left;

	list_for_each_entry(set, &ftrace_sets, list) {
		set->rank = ftrace_set_rank(set);
		high = max(high, set->rank + 1);
	}
	ftrace_mux_exhausted = ftrace_mux_count_sets(1) > max;

	/* Sets of rank @high and above are within @max, of @low are not */
	if (!ftrace_mux_exhausted)
		high = 1;
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (ftrace_mux_count_sets(mid) > max)
			low = mid;
		else
			high = mid;
	}
	left = max - ftrace_mux_count_sets(high);

	list_for_each_entry(set, &ftrace_sets, list) {
		set->selected = set->rank >= high;
		if (low && left && set->rank == low) {
			set->selected = true;
			left--;
		}
	}
}

static bool ftrace_set_needs_regs(struct ftrace_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i]->flags & FTRACE_OPS_FL_SAVE_REGS)
			return true;
	}
	return false;
}

/*
 * Create the missing trampolines of selected sets, and jumps to them. Returns
 * whether call sites have to be patched to call new jumps.
 */
static bool ftrace_mux_create(void)
{
	struct ftrace_slot *slot;
	struct ftrace_set *set;
	bool patch = false;

	ftrace_mux_lost = false;
	ftrace_mux_select_sets(max_sets);

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!set->selected)
			continue;

		if (!set->tramp)
			set->tramp = ftrace_mux_tramp_create(set->ops, set->nr);
		if (!set->tramp) {
			ftrace_mux_nomem = true;
			continue;
		}

		list_for_each_entry(slot, &set->slots, list) {
			if (slot->jump || !slot->records)
				continue;
			slot->jump = ftrace_mux_jump_create(set->tramp);
			if (!slot->jump)
				ftrace_mux_nomem = true;
			else if (!slot->first_slot)
				patch = true;
		}
		cond_resched();
	}

	arch_ftrace_mux_sync();

	return patch;
}

/* Redirect the jumps of each set to its trampoline, or to the list function */
static void ftrace_mux_update_jumps(void)
{
	struct ftrace_mux_tramp *tramp;
	struct ftrace_slot *slot;
	struct ftrace_set *set;

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!set->records)
			continue;

		tramp = set->selected ? set->tramp : NULL;
		list_for_each_entry(slot, &set->slots, list) {
			slot->first_slot = false;
			if (slot->jump && slot->records)
				ftrace_mux_jump_redirect(slot->jump, tramp,
							 !set->stale &&
							 ftrace_set_needs_regs(set));
		}
	}

	arch_ftrace_mux_sync();

	/*
	 * The remaining jumps to these trampolines are of slots without
	 * records. Their callers are patched before ftrace_lock is released.
	 */
	list_for_each_entry(set, &ftrace_sets, list) {
		if (set->records && !set->selected && set->tramp) {
			ftrace_mux_retire(&set->tramp->code);
			set->tramp = NULL;
		}
	}
}

/**
 * ftrace_mux_disarm - make all jumps lead to the list function
 *
 * When ftrace has failed, functions may call jumps for ever. Unlike trampolines,
 * the list function does not call ops that are unregistered.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void ftrace_mux_disarm(void)
{
	struct ftrace_slot *slot;
	struct ftrace_set *set;

	list_for_each_entry(set, &ftrace_sets, list) {
		list_for_each_entry(slot, &set->slots, list) {
			if (slot->jump)
				ftrace_mux_jump_redirect(slot->jump, NULL, true);
		}
	}

	arch_ftrace_mux_sync();
}

/**
 * ftrace_rec_target - find the slot of the jump that a function should call
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: the slot ID, or zero if the function should call no jump. If the slot
 * of the record is still fresh, the slot ID of the jump that it calls now.
 */
unsigned int ftrace_rec_target(struct dyn_ftrace *rec)
{
	unsigned int id = ftrace_rec_slot(rec);
	struct ftrace_slot *slot = ftrace_slot(id);

	if (!slot)
		return 0;
	if (ftrace_slot_is_fresh(slot))
		return ftrace_rec_slot_called(rec);
	if (!slot->jump || !ftrace_rec_count(rec) ||
	    !ftrace_set_needs_tramp(slot->set))
		return 0;

	return id;
}

/* Let the list function use the jumps of the slots that records belong to */
static void ftrace_mux_call_jumps(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		if (!ftrace_rec_has_entry(rec))
			continue;
		ftrace_rec_call(rec, ftrace_rec_target(rec));
		if (!ftrace_rec_slot(rec) && !ftrace_rec_slot_called(rec))
			ftrace_rec_drop(rec);
		cond_resched();
	}
}

/**
 * ftrace_mux_prepare - update sets, their trampolines and jumps
 *
 * Call this when the records are up to date, before call sites are patched.
 * ftrace_mux_finish() has to follow.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: true if call sites have to be patched.
 */
bool ftrace_mux_prepare(void)
{
	bool patch = false, retry = ftrace_mux_nomem;

	if (unlikely(ftrace_is_dead()))
		return false;

	ftrace_mux_nomem = false;
	if (ftrace_mux_untracked && ftrace_mux_is_on()) {
		ftrace_mux_track();
		patch = true;
	}

	if (!ftrace_mux_dirty && !ftrace_mux_exhausted && !retry)
		return false;
	ftrace_mux_dirty = true;

	patch |= ftrace_mux_resolve();
	patch |= ftrace_mux_create();
	ftrace_mux_update_jumps();

	/* Without trampolines, a change of sets does not affect call sites */
	if (!IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES)) {
		ftrace_mux_call_jumps();
		patch = false;
	}

	return patch;
}

/**
 * ftrace_mux_finish - free unused slots and sets
 *
 * Context: ftrace_lock held, after call sites were patched or records removed.
 */
void ftrace_mux_finish(void)
{
	struct ftrace_slot *slot, *next_slot;
	struct ftrace_set *set, *next;

	/*
	 * After a failure of ftrace, functions may still call the jumps that
	 * they called before. Fresh slots still refer to the slots that their
	 * records had.
	 */
	if (!ftrace_mux_dirty || unlikely(ftrace_is_dead()) ||
	    !list_empty(&ftrace_slots_fresh))
		return;

	list_for_each_entry_safe(slot, next_slot, &ftrace_slots_unused, unused) {
		if (slot->records || slot->callers)
			list_del_init(&slot->unused);
		else
			ftrace_slot_free(slot);
	}

	list_for_each_entry_safe(set, next, &ftrace_sets, list) {
		if (list_empty(&set->slots))
			ftrace_set_free(set);
	}

	ftrace_mux_generation++;
	ftrace_mux_dirty = false;
}

/**
 * ftrace_mux_command - get the command for an update of sets
 *
 * Context: ftrace_lock held.
 * Return: FTRACE_UPDATE_SETS for ftrace_run_update_code() if sets have to be
 * updated, or zero.
 */
int ftrace_mux_command(void)
{
	return ftrace_mux_dirty ? FTRACE_UPDATE_SETS : 0;
}

/*
 * An ops of @set is unregistered. Without trampolines, make the list function
 * walk all registered ops. With trampolines, call sites are patched as usual.
 */
static void ftrace_set_reset_jumps(struct ftrace_set *set)
{
	struct ftrace_slot *slot;

	if (IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES))
		return;

	list_for_each_entry(slot, &set->slots, list) {
		if (slot->jump)
			ftrace_mux_jump_redirect(slot->jump, NULL, false);
	}
}

/**
 * ftrace_mux_remove_ops - retire the sets that contain an unregistered ops
 * @ops:	the ops or subop
 *
 * Sets that contain @ops are not assigned to functions any more, as another ops
 * may be allocated at the same address. If @ops is a subop, callbacks may still
 * have found it in a subset. A call of ftrace_synchronize() after this returns
 * waits for these callbacks.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_remove_ops(struct ftrace_ops *ops)
{
	struct ftrace_set *set;

	ftrace_mux_generation++;
	ftrace_mux_remove_callback(ops);

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!ftrace_set_has(set, ops))
			continue;
		set->stale = true;
		if (set->tramp)
			ftrace_mux_tramp_stale(set->tramp);
		ftrace_set_reset_jumps(set);
		if (hash_hashed(&set->hash))
			hash_del(&set->hash);
	}
}

#ifndef CONFIG_FTRACE_MUX_TRAMPOLINES
void ftrace_mux_update_funcs(void)
{
	struct ftrace_set *set;
	unsigned int i;

	list_for_each_entry(set, &ftrace_sets, list) {
		struct ftrace_mux_tramp *tramp = set->tramp;

		/* The ops of a stale set may have been freed */
		if (!tramp || set->stale)
			continue;
		/* A subset has the callback of its manager */
		for (i = 0; i < tramp->nr_subsets; i++)
			WRITE_ONCE(tramp->subsets[i].ops.func,
				   tramp->subsets[i].ops.managed->func);
		arch_ftrace_tramp_update(tramp);
	}
}
#else
/**
 * ftrace_mux_called - find the slot of the jump that a function calls
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: the slot ID, or zero if the function calls no jump.
 */
unsigned int ftrace_mux_called(struct dyn_ftrace *rec)
{
	return ftrace_rec_slot_called(rec);
}

/**
 * ftrace_mux_target - find the slot of the jump that a function should call
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: the slot ID, or zero if the function should call no jump.
 */
unsigned int ftrace_mux_target(struct dyn_ftrace *rec)
{
	return ftrace_rec_target(rec);
}

/**
 * ftrace_mux_patched - update the record of a call site that is being patched
 * @rec:	record of the function
 * @id:		slot ID of the jump that it calls from now on, or zero for none
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_patched(struct dyn_ftrace *rec, unsigned int id)
{
	ftrace_rec_call(rec, id);
}

/**
 * ftrace_mux_addr - get the address of the jump of a slot
 * @id:		slot ID from a record, or zero
 *
 * Context: ftrace_lock held.
 * Return: the address, or 0 if @id is zero.
 */
unsigned long ftrace_mux_addr(unsigned int id)
{
	return id ? ftrace_slots[id]->jump->code.start : 0;
}

#endif

/**
 * ftrace_mux_slot - find a slot by its ID
 * @id:		slot ID from a record, or zero
 *
 * Context: ftrace_lock held.
 * Return: the slot, or NULL if @id is zero.
 */
struct ftrace_slot *ftrace_mux_slot(unsigned int id)
{
	return ftrace_slot(id);
}

/**
 * ftrace_mux_sets - get the list of all sets
 *
 * Context: ftrace_lock held.
 * Return: the list.
 */
struct list_head *ftrace_mux_sets(void)
{
	return &ftrace_sets;
}

/**
 * ftrace_mux_max_sets - get the maximum number of sets with a trampoline
 *
 * Context: ftrace_lock held.
 * Return: the number, zero if sets are disabled.
 */
unsigned int ftrace_mux_max_sets(void)
{
	return max_sets;
}

/**
 * ftrace_mux_alloc_failed - has an allocation failed?
 *
 * Context: ftrace_lock held.
 * Return: true if an allocation has failed since the last update started. The
 * next update tries again.
 */
bool ftrace_mux_alloc_failed(void)
{
	return ftrace_mux_nomem;
}

/**
 * ftrace_mux_lost_records - were traced functions removed?
 *
 * Context: ftrace_lock held.
 * Return: true if, since the last update, functions of a module or of init text
 * were removed while a set traced them. The next update assigns trampolines
 * again.
 */
bool ftrace_mux_lost_records(void)
{
	return ftrace_mux_lost;
}

/**
 * ftrace_mux_show - show what a function calls
 * @m:		output
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: false, with nothing shown, if the function does not call a jump.
 */
bool ftrace_mux_show(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_slot *slot = ftrace_slot(ftrace_rec_slot_called(rec));
	struct ftrace_mux_tramp *tramp;
	struct ftrace_set *set;
	unsigned int i;

	if (!slot)
		return false;

	set = slot->set;
	tramp = set->tramp;
	if (!tramp) {
		seq_puts(m, "\t->ftrace_ops_list_func");
		return true;
	}

	ftrace_mux_show_tramp(m, tramp);
	seq_puts(m, " (set:");
	/* The ops of a stale set may have been freed */
	for (i = 0; i < tramp->nr_callees && !set->stale; i++)
		seq_printf(m, " %ps", tramp->callees[i]->func);
	seq_putc(m, ')');

	return true;
}

/* Remove all records from their slots; ftrace_mux_prepare() assigns new ones */
static void ftrace_mux_restart(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		if (ftrace_rec_slot(rec))
			ftrace_rec_set_slot(rec, NULL);
	}
	ftrace_mux_untracked = ftrace_mux_is_on();
}

/**
 * ftrace_mux_limit - set the maximum number of sets with a trampoline
 * @max:	the number, zero to disable sets
 *
 * Context: may sleep.
 * Return: the previous maximum.
 */
unsigned int ftrace_mux_limit(unsigned int max)
{
	unsigned int old;

	mutex_lock(&ftrace_lock);
	old = max_sets;
	max_sets = max;
	if (!old != !max)
		ftrace_mux_restart();
	/* There may be too many trampolines now, or too few */
	ftrace_mux_exhausted = true;
	ftrace_mux_dirty = true;
	if (ftrace_enabled && !ftrace_is_dead() &&
	    rcu_access_pointer(ftrace_ops_list) != &ftrace_list_end)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
	mutex_unlock(&ftrace_lock);

	return old;
}

static int ftrace_mux_set_max_sets(const char *val, const struct kernel_param *kp)
{
	unsigned int max;
	int ret = kstrtouint(val, 0, &max);

	if (!ret)
		ftrace_mux_limit(max);

	return ret;
}

static const struct kernel_param_ops ftrace_mux_max_sets_ops = {
	.set	= ftrace_mux_set_max_sets,
	.get	= param_get_uint,
};

module_param_cb(max_sets, &ftrace_mux_max_sets_ops, &max_sets, 0644);
MODULE_PARM_DESC(max_sets, "Maximum number of sets of ops with a trampoline (0 disables sets)");

static void ftrace_mux_show_set(struct seq_file *m, struct ftrace_set *set)
{
	unsigned int i;

	seq_printf(m, "%lu functions,", set->records);
	ftrace_mux_show_tramp(m, set->tramp);
	seq_putc(m, ':');
	for (i = 0; i < set->nr && !set->stale; i++) {
		struct ftrace_ops *ops = set->ops[i];

		if (!(ops->flags & FTRACE_OPS_FL_SUBOP)) {
			seq_printf(m, " %ps", ops->func);
			continue;
		}
		seq_puts(m, " +");
		if (!fgraph_show_user(m, ops))
			seq_printf(m, "%ps", ops->func);
	}
	seq_putc(m, '\n');
}

static int ftrace_mux_sets_show(struct seq_file *m, void *v)
{
	unsigned int nr = 0;
	struct ftrace_set *set;
	int ret = 0;

	mutex_lock(&ftrace_lock);

	/* Ops of the sets may have been freed */
	if (unlikely(ftrace_is_dead())) {
		ret = -ENODEV;
		goto out;
	}

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!set->tramp)
			continue;
		nr++;
		ftrace_mux_show_set(m, set);
	}
	seq_printf(m, "%u of at most %u sets%s\n", nr, max_sets,
		   ftrace_mux_exhausted ? ", more are eligible" : "");
out:
	mutex_unlock(&ftrace_lock);

	return ret;
}
DEFINE_SHOW_ATTRIBUTE(ftrace_mux_sets);

static int __init ftrace_mux_init(void)
{
	struct dentry *dir = debugfs_create_dir("ftrace_mux", NULL);

	debugfs_create_file("sets", 0400, dir, NULL, &ftrace_mux_sets_fops);
	ftrace_mux_audit_init(dir);

	return 0;
}
late_initcall(ftrace_mux_init);
