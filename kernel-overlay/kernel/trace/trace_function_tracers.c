// SPDX-License-Identifier: GPL-2.0-only
/*
 * Choosing a tracer: the file function_tracers
 *
 * set_ftrace_filter and set_ftrace_notrace are for the function and the graph
 * tracer of the directory they are in. Here another tracer can be picked for
 * them: whatever traces functions and has a filter that others may change.
 *
 * As long as nobody picks one, nothing of this is in use: an ops gets a number
 * when it is registered, and filter files are opened as they were before. Else
 * they get file operations of their own, those at the end of this file, when
 * they are opened.
 *
 * A tracer is known by its number, &ftrace_ops.id, which is never given out
 * again. Who has the number of a tracer that is gone finds nothing, even if
 * there is one at the same address now. So nobody need be told when a tracer
 * goes: a trace array whose picked tracer is not found has its own, and a file
 * that was opened for it has none.
 *
 * Locking: only ftrace_lock keeps an ops, and all that belongs to it, where it
 * is. It is held from looking up a number to the last use of the ops found,
 * and taken by all who register an ops or unregister it before they return.
 * There is no reference that could be held longer.
 *
 * Who changes a filter needs the regex_lock that goes with it, too, and that
 * is to be taken before ftrace_lock. But that mutex is in the ops, or in the
 * one that it shares the filter with, so it is not there to be waited for
 * without ftrace_lock. Hence it is only tried for, and if somebody has it,
 * ftrace_lock is released for a while, and everything done again from looking
 * up the number. Who has it may be waiting for ftrace_lock, and gets it then.
 * It is released before ftrace_lock is. This is not fair: as long as others
 * write the same filter all the time, it may be missed.
 *
 * Who only reads a filter needs no regex_lock: the hashes are replaced with
 * ftrace_lock held, and never changed, but for addresses that become 0 when
 * the functions go with a module.
 *
 * trace_types_lock is taken before these two. A trace array that is not the
 * one the file is in may be looked at as long as one of its ops is found.
 */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "trace_function_tracers.h"

/* No name is longer: those of instances are names of directories */
#define MAX_NAME	KSYM_NAME_LEN

/* As many bytes of a function's name, and a module's, as other files take */
#define MAX_PATTERN	(KSYM_SYMBOL_LEN + 4)

enum {
	NO_SUCH_TRACER,
	NO_COMMANDS,
	NR_ERRORS
};

/* What the error log is told */
static const char *errors[NR_ERRORS] = {
	[NO_SUCH_TRACER] = "No such tracer (there are those in brackets)",
	[NO_COMMANDS] = "Commands are for the own tracer of the directory only",
};

/* The last number given to an ops, with ftrace_lock */
static u64 last_id;

/**
 * ftrace_tracer_registered - number an ops that has been registered
 * @ops:	the ops, or subops
 *
 * Context: ftrace_lock held.
 */
void ftrace_tracer_registered(struct ftrace_ops *ops)
{
	ops->id = ++last_id;
	ops->name_nr = 0;
	ops->shared_hash = NULL;
}

/* The reverse of tracer_own_filter() */
static void tracer_share_filter(struct ftrace_ops *ops)
{
	struct ftrace_ops_hash *own = &ops->local_hash;

	ops->func_hash = ops->shared_hash;
	ops->shared_hash = NULL;

	/* Callbacks that are still on their way may look at it */
	synchronize_rcu_tasks_rude();
	free_ftrace_hash_rcu(rcu_dereference_protected(own->filter_hash, 1));
	free_ftrace_hash_rcu(rcu_dereference_protected(own->notrace_hash, 1));
	RCU_INIT_POINTER(own->filter_hash, NULL);
	RCU_INIT_POINTER(own->notrace_hash, NULL);
}

/**
 * ftrace_tracer_unregistered - forget an ops that is not registered any more
 * @ops:	the ops, or subops. If it was given a filter of its own, it
 *		shares that again which it had when it was registered
 *
 * Context: ftrace_lock held, may sleep.
 */
void ftrace_tracer_unregistered(struct ftrace_ops *ops)
{
	ops->id = 0;
	if (ops->shared_hash)
		tracer_share_filter(ops);
}

/* The hash of @ops that set_ftrace_notrace is for, or set_ftrace_filter */
static struct ftrace_hash *tracer_hash(struct ftrace_ops *ops, bool untraced)
{
	lockdep_assert_held(&ftrace_lock);

	return rcu_dereference_protected(untraced ? ops->func_hash->notrace_hash :
						   ops->func_hash->filter_hash, 1);
}

