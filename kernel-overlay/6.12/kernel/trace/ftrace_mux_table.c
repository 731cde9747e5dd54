// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hash table to find the set of a function by the address of its call site
 *
 * Functions call the list function when several ops trace them; without a
 * trampoline for each ops, whenever several ops are registered. The list
 * function finds the ops to call here, with a single lookup. The table also
 * stores the set that each record belongs to, as struct dyn_ftrace has no room
 * for that.
 */
#include <kunit/static_stub.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/* Empty table, used until the first function is traced */
static struct ftrace_mux_table ftrace_mux_no_funcs = {
	.heads = { [0] = {} },
};

/* Written with ftrace_lock held. The table is allocated once and never freed */
struct hlist_head *ftrace_mux_heads __read_mostly = ftrace_mux_no_funcs.heads;

/* The rest is protected by ftrace_lock */

/* Functions whose set has changed since ftrace_mux_update_funcs() */
static LIST_HEAD(ftrace_mux_changed_funcs);
/* Functions that are not in the table any more */
static LIST_HEAD(ftrace_mux_removed_funcs);

bool ftrace_mux_prepared;

struct ftrace_set ftrace_no_set = {
	.call		= &ftrace_no_set.ops,
	.ops.func	= ftrace_ops_walk,
};

/*
 * The list function. Like a trampoline, it does not change the preemption state
 * for callbacks.
 */
#if ARCH_SUPPORTS_FTRACE_OPS
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_func_t func;

	kmsan_unpoison_memory(fregs, ftrace_regs_size());
	op = READ_ONCE(ftrace_mux_find_set(ip)->call);
	func = READ_ONCE(op->func);
	func(ip, parent_ip, op, fregs);
}
#else
void arch_ftrace_ops_list_func(unsigned long ip, unsigned long parent_ip)
{
	struct ftrace_ops *op = READ_ONCE(ftrace_mux_find_set(ip)->call);
	ftrace_func_t func = READ_ONCE(op->func);

	func(ip, parent_ip, op, NULL);
}
#endif
NOKPROBE_SYMBOL(arch_ftrace_ops_list_func);

/* Call all members of a set whose callbacks can be called as they are */
static void ftrace_set_call(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct ftrace_set *set = container_of(ops, struct ftrace_set, ops);
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		struct ftrace_ops *op = set->members[i];
		ftrace_func_t func = READ_ONCE(op->func);

		func(ip, parent_ip, op, fregs);
	}
}
NOKPROBE_SYMBOL(ftrace_set_call);

/*
 * Call all members of a set, some of which need protection from recursion, RCU
 * to be watching, or all registers. Consecutive members that need protection
 * take the recursion lock once. Others are called without it and with
 * preemption as it was, as from their own trampolines.
 */
static void ftrace_set_call_checked(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops *ops,
				    struct ftrace_regs *fregs)
{
	struct ftrace_set *set = container_of(ops, struct ftrace_set, ops);
	bool rcu = false;
	unsigned int i;
	int bit = -1;

	for (i = 0; i < set->nr; i++) {
		struct ftrace_ops *op = set->members[i];
		ftrace_func_t func;

		if (op->flags & FTRACE_OPS_FL_STUB)
			continue;
		/* The call site is yet to be patched to save them */
		if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) &&
		    op->flags & FTRACE_OPS_FL_SAVE_REGS && !ftrace_get_regs(fregs))
			continue;

		/* As in ftrace_ops_assist_func() */
		if (op->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU)) {
			if (bit < 0)
				bit = trace_test_and_set_recursion(ip, parent_ip,
								   TRACE_LIST_START);
			if (bit < 0)
				continue;
			if (op->flags & FTRACE_OPS_FL_RCU && !rcu) {
				rcu = rcu_is_watching();
				if (!rcu)
					continue;
			}
		} else if (bit >= 0) {
			trace_clear_recursion(bit);
			bit = -1;
		}

		func = READ_ONCE(op->func);
		func(ip, parent_ip, op, fregs);
	}

	if (bit >= 0)
		trace_clear_recursion(bit);
}
NOKPROBE_SYMBOL(ftrace_set_call_checked);

