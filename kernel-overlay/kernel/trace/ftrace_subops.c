// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subops: one ftrace_ops that manages many
 *
 * A system that traces functions for users of its own registers one ops, the
 * manager. Each of its users has an ops as well, a subop, of which ftrace only
 * takes the filter: the manager traces what any of them traces, no function
 * more and none less. It is left to the callback of the manager to find out
 * which subops want to know of a call.
 *
 * The filter of the manager is never changed bit by bit. It is computed from
 * those of all subops each time that one comes, goes, or changes its filter.
 */
#include <linux/ftrace.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"

#ifdef CONFIG_DYNAMIC_FTRACE

/*
 * Filters of subops and managers change with ftrace_lock held only. Others may
 * be what they like.
 */
static struct ftrace_hash *filter_of(const struct ftrace_ops_hash *filter)
{
	return rcu_dereference_protected(filter->filter_hash, 1);
}

static struct ftrace_hash *notrace_of(const struct ftrace_ops_hash *filter)
{
	return rcu_dereference_protected(filter->notrace_hash, 1);
}

/* No function at all; an empty hash would mean every function */
static struct ftrace_hash *alloc_hash_of_none(void)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(0);

	/* It is as if its only functions were in a module that is not loaded */
	if (hash)
		hash->flags |= FTRACE_HASH_FL_MOD;

	return hash;
}

static bool any_filter_traces(struct ftrace_ops_hash *const *filters,
			      unsigned int nr, unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (hash_contains_ip(ip, filters[i]))
			return true;
	}
	return false;
}

/*
 * Everything is traced, but for those functions that are in all notrace hashes
 * of the filters that otherwise trace everything, and that no other filter
 * names. So they all are in @smallest, if there are any.
 */
static struct ftrace_hash *
notrace_of_union(struct ftrace_ops_hash *const *filters, unsigned int nr,
		 struct ftrace_hash *smallest)
{
	struct ftrace_func_entry *entry;
	struct ftrace_hash *hash;
	unsigned long i;

	if (ftrace_hash_empty(smallest) || !smallest->count)
		return EMPTY_HASH;

	hash = alloc_ftrace_hash(ftrace_hash_bits(smallest->count));
	if (!hash)
		return NULL;

	for (i = 0; i < 1UL << smallest->size_bits; i++) {
		hlist_for_each_entry(entry, &smallest->buckets[i], hlist) {
			if (any_filter_traces(filters, nr, entry->ip))
				continue;

			if (add_hash_entry(hash, entry->ip) < 0) {
				free_ftrace_hash(hash);
				return NULL;
			}
		}
	}

	if (hash->count)
		return hash;

	free_ftrace_hash(hash);
	return EMPTY_HASH;
}

/* None of @filters traces everything, so put together what they name */
static struct ftrace_hash *
union_of_filters(struct ftrace_ops_hash *const *filters, unsigned int nr)
{
	struct ftrace_func_entry *entry;
	struct ftrace_hash *hash, *from;
	unsigned long i, count = 0;
	unsigned int f;

	for (f = 0; f < nr; f++)
		count += filter_of(filters[f])->count;

	if (!count)
		return alloc_hash_of_none();

	hash = alloc_ftrace_hash(ftrace_hash_bits(count));
	if (!hash)
		return NULL;

	for (f = 0; f < nr; f++) {
		from = filter_of(filters[f]);

		for (i = 0; i < 1UL << from->size_bits; i++) {
			hlist_for_each_entry(entry, &from->buckets[i], hlist) {
				if (ftrace_lookup_ip(hash, entry->ip) ||
				    ftrace_lookup_ip(notrace_of(filters[f]),
						     entry->ip))
					continue;

				if (add_hash_entry(hash, entry->ip) < 0) {
					free_ftrace_hash(hash);
					return NULL;
				}
			}
		}
	}

	if (hash->count)
		return hash;

	free_ftrace_hash(hash);
	return alloc_hash_of_none();
}

/**
 * ftrace_filter_union - compute the filter of what any of some filters traces
 * @filters:	the filters, at least one
 * @nr:		how many there are
 * @result:	its two hashes are set to the filter that traces exactly the
 *		functions that any of @filters traces. They belong to the
 *		caller. The mutex in it is left alone
 *
 * Exactly means for every address, whether there is a record of it now, will
 * be when a module gets loaded, or never.
 *
 * Context: may sleep. The filters may not change meanwhile.
 * Return: 0, or -ENOMEM with @result unchanged.
 */