/* Whose set_ftrace_filter is it that the filter of @ops is in? Maybe nobody's */
static struct trace_array *tracer_array(struct ftrace_ops *ops)
{
	struct ftrace_ops *owner;

	owner = container_of(ops->func_hash, struct ftrace_ops, local_hash);

	return owner->flags & FTRACE_OPS_FL_PID ? owner->private : NULL;
}

/*
 * Of those that share a filter with the tracer of a trace array, all that have
 * no name are listed as one. Who shares that of any other ops is no tracer.
 */
static bool tracer_is_listed(struct ftrace_ops *ops, struct trace_array *tr)
{
	if (!ops->id || ftrace_is_manager(ops) ||
	    ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT |
			  FTRACE_OPS_FL_SET | FTRACE_OPS_FL_STUB |
			  FTRACE_OPS_FL_KEEP_FILTER))
		return false;

	if (ops->name)
		return true;

	/* The own tracer of the directory is listed in any case */
	if (ops->func_hash == tr->ops->func_hash)
		return false;

	return ops->func_hash == &ops->local_hash || tracer_array(ops);
}

static struct ftrace_ops *find_tracer(u64 id)
{
	struct ftrace_ops *op, *subops;

	lockdep_assert_held(&ftrace_lock);

	/* Those who went after ftrace died are still in the list */
	if (!id || ftrace_is_dead())
		return NULL;

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op->id == id)
			return op;

		ftrace_for_each_subop(op, subops) {
			if (subops->id == id)
				return subops;
		}
	} while_for_each_ftrace_op(op);

	return NULL;
}

static bool tracer_is_there(u64 id)
{
	bool there;

	mutex_lock(&ftrace_lock);
	there = find_tracer(id);
	mutex_unlock(&ftrace_lock);

	return there;
}

static void list_tracer(struct function_tracers *list, struct ftrace_ops *ops,
			struct trace_array *tr)
{
	struct function_tracer *t;
	unsigned int i;

	if (!tracer_is_listed(ops, tr))
		return;

	for (i = 1; !ops->name && i < list->nr; i++) {
		t = &list->tracers[i];
		if (t->ops->name || t->ops->func_hash != ops->func_hash)
			continue;

		/* The function and the graph tracer of one trace array */
		if (t->id > ops->id) {
			t->ops = ops;
			t->id = ops->id;
		}
		return;
	}

	t = &list->tracers[list->nr++];
	t->ops = ops;
	t->id = ops->id;
}

static int compare_tracers(const void *a, const void *b)
{
	const struct function_tracer *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Names are lists' items, and lines' first words, whatever somebody chose */
static void make_name_plain(char *name)
{
	for (; *name; name++) {
		if ((isascii(*name) && !isgraph(*name)) || strchr("*[]#", *name))
			*name = '_';
	}
}

/* What @ops would be called if there were no other of that name */
static void base_name(struct ftrace_ops *ops, char *name)
{
	struct trace_array *tr = tracer_array(ops);
	unsigned long func, size, offset;
	const char *sym;
	char *module;

	if (ops->name) {
		strscpy(name, ops->name, MAX_NAME);
	} else if (tr) {
		strscpy(name, tr->name ?: "trace", MAX_NAME);
	} else {
		func = fgraph_user_callback(ops);
		if (!func)
			func = (unsigned long)ops->saved_func;

		func = (unsigned long)dereference_symbol_descriptor((void *)func);
		sym = kallsyms_lookup(func, &size, &offset, &module, name);
		if (!sym)
			strscpy(name, "unnamed", MAX_NAME);
		else if (sym != name)
			strscpy(name, sym, MAX_NAME);
	}

	make_name_plain(name);
	if (!*name)
		strscpy(name, "unnamed", MAX_NAME);
}

static char *full_name(const char *name, unsigned int nr)
{
	if (nr == 1)
		return kstrdup(name, GFP_KERNEL);

	return kasprintf(GFP_KERNEL, "%s#%u", name, nr);
}

static bool name_is_taken(struct function_tracers *list, const char *name)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		if (list->tracers[i].name && !strcmp(list->tracers[i].name, name))
			return true;
	}

	return false;
}

/* Whatever an instance, or a callback, is called, these are who they are */
static bool name_is_reserved(struct ftrace_ops *ops, const char *name)
{
	return !ops->name &&
	       (!strcmp(name, "trace_profile") || !strcmp(name, "stack_trace"));
}

/*
 * A name that was shown once stays with the tracer, so those that have one go
 * first. @buf and @last have room for MAX_NAME.
 */
