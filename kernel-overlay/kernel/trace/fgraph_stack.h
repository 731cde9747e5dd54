/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of the function graph tracer.
 *
 * Every task has one. A traced call pushes a struct fgraph_frame, the
 * return of that call pops it. What the frames are good for is the
 * business of fgraph.c, nothing here knows about tracers.
 */
#ifndef _FTRACE_FGRAPH_STACK_H
#define _FTRACE_FGRAPH_STACK_H

#include <linux/align.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

/*
 * The smallest page size there is. Architectures with larger pages need
 * no deeper stack.
 */
#define FGRAPH_STACK_SIZE	4096

/* Frames, and what is stored between them, start at a multiple of this */
#define FGRAPH_ALIGN		__alignof__(struct fgraph_frame)

/**
 * struct fgraph_reserved - what a user has reserved in a frame
 * @user:	number of the user
 * @size:	how many bytes it asked for
 * @data:	the bytes, and as many more as make it a multiple of FGRAPH_ALIGN
 */
struct fgraph_reserved {
	u16			user;
	u16			size;
	unsigned char		data[] __aligned(__alignof__(struct fgraph_frame));
};

/**
 * struct fgraph_stack - the shadow stack of one task
 * @frames:	the frames, oldest first; they are found by their offset, in
 *		bytes, from here. At offset 0 stands the base: a frame that is
 *		never popped and belongs to no call. It saves the push a test
 *		for the empty stack.
 * @depth:	for each user, how many of the frames have it among their
 *		users. Counts those that are being pushed, but not those whose
 *		users are being told of the return.
 * @task_var:	a word for each user, to keep for itself what it likes
 * @list:	in the list of all shadow stacks
 * @rcu:	for freeing it, as that list is walked under RCU
 *
 * The offset of the newest frame is kept in &task_struct.curr_ret_stack, zero
 * (the base) for an empty stack. Only the task itself, and the interrupts
 * on top of it, push and pop. Anyone may walk.
 */
struct fgraph_stack {
	unsigned char		frames[FGRAPH_STACK_SIZE -
				       FGRAPH_MAX_USERS * sizeof(u16) -
				       FGRAPH_MAX_USERS * sizeof(long) -
				       sizeof(struct list_head) -
				       sizeof(struct rcu_head)] __aligned(8);
	u16			depth[FGRAPH_MAX_USERS];
	unsigned long		task_var[FGRAPH_MAX_USERS];
	struct list_head	list;
	struct rcu_head		rcu;
};

#define FGRAPH_FRAMES_SIZE	sizeof_field(struct fgraph_stack, frames)

/*
 * Stands wherever an interrupt makes a difference to push and pop. The
 * KUnit suite defines it to be a nested push and pop.
 */
#ifndef fgraph_stack_window
#define fgraph_stack_window()	barrier()
#endif

static __always_inline struct fgraph_frame *
fgraph_stack_frame(struct fgraph_stack *stack, unsigned int offset)
{
	return (struct fgraph_frame *)(stack->frames + offset);
}

/**
 * fgraph_stack_push - push a new frame
 * @stack:	the shadow stack of the current task
 * @top:	offset of its newest frame; on success that of the new one
 *
 * The new frame belongs to nobody yet: its @users is zero, and walkers pass
 * over it. The caller fills in the rest and sets @users last.
 *
 * An interrupt may come at any point and trace functions of its own. It
 * starts at the frame *@top names and leaves *@top as it was, but what lies
 * beyond the end of that frame it may overwrite. Hence the links are written
 * before the frame is published, or an interrupt coming right after would
 * follow garbage; and @size is written again thereafter, as an interrupt
 * coming right before has left its own frame here. That one was popped, so
 * it has the same @prev, no @users, and a @size that is valid, only maybe
 * too large.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 * Return: the new frame, or NULL if the stack is full.
 */
static __always_inline struct fgraph_frame *
fgraph_stack_push(struct fgraph_stack *stack, int *top)
{
	unsigned int prev = *top;
	unsigned int offset = prev + fgraph_stack_frame(stack, prev)->size;
	struct fgraph_frame *frame;

	if (unlikely(offset > FGRAPH_FRAMES_SIZE - sizeof(*frame)))
		return NULL;

	frame = fgraph_stack_frame(stack, offset);
	fgraph_stack_window();
	frame->users = 0;
	frame->prev = prev;
	frame->size = sizeof(*frame);
	fgraph_stack_window();
	WRITE_ONCE(*top, offset);
	fgraph_stack_window();
	frame->size = sizeof(*frame);
	fgraph_stack_window();

	return frame;
}

/**
 * fgraph_stack_pop - drop the newest frame
 * @stack:	the shadow stack of the current task
 * @top:	offset of its newest frame, which must not be the base; on return
 *		that of the frame below
 *
 * The frame is disowned before it is given up: fgraph_stack_push() counts on
 * popped frames not having users.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 */
static __always_inline void
fgraph_stack_pop(struct fgraph_stack *stack, int *top)
{
	struct fgraph_frame *frame = fgraph_stack_frame(stack, *top);

	WRITE_ONCE(frame->users, 0);
	fgraph_stack_window();
	WRITE_ONCE(*top, frame->prev);
	fgraph_stack_window();
}

/**
 * fgraph_stack_reserve - reserve data in the frame that is being pushed
 * @stack:	the shadow stack of the current task
 * @top:	offset of its newest frame, which has no users yet
 * @user:	number of the user that the data is for
 * @size:	how many bytes
 *
 * The frame is made larger first. Once that is done no interrupt overwrites
 * what is then filled in, and as the frame has no users yet, none looks at it.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 * Return: the data, aligned as a long is, not initialized; NULL if the stack
 * is full.
 */
static inline void *
fgraph_stack_reserve(struct fgraph_stack *stack, unsigned int top,
		     unsigned int user, unsigned int size)
{
	struct fgraph_frame *frame = fgraph_stack_frame(stack, top);
	unsigned int end = top + frame->size;
	unsigned int all = sizeof(struct fgraph_reserved) +
			   ALIGN(size, FGRAPH_ALIGN);
	struct fgraph_reserved *data;

	if (end + all > FGRAPH_FRAMES_SIZE)
		return NULL;

	frame->size += all;
	fgraph_stack_window();

	data = (struct fgraph_reserved *)(stack->frames + end);
	data->user = user;
	data->size = size;

	return data->data;
}

struct fgraph_frame *fgraph_stack_walk(struct fgraph_stack *stack,
				       unsigned int *offset);
void *fgraph_frame_data(struct fgraph_frame *frame, unsigned int user,
			int *size);
bool fgraph_stack_any_open(unsigned int user);
void fgraph_stack_reset_user(unsigned int user);

struct fgraph_stack *fgraph_stack_alloc(void);
void fgraph_stack_free(struct fgraph_stack *stack);
void fgraph_stack_clear(struct fgraph_stack *stack);

#endif /* _FTRACE_FGRAPH_STACK_H */
