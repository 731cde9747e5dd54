// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of sets of ftrace_ops: each function calls exactly the ops that
 * trace it, with the right arguments, while ops are registered and unregistered
 * and their filters change.
 *
 * Unlike the rest of kernel/trace, this file is compiled to be traced.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

static noinline notrace void call(void (*func)(void))
{
	func();
	barrier();
}

static noinline void func_a(void)
{
	barrier();
}

static noinline void func_b(void)
{
	barrier_data(&func_b);
}

static noinline void func_c(void)
{
	barrier_data(&func_c);
}

static noinline void func_d(void)
{
	barrier_data(&func_d);
}

static void (*const funcs[])(void) = { func_a, func_b, func_c, func_d };

#define NR_FUNCS	ARRAY_SIZE(funcs)
#define FN_A		BIT(0)
#define FN_B		BIT(1)
#define FN_ALL		(BIT(NR_FUNCS) - 1)

#define NR_TRACERS	8

/**
 * struct mux_tracer - a tracer of some of the functions, with counters
 * @ops:	its ops
 * @functions:	mask of the functions it traces
 * @calls:	number of callback invocations for each function
 * @error:	number of invocations with wrong arguments
 */
struct mux_tracer {
	struct ftrace_ops	ops;
	unsigned int		functions;
	unsigned long		calls[NR_FUNCS];
	unsigned long		error;
};

static struct mux_tracer *tracers;
static unsigned long func_ips[NR_FUNCS];
/* Call site in call(), which each callback should get as the parent ip */
static unsigned long caller;
/* Functions have sets and slots, so the list function does not walk all ops */
static bool sets_known;

/* Should preemption be disabled while the callback of @op runs? */
static bool is_protected(struct ftrace_ops *op)
{
	return IS_ENABLED(CONFIG_PREEMPT_COUNT) &&
	       op->flags & (FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/* Does the function at @ip have a trampoline that calls its callbacks? */
static notrace bool called_by_trampoline(unsigned long ip)
{
	struct ftrace_set *set = ftrace_mux_find_set(ip);

	return set->nr == 1 || !ftrace_set_shares_lock(set);
}
#else
static notrace bool called_by_trampoline(unsigned long ip)
{
	return false;
}
#endif

static notrace void trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct mux_tracer *tracer = container_of(op, struct mux_tracer, ops);
	unsigned long ret = (unsigned long)__builtin_return_address(0);
	unsigned int i;

	if (!caller)
		caller = parent_ip;
	if (parent_ip != caller)
		tracer->error++;
	if (sets_known && !!preempt_count() != is_protected(op))
		tracer->error++;
	/* Not called by the list function, or by what tests for recursion */
	if (sets_known && called_by_trampoline(ip) &&
	    !is_ftrace_trampoline(ret) &&
	    ftrace_ops_get_func(op) == trace_call)
		tracer->error++;

	for (i = 0; i < NR_FUNCS; i++) {
		if (ip == func_ips[i]) {
			tracer->calls[i]++;
			return;
		}
	}
	tracer->error++;
}

static int set_ops_filter(struct ftrace_ops *ops, unsigned int functions)
{
	unsigned int i, nr = 0;
	unsigned long ips[NR_FUNCS];

	for (i = 0; i < NR_FUNCS; i++) {
		if (functions & BIT(i))
			ips[nr++] = func_ips[i];
	}

	return ftrace_set_filter_ips(ops, ips, nr, 0, 1);
}

static int set_filter(struct mux_tracer *tracer, unsigned int functions)
{
	tracer->functions = functions;

	return set_ops_filter(&tracer->ops, functions);
}

static bool is_registered(struct mux_tracer *tracer)
{
	return tracer->ops.flags & FTRACE_OPS_FL_ENABLED;
}

static void start(struct kunit *test, unsigned int i, unsigned int functions)
{
	KUNIT_ASSERT_EQ(test, 0, set_filter(&tracers[i], functions));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&tracers[i].ops));
}

static bool is_member(struct ftrace_set *set, struct ftrace_ops *ops)
{
	unsigned int i;

	for (i = 0; set && i < set->nr; i++) {
		if (set->members[i] == ops)
			return true;
	}
	return false;
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/* Check the target of the call or jump at @ip */
static void expect_target(struct kunit *test, unsigned long ip,
			  unsigned long target)
{
#ifdef CONFIG_X86_64
	KUNIT_EXPECT_EQ(test, target, ip + MCOUNT_INSN_SIZE + *(s32 *)(ip + 1));
#endif
}
#endif

/* Check what the call site of @func calls, or points to */
static void expect_site(struct kunit *test, struct ftrace_mux_func *func)
{
#if defined(CONFIG_FTRACE_MUX_TRAMPOLINES)
	struct ftrace_set *set = func->set;
	unsigned long tramp;

	/* A single ops has a trampoline of its own */
	KUNIT_EXPECT_EQ(test, set && set->nr > 1, set && set->ops.trampoline);
	if (!set || (set->nr == 1 && ftrace_mux_min_callers > NR_FUNCS))
		KUNIT_EXPECT_NULL(test, func->site);
	else if (set->nr > 1 || ftrace_mux_min_callers == 1)
		KUNIT_EXPECT_NOT_NULL(test, func->site);
	if (!set)
		return;

	tramp = set->nr > 1 ? set->ops.trampoline : set->members[0]->trampoline;
	if (func->site) {
		KUNIT_EXPECT_PTR_EQ(test, ftrace_site_slot(func->site)->set, set);
		expect_target(test, func->ip, func->site->trampoline);
		expect_target(test, func->site->trampoline, tramp);
	} else {
		expect_target(test, func->ip, tramp);
	}
#elif defined(CONFIG_FTRACE_MUX_SITES)
	KUNIT_EXPECT_PTR_EQ(test, func->site, func->set ? func->set->call : NULL);
#endif
}

/* Check that the set of each function has the ops that trace it, and no other */
static void expect_sets(struct kunit *test)
{
	unsigned int i, f;

	mutex_lock(&ftrace_lock);
	for (f = 0; f < NR_FUNCS; f++) {
		struct ftrace_mux_func *func = ftrace_mux_find(func_ips[f]);
		struct ftrace_set *set = func ? func->set : NULL;
		unsigned int nr = 0;

		for (i = 0; i < NR_TRACERS; i++) {
			bool traces = is_registered(&tracers[i]) &&
				      tracers[i].functions & BIT(f);

			nr += traces;
			KUNIT_EXPECT_EQ_MSG(test, traces,
					    is_member(set, &tracers[i].ops),
					    "tracer %u, function %u", i, f);
		}
		KUNIT_EXPECT_EQ(test, nr, set ? set->nr : 0);
		KUNIT_EXPECT_PTR_EQ(test, ftrace_mux_find_set(func_ips[f]),
				    set ? set : &ftrace_no_set);
		if (func)
			expect_site(test, func);
	}
	mutex_unlock(&ftrace_lock);
}

/* Call each function once, and check which callbacks are invoked */
static void expect_calls(struct kunit *test)
{
	unsigned int i, f;

	for (i = 0; i < NR_TRACERS; i++)
		memset(tracers[i].calls, 0, sizeof(tracers[i].calls));

	for (f = 0; f < NR_FUNCS; f++)
		call(funcs[f]);

	for (i = 0; i < NR_TRACERS; i++) {
		for (f = 0; f < NR_FUNCS; f++) {
			unsigned long expected = is_registered(&tracers[i]) &&
						 tracers[i].functions & BIT(f);

			KUNIT_EXPECT_EQ_MSG(test, expected, tracers[i].calls[f],
					    "tracer %u, function %u", i, f);
		}
		KUNIT_EXPECT_EQ(test, 0UL, tracers[i].error);
	}
}

static int mux_init(struct kunit *test)
{
	unsigned int i;

	/* The tests know all ops of their functions, and count sets */
	if (rcu_access_pointer(ftrace_ops_list) != &ftrace_list_end)
		kunit_skip(test, "other ftrace_ops are registered");
	/* Functions of these tests have sets unless a test lowers the limit */
	if (ftrace_mux_max_sets < FTRACE_MUX_MAX_SETS)
		kunit_skip(test, "ftrace_mux.max_sets is below its default");

	for (i = 0; i < NR_FUNCS; i++) {
		func_ips[i] = ftrace_location((unsigned long)funcs[i]);
		KUNIT_ASSERT_NE(test, 0UL, func_ips[i]);
	}

	tracers = kcalloc(NR_TRACERS, sizeof(*tracers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, tracers);
	for (i = 0; i < NR_TRACERS; i++)
		tracers[i].ops.func = trace_call;
	caller = 0;

	return 0;
}

static void mux_unregister_all(void)
{
	unsigned int i;

	for (i = 0; i < NR_TRACERS; i++) {
		if (is_registered(&tracers[i]))
			unregister_ftrace_function(&tracers[i].ops);
	}
}

static void mux_exit(struct kunit *test)
{
	unsigned int i;

	if (tracers)
		mux_unregister_all();
	for (i = 0; tracers && i < NR_TRACERS; i++)
		ftrace_free_filter(&tracers[i].ops);
	kfree(tracers);
	tracers = NULL;
}

static void expect_sets_and_calls(struct kunit *test)
{
	expect_sets(test);
	sets_known = true;
	expect_calls(test);
	sets_known = false;
}

/* Functions traced by the same ops have the same set */
static void mux_sets(struct kunit *test)
{
	start(test, 0, FN_A | FN_B);
	expect_sets_and_calls(test);

	start(test, 1, FN_ALL);
	expect_sets_and_calls(test);

	start(test, 2, FN_B);
	expect_sets_and_calls(test);

	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_A | FN_B));
	expect_sets_and_calls(test);

	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_sets_and_calls(test);

	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	expect_sets_and_calls(test);
}