static int name_tracers(struct function_tracers *list, char *buf, char *last)
{
	struct function_tracer *t;
	unsigned int i, nr = 0;

	for (i = 1; i < list->nr; i++) {
		t = &list->tracers[i];
		if (!t->ops->name_nr)
			continue;

		base_name(t->ops, buf);
		t->name = full_name(buf, t->ops->name_nr);
		if (!t->name)
			return -ENOMEM;
	}

	for (i = 1; i < list->nr; i++) {
		t = &list->tracers[i];
		if (t->name)
			continue;

		base_name(t->ops, buf);
		/* There may be many of a name, one after the other */
		if (t->ops->name || strcmp(buf, last)) {
			strscpy(last, buf, MAX_NAME);
			nr = name_is_reserved(t->ops, buf);
		}

		while (!t->name) {
			char *name = full_name(buf, ++nr);

			if (!name)
				return -ENOMEM;

			if (name_is_taken(list, name)) {
				kfree(name);
				continue;
			}
			t->ops->name_nr = nr;
			t->name = name;
		}
	}

	return 0;
}

/**
 * function_tracers_put - free a list of tracers
 * @list:	the list, or NULL
 *
 * Context: any that may free memory.
 */
void function_tracers_put(struct function_tracers *list)
{
	unsigned int i;

	for (i = 0; list && i < list->nr; i++)
		kfree(list->tracers[i].name);
	kfree(list);
}

static struct function_tracers *list_tracers(struct trace_array *tr)
{
	struct ftrace_ops *op, *subops;
	struct function_tracers *list;
	unsigned int nr = 1;
	int ret = -ENOMEM;
	char *buf;

	lockdep_assert_held(&ftrace_lock);

	if (ftrace_is_dead())
		return ERR_PTR(-ENODEV);

	/* That of an instance may not have been in use yet */
	ftrace_ops_init(tr->ops);

	do_for_each_ftrace_op(op, ftrace_ops_list) {
		nr++;
		ftrace_for_each_subop(op, subops)
			nr++;
	} while_for_each_ftrace_op(op);

	buf = kzalloc(2 * MAX_NAME, GFP_KERNEL);
	list = kzalloc(struct_size(list, tracers, nr), GFP_KERNEL);
	if (!buf || !list)
		goto fail;

	strscpy(buf, tr->name ?: "trace", MAX_NAME);
	make_name_plain(buf);
	list->nr = 1;
	list->tracers[0].ops = tr->ops;
	list->tracers[0].name = kstrdup(buf, GFP_KERNEL);
	if (!list->tracers[0].name)
		goto fail;

	/* An instance has none but its own */
	if (tr->flags & TRACE_ARRAY_FL_GLOBAL) {
		do_for_each_ftrace_op(op, ftrace_ops_list) {
			list_tracer(list, op, tr);
			ftrace_for_each_subop(op, subops)
				list_tracer(list, subops, tr);
		} while_for_each_ftrace_op(op);
	}

	sort(list->tracers + 1, list->nr - 1, sizeof(*list->tracers),
	     compare_tracers, NULL);

	ret = name_tracers(list, buf, buf + MAX_NAME);
	if (ret)
		goto fail;

	kfree(buf);
	return list;
fail:
	kfree(buf);
	function_tracers_put(list);
	return ERR_PTR(ret);
}

/**
 * function_tracers_get - list the tracers that can be picked
 * @tr:		the trace array to pick one for
 * @picked:	set to the id of the one that is picked now
 *
 * Context: may sleep, takes ftrace_lock.
 * Return: the list, to be freed by function_tracers_put(); -ENODEV if ftrace
 * is dead, or -ENOMEM.
 */
struct function_tracers *function_tracers_get(struct trace_array *tr, u64 *picked)
{
	struct function_tracers *list;

	mutex_lock(&ftrace_lock);
	list = list_tracers(tr);
	*picked = find_tracer(tr->picked_tracer) ? tr->picked_tracer : 0;
	mutex_unlock(&ftrace_lock);

	return list;
}

/* Tell the user of @tr what could have been picked instead of @name */
static void log_unknown_tracer(struct trace_array *tr, const char *name,
			       struct function_tracers *list)
{
	size_t size = strlen(name) + sizeof(" ()");
	unsigned int i;
	char *text;
	size_t len;

	for (i = 0; i < list->nr; i++)
		size += strlen(list->tracers[i].name) + 1;

	text = kmalloc(size, GFP_KERNEL);
	if (!text)
		return;

	len = scnprintf(text, size, "%s (", name);
	for (i = 0; i < list->nr; i++)
		len += scnprintf(text + len, size - len, "%s%s", i ? " " : "",
				 list->tracers[i].name);
	scnprintf(text + len, size - len, ")");

	tracing_log_err(tr, "function_tracers", text, errors, NO_SUCH_TRACER, 0);
	kfree(text);
}

