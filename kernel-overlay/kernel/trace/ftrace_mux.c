// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets: each call site calls exactly the ops that trace its function
 *
 * A function that one ops traces calls the trampoline of that ops. One that
 * several ops trace used to call ftrace_ops_list_func(), which looks for them
 * among all ops in the system, on every call. Here the ops that trace a function
 * form a set. The set has a trampoline that calls them, and the function calls
 * that.
 *
 * Functions do not call the trampoline of their set directly. They call a jump,
 * which leads there. All functions that call the same jump form a slot. When an
 * ops joins or leaves all functions of a slot, the jump is made to lead to the
 * trampoline of another set, and no call site is patched. Functions that change
 * their set while others of their slot keep it move to another slot, and their
 * call sites are patched.
 *
 * Each record names two slots: the one that its function belongs to, which says
 * which set of ops traces it, and the one whose jump it calls now. The first
 * follows each change of the record's count of ops at once: the set that results
 * when some ops joins or leaves the set of a slot is looked up once per update,
 * so no filter is looked at but the one that changes. Slots that records get on
 * the way are "fresh". Before call sites are patched, ftrace_mux_prepare()
 * settles them: each takes over the slot that its records come from, is merged
 * with another slot of its set, or stays.
 *
 * If there are more sets than may have a trampoline, those that the most
 * functions have in common get one. Functions of the others call the list
 * function, as they always have.
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
 * How many sets may have a trampoline, which takes some hundred bytes, and some
 * microseconds whenever an ops joins or leaves all of them. Zero turns sets off.
 */
static unsigned int max_sets = 128;

/* All below is protected by ftrace_lock */

/* All sets */
static LIST_HEAD(ftrace_sets);
/* Those of them whose ops are all registered */
static DEFINE_HASHTABLE(ftrace_set_table, 8);

/* Slots by how records name them; the first is NULL */
static struct ftrace_slot **ftrace_slots;
static unsigned int ftrace_slots_size;
/* No number below that one is free */
static unsigned int ftrace_slots_free = 1;
/* Those that are to be settled */
static LIST_HEAD(ftrace_slots_fresh);
/* Those that may be unused */
static LIST_HEAD(ftrace_slots_unused);

/* Something is to be done before or after call sites are patched */
static bool ftrace_mux_dirty;
/* Some functions that are traced have no slot, for want of memory */
static bool ftrace_mux_untracked;
/* More sets want a trampoline than may have one */
static bool ftrace_mux_short;
/* There was no memory for some slot, trampoline or jump */
static bool ftrace_mux_nomem;
/* Functions have gone since trampolines were given out */
static bool ftrace_mux_lost;
/* Changes when what slots remember of their changes is void */
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
 * Do its functions call a jump? A single ops has a trampoline of its own, but a
 * manager with subops is told which of them a call is for.
 */
static bool ftrace_set_wants_tramp(struct ftrace_set *set)
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

/* The set with the ops of @set, which may be that, or else is freed */
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

/* No function has it any more */
static void ftrace_set_free(struct ftrace_set *set)
{
	if (hash_hashed(&set->hash))
		hash_del(&set->hash);
	list_del(&set->list);
	if (set->tramp)
		ftrace_mux_retire(&set->tramp->code);
	kfree(set);
}

/* Are the subops of @ops in sets? */
static bool ftrace_mux_wants_subset(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SUBSET && ftrace_is_manager(ops);
}

/*
 * The set that @ops makes of @old by joining it; NULL if there is no memory. The
 * ops of a set are in the order in which the list function calls them, each
 * manager followed by its subops.
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
		if (!ftrace_mux_wants_subset(op))
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

/* The set that is left of @old, which has others as well, without @ops */
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

/* A free number for a slot, with room for it; zero if there is none */
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

/* A fresh slot of @set for records that come from @root, or had none */
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
	INIT_LIST_HEAD(&slot->unused);
	ftrace_slots[id] = slot;
	ftrace_slots_free = id + 1;

	return slot;
}

static bool ftrace_slot_is_fresh(struct ftrace_slot *slot)
{
	return !list_empty(&slot->fresh);
}

