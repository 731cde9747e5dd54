// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stubs, by which functions are called whose return is hooked: see
 * kernel/trace/fgraph_stub.c
 */
#include <linux/execmem.h>
#include <linux/fgraph_stub.h>
#include <linux/ftrace.h>
#include <linux/memory.h>
#include <linux/perf_event.h>
#include <linux/set_memory.h>
#include <linux/text-patching.h>

#include <asm/nospec-branch.h>

/**
 * arch_fgraph_stubs_help - are returns predicted by the calls before them?
 *
 * Context: any.
 * Return: false if return thunks prevent that.
 */
bool arch_fgraph_stubs_help(void)
{
	return !IS_ENABLED(CONFIG_MITIGATION_RETHUNK) ||
	       x86_return_thunk == __x86_return_thunk ||
	       x86_return_thunk == its_return_thunk;
}

/**
 * arch_fgraph_chunk_create - allocate a page for stubs
 * @ops:	gets the memory as its trampoline
 *
 * Context: ftrace_lock held; may sleep.
 * Return: false on allocation failure.
 */
bool arch_fgraph_chunk_create(struct ftrace_ops *ops)
{
	void *chunk = execmem_alloc_rw(EXECMEM_FTRACE, PAGE_SIZE);

	if (!chunk)
		return false;

	memset(chunk, INT3_INSN_OPCODE, PAGE_SIZE);
	if (set_memory_rox((unsigned long)chunk, 1)) {
		execmem_free(chunk);
		return false;
	}

	ops->trampoline = (unsigned long)chunk;
	ops->trampoline_size = PAGE_SIZE;

	return true;
}

/**
 * arch_fgraph_stub_gen - generate a stub
 * @buf:	gets the code, FGRAPH_STUB_SIZE bytes
 * @stub:	where it is going to be written to
 * @ip:		address of the call site of the function
 *
 * Context: any.
 */
void arch_fgraph_stub_gen(void *buf, unsigned long stub, unsigned long ip)
{
	struct fgraph_stub_code *at = (struct fgraph_stub_code *)stub, *code = buf;
	unsigned long body = ip + MCOUNT_INSN_SIZE;

	BUILD_BUG_ON(sizeof(*code) > FGRAPH_STUB_SIZE);
	BUILD_BUG_ON(offsetof(struct fgraph_stub_code, leave) -
		     offsetof(struct fgraph_stub_code, jne) !=
		     FGRAPH_STUB_JNE_TO_LEAVE);

	memset(buf, INT3_INSN_OPCODE, FGRAPH_STUB_SIZE);
	*code = (struct fgraph_stub_code) {
		.jne	= { 0x0f, 0x85 },
		.to	= body - (unsigned long)at->drop,
		/* lea 8(%rsp), %rsp */
		.drop	= { 0x48, 0x8d, 0x64, 0x24, 0x08 },
	};
	__text_gen_insn(code->enter, CALL_INSN_OPCODE, at->enter,
			ftrace_graph_stub_enter, CALL_INSN_SIZE);
	__text_gen_insn(code->call, CALL_INSN_OPCODE, at->call, (void *)body,
			CALL_INSN_SIZE);
	__text_gen_insn(code->leave, JMP32_INSN_OPCODE, at->leave,
			ftrace_graph_stub_leave, JMP32_INSN_SIZE);
}

/**
 * arch_fgraph_stubs_write - write stubs, one behind the other
 * @stubs:	address of the first one; none is in use
 * @code:	the code; NULL to clear them
 * @size:	of all of them
 *
 * No call site jumps there before it is patched, so each CPU is serialized before
 * it can execute the code.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void arch_fgraph_stubs_write(unsigned long stubs, const void *code, size_t size)
{
	void *addr = (void *)stubs;

	perf_event_text_poke(addr, addr, size, code, code ? size : 0);
	if (code)
		text_poke_copy(addr, code, size);
	else
		text_poke_set(addr, INT3_INSN_OPCODE, size);
}

/**
 * arch_fgraph_stub_translate - tell what a return address in a stub stands for
 * @stub:	address of the stub
 * @addr:	the return address
 *
 * Context: any, NMI included.
 * Return: see fgraph_stub_translate().
 */
unsigned long arch_fgraph_stub_translate(unsigned long stub, unsigned long addr)
{
	switch (addr - stub) {
	case offsetof(struct fgraph_stub_code, jne):
		return fgraph_stub_body(stub);
	case offsetof(struct fgraph_stub_code, leave):
		return (unsigned long)return_to_handler;
	default:
		return addr;
	}
}
