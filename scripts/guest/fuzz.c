// SPDX-License-Identifier: GPL-2.0-only
/*
 * In the guest: random steps on all control files of ftrace, as root.
 *
 * usage: fuzz SECONDS SEED [CORPUS] [PLANT]
 *        fuzz [/ordered] FILE... [PLANT]
 *
 * Three workers take steps at once while two other processes call what is traced, fork and read traces, and
 * a third one counts calls. Two thirds of the steps are valid, the others nearly so or senseless. A step is
 * a line of text, which depends on the seed and on the worker alone if the kernel has no KCOV; all but
 * "perf" are valid sh in /sys/kernel/tracing. Each is printed before it runs, as "TIME WORKER STEP". FILE
 * has such lines: its steps start in the order of the lines, each in the worker it names, and, with
 * /ordered, when the step before has ended. Of several files, each is done after the one before was undone.
 * The kernel's first complaint ends it all.
 *
 * With KCOV, a worker sees which places of the kernel's tracing code its steps reach. A step that reaches a
 * new one is kept with the two before it, and printed as "reaches PLACES", tab, and these steps with tabs
 * between them. Half of all further steps are varied from such sequences. CORPUS has those of former
 * runs, a line each.
 *
 * A step that takes too long, a call that goes wrong or is not counted, and what stays when everything has
 * been undone are written to the kernel's log. When a step has taken a minute, lines "slow ..." say what the
 * CPUs do meanwhile. The last line is "done STEPS ACCEPTED PLACES SECONDS". With
 * PLANT, a certain pair of steps writes a warning to the log: it proves that a finding is seen and reduced.
 *
 * What the steps leave out, as it ends a run and finds nothing:
 *  - ftrace_dump_on_oops, traceoff_on_warning, tracepoint_printk, sysrq: they hide or imitate a finding
 *  - the triggers dump and cpudump: the console takes minutes to print a buffer
 *  - the trigger stacktrace without a small count, and the option func_stack_trace for longer than a
 *    moment: if all functions are traced, the guest comes to a halt
 *  - events/enable: the same
 *  - sizes of buffers that can be had and take all memory: the guest is killed for it
 *  - hwlat, osnoise, timerlat: they have the CPUs for themselves, and use no function tracing
 *  - samples of kprobes and of livepatch's callbacks: they print a line for each call
 *  - event probes: 6.1 and 7.3 warn in eprobe_trigger_func() when they are removed; no function tracing
 *  - buffer_subbuf_size_kb: 6.12 and 7.3 give a snapshot another size than the buffer then, and warn in
 *    update_max_tr_single()
 *  - kprobes and fprobes on everything: registering them takes an emulated CPU minutes
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/kcov.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR_WORKERS	3
#define NR_FDS		10
#define TOO_LONG	280	/* s; registering on all functions of a debug kernel with KCOV can take over 120 */
#define SLOW		60	/* s; then, what the CPUs do meanwhile is printed */
#define STR(a)		#a
#define XSTR(a)		STR(a)
#define COVER_SIZE	(1 << 20)	/* entries; a step that calls what is traced may fill them */
#define REACHED_BITS	20
#define NR_KEPT		1024
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* %x in a step is one of these words; %X is the word that the last %x became. */
static const char * const words[128] = {
	['a'] = "a|b|c",
	['i'] = "||instances/a/|instances/a/|instances/b/|instances/c/",
	['j'] = "|instances/a/|instances/b/",
	['g'] = "vfs_*|vfs_*|do_sys*|*mmap*|kmem_cache_*|d_*|*_timer*|wake_up_*|exit_*|mutex_*lock|my_*|"
		"__x64_sys_*|*page_fault*|tick_*|rcu_*|simple_*|vfs_[rw]*|v?s_*|*_clone|calls_*|calls_*",
	['n'] = "vfs_read|vfs_read|vfs_write|vfs_open|schedule|kernel_clone|do_exit|wake_up_process|"
		"handle_mm_fault|do_sys_openat2|copy_process|cmdline_proc_show|ksys_read|vfs_fstatat|"
		"calls_recurse|calls_sleep|calls_never",
	['m'] = "ftrace-direct|ftrace-direct-too|ftrace-direct-modify|ftrace-direct-multi|"
		"ftrace-direct-multi-modify|sample-trace-array|trace_printk|livepatch-sample|trace-events-sample|"
		"function-calls",
	['k'] = "ftrace_direct|ftrace_direct_too|ftrace_direct_modify|ftrace_ops|function_calls|*|no_such_module",
	/* The load and the workers, see fork_as(), and tasks of the kernel */
	['p'] = "3001|3002|3001|3011|1|0",
	['c'] = "1|2|5",
	['d'] = "0|1|1|2|3|5|10|100|4095|65536|-1|99999999999|18446744073709551616|0x10|1e3",
	['b'] = "0|1|1|2",
	['s'] = "0|1",
	['q'] = "0|1|2|3|4|5",
	['f'] = "5|6|7|8",
	['w'] = "set_ftrace_filter|set_ftrace_notrace|set_graph_function|set_graph_notrace|set_ftrace_pid",
	['t'] = "traceoff:%d|traceon|traceoff:%c|snapshot:%c|stacktrace:%c|"
		"enable_event:sched:sched_switch:%d|disable_event:sched:sched_switch",
	['x'] = ">|>|>>",
	['e'] = "sched/|sched/sched_switch/|irq/|syscalls/sys_enter_openat/|raw_syscalls/|no_such/",
	['o'] = "function-fork|event-fork|graph-time|stacktrace|func-no-repeats|func-args|function-trace|"
		"funcgraph-tail|funcgraph-proc|funcgraph-irqs|funcgraph-retval|funcgraph-retaddr|funcgraph-args|"
		"funcgraph-overrun|funcgraph-cpu|funcgraph-duration|funcgraph-abstime|sleep-time|stat-hist|"
		"overwrite|record-cmd|record-tgid|display-graph|latency-format|raw|bin|hex|verbose|userstacktrace|"
		"irq-info|pause-on-trace|sym-addr|trace_printk_dest|copy_trace_marker|fields|no_such_option|"
		"funcgraph-entries|funcgraph-entries|funcgraph-retval-hex|funcgraph-overhead|context-info|print-parent",
	['r'] = "trace|trace|trace_pipe|set_ftrace_filter|set_ftrace_notrace|set_ftrace_pid|"
		"set_graph_function|set_graph_notrace|trace_options|error_log|snapshot|per_cpu/cpu1/trace|"
		"per_cpu/cpu0/stats|trace_clock|available_tracers|per_cpu/cpu0/trace_pipe_raw|function_stat_sort|muted_functions|max_call_rate",
	['y'] = "enabled_functions|enabled_functions|touched_functions|function_tracers|kprobe_events|"
		"dynamic_events|stack_trace|stack_trace_filter|trace_stat/function0|trace_stat/function1|"
		"available_filter_functions|dyn_ftrace_total_info|kprobe_profile|saved_cmdlines",
};

