// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure what tracing adds to a function call.
 *
 * Calls an empty function while ftrace_ops trace it (nr_ops_relevant) or
 * another function (nr_ops_irrelevant). If the sample is built in, function
 * graph users can trace them, too (nr_graph_relevant, nr_graph_irrelevant).
 *
 * An emulator that derives time from the number of instructions, such as
 * "qemu -icount shift=0,sleep=off -smp 1", gives the same result in each run.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

static unsigned int nr_function_calls = 100000;
module_param(nr_function_calls, uint, 0444);
MODULE_PARM_DESC(nr_function_calls, "Number of calls to measure");
static unsigned int nr_ops_relevant = 1;
module_param(nr_ops_relevant, uint, 0444);
MODULE_PARM_DESC(nr_ops_relevant, "Number of ftrace_ops that trace the called function");
static unsigned int nr_ops_irrelevant;
module_param(nr_ops_irrelevant, uint, 0444);
MODULE_PARM_DESC(nr_ops_irrelevant, "Number of ftrace_ops that trace another function");
static bool save_regs;
module_param(save_regs, bool, 0444);
MODULE_PARM_DESC(save_regs, "Set FTRACE_OPS_FL_SAVE_REGS");
static bool assist_recursion;
module_param(assist_recursion, bool, 0444);
MODULE_PARM_DESC(assist_recursion, "Set FTRACE_OPS_FL_RECURSION");
static bool assist_rcu;
module_param(assist_rcu, bool, 0444);
MODULE_PARM_DESC(assist_rcu, "Set FTRACE_OPS_FL_RCU");
static bool check_count;
module_param(check_count, bool, 0444);
MODULE_PARM_DESC(check_count, "Count the calls of each callback and fail if a count is wrong");
static bool persist;
module_param(persist, bool, 0444);
MODULE_PARM_DESC(persist, "Keep the module loaded and its tracers registered");

/* register_ftrace_graph() is not exported */
#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && !defined(MODULE)
#define SAMPLE_GRAPH

static unsigned int nr_graph_relevant;
module_param(nr_graph_relevant, uint, 0444);
MODULE_PARM_DESC(nr_graph_relevant, "Number of graph users that trace the called function");
static unsigned int nr_graph_irrelevant;
module_param(nr_graph_irrelevant, uint, 0444);
MODULE_PARM_DESC(nr_graph_irrelevant, "Number of graph users that trace another function");
static bool no_times;
module_param(no_times, bool, 0444);
MODULE_PARM_DESC(no_times, "Set fgraph_ops.no_times");
#endif

/* Different bodies, so that the compiler does not merge the two */
static noinline void tracee_relevant(void)
{
	barrier();
}

static noinline void tracee_irrelevant(void)
{
	barrier_data(&tracee_irrelevant);
}

struct tracer {
	struct list_head	list;
	struct ftrace_ops	ops;
	unsigned int		count;
	bool			relevant;
#ifdef SAMPLE_GRAPH
	bool			graph;
	struct fgraph_ops	gops;
#endif
};

static LIST_HEAD(tracers);

static void notrace ops_nop(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

static void notrace ops_count(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	container_of(ops, struct tracer, ops)->count++;
}

static int __init ops_register(struct tracer *t, void *func)
{
	t->ops.func = check_count ? ops_count : ops_nop;
	if (save_regs)
		t->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	if (assist_recursion)
		t->ops.flags |= FTRACE_OPS_FL_RECURSION;
	if (assist_rcu)
		t->ops.flags |= FTRACE_OPS_FL_RCU;

	return ftrace_set_filter_ip(&t->ops, (unsigned long)func, 0, 1) ?:
	       register_ftrace_function(&t->ops);
}

#ifdef SAMPLE_GRAPH
static int notrace graph_entry(struct ftrace_graph_ent *trace,
			       struct fgraph_ops *gops)
{
	return 1;
}

static void notrace graph_nop(struct ftrace_graph_ret *trace,
			      struct fgraph_ops *gops)
{
}

static void notrace graph_count(struct ftrace_graph_ret *trace,
				struct fgraph_ops *gops)
{
	container_of(gops, struct tracer, gops)->count++;
}

static int __init graph_register(struct tracer *t, void *func)
{
	t->graph = true;
	t->gops.entryfunc = graph_entry;
	t->gops.retfunc = check_count ? graph_count : graph_nop;
	t->gops.no_times = no_times;

	return ftrace_set_filter_ip(&t->gops.ops, (unsigned long)func, 0, 1) ?:
	       register_ftrace_graph(&t->gops);
}
#endif

static void tracer_free(struct tracer *t)
{
#ifdef SAMPLE_GRAPH
	ftrace_free_filter(&t->gops.ops);
#endif
	ftrace_free_filter(&t->ops);
	kfree(t);
}

static void remove_tracers(void)
{
	struct tracer *t, *next;

	list_for_each_entry_safe(t, next, &tracers, list) {
#ifdef SAMPLE_GRAPH
		if (t->graph)
			unregister_ftrace_graph(&t->gops);
		else
#endif
			unregister_ftrace_function(&t->ops);
		tracer_free(t);
	}
}

static int __init add_tracers(unsigned int nr, bool relevant,
			      int (*tracer_register)(struct tracer *t, void *func))
{
	while (nr--) {
		struct tracer *t = kzalloc(sizeof(*t), GFP_KERNEL);
		int ret;

		if (!t)
			return -ENOMEM;

		t->relevant = relevant;
		ret = tracer_register(t, relevant ? tracee_relevant : tracee_irrelevant);
		if (ret) {
			tracer_free(t);
			return ret;
		}
		list_add_tail(&t->list, &tracers);
	}

	return 0;
}

static int __init check_counts(void)
{
	struct tracer *t;
	int ret = 0;

	list_for_each_entry(t, &tracers, list) {
		unsigned int expected = t->relevant ? nr_function_calls : 0;

		if (t->count != expected) {
			pr_err("a callback ran %u times instead of %u\n", t->count, expected);
			ret = -EINVAL;
		}
	}

	return ret;
}

static void __init measure(const char *what)
{
	u64 start, time;
	unsigned int i;

	start = ktime_get_ns();
	for (i = 0; i < nr_function_calls; i++)
		tracee_relevant();
	time = ktime_get_ns() - start;

	pr_info("%s: %u calls in %llu ns, %llu ns each\n", what,
		nr_function_calls, time, div_u64(time, nr_function_calls));
}

static int __init ftrace_ops_sample_init(void)
{
	int ret;

	if (!nr_function_calls)
		return -EINVAL;

	measure("not traced");

	ret = add_tracers(nr_ops_relevant, true, ops_register) ?:
	      add_tracers(nr_ops_irrelevant, false, ops_register);
#ifdef SAMPLE_GRAPH
	ret = ret ?: add_tracers(nr_graph_relevant, true, graph_register) ?:
		     add_tracers(nr_graph_irrelevant, false, graph_register);
#endif
	if (!ret) {
		measure("traced");
		if (check_count)
			ret = check_counts();
	}

	if (!ret && persist)
		return 0;

	remove_tracers();

	/* Nothing is registered: do not keep the module loaded */
	return ret ?: -EAGAIN;
}
module_init(ftrace_ops_sample_init);

module_exit(remove_tracers);

MODULE_DESCRIPTION("Measure what tracing adds to a function call");
MODULE_LICENSE("GPL");
