// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the lifetime of function graph users: what their callbacks may see
 * while they are unregistered, and after their index has a new owner. And of
 * what they are told of calls that do not fit on the shadow stack.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/sched/task.h>

/* More calls than fit on a shadow stack if a user reserves MUCH_DATA for each */
#define MANY_CALLS	48
#define MUCH_DATA	(32 * sizeof(long))

/* More than fit, to see each index */
#define MAX_TRIES	64

/* Callbacks of a task that may be inside others, before a test gives up */
#define MAX_NESTED	16

/* Long enough for the other CPU to get ahead, even in an emulator */
#define DELAY_MS	300

struct test_user {
	struct fgraph_ops	gops;
	/* How long the callbacks run */
	unsigned int		entry_ms;
	unsigned int		return_ms;
	/* How many bytes the entry function reserves */
	int			reserve;
	/* They call a function that is traced */
	bool			calls;
	/* What they have seen */
	bool			inside;
	bool			gone;
	int			entries;
	int			returns;
	int			late;
	unsigned long		task_var;
	/* How many run inside another, now and at most */
	int			nested;
	int			max_nested;
};

struct call {
	struct completion	entered;
	struct task_struct	*task;
	void			(*func)(struct call *call);
	bool			go;
};

/* Not on the stack, as callbacks that are late write to them */
static struct test_user user_a, user_b, user_c, user_other;

static void notrace user_delay(struct test_user *user, unsigned int ms)
{
	if (ms) {
		WRITE_ONCE(user->inside, true);
		mdelay(ms);
	}
	if (READ_ONCE(user->gone))
		user->late++;
}

static noinline void fgraph_kunit_other(void);

static void notrace user_call(struct test_user *user)
{
	if (!user->calls)
		return;

	user->nested++;
	if (user->nested > user->max_nested)
		user->max_nested = user->nested;
	if (user->nested < MAX_NESTED)
		fgraph_kunit_other();
	user->nested--;
}

static int notrace user_entry(struct ftrace_graph_ent *trace,
			      struct fgraph_ops *gops)
{
	struct test_user *user = container_of(gops, struct test_user, gops);
	unsigned long *data;

	user->entries++;
	user->task_var = *fgraph_get_task_var(gops);
	*fgraph_get_task_var(gops) = 1;
	if (user->reserve) {
		data = fgraph_reserve_data(gops->idx, user->reserve);
		if (!data)
			return 0;
		*data = 1;
	}
	user_delay(user, user->entry_ms);
	user_call(user);

	return 1;
}

static void notrace user_return(struct ftrace_graph_ret *trace,
				struct fgraph_ops *gops)
{
	struct test_user *user = container_of(gops, struct test_user, gops);

	user->returns++;
	user_delay(user, user->return_ms);
	user_call(user);
}

static void user_init(struct kunit *test, struct test_user *user, char *func)
{
	memset(user, 0, sizeof(*user));
	user->gops.entryfunc = user_entry;
	user->gops.retfunc = user_return;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter(&user->gops.ops, func,
						   strlen(func), 1));
}

static void user_register(struct kunit *test, struct test_user *user)
{
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_graph(&user->gops));
}

static void user_unregister(struct test_user *user)
{
	unregister_ftrace_graph(&user->gops);
	WRITE_ONCE(user->gone, true);
}

/* Register @user until it has the index @idx */
static void user_register_as(struct kunit *test, struct test_user *user, int idx)
{
	int i;

	for (i = 0; i < MAX_TRIES; i++) {
		user_register(test, user);
		if (user->gops.idx == idx)
			return;
		unregister_ftrace_graph(&user->gops);
	}
	KUNIT_FAIL_AND_ABORT(test, "index %d is never used again", idx);
}

/* The functions that are traced */

static noinline void fgraph_kunit_other(void)
{
	barrier();
}

/* Call itself until @depth calls are open, and the other one in the last */
static noinline __noclone void fgraph_kunit_nest(unsigned int depth)
{
	if (depth > 1)
		fgraph_kunit_nest(depth - 1);
	else
		fgraph_kunit_other();
	barrier();
}

static noinline void fgraph_kunit_nop(struct call *call)
{
	barrier();
}

static noinline void fgraph_kunit_sleep(struct call *call)
{
	complete(&call->entered);
	while (!READ_ONCE(call->go))
		schedule_timeout_uninterruptible(1);
	fgraph_kunit_other();
	barrier();
}

static noinline void fgraph_kunit_spin(struct call *call)
{
	complete(&call->entered);
	/* Without preemption, the grace period must not wait for this task */
	while (!READ_ONCE(call->go)) {
		cpu_relax();
		cond_resched();
	}
	fgraph_kunit_other();
	barrier();
}

static int call_thread(void *data)
{
	struct call *call = data;

	call->func(call);
	barrier();
	return 0;
}

