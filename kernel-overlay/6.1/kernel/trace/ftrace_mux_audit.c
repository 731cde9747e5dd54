// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verify that each function calls exactly the ops that trace it
 *
 * The expected ops of a function follow from the filters of all registered ops.
 * They are compared with the instruction at the call site, and with the
 * instructions of the jump and of the trampoline that it leads to. Without
 * trampolines, they are compared with what the list function finds. Records,
 * slots and sets are checked, too, but nothing is derived from them. A function
 * with several ops may lack a trampoline only if an allocation failed, if it
 * has more than FTRACE_MUX_MAX_CALLEES ops, if functions were removed since the
 * last update, or if max_sets other sets have a trampoline and each of these
 * serves at least as many functions.
 */
#include <linux/debugfs.h>
#include <linux/moduleparam.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "ftrace_mux."

static bool audit_updates;
module_param_named(audit, audit_updates, bool, 0644);
MODULE_PARM_DESC(audit, "Verify all functions after each change of what is traced");

/* Maximum number of problems that an audit prints */
#define AUDIT_MAX_LINES	10

/**
 * struct audit_slot - a slot, as seen from the records
 * @slot:	the slot, NULL if no slot has this ID
 * @ip:		call site of a function that belongs to it
 * @records:	number of records that belong to it
 * @callers:	number of functions that call its jump
 */
struct audit_slot {
	struct ftrace_slot	*slot;
	unsigned long		ip;
	unsigned long		records;
	unsigned long		callers;
};

/**
 * struct ftrace_audit - an audit in progress
 * @m:		output for problems, NULL for the kernel log
 * @wrong:	number of problems
 * @ops:	ops that trace the current function, newest first. Each manager
 *		that supports subsets is followed by its subops among them
 * @nr:		number of @ops
 * @nr_registered: number of @ops that are not subops
 * @flags:	flags of @ops that are not subops, combined
 * @slots:	slots by ID
 * @nr_slots:	size of @slots, including ID zero
 * @nr_eligible_sets:	number of sets that qualify for a trampoline
 * @nr_tramp_sets:	number of these sets that have one
 * @most:	functions of the largest of these sets without a trampoline
 * @fewest:	functions of the smallest of these sets with a trampoline
 */
struct ftrace_audit {
	struct seq_file		*m;
	unsigned int		wrong;
	struct ftrace_ops	**ops;
	unsigned int		nr;
	unsigned int		nr_registered;
	unsigned long		flags;
	struct audit_slot	*slots;
	unsigned int		nr_slots;
	unsigned int		nr_eligible_sets;
	unsigned int		nr_tramp_sets;
	unsigned long		most;
	unsigned long		fewest;
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

/* With ftrace_lock held. No iteration if the list contains only its end */
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

/* As documented for set_ftrace_filter and set_ftrace_notrace in ftrace.rst */
static bool audit_traces(struct ftrace_ops *op, unsigned long ip)
{
	struct ftrace_ops_hash *filter = op->func_hash;

	if (audit_hash_has(filter->notrace_hash, ip))
		return false;

	return audit_hash_empty(filter->filter_hash) ||
	       audit_hash_has(filter->filter_hash, ip);
}

/* Find the ops that trace the function at @ip */
static void audit_find_ops(struct ftrace_audit *audit, unsigned long ip)
{
	struct ftrace_ops *op, *subops;

	audit->nr = 0;
	audit->nr_registered = 0;
	audit->flags = 0;

	audit_for_each_ops(op) {
		bool wanted = false;

		if (!(op->flags & FTRACE_OPS_FL_ENABLED))
			continue;

		ftrace_for_each_subop(op, subops) {
			if (audit_traces(subops, ip))
				wanted = true;
		}

		/* A manager may trace a superset after an allocation failure */
		if (!audit_traces(op, ip)) {
			if (wanted)
				audit_wrong(audit, ip, "not traced by %pS, but by a subop of it",
					    op->func);
			continue;
		}

		if (op->flags & audit->flags & FTRACE_OPS_FL_IPMODIFY)
			audit_wrong(audit, ip, "traced by two ops with IPMODIFY");

		audit->ops[audit->nr++] = op;
		audit->nr_registered++;
		audit->flags |= op->flags;

		if (!(op->flags & FTRACE_OPS_FL_USES_SUBSETS))
			continue;

		ftrace_for_each_subop(op, subops) {
			if (audit_traces(subops, ip))
				audit->ops[audit->nr++] = subops;
		}
	}
}

/* Collect the slots of all sets */
static int audit_list_slots(struct ftrace_audit *audit)
{
	struct ftrace_slot *slot;
	struct ftrace_set *set;

	audit->nr_slots = 1;
	list_for_each_entry(set, ftrace_mux_sets(), list) {
		list_for_each_entry(slot, &set->slots, list)
			audit->nr_slots = max(audit->nr_slots, slot->id + 1);
	}

	audit->slots = kvcalloc(audit->nr_slots, sizeof(*audit->slots), GFP_KERNEL);
	if (!audit->slots)
		return -ENOMEM;

	list_for_each_entry(set, ftrace_mux_sets(), list) {
		list_for_each_entry(slot, &set->slots, list) {
			if (!slot->id || audit->slots[slot->id].slot ||
			    ftrace_mux_slot(slot->id) != slot)
				audit_wrong(audit, 0, "ID of slot %u is invalid or not unique",
					    slot->id);
			if (slot->set != set)
				audit_wrong(audit, 0, "slot %u belongs to another set",
					    slot->id);
			audit->slots[slot->id].slot = slot;
		}
	}

	return 0;
}

/* Find slot @id, which @rec refers to. NULL if @id is zero or invalid */
static struct audit_slot *audit_find_slot(struct ftrace_audit *audit,
					  struct dyn_ftrace *rec, unsigned int id)
{
	if (!id)
		return NULL;