/**
 * function_tracer_pick - have the filter files be for another tracer
 * @tr:		the trace array whose files they are
 * @name:	the tracer, as it is listed
 *
 * Files that are open stay with the tracer they were opened for.
 *
 * Context: may sleep, takes ftrace_lock.
 * Return: 0; -EINVAL if there is no such tracer, which the error log of @tr
 * tells more of; -ENODEV if ftrace is dead, or -ENOMEM.
 */
int function_tracer_pick(struct trace_array *tr, const char *name)
{
	struct function_tracers *list;
	int ret = -EINVAL;
	unsigned int i;

	mutex_lock(&ftrace_lock);

	list = list_tracers(tr);
	if (IS_ERR(list)) {
		mutex_unlock(&ftrace_lock);
		return PTR_ERR(list);
	}

	for (i = 0; i < list->nr; i++) {
		if (strcmp(list->tracers[i].name, name))
			continue;
		tr->picked_tracer = list->tracers[i].id;
		ret = 0;
		break;
	}

	mutex_unlock(&ftrace_lock);

	if (ret)
		log_unknown_tracer(tr, name, list);
	function_tracers_put(list);

	return ret;
}

static int function_tracers_show(struct seq_file *m, void *v)
{
	struct function_tracers *list;
	unsigned int i;
	u64 picked;

	list = function_tracers_get(m->private, &picked);
	if (IS_ERR(list))
		return PTR_ERR(list);

	for (i = 0; i < list->nr; i++)
		seq_printf(m, "%s%s\n", list->tracers[i].id == picked ? "*" : "",
			   list->tracers[i].name);
	function_tracers_put(list);

	return 0;
}

/* The files of the top level are made before its trace array is complete */
static struct trace_array *file_array(struct inode *inode)
{
	return inode->i_private ?: global_ops.private;
}

static int function_tracers_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = file_array(inode);
	int ret;

	if (ftrace_is_dead())
		return -ENODEV;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;

	ret = single_open(file, function_tracers_show, tr);
	if (ret)
		trace_array_put(tr);

	return ret;
}

