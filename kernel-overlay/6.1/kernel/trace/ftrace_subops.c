// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subops: one ftrace_ops that manages many
 *
 * A subsystem that traces functions on behalf of its users registers one ops,
 * the manager. Each user has an ops as well, a subop, of which ftrace only uses
 * the filter: the manager traces exactly the functions that any of its subops
 * traces. The callback of the manager finds out which subops a call is for.
 *
 * The filter of the manager is never updated incrementally. It is computed from
 * the filters of all subops each time a subop is registered, unregistered, or
 * changes its filter.
 */
#include <linux/ftrace.h>
#include <linux/rculist.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"

#ifdef CONFIG_DYNAMIC_FTRACE

/*
 * Filters of subops and managers change only with ftrace_lock held. Callers
 * that pass other filters must keep them stable.
 */
static struct ftrace_hash *filter_of(const struct ftrace_ops_hash *filter)
{
	return rcu_dereference_protected(filter->filter_hash, 1);
}

static struct ftrace_hash *notrace_of(const struct ftrace_ops_hash *filter)
{
	return rcu_dereference_protected(filter->notrace_hash, 1);
}

/* A filter hash that matches no function; an empty hash would match all */
static struct ftrace_hash *alloc_match_none_hash(void)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(0);

	/* As if its only functions were in a module that is not loaded */
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
 * Some filters have an empty filter hash: they trace all functions except the
 * ones in their notrace hash. The union then traces all functions except the
 * ones that are in the notrace hash of each such filter, and that no other
 * filter traces. It is enough to check the functions in @smallest, the smallest
 * of these notrace hashes.
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
		cond_resched();
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

/* No filter hash matches all functions: combine the functions they list */
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
		return alloc_match_none_hash();

	hash = alloc_ftrace_hash(ftrace_hash_bits(count));
	if (!hash)
		return NULL;

	for (f = 0; f < nr; f++) {
		from = filter_of(filters[f]);

		for (i = 0; i < 1UL << from->size_bits; i++) {
			cond_resched();
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
	return alloc_match_none_hash();
}

/**
 * ftrace_filter_union - compute the union of several filters
 * @filters:	the filters, at least one
 * @nr:		number of filters
 * @result:	its two hashes are set to a filter that traces exactly the
 *		functions that any of @filters traces. The caller must free
 *		them. Its regex_lock is not used
 *
 * The union is exact for every address, not only for functions that have a
 * record now. It stays exact when modules are loaded.
 *
 * Context: may sleep. The filters must not change while this runs.
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

		/* Does it trace all functions except the ones in @hash? */
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
 * Compute the filter of manager @ops after @add becomes a subop of it, @drop
 * stops being one, or the filter @old of its subops is replaced by @new; each
 * may be NULL. Store it in @ops->old_hash for ftrace_subops_commit().
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
 * ftrace_subops_prepare_change - compute the filters of managers after a change
 * @old:	the filter that is about to change, as in func_hash of subops
 * @new:	its new contents
 *
 * Must be followed by ftrace_subops_commit() after the filter has changed, or
 * by ftrace_subops_cancel().
 *
 * Context: ftrace_lock held, may sleep.
 * Return: 0, or -ENOMEM with nothing to cancel.
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
			/* This has covered all subops of the manager */
			break;
		}
	} while_for_each_ftrace_op(op);

	return 0;
}

/**
 * ftrace_subops_cancel - free the filters computed for managers
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
 * A concurrent callback may read the old filter hash and the new notrace hash,
 * or the reverse. A function that is traced both before and after the change
 * matches both filter hashes and neither notrace hash, so the callback finds
 * that it is traced in either case.
 */
static void ftrace_subops_exchange(struct ftrace_ops *ops)
{
	struct ftrace_hash *traced = filter_of(ops->func_hash);
	struct ftrace_hash *untraced = notrace_of(ops->func_hash);

	rcu_assign_pointer(ops->func_hash->filter_hash,
			   filter_of(&ops->old_hash));
	rcu_assign_pointer(ops->func_hash->notrace_hash,
			   notrace_of(&ops->old_hash));
	ops->flags &= ~FTRACE_OPS_FL_SUPERSET;
	RCU_INIT_POINTER(ops->old_hash.filter_hash, traced);
	RCU_INIT_POINTER(ops->old_hash.notrace_hash, untraced);
}

/**
 * ftrace_subops_commit - switch managers to the filters computed for them
 *
 * The caller must patch their call sites, then call ftrace_subops_finish().
 *
 * Context: ftrace_lock held.
 * Return: true if there are such managers.
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
 * ftrace_subops_finish - free the previous filters of managers
 *
 * Context: ftrace_lock held, call sites have been patched.
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

/* Switch a registered manager to the filter computed for it */
static void ftrace_subops_update(struct ftrace_ops *ops)
{
	if (ftrace_subops_commit() && ftrace_enabled)
		ftrace_run_update_code(FTRACE_UPDATE_CALLS);
	ftrace_subops_finish();
}

/* After a failure, of an allocation or of ftrace, keep a filter that traces a superset */
static void ftrace_subops_keep_filter(struct ftrace_ops *ops)
{
	ops->flags |= FTRACE_OPS_FL_SUPERSET;
}

/* Switch a manager that is not registered to the filter computed for it */
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
 * An ops that was once registered on its own may still have its trampoline, and
 * then uses @list to link it into the list of trampolines.
 */