/* Is the function of @rec one of those by which the slot that it had is called? */
static bool ftrace_rec_calls_root(struct dyn_ftrace *rec, struct ftrace_slot *slot)
{
	return slot->root && ftrace_rec_slot_called(rec) == slot->root->id;
}

static void ftrace_slot_may_be_unused(struct ftrace_slot *slot)
{
	if (!slot->records && !slot->callers && list_empty(&slot->unused))
		list_add(&slot->unused, &ftrace_slots_unused);
}

/* @rec belongs to slot @to from here on; NULL for none */
static void ftrace_rec_set_slot(struct dyn_ftrace *rec, struct ftrace_slot *to)
{
	struct ftrace_slot *from = ftrace_slot(ftrace_rec_slot(rec));

	if (to && !ftrace_rec_may_have_slot(rec)) {
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

	ftrace_rec_choose_slot(rec, to ? to->id : 0);
	ftrace_mux_dirty = true;
}

/**
 * ftrace_rec_call - the call site of a record is patched
 * @rec:	the record
 * @id:		the slot that its function calls from now on, or zero
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

/* A slot of @set for records that come from @root, if not that itself */
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

/* The slot for records of @from, or none, after @ops joins or leaves */
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

/* For those records that had no slot */
static struct ftrace_slot_change ftrace_first_change;

/* The slot for records of @from, or none, after @ops joins or leaves; remembered */
static struct ftrace_slot *
ftrace_slot_next(struct ftrace_slot *from, struct ftrace_ops *ops, bool join)
{
	struct ftrace_slot_change *change;
	struct ftrace_slot *to = NULL;

	change = from ? &from->changes[join] : &ftrace_first_change;
	if (change->ops == ops && change->generation == ftrace_mux_generation)
		return change->to;

	/* Does it trace the function already, or has not done so? */
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
 * Did nothing trace the function of @rec, which has no slot, before an ops joined
 * and made it @count ops? Otherwise its slot has been lost, and ftrace_mux_track()
 * finds out what traces it.
 */
static bool ftrace_rec_is_new(struct dyn_ftrace *rec, unsigned long count)
{
	return ftrace_rec_count(rec) == count && !ftrace_mux_untracked;
}

/**
 * ftrace_mux_join - an ops traces a function from now on
 * @rec:	the record of the function, whose count includes the ops already
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
 * ftrace_mux_leave - an ops does not trace a function any more
 * @rec:	the record of the function, whose count does not include the ops
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
 * ftrace_mux_join_new - an ops traces a function of a module that has just come
 * @rec:	the record of the function, whose count includes the ops already
 * @slot:	what this returned for the last ops that traces it, NULL at first
 * @ops:	the ops; those before it in ftrace_ops_list have joined already
 *
 * Context: ftrace_lock held; may sleep.
 * Return: what ftrace_mux_add() needs after the last ops.
 */
struct ftrace_slot *ftrace_mux_join_new(struct dyn_ftrace *rec,
					struct ftrace_slot *slot,
					struct ftrace_ops *ops)
{
	struct ftrace_ops *subops;

	/* If it had others, and no slot, the others have been lost */
	if (!ftrace_mux_is_on() || (!slot && ftrace_rec_count(rec) > 1))
		return NULL;

	slot = ftrace_slot_next(slot, ops, true);
	if (!ftrace_mux_wants_subset(ops))
		return slot;

	ftrace_for_each_subop(ops, subops) {
		if (slot && hash_contains_ip(rec->ip, subops->func_hash))
			slot = ftrace_slot_next(slot, subops, true);
	}

	return slot;
}

/**
 * ftrace_mux_add - a function of a module that has just come is traced
 * @rec:	the record of the function
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
 * ftrace_mux_subops_change - the filter of a subop has changed
 * @subops:	the subop, linked to its manager
 * @old:	what it traced before; NULL for nothing
 * @new:	what it traces from now on; NULL for nothing
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_subops_change(struct ftrace_ops *subops,
			      struct ftrace_ops_hash *old,
			      struct ftrace_ops_hash *new)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	if (!ftrace_mux_is_on() || !(subops->managed->flags & FTRACE_OPS_FL_SUBSET))
		return;

	for_each_ftrace_rec(pg, rec) {
		bool was, is;

		if (ftrace_rec_is_skipped(rec))
			continue;

		was = ftrace_filter_traces(old, rec->ip);
		is = ftrace_filter_traces(new, rec->ip);
		if (was == is)
			continue;

		/* The manager may be counted later, but nothing else is */
		if (ftrace_rec_slot(rec) || (is && ftrace_rec_is_new(rec, 0)))
			ftrace_rec_change(rec, subops, is);
		cond_resched();
	}
}