#define FILTER	"%g|%g|%n|%n|!%g|!%n|%n %g|%g:mod:%k|!%g:mod:%k|%n:%t|!%n:%t|%g:%t|!%g:%t|%d|nothing|"

/*
 * A template of steps, one for each line. "W>FILE", a tab and words writes one of the words to FILE;
 * with "w", it stays as it is.
 */
static const struct {
	unsigned int	weight;
	const char	*text;
} templates[] = {
	/* An empty filter is that of all functions, which takes an emulated CPU ten seconds */
	{ 6, "w>%iset_ftrace_filter\t%g|%n|%n %g" },
	{ 10, "W>>%iset_ftrace_filter\t" FILTER },
	{ 1, "w>%jset_ftrace_filter\t|*|no_such_*\n%!\n%!\n%!\nw>%Jset_ftrace_filter\t%n" },
	{ 6, "W%x%iset_ftrace_notrace\t" FILTER },
	{ 12, "W>%icurrent_tracer\tnop|function|function|function_graph|function_graph|function_stat|function_stat|"
		"wakeup|irqsoff|blk|wakeup_rt|preemptirqsoff|preemptoff" },
	{ 5, "W%x%iset_graph_function\t%g|%n|%n|!%n|" },
	{ 4, "W%x%iset_graph_notrace\t%g|%n|!%n|" },
	{ 3, "W>%imax_graph_depth\t%d" },
	/* Most instances should trace the load most of the time */
	{ 3, "W>%imax_call_rate\t%d|0|0|0|1000|100000|" },
	{ 2, "W>%imuted_functions\t|||%g|%n" },
	{ 2, "w>%jmax_call_rate\t1|10\n%!\n%!\nw>%Jmax_call_rate\t0\nw>%Jmuted_functions\t" },
	{ 2, "W>%ifunction_stat_sort\ttotal|self|calls|average|max|name|%d|" },
	{ 2, "W>%ioptions/stat-hist\t%b" },
	{ 2, "W>%iper_cpu/cpu1/trace\tx" },
	{ 3, "W%x%iset_ftrace_pid\t%p|%p|%d||" },
	{ 2, "W%x%iset_ftrace_notrace_pid\t%p|%d|||" },
	{ 2, "W%x%iset_event_pid\t%d|" },
	{ 4, "W>%itrace_options\t%o|no%o" },
	{ 5, "W>%ioptions/%o\t%b" },
	{ 2, "W>%itrace_clock\tlocal|global|counter|uptime|perf|x86-tsc|mono|boot" },
	{ 3, "w>%ibuffer_size_kb\t1|8|64|300|999|0|-1|x|99999999999" },
	{ 2, "w>%iper_cpu/cpu1/buffer_size_kb\t1|64|300" },
	{ 2, "W>%iper_cpu/cpu0/snapshot\t%b" },
	{ 3, "W>%itracing_on\t%b" },
	{ 3, "W>%itracing_cpumask\t1|2|3|3|0|ffffffff|x" },
	{ 3, "W>%isnapshot\t%b" },
	{ 2, "W>%itrace\t|x" },
	{ 2, "W>%itrace_marker\tx|%g" },
	{ 2, "W>tracing_thresh\t0|%d\n%!\n%!\nw>tracing_thresh\t0" },
	{ 4, "W>function_profile_enabled\t%b" },
	{ 3, "W>function_tracers\ttrace|trace|trace_profile|stack_trace" },
	{ 2, "w>stack_trace_filter\t%g|%n" },
	{ 2, "W>>stack_trace_filter\t%g|%n|!%g" },
	{ 2, "W>stack_max_size\t0|%d" },
	{ 3, "w>/proc/sys/kernel/stack_tracer_enabled\t%b" },
	{ 1, "W>/proc/sys/kernel/ftrace_enabled\t0|%d\n%!\n%!\n%!\nw>/proc/sys/kernel/ftrace_enabled\t1" },
	{ 1, "w>/proc/sys/kernel/ftrace_enabled\t%b" },
	{ 8, "W>>kprobe_events\tp:fz/p%q %n|p:fz/p%q %n|r:fz/p%q %n|r:fz/p%q %n|-:fz/p%q|p:fz/p%q %n+%d|p:fz/p%q nothing|r%d:fz/p%q %n|"
		"r:fz/p%q %n $arg1 $retval|r:fz/p%q %n $arg1 $arg2 $arg3 $arg4 $arg5 $arg6|p:fz/p%q %n+9" },
	{ 1, "w>/sys/kernel/debug/kprobes/enabled\t0\n%!\n%!\nw>/sys/kernel/debug/kprobes/enabled\t1" },
	{ 6, "W>>dynamic_events\tf:fz/p%q %n|f:fz/p%q %n%%return|f:fz/p%q %n $arg1|p:fz/p%q %n|r:fz/p%q %n|"
		"-:fz/p%q|-:fz/|t:fz/p%q sched_switch|f:fz/p%q %n%%return $arg1 $arg2 $retval" },
	{ 8, "W>%ievents/fz/p%q/enable\t%b" },
	{ 3, "W>%ievents/fz/enable\t%b" },
	{ 2, "W>%ievents/fz/p%q/trigger\ttraceoff:%c|snapshot:%c|stacktrace:%c|hist:keys=common_pid" },
	{ 3, "W>%ievents/%eenable\t%b" },
	{ 2, "W%x%iset_event\tsched:sched_switch|!sched:sched_switch|*:mod:%k|sched:*|" },
	{ 2, "W>%ievents/sched/sched_switch/filter\tprev_pid > %d|0|next_comm ~ \"f*\"" },
	{ 2, "W>%ievents/sched/sched_switch/trigger\ttraceoff:%c|!traceoff|snapshot:%c|stacktrace:%c|hist:keys=next_pid|"
		"hist:keys=next_pid:ts=common_timestamp|!hist:keys=next_pid:ts=common_timestamp" },
	{ 4, "mkdir instances/%a\nw>instances/%A/set_ftrace_filter\t%g|%n" },
	{ 3, "rmdir instances/%a" },
	{ 4, "modprobe %m" },
	{ 1, "modprobe ftrace-ops persist=1 nr_function_calls=9 nr_ops_relevant=%c nr_ops_irrelevant=%c "
		"save_regs=%s assist_recursion=%s assist_rcu=%s" },
	{ 4, "modprobe function-calls\nw>/sys/module/function_calls/parameters/run\trecurse 2 60|recurse 1 200|"
		"sleep 1 300|migrate 5|irq 9|never 2|nest 2 50" },
	{ 1, "modprobe fprobe_example symbol=vfs_* stackdump=0 use_trace=1" },
	{ 4, "rmmod %m\nw>/sys/kernel/livepatch/livepatch_sample/enabled\t%b" },
	{ 2, "rmmod ftrace-ops\nrmmod fprobe_example" },
	{ 1, "w>/sys/devices/system/cpu/cpu1/online\t0\n%!\n%!\n%!\nw>/sys/devices/system/cpu/cpu1/online\t1" },
	/* Opening one traces all functions, too */
	{ 1, "perf %f ftrace:function 'ip == %n || ip == vfs_write'" },
	{ 1, "perf %f ftrace:function 'ip != %n'\n%!\nexec %F>&-" },
	{ 3, "perf %f fz:p%q ''" },
	{ 3, "exec %f>&-" },
	{ 4, "exec %f>>%i%w\nW>&%F\t" FILTER },
	{ 1, "exec %f>%i%w\nw>&%F\t%n\nW>&%F\t" FILTER },
	{ 3, "W>&%f\t" FILTER },
	{ 3, "exec %f<%i%r" },
	{ 3, "timeout 1 head -c 5000 <&%f >/dev/null" },
	{ 8, "timeout 1 head -c 20000 <%i%r >/dev/null" },
	/* In pieces, between which the tracer becomes another one */
	{ 2, "exec %f<%jtrace\ntimeout 1 head -c 5000 <&%F >/dev/null\nw>%Jcurrent_tracer\tnop|function_stat|function_graph\n"
		"timeout 1 head -c 5000 <&%F >/dev/null\nw>%Joptions/stat-hist\t%b\ntimeout 1 head -c 5000 <&%F >/dev/null" },
	{ 6, "timeout 1 head -c 20000 <%y >/dev/null" },
	{ 4, "(:)" },
	{ 3, "sleep 0.0%c" },
	{ 2, "w>%iset_ftrace_filter\t%n\nw>%Ioptions/func_stack_trace\t1\nw>%Ioptions/func_stack_trace\t0" },
	{ 3, "w>/proc/self/make-it-fail\t1\n%!\n%!\n%!\nw>/proc/self/make-it-fail\t0" },
};