	if (id >= audit->nr_slots || !audit->slots[id].slot) {
		audit_wrong(audit, rec->ip, "there is no slot %u", id);
		return NULL;
	}

	return &audit->slots[id];
}

/* Does the slot of @rec have exactly the ops that trace the function? */
static void audit_belongs(struct ftrace_audit *audit, struct dyn_ftrace *rec,
			  struct ftrace_slot *slot)
{
	struct ftrace_set *set;

	if (!audit->nr || !ftrace_mux_max_sets()) {
		if (slot)
			audit_wrong(audit, rec->ip, "belongs to slot %u, but should have none",
				    slot->id);
		return;
	}

	if (!slot) {
		if (!ftrace_mux_alloc_failed())
			audit_wrong(audit, rec->ip, "traced by %u ops, but has no slot", audit->nr);
		return;
	}

	set = slot->set;
	if (set->nr != audit->nr ||
	    memcmp(set->ops, audit->ops, set->nr * sizeof(*set->ops)))
		audit_wrong(audit, rec->ip,
			    "slot %u has %u ops, not the %u that trace it",
			    slot->id, set->nr, audit->nr);
	if (set->stale)
		audit_wrong(audit, rec->ip, "slot %u has unregistered ops", slot->id);
}

/* Do the count and the flags of @rec match the ops that trace the function? */
static void audit_flags(struct ftrace_audit *audit, struct dyn_ftrace *rec)
{
	if (ftrace_rec_count(rec) != audit->nr_registered)
		audit_wrong(audit, rec->ip, "count is %lu, not %u",
			    ftrace_rec_count(rec), audit->nr_registered);

	if (!(rec->flags & FTRACE_FL_DIRECT) !=
	    !(audit->flags & FTRACE_OPS_FL_DIRECT))
		audit_wrong(audit, rec->ip, "%s direct caller according to its flags",
			    rec->flags & FTRACE_FL_DIRECT ? "has a" : "has no");

	/* Functions that were disabled while traced keep their flags */
	if (rec->flags & FTRACE_FL_DISABLED)
		return;

	if (!(rec->flags & FTRACE_FL_IPMODIFY) !=
	    !(audit->flags & FTRACE_OPS_FL_IPMODIFY))
		audit_wrong(audit, rec->ip, "%s have its ip changed according to its flags",
			    rec->flags & FTRACE_FL_IPMODIFY ? "may" : "may not");
}

/* Do sets of @nr ops qualify for a trampoline? A single ops may have its own */
static bool audit_needs_tramp(unsigned int nr)
{
	return IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES) ? nr > 1 : nr;
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES

/* Entry code of the list function that saves the registers @flags require */
static unsigned long audit_list_addr(unsigned long flags)
{
	return flags & FTRACE_OPS_FL_SAVE_REGS ? FTRACE_REGS_ADDR : FTRACE_ADDR;
}

/* What the function has to call if it calls no jump */
static unsigned long audit_addr(struct ftrace_audit *audit, unsigned long ip)
{
	if (!audit->nr)
		return 0;

	if (audit->nr_registered == 1) {
		struct ftrace_ops *op = audit->ops[0];

		if (op->flags & FTRACE_OPS_FL_DIRECT)
			return ftrace_find_rec_direct(ip);
		if (op->trampoline)
			return op->trampoline;
	}

	return audit_list_addr(audit->flags);
}

/* Does the function call the jump of @slot, or else audit_addr()? */
static void audit_call(struct ftrace_audit *audit, struct dyn_ftrace *rec,
		       struct ftrace_slot *slot)
{
	unsigned long target = arch_ftrace_call_target(rec->ip);
	unsigned long expected = slot ? slot->jump->code.start :
					audit_addr(audit, rec->ip);