/* Register a tracer that ftrace_shutdown() removed after ftrace had failed */
static void register_again(struct kunit *test, struct mux_tracer *tracer)
{
	mutex_lock(&ftrace_lock);
	INIT_LIST_HEAD(&tracer->ops.list);
	tracer->ops.func = trace_call;
	KUNIT_EXPECT_EQ(test, 0, __register_ftrace_function(&tracer->ops));
	tracer->ops.flags |= FTRACE_OPS_FL_ENABLED;
	mutex_unlock(&ftrace_lock);
}

/*
 * An ops that is unregistered after ftrace has failed is not called any more:
 * neither by the list function nor by its trampoline. With call ops, the call
 * site of a single ops would still point to it.
 */
static void mux_failure(struct kunit *test)
{
	bool call_ops = IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS);
	int enabled = ftrace_enabled;

	start(test, 0, call_ops ? FN_A : FN_ALL & ~FN_B);
	start(test, 1, FN_A);
	expect_calls(test);

	/* As ftrace_kill() does, which also disables kprobes for good */
	ftrace_disabled = 1;
	ftrace_enabled = 0;
	expect_calls(test);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			unregister_ftrace_function(&tracers[0].ops));
	expect_calls(test);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			unregister_ftrace_function(&tracers[1].ops));
	expect_calls(test);

	ftrace_disabled = 0;
	ftrace_enabled = enabled;
	register_again(test, &tracers[0]);
	register_again(test, &tracers[1]);
	expect_calls(test);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));

	start(test, 0, FN_ALL);
	start(test, 1, FN_A);
	expect_sets_and_calls(test);
}

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#define SAVE_REGS	FTRACE_OPS_FL_SAVE_REGS
#else
#define SAVE_REGS	0
#endif

/* With lock debugging each step takes much longer */
#define NR_STEPS	(IS_ENABLED(CONFIG_PROVE_LOCKING) ? 300 : 1000)

/* An empty filter would match all functions of the kernel */
static unsigned int random_functions(void)
{
	return 1 + get_random_u32_below(FN_ALL);
}

/* Register or unregister one of the tracers from @first on, or set its filter */
static void random_step(struct kunit *test, unsigned int first)
{
	unsigned int i = first + get_random_u32_below(NR_TRACERS - first);
	unsigned int functions = random_functions();

	if (!is_registered(&tracers[i])) {
		tracers[i].ops.flags &= ~(SAVE_REGS | FTRACE_OPS_FL_RECURSION |
					  FTRACE_OPS_FL_RCU);
		if (!get_random_u32_below(4))
			tracers[i].ops.flags |= SAVE_REGS;
		if (!get_random_u32_below(4))
			tracers[i].ops.flags |= FTRACE_OPS_FL_RECURSION;
		if (!get_random_u32_below(4))
			tracers[i].ops.flags |= FTRACE_OPS_FL_RCU;
		start(test, i, functions);
	} else if (get_random_u32_below(8)) {
		KUNIT_ASSERT_EQ(test, 0, set_filter(&tracers[i], functions));
	} else {
		KUNIT_ASSERT_EQ(test, 0,
				unregister_ftrace_function(&tracers[i].ops));
	}
}

/* Register, unregister and change the filters of ops at random */
static void mux_random(struct kunit *test)
{
	unsigned int step;

	for (step = 0; step < NR_STEPS; step++) {
		random_step(test, 0);
		expect_sets_and_calls(test);
		cond_resched();
	}
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
static unsigned long mux_min_callers;

static void restore_min_callers(void *unused)
{
	ftrace_mux_min_callers = mux_min_callers;
}

/* Let functions of a single ops call a jump in this test if they are that many */
static void set_min_callers(struct kunit *test, unsigned long nr)
{
	mux_min_callers = ftrace_mux_min_callers;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, restore_min_callers, NULL));
	ftrace_mux_min_callers = nr;
}

/* The same while the functions of a single ops call a jump, or do not */
static void mux_random_single(struct kunit *test)
{
	unsigned int step;

	set_min_callers(test, 1);
	for (step = 0; step < NR_STEPS; step++) {
		if (step > NR_STEPS / 2)
			ftrace_mux_min_callers = 1 + get_random_u32_below(NR_FUNCS);
		random_step(test, 0);
		if (step > NR_STEPS / 2)
			ftrace_mux_min_callers = 2;
		expect_sets_and_calls(test);
		cond_resched();
	}
}

#define MUX_RANDOM_SINGLE	KUNIT_CASE_SLOW(mux_random_single),
#else
#define MUX_RANDOM_SINGLE
#endif

static struct ftrace_set *alloc_or_fail(unsigned int nr)
{
	struct ftrace_set *set;

	if (get_random_u32_below(2))
		return NULL;

	set = kzalloc_flex(*set, members, nr);
	if (set)
		set->nr = nr;

	return set;
}

static struct ftrace_mux_func *no_func(void)
{
	return NULL;
}

/*
 * Let allocations of sets fail at random, or not any more. In every other @step,
 * no function is added to the table.
 */
static void fail_sets(struct kunit *test, unsigned int step, bool fail)
{
	if (fail)
		kunit_activate_static_stub(test, ftrace_set_alloc, alloc_or_fail);
	else
		kunit_deactivate_static_stub(test, ftrace_set_alloc);

	if (step % 2 && fail)
		kunit_activate_static_stub(test, ftrace_mux_alloc_func, no_func);
	else if (step % 2)
		kunit_deactivate_static_stub(test, ftrace_mux_alloc_func);
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
static struct ftrace_slot *no_slot(void)
{
	return NULL;
}

/* Functions that several ops trace call the list function in this test */
static void call_list_func(struct kunit *test)
{
	kunit_activate_static_stub(test, ftrace_slot_alloc, no_slot);
}

static struct ftrace_slot *slot_or_fail(void)
{
	if (get_random_u32_below(2))
		return NULL;

	return kzalloc_obj(struct ftrace_slot);
}

/* Let allocations of slots fail at random, or not any more */
static void fail_slots(struct kunit *test, bool fail)
{
	if (fail)
		kunit_activate_static_stub(test, ftrace_slot_alloc, slot_or_fail);
	else
		kunit_deactivate_static_stub(test, ftrace_slot_alloc);
}
#else
static void call_list_func(struct kunit *test) { }
static void fail_slots(struct kunit *test, bool fail) { }
#endif

/* Without memory for sets, functions and slots, callbacks are invoked all the same */
static void mux_alloc_fails(struct kunit *test)
{
	unsigned int step;

	start(test, 0, FN_ALL);

	for (step = 0; step < NR_STEPS / 4; step++) {
		fail_sets(test, step, true);
		fail_slots(test, true);
		random_step(test, 1);
		fail_sets(test, step, false);
		fail_slots(test, false);
		expect_calls(test);

		/* The next update finds the sets and slots of all functions */
		KUNIT_ASSERT_EQ(test, 0,
				set_filter(&tracers[0],
					   1 + get_random_u32_below(FN_ALL)));
		expect_sets_and_calls(test);
		cond_resched();
	}
}

static unsigned int mux_max_sets;

static void restore_max_sets(void *unused)
{
	ftrace_mux_max_sets = mux_max_sets;
}

static void set_max_sets(struct kunit *test, unsigned int nr)
{
	/* An assertion that fails must not leave the limit */
	mux_max_sets = ftrace_mux_max_sets;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, restore_max_sets, NULL));
	ftrace_mux_max_sets = nr;
}