static struct {
	int		stop, next, steps, accepted, graphed, places, nr_kept, enabling;
	char		kept[NR_KEPT][600];
	unsigned char	reached[1 << (REACHED_BITS - 3)];
	/* Time without that in which the guest itself did not run: the host may be busy */
	double		clock;
	struct {
		double	since;
		char	step[100];
	} now[NR_WORKERS];
} *shared;

static uint64_t rng, *cover;
static pid_t pids[NR_WORKERS];
static int fds[NR_WORKERS][NR_FDS], worker, planting, ordered, injecting;
static const char *module;
static char module_path[256];

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* splitmix64 */
static unsigned int rnd(unsigned int n)
{
	uint64_t z = (rng += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % n;
}

/* Appends text to out, with each %x filled in; of several words, one. */
static void expand(char *out, size_t size, const char *text, int choose)
{
	static char last[128][64];
	char c[2] = "";
	const char *end;
	int n = 1;

	if (choose) {
		for (end = text; *end; end++)
			n += *end == '|';
		for (n = rnd(n); n; n--)
			text = strchr(text, '|') + 1;
	}
	end = choose ? strchrnul(text, '|') : text + strlen(text);
	for (; text < end; text++) {
		*c = *text;
		if (*c == '%' && text[1] != '%') {
			*c = *++text;
			if (words[(int)*c]) {
				last[(int)*c][0] = 0;
				expand(last[(int)*c], sizeof(last[0]), words[(int)*c], 1);
			}
			strncat(out, last[*c | 32], size - strlen(out) - 1);
			continue;
		}
		text += *c == '%';
		strncat(out, c, size - strlen(out) - 1);
	}
}

/* Makes a value wrong, or odd. Returns its length. */
static size_t mangle(char *value)
{
	size_t len = strlen(value), i, n = rnd(len + 1);

	switch (rnd(9)) {
	case 0: /* cut */
		len = n;
		break;
	case 1: /* overlong */
		for (n = 100 << rnd(6), i = len; len && i < n; i++)
			value[i] = value[i - len];
		len = len ? n : 0;
		break;
	case 2: /* wrong case */
		for (i = n; i < len; i++)
			value[i] ^= value[i] > '@' ? 32 : 0;
		break;
	case 3: /* NUL, or another odd character */
		value[n] = "\0\n\t :!*?[]\xff%"[rnd(12)];
		len += n == len;
		break;
	case 4: /* more than there was room for once */
		len += sprintf(value + len, "%llu", 1ull << rnd(64));
		break;
	case 5:
		memmove(value + 1, value, len++);
		value[0] = "!-:* "[rnd(5)];
		break;
	case 6: /* one more */
		value[len++] = "\n "[rnd(2)];
		memcpy(value + len, value, len - 1);
		len += len - 1;
		break;
	default: /* senseless */
		for (i = n; i < n + 8; i++)
			value[i] = rnd(3) ? (char)rnd(256) : "*:!,%-+/"[rnd(8)];
		len = len > i ? len : i;
	}
	return len;
}

/* Appends what writes a value: echo, or printf for one that echo or a quote would change. */
static void quote(char *out, const char *value, size_t len)
{
	size_t i;

	for (i = 0; i < len && value[i] >= ' ' && value[i] <= '~' && !strchr("'\\", value[i]);)
		i++;
	out += strlen(out);
	if (i == len && value[0] != '-') {
		sprintf(out, "echo '%.*s'", (int)len, value);
		return;
	}
	out += sprintf(out, "printf '");
	for (i = 0; i < len; i++)
		out += sprintf(out, value[i] == '%' ? "%%%%" : strchr("'\\", value[i]) || value[i] < ' ' ? "\\%03o" : "%c",
			       (unsigned char)value[i]);
	strcpy(out, "'");
}

/* A line of a template becomes a step. */
static void make(char *step, const char *line)
{
	char value[8192] = "", copy[512];
	const char *tab = strchr(line, '\t');
	size_t len;

	step[0] = 0;
	if (*line != 'W' && *line != 'w') {
		expand(step, 1024, line, 0);
		return;
	}
	/* The file first, as in the template */
	snprintf(copy, sizeof(copy), "%.*s", (int)(tab - line - 1), line + 1);
	expand(step, 1024, copy, 0);
	strcpy(copy, step);
	expand(value, 512, tab + 1, 1);
	len = strlen(value);
	if (*line == 'W' && !rnd(8))
		len = mangle(value);
	step[0] = 0;
	quote(step, value, len);
	strcat(step, copy);
}

/* For the kernel's log, where scripts/logscan finds it */
static void complain(const char *what, const char *detail)
{
	char line[400];
	int fd = open("/dev/kmsg", O_WRONLY), len;

	/* dprintf() wants to seek */
	len = snprintf(line, sizeof(line), "<1>fuzz: %s: %s", what, detail);
	if (fd < 0 || write(fd, line, len) < 0)
		printf("BAD %s: %s\n", what, detail);
	close(fd);
}

static int find_module(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	const char *name = path + ftw->base;
	size_t len = strlen(module);

	if (strncmp(name, module, len) || strcmp(name + len, ".ko"))
		return 0;
	snprintf(module_path, sizeof(module_path), "%s", path);
	return 1;
}

static int load(char *args)
{
	struct utsname uts;
	char dir[100];
	int fd, ret;

	module = strsep(&args, " ");
	uname(&uts);
	snprintf(dir, sizeof(dir), "/lib/modules/%s", uts.release);
	if (nftw(dir, find_module, 8, FTW_PHYS) != 1) {
		errno = ENOENT;
		return -1;
	}
	fd = open(module_path, O_RDONLY);
	ret = syscall(SYS_finit_module, fd, args ?: "", 0);
	close(fd);
	return ret;
}

static int perf(int *fd, char *args)
{
	int slot = fd - fds[worker];
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	char *event = strsep(&args, " "), path[100], id[16] = "";
	int file;

	*strchrnul(event, ':') = '/';
	snprintf(path, sizeof(path), "events/%.60s/id", event);
	file = open(path, O_RDONLY);
	if (file < 0 || read(file, id, sizeof(id) - 1) <= 0)
		return -1;
	close(file);
	attr.config = atoi(id);
	*fd = slot & 1 ? syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) :
		       syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	args[strlen(args) - 1] = 0;
	return *fd < 0 ? -1 : args[1] ? ioctl(*fd, PERF_EVENT_IOC_SET_FILTER, args + 1) : 0;
}

