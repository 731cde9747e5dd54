// SPDX-License-Identifier: GPL-2.0
/*
 * The shadow stack of the function graph tracer: its life, and reading it.
 *
 * Push and pop, which every traced call pays for, are in fgraph_stack.h.
 */
#include <linux/build_bug.h>
#include <linux/init.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "fgraph_stack.h"

static struct kmem_cache *fgraph_stack_cache __ro_after_init;

/*
 * All shadow stacks, those of tasks that have left the task list but not yet
 * come to their end among them. Walked under RCU.
 */
static LIST_HEAD(fgraph_stacks);
static DEFINE_RAW_SPINLOCK(fgraph_stacks_lock);

/**
 * fgraph_stack_walk - step to the next older frame that is in use
 * @stack:	the shadow stack to walk, of any task
 * @offset:	where to look first, as &task_struct.curr_ret_stack says; on
 *		return, where to look next
 *
 * Passes over frames that nobody owns (yet, or any more).
 *
 * A stack that is not current's may change while it is walked. The frames
 * then are what they happen to be, but the walk stays within the stack and
 * comes to an end, as it only ever goes down.
 *
 * Context: any. The task may not be freed meanwhile.
 * Return: the frame, or NULL if there are no more.
 */
struct fgraph_frame *fgraph_stack_walk(struct fgraph_stack *stack,
				       unsigned int *offset)
{
	struct fgraph_frame *frame;
	unsigned int here, prev;

	while ((here = *offset) > 0) {
		if (here > FGRAPH_FRAMES_SIZE - sizeof(*frame))
			break;

		frame = fgraph_stack_frame(stack, here);
		prev = READ_ONCE(frame->prev) & ~(FGRAPH_ALIGN - 1);
		*offset = prev < here ? prev : 0;

		if (READ_ONCE(frame->users))
			return frame;
	}

	*offset = 0;
	return NULL;
}

/**
 * fgraph_frame_data - find what a user has reserved in a frame
 * @frame:	the frame, of the current task
 * @user:	number of the user
 * @size:	if found, how many bytes were asked for
 *
 * Context: any, including NMI.
 * Return: the data, or NULL if @user has reserved none.
 */
void *fgraph_frame_data(struct fgraph_frame *frame, unsigned int user,
			int *size)
{
	unsigned int offset = sizeof(*frame);
	struct fgraph_reserved *data;

	while (offset < frame->size) {
		data = (void *)frame + offset;
		if (data->user == user) {
			*size = data->size;
			return data->data;
		}
		offset += sizeof(*data) + ALIGN(data->size, FGRAPH_ALIGN);
	}

	return NULL;
}

/**
 * fgraph_stack_any_open - does any task have a call open for a user?
 * @user:	the user's number
 *
 * A user that gets no more calls, and whose callbacks are known to have
 * finished, can only lose open calls. Once this function has returned false
 * for it, there are none. A return handler may still be busy with the last.
 *
 * Context: any; takes the time of a look at every task.
 * Return: true if a call that @user was told of may not have returned.
 */
bool fgraph_stack_any_open(unsigned int user)
{
	struct fgraph_stack *stack;
	bool open = false;

	rcu_read_lock();
	list_for_each_entry_rcu(stack, &fgraph_stacks, list) {
		if (READ_ONCE(stack->depth[user])) {
			open = true;
			break;
		}
	}
	rcu_read_unlock();

	return open;
}

/**
 * fgraph_stack_reset_user - forget what all tasks have of a user
 * @user:	the user's number; nobody may have it
 *
 * Context: any; takes the time of a look at every task.
 */
void fgraph_stack_reset_user(unsigned int user)
{
	struct fgraph_stack *stack;

	rcu_read_lock();
	list_for_each_entry_rcu(stack, &fgraph_stacks, list) {
		WRITE_ONCE(stack->depth[user], 0);
		stack->task_var[user] = 0;
	}
	rcu_read_unlock();
}

/**
 * fgraph_stack_clear - make a shadow stack empty
 * @stack:	the shadow stack; its task is not running, or is current and has
 *		interrupts disabled
 *
 * To go with setting &task_struct.curr_ret_stack to zero.
 */
void fgraph_stack_clear(struct fgraph_stack *stack)
{
	memset(stack->frames, 0, sizeof(struct fgraph_frame));
	memset(stack->depth, 0, sizeof(stack->depth));
	memset(stack->task_var, 0, sizeof(stack->task_var));
	fgraph_stack_frame(stack, 0)->size = sizeof(struct fgraph_frame);
}

/**
 * fgraph_stack_alloc - allocate an empty shadow stack
 *
 * Context: may sleep.
 * Return: the stack, or NULL if there is no memory.
 */
struct fgraph_stack *fgraph_stack_alloc(void)
{
	struct fgraph_stack *stack;
	unsigned long flags;

	stack = kmem_cache_zalloc(fgraph_stack_cache, GFP_KERNEL);
	if (!stack)
		return NULL;

	fgraph_stack_clear(stack);

	raw_spin_lock_irqsave(&fgraph_stacks_lock, flags);
	list_add_rcu(&stack->list, &fgraph_stacks);
	raw_spin_unlock_irqrestore(&fgraph_stacks_lock, flags);

	return stack;
}

static void fgraph_stack_free_rcu(struct rcu_head *rcu)
{
	kmem_cache_free(fgraph_stack_cache,
			container_of(rcu, struct fgraph_stack, rcu));
}

/**
 * fgraph_stack_free - free a shadow stack
 * @stack:	what fgraph_stack_alloc() returned, or NULL
 *
 * Context: any but NMI; nothing may run on the task that had the stack.
 */
void fgraph_stack_free(struct fgraph_stack *stack)
{
	unsigned long flags;

	if (!stack)
		return;

	raw_spin_lock_irqsave(&fgraph_stacks_lock, flags);
	list_del_rcu(&stack->list);
	raw_spin_unlock_irqrestore(&fgraph_stacks_lock, flags);

	call_rcu(&stack->rcu, fgraph_stack_free_rcu);
}

/* Before any tracer can be started from the command line */
static int __init fgraph_stack_init(void)
{
	BUILD_BUG_ON(sizeof(struct fgraph_stack) != FGRAPH_STACK_SIZE);
	BUILD_BUG_ON(sizeof(struct fgraph_frame) % FGRAPH_ALIGN);
	BUILD_BUG_ON(FGRAPH_FRAMES_SIZE / sizeof(struct fgraph_frame) >
		     FTRACE_RETFUNC_DEPTH);

	fgraph_stack_cache = KMEM_CACHE(fgraph_stack, SLAB_PANIC);

	return 0;
}
early_initcall(fgraph_stack_init);
