// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a traced call cost?
 *
 * Calls a function that does nothing while a number of ftrace_ops, or users of
 * function graph, trace it, and others trace another function. All callbacks
 * are empty, so what is measured is the way to them and back. Prints one line
 * for each case, "ftrace-bench: KIND HERE ELSEWHERE COST": what a call costs
 * more than one that is not traced, in nanoseconds and hundredths of one.
 *
 * On an emulator that counts time in instructions, such as "qemu -icount
 * shift=0,sleep=off -smp 1", a nanosecond is an instruction, and the figures
 * can be compared.
 *
 * Runs when it is loaded. Built in, it runs at boot if ftrace_bench.run=1 is
 * on the command line, and only then has function graph, which modules can't
 * register users of.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/module.h>

#define pr_line(fmt, ...)	pr_info("ftrace-bench: " fmt "\n", ##__VA_ARGS__)

#define NR_MAX		16

static unsigned int calls = 20000;
module_param(calls, uint, 0444);
MODULE_PARM_DESC(calls, "how often to call the function for each figure");

static bool run = IS_MODULE(CONFIG_SAMPLE_FTRACE_BENCH);
module_param(run, bool, 0444);
MODULE_PARM_DESC(run, "whether to run at boot, if built in");

/* What is measured, and what others trace */
static noinline void bench_here(void)
{
	barrier();
}

static noinline void bench_elsewhere(void)
{
	barrier_data(&bench_elsewhere);
}

static void (*volatile bench_func)(void);

/* How long all calls take, in nanoseconds */
static u64 notrace bench_loop(void)
{
	void (*func)(void) = bench_func;
	unsigned long flags;
	unsigned int i;
	u64 start, end;

	local_irq_save(flags);
	/* Once for what comes with the first call only */
	func();
	start = ktime_get_mono_fast_ns();
	for (i = 0; i < calls; i++)
		func();
	end = ktime_get_mono_fast_ns();
	local_irq_restore(flags);

	return end - start;
}

/* The least of some, as an emulator may stop for reasons of its own */
static u64 notrace bench_least(void)
{
	u64 least = bench_loop();
	unsigned int i;

	for (i = 1; i < 5; i++)
		least = min(least, bench_loop());

	return least;
}

static u64 bench_untraced;

static void bench_report(const char *kind, unsigned int here,
			 unsigned int elsewhere)
{
	u64 hundredths;

	/* Some of what the last case has left behind takes a while to go */
	ssleep(1);
	hundredths = (bench_least() - bench_untraced) * 100;
	do_div(hundredths, calls);
	pr_line("%s %u %u %llu.%02llu", kind, here, elsewhere,
		hundredths / 100, hundredths % 100);
}

static unsigned long bench_ip(void (*func)(void))
{
	return ftrace_location((unsigned long)func);
}

static void notrace bench_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
}

static int bench_ops(unsigned int here, unsigned int elsewhere)
{
	/* As a user of dynamic trampolines has them, in memory of the kernel */
	static struct ftrace_ops ops[NR_MAX];
	unsigned int i, nr = 0;
	int ret = 0;

	for (i = 0; i < here + elsewhere && !ret; i++) {
		ops[i].func = bench_callback;
		ret = ftrace_set_filter_ip(&ops[i], bench_ip(i < here ?
					   bench_here : bench_elsewhere), 0, 1);
		if (!ret)
			ret = register_ftrace_function(&ops[i]);
		if (!ret)
			nr++;
	}

	if (!ret)
		bench_report("ops", here, elsewhere);
	else
		pr_line("ops %u %u error %d", here, elsewhere, ret);

	while (nr--)
		unregister_ftrace_function(&ops[nr]);

	return ret;
}

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && !defined(MODULE)
/*
 * FTRACE_BENCH_OLD_GRAPH is for kernels in which function graph has one user,
 * whose filter is that of the function tracer.
 */
#ifdef FTRACE_BENCH_OLD_GRAPH
static int notrace bench_entry(struct ftrace_graph_ent *trace)
{
	return 1;
}

static void notrace bench_return(struct ftrace_graph_ret *trace)
{
}

static int bench_graph_filter(struct fgraph_ops *gops, void (*func)(void))
{
	char name[] = "bench_here";

	ftrace_set_global_filter(name, strlen(name), 1);
	return func == bench_here ? 0 : -EBUSY;
}
#else
static int notrace bench_entry(struct ftrace_graph_ent *trace,
			       struct fgraph_ops *gops)
{
	return 1;
}

static void notrace bench_return(struct ftrace_graph_ret *trace,
				 struct fgraph_ops *gops)
{
}

static int bench_graph_filter(struct fgraph_ops *gops, void (*func)(void))
{
	return ftrace_set_filter_ip(&gops->ops, bench_ip(func), 0, 1);
}
#endif

/*
 * FTRACE_BENCH_TIMES is for kernels in which the users of function graph have to
 * ask for the times of a call. Elsewhere they get them anyway.
 */
static void bench_graph_times(struct fgraph_ops *gops, bool times)
{
#ifdef FTRACE_BENCH_TIMES
	gops->times = times;
#endif
}

static int bench_graph(unsigned int here, unsigned int elsewhere, bool times)
{
	const char *kind = times ? "timed" : "graph";
	static struct fgraph_ops gops[NR_MAX];
	unsigned int i, nr = 0;
	int ret = 0;

	/* The one here is the last, it should make no difference */
	for (i = 0; i < here + elsewhere && !ret; i++) {
		gops[i].entryfunc = bench_entry;
		gops[i].retfunc = bench_return;
		bench_graph_times(&gops[i], times);
		ret = bench_graph_filter(&gops[i], i < elsewhere ?
					 bench_elsewhere : bench_here);
		if (!ret)
			ret = register_ftrace_graph(&gops[i]);
		if (!ret)
			nr++;
	}

	if (!ret)
		bench_report(kind, here, elsewhere);
	else
		pr_line("%s %u %u error %d", kind, here, elsewhere, ret);

	while (nr--)
		unregister_ftrace_graph(&gops[nr]);

	return ret;
}
#else
static int bench_graph(unsigned int here, unsigned int elsewhere, bool times)
{
	return -EOPNOTSUPP;
}
#endif

static int __init ftrace_bench_init(void)
{
	if (!run)
		return 0;

	if (!calls || !bench_ip(bench_here) || !bench_ip(bench_elsewhere))
		return -EINVAL;

	bench_func = bench_here;
	bench_untraced = bench_least();

	bench_ops(1, 0);
	bench_ops(2, 0);
	bench_ops(4, 0);
	bench_ops(8, 0);
	bench_ops(16, 0);
	bench_ops(1, 15);
	bench_ops(2, 14);
	bench_ops(8, 8);

	bench_graph(1, 0, false);
	bench_graph(2, 0, false);
	bench_graph(1, 1, false);
	bench_graph(8, 0, false);
	bench_graph(16, 0, false);
	bench_graph(1, 15, false);
	bench_graph(2, 14, false);
	bench_graph(1, 0, true);
	bench_graph(2, 0, true);
	bench_graph(16, 0, true);
	pr_line("done");

	return 0;
}
late_initcall_sync(ftrace_bench_init);

static void __exit ftrace_bench_exit(void)
{
}
module_exit(ftrace_bench_exit);

MODULE_DESCRIPTION("What a traced call costs");
MODULE_LICENSE("GPL");
