// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines that call the ops of a set one after another
 *
 * The architecture generates them. Call sites do not call them directly, but
 * through a jump. All functions that call the same jump form a slot. When an ops
 * joins or leaves all functions of a slot, the jump is redirected to the
 * trampoline of another set, and no call site is patched. When the set changes
 * for only some functions of a slot, their call sites are patched to call the
 * jump of another slot; or, if they are most of the functions, those of the others,
 * and then the jump is redirected. A set can have several slots.
 *
 * A single ops has a trampoline of its own, which its functions call directly if
 * they are few. If they are many, their call sites call a jump that leads there.
 * So when a second ops starts on all of them, or stops, the jump is redirected,
 * too, instead of patching tens of thousands of call sites.
 *
 * If there is no memory for a trampoline or a jump, functions of several ops call
 * the list function, and those of a single ops its trampoline.
 */
#include <kunit/static_stub.h>
#include <linux/list_sort.h>
#include <linux/memory.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

/* Trampolines and jumps, by address. Written with ftrace_lock held */
static struct latch_tree_root ftrace_mux_tree __cacheline_aligned;

/* All slots, protected by ftrace_lock */
static LIST_HEAD(ftrace_slots);

/*
 * How many ops a trampoline calls at most. Beside that many calls, the lookup of
 * the list function costs next to nothing, and architectures do not have to find
 * room for trampolines of any size. KUnit tests change it.
 */
unsigned int ftrace_mux_max_calls = 256;

/*
 * How many functions have to have the same single ops to call a jump, or to keep
 * theirs when they come to a set that has one. With fewer, patching their call sites
 * does not take long. KUnit tests change it.
 */
unsigned long ftrace_mux_min_callers = 1024;

static __always_inline struct ftrace_ops *
ftrace_mux_node_ops(struct latch_tree_node *node)
{
	return container_of(node, struct ftrace_mux_code, node)->ops;
}

static __always_inline bool
ftrace_mux_tree_less(struct latch_tree_node *a, struct latch_tree_node *b)
{
	return ftrace_mux_node_ops(a)->trampoline <
	       ftrace_mux_node_ops(b)->trampoline;
}

static __always_inline int
ftrace_mux_tree_comp(void *addr, struct latch_tree_node *node)
{
	struct ftrace_ops *ops = ftrace_mux_node_ops(node);

	if ((unsigned long)addr < ops->trampoline)
		return -1;
	return (unsigned long)addr >= ops->trampoline + ops->trampoline_size;
}

static const struct latch_tree_ops ftrace_mux_tree_ops = {
	.less	= ftrace_mux_tree_less,
	.comp	= ftrace_mux_tree_comp,
};

/**
 * ftrace_mux_trampoline - find the trampoline or jump that contains an address
 * @addr:	any address
 *
 * Context: any, NMI included, with preemption disabled. The result is valid
 * until the end of the RCU read-side critical section.
 * Return: the ops of its set or slot; NULL if there is none.
 */
struct ftrace_ops *ftrace_mux_trampoline(unsigned long addr)
{
	struct latch_tree_node *node;

	node = latch_tree_find((void *)addr, &ftrace_mux_tree,
			       &ftrace_mux_tree_ops);

	return node ? ftrace_mux_node_ops(node) : NULL;
}

static void ftrace_mux_add_code(struct ftrace_mux_code *code,
				struct ftrace_ops *ops)
{
	code->ops = ops;
	latch_tree_insert(&code->node, &ftrace_mux_tree, &ftrace_mux_tree_ops);
	ftrace_announce_trampoline(ops);
}

/**
 * ftrace_mux_withdraw_code - do not find code by address any more
 * @code:	the code, if any, which no task uses. The caller has to call
 *		synchronize_rcu() before ftrace_mux_free_code()
 *
 * Context: ftrace_lock held.
 */
void ftrace_mux_withdraw_code(struct ftrace_mux_code *code)
{
	if (!code->ops)
		return;

	ftrace_withdraw_trampoline(code->ops);
	latch_tree_erase(&code->node, &ftrace_mux_tree, &ftrace_mux_tree_ops);
}

/**
 * ftrace_mux_free_code - free a trampoline or a jump
 * @code:	the code, if any
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void ftrace_mux_free_code(struct ftrace_mux_code *code)
{
	if (code->ops)
		arch_ftrace_set_free(code->ops);
}

/**
 * ftrace_set_shares_lock - do members of a set share protection from recursion?
 * @set:	the set
 *
 * Each call of ftrace_ops_assist_func() by a trampoline would take the lock.
 * That costs more than the calls through pointers of ftrace_set_call_checked(),
 * so the trampoline calls the latter.
 *
 * Context: any.
 * Return: true if several members need protection.
 */
bool ftrace_set_shares_lock(struct ftrace_set *set)
{
	unsigned int i, nr = 0;

	for (i = 0; i < set->nr; i++) {
		if (set->members[i]->flags &
		    (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU))
			nr++;
	}

	return nr > 1;
}

