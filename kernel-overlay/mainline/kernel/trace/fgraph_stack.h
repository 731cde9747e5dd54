/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Layout of the shadow stacks of function graph
 */
#ifndef _KERNEL_TRACE_FGRAPH_STACK_H
#define _KERNEL_TRACE_FGRAPH_STACK_H

#include <linux/bits.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/sched.h>

/*
 * FGRAPH_FRAME_SIZE:	Size in bytes of the meta data on the shadow stack
 * FGRAPH_FRAME_OFFSET:	Size in long words of the meta data frame
 */
#define FGRAPH_FRAME_SIZE	sizeof(struct ftrace_ret_stack)
#define FGRAPH_FRAME_OFFSET	DIV_ROUND_UP(FGRAPH_FRAME_SIZE, sizeof(long))

/*
 * On entry to a function (via function_graph_enter()), a new fgraph frame
 * (ftrace_ret_stack) is pushed onto the stack as well as a word that
 * holds a bitmask and a type (called "bitmap"). The bitmap is defined as:
 *
 * bits:  0 -  9	offset in words from the previous ftrace_ret_stack
 *
 * bits: 10 - 11	Type of storage
 *			  0 - reserved
 *			  1 - bitmap of fgraph_array index
 *			  2 - reserved data
 *
 * For type with "bitmap of fgraph_array index" (FGRAPH_TYPE_BITMAP):
 *  bits: 12 - 27	The bitmap of fgraph_ops fgraph_array index
 *			That is, it's a bitmask of 0-15 (16 bits)
 *			where if a corresponding ops in the fgraph_array[]
 *			expects a callback from the return of the function
 *			it's corresponding bit will be set.
 *
 *
 * The top of the ret_stack (when not empty) will always have a reference
 * word that points to the last fgraph frame that was saved.
 *
 * For reserved data:
 *  bits: 12 - 16	The size in words that is stored
 *  bits: 17 - 21	The index of fgraph_array, which shows who is stored
 *
 * That is, at the end of function_graph_enter, if the first and forth
 * fgraph_ops on the fgraph_array[] (index 0 and 3) needs their retfunc called
 * on the return of the function being traced, and the forth fgraph_ops
 * stored two words of data, this is what will be on the task's shadow
 * ret_stack: (the stack grows upward)
 *
 *  ret_stack[SHADOW_STACK_OFFSET]
 * | SHADOW_STACK_TASK_VARS(ret_stack)[15]      |
 * ...
 * | SHADOW_STACK_TASK_VARS(ret_stack)[0]       |
 * | SHADOW_STACK_NODE(ret_stack)               |
 * | the first hook, see fgraph_push_hook()     |
 * ...
 * | the last hook                              | <- task->ret_stack_hooks words
 *                                                   below SHADOW_STACK_NODE()
 *  ret_stack[SHADOW_STACK_MAX_OFFSET - task->ret_stack_hooks]
 * ...
 * |                                            | <- task->curr_ret_stack
 * +--------------------------------------------+
 * | (3 << 12) | (3 << 10) | FGRAPH_FRAME_OFFSET|
 * |         *or put another way*               |
 * | (3 << FGRAPH_DATA_INDEX_SHIFT)| \          | This is for fgraph_ops[3].
 * | ((2 - 1) << FGRAPH_DATA_SHIFT)| \          | The data size is 2 words.
 * | (FGRAPH_TYPE_DATA << FGRAPH_TYPE_SHIFT)| \ |
 * | (offset2:FGRAPH_FRAME_OFFSET+3)            | <- the offset2 is from here
 * +--------------------------------------------+ ( It is 4 words from the ret_stack)
 * |            STORED DATA WORD 2              |
 * |            STORED DATA WORD 1              |
 * +--------------------------------------------+
 * | (9 << 12) | (1 << 10) | FGRAPH_FRAME_OFFSET|
 * |         *or put another way*               |
 * | (BIT(3)|BIT(0)) << FGRAPH_INDEX_SHIFT | \  |
 * | FGRAPH_TYPE_BITMAP << FGRAPH_TYPE_SHIFT| \ |
 * | (offset1:FGRAPH_FRAME_OFFSET)              | <- the offset1 is from here
 * +--------------------------------------------+
 * | struct ftrace_ret_stack                    |
 * |   (stores the saved ret pointer)           | <- the offset points here
 * +--------------------------------------------+
 * |                 (X) | (N)                  | ( N words away from
 * |                                            |   previous ret_stack)
 * ...
 * ret_stack[0]
 *
 * If a backtrace is required, and the real return pointer needs to be
 * fetched, then it looks at the task's curr_ret_stack offset, if it
 * is greater than zero (reserved, or right before popped), it would mask
 * the value by FGRAPH_FRAME_OFFSET_MASK to get the offset of the
 * ftrace_ret_stack structure stored on the shadow stack.
 */