static ssize_t function_tracers_write(struct file *file, const char __user *ubuf,
				      size_t cnt, loff_t *ppos)
{
	size_t len = cnt;
	char *buf;
	int ret;

	if (!cnt)
		return 0;
	if (cnt >= PAGE_SIZE)
		return -EINVAL;

	buf = memdup_user_nul(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	/* Other than strim(), which takes a part of some letters for a space */
	while (len && isascii(buf[len - 1]) && isspace(buf[len - 1]))
		buf[--len] = '\0';

	ret = function_tracer_pick(file_array(file_inode(file)), buf);
	kfree(buf);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static int function_tracers_release(struct inode *inode, struct file *file)
{
	trace_array_put(file_array(inode));

	return single_release(inode, file);
}

static const struct file_operations function_tracers_fops = {
	.open		= function_tracers_open,
	.read		= seq_read,
	.write		= function_tracers_write,
	.llseek		= seq_lseek,
	.release	= function_tracers_release,
};

/**
 * ftrace_create_tracers_file - create the file function_tracers
 * @tr:		the trace array it is for, NULL for that of the top level
 * @parent:	the directory it is to be in
 *
 * Context: may sleep.
 */
void ftrace_create_tracers_file(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, tr,
			  &function_tracers_fops);
}

#define FILTER_HASH_BITS	10

/*
 * Add what is in @from to @to, without what is there already, and without what
 * is in @but and not in @unless.
 */
static int add_functions(struct ftrace_hash *to, struct ftrace_hash *from,
			 struct ftrace_hash *but, struct ftrace_hash *unless)
{
	struct ftrace_func_entry *entry;
	unsigned long i;

	if (ftrace_hash_empty(from))
		return 0;

	for (i = 0; i < 1UL << from->size_bits; i++) {
		hlist_for_each_entry(entry, &from->buckets[i], hlist) {
			unsigned long ip = READ_ONCE(entry->ip);

			/*
			 * What was in a module that is gone becomes 0, and
			 * stays, as an empty filter is one of all functions.
			 */
			if (ip && !ftrace_location_range(ip, ip))
				ip = 0;

			if (ftrace_lookup_ip(to, ip) ||
			    (ftrace_lookup_ip(but, ip) &&
			     !ftrace_lookup_ip(unless, ip)))
				continue;

			if (add_hash_entry(to, ip) < 0)
				return -ENOMEM;
		}
	}

	return 0;
}

static struct ftrace_hash *copy_hash(struct ftrace_hash *from)
{
	struct ftrace_hash *hash = alloc_ftrace_hash(FILTER_HASH_BITS);

	if (!hash)
		return NULL;

	if (add_functions(hash, from, NULL, NULL)) {
		free_ftrace_hash(hash);
		return NULL;
	}

	if (from)
		hash->flags = from->flags;

	return hash;
}

/* What is a filter must not take more than it needs, nor be empty and there */
static struct ftrace_hash *copy_filter(struct ftrace_hash *from)
{
	struct ftrace_hash *hash;

	if (ftrace_hash_empty(from))
		return EMPTY_HASH;

	hash = alloc_ftrace_hash(ftrace_hash_bits(from->count));
	if (!hash)
		return NULL;

	if (add_functions(hash, from, NULL, NULL)) {
		free_ftrace_hash(hash);
		return NULL;
	}

	hash->flags = from->flags;
	return hash;
}

/*
 * A tracer with a name of its own may share the filter of another one, as the
 * profiler does. When it is to be changed, it ceases to.
 */
static bool tracer_shares_filter(struct ftrace_ops *ops)
{
	return ops->name && ops->func_hash != &ops->local_hash;
}

/* What waits for a module does so for the other one, and can't be copied */
static bool tracer_filter_waits(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter = tracer_hash(ops, false);
	struct ftrace_hash *untraced = tracer_hash(ops, true);

	return tracer_shares_filter(ops) &&
	       ((filter && filter->flags & FTRACE_HASH_FL_MOD) ||
		(untraced && untraced->flags & FTRACE_HASH_FL_MOD));
}

/*
 * Give @ops a copy of the filter that it shares. Nothing changes but where that
 * is found. The regex_lock of the one that is shared is held, so nobody is
 * about to change it by way of @ops.
 */
static int tracer_own_filter(struct ftrace_ops *ops)
{
	struct ftrace_hash *filter, *untraced;

	if (tracer_filter_waits(ops))
		return -EBUSY;

	filter = copy_filter(tracer_hash(ops, false));
	untraced = copy_filter(tracer_hash(ops, true));
	if (!filter || !untraced) {
		free_ftrace_hash(filter);
		free_ftrace_hash(untraced);
		return -ENOMEM;
	}

	rcu_assign_pointer(ops->local_hash.filter_hash, filter);
	rcu_assign_pointer(ops->local_hash.notrace_hash, untraced);
	ops->shared_hash = ops->func_hash;
	/* Who finds the filter there finds both hashes in it */
	smp_store_release(&ops->func_hash, &ops->local_hash);

	/* A callback must not see what becomes of the one that was shared */
	synchronize_rcu_tasks_rude();
	return 0;
}

static bool same_functions(struct ftrace_hash *a, struct ftrace_hash *b)
{
	struct ftrace_func_entry *entry;
	unsigned long i;

	if (a->count != b->count)
		return false;

	for (i = 0; i < 1UL << a->size_bits; i++) {
		hlist_for_each_entry(entry, &a->buckets[i], hlist) {
			if (!ftrace_lookup_ip(b, entry->ip))
				return false;
		}
	}

	return true;
}

/*
 * Others may have changed the filter since the file was opened. What was added
 * and removed by way of this file is added to and removed from what it is now.
 */
static struct ftrace_hash *merge_filter(struct picked_filter *filter,
					struct ftrace_hash *now)
{
	struct ftrace_hash *hash;

	if (!filter->before)
		return copy_hash(filter->hash);

	hash = alloc_ftrace_hash(FILTER_HASH_BITS);
	if (!hash)
		return NULL;

	if (add_functions(hash, now, filter->before, filter->hash) ||
	    add_functions(hash, filter->hash, filter->before, NULL)) {
		free_ftrace_hash(hash);
		return NULL;
	}

	return hash;
}

static int change_filter(struct picked_filter *filter, struct ftrace_ops *ops)
{
	struct trace_array *tr = tracer_array(ops);
	struct ftrace_hash **orig_hash;
	struct list_head *mods = NULL;
	struct ftrace_hash *hash;
	int ret;

	if (tr)
		mods = filter->untraced ? &tr->mod_notrace : &tr->mod_trace;

	hash = merge_filter(filter, tracer_hash(ops, filter->untraced));
	if (!hash)
		return -ENOMEM;

	/* As it is done for the files of the instance that this filter is of */
	hash->flags = 0;
	if (mods && !filter->untraced && filter->before && !list_empty(mods))
		hash->flags |= FTRACE_HASH_FL_MOD;

	orig_hash = (struct ftrace_hash __force **)
		    (filter->untraced ? &ops->func_hash->notrace_hash :
					&ops->func_hash->filter_hash);
	ret = ftrace_hash_move_and_update_ops(ops, orig_hash, hash,
					      !filter->untraced);
	if (!ret && mods && !filter->before)
		ftrace_forget_mods(mods);
	free_ftrace_hash(hash);

	return ret;
}

/* With the regex_lock of the filter that @ops has, or shares. -EAGAIN: try again */
static int change_own_filter(struct picked_filter *filter, struct ftrace_ops *ops)
{
	int ret;

	if (!tracer_shares_filter(ops))
		return change_filter(filter, ops);

	ret = tracer_own_filter(ops);
	if (ret)
		return ret;

	ret = -EAGAIN;
	if (mutex_trylock(&ops->func_hash->regex_lock)) {
		ret = change_filter(filter, ops);
		mutex_unlock(&ops->func_hash->regex_lock);
	}
	if (ret)
		tracer_share_filter(ops);

	return ret;
}

/**
 * picked_filter_apply - give a tracer the filter that was written for it
 * @filter:	the file
 *
 * Context: may sleep, takes ftrace_lock. Nobody else uses @filter.
 * Return: 0; -ENODEV if the tracer is gone, or ftrace is dead; -EBUSY if it
 * shares a filter that waits for a module; -ENOMEM. If it fails, nothing has
 * changed.
 */
int picked_filter_apply(struct picked_filter *filter)
{
	struct ftrace_ops_hash *hash;
	struct ftrace_ops *ops;
	int ret;

	if (filter->before && same_functions(filter->before, filter->hash))
		return 0;

	for (;;) {
		mutex_lock(&ftrace_lock);

		ops = find_tracer(filter->id);
		if (!ops) {
			ret = -ENODEV;
			break;
		}

		ret = -EAGAIN;
		/* Not that of the filter which @ops may get of its own */
		hash = ops->func_hash;
		if (mutex_trylock(&hash->regex_lock)) {
			ret = change_own_filter(filter, ops);
			mutex_unlock(&hash->regex_lock);
		}
		if (ret != -EAGAIN)
			break;

		/* See the top of this file. Let the other one get ahead */
		mutex_unlock(&ftrace_lock);
		schedule_timeout_uninterruptible(1);
	}

	mutex_unlock(&ftrace_lock);
	return ret;
}

static void log_filter_error(struct trace_array *tr, bool untraced,
			     const char *func, const char *command)
{
	char *text = kasprintf(GFP_KERNEL, "%s:%s", func, command);

	if (!text)
		return;

	tracing_log_err(tr, untraced ? "set_ftrace_notrace" : "set_ftrace_filter",
			text, errors, NO_COMMANDS, strlen(func) + 1);
	kfree(text);
}

/**
 * picked_filter_edit - change what is to be in the filter of a tracer
 * @filter:	the file
 * @buf:	a word that was written to it; is changed
 *
 * That word may name functions, and modules that they are in. What is said of
 * modules yet to come is kept for the own tracer of the directory only, and so
 * are commands: both are refused.
 *
 * Context: may sleep, takes ftrace_lock. @filter->lock held.
 * Return: 0; -EINVAL if it names no functions; -ENODEV if the tracer is gone,
 * or ftrace is dead; -ENOMEM.
 */
int picked_filter_edit(struct picked_filter *filter, char *buf)
{
	char *func, *command, *next = buf;
	int ret;

	if (!tracer_is_there(filter->id))
		return -ENODEV;

	func = strsep(&next, ":");
	command = strsep(&next, ":");
	if (command && (strcmp(command, "mod") || !next)) {
		log_filter_error(filter->tr, filter->untraced, func, command);
		return -EINVAL;
	}

	ret = ftrace_hash_match(filter->hash, func, next);
	if (ret < 0)
		return ret;

	return ret ? 0 : -EINVAL;
}

/**
 * picked_filter_free - close a filter file
 * @filter:	the file
 *
 * Context: any that may free memory and sleep.
 */
void picked_filter_free(struct picked_filter *filter)
{
	unsigned long i;

	for (i = 0; i < filter->nr_lines; i++)
		kfree(filter->lines[i].text);
	kvfree(filter->lines);
	function_tracers_put(filter->tracers);
	free_ftrace_hash(filter->before);
	free_ftrace_hash(filter->hash);
	trace_parser_put(&filter->parser);
	kfree(filter);
}

static int compare_lines(const void *a, const void *b)
{
	const struct filter_line *x = a, *y = b;

	return x->ip < y->ip ? -1 : x->ip > y->ip;
}

static struct list_head *tracer_mods(struct picked_filter *filter,
				     struct ftrace_ops *ops)
{
	struct trace_array *tr = tracer_array(ops);

	if (!tr)
		return NULL;

	return filter->untraced ? &tr->mod_notrace : &tr->mod_trace;
}

static size_t count_lines(struct picked_filter *filter, struct ftrace_ops *ops)
{
	struct ftrace_hash *hash = tracer_hash(ops, filter->untraced);
	struct list_head *pos, *mods = tracer_mods(filter, ops);
	size_t nr = 1;

	if (hash)
		nr += hash->count;

	if (mods) {
		list_for_each(pos, mods)
			nr++;
	}

	return nr;
}

static int add_lines(struct picked_filter *filter, struct function_tracer *t)
{
	struct ftrace_hash *hash = tracer_hash(t->ops, filter->untraced);
	struct list_head *mods = tracer_mods(filter, t->ops);
	unsigned long i, first = filter->nr_lines;
	struct ftrace_func_entry *entry;
	struct ftrace_mod_load *mod;

	if (ftrace_hash_empty(hash)) {
		filter->lines[filter->nr_lines++].name = t->name;
	} else {
		for (i = 0; i < 1UL << hash->size_bits; i++) {
			hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
				unsigned long ip = READ_ONCE(entry->ip);

				if (!ip)
					continue;
				filter->lines[filter->nr_lines].name = t->name;
				filter->lines[filter->nr_lines++].ip = ip;
			}
		}
		sort(filter->lines + first, filter->nr_lines - first,
		     sizeof(*filter->lines), compare_lines, NULL);
	}

	if (!mods)
		return 0;

	list_for_each_entry(mod, mods, list) {
		char *text = kasprintf(GFP_KERNEL, "%s:mod:%s",
				       mod->func ?: "*", mod->module);

		if (!text)
			return -ENOMEM;
		filter->lines[filter->nr_lines].name = t->name;
		filter->lines[filter->nr_lines++].text = text;
	}

	return 0;
}

