// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of subops: unions of filters, and the functions that managers and
 * their subops are called for.
 *
 * Unlike in the rest of kernel/trace, functions in this file can be traced.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"

/* --- Unions of filters, compared with unions of bitmasks --- */

#define NR_IPS		10
#define NR_FILTERS	6
/* With lock debugging each case takes much longer */
#define NR_CASES	(IS_ENABLED(CONFIG_PROVE_LOCKING) ? 1500 : 12000)

/* Functions that filters may list, and one that is in no filter */
#define NR_IPS_AND_ONE	(NR_IPS + 1)
#define ALL_IPS		(BIT(NR_IPS_AND_ONE) - 1)

static unsigned long ip_of(unsigned int nr)
{
	return 0x1000 + 16 * nr;
}

/* A filter, with its functions as bitmasks */
struct bits {
	u32	filter;
	u32	untraced;
	bool	all;	/* The filter hash is empty: it matches all functions */
};

static struct ftrace_hash *hash_of(struct kunit *test, u32 bits)
{
	struct ftrace_hash *hash;
	unsigned int i;

	hash = alloc_ftrace_hash(get_random_u32_below(4));
	KUNIT_ASSERT_NOT_NULL(test, hash);

	for (i = 0; i < NR_IPS_AND_ONE; i++) {
		if (bits & BIT(i))
			KUNIT_ASSERT_EQ(test, 0, add_hash_entry(hash, ip_of(i)));
	}

	return hash;
}

static struct ftrace_ops_hash *filter_new(struct kunit *test,
					  const struct bits *bits)
{
	struct ftrace_ops_hash *filter;
	struct ftrace_hash *hash = NULL;

	filter = kunit_kzalloc(test, sizeof(*filter), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, filter);

	/* Match all functions in one of three ways, or match no function */
	if (!bits->all) {
		hash = hash_of(test, bits->filter);
		if (!bits->filter)
			hash->flags |= FTRACE_HASH_FL_MOD;
	} else if (bits->untraced & 1) {
		hash = EMPTY_HASH;
	} else if (bits->untraced & 2) {
		hash = hash_of(test, 0);
	}
	RCU_INIT_POINTER(filter->filter_hash, hash);

	hash = bits->untraced ? hash_of(test, bits->untraced) : NULL;
	RCU_INIT_POINTER(filter->notrace_hash, hash);

	return filter;
}

static void filter_free(struct kunit *test, struct ftrace_ops_hash *filter)
{
	free_ftrace_hash(rcu_dereference_protected(filter->filter_hash, 1));
	free_ftrace_hash(rcu_dereference_protected(filter->notrace_hash, 1));
	kunit_kfree(test, filter);
}

/* Bitmask of the entries in a hash, found without ftrace_lookup_ip() */
static u32 bits_of(struct kunit *test, struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;
	unsigned long i, count = 0;
	u32 bits = 0;

	for (i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			bits |= BIT((entry->ip - ip_of(0)) / 16);
			count++;
		}
	}

	KUNIT_EXPECT_EQ(test, hash->count, count);
	KUNIT_EXPECT_EQ(test, (unsigned long)hweight32(bits), count);

	return bits;
}

static void check_union(struct kunit *test, const struct bits *bits,
			unsigned int nr)
{
	struct ftrace_ops_hash *filters[NR_FILTERS], result;
	struct ftrace_hash *filter_hash, *notrace_hash;
	u32 expected = 0, traced;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		filters[i] = filter_new(test, &bits[i]);
		expected |= (bits[i].all ? ALL_IPS : bits[i].filter) &
			    ~bits[i].untraced;
	}

	KUNIT_ASSERT_EQ(test, 0, ftrace_filter_union(filters, nr, &result));
	filter_hash = rcu_dereference_protected(result.filter_hash, 1);
	notrace_hash = rcu_dereference_protected(result.notrace_hash, 1);

	if (ftrace_hash_empty(filter_hash))
		traced = ALL_IPS;
	else
		traced = bits_of(test, filter_hash);
	traced &= ~bits_of(test, notrace_hash);
	KUNIT_EXPECT_EQ(test, expected, traced);

	for (i = 0; i < NR_IPS_AND_ONE; i++)
		KUNIT_EXPECT_EQ(test, !!(expected & BIT(i)),
				hash_contains_ip(ip_of(i), &result));

	for (i = 0; i < nr; i++)
		filter_free(test, filters[i]);
	free_ftrace_hash(filter_hash);
	free_ftrace_hash(notrace_hash);
}