/* Redirections to a file or to an open one: > >> < N> N>> N< N>&- >&N <&N */
static int redirect(char *text, int *close_it)
{
	int *slots = fds[worker], in = strchr(text, '<') != NULL, flags, fd;
	char *op = text + strcspn(text, "<>");
	int slot = op > text ? op[-1] - '0' : -1;

	*close_it = 0;
	if (op[1] == '&' && op[2] != '-')
		return slots[op[2] - '0'];
	if (slot >= 0 && slots[slot] >= 0) {
		close(slots[slot]);
		slots[slot] = -1;
	}
	if (op[1] == '&')
		return 0;
	flags = in ? O_RDONLY : op[1] == '>' ? O_WRONLY | O_APPEND : O_WRONLY | O_TRUNC;
	fd = open(op + 1 + (op[1] == '>'), flags | O_NONBLOCK);
	if (slot >= 0)
		slots[slot] = fd;
	else
		*close_it = 1;
	return fd;
}

/* Does a step. Returns -1 if the kernel refused it. */
static int run(const char *line)
{
	static char step[65536], value[65536];
	int ret = 0, fd, close_it, n = 0, echo = !strncmp(line, "echo '", 6);
	char *p = step + (echo ? 6 : 8), *args;
	pid_t pid;

	snprintf(step, sizeof(step), "%s", line);
	args = strchr(step, ' ') ? strchr(step, ' ') + 1 : step;
	if (echo || !strncmp(step, "printf '", 8)) {
		for (; *p && *p != '\''; p++, n++) {
			value[n] = *p;
			if (!echo && *p == '\\') {
				value[n] = (p[1] - '0') * 64 + (p[2] - '0') * 8 + p[3] - '0';
				p += 3;
			}
			p += !echo && *p == '%';
		}
		if (echo)
			value[n++] = '\n';
		/* What makes allocations fail must be able to end that */
		do {
			fd = redirect(p + 1, &close_it);
			ret = fd < 0 ? -1 : write(fd, value, n);
			if (close_it && fd >= 0)
				close(fd);
		} while (ret < 0 && errno == ENOMEM && (strstr(p, "/make-it-fail") || strstr(p, "/fail-nth")));
		if (planting && ret > 0 && strstr(p, "current_tracer") && strstr(step, "'function_graph'"))
			shared->graphed = 1;
		if (planting && ret > 0 && shared->graphed && strstr(p, "max_graph_depth"))
			complain("WARNING: planted", "depth after graph");
	} else if (!strncmp(step, "exec ", 5)) {
		ret = redirect(args, &close_it);
	} else if (!strncmp(step, "timeout ", 8)) {
		*strchrnul(strchr(step, '<') + 1, ' ') = 0;
		fd = redirect(strchr(step, '<'), &close_it);
		for (n = atoi(args + 10); fd >= 0 && n > 0 && ret >= 0; n -= ret)
			if ((ret = read(fd, value, n)) <= 0)
				break;
		if (close_it && fd >= 0)
			close(fd);
		ret = fd < 0 ? -1 : ret;
	} else if (!strncmp(step, "mkdir ", 6)) {
		ret = mkdir(args, 0755);
	} else if (!strncmp(step, "rmdir ", 6)) {
		ret = rmdir(args);
	} else if (!strncmp(step, "modprobe ", 9)) {
		ret = load(args);
	} else if (!strncmp(step, "rmmod ", 6)) {
		for (p = args; (p = strchr(p, '-'));)
			*p = '_';
		ret = syscall(SYS_delete_module, args, O_NONBLOCK);
	} else if (!strncmp(step, "perf ", 5)) {
		fd = *args - '0';
		if (fds[worker][fd] >= 0)
			close(fds[worker][fd]);
		fds[worker][fd] = -1;
		ret = perf(&fds[worker][fd], args + 2);
	} else if (!strncmp(step, "sleep ", 6)) {
		usleep(atof(args) * 1e6);
	} else {
		pid = fork();
		if (!pid)
			_exit(0);
		ret = waitpid(pid, NULL, 0);
	}
	return ret < 0 ? -1 : 0;
}

/* Writes a line, for which the kernel may be made to have no memory */
static void print(const char *line)
{
	while (write(1, line, strlen(line)) < 0 && errno == ENOMEM)
		;
}

