// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verify call sites, jumps and trampolines by decoding their instructions
 *
 * This does not use the code that writes trampolines. Only the instructions of
 * ftrace_caller and ftrace_regs_caller before and after their call are trusted:
 * a trampoline must have the same bytes there. The instructions in place of the
 * call are decoded, while the contents of registers and stack are tracked.
 */
#include <linux/bitops.h>
#include <linux/ftrace_mux.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/insn.h>
#include <asm/nops.h>
#include <asm/ptrace.h>
#include <asm/text-patching.h>

#include "ftrace_trampoline.h"

#define JNZ8_OPCODE		0x75
#define MOV_STORE_OPCODE	0x89
#define MOV_LOAD_OPCODE		0x8b

/* SIB byte of (%rsp), without an index */
#define SIB_RSP			0x24

/* Size of mov <displacement>(%rip), %reg without the displacement */
#define LOAD_OPS_PREFIX		3

/* Register numbers in instructions; the others are %r8 to %r15 */
enum { REG_AX, REG_CX, REG_DX, REG_BX, REG_SP, REG_BP, REG_SI, REG_DI, NR_REGS = 16 };

#define CALLEE_SAVED_REGS	(BIT(REG_BX) | BIT(REG_SP) | BIT(REG_BP) | GENMASK(15, 12))

/* Contents of a register or stack word; larger values were read from memory */
enum {
	HOLDS_ANYTHING,
	HOLDS_IP,		/* address of the call site */
	HOLDS_PARENT,		/* return address, before callees change it */
	HOLDS_STACK,		/* stack pointer at the template's call */
	HOLDS_ENTRY,		/* + n: register n at the template's call */
};

/**
 * struct tramp_run - state of decoding a trampoline
 * @template:	what the trampoline is copied from
 * @code:	for unwinders; NULL for the trampoline of a single ops
 * @start:	first byte
 * @end:	first byte after the trampoline
 * @pos:	next instruction
 * @slots:	lowest address in the trampoline that it has loaded from
 * @callees:	ops that it has to call
 * @nr_callees:	number of @callees
 * @nr_called:	number of ops that it has called
 * @regs:	a callee requires all registers
 * @direct:	a callee may set a direct caller
 * @reg:	contents of registers
 * @stack:	contents of stack words, at and above the stack pointer
 */
struct tramp_run {
	struct ftrace_template		template;
	struct ftrace_mux_code		*code;
	const u8			*start;
	const u8			*end;
	const u8			*pos;
	const u8			*slots;
	struct ftrace_ops *const	*callees;
	unsigned int			nr_callees;
	unsigned int			nr_called;
	bool				regs;
	bool				direct;
	unsigned long			reg[NR_REGS];
	unsigned long			stack[sizeof(struct pt_regs) / sizeof(long)];
};

/* Functions that return a string describe what is wrong; NULL if nothing is */

/* Are the bytes at @pos the same as those of the template at @offset? */
static bool tramp_is_copy(struct tramp_run *run, const u8 *pos,
			  unsigned long offset, unsigned long size)
{
	return pos + size <= run->end &&
	       !memcmp(pos, run->template.start + offset, size);
}

/* Do unwinders treat the stack here like that of the template at @offset? */
static bool tramp_unwinds(struct tramp_run *run, unsigned long offset)
{
	return !run->code ||
	       arch_ftrace_code_template(run->code, (unsigned long)run->pos) ==
	       (unsigned long)run->template.start + offset;
}

