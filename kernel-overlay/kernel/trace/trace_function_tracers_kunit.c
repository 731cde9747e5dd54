// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of function_tracers: of tracers that user space cannot register,
 * and of what happens between the opening of a filter file and its closing.
 *
 * Unlike the rest of kernel/trace, this file is compiled to be traced.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "trace_function_tracers.h"

/* What is traced; each is called this way */
static noinline notrace void call(void (*func)(void))
{
	func();
	barrier();
}

static noinline void tracers_func_a(void)
{
	barrier();
}

static noinline void tracers_func_b(void)
{
	barrier_data(&tracers_func_b);
}

/**
 * struct counter - an ops that counts its calls
 * @ops:	the ops
 * @a:		how often tracers_func_a() was called
 * @b:		how often tracers_func_b() was called
 */
struct counter {
	struct ftrace_ops	ops;
	unsigned long		a;
	unsigned long		b;
};

static unsigned long ip_a, ip_b;

static notrace void tracers_call(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct counter *counter = container_of(op, struct counter, ops);

	if (ip == ip_a)
		counter->a++;
	else if (ip == ip_b)
		counter->b++;
}

#define NR_COUNTERS	4

static struct counter *counters;
static struct ftrace_ops manager = { .func = ftrace_subops_func };

static struct trace_array *top(void)
{
	return global_ops.private;
}

static void set_filter(struct kunit *test, struct ftrace_ops *ops, unsigned long ip)
{
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(ops, ip, 0, 1));
}

static void start(struct kunit *test, struct counter *counter, const char *name)
{
	counter->ops.name = name;
	set_filter(test, &counter->ops, ip_a);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&counter->ops));
}

static void stop(struct kunit *test, struct counter *counter)
{
	KUNIT_ASSERT_EQ(test, 0, unregister_ftrace_function(&counter->ops));
}

static void expect_calls(struct kunit *test, struct counter *counter,
			 unsigned long a, unsigned long b)
{
	counter->a = 0;
	counter->b = 0;
	call(tracers_func_a);
	call(tracers_func_b);
	KUNIT_EXPECT_EQ(test, a, counter->a);
	KUNIT_EXPECT_EQ(test, b, counter->b);
}

/*
 * The tracers that are listed in the directory of @tr, in one string; but not
 * those that were there before the test.
 */
static char *listed(struct kunit *test, struct trace_array *tr)
{
	struct function_tracers *list;
	unsigned int i;
	char *text;
	u64 picked;

	text = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, text);

	list = function_tracers_get(tr, &picked);
	KUNIT_ASSERT_FALSE(test, IS_ERR(list));
	for (i = 0; i < list->nr; i++) {
		if (!strcmp(list->tracers[i].name, "stack_trace"))
			continue;
		if (list->tracers[i].id == picked)
			strlcat(text, "*", PAGE_SIZE);
		strlcat(text, list->tracers[i].name, PAGE_SIZE);
		strlcat(text, " ", PAGE_SIZE);
	}
	function_tracers_put(list);

	return text;
}

static void expect_listed(struct kunit *test, const char *text)
{
	KUNIT_EXPECT_STREQ(test, text, listed(test, top()));
}

static void pick(struct kunit *test, const char *name)
{
	KUNIT_ASSERT_EQ_MSG(test, 0, function_tracer_pick(top(), name), "%s", name);
}

static struct picked_filter *file_open(struct kunit *test, bool untraced,
				       fmode_t mode, bool truncate)
{
	struct picked_filter *filter;

	filter = picked_filter_open(top(), untraced, mode, truncate);
	KUNIT_ASSERT_NOT_NULL(test, filter);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filter));

	return filter;
}

/* @word is what there is in the file */
static int file_write(struct picked_filter *filter, const char *word)
{
	char buf[64];
	int ret;

	strscpy(buf, word, sizeof(buf));
	mutex_lock(&filter->lock);
	ret = picked_filter_edit(filter, buf);
	mutex_unlock(&filter->lock);

	return ret;
}

static int file_close(struct picked_filter *filter)
{
	int ret = filter->hash ? picked_filter_apply(filter) : 0;

	picked_filter_free(filter);

	return ret;
}

static void write_filter(struct kunit *test, const char *word, bool truncate)
{
	struct picked_filter *filter = file_open(test, false, FMODE_WRITE, truncate);

	KUNIT_EXPECT_EQ(test, 0, file_write(filter, word));
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
}

