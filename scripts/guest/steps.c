// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of QEMU for x86-64: the instructions that calls of a function execute.
 *
 *	-plugin steps.so,out=FILE,func=ADDRESS,from=ADDRESS,to=ADDRESS
 *
 * "func" is called from a function that lies from "from" up to "to": a call begins with the instruction
 * at "func" and ends with the next one of that caller. Calls by others do not count. FILE gets a line
 * "call" for each, then one for each instruction: its address, and what it is (a letter, see kind()).
 * The bytes are those that run: the kernel patches its code and generates some.
 *
 * Debian 12 has no header of the plugins, so what is used of their interface, version 1 of QEMU 7.2,
 * is declared here.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tb;
struct insn;
struct info {
	const char	*target;
	struct {
		int	min, cur;
	} version;
};

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(uint64_t id, struct tb *));
size_t qemu_plugin_tb_n_insns(const struct tb *);
struct insn *qemu_plugin_tb_get_insn(const struct tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct insn *);
size_t qemu_plugin_insn_size(const struct insn *);
const uint8_t *qemu_plugin_insn_data(const struct insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct insn *, void (*)(unsigned int cpu, void *data),
					    int flags, void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct step {
	uint64_t	addr;
	char		kind;
};

static struct {
	const char	*name;
	uint64_t	addr;
} args[] = { { "func" }, { "from" }, { "to" } };
enum { FUNC, FROM, TO, NR_ARGS };

static FILE *out;
static bool called, inside;

static void executed(unsigned int cpu, void *data)
{
	const struct step *step = data;

	if (step->addr >= args[FROM].addr && step->addr < args[TO].addr) {
		called |= step->addr == args[FROM].addr;
		inside = false;
	} else if (called && step->addr == args[FUNC].addr) {
		called = false;
		inside = true;
		fputs("call\n", out);
	}
	if (inside)
		fprintf(out, "%" PRIx64 " %c\n", step->addr, step->kind);
}

/*
 * What the instruction of @size bytes at @p is: l has a lock prefix or is xchg with memory, f writes the
 * flag of interrupts (popf, cli, sti), t reads the TSC, i is an indirect call or jump, r a return.
 */
static char kind(const uint8_t *p, size_t size)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3
	};
	const uint8_t *end = p + size;
	bool lock = false;
	uint8_t op, modrm;

	for (; p + 1 < end && memchr(prefixes, *p, sizeof(prefixes)); p++)
		lock |= *p == 0xf0;
	if (p + 1 < end && (*p & 0xf0) == 0x40)
		p++;
	op = *p++;
	if (op == 0x0f && p < end) {
		/* rdtsc, rdtscp */
		if (p[0] == 0x31 || (p + 2 == end && p[0] == 0x01 && p[1] == 0xf9))
			return 't';
	}
	modrm = p < end ? *p : 0;
	if (lock)
		return 'l';

	switch (op) {
	case 0x86: case 0x87:
		return modrm < 0xc0 ? 'l' : '-';
	case 0x9d: case 0xfa: case 0xfb:
		return 'f';
	case 0xff:
		op = modrm >> 3 & 7;
		return op >= 2 && op <= 5 ? 'i' : '-';
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		return 'r';
	}
	return '-';
}

static void translated(uint64_t id, struct tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	for (i = 0; i < n; i++) {
		struct insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t size = qemu_plugin_insn_size(insn);
		struct step *step = calloc(1, sizeof(*step));

		if (!step)
			abort();
		step->addr = qemu_plugin_insn_vaddr(insn);
		step->kind = kind(qemu_plugin_insn_data(insn), size);
		/* Nothing else than this is done at an instruction, and no registers are read */
		qemu_plugin_register_vcpu_insn_exec_cb(insn, executed, 0, step);
	}
}

__attribute__((visibility("default")))
int qemu_plugin_install(uint64_t id, const struct info *info, int argc, char **argv)
{
	int i, j;

	for (i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return -1;
		*value++ = '\0';
		if (!strcmp(argv[i], "out"))
			out = fopen(value, "w");
		for (j = 0; j < NR_ARGS; j++) {
			if (!strcmp(argv[i], args[j].name))
				args[j].addr = strtoull(value, NULL, 16);
		}
	}
	if (!out || !args[FUNC].addr || !args[FROM].addr || !args[TO].addr)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);

	return 0;
}
