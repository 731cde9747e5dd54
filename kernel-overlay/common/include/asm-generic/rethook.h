/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_GENERIC_RETHOOK_H
#define _ASM_GENERIC_RETHOOK_H

/* An architecture that has these inline has a header of its own */
void arch_rethook_prepare(struct rethook_node *node, struct pt_regs *regs, bool mcount);

/* If the architecture needs to fixup the return address, implement it. */
void arch_rethook_fixup_return(struct pt_regs *regs,
			       unsigned long correct_ret_addr);

#endif /* _ASM_GENERIC_RETHOOK_H */
