// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of stack traces that are taken while the return of a function is hooked
 *
 * A call of a traced function is single-stepped. At each instruction of what it
 * returns to, the stack is unwound as by an interrupt, which would also overwrite
 * what is below the stack pointer.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/cpufeature.h>
#include <linux/fgraph_stub.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>
#include <linux/stacktrace.h>
#include <linux/text-patching.h>

#include <asm/debugreg.h>
#include <asm/insn.h>
#include <asm/processor-flags.h>
#include <asm/unwind.h>

#define MAX_STEPS	64

/* More than an interrupt saves on the stack */
#define BELOW_STACK	256

struct step {
	unsigned long	ip;
	unsigned long	entries[3];
	unsigned int	nr;
	/* Is %rbp, which nothing here changes, found for the caller? */
	bool		bp;
	/* Are the return addresses where an oops looks for them? */
	bool		ret_addrs;
};

static struct step steps[MAX_STEPS];
static unsigned int nr_steps;
static struct task_struct *stepping;
/* The instructions to unwind from: what the function is called by and returns to */
static struct code_range {
	unsigned long	start;
	unsigned long	end;
} enter_code, leave_code;
/* Where the traced function was called from */
static unsigned long caller;

static bool finds_bp(struct pt_regs *regs)
{
	struct unwind_state state;

	/* Begins with the frame after that of @regs */
	unwind_start(&state, current, regs, NULL);

	return !unwind_done(&state) && state.bp == regs->bp;
}

/* An oops goes up the stack from where @regs has it, and begins with the next frame */
static bool finds_ret_addrs(struct pt_regs *regs)
{
	unsigned long *addr, *prev = (unsigned long *)regs->sp - 1;
	struct unwind_state state;
	unsigned int i;

	unwind_start(&state, current, regs, NULL);
	for (i = 0; i < 3 && !unwind_done(&state); i++, unwind_next_frame(&state)) {
		if (unwind_off_stack(&state))
			continue;
		addr = unwind_get_return_address_ptr(&state);
		if (addr <= prev || !__kernel_text_address(*addr))
			return false;
		prev = addr;
	}

	return i > 1;
}

static bool within(struct code_range *range, unsigned long ip)
{
	return ip >= range->start && ip < range->end;
}

