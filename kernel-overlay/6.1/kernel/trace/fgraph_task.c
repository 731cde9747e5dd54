// SPDX-License-Identifier: GPL-2.0
/*
 * Shadow stacks of tasks: allocated when function graph or hooks of returns need
 * them, at fork, and for the idle tasks of CPUs.
 *
 * Copyright (c) 2008-2009 Frederic Weisbecker <fweisbec@gmail.com>
 * Mostly borrowed from function tracer which
 * is Copyright (c) Steven Rostedt <srostedt@redhat.com>
 *
 * Highly modified by Steven Rostedt (VMware).
 */
#include <linux/ftrace.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "ftrace_internal.h"
#include "fgraph_stack.h"

/* Number of fgraph_get_stacks(); if not zero, new tasks get a shadow stack */
static unsigned int fgraph_nr_stack_users;

/*
 * Assign shadow stacks to tasks without one. Takes them from the end of
 * @stacks, which has @nr entries; unused stacks stay in the array. Returns how
 * many tasks are still without a stack.
 */
static unsigned int fgraph_assign_stacks(struct fgraph_stack **stacks,
					 unsigned int nr)
{
	struct task_struct *g, *t;
	unsigned int missing = 0;

	rcu_read_lock();
	for_each_process_thread(g, t) {
		if (t->ret_stack)
			continue;

		if (!nr) {
			missing++;
			continue;
		}

		/*
		 * Pairs with READ_ONCE() in fgraph_call(). For a new task,
		 * ftrace_graph_post_fork() may do the same concurrently.
		 */
		if (!cmpxchg(&t->ret_stack, NULL, stacks[nr - 1]))
			stacks[--nr] = NULL;
	}
	rcu_read_unlock();

	return missing;
}

/* Allocate shadow stacks for all tasks that have none */
static int fgraph_alloc_stacks(void)
{
	unsigned int i, nr, missing = fgraph_assign_stacks(NULL, 0);
	struct fgraph_stack **stacks;
	int ret = 0;

	/*
	 * New tasks are forked with a shadow stack, so once is enough unless
	 * that allocation fails.
	 */
	while (missing && !ret) {
		stacks = kvcalloc(missing, sizeof(*stacks), GFP_KERNEL);
		if (!stacks)
			return -ENOMEM;

		for (nr = 0; nr < missing; nr++) {
			stacks[nr] = fgraph_stack_alloc();
			if (!stacks[nr])
				break;
			cond_resched();
		}
		if (nr == missing)
			missing = fgraph_assign_stacks(stacks, nr);
		else
			ret = -ENOMEM;

		/* Some are left over on failure, or if tasks exited meanwhile */
		for (i = 0; i < nr; i++)
			fgraph_stack_free(stacks[i]);
		kvfree(stacks);
	}

	return ret;
}

static DEFINE_PER_CPU(struct fgraph_stack *, idle_ret_stack);

static void
graph_init_task(struct task_struct *t, struct fgraph_stack *ret_stack)
{
	t->ftrace_timestamp = 0;
	/* Pairs with READ_ONCE() in fgraph_call() */
	smp_store_release(&t->ret_stack, ret_stack);
}

/*
 * Allocate a return stack for the idle task. May be the first
 * time through, or it may be done by CPU hotplug online.
 */
void ftrace_graph_init_idle_task(struct task_struct *t, int cpu)
{
	t->curr_ret_stack = 0;
	/*
	 * The idle task has no parent, it either has its own
	 * stack or no stack at all.
	 */
	if (t->ret_stack)
		WARN_ON(t->ret_stack != per_cpu(idle_ret_stack, cpu));

	if (fgraph_nr_stack_users) {
		struct fgraph_stack *ret_stack;

		ret_stack = per_cpu(idle_ret_stack, cpu);
		if (!ret_stack) {
			ret_stack = fgraph_stack_alloc();
			if (!ret_stack)
				return;
			per_cpu(idle_ret_stack, cpu) = ret_stack;
		}
		graph_init_task(t, ret_stack);
	}
}

