/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_RETHOOK_H
#define _ASM_X86_RETHOOK_H

/* For linux/rethook.h */

#include <asm/ptrace.h>

static __always_inline void
arch_rethook_prepare(struct rethook_node *node, struct pt_regs *regs, bool mcount)
{
	unsigned long *stack = (unsigned long *)regs->sp;

	node->ret_addr = *stack;
	node->frame = (unsigned long)stack;

	/* Replace the return addr with trampoline addr */
	*stack = (unsigned long)arch_rethook_trampoline;
}

static __always_inline void
arch_rethook_fixup_return(struct pt_regs *regs, unsigned long correct_ret_addr)
{
	/* Replace the fake return address that arch_rethook_trampoline() pushed */
	*(unsigned long *)(regs + 1) = correct_ret_addr;
}
#define arch_rethook_fixup_return arch_rethook_fixup_return

#endif /* _ASM_X86_RETHOOK_H */