static int step_notify(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;
	unsigned long ip = args->regs->ip;
	struct step *step;

	if (val != DIE_DEBUG || current != stepping || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;

	if ((within(&enter_code, ip) || within(&leave_code, ip)) &&
	    nr_steps < MAX_STEPS) {
		step = &steps[nr_steps++];
		step->ip = ip;
		/* The exception has a stack of its own */
		__memset((void *)args->regs->sp - BELOW_STACK, 0xa5, BELOW_STACK);
		step->bp = finds_bp(args->regs);
		step->ret_addrs = finds_ret_addrs(args->regs);
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

static unsigned int unwind_entries, unwind_returns;

static int unwind_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
			struct ftrace_regs *fregs)
{
	unwind_entries++;
	return 1;
}

static void unwind_return(struct ftrace_graph_ret *trace,
			  struct fgraph_ops *gops, struct ftrace_regs *fregs)
{
	unwind_returns++;
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

/* By a jump, as nothing is left to do */
static noinline void ftrace_unwind_tail_call(void)
{
	ftrace_unwind_traced();
}

/* Its call site */
static unsigned long traced_ip;

#ifdef CONFIG_KRETPROBES
static unsigned long probed_entries[16];
static unsigned int nr_probed;

static noinline void ftrace_unwind_probed(void)
{
	nr_probed = stack_trace_save(probed_entries, ARRAY_SIZE(probed_entries), 0);
}

/* By a jump, too */
static noinline void ftrace_unwind_to_probed(void)
{
	ftrace_unwind_probed();
}

static struct kretprobe probed_rp = {
	.kp.symbol_name	= "ftrace_unwind_probed",
};

/* A kretprobe has saved the hook of the function before as the return address */
static void kretprobe_test(struct kunit *test)
{
	bool found = false;
	unsigned int i;

	caller = 0;
	nr_probed = 0;
	KUNIT_ASSERT_EQ(test, 0, register_kretprobe(&probed_rp));
	KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	ftrace_unwind_to_probed();
	unregister_ftrace_graph(&unwind_gops);
	unregister_kretprobe(&probed_rp);

	KUNIT_EXPECT_NE(test, 0, caller);
	for (i = 0; i < nr_probed; i++)
		found = found || probed_entries[i] == caller;
	KUNIT_EXPECT_TRUE(test, found);
}

#define KRETPROBE_TEST	KUNIT_CASE(kretprobe_test),
#else
#define KRETPROBE_TEST
#endif

static __always_inline void set_flags(unsigned long set, unsigned long clear)
{
	asm volatile("pushfq\n\t"
		     "orq %0, (%%rsp)\n\t"
		     "andq %1, (%%rsp)\n\t"
		     "popfq"
		     : : "r" (set), "r" (~clear) : "memory", "cc");
}

static noinline void ftrace_unwind_call(bool tail)
{
	set_flags(X86_EFLAGS_TF, 0);
	if (tail)
		ftrace_unwind_tail_call();
	else
		ftrace_unwind_traced();
	set_flags(0, X86_EFLAGS_TF);
}

/* With @tail, what the function returns to is the hook of another one */
static void step_call(struct kunit *test, bool tail)
{
	unsigned long flags;

	nr_steps = 0;
	caller = 0;
	KUNIT_ASSERT_EQ(test, 0, register_die_notifier(&step_nb));

	local_irq_save(flags);
	/* The compiler does not know that the call runs step_notify() */
	WRITE_ONCE(stepping, current);
	ftrace_unwind_call(tail);
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

/* The code from @start to the end of the function, or to the next label */
static struct code_range code_from(struct kunit *test, unsigned long start)
{
	unsigned long size, offset;

	KUNIT_ASSERT_TRUE(test, kallsyms_lookup_size_offset(start, &size, &offset));

	return (struct code_range) { start, start - offset + size };
}

static void expect_entry(struct kunit *test, struct step *step, unsigned int i,
			 unsigned long addr)
{
	KUNIT_EXPECT_LT_MSG(test, i, step->nr, "at %pS: no %pS", (void *)step->ip,
			    (void *)addr);
	if (i < step->nr)
		KUNIT_EXPECT_EQ_MSG(test, addr, step->entries[i],
				    "at %pS: %pS instead of %pS", (void *)step->ip,
				    (void *)step->entries[i], (void *)addr);
}

/* @body is where the function goes on behind its call site */
static void expect_traces(struct kunit *test, unsigned long body)
{
	unsigned int i;

	KUNIT_EXPECT_NE(test, 0, caller);
	KUNIT_EXPECT_GT(test, nr_steps, 10);
	KUNIT_EXPECT_LT(test, nr_steps, MAX_STEPS);

	for (i = 0; i < nr_steps; i++) {
		struct step *step = &steps[i];

		expect_entry(test, step, 0, step->ip);
		if (within(&leave_code, step->ip)) {
			if (!has_popped(i))
				expect_entry(test, step, 1, caller);
		} else {
			expect_entry(test, step, 1, body);
			expect_entry(test, step, 2, caller);
		}
		KUNIT_EXPECT_TRUE_MSG(test, step->bp, "at %pS: another %%rbp",
				      (void *)step->ip);
		KUNIT_EXPECT_TRUE_MSG(test, has_popped(i) || step->ret_addrs,
				      "at %pS: an oops does not find the frames",
				      (void *)step->ip);
	}
}

static void expect_ignored(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

/* With a second ops, the function has no stub */
static struct ftrace_ops second_ops = {
	.func	= expect_ignored,
};

/* Does each instruction of return_to_handler() lead to the caller? */
static void return_to_handler_test(struct kunit *test)
{
	unsigned long jump = (unsigned long)return_to_handler_jump;
	bool jumps;

	enter_code = (struct code_range) {};
	leave_code = code_from(test, jump);
	leave_code.start = (unsigned long)return_to_handler;

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&second_ops, traced_ip, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&second_ops));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	step_call(test, false);
	jumps = !cpu_feature_enabled(X86_FEATURE_RETPOLINE) &&
		!cpu_feature_enabled(X86_FEATURE_INDIRECT_THUNK_ITS) &&
		!cpu_feature_enabled(X86_FEATURE_IBT);
	KUNIT_EXPECT_EQ(test, jumps, stepped(jump));
	expect_traces(test, 0);

	/* It returns to the stub of another function, or to itself */
	step_call(test, true);
	expect_traces(test, 0);
	unregister_ftrace_graph(&unwind_gops);
	unregister_ftrace_function(&second_ops);
	ftrace_free_filter(&second_ops);
}

#ifdef CONFIG_FUNCTION_GRAPH_STUBS
/* The stub that the function jumps to; zero for none */
static unsigned long stub_of(unsigned long ip)
{
	u8 *site = (u8 *)ip;

	if (site[0] != JMP32_INSN_OPCODE)
		return 0;

	return fgraph_stub_at(ip + JMP32_INSN_SIZE + *(s32 *)(site + 1));
}

/* Does a stub have the instructions that fgraph_stub.c tells? */
static void stub_code_test(struct kunit *test)
{
	unsigned long stub, ip, body = traced_ip + MCOUNT_INSN_SIZE;
	unsigned long handler = (unsigned long)return_to_handler;
	const struct {
		u8		opcode[2];
		unsigned long	target;
	} insns[] = {
		{ { 0xe8 },	  (unsigned long)ftrace_graph_stub_enter },
		{ { 0x0f, 0x85 }, body },
		{ { 0x8d } },
		{ { 0xe8 },	  body },
		{ { 0xe9 },	  (unsigned long)ftrace_graph_stub_leave },
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	stub = stub_of(traced_ip);
	KUNIT_EXPECT_NE(test, 0, stub);

	for (ip = stub, i = 0; stub && i < ARRAY_SIZE(insns); i++) {
		unsigned long to = ip;
		struct insn insn;

		KUNIT_EXPECT_EQ(test, 0, insn_decode_kernel(&insn, (void *)ip));
		KUNIT_EXPECT_EQ(test, insns[i].opcode[0], insn.opcode.bytes[0]);
		KUNIT_EXPECT_EQ(test, insns[i].opcode[1], insn.opcode.bytes[1]);
		if (insns[i].target)
			KUNIT_EXPECT_EQ(test, insns[i].target,
					ip + insn.length + insn.immediate.value);

		/* Two of the instructions are return addresses */
		if (ip == stub + offsetof(struct fgraph_stub_code, jne))
			to = body;
		else if (ip == stub + offsetof(struct fgraph_stub_code, leave))
			to = handler;
		KUNIT_EXPECT_EQ(test, to, fgraph_stub_translate(ip));

		ip += insn.length;
	}
	/* It drops nothing but the return address */
	if (stub)
		KUNIT_EXPECT_MEMEQ(test, "\x48\x8d\x64\x24\x08",
				   (void *)(stub + offsetof(struct fgraph_stub_code, drop)),
				   5);
	for (; stub && ip < stub + FGRAPH_STUB_SIZE; ip++)
		KUNIT_EXPECT_EQ(test, INT3_INSN_OPCODE, *(u8 *)ip);

	unregister_ftrace_graph(&unwind_gops);
}

/* Does each instruction of a stub lead to the function and to the caller? */
static void stub_test(struct kunit *test)
{
	unsigned long stub, body = traced_ip + MCOUNT_INSN_SIZE;
	unsigned int i, nr = 0;

	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	stub = stub_of(traced_ip);
	KUNIT_EXPECT_NE(test, 0, stub);

	/* From the call to the jne, which is a call of its own in the stub */
	enter_code = (struct code_range) { stub, stub + FGRAPH_STUB_SIZE };
	leave_code = (struct code_range) {};
	step_call(test, false);
	for (i = 0; i < nr_steps; i++) {
		KUNIT_EXPECT_TRUE_MSG(test, steps[i].ret_addrs,
				      "at %pS: an oops does not find the frames",
				      (void *)steps[i].ip);
		if (steps[i].ip == stub + offsetof(struct fgraph_stub_code, leave)) {
			expect_entry(test, &steps[i], 1, caller);
		} else {
			expect_entry(test, &steps[i], 1, body);
			expect_entry(test, &steps[i], 2, caller);
		}
	}
	/* call, jne, lea, call, jmp */
	KUNIT_EXPECT_EQ(test, 5, nr_steps);

	enter_code = code_from(test, (unsigned long)ftrace_graph_stub_enter);
	leave_code = code_from(test, (unsigned long)ftrace_graph_stub_leave);
	step_call(test, false);
	expect_traces(test, body);
	for (i = 0; i < nr_steps; i++)
		nr += within(&leave_code, steps[i].ip);
	KUNIT_EXPECT_GT(test, nr, 5);

	/* The stub of the function that calls it by a jump is where it returns to */
	enter_code = (struct code_range) {};
	step_call(test, true);
	expect_traces(test, 0);
	KUNIT_EXPECT_EQ(test, 2 * nr, nr_steps);

	/* A second ops takes the function from its stub, and gives it back */
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&second_ops, traced_ip, 0, 1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&second_ops));
	KUNIT_EXPECT_EQ(test, 0, stub_of(traced_ip));
	unregister_ftrace_function(&second_ops);
	ftrace_free_filter(&second_ops);
	KUNIT_EXPECT_EQ(test, stub, stub_of(traced_ip));

	unregister_ftrace_graph(&unwind_gops);
	KUNIT_EXPECT_EQ(test, 0, stub_of(traced_ip));

	/* The next user gets the same one */
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	KUNIT_EXPECT_EQ(test, stub, stub_of(traced_ip));
	unregister_ftrace_graph(&unwind_gops);
}

struct large {
	unsigned long	words[9];
};

static noinline __noclone struct large
ftrace_unwind_args(int a, int b, int c, int d, int e, int f, int g, struct large l,
		   int h)
{
	l.words[8] += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
	return l;
}

static noinline __noclone int ftrace_unwind_vararg(int nr, ...)
{
	va_list args;
	int sum = 0;

	va_start(args, nr);
	while (nr--)
		sum += va_arg(args, int);
	va_end(args);

	return sum;
}

static noinline __noclone unsigned long ftrace_unwind_nest(unsigned int depth)
{
	unsigned long sum = depth ? ftrace_unwind_nest(depth - 1) : 0;

	/* The compiler must not make a loop of it */
	barrier();

	return sum + depth;
}

static noinline __noclone int ftrace_unwind_tail(int nr)
{
	/* By a jump, as nothing is left to do */
	return ftrace_unwind_vararg(nr, 1, 2, 3);
}

static bool skip_hooks;

static noinline __noclone int ftrace_unwind_skipped(int nr)
{
	barrier();
	return nr;
}

static noinline notrace __noclone int skip_to(int nr)
{
	barrier();
	return nr + 100;
}

static int skip_entry(struct ftrace_graph_ent *trace, struct fgraph_ops *gops,
		      struct ftrace_regs *fregs)
{
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)skip_to);
	return skip_hooks;
}

