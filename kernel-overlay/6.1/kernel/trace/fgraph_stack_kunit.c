// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of the shadow stack of the function graph tracer.
 *
 * They use shadow stacks that are not assigned to a task.
 */
#include <kunit/test.h>
#include <linux/ftrace.h>

/*
 * Simulate interrupts: push, pop and reserve call this at each point where an
 * interrupt sees a different state.
 */
static void fgraph_kunit_interrupt(void);
#define fgraph_stack_window()	fgraph_kunit_interrupt()

#include "ftrace_internal.h"
#include "fgraph_stack.h"

/* The shadow stack under test, and the number of bytes of frames in use */
static struct fgraph_stack *stack;
static int top;

/* The return address in frame @n */
#define RET(n)	(0x1000UL + (n))

/*
 * The simulated interrupt: the window in which it occurs (zero for never), and
 * its handler. With irq_every it occurs in every window.
 */
static int irq_countdown;
static bool irq_every;
static void (*irq_handler)(struct kunit *test);
static struct kunit *irq_test;
static int irq_count;
static bool in_irq;

/* Number of frames that an interrupt must see */
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
	return fgraph_stack_top(stack, top);
}

/* The last step of a push */
static void publish(struct fgraph_frame *frame, unsigned long ret)
{
	if (!in_irq)
		owned++;
	frame->func = ~ret;
	WRITE_ONCE(frame->ret, ret);
}

/* The first half of a push: the state in which entry callbacks are called */
static struct fgraph_frame *begin(u32 users)
{
	struct fgraph_frame *frame;

	if (!fgraph_stack_push(stack, &top, &frame))
		return NULL;

	atomic_set(&frame->users, users);
	return frame;
}

static struct fgraph_frame *push(unsigned long ret, u32 users)
{
	struct fgraph_frame *frame = begin(users);

	if (frame)
		publish(frame, ret);

	return frame;
}

static void pop(void)
{
	if (!in_irq && newest()->ret)
		owned--;
	fgraph_stack_pop(stack, &top, newest());
}

static void *reserve(unsigned int user, unsigned int size)
{
	void *data;

	return fgraph_stack_reserve(stack, newest(), user, size, &data) ? data : NULL;
}

/* Get the data that @user reserved in @frame, and its size */
static void *data_of(struct fgraph_frame *frame, unsigned int user, int *size)
{
	struct fgraph_reserved *data;

	data = fgraph_frame_data(stack, top, frame, user);
	if (!data)
		return NULL;

	*size = data->size;
	return data->data;
}

/* Expect exactly the frames 0 .. @nr - 1 on the stack, in order */
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
		KUNIT_EXPECT_EQ(test, (u32)atomic_read(&newest()->users), (u32)BIT(i));
		expect_frames(test, i + 1);
	}

	while (i--) {
		KUNIT_EXPECT_EQ(test, newest()->ret, RET(i));
		pop();
		expect_frames(test, i);
	}

	KUNIT_EXPECT_EQ(test, top, 0);
}

/* A push on a full stack fails and changes nothing */
static void fgraph_kunit_full(struct kunit *test)
{
	int nr = 0, full;

	while (push(RET(nr), 1))
		nr++;

	KUNIT_EXPECT_EQ(test, nr, (int)FGRAPH_MAX_DEPTH);

	full = top;
	KUNIT_EXPECT_NULL(test, push(RET(nr), 1));
	KUNIT_EXPECT_EQ(test, top, full);
	expect_frames(test, nr);

	/* After a pop, there is space for one frame */
	pop();
	KUNIT_EXPECT_NOT_NULL(test, push(RET(nr - 1), 1));
	expect_frames(test, nr);

	while (top)
		pop();
}

/*
 * Reserved data must not take space from frames: 50 nested calls can always be
 * traced. A user can reserve a u64 for each of them.
 */
static void fgraph_kunit_frames_first(struct kunit *test)
{
	unsigned int user;
	int nr;

	for (nr = 0; push(RET(nr), ~0); nr++) {
		for (user = 0; user < FGRAPH_MAX_USERS; user++)
			reserve(user, 1 + (nr * 37 + user * 101) % FGRAPH_MAX_DATA_SIZE);
	}
	KUNIT_EXPECT_GE(test, nr, 50);
	expect_frames(test, nr);
	while (top)
		pop();

	for (nr = 0; push(RET(nr), 1) && reserve(0, sizeof(u64)); nr++)
		;
	KUNIT_EXPECT_GE(test, nr, 50);
	while (top)
		pop();
	KUNIT_EXPECT_EQ(test, stack->data_used, (u32)FGRAPH_DATA_START);
}

