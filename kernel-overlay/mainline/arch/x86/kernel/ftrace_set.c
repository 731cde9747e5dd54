// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines that call several ftrace_ops
 *
 * A trampoline is a copy of ftrace_set_caller or ftrace_set_regs_caller. The
 * part of it that loads the arguments and calls an ops is repeated for each
 * member of the set. After the last call, it jumps to ftrace_caller or
 * ftrace_regs_caller, to what follows the call of the callback there. That
 * restores the registers and returns to the function, or goes on with a direct
 * caller. The stack layout is that of the template, which the unwinder uses.
 *
 * Nothing here synchronizes CPUs after a trampoline is written, possibly where
 * an older one has been. Call sites and jumps are patched afterwards, and only
 * by smp_text_poke_batch_finish(). A CPU that calls the new trampoline has been
 * serialized before: by the IPI after a step of the patching, or by the breakpoint
 * that the call site or the jump has meanwhile.
 */
#include <linux/execmem.h>
#include <linux/ftrace.h>
#include <linux/genalloc.h>
#include <linux/memory.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/text-patching.h>

/*
 * Trampolines are allocated from whole pages that are never freed. The memory
 * is never writable and executable at the same time.
 */
#define TRAMP_ALIGN_ORDER	4
#define TRAMP_CHUNK_SIZE	(4 * PAGE_SIZE)

static struct gen_pool *tramp_pool;

/* Labels in the templates */
extern void ftrace_set_caller(void);
extern void ftrace_set_caller_member(void);
extern void ftrace_set_caller_op(void);
extern void ftrace_set_caller_tail(void);
extern void ftrace_set_caller_end(void);
extern void ftrace_set_regs_caller(void);
extern void ftrace_set_regs_caller_member(void);
extern void ftrace_set_regs_caller_op(void);
extern void ftrace_set_regs_caller_tail(void);
extern void ftrace_set_regs_caller_end(void);

/**
 * struct set_template - code that trampolines are copied from
 * @start:	what comes before the first call
 * @member:	start of what is repeated for each ops
 * @op:		instruction that loads the ops
 * @tail:	what follows the last call
 * @end:	where a jump has to follow
 * @call:	call in ftrace_caller or ftrace_regs_caller; the jump goes to the
 *		next instruction
 */
struct set_template {
	void *start;
	void *member;
	void *op;
	void *tail;
	void *end;
	void *call;
};

static const struct set_template args_template = {
	.start	= ftrace_set_caller,
	.member	= ftrace_set_caller_member,
	.op	= ftrace_set_caller_op,
	.tail	= ftrace_set_caller_tail,
	.end	= ftrace_set_caller_end,
	.call	= ftrace_call,
};

static const struct set_template regs_template = {
	.start	= ftrace_set_regs_caller,
	.member	= ftrace_set_regs_caller_member,
	.op	= ftrace_set_regs_caller_op,
	.tail	= ftrace_set_regs_caller_tail,
	.end	= ftrace_set_regs_caller_end,
	.call	= ftrace_regs_call,
};

/* movabs $<ops>, %rdx */
static const u8 load_ops[] = { 0x48, 0xba };

static const struct set_template *set_template(struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SAVE_REGS ? &regs_template :
						      &args_template;
}

static size_t tramp_size(const struct set_template *t, unsigned int nr)
{
	return t->end - t->start + (nr - 1) * (t->tail - t->member) +
	       JMP32_INSN_SIZE;
}

/* Offset of the code for member @i, or of what follows the last one */
static size_t member_offset(const struct set_template *t, unsigned int i)
{
	return t->member - t->start + i * (t->tail - t->member);
}

static bool tramp_add_chunk(void)
{
	void *chunk = execmem_alloc_rw(EXECMEM_FTRACE, TRAMP_CHUNK_SIZE);
	unsigned long start = (unsigned long)chunk;

	if (!chunk)
		return false;

	memset(chunk, INT3_INSN_OPCODE, TRAMP_CHUNK_SIZE);
	if (set_memory_rox(start, TRAMP_CHUNK_SIZE / PAGE_SIZE) ||
	    gen_pool_add(tramp_pool, start, TRAMP_CHUNK_SIZE, NUMA_NO_NODE)) {
		execmem_free(chunk);
		return false;
	}

	return true;
}