static struct fgraph_ops skip_gops = {
	.entryfunc	= skip_entry,
	.retfunc	= unwind_return,
};

/* A callback can have another function called instead, as bpf_override_return() does */
static void stub_skip_test(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)ftrace_unwind_skipped);
	unsigned int hooks;

	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&skip_gops.ops, ip, 0, 1));
	KUNIT_EXPECT_EQ(test, 1, ftrace_unwind_skipped(1));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&skip_gops));
	KUNIT_EXPECT_NE(test, 0, stub_of(ip));
	for (hooks = 0; hooks < 2; hooks++) {
		/* The compiler does not know that the call runs callbacks */
		WRITE_ONCE(skip_hooks, hooks);
		WRITE_ONCE(unwind_returns, 0);
		KUNIT_EXPECT_EQ(test, 101, ftrace_unwind_skipped(1));
		KUNIT_EXPECT_EQ(test, hooks, READ_ONCE(unwind_returns));
	}
	unregister_ftrace_graph(&skip_gops);
	ftrace_free_filter(&skip_gops.ops);
}

/* Functions find their arguments, and callers find what they return */
static void stub_args_test(struct kunit *test)
{
	struct large in = { { 1, 2, 3, 4, 5, 6, 7, 8, 9 } }, out;

	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	KUNIT_EXPECT_NE(test, 0, stub_of(ftrace_location((unsigned long)ftrace_unwind_args)));
	out = ftrace_unwind_args(1, 2, 3, 4, 5, 6, 7, in, 8);
	KUNIT_EXPECT_EQ(test, 9 + 204, out.words[8]);
	KUNIT_EXPECT_EQ(test, 1, out.words[0]);
	KUNIT_EXPECT_EQ(test, 45, ftrace_unwind_vararg(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
	KUNIT_EXPECT_EQ(test, 6, ftrace_unwind_tail(3));
	KUNIT_EXPECT_EQ(test, 55, ftrace_unwind_nest(10));
	KUNIT_EXPECT_EQ(test, unwind_entries, unwind_returns);
	KUNIT_EXPECT_GT(test, unwind_returns, 12);
	/* More than fit on the shadow stack */
	unwind_entries = 0;
	unwind_returns = 0;
	KUNIT_EXPECT_EQ(test, 20100, ftrace_unwind_nest(200));
	KUNIT_EXPECT_EQ(test, unwind_entries, unwind_returns);
	KUNIT_EXPECT_LT(test, unwind_entries, 201);
	unregister_ftrace_graph(&unwind_gops);
}

static noinline int ftrace_unwind_sleep(struct completion *wake)
{
	wait_for_completion(wake);

	return 42;
}

static int sleep_thread(void *data)
{
	int ret = ftrace_unwind_sleep(data);

	/* The call must not become a jump */
	barrier();

	return ret;
}

static bool trace_has(unsigned long *entries, unsigned int nr, void *func)
{
	unsigned long size, offset;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (kallsyms_lookup_size_offset(entries[i], &size, &offset) &&
		    entries[i] - offset == (unsigned long)func)
			return true;
	}

	return false;
}

/* @task is asleep in the function. Livepatch wants to know, too */
static void expect_asleep(struct kunit *test, struct task_struct *task)
{
	unsigned long entries[32];
	int nr;

	nr = stack_trace_save_tsk(task, entries, ARRAY_SIZE(entries), 0);
	KUNIT_EXPECT_TRUE(test, trace_has(entries, nr, ftrace_unwind_sleep));
	KUNIT_EXPECT_TRUE(test, trace_has(entries, nr, sleep_thread));

	if (!IS_ENABLED(CONFIG_HAVE_RELIABLE_STACKTRACE))
		return;

	nr = stack_trace_save_tsk_reliable(task, entries, ARRAY_SIZE(entries));
	KUNIT_EXPECT_GT(test, nr, 0);
	if (nr > 0) {
		KUNIT_EXPECT_TRUE(test, trace_has(entries, nr, ftrace_unwind_sleep));
		KUNIT_EXPECT_TRUE(test, trace_has(entries, nr, sleep_thread));
	}
}

/* Users come and go while a task is asleep in a function that has a stub */
static void stub_sleep_test(struct kunit *test)
{
	unsigned long ip = ftrace_location((unsigned long)ftrace_unwind_sleep);
	DECLARE_COMPLETION_ONSTACK(wake);
	struct task_struct *task;
	unsigned long stub;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
	stub = stub_of(ip);
	KUNIT_EXPECT_NE(test, 0, stub);

	task = kthread_create(sleep_thread, &wake, "ftrace_unwind");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	/* It is runnable until the function has been entered */
	for (i = 0; i < 1000 && (!READ_ONCE(unwind_entries) ||
				 task_is_running(task)); i++)
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_GT(test, unwind_entries, 0);
	expect_asleep(test, task);

	unregister_ftrace_graph(&unwind_gops);
	KUNIT_EXPECT_EQ(test, 0, stub_of(ip));
	expect_asleep(test, task);

	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_graph(&unwind_gops));
		KUNIT_EXPECT_EQ(test, stub, stub_of(ip));
		expect_asleep(test, task);

		KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&second_ops, ip, 0, 1));
		KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(&second_ops));
		KUNIT_EXPECT_EQ(test, 0, stub_of(ip));
		expect_asleep(test, task);
		unregister_ftrace_function(&second_ops);
		ftrace_free_filter(&second_ops);

		unregister_ftrace_graph(&unwind_gops);
		expect_asleep(test, task);
	}

	complete(&wake);
	KUNIT_EXPECT_EQ(test, 42, kthread_stop(task));
	put_task_struct(task);
}
#endif