/* Frames and data do not overwrite anything else, even if the stack is full */
static void fgraph_kunit_bounds(struct kunit *test)
{
	unsigned int size, user;
	void *data;
	int i;

	for (size = 1; size <= FGRAPH_MAX_DATA_SIZE; size++) {
		memset(stack->user, 0xa5, sizeof(stack->user));
		memset(stack->task_var, 0xa5, sizeof(stack->task_var));

		while (push(RET(0), 1)) {
			for (user = 0; user < 3; user++) {
				data = reserve(user, size);
				if (!data)
					break;
				KUNIT_ASSERT_GE(test, (unsigned long)data,
						(unsigned long)stack->data);
				memset(data, 0x5a, size);
			}
		}

		KUNIT_EXPECT_LE(test, stack->data_used, (u32)FGRAPH_DATA_SIZE);
		for (i = 0; i < FGRAPH_MAX_USERS; i++) {
			KUNIT_EXPECT_EQ(test, stack->user[i].depth, (u16)0xa5a5);
			KUNIT_EXPECT_EQ(test, (u16)stack->task_var[i], (u16)0xa5a5);
		}
		while (top)
			pop();
	}
}

/* Each user finds its own data intact, of every size and in any frame */
static void fgraph_kunit_reserve(struct kunit *test)
{
	static const unsigned int users[] = { 0, 7, FGRAPH_MAX_USERS - 1 };
	static const unsigned int nr[] = { 3, 0, 3, 1 };
	struct fgraph_frame *frame[ARRAY_SIZE(nr)];
	unsigned int size, i, j;
	unsigned char *data;
	int found;

	for (size = 1; size <= FGRAPH_MAX_DATA_SIZE; size++) {
		for (i = 0; i < ARRAY_SIZE(frame); i++) {
			frame[i] = push(RET(i), 1);
			KUNIT_ASSERT_NOT_NULL(test, frame[i]);
			/* Frame 1 has no data, frame 3 those of the first user */
			for (j = 0; j < nr[i]; j++) {
				/* Only three of the maximum size fit */
				unsigned int s = j ? 1 + j : size;

				data = reserve(users[j], s);
				KUNIT_ASSERT_NOT_NULL(test, data);
				KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)data,
								   FGRAPH_ALIGN));
				memset(data, i * 16 + j, s);
			}
		}
		expect_frames(test, ARRAY_SIZE(frame));

		/* Look up the data of the newest frame and of older ones */
		for (i = 0; i < ARRAY_SIZE(frame); i++) {
			for (j = 0; j < ARRAY_SIZE(users); j++) {
				int s = j ? 1 + j : size;

				data = data_of(frame[i], users[j], &found);
				if (j >= nr[i]) {
					KUNIT_EXPECT_NULL(test, data);
					continue;
				}
				KUNIT_ASSERT_NOT_NULL(test, data);
				KUNIT_EXPECT_EQ(test, found, s);
				KUNIT_EXPECT_NULL(test, memchr_inv(data, i * 16 + j, s));
			}
			KUNIT_EXPECT_NULL(test, data_of(frame[i], 3, &found));
		}
		while (top)
			pop();
		KUNIT_EXPECT_EQ(test, stack->data_used, (u32)FGRAPH_DATA_START);
	}
}

/* Data are released if a user refuses a call, and when a frame is popped */
static void fgraph_kunit_reserve_undone(struct kunit *test)
{
	struct fgraph_frame *frame;
	int i, found;

	for (i = 0; i < 1000; i++) {
		frame = begin(BIT(1) | BIT(2));
		KUNIT_ASSERT_NOT_NULL(test, frame);

		/* As function_graph_enter() does for a refused call */
		KUNIT_ASSERT_NOT_NULL(test, reserve(1, 256));
		fgraph_stack_unreserve(stack, top, 1);
		KUNIT_EXPECT_NULL(test, data_of(frame, 1, &found));

		KUNIT_ASSERT_NOT_NULL(test, reserve(2, 8));
		KUNIT_EXPECT_NOT_NULL(test, data_of(frame, 2, &found));
		KUNIT_EXPECT_NULL(test, data_of(frame, 1, &found));
		pop();
	}

	KUNIT_EXPECT_EQ(test, top, 0);
	KUNIT_EXPECT_EQ(test, stack->data_used, (u32)FGRAPH_DATA_START);
}

