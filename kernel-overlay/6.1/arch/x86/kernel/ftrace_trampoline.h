/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code that trampolines of ftrace_ops are copied from, see ftrace_64.S
 */
#ifndef _X86_KERNEL_FTRACE_TRAMPOLINE_H
#define _X86_KERNEL_FTRACE_TRAMPOLINE_H

#include <linux/ftrace.h>

#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

/* Markers in the code that is copied into trampolines */
extern void ftrace_regs_caller_end(void);
extern void ftrace_caller_end(void);
extern void ftrace_caller_op_ptr(void);
extern void ftrace_regs_caller_op_ptr(void);
extern void ftrace_regs_caller_jmp(void);
extern void ftrace_regs_caller_direct(void);
extern void ftrace_regs_caller_direct_end(void);

/**
 * struct ftrace_template - code to be copied into a trampoline
 * @start:	address of the code
 * @size:	bytes to copy; a return has to follow
 * @op:		offset of the instruction that loads the ops
 * @call:	offset of the call of the callback
 * @jnz:	offset of the jump that is taken for direct callers, 0 if none
 * @direct:	offset of the target of this jump, which follows the return
 * @direct_size: bytes to copy from there; a return has to follow
 */
struct ftrace_template {
	void		*start;
	unsigned long	size;
	unsigned long	op;
	unsigned long	call;
	unsigned long	jnz;
	unsigned long	direct;
	unsigned long	direct_size;
};

/* Describe ftrace_regs_caller, which saves all registers, or ftrace_caller */
static inline struct ftrace_template ftrace_template(bool regs)
{
	unsigned long start = regs ? (unsigned long)ftrace_regs_caller :
				     (unsigned long)ftrace_caller;
	struct ftrace_template template = {
		.start = (void *)start,
	};

	if (regs) {
		template.size = (unsigned long)ftrace_regs_caller_end - start;
		template.op = (unsigned long)ftrace_regs_caller_op_ptr - start;
		template.call = (unsigned long)ftrace_regs_call - start;
		template.jnz = (unsigned long)ftrace_regs_caller_jmp - start;
		template.direct = (unsigned long)ftrace_regs_caller_direct - start;
		template.direct_size = (unsigned long)ftrace_regs_caller_direct_end -
				       (unsigned long)ftrace_regs_caller_direct;
	} else {
		template.size = (unsigned long)ftrace_caller_end - start;
		template.op = (unsigned long)ftrace_caller_op_ptr - start;
		template.call = (unsigned long)ftrace_call - start;
	}

	return template;
}

/* Maximum number of bytes that ftrace_template_ret() writes */
#define FTRACE_RET_SIZE		(IS_ENABLED(CONFIG_RETPOLINE) ? 5 : 1 + IS_ENABLED(CONFIG_SLS))

/* Write a return to @buf that will be executed at @ip */
static inline void ftrace_template_ret(void *buf, void *ip)
{
	static const u8 retq[] = { RET_INSN_OPCODE, INT3_INSN_OPCODE };

	if (cpu_wants_rethunk_at(ip))
		__text_gen_insn(buf, JMP32_INSN_OPCODE, ip, x86_return_thunk,
				JMP32_INSN_SIZE);
	else
		memcpy(buf, retq, 1 + IS_ENABLED(CONFIG_SLS));
}

#endif /* _X86_KERNEL_FTRACE_TRAMPOLINE_H */
