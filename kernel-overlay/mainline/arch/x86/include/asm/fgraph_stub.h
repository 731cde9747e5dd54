/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_FGRAPH_STUB_H
#define _ASM_X86_FGRAPH_STUB_H

/* Stubs have as many bytes, and lie at a multiple of them */
#define FGRAPH_STUB_SIZE	32

/* From where ftrace_graph_stub_enter() returns to, to where the function does */
#define FGRAPH_STUB_JNE_TO_LEAVE	16

#ifndef __ASSEMBLER__
#include <linux/types.h>

/**
 * struct fgraph_stub_code - code of a stub, see kernel/trace/fgraph_stub.c
 * @enter:	call ftrace_graph_stub_enter, which clears ZF if the return of the
 *		function is not hooked
 * @jne:	jne to the function, behind its call site
 * @to:		offset of that, from the next instruction
 * @drop:	lea 8(%rsp), %rsp: drop the return address of the function
 * @call:	call the function, behind its call site
 * @leave:	jmp ftrace_graph_stub_leave
 */
struct fgraph_stub_code {
	u8	enter[5];
	u8	jne[2];
	s32	to;
	u8	drop[5];
	u8	call[5];
	u8	leave[5];
} __packed;

/* Where the stub at @stub jumps to in its function */
static inline unsigned long fgraph_stub_body(unsigned long stub)
{
	struct fgraph_stub_code *code = (struct fgraph_stub_code *)stub;

	return (unsigned long)code->drop + code->to;
}

struct ftrace_regs;

void ftrace_graph_stub_enter(void);
void ftrace_graph_stub_leave(void);
int ftrace_graph_stub_func(unsigned long ret, unsigned long ip, unsigned long fp,
			   unsigned long *parent, struct ftrace_regs *fregs);
#endif /* !__ASSEMBLER__ */

#endif /* _ASM_X86_FGRAPH_STUB_H */