	/* After a filter change, all registers may be saved needlessly */
	if (expected == FTRACE_ADDR && target == FTRACE_REGS_ADDR &&
	    rec->flags & FTRACE_FL_REGS_EN)
		return;

	if (target != expected)
		audit_wrong(audit, rec->ip, "calls %pS, not %pS", (void *)target,
			    (void *)expected);
}

/* Does the jump of @slot lead to what the functions of @set should call? */
static void audit_jump(struct ftrace_audit *audit, struct ftrace_slot *slot,
		       struct ftrace_set *set, unsigned long ip)
{
	unsigned long flags = 0, target, expected;
	unsigned int i;

	for (i = 0; i < set->nr; i++)
		flags |= set->ops[i]->flags;
	expected = set->tramp ? set->tramp->code.start : audit_list_addr(flags);

	target = arch_ftrace_jump_target(slot->jump->code.start);
	if (target != expected)
		audit_wrong(audit, ip, "the jump of slot %u leads to %pS, not %pS",
			    slot->id, (void *)target, (void *)expected);
	if (!ftrace_mux_template(slot->jump->code.start))
		audit_wrong(audit, ip, "unwinders do not find the jump of slot %u",
			    slot->id);
}

/* Does the trampoline call its callees? */
static void audit_tramp(struct ftrace_audit *audit, struct ftrace_mux_tramp *tramp,
			unsigned long ip)
{
	const char *wrong = arch_ftrace_tramp_check(tramp);

	if (wrong)
		audit_wrong(audit, ip, "%pS %s", (void *)tramp->code.start, wrong);
	if (!ftrace_mux_template(tramp->code.start))
		audit_wrong(audit, ip, "unwinders do not find its trampoline");
}

/* Check trampolines of single ops, and the calls of the list function */
static void audit_other_tramps(struct ftrace_audit *audit)
{
	void (*const calls[])(void) = { ftrace_call, ftrace_regs_call };
	struct ftrace_ops *op;
	const char *wrong;
	unsigned int i;

	audit_for_each_ops(op) {
		if (!(op->flags & FTRACE_OPS_FL_ENABLED) || !op->trampoline ||
		    !(op->flags & FTRACE_OPS_FL_ALLOC_TRAMP))
			continue;
		wrong = arch_ftrace_ops_check(op);
		if (wrong)
			audit_wrong(audit, op->trampoline, "for %pS, %s", op->func, wrong);
	}

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		unsigned long ip = (unsigned long)calls[i];
		unsigned long target = arch_ftrace_call_target(ip);

		if (target == (unsigned long)arch_ftrace_ops_list_func)
			continue;
		/* Expected if no ops is registered */
		if (target == (unsigned long)ftrace_stub &&
		    rcu_access_pointer(ftrace_ops_list) == &ftrace_list_end)
			continue;
		audit_wrong(audit, ip, "calls %pS, not the list function",
			    (void *)target);
	}
}

