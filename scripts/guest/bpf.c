// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches and detaches BPF programs and tracers at one function in random order,
 * while two threads, one on each CPU, call it.
 *
 * usage: bpf getpgid|cmdline|copy ROUNDS SEED
 *
 *	getpgid	__x64_sys_getpgid(), with fentry, fexit and fmod_ret programs
 *	cmdline	cmdline_proc_show(), with fentry and fexit programs and a livepatch
 *	copy	vfs_copy_file_range(), which has six arguments
 *
 * A round switches one user of the function on or off, often two at the same time,
 * waits for some calls, stops the threads between two calls and compares: a user
 * that was on since the last comparison has seen each call once, one that was off
 * none, and each call has had the result that fmod_ret or the livepatch give it, or
 * its own. A line that begins with "BAD" says what was wrong; the last line is "done".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TRACING		"/sys/kernel/tracing/"
#define LIVEPATCH	"/sys/kernel/livepatch/livepatch_sample/"

#define NR_CALLERS	2
#define CALLS		20	/* of each thread in a round, at least */
#define MODIFIED	4711	/* what fmod_ret returns */
#define PATCHED		"this has been live patched\n"
#define LENGTH		16	/* of a copy */

static int round_nr;
static int nr_bad;

static void bad(const char *fmt, ...)
{
	va_list args;

	printf("BAD round %d: ", round_nr);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	nr_bad++;
}

static void die(const char *what)
{
	printf("BAD round %d: %s: %s\n", round_nr, what, strerror(errno));
	exit(1);
}

/* Files of a line, or some */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (!done)
		bad("writing '%s' to %s: %s", text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return done;
}

