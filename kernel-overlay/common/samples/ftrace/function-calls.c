// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls functions as often and as long as it is told, to try and test tracers
 *
 * Write "WHAT COUNT [ARG]" to /sys/module/function_calls/parameters/run. The
 * write returns when all calls have returned:
 *
 *	busy COUNT US		calls_busy() spins for US microseconds
 *	sleep COUNT MS		calls_sleep() sleeps for MS milliseconds
 *	nest COUNT US		calls_nest() spins for US microseconds itself, and
 *				calls calls_busy() twice, with 2 * US
 *	recurse COUNT DEPTH	calls_recurse() calls itself until it is DEPTH deep
 *	irq COUNT		calls_irq() is called by interrupts
 *	migrate COUNT		calls_migrate() returns on another CPU
 *	never COUNT		calls_never() exits its task
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/trace_clock.h>

/* In the clock of the tracers; udelay() depends on a good calibration */
static __always_inline void spin(unsigned int us)
{
	u64 end = trace_clock_local() + us * (u64)NSEC_PER_USEC;

	while (trace_clock_local() < end)
		cpu_relax();
}

static noinline __noclone void calls_busy(unsigned int us)
{
	spin(us);
	barrier();
}

static noinline __noclone void calls_sleep(unsigned int ms)
{
	/* By a timer: jiffies may lag behind the clock of the tracers */
	usleep_range(1000UL * ms, 1000UL * ms + 1000);
	barrier();
}

static noinline __noclone void calls_nest(unsigned int us)
{
	calls_busy(2 * us);
	spin(us);
	calls_busy(2 * us);
	barrier();
}

static noinline __noclone void calls_recurse(unsigned int depth)
{
	if (depth > 1)
		calls_recurse(depth - 1);
	barrier();
}

static noinline __noclone void calls_irq(struct irq_work *work)
{
	barrier();
}

static noinline __noclone void calls_migrate(unsigned int arg)
{
	unsigned int cpu = cpumask_next(raw_smp_processor_id(), cpu_online_mask);

	if (cpu >= nr_cpu_ids)
		cpu = cpumask_first(cpu_online_mask);
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	barrier();
}

static noinline __noclone int calls_never(void *done)
{
	kthread_complete_and_exit(done, 0);
}

static DEFINE_IRQ_WORK(calls_work, calls_irq);

static void run_irq(unsigned int arg)
{
	irq_work_queue(&calls_work);
	irq_work_sync(&calls_work);
}

static void run_never(unsigned int arg)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct task_struct *task;

	task = kthread_run(calls_never, &done, "calls_never");
	if (!IS_ERR(task))
		wait_for_completion(&done);
}

static const struct {
	const char	*name;
	void		(*func)(unsigned int arg);
} calls[] = {
	{ "busy",	calls_busy },
	{ "sleep",	calls_sleep },
	{ "nest",	calls_nest },
	{ "recurse",	calls_recurse },
	{ "irq",	run_irq },
	{ "migrate",	calls_migrate },
	{ "never",	run_never },
};

static int run_calls(const char *val, const struct kernel_param *kp)
{
	unsigned int i, nr, count, arg = 0;
	char what[16];

	nr = sscanf(val, "%15s %u %u", what, &count, &arg);
	if (nr < 2)
		return -EINVAL;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strcmp(what, calls[i].name))
			continue;
		while (count--) {
			calls[i].func(arg);
			cond_resched();
		}
		return 0;
	}

	return -EINVAL;
}

static const struct kernel_param_ops run_ops = {
	.set	= run_calls,
};
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "What to call, how often, and an argument");

static int __init run_init(void)
{
	return 0;
}
module_init(run_init);

/* Lets the module be unloaded */
static void __exit run_cleanup(void)
{
	irq_work_sync(&calls_work);
}
module_exit(run_cleanup);

MODULE_DESCRIPTION("Calls functions as often and as long as it is told");
MODULE_LICENSE("GPL");
