// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trampolines that call all ops of a set
 *
 * They are made of ftrace_caller or ftrace_regs_caller, as those of single ops
 * are, with this in the place of the one call there:
 *
 *	mov	%rbx, RBX(%rsp)		unless all registers are saved anyway
 *	mov	%r12, R12(%rsp)
 *	mov	%rsi, %rbx
 *	mov	%rdi, %r12
 *	call	<first member>
 *	mov	%r12, %rdi		for each of the others
 *	mov	%rbx, %rsi
 *	mov	<slot>(%rip), %rdx
 *	mov	%rsp, %rcx
 *	call	<member>
 *	mov	RBX(%rsp), %rbx		unless all registers are restored anyway
 *	mov	R12(%rsp), %r12
 *
 * A member may change the return address on the stack, or the ip in the
 * registers. The ones after it get what is in %rbx and %r12. The stack is the same
 * throughout, so the unwinder can take any of this for the call in the template.
 *
 * The slots, with the ops of the members, are behind the code.
 */
#include <linux/ftrace_mux.h>
#include <linux/genalloc.h>
#include <linux/memory.h>
#include <linux/moduleloader.h>
#include <linux/set_memory.h>
#include <linux/slab.h>

#include <asm/asm-offsets.h>
#include <asm/insn.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "ftrace_trampoline.h"

/*
 * Trampolines are cut from whole pages, which are kept. They are never writable
 * where they can be run.
 */
#define TRAMP_ALIGN_ORDER	5
#define TRAMP_CHUNK_SIZE	(4 * PAGE_SIZE)

/* Many more, and it is time to walk a list */
#define TRAMP_MAX_MEMBERS	64

static struct gen_pool *tramp_pool;

/* Instructions that stand between the template's; sizes are those of the bytes */
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
	0x48, 0x8b, 0x15,	/* and where from, relative to what follows */
};

static const u8 load_fregs[] = {
	0x48, 0x89, 0xe1,
};

static const u8 restore_regs[] = {
	0x48, 0x8b, 0x5c, 0x24, offsetof(struct pt_regs, bx),
	0x4c, 0x8b, 0x64, 0x24, offsetof(struct pt_regs, r12),
};

#define LOAD_OPS_SIZE	(sizeof(load_ops) + sizeof(s32))
#define MEMBER_SIZE	(sizeof(load_args) + LOAD_OPS_SIZE + \
			 sizeof(load_fregs) + CALL_INSN_SIZE)

static bool tramp_saves_all(struct ftrace_set *set)
{
	return set->ops.flags & FTRACE_OPS_FL_SAVE_REGS;
}

/* Where the call of member @i is in the trampoline of @set */
static unsigned long tramp_call_offset(struct ftrace_set *set, unsigned int i)
{
	unsigned long offset = ftrace_template(tramp_saves_all(set)).call;

	if (set->nr_members == 1)
		return offset;

	if (!tramp_saves_all(set))
		offset += sizeof(save_regs);

	return offset + sizeof(save_args) + i * MEMBER_SIZE;
}

/* Where it goes on as the template does after its call */
static unsigned long tramp_tail_offset(struct ftrace_set *set)
{
	unsigned long offset;

	offset = tramp_call_offset(set, set->nr_members - 1) + CALL_INSN_SIZE;
	if (set->nr_members > 1 && !tramp_saves_all(set))
		offset += sizeof(restore_regs);

	return offset;
}

static void *tramp_alloc(size_t size)
{
	unsigned long addr;
	void *chunk;

	if (!tramp_pool) {
		tramp_pool = gen_pool_create(TRAMP_ALIGN_ORDER, NUMA_NO_NODE);
		if (!tramp_pool)
			return NULL;
	}

	addr = gen_pool_alloc(tramp_pool, size);
	if (addr || size > TRAMP_CHUNK_SIZE)
		return (void *)addr;

	chunk = module_alloc(TRAMP_CHUNK_SIZE);
	if (!chunk)
		return NULL;

	memset(chunk, INT3_INSN_OPCODE, TRAMP_CHUNK_SIZE);
	if (set_memory_ro((unsigned long)chunk, TRAMP_CHUNK_SIZE / PAGE_SIZE) ||
	    set_memory_x((unsigned long)chunk, TRAMP_CHUNK_SIZE / PAGE_SIZE) ||
	    gen_pool_add(tramp_pool, (unsigned long)chunk, TRAMP_CHUNK_SIZE,
			 NUMA_NO_NODE)) {
		module_memfree(chunk);
		return NULL;
	}

	return (void *)gen_pool_alloc(tramp_pool, size);
}

static void tramp_free(void *tramp, size_t size)
{
	text_poke_set(tramp, INT3_INSN_OPCODE, size);
	gen_pool_free(tramp_pool, (unsigned long)tramp, size);
}

/* Puts code into @buf that is to run at @tramp */
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

static void write_call(struct tramp_writer *w, ftrace_func_t func)
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

/**
 * arch_ftrace_set_create - make a trampoline that calls the members of a set
 * @set:	the set; if there is no memory for it, or it has too many members,
 *		it is left alone
 *
 * Context: ftrace_lock held and text_mutex not, may sleep.
 */
