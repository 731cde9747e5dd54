// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of counting calls and their times
 */
#include <kunit/test.h>
#include <linux/hrtimer.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/preempt.h>

#include "trace_func_times.h"

/* Not inline: local_add() of x86 takes constants that do not fit in its operand */
static noinline void count(struct func_times *times, u64 time)
{
	preempt_disable();
	func_times_enter(times);
	func_times_return(times, time);
	preempt_enable();
}

static struct func_times_sum sum_of(const struct func_times *times)
{
	struct func_times_sum sum = {};

	func_times_sum(&sum, times);

	return sum;
}

static u64 deviation(const struct func_times_sum *sum)
{
	unsigned int shift;
	u64 variance = func_times_variance(sum, &shift);

	return (u64)int_sqrt64(variance) << shift;
}

static void func_times_counts(struct kunit *test)
{
	struct func_times times = {};
	struct func_times_sum sum;
	unsigned int shift;

	sum = sum_of(&times);
	KUNIT_EXPECT_EQ(test, func_times_variance(&sum, &shift), 0ULL);
	count(&times, 10);
	sum = sum_of(&times);
	KUNIT_EXPECT_EQ(test, func_times_variance(&sum, &shift), 0ULL);
	count(&times, 20);
	count(&times, 60);
	sum = sum_of(&times);
	KUNIT_EXPECT_EQ(test, local64_read(&times.calls), 3);
	KUNIT_EXPECT_EQ(test, sum.returned, 3ULL);
	KUNIT_EXPECT_EQ(test, sum.time, 90ULL);
	KUNIT_EXPECT_EQ(test, sum.squares, 4100ULL);
	KUNIT_EXPECT_EQ(test, sum.upper, 0ULL);
	/* (400 + 100 + 900) / 2 */
	KUNIT_EXPECT_EQ(test, func_times_variance(&sum, &shift), 700ULL);
	KUNIT_EXPECT_EQ(test, shift, 0U);
}

/* Squares that do not fit in 64 bits, alone or together */
static void func_times_carries(struct kunit *test)
{
	struct func_times times = {};
	struct func_times_sum sum;
	unsigned int i;

	for (i = 0; i < 5; i++)
		count(&times, U32_MAX);
	sum = sum_of(&times);
	/* 5 * (2^64 - 2^33 + 1) */
	KUNIT_EXPECT_EQ(test, sum.upper, 4ULL);
	KUNIT_EXPECT_EQ(test, sum.squares, -5 * (1ULL << 33) + 5);
	KUNIT_EXPECT_EQ(test, deviation(&sum), 0ULL);

	memset(&times, 0, sizeof(times));
	count(&times, 3ULL << 40);
	count(&times, 1ULL << 40);
	sum = sum_of(&times);
	KUNIT_EXPECT_EQ(test, sum.upper, 10ULL << 16);
	KUNIT_EXPECT_EQ(test, sum.squares, 0ULL);
	/* The square root of 2 * (2^40)^2 */
	KUNIT_EXPECT_EQ(test, deviation(&sum) >> 20, 1482910ULL);
}

/* CPUs are added up, with the carry of their squares */
static void func_times_adds_up(struct kunit *test)
{
	struct func_times_sum sum = {};
	struct func_times cpus[2] = {};

	count(&cpus[0], U32_MAX);
	count(&cpus[1], U32_MAX);
	count(&cpus[1], 100);
	func_times_sum(&sum, &cpus[0]);
	func_times_sum(&sum, &cpus[1]);
	KUNIT_EXPECT_EQ(test, sum.returned, 3ULL);
	KUNIT_EXPECT_EQ(test, sum.time, 2ULL * U32_MAX + 100);
	/* 2 * (2^64 - 2^33 + 1) + 10000 */
	KUNIT_EXPECT_EQ(test, sum.squares, -2 * (1ULL << 33) + 10002);
	KUNIT_EXPECT_EQ(test, sum.upper, 1ULL);
}

/* The deviation of many long times keeps its digits */
static void func_times_deviates(struct kunit *test)
{
	static const u64 scales[] = { 1, 1000, NSEC_PER_SEC, 100ULL * NSEC_PER_SEC };
	struct func_times_sum sum;
	unsigned int i, scale;
	u64 expected, found;

	for (scale = 0; scale < ARRAY_SIZE(scales); scale++) {
		struct func_times times = {};

		for (i = 0; i < 1000; i++)
			count(&times, (i % 2 ? 30 : 10) * scales[scale]);
		sum = sum_of(&times);
		/* 10 * sqrt(1000 / 999), and it is rounded down */
		expected = 10 * scales[scale] + div_u64(5 * scales[scale], 1000);
		found = deviation(&sum);
		KUNIT_EXPECT_LE(test, found, expected + div_u64(expected, 100000));
		KUNIT_EXPECT_GE(test, found + div_u64(found, 100000) + 1, expected);
	}
}

#define NR_LOOPS	1000000

static struct func_times irq_times;

static enum hrtimer_restart count_in_irq(struct hrtimer *timer)
{
	count(&irq_times, 3ULL << 32);
	hrtimer_forward_now(timer, ns_to_ktime(20000));

	return HRTIMER_RESTART;
}

/* Interrupts that count the same function lose nothing */
static void func_times_interrupted(struct kunit *test)
{
	struct func_times_sum sum;
	struct hrtimer timer;
	u64 in_irq, task, i;

	memset(&irq_times, 0, sizeof(irq_times));
	migrate_disable();
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = count_in_irq;
	hrtimer_start(&timer, ns_to_ktime(20000), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < NR_LOOPS; i++)
		count(&irq_times, U32_MAX);
	hrtimer_cancel(&timer);
	migrate_enable();

	sum = sum_of(&irq_times);
	in_irq = sum.returned - NR_LOOPS;
	kunit_info(test, "%llu calls in interrupts\n", in_irq);
	KUNIT_EXPECT_GT(test, in_irq, 0ULL);
	KUNIT_EXPECT_EQ(test, local64_read(&irq_times.calls), sum.returned);
	KUNIT_EXPECT_EQ(test, sum.time,
			NR_LOOPS * (u64)U32_MAX + in_irq * (3ULL << 32));
	/* NR_LOOPS * (2^64 - 2^33 + 1) + in_irq * 9 * 2^64 */
	task = NR_LOOPS * ((1ULL << 33) - 1);
	KUNIT_EXPECT_EQ(test, sum.squares, -task);
	KUNIT_EXPECT_EQ(test, sum.upper, NR_LOOPS - 1 + 9 * in_irq);
}

static struct kunit_case func_times_cases[] = {
	KUNIT_CASE(func_times_counts),
	KUNIT_CASE(func_times_carries),
	KUNIT_CASE(func_times_adds_up),
	KUNIT_CASE(func_times_deviates),
	KUNIT_CASE(func_times_interrupted),
	{}
};

static struct kunit_suite func_times_suite = {
	.name = "func_times",
	.test_cases = func_times_cases,
};

kunit_test_suite(func_times_suite);

MODULE_LICENSE("GPL");
