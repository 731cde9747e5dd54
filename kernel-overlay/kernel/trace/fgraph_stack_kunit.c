// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the shadow stack of the function graph tracer.
 *
 * All of them work on a shadow stack that belongs to no task.
 */
#include <kunit/test.h>

/*
 * Have an "interrupt" at every point where one makes a difference. It is a
 * call in the middle of push, pop and reserve.
 */
static void fgraph_kunit_interrupt(void);
#define fgraph_stack_window()	fgraph_kunit_interrupt()

#include "fgraph_stack.h"

/* The shadow stack under test, and where its newest frame is */
static struct fgraph_stack *stack;
static int top;

/* What is pushed and popped is told apart by this */
#define RET(n)	(0x1000UL + (n))

/*
 * The interrupt: after how many windows it comes (0 is never), and what it
 * does then. With irq_every it comes at all of them.
 */
static int irq_countdown;
static bool irq_every;
static void (*irq_handler)(struct kunit *test);
static struct kunit *irq_test;
static int irq_count;
static bool in_irq;

/* How many frames there are that an interrupt must see */
static int owned;

static void fgraph_kunit_interrupt(void)
{
	barrier();

	if (in_irq || !irq_handler)
		return;

	if (!irq_every && (!irq_countdown || --irq_countdown))
		return;

	in_irq = true;
	irq_count++;
	irq_handler(irq_test);
	in_irq = false;
}

static struct fgraph_frame *newest(void)
{
	return fgraph_stack_frame(stack, top);
}

/* As the last thing in a push; and to be told that a pop is near */
static void own(struct fgraph_frame *frame, u32 users)
{
	if (!in_irq)
		owned += !!users - !!frame->users;
	if (users)
		WRITE_ONCE(frame->users, users);
}

static struct fgraph_frame *push(unsigned long ret, u32 users)
{
	struct fgraph_frame *frame = fgraph_stack_push(stack, &top);

	if (frame) {
		frame->ret = ret;
		frame->func = ~ret;
		own(frame, users);
	}

	return frame;
}

static void pop(void)
{
	own(newest(), 0);
	fgraph_stack_pop(stack, &top);
}

/* Are exactly the frames 0 .. @nr - 1 there, in order? */
static void expect_frames(struct kunit *test, int nr)
{
	struct fgraph_frame *frame;
	unsigned int offset = top;

	while ((frame = fgraph_stack_walk(stack, &offset))) {
		KUNIT_EXPECT_EQ(test, frame->ret, RET(--nr));
		KUNIT_EXPECT_EQ(test, frame->func, ~RET(nr));
		if (nr < 0)
			break;
	}

	KUNIT_EXPECT_EQ(test, nr, 0);
}

static void fgraph_kunit_push_pop(struct kunit *test)
{
	int i;

	KUNIT_EXPECT_EQ(test, top, 0);
	expect_frames(test, 0);

	for (i = 0; i < 10; i++) {
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, push(RET(i), BIT(i)));
		KUNIT_EXPECT_EQ(test, newest()->users, (u32)BIT(i));
		expect_frames(test, i + 1);
	}

	while (i--) {
		KUNIT_EXPECT_EQ(test, newest()->ret, RET(i));
		pop();
		expect_frames(test, i);
	}

	KUNIT_EXPECT_EQ(test, top, 0);
}

/* A full stack refuses a frame, and nothing else happens */
static void fgraph_kunit_full(struct kunit *test)
{
	int nr = 0, full;
	u16 size;

	while (push(RET(nr), 1))
		nr++;

	/* As deep as the array it has replaced was, at least */
	KUNIT_EXPECT_GE(test, nr, 50);
	KUNIT_EXPECT_LE(test, nr, FTRACE_RETFUNC_DEPTH);

	full = top;
	size = newest()->size;
	KUNIT_EXPECT_NULL(test, push(RET(nr), 1));
	KUNIT_EXPECT_NULL(test, fgraph_stack_reserve(stack, top, 0,
						     FGRAPH_MAX_DATA_SIZE));
	KUNIT_EXPECT_EQ(test, top, full);
	KUNIT_EXPECT_EQ(test, newest()->size, size);
	expect_frames(test, nr);

	/* One less, and one more goes */
	pop();
	KUNIT_EXPECT_NOT_NULL(test, push(RET(nr - 1), 1));
	expect_frames(test, nr);

	while (top)
		pop();
}