/* Does the file show the function in the filter of that tracer? 0 is all */
static bool shows(struct kunit *test, const char *name, unsigned long ip)
{
	struct picked_filter *filter = file_open(test, false, FMODE_READ, false);
	bool found = false;
	unsigned long i;

	for (i = 0; i < filter->nr_lines; i++) {
		if (!strcmp(filter->lines[i].name, name) &&
		    filter->lines[i].ip == ip && !filter->lines[i].text)
			found = true;
	}
	file_close(filter);

	return found;
}

static void tracers_named(struct kunit *test)
{
	expect_listed(test, "*trace ");

	start(test, &counters[0], NULL);
	start(test, &counters[1], "named");
	start(test, &counters[2], NULL);
	start(test, &counters[3], "named");
	expect_listed(test, "*trace tracers_call named tracers_call#2 named#2 ");

	/* Those that stay keep their names, and a new one gets what is free */
	stop(test, &counters[0]);
	stop(test, &counters[1]);
	expect_listed(test, "*trace tracers_call#2 named#2 ");
	start(test, &counters[1], "tracers_call#2");
	start(test, &counters[0], NULL);
	expect_listed(test, "*trace tracers_call#2 named#2 tracers_call_2 tracers_call ");
	stop(test, &counters[0]);
	stop(test, &counters[1]);

	/* Nor can it be taken for what it is not */
	start(test, &counters[1], "trace");
	start(test, &counters[0], "*a b\n[c]");
	expect_listed(test, "*trace tracers_call#2 named#2 trace#2 _a_b__c_ ");
}

static void tracers_not_listed(struct kunit *test)
{
	counters[0].ops.flags |= FTRACE_OPS_FL_KEEP_FILTER;
	start(test, &counters[0], "kept");
	expect_listed(test, "*trace ");
	KUNIT_EXPECT_EQ(test, -EINVAL, function_tracer_pick(top(), "kept"));

	/* Who shares the filter of the function tracer is meant by its name */
	ftrace_ops_set_global_filter(&counters[1].ops);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&counters[1].ops));
	expect_listed(test, "*trace ");

	/* A manager is not listed, those it manages are */
	set_filter(test, &counters[2].ops, ip_a);
	counters[2].ops.name = "managed";
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_subops(&manager, &counters[2].ops));
	expect_listed(test, "*trace managed ");

	pick(test, "managed");
	write_filter(test, "tracers_func_b", true);
	expect_calls(test, &counters[2], 0, 1);
	write_filter(test, "tracers_func_a", false);
	expect_calls(test, &counters[2], 1, 1);
}

static void tracers_pick(struct kunit *test)
{
	start(test, &counters[0], "first");
	start(test, &counters[1], "second");
	KUNIT_EXPECT_EQ(test, -EINVAL, function_tracer_pick(top(), "third"));
	expect_listed(test, "*trace first second ");
	KUNIT_EXPECT_NULL(test, picked_filter_open(top(), false, FMODE_WRITE, true));

	pick(test, "second");
	expect_listed(test, "trace first *second ");
	KUNIT_EXPECT_EQ(test, -EINVAL, function_tracer_pick(top(), "third"));
	expect_listed(test, "trace first *second ");
	pick(test, "first");
	expect_listed(test, "trace *first second ");
	pick(test, "trace");
	expect_listed(test, "*trace first second ");

	/* It goes, and comes back as another one */
	pick(test, "first");
	stop(test, &counters[0]);
	expect_listed(test, "*trace second ");
	start(test, &counters[0], "first");
	expect_listed(test, "*trace second first ");
	KUNIT_EXPECT_NULL(test, picked_filter_open(top(), false, FMODE_WRITE, true));
}

