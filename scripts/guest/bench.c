// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a traced call costs: scripts/bench builds this file into each kernel
 * that it measures.
 *
 * At boot, calls an empty function while HERE ftrace_ops or function graph
 * users trace it and ELSEWHERE others trace another function. All callbacks
 * are empty. For each case prints "ftrace-bench: KIND HERE ELSEWHERE COST":
 * COST is what a call takes beyond an untraced one, in nanoseconds, which are
 * instructions under "qemu -icount shift=0,sleep=off -smp 1".
 *
 * To measure the tracers of tracefs, have them trace bench_here(), and write
 * "KIND HERE ELSEWHERE" to the parameter "measure".
 *
 * With the parameter "profile", few cases are set up, and each just calls the
 * function, from bench_profile_call(), that many times with interrupts off, then
 * as often with interrupts on. scripts/guest/steps.c, in the emulator,
 * writes down what these calls execute.
 *
 * The kernels differ in their APIs. scripts/bench defines what their headers
 * do not: HAVE_FGRAPH_OPS if a graph user has an ftrace_ops of its own,
 * HAVE_NO_TIMES for fgraph_ops.no_times, HAVE_DIRECT_MULTI for
 * register_ftrace_direct_multi().
 */
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/linkage.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>
#ifdef CONFIG_X86_64
#include <asm/ibt.h>
#endif

#define pr_line(fmt, ...)	pr_info("ftrace-bench: " fmt "\n", ##__VA_ARGS__)

#define NR_CALLS	20000
#define NR_WARM_UP	1000
#define NR_MAX		101
#define NR_MAX_GRAPH	32
#define NR_MAX_PROBES	16

/* In kernel/trace/trace.h: the number of functions */
extern unsigned long ftrace_update_tot_cnt;

/* What is measured, and what the others trace */
static noinline void bench_here(void)
{
	barrier();
}

static noinline void bench_elsewhere(void)
{
	barrier_data(&bench_elsewhere);
}

static void (*bench_func)(void) = bench_here;

/* How long all calls take, in nanoseconds */
static u64 notrace bench_loop(void)
{
	void (*func)(void) = READ_ONCE(bench_func);
	unsigned long flags;
	unsigned int i;
	u64 start, end;

	local_irq_save(flags);
	/* The first call may do work that later ones do not */
	func();
	start = ktime_get_mono_fast_ns();
	for (i = 0; i < NR_CALLS; i++)
		func();
	end = ktime_get_mono_fast_ns();
	local_irq_restore(flags);

	return end - start;
}

/* The minimum of several: the emulator may interrupt for reasons of its own */
static u64 notrace bench_least(void)
{
	u64 least = bench_loop();
	unsigned int i;

	for (i = 1; i < 5; i++)
		least = min(least, bench_loop());

	return least;
}

static u64 bench_untraced;

/* The barrier keeps it from jumping there: the return is what ends a call */
static noinline void notrace bench_profile_call(void)
{
	bench_here();
	barrier();
}

static unsigned int profile_calls;
module_param_named(profile, profile_calls, uint, 0);

static void notrace bench_profile(const char *label)
{
	unsigned long flags;
	unsigned int i;

	/* On the first page of the ring buffer, events take less */
	for (i = 0; i < NR_WARM_UP; i++)
		bench_here();
	local_irq_save(flags);
	for (i = 0; i < profile_calls; i++)
		bench_profile_call();
	local_irq_restore(flags);
	for (i = 0; i < profile_calls; i++)
		bench_profile_call();

	pr_line("profiled %s", label);
}

static void bench_report(const char *label)
{
	u64 cost;

	/* Work that the last case deferred ends before */
	ssleep(1);
	if (profile_calls) {
		bench_profile(label);
		return;
	}

	cost = (bench_least() - bench_untraced) * 100;
	do_div(cost, NR_CALLS);
	pr_line("%s %llu.%02llu", label, cost / 100, cost % 100);
}

static int bench_measure(const char *label, const struct kernel_param *kp)
{
	char line[64];

	strscpy(line, label, sizeof(line));
	bench_report(strim(line));

	return 0;
}

static const struct kernel_param_ops bench_measure_ops = {
	.set = bench_measure,
};
module_param_cb(measure, &bench_measure_ops, NULL, 0200);

static void notrace bench_callback(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op,
				   struct ftrace_regs *fregs)
{
}