/* Nothing is written beyond the frames, even when they fill it all up */
static void fgraph_kunit_bounds(struct kunit *test)
{
	unsigned int size, user;
	void *data;
	int i;

	for (size = 1; size <= FGRAPH_MAX_DATA_SIZE; size++) {
		memset(stack->depth, 0xa5, sizeof(stack->depth));

		while (push(RET(0), 1)) {
			for (user = 0; user < 3; user++) {
				data = fgraph_stack_reserve(stack, top, user, size);
				if (!data)
					break;
				memset(data, 0x5a, size);
			}
		}

		KUNIT_EXPECT_LE(test, top + newest()->size, (int)FGRAPH_FRAMES_SIZE);
		for (i = 0; i < FGRAPH_MAX_USERS; i++)
			KUNIT_EXPECT_EQ(test, stack->depth[i], (u16)0xa5a5);
		while (top)
			pop();
	}
}

/* Data of every size come back whole, to whom they belong, in any frame */
static void fgraph_kunit_reserve(struct kunit *test)
{
	static const unsigned int users[] = { 0, 7, FGRAPH_MAX_USERS - 1 };
	unsigned int size, i, j;
	unsigned char *data;
	int found;

	for (size = 1; size <= FGRAPH_MAX_DATA_SIZE; size++) {
		for (i = 0; i < 3; i++) {
			KUNIT_ASSERT_NOT_NULL(test, push(RET(i), 1));
			for (j = 0; j < ARRAY_SIZE(users); j++) {
				/* The stack takes three of the largest */
				unsigned int s = j ? 1 + j : size;

				data = fgraph_stack_reserve(stack, top, users[j], s);
				KUNIT_ASSERT_NOT_NULL(test, data);
				KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)data,
								   sizeof(long)));
				memset(data, i * 16 + j, s);
			}
		}
		expect_frames(test, 3);

		while (i--) {
			for (j = 0; j < ARRAY_SIZE(users); j++) {
				int s = j ? 1 + j : size;

				data = fgraph_frame_data(newest(), users[j], &found);
				KUNIT_ASSERT_NOT_NULL(test, data);
				KUNIT_EXPECT_EQ(test, found, s);
				KUNIT_EXPECT_NULL(test, memchr_inv(data, i * 16 + j, s));
			}
			KUNIT_EXPECT_NULL(test, fgraph_frame_data(newest(), 3, &found));
			pop();
		}
		KUNIT_EXPECT_EQ(test, top, 0);
	}
}

/* What a frame that is given up had reserved is free again */
static void fgraph_kunit_reserve_undone(struct kunit *test)
{
	struct fgraph_frame *frame;
	int i, found, size;

	for (i = 0; i < 1000; i++) {
		frame = push(RET(0), 0);
		KUNIT_ASSERT_NOT_NULL(test, frame);

		/* As function_graph_enter() does when a user says no */
		size = frame->size;
		KUNIT_ASSERT_NOT_NULL(test, fgraph_stack_reserve(stack, top, 1, 256));
		frame->size = size;
		KUNIT_EXPECT_NULL(test, fgraph_frame_data(frame, 1, &found));

		KUNIT_ASSERT_NOT_NULL(test, fgraph_stack_reserve(stack, top, 2, 8));
		KUNIT_EXPECT_NOT_NULL(test, fgraph_frame_data(frame, 2, &found));
		pop();
	}

	KUNIT_EXPECT_EQ(test, top, 0);
}

/* Frames without users are there, but nobody sees them */
static void fgraph_kunit_walk(struct kunit *test)
{
	unsigned int offset;

	push(RET(0), BIT(4));
	push(RET(9), 0);
	push(RET(1), BIT(31));
	push(RET(9), 0);
	expect_frames(test, 2);

	/* Not for me: 0 is passed over */
	offset = 0;
	KUNIT_EXPECT_NULL(test, fgraph_stack_walk(stack, &offset));

	while (top)
		pop();
	expect_frames(test, 0);
}