static void ftrace_subops_free_trampoline(struct ftrace_ops *subops)
{
	if (subops->flags & FTRACE_OPS_FL_ALLOC_TRAMP && subops->trampoline)
		ftrace_ops_release_trampoline(subops);
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

#endif /* !CONFIG_DYNAMIC_FTRACE */

/* Misuse is a bug of the caller, which may ignore the error: warn about it */
#define ftrace_subops_reject(ops, subops, why)				\
	pr_warn_once("ftrace subops: %ps can't be a subop of %ps: %s\n",	\
		     (subops)->func, (ops)->func, why)

static int ftrace_subops_check(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	if (subops->flags & FTRACE_OPS_FL_DELETED)
		return -EINVAL;

	if (subops->flags & FTRACE_OPS_FL_ENABLED) {
		ftrace_subops_reject(ops, subops, "it is already registered");
		return -EBUSY;
	}

	if (ops == subops || ftrace_is_manager(subops)) {
		ftrace_subops_reject(ops, subops, "it is a manager");
		return -EINVAL;
	}

	if (ops->flags & FTRACE_OPS_FL_SUBOP) {
		ftrace_subops_reject(ops, subops, "the manager is a subop itself");
		return -EINVAL;
	}

	if (!ftrace_is_manager(ops) &&
	    (ops->flags & FTRACE_OPS_FL_ENABLED || ftrace_has_filter(ops))) {
		ftrace_subops_reject(ops, subops,
				     "the manager has a filter or is registered");
		return -EINVAL;
	}

	if ((subops->flags | ops->flags) & (FTRACE_OPS_FL_IPMODIFY |
					    FTRACE_OPS_FL_DIRECT |
					    FTRACE_OPS_FL_PERMANENT)) {
		ftrace_subops_reject(ops, subops, "unsupported flags");
		return -EINVAL;
	}

	if (subops->flags & ~ops->flags & (FTRACE_OPS_FL_SAVE_REGS |
					   FTRACE_OPS_FL_RECURSION)) {
		ftrace_subops_reject(ops, subops,
				     "the manager lacks flags of the subop");
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
	/* The callback of the manager may be walking the list */
	list_add_tail_rcu(&subops->list, &ops->subop_list);
}

/* The caller must wait until callbacks cannot access @subops any more */
static void ftrace_subops_unlink(struct ftrace_ops *subops)
{
	list_del_rcu(&subops->list);
}

static void ftrace_subops_release(struct ftrace_ops *subops)
{
	subops->func = subops->saved_func;
	subops->managed = NULL;
	subops->flags &= ~(FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP);
}

/**
 * ftrace_startup_subops - register a subop with its manager
 * @ops:	the manager. It must not have its own filter. It must not be
 *		registered before its first subop, which registers it
 * @subops:	the subop. Only its filter is used, including later changes. It
 *		must not be registered, nor be a subop or a manager. Flags that
 *		only work for the ops at a call site must not be set: IPMODIFY,
 *		DIRECT, PERMANENT; and SAVE_REGS or RECURSION unless the
 *		manager has them as well
 * @command:	command for ftrace_startup() if this is the first subop
 *
 * The callback of @ops calls the subops. It finds them in the subop_list of @ops,
 * linked by their list, and must disable preemption while it accesses them. It
 * may be called for functions of @subops before this function returns.
 *
 * Context: ftrace_lock held, may sleep.
 * Return: 0; -EBUSY if @subops is in use, or -EINVAL if the two are
 * incompatible (both warn once); -EINVAL if one of them has
 * FTRACE_OPS_FL_DELETED; -ENOMEM; -ENODEV if ftrace is dead; or the error of
 * registering @ops. On failure, nothing has changed.
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
		ftrace_subops_keep_filter(ops);
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
 * ftrace_shutdown_subops - unregister a subop from its manager
 * @ops:	the manager. It is unregistered along with its last subop, and
 *		then has no filter again
 * @subops:	the subop. @ops stops tracing the functions that no other subop
 *		traces
 * @command:	command for ftrace_shutdown() if this is the last subop
 *
 * When this returns, no callback uses @subops any more, provided that the
 * callback of @ops accesses its subops with preemption disabled.
 *
 * If allocating the new filter fails, @ops keeps its current filter, which
 * traces a superset, until the next subop is registered, unregistered, or
 * changes its filter. The only effect is that @ops is also called for functions
 * that no subop traces.
 *
 * Context: ftrace_lock held, may sleep. Drops the lock while it waits for
 * callbacks, and takes it again.
 * Return: 0; -EINVAL if @subops is not a subop of @ops (warns once), with
 * nothing changed; or -ENODEV if ftrace is dead, with @subops released.
 */
int ftrace_shutdown_subops(struct ftrace_ops *ops, struct ftrace_ops *subops,
			   int command)
{
	int ret = 0;

	lockdep_assert_held(&ftrace_lock);

	if (!(subops->flags & FTRACE_OPS_FL_SUBOP) || subops->managed != ops) {
		pr_warn_once("ftrace subops: %ps is not a subop of %ps\n",
			     subops->func, ops->func);
		return -EINVAL;
	}

	if (list_is_singular(&ops->subop_list)) {
		ret = ftrace_shutdown(ops, command);
		ftrace_subops_unlink(subops);
		if (!ret)
			ftrace_subops_clear_filter(ops);
	} else {
		if (unlikely(ftrace_is_dead())) {
			ftrace_subops_keep_filter(ops);
			ret = -ENODEV;
		} else if (!ftrace_subops_prepare(ops, NULL, subops, NULL, NULL)) {
			ftrace_subops_update(ops);
		} else {
			ftrace_subops_keep_filter(ops);
		}
		ftrace_subops_unlink(subops);
	}

	/* Until released, @subops can be neither registered nor shut down */
	subops->managed = NULL;
	mutex_unlock(&ftrace_lock);
	ftrace_synchronize();
	mutex_lock(&ftrace_lock);

	ftrace_subops_release(subops);

	return ret;
}