#define check_cases(test, ...)						\
do {									\
	const struct bits bits[] = { __VA_ARGS__ };			\
									\
	check_union(test, bits, ARRAY_SIZE(bits));			\
} while (0)

#define ALL		{ .all = true }
#define ALL_BUT(b)	{ .all = true, .untraced = (b) }
#define ONLY(f)		{ .filter = (f) }
#define ONLY_BUT(f, b)	{ .filter = (f), .untraced = (b) }
#define NONE		{ .filter = 0 }

static void subops_union_named(struct kunit *test)
{
	check_cases(test, ALL);
	check_cases(test, NONE);
	check_cases(test, ONLY(0x1));
	check_cases(test, ALL_BUT(0x3));
	check_cases(test, ONLY_BUT(0x3, 0x3));
	check_cases(test, ONLY_BUT(0x3, 0x1));
	check_cases(test, ALL, NONE);
	check_cases(test, NONE, NONE);
	check_cases(test, ALL, ALL_BUT(0x3));
	check_cases(test, ONLY(0x1), ONLY(0x2));
	check_cases(test, ONLY(0x7), ONLY(0x2));
	check_cases(test, ONLY(0x3), ONLY(0x6));
	check_cases(test, ALL_BUT(0x3), ALL_BUT(0xc));
	check_cases(test, ALL_BUT(0x7), ALL_BUT(0x6));
	check_cases(test, ALL_BUT(0x7), ALL_BUT(0x6), ALL_BUT(0xe));
	check_cases(test, ALL_BUT(0x7), ONLY(0x1));
	check_cases(test, ALL_BUT(0x7), ONLY_BUT(0x3, 0x1));
	check_cases(test, ALL_BUT(0x7), ONLY(0x38));
	check_cases(test, ALL_BUT(0x7), NONE);
	check_cases(test, ALL_BUT(0x1), ONLY(0x1));
	/* Filters with a notrace hash that excludes all of their functions */
	check_cases(test, ONLY_BUT(0x3, 0x7), ONLY_BUT(0x4, 0x4));
	/* Two filters exclude the same function, a third one may trace it */
	check_cases(test, ONLY_BUT(0x3, 0x2), ONLY_BUT(0x6, 0x2), ONLY(0x8));
	check_cases(test, ONLY_BUT(0x3, 0x2), ONLY_BUT(0x6, 0x2), ONLY(0x2));
}

static u32 random_bits(void)
{
	u32 bits = get_random_u32() & (BIT(NR_IPS) - 1);

	/* Make some masks sparse, so that some functions are in no mask */
	if (get_random_u32_below(2))
		bits &= get_random_u32();
	if (get_random_u32_below(2))
		bits &= get_random_u32();

	return bits;
}

static void subops_union_random(struct kunit *test)
{
	struct bits bits[NR_FILTERS];
	unsigned int i, n, nr;

	for (n = 0; n < NR_CASES; n++) {
		/* In half of the cases, some filters match all functions */
		bool some_all = n & 1;

		nr = 1 + get_random_u32_below(NR_FILTERS);
		for (i = 0; i < nr; i++) {
			bits[i].all = some_all && get_random_u32_below(2);
			bits[i].filter = bits[i].all ? 0 : random_bits();
			bits[i].untraced = get_random_u32_below(3) ?
					   random_bits() : 0;
			/* A filter hash that matches no function */
			if (!bits[i].all && !get_random_u32_below(8))
				bits[i].filter = 0;
		}

		check_union(test, bits, nr);
		if (test->status != KUNIT_SUCCESS) {
			for (i = 0; i < nr; i++)
				kunit_info(test, "case %u: all %d filter %x notrace %x",
					   n, bits[i].all, bits[i].filter,
					   bits[i].untraced);
			return;
		}
	}
}

/* --- Managers, subops, and traced functions --- */

/* Call one of the traced functions below */
static noinline notrace void call(void (*func)(void))
{
	func();
	barrier();
}

