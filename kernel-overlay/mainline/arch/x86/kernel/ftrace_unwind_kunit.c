// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of stack traces that are taken while the return of a function is hooked
 *
 * A call of a traced function is single-stepped. At each instruction of what it
 * returns to, the stack is unwound as by an interrupt, which would also overwrite
 * what is below the stack pointer.
 */
#include <kunit/test.h>

#include <linux/cpufeature.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/stacktrace.h>
#include <linux/text-patching.h>

#include <asm/debugreg.h>
#include <asm/processor-flags.h>
#include <asm/unwind.h>

#define MAX_STEPS	64

/* More than an interrupt saves on the stack */
#define BELOW_STACK	256

struct step {
	unsigned long	ip;
	unsigned long	entries[2];
	unsigned int	nr;
	/* Is %rbp, which nothing here changes, found for the caller? */
	bool		bp;
};

static struct step steps[MAX_STEPS];
static unsigned int nr_steps;
static struct task_struct *stepping;
/* The instructions to unwind from */
static unsigned long code_start, code_end;
/* Where the traced function was called from */
static unsigned long caller;

static bool finds_bp(struct pt_regs *regs)
{
	struct unwind_state state;

	/* Begins with the frame after that of @regs */
	unwind_start(&state, current, regs, NULL);

	return !unwind_done(&state) && state.bp == regs->bp;
}

static int step_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;
	unsigned long ip = args->regs->ip;
	struct step *step;

	if (val != DIE_DEBUG || current != stepping || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;

	if (ip >= code_start && ip < code_end && nr_steps < MAX_STEPS) {
		step = &steps[nr_steps++];
		step->ip = ip;
		/* The exception has a stack of its own */
		__memset((void *)args->regs->sp - BELOW_STACK, 0xa5, BELOW_STACK);
		step->bp = finds_bp(args->regs);
		step->nr = stack_trace_save_regs(args->regs, step->entries,
						 ARRAY_SIZE(step->entries), 0);
	}

	*dr6 &= ~DR_STEP;
	return NOTIFY_STOP;
}

static struct notifier_block step_nb = {
	.notifier_call	= step_notify,
	/* Before kgdb, which takes each step of the kernel */
	.priority	= INT_MAX,
};

static int unwind_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			struct ftrace_regs *fregs)
{
	return 1;
}

static void unwind_return(struct ftrace_graph_ret *trace,
			  struct fgraph_ops *gops, struct ftrace_regs *fregs)
{
	caller = ftrace_regs_get_instruction_pointer(fregs);
}

static struct fgraph_ops unwind_gops = {
	.entryfunc	= unwind_entry,
	.retfunc	= unwind_return,
};

static noinline void ftrace_unwind_traced(void)
{
	barrier();
}

static __always_inline void set_flags(unsigned long set, unsigned long clear)
{
	asm volatile("pushfq\n\t"
		     "orq %0, (%%rsp)\n\t"
		     "andq %1, (%%rsp)\n\t"
		     "popfq"
		     : : "r" (set), "r" (~clear) : "memory", "cc");
}

static noinline void ftrace_unwind_call(void)
{
	set_flags(X86_EFLAGS_TF, 0);
	ftrace_unwind_traced();
	set_flags(0, X86_EFLAGS_TF);
}

static void step_call(struct kunit *test)
{
	unsigned long flags;

	nr_steps = 0;
	caller = 0;
	KUNIT_ASSERT_EQ(test, 0, register_die_notifier(&step_nb));

	local_irq_save(flags);
	/* The compiler does not know that the call runs step_notify() */
	WRITE_ONCE(stepping, current);
	ftrace_unwind_call();
	WRITE_ONCE(stepping, NULL);
	local_irq_restore(flags);

	unregister_die_notifier(&step_nb);
}

/*
 * Is step @i behind the call of ftrace_return_to_handler()? That has taken the frame
 * from the shadow stack, and only %rax has the return address.
 */
static bool has_popped(unsigned int i)
{
	unsigned long prev = i ? steps[i - 1].ip : 0;

	return prev && *(u8 *)prev == CALL_INSN_OPCODE &&
	       steps[i].ip == prev + CALL_INSN_SIZE;
}

static bool stepped(unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < nr_steps; i++) {
		if (steps[i].ip == ip)
			return true;
	}

	return false;
}

/* Does each instruction of return_to_handler() lead to the caller? */
static void return_to_handler_test(struct kunit *test)
{
	unsigned long jump = (unsigned long)return_to_handler_jump;
	unsigned long size, offset;
	unsigned int i;
	bool jumps;

	code_start = (unsigned long)return_to_handler;
	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(jump, &size, &offset));
	code_end = jump - offset + size;

	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	step_call(test);
	unregister_ftrace_graph(&unwind_gops);

	KUNIT_EXPECT_NE(test, 0, caller);
	KUNIT_EXPECT_GT(test, nr_steps, 10);
	KUNIT_EXPECT_LT(test, nr_steps, MAX_STEPS);
	jumps = !cpu_feature_enabled(X86_FEATURE_RETPOLINE) &&
		!cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS) &&
		!cpu_feature_enabled(X86_FEATURE_IBT);
	KUNIT_EXPECT_EQ(test, jumps, stepped(jump));

	for (i = 0; i < nr_steps; i++) {
		struct step *step = &steps[i];

		KUNIT_ASSERT_GE(test, step->nr, 1);
		KUNIT_EXPECT_EQ(test, step->ip, step->entries[0]);

		KUNIT_EXPECT_EQ_MSG(test, 2, step->nr, "at %pS",
				    (void *)step->ip);
		if (!has_popped(i))
			KUNIT_EXPECT_EQ_MSG(test, caller, step->entries[1],
					    "at %pS: %pS instead of %pS",
					    (void *)step->ip,
					    (void *)step->entries[1],
					    (void *)caller);
		KUNIT_EXPECT_TRUE_MSG(test, step->bp, "at %pS: another %%rbp",
				      (void *)step->ip);
	}
}

static int ftrace_unwind_init(struct kunit *test)
{
	char *func = "ftrace_unwind_traced";

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter(&unwind_gops.ops, func,
						   strlen(func), 1));
	return 0;
}

static void ftrace_unwind_exit(struct kunit *test)
{
	ftrace_free_filter(&unwind_gops.ops);
}

static struct kunit_case ftrace_unwind_cases[] = {
	KUNIT_CASE(return_to_handler_test),
	{}
};

static struct kunit_suite ftrace_unwind_suite = {
	.name		= "ftrace_unwind",
	.init		= ftrace_unwind_init,
	.exit		= ftrace_unwind_exit,
	.test_cases	= ftrace_unwind_cases,
};

kunit_test_suite(ftrace_unwind_suite);
