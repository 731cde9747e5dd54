// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the sequences of cycles.S and cycles-list.c take on this CPU, beyond what
 * the same takes without them. scripts/cycles builds and runs it.
 *
 * Every round measures each sequence, for some microseconds; what counts is the
 * least of all rounds. So other load makes no difference, nor does a clock
 * that varies. Each sequence adds up in %r15 what it did: a wrong sum ends the
 * program without a figure.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECONDS		30
#define MIN_ROUNDS	200
/* Windows of a round, and calls in each, those inside of others included */
#define WINDOWS		4
#define CALLS		192
#define MIN_CALLS	8

/* Ways to return and to call indirectly */
enum { PLAIN, THUNKS, SAFE_RET, NR_PATHS };

/*
 * SEQ(FUNCTION, CALLS, SUM, WITHOUT, TO): a call of FUNCTION is CALLS of what is
 * measured, and adds SUM to %r15. The time is beyond that of WITHOUT, its ratio
 * is to TO. PLAIN_SEQ() is not measured with thunks.
 */
#define SEQUENCES								\
	SEQ(untraced,	1, 0, none, none)					\
	SEQ(single,	1, 1, untraced, none)					\
	SEQ(set_2,	1, 3, untraced, none)					\
	SEQ(loop_2,	1, 3, untraced, set_2)					\
	SEQ(list_2,	1, 3, untraced, set_2)					\
	SEQ(list_16,	1, 3, untraced, set_2)					\
	SEQ(set_8,	1, 255, untraced, none)					\
	SEQ(loop_8,	1, 255, untraced, set_8)				\
	SEQ(list_8,	1, 255, untraced, set_8)				\
	NESTED(1) NESTED(3) NESTED(8) NESTED(24)						\
	PLAIN_SEQ(nothing, 10, 10, none, none)					\
	PLAIN_SEQ(plain_read, 10, 10, nothing, none)				\
	PLAIN_SEQ(locked, 10, 10, nothing, plain_read)				\
	PLAIN_SEQ(flags, 10, 10, nothing, none)					\
	PLAIN_SEQ(tsc, 10, 10, nothing, none)					\
	SEQ(direct, 10, 10, nothing, none)					\
	SEQ(indirect, 10, 10, nothing, direct)					\
	PLAIN_SEQ(chain, 100, 100, untraced, none)

