// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of function graph, with traced calls.
 *
 * Unlike in the rest of kernel/trace, functions in this file can be traced.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>

#define NR_CALLS	100
#define NR_ENTRIES	64

/**
 * struct unwind - a task that is preempted while function graph handles returns
 * @gops:	traces unwind_leaf()
 * @done:	the task has returned from all calls
 * @checker:	a thread with a higher priority, on the same CPU as the task
 * @woken:	set when @checker is woken, cleared when the task is back in
 *		unwind_caller()
 * @ret:	the return address of unwind_leaf()
 * @outer:	the return address of unwind_caller()
 * @traces:	number of stack traces that @checker took in between
 * @unreliable:	number of these that are not called reliable
 * @incomplete:	number of reliable ones without @ret or @outer
 * @entries:	the first of these
 * @nr:		its number of entries
 */
static struct unwind {
	struct fgraph_ops	gops;
	struct completion	done;
	struct task_struct	*checker;
	bool			woken;
	unsigned long		ret;
	unsigned long		outer;
	unsigned int		traces;
	unsigned int		unreliable;
	unsigned int		incomplete;
	unsigned long		entries[NR_ENTRIES];
	int			nr;
} unwind;

static notrace int traced_entry(struct ftrace_graph_ent *trace,
				struct fgraph_ops *gops)
{
	return 1;
}

/* The task is preempted as soon as function graph enables preemption */
static notrace void unwind_return(struct ftrace_graph_ret *trace,
				  struct fgraph_ops *gops)
{
	unwind.ret = ftrace_graph_get_ret(current, 0);
	WRITE_ONCE(unwind.woken, true);
	wake_up_process(unwind.checker);
}

static noinline void unwind_leaf(void)
{
	asm volatile("");
}

static noinline void unwind_caller(void)
{
	unwind.outer = (unsigned long)__builtin_return_address(0);
	unwind_leaf();
	WRITE_ONCE(unwind.woken, false);
}

static int unwind_task(void *unused)
{
	unsigned int i;

	for (i = 0; i < NR_CALLS; i++)
		unwind_caller();
	complete(&unwind.done);

	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);

	return 0;
}

static bool unwind_found(unsigned long *entries, int nr, unsigned long addr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (entries[i] == addr)
			return true;
	}

	return false;
}

static int unwind_checker(void *task)
{
	unsigned long entries[NR_ENTRIES];
	int nr;

	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);

		if (!READ_ONCE(unwind.woken))
			continue;

		unwind.traces++;
		nr = stack_trace_save_tsk_reliable(task, entries, NR_ENTRIES);
		if (nr < 0) {
			unwind.unreliable++;
		} else if (!unwind_found(entries, nr, unwind.ret) ||
			   !unwind_found(entries, nr, unwind.outer)) {
			if (unwind.incomplete++)
				continue;
			memcpy(unwind.entries, entries, sizeof(entries));
			unwind.nr = nr;
		}
	}
	__set_current_state(TASK_RUNNING);

	return 0;
}

static struct task_struct *unwind_create(int (*func)(void *data), void *data)
{
	struct task_struct *task = kthread_create(func, data, "fgraph_unwind");

	if (IS_ERR(task))
		return NULL;

	kthread_bind(task, cpumask_first(cpu_online_mask));
	/* kthread_stop() needs it, even if it has exited */
	return get_task_struct(task);
}

static void unwind_stop(struct task_struct *task)
{
	if (!task)
		return;

	kthread_stop(task);
	put_task_struct(task);
}

/* A stack trace shows the callers while function graph handles a return */
static void fgraph_unwind_return(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)unwind_leaf);
	struct task_struct *task, *checker;
	int i, ret;

	if (!IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE))
		kunit_skip(test, "no reliable stack traces");

	KUNIT_ASSERT_NE(test, 0UL, ip);
	memset(&unwind, 0, sizeof(unwind));
	init_completion(&unwind.done);
	unwind.gops.entryfunc = traced_entry;
	unwind.gops.retfunc = unwind_return;

	ret = ftrace_set_filter_ip(&unwind.gops.ops, ip, 0, 1);
	if (!ret)
		ret = register_ftrace_graph(&unwind.gops);

	task = unwind_create(unwind_task, NULL);
	checker = unwind_create(unwind_checker, task);
	if (!ret && task && checker) {
		unwind.checker = checker;
		sched_set_fifo(checker);
		/* It runs first, and sleeps until the task wakes it up */
		wake_up_process(checker);
		wake_up_process(task);
		wait_for_completion(&unwind.done);
	}
	unregister_ftrace_graph(&unwind.gops);
	ftrace_free_filter(&unwind.gops.ops);
	unwind_stop(checker);
	unwind_stop(task);

	KUNIT_ASSERT_EQ(test, 0, ret);
	KUNIT_ASSERT_TRUE(test, task && checker);

	for (i = 0; i < unwind.nr; i++)
		kunit_info(test, "%pS", (void *)unwind.entries[i]);
	KUNIT_EXPECT_EQ(test, 0U, unwind.incomplete);
	/* An interrupt may preempt the task, too */
	KUNIT_EXPECT_LE(test, unwind.unreliable, unwind.traces / 2);

	if (!unwind.traces)
		kunit_skip(test, "the kernel is not preemptible");
}