/*
 * The following is for the top word on the stack:
 *
 *   FGRAPH_FRAME_OFFSET (0-9) holds the offset delta to the fgraph frame
 *   FGRAPH_TYPE (10-11) holds the type of word this is.
 *     (RESERVED or BITMAP)
 */
#define FGRAPH_FRAME_OFFSET_BITS	10
#define FGRAPH_FRAME_OFFSET_MASK	GENMASK(FGRAPH_FRAME_OFFSET_BITS - 1, 0)

#define FGRAPH_TYPE_BITS	2
#define FGRAPH_TYPE_MASK	GENMASK(FGRAPH_TYPE_BITS - 1, 0)
#define FGRAPH_TYPE_SHIFT	FGRAPH_FRAME_OFFSET_BITS

enum {
	FGRAPH_TYPE_RESERVED	= 0,
	FGRAPH_TYPE_BITMAP	= 1,
	FGRAPH_TYPE_DATA	= 2,
};

/*
 * For BITMAP type:
 *   FGRAPH_INDEX (12-27) bits holding the gops index wanting return callback called
 */
#define FGRAPH_INDEX_BITS	16
#define FGRAPH_INDEX_MASK	GENMASK(FGRAPH_INDEX_BITS - 1, 0)
#define FGRAPH_INDEX_SHIFT	(FGRAPH_TYPE_SHIFT + FGRAPH_TYPE_BITS)

/*
 * For DATA type:
 *  FGRAPH_DATA (12-16) bits hold the size of data (in words)
 *  FGRAPH_INDEX (17-21) bits hold the index for which gops->idx the data is for
 *
 * Note:
 *  data_size == 0 means 1 word, and 31 (=2^5 - 1) means 32 words.
 *  The index FGRAPH_DATA_INDEX_NONE means that the owner of the data is gone.
 */
#define FGRAPH_DATA_MASK	GENMASK(FGRAPH_DATA_BITS - 1, 0)
#define FGRAPH_DATA_SHIFT	(FGRAPH_TYPE_SHIFT + FGRAPH_TYPE_BITS)

#define FGRAPH_DATA_INDEX_BITS	5
#define FGRAPH_DATA_INDEX_MASK	GENMASK(FGRAPH_DATA_INDEX_BITS - 1, 0)
#define FGRAPH_DATA_INDEX_SHIFT	(FGRAPH_DATA_SHIFT + FGRAPH_DATA_BITS)

#define FGRAPH_ARRAY_SIZE	FGRAPH_INDEX_BITS
#define FGRAPH_DATA_INDEX_NONE	FGRAPH_ARRAY_SIZE

/* What is at the end of each shadow stack, beside the task variables */
struct fgraph_stack_node {
	struct list_head	list;
	struct task_struct	*task;
};

/*
 * SHADOW_STACK_SIZE:	The size in bytes of the entire shadow stack
 * SHADOW_STACK_OFFSET:	The size in long words of the shadow stack
 * SHADOW_STACK_NODE_OFFSET: The size in long words of the node in fgraph_stacks
 * SHADOW_STACK_MAX_OFFSET: The max offset of the stack for a new frame to be added
 */
#define SHADOW_STACK_SIZE	(4096)
#define SHADOW_STACK_OFFSET	(SHADOW_STACK_SIZE / sizeof(long))
#define SHADOW_STACK_NODE_OFFSET	\
	DIV_ROUND_UP(sizeof(struct fgraph_stack_node), sizeof(long))