/**
 * ftrace_graph_reset_idle_task - prepare an idle task for a CPU to come online
 * @t:		the idle task of a CPU that is about to be brought up
 * @restarts:	true if it starts at its entry point, false if it continues where
 *		it stopped
 *
 * When a CPU goes offline, its idle task stops inside some traced calls. If it
 * restarts at its entry point, they never return: remove them.
 *
 * Context: function graph is paused for @t, which may run, but returns from no
 * call that is on the shadow stack.
 */
void ftrace_graph_reset_idle_task(struct task_struct *t, bool restarts)
{
	/* Not dead since the last reset; it may even run, if it started too late */
	if (!atomic_read(&t->tracing_graph_pause))
		return;

	if (restarts) {
		t->curr_ret_stack = 0;
		if (t->ret_stack)
			fgraph_stack_init(t->ret_stack);
	}
	/*
	 * If @t runs, it writes to the stack only after the reset: pairs with
	 * the control dependency of the architectures, which test this before
	 * they push a frame. What @t reads may be older. It then pushes on top
	 * of the frames that were removed, which only wastes their space.
	 */
	atomic_set_release(&t->tracing_graph_pause, 0);
}

/* Reset the fields that a newly created task copied from its parent */
void ftrace_graph_init_task(struct task_struct *t)
{
	/* Make sure we do not use the parent ret_stack */
	t->ret_stack = NULL;
	t->curr_ret_stack = 0;
	t->ftrace_timestamp = 0;
}

/**
 * ftrace_graph_post_fork - allocate a return stack for a newly created task
 * @t:	the task, on the task list but not running yet
 *
 * If fgraph_get_stacks() runs concurrently, the return stack is allocated here
 * or there.
 *
 * Context: may sleep.
 */
void ftrace_graph_post_fork(struct task_struct *t)
{
	struct fgraph_stack *ret_stack;

	/*
	 * Read after @t was added to the task list with tasklist_lock held;
	 * pairs with read_lock() in fgraph_get_stacks(). Idle tasks are not
	 * on the list, see ftrace_graph_init_idle_task().
	 */
	if (!READ_ONCE(fgraph_nr_stack_users) || !t->pid)
		return;

	ret_stack = fgraph_stack_alloc();
	if (ret_stack && cmpxchg(&t->ret_stack, NULL, ret_stack))
		fgraph_stack_free(ret_stack);
}

void ftrace_graph_exit_task(struct task_struct *t)
{
	struct fgraph_stack *ret_stack = t->ret_stack;

	t->ret_stack = NULL;
	/* NULL must become visible to IRQs before we free it: */
	barrier();

	fgraph_stack_free(ret_stack);
}

/**
 * fgraph_get_stacks - allocate shadow stacks for all tasks
 *
 * From here on, new tasks get one, too, until fgraph_put_stacks() has been
 * called as often. A task has none if the allocation failed at fork, so each
 * call of this function tries again.
 *
 * Context: ftrace_lock held; may sleep.
 * Return: 0, or -ENOMEM, with nothing to be put.
 */
int fgraph_get_stacks(void)
{
	int cpu, ret;

	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(fgraph_nr_stack_users, fgraph_nr_stack_users + 1);

	/* The cpu_boot init_task->ret_stack will never be freed */
	for_each_possible_cpu(cpu) {
		struct task_struct *idle = idle_task(cpu);

		/* While booting, init_idle() is still to come for other CPUs */
		if (idle && !idle->ret_stack)
			ftrace_graph_init_idle_task(idle, cpu);
	}

	/*
	 * After this, a new task is on the task list, or its parent sees
	 * that shadow stacks are in use. Pairs with write_lock_irq() in
	 * copy_process().
	 */
	read_lock(&tasklist_lock);
	read_unlock(&tasklist_lock);

	ret = fgraph_alloc_stacks();
	if (ret)
		fgraph_put_stacks();

	return ret;
}

/**
 * fgraph_put_stacks - stop allocating shadow stacks for new tasks
 *
 * Undoes one fgraph_get_stacks(). Tasks keep the stacks they have.
 *
 * Context: ftrace_lock held.
 */
void fgraph_put_stacks(void)
{
	lockdep_assert_held(&ftrace_lock);

	WRITE_ONCE(fgraph_nr_stack_users, fgraph_nr_stack_users - 1);
}