static int ftrace_unwind_init(struct kunit *test)
{
	char *func = "ftrace_unwind_[tavns]*";

#ifdef CONFIG_FUNCTION_GRAPH_STUBS
	if (strstarts(test->name, "stub_") && !arch_fgraph_stubs_help())
		kunit_skip(test, "returns are thunks that no call predicts");
#endif
	unwind_entries = 0;
	unwind_returns = 0;
	traced_ip = ftrace_location((unsigned long)ftrace_unwind_traced);
	KUNIT_ASSERT_NE(test, 0, traced_ip);

	/* There, exceptions have the stack of what they interrupt */
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		kunit_skip(test, "would overwrite what Xen has on the stack");

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
	KRETPROBE_TEST
#ifdef CONFIG_FUNCTION_GRAPH_STUBS
	KUNIT_CASE(stub_code_test),
	KUNIT_CASE(stub_test),
	KUNIT_CASE(stub_args_test),
	KUNIT_CASE(stub_skip_test),
	KUNIT_CASE(stub_sleep_test),
#endif
	{}
};

static struct kunit_suite ftrace_unwind_suite = {
	.name		= "ftrace_unwind",
	.init		= ftrace_unwind_init,
	.exit		= ftrace_unwind_exit,
	.test_cases	= ftrace_unwind_cases,
};

kunit_test_suite(ftrace_unwind_suite);