/* Lets the kernel record the places of its tracing code that this process comes through. */
static void cover_start(void)
{
	int fd = open("/sys/kernel/debug/kcov", O_RDWR);

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, COVER_SIZE))
		return;
	cover = mmap(NULL, COVER_SIZE * sizeof(*cover), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (cover == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		cover = NULL;
}

/* How many places were reached since the last call that no worker's steps had reached before */
static int cover_new(void)
{
	uint64_t i, bit;
	int n = 0;

	for (i = 1; cover && i <= cover[0]; i++) {
		/* A place that shares its bit with another one is not missed by much. */
		bit = cover[i] * 0x9e3779b97f4a7c15 >> (64 - REACHED_BITS);
		if (!(__atomic_fetch_or(&shared->reached[bit / 8], 1 << bit % 8, __ATOMIC_RELAXED) & 1 << bit % 8))
			n++;
	}
	if (cover)
		cover[0] = 0;
	__atomic_add_fetch(&shared->places, n, __ATOMIC_RELAXED);
	return n;
}

/* Keeps a sequence of steps; beyond NR_KEPT, instead of another one. */
static void keep(const char *steps, int places)
{
	char line[700];
	int i;

	if (strlen(steps) >= sizeof(shared->kept[0]))
		return;
	i = __atomic_fetch_add(&shared->nr_kept, 1, __ATOMIC_RELAXED);
	strcpy(shared->kept[i < NR_KEPT ? (unsigned int)i : rnd(NR_KEPT)], steps);
	snprintf(line, sizeof(line), "reaches %d\t%s\n", places, steps);
	print(line);
}

/* Prints a step, and does it. Returns whether it was refused. */
static int take(const char *step)
{
	static char before[2][600];
	static char line[66000];
	int places, refused, enabling;

	snprintf(shared->now[worker].step, sizeof(shared->now[worker].step), "%s", step);
	shared->now[worker].since = shared->clock;
	snprintf(line, sizeof(line), "%.3f %d %s\n", now(), worker, step);
	print(line);
	/* What can be interrupted is no hang */
	alarm(30);
	enabling = strstr(step, "/ftrace_enabled") != NULL;
	__atomic_add_fetch(&shared->enabling, enabling, __ATOMIC_SEQ_CST);
	refused = run(step) != 0;
	__atomic_add_fetch(&shared->enabling, enabling, __ATOMIC_SEQ_CST);
	if (!refused)
		__atomic_add_fetch(&shared->accepted, 1, __ATOMIC_RELAXED);
	alarm(0);
	__atomic_add_fetch(&shared->steps, 1, __ATOMIC_RELAXED);
	shared->now[worker].since = 0;
	if (!cover)
		return refused;
	places = cover_new();
	if (places) {
		snprintf(line, sizeof(line), "%s%s%s", before[0], before[1], step);
		keep(line, places);
	}
	strcpy(before[0], before[1]);
	before[1][0] = 0;
	if (strlen(step) < sizeof(before[1]) / 3)
		sprintf(before[1], "%s\t", step);
	return refused;
}

/*
 * Takes a step. A filter that it makes wide becomes narrow when three more are taken: while a debug kernel traces all it
 * does, hardly any step ends.
 */
static void take_new(const char *step)
{
	static struct {
		char	file[80], fd;
		int	left;
	} wide[16];
	char narrow[100], fd = !strncmp(step, "exec ", 5) ? step[5] : 0;
	const char *file = strrchr(step, '>');
	int refused = take(step);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wide); i++) {
		if (!wide[i].left || --wide[i].left)
			continue;
		/* It is in use from when it is closed */
		sprintf(narrow, "exec %c>&-", wide[i].fd);
		if (wide[i].fd)
			take(narrow);
		sprintf(narrow, "echo 'vfs_write'>%.79s", wide[i].file);
		take(narrow);
	}
	if (!file || !strstr(file, "set_ftrace_filter") || strlen(file) >= sizeof(wide[0].file))
		return;
	/* What is refused has emptied it, too */
	if (strncmp(step, "echo '*'", 8) && (file[-1] == '>' || !(fd || refused || !strncmp(step, "echo ''", 7))))
		return;
	for (i = 0; i < ARRAY_SIZE(wide) - 1 && wide[i].left; i++)
		;
	strcpy(wide[i].file, file + 1);
	wide[i].fd = fd;
	wide[i].left = 3;
}

/* Changes a kept step: the value that it writes, or the instance. */
static void vary(char *step)
{
	static const char * const dirs[] = { "", "instances/a/", "instances/b/", "instances/c/" };
	char value[8192], copy[600], *file;
	size_t len;

	/* Calls that are nested too deep are the end of any kernel */
	if (strstr(step, "function_calls") || sscanf(step, "echo '%599[^']'", copy) != 1)
		return;
	len = sprintf(value, "%s", copy);
	strcpy(copy, strrchr(step, '\'') + 1);
	file = strrchr(copy, '>');
	if (!file)
		return;
	file++;
	if (rnd(2) && *file != '/' && *file != '&') {
		/* The step has room for a longer one. */
		file += strncmp(file, dirs[1], 10) ? 0 : strlen(dirs[1]);
		sprintf(step, "echo '%s'%s%s%s", value, copy[1] == '>' ? ">>" : ">", dirs[rnd(ARRAY_SIZE(dirs))], file);
		return;
	}
	len = mangle(value);
	step[0] = 0;
	quote(step, value, len);
	strcat(step, copy);
}

/* Takes the steps of a kept sequence, as they are, or each with a chance to be varied or left out. */
static void take_kept(const char *kept, int varied)
{
	/* What must not stay so for long, and what it becomes */
	static const char * const brief[][2] = {
		{ "/make-it-fail", "0" }, { "/func_stack_trace", "0" }, { "tracing_thresh", "0" },
		{ "/cpu1/online", "1" }, { "/ftrace_enabled", "1" }, { "/kprobes/enabled", "1" }, { "/fail-nth", "0" },
	};
	static char step[66000];
	char steps[sizeof(shared->kept[0])], after[1000] = "", *rest = steps, *one;

	snprintf(steps, sizeof(steps), "%s", kept);
	while ((one = strsep(&rest, "\t")) && !shared->stop) {
		if (varied && rest && !rnd(4))
			continue;
		strcpy(step, one);
		if (varied && rnd(2))
			vary(step);
		take_new(step);
		for (unsigned int i = 0; i < ARRAY_SIZE(brief); i++)
			if (strstr(step, brief[i][0]) && strrchr(step, '>'))
				sprintf(after + strlen(after), "echo '%s'%s\t", brief[i][1], strrchr(step, '>'));
	}
	for (rest = after; (one = strsep(&rest, "\t")) && *one;)
		take(one);
}

