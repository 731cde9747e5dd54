// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out whether each function calls exactly those who trace it
 *
 * That is worked out anew from the filters of all ops there are, and compared
 * with the instruction that is at the function, and with those of the
 * trampolines. What the records and the sets say is compared as well, but
 * nothing is concluded from it.
 */
#include <linux/ftrace_mux.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ftrace_mux."

static bool audit_updates;
module_param_named(audit, audit_updates, bool, 0644);
MODULE_PARM_DESC(audit, "Whether to audit after each change of what is traced");

/* What is said of one audit, at most */
#define AUDIT_MAX_LINES	10

struct ftrace_audit {
	struct seq_file		*m;
	unsigned int		wrong;
	struct ftrace_ops	**leaves;
	unsigned int		nr_leaves;
	unsigned int		nr_ops;
};

__printf(3, 4)
static void audit_wrong(struct ftrace_audit *audit, unsigned long ip,
			const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	if (++audit->wrong > AUDIT_MAX_LINES)
		return;

	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	if (audit->m)
		seq_printf(audit->m, "%pS: %pV\n", (void *)ip, &vaf);
	else
		pr_err("ftrace audit: %pS: %pV\n", (void *)ip, &vaf);
	va_end(args);
}

/* With ftrace_lock held. None if the list has nothing but its end */
#define audit_for_each_ops(op)						\
	for (op = rcu_dereference_protected(ftrace_ops_list, 1);		\
	     op != &ftrace_list_end;					\
	     op = rcu_dereference_protected(op->next, 1))

static bool audit_hash_has(struct ftrace_hash __rcu *hash, unsigned long ip)
{
	return ftrace_lookup_ip(rcu_dereference_protected(hash, 1), ip);
}

static bool audit_hash_empty(struct ftrace_hash __rcu *rcu_hash)
{
	struct ftrace_hash *hash = rcu_dereference_protected(rcu_hash, 1);

	return !hash || !(hash->count || hash->flags & FTRACE_HASH_FL_MOD);
}

/* As Documentation/trace/ftrace.rst has it of set_ftrace_filter and notrace */
static bool audit_traces(struct ftrace_ops *op, unsigned long ip)
{
	struct ftrace_ops_hash *filter = op->func_hash;

	if (audit_hash_has(filter->notrace_hash, ip))
		return false;

	return audit_hash_empty(filter->filter_hash) ||
	       audit_hash_has(filter->filter_hash, ip);
}

/* Who traces the function? */
static void audit_find_leaves(struct ftrace_audit *audit, unsigned long ip)
{
	struct ftrace_ops *op, *subops;

	audit->nr_leaves = 0;
	audit->nr_ops = 0;

	audit_for_each_ops(op) {
		unsigned int nr_subops = 0;
		bool wanted = false;

		if (!(op->flags & FTRACE_OPS_FL_ENABLED))
			continue;

		ftrace_for_each_subop(op, subops) {
			nr_subops++;
			if (audit_traces(subops, ip))
				wanted = true;
		}

		/* A manager may trace too much if there was no memory */
		if (!audit_traces(op, ip)) {
			if (wanted)
				audit_wrong(audit, ip, "not traced for %pS, but for a subop of it",
					    op->func);
			continue;
		}

		audit->leaves[audit->nr_leaves++] = op;
		audit->nr_ops++;

		if (nr_subops < 2 || !(op->flags & FTRACE_OPS_FL_SUBSET))
			continue;

		ftrace_for_each_subop(op, subops) {
			if (audit_traces(subops, ip))
				audit->leaves[audit->nr_leaves++] = subops;
		}
	}
}

static void audit_set(struct ftrace_audit *audit, struct dyn_ftrace *rec,
		      struct ftrace_set *set)
{
	unsigned int i;

	if (set->nr_leaves != audit->nr_leaves) {
		audit_wrong(audit, rec->ip, "set %u has %u leaves, not %u",
			    set->id, set->nr_leaves, audit->nr_leaves);
		return;
	}

	for (i = 0; i < set->nr_leaves; i++) {
		if (set->leaves[i] != audit->leaves[i])
			audit_wrong(audit, rec->ip, "set %u lacks %pS at %u",
				    set->id, audit->leaves[i]->func, i);
	}