static int make_lines(struct picked_filter *filter, struct trace_array *tr)
{
	struct function_tracers *list;
	unsigned int i;
	size_t nr = 0;
	int ret;

	list = list_tracers(tr);
	if (IS_ERR(list))
		return PTR_ERR(list);
	filter->tracers = list;

	for (i = 0; i < list->nr; i++)
		nr += count_lines(filter, list->tracers[i].ops);

	filter->lines = kvcalloc(nr, sizeof(*filter->lines), GFP_KERNEL);
	if (!filter->lines)
		return -ENOMEM;

	for (i = 0; i < list->nr; i++) {
		ret = add_lines(filter, &list->tracers[i]);
		if (ret)
			return ret;
	}

	return 0;
}

/**
 * picked_filter_open - open a filter file for the tracer that is picked
 * @tr:		the trace array whose file it is
 * @untraced:	is it set_ftrace_notrace?
 * @mode:	FMODE_READ and FMODE_WRITE, what it is opened for
 * @truncate:	begin with an empty filter
 *
 * What is read is what the filters are now.
 *
 * Context: may sleep, takes ftrace_lock. The caller has a reference of @tr for
 * as long as the file is open.
 * Return: the file, to be freed by picked_filter_free(); NULL if it is the own
 * tracer that is picked; -EBUSY to write a filter that is shared, and waits for
 * a module; -ENOMEM.
 */