void arch_ftrace_set_create(struct ftrace_set *set)
{
	struct ftrace_template template = ftrace_template(tramp_saves_all(set));
	unsigned int i, nr = set->nr_members;
	size_t tail, ret, slots, size;
	struct tramp_writer w = { };

	if (nr > TRAMP_MAX_MEMBERS)
		return;

	tail = template.size - template.call - CALL_INSN_SIZE;
	ret = tramp_tail_offset(set) + tail;
	slots = ALIGN(ret + FTRACE_RET_SIZE, sizeof(void *));
	size = slots + nr * sizeof(void *);

	w.buf = kmalloc(size, GFP_KERNEL);
	if (!w.buf)
		return;

	w.tramp = tramp_alloc(size);
	if (!w.tramp)
		goto out;

	/* Up to its call, with the ops of the first member instead of its own */
	memset(w.buf, INT3_INSN_OPCODE, size);
	memcpy(w.buf, template.start, template.call);
	w.pos = template.op;
	if (WARN_ON_ONCE(memcmp(w.buf + w.pos, load_ops, sizeof(load_ops))))
		goto out_free;
	write_load_ops(&w, slots);
	w.pos = template.call;

	if (nr > 1) {
		if (!tramp_saves_all(set))
			write_bytes(&w, save_regs, sizeof(save_regs));
		write_bytes(&w, save_args, sizeof(save_args));
	}

	write_call(&w, ftrace_ops_get_func(set->members[0]));

	for (i = 1; i < nr; i++) {
		write_bytes(&w, load_args, sizeof(load_args));
		write_load_ops(&w, slots + i * sizeof(void *));
		write_bytes(&w, load_fregs, sizeof(load_fregs));
		write_call(&w, ftrace_ops_get_func(set->members[i]));
	}

	if (nr > 1 && !tramp_saves_all(set))
		write_bytes(&w, restore_regs, sizeof(restore_regs));

	if (WARN_ON_ONCE(w.pos != tramp_tail_offset(set)))
		goto out_free;

	write_bytes(&w, template.start + template.call + CALL_INSN_SIZE, tail);
	if (template.jnz) {
		/* Direct callers are not in sets */
		u8 *jnz = w.buf + w.pos - template.size + template.jnz;

		if (WARN_ON_ONCE(*jnz != 0x75))
			goto out_free;
		memcpy(jnz, x86_nops[2], 2);
	}
	ftrace_template_ret(w.buf + ret, w.tramp + ret);
	memcpy(w.buf + slots, set->members, nr * sizeof(void *));

	if (!text_poke_copy(w.tramp, w.buf, size))
		goto out_free;
	/* Another trampoline may have been here before */
	text_poke_sync();

	set->ops.trampoline = (unsigned long)w.tramp;
	set->ops.trampoline_size = size;
	set->ops.flags |= FTRACE_OPS_FL_ALLOC_TRAMP;
	set->direct = true;
	goto out;

out_free:
	tramp_free(w.tramp, size);
out:
	kfree(w.buf);
}

/**
 * arch_ftrace_set_update - have a trampoline call a member by another function
 * @set:	the set
 * @i:		which member of it, ftrace_ops_get_func() gives the function
 *
 * Context: ftrace_lock held and text_mutex not, may sleep. The trampoline may
 * be in use.
 */
void arch_ftrace_set_update(struct ftrace_set *set, unsigned int i)
{
	void *call = (void *)set->ops.trampoline + tramp_call_offset(set, i);
	void *func = ftrace_ops_get_func(set->members[i]);

	mutex_lock(&text_mutex);
	text_poke_bp(call, text_gen_insn(CALL_INSN_OPCODE, call, func),
		     CALL_INSN_SIZE, NULL);
	mutex_unlock(&text_mutex);
}

/**
 * arch_ftrace_set_free - free the trampoline of a set
 * @set:	the set
 *
 * Context: ftrace_lock held and text_mutex not, may sleep. Nobody may be in
 * the trampoline.
 */
void arch_ftrace_set_free(struct ftrace_set *set)
{
	tramp_free((void *)set->ops.trampoline, set->ops.trampoline_size);
	set->ops.trampoline = 0;
}

#ifdef CONFIG_FTRACE_MUX_AUDIT
/**
 * arch_ftrace_call_target - what a function calls
 * @ip:		address of its call site
 *
 * Context: may sleep; text_mutex not held, and no patches queued.
 * Return: the address that is called, 0 if nothing is, ~0 if the instruction
 * there is neither a call nor a nop.
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
 * arch_ftrace_set_check - look whether a trampoline calls what it should
 * @set:	the set, with a trampoline by arch_ftrace_set_create()
 *
 * Context: ftrace_lock held and text_mutex not, may sleep.
 * Return: whether each member is called, with the ops of it.
 */
bool arch_ftrace_set_check(struct ftrace_set *set)
{
	unsigned long end = set->ops.trampoline + set->ops.trampoline_size;
	struct ftrace_ops **slots = (struct ftrace_ops **)end - set->nr_members;
	unsigned int i;

	for (i = 0; i < set->nr_members; i++) {
		unsigned long call = set->ops.trampoline + tramp_call_offset(set, i);

		if (arch_ftrace_call_target(call) !=
		    (unsigned long)ftrace_ops_get_func(set->members[i]) ||
		    slots[i] != set->members[i])
			return false;
	}

	return true;
}
#endif /* CONFIG_FTRACE_MUX_AUDIT */

/**
 * arch_ftrace_set_template_offset - what in the template looks the same
 * @set:	a set
 * @offset:	an offset into its trampoline, of an instruction
 *
 * Context: any.
 * Return: an offset into ftrace_caller or ftrace_regs_caller where the stack
 * is as it is there.
 */
unsigned long
arch_ftrace_set_template_offset(struct ftrace_set *set, unsigned long offset)
{
	unsigned long call = ftrace_template(tramp_saves_all(set)).call;
	unsigned long tail = tramp_tail_offset(set);

	if (!set->direct || offset <= call)
		return offset;

	if (offset < tail)
		return call;

	return offset - tail + call + CALL_INSN_SIZE;
}