static const char *get(const char *path)
{
	static __thread char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n, size = 0;

	while (fd >= 0 && (n = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += n;
	if (fd >= 0)
		close(fd);
	text[size] = 0;
	return text;
}

/* The number behind the first @key in @path */
static long long number(const char *path, const char *key)
{
	const char *found = strstr(get(path), key);

	return found ? strtoll(found + strlen(key), NULL, 10) : 0;
}

/* Those who call the function */

struct caller {
	pthread_t thread;
	int id;
	int fd, fd_out;
	unsigned long calls;
	unsigned long changed;	/* results by fmod_ret or the livepatch */
	long long sum;		/* of the results */
};

static struct caller callers[NR_CALLERS];
static pthread_barrier_t stopped, resumed;
static bool stopping;
static int tgid, pgid;

static long call_getpgid(struct caller *c)
{
	long ret = syscall(SYS_getpgid, tgid);

	if (ret == MODIFIED)
		c->changed++;
	else if (ret != pgid)
		bad("getpgid() returns %ld", ret);
	return ret;
}

static long call_cmdline(struct caller *c)
{
	char text[4096];
	ssize_t n = pread(c->fd, text, sizeof(text), 0);

	if (n == sizeof(PATCHED) - 1 && !memcmp(text, PATCHED, n))
		c->changed++;
	else if (n < 8 || !memmem(text, n, "console=", 8))
		bad("/proc/cmdline is %.*s", (int)n, text);
	return 0;
}

static long call_copy(struct caller *c)
{
	static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	loff_t in = c->calls % LENGTH, out = c->calls % 7, from = in, to = out;
	char copy[LENGTH] = "";
	long ret;

	ret = syscall(SYS_copy_file_range, c->fd, &in, c->fd_out, &out, LENGTH, 0);
	if (ret != LENGTH || in != from + LENGTH || out != to + LENGTH ||
	    pread(c->fd_out, copy, LENGTH, to) != LENGTH ||
	    memcmp(copy, text + from, LENGTH))
		bad("copy_file_range() returns %ld, errno %d", ret, errno);
	return ret;
}

static void open_cmdline(struct caller *c)
{
	c->fd = open("/proc/cmdline", O_RDONLY);
	if (c->fd < 0)
		die("/proc/cmdline");
}

static void open_copy(struct caller *c)
{
	c->fd = open("/run", O_TMPFILE | O_RDWR, 0600);
	c->fd_out = open("/run", O_TMPFILE | O_RDWR, 0600);
	if (c->fd < 0 || c->fd_out < 0 ||
	    write(c->fd, "0123456789abcdefghijklmnopqrstuvwxyz", 36) != 36)
		die("/run");
}

static const struct target {
	const char *name;
	const char *func;
	int nr_args;
	long (*call)(struct caller *c);
	void (*open)(struct caller *c);
	bool modify;		/* allows error injection */
	bool livepatch;		/* livepatch-sample.ko patches it */
} targets[] = {
	{ "getpgid", "__x64_sys_getpgid", 1, call_getpgid, NULL, true, false },
	{ "cmdline", "cmdline_proc_show", 2, call_cmdline, open_cmdline, false, true },
	{ "copy", "vfs_copy_file_range", 6, call_copy, open_copy, false, false },
}, *target;

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
}

static void *caller_main(void *arg)
{
	struct caller *c = arg;

	pin(c->id);
	for (;;) {
		if (__atomic_load_n(&stopping, __ATOMIC_ACQUIRE)) {
			pthread_barrier_wait(&stopped);
			pthread_barrier_wait(&resumed);
		}
		c->sum += target->call(c);
		__atomic_store_n(&c->calls, c->calls + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void callers_stop(void)
{
	__atomic_store_n(&stopping, true, __ATOMIC_RELEASE);
	pthread_barrier_wait(&stopped);
}

static void callers_resume(void)
{
	__atomic_store_n(&stopping, false, __ATOMIC_RELEASE);
	pthread_barrier_wait(&resumed);
}

static void callers_wait(void)
{
	unsigned long calls;
	int i;

	for (i = 0; i < NR_CALLERS; i++) {
		calls = __atomic_load_n(&callers[i].calls, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&callers[i].calls, __ATOMIC_ACQUIRE) < calls + CALLS)
			usleep(1000);
	}
}

/* BPF programs: each counts its runs, and fexit adds up the results */

struct counts {
	long long runs;
	long long sum;
};

#define NR_COUNTS	8
static struct counts *counts;
static int map;

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void counts_init(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = NR_COUNTS * sizeof(*counts),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
	};

	map = bpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		die("BPF_MAP_CREATE");
	counts = mmap(NULL, 4096, PROT_READ, MAP_SHARED, map, 0);
	if (counts == MAP_FAILED)
		die("mmap of the map");
}

/* The function's number in the kernel's BTF */
static int btf_id(const char *func)
{
	const char *path = "/sys/kernel/btf/vmlinux", *strings;
	int fd = open(path, O_RDONLY), id, vlen;
	struct btf_header *header;
	struct btf_type *type;
	struct stat st;
	char *btf, *end;
	ssize_t n, size = 0;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	btf = malloc(st.st_size);
	while (btf && (n = read(fd, btf + size, st.st_size - size)) > 0)
		size += n;
	close(fd);
	if (!btf || size != st.st_size)
		die(path);

	header = (void *)btf;
	btf += header->hdr_len;
	strings = btf + header->str_off;
	end = btf + header->type_off + header->type_len;
	type = (void *)(btf + header->type_off);
	for (id = 1; (char *)type < end; id++) {
		vlen = BTF_INFO_VLEN(type->info);
		size = sizeof(*type);
		switch (BTF_INFO_KIND(type->info)) {
		case BTF_KIND_FUNC:
			if (!strcmp(strings + type->name_off, func))
				return id;
			break;
		case BTF_KIND_INT:
		case BTF_KIND_VAR:
		case BTF_KIND_DECL_TAG:
			size += 4;
			break;
		case BTF_KIND_ARRAY:
			size += sizeof(struct btf_array);
			break;
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			size += vlen * sizeof(struct btf_member);
			break;
		case BTF_KIND_ENUM:
			size += vlen * sizeof(struct btf_enum);
			break;
		case BTF_KIND_ENUM64:
			size += vlen * sizeof(struct btf_enum64);
			break;
		case BTF_KIND_FUNC_PROTO:
			size += vlen * sizeof(struct btf_param);
			break;
		case BTF_KIND_DATASEC:
			size += vlen * sizeof(struct btf_var_secinfo);
			break;
		}
		type = (void *)((char *)type + size);
	}
	errno = ENOENT;
	die(func);
	return 0;
}

#define INSN(c, d, s, o, i) \
	((struct bpf_insn){ .code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i })

/* A program that counts for @index when one of this process's threads is there */
static int load(enum bpf_attach_type type, int index)
{
	int at = index * sizeof(*counts), ret = type == BPF_MODIFY_RETURN ? MODIFIED : 0;
	int result = 8 * target->nr_args;
	struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 8, tgid),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_VALUE, 0, map),
		INSN(0, 0, 0, 0, at),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 1),
		INSN(BPF_STX | BPF_DW | BPF_ATOMIC, 1, 2, 0, BPF_ADD),
		INSN(BPF_LDX | BPF_DW | BPF_MEM, 2, 6, result, 0),
		INSN(BPF_STX | BPF_DW | BPF_ATOMIC, 1, 2, 8, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, ret),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	static char log[16384];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = type,
		.insns = (unsigned long)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (unsigned long)"GPL",
		.log_buf = (unsigned long)log,
		.log_size = sizeof(log),
		.log_level = 1,
		.attach_btf_id = btf_id(target->func),
	};
	int fd;

	/* Only fexit has a result */
	if (type != BPF_TRACE_FEXIT)
		insns[8] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 0);

	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0) {
		fputs(log, stdout);
		die("BPF_PROG_LOAD");
	}
	return fd;
}

