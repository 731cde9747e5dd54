/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting of calls and of the time that they take, for each function
 *
 * A struct func_times belongs to one function and one CPU. Only that CPU writes
 * to it, with preemption disabled. Interrupts and NMIs may come at any point
 * and count calls of the same function, hence local64_t. A reader may see part
 * of a call that is just being counted.
 */
#ifndef _KERNEL_TRACE_FUNC_TIMES_H
#define _KERNEL_TRACE_FUNC_TIMES_H

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <asm/local64.h>

/**
 * struct func_times - the calls of a function on one CPU; all zero initially
 * @calls:	number of calls that were entered
 * @returned:	number of calls that have returned
 * @time:	sum of their times, in ns
 * @squares:	lower 64 bits of the sum of the squares of their times, which
 *		one call of 4.3 s would overflow
 * @upper:	upper 64 bits of that sum
 */
struct func_times {
	local64_t		calls;
	local64_t		returned;
	local64_t		time;
	local64_t		squares;
	local64_t		upper;
};

/**
 * struct func_times_sum - the calls that have returned on several CPUs
 * @returned:	number of calls that have returned
 * @time:	sum of their times, in ns
 * @squares:	lower 64 bits of the sum of the squares of their times
 * @upper:	upper 64 bits of that sum
 */
struct func_times_sum {
	u64			returned;
	u64			time;
	u64			squares;
	u64			upper;
};

void func_times_sum(struct func_times_sum *sum, const struct func_times *times);
u64 func_times_variance(const struct func_times_sum *sum, unsigned int *shift);

/*
 * Where 64-bit atomics take a lock, what an NMI interrupts may hold it: calls
 * in NMIs must not be counted.
 */
static __always_inline bool func_times_ignore(void)
{
	return IS_ENABLED(CONFIG_GENERIC_ATOMIC64) && in_nmi();
}

/* Count the entry of a call */
static __always_inline void func_times_enter(struct func_times *times)
{
	local64_inc(&times->calls);
}

static __always_inline void
func_times_add_square(struct func_times *times, u64 time)
{
#ifdef CONFIG_X86_64
	/* An interrupt before the last instruction restores the carry flag */
	asm("mulq %%rax\n\t"
	    "addq %%rax, %0\n\t"
	    "adcq %%rdx, %1"
	    : "+m" (times->squares), "+m" (times->upper), "+a" (time)
	    : : "rdx", "cc");
#else
	u64 square = time * time, upper = mul_u64_u64_shr(time, time, 64);

	upper += (u64)local64_add_return(square, &times->squares) < square;
	local64_add(upper, &times->upper);
#endif
}

/* Count the return of a call that took @time ns */
static __always_inline void func_times_return(struct func_times *times, u64 time)
{
	local64_inc(&times->returned);
	local64_add(time, &times->time);
	func_times_add_square(times, time);
}

#endif /* _KERNEL_TRACE_FUNC_TIMES_H */