static void tracers_filter(struct kunit *test)
{
	struct picked_filter *filter;

	start(test, &counters[0], "first");
	start(test, &counters[1], "second");
	pick(test, "first");
	KUNIT_EXPECT_TRUE(test, shows(test, "trace", 0));
	KUNIT_EXPECT_TRUE(test, shows(test, "first", ip_a));
	KUNIT_EXPECT_TRUE(test, shows(test, "second", ip_a));

	write_filter(test, "tracers_func_b", true);
	KUNIT_EXPECT_TRUE(test, shows(test, "trace", 0));
	KUNIT_EXPECT_FALSE(test, shows(test, "first", ip_a));
	KUNIT_EXPECT_TRUE(test, shows(test, "first", ip_b));
	KUNIT_EXPECT_TRUE(test, shows(test, "second", ip_a));
	expect_calls(test, &counters[0], 0, 1);
	expect_calls(test, &counters[1], 1, 0);

	write_filter(test, "tracers_func_a", false);
	expect_calls(test, &counters[0], 1, 1);
	write_filter(test, "!tracers_func_b", false);
	expect_calls(test, &counters[0], 1, 0);

	filter = file_open(test, true, FMODE_WRITE, true);
	KUNIT_EXPECT_EQ(test, 0, file_write(filter, "tracers_func_*"));
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
	expect_calls(test, &counters[0], 0, 0);
	filter = file_open(test, true, FMODE_WRITE, true);
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
	expect_calls(test, &counters[0], 1, 0);

	/* What is refused changes nothing */
	filter = file_open(test, false, FMODE_WRITE, false);
	KUNIT_EXPECT_EQ(test, -EINVAL, file_write(filter, "no_such_function"));
	KUNIT_EXPECT_EQ(test, -EINVAL, file_write(filter, "tracers_func_b:traceoff"));
	KUNIT_EXPECT_EQ(test, -EINVAL, file_write(filter, "tracers_func_b:mod"));
	KUNIT_EXPECT_EQ(test, -EINVAL, file_write(filter, "*:mod:no_such_module"));
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
	expect_calls(test, &counters[0], 1, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&top()->mod_trace));

	/* Open for another one than is picked when it is closed */
	filter = file_open(test, false, FMODE_WRITE, true);
	pick(test, "second");
	KUNIT_EXPECT_EQ(test, 0, file_write(filter, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
	expect_calls(test, &counters[0], 0, 1);
	expect_calls(test, &counters[1], 1, 0);
}

static void tracers_two_writers(struct kunit *test)
{
	struct picked_filter *one, *two;

	start(test, &counters[0], "first");
	pick(test, "first");

	/* Both add something */
	write_filter(test, "vfs_read", true);
	one = file_open(test, false, FMODE_WRITE, false);
	two = file_open(test, false, FMODE_WRITE, false);
	KUNIT_EXPECT_EQ(test, 0, file_write(one, "tracers_func_a"));
	KUNIT_EXPECT_EQ(test, 0, file_write(two, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, 0, file_close(one));
	KUNIT_EXPECT_EQ(test, 0, file_close(two));
	expect_calls(test, &counters[0], 1, 1);

	/* One removes something and the other adds something */
	one = file_open(test, false, FMODE_WRITE, false);
	two = file_open(test, false, FMODE_WRITE, false);
	KUNIT_EXPECT_EQ(test, 0, file_write(one, "!tracers_func_a"));
	KUNIT_EXPECT_EQ(test, 0, file_write(two, "vfs_write"));
	KUNIT_EXPECT_EQ(test, 0, file_close(one));
	KUNIT_EXPECT_EQ(test, 0, file_close(two));
	expect_calls(test, &counters[0], 0, 1);

	/* One begins anew */
	one = file_open(test, false, FMODE_WRITE, false);
	two = file_open(test, false, FMODE_WRITE, true);
	KUNIT_EXPECT_EQ(test, 0, file_write(one, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, 0, file_write(two, "tracers_func_a"));
	KUNIT_EXPECT_EQ(test, 0, file_close(two));
	KUNIT_EXPECT_EQ(test, 0, file_close(one));
	expect_calls(test, &counters[0], 1, 0);
	KUNIT_EXPECT_FALSE(test, shows(test, "first", ip_b));
}

static void tracers_gone(struct kunit *test)
{
	struct picked_filter *filter;

	start(test, &counters[0], "first");
	pick(test, "first");

	filter = file_open(test, false, FMODE_WRITE, true);
	KUNIT_EXPECT_EQ(test, 0, file_write(filter, "tracers_func_b"));
	stop(test, &counters[0]);
	KUNIT_EXPECT_EQ(test, -ENODEV, file_write(filter, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, -ENODEV, file_close(filter));

	/* Another one has its memory */
	start(test, &counters[0], "first");
	expect_calls(test, &counters[0], 1, 0);
	pick(test, "first");
	filter = file_open(test, false, FMODE_READ | FMODE_WRITE, true);
	KUNIT_EXPECT_EQ(test, 0, file_write(filter, "tracers_func_b"));
	stop(test, &counters[0]);
	start(test, &counters[0], "first");
	KUNIT_EXPECT_EQ(test, -ENODEV, file_write(filter, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, -ENODEV, file_close(filter));
	expect_calls(test, &counters[0], 1, 0);
}

/* One that shares the filter of the function tracer, and has a name */
static void tracers_share(struct kunit *test)
{
	struct ftrace_ops *ops = &counters[0].ops;
	struct picked_filter *filter;

	ftrace_ops_set_global_filter(ops);
	ops->name = "sharing";
	ftrace_set_global_filter("tracers_func_a", strlen("tracers_func_a"), 1);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
	expect_listed(test, "*trace sharing ");
	expect_calls(test, &counters[0], 1, 0);

	/* Nothing was changed, so it shares it still */
	pick(test, "sharing");
	KUNIT_EXPECT_TRUE(test, shows(test, "sharing", ip_a));
	filter = file_open(test, false, FMODE_WRITE, false);
	KUNIT_EXPECT_EQ(test, 0, file_close(filter));
	ftrace_set_global_filter("tracers_func_b", strlen("tracers_func_b"), 1);
	expect_calls(test, &counters[0], 0, 1);

	/* Now it does not */
	write_filter(test, "tracers_func_a", false);
	expect_calls(test, &counters[0], 1, 1);
	KUNIT_EXPECT_FALSE(test, shows(test, "trace", ip_a));
	KUNIT_EXPECT_TRUE(test, shows(test, "trace", ip_b));
	ftrace_set_global_filter("vfs_read", strlen("vfs_read"), 1);
	expect_calls(test, &counters[0], 1, 1);

	/* With the next registration it does again */
	stop(test, &counters[0]);
	KUNIT_EXPECT_PTR_EQ(test, &global_ops.local_hash, ops->func_hash);
	ftrace_set_global_filter("tracers_func_b", strlen("tracers_func_b"), 1);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
	expect_calls(test, &counters[0], 0, 1);
}

static bool locked;

/* As ftrace_set_filter() does it: the filter's lock, then ftrace_lock */
static int lock_both(void *data)
{
	struct ftrace_ops *ops = data;

	mutex_lock(&ops->func_hash->regex_lock);
	WRITE_ONCE(locked, true);
	msleep(100);
	mutex_lock(&ftrace_lock);
	mutex_unlock(&ftrace_lock);
	WRITE_ONCE(locked, false);
	mutex_unlock(&ops->func_hash->regex_lock);

	while (!kthread_should_stop())
		usleep_range(1000, 2000);

	return 0;
}

static void tracers_owner_is_at_it(struct kunit *test)
{
	struct task_struct *task;

	start(test, &counters[0], "first");
	pick(test, "first");

	locked = false;
	task = kthread_run(lock_both, &counters[0].ops, "tracers_lock");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	while (!READ_ONCE(locked))
		usleep_range(1000, 2000);

	write_filter(test, "tracers_func_b", true);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(locked));
	kthread_stop(task);
	expect_calls(test, &counters[0], 0, 1);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static notrace int tracers_entry(struct ftrace_graph_ent *trace,
				 struct fgraph_ops *gops)
{
	unsigned long *calls = gops->private;

	calls[trace->func == ip_b]++;

	return 0;
}

static notrace void tracers_return(struct ftrace_graph_ret *trace,
				   struct fgraph_ops *gops)
{
}

static struct fgraph_ops graph[2];

static void graph_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(graph); i++) {
		/* Does nothing if it is not registered */
		unregister_ftrace_graph(&graph[i]);
		if (graph[i].ops.func_hash == &graph[i].ops.local_hash)
			ftrace_free_filter(&graph[i].ops);
	}
	memset(graph, 0, sizeof(graph));
}

static void tracers_graph(struct kunit *test)
{
	struct picked_filter *filter;
	unsigned long calls[2][2] = { };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(graph); i++) {
		graph[i].entryfunc = tracers_entry;
		graph[i].retfunc = tracers_return;
		graph[i].private = calls[i];
		set_filter(test, &graph[i].ops, ip_a);
	}
	graph[1].ops.name = "graph";
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graph[0]));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graph[1]));
	expect_listed(test, "*trace tracers_entry graph ");

	call(tracers_func_a);
	call(tracers_func_b);
	KUNIT_EXPECT_EQ(test, 1UL, calls[0][0]);
	KUNIT_EXPECT_EQ(test, 0UL, calls[0][1]);
	KUNIT_EXPECT_EQ(test, 1UL, calls[1][0]);
	KUNIT_EXPECT_EQ(test, 0UL, calls[1][1]);

	pick(test, "tracers_entry");
	write_filter(test, "tracers_func_b", true);
	memset(calls, 0, sizeof(calls));
	call(tracers_func_a);
	call(tracers_func_b);
	KUNIT_EXPECT_EQ(test, 0UL, calls[0][0]);
	KUNIT_EXPECT_EQ(test, 1UL, calls[0][1]);
	KUNIT_EXPECT_EQ(test, 1UL, calls[1][0]);
	KUNIT_EXPECT_EQ(test, 0UL, calls[1][1]);

	pick(test, "graph");
	filter = file_open(test, false, FMODE_WRITE, false);
	KUNIT_EXPECT_EQ(test, 0, file_write(filter, "tracers_func_b"));
	unregister_ftrace_graph(&graph[1]);
	expect_listed(test, "*trace tracers_entry ");
	KUNIT_EXPECT_EQ(test, -ENODEV, file_close(filter));
}