#else /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

static struct ftrace_mux_tramp *audit_slot_tramp(struct ftrace_slot *slot)
{
	return slot && slot->set->tramp ? slot->set->tramp : &ftrace_mux_walk;
}

/* Does the list function find the ops of @slot, or else walk all ops? */
static void audit_call(struct ftrace_audit *audit, struct dyn_ftrace *rec,
		       struct ftrace_slot *slot)
{
	if (ftrace_mux_find_tramp(rec->ip) != audit_slot_tramp(slot))
		audit_wrong(audit, rec->ip, "the list function finds the wrong ops");

	if (audit->flags & FTRACE_OPS_FL_SAVE_REGS &&
	    !(rec->flags & FTRACE_FL_REGS_EN))
		audit_wrong(audit, rec->ip, "does not save all registers");
}

static void audit_jump(struct ftrace_audit *audit, struct ftrace_slot *slot,
		       struct ftrace_set *set, unsigned long ip)
{
	if (slot->jump->tramp != audit_slot_tramp(slot))
		audit_wrong(audit, ip, "the jump of slot %u leads to another set",
			    slot->id);
}

static void audit_tramp(struct ftrace_audit *audit, struct ftrace_mux_tramp *tramp,
			unsigned long ip)
{
	struct ftrace_ops *op = tramp->callees[0];

	/* ftrace_mux_call_all() reads the callbacks on each call */
	if (tramp->arg == tramp)
		return;

	if (tramp->nr_callees > 1 || tramp->arg != op ||
	    tramp->func != ftrace_ops_get_func(op))
		audit_wrong(audit, ip, "the list function calls %pS for %pS",
			    tramp->func, op->func);
}

static void audit_other_tramps(struct ftrace_audit *audit)
{
}

#endif /* !CONFIG_FTRACE_MUX_TRAMPOLINES */

static void audit_record(struct ftrace_audit *audit, struct dyn_ftrace *rec)
{
	struct audit_slot *own, *called, *wanted = NULL;

	if (ftrace_rec_is_skipped(rec)) {
		if (ftrace_rec_slot(rec) || ftrace_rec_slot_called(rec))
			audit_wrong(audit, rec->ip, "has a slot, but is disabled");
		return;
	}

	audit_find_ops(audit, rec->ip);
	audit_flags(audit, rec);

	own = audit_find_slot(audit, rec, ftrace_rec_slot(rec));
	if (own) {
		own->records++;
		own->ip = rec->ip;
	}
	audit_belongs(audit, rec, own ? own->slot : NULL);

	/* audit_jumps() checks whether the slot has to have a jump */
	if (own && own->slot->jump && audit_needs_tramp(audit->nr))
		wanted = own;

	called = audit_find_slot(audit, rec, ftrace_rec_slot_called(rec));
	if (called)
		called->callers++;
	if (called != wanted)
		audit_wrong(audit, rec->ip, "calls the jump of slot %u, not of %u",
			    ftrace_rec_slot_called(rec),
			    wanted ? wanted->slot->id : 0);

	audit_call(audit, rec, wanted ? wanted->slot : NULL);
}

/* Is @callee the subset that @manager is called with for @subops? */
static bool audit_subset(struct ftrace_ops *callee, struct ftrace_ops *manager,
			 struct ftrace_ops **subops, unsigned int nr)
{
	unsigned long flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION |
			      FTRACE_OPS_FL_RCU;
	struct ftrace_subset *subset;

	if (!ftrace_ops_is_subset(callee))
		return false;

	subset = ftrace_ops_subset(callee);

	return callee->managed == manager && callee->func == manager->func &&
	       callee->private == manager->private &&
	       !((callee->flags ^ manager->flags) & flags) &&
	       subset->data != FTRACE_SUBSET_STALE && subset->nr == nr &&
	       !memcmp(subset->subops, subops, nr * sizeof(*subops));
}