static const char *tramp_call(struct tramp_run *run, unsigned long func)
{
	struct ftrace_ops *ops;
	unsigned int i;

	if (run->nr_called == run->nr_callees)
		return "makes too many calls";

	/* The call may use a jump to the callback */
	if (run->code && ftrace_mux_has_code(func))
		func = arch_ftrace_jump_target(func);

	ops = run->callees[run->nr_called++];
	if (func != (unsigned long)ftrace_ops_get_func(ops))
		return "does not call the callback of a callee";
	if (run->reg[REG_DI] != HOLDS_IP)
		return "does not pass the ip";
	if (run->reg[REG_SI] != HOLDS_PARENT)
		return "does not pass the parent ip";
	if (run->reg[REG_DX] != (unsigned long)ops)
		return "does not pass the ops of the callee";
	if (run->reg[REG_CX] != HOLDS_STACK)
		return "does not pass the registers";
	if (run->reg[REG_SP] != HOLDS_STACK)
		return "calls with another stack pointer";

	for (i = 0; i < NR_REGS; i++) {
		if (!(CALLEE_SAVED_REGS & BIT(i)))
			run->reg[i] = HOLDS_ANYTHING;
	}

	return NULL;
}

/* Find the operand of a mov. NULL if it is in memory that may not be used */
static unsigned long *tramp_operand(struct tramp_run *run, struct insn *insn)
{
	u8 modrm = insn->modrm.bytes[0], rex = insn->rex_prefix.bytes[0];

	if (X86_MODRM_MOD(modrm) == 3)
		return &run->reg[X86_MODRM_RM(modrm) | X86_REX_B(rex) << 3];

	if (!insn->sib.nbytes || insn->sib.bytes[0] != SIB_RSP ||
	    X86_REX_B(rex) || X86_REX_X(rex) || run->reg[REG_SP] != HOLDS_STACK)
		return NULL;

	/*
	 * Callees may read and change pt_regs. If no callee requires all
	 * registers, these fields are not part of it, and ftrace_caller does
	 * not use them.
	 */
	switch (insn->displacement.value) {
	case offsetof(struct pt_regs, r15):
	case offsetof(struct pt_regs, r14):
	case offsetof(struct pt_regs, r13):
	case offsetof(struct pt_regs, r12):
	case offsetof(struct pt_regs, bx):
		if (!run->regs)
			return &run->stack[insn->displacement.value / sizeof(long)];
	}

	return NULL;
}

static const char *tramp_load(struct tramp_run *run, unsigned int reg, const u8 *from)
{
	if (from < run->start || from + sizeof(long) > run->end)
		return "loads from outside of the trampoline";

	run->slots = min(run->slots, from);
	run->reg[reg] = *(const unsigned long *)from;

	return NULL;
}

static const char *tramp_step(struct tramp_run *run)
{
	unsigned long *operand;
	unsigned int reg;
	struct insn insn;
	u8 opcode, rex;

	if (insn_decode(&insn, run->pos, run->end - run->pos, INSN_MODE_KERN) < 0)
		return "ends before it returns";
	run->pos += insn.length;

	opcode = insn.opcode.bytes[0];
	rex = insn.rex_prefix.bytes[0];
	if (opcode == CALL_INSN_OPCODE && insn.length == CALL_INSN_SIZE)
		return tramp_call(run, (unsigned long)run->pos + insn.immediate.value);

	if (insn.prefixes.nbytes || insn.vex_prefix.nbytes || !X86_REX_W(rex) ||
	    (opcode != MOV_LOAD_OPCODE && opcode != MOV_STORE_OPCODE))
		return "has an unexpected instruction";

	reg = X86_MODRM_REG(insn.modrm.bytes[0]) | X86_REX_R(rex) << 1;
	if (opcode == MOV_LOAD_OPCODE && insn_rip_relative(&insn))
		return tramp_load(run, reg, run->pos + insn.displacement.value);

	operand = tramp_operand(run, &insn);
	if (!operand)
		return "accesses memory that it may not use";

	if (opcode == MOV_LOAD_OPCODE)
		run->reg[reg] = *operand;
	else
		*operand = run->reg[reg];

	return NULL;
}

/* Check the code up to the template's call; it loads the first callee's ops */
static const char *tramp_check_head(struct tramp_run *run)
{
	struct ftrace_template *template = &run->template;
	unsigned long offset = template->op;
	const char *wrong;

	if (!tramp_is_copy(run, run->start, 0, offset + LOAD_OPS_PREFIX))
		return "does not start like the template";

	run->pos = run->start + offset;
	if (!tramp_unwinds(run, offset))
		return "cannot be unwound at its start";

	wrong = tramp_step(run);
	if (wrong)
		return wrong;

	offset = run->pos - run->start;
	if (!tramp_is_copy(run, run->pos, offset, template->call - offset))
		return "differs from the template before the calls";
	run->pos = run->start + template->call;

	return NULL;
}

