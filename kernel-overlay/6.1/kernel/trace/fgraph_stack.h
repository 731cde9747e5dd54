/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The shadow stack of the function graph tracer.
 *
 * Every task has one. A traced call pushes a struct fgraph_frame, its return
 * pops it. Data that users reserve for a call are on a second stack in the same
 * object, so that they never use up the space of frames. The layout is sketched
 * at struct fgraph_stack.
 *
 * This file only manages the stack. fgraph.c fills in and uses the frames.
 */
#ifndef _FTRACE_FGRAPH_STACK_H
#define _FTRACE_FGRAPH_STACK_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/rethook.h>
#include <linux/sched.h>

/*
 * The smallest page size of any architecture. Larger pages do not require a
 * deeper stack.
 */
#define FGRAPH_STACK_SIZE	4096

/**
 * struct fgraph_frame - one traced or hooked call that has not returned yet
 * @ret:	the return address that was replaced by return_to_handler or, for
 *		a hook, by arch_rethook_trampoline. Zero while the frame is being
 *		pushed
 * @func:	the traced function
 * @retval:	in place of @func while return callbacks run, what the function
 *		returned; not if ftrace_graph_saved_retval() finds it
 * @calltime:	time of the call, in ns of trace_clock_local(); zero if all its
 *		users set &fgraph_ops.no_times
 * @sleeptime:	&task_struct.ftrace_sleeptime at that time, in ns; valid if
 *		@calltime is not zero
 * @hook:	in place of these, for a hook of a kretprobe or an fprobe;
 *		&rethook_node.ret_addr is @ret
 * @hook_data:	room for the data of its owner; not used if they need more
 * @generation:	&rethook.generation at the time of the call
 * @retp:	location of the replaced return address on the stack
 * @users:	mask of the users whose return callbacks are to be called, by
 *		&fgraph_ops.idx. Other tasks remove unregistered users, so it
 *		may become zero. Zero for a hook, and once the callbacks of the
 *		return have been called
 * @data:	offset of the first byte reserved for this call; zero if nothing
 *		was reserved
 * @fp:		the low 32 bits of the frame pointer, checked at the return.
 *		These are unique within a kernel stack
 */
struct fgraph_frame {
	union {
		struct {
			unsigned long		ret;
			union {
				unsigned long	func;
				unsigned long	retval;
			};
			unsigned long long	calltime;
			unsigned long long	sleeptime;
		};
#ifdef CONFIG_FGRAPH_RETHOOK
		struct {
			struct rethook_node	hook;
			u64			hook_data;
			unsigned long		generation;
		};
#endif
	};
#ifdef HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
	unsigned long		*retp;
#endif
	atomic_t		users;
	u16			data;
#ifdef HAVE_FUNCTION_GRAPH_FP_TEST
	u32			fp;
#endif
} __aligned(8);

/* Alignment of reserved data */
#define FGRAPH_ALIGN		__alignof__(unsigned long long)

/**
 * struct fgraph_reserved - data that a user reserved for a call
 * @user:	index of the user
 * @size:	requested size in bytes
 * @data:	the data, padded to a multiple of FGRAPH_ALIGN
 */
struct fgraph_reserved {
	u16			user;
	u16			size;
	unsigned char		data[] __aligned(__alignof__(unsigned long long));
};

/* Counters of a user in a shadow stack, see struct fgraph_stack */
struct fgraph_stack_user {
	u16			depth;
	u16			overrun;
};

/* Maximum number of open calls in a task; further calls are not traced */
#define FGRAPH_MAX_DEPTH	FTRACE_RETFUNC_DEPTH

/* The first data begin behind those that offset zero finds, of no user */
#define FGRAPH_DATA_START	sizeof(struct fgraph_reserved)
#define FGRAPH_NO_USER		FGRAPH_MAX_USERS

/* Space left for reserved data: at least a u64 for each of these calls */
#define FGRAPH_DATA_SIZE						\
	(FGRAPH_STACK_SIZE - sizeof(u64) - sizeof(struct list_head) -	\
	 FGRAPH_MAX_USERS * (sizeof(struct fgraph_stack_user) +		\
			     sizeof(long)) -				\
	 FGRAPH_MAX_DEPTH * sizeof(struct fgraph_frame))