/* A program does not run where it has been preempted, but that is counted */
static long long misses(int prog)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = {
		.info.bpf_fd = prog,
		.info.info_len = sizeof(info),
		.info.info = (unsigned long)&info,
	};

	if (bpf(BPF_OBJ_GET_INFO_BY_FD, &attr))
		die("BPF_OBJ_GET_INFO_BY_FD");
	return info.recursion_misses;
}

/* The users of the function. What it has seen is @seen when all is quiet */

struct user {
	const char *name;
	bool (*set)(struct user *u, bool on);
	long long (*seen)(struct user *u);
	int factor;		/* what it counts for one call */
	enum bpf_attach_type type;
	const char *value;	/* tracer, or kprobe */
	bool forgets;		/* what it has seen counts from when it was switched on */
	int prog, link, index;
	bool on, busy;		/* busy: changed since the last comparison */
	long long last, last_misses, last_sum;
};

static bool bpf_set(struct user *u, bool on)
{
	union bpf_attr attr = { .raw_tracepoint.prog_fd = u->prog };

	if (on) {
		u->link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
		if (u->link < 0) {
			bad("attaching %s: %s", u->name, strerror(errno));
			return false;
		}
	} else {
		close(u->link);
	}
	return true;
}

static long long bpf_seen(struct user *u)
{
	return counts[u->index].runs + misses(u->prog);
}

static const char *instance(struct user *u, const char *file)
{
	static __thread char path[256];

	snprintf(path, sizeof(path), TRACING "instances/%s/%s", u->name, file);
	return path;
}

static bool tracer_set(struct user *u, bool on)
{
	return put(instance(u, "current_tracer"), on ? u->value : "nop");
}

/* What is in the ring buffer, or was */
static long long tracer_seen(struct user *u)
{
	static const char * const cpus[] = { "per_cpu/cpu0/stats", "per_cpu/cpu1/stats" };
	long long n = 0;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		n += number(instance(u, cpus[i]), "entries: ");
		n += number(instance(u, cpus[i]), "overrun: ");
		n += number(instance(u, cpus[i]), "dropped events: ");
	}
	return n;
}

static bool top_set(struct user *u, bool on)
{
	return put(TRACING "current_tracer", on ? u->value : "nop");
}

static bool profiler_set(struct user *u, bool on)
{
	return put(TRACING "function_profile_enabled", on ? "1" : "0");
}

static long long profiler_seen(struct user *u)
{
	return number(TRACING "trace_stat/function0", target->func) +
	       number(TRACING "trace_stat/function1", target->func);
}

static bool kprobe_set(struct user *u, bool on)
{
	char path[256];

	snprintf(path, sizeof(path), TRACING "events/bpf/%s/enable", u->name);
	return put(path, on ? "1" : "0");
}

static long long kprobe_seen(struct user *u)
{
	char *end, key[64];
	long long n;

	snprintf(key, sizeof(key), "  %s ", u->name);
	n = strtoll(strstr(get(TRACING "kprobe_profile"), key) + strlen(key), &end, 10);
	return n + strtoll(end, NULL, 10);
}

/* Not by modprobe, which reads /proc/cmdline */
static bool livepatch_load(void)
{
	struct utsname name;
	char path[512];
	int fd, ret;

	uname(&name);
	snprintf(path, sizeof(path),
		 "/lib/modules/%s/kernel/samples/livepatch/livepatch-sample.ko",
		 name.release);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die(path);
	/* The BPF trampoline is just being changed: to be tried again, says 6.1, too */
	while ((ret = syscall(SYS_finit_module, fd, "", 0)) && errno == EAGAIN)
		usleep(10000);
	if (ret) {
		bad("loading the livepatch: %s", strerror(errno));
		close(fd);
		return false;
	}
	close(fd);
	return true;
}

static bool livepatch_set(struct user *u, bool on)
{
	int tries;

	if (on ? !livepatch_load() : !put(LIVEPATCH "enabled", "0"))
		return false;
	for (tries = 0; get(LIVEPATCH "transition")[0] == '1'; tries++) {
		if (tries > 600) {
			bad("the livepatch does not get through");
			return false;
		}
		usleep(100000);
	}
	for (tries = 0; !on && syscall(SYS_delete_module, "livepatch_sample", O_NONBLOCK);
	     tries++) {
		if (tries > 100) {
			bad("unloading the livepatch: %s", strerror(errno));
			return false;
		}
		usleep(100000);
	}
	return true;
}

