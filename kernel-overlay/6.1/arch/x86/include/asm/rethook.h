/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_RETHOOK_H
#define _ASM_X86_RETHOOK_H

#include <linux/ptrace.h>

/* Find the return address of the function that @regs are about to enter */
static __always_inline unsigned long *
arch_rethook_ret_addr(struct pt_regs *regs, bool mcount)
{
	return (unsigned long *)regs->sp;
}

/* What identifies the call to the unwinder, and to the trampoline */
static __always_inline unsigned long arch_rethook_frame(struct pt_regs *regs)
{
	return regs->sp;
}

/* Replace the return address that arch_rethook_trampoline pushed */
static __always_inline void
arch_rethook_fixup_return(struct pt_regs *regs, unsigned long ret_addr)
{
	*(unsigned long *)(regs + 1) = ret_addr;
}

#endif /* _ASM_X86_RETHOOK_H */