static noinline void func_a(void)
{
	barrier();
}

static noinline void func_b(void)
{
	barrier_data(&func_b);
}

static noinline void func_c(void)
{
	barrier_data(&func_c);
}

static void (*const funcs[])(void) = { func_a, func_b, func_c };

#define NR_FUNCS	ARRAY_SIZE(funcs)
#define FN_A		BIT(0)
#define FN_B		BIT(1)
#define FN_C		BIT(2)

/**
 * struct counter - an ops that counts its calls
 * @ops:	the ops
 * @calls:	number of calls for each of the functions
 * @error:	number of calls with an unexpected @ip
 */
struct counter {
	struct ftrace_ops	ops;
	unsigned long		calls[NR_FUNCS];
	unsigned long		error;
};

static unsigned long func_ips[NR_FUNCS];

static notrace void count_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct counter *counter = container_of(op, struct counter, ops);
	unsigned int i;

	for (i = 0; i < NR_FUNCS; i++) {
		if (ip == func_ips[i]) {
			counter->calls[i]++;
			return;
		}
	}
	counter->error++;
}

#define NR_COUNTERS	4

static struct counter *counters;

/* Callback of a manager: call the subops with filters that match @ip */
static notrace void walk_subops(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_ops *subops;

	preempt_disable_notrace();
	list_for_each_entry_rcu(subops, &op->subop_list, list) {
		if (ftrace_ops_test(subops, ip, ftrace_get_regs(fregs)))
			subops->func(ip, parent_ip, subops, fregs);
	}
	preempt_enable_notrace();
}

static struct ftrace_ops manager = { .func = walk_subops };

static struct ftrace_ops plain_manager = { .func = walk_subops };

static int register_subop(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_startup_subops(ops, subops, 0);
	mutex_unlock(&ftrace_lock);

	return ret;
}

static int unregister_subop(struct ftrace_ops *ops, struct ftrace_ops *subops)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_shutdown_subops(ops, subops, 0);
	mutex_unlock(&ftrace_lock);

	return ret;
}

/* The number of registered ops that trace the function with this record */
static long rec_count(unsigned long ip)
{
	struct ftrace_rec_iter *iter;
	long count = -1;

	mutex_lock(&ftrace_lock);
	for_ftrace_rec_iter(iter) {
		struct dyn_ftrace *rec = ftrace_rec_iter_record(iter);

		if (rec->ip == ip) {
			count = ftrace_rec_count(rec);
			break;
		}
	}
	mutex_unlock(&ftrace_lock);

	return count;
}

static int set_filter(struct ftrace_ops *ops, unsigned int mask)
{
	unsigned int i, nr = 0;
	unsigned long ips[NR_FUNCS];

	for (i = 0; i < NR_FUNCS; i++) {
		if (mask & BIT(i))
			ips[nr++] = func_ips[i];
	}

	return ftrace_set_filter_ips(ops, ips, nr, 0, 1);
}

/*
 * Call each function once. @traced has a mask of functions for each of the
 * counters. The manager must trace exactly the functions in these masks.
 */
static void expect_traced(struct kunit *test, const unsigned int *traced)
{
	unsigned int c, i, all = 0;

	for (c = 0; c < NR_COUNTERS; c++) {
		memset(counters[c].calls, 0, sizeof(counters[c].calls));
		counters[c].error = 0;
		all |= traced[c];
	}

	for (i = 0; i < NR_FUNCS; i++)
		call(funcs[i]);

	for (c = 0; c < NR_COUNTERS; c++) {
		for (i = 0; i < NR_FUNCS; i++)
			KUNIT_EXPECT_EQ_MSG(test, counters[c].calls[i],
					    (unsigned long)!!(traced[c] & BIT(i)),
					    "counter %u, function %u", c, i);
		KUNIT_EXPECT_EQ(test, counters[c].error, 0UL);
	}

	for (i = 0; i < NR_FUNCS; i++)
		KUNIT_EXPECT_EQ_MSG(test, rec_count(func_ips[i]),
				    (long)!!(all & BIT(i)), "function %u", i);
}

#define EXPECT_TRACED(test, ...)					\
do {									\
	const unsigned int traced[NR_COUNTERS] = { __VA_ARGS__ };	\
									\
	expect_traced(test, traced);					\
} while (0)