/* Leave on a buffer at the end */
#define SHADOW_STACK_MAX_OFFSET				\
	(SHADOW_STACK_OFFSET - (FGRAPH_FRAME_OFFSET + 1 + FGRAPH_ARRAY_SIZE + \
				SHADOW_STACK_NODE_OFFSET))

/*
 * Room for hooks, in words. Frames have the other half for themselves, however
 * deep a function recurses that has a kretprobe.
 */
#define FGRAPH_HOOKS_MAX	(SHADOW_STACK_MAX_OFFSET / 2)

/* RET_STACK():		Return the frame from a given @offset from task @t */
#define RET_STACK(t, offset) ((struct ftrace_ret_stack *)(&(t)->ret_stack[offset]))

/*
 * Each fgraph_ops has a reserved unsigned long at the end (top) of the
 * ret_stack to store task specific state.
 */
#define SHADOW_STACK_TASK_VARS(ret_stack) \
	((unsigned long *)(&(ret_stack)[SHADOW_STACK_OFFSET - FGRAPH_ARRAY_SIZE]))

/* Below them is what links the shadow stack to all others */
#define SHADOW_STACK_NODE(ret_stack)			\
	((struct fgraph_stack_node *)(SHADOW_STACK_TASK_VARS(ret_stack) - \
				      SHADOW_STACK_NODE_OFFSET))

/* Get the offset to the fgraph frame from a ret_stack value */
static inline int __get_offset(unsigned long val)
{
	return val & FGRAPH_FRAME_OFFSET_MASK;
}

/* Get the type of word from a ret_stack value */
static inline int __get_type(unsigned long val)
{
	return (val >> FGRAPH_TYPE_SHIFT) & FGRAPH_TYPE_MASK;
}

/* Get the data_index for a DATA type ret_stack word */
static inline int __get_data_index(unsigned long val)
{
	return (val >> FGRAPH_DATA_INDEX_SHIFT) & FGRAPH_DATA_INDEX_MASK;
}

/* Get the data_size for a DATA type ret_stack word */
static inline int __get_data_size(unsigned long val)
{
	return ((val >> FGRAPH_DATA_SHIFT) & FGRAPH_DATA_MASK) + 1;
}

/* Get the FRAME_OFFSET from the word from the @offset on ret_stack */
static inline int get_frame_offset(struct task_struct *t, int offset)
{
	return __get_offset(t->ret_stack[offset]);
}

/* Get the word behind a frame, which is of BITMAP type once the frame is complete */
static inline unsigned long *get_bitmap_word(struct ftrace_ret_stack *frame)
{
	return (unsigned long *)frame + FGRAPH_FRAME_OFFSET;
}

/* For BITMAP type: get the bitmask from the word behind @frame */
static inline unsigned long get_bitmap_bits(struct ftrace_ret_stack *frame)
{
	return (*get_bitmap_word(frame) >> FGRAPH_INDEX_SHIFT) & FGRAPH_INDEX_MASK;
}

/* Write the bitmap to the word behind @frame (does index, offset and bitmask) */
static inline void set_bitmap(struct ftrace_ret_stack *frame, unsigned long bitmap)
{
	*get_bitmap_word(frame) = (bitmap << FGRAPH_INDEX_SHIFT) |
		(FGRAPH_TYPE_BITMAP << FGRAPH_TYPE_SHIFT) | FGRAPH_FRAME_OFFSET;
}

/* For DATA type: get the data saved under @word */
static inline void *get_word_data(unsigned long *word)
{
	return word - __get_data_size(*word);
}

/* Create the ret_stack word for a DATA type */
static inline unsigned long make_data_type_val(int idx, int size, int offset)
{
	return (idx << FGRAPH_DATA_INDEX_SHIFT) |
		((size - 1) << FGRAPH_DATA_SHIFT) |
		(FGRAPH_TYPE_DATA << FGRAPH_TYPE_SHIFT) | offset;
}

static inline unsigned long *
ret_stack_get_task_var(struct task_struct *t, int idx)
{
	unsigned long *gvals = SHADOW_STACK_TASK_VARS(t->ret_stack);

	return &gvals[idx];
}