/**
 * ftrace_set_init - determine what the list function calls for a set
 * @set:	the set, with its members
 *
 * Context: ftrace_lock held.
 */
void ftrace_set_init(struct ftrace_set *set)
{
	unsigned long flags = 0;
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		flags |= set->members[i]->flags;

	set->ops.flags = FTRACE_OPS_FL_STUB;
	if (flags & (FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SAVE_REGS |
		     FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU)) {
		set->ops.func = ftrace_set_call_checked;
		set->call = &set->ops;
	} else {
		set->ops.func = ftrace_set_call;
		/* A single callback can be called directly */
		set->call = set->nr == 1 ? set->members[0] : &set->ops;
	}
}

/**
 * ftrace_set_reset - make the list function walk all ops instead
 * @set:	the set. Functions may still call the list function for it, but
 *		one of its members is unregistered and may be freed
 *
 * Context: ftrace_lock held.
 */
void ftrace_set_reset(struct ftrace_set *set)
{
	WRITE_ONCE(set->ops.func, ftrace_ops_walk);
	WRITE_ONCE(set->call, &set->ops);
}

/* Has 72 bytes on x86-64, for which kmalloc() would use 96 */
static struct kmem_cache *ftrace_mux_func_cache;

/* About one bucket per function, but no more than 65536 */
static bool ftrace_mux_make_table(void)
{
	unsigned int bits = clamp(order_base_2(ftrace_update_tot_cnt + 1), 8, 16);
	struct ftrace_mux_table *table;

	if (!ftrace_mux_func_cache)
		ftrace_mux_func_cache = KMEM_CACHE(ftrace_mux_func, 0);
	if (!ftrace_mux_func_cache)
		return false;

	table = kvzalloc_flex(*table, heads, 1UL << bits);
	if (!table)
		return false;

	table->mask = (1UL << bits) - 1;
	/* Pairs with READ_ONCE() in ftrace_mux_head() */
	smp_store_release(&ftrace_mux_heads, table->heads);

	return true;
}

/**
 * ftrace_mux_alloc_func - allocate a function that is not in the table yet
 *
 * The memory is not initialized.
 *
 * Context: may sleep. KUnit tests make it fail.
 * Return: the function; NULL on allocation failure.
 */
struct ftrace_mux_func *ftrace_mux_alloc_func(void)
{
	KUNIT_STATIC_STUB_REDIRECT(ftrace_mux_alloc_func);

	return kmem_cache_alloc(ftrace_mux_func_cache, GFP_KERNEL);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
unsigned long fgraph_unfiltered __read_mostly = FGRAPH_NO_FILTERS;
/* Users of function graph that may have bits in the table: they have or had a filter */
static unsigned long fgraph_filtered;

/* Those whose bits may be set for functions that are not in their filter_hash */
static unsigned long fgraph_scattered;

static void ftrace_mux_update_bit(struct ftrace_mux_func *func, unsigned long user,
				  struct ftrace_ops *ops)
{
	unsigned long users = func->graph & ~user;

	if (ops && ftrace_ops_test(ops, func->ip, NULL))
		users |= user;
	WRITE_ONCE(func->graph, users);
}

static void ftrace_mux_update_all(unsigned long user, struct ftrace_ops *ops)
{
	struct hlist_head *heads = ftrace_mux_heads;
	struct ftrace_mux_table *table;
	struct ftrace_mux_func *func;
	unsigned long i;

	table = container_of(heads, struct ftrace_mux_table, heads[0]);
	for (i = 0; i <= table->mask; i++) {
		hlist_for_each_entry(func, &heads[i], node)
			ftrace_mux_update_bit(func, user, ops);
		if (!(i % 1024))
			cond_resched();
	}
}

static void ftrace_mux_update_hash(unsigned long user, struct ftrace_ops *ops,
				   struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	struct ftrace_mux_func *func;
	unsigned long i;

	if (ftrace_hash_empty(hash))
		return;

	for (i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			func = ftrace_mux_find(entry->ip);
			if (func)
				ftrace_mux_update_bit(func, user, ops);
		}
		if (!(i % 1024))
			cond_resched();
	}
}