/* Is the rest as in the template after its call, except for the jnz? */
static bool tramp_is_tail(struct tramp_run *run)
{
	struct ftrace_template *template = &run->template;
	unsigned long offset = template->call + CALL_INSN_SIZE;
	const u8 *pos = run->pos;

	if (template->jnz) {
		if (!tramp_is_copy(run, pos, offset, template->jnz - offset))
			return false;
		pos += template->jnz + 2 - offset;
		offset = template->jnz + 2;
	}

	return tramp_is_copy(run, pos, offset, template->size - offset);
}

static const char *tramp_check_ret(struct tramp_run *run)
{
	bool thunk = cpu_wants_rethunk_at((void *)run->pos);
	unsigned int size = thunk ? JMP32_INSN_SIZE : 1 + IS_ENABLED(CONFIG_SLS);
	const u8 *pos = run->pos;

	run->pos += size;
	if (run->pos > run->end)
		return "ends before it returns";

	if (thunk) {
		if (*pos != JMP32_INSN_OPCODE ||
		    run->pos + *(const s32 *)(pos + 1) != (const u8 *)x86_return_thunk)
			return "does not return through the thunk";
	} else if (*pos != RET_INSN_OPCODE || (size > 1 && pos[1] != INT3_INSN_OPCODE)) {
		return "does not return";
	}

	return NULL;
}

/* Check the jump for direct callers at @jnz, and its target after the return */
static const char *tramp_check_direct(struct tramp_run *run, const u8 *jnz)
{
	struct ftrace_template *template = &run->template;
	const u8 *target = jnz + 2 + (s8)jnz[1];

	if (!run->direct)
		return memcmp(jnz, x86_nops[2], 2) ? "handles direct callers unexpectedly" : NULL;

	if (*jnz != JNZ8_OPCODE || target < run->pos)
		return "does not handle direct callers";

	run->pos = target;
	if (!tramp_is_copy(run, target, template->direct, template->direct_size))
		return "handles direct callers differently from the template";
	if (!tramp_unwinds(run, template->direct))
		return "cannot be unwound where it handles direct callers";

	run->pos += template->direct_size;

	return tramp_check_ret(run);
}

/* Check the code that follows the call in the template */
static const char *tramp_check_tail(struct tramp_run *run)
{
	struct ftrace_template *template = &run->template;
	unsigned long i, offset = template->call + CALL_INSN_SIZE;
	const u8 *tail = run->pos;
	const char *wrong;

	if (run->reg[REG_SP] != HOLDS_STACK)
		return "does not restore the stack pointer";

	/* ftrace_regs_caller restores pt_regs as changed by callees */
	for (i = 0; i < NR_REGS && !run->regs; i++) {
		if (i != REG_SP && CALLEE_SAVED_REGS & BIT(i) &&
		    run->reg[i] != HOLDS_ENTRY + i)
			return "does not restore a callee-saved register";
	}

	if (!tramp_unwinds(run, offset))
		return "cannot be unwound after the calls";

	run->pos = tail + template->size - offset;
	if (!tramp_unwinds(run, template->size))
		return "cannot be unwound at its return";

	wrong = tramp_check_ret(run);
	if (!wrong && template->jnz)
		wrong = tramp_check_direct(run, tail + template->jnz - offset);
	if (!wrong && run->slots < run->pos)
		wrong = "loads data from its instructions";

	return wrong;
}

