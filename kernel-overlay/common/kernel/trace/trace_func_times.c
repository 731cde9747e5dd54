// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting of calls and of the time that they take: what readers call
 */
#include "trace_func_times.h"

/**
 * func_times_sum - add the returns that were counted on one CPU
 * @sum:	what to add to
 * @times:	the counters of the CPU
 *
 * Context: any; may run while the CPU counts.
 */
void func_times_sum(struct func_times_sum *sum, const struct func_times *times)
{
	u64 squares = local64_read(&times->squares);

	sum->returned += local64_read(&times->returned);
	sum->time += local64_read(&times->time);
	sum->squares += squares;
	sum->upper += local64_read(&times->upper) + (sum->squares < squares);
}

/**
 * func_times_variance - calculate the variance of the times of calls
 * @sum:	the calls
 * @shift:	on return, the exponent of the result
 *
 * The sum of the squares of the distances from the mean m is, for n times
 * with the sum t and the sum of the squares s, s - m * (2 * t - n * m). This
 * needs 128 bits. With m rounded down to an integer, the error of the variance
 * is less than one.
 *
 * Return: the sample variance in ns^2, divided by 4^@shift; zero if there are
 * less than two calls.
 */
u64 func_times_variance(const struct func_times_sum *sum, unsigned int *shift)
{
	u64 mean, factor, lower, upper, product;

	*shift = 0;
	if (sum->returned < 2)
		return 0;

	/* 2 * t - n * m is t + t % n */
	mean = div64_u64_rem(sum->time, sum->returned, &factor);
	factor += sum->time;

	product = mean * factor;
	lower = sum->squares - product;
	upper = sum->upper - mul_u64_u64_shr(mean, factor, 64) -
		(sum->squares < product);
	/* Only if part of a call was seen */
	if ((s64)upper < 0)
		return 0;

	for (; upper; *shift += 1) {
		lower = lower >> 2 | upper << 62;
		upper >>= 2;
	}

	return div64_u64(lower, sum->returned - 1);
}