/*
 * Layout of a shadow stack with two open calls, offsets as on x86-64:
 *
 *        struct fgraph_stack                struct fgraph_frame
 *      0 +-------------------+           0 +------------------------------+
 *        | data_used         |             | ret: zero while being pushed |
 *      4 | user[]            |           8 | func                         |
 *    136 +-------------------+          16 | calltime                     |
 *        | frames[0]  oldest | -------> 24 | sleeptime                    |
 *        | frames[1]  newest |          32 | retp                         |
 *        |                   | <- top   40 | users: a bit for each user   |
 *        | frames[49]        |          44 | data: offset, or zero        | -.
 *   2536 +-------------------+          48 +------------------------------+  |
 *        | data of no user   |                                               |
 *   2544 +-------------------+                                               |
 *        | data of frames[0] | <---------------------------------------------'
 *        | data of frames[1] |   consists of one struct fgraph_reserved
 *        |                   | <- end   for each user that reserved data:
 *        |                   |           0 +------------------------------+
 *   3824 +-------------------+             | user, size                   |
 *        | task_var[]        |           8 | data[], size rounded up      |
 *   4080 | list              |             +------------------------------+
 *   4096 +-------------------+
 *
 * The data of a hook, if they do not fit in its frame, are a struct
 * rethook_node and what its owner keeps behind it.
 *
 * top is &task_struct.curr_ret_stack, relative to frames; end is data_used,
 * relative to data.
 */

/**
 * struct fgraph_stack - the shadow stack of one task
 * @data_used:	number of bytes of @data in use, FGRAPH_DATA_START at least
 * @user:	for each user,
 *		depth: number of frames with this user in &fgraph_frame.users.
 *		Includes frames that are being pushed, but not the frame whose
 *		return callback is being called;
 *		overrun: number of its calls and reservations that did not fit,
 *		65535 at most
 * @frames:	the frames, oldest first
 * @data:	data reserved for the frames, in the same order
 * @task_var:	a word for each user, see fgraph_get_task_var()
 * @list:	entry in the list of all shadow stacks
 *
 * &task_struct.curr_ret_stack is the number of bytes of @frames in use. Only
 * the task itself, and interrupts on top of it, push and pop. Any context may
 * walk the frames. In unused frames, &fgraph_frame.ret and &fgraph_frame.data
 * are zero, so that a push need not clear them.
 *
 * Fields that each call accesses come first. @list is as far away from them as
 * possible, because forks and exits on other CPUs write to it.
 */
struct fgraph_stack {
	u32			data_used;
	struct fgraph_stack_user user[FGRAPH_MAX_USERS];
	struct fgraph_frame	frames[FGRAPH_MAX_DEPTH];
	unsigned char		data[FGRAPH_DATA_SIZE] __aligned(FGRAPH_ALIGN);
	unsigned long		task_var[FGRAPH_MAX_USERS];
	struct list_head	list;
};

#define FGRAPH_FRAMES_SIZE	sizeof_field(struct fgraph_stack, frames)

/*
 * Marks each point in push, pop and reserve where an interrupt sees a different
 * state. The KUnit suite defines it to run a nested push and pop.
 */
#ifndef fgraph_stack_window
#define fgraph_stack_window()	barrier()
#endif

/* Test if @addr is what replaces return addresses */
static __always_inline bool fgraph_is_trampoline(unsigned long addr)
{
	unsigned long graph = (unsigned long)
		dereference_kernel_function_descriptor(return_to_handler);

	return addr == graph || (IS_ENABLED(CONFIG_FGRAPH_RETHOOK) &&
				 is_rethook_trampoline(addr));
}

/* Get the frame at @offset, in bytes */
static __always_inline struct fgraph_frame *
fgraph_stack_frame(struct fgraph_stack *stack, unsigned int offset)
{
	return (void *)stack->frames + offset;
}

/* Get the newest frame, if @top bytes are in use; must not be zero */
static __always_inline struct fgraph_frame *
fgraph_stack_top(struct fgraph_stack *stack, unsigned int top)
{
	return fgraph_stack_frame(stack, top) - 1;
}

/**
 * fgraph_stack_push - push a new frame
 * @stack:	the shadow stack of the current task
 * @top:	number of bytes its frames use; increased on success
 * @new:	on success, set to the new frame
 *
 * The new frame has no return address yet, so walkers skip it. The caller fills
 * in the rest, and sets &fgraph_frame.ret last.
 *
 * Functions may be traced in an interrupt at any point. The interrupt restores
 * *@top and &fgraph_stack.data_used, but overwrites everything beyond. Until
 * *@top is increased, a frame of the interrupt uses the same space as the new
 * one. Therefore the new frame is filled in afterwards, and fgraph_stack_pop()
 * clears the fields that must be zero in a new frame.
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
 * fgraph_stack_pop - pop the newest frame and the data reserved for it
 * @stack:	the shadow stack of the current task
 * @top:	number of bytes its frames use; decreased
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
		WRITE_ONCE(stack->data_used, frame->data);
		fgraph_stack_window();
		WRITE_ONCE(frame->data, 0);
		fgraph_stack_window();
	}
	*top -= sizeof(*frame);
	fgraph_stack_window();
}

/**
 * fgraph_stack_take - take space of the data for the call that is being pushed
 * @stack:	the shadow stack of the current task
 * @frame:	its newest frame, which has no return address yet
 * @size:	number of bytes
 * @space:	on success, set to the space, aligned to FGRAPH_ALIGN and not
 *		initialized
 *
 * The space is allocated first, so that no interrupt overwrites what is written
 * to it afterwards. Walkers skip this frame and its data, but
 * &fgraph_frame.data already marks the end of the data of older frames.
 *
 * Context: any, including NMI; @stack must be that of the current task.
 * Return: true, or false if there is not enough left. Callers would have to test
 * an address, of which the compiler does not know that it is never NULL.
 */