static bool has_set(unsigned int f)
{
	return ftrace_mux_find_set(func_ips[f]) != &ftrace_no_set;
}

/* With too many sets, functions have none until there are fewer */
static void mux_max_sets_reached(struct kunit *test)
{
	set_max_sets(test, 2);
	start(test, 0, FN_ALL);
	start(test, 1, FN_A);
	expect_sets_and_calls(test);
	start(test, 2, FN_B);
	KUNIT_EXPECT_TRUE(test, has_set(0));
	KUNIT_EXPECT_FALSE(test, has_set(1));
	expect_calls(test);
	/* An update has nothing to do for it as long as the others stay */
	mutex_lock(&ftrace_lock);
	KUNIT_EXPECT_FALSE(test, ftrace_mux_pending());
	mutex_unlock(&ftrace_lock);
	start(test, 3, FN_B);
	KUNIT_EXPECT_FALSE(test, has_set(1));
	expect_calls(test);

	/* The update that retires the set of func_a() finds that of func_b() */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	expect_sets_and_calls(test);

	/* An update that replaces all sets needs twice as many for a while */
	start(test, 4, FN_ALL);
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[4], FN_B));
	expect_sets_and_calls(test);
}

static unsigned int count_sets(void)
{
	unsigned int f, g, nr = 0;

	for (f = 0; f < NR_FUNCS; f++) {
		for (g = 0; g < f; g++) {
			if (ftrace_mux_find_set(func_ips[g]) ==
			    ftrace_mux_find_set(func_ips[f]))
				break;
		}
		nr += g == f && has_set(f);
	}

	return nr;
}

/* Callbacks are invoked as ever, whatever the limit is */
static void mux_max_sets_random(struct kunit *test)
{
	unsigned int step;

	set_max_sets(test, 0);
	for (step = 0; step < NR_STEPS / 4; step++) {
		if (!(step % 8)) {
			/* Below the limit again before it changes */
			mux_unregister_all();
			expect_sets_and_calls(test);
			ftrace_mux_max_sets = get_random_u32_below(NR_FUNCS);
		}
		random_step(test, 0);
		expect_calls(test);
		KUNIT_EXPECT_LE(test, count_sets(), ftrace_mux_max_sets);
		cond_resched();
	}
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/* The jump that the call site of a function calls; zero for none */
static unsigned long jump_of(unsigned int f)
{
	struct ftrace_mux_func *func;
	unsigned long jump = 0;

	mutex_lock(&ftrace_lock);
	func = ftrace_mux_find(func_ips[f]);
	if (func && func->site)
		jump = func->site->trampoline;
	mutex_unlock(&ftrace_lock);

	return jump;
}

#if defined(CONFIG_UNWINDER_ORC) && defined(CONFIG_STACKTRACE)
/* A task that is preempted at the jump of a function has a sane stack */
static void expect_unwind(struct kunit *test, unsigned int f)
{
	/* The stack in such a function, which has just been called from there */
	unsigned long stack[] = { func_ips[f] + MCOUNT_INSN_SIZE, caller, 0, 0 };
	struct pt_regs regs = {
		.ip	= jump_of(f),
		.sp	= (unsigned long)stack,
		.cs	= __KERNEL_CS,
	};
	unsigned long entries[3] = {};

	stack_trace_save_regs(&regs, entries, ARRAY_SIZE(entries), 0);
	KUNIT_EXPECT_EQ(test, regs.ip, entries[0]);
	KUNIT_EXPECT_EQ(test, stack[0], entries[1]);
	KUNIT_EXPECT_EQ(test, stack[1], entries[2]);
}
#else
static void expect_unwind(struct kunit *test, unsigned int f) { }
#endif

/* Call sites are only patched for functions that leave others behind */
static void mux_slots(struct kunit *test)
{
	unsigned long first, second;
	unsigned int f;

	start(test, 0, FN_ALL);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	start(test, 1, FN_ALL);
	expect_sets_and_calls(test);
	first = jump_of(0);
	KUNIT_EXPECT_NE(test, 0UL, first);
	expect_unwind(test, 0);

	/* All functions move: the jump is redirected */
	start(test, 2, FN_ALL);
	expect_sets_and_calls(test);
	for (f = 0; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, first, jump_of(f));

	/* One moves, and gets a jump of its own */
	start(test, 3, FN_A);
	expect_sets_and_calls(test);
	second = jump_of(0);
	KUNIT_EXPECT_NE(test, first, second);
	for (f = 1; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, first, jump_of(f));

	/* The others move to the same set. They are few, and share its jump */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_ALL));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_sets_and_calls(test);
	for (f = 0; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, second, jump_of(f));

	/* So does a function that comes back to them */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_ALL & ~FN_B));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_NE(test, second, jump_of(1));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_ALL));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, second, jump_of(1));

	/* Many keep theirs */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_A));
	first = jump_of(1);
	second = jump_of(0);
	KUNIT_EXPECT_NE(test, second, first);
	set_min_callers(test, NR_FUNCS - 1);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_ALL));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, second, jump_of(0));
	for (f = 1; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, first, jump_of(f));
	restore_min_callers(NULL);

	/* A single ops of few functions has no jump */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[3].ops));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[2].ops));
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
}

static void expect_jumps(struct kunit *test, unsigned int functions,
			 unsigned long jump)
{
	unsigned int f;

	expect_sets_and_calls(test);
	for (f = 0; f < NR_FUNCS; f++) {
		if (functions & BIT(f))
			KUNIT_EXPECT_EQ_MSG(test, jump, jump_of(f), "function %u", f);
	}
}

/* With many functions, a single ops is called through a jump, too */
static void mux_single(struct kunit *test)
{
	unsigned long jump;

	set_min_callers(test, NR_FUNCS);
	start(test, 0, FN_ALL);
	jump = jump_of(0);
	KUNIT_EXPECT_NE(test, 0UL, jump);
	expect_jumps(test, FN_ALL, jump);
	expect_unwind(test, 0);

	/* It is redirected when others start and stop */
	start(test, 1, FN_ALL);
	expect_jumps(test, FN_ALL, jump);
	start(test, 2, FN_ALL);
	expect_jumps(test, FN_ALL, jump);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	expect_jumps(test, FN_ALL, jump);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_jumps(test, FN_ALL, jump);

	/* A function that leaves comes back to it */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_ALL & ~FN_A));
	expect_jumps(test, FN_A, 0);
	expect_jumps(test, FN_ALL & ~FN_A, jump);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_ALL));
	expect_jumps(test, FN_ALL, jump);

	/* Another ops has it use another jump, but not for good */
	start(test, 3, FN_A);
	expect_jumps(test, FN_ALL & ~FN_A, jump);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));
	KUNIT_EXPECT_NE(test, jump, jump_of(0));
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[3].ops));
	expect_jumps(test, FN_ALL, jump);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[2].ops));
	expect_jumps(test, FN_ALL, 0);

	/* With few functions, call sites call the trampoline, until there are more */
	start(test, 0, FN_A | FN_B);
	expect_jumps(test, FN_ALL, 0);
	start(test, 1, FN_A | FN_B);
	jump = jump_of(0);
	expect_jumps(test, FN_A | FN_B, jump);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	expect_jumps(test, FN_ALL, 0);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[0], FN_ALL));
	jump = jump_of(0);
	KUNIT_EXPECT_NE(test, 0UL, jump);
	expect_jumps(test, FN_ALL, jump);

	/* An ops that saves all registers makes no difference */
	tracers[4].ops.flags |= SAVE_REGS;
	start(test, 4, FN_ALL);
	expect_jumps(test, FN_ALL, jump);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_jumps(test, FN_ALL, jump);
}