static const char *tramp_check(struct tramp_run *run, unsigned long start,
			       unsigned long size)
{
	const char *wrong;
	unsigned int i;

	for (i = 0; i < run->nr_callees; i++) {
		run->regs |= !!(run->callees[i]->flags & FTRACE_OPS_FL_SAVE_REGS);
		run->direct |= !!(run->callees[i]->flags & FTRACE_OPS_FL_DIRECT);
	}
	if (run->direct && !run->regs)
		return "has a callee for direct callers that does not require registers";

	run->template = ftrace_template(run->regs);
	run->start = (const u8 *)start;
	run->end = run->start + size;
	run->slots = run->end;

	/* Registers at the template's call, except for the ops */
	for (i = 0; i < NR_REGS; i++) {
		if (CALLEE_SAVED_REGS & BIT(i))
			run->reg[i] = HOLDS_ENTRY + i;
	}
	run->reg[REG_DI] = HOLDS_IP;
	run->reg[REG_SI] = HOLDS_PARENT;
	run->reg[REG_CX] = HOLDS_STACK;
	run->reg[REG_SP] = HOLDS_STACK;

	wrong = tramp_check_head(run);
	while (!wrong) {
		if (run->nr_called == run->nr_callees && tramp_is_tail(run))
			return tramp_check_tail(run);
		if (!tramp_unwinds(run, run->template.call))
			return "cannot be unwound at its calls";
		wrong = tramp_step(run);
	}

	return wrong;
}

/**
 * arch_ftrace_tramp_check - verify the code of a trampoline
 * @tramp:	the trampoline. All of its callees must be registered
 *
 * The trampoline has to call the callees in order, each by the function that
 * ftrace_ops_get_func() returns or by a jump to that, and with the right
 * arguments. It has to preserve all registers, except those that callees change
 * on purpose.
 *
 * Context: ftrace_lock held; no change of the trampoline is queued.
 * Return: NULL if the trampoline is correct, or else what is wrong.
 */
const char *arch_ftrace_tramp_check(struct ftrace_mux_tramp *tramp)
{
	struct tramp_run run = {
		.code		= &tramp->code,
		.callees	= tramp->callees,
		.nr_callees	= tramp->nr_callees,
	};
	const char *wrong;

	wrong = tramp_check(&run, tramp->code.start, tramp->code.size);
	if (!wrong && (tramp->regs != run.regs || tramp->direct != run.direct))
		wrong = "does not match the flags of its callees";

	return wrong;
}

/**
 * arch_ftrace_ops_check - verify the trampoline of a single ops
 * @ops:	a registered ops with FTRACE_OPS_FL_ALLOC_TRAMP
 *
 * Context: as for arch_ftrace_tramp_check().
 * Return: NULL if the trampoline is correct, or else what is wrong.
 */
const char *arch_ftrace_ops_check(struct ftrace_ops *ops)
{
	struct tramp_run run = {
		.callees	= &ops,
		.nr_callees	= 1,
	};

	return tramp_check(&run, ops->trampoline, ops->trampoline_size);
}

/**
 * arch_ftrace_call_target - find the address that a call site calls
 * @ip:		address of the call site
 *
 * Context: may sleep; text_mutex not held, and no patches queued.
 * Return: the address; 0 if the instruction is a nop, ~0 if it is neither a
 * call nor a nop.
 */
unsigned long arch_ftrace_call_target(unsigned long ip)
{
	union text_poke_insn insn;

	if (copy_from_kernel_nofault(&insn, (void *)ip, CALL_INSN_SIZE))
		return ~0UL;

	if (insn.opcode == CALL_INSN_OPCODE)
		return ip + CALL_INSN_SIZE + insn.disp;

	return memcmp(&insn, x86_nops[5], CALL_INSN_SIZE) ? ~0UL : 0;
}

/**
 * arch_ftrace_jump_target - find the address that a jump leads to
 * @addr:	address of the jump
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: the address, or zero if there is no jump.
 */
unsigned long arch_ftrace_jump_target(unsigned long addr)
{
	union text_poke_insn insn;

	if (copy_from_kernel_nofault(&insn, (void *)addr, JMP32_INSN_SIZE) ||
	    insn.opcode != JMP32_INSN_OPCODE)
		return 0;

	return addr + JMP32_INSN_SIZE + insn.disp;
}
