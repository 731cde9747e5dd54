// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of sets of ftrace_ops: each function calls exactly the ops that
 * trace it, with the right arguments, while ops are registered and unregistered
 * and their filters change.
 *
 * Unlike the rest of kernel/trace, this file is compiled to be traced.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace_mux.h>
#include <linux/kthread.h>
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
 * @regs:	registers passed to the last invocation
 * @action:	what else the callback does
 */
struct mux_tracer {
	struct ftrace_ops	ops;
	unsigned int		functions;
	unsigned long		calls[NR_FUNCS];
	unsigned long		error;
	struct pt_regs		*regs;
	void			(*action)(struct mux_tracer *tracer,
					  struct ftrace_regs *fregs);
};

static struct mux_tracer *tracers;
static unsigned long func_ips[NR_FUNCS];
/* Call site in call(), which each callback should get as the parent ip */
static unsigned long caller;

static notrace void trace_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct mux_tracer *tracer = container_of(op, struct mux_tracer, ops);
	unsigned int i;

	tracer->regs = ftrace_get_regs(fregs);

	if (!caller)
		caller = parent_ip;
	if (parent_ip != caller)
		tracer->error++;

	for (i = 0; i < NR_FUNCS; i++) {
		if (ip == func_ips[i]) {
			tracer->calls[i]++;
			if (tracer->action)
				tracer->action(tracer, fregs);
			return;
		}
	}
	tracer->error++;
}

static int set_filter(struct mux_tracer *tracer, unsigned int functions)
{
	unsigned int i, nr = 0;
	unsigned long ips[NR_FUNCS];

	for (i = 0; i < NR_FUNCS; i++) {
		if (functions & BIT(i))
			ips[nr++] = func_ips[i];
	}
	tracer->functions = functions;

	return ftrace_set_filter_ips(&tracer->ops, ips, nr, 0, 1);
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

/* Save all registers, where supported */
#define SAVE_REGS	(FTRACE_OPS_FL_SAVE_REGS | \
			 FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED)

/* Slot ID of the jump that a function calls, zero for none */
static unsigned int slot_of(unsigned int f)
{
	struct ftrace_rec_iter *iter;
	unsigned int id = 0;

	for_ftrace_rec_iter(iter) {
		struct dyn_ftrace *rec = ftrace_rec_iter_record(iter);

		if (rec->ip == func_ips[f])
			id = ftrace_rec_slot_called(rec);
	}

	return id;
}

/* Trampoline that a function calls. Valid until the next change of tracers */
static struct ftrace_mux_tramp *tramp_of(unsigned int f)
{
	struct ftrace_mux_tramp *tramp;
	struct ftrace_slot *slot;

	mutex_lock(&ftrace_lock);
	slot = ftrace_mux_slot(slot_of(f));
	tramp = slot ? slot->set->tramp : NULL;
	mutex_unlock(&ftrace_lock);

	return tramp;
}

/* Number of ops that the trampoline of a function calls; zero if it has none */
static unsigned int callees_of(unsigned int f)
{
	struct ftrace_mux_tramp *tramp = tramp_of(f);

	return tramp ? tramp->nr_callees : 0;
}

/* A single ops has its own trampoline, or is the only callee of a set */
static void expect_single(struct kunit *test, unsigned int f)
{
	struct ftrace_mux_tramp *tramp = tramp_of(f);

	if (IS_ENABLED(CONFIG_FTRACE_MUX_TRAMPOLINES)) {
		KUNIT_EXPECT_NULL(test, tramp);
		return;
	}

	KUNIT_EXPECT_NOT_NULL(test, tramp);
	if (tramp)
		KUNIT_EXPECT_EQ(test, 1U, tramp->nr_callees);
}

static void expect_audit(struct kunit *test)
{
	int ret;

	if (!IS_ENABLED(CONFIG_FTRACE_MUX_AUDIT))
		return;

	mutex_lock(&ftrace_lock);
	ret = ftrace_mux_audit(NULL);
	mutex_unlock(&ftrace_lock);

	KUNIT_EXPECT_EQ(test, 0, ret);
}

/* Limit before the test, to be restored */
static unsigned int old_limit;

