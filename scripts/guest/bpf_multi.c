// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attaches BPF programs to many functions at once, at their entries and at their returns.
 *
 * usage: bpf_multi SYMBOL...
 *
 * The first SYMBOL is the system call getpgid(). One kprobe.multi and one kretprobe.multi link
 * are attached to all of them, each symbol with a cookie of its own; then the symbol is called.
 * The programs count in a map, under the address that bpf_get_func_ip() returns, and store
 * what bpf_get_attach_cookie() and bpf_get_stackid() return. Both counts must be that of the calls,
 * the address that of the symbol, the cookie the one that the symbol was attached with, and the
 * stack trace must reach the entry of system calls without a trampoline in it. A line that begins
 * with "BAD" says what was wrong; the last line is "done".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef BPF_F_KPROBE_MULTI_RETURN
#define BPF_F_KPROBE_MULTI_RETURN	1
#endif
#define TRACE_KPROBE_MULTI	42	/* BPF_TRACE_KPROBE_MULTI */
#define CALLS			100
#define NR_MAX			64
#define DEPTH			32

static int nr_bad;

#define bad(...) (printf("BAD " __VA_ARGS__), putchar('\n'), nr_bad++)

struct value {
	uint64_t	cookie;
	uint64_t	count;
	int64_t		stack;
};

/* union bpf_attr of older headers does not have all of it */
union attr {
	union bpf_attr	attr;
	struct {
		uint32_t	prog_fd, target_fd, attach_type, flags;
		uint32_t	multi_flags, cnt;
		uint64_t	syms, addrs, cookies;
	} link;
	char		size[256];
};

static int bpf(int cmd, union attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void die(const char *what)
{
	printf("BAD %s: %s\n", what, strerror(errno));
	exit(1);
}

static int make_map(int type, int key_size, int value_size, int entries)
{
	union attr attr = { 0 };
	int fd;

	attr.attr.map_type = type;
	attr.attr.key_size = key_size;
	attr.attr.value_size = value_size;
	attr.attr.max_entries = entries;
	fd = bpf(BPF_MAP_CREATE, &attr);
	if (fd < 0)
		die("map");
	return fd;
}

#define INSN(c, d, s, o, i) ((struct bpf_insn){ .code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i })
#define MOV(d, s)	INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOVI(d, i)	INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADDI(d, i)	INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define STORE(d, s, o)	INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define CALL(f)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define MAP(d, fd)	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

/* value = map[func_ip], created with the cookie and the stack trace; value->count++ */
static int load(int map, int stacks)
{
	static char log[65536];
	struct bpf_insn insns[] = {
		MOV(6, 1),
		CALL(BPF_FUNC_get_func_ip),
		STORE(10, 0, -8),
		MOV(1, 6),
		CALL(BPF_FUNC_get_attach_cookie),
		STORE(10, 0, -32),
		MOV(1, 6),
		MAP(2, stacks),
		MOVI(3, 0),
		CALL(BPF_FUNC_get_stackid),
		STORE(10, 0, -16),
		MOVI(0, 0),
		STORE(10, 0, -24),
		MAP(1, map),
		MOV(2, 10),
		ADDI(2, -8),
		MOV(3, 10),
		ADDI(3, -32),
		MOVI(4, BPF_NOEXIST),
		CALL(BPF_FUNC_map_update_elem),
		MAP(1, map),
		MOV(2, 10),
		ADDI(2, -8),
		CALL(BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		MOVI(1, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 8, BPF_ADD),
		MOVI(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union attr attr = { 0 };
	int fd;

	attr.attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.attr.expected_attach_type = TRACE_KPROBE_MULTI;
	attr.attr.insns = (uintptr_t)insns;
	attr.attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.attr.license = (uintptr_t)"GPL";
	attr.attr.log_buf = (uintptr_t)log;
	attr.attr.log_size = sizeof(log);
	attr.attr.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0) {
		puts(log);
		die("program");
	}
	return fd;
}

static int attach(int prog, char **syms, int nr, int flags)
{
	uint64_t cookies[NR_MAX], list[NR_MAX];
	union attr attr = { 0 };
	int i, fd;

	for (i = 0; i < nr; i++) {
		list[i] = (uintptr_t)syms[i];
		cookies[i] = 1000 + i;
	}
	attr.link.prog_fd = prog;
	attr.link.attach_type = TRACE_KPROBE_MULTI;
	attr.link.multi_flags = flags;
	attr.link.cnt = nr;
	attr.link.syms = (uintptr_t)list;
	attr.link.cookies = (uintptr_t)cookies;
	fd = bpf(BPF_LINK_CREATE, &attr);
	if (fd < 0)
		die(flags ? "kretprobe.multi" : "kprobe.multi");
	return fd;
}

static uint64_t address(const char *sym)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long addr, found = 0;
	char name[256];

	while (file && fscanf(file, "%lx %*c %255s%*[^\n]", &addr, name) == 2)
		if (!strcmp(name, sym))
			found = addr;
	if (file)
		fclose(file);
	return found;
}

/* Reports a stack trace with a trampoline, or without a caller of system calls. */
static void check_stack(int stacks, uint32_t id, const char *what)
{
	/* On arm64, a stack trace from the entry of a function skips its caller, do_el0_svc() */
	static const char * const callers[] = { "do_syscall_64", "el0_svc" };
	static const char * const trampolines[] = { "return_to_handler", "arch_rethook_trampoline" };
	uint64_t stack[DEPTH] = { 0 }, best[DEPTH] = { 0 };
	char names[DEPTH][256] = { "" }, name[256];
	int i, reached = 0, hooked = 0;
	union attr attr = { 0 };
	unsigned long addr;
	FILE *file;

	attr.attr.map_fd = stacks;
	attr.attr.key = (uintptr_t)&id;
	attr.attr.value = (uintptr_t)stack;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr)) {
		bad("%s: no stack trace %d", what, (int)id);
		return;
	}

	file = fopen("/proc/kallsyms", "r");
	if (!file)
		die("/proc/kallsyms");
	while (fscanf(file, "%lx %*c %255s%*[^\n]", &addr, name) == 2) {
		for (i = 0; i < DEPTH && stack[i]; i++) {
			if (addr > stack[i] || addr < best[i])
				continue;
			best[i] = addr;
			strcpy(names[i], name);
		}
	}
	fclose(file);

	for (i = 0; i < DEPTH && stack[i]; i++) {
		reached |= !strcmp(names[i], callers[0]) || !strcmp(names[i], callers[1]);
		hooked |= !strcmp(names[i], trampolines[0]) || !strcmp(names[i], trampolines[1]);
	}
	if (!reached || hooked)
		bad("%s: a wrong stack trace:", what);
	for (i = 0; i < DEPTH && stack[i]; i++)
		printf("  %s+0x%llx\n", names[i], (unsigned long long)(stack[i] - best[i]));
}