struct picked_filter *picked_filter_open(struct trace_array *tr, bool untraced,
					 fmode_t mode, bool truncate)
{
	struct picked_filter *filter = NULL;
	struct ftrace_ops *ops;
	int ret = -ENOMEM;

	mutex_lock(&ftrace_lock);

	ops = find_tracer(tr->picked_tracer);
	if (!ops)
		goto out;

	filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	if (!filter) {
		filter = ERR_PTR(ret);
		goto out;
	}

	filter->tr = tr;
	filter->id = ops->id;
	filter->untraced = untraced;
	mutex_init(&filter->lock);

	if (mode & FMODE_WRITE) {
		ret = -EBUSY;
		if (tracer_filter_waits(ops))
			goto fail;

		ret = -ENOMEM;
		if (trace_parser_get_init(&filter->parser, MAX_PATTERN))
			goto fail;

		if (truncate) {
			filter->hash = alloc_ftrace_hash(FILTER_HASH_BITS);
		} else {
			filter->before = copy_hash(tracer_hash(ops, untraced));
			filter->hash = copy_hash(tracer_hash(ops, untraced));
		}
		if (!filter->hash || (!truncate && !filter->before))
			goto fail;
	}

	if (mode & FMODE_READ) {
		ret = make_lines(filter, tr);
		if (ret)
			goto fail;
	}
out:
	mutex_unlock(&ftrace_lock);
	return filter;
fail:
	mutex_unlock(&ftrace_lock);
	picked_filter_free(filter);
	return ERR_PTR(ret);
}