static void start_sharing(struct kunit *test, struct trace_array *tr)
{
	static unsigned long calls[2];

	graph[0].entryfunc = tracers_entry;
	graph[0].retfunc = tracers_return;
	graph[0].private = calls;
	trace_graph_share_filter(&graph[0], tr);
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&graph[0]));
}

static void stop_sharing(void)
{
	unregister_ftrace_graph(&graph[0]);
	memset(&graph[0], 0, sizeof(graph[0]));
}
#else
static void graph_exit(void) { }

static void start_sharing(struct kunit *test, struct trace_array *tr) { }
static void stop_sharing(void) { }
#endif

/* The own name is not ambiguous in the directory, others may be at the top */
static void tracers_instances(struct kunit *test)
{
	struct trace_array *tr;
	struct picked_filter *filter;

	tr = trace_array_get_by_name("trace");
	KUNIT_ASSERT_NOT_NULL(test, tr);
	expect_listed(test, "*trace ");
	KUNIT_EXPECT_STREQ(test, "*trace ", listed(test, tr));

	KUNIT_EXPECT_EQ(test, 0, tracing_set_tracer(tr, "function"));
	expect_listed(test, "*trace trace#2 ");
	KUNIT_EXPECT_STREQ(test, "*trace ", listed(test, tr));
	start(test, &counters[0], "trace#2");
	KUNIT_EXPECT_EQ(test, -EINVAL, function_tracer_pick(tr, "trace#2"));
	KUNIT_EXPECT_EQ(test, 0, function_tracer_pick(tr, "trace"));
	stop(test, &counters[0]);

	/* What shares the filter of the instance is no other tracer */
	start_sharing(test, tr);
	expect_listed(test, "*trace trace#2 ");

	pick(test, "trace#2");
	write_filter(test, "tracers_func_a", true);
	KUNIT_EXPECT_TRUE(test, shows(test, "trace#2", ip_a));
	KUNIT_EXPECT_TRUE(test, shows(test, "trace", 0));

	/* It goes while it is picked, and its file is open */
	filter = file_open(test, false, FMODE_WRITE, true);
	stop_sharing();
	trace_array_put(tr);
	KUNIT_EXPECT_EQ(test, 0, trace_array_destroy(tr));
	expect_listed(test, "*trace ");
	KUNIT_EXPECT_EQ(test, -ENODEV, file_write(filter, "tracers_func_b"));
	KUNIT_EXPECT_EQ(test, -ENODEV, file_close(filter));
}