static int mux_init(struct kunit *test)
{
	unsigned int i;

	old_limit = ftrace_mux_limit(1024);

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

static void mux_exit(struct kunit *test)
{
	unsigned int i;

	for (i = 0; tracers && i < NR_TRACERS; i++) {
		if (is_registered(&tracers[i]))
			unregister_ftrace_function(&tracers[i].ops);
		ftrace_free_filter(&tracers[i].ops);
	}
	kfree(tracers);
	tracers = NULL;

	ftrace_mux_limit(old_limit);
}

/* Functions traced by the same ops have the same set */
static void mux_sets(struct kunit *test)
{
	start(test, 0, FN_A | FN_B);
	expect_single(test, 0);
	expect_calls(test);

	start(test, 1, FN_ALL);
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(0));
	KUNIT_EXPECT_PTR_EQ(test, tramp_of(0), tramp_of(1));
	expect_single(test, 2);
	expect_calls(test);

	start(test, 2, FN_B);
	KUNIT_EXPECT_PTR_NE(test, tramp_of(0), tramp_of(1));
	KUNIT_EXPECT_EQ(test, 3U, callees_of(1));
	expect_calls(test);

	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_A | FN_B));
	KUNIT_EXPECT_PTR_EQ(test, tramp_of(0), tramp_of(1));
	expect_calls(test);
	expect_audit(test);

	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	KUNIT_EXPECT_EQ(test, 2U, callees_of(0));
	expect_calls(test);

	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	expect_single(test, 0);
	expect_calls(test);
	expect_audit(test);
}

/* An ops that joins or leaves all functions of a jump changes only the jump */
static void mux_jumps(struct kunit *test)
{
	unsigned int slot, other;

	start(test, 0, FN_A | FN_B);
	start(test, 1, FN_A | FN_B);
	slot = slot_of(0);
	KUNIT_EXPECT_NE(test, 0U, slot);
	KUNIT_EXPECT_EQ(test, slot, slot_of(1));

	start(test, 2, FN_A | FN_B);
	KUNIT_EXPECT_EQ(test, slot, slot_of(0));
	KUNIT_EXPECT_EQ(test, slot, slot_of(1));
	KUNIT_EXPECT_EQ(test, 3U, callees_of(0));
	expect_calls(test);

	/* The set of only one function changes: it calls another jump */
	start(test, 3, FN_A);
	KUNIT_EXPECT_NE(test, slot_of(0), slot_of(1));
	KUNIT_EXPECT_EQ(test, slot, slot_of(1));
	expect_calls(test);
	expect_audit(test);

	/* Both jumps lead to one trampoline; no call site is patched back */
	other = slot_of(0);
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[3].ops));
	KUNIT_EXPECT_EQ(test, other, slot_of(0));
	KUNIT_EXPECT_PTR_EQ(test, tramp_of(0), tramp_of(1));
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	KUNIT_EXPECT_EQ(test, other, slot_of(0));
	KUNIT_EXPECT_EQ(test, slot, slot_of(1));
	KUNIT_EXPECT_PTR_EQ(test, tramp_of(0), tramp_of(1));
	expect_calls(test);
	expect_audit(test);
}

/* The sets with the most functions get the available trampolines */
static void mux_limit(struct kunit *test)
{
	ftrace_mux_limit(1);

	start(test, 0, FN_A);
	start(test, 1, FN_A);
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(0));

	start(test, 2, FN_ALL & ~FN_A);
	start(test, 3, FN_ALL & ~FN_A);
	KUNIT_EXPECT_NULL(test, tramp_of(0));
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(1));
	expect_calls(test);
	expect_audit(test);

	/* A set that replaces another one does not need a second trampoline */
	start(test, 4, FN_ALL & ~FN_A);
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(1));
	expect_calls(test);

	/* With a higher limit, the other set gets a trampoline, too */
	ftrace_mux_limit(2);
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(0));
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(1));
	expect_calls(test);
	expect_audit(test);

	ftrace_mux_limit(1);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[2], FN_A));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[3], FN_A));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&tracers[4], FN_A));
	KUNIT_EXPECT_NOT_NULL(test, tramp_of(0));
	expect_calls(test);
	expect_audit(test);
}