/* What former runs have kept: each worker takes its part. What there is no time for is kept as it is. */
static void take_corpus(const char *corpus, double until)
{
	FILE *f = corpus ? fopen(corpus, "r") : NULL;
	static char line[sizeof(shared->kept[0])];

	for (int i = 0; f && cover && fgets(line, sizeof(line), f); i++) {
		line[strcspn(line, "\n")] = 0;
		if (i % NR_WORKERS != worker)
			continue;
		if (now() < until)
			take_kept(line, 0);
		else
			keep(line, 0);
	}
	if (f)
		fclose(f);
}

/* The ids are written to set_ftrace_pid */
static pid_t fork_as(pid_t id)
{
	struct clone_args args = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&id, .set_tid_size = 1 };
	pid_t pid = syscall(SYS_clone3, &args, sizeof(args));

	return pid < 0 ? fork() : pid;
}

static void random_steps(void)
{
	static char step[66000], nth[40];
	unsigned int n, i, all = 0, failing;
	char lines[400], *rest, *line;

	for (i = 0; i < ARRAY_SIZE(templates); i++)
		all += templates[i].weight;
	while (!shared->stop) {
		n = shared->nr_kept;
		if (cover && n && rnd(2)) {
			take_kept(shared->kept[rnd(n < NR_KEPT ? n : NR_KEPT)], 1);
			continue;
		}
		for (i = 0, n = rnd(all); n >= templates[i].weight; i++)
			n -= templates[i].weight;
		strcpy(lines, templates[i].text);
		for (rest = lines; (line = strsep(&rest, "\n")) && !shared->stop;) {
			failing = strcmp(line, "%!") == 0;
			while (failing && *line != 'W' && strncmp(line, "mkdir ", 6) && strcmp(line, "(:)"))
				line = (char *)templates[rnd(ARRAY_SIZE(templates))].text;
			if (failing)
				line = strndupa(line, strcspn(line, "\n"));
			make(step, line);
			/* Base warns if there is no memory to unregister a direct caller, ftrace-ops if it can't register */
			failing = injecting && !rnd(4) && strncmp(step, "rmmod ", 6) && strncmp(step, "modprobe ftrace-ops", 19);
			if (failing) {
				sprintf(nth, "echo '%u'>/proc/self/fail-nth", 1 + rnd(rnd(2) ? 8 : 60));
				take(nth);
			}
			take_new(step);
			if (failing)
				take("echo '0'>/proc/self/fail-nth");
		}
	}
}

/* The steps of a file, each when the one before has begun, or has ended */
static void replay(const char *file)
{
	FILE *f = fopen(file, "r");
	static char line[66000];

	for (int i = 0; fgets(line, sizeof(line), f) && !shared->stop; i++) {
		if (atoi(strchr(line, ' ')) != worker)
			continue;
		while (shared->next != i && !shared->stop)
			usleep(100);
		if (!ordered)
			shared->next = i + 1;
		line[strcspn(line, "\n")] = 0;
		take(strchr(strchr(line, ' ') + 1, ' ') + 1);
		if (ordered)
			shared->next = i + 1;
	}
}

/* What is traced: forks, files, memory, pipes, /proc; the second one reads the traces, too. */
static void workload(int readers)
{
	static const char * const pipes[] = { "trace_pipe", "instances/a/trace_pipe", "instances/b/trace" };
	static char buf[65536], copy[4096];
	int fd, p[2], i = 0, status = 0, wrong = 0;
	char name[20];
	void *map;

	/* On a debug kernel that traces all it does, little time would be left for the workers */
	if (nice(10) < 0)
		_exit(1);
	sprintf(name, "/tmp/fuzz%d", readers);
	for (; !wrong; i++) {
		if (!fork()) {
			map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memset(map, 1, 65536);
			_exit(0);
		}
		/* A function that returns something else, or to somewhere else, would show here */
		memset(buf, i, sizeof(copy));
		fd = open(name, O_RDWR | O_CREAT, 0600);
		wrong |= write(fd, buf, sizeof(copy)) != sizeof(copy) ||
			 pread(fd, copy, sizeof(copy), 0) != sizeof(copy) || memcmp(buf, copy, sizeof(copy)) || close(fd);
		fd = open("/proc/cmdline", O_RDONLY);
		if (fd >= 0 && read(fd, buf, 100) > 0)
			close(fd);
		wrong |= pipe(p) || write(p[1], name, sizeof(name)) != sizeof(name) ||
			 read(p[0], copy, sizeof(copy)) != sizeof(name) || memcmp(copy, name, sizeof(name)) ||
			 close(p[0]) || close(p[1]) || wait(&status) < 0 || status;
		fd = readers ? open(pipes[i % ARRAY_SIZE(pipes)], O_RDONLY | O_NONBLOCK) : -1;
		if (fd >= 0) {
			for (int n = 0; n < 4 && read(fd, buf, sizeof(buf)) > 0; n++)
				;
			close(fd);
		}
		usleep(2000);
	}
	complain("WARNING: a call of the load went wrong", "");
	pause();
}

static int ftrace_enabled(void)
{
	char enabled = '1';
	int fd = open("/proc/sys/kernel/ftrace_enabled", O_RDONLY);

	if (fd >= 0 && read(fd, &enabled, 1) == 1)
		close(fd);
	return enabled == '1';
}

/*
 * Has function_stat count the calls of a function that nothing else here calls, in an instance that no step
 * names: it may share its sets, but each of its calls and returns is to be counted once.
 */
static void counting(void)
{
	static const char * const first[] = {
		"mkdir instances/count", "echo '__x64_sys_getpgid'>instances/count/set_ftrace_filter",
		"echo 'function_stat'>instances/count/current_tracer",
	};
	unsigned long long calls, returns;
	char buf[4096], *line;
	int fd, n, i, before;

	for (i = 0; i < (int)ARRAY_SIZE(first); i++)
		if (run(first[i])) {
			puts("lacks function_stat");
			pause();
		}
	for (;; usleep(3000)) {
		before = shared->enabling;
		if (!ftrace_enabled() || run("printf ''>instances/count/trace"))
			continue;
		for (i = 0; i < 50; i++)
			syscall(SYS_getpgid, 0);
		fd = open("instances/count/trace", O_RDONLY);
		for (n = 0; fd >= 0 && n < (int)sizeof(buf) - 1 && (i = read(fd, buf + n, sizeof(buf) - 1 - n)) > 0;)
			n += i;
		close(fd);
		buf[n] = 0;
		if (!ftrace_enabled() || before != shared->enabling || !strstr(buf, "calls lost: 0 no room"))
			continue;
		line = strstr(buf, "__x64_sys_getpgid");
		while (line && line > buf && line[-1] != '\n')
			line--;
		if (line && sscanf(line, "%llu %llu", &calls, &returns) == 2 && calls == 50 && returns == 50)
			continue;
		printf("BAD counted: %s\n", buf);
		complain("WARNING: calls are not counted once", "");
		pause();
	}
}

