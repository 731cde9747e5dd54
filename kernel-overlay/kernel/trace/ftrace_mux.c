// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets: each call site calls those who asked for it
 *
 * A function that one ops traces calls the trampoline of that ops. One that
 * several trace used to call ftrace_ops_list_func(), which looks for them among
 * all ops there are, each time. Here those who trace a function are put together
 * to a set, which has a trampoline of its own, and the function calls that.
 *
 * Functions with the same ops have the same set. A record keeps two numbers of
 * sets: which one its function is to call, and which one it calls now. Sets are
 * made before call sites are patched, as there is no memory to be had then. And
 * when that is done, all records are looked through for the sets that are still
 * named by one. This way nobody has to count references, and records that vanish
 * with their module cannot leave any behind.
 *
 * Where there is no set the list function serves, which is always right.
 */
#include <linux/ftrace_mux.h>
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tracefs.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "ftrace_internal.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ftrace_mux."

/* How the records say "no set" */
#define FTRACE_NO_SET	0
#define FTRACE_MAX_SETS	65535

/*
 * Each has a trampoline of some hundred bytes. Those who trace many functions
 * with few tracers need few sets.
 */
static unsigned int max_sets = 1024;

static int ftrace_mux_set_max(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 0, FTRACE_MAX_SETS);
}

static const struct kernel_param_ops ftrace_mux_max_ops = {
	.set = ftrace_mux_set_max,
	.get = param_get_uint,
};
module_param_cb(max_sets, &ftrace_mux_max_ops, &max_sets, 0644);
MODULE_PARM_DESC(max_sets, "How many sets there may be, for functions that several trace");

static bool ftrace_mux_on __read_mostly = true;

static int __init ftrace_mux_setup(char *str)
{
	bool on;

	if (kstrtobool(str, &on)) {
		pr_warn("ftrace_mux=%s is neither on nor off\n", str);
		return 1;
	}
	ftrace_mux_on = on;
	return 1;
}
__setup("ftrace_mux=", ftrace_mux_setup);

/* All below is protected by ftrace_lock */

/* All sets; also read under RCU, to find who has a trampoline */
static LIST_HEAD(ftrace_sets);
/* Those that may be given to records */
static DEFINE_HASHTABLE(ftrace_set_table, 8);
/* Those that a record may name, by number */
static DEFINE_IDR(ftrace_set_idr);
static unsigned int nr_sets;
/* Between which addresses all trampolines have been so far */
static unsigned long first_trampoline = ULONG_MAX;
static unsigned long last_trampoline;
/* Those that no record names */
static LIST_HEAD(ftrace_sets_retired);
/* Some records should have sets, and have none */
static bool ftrace_mux_short;

/**
 * ftrace_mux_set - find a set
 * @id:		its number, or zero
 *
 * Context: ftrace_lock held.
 * Return: the set, or NULL if there is none.
 */
struct ftrace_set *ftrace_mux_set(unsigned int id)
{
	return id == FTRACE_NO_SET ? NULL : idr_find(&ftrace_set_idr, id);
}

/*
 * Calls the members one by one. For architectures that can't make a trampoline
 * that does.
 */
static void ftrace_set_func(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_set *set = ftrace_ops_set(op);
	struct ftrace_ops *member;
	unsigned int i;

	for (i = 0; i < set->nr_members; i++) {
		member = set->members[i];
		ftrace_ops_get_func(member)(ip, parent_ip, member, fregs);
	}
}
NOKPROBE_SYMBOL(ftrace_set_func);

/*
 * The architecture makes a trampoline that calls all members of @set with their
 * ops, in turn, each by what ftrace_ops_get_func() gives for it, and sets
 * &set->direct. Or it makes none.
 */
void __weak arch_ftrace_set_create(struct ftrace_set *set)
{
}

/* Member @i of @set is now to be called by what ftrace_ops_get_func() gives */
void __weak arch_ftrace_set_update(struct ftrace_set *set, unsigned int i)
{
}

/* Nobody can be in the trampoline of @set any more */
void __weak arch_ftrace_set_free(struct ftrace_set *set)
{
}

static void ftrace_set_free(struct ftrace_set *set)
{
	if (set->direct)
		arch_ftrace_set_free(set);
	else
		arch_ftrace_trampoline_free(&set->ops);
	kfree(set->subsets);
	kfree(set->members);
	kfree(set);
}