/**
 * struct writer - somebody who writes filters
 * @word:	what is written
 * @done:	how often it came to be a filter
 * @gone:	how often the tracer went before
 * @errors:	what else happened
 */
struct writer {
	const char	*word;
	unsigned long	done;
	unsigned long	gone;
	unsigned long	errors;
};

static int writer_run(void *data)
{
	struct picked_filter *filter;
	struct writer *writer = data;
	unsigned long i;
	int ret;

	for (i = 0; !kthread_should_stop(); i++) {
		ret = function_tracer_pick(top(), "passing");
		if (ret && ret != -EINVAL)
			writer->errors++;

		filter = picked_filter_open(top(), i & 1, FMODE_READ | FMODE_WRITE,
					    i & 2);
		if (IS_ERR(filter)) {
			writer->errors++;
		} else if (filter) {
			ret = file_write(filter, writer->word);
			if (ret && ret != -ENODEV)
				writer->errors++;
			ret = file_close(filter);
			if (!ret)
				writer->done++;
			else if (ret == -ENODEV)
				writer->gone++;
			else
				writer->errors++;
		}
		cond_resched_tasks_rcu_qs();
	}

	return 0;
}

#define NR_ROUNDS	60

/* Tracers come and go, and their memory with them, while two write filters */
static void tracers_race(struct kunit *test)
{
	struct writer writers[2] = {
		{ .word = "tracers_func_a" }, { .word = "tracers_func_b" }
	};
	struct task_struct *tasks[2];
	struct counter *counter;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(writer_run, &writers[i], "tracers_writer");
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
	}

	for (i = 0; i < NR_ROUNDS && !ret; i++) {
		counter = kzalloc(sizeof(*counter), GFP_KERNEL);
		if (!counter)
			break;
		counter->ops.func = tracers_call;
		counter->ops.name = "passing";
		ret = ftrace_set_filter_ip(&counter->ops, ip_a, 0, 1);
		if (!ret && i & 1)
			ret = register_ftrace_subops(&manager, &counter->ops);
		else if (!ret)
			ret = register_ftrace_function(&counter->ops);

		/* The owner changes its filter, too */
		msleep(i % 20);
		if (!ret && !(i % 3))
			ret = ftrace_set_filter_ip(&counter->ops, ip_b, 0, 0);
		msleep(i % 7);

		if (!ret && i & 1)
			ret = unregister_ftrace_subops(&manager, &counter->ops);
		else if (!ret)
			ret = unregister_ftrace_function(&counter->ops);
		if (!ret) {
			ftrace_free_filter(&counter->ops);
			kfree(counter);
		}
	}

	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		kthread_stop(tasks[i]);

	KUNIT_EXPECT_EQ(test, 0, ret);
	expect_listed(test, "*trace ");
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		KUNIT_EXPECT_EQ(test, 0UL, writers[i].errors);
		KUNIT_EXPECT_GT(test, writers[i].done, 0UL);
		kunit_info(test, "%lu filters written, %lu too late",
			   writers[i].done, writers[i].gone);
	}
}

