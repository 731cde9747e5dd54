/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What scripts/cycles measures, see cycles.c: the kernel's instruction sequences as code of user
 * space. Each function is called without arguments. Callbacks add the weight of their ops to %r15.
 *
 * Assembled once for each way to return and to call indirectly:
 *
 *   plain	ret, call *
 *   THUNKS	return thunks that return at once, retpolines
 *   SAFE_RET	return thunks as they are against speculative return stack overflow, retpolines
 */

/* struct pt_regs */
#define R13		16
#define R12		24
#define RBP		32
#define RBX		40
#define R9		64
#define R8		72
#define RAX		80
#define RCX		88
#define RDX		96
#define RSI		104
#define RDI		112
#define ORIG_RAX	120
#define RIP		128
#define CS		136
#define RSP		152
#define FRAME_SIZE	168

/* struct ops */
#define OPS_FUNC	0
#define OPS_WEIGHT	8
#define OPS_SIZE	48

/* A frame of the shadow stack: return address, function, time */
#define SHADOW_SIZE	24

/* What an entry and a return of a hooked call add to %r15 */
#define ENTRY_WEIGHT	1
#define RETURN_WEIGHT	0x10000

	.text

.macro RETURN
#if defined(THUNKS) || defined(SAFE_RET)
	jmp	__x86_return_thunk
#else
	ret
#endif
.endm

.macro FUNC name
	.globl	\name
	.p2align 5
\name:
.endm

#if defined(THUNKS) || defined(SAFE_RET)
FUNC __x86_return_thunk
#ifdef SAFE_RET
	/* The call overwrites the entry of the return stack that ret would be predicted by */
	call	1f
	ud2
1:	leaq	8(%rsp), %rsp
#endif
	ret
	int3

.macro RETPOLINE reg
FUNC __x86_indirect_thunk_\reg
	call	2f
1:	pause
	lfence
	jmp	1b
2:	movq	%\reg, (%rsp)
	RETURN
.endm

.irp reg, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14
	RETPOLINE \reg
.endr
#endif

.macro CALL_RAX
#if defined(THUNKS) || defined(SAFE_RET)
	call	__x86_indirect_thunk_rax
#else
	call	*%rax
#endif
.endm

/*
 * ftrace_caller: registers are saved, %rdi is the call site, %rsi the caller's. Called by a
 * stub, it has the function's address from the jump there.
 */
.macro SAVE stub=0
	subq	$FRAME_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	%rdi, RDI(%rsp)
	movq	%r8, R8(%rsp)
	movq	%r9, R9(%rsp)
	movq	$0, ORIG_RAX(%rsp)
	movq	%rbp, %rdx
	movq	%rdx, RBP(%rsp)
	movq	FRAME_SIZE+8(%rsp), %rsi
	movq	FRAME_SIZE(%rsp), %rdi
	.if	\stub
	movslq	2(%rdi), %rax
	leaq	6(%rdi, %rax), %rdi
	.endif
	movq	%rdi, RIP(%rsp)
	subq	$5, %rdi
	leaq	FRAME_SIZE+8(%rsp), %rcx
	movq	%rcx, RSP(%rsp)
.endm

/* It leaves the flags as they are */
.macro RESTORE
	movq	RBP(%rsp), %rbp
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RDI(%rsp), %rdi
	movq	RSI(%rsp), %rsi
	movq	RDX(%rsp), %rdx
	movq	RCX(%rsp), %rcx
	movq	RAX(%rsp), %rax
	leaq	FRAME_SIZE(%rsp), %rsp
.endm

/* A callback may change the ip */
.macro CALLER name, func, op
	.p2align 5
