/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stubs, by which functions are called whose return is hooked
 */
#ifndef _LINUX_FGRAPH_STUB_H
#define _LINUX_FGRAPH_STUB_H

#include <linux/types.h>

struct ftrace_ops;

#ifdef CONFIG_FUNCTION_GRAPH_STUBS
#include <asm/fgraph_stub.h>

/* For architectures that select HAVE_FUNCTION_GRAPH_STUBS */
bool arch_fgraph_stubs_help(void);
bool arch_fgraph_chunk_create(struct ftrace_ops *ops);
void arch_fgraph_stub_gen(void *buf, unsigned long stub, unsigned long ip);
void arch_fgraph_stubs_write(unsigned long stubs, const void *code, size_t size);
unsigned long arch_fgraph_stub_translate(unsigned long stub, unsigned long addr);

/* Stubs are nowhere else */
extern unsigned long fgraph_stubs_start, fgraph_stubs_end;
unsigned long __fgraph_stub_at(unsigned long addr);

/**
 * fgraph_stub_at - find the stub that contains an address
 * @addr:	any address
 *
 * Context: any, NMI included.
 * Return: the address of the stub; zero if there is none.
 */
static inline unsigned long fgraph_stub_at(unsigned long addr)
{
	if (likely(addr < READ_ONCE(fgraph_stubs_start) ||
		   addr >= READ_ONCE(fgraph_stubs_end)))
		return 0;

	return __fgraph_stub_at(addr);
}

/**
 * fgraph_stub_translate - tell what a return address in a stub stands for
 * @addr:	a return address
 *
 * Context: any, NMI included.
 * Return: the address of return_to_handler() if @addr is where a function returns
 * to its stub; the address in the function that the stub goes on to if @addr is
 * where ftrace returns to the stub; else @addr.
 */
static inline unsigned long fgraph_stub_translate(unsigned long addr)
{
	unsigned long stub = fgraph_stub_at(addr);

	return stub ? arch_fgraph_stub_translate(stub, addr) : addr;
}
#else
static inline unsigned long fgraph_stub_at(unsigned long addr)
{
	return 0;
}

static inline unsigned long fgraph_stub_translate(unsigned long addr)
{
	return addr;
}
#endif

#endif /* _LINUX_FGRAPH_STUB_H */