/* Whatever is in another task's stack, the walk stays in it and ends */
static void fgraph_kunit_walk_garbage(struct kunit *test)
{
	struct fgraph_frame *frame;
	unsigned int i, start, offset, last, steps;
	u32 seed = 12345;

	for (i = 0; i < FGRAPH_FRAMES_SIZE; i++) {
		seed = seed * 1664525 + 1013904223;
		stack->frames[i] = seed >> 24;
	}

	for (start = 0; start < FGRAPH_STACK_SIZE + 64; start++) {
		offset = ALIGN_DOWN(start, FGRAPH_ALIGN);
		last = offset;
		steps = 0;
		while ((frame = fgraph_stack_walk(stack, &offset))) {
			KUNIT_ASSERT_GE(test, (unsigned long)frame,
					(unsigned long)stack->frames);
			KUNIT_ASSERT_LE(test, (unsigned long)(frame + 1),
					(unsigned long)stack->frames + FGRAPH_FRAMES_SIZE);
			KUNIT_ASSERT_LT(test, offset, last);
			KUNIT_ASSERT_LT(test, ++steps, (unsigned int)FGRAPH_STACK_SIZE);
			last = offset;
		}
	}
}

/* Does user @user have open calls, as the real thing would count them? */
static void fgraph_kunit_any_open(struct kunit *test)
{
	struct fgraph_stack *real;
	/* The highest number; function graph hands out the lowest first */
	unsigned int user = FGRAPH_MAX_USERS - 1;

	real = fgraph_stack_alloc();
	KUNIT_ASSERT_NOT_NULL(test, real);

	KUNIT_EXPECT_FALSE(test, fgraph_stack_any_open(user));
	real->depth[user] = 1;
	real->task_var[user] = 17;
	KUNIT_EXPECT_TRUE(test, fgraph_stack_any_open(user));
	KUNIT_EXPECT_FALSE(test, fgraph_stack_any_open(user - 1));

	fgraph_stack_reset_user(user);
	KUNIT_EXPECT_EQ(test, real->task_var[user], 0UL);
	KUNIT_EXPECT_FALSE(test, fgraph_stack_any_open(user));

	real->depth[user] = 1;
	fgraph_stack_clear(real);
	KUNIT_EXPECT_FALSE(test, fgraph_stack_any_open(user));

	real->depth[user] = 1;
	fgraph_stack_free(real);
	KUNIT_EXPECT_FALSE(test, fgraph_stack_any_open(user));
}

/* The interrupt of below: calls of its own, nested, with data */
static void irq_nested_calls(struct kunit *test)
{
	unsigned int offset = top;
	int outer = 0;
	struct fgraph_frame *frame;
	int before = top, size;
	void *data;

	/* It sees whole frames, and all of them */
	while ((frame = fgraph_stack_walk(stack, &offset))) {
		KUNIT_EXPECT_EQ(test, frame->func, ~frame->ret);
		outer++;
	}
	KUNIT_EXPECT_EQ(test, outer, owned);

	if (push(0xbad1, BIT(9))) {
		data = fgraph_stack_reserve(stack, top, 9, 100);
		if (data)
			memset(data, 0xff, 100);
		if (push(0xbad2, BIT(9))) {
			data = fgraph_stack_reserve(stack, top, 9, 256);
			if (data) {
				memset(data, 0xee, 256);
				KUNIT_EXPECT_PTR_EQ(test, data,
						    fgraph_frame_data(newest(), 9, &size));
			}
			KUNIT_EXPECT_EQ(test, newest()->ret, 0xbad2UL);
			pop();
		}
		KUNIT_EXPECT_EQ(test, newest()->ret, 0xbad1UL);
		pop();
	}

	KUNIT_EXPECT_EQ(test, top, before);

	offset = top;
	while (fgraph_stack_walk(stack, &offset))
		outer--;
	KUNIT_EXPECT_EQ(test, outer, 0);
}

