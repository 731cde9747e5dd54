// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines that call several ops, and jumps to them
 *
 * A trampoline is a copy of ftrace_caller or ftrace_regs_caller, like that of a
 * single ops, with the call in it replaced by this:
 *
 *	mov	%rbx, RBX(%rsp)		unless all registers are saved anyway
 *	mov	%r12, R12(%rsp)
 *	mov	%rsi, %rbx
 *	mov	%rdi, %r12
 *	call	<first callee>
 *	mov	%r12, %rdi		for each of the others
 *	mov	%rbx, %rsi
 *	mov	<slot>(%rip), %rdx
 *	mov	%rsp, %rcx
 *	call	<callee>
 *	mov	RBX(%rsp), %rbx		unless all registers are restored anyway
 *	mov	R12(%rsp), %r12
 *
 * A callee may change the return address on the stack, or the ip in the
 * registers. The next callees get the original values from %rbx and %r12. The
 * stack layout is the same throughout, so the unwinder can treat all of this
 * code like the call in the template.
 *
 * If a callee may set a direct caller, the code of ftrace_regs_caller that
 * handles these follows the return. The slots, which hold the ops of the
 * callees, come last.
 */
#include <linux/ftrace_mux.h>
#include <linux/genalloc.h>
#include <linux/memory.h>
#include <linux/moduleloader.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include <asm/asm-offsets.h>
#include <asm/insn.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "ftrace_trampoline.h"

/*
 * Trampolines are allocated from whole pages that are never freed. The memory
 * is never writable and executable at the same time.
 */
#define TRAMP_ALIGN_ORDER	4
#define TRAMP_CHUNK_SIZE	(4 * PAGE_SIZE)

/* A jump, aligned so that it does not cross a cache line */
#define FTRACE_JUMP_SIZE	8

static struct gen_pool *tramp_pool;

/**
 * struct tramp_poke - pending replacement of an instruction that may be in use
 * @addr:	address of the instruction
 * @opcode:	opcode of the new call or jump
 * @target:	address that it leads to
 */
struct tramp_poke {
	void	*addr;
	u8	opcode;
	void	*target;
};

/* Pending work of arch_ftrace_mux_sync() */
static bool tramp_copied;
static struct tramp_poke *tramp_pokes;
static unsigned int tramp_nr_pokes;
static unsigned int tramp_max_pokes;

/* Instructions that are inserted into the template; sizeof() is their size */
static const u8 save_regs[] = {
	0x48, 0x89, 0x5c, 0x24, offsetof(struct pt_regs, bx),
	0x4c, 0x89, 0x64, 0x24, offsetof(struct pt_regs, r12),
};

static const u8 save_args[] = {
	0x48, 0x89, 0xf3,
	0x49, 0x89, 0xfc,
};

static const u8 load_args[] = {
	0x4c, 0x89, 0xe7,
	0x48, 0x89, 0xde,
};

static const u8 load_ops[] = {
	0x48, 0x8b, 0x15,	/* followed by the offset from the next insn */
};

static const u8 load_fregs[] = {
	0x48, 0x89, 0xe1,
};

static const u8 restore_regs[] = {
	0x48, 0x8b, 0x5c, 0x24, offsetof(struct pt_regs, bx),
	0x4c, 0x8b, 0x64, 0x24, offsetof(struct pt_regs, r12),
};

#define LOAD_OPS_SIZE	(sizeof(load_ops) + sizeof(s32))
#define CALLEE_SIZE	(sizeof(load_args) + LOAD_OPS_SIZE + \
			 sizeof(load_fregs) + CALL_INSN_SIZE)

/* Offset of the call of callee @i in @tramp */
static unsigned long tramp_call_offset(struct ftrace_mux_tramp *tramp, unsigned int i)
{
	unsigned long offset = ftrace_template(tramp->regs).call;

	if (tramp->nr_callees == 1)
		return offset;

	if (!tramp->regs)
		offset += sizeof(save_regs);

	return offset + sizeof(save_args) + i * CALLEE_SIZE;
}

