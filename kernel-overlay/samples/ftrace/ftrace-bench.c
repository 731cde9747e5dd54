// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a traced call cost?
 *
 * Calls a function that does nothing while a number of ftrace_ops, or users of
 * function graph, trace it, and others trace another function. All callbacks
 * are empty, so what is measured is the way to them and back. Prints one line
 * for each case, "ftrace-bench: KIND HERE ELSEWHERE COST": what a call costs
 * more than one that is not traced, in nanoseconds and hundredths of one.
 * Users of function graph get the times of a call, except those of the kind
 * "untimed". With "direct" there are ops and a direct caller, as for a BPF
 * program, that returns at once.
 *
 * On an emulator that counts time in instructions, such as "qemu -icount
 * shift=0,sleep=off -smp 1", a nanosecond is an instruction, and the figures
 * can be compared.
 *
 * Runs when it is loaded. Built in, it runs at boot if ftrace_bench.run=1 is
 * on the command line, and only then has function graph, which modules can't
 * register users of.
 *
 * To measure the tracers in tracefs, have them trace bench_here(), and write
 * what to call the result to the parameter "measure".
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/ktime.h>
#include <linux/linkage.h>
#include <linux/module.h>
#ifdef CONFIG_X86_64
#include <asm/ibt.h>
#endif

#define pr_line(fmt, ...)	pr_info("ftrace-bench: " fmt "\n", ##__VA_ARGS__)

#define NR_MAX		101
#define NR_MAX_GRAPH	16

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

static void (*bench_func)(void);

/* How long all calls take, in nanoseconds */
static u64 notrace bench_loop(void)
{
	void (*func)(void);
	unsigned long flags;
	unsigned int i;
	u64 start, end;

	func = READ_ONCE(bench_func);
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

/* What a call costs more than one that is not traced, in hundredths */
static u64 bench_cost(void)
{
	u64 hundredths;

	/* Some of what the last case has left behind takes a while to go */
	ssleep(1);
	hundredths = (bench_least() - bench_untraced) * 100;
	do_div(hundredths, calls);

	return hundredths;
}

static void bench_report(const char *kind, unsigned int here,
			 unsigned int elsewhere)
{
	u64 cost = bench_cost();

	pr_line("%s %u %u %llu.%02llu", kind, here, elsewhere, cost / 100,
		cost % 100);
}

/* Measures the call as it is traced now, by the tracers in tracefs */
static int bench_measure(const char *label, const struct kernel_param *kp)
{
	u64 cost;

	if (!bench_untraced)
		return -ENODATA;

	cost = bench_cost();
	pr_line("%.*s %llu.%02llu", (int)strcspn(label, "\n"), label,
		cost / 100, cost % 100);

	return 0;
}

static const struct kernel_param_ops bench_measure_ops = {
	.set = bench_measure,
};
module_param_cb(measure, &bench_measure_ops, NULL, 0200);
MODULE_PARM_DESC(measure, "write a label to print it with what a call of bench_here() costs now");

static void notrace bench_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
}

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && defined(CONFIG_X86_64)
void bench_direct_caller(void);

asm("	.pushsection	.text, \"ax\", @progbits\n"
"	.type		bench_direct_caller, @function\n"
"	.globl		bench_direct_caller\n"
"bench_direct_caller:\n"
	ASM_ENDBR
	ASM_RET
"	.size		bench_direct_caller, .-bench_direct_caller\n"
"	.popsection\n");

static int bench_direct_start(struct ftrace_ops *op)
{
	int ret = ftrace_set_filter_ip(op, (unsigned long)bench_here, 0, 1);

	if (ret)
		return ret;

	return register_ftrace_direct_multi(op, (unsigned long)bench_direct_caller);
}

static void bench_direct_stop(struct ftrace_ops *op)
{
	unregister_ftrace_direct_multi(op, (unsigned long)bench_direct_caller);
}
#else
static int bench_direct_start(struct ftrace_ops *op)
{
	return -EOPNOTSUPP;
}

static void bench_direct_stop(struct ftrace_ops *op)
{
}
#endif

static int bench_ops(unsigned int here, unsigned int elsewhere, bool direct)
{
	/* As a user of dynamic trampolines has them, in memory of the kernel */
	static struct ftrace_ops ops[NR_MAX], direct_ops;
	const char *kind = direct ? "direct" : "ops";
	unsigned int i, nr = 0;
	int ret = 0;

	if (direct) {
		ret = bench_direct_start(&direct_ops);
		if (ret) {
			pr_line("%s %u %u error %d", kind, here, elsewhere, ret);
			return ret;
		}
	}

	for (i = 0; i < here + elsewhere && !ret; i++) {
		ops[i].func = bench_callback;
		ret = ftrace_set_filter_ip(&ops[i], (unsigned long)(i < here ?
					   bench_here : bench_elsewhere), 0, 1);
		if (!ret)
			ret = register_ftrace_function(&ops[i]);
		if (!ret)
			nr++;
	}

	if (!ret)
		bench_report(kind, here, elsewhere);
	else
		pr_line("%s %u %u error %d", kind, here, elsewhere, ret);

	while (nr--)
		unregister_ftrace_function(&ops[nr]);
	if (direct)
		bench_direct_stop(&direct_ops);

	return ret;
}

#if defined(CONFIG_FUNCTION_GRAPH_TRACER) && !defined(MODULE)
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
	return ftrace_set_filter_ip(&gops->ops, (unsigned long)func, 0, 1);
}

static int bench_graph(unsigned int here, unsigned int elsewhere, bool no_times)
{
	const char *kind = no_times ? "untimed" : "graph";
	static struct fgraph_ops gops[NR_MAX_GRAPH];
	unsigned int i, nr = 0;
	int ret = 0;

	/* The one here is the last, it should make no difference */
	for (i = 0; i < here + elsewhere && !ret; i++) {
		gops[i].entryfunc = bench_entry;
		gops[i].retfunc = bench_return;
		gops[i].no_times = no_times;
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
static int bench_graph(unsigned int here, unsigned int elsewhere, bool no_times)
{
	return -EOPNOTSUPP;
}
#endif

static int __init ftrace_bench_init(void)
{
	if (!run)
		return 0;

	if (!calls)
		return -EINVAL;

	bench_func = bench_here;
	bench_untraced = bench_least();

	bench_ops(1, 0, false);
	bench_ops(2, 0, false);
	bench_ops(4, 0, false);
	bench_ops(8, 0, false);
	bench_ops(10, 0, false);
	bench_ops(16, 0, false);
	bench_ops(1, 1, false);
	bench_ops(1, 15, false);
	bench_ops(2, 14, false);
	bench_ops(8, 8, false);

	bench_ops(0, 0, true);
	bench_ops(1, 0, true);
	bench_ops(2, 0, true);
	bench_ops(8, 0, true);
	bench_ops(1, 15, true);

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
	bench_graph(1, 15, true);

	/* These take the longest to set up */
	bench_ops(1, 100, false);
	bench_ops(100, 0, false);
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