\name:
	SAVE
	movq	\op(%rip), %rdx
	leaq	(%rsp), %rcx
	movq	$0, CS(%rsp)
	call	\func
	movq	RIP(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	RESTORE
	RETURN
.endm

/* What trampolines of sets have in common */
.macro SET_SAVE
	SAVE
	movq	$0, CS(%rsp)
	movq	%rbx, RBX(%rsp)
	movq	%r12, R12(%rsp)
.endm

.macro SET_UNSAVE
	movq	RBX(%rsp), %rbx
	movq	R12(%rsp), %r12
.endm

.macro SET_RETURN
	movq	RIP(%rsp), %rax
	movq	%rax, FRAME_SIZE(%rsp)
	RESTORE
	RETURN
.endm

.macro SET_CALLER name, members
	.p2align 5
\name:
	SET_SAVE
	movq	%rsi, %rbx
	movq	%rdi, %r12
	.set	i, 0
	.rept	\members
	movq	%r12, %rdi
	movq	%rbx, %rsi
	movq	%rsp, %rcx
	movabsq	$set_ops + i * OPS_SIZE, %rdx
	call	callback
	.set	i, i + 1
	.endr
	SET_UNSAVE
	SET_RETURN
.endm

/* A smaller one: of constant size, it loads a pointer to the members of the set and calls them in a loop */
.macro LOOP_CALLER name, set
	.p2align 5
\name:
	SET_SAVE
	movq	%r13, R13(%rsp)
	movq	%rsi, %rbx
	movq	%rdi, %r12
	movabsq	$\set, %r13
1:	movq	(%r13), %rdx
	movq	%r12, %rdi
	movq	%rbx, %rsi
	movq	%rsp, %rcx
	movq	OPS_FUNC(%rdx), %rax
	CALL_RAX
	addq	$8, %r13
	cmpq	$0, (%r13)
	jne	1b
	SET_UNSAVE
	movq	R13(%rsp), %r13
	SET_RETURN
.endm

.macro NOP5
	.byte	0x0f, 0x1f, 0x44, 0, 0
.endm

FUNC callback
	addq	OPS_WEIGHT(%rdx), %r15
	RETURN

	CALLER	single_caller, callback, single_op
	CALLER	list_2_caller, list_func, list_2_op
	CALLER	list_8_caller, list_func, list_8_op
	CALLER	list_16_caller, list_func, list_16_op
	SET_CALLER set_2_caller, 2
	SET_CALLER set_8_caller, 8
	LOOP_CALLER loop_2_caller, loop_2_members
	LOOP_CALLER loop_8_caller, loop_8_members

FUNC untraced
	NOP5
	RETURN

.irp how, single, list_2, list_8, list_16, set_2, set_8, loop_2, loop_8
FUNC \how
	call	\how\()_caller
	RETURN
.endr

/*
 * Hooked returns. The callbacks are what any user of them needs: a frame on the shadow stack, and
 * the time if \clock.
 */
.macro PUSH_FRAME clock
	movq	shadow_top(%rip), %r8
	movq	%rsi, (%r8)
	movq	%rdi, 8(%r8)
	.if	\clock
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, 16(%r8)
	.endif
	addq	$SHADOW_SIZE, %r8
	movq	%r8, shadow_top(%rip)
.endm

/* The return address, in %rax */
.macro POP_FRAME name, clock
	.p2align 5
\name:
	movq	shadow_top(%rip), %rcx
	subq	$SHADOW_SIZE, %rcx
	.if	\clock
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	16(%rcx), %rax
	addq	%rax, shadow_time(%rip)
	.endif
	movq	(%rcx), %rax
	movq	%rcx, shadow_top(%rip)
	addq	$RETURN_WEIGHT, %r15
	RETURN
.endm

/* How return_to_handler and the code of stubs begin when the stack is as after the return */
.macro RETURN_SAVE pop
	subq	$FRAME_SIZE, %rsp
	movq	%rax, RAX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rbp, RBP(%rsp)
	movq	%rdi, RSP(%rsp)
	movq	%rsp, %rdi
	call	\pop
	movq	%rax, FRAME_SIZE(%rsp)
.endm

.macro RETURN_RESTORE added=0
	movq	RDX(%rsp), %rdx
	movq	RAX(%rsp), %rax
	addq	$FRAME_SIZE + \added, %rsp
.endm

/* return_to_handler, which leaves by call and ret, or by a jump */
.macro RETURN_TO_HANDLER name, pop, jump
	.p2align 5
\name:
	movq	%rsp, %rdi
	subq	$8, %rsp
	RETURN_SAVE \pop
	.if	\jump
	movq	%rax, %rdi
	RETURN_RESTORE 8
	jmp	*%rdi
	.else
	RETURN_RESTORE
	call	1f
	int3
1:	addq	$8, %rsp
	RETURN
	.endif
.endm

/* The trampoline and callback that replace the return address */
.macro REPLACE how, clock, jump
	POP_FRAME \how\()_pop, \clock
	RETURN_TO_HANDLER \how\()_handler, \how\()_pop, \jump
	.p2align 5
\how\()_entry:
	addq	OPS_WEIGHT(%rdx), %r15
	PUSH_FRAME \clock
	movq	$\how\()_handler, FRAME_SIZE+8(%rcx)
	RETURN
	CALLER	\how\()_caller, \how\()_entry, single_op
.endm

/* What a stub calls first: ZF is clear if the return is hooked */
.macro STUB_CALLER how, clock
	POP_FRAME \how\()_pop, \clock
	.p2align 5
\how\()_entry:
	addq	$ENTRY_WEIGHT, %r15
	PUSH_FRAME \clock
	movl	$1, %eax
	RETURN
	.p2align 5
\how\()_caller:
	SAVE	1
	movq	%rsp, %rdx
	movq	$0, CS(%rsp)
	call	\how\()_entry
	testl	%eax, %eax
	RESTORE
	RETURN
	/* Where stubs jump to when the function has returned to them */
	.p2align 5
\how\()_leave:
	pushq	$\how\()_leave
	leaq	8(%rsp), %rdi
	RETURN_SAVE \how\()_pop
	RETURN_RESTORE
	RETURN
.endm

/* 24 functions, each of which calls the one before it; \how\()_1 calls none */
.macro CALL_INNER how, k
	.if	\k > 1
	.altmacro
	CALL_INNER_NR \how, %(\k - 1)
	.noaltmacro
	.endif
.endm

.macro CALL_INNER_NR how, k
	call	\how\()_\k
.endm

.macro HOOKED how, k
FUNC \how\()_\k
	call	\how\()_caller
	CALL_INNER \how, \k
	RETURN
.endm

.macro UNHOOKED how, k
FUNC \how\()_\k
	NOP5
	CALL_INNER \how, \k
	RETURN
.endm

.macro STUBBED how, k
	.p2align 5
\how\()_stub_\k:
	call	\how\()_caller
	.byte	0x0f, 0x84			# jz, as long as the kernel's
	.long	\how\()_body_\k - 2f
2:
	.byte	0x48, 0x8d, 0x64, 0x24, 0x08	# leaq 8(%rsp), %rsp
	call	\how\()_body_\k
	{disp32} jmp \how\()_leave
FUNC \how\()_\k
	.byte	0xe9			# as long as the call
	.long	\how\()_stub_\k - 1f
1:
\how\()_body_\k:
	CALL_INNER \how, \k
	RETURN
.endm

.macro NEST kind, how
	.irp	k, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24
	\kind	\how, \k
	.endr
.endm

	NEST	UNHOOKED, nested

	CALLER	entry_caller, callback, single_op
	NEST	HOOKED, entry

	REPLACE	replaced, 0, 0
	NEST	HOOKED, replaced
	REPLACE	replaced_clock, 1, 0
	NEST	HOOKED, replaced_clock

	/* With retpolines, a jump is one, and no better */
	REPLACE	jump, 0, 1
	NEST	HOOKED, jump
	REPLACE	jump_clock, 1, 1
	NEST	HOOKED, jump_clock

	STUB_CALLER stub, 0
	NEST	STUBBED, stub
	STUB_CALLER stub_clock, 1
	NEST	STUBBED, stub_clock

/* What is alone: ten times each, and 1 is added to %r15 for each that was right */
FUNC nothing
	.rept	10
	incq	%r15
	.endr
	RETURN

/* Reads and tests, as "is the buffer disabled?" */
FUNC plain_read
	.rept	10
	movl	counter(%rip), %eax
	testl	%eax, %eax
	jnz	1f
	incq	%r15
	.endr
1:	RETURN

/* atomic_inc_return(), tests, atomic_dec() */
FUNC locked
	.rept	10
	movl	$1, %eax
	lock xaddl %eax, counter(%rip)
	testl	%eax, %eax
	jnz	1f
	incq	%r15
	lock decl counter(%rip)
	.endr
1:	RETURN

/* The carry flag comes back. cli and sti are not for user space */
FUNC flags
	.rept	10
	stc
	pushfq
	popq	%rax
	clc
	pushq	%rax
	popfq
	adcq	$0, %r15
	.endr
	RETURN

FUNC tsc
	xorl	%ecx, %ecx
	.rept	10
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	cmpq	%rcx, %rax
	cmc
	adcq	$0, %r15
	movq	%rax, %rcx
	.endr
	RETURN

	.p2align 5
leaf:
	incq	%r15
	RETURN

FUNC direct
	.rept	10
	call	leaf
	.endr
	RETURN

FUNC indirect
	.rept	10
	movq	leaf_pointer(%rip), %rax
	CALL_RAX
	.endr
	RETURN

/* 100 instructions that wait for each other: the clock of the core */
FUNC chain
	movl	$1, %eax
	.rept	100
	addq	%rax, %r15
	.endr
	RETURN

	.data
	.p2align 6
leaf_pointer:
	.quad	leaf
single_op:
	.quad	set_ops
/* It runs on into the next one */
loop_8_members:
	.set	i, 0
	.rept	6
	.quad	set_ops + (7 - i) * OPS_SIZE
	.set	i, i + 1
	.endr
loop_2_members:
	.quad	set_ops + OPS_SIZE, set_ops, 0
	.globl	counter, shadow_top, shadow, shadow_time
	.p2align 6
counter:
	.long	0
	.p2align 6
shadow_time:
	.quad	0
shadow_top:
	.quad	shadow

	.bss
	.p2align 6
shadow:
	.skip	SHADOW_SIZE * 32

	.section .note.GNU-stack, "", @progbits