/* The walk skips frames that are being pushed */
static void fgraph_kunit_walk(struct kunit *test)
{
	unsigned int offset;

	push(RET(0), BIT(4));
	begin(BIT(4));
	push(RET(1), BIT(31));
	begin(BIT(4));
	expect_frames(test, 2);

	/* A frame without any users left still has a return address */
	push(RET(2), 0);
	expect_frames(test, 3);

	offset = 0;
	KUNIT_EXPECT_NULL(test, fgraph_stack_walk(stack, &offset));

	while (top)
		pop();
	expect_frames(test, 0);
}

/* The walk stays within the stack and terminates, whatever it contains */
static void fgraph_kunit_walk_garbage(struct kunit *test)
{
	struct fgraph_frame *frame;
	unsigned int start, offset, last, steps;

	memset(stack->frames, 0x5a, sizeof(stack->frames));

	for (start = 0; start < 2 * FGRAPH_STACK_SIZE; start++) {
		offset = start;
		last = FGRAPH_FRAMES_SIZE + 1;
		steps = 0;
		while ((frame = fgraph_stack_walk(stack, &offset))) {
			KUNIT_ASSERT_GE(test, (unsigned long)frame,
					(unsigned long)stack->frames);
			KUNIT_ASSERT_LE(test, (unsigned long)(frame + 1),
					(unsigned long)stack->frames + FGRAPH_FRAMES_SIZE);
			KUNIT_ASSERT_LT(test, offset, last);
			KUNIT_ASSERT_LE(test, ++steps, (unsigned int)FGRAPH_MAX_DEPTH);
			last = offset;
		}
	}

	fgraph_stack_init(stack);
}

/*
 * Remove a user from the frames of all tasks, and clear its counters and task
 * variables. Other users must not be affected.
 */
static void fgraph_kunit_clear_user(struct kunit *test)
{
	/* Not in use: function graph assigns the lowest index first */
	unsigned int user = FGRAPH_MAX_USERS - 1, i;
	struct fgraph_stack *real[70];
	struct fgraph_frame *frame;

	/* More stacks than are processed without dropping the lock */
	for (i = 0; i < ARRAY_SIZE(real); i++) {
		real[i] = fgraph_stack_alloc();
		KUNIT_ASSERT_NOT_NULL(test, real[i]);

		top = 0;
		KUNIT_ASSERT_TRUE(test, fgraph_stack_push(real[i], &top, &frame));
		KUNIT_ASSERT_TRUE(test, fgraph_stack_push(real[i], &top, &frame));
		atomic_set(&real[i]->frames[0].users, BIT(user) | BIT(3));
		atomic_set(&real[i]->frames[1].users, BIT(user));
		real[i]->user[user] = (struct fgraph_stack_user){ 2, 5 };
		real[i]->user[3] = (struct fgraph_stack_user){ 1, 7 };
		real[i]->task_var[user] = 17;
		real[i]->task_var[3] = 19;
	}

	mutex_lock(&ftrace_lock);
	fgraph_stacks_clear_user(user);
	fgraph_stacks_reset(user);
	mutex_unlock(&ftrace_lock);

	for (i = 0; i < ARRAY_SIZE(real); i++) {
		KUNIT_EXPECT_EQ(test, (u32)atomic_read(&real[i]->frames[0].users),
				(u32)BIT(3));
		KUNIT_EXPECT_EQ(test, atomic_read(&real[i]->frames[1].users), 0);
		KUNIT_EXPECT_EQ(test, real[i]->user[user].depth, (u16)0);
		KUNIT_EXPECT_EQ(test, real[i]->user[user].overrun, (u16)0);
		KUNIT_EXPECT_EQ(test, real[i]->task_var[user], 0UL);
		KUNIT_EXPECT_EQ(test, real[i]->user[3].depth, (u16)1);
		KUNIT_EXPECT_EQ(test, real[i]->user[3].overrun, (u16)7);
		KUNIT_EXPECT_EQ(test, real[i]->task_var[3], 19UL);
		fgraph_stack_free(real[i]);
	}
	top = 0;
}