int ftrace_filter_union(struct ftrace_ops_hash *const *filters,
			unsigned int nr, struct ftrace_ops_hash *result)
{
	struct ftrace_hash *traced = EMPTY_HASH, *untraced = EMPTY_HASH;
	struct ftrace_hash *smallest = NULL;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct ftrace_hash *hash = notrace_of(filters[i]);

		/* Does this one trace everything, but for a few functions? */
		if (!ftrace_hash_empty(filter_of(filters[i])))
			continue;

		if (ftrace_hash_empty(hash))
			hash = EMPTY_HASH;

		if (!smallest || hash->count < smallest->count)
			smallest = hash;
	}

	if (smallest)
		untraced = notrace_of_union(filters, nr, smallest);
	else
		traced = union_of_filters(filters, nr);

	if (!traced || !untraced)
		return -ENOMEM;

	rcu_assign_pointer(result->filter_hash, traced);
	rcu_assign_pointer(result->notrace_hash, untraced);
	return 0;
}

/*
 * Compute the filter that @ops gets if @add becomes a subop of it, @drop ceases
 * to be one, or those who have the filter @old get @new instead; each may be
 * NULL. Keep it in &ops->old_hash for ftrace_subops_commit().
 */
static int ftrace_subops_prepare(struct ftrace_ops *ops,
				 struct ftrace_ops *add,
				 struct ftrace_ops *drop,
				 struct ftrace_ops_hash *old,
				 struct ftrace_ops_hash *new)
{
	struct ftrace_ops_hash **filters;
	struct ftrace_ops *subops;
	unsigned int nr = 0;
	int ret;

	list_for_each_entry(subops, &ops->subop_list, list)
		nr++;

	filters = kmalloc_array(nr + 1, sizeof(*filters), GFP_KERNEL);
	if (!filters)
		return -ENOMEM;

	nr = 0;
	list_for_each_entry(subops, &ops->subop_list, list) {
		if (subops == drop)
			continue;
		filters[nr++] = subops->func_hash == old ? new :
							   subops->func_hash;
	}
	if (add)
		filters[nr++] = add->func_hash;

	ret = ftrace_filter_union(filters, nr, &ops->old_hash);
	kfree(filters);

	return ret;
}

/**
 * ftrace_subops_prepare_change - compute what managers trace after a change
 * @old:	the filter that is about to change
 * @new:	what it will be like
 *
 * To be followed by ftrace_subops_commit() when the filter has changed, or
 * ftrace_subops_cancel().
 *
 * Context: ftrace_lock held, may sleep.
 * Return: 0, or -ENOMEM with nothing left to be canceled.
 */
int ftrace_subops_prepare_change(struct ftrace_ops_hash *old,
				 struct ftrace_ops_hash *new)
{
	struct ftrace_ops *op, *subops;
	int ret;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		ftrace_for_each_subop(op, subops) {
			if (subops->func_hash != old)
				continue;

			ret = ftrace_subops_prepare(op, NULL, NULL, old, new);
			if (ret) {
				ftrace_subops_cancel();
				return ret;
			}
			/* One union is for all its subops */
			break;
		}
	} while_for_each_ftrace_op(op);

	return 0;
}

/**
 * ftrace_subops_changed - the filter of some subops has changed
 * @old:	what it was before
 * @new:	the filter that they have
 *
 * Context: ftrace_lock held, may sleep.
 */
void ftrace_subops_changed(struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new)
{
	struct ftrace_ops *op, *subops;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		ftrace_for_each_subop(op, subops) {
			if (subops->func_hash == new)
				ftrace_mux_subops_change(subops, old, new);
		}
	} while_for_each_ftrace_op(op);
}

/**
 * ftrace_subops_cancel - forget the filters computed for managers
 *
 * Context: ftrace_lock held.
 */
void ftrace_subops_cancel(void)
{
	struct ftrace_ops *op;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (!ftrace_is_manager(op) || !filter_of(&op->old_hash))
			continue;

		free_ftrace_hash(filter_of(&op->old_hash));
		free_ftrace_hash(notrace_of(&op->old_hash));
		RCU_INIT_POINTER(op->old_hash.filter_hash, NULL);
		RCU_INIT_POINTER(op->old_hash.notrace_hash, NULL);
	} while_for_each_ftrace_op(op);
}