/**
 * ftrace_mux_drop - a record goes away
 * @rec:	the record
 *
 * Its slot may be unused then. ftrace_mux_finish() frees it, if only with the
 * next update.
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

/* Find out from all filters which ops trace the function of @rec */
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
		if (!ftrace_mux_wants_subset(op))
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

/* Find out which ops trace the functions of those records that have no slot */
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

/* Give the slot that its records come from to the set of a fresh one, if all have left */
static bool ftrace_slot_take_over(struct ftrace_slot *slot)
{
	struct ftrace_slot *root = slot->root;

	if (!root || !root->jump || !ftrace_set_wants_tramp(slot->set))
		return false;

	/* Functions that do not belong to the new set must not come to call it */
	if (root->records || slot->moved != root->callers)
		return false;

	list_move_tail(&root->list, &slot->set->slots);
	root->set = slot->set;

	return true;
}

/* A slot of the same set that can have the records of a fresh one */
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
	slot->settled = into;
	into->records += slot->records;
	slot->records = 0;
}

/* Have all records that belong to slots that were merged belong to what is left */
static void ftrace_mux_rename(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		unsigned int id = ftrace_rec_slot(rec);

		if (id && ftrace_slots[id]->settled)
			ftrace_rec_choose_slot(rec, ftrace_slots[id]->settled->id);
	}
}

/* No record names it any more, but tasks may still be in its jump */
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

/* Settle the fresh slots. Returns whether call sites have to be patched */
static bool ftrace_mux_settle(void)
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
		 * What calls no jump, and is to call none, is not our business.
		 * Records that had no slot are patched anyway.
		 */
		if (slot->moved || (slot->root && other && other->jump))
			patch = true;
		if (other) {
			ftrace_slot_merge(slot, other);
			rename = true;
		} else {
			/* Records that had no slot are patched anyway */
			slot->newcomers = !slot->root;
			slot->root = NULL;
			slot->moved = 0;
			list_del_init(&slot->fresh);
		}
	}

	if (rename)
		ftrace_mux_rename();

	/* What is left was merged, or no record has stayed there */
	list_for_each_entry_safe(slot, next, &ftrace_slots_fresh, fresh) {
		list_del(&slot->fresh);
		ftrace_slot_free(slot);
	}
	ftrace_mux_generation++;

	return patch;
}

/* Do functions call jumps of that set? */
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
 * How much the set wants a trampoline: by how many functions have it, and then so
 * that trampolines may stay, and call sites. Zero if it wants none.
 */
static unsigned long ftrace_set_rank(struct ftrace_set *set)
{
	unsigned int i, callees = 0;

	if (!set->records || set->stale || !ftrace_set_wants_tramp(set))
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

/* Select those that may have a trampoline: at most @max, of the highest ranks */
static void ftrace_mux_select_sets(unsigned int max)
{
	unsigned long low = 0, high = 1, mid;
	struct ftrace_set *set;
	unsigned int left;

	list_for_each_entry(set, &ftrace_sets, list) {
		set->rank = ftrace_set_rank(set);
		high = max(high, set->rank + 1);
	}
	ftrace_mux_short = ftrace_mux_count_sets(1) > max;

	/* There is room for those of rank @high and above, but not for all of @low */
	if (!ftrace_mux_short)
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

static bool ftrace_set_wants_regs(struct ftrace_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->ops[i]->flags & FTRACE_OPS_FL_SAVE_REGS)
			return true;
	}
	return false;
}