/* With ftrace_lock held */
static struct ftrace_hash *ftrace_mux_filter(struct ftrace_ops *ops)
{
	return rcu_dereference_protected(ops->func_hash->filter_hash,
					 lockdep_is_held(&ftrace_lock));
}

/**
 * ftrace_mux_update_bits - update the bit of a function graph user in the table
 * @user:	the bit
 * @ops:	the user's ops, whose filter is tested for each function; NULL to
 *		clear the bit in all of them
 * @old:	the filter_hash that the user had before, if any
 *
 * Visit the functions of both filters. Only if one of them is empty, or not known,
 * visit all functions.
 *
 * Context: ftrace_lock held; may sleep. KUnit tests call functions meanwhile.
 */
void ftrace_mux_update_bits(unsigned long user, struct ftrace_ops *ops,
			    struct ftrace_hash *old)
{
	struct ftrace_hash *hash = ops ? ftrace_mux_filter(ops) : NULL;
	/* All functions, or all but some */
	bool most = ops && ftrace_hash_empty(hash);

	KUNIT_STATIC_STUB_REDIRECT(ftrace_mux_update_bits, user, ops, old);

	if (most || fgraph_scattered & user) {
		ftrace_mux_update_all(user, ops);
	} else {
		ftrace_mux_update_hash(user, ops, old);
		if (ops)
			ftrace_mux_update_hash(user, ops, hash);
	}

	if (most)
		fgraph_scattered |= user;
	else
		fgraph_scattered &= ~user;
}

/*
 * @user has a filter now, or is gone. If no user has a filter any more, functions
 * are not looked up.
 */
static void ftrace_mux_update_unfiltered(unsigned long user)
{
	unsigned long unfiltered = fgraph_unfiltered & ~(user | FGRAPH_NO_FILTERS);

	if (!fgraph_filtered)
		unfiltered |= FGRAPH_NO_FILTERS;
	/* Pairs with smp_load_acquire() in fgraph_get_users() */
	smp_store_release(&fgraph_unfiltered, unfiltered);
}

/**
 * ftrace_mux_update_graph - update which functions call a function graph user
 * @idx:	index of the user
 * @ops:	its ops, whose filter tells which functions it traces
 * @old:	the filter_hash that it had before; NULL if not known, or if it has
 *		just been registered
 *
 * A function that is entered meanwhile calls the old or the new users. So the call
 * site of a function may have been patched for a new user, and the user still
 * misses a call.
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_update_graph(unsigned int idx, struct ftrace_ops *ops,
			     struct ftrace_hash *old)
{
	bool all = ftrace_ops_traces_all(ops);
	unsigned long user = BIT(idx);

	/* No filter tells any more where it has bits */
	if (all || !old)
		fgraph_scattered |= fgraph_filtered & user;

	/* Bits of its last filter stay, for functions that are being entered */
	if (all) {
		WRITE_ONCE(fgraph_unfiltered, fgraph_unfiltered | user);
		return;
	}

	fgraph_filtered |= user;
	ftrace_mux_update_bits(user, ops, old);
	ftrace_mux_update_unfiltered(user);
}

/**
 * ftrace_mux_remove_graph - let no function call a function graph user
 * @idx:	index of the user
 * @ops:	its ops, with the filter that it had in the end
 *
 * Context: ftrace_lock held; may sleep.
 */
void ftrace_mux_remove_graph(unsigned int idx, struct ftrace_ops *ops)
{
	unsigned long user = BIT(idx);

	if (fgraph_filtered & user)
		ftrace_mux_update_bits(user, NULL, ftrace_mux_filter(ops));
	fgraph_filtered &= ~user;
	ftrace_mux_update_unfiltered(user);
}
#endif

/**
 * ftrace_mux_add_func - add a function to the table
 * @ip:		address of its call site, as in the record; must not be in the
 *		table yet
 *
 * Context: ftrace_lock held; may sleep.
 * Return: the entry; NULL on allocation failure.
 */
struct ftrace_mux_func *ftrace_mux_add_func(unsigned long ip)
{
	struct ftrace_mux_func *func;