static struct user users[] = {
	{ "fentry1", bpf_set, bpf_seen, 1, BPF_TRACE_FENTRY },
	{ "fentry2", bpf_set, bpf_seen, 1, BPF_TRACE_FENTRY },
	{ "fexit1", bpf_set, bpf_seen, 1, BPF_TRACE_FEXIT },
	{ "fexit2", bpf_set, bpf_seen, 1, BPF_TRACE_FEXIT },
	{ "fmod_ret", bpf_set, bpf_seen, 1, BPF_MODIFY_RETURN },
	{ "function1", tracer_set, tracer_seen, 1, .value = "function" },
	{ "function2", tracer_set, tracer_seen, 1, .value = "function" },
	{ "graph1", tracer_set, tracer_seen, 2, .value = "function_graph" },
	{ "graph2", tracer_set, tracer_seen, 2, .value = "function_graph" },
	{ "top", top_set, NULL, .value = "function" },
	{ "profiler", profiler_set, profiler_seen, 1, .forgets = true },
	{ "kprobe", kprobe_set, kprobe_seen, 1, .value = "p" },
	{ "kretprobe", kprobe_set, kprobe_seen, 1, .value = "r" },
	{ "livepatch", livepatch_set },
};
#define NR_USERS	(int)(sizeof(users) / sizeof(users[0]))

static struct user *modifier;	/* what changes results */

/* Is there this user here? Makes it ready */
static bool user_init(struct user *u)
{
	char text[256];

	if (u->set == bpf_set) {
		static int nr;

		if (u->type == BPF_MODIFY_RETURN) {
			if (!target->modify)
				return false;
			modifier = u;
		}
		u->index = nr++;
		u->prog = load(u->type, u->index);
	} else if (u->set == tracer_set) {
		snprintf(text, sizeof(text), TRACING "instances/%s", u->name);
		if (mkdir(text, 0700))
			die(text);
		if (!strstr(get(instance(u, "available_tracers")), u->value))
			return false;
		put(instance(u, "set_ftrace_filter"), target->func);
	} else if (u->set == kprobe_set) {
		/* 6.1 warns if a livepatch finds a preempted task in a function with one */
		if (u->value[0] == 'r' && target->livepatch && !getenv("KRETPROBE"))
			return false;
		snprintf(text, sizeof(text), "%s:bpf/%s %s\n", u->value, u->name, target->func);
		int fd = open(TRACING "kprobe_events", O_WRONLY | O_APPEND);

		if (fd < 0 || write(fd, text, strlen(text)) < 0)
			die("kprobe_events");
		close(fd);
	} else if (u->set == livepatch_set) {
		if (!target->livepatch)
			return false;
		modifier = u;
	}
	return true;
}

static void user_switch(struct user *u)
{
	if (u->set(u, !u->on))
		u->on = !u->on;
	u->busy = true;
}

static void *switch_main(void *arg)
{
	user_switch(arg);
	return NULL;
}

/* Compares what the users have seen with the calls there were since the last time */
static void compare(void)
{
	static unsigned long last_calls, last_changed;
	static long long last_sum;
	long long calls = -last_calls, changed = -last_changed, sum = -last_sum;
	long long seen, expected, missed = 0, changed_missed = 0, skipped = 0, lost, may_lose;
	struct user *u;
	int i;

	/*
	 * Each of these has the BPF trampoline made anew. A call that is in the old
	 * one then returns past its fexit programs: see bpf_tramp_image_put().
	 */
	for (i = 0; i < NR_USERS; i++) {
		u = &users[i];
		if (u->busy && (u->set == bpf_set || u->set == livepatch_set))
			skipped += NR_CALLERS;
	}

	for (i = 0; i < NR_CALLERS; i++) {
		calls += callers[i].calls;
		changed += callers[i].changed;
		sum += callers[i].sum;
	}
	last_calls += calls;
	last_changed += changed;
	last_sum += sum;

	for (i = 0; i < NR_USERS; i++) {
		u = &users[i];
		if (!u->seen)
			continue;
		seen = u->seen(u);
		if (u->set == bpf_set) {
			missed = misses(u->prog) - u->last_misses;
			u->last_misses += missed;
			if (u == modifier)
				changed_missed = missed;
		}
		expected = u->on ? calls * u->factor : 0;
		lost = expected - (seen - u->last);
		may_lose = u->on && u->set == bpf_set && u->type == BPF_TRACE_FEXIT ?
			   skipped : 0;
		/* The profiler's file has nothing when it is off, and all before */
		if (!u->busy && !(u->forgets && !u->on) &&
		    (seen - u->last > expected || seen - u->last < expected - may_lose))
			bad("%s is %s and has seen %lld for %lld calls", u->name,
			    u->on ? "on" : "off", seen - u->last, calls);
		u->last = seen;

		if (u->type == BPF_TRACE_FEXIT && u->set == bpf_set) {
			if (u->on && !u->busy && !missed && !lost &&
			    counts[u->index].sum - u->last_sum != sum)
				bad("the results that %s has seen are others", u->name);
			u->last_sum = counts[u->index].sum;
		}
	}

	if (modifier && !modifier->busy) {
		expected = modifier->on ? calls - changed_missed : 0;
		if (changed != expected)
			bad("%s is %s and has changed %lld results of %lld", modifier->name,
			    modifier->on ? "on" : "off", changed, calls);
	} else if (!modifier && changed) {
		bad("%lld results have changed", changed);
	}

	for (i = 0; i < NR_USERS; i++)
		users[i].busy = false;
}