/* Registers are passed for a function if any of its ops requires them */
static void mux_regs(struct kunit *test)
{
	bool always;

	if (!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		kunit_skip(test, "saving all registers is not supported");

	/* Some architectures pass registers even if not all are saved */
	start(test, 0, FN_A | FN_B);
	call(func_a);
	always = tracers[0].regs;

	tracers[1].ops.flags |= SAVE_REGS;
	start(test, 1, FN_A);
	start(test, 2, FN_A | FN_B);

	call(func_a);
	KUNIT_EXPECT_NOT_NULL(test, tracers[0].regs);
	KUNIT_EXPECT_NOT_NULL(test, tracers[1].regs);
	KUNIT_EXPECT_NOT_NULL(test, tracers[2].regs);

	call(func_b);
	KUNIT_EXPECT_EQ(test, always, !!tracers[0].regs);
	KUNIT_EXPECT_EQ(test, always, !!tracers[2].regs);

	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	call(func_a);
	KUNIT_EXPECT_EQ(test, always, !!tracers[0].regs);
	expect_calls(test);
	expect_audit(test);
}

static unsigned long real_parent;
static bool parent_known;

/* Where ftrace_graph_func() finds the return address; NULL if not known here */
static notrace unsigned long *parent_of(struct ftrace_regs *fregs)
{
#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
	return (void *)fregs->regs.sp;
#elif defined(CONFIG_ARM64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
	return (void *)&fregs->regs.regs[30];
#elif defined(CONFIG_S390) && defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
	return &fregs->regs.gprs[14];
#else
	return NULL;
#endif
}

/* Like a tracer that hooks the return of the function */
static notrace void change_parent(struct mux_tracer *tracer, struct ftrace_regs *fregs)
{
	unsigned long *parent = parent_of(fregs);

	parent_known = parent;
	if (!parent)
		return;
	real_parent = *parent;
	*parent = 0xdead;
}

static notrace void restore_parent(struct mux_tracer *tracer, struct ftrace_regs *fregs)
{
	unsigned long *parent = parent_of(fregs);

	if (!parent)
		return;
	if (*parent != 0xdead)
		tracer->error++;
	*parent = real_parent;
}

/* If a callback changes the return address, later callbacks get the original */
static void mux_parent_changes(struct kunit *test)
{
	unsigned int i;

	/* The ops registered last is called first */
	tracers[0].action = restore_parent;
	tracers[3].action = change_parent;
	for (i = 0; i < 4; i++)
		start(test, i, FN_A);
	expect_calls(test);
	if (!parent_known)
		kunit_skip(test, "the location of the return address is not available");

	/* Again, with all registers saved */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[3].ops));
	tracers[3].ops.flags |= SAVE_REGS;
	start(test, 3, FN_A);
	expect_calls(test);
	if (IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS))
		KUNIT_EXPECT_NOT_NULL(test, tracers[1].regs);
}

/* Task in which ftrace fails when it allocates memory */
static struct task_struct *failing;

static notrace void fail_ftrace(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	if (current == failing && in_task())
		ftrace_kill();
}

static struct ftrace_ops failing_ops = { .func = fail_ftrace };

/* Register a tracer whose functions ftrace still takes for traced by it */
static void register_again(struct kunit *test, struct mux_tracer *tracer)
{
	mutex_lock(&ftrace_lock);
	INIT_LIST_HEAD(&tracer->ops.list);
	tracer->ops.func = trace_call;
	KUNIT_EXPECT_EQ(test, 0, __register_ftrace_function(&tracer->ops));
	tracer->ops.flags |= FTRACE_OPS_FL_ENABLED;
	mutex_unlock(&ftrace_lock);
}

/* Unregister a tracer while ftrace fails. Returns with ftrace disabled */
static int fail_unregister(struct mux_tracer *tracer)
{
	int ret;

	failing = current;
	ret = unregister_ftrace_function(&tracer->ops);
	failing = NULL;

	return ret;
}

/*
 * If ftrace fails before call sites are patched, functions call jumps of sets
 * with an ops that is unregistered, or the trampoline of that ops, but do not
 * call the ops. Nor do they call an ops that is unregistered later.
 */