	if (ftrace_mux_heads == ftrace_mux_no_funcs.heads && !ftrace_mux_make_table())
		return NULL;

	func = ftrace_mux_alloc_func();
	if (!func)
		return NULL;

	*func = (struct ftrace_mux_func) {
		.ip	= ip,
		.called	= &ftrace_no_set,
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
		.graph	= fgraph_test_users(ip, fgraph_filtered),
#endif
	};
	INIT_LIST_HEAD(&func->changed);
	hlist_add_head_rcu(&func->node, ftrace_mux_head(ip));

	return func;
}

/**
 * ftrace_mux_change_func - change the set that a function belongs to
 * @func:	the function
 * @set:	the set; NULL for none
 *
 * The list function uses @set after ftrace_mux_update_funcs().
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_change_func(struct ftrace_mux_func *func, struct ftrace_set *set)
{
	func->set = set;
	if (list_empty(&func->changed))
		list_add_tail(&func->changed, &ftrace_mux_changed_funcs);
}

/**
 * ftrace_mux_remove_func - remove a function from the table
 * @func:	the function. The list function and function graph may still be
 *		using it, until tasks have been waited for
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_remove_func(struct ftrace_mux_func *func)
{
	hlist_del_rcu(&func->node);
	list_move(&func->changed, &ftrace_mux_removed_funcs);
}

/**
 * ftrace_mux_free_func - free a function that is not in the table any more
 * @func:	the function, which no task uses
 *
 * Context: any.
 */
void ftrace_mux_free_func(struct ftrace_mux_func *func)
{
	kmem_cache_free(ftrace_mux_func_cache, func);
}

/**
 * ftrace_mux_take_removed_funcs - take the functions that have to be freed
 * @funcs:	list to which they are moved
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_take_removed_funcs(struct list_head *funcs)
{
	list_splice_init(&ftrace_mux_removed_funcs, funcs);
}

#ifdef CONFIG_FTRACE_MUX_SITES
static bool ftrace_mux_has_site(struct ftrace_mux_func *func)
{
	return func->site;
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/* The ops of the slot whose jump @func has to call; NULL for none */
static struct ftrace_ops *ftrace_mux_next_site(struct ftrace_mux_func *func)
{
	if (!func->set)
		return NULL;
	if (func->site && ftrace_site_slot(func->site)->set == func->set)
		return func->site;

	return func->set->slot ? &func->set->slot->ops : NULL;
}

static void ftrace_mux_set_site(struct ftrace_mux_func *func,
				struct ftrace_ops *site)
{
	if (func->site)
		ftrace_site_slot(func->site)->callers--;
	if (site)
		ftrace_site_slot(site)->callers++;
	func->site = site;
}

/**
 * ftrace_mux_count_moved - count the functions that move from slots
 *
 * Context: ftrace_lock held, before ftrace_mux_update_funcs().
 */
void ftrace_mux_count_moved(void)
{
	struct ftrace_mux_func *func;
	struct ftrace_slot *slot;

	list_for_each_entry(func, &ftrace_mux_changed_funcs, changed) {
		if (!func->site)
			continue;
		slot = ftrace_site_slot(func->site);
		if (slot->set == func->set)
			continue;
		if (!slot->moved++)
			slot->next = func->set;
		else if (slot->next != func->set)
			slot->next = NULL;
	}
}

/**
 * ftrace_mux_addr_new - get the jump that a call site is going to call
 * @rec:	record of the function, whose set has been prepared
 *
 * Context: ftrace_lock held.
 * Return: its address; zero if the function does not call one.
 */
unsigned long ftrace_mux_addr_new(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);
	struct ftrace_ops *site = func ? ftrace_mux_next_site(func) : NULL;

	return site ? site->trampoline : 0;
}

/**
 * ftrace_mux_calls_jump - does a call site call a jump?
 * @rec:	record of the function
 *
 * Between ftrace_mux_prepare() and ftrace_mux_finish(), this is about what the
 * call site is going to call. Before that, it is not known if a jump is going to
 * be redirected, and it is about what the call site calls now.
 *
 * Context: ftrace_lock held.
 * Return: true if the call site does not depend on what calls the ops.
 */