/* Offset of the code that follows the call in the template */
static unsigned long tramp_tail_offset(struct ftrace_mux_tramp *tramp)
{
	unsigned long offset;

	offset = tramp_call_offset(tramp, tramp->nr_callees - 1) + CALL_INSN_SIZE;
	if (tramp->nr_callees > 1 && !tramp->regs)
		offset += sizeof(restore_regs);

	return offset;
}

/* Offset of the return */
static unsigned long tramp_ret_offset(struct ftrace_mux_tramp *tramp)
{
	struct ftrace_template template = ftrace_template(tramp->regs);

	return tramp_tail_offset(tramp) + template.size - template.call -
	       CALL_INSN_SIZE;
}

static bool tramp_add_chunk(void)
{
	void *chunk = module_alloc(TRAMP_CHUNK_SIZE);
	unsigned long start = (unsigned long)chunk;

	if (!chunk)
		return false;

	memset(chunk, INT3_INSN_OPCODE, TRAMP_CHUNK_SIZE);
	if (set_memory_ro(start, TRAMP_CHUNK_SIZE / PAGE_SIZE) ||
	    set_memory_x(start, TRAMP_CHUNK_SIZE / PAGE_SIZE) ||
	    gen_pool_add(tramp_pool, start, TRAMP_CHUNK_SIZE, NUMA_NO_NODE)) {
		module_memfree(chunk);
		return false;
	}

	/* On allocation failure, only the symbol is missing */
	ftrace_mux_add_symbol(start, TRAMP_CHUNK_SIZE);

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

	addr = gen_pool_alloc(tramp_pool, size);
	if (!addr && size <= TRAMP_CHUNK_SIZE && tramp_add_chunk())
		addr = gen_pool_alloc(tramp_pool, size);

	return (void *)addr;
}

static void tramp_free(void *tramp, size_t size)
{
	text_poke_set(tramp, INT3_INSN_OPCODE, size);
	gen_pool_free(tramp_pool, (unsigned long)tramp, size);
}

/* Write code that is not in use yet. Call arch_ftrace_mux_sync() afterwards */
static bool tramp_write(void *tramp, const void *bytes, size_t size)
{
	perf_event_text_poke(tramp, tramp, size, bytes, size);

	return text_poke_copy(tramp, bytes, size);
}

/* Assembles code in @buf that will run at @tramp */
struct tramp_writer {
	u8	*buf;
	u8	*tramp;
	size_t	pos;
};

static void write_bytes(struct tramp_writer *w, const void *bytes, size_t size)
{
	memcpy(w->buf + w->pos, bytes, size);
	w->pos += size;
}

static void write_call(struct tramp_writer *w, void *func)
{
	__text_gen_insn(w->buf + w->pos, CALL_INSN_OPCODE, w->tramp + w->pos,
			func, CALL_INSN_SIZE);
	w->pos += CALL_INSN_SIZE;
}

static void write_load_ops(struct tramp_writer *w, size_t slot)
{
	s32 distance = slot - (w->pos + LOAD_OPS_SIZE);

	write_bytes(w, load_ops, sizeof(load_ops));
	write_bytes(w, &distance, sizeof(distance));
}

/* Add the template's code for direct callers, and redirect the jnz to it */
static bool write_direct(struct tramp_writer *w, struct ftrace_template *template)
{
	/* The template's tail ends at its return */
	size_t jnz = w->pos - template->size + template->jnz;
	long distance;

	if (WARN_ON_ONCE(w->buf[jnz] != 0x75))
		return false;

	ftrace_template_ret(w->buf + w->pos, w->tramp + w->pos);
	w->pos += FTRACE_RET_SIZE;

	distance = w->pos - (jnz + 2);
	if (WARN_ON_ONCE(distance != (s8)distance))
		return false;
	w->buf[jnz + 1] = distance;

	write_bytes(w, template->start + template->direct, template->direct_size);

	return true;
}