/* All functions are called when call sites have been patched */
static void call_and_redirect(void)
{
	unsigned int f;

	kunit_deactivate_static_stub(kunit_get_current_test(),
				     ftrace_mux_redirect_late_slots);
	for (f = 0; f < NR_FUNCS; f++)
		call(funcs[f]);
	ftrace_mux_redirect_late_slots();
}

/* When most functions of a slot move, the call sites of the others are patched */
static void mux_late(struct kunit *test)
{
	unsigned long jump;
	unsigned int f;

	set_min_callers(test, 1);
	start(test, 0, FN_ALL);
	jump = jump_of(0);
	KUNIT_EXPECT_NE(test, 0UL, jump);

	kunit_activate_static_stub(test, ftrace_mux_redirect_late_slots,
				   call_and_redirect);
	start(test, 1, FN_ALL & ~FN_A);
	for (f = 0; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, 1UL, tracers[0].calls[f]);
	KUNIT_EXPECT_EQ(test, 0UL, tracers[1].calls[0]);
	KUNIT_EXPECT_NE(test, jump, jump_of(0));
	expect_jumps(test, FN_ALL & ~FN_A, jump);

	/* Those that stay have several ops here */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[1], FN_ALL));
	start(test, 2, FN_ALL & ~FN_A);
	expect_jumps(test, FN_ALL & ~FN_A, jump);
	memset(tracers[0].calls, 0, sizeof(tracers[0].calls));
	memset(tracers[1].calls, 0, sizeof(tracers[1].calls));
	memset(tracers[2].calls, 0, sizeof(tracers[2].calls));
	kunit_activate_static_stub(test, ftrace_mux_redirect_late_slots,
				   call_and_redirect);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_B));
	for (f = 0; f < NR_FUNCS; f++)
		KUNIT_EXPECT_EQ(test, 1UL, tracers[1].calls[f]);
	KUNIT_EXPECT_EQ(test, 1UL, tracers[2].calls[1]);
	KUNIT_EXPECT_EQ(test, 0UL, tracers[2].calls[0]);
	expect_jumps(test, FN_ALL & ~(FN_A | FN_B), jump);
	KUNIT_EXPECT_NE(test, jump, jump_of(1));
}

/* Without memory for a slot, a single ops is called by its trampoline */
static void mux_single_no_slot(struct kunit *test)
{
	set_min_callers(test, 1);
	kunit_activate_static_stub(test, ftrace_slot_alloc, no_slot);
	start(test, 0, FN_ALL);
	expect_calls(test);
	start(test, 1, FN_ALL & ~FN_B);
	expect_calls(test);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(1));
	kunit_deactivate_static_stub(test, ftrace_slot_alloc);

	/* The next update makes up for it */
	start(test, 2, FN_A);
	expect_sets_and_calls(test);
}

#ifdef CONFIG_X86_64
/* When ftrace has failed, all jumps lead to the list function */
static void mux_disarm(struct kunit *test)
{
	unsigned int f;

	set_min_callers(test, 1);
	start(test, 0, FN_ALL);
	start(test, 1, FN_A);
	KUNIT_EXPECT_NE(test, jump_of(0), jump_of(1));

	mutex_lock(&ftrace_lock);
	ftrace_mux_disarm();
	mutex_unlock(&ftrace_lock);

	for (f = 0; f < NR_FUNCS; f++) {
		unsigned long jump = jump_of(f);

		KUNIT_ASSERT_NE(test, 0UL, jump);
		expect_target(test, jump, FTRACE_REGS_ADDR);
	}
	expect_calls(test);

	/* It has not failed here */
	start(test, 2, FN_ALL);
	expect_sets_and_calls(test);
}

#define MUX_DISARM	KUNIT_CASE(mux_disarm),
#else
#define MUX_DISARM
#endif

#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
static struct ftrace_ops direct_ops;

static void unregister_direct(void *direct)
{
	if (direct_ops.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_direct(&direct_ops, (unsigned long)direct, true);
}

/* Functions with nothing but a direct caller call it, others a jump */
static void mux_direct(struct kunit *test)
{
	void *direct = ftrace_stub_direct_tramp;

	set_min_callers(test, 1);
	/* Of FN_A and FN_B */
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ips(&direct_ops, func_ips, 2, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_direct(&direct_ops,
							(unsigned long)direct));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, unregister_direct, direct));
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	expect_target(test, func_ips[0], (unsigned long)direct);

	start(test, 0, FN_ALL);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));
	KUNIT_EXPECT_NE(test, jump_of(0), jump_of(2));
	expect_target(test, func_ips[0], jump_of(0));
	expect_calls(test);

	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[0], FN_ALL & ~FN_A));
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	expect_target(test, func_ips[0], (unsigned long)direct);
	expect_target(test, func_ips[1], jump_of(1));
	expect_calls(test);

	/* The tracer alone remains, on whatever jump */
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[0], FN_ALL));
	unregister_direct(direct);
	expect_sets_and_calls(test);
}

/* A jump that others may be about to take is not redirected to a direct caller */
static void mux_direct_moves(struct kunit *test)
{
	void *direct = ftrace_stub_direct_tramp;
	unsigned long jump;

	start(test, 0, FN_A | FN_B);
	start(test, 1, FN_A | FN_B);
	jump = jump_of(0);
	KUNIT_EXPECT_EQ(test, jump, jump_of(1));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[0], FN_A));

	/* Of FN_A */
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ips(&direct_ops, func_ips, 1, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_direct(&direct_ops,
							(unsigned long)direct));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, unregister_direct, direct));
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));
	KUNIT_EXPECT_NE(test, jump, jump_of(0));
	expect_calls(test);

	unregister_direct(direct);
	expect_sets_and_calls(test);
}

#define MUX_DIRECT	KUNIT_CASE(mux_direct),
#define MUX_DIRECT_MOVES	KUNIT_CASE(mux_direct_moves),
#else
#define MUX_DIRECT
#define MUX_DIRECT_MOVES
#endif

/*
 * A jump that others may be about to take is not redirected to ops that change where
 * functions continue
 */
static void mux_ipmodify(struct kunit *test)
{
	unsigned long jump;

	start(test, 0, FN_A | FN_B);
	start(test, 1, FN_A | FN_B);
	jump = jump_of(0);
	KUNIT_EXPECT_EQ(test, jump, jump_of(1));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[0], FN_A));

	tracers[2].ops.flags |= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
	start(test, 2, FN_A);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));
	KUNIT_EXPECT_NE(test, jump, jump_of(0));
	expect_sets_and_calls(test);
}

/* Without memory for a slot, functions call the list function */
static void mux_no_slot(struct kunit *test)
{
	start(test, 0, FN_ALL);
	start(test, 1, FN_A);
	expect_sets_and_calls(test);

	kunit_activate_static_stub(test, ftrace_slot_alloc, no_slot);
	start(test, 2, FN_B);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(1));
	expect_calls(test);
	/* This jump is redirected, so no other has to be allocated */
	start(test, 3, FN_A);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));
	expect_calls(test);
	kunit_deactivate_static_stub(test, ftrace_slot_alloc);

	/* The next update makes up for it, even if it patches no other call site */
	start(test, 4, FN_A);
	expect_sets_and_calls(test);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(1));
}

/* Also if a set gets the slot that it lacks by the redirection of a jump */
static void mux_no_slot_redirect(struct kunit *test)
{
	start(test, 0, FN_A | FN_B);
	start(test, 1, FN_A);
	start(test, 2, FN_A);
	expect_sets_and_calls(test);

	kunit_activate_static_stub(test, ftrace_slot_alloc, no_slot);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[1], FN_A | FN_B));
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(1));
	expect_calls(test);
	/* The jump of func_a() leads to the set of func_b(), which does not move */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[2].ops));
	kunit_deactivate_static_stub(test, ftrace_slot_alloc);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(1));
	expect_sets_and_calls(test);
}

/* If there are too many sets, the functions of the last ones call the list function */
static unsigned int mux_max_trampolines;

static void restore_limit(void *unused)
{
	ftrace_mux_max_trampolines = mux_max_trampolines;
}