/* Is this one of the leaves that the one before it, a manager, is to call? */
static bool ftrace_is_leaf_of_subset(struct ftrace_ops *leaf)
{
	return leaf->flags & FTRACE_OPS_FL_SUBOP;
}

/* @ops is a manager. Take the subops that follow it */
static void ftrace_subset_init(struct ftrace_subset *subset,
			       struct ftrace_set *set, unsigned int leaf)
{
	struct ftrace_ops *ops = set->leaves[leaf];

	subset->set = set;
	subset->subops = &set->leaves[leaf + 1];
	while (leaf + 1 + subset->nr < set->nr_leaves &&
	       ftrace_is_leaf_of_subset(subset->subops[subset->nr]))
		subset->nr++;

	subset->ops.func = ops->func;
	subset->ops.saved_func = ops->saved_func;
	subset->ops.flags = ops->flags | FTRACE_OPS_FL_SET;
	subset->ops.private = ops->private;
	subset->ops.managed = ops;
	subset->ops.func_hash = ops->func_hash;
	INIT_LIST_HEAD(&subset->ops.subop_list);
}

/* Find out from the leaves of @set who is to be called, and with what */
static int ftrace_set_init_members(struct ftrace_set *set)
{
	struct ftrace_subset *subset;
	unsigned int i, subsets = 0;

	for (i = 0; i < set->nr_leaves; i++) {
		if (!ftrace_is_leaf_of_subset(set->leaves[i]))
			set->nr_members++;
		else if (!ftrace_is_leaf_of_subset(set->leaves[i - 1]))
			subsets++;
	}

	set->members = kcalloc(set->nr_members, sizeof(*set->members), GFP_KERNEL);
	if (!set->members)
		return -ENOMEM;

	if (subsets) {
		set->subsets = kcalloc(subsets, sizeof(*set->subsets), GFP_KERNEL);
		if (!set->subsets)
			return -ENOMEM;
		set->nr_subsets = subsets;
	}

	subset = set->subsets;
	set->nr_members = 0;
	for (i = 0; i < set->nr_leaves; i++) {
		if (!ftrace_is_leaf_of_subset(set->leaves[i])) {
			set->members[set->nr_members++] = set->leaves[i];
		} else if (!ftrace_is_leaf_of_subset(set->leaves[i - 1])) {
			ftrace_subset_init(subset, set, i - 1);
			set->members[set->nr_members - 1] = &subset->ops;
			subset++;
		}
	}

	return 0;
}

static struct ftrace_set *
ftrace_set_create(struct ftrace_ops **leaves, unsigned int nr, bool regs, u32 key)
{
	struct ftrace_set *set;
	int id;

	if (nr_sets >= READ_ONCE(max_sets))
		return NULL;

	set = kzalloc(struct_size(set, leaves, nr), GFP_KERNEL);
	if (!set)
		return NULL;

	set->ops.func = ftrace_set_func;
	set->ops.flags = FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_SET;
	if (regs)
		set->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	set->nr_leaves = nr;
	memcpy(set->leaves, leaves, nr * sizeof(*leaves));
	if (ftrace_set_init_members(set))
		goto out_free;

	arch_ftrace_set_create(set);
	if (!set->ops.trampoline)
		arch_ftrace_update_trampoline(&set->ops);
	if (!set->ops.trampoline)
		goto out_free;

	id = idr_alloc(&ftrace_set_idr, set, FTRACE_NO_SET + 1,
		       FTRACE_MAX_SETS + 1, GFP_KERNEL);
	if (id < 0)
		goto out_free;

	set->id = id;
	nr_sets++;
	WRITE_ONCE(first_trampoline, min(first_trampoline, set->ops.trampoline));
	WRITE_ONCE(last_trampoline, max(last_trampoline, set->ops.trampoline +
					set->ops.trampoline_size));
	hash_add(ftrace_set_table, &set->hash, key);
	list_add_rcu(&set->list, &ftrace_sets);
	ftrace_trampoline_appears(&set->ops);

	return set;

out_free:
	ftrace_set_free(set);
	return NULL;
}

static bool ftrace_set_is(struct ftrace_set *set, struct ftrace_ops **leaves,
			  unsigned int nr, bool regs)
{
	return set->nr_leaves == nr &&
	       !(set->ops.flags & FTRACE_OPS_FL_SAVE_REGS) == !regs &&
	       !memcmp(set->leaves, leaves, nr * sizeof(*leaves));
}