/* Does the trampoline of @set have exactly the ops of @set as callees? */
static bool audit_callees(struct ftrace_set *set)
{
	unsigned int i, nr, pos = 0;

	for (i = 0; i < set->tramp->nr_callees; i++) {
		struct ftrace_ops *callee = set->tramp->callees[i];
		struct ftrace_ops **ops = set->ops + pos;

		if (pos == set->nr)
			return false;

		for (nr = 0; pos + 1 + nr < set->nr; nr++) {
			if (!(ops[1 + nr]->flags & FTRACE_OPS_FL_SUBOP))
				break;
		}
		if (nr ? !audit_subset(callee, ops[0], ops + 1, nr) : callee != ops[0])
			return false;
		pos += 1 + nr;
	}

	return pos == set->nr;
}

/* Count @set if it qualifies for a trampoline */
static void audit_count_set(struct ftrace_audit *audit, struct ftrace_set *set,
			    unsigned long ip, unsigned long records)
{
	unsigned int i, nr_callees = 0;

	for (i = 0; i < set->nr; i++)
		nr_callees += !(set->ops[i]->flags & FTRACE_OPS_FL_SUBOP);

	if (!audit_needs_tramp(set->nr) || nr_callees > FTRACE_MUX_MAX_CALLEES) {
		if (set->tramp)
			audit_wrong(audit, ip, "its set of %u ops has an unexpected trampoline",
				    set->nr);
		return;
	}

	audit->nr_eligible_sets++;
	if (set->tramp) {
		audit->nr_tramp_sets++;
		audit->fewest = min(audit->fewest, records);
	} else {
		audit->most = max(audit->most, records);
	}
}

/* Do the slots of @set have jumps, and do these lead to the right place? */
static void audit_jumps(struct ftrace_audit *audit, struct ftrace_set *set,
			unsigned long ip)
{
	struct ftrace_slot *slot;

	list_for_each_entry(slot, &set->slots, list) {
		if (!audit->slots[slot->id].records)
			continue;

		if (slot->jump)
			audit_jump(audit, slot, set, ip);
		else if (set->tramp && !ftrace_mux_alloc_failed())
			audit_wrong(audit, ip, "slot %u has no jump", slot->id);
	}
}

static void audit_set(struct ftrace_audit *audit, struct ftrace_set *set)
{
	unsigned long records = 0, ip = 0;
	struct ftrace_slot *slot;

	list_for_each_entry(slot, &set->slots, list) {
		struct audit_slot *found = &audit->slots[slot->id];

		if (slot->records != found->records || slot->callers != found->callers)
			audit_wrong(audit, found->ip,
				    "slot %u has %lu records and %lu callers, not %lu and %lu",
				    slot->id, slot->records, slot->callers,
				    found->records, found->callers);
		records += found->records;
		ip = found->ip ?: ip;
	}

	if (set->records != records)
		audit_wrong(audit, ip, "its set has %lu records, not %lu",
			    set->records, records);

	/* Ops may have been freed. audit_belongs() reports stale sets in use */
	if (!records || set->stale)
		return;

	audit_count_set(audit, set, ip, records);
	audit_jumps(audit, set, ip);

	if (!set->tramp)
		return;

	if (audit_callees(set))
		audit_tramp(audit, set->tramp, ip);
	else
		audit_wrong(audit, ip, "the trampoline of its set has other callees");
}

/* Do the largest sets, and as many as allowed, have a trampoline? */
static void audit_limit(struct ftrace_audit *audit)
{
	unsigned int max = ftrace_mux_max_sets();

	if (audit->nr_tramp_sets > max)
		audit_wrong(audit, 0, "%u sets have a trampoline, but at most %u may",
			    audit->nr_tramp_sets, max);

	/* After functions were removed, the next update assigns trampolines */
	if (audit->nr_tramp_sets == audit->nr_eligible_sets || ftrace_mux_alloc_failed() ||
	    ftrace_mux_lost_records())
		return;

	if (audit->nr_tramp_sets < max)
		audit_wrong(audit, 0, "only %u of %u sets have a trampoline, but %u may",
			    audit->nr_tramp_sets, audit->nr_eligible_sets, max);
	if (audit->most > audit->fewest)
		audit_wrong(audit, 0,
			    "a set of %lu functions has a trampoline, but one of %lu has none",
			    audit->fewest, audit->most);
}

