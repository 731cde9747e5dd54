// SPDX-License-Identifier: GPL-2.0
/*
 * The shadow stack of the function graph tracer: allocation, walk, and cleanup
 *
 * Push and pop are inline functions in fgraph_stack.h, as every traced call
 * needs them.
 */
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "ftrace_internal.h"
#include "fgraph_stack.h"

static struct kmem_cache *fgraph_stack_cache __ro_after_init;

/*
 * All shadow stacks, including stacks of tasks that have left the task list but
 * are not freed yet. Every fork and exit takes the lock while function graph is
 * in use, so the lock has a cache line of its own.
 */
static struct {
	raw_spinlock_t		lock;
	struct list_head	list;
} fgraph_stacks ____cacheline_aligned_in_smp = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(fgraph_stacks.lock),
	.list = LIST_HEAD_INIT(fgraph_stacks.list),
};

/**
 * fgraph_stack_walk - step to the next older frame that is in use
 * @stack:	the shadow stack to walk, of any task
 * @offset:	number of bytes of frames to walk, initially
 *		&task_struct.curr_ret_stack; on return, the number left
 *
 * Skips frames that are being pushed.
 *
 * The stack of another task may change during the walk. The contents of the
 * frames are unreliable then, but the walk stays within the stack, and
 * terminates because @offset only decreases.
 *
 * Context: any. The caller must keep the task from being freed.
 * Return: the frame, or NULL if there are no more.
 */
struct fgraph_frame *fgraph_stack_walk(struct fgraph_stack *stack,
				       unsigned int *offset)
{
	struct fgraph_frame *frame;

	if (*offset > FGRAPH_FRAMES_SIZE)
		*offset = 0;

	while (*offset >= sizeof(*frame)) {
		*offset -= sizeof(*frame);
		frame = fgraph_stack_frame(stack, *offset);
		if (READ_ONCE(frame->ret))
			return frame;
	}

	return NULL;
}

/**
 * fgraph_frame_data - find the data that a user reserved for a call
 * @stack:	the shadow stack of the current task
 * @top:	number of bytes its frames use
 * @frame:	the frame of the call
 * @user:	index of the user
 *
 * Context: any, including NMI.
 * Return: the reservation, or NULL if @user has none in @frame.
 */
struct fgraph_reserved *
fgraph_frame_data(struct fgraph_stack *stack, unsigned int top,
		  struct fgraph_frame *frame, unsigned int user)
{
	unsigned int end = READ_ONCE(stack->data_used);
	struct fgraph_frame *next;
	void *data;

	if (!frame->data)
		return NULL;

	/* The data end where the data of a newer frame begin, if any */
	for (next = frame + 1; next <= fgraph_stack_top(stack, top); next++) {
		if (next->data) {
			end = next->data;
			break;
		}
	}

	if (!fgraph_find_data(stack, frame, end, user, false, &data))
		return NULL;

	return container_of(data, struct fgraph_reserved, data);
}

/**
 * fgraph_stack_unreserve - release the last reservation
 * @stack:	the shadow stack of the current task
 * @top:	number of bytes its frames use
 * @user:	index of the user. If it has data in the newest frame, these
 *		must be the last data reserved
 *
 * Does nothing if @user has no data in the newest frame.
 *
 * Context: any, including NMI.
 */
void fgraph_stack_unreserve(struct fgraph_stack *stack, unsigned int top,
			    unsigned int user)
{
	struct fgraph_reserved *data;

	data = fgraph_frame_data(stack, top, fgraph_stack_top(stack, top), user);
	if (data)
		WRITE_ONCE(stack->data_used, (unsigned char *)data - stack->data);
}
NOKPROBE_SYMBOL(fgraph_stack_unreserve);

/*
 * Call @func for every shadow stack. Drops the list lock and reschedules every
 * 32 stacks. ftrace_lock, held by the callers, ensures that there is only one
 * cursor in the list and no other walk that could find it.
 */
static void fgraph_stacks_for_each(void (*func)(struct fgraph_stack *stack,
						unsigned int user),
				   unsigned int user)
{
	struct fgraph_stack *stack;
	struct list_head cursor;
	int nr;

	lockdep_assert_held(&ftrace_lock);

	raw_spin_lock_irq(&fgraph_stacks.lock);
	list_add(&cursor, &fgraph_stacks.list);
	while (!list_is_last(&cursor, &fgraph_stacks.list)) {
		for (nr = 0; nr < 32; nr++) {
			if (list_is_last(&cursor, &fgraph_stacks.list))
				break;
			stack = list_entry(cursor.next, struct fgraph_stack, list);
			func(stack, user);
			list_move(&cursor, &stack->list);
		}
		raw_spin_unlock_irq(&fgraph_stacks.lock);
		cond_resched();
		raw_spin_lock_irq(&fgraph_stacks.lock);
	}
	list_del(&cursor);
	raw_spin_unlock_irq(&fgraph_stacks.lock);
}