/*
 * A callback may read one hash before and one after, or for that matter the
 * other way round. As a function that is traced before and after is in both
 * filter hashes, and in neither notrace hash, it is found to be traced.
 */
static void ftrace_subops_exchange(struct ftrace_ops *ops)
{
	struct ftrace_hash *traced = filter_of(ops->func_hash);
	struct ftrace_hash *untraced = notrace_of(ops->func_hash);

	rcu_assign_pointer(ops->func_hash->filter_hash,
			   filter_of(&ops->old_hash));
	rcu_assign_pointer(ops->func_hash->notrace_hash,
			   notrace_of(&ops->old_hash));
	ops->flags &= ~FTRACE_OPS_FL_WIDE;
	RCU_INIT_POINTER(ops->old_hash.filter_hash, traced);
	RCU_INIT_POINTER(ops->old_hash.notrace_hash, untraced);
}

/**
 * ftrace_subops_commit - make managers trace what was computed for them
 *
 * Their call sites are still to be patched, then ftrace_subops_finish() is to
 * be called.
 *
 * Context: ftrace_lock held.
 * Return: whether there are such managers.
 */
bool ftrace_subops_commit(void)
{
	struct ftrace_ops *op;
	bool any = false;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (!ftrace_is_manager(op) || !filter_of(&op->old_hash))
			continue;

		ftrace_hash_rec_disable(op, 1);
		ftrace_subops_exchange(op);
		ftrace_hash_rec_enable(op, 1);
		op->flags |= FTRACE_OPS_FL_MODIFYING;
		any = true;
	} while_for_each_ftrace_op(op);

	return any;
}

static void ftrace_subops_free_old(struct ftrace_ops *ops)
{
	free_ftrace_hash_rcu(filter_of(&ops->old_hash));
	free_ftrace_hash_rcu(notrace_of(&ops->old_hash));
	RCU_INIT_POINTER(ops->old_hash.filter_hash, NULL);
	RCU_INIT_POINTER(ops->old_hash.notrace_hash, NULL);
}

/**
 * ftrace_subops_finish - free what managers traced before
 *
 * Context: ftrace_lock held, call sites are patched.
 */
void ftrace_subops_finish(void)
{
	struct ftrace_ops *op;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (!ftrace_is_manager(op) || !filter_of(&op->old_hash))
			continue;

		op->flags &= ~FTRACE_OPS_FL_MODIFYING;
		ftrace_subops_free_old(op);
	} while_for_each_ftrace_op(op);
}