/*
 * Make the trampolines that are wanted, and jumps to them. Returns whether call
 * sites have to be patched, to call new jumps.
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
			else if (!slot->newcomers)
				patch = true;
		}
		cond_resched();
	}

	arch_ftrace_mux_sync();

	return patch;
}

/* Have jumps lead to where they are to lead to from now on */
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
			slot->newcomers = false;
			if (slot->jump && slot->records)
				ftrace_mux_jump_lead(slot->jump, tramp,
						     !set->stale &&
						     ftrace_set_wants_regs(set));
		}
	}

	arch_ftrace_mux_sync();

	/* Now that no jump leads there */
	list_for_each_entry(set, &ftrace_sets, list) {
		if (set->records && !set->selected && set->tramp) {
			ftrace_mux_retire(&set->tramp->code);
			set->tramp = NULL;
		}
	}
}

/**
 * ftrace_rec_target - the slot whose jump a function is to call
 * @rec:	its record
 *
 * Context: ftrace_lock held.
 * Return: the number of the slot, or zero if the function is to call none. If
 * that is not settled, the one that it calls.
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
	    !ftrace_set_wants_tramp(slot->set))
		return 0;

	return id;
}

/* Have all functions found to call the jumps of their slots */
static void ftrace_mux_call_jumps(void)
{
	struct ftrace_page *pg;
	struct dyn_ftrace *rec;

	for_each_ftrace_rec(pg, rec) {
		if (!ftrace_rec_is_known(rec))
			continue;
		ftrace_rec_call(rec, ftrace_rec_target(rec));
		if (!ftrace_rec_slot(rec) && !ftrace_rec_slot_called(rec))
			ftrace_rec_drop(rec);
		cond_resched();
	}
}

/**
 * ftrace_mux_prepare - have jumps lead to the ops that trace the functions
 *
 * To be called when what the records say is up to date, before call sites are
 * patched, and followed by ftrace_mux_finish().
 *
 * Context: ftrace_lock held and text_mutex not, may sleep.
 * Return: whether there are call sites that have to be patched.
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

	if (!ftrace_mux_dirty && !ftrace_mux_short && !retry)
		return false;
	ftrace_mux_dirty = true;

	patch |= ftrace_mux_settle();
	patch |= ftrace_mux_create();
	ftrace_mux_update_jumps();

	/* Where there is no code to be called there is none to be patched */
	if (!IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES)) {
		ftrace_mux_call_jumps();
		patch = false;
	}

	return patch;
}

/**
 * ftrace_mux_finish - let go of slots and sets that are not in use any more
 *
 * Context: ftrace_lock held, after call sites were patched or records vanished.
 */
void ftrace_mux_finish(void)
{
	struct ftrace_slot *slot, *next_slot;
	struct ftrace_set *set, *next;

	/*
	 * If ftrace has died then functions may call whatever they did before.
	 * And what is not settled yet knows where it comes from.
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
 * ftrace_mux_command - what has to be done of what the records say
 *
 * Context: ftrace_lock held.
 * Return: FTRACE_UPDATE_SETS for ftrace_run_update_code(), or zero.
 */
int ftrace_mux_command(void)
{
	return ftrace_mux_dirty ? FTRACE_UPDATE_SETS : 0;
}

/*
 * An ops of the set is gone. Where the list function finds the ops that are to be
 * called, have it look for them. Elsewhere call sites are patched as ever
 */
static void ftrace_set_call_none(struct ftrace_set *set)
{
	struct ftrace_slot *slot;

	if (IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES))
		return;

	list_for_each_entry(slot, &set->slots, list) {
		if (slot->jump)
			ftrace_mux_jump_lead(slot->jump, NULL, false);
	}
}