static int subops_init(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < NR_FUNCS; i++) {
		func_ips[i] = ftrace_location((unsigned long)funcs[i]);
		KUNIT_ASSERT_NE(test, func_ips[i], 0UL);
	}

	/* Allocate new ones, as an ops that was registered may keep some state */
	counters = kunit_kcalloc(test, NR_COUNTERS, sizeof(*counters), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	for (i = 0; i < NR_COUNTERS; i++)
		counters[i].ops.func = count_call;

	return 0;
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/**
 * struct graph_counter - a graph user that counts calls
 * @gops:	the graph user
 * @entries:	calls of func_a
 * @returns:	returns from it
 * @others:	entries of, and returns from, other functions
 */
struct graph_counter {
	struct fgraph_ops	gops;
	unsigned long		entries;
	unsigned long		returns;
	unsigned long		others;
};

static notrace int count_entry(struct ftrace_graph_ent *trace,
			       struct fgraph_ops *gops)
{
	struct graph_counter *counter = container_of(gops, struct graph_counter,
						     gops);

	if (trace->func == func_ips[0])
		counter->entries++;
	else
		counter->others++;

	return 1;
}

static notrace void count_return(struct ftrace_graph_ret *trace,
				 struct fgraph_ops *gops)
{
	struct graph_counter *counter = container_of(gops, struct graph_counter,
						     gops);

	if (trace->func == func_ips[0])
		counter->returns++;
	else
		counter->others++;
}

static struct graph_counter graph[3];

static void graph_counters_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(graph); i++) {
		/* Does nothing if it is not registered */
		unregister_ftrace_graph(&graph[i].gops);
		if (graph[i].gops.ops.func_hash)
			ftrace_free_filter(&graph[i].gops.ops);
	}
	memset(graph, 0, sizeof(graph));
}
#else
static void graph_counters_exit(void) { }
#endif

/* Unregister everything, even if the test has failed */
static void subops_exit(struct kunit *test)
{
	struct ftrace_ops *ops;
	unsigned int i;

	graph_counters_exit();

	for (i = 0; i < NR_COUNTERS; i++) {
		ops = &counters[i].ops;

		if (ops->flags & FTRACE_OPS_FL_SUBOP)
			unregister_subop(ops->managed, ops);
		else if (ops->flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(ops);
	}

	/* Some may share the filter of another one */
	for (i = 0; i < NR_COUNTERS; i++) {
		ops = &counters[i].ops;

		if (ops->func_hash == &ops->local_hash)
			ftrace_free_filter(ops);
	}
}

static void check_register_order(struct kunit *test, struct ftrace_ops *manager)
{
	unsigned int i, masks[] = { FN_A, FN_A | FN_B, FN_B | FN_C, FN_A };
	struct ftrace_hash *hash;

	for (i = 0; i < NR_COUNTERS; i++)
		KUNIT_ASSERT_EQ(test, 0, set_filter(&counters[i].ops, masks[i]));

	EXPECT_TRACED(test, 0);
	KUNIT_ASSERT_EQ(test, 0, register_subop(manager, &counters[0].ops));
	EXPECT_TRACED(test, FN_A);
	KUNIT_ASSERT_EQ(test, 0, register_subop(manager, &counters[1].ops));
	EXPECT_TRACED(test, FN_A, FN_A | FN_B);
	KUNIT_ASSERT_EQ(test, 0, register_subop(manager, &counters[2].ops));
	EXPECT_TRACED(test, FN_A, FN_A | FN_B, FN_B | FN_C);
	KUNIT_ASSERT_EQ(test, 0, register_subop(manager, &counters[3].ops));
	EXPECT_TRACED(test, FN_A, FN_A | FN_B, FN_B | FN_C, FN_A);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(manager, &counters[1].ops));
	EXPECT_TRACED(test, FN_A, 0, FN_B | FN_C, FN_A);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(manager, &counters[0].ops));
	EXPECT_TRACED(test, 0, 0, FN_B | FN_C, FN_A);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(manager, &counters[2].ops));
	EXPECT_TRACED(test, 0, 0, 0, FN_A);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(manager, &counters[3].ops));
	EXPECT_TRACED(test, 0);

	KUNIT_EXPECT_FALSE(test, ftrace_is_manager(manager));
	KUNIT_EXPECT_FALSE(test, manager->flags & FTRACE_OPS_FL_ENABLED);
	hash = rcu_access_pointer(manager->func_hash->filter_hash);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(hash));
	hash = rcu_access_pointer(manager->func_hash->notrace_hash);
	KUNIT_EXPECT_TRUE(test, ftrace_hash_empty(hash));

	/* Register again, now that all subops have been registered before */
	KUNIT_ASSERT_EQ(test, 0, register_subop(manager, &counters[2].ops));
	EXPECT_TRACED(test, 0, 0, FN_B | FN_C);
}