/**
 * ftrace_set_make_trampoline - create the trampoline of a set, if it needs one
 * @set:	the set
 *
 * A single ops has a trampoline of its own, and too many ops have none.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool ftrace_set_make_trampoline(struct ftrace_set *set)
{
	struct ftrace_ops *const *calls = set->members;
	struct ftrace_ops *ops = &set->ops;
	unsigned int i, nr = set->nr;

	if (set->ops.trampoline || set->nr < 2 || !set->records)
		return true;

	for (i = 0; i < set->nr; i++) {
		/*
		 * modify_ftrace_direct() registers one to make functions call
		 * the list function
		 */
		if (set->members[i]->flags & FTRACE_OPS_FL_STUB)
			return true;
		set->ops.flags |= set->members[i]->flags & FTRACE_OPS_FL_SAVE_REGS;
	}

	if (ftrace_set_shares_lock(set)) {
		calls = &ops;
		nr = 1;
	}
	if (nr > ftrace_mux_max_calls)
		return true;

	set->ops.flags |= FTRACE_OPS_FL_SET;
	if (!arch_ftrace_set_create(&set->ops, calls, nr))
		return false;

	ftrace_mux_add_code(&set->code, &set->ops);

	return true;
}

/* Where the jumps of @set, which is in use, lead; zero if it cannot have one */
static unsigned long ftrace_set_target(struct ftrace_set *set)
{
	struct ftrace_ops *op = set->members[0];

	if (set->nr > 1)
		return set->ops.trampoline;

	/* Functions with nothing but a direct caller call that itself */
	return op->flags & FTRACE_OPS_FL_DIRECT ? 0 : op->trampoline;
}

/* Should @callers functions of @set call a jump? */
static bool ftrace_set_wants_slot(struct ftrace_set *set, unsigned long callers)
{
	return (set->nr > 1 || callers >= ftrace_mux_min_callers) &&
	       ftrace_set_target(set);
}

/**
 * ftrace_slot_alloc - allocate a slot
 *
 * Context: may sleep. KUnit tests make it fail.
 * Return: the slot; NULL on allocation failure.
 */
struct ftrace_slot *ftrace_slot_alloc(void)
{
	KUNIT_STATIC_STUB_REDIRECT(ftrace_slot_alloc);

	return kzalloc_obj(struct ftrace_slot);
}

/**
 * ftrace_set_make_slot - create a slot for a set, if it needs one
 * @set:	the set
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool ftrace_set_make_slot(struct ftrace_set *set)
{
	struct ftrace_slot *slot;

	if (set->slot || !set->records || !ftrace_set_wants_slot(set, set->records))
		return true;

	slot = ftrace_slot_alloc();
	if (!slot)
		return false;

	slot->ops.flags = FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SET;
	if (!arch_ftrace_jump_create(&slot->ops, ftrace_set_target(set))) {
		kfree(slot);
		return false;
	}

	slot->set = set;
	set->slot = slot;
	list_add_tail(&slot->list, &ftrace_slots);
	ftrace_mux_add_code(&slot->code, &slot->ops);

	return true;
}

/*
 * Does a member of @set change where a function continues, without looking at which
 * function it is? Livepatch does, and so do direct callers.
 */
static bool ftrace_set_modifies_ip(struct ftrace_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (set->members[i]->flags &
		    (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))
			return true;
	}

	return false;
}

/*
 * Should the @nr functions of @slot that move keep their jump? If they are few, call
 * sites are patched to call the jump that the other set has. Otherwise, each kprobe
 * that comes and goes beside tracers would leave a slot behind.
 *
 * A task may have been preempted at the jump, in a call of a function that does not
 * call it any more. That call goes to the ops of the other set alone, whether or not
 * they trace the function then. It must not go to one that would continue it as another
 * function.
 */
static bool ftrace_slot_follows(struct ftrace_slot *slot, unsigned long nr)
{
	struct ftrace_set *set = slot->next;

	return set && ftrace_set_wants_slot(set, nr) &&
	       (!set->slot || nr >= ftrace_mux_min_callers) &&
	       !ftrace_set_modifies_ip(set);
}

/* Do all functions of @slot belong to another set now? */
static bool ftrace_slot_moves(struct ftrace_slot *slot)
{
	return slot->moved && slot->moved == slot->callers &&
	       ftrace_slot_follows(slot, slot->moved);
}

/* Do most of them? Then it takes less to patch the call sites of the others */
static bool ftrace_slot_moves_late(struct ftrace_slot *slot)
{
	return slot->moved < slot->callers && slot->moved > slot->callers / 2 &&
	       ftrace_slot_follows(slot, slot->moved);
}

/* Assign @slot to its next set */
static void ftrace_slot_move(struct ftrace_slot *slot)
{
	if (slot->set->slot == slot)
		slot->set->slot = NULL;

	slot->set = slot->next;
}