static void check(int map, int stacks, const char *sym, const char *what)
{
	union attr attr = { 0 };
	struct value value = { 0 };
	uint64_t key = address(sym);

	attr.attr.map_fd = map;
	attr.attr.key = (uintptr_t)&key;
	attr.attr.value = (uintptr_t)&value;
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		bad("%s: no call of %s at %llx", what, sym, (unsigned long long)key);
	else if (value.count != CALLS || value.cookie != 1000)
		bad("%s: %llu calls, cookie %llu", what, (unsigned long long)value.count,
		    (unsigned long long)value.cookie);
	else
		printf("%s: %d calls of %s\n", what, CALLS, sym);
	check_stack(stacks, value.stack, what);
}

int main(int argc, char **argv)
{
	int entry, ret, stacks, links[2], i;

	if (argc < 2 || argc > NR_MAX)
		return 2;
	entry = make_map(BPF_MAP_TYPE_HASH, 8, sizeof(struct value), NR_MAX);
	ret = make_map(BPF_MAP_TYPE_HASH, 8, sizeof(struct value), NR_MAX);
	/* Two stack traces in one bucket would be an error of bpf_get_stackid() */
	stacks = make_map(BPF_MAP_TYPE_STACK_TRACE, 4, DEPTH * 8, 16384);
	links[0] = attach(load(entry, stacks), argv + 1, argc - 1, 0);
	links[1] = attach(load(ret, stacks), argv + 1, argc - 1, BPF_F_KPROBE_MULTI_RETURN);
	for (i = 0; i < CALLS; i++)
		syscall(SYS_getpgid, 0);
	check(entry, stacks, argv[1], "kprobe.multi");
	check(ret, stacks, argv[1], "kretprobe.multi");
	close(links[0]);
	close(links[1]);
	syscall(SYS_getpgid, 0);
	check(ret, stacks, argv[1], "after the links are gone");
	if (!nr_bad)
		puts("done");
	return nr_bad != 0;
}