static void subops_register_order(struct kunit *test)
{
	check_register_order(test, &manager);
}

/*
 * The subops of @ops must be the first @nr counters, in the order in which they
 * were registered, when its callback walks subop_list.
 */
static void expect_linked(struct kunit *test, struct ftrace_ops *ops,
			  unsigned int nr)
{
	struct ftrace_ops *subops;
	unsigned int i = 0;

	mutex_lock(&ftrace_lock);
	list_for_each_entry(subops, &ops->subop_list, list) {
		if (i == nr)
			break;
		KUNIT_EXPECT_PTR_EQ(test, subops, &counters[i].ops);
		KUNIT_EXPECT_PTR_EQ(test, subops->managed, ops);
		KUNIT_EXPECT_TRUE(test, subops->flags & FTRACE_OPS_FL_ENABLED);
		KUNIT_EXPECT_TRUE(test, subops->flags & FTRACE_OPS_FL_SUBOP);
		i++;
	}
	KUNIT_EXPECT_TRUE(test, list_entry_is_head(subops, &ops->subop_list, list));
	mutex_unlock(&ftrace_lock);
	KUNIT_EXPECT_EQ(test, i, nr);

	for (; i < NR_COUNTERS; i++) {
		KUNIT_EXPECT_PTR_EQ(test, counters[i].ops.managed, NULL);
		KUNIT_EXPECT_FALSE(test, counters[i].ops.flags &
					 (FTRACE_OPS_FL_ENABLED | FTRACE_OPS_FL_SUBOP));
	}
}

static void subops_plain_manager(struct kunit *test)
{
	unsigned int i;

	check_register_order(test, &plain_manager);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(&plain_manager, &counters[2].ops));

	for (i = 0; i < NR_COUNTERS; i++) {
		expect_linked(test, &plain_manager, i);
		KUNIT_ASSERT_EQ(test, 0, register_subop(&plain_manager,
							&counters[i].ops));
	}
	for (; i; i--) {
		expect_linked(test, &plain_manager, i);
		KUNIT_EXPECT_EQ(test, 0, unregister_subop(&plain_manager,
							  &counters[i - 1].ops));
	}
	expect_linked(test, &plain_manager, 0);
}

/* A static ops of the kernel keeps its trampoline when it is unregistered */
static void subops_had_trampoline(struct kunit *test)
{
	static struct counter counter = { .ops.func = count_call };
	struct ftrace_ops *ops = &counter.ops;
	unsigned int round;

	for (round = 0; round < 2; round++) {
		KUNIT_ASSERT_EQ(test, 0, set_filter(ops, FN_A));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
		call(func_a);
		KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(ops));

		KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, ops));
		KUNIT_EXPECT_EQ(test, 0UL, ops->trampoline);
		call(func_a);
		KUNIT_EXPECT_EQ(test, 0, unregister_subop(&manager, ops));
	}

	KUNIT_EXPECT_EQ(test, 4UL, counter.calls[0]);
	KUNIT_EXPECT_EQ(test, 0UL, counter.error);
	ftrace_free_filter(ops);
}