static void mux_limit(struct kunit *test)
{
	unsigned int f, nr_jumps = 0;

	/* An assertion that fails must not leave the limit */
	mux_max_trampolines = ftrace_mux_max_trampolines;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, restore_limit, NULL));

	ftrace_mux_max_trampolines = 1;
	start(test, 0, FN_ALL);
	start(test, 1, FN_A);
	start(test, 2, FN_B);
	expect_calls(test);
	for (f = 0; f < NR_FUNCS; f++)
		nr_jumps += !!jump_of(f);
	KUNIT_EXPECT_EQ(test, nr_jumps, 1);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));

	/* The update that retires the set of func_a() patches func_b() */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	KUNIT_EXPECT_NE(test, 0UL, jump_of(1));
	expect_calls(test);
	start(test, 3, FN_ALL & ~(FN_A | FN_B));
	expect_calls(test);

	/* New sets take the places of old ones in the same update */
	ftrace_mux_max_trampolines = 2;
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_B));
	start(test, 5, FN_ALL & ~FN_A);
	expect_calls(test);
	for (f = 1; f < NR_FUNCS; f++)
		KUNIT_EXPECT_NE(test, 0UL, jump_of(f));

	restore_limit(NULL);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[2].ops));
	start(test, 4, FN_B);
	expect_sets_and_calls(test);
}

/* An update that retires one of too many sets patches the functions of another one */
static void mux_limit_retire(struct kunit *test)
{
	mux_max_trampolines = ftrace_mux_max_trampolines;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, restore_limit, NULL));

	ftrace_mux_max_trampolines = 2;
	start(test, 0, FN_ALL);
	start(test, 1, FN_ALL & ~FN_B);
	start(test, 2, FN_A);
	start(test, 3, FN_B);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(1));
	expect_calls(test);

	/* func_a() keeps its jump, so that no other call site has to be patched */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[2].ops));
	KUNIT_EXPECT_NE(test, 0UL, jump_of(1));
	expect_sets_and_calls(test);
}

static unsigned int mux_max_calls;

static void restore_max_calls(void *unused)
{
	ftrace_mux_max_calls = mux_max_calls;
}

/* Functions of too many ops call the list function, and no update tries to mend that */
static void mux_max_calls_exceeded(struct kunit *test)
{
	mux_max_calls = ftrace_mux_max_calls;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, restore_max_calls, NULL));

	ftrace_mux_max_calls = 2;
	start(test, 0, FN_ALL);
	start(test, 1, FN_ALL);
	expect_sets_and_calls(test);
	start(test, 2, FN_A);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	KUNIT_EXPECT_NE(test, 0UL, jump_of(1));
	expect_calls(test);
	mutex_lock(&ftrace_lock);
	KUNIT_EXPECT_FALSE(test, ftrace_mux_pending());
	mutex_unlock(&ftrace_lock);

	/* With fewer, they call a trampoline again */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_sets_and_calls(test);
}

#ifdef CONFIG_MODULES
static struct ftrace_set *no_set(unsigned int nr)
{
	return NULL;
}

/* Loading a module makes up for it, even if no ops traces its functions */
static void mux_no_slot_module(struct kunit *test)
{
	struct module *mod = kunit_kzalloc(test, sizeof(*mod), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, mod);
	kunit_activate_static_stub(test, ftrace_slot_alloc, no_slot);
	start(test, 0, FN_ALL);
	start(test, 1, FN_ALL);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	kunit_deactivate_static_stub(test, ftrace_slot_alloc);

	ftrace_module_enable(mod);
	expect_sets_and_calls(test);
	KUNIT_EXPECT_NE(test, 0UL, jump_of(0));

	/* The same for sets that could not be allocated */
	kunit_activate_static_stub(test, ftrace_set_alloc, no_set);
	start(test, 2, FN_A);
	KUNIT_EXPECT_EQ(test, 0UL, jump_of(0));
	expect_calls(test);
	kunit_deactivate_static_stub(test, ftrace_set_alloc);

	ftrace_module_enable(mod);
	expect_sets_and_calls(test);
}

#define MUX_NO_SLOT_MODULE	KUNIT_CASE(mux_no_slot_module),
#else
#define MUX_NO_SLOT_MODULE
#endif
#endif

#if defined(CONFIG_FTRACE_MUX_TRAMPOLINES) && defined(CONFIG_HAVE_RELIABLE_STACKTRACE)
static unsigned long unwind_entries[32];
static int unwind_nr[3];

static notrace void unwind_call(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct mux_tracer *tracer = container_of(op, struct mux_tracer, ops);
	unsigned long *pos, *end;
	int nr;

	nr = stack_trace_save_tsk_reliable(current, unwind_entries,
					   ARRAY_SIZE(unwind_entries));
	end = unwind_entries + max(nr, 0);
	pos = unwind_entries;
	/* The traced function, and then its caller */
	while (pos < end && *pos != ip + MCOUNT_INSN_SIZE)
		pos++;
	if (nr > 0 && (pos + 1 >= end || pos[1] != parent_ip))
		nr = 0;
	unwind_nr[tracer - tracers] = nr;
}

/* Stack traces of callbacks are reliable, and show who has called the function */
static void mux_unwind(struct kunit *test)
{
	unsigned int regs, i;

	for (regs = 0; regs < 2; regs++) {
		memset(unwind_nr, 0, sizeof(unwind_nr));
		for (i = 0; i < ARRAY_SIZE(unwind_nr); i++) {
			tracers[i].ops.func = unwind_call;
			if (regs && i == 1)
				tracers[i].ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
			start(test, i, FN_A);
		}
		expect_sets(test);
		call(func_a);
		for (i = 0; i < ARRAY_SIZE(unwind_nr); i++) {
			KUNIT_EXPECT_GT(test, unwind_nr[i], 0);
			KUNIT_EXPECT_EQ(test, 0,
					unregister_ftrace_function(&tracers[i].ops));
		}
	}
}
#else
static void mux_unwind(struct kunit *test)
{
	kunit_skip(test, "needs trampolines and CONFIG_HAVE_RELIABLE_STACKTRACE");
}
#endif

#ifdef CONFIG_X86_64
static unsigned long kept_ip, kept_parent_ip;

/* Change what the other callbacks must not see */
static notrace void change_call(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *parent = (void *)ftrace_regs_get_stack_pointer(fregs);

	trace_call(ip, parent_ip, op, fregs);

	kept_ip = ftrace_regs_get_instruction_pointer(fregs);
	kept_parent_ip = *parent;
	ftrace_regs_set_instruction_pointer(fregs, 0);
	*parent = 0;
}

static notrace void restore_call(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *parent = (void *)ftrace_regs_get_stack_pointer(fregs);

	ftrace_regs_set_instruction_pointer(fregs, kept_ip);
	*parent = kept_parent_ip;

	trace_call(ip, parent_ip, op, fregs);
}

/* A callback can change the ip and the return address, not the arguments of others */
static void mux_args(struct kunit *test)
{
	unsigned int regs, i;

	for (regs = 0; regs < 2; regs++) {
		tracers[0].ops.func = restore_call;
		if (regs)
			tracers[1].ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
		/* Registered last, so called first */
		tracers[2].ops.func = change_call;

		for (i = 0; i < 3; i++)
			start(test, i, FN_A);
		expect_sets_and_calls(test);
		for (i = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, 0,
					unregister_ftrace_function(&tracers[i].ops));
		}
	}
}
#else
static void mux_args(struct kunit *test)
{
	kunit_skip(test, "needs to know where the return address is");
}
#endif

static unsigned long other_calls;

static notrace void other_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	other_calls++;
	trace_call(ip, parent_ip, op, fregs);
}

/* The callback of a registered ops changes, as by writing to set_ftrace_pid */
static void mux_callback(struct kunit *test)
{
	unsigned int protect, i;

	for (protect = 0; protect < 2; protect++) {
		for (i = 0; i < 3; i++) {
			tracers[i].ops.func = trace_call;
			if (protect)
				tracers[i].ops.flags |= FTRACE_OPS_FL_RECURSION;
		}
		start(test, 0, FN_ALL);
		start(test, 1, FN_A | FN_B);
		start(test, 2, FN_A);
		expect_sets_and_calls(test);

		mutex_lock(&ftrace_lock);
		tracers[1].ops.func = other_call;
		ftrace_mux_update_callback(&tracers[1].ops);
		mutex_unlock(&ftrace_lock);

		other_calls = 0;
		expect_sets_and_calls(test);
		KUNIT_EXPECT_EQ(test, 2UL, other_calls);
		for (i = 0; i < 3; i++) {
			KUNIT_EXPECT_EQ(test, 0,
					unregister_ftrace_function(&tracers[i].ops));
		}
	}
}