bool ftrace_mux_calls_jump(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (!func)
		return false;

	return ftrace_mux_prepared ? ftrace_mux_next_site(func) : func->site;
}
#else
/* The ops that the call site of @func has to point to; NULL for none of a set */
static struct ftrace_ops *ftrace_mux_next_site(struct ftrace_mux_func *func)
{
	struct ftrace_set *set = func->set;
	struct ftrace_ops *op;

	if (!set)
		return NULL;

	/*
	 * Unlike the list function, the call site of a single ops saves all
	 * registers that the ops needs. On powerpc, it may also have to find
	 * the direct caller of the ops.
	 */
	op = set->members[0];
	if (set->nr == 1 && !(op->flags & (FTRACE_OPS_FL_STUB |
					   FTRACE_OPS_FL_RECURSION |
					   FTRACE_OPS_FL_RCU)))
		return op;

	return set->call;
}

static void ftrace_mux_set_site(struct ftrace_mux_func *func,
				struct ftrace_ops *site)
{
	func->site = site;
}
#endif

static bool ftrace_mux_needs_patch(struct ftrace_mux_func *func)
{
	return func->site != ftrace_mux_next_site(func);
}

/**
 * ftrace_mux_site_ops - find the ops that the call site of a function points to
 *			 or that has the jump which it calls
 * @rec:	record of the function, for which ftrace_mux_patch_site() was called
 *
 * Context: ftrace_lock held.
 * Return: the ops; NULL if that does not depend on the set.
 */
struct ftrace_ops *ftrace_mux_site_ops(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	return func ? func->site : NULL;
}

/**
 * ftrace_mux_site_changes - should a call site point to another ops?
 * @rec:	record of the function
 *
 * Always false outside of ftrace_mux_prepare() and ftrace_mux_finish(): the
 * former finds out by itself whether there are such call sites.
 *
 * Context: ftrace_lock held.
 * Return: true if the call site has to be patched because of its set.
 */
bool ftrace_mux_site_changes(struct dyn_ftrace *rec)
{
	struct ftrace_mux_func *func;

	if (!ftrace_mux_prepared)
		return false;

	func = ftrace_mux_find(rec->ip);

	return func && ftrace_mux_needs_patch(func);
}

/**
 * ftrace_mux_patch_site - record what a call site is going to point to
 * @rec:	record of the function
 * @enable:	the call site is going to call an ops
 *
 * Context: ftrace_lock held, or the machine stopped by its holder.
 */
void ftrace_mux_patch_site(struct dyn_ftrace *rec, bool enable)
{
	struct ftrace_mux_func *func = ftrace_mux_find(rec->ip);

	if (!func)
		return;

	ftrace_mux_set_site(func, enable ? ftrace_mux_next_site(func) : NULL);
	/* Without a set, ftrace_mux_finish() can remove it now */
	if (!func->set)
		ftrace_mux_change_func(func, NULL);
}
#else
static bool ftrace_mux_has_site(struct ftrace_mux_func *func)
{
	return false;
}

static bool ftrace_mux_needs_patch(struct ftrace_mux_func *func)
{
	return false;
}
#endif

/**
 * ftrace_mux_update_funcs - make the list function use sets that have changed
 *
 * Context: ftrace_lock held.
 * Return: true if call sites have to be patched because of these changes.
 */
bool ftrace_mux_update_funcs(void)
{
	struct ftrace_mux_func *func, *next;
	bool patch = false;

	list_for_each_entry_safe(func, next, &ftrace_mux_changed_funcs, changed) {
		/* Keep what is known of a call site that is yet to be patched */
		if (!func->set && !ftrace_mux_has_site(func)) {
			ftrace_mux_remove_func(func);
			continue;
		}
		list_del_init(&func->changed);
		/* Pairs with READ_ONCE() in ftrace_mux_find_set() */
		smp_store_release(&func->called, func->set ?: &ftrace_no_set);
		patch |= ftrace_mux_needs_patch(func);
	}

	return patch;
}