/* An entry adds 1, a return 0x10000 */
#define NESTED(k)								\
	SEQ(nested_##k, k, 0, none, none)					\
	SEQ(entry_##k, k, k, nested_##k, replaced_##k)				\
	SEQ(replaced_##k, k, k * 0x10001, nested_##k, none)			\
	PLAIN_SEQ(jump_##k, k, k * 0x10001, nested_##k, replaced_##k)		\
	SEQ(stub_##k, k, k * 0x10001, nested_##k, replaced_##k)			\
	SEQ(replaced_clock_##k, k, k * 0x10001, nested_##k, none)		\
	PLAIN_SEQ(jump_clock_##k, k, k * 0x10001, nested_##k, replaced_clock_##k) \
	SEQ(stub_clock_##k, k, k * 0x10001, nested_##k, replaced_clock_##k)

#define SEQ(func, ...)								\
	void plain_##func(void), thunks_##func(void), safe_##func(void);
#define PLAIN_SEQ(func, ...)							\
	void plain_##func(void);
SEQUENCES
#undef SEQ
#undef PLAIN_SEQ

#define SEQ(func, ...)	func,
#define PLAIN_SEQ	SEQ
enum { SEQUENCES NR_SEQUENCES, none = -1 };
#undef SEQ
#undef PLAIN_SEQ

static const struct sequence {
	const char	*name;
	void		(*func[NR_PATHS])(void);
	unsigned int	calls;
	unsigned long	sum;
	int		without, to;
} sequences[] = {
#define SEQ(func, ...)								\
	{ #func, { plain_##func, thunks_##func, safe_##func }, __VA_ARGS__ },
#define PLAIN_SEQ(func, ...)							\
	{ #func, { plain_##func }, __VA_ARGS__ },
SEQUENCES
};

/* What they leave behind, in each way */
#define STATE(path)								\
	extern unsigned int path##_counter;					\
	extern char path##_shadow[], *path##_shadow_top;			\
	extern unsigned long path##_shadow_time;				\
	void path##_setup(void);						\
	static int path##_clean(void)						\
	{									\
		return !path##_counter && path##_shadow_top == path##_shadow;	\
	}
STATE(plain)
STATE(thunks)
STATE(safe)

static uint64_t least[NR_SEQUENCES][NR_PATHS];

/* Time of that many calls of @func, which add up *@sum */
static uint64_t call(void (*func)(void), unsigned long nr, unsigned long *sum)
{
	register unsigned long left asm("r12") = nr;
	register uint64_t start asm("r13");
	register unsigned long result asm("r14");
	uint64_t end;

	asm volatile("xorl	%%r15d, %%r15d\n\t"
		     "lfence\n\t"
		     "rdtsc\n\t"
		     "lfence\n\t"
		     "shlq	$32, %%rdx\n\t"
		     "orq	%%rdx, %%rax\n\t"
		     "movq	%%rax, %%r13\n\t"
		     ".p2align	5\n"
		     "1:	call	*%%rbx\n\t"
		     "decq	%%r12\n\t"
		     "jnz	1b\n\t"
		     "lfence\n\t"
		     "rdtsc\n\t"
		     "lfence\n\t"
		     "shlq	$32, %%rdx\n\t"
		     "orq	%%rdx, %%rax\n\t"
		     "movq	%%r15, %%r14"
		     : "=&a" (end), "+r" (left), "=r" (start), "=r" (result)
		     : "b" (func)
		     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r15",
			 "memory", "cc");
	*sum = result;

	return end - start;
}

static unsigned long nr_calls(int i)
{
	unsigned long nr = CALLS / sequences[i].calls;

	return nr < MIN_CALLS ? MIN_CALLS : nr;
}

static void measure(int i, int path)
{
	const struct sequence *seq = &sequences[i];
	unsigned long sum, nr = nr_calls(i);
	int window;

	/* The first one teaches the CPU's predictors */
	for (window = 0; window <= WINDOWS; window++) {
		uint64_t time = call(seq->func[path], nr, &sum);

		if (sum != nr * seq->sum ||
		    !plain_clean() || !thunks_clean() || !safe_clean()) {
			fprintf(stderr, "%s (%d) is wrong: %lu calls gave %#lx, not %#lx\n",
				seq->name, path, nr, sum, nr * seq->sum);
			exit(1);
		}
		if (window && (!least[i][path] || time < least[i][path]))
			least[i][path] = time;
	}
}

/* Ticks of one call */
static double ticks(int i, int path)
{
	return (double)least[i][path] / nr_calls(i);
}

static double cost(int i, int path)
{
	const struct sequence *seq = &sequences[i];
	int without = seq->without;
	double base = 0;

	if (without != none)
		base = ticks(without, sequences[without].func[path] ? path : PLAIN);

	return (ticks(i, path) - base) / seq->calls;
}

static double ns_a_tick;

static void row(const char *label, int i)
{
	int path, to = sequences[i].to;

	printf("%-38s", label);
	for (path = 0; path < NR_PATHS && sequences[i].func[path]; path++) {
		double cost_here = cost(i, path);

		printf(" %6.1f %6.1f", cost_here * ns_a_tick, cost_here);
		/* Next to what is free, a ratio says nothing */
		if (to != none && cost(to, path) > 0.5)
			printf(" %5.2f", cost_here / cost(to, path));
		else if (path + 1 < NR_PATHS && sequences[i].func[path + 1])
			printf("%6s", "");
	}
	printf("\n");
}

#define ROWS_NESTED(k)								\
	row("  entry callback only", entry_##k);				\
	row("  replaced, left by call and ret", replaced_##k);			\
	row("  replaced, left by a jump", jump_##k);				\
	row("  stub that calls its body", stub_##k);				\
	row("  with 2 clock reads: call and ret", replaced_clock_##k);		\
	row("  with 2 clock reads: jump", jump_clock_##k);			\
	row("  with 2 clock reads: stub", stub_clock_##k)

static void print(unsigned int rounds)
{
	int path;

	printf("TSC: %.0f MHz, core: %.2f cycles a tick; least of %u rounds\n",
	       1000 / ns_a_tick, 1 / cost(chain, PLAIN), rounds);
	printf("%-38s  %-19s  %-19s  %s\n", "", "plain", "thunks", "safe-ret");
	printf("%-38s", "");
	for (path = 0; path < NR_PATHS; path++)
		printf(" %6s %6s %5s", "ns", "ticks", "ratio");
	printf("\n");
	puts("a call of a traced function, beyond an untraced one");
	row("  1 ops, its trampoline", single);
	row("  2 ops, trampoline of the set", set_2);
	row("  2 ops, trampoline with a loop", loop_2);
	row("  2 ops, list", list_2);
	row("  2 ops, list of 16", list_16);
	row("  8 ops, trampoline of the set", set_8);
	row("  8 ops, trampoline with a loop", loop_8);
	row("  8 ops, list", list_8);
	puts("a hooked return, beyond an untraced call");
	ROWS_NESTED(1);
	puts("3 nested, each");
	ROWS_NESTED(3);
	puts("8 nested, each");
	ROWS_NESTED(8);
	puts("24 nested, each");
	ROWS_NESTED(24);
	puts("alone");
	row("  a plain read of a counter", plain_read);
	row("  lock inc and lock dec of it", locked);
	row("  pushf, popf", flags);
	row("  rdtsc", tsc);
	row("  direct call and return", direct);
	row("  indirect call and return", indirect);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);

	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int main(void)
{
	unsigned int rounds = 0;
	uint64_t start, ticks_start;
	cpu_set_t cpus;
	int i, path;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);

	plain_setup();
	thunks_setup();
	safe_setup();

	start = now();
	ticks_start = __builtin_ia32_rdtsc();
	while (rounds < MIN_ROUNDS || now() - start < SECONDS * 1000000000ULL) {
		for (i = 0; i < NR_SEQUENCES; i++) {
			for (path = 0; path < NR_PATHS && sequences[i].func[path]; path++)
				measure(i, path);
		}
		rounds++;
	}
	ns_a_tick = (double)(now() - start) / (__builtin_ia32_rdtsc() - ticks_start);
	if (!plain_shadow_time || !thunks_shadow_time || !safe_shadow_time) {
		fprintf(stderr, "the clock of hooked returns stands still\n");
		return 1;
	}
	print(rounds);

	return 0;
}