/**
 * arch_ftrace_tramp_create - create the code of a trampoline
 * @tramp:	the trampoline, with its callees
 *
 * The caller has to call arch_ftrace_mux_sync() before the trampoline is used.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool arch_ftrace_tramp_create(struct ftrace_mux_tramp *tramp)
{
	struct ftrace_template template = ftrace_template(tramp->regs);
	size_t code, slots, size, ret = tramp_ret_offset(tramp);
	unsigned int i, nr = tramp->nr_callees;
	struct tramp_writer w = { };
	bool done = false;

	code = ret + FTRACE_RET_SIZE;
	if (tramp->direct)
		code += template.direct_size + FTRACE_RET_SIZE;
	slots = ALIGN(code, sizeof(void *));
	size = slots + nr * sizeof(void *);

	w.buf = kmalloc(size, GFP_KERNEL);
	if (!w.buf)
		return false;

	w.tramp = tramp_alloc(size);
	if (!w.tramp)
		goto out;

	/* Copy the template up to its call; load the first callee's ops */
	memset(w.buf, INT3_INSN_OPCODE, size);
	memcpy(w.buf, template.start, template.call);
	w.pos = template.op;
	if (WARN_ON_ONCE(memcmp(w.buf + w.pos, load_ops, sizeof(load_ops))))
		goto out_free;
	write_load_ops(&w, slots);
	w.pos = template.call;

	if (nr > 1) {
		if (!tramp->regs)
			write_bytes(&w, save_regs, sizeof(save_regs));
		write_bytes(&w, save_args, sizeof(save_args));
	}

	write_call(&w, ftrace_mux_callback(tramp->callees[0]));

	for (i = 1; i < nr; i++) {
		write_bytes(&w, load_args, sizeof(load_args));
		write_load_ops(&w, slots + i * sizeof(void *));
		write_bytes(&w, load_fregs, sizeof(load_fregs));
		write_call(&w, ftrace_mux_callback(tramp->callees[i]));
	}

	if (nr > 1 && !tramp->regs)
		write_bytes(&w, restore_regs, sizeof(restore_regs));

	write_bytes(&w, template.start + template.call + CALL_INSN_SIZE,
		    template.size - template.call - CALL_INSN_SIZE);
	if (WARN_ON_ONCE(w.pos != ret))
		goto out_free;

	if (tramp->direct) {
		if (!write_direct(&w, &template))
			goto out_free;
	} else if (template.jnz) {
		memcpy(w.buf + ret - template.size + template.jnz, x86_nops[2], 2);
	}
	ftrace_template_ret(w.buf + w.pos, w.tramp + w.pos);
	memcpy(w.buf + slots, tramp->callees, nr * sizeof(void *));

	done = tramp_write(w.tramp, w.buf, size);
	/* Another trampoline may have been at this address: sync CPUs */
	tramp_copied = true;
	tramp->code.start = (unsigned long)w.tramp;
	tramp->code.size = size;

out_free:
	if (!done)
		tramp_free(w.tramp, size);
out:
	kfree(w.buf);
	return done;
}

static void tramp_gen_insn(u8 *insn, const struct tramp_poke *poke)
{
	__text_gen_insn(insn, poke->opcode, poke->addr, poke->target,
			CALL_INSN_SIZE);
}