/* Undoes all that steps may have done, and looks for functions that are still traced. */
static void undo(void)
{
	static const char * const all[] = {
		"exec 5>&-", "exec 6>&-", "exec 7>&-", "exec 8>&-",
		"echo '0'>/proc/self/make-it-fail",
		"echo '1'>/sys/devices/system/cpu/cpu1/online",
		"echo '1'>/proc/sys/kernel/ftrace_enabled",
		"echo '0'>/proc/sys/kernel/stack_tracer_enabled",
		"echo '0'>function_profile_enabled",
		"echo '0'>events/enable",
		"echo '0'>/sys/kernel/livepatch/livepatch_sample/enabled",
		"echo '1'>/sys/kernel/debug/kprobes/enabled",
	}, * const in_each[] = {
		"echo 'nop'>%scurrent_tracer",
		"echo '0'>%sevents/enable",
		/* Its variable keeps the instance */
		"echo '!hist:keys=next_pid:ts=common_timestamp'>%sevents/sched/sched_switch/trigger",
		"echo '!*:traceoff'>%sset_ftrace_filter", "echo '!*:traceon'>%sset_ftrace_filter",
		"echo '!*:snapshot'>%sset_ftrace_filter", "echo '!*:stacktrace'>%sset_ftrace_filter",
		"echo '!*:enable_event:sched:sched_switch'>%sset_ftrace_filter",
		"echo '!*:disable_event:sched:sched_switch'>%sset_ftrace_filter",
		/* Commands with a count stay when those without one are removed; any number does for them */
		"echo '!*:traceoff:0'>%sset_ftrace_filter", "echo '!*:traceon:0'>%sset_ftrace_filter",
		"echo '!*:snapshot:0'>%sset_ftrace_filter", "echo '!*:stacktrace:0'>%sset_ftrace_filter",
		"echo '!*:enable_event:sched:sched_switch:0'>%sset_ftrace_filter",
		"echo '!*:disable_event:sched:sched_switch:0'>%sset_ftrace_filter",
		"echo ''>%sset_ftrace_filter", "echo ''>%sset_ftrace_notrace", "echo ''>%sset_ftrace_pid",
		"echo ''>%sset_ftrace_notrace_pid", "echo ''>%sset_graph_function", "echo ''>%sset_graph_notrace",
	}, * const triggers[] = { "!traceoff", "!snapshot", "!stacktrace", "!hist:keys=common_pid" };
	const char *dirs[] = { "", "instances/a/", "instances/b/", "instances/c/", "instances/count/" };
	char step[200], kept[64], *rest, *list, functions[2000];
	unsigned int i, j, n, tries;
	FILE *f;

	/* The filter files are this one's */
	run("echo 'trace'>function_tracers");
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		for (j = 0; j < ARRAY_SIZE(in_each); j++) {
			snprintf(step, sizeof(step), in_each[j], dirs[i]);
			run(step);
		}
	for (i = 0; i < ARRAY_SIZE(all); i++)
		run(all[i]);
	for (i = 0; i < 6 * ARRAY_SIZE(triggers); i++) {
		snprintf(step, sizeof(step), "echo '%s'>events/fz/p%d/trigger", triggers[i / 6], i % 6);
		run(step);
	}
	for (tries = 0; tries < 10; tries++, sleep(1)) {
		run("printf ''>kprobe_events");
		run("printf ''>dynamic_events");
		for (rest = list = strdup(words['m']); rest;) {
			snprintf(step, sizeof(step), "rmmod %s", strsep(&rest, "|"));
			run(step);
		}
		free(list);
		run("rmmod ftrace-ops");
		run("rmmod fprobe_example");
		kept[0] = 0;
		for (i = 1; i < ARRAY_SIZE(dirs); i++) {
			snprintf(step, sizeof(step), "rmdir %s", dirs[i]);
			run(step);
			if (!access(dirs[i], F_OK))
				strcpy(kept, dirs[i]);
		}
		f = fopen("dynamic_events", "r");
		if (f && fgets(step, sizeof(step), f))
			snprintf(kept, sizeof(kept), "%.*s", (int)strcspn(step, "\n"), step);
		if (f)
			fclose(f);
		n = 0;
		f = fopen("enabled_functions", "r");
		while (f && fgets(functions, sizeof(functions), f))
			/* A kprobe of fail_function is there */
			n += strncmp(functions, "should_failslab", 15) != 0;
		if (f)
			fclose(f);
		if (!n && !kept[0])
			return;
	}
	if (kept[0]) {
		printf("kept %s\n", kept);
		complain("WARNING: an instance or event stays at the end", "");
		return;
	}
	/* By whom, the rest of the lines says */
	f = fopen("enabled_functions", "r");
	while (f && fgets(functions, sizeof(functions), f))
		printf("left %s", functions);
	/* The commands of the top instance */
	f = fopen("set_ftrace_filter", "r");
	while (f && fgets(functions, sizeof(functions), f))
		if (strchr(functions, ':'))
			printf("left command %s", functions);
	complain("WARNING: functions are traced at the end", "");
}