#if defined(CONFIG_FTRACE_MUX_TRAMPOLINES) && defined(CONFIG_X86_64)
static atomic_t nr_syncs;

static notrace void sync_call(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	atomic_inc(&nr_syncs);
}

/* However many trampolines call the callback that changes, all are patched at once */
static void mux_callback_syncs(struct kunit *test)
{
	struct mux_tracer *last = &tracers[NR_TRACERS - 1];
	unsigned int f, syncs;
	char name[] = "do_sync_core";

	last->ops.func = sync_call;
	if (ftrace_set_filter(&last->ops, name, strlen(name), 1))
		kunit_skip(test, "%s() is not traced", name);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&last->ops));

	start(test, 0, FN_ALL);
	for (f = 0; f < NR_FUNCS; f++)
		start(test, 1 + f, BIT(f));
	expect_sets_and_calls(test);

	mutex_lock(&ftrace_lock);
	tracers[0].ops.func = other_call;
	atomic_set(&nr_syncs, 0);
	ftrace_mux_update_callback(&tracers[0].ops);
	syncs = atomic_read(&nr_syncs);
	mutex_unlock(&ftrace_lock);

	/* All CPUs synchronize three times for a batch, and rarely for another reason */
	KUNIT_EXPECT_GE(test, syncs, 3 * num_online_cpus());
	KUNIT_EXPECT_LT(test, syncs, 6 * num_online_cpus());

	other_calls = 0;
	expect_sets_and_calls(test);
	KUNIT_EXPECT_EQ(test, NR_FUNCS, other_calls);
}

#define MUX_CALLBACK_SYNCS	KUNIT_CASE(mux_callback_syncs),
#else
#define MUX_CALLBACK_SYNCS
#endif

static unsigned long loop_calls;

static int loop(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; i < 100; i++) {
			loop_calls++;
			call(func_a);
		}
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

/* Call func_a on another CPU continuously, until kthread_stop() */
static struct task_struct *start_loop(struct kunit *test)
{
	struct task_struct *task;
	unsigned int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	loop_calls = 0;
	task = kthread_create(loop, NULL, "ftrace_loop");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpu);
	wake_up_process(task);

	return task;
}

#define NR_FLIPS	(IS_ENABLED(CONFIG_PROVE_LOCKING) ? 150 : 500)

/* An ops gets each call of its function exactly once while other ops change */
static void mux_no_call_lost(struct kunit *test)
{
	struct task_struct *task;
	unsigned int flip;
	int ret = 0;

	start(test, 0, FN_A);
	start(test, 1, FN_A | FN_B);
	start(test, 2, FN_A);
	task = start_loop(test);

	/* Alternate between filters with and without func_a */
	for (flip = 0; flip < NR_FLIPS && !ret; flip++) {
		ret = set_filter(&tracers[1 + flip % 2], 1 + (flip * 5 / 3) % 7);
		cond_resched_tasks_rcu_qs();
	}
	kthread_stop(task);

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, loop_calls, 0UL);
	KUNIT_EXPECT_EQ(test, loop_calls, tracers[0].calls[0]);
	KUNIT_EXPECT_EQ(test, 0UL, tracers[0].error);
	kunit_info(test, "%lu calls", loop_calls);
}

/* The same for functions that call the list function */
static void mux_no_call_lost_list(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES))
		kunit_skip(test, "the other test is the same");

	call_list_func(test);
	mux_no_call_lost(test);
}

#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
/* The same for a function that has one ops and two in turn, and keeps its jump */
static void mux_no_call_lost_single(struct kunit *test)
{
	struct task_struct *task;
	unsigned int flip;
	int ret = 0;

	set_min_callers(test, 1);
	start(test, 0, FN_A);
	start(test, 1, FN_B);
	task = start_loop(test);

	for (flip = 0; flip < NR_FLIPS && !ret; flip++) {
		ret = set_filter(&tracers[1], flip % 2 ? FN_B : FN_A | FN_B);
		cond_resched_tasks_rcu_qs();
	}
	kthread_stop(task);

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, loop_calls, 0UL);
	KUNIT_EXPECT_EQ(test, loop_calls, tracers[0].calls[0]);
	KUNIT_EXPECT_EQ(test, 0UL, tracers[0].error);
	kunit_info(test, "%lu calls", loop_calls);
}

#define MUX_NO_CALL_LOST_SINGLE	KUNIT_CASE_SLOW(mux_no_call_lost_single),
#else
#define MUX_NO_CALL_LOST_SINGLE
#endif

/**
 * struct leaver - a tracer that is unregistered while its function is called
 * @ops:	its ops
 * @gone:	set after unregistering
 * @calls:	number of callback invocations
 * @late:	number of invocations that started or still ran with @gone set
 */
struct leaver {
	struct ftrace_ops	ops;
	bool			gone;
	unsigned long		calls;
	unsigned long		late;
};

static notrace void leaver_call(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct leaver *leaver = container_of(op, struct leaver, ops);
	unsigned int ms;

	/* If unregistering does not wait for it, it still runs afterwards */
	WRITE_ONCE(leaver->calls, leaver->calls + 1);
	for (ms = 0; leaver->calls == 1 && ms < 100; ms++) {
		if (READ_ONCE(leaver->gone))
			break;
		mdelay(1);
	}
	if (READ_ONCE(leaver->gone))
		leaver->late++;
}

static int leaver_start(struct leaver *leaver)
{
	int ret;

	leaver->ops.func = leaver_call;
	ret = ftrace_set_filter_ip(&leaver->ops, func_ips[0], 0, 1);

	return ret ? ret : register_ftrace_function(&leaver->ops);
}

#define NR_LEAVERS	12