static int tramp_poke_compare(const void *a, const void *b)
{
	const struct tramp_poke *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Patch all queued instructions */
static void tramp_flush_pokes(void)
{
	u8 insn[CALL_INSN_SIZE];
	unsigned int i;

	if (!tramp_nr_pokes)
		return;

	/* text_poke_queue() only batches ascending addresses */
	sort(tramp_pokes, tramp_nr_pokes, sizeof(*tramp_pokes),
	     tramp_poke_compare, NULL);

	mutex_lock(&text_mutex);
	for (i = 0; i < tramp_nr_pokes; i++) {
		tramp_gen_insn(insn, &tramp_pokes[i]);
		text_poke_queue(tramp_pokes[i].addr, insn, sizeof(insn), NULL);
	}
	text_poke_finish();
	mutex_unlock(&text_mutex);

	tramp_nr_pokes = 0;
}

static bool tramp_grow_pokes(void)
{
	unsigned int max = max(2 * tramp_max_pokes, 64U);
	struct tramp_poke *pokes;

	pokes = krealloc(tramp_pokes, max * sizeof(*pokes), GFP_KERNEL);
	if (!pokes)
		return false;

	tramp_pokes = pokes;
	tramp_max_pokes = max;

	return true;
}

/*
 * Queue the replacement of the instruction at @addr, which may be in use. An
 * address may be queued only once before arch_ftrace_mux_sync(): the comparison
 * with the current instruction does not take pending pokes into account.
 */
static void tramp_poke(void *addr, u8 opcode, void *target)
{
	struct tramp_poke poke = { addr, opcode, target };
	u8 insn[CALL_INSN_SIZE];

	tramp_gen_insn(insn, &poke);
	if (!memcmp(addr, insn, sizeof(insn)))
		return;

	/* During boot, text_poke_bp() cannot write to read-only memory */
	if (system_state == SYSTEM_BOOTING) {
		text_poke_copy(addr, insn, sizeof(insn));
		return;
	}

	if (tramp_nr_pokes == tramp_max_pokes && !tramp_grow_pokes())
		tramp_flush_pokes();

	if (tramp_max_pokes) {
		tramp_pokes[tramp_nr_pokes++] = poke;
		return;
	}

	mutex_lock(&text_mutex);
	text_poke_bp(addr, insn, sizeof(insn), NULL);
	mutex_unlock(&text_mutex);
}

/**
 * arch_ftrace_jump_create - create the code of a jump that functions can call
 * @jump:	the jump, with its target
 *
 * The caller has to call arch_ftrace_mux_sync() before the jump is used.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 * Return: false on allocation failure.
 */
bool arch_ftrace_jump_create(struct ftrace_mux_jump *jump)
{
	void *addr = tramp_alloc(FTRACE_JUMP_SIZE);
	u8 insn[JMP32_INSN_SIZE];

	if (!addr)
		return false;

	__text_gen_insn(insn, JMP32_INSN_OPCODE, addr, (void *)jump->target,
			sizeof(insn));
	if (!tramp_write(addr, insn, sizeof(insn))) {
		tramp_free(addr, FTRACE_JUMP_SIZE);
		return false;
	}
	tramp_copied = true;
	jump->code.start = (unsigned long)addr;
	jump->code.size = FTRACE_JUMP_SIZE;

	return true;
}

/**
 * arch_ftrace_jump_update - redirect a jump to its new target
 * @jump:	the jump, which may be in use
 *
 * The caller has to call arch_ftrace_mux_sync() afterwards.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void arch_ftrace_jump_update(struct ftrace_mux_jump *jump)
{
	tramp_poke((void *)jump->code.start, JMP32_INSN_OPCODE,
		   (void *)jump->target);
}

/**
 * arch_ftrace_mux_sync - make new and updated code visible to all CPUs
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void arch_ftrace_mux_sync(void)
{
	if (tramp_copied) {
		text_poke_sync();
		tramp_copied = false;
	}

	tramp_flush_pokes();
}

/**
 * arch_ftrace_code_free - free the code of a trampoline or a jump
 * @code:	the code; no task may be in it
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void arch_ftrace_code_free(struct ftrace_mux_code *code)
{
	tramp_free((void *)code->start, code->size);
}

/**
 * arch_ftrace_code_template - find the template code with the same stack layout
 * @code:	a trampoline or a jump
 * @addr:	address of an instruction in it
 *
 * Context: any.
 * Return: an address in ftrace_caller or ftrace_regs_caller where the stack
 * layout is the same as at @addr.
 */
unsigned long
arch_ftrace_code_template(struct ftrace_mux_code *code, unsigned long addr)
{
	struct ftrace_mux_tramp *tramp = code->tramp;
	unsigned long offset = addr - code->start;
	struct ftrace_template template;
	unsigned long tail, direct;

	/* In a jump, the stack is as at the start of ftrace_caller */
	if (!tramp)
		return (unsigned long)ftrace_caller;

	template = ftrace_template(tramp->regs);
	tail = tramp_tail_offset(tramp);
	direct = tramp_ret_offset(tramp) + FTRACE_RET_SIZE;

	if (tramp->direct && offset >= direct)
		offset = offset - direct + template.direct;
	else if (offset >= tail)
		offset = offset - tail + template.call + CALL_INSN_SIZE;
	else if (offset > template.call)
		offset = template.call;

	return (unsigned long)template.start + offset;
}