static void subops_filter_changes(struct kunit *test)
{
	char name_b[] = "func_b", name_none[] = "no_such_function";
	unsigned int i;
	int ret;

	for (i = 0; i < 3; i++) {
		struct ftrace_ops *ops = &counters[i].ops;

		KUNIT_ASSERT_EQ(test, 0, set_filter(ops, FN_A));
		KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, ops));
	}
	EXPECT_TRACED(test, FN_A, FN_A, FN_A);

	KUNIT_EXPECT_EQ(test, 0, set_filter(&counters[0].ops, FN_B));
	EXPECT_TRACED(test, FN_B, FN_A, FN_A);
	KUNIT_EXPECT_EQ(test, 0, set_filter(&counters[1].ops, FN_A | FN_C));
	EXPECT_TRACED(test, FN_B, FN_A | FN_C, FN_A);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&counters[1].ops,
						      func_ips[0], 1, 0));
	EXPECT_TRACED(test, FN_B, FN_C, FN_A);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(&counters[2].ops,
						      func_ips[2], 0, 0));
	EXPECT_TRACED(test, FN_B, FN_C, FN_A | FN_C);

	/* If notrace excludes all its functions, it traces none, not all */
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_notrace(&counters[0].ops, name_b,
						    strlen(name_b), 1));
	EXPECT_TRACED(test, 0, FN_C, FN_A | FN_C);
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(&manager, &counters[1].ops));
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(&manager, &counters[2].ops));
	EXPECT_TRACED(test, 0);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_notrace(&counters[0].ops, NULL, 0, 1));
	EXPECT_TRACED(test, FN_B);

	/* A name that matches no function changes nothing */
	ret = ftrace_set_filter(&counters[0].ops, name_none, strlen(name_none), 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, ret);
	EXPECT_TRACED(test, FN_B);
}

static bool filter_lists(struct ftrace_ops *ops, unsigned long ip)
{
	bool named;

	mutex_lock(&ftrace_lock);
	named = ftrace_lookup_ip(rcu_access_pointer(ops->func_hash->filter_hash), ip);
	mutex_unlock(&ftrace_lock);

	return named;
}

/* Add entries as if they were functions of modules that have been unloaded */
static void add_freed(struct kunit *test, struct ftrace_ops *ops,
		      unsigned long *gone, unsigned int nr)
{
	struct ftrace_hash *hash;
	unsigned int i;

	mutex_lock(&ops->func_hash->regex_lock);
	hash = rcu_access_pointer(ops->func_hash->filter_hash);
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, 0, add_hash_entry(hash, (unsigned long)&gone[i]));
	mutex_unlock(&ops->func_hash->regex_lock);
}

/* The next change of a filter removes functions of unloaded modules */
static void subops_freed_functions(struct kunit *test)
{
	struct ftrace_ops *ops = &counters[0].ops;
	/* Addresses without a function, and outside of core kernel text */
	unsigned long *gone = kunit_kzalloc(test, 2 * sizeof(*gone), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, gone);
	KUNIT_ASSERT_EQ(test, 0, set_filter(ops, FN_A));
	KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, ops));
	add_freed(test, ops, gone, 2);

	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(ops, func_ips[1], 0, 0));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, filter_lists(ops, (unsigned long)&gone[i]));
		KUNIT_EXPECT_FALSE(test, filter_lists(&manager,
						      (unsigned long)&gone[i]));
	}
	EXPECT_TRACED(test, FN_A | FN_B);

	/* A filter with no other entries matches no function, not all */
	add_freed(test, ops, gone, 1);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(ops, func_ips[0], 1, 0));
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(ops, func_ips[1], 1, 0));
	EXPECT_TRACED(test, 0);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(ops, func_ips[2], 0, 0));
	EXPECT_TRACED(test, FN_C);

	/* Invalid addresses, and functions not in the filter, are rejected */
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ftrace_set_filter_ip(ops, (unsigned long)gone, 0, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ftrace_set_filter_ip(ops, (unsigned long)gone, 1, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ftrace_set_filter_ip(ops, func_ips[0], 1, 0));
	EXPECT_TRACED(test, FN_C);
}