static void ftrace_slot_redirect(struct ftrace_slot *slot)
{
	arch_ftrace_jump_update(&slot->ops, ftrace_set_target(slot->set));
}

static int ftrace_slot_cmp(void *priv, const struct list_head *a,
			   const struct list_head *b)
{
	struct ftrace_slot *slot_a = list_entry(a, struct ftrace_slot, list);
	struct ftrace_slot *slot_b = list_entry(b, struct ftrace_slot, list);

	return slot_a->ops.trampoline > slot_b->ops.trampoline;
}

/**
 * ftrace_mux_redirect_slots - redirect jumps whose functions have all moved
 *
 * A jump of which only most functions have moved is redirected later, when the
 * call sites of the others do not call it any more.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep. Follows
 * ftrace_mux_count_moved().
 * Return: true if call sites have to be patched for that, and
 * ftrace_mux_redirect_late_slots() has to follow.
 */
bool ftrace_mux_redirect_slots(void)
{
	struct ftrace_slot *slot;
	bool late = false;

	/* Sorted by address, jumps are patched in batches */
	list_sort(NULL, &ftrace_slots, ftrace_slot_cmp);

	mutex_lock(&text_mutex);
	list_for_each_entry(slot, &ftrace_slots, list) {
		if (ftrace_slot_moves(slot)) {
			ftrace_slot_move(slot);
			ftrace_slot_redirect(slot);
		} else if (ftrace_slot_moves_late(slot)) {
			ftrace_slot_move(slot);
			slot->late = true;
			late = true;
		}
		slot->moved = 0;
	}
	arch_ftrace_mux_sync();
	mutex_unlock(&text_mutex);

	/*
	 * Functions that come to a set can use any of its slots, unless the jump
	 * does not lead there yet
	 */
	list_for_each_entry(slot, &ftrace_slots, list) {
		if (!slot->set->slot && !slot->late)
			slot->set->slot = slot;
	}

	return late;
}

/**
 * ftrace_mux_redirect_late_slots - redirect jumps that have waited for call sites
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep. Call sites of
 * functions that have not moved do not call these jumps any more. KUnit tests call
 * functions before.
 */
void ftrace_mux_redirect_late_slots(void)
{
	struct ftrace_slot *slot;

	KUNIT_STATIC_STUB_REDIRECT(ftrace_mux_redirect_late_slots);

	mutex_lock(&text_mutex);
	list_for_each_entry(slot, &ftrace_slots, list) {
		if (slot->late)
			ftrace_slot_redirect(slot);
		slot->late = false;
	}
	arch_ftrace_mux_sync();
	mutex_unlock(&text_mutex);
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

	mutex_lock(&text_mutex);
	list_for_each_entry(slot, &ftrace_slots, list)
		arch_ftrace_jump_update(&slot->ops, FTRACE_REGS_ADDR);
	arch_ftrace_mux_sync();
	mutex_unlock(&text_mutex);
}

/**
 * ftrace_mux_retire_slots - take slots whose jumps no call site calls
 * @retired:	list to which they are moved, to be freed like sets
 *
 * Context: ftrace_lock held, before sets are retired.
 */
void ftrace_mux_retire_slots(struct list_head *retired)
{
	struct ftrace_slot *slot, *next;

	list_for_each_entry_safe(slot, next, &ftrace_slots, list) {
		if (slot->callers)
			continue;
		if (slot->set->slot == slot)
			slot->set->slot = NULL;
		list_move(&slot->list, retired);
	}
}

/**
 * ftrace_mux_addr_curr - get the jump that a call site calls now
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: its address; zero if the function does not call one.
 */
unsigned long ftrace_mux_addr_curr(struct dyn_ftrace *rec)
{
	struct ftrace_ops *site = ftrace_mux_site_ops(rec);

	return site ? site->trampoline : 0;
}

/**
 * ftrace_mux_show_site - show the trampoline that a function calls
 * @m:		output
 * @rec:	record of the function
 *
 * Context: ftrace_lock held.
 * Return: false if the function does not call the trampoline of several ops.
 */
bool ftrace_mux_show_site(struct seq_file *m, struct dyn_ftrace *rec)
{
	struct ftrace_ops *site = ftrace_mux_site_ops(rec);
	struct ftrace_set *set;
	unsigned int i;

	if (!site)
		return false;

	set = ftrace_site_slot(site)->set;
	if (set->nr == 1)
		return false;

	seq_printf(m, "\ttramp: %pS", (void *)set->ops.trampoline);
	if (ftrace_set_shares_lock(set)) {
		seq_printf(m, " ->%pS", set->ops.func);
		return true;
	}
	for (i = 0; i < set->nr; i++)
		seq_printf(m, " ->%pS", ftrace_ops_get_func(set->members[i]));

	return true;
}