static void *lines_start(struct seq_file *m, loff_t *pos)
{
	struct picked_filter *filter = m->private;

	return *pos < filter->nr_lines ? &filter->lines[*pos] : NULL;
}

static void *lines_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;

	return lines_start(m, pos);
}

static void lines_stop(struct seq_file *m, void *v)
{
}

static int lines_show(struct seq_file *m, void *v)
{
	struct picked_filter *filter = m->private;
	struct filter_line *line = v;

	/* It went with a module since the file was opened */
	if (line->ip && !ftrace_location(line->ip))
		return SEQ_SKIP;

	seq_printf(m, "[%s] ", line->name);
	if (line->ip)
		ftrace_show_function(m, line->ip);
	else if (line->text)
		seq_puts(m, line->text);
	else if (filter->untraced)
		seq_puts(m, "#### no functions disabled ####");
	else
		seq_puts(m, "#### all functions enabled ####");
	seq_putc(m, '\n');

	return 0;
}

static const struct seq_operations lines_seq_ops = {
	.start	= lines_start,
	.next	= lines_next,
	.stop	= lines_stop,
	.show	= lines_show,
};

static struct picked_filter *file_filter(struct file *file)
{
	struct seq_file *m = file->private_data;

	return file->f_mode & FMODE_READ ? m->private : file->private_data;
}

static ssize_t picked_filter_write(struct file *file, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	struct picked_filter *filter = file_filter(file);
	struct trace_parser *parser = &filter->parser;
	ssize_t read;
	int ret;

	if (!cnt)
		return 0;

	/* The word may go on with the next write, and is looked at then */
	if (!tracer_is_there(filter->id))
		return -ENODEV;

	mutex_lock(&filter->lock);

	read = trace_get_user(parser, ubuf, cnt, ppos);
	if (read >= 0 && trace_parser_loaded(parser) &&
	    !trace_parser_cont(parser)) {
		ret = picked_filter_edit(filter, parser->buffer);
		trace_parser_clear(parser);
		if (ret)
			read = ret;
	}

	mutex_unlock(&filter->lock);

	return read;
}

static int picked_filter_release(struct inode *inode, struct file *file)
{
	struct picked_filter *filter = file_filter(file);

	if (file->f_mode & FMODE_READ)
		seq_release(inode, file);

	if (file->f_mode & FMODE_WRITE) {
		mutex_lock(&filter->lock);
		if (trace_parser_loaded(&filter->parser))
			picked_filter_edit(filter, filter->parser.buffer);
		mutex_unlock(&filter->lock);

		/* There is nobody to tell if it fails */
		picked_filter_apply(filter);
	}

	trace_array_put(filter->tr);
	picked_filter_free(filter);

	return 0;
}

static const struct file_operations picked_filter_fops = {
	.read		= seq_read,
	.write		= picked_filter_write,
	.llseek		= tracing_lseek,
	.release	= picked_filter_release,
};

/**
 * ftrace_open_picked_filter - open a filter file, if another tracer is picked
 * @tr:		the trace array whose file it is, NULL for that of the top level
 * @untraced:	is it set_ftrace_notrace?
 * @file:	the file
 *
 * If so, @file gets other file operations, and from here on it has nothing to
 * do with those it had.
 *
 * Context: the open of @file. May sleep, takes trace_types_lock and ftrace_lock.
 * Return: 0 if it is open; 1 if that is left to the caller, as it is the own
 * tracer that is picked, or the file can't be opened for reasons that hold for
 * that as well; -EBUSY or -ENOMEM, see picked_filter_open().
 */
int ftrace_open_picked_filter(struct trace_array *tr, bool untraced,
			      struct file *file)
{
	struct picked_filter *filter;
	int ret = 1;

	if (!tr)
		tr = global_ops.private;

	if (tracing_check_open_get_tr(tr))
		return ret;

	filter = picked_filter_open(tr, untraced, file->f_mode,
				    file->f_flags & O_TRUNC);
	if (IS_ERR_OR_NULL(filter)) {
		if (filter)
			ret = PTR_ERR(filter);
		goto out_put;
	}

	if (file->f_mode & FMODE_READ) {
		ret = seq_open(file, &lines_seq_ops);
		if (ret) {
			picked_filter_free(filter);
			goto out_put;
		}
		((struct seq_file *)file->private_data)->private = filter;
	} else {
		file->private_data = filter;
	}

	replace_fops(file, &picked_filter_fops);
	return 0;

out_put:
	trace_array_put(tr);
	return ret;
}