/* The set of those @leaves, made if there is none yet; NULL if there can't be */
static struct ftrace_set *
ftrace_set_get(struct ftrace_ops **leaves, unsigned int nr, bool regs)
{
	struct ftrace_set *set;
	u32 key;

	key = jhash(leaves, nr * sizeof(*leaves), regs);

	hash_for_each_possible(ftrace_set_table, set, hash, key) {
		if (ftrace_set_is(set, leaves, nr, regs))
			return set;
	}

	return ftrace_set_create(leaves, nr, regs, key);
}

/*
 * Is @ops to be told which of its subops a call is for? With a single one there
 * is no need.
 */
static bool ftrace_mux_wants_subset(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SUBSET && ftrace_is_manager(ops) &&
	       !list_is_singular(&ops->subop_list);
}

/*
 * Find out for whom the function of @rec is traced: @nr_ops of those that are
 * registered, and the subops of those who want subsets. Returns how many leaves
 * there are.
 */
static unsigned int
ftrace_mux_leaves(struct dyn_ftrace *rec, struct ftrace_ops **leaves,
		  unsigned int *nr_ops)
{
	struct ftrace_ops *op, *subops;
	unsigned int nr = 0;

	*nr_ops = 0;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (!hash_contains_ip(rec->ip, op->func_hash))
			continue;

		leaves[nr++] = op;
		++*nr_ops;

		if (!ftrace_mux_wants_subset(op))
			continue;

		ftrace_for_each_subop(op, subops) {
			if (hash_contains_ip(rec->ip, subops->func_hash))
				leaves[nr++] = subops;
		}
	} while_for_each_ftrace_op(op);

	return nr;
}

/* Are there managers that want subsets? */
static bool ftrace_mux_any_subsets;

/*
 * Some have means of their own to be called, or have an opinion on what the
 * others may do.
 */
static bool ftrace_mux_may_have_set(struct dyn_ftrace *rec)
{
	return ftrace_rec_count(rec) > !ftrace_mux_any_subsets &&
	       !(rec->flags & (FTRACE_FL_DIRECT | FTRACE_FL_IPMODIFY));
}

/* Which set is the function of @rec to call? @last is a guess, and updated */
static unsigned int
ftrace_mux_choose(struct dyn_ftrace *rec, struct ftrace_ops **leaves,
		  struct ftrace_set **last)
{
	bool regs = rec->flags & FTRACE_FL_REGS;
	struct ftrace_set *set = *last;
	unsigned int nr, nr_ops;

	if (!ftrace_mux_may_have_set(rec))
		return FTRACE_NO_SET;

	nr = ftrace_mux_leaves(rec, leaves, &nr_ops);
	/* A single ops has a trampoline of its own */
	if (nr < 2)
		return FTRACE_NO_SET;
	/* Somebody is counted but not to be called, or the reverse */
	if (WARN_ON_ONCE(nr_ops != ftrace_rec_count(rec)))
		return FTRACE_NO_SET;

	if (!set || !ftrace_set_is(set, leaves, nr, regs)) {
		set = ftrace_set_get(leaves, nr, regs);
		if (!set) {
			ftrace_mux_short = true;
			return FTRACE_NO_SET;
		}
		*last = set;
	}

	return set->id;
}

/* Room for all leaves there are; NULL if sets make no sense, or for want of memory */
static struct ftrace_ops **ftrace_mux_alloc_leaves(void)
{
	struct ftrace_ops *op, *subops, **leaves;
	unsigned int nr = 0;

	ftrace_mux_any_subsets = false;
	if (!ftrace_mux_on)
		return NULL;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op != &ftrace_list_end)
			nr++;
		if (!ftrace_mux_wants_subset(op))
			continue;
		ftrace_mux_any_subsets = true;
		ftrace_for_each_subop(op, subops)
			nr++;
	} while_for_each_ftrace_op(op);

	if (nr < 2)
		return NULL;

	leaves = kmalloc_array(nr, sizeof(*leaves), GFP_KERNEL);
	if (!leaves)
		ftrace_mux_short = true;

	return leaves;
}

/**
 * ftrace_mux_prepare - choose the sets that functions are to call
 * @mod:	the module whose functions it is about; NULL for all functions
 *
 * What the records say of who traces them must be up to date. The functions
 * are patched after this, then ftrace_mux_finish() is to be called.
 *
 * Context: ftrace_lock held and text_mutex not, may sleep.
 */