/*
 * What rounds with a livepatch begin with: a program that calls the original function
 * joins one that does not, while there are others, which the list function calls if
 * the kernel was booted with ftrace_mux.max_sets=0.
 */
static const char *const opening[] = {
	"livepatch", "function1", "function2", "fentry1", "fexit1", "fentry1", "fexit1",
};

static struct user *user_named(const char *name, struct user **here, int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		if (!strcmp(here[i]->name, name))
			return here[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct user *here[NR_USERS], *u, *other;
	int i, nr = 0, rounds, j, both = 0, on;
	pthread_t thread;
	long seed;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; argc == 4 && i < 3; i++) {
		if (!strcmp(argv[1], targets[i].name))
			target = &targets[i];
	}
	if (!target) {
		fprintf(stderr, "usage: bpf getpgid|cmdline|copy ROUNDS SEED\n");
		return 2;
	}
	rounds = atoi(argv[2]);
	seed = atol(argv[3]);
	srandom(seed);
	tgid = getpid();
	pgid = getpgid(0);

	counts_init();
	put(TRACING "set_ftrace_filter", target->func);
	for (i = 0; i < NR_USERS; i++) {
		users[i].on = false;
		if (user_init(&users[i]))
			here[nr++] = &users[i];
		else
			users[i].seen = NULL;
	}

	pthread_barrier_init(&stopped, NULL, NR_CALLERS + 1);
	pthread_barrier_init(&resumed, NULL, NR_CALLERS + 1);
	for (i = 0; i < NR_CALLERS; i++) {
		callers[i].id = i;
		if (target->open)
			target->open(&callers[i]);
		if (pthread_create(&callers[i].thread, NULL, caller_main, &callers[i]))
			die("pthread_create");
	}

	for (round_nr = 1; round_nr <= rounds && nr_bad < 10; round_nr++) {
		u = here[random() % nr];
		other = random() % 2 ? here[random() % nr] : u;
		if (target->livepatch && round_nr <= (int)(sizeof(opening) / sizeof(*opening))) {
			u = user_named(opening[round_nr - 1], here, nr);
			/* A user may be missing in this kernel */
			if (!u)
				continue;
			other = u;
		}
		/* These write to the same file */
		if (other != u && other->set == u->set && u->set != bpf_set &&
		    u->set != tracer_set)
			other = u;
		if (other != u) {
			both++;
			if (pthread_create(&thread, NULL, switch_main, other))
				die("pthread_create");
		}
		user_switch(u);
		if (other != u)
			pthread_join(thread, NULL);

		callers_wait();
		callers_stop();
		compare();
		callers_resume();
		printf("round %d: %s%s%s:", round_nr, u->name, other != u ? "+" : "",
		       other != u ? other->name : "");
		for (j = 0; j < nr; j++) {
			if (here[j]->on)
				printf(" %s", here[j]->name);
		}
		putchar('\n');
	}

	for (i = 0, on = 0; i < nr; i++) {
		if (here[i]->on) {
			user_switch(here[i]);
			on++;
		}
	}
	callers_wait();
	callers_stop();
	compare();
	callers_resume();
	callers_wait();
	callers_stop();
	compare();
	if (get(TRACING "enabled_functions")[0])
		bad("still enabled: %s", get(TRACING "enabled_functions"));
	printf("%lu calls, %d rounds with two at once, %d users on at the end\n",
	       callers[0].calls + callers[1].calls, both, on);
	puts("done");
	return !!nr_bad;
}
