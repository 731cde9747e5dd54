// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of how calls are counted against max_call_rate
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>

#include "trace_call_rate.h"

#define SLOTS	16
#define LIMIT	1000

struct rate_context {
	struct call_rate	rate;
	struct call_rate_table	*table;
	atomic_t		allowed;
};

/* Addresses as those of functions, all in the same slot */
static unsigned long ip_of(int i)
{
	return 0x10000UL + i * SLOTS * sizeof(struct call_rate_slot);
}

static int count_calls(struct call_rate_table *table, unsigned long ip, int calls)
{
	int i, allowed = 0;

	for (i = 0; i < calls; i++)
		allowed += call_rate_count(table, ip);

	return allowed;
}

/* As many calls as the limit says, for each function */
static void call_rate_limits(struct kunit *test)
{
	struct rate_context *ctx = test->priv;

	KUNIT_EXPECT_EQ(test, LIMIT, count_calls(ctx->table, ip_of(0), LIMIT));
	KUNIT_EXPECT_EQ(test, 0, count_calls(ctx->table, ip_of(0), 10));
	KUNIT_EXPECT_EQ(test, LIMIT, count_calls(ctx->table, ip_of(1), 2 * LIMIT));
	KUNIT_EXPECT_EQ(test, 0, count_calls(ctx->table, ip_of(0), 1));
}

/* Each function has a slot of its own, wherever it is. Without one, no limit */
static void call_rate_collides(struct kunit *test)
{
	struct rate_context *ctx = test->priv;
	int i, j;

	for (i = 0; i < SLOTS; i++)
		KUNIT_EXPECT_TRUE(test, call_rate_count(ctx->table, ip_of(i)));

	for (i = 0; i < SLOTS; i++) {
		for (j = 0; j < SLOTS && ctx->table->slots[j].ip != ip_of(i); j++)
			;
		KUNIT_ASSERT_LT(test, j, SLOTS);
		KUNIT_EXPECT_EQ(test, LIMIT - 1,
				atomic_read(&ctx->table->slots[j].left));
	}

	KUNIT_EXPECT_EQ(test, 2 * LIMIT,
			count_calls(ctx->table, ip_of(SLOTS), 2 * LIMIT));
}

struct rate_thread {
	struct rate_context	*ctx;
	struct completion	done;
};

static int rate_thread(void *data)
{
	struct rate_thread *thread = data;
	struct rate_context *ctx = thread->ctx;

	atomic_add(count_calls(ctx->table, ip_of(0), LIMIT), &ctx->allowed);
	complete(&thread->done);

	return 0;
}

/* CPUs that call a function at the same time share its limit */
static void call_rate_sums_cpus(struct kunit *test)
{
	struct rate_context *ctx = test->priv;
	struct rate_thread *threads;
	struct task_struct *task;
	int cpu = cpumask_first(cpu_online_mask);
	int nr, i;

	threads = kunit_kcalloc(test, num_online_cpus() + 1, sizeof(*threads),
				GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, threads);

	/* Two on the first CPU: there may be no other */
	for (nr = 0; nr <= num_online_cpus() && cpu < nr_cpu_ids; nr++) {
		threads[nr].ctx = ctx;
		init_completion(&threads[nr].done);
		task = kthread_create(rate_thread, &threads[nr], "rate_kunit");
		if (IS_ERR(task))
			break;
		kthread_bind(task, cpu);
		wake_up_process(task);
		if (nr)
			cpu = cpumask_next(cpu, cpu_online_mask);
	}

	for (i = 0; i < nr; i++)
		wait_for_completion(&threads[i].done);

	KUNIT_EXPECT_GE(test, nr, 2);
	KUNIT_EXPECT_EQ(test, LIMIT, atomic_read(&ctx->allowed));
}

/* As if each of @nr functions, from @first on, had been called that often */
static void set_calls(struct rate_context *ctx, int first, int nr, int calls)
{
	int i;

	for (i = first; i < first + nr; i++)
		atomic_set(&ctx->table->slots[i].left, LIMIT - calls);
}

/* All functions together may make ten times as many calls as one */
static void call_rate_limits_all(struct kunit *test)
{
	struct rate_context *ctx = test->priv;

	set_calls(ctx, 0, 10, LIMIT);
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, HZ));
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, HZ / 2));

	/* Those that exceed their own limit do not count */
	set_calls(ctx, 10, 6, LIMIT + 1);
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, HZ));

	/* Without those of 512 calls and more, the rest makes few enough */
	set_calls(ctx, 10, 6, 1);
	KUNIT_EXPECT_EQ(test, 511, call_rate_allowed(ctx->table, HZ));
	set_calls(ctx, 4, 12, 500);
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, HZ));
	set_calls(ctx, 4, 12, 501);
	KUNIT_EXPECT_EQ(test, 511, call_rate_allowed(ctx->table, HZ));
	/* Not if it makes them in half of the time */
	KUNIT_EXPECT_EQ(test, 255, call_rate_allowed(ctx->table, HZ / 2));

	/* Too early to tell; later than after a second, more calls are allowed */
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, 0));
	KUNIT_EXPECT_EQ(test, LIMIT, call_rate_allowed(ctx->table, -1));
	KUNIT_EXPECT_EQ(test, 2 * LIMIT, call_rate_allowed(ctx->table, 2 * HZ));
}

static int call_rate_test_init(struct kunit *test)
{
	struct rate_context *ctx;
	int i;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;

	ctx->table = kunit_kzalloc(test, struct_size(ctx->table, slots, SLOTS),
				   GFP_KERNEL);
	if (!ctx->table)
		return -ENOMEM;

	/* As if the work had been queued: nothing is muted here */
	ctx->rate.called = true;
	ctx->rate.exceeded = true;
	ctx->rate.limit = LIMIT;
	ctx->table->rate = &ctx->rate;
	ctx->table->mask = (SLOTS - 1) * sizeof(struct call_rate_slot);
	for (i = 0; i < SLOTS; i++)
		atomic_set(&ctx->table->slots[i].left, LIMIT);
	test->priv = ctx;

	return 0;
}

static struct kunit_case call_rate_cases[] = {
	KUNIT_CASE(call_rate_limits),
	KUNIT_CASE(call_rate_collides),
	KUNIT_CASE(call_rate_sums_cpus),
	KUNIT_CASE(call_rate_limits_all),
	{}
};

static struct kunit_suite call_rate_suite = {
	.name		= "trace_call_rate",
	.init		= call_rate_test_init,
	.test_cases	= call_rate_cases,
};

kunit_test_suite(call_rate_suite);