static int audit_compare_sets(const void *a, const void *b)
{
	const struct ftrace_set *x = *(struct ftrace_set **)a;
	const struct ftrace_set *y = *(struct ftrace_set **)b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;

	return memcmp(x->ops, y->ops, x->nr * sizeof(*x->ops));
}

/* Find sets with the same ops: each of them would be ranked too low */
static int audit_duplicates(struct ftrace_audit *audit)
{
	struct ftrace_set *set, **sets;
	unsigned int i, nr = 0;

	list_for_each_entry(set, ftrace_mux_sets(), list)
		nr += !!set->records;

	sets = kvmalloc_array(nr + 1, sizeof(*sets), GFP_KERNEL);
	if (!sets)
		return -ENOMEM;

	nr = 0;
	list_for_each_entry(set, ftrace_mux_sets(), list) {
		if (set->records)
			sets[nr++] = set;
	}

	sort(sets, nr, sizeof(*sets), audit_compare_sets, NULL);
	for (i = 1; i < nr; i++) {
		if (!audit_compare_sets(&sets[i - 1], &sets[i]))
			audit_wrong(audit, 0, "two sets have the same %u ops",
				    sets[i]->nr);
	}

	kvfree(sets);

	return 0;
}

/**
 * ftrace_mux_audit - verify that each function calls the ops that trace it
 * @m:	output for problems; NULL for the kernel log
 *
 * Context: ftrace_lock held, no patches of call sites pending; may sleep.
 * Return: number of problems; -ENOMEM; or -ENODEV if ftrace is dead or
 * disabled.
 */
int ftrace_mux_audit(struct seq_file *m)
{
	struct ftrace_audit audit = { .m = m, .fewest = ULONG_MAX };
	struct ftrace_ops *op, *subops;
	struct ftrace_rec_iter *iter;
	struct ftrace_set *set;
	unsigned int nr = 0;
	int ret;

	if (ftrace_is_dead() || !ftrace_enabled)
		return -ENODEV;

	audit_for_each_ops(op) {
		nr++;
		ftrace_for_each_subop(op, subops)
			nr++;
	}

	audit.ops = kmalloc_array(nr + 1, sizeof(*audit.ops), GFP_KERNEL);
	if (!audit.ops)
		return -ENOMEM;

	ret = audit_list_slots(&audit);
	if (ret)
		goto out;

	for_ftrace_rec_iter(iter) {
		audit_record(&audit, ftrace_rec_iter_record(iter));
		cond_resched();
	}

	list_for_each_entry(set, ftrace_mux_sets(), list) {
		audit_set(&audit, set);
		cond_resched();
	}

	ret = audit_duplicates(&audit);
	if (ret)
		goto out;
	audit_limit(&audit);
	audit_other_tramps(&audit);
	ret = audit.wrong;
out:
	kvfree(audit.slots);
	kfree(audit.ops);

	return ret;
}

/**
 * ftrace_mux_audit_update - run an audit after an update, if enabled
 *
 * Warns if there are problems.
 *
 * Context: as for ftrace_mux_audit().
 */
void ftrace_mux_audit_update(void)
{
	if (READ_ONCE(audit_updates))
		WARN_ON_ONCE(ftrace_mux_audit(NULL) > 0);
}

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
DEFINE_SHOW_ATTRIBUTE(ftrace_mux_audit);

/**
 * ftrace_mux_audit_init - create the debugfs file that runs an audit
 * @dir:	the directory in debugfs
 *
 * Context: boot, may sleep.
 */
void __init ftrace_mux_audit_init(struct dentry *dir)
{
	debugfs_create_file("audit", 0400, dir, NULL, &ftrace_mux_audit_fops);
}
