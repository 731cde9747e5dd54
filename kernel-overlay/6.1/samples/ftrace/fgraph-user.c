// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user of function graph: measures the longest call of a function.
 *
 * With fgraph_user.func=do_nanosleep on the kernel command line, reading
 * /sys/module/fgraph_user/parameters/longest shows how long the longest call of
 * do_nanosleep() took. Built in only, as register_ftrace_graph() is not exported.
 *
 * Documentation/trace/fgraph.rst describes the functions used here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

/* Set by the kernel command line only: ftrace_set_filter() modifies the string */
static char *func;
module_param(func, charp, 0);
MODULE_PARM_DESC(func, "Function to measure, or a glob as for set_ftrace_filter");

static unsigned long longest;
module_param(longest, ulong, 0644);
MODULE_PARM_DESC(longest, "Longest call so far in ns, write 0 to reset");

/* __kprobes: the frame of a kretprobe here would get the data */
static int notrace __kprobes fgraph_user_entry(struct ftrace_graph_ent *trace,
					       struct fgraph_ops *gops)
{
	u64 *start = fgraph_reserve_data(gops->idx, sizeof(*start));

	/* No room: fgraph_get_overruns() counts this call */
	if (!start)
		return 0;

	*start = ktime_get_mono_fast_ns();
	return 1;
}

static void notrace __kprobes fgraph_user_return(struct ftrace_graph_ret *trace,
						 struct fgraph_ops *gops)
{
	/* Not NULL: only called if fgraph_user_entry() has reserved the data */
	u64 *start = fgraph_retrieve_data(gops->idx, NULL);
	u64 ns = ktime_get_mono_fast_ns() - *start;
	unsigned long new = min_t(u64, ns, ULONG_MAX);
	unsigned long old = READ_ONCE(longest);

	/* No lock: other CPUs, and an NMI on this one, run this concurrently */
	while (new > old && !try_cmpxchg(&longest, &old, new))
		;
}

static struct fgraph_ops fgraph_user = {
	.entryfunc	= fgraph_user_entry,
	.retfunc	= fgraph_user_return,
	/* trace_clock_local() may differ between CPUs, and tasks migrate */
	.no_times	= true,
};

static int __init fgraph_user_init(void)
{
	int ret;

	if (!func)
		return 0;

	ret = ftrace_set_filter(&fgraph_user.ops, func, strlen(func), 1);
	if (!ret)
		ret = register_ftrace_graph(&fgraph_user);
	if (ret) {
		pr_err("cannot trace %s, error %d\n", func, ret);
		ftrace_free_filter(&fgraph_user.ops);
	}

	return ret;
}
late_initcall(fgraph_user_init);