#ifdef CONFIG_RETHOOK
/*
 * Take memory of @words words for a hooked call from the shadow stack of the current
 * task. *@prev is what to pass to fgraph_pop_hook(). The memory is not initialized.
 * Returns false if there is no room, or no shadow stack.
 *
 * Hooks start where frames end, and grow towards them. A hook that is pushed while
 * frames are pushed or popped, and that stays, is not in their way: hooks have to be
 * in order only among themselves. Preemption must be disabled.
 */
static __always_inline bool fgraph_push_hook(int words, void **hook, int *prev)
{
	unsigned long *stack = READ_ONCE(current->ret_stack);
	int hooks = current->ret_stack_hooks;

	if (unlikely(!stack))
		return false;

	*prev = hooks;
	hooks += words;
	if (unlikely(hooks > (int)FGRAPH_HOOKS_MAX ||
		     hooks > (int)SHADOW_STACK_MAX_OFFSET - current->curr_ret_stack))
		return false;

	/* From here on, hooks and frames of interrupts leave it alone */
	WRITE_ONCE(current->ret_stack_hooks, hooks);
	barrier();
	*hook = (unsigned long *)SHADOW_STACK_NODE(stack) - hooks;
	return true;
}

/* Give back the memory of the newest hooked call. Preemption must be disabled. */
static __always_inline void fgraph_pop_hook(int prev)
{
	/* The caller does not use it any more */
	barrier();
	WRITE_ONCE(current->ret_stack_hooks, prev);
}
#endif

/*
 * Get the max offset for a new frame of the current task. An interrupt does not
 * change it: functions that it calls remove their hooks when they return.
 */
static __always_inline int fgraph_max_offset(void)
{
#ifdef CONFIG_RETHOOK
	return SHADOW_STACK_MAX_OFFSET - current->ret_stack_hooks;
#else
	return SHADOW_STACK_MAX_OFFSET;
#endif
}

/*
 * Reserve @size words for user @idx behind the newest frame. Returns false if
 * there is no room.
 */
static __always_inline bool fgraph_stack_reserve(int idx, int size, void **data)
{
	unsigned long *stack = current->ret_stack;
	int offset = current->curr_ret_stack;
	int end = offset + size + 1;
	unsigned long val;

	if (unlikely(end >= fgraph_max_offset()))
		return false;

	val = make_data_type_val(idx, size,
				 __get_offset(stack[offset - 1]) + size + 1);

	/* Set the last word to be reserved */
	stack[end - 1] = val;

	/* Make sure interrupts see this */
	barrier();
	current->curr_ret_stack = end;
	/* Again sync with interrupts, and reset reserve */
	stack[end - 1] = val;

	*data = &stack[offset];
	return true;
}

unsigned long *fgraph_find_data(int offset, int idx);

/*
 * Find the data of user @idx for the call whose frame ends at @end, of any size. As
 * fgraph_find_data(), but inline if they were reserved last.
 */
static __always_inline unsigned long *
fgraph_find_any_data(unsigned long *stack, int end, int idx)
{
	unsigned long *word = &stack[end - 1];

	if (likely((*word & ~(FGRAPH_FRAME_OFFSET_MASK |
			      FGRAPH_DATA_MASK << FGRAPH_DATA_SHIFT)) ==
		   make_data_type_val(idx, 1, 0)))
		return word;

	return fgraph_find_data(end, idx);
}

/* The same for @size words */
static __always_inline bool fgraph_find_last_data(unsigned long *stack, long end,
						  int idx, int size, void **data)
{
	unsigned long val = stack[end - 1];
	unsigned long *word;

	*data = &stack[end - 1 - size];
	if (likely((val & ~FGRAPH_FRAME_OFFSET_MASK) == make_data_type_val(idx, size, 0)))
		return true;

	if (__get_type(val) != FGRAPH_TYPE_DATA)
		return false;

	word = fgraph_find_data(end, idx);
	if (!word)
		return false;

	*data = get_word_data(word);
	return true;
}

#endif /* _KERNEL_TRACE_FGRAPH_STACK_H */
