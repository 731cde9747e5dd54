/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of the function graph tracer.
 *
 * Every task has one. A traced call pushes a struct fgraph_frame, the return
 * of that call pops it. What users reserve for a call goes to a second stack
 * in the same object, so that reserved data never take the place of a frame:
 *
 *	+---------------------+ 0
 *	| depth, overrun      |  for each user
 *	+---------------------+
 *	| frame 0             |  the oldest open call
 *	| frame 1             |
 *	|  ...                |  <- task_struct.curr_ret_stack: bytes in use
 *	| frame n - 1         |     n is FGRAPH_MAX_DEPTH
 *	+---------------------+
 *	| data of frame 0     |  <- frame 0's data
 *	| data of frame 1     |  <- frame 1's data
 *	|  ...                |  <- fgraph_stack.data_used
 *	+---------------------+
 *	| task variables      |  a word for each user
 *	+---------------------+ FGRAPH_STACK_SIZE
 *
 * What the frames are good for is the business of fgraph.c. Nothing here knows
 * about tracers.
 */
#ifndef _FTRACE_FGRAPH_STACK_H
#define _FTRACE_FGRAPH_STACK_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/sched.h>

/*
 * The smallest page size there is. Architectures with larger pages need
 * no deeper stack.
 */
#define FGRAPH_STACK_SIZE	4096

/**
 * struct fgraph_frame - one traced call that has not returned yet
 * @ret:	the return address that return_to_handler stands in for. Zero while
 *		the frame is being pushed
 * @func:	the traced function
 * @retp:	where on the stack the return address was replaced
 * @calltime:	when the function was called, in ns of trace_clock_local(); zero
 *		if all its users have &fgraph_ops.no_times
 * @sleeptime:	&task_struct.ftrace_sleeptime at that time, in ns; valid if
 *		@calltime is not zero
 * @users:	mask of the users whose return callbacks are to be called, by
 *		&fgraph_ops.idx. Those that have gone are taken off it from
 *		elsewhere, so it may become zero
 * @data:	1 + offset of the first byte reserved for this call; zero if
 *		nothing was reserved
 * @fp:		the low 32 bits of the frame pointer, which must be the same at
 *		the return. No two addresses of a kernel stack share them
 */
struct fgraph_frame {
	unsigned long		ret;
	unsigned long		func;
#ifdef HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
	unsigned long		*retp;
#endif
	unsigned long long	calltime;
	unsigned long long	sleeptime;
	atomic_t		users;
	u16			data;
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	u32			fp;
#endif
} __aligned(8);

/* Reserved data start at a multiple of this */
#define FGRAPH_ALIGN		__alignof__(unsigned long long)

/**
 * struct fgraph_reserved - what a user has reserved for a call
 * @user:	index of the user
 * @size:	how many bytes it asked for
 * @data:	the bytes, and as many more as make it a multiple of FGRAPH_ALIGN
 */
struct fgraph_reserved {
	u16			user;
	u16			size;
	unsigned char		data[] __aligned(__alignof__(unsigned long long));
};

/* What a shadow stack has for each user besides frames and data */
struct fgraph_stack_user {
	u16			depth;
	u16			overrun;
};

/* How many calls can be open in a task; more are not traced */
#define FGRAPH_MAX_DEPTH	FTRACE_RETFUNC_DEPTH

/* What is left for reserved data: at least a word for each of these calls */
#define FGRAPH_DATA_SIZE						\
	(FGRAPH_STACK_SIZE - sizeof(u64) - sizeof(struct list_head) -	\
	 FGRAPH_MAX_USERS * (sizeof(struct fgraph_stack_user) +		\
			     sizeof(long)) -				\
	 FGRAPH_MAX_DEPTH * sizeof(struct fgraph_frame))

/**
 * struct fgraph_stack - the shadow stack of one task
 * @data_used:	how many bytes of @data are in use
 * @user:	for each user,
 *		depth: how many of the frames have it among their users. Counts
 *		frames that are being pushed, but not those whose return
 *		callbacks are being called;
 *		overrun: how many of its calls found no room, 65535 at most
 * @frames:	the frames, oldest first
 * @data:	what users have reserved for the frames, in the same order
 * @task_var:	a word for each user, for its own use
 * @list:	in the list of all shadow stacks
 *
 * &task_struct.curr_ret_stack says how many bytes of @frames are in use. Only
 * the task itself, and the interrupts on top of it, push and pop. Any context
 * may walk. In frames that are not in use &fgraph_frame.ret and
 * &fgraph_frame.data are zero, so that a push need not clear them.
 *
 * What each call touches comes first. @list, which a fork or an exit elsewhere
 * writes to, stands as far away as possible.
 */
struct fgraph_stack {
	u16			data_used;
	struct fgraph_stack_user user[FGRAPH_MAX_USERS];
	struct fgraph_frame	frames[FGRAPH_MAX_DEPTH];
	unsigned char		data[FGRAPH_DATA_SIZE] __aligned(FGRAPH_ALIGN);
	unsigned long		task_var[FGRAPH_MAX_USERS];
	struct list_head	list;
};