static void *tramp_alloc(size_t size)
{
	unsigned long addr;

	if (!tramp_pool) {
		tramp_pool = gen_pool_create(TRAMP_ALIGN_ORDER, NUMA_NO_NODE);
		if (!tramp_pool)
			return NULL;
	}

	if (WARN_ON_ONCE(size > TRAMP_CHUNK_SIZE))
		return NULL;

	addr = gen_pool_alloc(tramp_pool, size);
	if (!addr && tramp_add_chunk())
		addr = gen_pool_alloc(tramp_pool, size);

	return (void *)addr;
}

static void tramp_free(void *tramp, size_t size)
{
	text_poke_set(tramp, INT3_INSN_OPCODE, size);
	gen_pool_free(tramp_pool, (unsigned long)tramp, size);
}

/* Copy code to @buf that will run at @tramp, both at @offset */
static void copy_code(u8 *buf, u8 *tramp, size_t offset, void *from, void *to)
{
	memcpy(buf + offset, from, to - from);
	/*
	 * Apart from the call, which write_call() replaces, only the depth
	 * accounting has relative addresses. Do not decode instructions
	 * without need: there can be many, and the decoder can be traced.
	 */
	if (cpu_feature_enabled(X86_FEATURE_CALL_DEPTH))
		text_poke_apply_relocation(buf + offset, tramp + offset,
					   to - from, from, to - from);
}

/* Write a call to @buf that will run at @ip */
static void write_call(u8 *buf, u8 *ip, ftrace_func_t func)
{
	/* The trampoline does the depth accounting: no callthunk */
	__text_gen_insn(buf, CALL_INSN_OPCODE, ip, func, CALL_INSN_SIZE);
}

static bool write_tramp(u8 *buf, u8 *tramp, const struct set_template *t,
			struct ftrace_ops *const *members, unsigned int nr)
{
	size_t op = t->op - t->member, tail = member_offset(t, nr);
	size_t size = tramp_size(t, nr), jmp = size - JMP32_INSN_SIZE;
	unsigned int i;

	copy_code(buf, tramp, 0, t->start, t->member);

	for (i = 0; i < nr; i++) {
		size_t offset = member_offset(t, i);
		size_t call = member_offset(t, i + 1) - CALL_INSN_SIZE;

		copy_code(buf, tramp, offset, t->member, t->tail);
		if (WARN_ON_ONCE(memcmp(buf + offset + op, load_ops,
					sizeof(load_ops)) ||
				 buf[call] != CALL_INSN_OPCODE))
			return false;
		memcpy(buf + offset + op + sizeof(load_ops), &members[i],
		       sizeof(members[i]));
		write_call(buf + call, tramp + call,
			   ftrace_ops_get_func(members[i]));
	}

	copy_code(buf, tramp, tail, t->tail, t->end);
	__text_gen_insn(buf + jmp, JMP32_INSN_OPCODE, tramp + jmp,
			t->call + CALL_INSN_SIZE, JMP32_INSN_SIZE);

	return text_poke_copy(tramp, buf, size);
}

/**
 * arch_ftrace_set_create - create a trampoline that calls several ops
 * @ops:	gets the trampoline. With FTRACE_OPS_FL_SAVE_REGS, that saves
 *		all registers
 * @members:	the ops to be called, in this order
 * @nr:		number of @members
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool arch_ftrace_set_create(struct ftrace_ops *ops,
			    struct ftrace_ops *const *members, unsigned int nr)
{
	const struct set_template *t = set_template(ops);
	size_t size = tramp_size(t, nr);
	bool done = false;
	u8 *buf, *tramp;

	buf = kmalloc(size, GFP_KERNEL);
	if (!buf)
		return false;

	tramp = tramp_alloc(size);
	if (!tramp)
		goto out;

	done = write_tramp(buf, tramp, t, members, nr);
	if (done) {
		ops->trampoline = (unsigned long)tramp;
		ops->trampoline_size = size;
	} else {
		tramp_free(tramp, size);
	}
out:
	kfree(buf);
	return done;
}

/**
 * arch_ftrace_set_update - update the function that is called for a member
 * @ops:	has the trampoline, which may be in use
 * @i:		index of the member
 * @func:	the function
 *
 * The caller has to call arch_ftrace_mux_sync() after the last update. Calls
 * sorted by address are patched in batches.
 *
 * Context: ftrace_lock and text_mutex held; may sleep.
 */