/* Keeps the stack trace. The return is not to be traced */
static notrace int entry_unwind(struct ftrace_graph_ent *trace,
				struct fgraph_ops *gops)
{
	unwind.nr = stack_trace_save(unwind.entries, NR_ENTRIES, 0);

	return 0;
}

static notrace void entry_return(struct ftrace_graph_ret *trace,
				 struct fgraph_ops *gops)
{
}

/* Digits, so that one that is in the wrong place shows */
static noinline unsigned long
entry_args(unsigned long a, unsigned long b, unsigned long c, unsigned long d,
	   unsigned long e, unsigned long f, unsigned long g, unsigned long h)
{
	OPTIMIZER_HIDE_VAR(a);
	return a * 10000000 + b * 1000000 + c * 100000 + d * 10000 + e * 1000 +
	       f * 100 + g * 10 + h;
}

static noinline unsigned long entry_caller(void)
{
	unwind.outer = (unsigned long)__builtin_return_address(0);
	return entry_args(1, 2, 3, 4, 5, 6, 7, 8);
}

/* An entry callback finds its callers, and leaves the arguments alone */
static void fgraph_entry(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)entry_args);
	unsigned long args = 0;
	int i, ret;

	KUNIT_ASSERT_NE(test, 0UL, ip);
	memset(&unwind, 0, sizeof(unwind));
	unwind.gops.entryfunc = entry_unwind;
	unwind.gops.retfunc = entry_return;

	ret = ftrace_set_filter_ip(&unwind.gops.ops, ip, 0, 1);
	if (!ret)
		ret = register_ftrace_graph(&unwind.gops);
	if (!ret)
		args = entry_caller();
	unregister_ftrace_graph(&unwind.gops);
	ftrace_free_filter(&unwind.gops.ops);

	KUNIT_ASSERT_EQ(test, 0, ret);
	KUNIT_EXPECT_EQ(test, 12345678UL, args);
	if (!IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE) ||
	    unwind_found(unwind.entries, unwind.nr, unwind.outer))
		return;

	KUNIT_FAIL(test, "%pS is not among %d callers", (void *)unwind.outer,
		   unwind.nr);
	for (i = 0; i < unwind.nr; i++)
		kunit_info(test, "%pS", (void *)unwind.entries[i]);
}

#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
#define NR_USERS	3
#define RETVAL		(~0UL / 3)

static noinline unsigned long retval_func(unsigned long val)
{
	OPTIMIZER_HIDE_VAR(val);
	return val;
}

static notrace __kprobes void retval_return(struct ftrace_graph_ret *trace,
					    struct fgraph_ops *gops)
{
	*(unsigned long *)gops->private = fgraph_get_retval();
}

/* Return values reach one user, and each of several */
static void fgraph_retval_users(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)retval_func);
	unsigned long retvals[NR_USERS] = {};
	struct fgraph_ops *gops;
	int i, nr, ret = 0;

	KUNIT_ASSERT_NE(test, 0UL, ip);
	gops = kunit_kcalloc(test, NR_USERS, sizeof(*gops), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, gops);

	for (nr = 0; nr < NR_USERS && !ret; nr++) {
		gops[nr].entryfunc = traced_entry;
		gops[nr].retfunc = retval_return;
		gops[nr].private = &retvals[nr];
		ret = ftrace_set_filter_ip(&gops[nr].ops, ip, 0, 1);
		if (!ret)
			ret = register_ftrace_graph(&gops[nr]);
		KUNIT_EXPECT_EQ(test, 0, ret);

		KUNIT_EXPECT_EQ(test, RETVAL + nr, retval_func(RETVAL + nr));
		for (i = 0; i <= nr; i++)
			KUNIT_EXPECT_EQ(test, RETVAL + nr, retvals[i]);
	}

	while (nr--) {
		unregister_ftrace_graph(&gops[nr]);
		ftrace_free_filter(&gops[nr].ops);
	}
}
#endif

static struct kunit_case fgraph_cases[] = {
	KUNIT_CASE(fgraph_unwind_return),
	KUNIT_CASE(fgraph_entry),
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	KUNIT_CASE(fgraph_retval_users),
#endif
	{}
};

static struct kunit_suite fgraph_suite = {
	.name = "fgraph",
	.test_cases = fgraph_cases,
};

kunit_test_suite(fgraph_suite);