static void mux_failure(struct kunit *test)
{
	/* Called when the tracer leaves its set, before call sites are patched */
	unsigned char filter[] = "*kmalloc*";
	ftrace_func_t func;
	int enabled;

	start(test, 0, FN_ALL & ~FN_B);
	start(test, 1, FN_A | FN_B);
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter(&failing_ops, filter,
						   strlen(filter), 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&failing_ops));

	func = ftrace_trace_function;
	enabled = ftrace_enabled;
	KUNIT_EXPECT_EQ(test, 0, fail_unregister(&tracers[1]));
	KUNIT_EXPECT_TRUE(test, ftrace_is_dead());
	KUNIT_EXPECT_NE(test, 0U, slot_of(0));
	expect_calls(test);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			unregister_ftrace_function(&tracers[0].ops));
	expect_calls(test);

	/*
	 * Undo what ftrace_kill() did. ftrace has lost track of the trampoline
	 * that FN_B calls, until its tracer is registered again.
	 */
	ftrace_disabled = 0;
	ftrace_enabled = enabled;
	ftrace_trace_function = func;
	register_again(test, &tracers[0]);
	INIT_LIST_HEAD(&tracers[1].ops.list);
	tracers[1].ops.func = trace_call;
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&tracers[1].ops));
	expect_calls(test);

	/* Patch the call sites now */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[1].ops));
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&failing_ops));
	ftrace_free_filter(&failing_ops);
	expect_single(test, 0);
	expect_calls(test);

	/* Its functions have lost their sets, which the audit would find */
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[0].ops));
	expect_calls(test);
	expect_audit(test);
}

/* Call the traced function from its own callback */
static notrace void recurse(struct mux_tracer *tracer, struct ftrace_regs *fregs)
{
	if (tracer->calls[0] < 5)
		call(func_a);
}

/*
 * Callbacks that require protection from recursion are protected. One nested
 * call may pass the check, as it might come from an interrupt.
 */
static void mux_recursion(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		tracers[i].ops.flags |= FTRACE_OPS_FL_RECURSION;
	tracers[1].action = recurse;
	for (i = 0; i < 3; i++)
		start(test, i, FN_A);

	call(func_a);
	KUNIT_EXPECT_LT(test, tracers[1].calls[0], 5UL);
	KUNIT_EXPECT_LT(test, tracers[0].calls[0], 5UL);
	KUNIT_EXPECT_LT(test, tracers[2].calls[0], 5UL);
}

#define NR_ENTRIES	32

static notrace void unwind(struct mux_tracer *tracer, struct ftrace_regs *fregs)
{
	unsigned long entries[NR_ENTRIES];
	unsigned int i, nr;

	nr = stack_trace_save(entries, NR_ENTRIES, 0);
	for (i = 0; i < nr; i++) {
		if (entries[i] == caller)
			return;
	}
	tracer->error++;
}

/*
 * From a callback, the stack can be unwound up to the caller of the function. A
 * trampoline contains more calls than the template it is copied from.
 */
static void mux_unwind(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_TRACERS - 1; i++)
		start(test, i, FN_A);
	expect_calls(test);

	for (i = 0; i < NR_TRACERS; i++)
		tracers[i].action = unwind;
	expect_calls(test);

	/* 32-bit ftrace_regs_caller does not set up a frame for the caller */
	if (IS_ENABLED(CONFIG_X86_32))
		return;

	tracers[NR_TRACERS - 1].ops.flags |= SAVE_REGS;
	start(test, NR_TRACERS - 1, FN_A);
	expect_calls(test);
}

/* With lock debugging each step takes much longer */
#define NR_STEPS	(IS_ENABLED(CONFIG_PROVE_LOCKING) ? 300 : 1000)

static unsigned int most_sets;

static unsigned int count_sets(void)
{
	struct ftrace_set *set;
	unsigned int nr = 0;

	mutex_lock(&ftrace_lock);
	list_for_each_entry(set, ftrace_mux_sets(), list)
		nr += !!set->tramp;
	mutex_unlock(&ftrace_lock);

	return nr;
}