/**
 * ftrace_mux_forget - an ops goes
 * @ops:	the ops, or subop, which is not registered any more
 *
 * Sets with it are not given to functions any more: another ops may come to be
 * where this one was. If it is a subop, callbacks that get to know of it from a
 * subset do so before ftrace_synchronize() called after this returns.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_forget(struct ftrace_ops *ops)
{
	struct ftrace_set *set;

	ftrace_mux_generation++;
	ftrace_mux_forget_callback(ops);

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!ftrace_set_has(set, ops))
			continue;
		set->stale = true;
		if (set->tramp)
			ftrace_mux_tramp_stale(set->tramp);
		ftrace_set_call_none(set);
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

		/* The ops of one that is stale may be gone */
		if (!tramp || set->stale)
			continue;
		/* A subset is called by what its manager is */
		for (i = 0; i < tramp->nr_subsets; i++)
			WRITE_ONCE(tramp->subsets[i].ops.func,
				   tramp->subsets[i].ops.managed->func);
		arch_ftrace_tramp_update(tramp);
	}
}
#else
/**
 * ftrace_mux_called - the slot whose jump a function calls
 * @rec:	its record
 *
 * Context: ftrace_lock held.
 * Return: the number of the slot, or zero if there is none.
 */
unsigned int ftrace_mux_called(struct dyn_ftrace *rec)
{
	return ftrace_rec_slot_called(rec);
}

/**
 * ftrace_mux_target - the slot whose jump a function is to call
 * @rec:	its record
 *
 * Context: ftrace_lock held.
 * Return: the number of the slot, or zero if there is to be none.
 */
unsigned int ftrace_mux_target(struct dyn_ftrace *rec)
{
	return ftrace_rec_target(rec);
}

/**
 * ftrace_mux_patched - a function calls another jump from now on
 * @rec:	its record
 * @id:		the number of the slot, or zero for none
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_patched(struct dyn_ftrace *rec, unsigned int id)
{
	ftrace_rec_call(rec, id);
}

/**
 * ftrace_mux_addr - the address of the jump of a slot
 * @id:		number of the slot, from a record, or zero
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
 * ftrace_mux_slot - find a slot
 * @id:		its number, from a record, or zero
 *
 * Context: ftrace_lock held.
 * Return: the slot, or NULL if @id is zero.
 */
struct ftrace_slot *ftrace_mux_slot(unsigned int id)
{
	return ftrace_slot(id);
}

/**
 * ftrace_mux_sets - all sets
 *
 * Context: ftrace_lock held.
 * Return: the list of them.
 */
struct list_head *ftrace_mux_sets(void)
{
	return &ftrace_sets;
}

/**
 * ftrace_mux_max_sets - how many sets may have a trampoline?
 *
 * Context: ftrace_lock held.
 * Return: the number, zero if sets are off.
 */
unsigned int ftrace_mux_max_sets(void)
{
	return max_sets;
}

/**
 * ftrace_mux_lacks_memory - has an allocation failed?
 *
 * Context: ftrace_lock held.
 * Return: whether the last update had no memory for all that it wanted. The next
 * one tries again.
 */
bool ftrace_mux_lacks_memory(void)
{
	return ftrace_mux_nomem;
}

/**
 * ftrace_mux_lost_records - have functions gone since trampolines were given out?
 *
 * Context: ftrace_lock held.
 * Return: whether functions of modules or of init text were traced by some set
 * when they went. The next update gives out trampolines again.
 */
bool ftrace_mux_lost_records(void)
{
	return ftrace_mux_lost;
}

/**
 * ftrace_mux_show - show what a function calls
 * @m:		where to show it
 * @rec:	the record of the function
 *
 * Context: ftrace_lock held.
 * Return: false, with nothing shown, if there is no set for the function.
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
	/* The ops of one that is stale may be gone */
	for (i = 0; i < tramp->nr_callees && !set->stale; i++)
		seq_printf(m, " %ps", tramp->callees[i]->func);
	seq_putc(m, ')');

	return true;
}

/* Have all records without a slot, for ftrace_mux_prepare() to find them one */
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
 * ftrace_mux_limit - say how many sets may have a trampoline
 * @max:	the number, zero to turn sets off
 *
 * Context: may sleep.
 * Return: what it was before.
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
	ftrace_mux_short = true;
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
MODULE_PARM_DESC(max_sets, "How many sets of ops may have a trampoline, 0 for none");

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

	/* There may be ops that are gone */
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
		   ftrace_mux_short ? ", not enough" : "");
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