void ftrace_mux_prepare(struct module *mod)
{
	struct ftrace_set *last = NULL;
	struct ftrace_ops **leaves;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	if (unlikely(ftrace_is_dead()))
		return;

	/* Those of modules come on top of what was, for all it is anew */
	if (!mod)
		ftrace_mux_short = false;

	leaves = ftrace_mux_alloc_leaves();
	/* No record names a set, and none will */
	if (!leaves && !nr_sets)
		return;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);

		if (mod && !within_module(rec->ip, mod))
			continue;
		if (ftrace_rec_is_skipped(rec))
			continue;

		ftrace_rec_choose_set(rec, leaves ?
				      ftrace_mux_choose(rec, leaves, &last) :
				      FTRACE_NO_SET);
		cond_resched();
	}

	kfree(leaves);
}

static void ftrace_mux_free_retired(struct work_struct *work);
static DECLARE_WORK(ftrace_mux_free_work, ftrace_mux_free_retired);

static void ftrace_set_retire(struct ftrace_set *set)
{
	if (hash_hashed(&set->hash))
		hash_del(&set->hash);
	idr_remove(&ftrace_set_idr, set->id);
	nr_sets--;
	set->id = FTRACE_NO_SET;
	list_add(&set->retired, &ftrace_sets_retired);
	queue_work(system_long_wq, &ftrace_mux_free_work);
}

static void ftrace_mux_free_retired(struct work_struct *work)
{
	struct ftrace_set *set, *next;
	LIST_HEAD(todo);

	mutex_lock(&ftrace_lock);
	list_splice_init(&ftrace_sets_retired, &todo);
	mutex_unlock(&ftrace_lock);

	/* As ftrace_shutdown() does before the trampoline of an ops is freed */
	synchronize_rcu_tasks_rude();
	if (IS_ENABLED(CONFIG_PREEMPTION))
		synchronize_rcu_tasks();

	mutex_lock(&ftrace_lock);
	list_for_each_entry(set, &todo, retired) {
		ftrace_trampoline_vanishes(&set->ops);
		list_del_rcu(&set->list);
	}
	/*
	 * For those who look for a trampoline: in kallsyms, or on a stack, which
	 * may be where RCU is not watching.
	 */
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
	list_for_each_entry_safe(set, next, &todo, retired)
		ftrace_set_free(set);
	mutex_unlock(&ftrace_lock);
}

/**
 * ftrace_mux_finish - let go of the sets that no function calls any more
 *
 * Context: ftrace_lock held, after call sites were patched or records vanished.
 */
void ftrace_mux_finish(void)
{
	struct ftrace_set *set, *next;
	struct ftrace_rec_iter *iter;
	struct dyn_ftrace *rec;

	/* If ftrace has died then functions may call whatever they did before */
	if (!nr_sets || unlikely(ftrace_is_dead()))
		return;

	list_for_each_entry(set, &ftrace_sets, list)
		set->records = 0;

	for_ftrace_rec_iter(iter) {
		rec = ftrace_rec_iter_record(iter);

		set = ftrace_mux_set(ftrace_rec_set(rec));
		if (set)
			set->records++;
		/* Not the same if the calls were not patched */
		if (ftrace_rec_set_called(rec) == ftrace_rec_set(rec))
			continue;
		set = ftrace_mux_set(ftrace_rec_set_called(rec));
		if (set)
			set->records++;
		cond_resched();
	}

	list_for_each_entry_safe(set, next, &ftrace_sets, list) {
		if (set->id && !set->records)
			ftrace_set_retire(set);
	}
}

static bool ftrace_set_has(struct ftrace_set *set, struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; i < set->nr_leaves; i++) {
		if (set->leaves[i] == ops)
			return true;
	}
	return false;
}

/**
 * ftrace_mux_forget - an ops goes
 * @ops:	the ops, or subops, which is not registered any more
 *
 * Sets with it are not given to functions any more: another ops may come to be
 * where this one was. And if it is a subop, then who gets to know of it from a
 * subset does so before synchronize_rcu_tasks_rude() called after this returns.
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_forget(struct ftrace_ops *ops)
{
	struct ftrace_set *set;

	list_for_each_entry(set, &ftrace_sets, list) {
		if (!ftrace_set_has(set, ops))
			continue;
		/* Pairs with ftrace_ops_subset() */
		WRITE_ONCE(set->stale, true);
		if (hash_hashed(&set->hash))
			hash_del(&set->hash);
	}
}

/*
 * Is member @i of @set that ops, or a subset of it? Other members are not
 * looked at: those of a set that is to be freed may be gone.
 */