/* Interrupt handler of the tests below: nested calls that reserve data */
static void irq_nested_calls(struct kunit *test)
{
	unsigned int offset = top;
	int outer = 0;
	struct fgraph_frame *frame;
	int before = top, used = stack->data_used, size;
	unsigned char *data;

	/* All frames are visible, and they and their data are complete */
	while ((frame = fgraph_stack_walk(stack, &offset))) {
		KUNIT_EXPECT_EQ(test, frame->func, ~frame->ret);
		data = data_of(frame, frame->ret - RET(0), &size);
		if (data)
			KUNIT_EXPECT_EQ(test, (unsigned long)data[39],
					frame->ret - RET(0) + 1);
		outer++;
	}
	KUNIT_EXPECT_EQ(test, outer, owned);

	if (push(0xbad1, BIT(9))) {
		data = reserve(9, 100);
		if (data)
			memset(data, 0xff, 100);
		if (push(0xbad2, BIT(9))) {
			data = reserve(9, 256);
			if (data) {
				memset(data, 0xee, 256);
				KUNIT_EXPECT_PTR_EQ(test, (void *)data,
						    data_of(newest(), 9, &size));
			}
			KUNIT_EXPECT_EQ(test, newest()->ret, 0xbad2UL);
			pop();
		}
		KUNIT_EXPECT_EQ(test, newest()->ret, 0xbad1UL);
		pop();
	}

	KUNIT_EXPECT_EQ(test, top, before);
	KUNIT_EXPECT_EQ(test, (int)stack->data_used, used);

	offset = top;
	while (fgraph_stack_walk(stack, &offset))
		outer--;
	KUNIT_EXPECT_EQ(test, outer, 0);
}

/* Nested calls that reserve data, and their returns */
static void nested_calls(struct kunit *test)
{
	struct fgraph_frame *frame;
	unsigned char *data[3];
	int i, size;

	for (i = 0; i < 3; i++) {
		frame = begin(BIT(i));
		KUNIT_ASSERT_NOT_NULL(test, frame);
		KUNIT_EXPECT_EQ(test, frame->ret, 0UL);
		KUNIT_EXPECT_EQ(test, frame->data, (u16)0);
		/* Not visible until it is published */
		data[i] = reserve(i, 40);
		KUNIT_ASSERT_NOT_NULL(test, data[i]);
		memset(data[i], i + 1, 40);
		publish(frame, RET(i));
		expect_frames(test, i + 1);
	}

	while (i--) {
		KUNIT_EXPECT_PTR_EQ(test, (void *)data[i],
				    data_of(newest(), i, &size));
		KUNIT_EXPECT_NULL(test, memchr_inv(data[i], i + 1, 40));
		KUNIT_EXPECT_EQ(test, newest()->ret, RET(i));
		pop();
		expect_frames(test, i);
	}

	KUNIT_EXPECT_EQ(test, top, 0);
	KUNIT_EXPECT_EQ(test, stack->data_used, (u32)FGRAPH_DATA_START);
}

/* Interrupt each window in turn, one per round */
static void fgraph_kunit_interrupt_once(struct kunit *test)
{
	int at;

	irq_test = test;
	irq_handler = irq_nested_calls;

	for (at = 1; ; at++) {
		irq_count = 0;
		irq_countdown = at;
		nested_calls(test);
		if (!irq_count)
			break;
	}

	/* Push, pop and reserve all have windows */
	KUNIT_EXPECT_GT(test, at, 3 * 3);
	irq_handler = NULL;
}

/* Interrupt every window */
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

/* Interrupt every window, until the stack is full */
static void fgraph_kunit_interrupt_full(struct kunit *test)
{
	int nr;

	irq_test = test;
	irq_handler = irq_nested_calls;
	irq_every = true;
	irq_count = 0;

	for (nr = 0; push(RET(nr), 1); nr++)
		expect_frames(test, nr + 1);
	KUNIT_EXPECT_GE(test, nr, 50);
	KUNIT_EXPECT_GT(test, irq_count, 50);
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

	fgraph_stack_init(stack);
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
	KUNIT_CASE(fgraph_kunit_frames_first),
	KUNIT_CASE(fgraph_kunit_bounds),
	KUNIT_CASE(fgraph_kunit_reserve),
	KUNIT_CASE(fgraph_kunit_reserve_undone),
	KUNIT_CASE(fgraph_kunit_walk),
	KUNIT_CASE(fgraph_kunit_walk_garbage),
	KUNIT_CASE(fgraph_kunit_clear_user),
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