static void random_steps(struct kunit *test, unsigned int steps)
{
	unsigned int step, i, functions;

	most_sets = 0;

	for (step = 0; step < steps; step++) {
		i = get_random_u32_below(NR_TRACERS);
		/* An empty filter would match all functions of the kernel */
		functions = 1 + get_random_u32_below(FN_ALL);

		if (!is_registered(&tracers[i])) {
			tracers[i].ops.flags &= ~(SAVE_REGS |
						  FTRACE_OPS_FL_RECURSION |
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

		expect_calls(test);
		most_sets = max(most_sets, count_sets());
		if (!(step % 16))
			expect_audit(test);
		cond_resched();
	}
}

static void mux_random(struct kunit *test)
{
	random_steps(test, NR_STEPS);
}

/* The same, with a limit below the number of sets, and with sets disabled */
static void mux_random_cap(struct kunit *test)
{
	unsigned int max = ftrace_mux_limit(2);

	random_steps(test, NR_STEPS / 10);
	KUNIT_EXPECT_EQ(test, 2U, most_sets);
	ftrace_mux_limit(0);
	random_steps(test, NR_STEPS / 10);
	KUNIT_EXPECT_EQ(test, 0U, most_sets);
	ftrace_mux_limit(max);
	random_steps(test, NR_STEPS / 10);
	KUNIT_EXPECT_GT(test, most_sets, 2U);
}

/* The same, while sets are disabled and enabled */
static void mux_random_switch(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_STEPS / 100; i++) {
		ftrace_mux_limit(i & 1 ? 1024 : 0);
		expect_calls(test);
		if (!(i & 1))
			KUNIT_EXPECT_NULL(test, tramp_of(0));
		random_steps(test, 10);
	}
	ftrace_mux_limit(1024);
	expect_calls(test);
}

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

/**
 * struct leaver - a tracer that is unregistered while its function is called
 * @ops:	its ops, if it is not a user of function graph
 * @gops:	its fgraph_ops, if it is one
 * @long_call:	index of the callback invocation that takes long
 * @gone:	set after unregistering
 * @calls:	number of callback invocations
 * @late:	number of invocations that started or still ran with @gone set
 */
struct leaver {
	struct ftrace_ops	ops;
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	struct fgraph_ops	gops;
#endif
	unsigned long		long_call;
	bool			gone;
	unsigned long		calls;
	unsigned long		late;
};

static notrace void leaver_called(struct leaver *leaver)
{
	unsigned long call = leaver->calls;
	unsigned int ms;

	WRITE_ONCE(leaver->calls, call + 1);
	/* If unregistering does not wait for it, it still runs afterwards */
	for (ms = 0; call == leaver->long_call && ms < 100; ms++) {
		if (READ_ONCE(leaver->gone))
			break;
		mdelay(1);
	}
	if (READ_ONCE(leaver->gone))
		leaver->late++;
}

static notrace void leaver_call(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	leaver_called(container_of(op, struct leaver, ops));
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static notrace int leaver_entry(struct ftrace_graph_ent *trace,
				struct fgraph_ops *gops)
{
	leaver_called(container_of(gops, struct leaver, gops));
	return 1;
}

static notrace void leaver_return(struct ftrace_graph_ret *trace,
				  struct fgraph_ops *gops)
{
	leaver_called(container_of(gops, struct leaver, gops));
}

static int leaver_start_graph(struct leaver *leaver)
{
	int ret;

	leaver->gops.entryfunc = leaver_entry;
	leaver->gops.retfunc = leaver_return;
	ret = ftrace_set_filter_ip(&leaver->gops.ops, func_ips[0], 0, 1);

	return ret ? ret : register_ftrace_graph(&leaver->gops);
}

static void leaver_stop_graph(struct leaver *leaver)
{
	unregister_ftrace_graph(&leaver->gops);
}

static void leaver_free_graph(struct leaver *leaver)
{
	ftrace_free_filter(&leaver->gops.ops);
}
#else
static int leaver_start_graph(struct leaver *leaver) { return -ENODEV; }
static void leaver_stop_graph(struct leaver *leaver) { }
static void leaver_free_graph(struct leaver *leaver) { }
#endif

static int leaver_start(struct leaver *leaver)
{
	int ret;

	leaver->ops.func = leaver_call;
	ret = ftrace_set_filter_ip(&leaver->ops, func_ips[0], 0, 1);

	return ret ? ret : register_ftrace_function(&leaver->ops);
}

#define NR_LEAVERS	24

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
		bool graph = IS_ENABLED(CONFIG_FUNCTION_GRAPH_TRACER) && i & 1;
		unsigned long timeout = jiffies + 10 * HZ;

		leaver = &leavers[i];
		/* For fgraph users, either the entry or the return */
		leaver->long_call = graph && i & 2;

		ret = graph ? leaver_start_graph(leaver) : leaver_start(leaver);
		if (ret)
			break;

		while (READ_ONCE(leaver->calls) <= leaver->long_call &&
		       time_before(jiffies, timeout))
			cond_resched_tasks_rcu_qs();

		if (graph)
			leaver_stop_graph(leaver);
		else
			ret = unregister_ftrace_function(&leaver->ops);
		WRITE_ONCE(leaver->gone, true);
		KUNIT_EXPECT_GT(test, leaver->calls, leaver->long_call);
	}
	kthread_stop(task);
	KUNIT_EXPECT_EQ(test, 0, ret);

	for (i = 0; i < NR_LEAVERS; i++) {
		late += leavers[i].late;
		ftrace_free_filter(&leavers[i].ops);
		leaver_free_graph(&leavers[i]);
	}
	KUNIT_EXPECT_EQ(test, 0UL, late);
}