/* Whether the kernel has complained since the last call */
static int complained(void)
{
	static const char * const complaints[] = {
		"WARNING: ", "BUG: ", "INFO: ", "blocked for more than", "Poison overwritten", "Redzone overwritten",
	};
	static int fd = -1, found;
	char line[9000];
	ssize_t n;

	if (fd < 0) {
		fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
		lseek(fd, 0, SEEK_END);
	}
	/* Records that were overwritten are EPIPE */
	while ((n = read(fd, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = 0;
		for (unsigned int i = 0; i < ARRAY_SIZE(complaints); i++)
			found |= strstr(line, complaints[i]) != NULL;
	}
	return found;
}

/* Prints a file of /proc, its lines after @prefix */
static void print_file(const char *prefix, const char *path)
{
	char line[1000];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		printf("%s %s", prefix, line);
	if (f)
		fclose(f);
}

/*
 * Prints what the CPUs do while a step is blocked: in two seconds, interrupts and the time of each CPU and of
 * each task that ran or is runnable, in ticks, with its stack.
 */
static void print_tasks(void)
{
	static struct {
		unsigned long time;
		int pid;
	} before[2000];
	unsigned long utime, stime, time;
	char path[60], line[1000], *end, state;
	struct dirent *entry;
	int n = 0, i, pass, pid, cpu, prio;
	FILE *f;
	DIR *d;

	for (pass = 0; pass < 2; pass++) {
		print_file("slow", "/proc/interrupts");
		print_file("slow", "/proc/stat");
		d = opendir("/proc");
		while (d && (entry = readdir(d))) {
			pid = atoi(entry->d_name);
			snprintf(path, sizeof(path), "/proc/%d/stat", pid);
			f = pid ? fopen(path, "r") : NULL;
			if (!f)
				continue;
			/* Behind the name, the fields begin with the third one */
			end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
			fclose(f);
			if (!end || sscanf(end + 2, "%c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu %*s %*s %d %*s "
					   "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					   "%*s %d", &state, &utime, &stime, &prio, &cpu) != 5)
				continue;
			time = utime + stime;
			if (!pass && n < (int)ARRAY_SIZE(before)) {
				before[n].pid = pid;
				before[n++].time = time;
			}
			for (i = 0; i < n && before[i].pid != pid; i++)
				;
			if (!pass || (i < n && time == before[i].time && state != 'R' && state != 'D'))
				continue;
			*end = 0;
			printf("slow task %s) %c on CPU %d, priority %d, %ld ticks\n", line, state, cpu, prio,
			       i < n ? time - before[i].time : -1);
			snprintf(path, sizeof(path), "/proc/%d/stack", pid);
			print_file("slow   ", path);
		}
		if (d)
			closedir(d);
		if (!pass)
			sleep(2);
	}
	fflush(stdout);
}

/* Watches the workers until the time is over, the kernel complains, or all have ended. */
static void watch(double until)
{
	static int left = NR_WORKERS;
	static double seen[NR_WORKERS];
	double last = now(), passed;
	char path[40];
	int i;

	while (left && now() < until && (shared->stop || !complained())) {
		usleep(100000);
		passed = now() - last;
		last += passed;
		shared->clock += passed < 0.5 ? passed : 0.1;
		while (left && waitpid(-1, &i, WNOHANG) > 0) {
			left--;
			/* Those of a file end by themselves */
			if (!shared->stop && until < 1e9)
				complain("WARNING: a worker has ended", i ? "by a signal" : "");
		}
		for (i = 0; i < NR_WORKERS; i++) {
			double since = shared->now[i].since;

			if (since != 0 && since != seen[i] && shared->clock - since > SLOW) {
				seen[i] = since;
				printf("slow %s\n", shared->now[i].step);
				print_tasks();
			}
			if (since == 0 || shared->clock - since < TOO_LONG)
				continue;
			complain("a step is blocked for more than " XSTR(TOO_LONG) " s", shared->now[i].step);
			printf("BAD blocked: %s\n", shared->now[i].step);
			snprintf(path, sizeof(path), "/proc/%d/stack", pids[i]);
			print_file("BAD", path);
			fflush(stdout);
			_exit(1);
		}
	}
}

/* Random steps for some seconds, or those of a file */
static int session(const char *file, int seconds, int seed, const char *corpus)
{
	static const char * const first[] = {
		"mkdir instances/a", "mkdir instances/b", "mkdir instances/c", "echo 'vfs_*'>set_ftrace_filter",
		"echo 'vfs_*'>instances/a/set_ftrace_filter", "echo 'd_*'>instances/b/set_ftrace_filter",
		"echo '*mmap*'>instances/c/set_ftrace_filter", "echo 'vfs_*'>stack_trace_filter",
		"echo 'trace_profile'>function_tracers", "echo 'vfs_*'>set_ftrace_filter", "echo 'trace'>function_tracers",
	};
	pid_t load[3];
	unsigned int i;
	double begin;

	complained();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	shared->clock = 1;
	memset(fds, -1, sizeof(fds));
	for (i = 0; !file && i < ARRAY_SIZE(first); i++)
		take(first[i]);
	for (i = 0; i < ARRAY_SIZE(load); i++) {
		load[i] = fork_as(3001 + i);
		if (!load[i] && i < 2)
			workload(i);
		if (!load[i])
			counting();
	}
	for (i = 0; i < NR_WORKERS; i++) {
		pids[i] = fork_as(3011 + i);
		if (pids[i])
			continue;
		worker = i;
		rng = seed * 1000ull + i;
		if (file) {
			replay(file);
			_exit(0);
		}
		cover_start();
		take_corpus(corpus, now() + seconds / 4);
		random_steps();
		_exit(0);
	}
	begin = now();
	watch(file ? 1e9 : begin + seconds);
	seconds = now() - begin;
	shared->stop = 1;
	watch(1e9);
	/* While one of them reads a trace, the tracer stays */
	for (i = 0; i < ARRAY_SIZE(load); i++) {
		kill(load[i], SIGKILL);
		waitpid(load[i], NULL, 0);
	}
	puts("undoing");
	undo();
	printf("done %d %d %d %d\n", shared->steps, shared->accepted, shared->places, seconds);
	return 0;
}

static void nothing(int sig)
{
}

int main(int argc, char **argv)
{
	static const char * const faults[] = { "failslab", "fail_page_alloc", "fail_function" };
	static const char * const settings[] = {
		"echo 'Y'>%s/task-filter", "echo '10'>%s/probability", "echo '-1'>%s/times", "echo '0'>%s/verbose",
		"echo 'N'>%s/ignore-gfp-wait", "echo '0'>%s/min-order", "echo 'should_failslab'>%s/inject",
	};
	char step[200], dir[100];
	unsigned int i, j;
	int status = 0;
	pid_t pid;

	planting = argc > 1 && !strcmp(argv[argc - 1], "plant");
	argc -= planting;
	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = nothing }, NULL);
	if (chdir("/sys/kernel/tracing")) {
		puts("BAD no tracefs");
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		snprintf(dir, sizeof(dir), "/sys/kernel/debug/%s", faults[i]);
		if (access(dir, F_OK))
			printf("lacks %s\n", faults[i]);
		else
			injecting = !access("/proc/self/fail-nth", F_OK);
		for (j = 0; j < ARRAY_SIZE(settings); j++) {
			snprintf(step, sizeof(step), settings[j], dir);
			run(step);
		}
	}
	if (access("/sys/kernel/debug/kcov", F_OK))
		puts("lacks KCOV");
	if (argv[1][0] != '/')
		return session(NULL, atoi(argv[1]), argc > 2 ? atoi(argv[2]) : 1, argc > 3 ? argv[3] : NULL);
	ordered = !strcmp(argv[1], "/ordered");
	for (i = 1 + ordered; i < (unsigned int)argc && !status; i++) {
		printf("try %u\n", i - ordered);
		pid = fork();
		if (!pid)
			exit(session(argv[i], 0, 0, NULL) || complained());
		waitpid(pid, &status, 0);
	}
	return 0;
}