static bool ftrace_set_member_is(struct ftrace_set *set, unsigned int i,
				 struct ftrace_ops *ops)
{
	unsigned int s;

	if (set->members[i] == ops)
		return true;

	for (s = 0; s < set->nr_subsets; s++) {
		if (set->members[i] == &set->subsets[s].ops)
			return set->members[i]->managed == ops;
	}
	return false;
}

/**
 * ftrace_mux_update_func - the callback of an ops has changed
 * @ops:	the ops
 *
 * Context: ftrace_lock held and text_mutex not, may sleep.
 */
void ftrace_mux_update_func(struct ftrace_ops *ops)
{
	struct ftrace_set *set;
	unsigned int i;

	list_for_each_entry(set, &ftrace_sets, list) {
		for (i = 0; i < set->nr_members; i++) {
			if (!ftrace_set_member_is(set, i, ops))
				continue;
			/* A subset is called by what its manager is */
			WRITE_ONCE(set->members[i]->func, ops->func);
			if (set->direct)
				arch_ftrace_set_update(set, i);
		}
	}
}

/**
 * ftrace_mux_concerns - may a record have to be given another set?
 * @rec:	the record, whose count of ops has just changed
 *
 * Context: ftrace_lock held.
 * Return: whether it may.
 */
bool ftrace_mux_concerns(struct dyn_ftrace *rec)
{
	return ftrace_rec_set_called(rec) ||
	       (ftrace_mux_on && ftrace_mux_may_have_set(rec));
}

/**
 * ftrace_mux_trampoline - the trampoline of a set
 * @id:		number of the set, from a record
 *
 * Context: ftrace_lock held.
 * Return: its address, or 0 if there is no such set.
 */
unsigned long ftrace_mux_trampoline(unsigned int id)
{
	struct ftrace_set *set = ftrace_mux_set(id);

	return set ? set->ops.trampoline : 0;
}

/**
 * ftrace_mux_find_trampoline - find the set that has a trampoline
 * @addr:	some address
 *
 * Context: any, with preemption disabled.
 * Return: the ops of the set in whose trampoline @addr is, or NULL.
 */
struct ftrace_ops *ftrace_mux_find_trampoline(unsigned long addr)
{
	struct ftrace_set *set;

	/* Most that is asked for is elsewhere */
	if (addr < READ_ONCE(first_trampoline) || addr >= READ_ONCE(last_trampoline))
		return NULL;

	/* Pairs with list_del_rcu() in ftrace_mux_free_retired() */
	list_for_each_entry_lockless(set, &ftrace_sets, list) {
		if (addr - set->ops.trampoline < set->ops.trampoline_size)
			return &set->ops;
	}
	return NULL;
}

/**
 * ftrace_mux_next_set - find the next set
 * @id:		number to begin with, is set to that of what is found
 *
 * Context: ftrace_lock held.
 * Return: the set, or NULL if there is none any more.
 */
struct ftrace_set *ftrace_mux_next_set(unsigned int *id)
{
	return idr_get_next(&ftrace_set_idr, (int *)id);
}

/**
 * ftrace_mux_must_have_set - is there no excuse for not calling a set?
 * @rec:	the record of a function that several ops trace
 *
 * Context: ftrace_lock held.
 * Return: whether nothing speaks against a set.
 */
bool ftrace_mux_must_have_set(struct dyn_ftrace *rec)
{
	return ftrace_mux_on && !ftrace_mux_short && ftrace_mux_may_have_set(rec);
}

/**
 * ftrace_mux_show - show what a function calls
 * @m:		where to show it
 * @rec:	the record of the function, which calls a set
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_show(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_set *set = ftrace_mux_set(ftrace_rec_set_called(rec));
	unsigned int i;

	if (!set) {
		seq_puts(m, "\ttramp: ERROR!");
		return;
	}

	seq_printf(m, "\ttramp: %pS (set %u:", (void *)set->ops.trampoline, set->id);
	/* The members of one that is stale may be gone */
	for (i = 0; i < set->nr_members && !set->stale; i++)
		seq_printf(m, " %ps", set->members[i]->func);
	seq_putc(m, ')');
}