/* Untraced functions have the original code, and records are not larger */
static void mux_untraced(struct kunit *test)
{
	u8 before[MCOUNT_INSN_SIZE];
	void *ip = (void *)func_ips[0];
	unsigned int i;

	memcpy(before, ip, sizeof(before));

	for (i = 0; i < 3; i++)
		start(test, i, FN_A);
	KUNIT_EXPECT_NE(test, 0, memcmp(before, ip, sizeof(before)));

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&tracers[i].ops));
	KUNIT_EXPECT_EQ(test, 0, memcmp(before, ip, sizeof(before)));
	KUNIT_EXPECT_EQ(test, 0U, count_sets());

	KUNIT_EXPECT_EQ(test, sizeof(struct dyn_ftrace),
			2 * sizeof(unsigned long) + sizeof(struct dyn_arch_ftrace));
}

/* Exceeds FTRACE_MUX_MAX_CALLEES if there are trampolines */
#define NR_MANY		130

/* A hundred ops on a function use a trampoline, more use the list function */
static void mux_many(struct kunit *test)
{
	struct mux_tracer *few = tracers;
	unsigned int i, nr;

	tracers = kcalloc(NR_MANY, sizeof(*tracers), GFP_KERNEL);
	if (!tracers) {
		tracers = few;
		KUNIT_FAIL(test, "no memory");
		return;
	}

	for (nr = 0; nr < NR_MANY; nr++) {
		tracers[nr].ops.func = trace_call;
		if (set_filter(&tracers[nr], FN_A) ||
		    register_ftrace_function(&tracers[nr].ops))
			break;
		if (nr == 100)
			KUNIT_EXPECT_NOT_NULL(test, tramp_of(0));
	}
	KUNIT_EXPECT_EQ(test, NR_MANY, nr);
	KUNIT_EXPECT_EQ(test, NR_MANY <= FTRACE_MUX_MAX_CALLEES, !!tramp_of(0));
	expect_audit(test);

	call(func_a);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, 1UL, tracers[i].calls[0]);
		KUNIT_EXPECT_EQ(test, 0UL, tracers[i].error);
	}

	while (nr--) {
		KUNIT_EXPECT_EQ(test, 0,
				unregister_ftrace_function(&tracers[nr].ops));
		ftrace_free_filter(&tracers[nr].ops);
	}
	kfree(tracers);
	tracers = few;
}

static struct kunit_case mux_cases[] = {
	KUNIT_CASE(mux_sets),
	KUNIT_CASE(mux_jumps),
	KUNIT_CASE(mux_limit),
	KUNIT_CASE(mux_regs),
	KUNIT_CASE(mux_parent_changes),
	KUNIT_CASE(mux_failure),
	KUNIT_CASE(mux_recursion),
	KUNIT_CASE(mux_unwind),
	KUNIT_CASE(mux_many),
	KUNIT_CASE(mux_random),
	KUNIT_CASE(mux_random_cap),
	KUNIT_CASE(mux_random_switch),
	KUNIT_CASE(mux_no_call_lost),
	KUNIT_CASE(mux_unregister),
	KUNIT_CASE(mux_untraced),
	{}
};

static struct kunit_suite mux_suite = {
	.name		= "ftrace_mux",
	.init		= mux_init,
	.exit		= mux_exit,
	.test_cases	= mux_cases,
};

kunit_test_suite(mux_suite);