/* Set up and remove user @i of a case, which traces @func */
static struct ftrace_ops ops[NR_MAX];

static int ops_add(unsigned int i, void (*func)(void))
{
	ops[i].func = bench_callback;

	return ftrace_set_filter_ip(&ops[i], (unsigned long)func, 0, 1) ?:
	       register_ftrace_function(&ops[i]);
}

static void ops_del(unsigned int i)
{
	unregister_ftrace_function(&ops[i]);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static struct fgraph_ops gops[NR_MAX_GRAPH];

/* Their arguments depend on the kernel */
static int notrace bench_entry(void)
{
	return 1;
}

static void notrace bench_return(void)
{
}

static int graph_register(unsigned int i, void (*func)(void), bool no_times)
{
	int ret;

	gops[i].entryfunc = (void *)bench_entry;
	gops[i].retfunc = (void *)bench_return;
#ifdef HAVE_NO_TIMES
	gops[i].no_times = no_times;
#else
	if (no_times)
		return -EOPNOTSUPP;
#endif
#ifdef HAVE_FGRAPH_OPS
	ret = ftrace_set_filter_ip(&gops[i].ops, (unsigned long)func, 0, 1);
#else
	/* A single user, which has the filter of the function tracer */
	char name[] = "bench_here";

	if (func != bench_here)
		return -EBUSY;
	ftrace_set_global_filter(name, strlen(name), 1);
	ret = 0;
#endif

	return ret ?: register_ftrace_graph(&gops[i]);
}

static void graph_del(unsigned int i)
{
	unregister_ftrace_graph(&gops[i]);
}
#else
static int graph_register(unsigned int i, void (*func)(void), bool no_times)
{
	return -EOPNOTSUPP;
}

static void graph_del(unsigned int i)
{
}
#endif

static int graph_add(unsigned int i, void (*func)(void))
{
	return graph_register(i, func, false);
}

static int untimed_add(unsigned int i, void (*func)(void))
{
	return graph_register(i, func, true);
}

#ifdef CONFIG_FPROBE
static struct fprobe fprobes[NR_MAX_PROBES];

/* The arguments and the result of handlers depend on the kernel */
static int notrace bench_handler(void)
{
	return 0;
}

static int fprobe_register(unsigned int i, void (*func)(void), void *exit)
{
	unsigned long addr = ftrace_location((unsigned long)func);

	memset(&fprobes[i], 0, sizeof(fprobes[i]));
	fprobes[i].entry_handler = (void *)bench_handler;
	fprobes[i].exit_handler = exit;

	return register_fprobe_ips(&fprobes[i], &addr, 1);
}

static void fprobe_del(unsigned int i)
{
	unregister_fprobe(&fprobes[i]);
}
#else
static int notrace bench_handler(void)
{
	return 0;
}

static int fprobe_register(unsigned int i, void (*func)(void), void *exit)
{
	return -EOPNOTSUPP;
}

static void fprobe_del(unsigned int i)
{
}
#endif

static int fprobe_add(unsigned int i, void (*func)(void))
{
	return fprobe_register(i, func, NULL);
}

static int fprobe_exit_add(unsigned int i, void (*func)(void))
{
	return fprobe_register(i, func, bench_handler);
}

#ifdef CONFIG_KRETPROBES
static struct kprobe bench_kprobes[NR_MAX_PROBES];
static struct kretprobe kretprobes[NR_MAX_PROBES];

static int notrace bench_pre_handler(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static int kprobe_add(unsigned int i, void (*func)(void))
{
	memset(&bench_kprobes[i], 0, sizeof(bench_kprobes[i]));
	bench_kprobes[i].addr = (void *)func;
	bench_kprobes[i].pre_handler = bench_pre_handler;

	return register_kprobe(&bench_kprobes[i]);
}

static void kprobe_del(unsigned int i)
{
	unregister_kprobe(&bench_kprobes[i]);
}

static int notrace bench_ret_handler(struct kretprobe_instance *ri,
				     struct pt_regs *regs)
{
	return 0;
}

static int kretprobe_add(unsigned int i, void (*func)(void))
{
	memset(&kretprobes[i], 0, sizeof(kretprobes[i]));
	kretprobes[i].kp.addr = (void *)func;
	kretprobes[i].handler = bench_ret_handler;

	return register_kretprobe(&kretprobes[i]);
}

static void kretprobe_del(unsigned int i)
{
	unregister_kretprobe(&kretprobes[i]);
}
#else
static int kprobe_add(unsigned int i, void (*func)(void))
{
	return -EOPNOTSUPP;
}

static int kretprobe_add(unsigned int i, void (*func)(void))
{
	return -EOPNOTSUPP;
}

static void kprobe_del(unsigned int i)
{
}

static void kretprobe_del(unsigned int i)
{
}
#endif

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

static struct ftrace_ops direct_ops;

static int direct_start(void)
{
	unsigned long addr = (unsigned long)bench_direct_caller;

	return ftrace_set_filter_ip(&direct_ops, (unsigned long)bench_here, 0, 1) ?:
#ifdef HAVE_DIRECT_MULTI
	       register_ftrace_direct_multi(&direct_ops, addr);
#else
	       register_ftrace_direct(&direct_ops, addr);
#endif
}

static void direct_stop(void)
{
	unsigned long addr = (unsigned long)bench_direct_caller;

#ifdef HAVE_DIRECT_MULTI
	unregister_ftrace_direct_multi(&direct_ops, addr);
#else
	unregister_ftrace_direct(&direct_ops, addr, false);
#endif
}
#else
static int direct_start(void)
{
	return -EOPNOTSUPP;
}

static void direct_stop(void)
{
}
#endif

struct kind {
	const char	*name;
	int		(*add)(unsigned int i, void (*func)(void));
	void		(*del)(unsigned int i);
	/* The index of a graph user should make no difference: test the highest */
	bool		here_last;
	int		(*start)(void);
	void		(*stop)(void);
};

enum { OPS, DIRECT, GRAPH, UNTIMED, FPROBE, FPROBE_EXIT, KPROBE, KRETPROBE };

static const struct kind kinds[] = {
	[OPS]	  = { "ops", ops_add, ops_del },
	[DIRECT]  = { "direct", ops_add, ops_del, false, direct_start, direct_stop },
	[GRAPH]	  = { "graph", graph_add, graph_del, true },
	[UNTIMED] = { "untimed", untimed_add, graph_del, true },
	[FPROBE]  = { "fprobe", fprobe_add, fprobe_del },
	[FPROBE_EXIT] = { "fprobe_exit", fprobe_exit_add, fprobe_del },
	[KPROBE]  = { "kprobe", kprobe_add, kprobe_del },
	[KRETPROBE] = { "kretprobe", kretprobe_add, kretprobe_del },
};

struct bench_case {
	unsigned int	kind, here, elsewhere;
};

static const struct bench_case cases[] = {
	{ OPS, 1, 0 }, { OPS, 2, 0 }, { OPS, 4, 0 }, { OPS, 8, 0 },
	{ OPS, 10, 0 }, { OPS, 16, 0 }, { OPS, 32, 0 },
	{ OPS, 1, 1 }, { OPS, 1, 15 },
	{ OPS, 2, 2 }, { OPS, 2, 6 }, { OPS, 2, 14 }, { OPS, 2, 30 },
	{ OPS, 8, 8 },

	{ DIRECT, 0, 0 }, { DIRECT, 1, 0 }, { DIRECT, 2, 0 }, { DIRECT, 8, 0 },
	{ DIRECT, 1, 15 },

	{ GRAPH, 1, 0 }, { GRAPH, 2, 0 }, { GRAPH, 4, 0 }, { GRAPH, 8, 0 },
	{ GRAPH, 16, 0 }, { GRAPH, 17, 0 }, { GRAPH, 32, 0 },
	{ GRAPH, 1, 1 }, { GRAPH, 1, 3 }, { GRAPH, 1, 7 }, { GRAPH, 1, 15 },
	{ GRAPH, 1, 31 }, { GRAPH, 2, 14 },

	{ UNTIMED, 1, 0 }, { UNTIMED, 2, 0 }, { UNTIMED, 16, 0 },
	{ UNTIMED, 1, 15 },

	{ FPROBE, 1, 0 }, { FPROBE, 2, 0 }, { FPROBE, 8, 0 }, { FPROBE, 1, 15 },
	{ FPROBE_EXIT, 1, 0 }, { FPROBE_EXIT, 2, 0 }, { FPROBE_EXIT, 8, 0 },
	{ FPROBE_EXIT, 1, 15 },
	{ KPROBE, 1, 0 }, { KPROBE, 2, 0 }, { KPROBE, 1, 15 },
	{ KRETPROBE, 1, 0 }, { KRETPROBE, 2, 0 }, { KRETPROBE, 8, 0 },
	{ KRETPROBE, 1, 15 },

	/* These take the longest to set up */
	{ OPS, 1, 100 }, { OPS, 100, 0 },
};

/* Those of "profile" */
static const struct bench_case profiled[] = {
	{ OPS, 2, 0 }, { GRAPH, 1, 0 }, { FPROBE_EXIT, 1, 0 },
	{ KRETPROBE, 1, 0 },
};

static void bench_case(const struct bench_case *c)
{
	unsigned int here = c->here, elsewhere = c->elsewhere, nr = 0;
	const struct kind *kind = &kinds[c->kind];
	char label[64];
	int ret = 0;

	snprintf(label, sizeof(label), "%s %u %u", kind->name, here, elsewhere);
	if (kind->start)
		ret = kind->start();
	if (ret)
		goto out;

	for (nr = 0; nr < here + elsewhere && !ret; nr++) {
		bool is_here = kind->here_last ? nr >= elsewhere : nr < here;

		ret = kind->add(nr, is_here ? bench_here : bench_elsewhere);
	}
	if (ret)
		nr--;
	else
		bench_report(label);

	while (nr--)
		kind->del(nr);
	if (kind->stop)
		kind->stop();
out:
	if (ret)
		pr_line("%s error %d", label, ret);
}

#if defined(CONFIG_FPROBE) && defined(CONFIG_KRETPROBES)
/* Pages that nothing uses, once what is freed late is freed */
static unsigned long bench_free_pages(void)
{
	unsigned long pages;
	struct zone *zone;

	msleep(1000);
	pages = global_zone_page_state(NR_FREE_PAGES);
	for_each_populated_zone(zone)
		pages += this_cpu_ptr(zone->per_cpu_pageset)->count;

	return pages;
}
#endif

/*
 * What it takes to attach an fprobe with an exit handler to all functions, as
 * kretprobe.multi of BPF does: time and memory for each function.
 */
static void bench_attach(void)
{
#if defined(CONFIG_FPROBE) && defined(CONFIG_KRETPROBES)
	struct fprobe *fp = &fprobes[0];
	unsigned long pages, nr;
	u64 begin, time;
	int ret;

	/*
	 * Some kernels allocate code in blocks of 2 MiB. A kprobe behind the call
	 * site needs a slot for its instruction, so one block stays allocated:
	 * otherwise, a whole one could come or go while memory is measured.
	 */
	memset(&bench_kprobes[0], 0, sizeof(bench_kprobes[0]));
	bench_kprobes[0].addr = (void *)ftrace_location((unsigned long)bench_elsewhere) +
				MCOUNT_INSN_SIZE;
	bench_kprobes[0].pre_handler = bench_pre_handler;
	ret = register_kprobe(&bench_kprobes[0]);
	if (ret)
		goto out;

	memset(fp, 0, sizeof(*fp));
	fp->entry_handler = (void *)bench_handler;
	fp->exit_handler = (void *)bench_handler;

	pages = bench_free_pages();
	begin = ktime_get_ns();
	ret = register_fprobe(fp, "*", NULL);
	time = ktime_get_ns() - begin;
	if (!ret) {
		pages -= bench_free_pages();
		unregister_fprobe(fp);
	}
	unregister_kprobe(&bench_kprobes[0]);
out:
	if (ret) {
		pr_line("attach 0 0 error %d", ret);
		return;
	}

	nr = ftrace_update_tot_cnt;
	pr_line("attach 0 0 %llu.00", div_u64(time, nr));
	pr_line("attach_memory 0 0 %llu.00", div_u64((u64)pages << PAGE_SHIFT, nr));
#endif
}

/* scripts/idle turns it off: it measures the boot */
static bool bench_run = true;
module_param_named(run, bench_run, bool, 0);

static int __init ftrace_bench_init(void)
{
	unsigned int i;

	if (!bench_run)
		return 0;

	if (profile_calls) {
		bench_report("untraced 0 0");
		for (i = 0; i < ARRAY_SIZE(profiled); i++)
			bench_case(&profiled[i]);
		return 0;
	}

	bench_untraced = bench_least();
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		bench_case(&cases[i]);
	bench_attach();

	return 0;
}
late_initcall_sync(ftrace_bench_init);