#define FGRAPH_FRAMES_SIZE	sizeof_field(struct fgraph_stack, frames)

/*
 * Stands wherever an interrupt makes a difference to push and pop. The
 * KUnit suite defines it to be a nested push and pop.
 */
#ifndef fgraph_stack_window
#define fgraph_stack_window()	barrier()
#endif

/* The frame that begins at @offset, in bytes */
static __always_inline struct fgraph_frame *
fgraph_stack_frame(struct fgraph_stack *stack, unsigned int offset)
{
	return (void *)stack->frames + offset;
}

/* The newest frame, if @top bytes are in use; there must be one */
static __always_inline struct fgraph_frame *
fgraph_stack_top(struct fgraph_stack *stack, unsigned int top)
{
	return fgraph_stack_frame(stack, top) - 1;
}

/**
 * fgraph_stack_push - push a new frame
 * @stack:	the shadow stack of the current task
 * @top:	how many bytes its frames take; increased on success
 * @new:	on success, set to the new frame
 *
 * The new frame has no return address yet and walkers pass over it. The caller
 * fills in the rest and sets &fgraph_frame.ret last.
 *
 * An interrupt may come at any point and trace functions of its own. It leaves
 * *@top and &fgraph_stack.data_used as it has found them, but overwrites what
 * lies beyond. Before *@top is increased, an interrupt may have its own frame in
 * the same place. That is why the frame is filled in afterwards, and why
 * fgraph_stack_pop() clears what must be zero in a new frame.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 * Return: true, or false if the stack is full.
 */
static __always_inline bool
fgraph_stack_push(struct fgraph_stack *stack, int *top,
		  struct fgraph_frame **new)
{
	unsigned int offset = *top;
	struct fgraph_frame *frame = fgraph_stack_frame(stack, offset);

	if (unlikely(offset >= FGRAPH_FRAMES_SIZE))
		return false;

	fgraph_stack_window();
	*top += sizeof(*frame);
	fgraph_stack_window();

	*new = frame;
	return true;
}

/**
 * fgraph_stack_pop - drop the newest frame and the data reserved for it
 * @stack:	the shadow stack of the current task
 * @top:	how many bytes its frames take; decreased
 * @frame:	the newest frame
 *
 * Context: any, including NMI; @stack must be that of the current task.
 */
static __always_inline void
fgraph_stack_pop(struct fgraph_stack *stack, int *top,
		 struct fgraph_frame *frame)
{
	WRITE_ONCE(frame->ret, 0);
	fgraph_stack_window();
	if (unlikely(frame->data)) {
		WRITE_ONCE(stack->data_used, frame->data - 1);
		fgraph_stack_window();
		WRITE_ONCE(frame->data, 0);
		fgraph_stack_window();
	}
	*top -= sizeof(*frame);
	fgraph_stack_window();
}

/**
 * fgraph_stack_reserve - reserve data for the call that is being pushed
 * @stack:	the shadow stack of the current task
 * @frame:	its newest frame, which has no return address yet
 * @user:	index of the user that the data is for
 * @size:	how many bytes
 *
 * The room is taken first. Once that is done no interrupt overwrites what is
 * then filled in. Walkers do not look at the frame yet, nor at its data, but
 * they learn from @frame where the data of older frames end.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 * Return: the data, aligned to FGRAPH_ALIGN, not initialized; NULL if there is
 * no room.
 */
static inline void *
fgraph_stack_reserve(struct fgraph_stack *stack, struct fgraph_frame *frame,
		     unsigned int user, unsigned int size)
{
	unsigned int offset = stack->data_used;
	unsigned int end = offset + sizeof(struct fgraph_reserved) +
			   ALIGN(size, FGRAPH_ALIGN);
	struct fgraph_reserved *data;

	if (end > FGRAPH_DATA_SIZE)
		return NULL;

	if (!frame->data)
		WRITE_ONCE(frame->data, offset + 1);
	fgraph_stack_window();
	WRITE_ONCE(stack->data_used, end);
	fgraph_stack_window();

	data = (struct fgraph_reserved *)(stack->data + offset);
	data->user = user;
	data->size = size;

	return data->data;
}

/* Like fgraph_get_task_var(), for callers in this directory */
static __always_inline unsigned long *fgraph_task_var(struct fgraph_ops *gops)
{
	return &current->ret_stack->task_var[gops->idx];
}

struct fgraph_frame *fgraph_stack_walk(struct fgraph_stack *stack,
				       unsigned int *offset);
struct fgraph_reserved *
fgraph_frame_data(struct fgraph_stack *stack, unsigned int top,
		  struct fgraph_frame *frame, unsigned int user);
void fgraph_stack_unreserve(struct fgraph_stack *stack, unsigned int top,
			    unsigned int user);
void fgraph_stacks_disown(unsigned int user);
void fgraph_stacks_reset(unsigned int user);

struct fgraph_stack *fgraph_stack_alloc(void);
void fgraph_stack_free(struct fgraph_stack *stack);
void fgraph_stack_init(struct fgraph_stack *stack);

#endif /* _FTRACE_FGRAPH_STACK_H */