static int ftrace_mux_sets_show(struct seq_file *m, void *v)
{
	struct ftrace_set *set;
	unsigned int i, id;

	mutex_lock(&ftrace_lock);

	seq_printf(m, "# sets: %u of at most %u%s\n", nr_sets, READ_ONCE(max_sets),
		   ftrace_mux_on ? ftrace_mux_short ? ", not enough" : "" : ", off");

	for (id = 1; (set = ftrace_mux_next_set(&id)); id++) {
		seq_printf(m, "%u: %lu functions, %s %pS:", id, set->records,
			   set->direct ? "direct" : "loop",
			   (void *)set->ops.trampoline);
		for (i = 0; i < set->nr_leaves && !set->stale; i++) {
			struct ftrace_ops *leaf = set->leaves[i];

			if (!ftrace_is_leaf_of_subset(leaf)) {
				seq_printf(m, " %ps", leaf->func);
				continue;
			}
			seq_puts(m, " +");
			if (!fgraph_show_user(m, leaf))
				seq_printf(m, "%ps", leaf->func);
		}
		seq_putc(m, '\n');
	}

	mutex_unlock(&ftrace_lock);

	return 0;
}

static int ftrace_mux_sets_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, ftrace_mux_sets_show, NULL);
}

static const struct file_operations ftrace_mux_sets_fops = {
	.open		= ftrace_mux_sets_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * ftrace_mux_is_on - are sets turned on?
 *
 * Context: any.
 * Return: whether they are.
 */
bool ftrace_mux_is_on(void)
{
	return READ_ONCE(ftrace_mux_on);
}

static ssize_t ftrace_mux_enabled_read(struct file *file, char __user *buf,
				       size_t count, loff_t *ppos)
{
	return simple_read_from_buffer(buf, count, ppos,
				       ftrace_mux_is_on() ? "1\n" : "0\n", 2);
}

/**
 * ftrace_mux_switch - turn sets on or off
 * @on:		which of them
 *
 * Context: may sleep.
 * Return: 0, or -ENODEV if ftrace is dead.
 */
int ftrace_mux_switch(bool on)
{
	int ret = 0;

	mutex_lock(&ftrace_lock);
	if (unlikely(ftrace_is_dead())) {
		ret = -ENODEV;
	} else if (on != ftrace_mux_on) {
		WRITE_ONCE(ftrace_mux_on, on);
		if (ftrace_enabled)
			ftrace_run_update_code(FTRACE_UPDATE_CALLS);
	}
	mutex_unlock(&ftrace_lock);

	return ret;
}

/**
 * ftrace_mux_limit - say how many sets there may be
 * @max:	the number; that there are more already makes no difference
 *
 * Context: any.
 * Return: what it was before.
 */
unsigned int ftrace_mux_limit(unsigned int max)
{
	return xchg(&max_sets, min_t(unsigned int, max, FTRACE_MAX_SETS));
}

static ssize_t ftrace_mux_enabled_write(struct file *file, const char __user *buf,
					size_t count, loff_t *ppos)
{
	bool on;
	int ret;

	ret = kstrtobool_from_user(buf, count, &on);
	if (ret)
		return ret;

	ret = ftrace_mux_switch(on);

	return ret ?: count;
}

static const struct file_operations ftrace_mux_enabled_fops = {
	.open		= tracing_open_generic,
	.read		= ftrace_mux_enabled_read,
	.write		= ftrace_mux_enabled_write,
	.llseek		= default_llseek,
};

static int ftrace_mux_audit_show(struct seq_file *m, void *v)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_mux_audit(m);
	mutex_unlock(&ftrace_lock);

	if (ret >= 0)
		seq_printf(m, "%d wrong\n", ret);

	return ret < 0 ? ret : 0;
}

static int ftrace_mux_audit_open(struct inode *inode, struct file *file)
{
	int ret = tracing_check_open_get_tr(NULL);

	return ret ?: single_open(file, ftrace_mux_audit_show, NULL);
}

static const struct file_operations ftrace_mux_audit_fops = {
	.open		= ftrace_mux_audit_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * ftrace_mux_create_files - create the files in tracefs
 * @parent:	the top directory
 *
 * Context: may sleep.
 */
void ftrace_mux_create_files(struct dentry *parent)
{
	struct dentry *dir = tracefs_create_dir("ftrace_mux", parent);

	if (!dir)
		return;

	trace_create_file("enabled", TRACE_MODE_WRITE, dir, NULL,
			  &ftrace_mux_enabled_fops);
	trace_create_file("sets", TRACE_MODE_READ, dir, NULL,
			  &ftrace_mux_sets_fops);
	if (IS_ENABLED(CONFIG_FTRACE_MUX_AUDIT))
		trace_create_file("audit", TRACE_MODE_READ, dir, NULL,
				  &ftrace_mux_audit_fops);
}