/* When unregistering has finished, no callback runs: the ops may be freed */
static void mux_unregister(struct kunit *test)
{
	struct task_struct *task;
	struct leaver *leavers, *leaver;
	unsigned long late = 0;
	unsigned int i;
	int ret = 0;

	/* Not in the kernel image, so these are dynamic like ops of modules */
	leavers = kunit_kcalloc(test, NR_LEAVERS, sizeof(*leavers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, leavers);

	start(test, 0, FN_A);
	start(test, 1, FN_A);
	task = start_loop(test);

	for (i = 0; i < NR_LEAVERS && !ret; i++) {
		unsigned long timeout = jiffies + 10 * HZ;

		leaver = &leavers[i];
		ret = leaver_start(leaver);
		if (ret)
			break;

		while (!READ_ONCE(leaver->calls) && time_before(jiffies, timeout))
			cond_resched_tasks_rcu_qs();

		ret = unregister_ftrace_function(&leaver->ops);
		WRITE_ONCE(leaver->gone, true);
		KUNIT_EXPECT_GT(test, READ_ONCE(leaver->calls), 0UL);
	}
	kthread_stop(task);

	for (i = 0; i < NR_LEAVERS; i++) {
		late += leavers[i].late;
		ftrace_free_filter(&leavers[i].ops);
	}
	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_EQ(test, 0UL, late);
}

#if defined(CONFIG_X86_64) && defined(CONFIG_KPROBES) && defined(CONFIG_PREEMPTION)
/* ftrace_caller loads the ops here. The instruction has 7 bytes */
extern const char ftrace_caller_op_ptr[];

#define LOAD_SIZE	7

static unsigned long own_errors;
/* Number of times that a task was held there */
static unsigned long own_hits;

static notrace void own_call_a(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);
static notrace void own_call_b(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs);

/* Part of the kernel image, so unregistering them does not wait for tasks */
static struct ftrace_ops own_ops_a = { .func = own_call_a };
static struct ftrace_ops own_ops_b = { .func = own_call_b };

static notrace void own_call_a(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	own_errors += op != &own_ops_a;
}

static notrace void own_call_b(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	own_errors += op != &own_ops_b;
}

static struct task_struct *own_task;

/* A tick is pending when the task continues. So it is preempted there */
static int own_before(struct kprobe *kp, struct pt_regs *regs)
{
	if (current == own_task) {
		own_hits++;
		mdelay(10);
	}

	return 0;
}

/* Keeps the probe from being optimized, so that interrupts are disabled */
static void own_after(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static int spin(void *unused)
{
	while (!kthread_should_stop())
		cond_resched_tasks_rcu_qs();

	return 0;
}

/* A callback is passed its own ops by a task that was preempted on its way */
static void mux_own_ops(struct kunit *test)
{
	struct kprobe kp = {
		.addr		= (void *)ftrace_caller_op_ptr,
		.offset		= LOAD_SIZE,
		.pre_handler	= own_before,
		.post_handler	= own_after,
	};
	struct task_struct *spinner;
	unsigned int i;
	int ret;

	own_errors = 0;
	own_hits = 0;
	call_list_func(test);
	own_task = start_loop(test);
	spinner = kthread_create(spin, NULL, "ftrace_spin");
	if (IS_ERR(spinner)) {
		kthread_stop(own_task);
		KUNIT_FAIL_AND_ABORT(test, "no task to preempt the other");
	}
	kthread_bind(spinner, task_cpu(own_task));
	wake_up_process(spinner);

	ret = ftrace_set_filter_ip(&own_ops_a, func_ips[0], 0, 1);
	ret = ret ?: ftrace_set_filter_ip(&own_ops_b, func_ips[0], 0, 1);

	for (i = 0; i < 20 && !ret; i++) {
		struct ftrace_ops *first = i % 2 ? &own_ops_a : &own_ops_b;
		struct ftrace_ops *second = i % 2 ? &own_ops_b : &own_ops_a;

		ret = register_ftrace_function(first);
		ret = ret ?: register_ftrace_function(second);
		/*
		 * Now func_a() calls ftrace_caller. Not earlier, as the
		 * trampoline of each ops is a copy of ftrace_caller, and would
		 * have a copy of the breakpoint.
		 */
		ret = ret ?: register_kprobe(&kp);
		msleep(20);
		/* Now the second is the only ops */
		ret = ret ?: unregister_ftrace_function(first);
		msleep(20);
		ret = ret ?: unregister_ftrace_function(second);
		unregister_kprobe(&kp);
		/* Needed to register it again */
		kp.addr = (void *)ftrace_caller_op_ptr;
		kp.flags = 0;
	}

	kthread_stop(spinner);
	kthread_stop(own_task);
	if (own_ops_a.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&own_ops_a);
	if (own_ops_b.flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(&own_ops_b);
	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, own_hits, 0UL);
	KUNIT_EXPECT_EQ(test, 0UL, own_errors);
}

#define MUX_OWN_OPS	KUNIT_CASE_SLOW(mux_own_ops),
#else
#define MUX_OWN_OPS
#endif

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
#define NR_GRAPHS	4

/**
 * struct mux_graph - a user of function graph that traces some of the functions
 * @gops:	its fgraph_ops
 * @owner:	the user whose filter it has; itself or another one
 * @functions:	mask of the functions in the filter that it owns
 * @entries:	number of calls of its entry handler for each function
 * @exits:	number of calls of its return handler for each function
 */
struct mux_graph {
	struct fgraph_ops	gops;
	struct mux_graph	*owner;
	unsigned int		functions;
	unsigned long		entries[NR_FUNCS];
	unsigned long		exits[NR_FUNCS];
};

static struct mux_graph *graphs;

static notrace void count_graph(unsigned long *counts, unsigned long ip)
{
	unsigned int f;

	/* Without a filter, other CPUs call this for other functions meanwhile */
	for (f = 0; f < NR_FUNCS; f++) {
		if (ip == func_ips[f])
			counts[f]++;
	}
}

static notrace int graph_entry(struct ftrace_graph_ent *trace,
			       struct fgraph_ops *gops)
{
	struct mux_graph *graph = container_of(gops, struct mux_graph, gops);

	count_graph(graph->entries, trace->func);

	return 1;
}

static notrace void graph_return(struct ftrace_graph_ret *trace,
				 struct fgraph_ops *gops)
{
	struct mux_graph *graph = container_of(gops, struct mux_graph, gops);

	count_graph(graph->exits, trace->func);
}

static bool graph_is_registered(struct mux_graph *graph)
{
	return graph->gops.ops.flags & FTRACE_OPS_FL_ENABLED;
}

/* Without @functions, it has no filter and traces all functions of the kernel */
static int graph_set_filter(struct mux_graph *graph, unsigned int functions)
{
	graph->owner->functions = functions ?: FN_ALL;

	if (!functions)
		return ftrace_set_filter(&graph->gops.ops, NULL, 0, 1);

	return set_ops_filter(&graph->gops.ops, functions);
}

/*
 * Check the calls of each user, and the users in the table. If @complete is
 * false, the table may lack functions, as allocations have failed.
 */
static void expect_graphs(struct kunit *test, bool complete)
{
	unsigned int g, f;

	for (g = 0; g < NR_GRAPHS; g++) {
		memset(graphs[g].entries, 0, sizeof(graphs[g].entries));
		memset(graphs[g].exits, 0, sizeof(graphs[g].exits));
	}

	/* Calls all functions */
	expect_calls(test);

	mutex_lock(&ftrace_lock);
	for (f = 0; f < NR_FUNCS; f++) {
		struct ftrace_mux_func *func = ftrace_mux_find(func_ips[f]);
		unsigned long users = 0;

		for (g = 0; g < NR_GRAPHS; g++) {
			bool traces = graph_is_registered(&graphs[g]) &&
				      graphs[g].owner->functions & BIT(f);

			if (traces)
				users |= BIT(graphs[g].gops.idx);
			KUNIT_EXPECT_EQ_MSG(test, traces, graphs[g].entries[f],
					    "user %u, function %u", g, f);
			KUNIT_EXPECT_EQ_MSG(test, traces, graphs[g].exits[f],
					    "user %u, function %u", g, f);
		}
		if (func || complete)
			KUNIT_EXPECT_EQ(test, users, func ? func->graph |
				(fgraph_unfiltered & ~FGRAPH_NO_FILTERS) : 0);
	}
	mutex_unlock(&ftrace_lock);
}

/* Register or unregister @graph, or set its filter to @functions */
static int graph_random_step(struct mux_graph *graph, unsigned int functions)
{
	int ret;

	if (!graph_is_registered(graph)) {
		ret = graph_set_filter(graph, functions);
		return ret ?: register_ftrace_graph(&graph->gops);
	}
	if (get_random_u32_below(4))
		return graph_set_filter(graph, functions);

	unregister_ftrace_graph(&graph->gops);
	return 0;
}

static struct mux_graph *random_graph(void)
{
	return &graphs[get_random_u32_below(NR_GRAPHS)];
}

static int mux_graph_init(struct kunit *test)
{
	unsigned int g;
	int ret;

	ret = mux_init(test);
	if (ret)
		return ret;

	graphs = kcalloc(NR_GRAPHS, sizeof(*graphs), GFP_KERNEL);
	if (!graphs)
		return -ENOMEM;

	for (g = 0; g < NR_GRAPHS; g++) {
		graphs[g].gops.entryfunc = graph_entry;
		graphs[g].gops.retfunc = graph_return;
		graphs[g].owner = &graphs[g];
		ret = ret ?: graph_set_filter(&graphs[g], FN_ALL);
	}

	/* The last one has the filter of the one before, like function_graph */
	graphs[NR_GRAPHS - 1].owner = &graphs[NR_GRAPHS - 2];
	ftrace_free_filter(&graphs[NR_GRAPHS - 1].gops.ops);
	fgraph_init_ops(&graphs[NR_GRAPHS - 1].gops.ops,
			&graphs[NR_GRAPHS - 2].gops.ops);

	return ret;
}

static void mux_graph_exit(struct kunit *test)
{
	unsigned int g;

	for (g = 0; graphs && g < NR_GRAPHS; g++) {
		if (graph_is_registered(&graphs[g]))
			unregister_ftrace_graph(&graphs[g].gops);
	}
	/* Users may share a filter */
	for (g = 0; graphs && g < NR_GRAPHS; g++)
		ftrace_free_filter(&graphs[g].gops.ops);
	kfree(graphs);
	graphs = NULL;

	mux_exit(test);
}

/* Users of function graph come, go and change their filters, beside tracers */
static void mux_graph_random(struct kunit *test)
{
	unsigned int step;

	for (step = 0; step < NR_STEPS; step++) {
		if (get_random_u32_below(4))
			KUNIT_ASSERT_EQ(test, 0, graph_random_step(random_graph(),
								   random_functions()));
		else
			random_step(test, 0);
		expect_graphs(test, true);
		cond_resched();
	}
}

/* Users lose and regain their filters. One never has any: graph_ops traces all functions */
static void mux_graph_no_filter(struct kunit *test)
{
	struct mux_graph *graph;
	unsigned int step;

	KUNIT_ASSERT_EQ(test, 0, graph_set_filter(&graphs[0], 0));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graphs[0].gops));

	for (step = 0; step < NR_STEPS / 4; step++) {
		graph = &graphs[1 + get_random_u32_below(NR_GRAPHS - 1)];
		KUNIT_ASSERT_EQ(test, 0, graph_random_step(graph, step % 4 ?
							   random_functions() : 0));
		expect_graphs(test, true);
		cond_resched();
	}
}