static void fgraph_stack_clear_user(struct fgraph_stack *stack, unsigned int user)
{
	unsigned int i;

	if (!READ_ONCE(stack->user[user].depth))
		return;

	/* Harmless for unused frames */
	for (i = 0; i < FGRAPH_MAX_DEPTH; i++) {
		if (atomic_read(&stack->frames[i].users) & BIT(user))
			atomic_andnot(BIT(user), &stack->frames[i].users);
	}
}

/**
 * fgraph_stacks_clear_user - remove a user from all frames of all tasks
 * @user:	index of the user, to which no new frames are added
 *
 * Returns of calls that an unregistered user left open must not reach the next
 * user with the same index. A return handler that has read the mask of its
 * frame before may still be running: wait for it with ftrace_synchronize(),
 * then call fgraph_stacks_reset().
 *
 * Context: ftrace_lock held; may sleep.
 */
void fgraph_stacks_clear_user(unsigned int user)
{
	fgraph_stacks_for_each(fgraph_stack_clear_user, user);
}

static void fgraph_stack_reset(struct fgraph_stack *stack, unsigned int user)
{
	stack->user[user] = (struct fgraph_stack_user){};
	stack->task_var[user] = 0;
}

/**
 * fgraph_stacks_reset - clear the counters and variables of a user in all tasks
 * @user:	index of the user, not referenced by any frame
 *
 * Context: ftrace_lock held; may sleep.
 */
void fgraph_stacks_reset(unsigned int user)
{
	fgraph_stacks_for_each(fgraph_stack_reset, user);
}

/**
 * fgraph_stack_init - initialize an empty shadow stack
 * @stack:	the shadow stack, of a task that is not running
 *
 * The caller sets &task_struct.curr_ret_stack to zero. Reserved data need no
 * initialization.
 *
 * Context: any.
 */
void fgraph_stack_init(struct fgraph_stack *stack)
{
	struct fgraph_reserved *none = (void *)stack->data;

	memset(stack, 0, offsetof(struct fgraph_stack, data));
	stack->data_used = FGRAPH_DATA_START;
	none->user = FGRAPH_NO_USER;
	memset(stack->task_var, 0, sizeof(stack->task_var));
}

/**
 * fgraph_stack_alloc - allocate an empty shadow stack
 *
 * Context: may sleep.
 * Return: the stack, or NULL on allocation failure.
 */
struct fgraph_stack *fgraph_stack_alloc(void)
{
	struct fgraph_stack *stack;
	unsigned long flags;

	stack = kmem_cache_alloc(fgraph_stack_cache, GFP_KERNEL);
	if (!stack)
		return NULL;

	fgraph_stack_init(stack);

	raw_spin_lock_irqsave(&fgraph_stacks.lock, flags);
	list_add(&stack->list, &fgraph_stacks.list);
	raw_spin_unlock_irqrestore(&fgraph_stacks.lock, flags);

	return stack;
}

/**
 * fgraph_stack_free - free a shadow stack
 * @stack:	a stack from fgraph_stack_alloc(), or NULL
 *
 * Context: any except NMI. The stack must not be in use.
 */
void fgraph_stack_free(struct fgraph_stack *stack)
{
	unsigned long flags;

	if (!stack)
		return;

	raw_spin_lock_irqsave(&fgraph_stacks.lock, flags);
	list_del(&stack->list);
	raw_spin_unlock_irqrestore(&fgraph_stacks.lock, flags);

	kmem_cache_free(fgraph_stack_cache, stack);
}

/* Must run before a tracer can be started from the command line */
static int __init fgraph_stack_create_cache(void)
{
	BUILD_BUG_ON(sizeof(struct fgraph_stack) > FGRAPH_STACK_SIZE);
	/* The profiler reserves a u64 for each call, if graph-time is off */
	BUILD_BUG_ON(FGRAPH_DATA_START + FGRAPH_MAX_DEPTH *
		     (sizeof(struct fgraph_reserved) + sizeof(u64)) > FGRAPH_DATA_SIZE);

	fgraph_stack_cache = KMEM_CACHE(fgraph_stack, SLAB_PANIC);

	return 0;
}
early_initcall(fgraph_stack_create_cache);