/* Several subops share a filter, one of them has another manager */
static void subops_share_filter(struct kunit *test)
{
	struct ftrace_ops *ops = &counters[0].ops;
	static struct ftrace_ops other = { .func = walk_subops };

	KUNIT_ASSERT_EQ(test, 0, set_filter(ops, FN_A));
	counters[1].ops.func_hash = ops->func_hash;
	counters[1].ops.flags |= FTRACE_OPS_FL_INITIALIZED;
	counters[2].ops.func_hash = ops->func_hash;
	counters[2].ops.flags |= FTRACE_OPS_FL_INITIALIZED;

	KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, ops));
	KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, &counters[1].ops));
	EXPECT_TRACED(test, FN_A, FN_A);
	KUNIT_EXPECT_EQ(test, 0, set_filter(ops, FN_B));
	EXPECT_TRACED(test, FN_B, FN_B);

	/* Change it through an ops that is no longer registered */
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(&manager, ops));
	KUNIT_EXPECT_EQ(test, 0, set_filter(ops, FN_C));
	EXPECT_TRACED(test, 0, FN_C);

	KUNIT_ASSERT_EQ(test, 0, register_subop(&other, &counters[2].ops));
	KUNIT_EXPECT_EQ(test, 2L, rec_count(func_ips[2]));
	KUNIT_EXPECT_EQ(test, 0, set_filter(ops, FN_A));
	KUNIT_EXPECT_EQ(test, 2L, rec_count(func_ips[0]));
	KUNIT_EXPECT_EQ(test, 0L, rec_count(func_ips[2]));
	KUNIT_EXPECT_EQ(test, 0, unregister_subop(&other, &counters[2].ops));
	EXPECT_TRACED(test, 0, FN_A);

	/* Change it through a subop, for an ops registered on its own */
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&counters[2].ops));
	KUNIT_EXPECT_EQ(test, 2L, rec_count(func_ips[0]));
	KUNIT_EXPECT_EQ(test, 0, set_filter(&counters[1].ops, FN_C));
	KUNIT_EXPECT_EQ(test, 0L, rec_count(func_ips[0]));
	KUNIT_EXPECT_EQ(test, 2L, rec_count(func_ips[2]));
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&counters[2].ops));
	EXPECT_TRACED(test, 0, FN_C);
}

static void subops_misuse(struct kunit *test)
{
	struct ftrace_ops *a = &counters[0].ops, *b = &counters[1].ops;
	struct ftrace_ops *c = &counters[2].ops;
	unsigned int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, set_filter(&counters[i].ops, BIT(i)));

	KUNIT_EXPECT_EQ(test, -EINVAL, unregister_subop(&manager, a));
	KUNIT_ASSERT_EQ(test, 0, register_subop(&manager, a));
	EXPECT_TRACED(test, FN_A);

	/* Register it again, also with another manager; unregister it there */
	KUNIT_EXPECT_EQ(test, -EBUSY, register_subop(&manager, a));
	KUNIT_EXPECT_EQ(test, -EBUSY, register_subop(c, a));
	KUNIT_EXPECT_EQ(test, -EINVAL, unregister_subop(c, a));

	/* A subop as manager, an ops as its own manager, a manager as subop */
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(a, b));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(b, b));
	KUNIT_EXPECT_EQ(test, -EBUSY, register_subop(c, &manager));

	/* A manager that has its own filter, or is registered on its own */
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(c, b));
	KUNIT_EXPECT_EQ(test, -EBUSY, set_filter(&manager, FN_B));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(c));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(c, b));
	KUNIT_EXPECT_EQ(test, -EBUSY, register_subop(&manager, c));
	KUNIT_ASSERT_EQ(test, 0, unregister_ftrace_function(c));

	/* Flags that the manager does not support */
	b->flags |= FTRACE_OPS_FL_SAVE_REGS;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(&manager, b));
	b->flags ^= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(&manager, b));
	b->flags ^= FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_IPMODIFY;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(&manager, b));
	/* An ops that must not be used any more */
	b->flags ^= FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DELETED;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_subop(&manager, b));
	b->flags &= ~FTRACE_OPS_FL_DELETED;

	EXPECT_TRACED(test, FN_A);
	KUNIT_EXPECT_EQ(test, 0, register_subop(&manager, b));
	EXPECT_TRACED(test, FN_A, FN_B);
}

/* --- Functions called in a loop while filters change --- */

/* With lock debugging each change takes much longer */
#define NR_FLIPS	(IS_ENABLED(CONFIG_PROVE_LOCKING) ? 200 : 1000)

static unsigned long loop_calls;

static int loop(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; i < 100; i++) {
			loop_calls++;
			call(func_a);
			call(func_b);
		}
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