/*
 * While others come, go and change their filters, a user gets each call exactly
 * once, and one that never traces the function gets none.
 */
static void mux_graph_no_call_lost(struct kunit *test)
{
	struct mux_graph *always = &graphs[0], *never = &graphs[1];
	struct task_struct *task;
	unsigned int step;
	int ret = 0;

	KUNIT_ASSERT_EQ(test, 0, graph_set_filter(always, FN_A));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&always->gops));
	task = start_loop(test);

	for (step = 0; step < NR_FLIPS && !ret; step++) {
		struct mux_graph *graph = random_graph();
		unsigned int functions = random_functions();

		if (graph == never)
			functions = FN_B;
		if (graph != always)
			ret = graph_random_step(graph, functions);
		cond_resched_tasks_rcu_qs();
	}
	kthread_stop(task);

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, loop_calls, 0UL);
	KUNIT_EXPECT_EQ(test, loop_calls, always->entries[0]);
	KUNIT_EXPECT_EQ(test, loop_calls, always->exits[0]);
	KUNIT_EXPECT_EQ(test, 0UL, never->entries[0]);
	KUNIT_EXPECT_EQ(test, 0UL, never->exits[0]);
	kunit_info(test, "%lu calls", loop_calls);
}

/* func_a() is called right before and after its bits are updated */
static void call_and_update_bits(unsigned long user, struct ftrace_ops *ops,
				 struct ftrace_hash *old)
{
	kunit_deactivate_static_stub(kunit_get_current_test(), ftrace_mux_update_bits);

	call(func_a);
	ftrace_mux_update_bits(user, ops, old);
	call(func_a);
}

/* While a user gets its first filter, it sees all calls of functions in that filter */
static void mux_graph_first_filter(struct kunit *test)
{
	struct mux_graph *graph = &graphs[1];
	unsigned int g;

	for (g = 0; g < 2; g++) {
		KUNIT_ASSERT_EQ(test, 0, graph_set_filter(&graphs[g], 0));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graphs[g].gops));
	}

	KUNIT_EXPECT_TRUE(test, fgraph_unfiltered & FGRAPH_NO_FILTERS);

	kunit_activate_static_stub(test, ftrace_mux_update_bits, call_and_update_bits);
	KUNIT_ASSERT_EQ(test, 0, graph_set_filter(graph, FN_A));
	KUNIT_EXPECT_EQ(test, 2UL, graph->entries[0]);
	KUNIT_EXPECT_EQ(test, 2UL, graph->exits[0]);
	KUNIT_EXPECT_FALSE(test, fgraph_unfiltered & FGRAPH_NO_FILTERS);

	unregister_ftrace_graph(&graph->gops);
	KUNIT_EXPECT_TRUE(test, fgraph_unfiltered & FGRAPH_NO_FILTERS);
}

/* When a filter changes, only the functions of the old and the new one are visited */
static void mux_graph_visits(struct kunit *test)
{
	struct ftrace_mux_func *func;
	unsigned long user;

	KUNIT_ASSERT_EQ(test, 0, graph_set_filter(&graphs[0], FN_ALL));
	KUNIT_ASSERT_EQ(test, 0, graph_set_filter(&graphs[1], FN_A));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graphs[0].gops));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graphs[1].gops));
	user = BIT(graphs[1].gops.idx);

	mutex_lock(&ftrace_lock);
	func = ftrace_mux_find(func_ips[NR_FUNCS - 1]);
	/* A visit would clear it */
	if (func)
		WRITE_ONCE(func->graph, func->graph | user);
	mutex_unlock(&ftrace_lock);
	KUNIT_ASSERT_NOT_NULL(test, func);

	KUNIT_EXPECT_EQ(test, 0, graph_set_filter(&graphs[1], FN_B));

	mutex_lock(&ftrace_lock);
	KUNIT_EXPECT_TRUE(test, func->graph & user);
	WRITE_ONCE(func->graph, func->graph & ~user);
	mutex_unlock(&ftrace_lock);

	expect_graphs(test, true);
}

/*
 * Without memory for sets, functions leave the table, and all filters are tested.
 * Without memory for slots, they call no trampoline of their set.
 */
static void mux_graph_alloc_fails(struct kunit *test)
{
	unsigned int step;

	for (step = 0; step < NR_STEPS / 4; step++) {
		fail_sets(test, step, true);
		fail_slots(test, true);
		KUNIT_ASSERT_EQ(test, 0, graph_random_step(random_graph(),
							   random_functions()));
		random_step(test, 0);
		fail_sets(test, step, false);
		fail_slots(test, false);
		expect_graphs(test, false);

		/* The next update adds the functions to the table */
		random_step(test, 0);
		expect_graphs(test, true);
		cond_resched();
	}
}

static struct kunit_case mux_graph_cases[] = {
	KUNIT_CASE_SLOW(mux_graph_random),
	KUNIT_CASE_SLOW(mux_graph_no_filter),
	KUNIT_CASE_SLOW(mux_graph_first_filter),
	KUNIT_CASE_SLOW(mux_graph_visits),
	KUNIT_CASE_SLOW(mux_graph_no_call_lost),
	KUNIT_CASE_SLOW(mux_graph_alloc_fails),
	{}
};

static struct kunit_suite mux_graph_suite = {
	.name		= "ftrace_mux_graph",
	.init		= mux_graph_init,
	.exit		= mux_graph_exit,
	.test_cases	= mux_graph_cases,
};

kunit_test_suite(mux_graph_suite);
#endif

static struct kunit_case mux_cases[] = {
	KUNIT_CASE(mux_sets),
	KUNIT_CASE(mux_failure),
	KUNIT_CASE(mux_args),
	KUNIT_CASE(mux_callback),
	MUX_CALLBACK_SYNCS
	KUNIT_CASE(mux_unwind),
#ifdef CONFIG_FTRACE_MUX_TRAMPOLINES
	KUNIT_CASE(mux_slots),
	KUNIT_CASE(mux_ipmodify),
	KUNIT_CASE(mux_no_slot),
	KUNIT_CASE(mux_no_slot_redirect),
	KUNIT_CASE(mux_limit),
	KUNIT_CASE(mux_limit_retire),
	KUNIT_CASE(mux_max_calls_exceeded),
	MUX_NO_SLOT_MODULE
	KUNIT_CASE(mux_single),
	KUNIT_CASE(mux_late),
	KUNIT_CASE(mux_single_no_slot),
	MUX_DISARM
	MUX_DIRECT
	MUX_DIRECT_MOVES
#endif
	KUNIT_CASE(mux_max_sets_reached),
	KUNIT_CASE_SLOW(mux_max_sets_random),
	KUNIT_CASE_SLOW(mux_random),
	MUX_RANDOM_SINGLE
	KUNIT_CASE_SLOW(mux_alloc_fails),
	KUNIT_CASE_SLOW(mux_no_call_lost),
	KUNIT_CASE_SLOW(mux_no_call_lost_list),
	MUX_NO_CALL_LOST_SINGLE
	KUNIT_CASE_SLOW(mux_unregister),
	MUX_OWN_OPS
	{}
};

static struct kunit_suite mux_suite = {
	.name		= "ftrace_mux",
	.init		= mux_init,
	.exit		= mux_exit,
	.test_cases	= mux_cases,
};

kunit_test_suite(mux_suite);