	if (set->stale)
		audit_wrong(audit, rec->ip, "set %u is stale", set->id);

	if (!(set->ops.flags & FTRACE_OPS_FL_SAVE_REGS) !=
	    !(rec->flags & FTRACE_FL_REGS))
		audit_wrong(audit, rec->ip, "set %u and its registers", set->id);
}

static void audit_record(struct ftrace_audit *audit, struct dyn_ftrace *rec)
{
	unsigned long target = arch_ftrace_call_target(rec->ip);
	struct ftrace_set *set;
	unsigned long expected;

	if (ftrace_rec_is_skipped(rec))
		return;

	audit_find_leaves(audit, rec->ip);

	if (ftrace_rec_count(rec) != audit->nr_ops)
		audit_wrong(audit, rec->ip, "count is %lu, not %u",
			    ftrace_rec_count(rec), audit->nr_ops);

	if (ftrace_rec_set(rec) != ftrace_rec_set_called(rec))
		audit_wrong(audit, rec->ip, "calls set %u, not %u",
			    ftrace_rec_set_called(rec), ftrace_rec_set(rec));

	set = ftrace_mux_set(ftrace_rec_set_called(rec));
	if (ftrace_rec_set_called(rec) && !set)
		audit_wrong(audit, rec->ip, "there is no set %u",
			    ftrace_rec_set_called(rec));

	if (set) {
		audit_set(audit, rec, set);
		expected = set->ops.trampoline;
	} else if (!audit->nr_ops) {
		expected = 0;
	} else {
		/* Direct functions are somebody else's */
		if (rec->flags & FTRACE_FL_DIRECT)
			return;

		if (audit->nr_leaves > 1 && ftrace_mux_must_have_set(rec))
			audit_wrong(audit, rec->ip, "%u leaves and no set",
				    audit->nr_leaves);

		expected = rec->flags & FTRACE_FL_REGS_EN ? FTRACE_REGS_ADDR :
							    FTRACE_ADDR;
		if (audit->nr_ops == 1 && rec->flags & FTRACE_FL_TRAMP_EN)
			expected = audit->leaves[0]->trampoline;
	}

	if (target != expected)
		audit_wrong(audit, rec->ip, "calls %pS, not %pS", (void *)target,
			    (void *)expected);
}

/**
 * ftrace_mux_audit - check that each function calls who it should
 * @m:	where to say what is wrong; NULL to have it in the log
 *
 * Context: ftrace_lock held, and no call sites to be patched. May sleep.
 * Return: how much is wrong; -ENOMEM; or -ENODEV if ftrace is dead or disabled.
 */
int ftrace_mux_audit(struct seq_file *m)
{
	struct ftrace_audit audit = { .m = m };
	struct ftrace_ops *op, *subops;
	struct ftrace_rec_iter *iter;
	struct ftrace_set *set;
	unsigned int nr = 0, i;

	if (ftrace_is_dead() || !ftrace_enabled)
		return -ENODEV;

	audit_for_each_ops(op) {
		nr++;
		ftrace_for_each_subop(op, subops)
			nr++;
	}

	audit.leaves = kmalloc_array(nr + 1, sizeof(*audit.leaves), GFP_KERNEL);
	if (!audit.leaves)
		return -ENOMEM;

	for_ftrace_rec_iter(iter) {
		audit_record(&audit, ftrace_rec_iter_record(iter));
		cond_resched();
	}

	for (i = 1; (set = ftrace_mux_next_set(&i)); i++) {
		if (set->direct && !set->stale && !arch_ftrace_set_check(set))
			audit_wrong(&audit, set->ops.trampoline,
				    "the trampoline of set %u is wrong", i);
	}

	kfree(audit.leaves);

	return audit.wrong;
}

/**
 * ftrace_mux_audit_update - audit what has just been updated, if that is asked for
 *
 * Warns if there is anything wrong.
 *
 * Context: as for ftrace_mux_audit().
 */
void ftrace_mux_audit_update(void)
{
	if (READ_ONCE(audit_updates))
		WARN_ON_ONCE(ftrace_mux_audit(NULL) > 0);
}