static __always_inline bool
fgraph_stack_take(struct fgraph_stack *stack, struct fgraph_frame *frame,
		  unsigned int size, void **space)
{
	unsigned int offset = stack->data_used;
	unsigned int end = offset + ALIGN(size, FGRAPH_ALIGN);

	if (unlikely(end > FGRAPH_DATA_SIZE))
		return false;

	if (likely(!frame->data))
		WRITE_ONCE(frame->data, offset);
	fgraph_stack_window();
	WRITE_ONCE(stack->data_used, end);
	fgraph_stack_window();

	*space = stack->data + offset;

	return true;
}

/**
 * fgraph_stack_reserve - reserve data for the call that is being pushed
 * @stack:	the shadow stack of the current task
 * @frame:	its newest frame, which has no return address yet
 * @user:	index of the user that the data is for
 * @size:	number of bytes
 * @result:	on success, set to the data, aligned to FGRAPH_ALIGN and not
 *		initialized
 *
 * Context: as for fgraph_stack_take().
 * Return: true, or false if the space is used up.
 */
static __always_inline bool
fgraph_stack_reserve(struct fgraph_stack *stack, struct fgraph_frame *frame,
		     unsigned int user, unsigned int size, void **result)
{
	struct fgraph_reserved *data;
	void *space;

	if (!fgraph_stack_take(stack, frame, sizeof(*data) + size, &space))
		return false;

	data = space;
	data->user = user;
	data->size = size;
	*result = data->data;

	return true;
}

/* Inline version of fgraph_get_task_var(), for the tracers in this directory */
static __always_inline unsigned long *fgraph_task_var(struct fgraph_ops *gops)
{
	return &current->ret_stack->task_var[gops->idx];
}

/*
 * For entry callbacks: the time of the call, as return callbacks find it in
 * &ftrace_graph_ret.calltime. Zero if the call has no time.
 */
static __always_inline u64 fgraph_calltime(void)
{
	return fgraph_stack_top(current->ret_stack,
				current->curr_ret_stack)->calltime;
}

/*
 * Inline version of fgraph_get_retval(). Few users need the return value, so it
 * is not passed to all of them.
 */
static __always_inline unsigned long fgraph_retval(void)
{
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	struct fgraph_frame *frame = fgraph_stack_top(current->ret_stack,
						      current->curr_ret_stack);

# ifdef ftrace_graph_saved_retval
	return *ftrace_graph_saved_retval(frame->retp);
# else
	return frame->retval;
# endif
#else
	return 0;
#endif
}

/**
 * fgraph_find_data - find the data of a user among those reserved for a call
 * @stack:	the shadow stack
 * @frame:	the frame of the call, which is no hook
 * @end:	offset where the data of that frame end
 * @user:	index of the user
 * @first:	only look at what was reserved first; a constant
 * @result:	on success, set to the data
 *
 * Context: any, as long as the frame and its data stay.
 * Return: true, or false if that is not found.
 */
static __always_inline bool
fgraph_find_data(struct fgraph_stack *stack, struct fgraph_frame *frame,
		 unsigned int end, u16 user, bool first, void **result)
{
	unsigned long next = frame->data;
	struct fgraph_reserved *data;

	/* What is at offset zero first has no user */
	if (!first && !next)
		return false;

	while (first || next < end) {
		data = (void *)stack->data + next;
		if (likely(data->user == user)) {
			*result = data->data;
			return true;
		}
		if (first)
			return false;
		next += sizeof(*data) + ALIGN(data->size, FGRAPH_ALIGN);
	}

	return false;
}

struct fgraph_frame *fgraph_stack_walk(struct fgraph_stack *stack,
				       unsigned int *offset);
struct fgraph_reserved *
fgraph_frame_data(struct fgraph_stack *stack, unsigned int top,
		  struct fgraph_frame *frame, unsigned int user);
void fgraph_stack_unreserve(struct fgraph_stack *stack, unsigned int top,
			    unsigned int user);
void fgraph_stacks_clear_user(unsigned int user);
void fgraph_stacks_reset(unsigned int user);

unsigned long fgraph_stack_ret_addr(struct task_struct *task,
				    unsigned long *retp);

struct fgraph_stack *fgraph_stack_alloc(void);
void fgraph_stack_free(struct fgraph_stack *stack);
void fgraph_stack_init(struct fgraph_stack *stack);

#endif /* _FTRACE_FGRAPH_STACK_H */