static void call_start(struct kunit *test, struct call *call,
		       void (*func)(struct call *call))
{
	unsigned int cpu;

	memset(call, 0, sizeof(*call));
	init_completion(&call->entered);
	call->func = func;

	call->task = kthread_create(call_thread, call, "fgraph_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(call->task));
	get_task_struct(call->task);

	/* Beside this task: on a CPU of its own, if there is one */
	cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	if (cpu < nr_cpu_ids)
		kthread_bind(call->task, cpu);
	wake_up_process(call->task);
}

static void call_end(struct call *call)
{
	WRITE_ONCE(call->go, true);
	kthread_stop(call->task);
	put_task_struct(call->task);
}

static void wait_inside(struct kunit *test, struct test_user *user)
{
	int i;

	for (i = 0; i < 500 && !READ_ONCE(user->inside); i++)
		msleep(20);
	KUNIT_EXPECT_TRUE_MSG(test, READ_ONCE(user->inside),
			      "the function is not traced");
}

/* How many other users there are */
static const struct users_param {
	const char	*name;
	bool		other;
} users_params[] = {
	{ "one user", false },
	{ "two users", true },
};

KUNIT_ARRAY_PARAM_DESC(users, users_params, name);

static void other_register(struct kunit *test)
{
	const struct users_param *param = test->param_value;

	user_init(test, &user_other, "fgraph_kunit_nop");
	if (param->other)
		user_register(test, &user_other);
}

static void other_unregister(struct kunit *test)
{
	const struct users_param *param = test->param_value;

	if (param->other)
		user_unregister(&user_other);
	ftrace_free_filter(&user_other.gops.ops);
}

/* unregister_ftrace_graph() waits for an entry function */
static void unregister_entry_test(struct kunit *test)
{
	struct call call;

	other_register(test);
	user_init(test, &user_a, "fgraph_kunit_nop");
	user_a.entry_ms = DELAY_MS;
	user_register(test, &user_a);

	call_start(test, &call, fgraph_kunit_nop);
	wait_inside(test, &user_a);
	user_unregister(&user_a);
	call_end(&call);

	KUNIT_EXPECT_EQ(test, 1, user_a.entries);
	KUNIT_EXPECT_EQ(test, 0, user_a.late);
	ftrace_free_filter(&user_a.gops.ops);
	other_unregister(test);
}

/* unregister_ftrace_graph() waits for a return function */
static void unregister_return_test(struct kunit *test)
{
	struct call call;

	other_register(test);
	user_init(test, &user_a, "fgraph_kunit_nop");
	user_a.return_ms = DELAY_MS;
	user_register(test, &user_a);

	call_start(test, &call, fgraph_kunit_nop);
	wait_inside(test, &user_a);
	user_unregister(&user_a);
	call_end(&call);

	KUNIT_EXPECT_EQ(test, 1, user_a.returns);
	KUNIT_EXPECT_EQ(test, 0, user_a.late);
	ftrace_free_filter(&user_a.gops.ops);
	other_unregister(test);
}

/*
 * A call that is open while its user is unregistered does not reach the next
 * user with that index, neither do the data and the task variable.
 */
static void reuse(struct kunit *test, void (*func)(struct call *call),
		  char *name)
{
	/* An assertion that fails leaves the thread running */
	static struct call call;

	other_register(test);
	user_init(test, &user_a, name);
	user_init(test, &user_b, "fgraph_kunit_other");
	user_register(test, &user_a);

	call_start(test, &call, func);
	wait_for_completion(&call.entered);
	user_unregister(&user_a);

	user_register_as(test, &user_b, user_a.gops.idx);
	call_end(&call);
	user_unregister(&user_b);

	KUNIT_EXPECT_EQ(test, 1, user_a.entries);
	KUNIT_EXPECT_EQ(test, 0, user_a.returns);
	KUNIT_EXPECT_EQ(test, 0, user_a.late);
	KUNIT_EXPECT_EQ(test, 1, user_b.entries);
	KUNIT_EXPECT_EQ(test, 1, user_b.returns);
	KUNIT_EXPECT_EQ(test, 0, user_b.task_var);
	ftrace_free_filter(&user_a.gops.ops);
	ftrace_free_filter(&user_b.gops.ops);
	other_unregister(test);
}

static void reuse_sleeping_test(struct kunit *test)
{
	reuse(test, fgraph_kunit_sleep, "fgraph_kunit_sleep");
}

static void reuse_running_test(struct kunit *test)
{
	reuse(test, fgraph_kunit_spin, "fgraph_kunit_spin");
}

/* Callbacks that call a function that is traced do not recurse for ever */
static void recursion_test(struct kunit *test)
{
	other_register(test);
	user_init(test, &user_a, "fgraph_kunit_other");
	user_a.calls = true;
	user_register(test, &user_a);

	fgraph_kunit_other();
	user_unregister(&user_a);

	/* One inside another: an interrupt may not be known as such at first */
	KUNIT_EXPECT_EQ(test, 2, user_a.max_nested);
	KUNIT_EXPECT_EQ(test, 3, user_a.entries);
	KUNIT_EXPECT_EQ(test, 3, user_a.returns);
	ftrace_free_filter(&user_a.gops.ops);
	other_unregister(test);
}

/* Each user is told of the calls that it has lost, and of no others */
static void lost_frames_test(struct kunit *test)
{
	other_register(test);
	user_init(test, &user_a, "fgraph_kunit_nest");
	user_init(test, &user_b, "fgraph_kunit_other");
	user_init(test, &user_c, "fgraph_kunit_nest");
	user_c.reserve = MUCH_DATA;
	user_register(test, &user_a);
	user_register(test, &user_b);
	user_register(test, &user_c);

	fgraph_kunit_other();
	KUNIT_EXPECT_EQ(test, 0, fgraph_get_overruns(&user_a.gops));
	KUNIT_EXPECT_EQ(test, 0, fgraph_get_overruns(&user_b.gops));
	fgraph_kunit_nest(MANY_CALLS);
	KUNIT_EXPECT_NE(test, 0, fgraph_get_overruns(&user_a.gops));
	KUNIT_EXPECT_EQ(test, MANY_CALLS,
			user_a.entries + fgraph_get_overruns(&user_a.gops));
	KUNIT_EXPECT_EQ(test, user_a.entries, user_a.returns);
	KUNIT_EXPECT_EQ(test, 1, user_b.entries);
	KUNIT_EXPECT_EQ(test, 1, fgraph_get_overruns(&user_b.gops));

	unregister_ftrace_graph(&user_a.gops);
	KUNIT_EXPECT_EQ(test, 0, fgraph_get_overruns(&user_a.gops));
	user_unregister(&user_b);
	user_unregister(&user_c);

	/* The next user of the index starts from zero */
	user_register_as(test, &user_b, user_a.gops.idx);
	KUNIT_EXPECT_EQ(test, 0, fgraph_get_overruns(&user_b.gops));
	user_unregister(&user_b);

	ftrace_free_filter(&user_a.gops.ops);
	ftrace_free_filter(&user_b.gops.ops);
	ftrace_free_filter(&user_c.gops.ops);
	other_unregister(test);
}

/* A call whose data do not fit is lost only to the user that reserves them */
static void lost_data_test(struct kunit *test)
{
	unsigned long lost_a, lost_b;

	other_register(test);
	user_init(test, &user_a, "fgraph_kunit_nest");
	user_init(test, &user_b, "fgraph_kunit_nest");
	user_a.reserve = MUCH_DATA;
	user_register(test, &user_a);
	user_register(test, &user_b);

	fgraph_kunit_nest(MANY_CALLS);
	lost_a = fgraph_get_overruns(&user_a.gops);
	lost_b = fgraph_get_overruns(&user_b.gops);
	KUNIT_EXPECT_EQ(test, MANY_CALLS, user_a.returns + lost_a);
	KUNIT_EXPECT_EQ(test, MANY_CALLS, user_b.returns + lost_b);
	KUNIT_EXPECT_GT(test, lost_a, lost_b);

	user_unregister(&user_a);
	user_unregister(&user_b);
	ftrace_free_filter(&user_a.gops.ops);
	ftrace_free_filter(&user_b.gops.ops);
	other_unregister(test);
}

static struct kunit_case fgraph_test_cases[] = {
	KUNIT_CASE_PARAM(unregister_entry_test, users_gen_params),
	KUNIT_CASE_PARAM(unregister_return_test, users_gen_params),
	KUNIT_CASE_PARAM(reuse_sleeping_test, users_gen_params),
	KUNIT_CASE_PARAM(reuse_running_test, users_gen_params),
	KUNIT_CASE_PARAM(recursion_test, users_gen_params),
	KUNIT_CASE_PARAM(lost_frames_test, users_gen_params),
	KUNIT_CASE_PARAM(lost_data_test, users_gen_params),
	{}
};

static int fgraph_test_init(struct kunit *test)
{
	/* Other users have indexes, and other tracers delay the callbacks */
	if (rcu_access_pointer(ftrace_ops_list) != &ftrace_list_end)
		kunit_skip(test, "other ftrace_ops are registered");
	return 0;
}

static struct kunit_suite fgraph_test_suite = {
	.name = "fgraph",
	.init = fgraph_test_init,
	.test_cases = fgraph_test_cases,
};

kunit_test_suite(fgraph_test_suite);

MODULE_DESCRIPTION("Tests of function graph users");
MODULE_LICENSE("GPL");