void arch_ftrace_set_update(struct ftrace_ops *ops, unsigned int i,
			    ftrace_func_t func)
{
	u8 insn[CALL_INSN_SIZE];
	u8 *call;

	call = (u8 *)ops->trampoline + member_offset(set_template(ops), i + 1) -
	       CALL_INSN_SIZE;
	write_call(insn, call, func);
	smp_text_poke_batch_add(call, insn, sizeof(insn), NULL);
}

/**
 * arch_ftrace_mux_sync - wait until all updated trampolines and jumps are patched
 *
 * Context: ftrace_lock and text_mutex held; may sleep.
 */
void arch_ftrace_mux_sync(void)
{
	smp_text_poke_batch_finish();
}

static void write_jump(u8 *insn, struct ftrace_ops *ops, unsigned long target)
{
	__text_gen_insn(insn, JMP32_INSN_OPCODE, (void *)ops->trampoline,
			(void *)target, JMP32_INSN_SIZE);
}

/**
 * arch_ftrace_jump_create - create a jump that call sites can call
 * @ops:	gets the jump as its trampoline
 * @target:	address of a trampoline
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool arch_ftrace_jump_create(struct ftrace_ops *ops, unsigned long target)
{
	/* Aligned by TRAMP_ALIGN_ORDER, so it does not cross a cache line */
	void *jump = tramp_alloc(JMP32_INSN_SIZE);
	u8 insn[JMP32_INSN_SIZE];

	if (!jump)
		return false;

	ops->trampoline = (unsigned long)jump;
	ops->trampoline_size = JMP32_INSN_SIZE;
	write_jump(insn, ops, target);
	text_poke_copy(jump, insn, sizeof(insn));

	return true;
}

/**
 * arch_ftrace_jump_update - redirect a jump
 * @ops:	has the jump, which may be in use
 * @target:	address of a trampoline
 *
 * The caller has to call arch_ftrace_mux_sync() after the last jump. Jumps
 * sorted by address are patched in batches.
 *
 * Context: ftrace_lock and text_mutex held; may sleep.
 */
void arch_ftrace_jump_update(struct ftrace_ops *ops, unsigned long target)
{
	u8 insn[JMP32_INSN_SIZE];

	write_jump(insn, ops, target);
	smp_text_poke_batch_add((void *)ops->trampoline, insn, sizeof(insn), NULL);
}

/**
 * arch_ftrace_set_free - free a trampoline or a jump
 * @ops:	has the trampoline or jump, which no task uses any more
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void arch_ftrace_set_free(struct ftrace_ops *ops)
{
	tramp_free((void *)ops->trampoline, ops->trampoline_size);
}

/**
 * arch_ftrace_set_template - find the code that an instruction was copied from
 * @ops:	has the trampoline or jump
 * @addr:	address of an instruction in it
 *
 * Context: any.
 * Return: address of the same instruction in the template.
 */
unsigned long arch_ftrace_set_template(struct ftrace_ops *ops, unsigned long addr)
{
	const struct set_template *t = set_template(ops);
	size_t offset = addr - ops->trampoline;
	size_t member = t->member - t->start;
	size_t tail;

	/* At a jump, the stack is as at the start of the trampoline */
	if (ops->trampoline_size == JMP32_INSN_SIZE)
		return (unsigned long)t->start;

	tail = ops->trampoline_size - JMP32_INSN_SIZE - (t->end - t->tail);
	if (offset >= tail)
		return (unsigned long)t->tail + offset - tail;
	if (offset >= member)
		offset = member + (offset - member) % (t->tail - t->member);

	return (unsigned long)t->start + offset;
}