/* One round: some calls, nested, with data, and back. Counts the windows. */
static void nested_calls(struct kunit *test)
{
	unsigned char *data[3];
	int i, size;

	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_NOT_NULL(test, push(RET(i), 0));
		KUNIT_EXPECT_EQ(test, newest()->size, (u16)sizeof(struct fgraph_frame));
		/* To be seen only when it is complete */
		data[i] = fgraph_stack_reserve(stack, top, i, 40);
		KUNIT_ASSERT_NOT_NULL(test, data[i]);
		memset(data[i], i + 1, 40);
		own(newest(), BIT(i));
		expect_frames(test, i + 1);
	}

	while (i--) {
		KUNIT_EXPECT_PTR_EQ(test, (void *)data[i],
				    fgraph_frame_data(newest(), i, &size));
		KUNIT_EXPECT_NULL(test, memchr_inv(data[i], i + 1, 40));
		KUNIT_EXPECT_EQ(test, newest()->ret, RET(i));
		pop();
		expect_frames(test, i);
	}

	KUNIT_EXPECT_EQ(test, top, 0);
}

/* An interrupt at every single point, one at a time */
static void fgraph_kunit_interrupt_once(struct kunit *test)
{
	int at;

	irq_test = test;
	irq_handler = irq_nested_calls;

	for (at = 1; ; at++) {
		/* Leave something for a push to stumble upon */
		memset(stack->frames + sizeof(struct fgraph_frame), 0xff,
		       FGRAPH_FRAMES_SIZE - sizeof(struct fgraph_frame));
		irq_count = 0;
		irq_countdown = at;
		nested_calls(test);
		if (!irq_count)
			break;
	}

	/* There were such points in push, pop and reserve */
	KUNIT_EXPECT_GT(test, at, 3 * 3);
	irq_handler = NULL;
}

/* And at all of them */
static void fgraph_kunit_interrupt_storm(struct kunit *test)
{
	int i;

	irq_test = test;
	irq_handler = irq_nested_calls;
	irq_every = true;
	irq_count = 0;

	for (i = 0; i < 100; i++)
		nested_calls(test);

	KUNIT_EXPECT_GT(test, irq_count, 100);
	irq_every = false;
	irq_handler = NULL;
}

/* Also when the stack is so full that the interrupt finds little room */
static void fgraph_kunit_interrupt_full(struct kunit *test)
{
	int nr;

	irq_test = test;
	irq_handler = irq_nested_calls;
	irq_every = true;

	for (nr = 0; push(RET(nr), 1); nr++)
		expect_frames(test, nr + 1);
	KUNIT_EXPECT_GE(test, nr, 50);
	while (top) {
		KUNIT_EXPECT_EQ(test, newest()->ret, RET(--nr));
		pop();
	}
	KUNIT_EXPECT_EQ(test, nr, 0);

	irq_every = false;
	irq_handler = NULL;
}

static int fgraph_kunit_init(struct kunit *test)
{
	stack = kunit_kzalloc(test, sizeof(*stack), GFP_KERNEL);
	if (!stack)
		return -ENOMEM;

	fgraph_stack_clear(stack);
	top = 0;
	irq_handler = NULL;
	irq_every = false;
	irq_countdown = 0;
	owned = 0;

	return 0;
}

static struct kunit_case fgraph_stack_cases[] = {
	KUNIT_CASE(fgraph_kunit_push_pop),
	KUNIT_CASE(fgraph_kunit_full),
	KUNIT_CASE(fgraph_kunit_bounds),
	KUNIT_CASE(fgraph_kunit_reserve),
	KUNIT_CASE(fgraph_kunit_reserve_undone),
	KUNIT_CASE(fgraph_kunit_walk),
	KUNIT_CASE(fgraph_kunit_walk_garbage),
	KUNIT_CASE(fgraph_kunit_any_open),
	KUNIT_CASE(fgraph_kunit_interrupt_once),
	KUNIT_CASE(fgraph_kunit_interrupt_storm),
	KUNIT_CASE(fgraph_kunit_interrupt_full),
	{}
};

static struct kunit_suite fgraph_stack_suite = {
	.name		= "fgraph_stack",
	.init		= fgraph_kunit_init,
	.test_cases	= fgraph_stack_cases,
};

kunit_test_suite(fgraph_stack_suite);