static struct task_struct *loop_start(struct kunit *test)
{
	struct task_struct *task;
	unsigned int cpu;

	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");

	loop_calls = 0;
	task = kthread_create(loop, NULL, "ftrace_loop");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	kthread_bind(task, cpu);
	wake_up_process(task);

	return task;
}

/* Change the filters of all ops but the first, each time to another mask */
static int flip_filters(struct ftrace_ops **ops, unsigned int nr)
{
	unsigned int flip;
	int ret = 0;

	for (flip = 0; flip < NR_FLIPS && !ret; flip++) {
		/* With and without func_a, to change its call site as well */
		ret = set_filter(ops[1 + flip % (nr - 1)],
				 1 + (flip * 5 / 3) % 7);
		if (!(flip % 32))
			cond_resched_tasks_rcu_qs();
	}

	return ret;
}

static void subops_no_call_lost(struct kunit *test)
{
	struct ftrace_ops *ops[NR_COUNTERS];
	struct task_struct *task;
	unsigned int i;
	int ret;

	/* Register the last one on its own, so that records may have two ops */
	for (i = 0; i < NR_COUNTERS; i++) {
		ops[i] = &counters[i].ops;
		KUNIT_ASSERT_EQ(test, 0, set_filter(ops[i], i ? FN_B : FN_A));
		if (i == NR_COUNTERS - 1)
			ret = register_ftrace_function(ops[i]);
		else
			ret = register_subop(&manager, ops[i]);
		KUNIT_ASSERT_EQ(test, 0, ret);
	}

	task = loop_start(test);
	ret = flip_filters(ops, ARRAY_SIZE(ops));
	kthread_stop(task);

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, loop_calls, 0UL);
	KUNIT_EXPECT_EQ(test, loop_calls, counters[0].calls[0]);
	KUNIT_EXPECT_EQ(test, 0UL, counters[0].calls[1]);
	KUNIT_EXPECT_EQ(test, 0UL, counters[0].calls[2]);
	for (i = 0; i < NR_COUNTERS; i++)
		KUNIT_EXPECT_EQ(test, 0UL, counters[i].error);
	kunit_info(test, "%lu calls", loop_calls);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static void subops_no_graph_call_lost(struct kunit *test)
{
	struct ftrace_ops *ops[ARRAY_SIZE(graph)];
	struct task_struct *task;
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(graph); i++) {
		graph[i].gops.entryfunc = count_entry;
		graph[i].gops.retfunc = count_return;
		ops[i] = &graph[i].gops.ops;
		KUNIT_ASSERT_EQ(test, 0, set_filter(ops[i], i ? FN_B : FN_A));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graph[i].gops));
	}

	task = loop_start(test);
	ret = flip_filters(ops, ARRAY_SIZE(ops));
	kthread_stop(task);

	for (i = 0; i < ARRAY_SIZE(graph); i++)
		unregister_ftrace_graph(&graph[i].gops);

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_GT(test, loop_calls, 0UL);
	KUNIT_EXPECT_EQ(test, loop_calls, graph[0].entries);
	KUNIT_EXPECT_EQ(test, loop_calls, graph[0].returns);
	KUNIT_EXPECT_EQ(test, 0UL, graph[0].others);
	for (i = 0; i < NR_FUNCS; i++)
		KUNIT_EXPECT_EQ(test, 0L, rec_count(func_ips[i]));
}
#endif

static struct kunit_case subops_cases[] = {
	KUNIT_CASE(subops_union_named),
	KUNIT_CASE(subops_union_random),
	KUNIT_CASE(subops_register_order),
	KUNIT_CASE(subops_plain_manager),
	KUNIT_CASE(subops_had_trampoline),
	KUNIT_CASE(subops_filter_changes),
	KUNIT_CASE(subops_freed_functions),
	KUNIT_CASE(subops_share_filter),
	KUNIT_CASE(subops_misuse),
	KUNIT_CASE(subops_no_call_lost),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(subops_no_graph_call_lost),
#endif
	{}
};

static struct kunit_suite subops_suite = {
	.name = "ftrace_subops",
	.init = subops_init,
	.exit = subops_exit,
	.test_cases = subops_cases,
};

kunit_test_suite(subops_suite);