/* Make a running manager trace what was computed for it */
static void ftrace_subops_update(struct ftrace_ops *ops)
{
	if (ftrace_subops_commit() && ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
	ftrace_subops_finish();
}

/* There is no memory to compute what is left to trace */
static void ftrace_subops_keep_filter(struct ftrace_ops *ops)
{
	ops->flags |= FTRACE_OPS_FL_WIDE;
	/* What can be had without is to be right */
	if (ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
}

/* The manager is not running yet, or not any more */
static void ftrace_subops_set_filter(struct ftrace_ops *ops)
{
	ftrace_subops_exchange(ops);
	ftrace_subops_free_old(ops);
}

static void ftrace_subops_clear_filter(struct ftrace_ops *ops)
{
	RCU_INIT_POINTER(ops->old_hash.filter_hash, EMPTY_HASH);
	RCU_INIT_POINTER(ops->old_hash.notrace_hash, EMPTY_HASH);
	ftrace_subops_set_filter(ops);
}

static bool ftrace_has_filter(struct ftrace_ops *ops)
{
	return ops->func_hash != &ops->local_hash ||
	       !ftrace_hash_empty(filter_of(ops->func_hash)) ||
	       !ftrace_hash_empty(notrace_of(ops->func_hash));
}

/*
 * An ops that was registered on its own once may still have its trampoline, and
 * is in the list of these then.
 */
static void ftrace_subops_free_trampoline(struct ftrace_ops *subops)
{
	if (subops->flags & FTRACE_OPS_FL_ALLOC_TRAMP && subops->trampoline)
		ftrace_ops_release_trampoline(subops);
}

/* The manager traces functions; from now on it does so for @subops, too */
static void ftrace_subops_join(struct ftrace_ops *subops)
{
	ftrace_mux_subops_change(subops, NULL, subops->func_hash);
}

static void ftrace_subops_leave(struct ftrace_ops *subops)
{
	ftrace_mux_subops_change(subops, subops->func_hash, NULL);
}

#else /* !CONFIG_DYNAMIC_FTRACE: all functions are traced, or none */

struct ftrace_ops_hash;

static int ftrace_subops_prepare(struct ftrace_ops *ops,
				 struct ftrace_ops *add,
				 struct ftrace_ops *drop,
				 struct ftrace_ops_hash *old,
				 struct ftrace_ops_hash *new)
{
	return 0;
}

static void ftrace_subops_update(struct ftrace_ops *ops) { }
static void ftrace_subops_keep_filter(struct ftrace_ops *ops) { }
static void ftrace_subops_set_filter(struct ftrace_ops *ops) { }
static void ftrace_subops_clear_filter(struct ftrace_ops *ops) { }
static bool ftrace_has_filter(struct ftrace_ops *ops) { return false; }
static void ftrace_subops_free_trampoline(struct ftrace_ops *subops) { }
static void ftrace_subops_join(struct ftrace_ops *subops) { }
static void ftrace_subops_leave(struct ftrace_ops *subops) { }

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* What makes no sense is a bug of the caller, who may not look at the error */
#define ftrace_subops_refuse(ops, subops, why)				\
	pr_warn_once("ftrace subops: %ps can't be a subop of %ps: %s\n",	\
		     (subops)->func, (ops)->func, why)

static int ftrace_subops_check(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	if (subops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;

	if (subops->flags & FTRACE_OPS_FL_ENABLED) {
		ftrace_subops_refuse(ops, subops, "it is registered already");
		return -EBUSY;
	}

	if (ops == subops || ftrace_is_manager(subops) ||
	    subops->flags & FTRACE_OPS_FL_SUBSET) {
		ftrace_subops_refuse(ops, subops, "it is a manager");
		return -EINVAL;
	}

	if (ops->flags & FTRACE_OPS_FL_SUBOP) {
		ftrace_subops_refuse(ops, subops, "there is one level only");
		return -EINVAL;
	}

	if (!ftrace_is_manager(ops) &&
	    (ops->flags & FTRACE_OPS_FL_ENABLED || ftrace_has_filter(ops))) {
		ftrace_subops_refuse(ops, subops,
				     "that has functions of its own to trace");
		return -EINVAL;
	}

	if ((subops->flags | ops->flags) & (FTRACE_OPS_FL_IPMODIFY |
					    FTRACE_OPS_FL_DIRECT |
					    FTRACE_OPS_FL_PERMANENT)) {
		ftrace_subops_refuse(ops, subops, "one asks for what is not shared");
		return -EINVAL;
	}

	if (subops->flags & ~ops->flags & (FTRACE_OPS_FL_SAVE_REGS |
					   FTRACE_OPS_FL_RECURSION)) {
		ftrace_subops_refuse(ops, subops,
				     "it asks for what the manager has not");
		return -EINVAL;
	}

	return 0;
}

static void ftrace_subops_link(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	subops->flags |= FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP;
	subops->managed = ops;
	subops->saved_func = subops->func;
	ftrace_ops_update_pid_func(subops);
	/* The callback of the manager may be looking through the list */
	list_add_tail_rcu(&subops->list, &ops->subop_list);
	/* Otherwise ftrace_startup() is going to do that */
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		ftrace_subops_join(subops);
}

/* The caller waits until nobody can have seen @subops any more */
static void ftrace_subops_unlink(struct ftrace_ops *subops)
{
	list_del_rcu(&subops->list);
	ftrace_mux_forget(subops);
}

static void ftrace_subops_release(struct ftrace_ops *subops)
{
	subops->func = subops->saved_func;
	subops->managed = NULL;
	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
}

/**
 * ftrace_startup_subops - have an ops trace the functions of another one too
 * @ops:	the manager. It must have no filter of its own. With its first
 *		subop it is registered, it must not have been before
 * @subops:	what to trace: its filter counts, and from here on each change
 *		of it, too. It must neither be registered, nor be a subop or a
 *		manager, and not ask for what only the ops at a call site can
 *		do (IPMODIFY, DIRECT, PERMANENT; and SAVE_REGS or RECURSION
 *		unless the manager asks for it as well)
 * @command:	what to tell ftrace_startup() if this is the first subop
 *
 * The callback of @ops calls the subops. It finds them in the subop_list of @ops,
 * linked by their list, and has preemption disabled while it looks at them. It
 * may be called for functions of @subops before this function returns.
 *
 * Context: ftrace_lock held, may sleep.
 * Return: 0; -EBUSY if @subops is in use, or -EINVAL if the two do not fit
 * (both of which warn, once) or one of them is FTRACE_OPS_FL_DELETED; -ENOMEM;
 * -ENODEV if ftrace is dead; or why @ops could not be registered. If it fails,
 * everything is as before.
 */
int ftrace_startup_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			  int command)
{
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (unlikely(ftrace_is_dead()))
		return -ENODEV;

	ftrace_ops_init(ops);
	ftrace_ops_init(subops);

	ret = ftrace_subops_check(ops, subops);
	if (ret)
		return ret;

	if (!ops->subop_list.next)
		INIT_LIST_HEAD(&ops->subop_list);

	ret = ftrace_subops_prepare(ops, subops, NULL, NULL, NULL);
	if (ret)
		return ret;

	ftrace_subops_free_trampoline(subops);

	if (!list_empty(&ops->subop_list)) {
		ftrace_subops_link(ops, subops);
		ftrace_subops_update(ops);
		if (!ftrace_is_dead())
			return 0;
		ret = -ENODEV;
	} else {
		ftrace_subops_set_filter(ops);
		ftrace_subops_link(ops, subops);
		ret = ftrace_startup(ops, command);
		if (!ret)
			return 0;
		ftrace_subops_clear_filter(ops);
	}

	ftrace_subops_unlink(subops);
	ftrace_synchronize();
	ftrace_subops_release(subops);

	return ret;
}

/**
 * ftrace_shutdown_subops - have an ops not trace the functions of another one
 * @ops:	the manager. With its last subop it is unregistered, and is as
 *		it was before the first
 * @subops:	what not to trace any more: functions that no other subop
 *		traces are not traced for @ops from here on
 * @command:	what to tell ftrace_shutdown() if this is the last subop
 *
 * When this function returns nobody has @subops in use, provided that whoever
 * looks at the subops of @ops has preemption disabled while at it.
 *
 * If there is no memory to compute what is left to trace, @ops goes on tracing
 * what it did until a subop comes, goes, or has its filter changed. This is of
 * no consequence but to the functions it traces in vain.
 *
 * Context: ftrace_lock held, may sleep. Drops the lock while it waits for callbacks,
 * and takes it again.
 * Return: 0; -EINVAL if @subops is no subop of @ops (which warns, once), with
 * nothing changed; or -ENODEV if ftrace is dead, with @subops released.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			   int command)
{
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	if (!(subops->flags & FTRACE_OPS_FL_SUBOP) || subops->managed != ops) {
		pr_warn_once("ftrace subops: %ps is no subop of %ps\n",
			     subops->func, ops->func);
		return -EINVAL;
	}

	if (list_is_singular(&ops->subop_list)) {
		ret = ftrace_shutdown(ops, command);
		ftrace_subops_unlink(subops);
		if (!ret)
			ftrace_subops_clear_filter(ops);
	} else {
		if (unlikely(ftrace_is_dead()))
			ret = -ENODEV;
		else
			ret = ftrace_subops_prepare(ops, NULL, subops, NULL, NULL);
		ftrace_subops_leave(subops);
		/* Call sites are not to get to know of it again */
		ftrace_subops_unlink(subops);
		if (!ret) {
			ftrace_subops_update(ops);
		} else if (ret == -ENOMEM) {
			ftrace_subops_keep_filter(ops);
			ret = 0;
		}
	}

	/* It can be neither registered nor shut down until it is released */
	subops->managed = NULL;
	mutex_unlock(&ftrace_lock);
	ftrace_synchronize();
	mutex_lock(&ftrace_lock);

	ftrace_subops_release(subops);

	return ret;
}