static int tracers_init(struct kunit *test)
{
	unsigned int i;

	ip_a = ftrace_location((unsigned long)tracers_func_a);
	ip_b = ftrace_location((unsigned long)tracers_func_b);
	KUNIT_ASSERT_NE(test, ip_a, 0UL);
	KUNIT_ASSERT_NE(test, ip_b, 0UL);

	counters = kunit_kcalloc(test, NR_COUNTERS, sizeof(*counters), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	for (i = 0; i < NR_COUNTERS; i++)
		counters[i].ops.func = tracers_call;

	return 0;
}

/* Whatever became of a test, nothing of it must go on */
static void tracers_exit(struct kunit *test)
{
	struct ftrace_ops *ops;
	unsigned int i;

	graph_exit();

	for (i = 0; counters && i < NR_COUNTERS; i++) {
		ops = &counters[i].ops;

		if (ops->flags & FTRACE_OPS_FL_SUBOP)
			unregister_ftrace_subops(ops->managed, ops);
		if (ops->flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(ops);
		if (ops->func_hash == &ops->local_hash)
			ftrace_free_filter(ops);
	}
	counters = NULL;

	ftrace_set_global_filter(NULL, 0, 1);
	function_tracer_pick(top(), "trace");
}

static struct kunit_case tracers_cases[] = {
	KUNIT_CASE(tracers_named),
	KUNIT_CASE(tracers_not_listed),
	KUNIT_CASE(tracers_pick),
	KUNIT_CASE(tracers_filter),
	KUNIT_CASE(tracers_two_writers),
	KUNIT_CASE(tracers_gone),
	KUNIT_CASE(tracers_share),
	KUNIT_CASE(tracers_owner_is_at_it),
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	KUNIT_CASE(tracers_graph),
#endif
	KUNIT_CASE(tracers_instances),
	KUNIT_CASE(tracers_race),
	{}
};

static struct kunit_suite tracers_suite = {
	.name = "function_tracers",
	.init = tracers_init,
	.exit = tracers_exit,
	.test_cases = tracers_cases,
};

kunit_test_suite(tracers_suite);
