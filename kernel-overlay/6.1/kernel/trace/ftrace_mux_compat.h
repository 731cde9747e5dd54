/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of later kernels' KUnit, what tests of sets use: replaced functions, to let
 * allocations fail or to call traced functions halfway through an update, and
 * actions at the end of a test
 *
 * A replacement is a resource of the test, with the name of the function, and is
 * used only by the task that runs the test. KUnit removes it when the test ends.
 */
#ifndef _KERNEL_TRACE_FTRACE_MUX_COMPAT_H
#define _KERNEL_TRACE_FTRACE_MUX_COMPAT_H

#ifdef CONFIG_FTRACE_MUX_KUNIT_TEST
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/sched.h>
#include <linux/slab.h>

static inline void *ftrace_mux_kunit_stub(const char *name)
{
	struct kunit_resource *res;
	void *stub;

	if (likely(!current->kunit_test))
		return NULL;

	res = kunit_find_named_resource(current->kunit_test, name);
	if (!res)
		return NULL;

	stub = res->data;
	kunit_put_resource(res);

	return stub;
}

static inline void
ftrace_mux_activate_stub(struct kunit *test, const char *name, void *stub)
{
	struct kunit_resource *res = kunit_kzalloc(test, sizeof(*res), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, res);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_named_resource(test, NULL, NULL, res,
							  name, stub));
}

/* In the function @fn, call its replacement instead, if it has one */
#define KUNIT_STATIC_STUB_REDIRECT(fn, args...)				\
	do {								\
		typeof(&fn) stub = ftrace_mux_kunit_stub(#fn);		\
									\
		if (unlikely(stub))					\
			return stub(args);				\
	} while (0)

#define kunit_activate_static_stub(test, fn, replacement)		\
	do {								\
		typeof(&fn) stub = replacement;				\
									\
		ftrace_mux_activate_stub(test, #fn, stub);		\
	} while (0)

#define kunit_deactivate_static_stub(test, fn)				\
	kunit_destroy_named_resource(test, #fn)

/**
 * struct ftrace_mux_action - what a test has to do when it ends
 * @func:	function to be called
 * @arg:	its argument
 */
struct ftrace_mux_action {
	void (*func)(void *arg);
	void *arg;
};

static inline void ftrace_mux_run_action(struct kunit_resource *res)
{
	struct ftrace_mux_action *action = res->data;

	action->func(action->arg);
	kfree(action);
}

static inline int
kunit_add_action(struct kunit *test, void (*func)(void *arg), void *arg)
{
	struct ftrace_mux_action *action = kmalloc(sizeof(*action), GFP_KERNEL);
	struct kunit_resource *res = NULL;

	if (action) {
		*action = (struct ftrace_mux_action) { func, arg };
		res = kunit_alloc_and_get_resource(test, NULL, ftrace_mux_run_action,
						   GFP_KERNEL, action);
	}
	if (!res) {
		kfree(action);
		return -ENOMEM;
	}
	kunit_put_resource(res);

	return 0;
}

/* Let @dst share the filter of @src, as function_graph does that of function */
static inline void fgraph_init_ops(struct ftrace_ops *dst, struct ftrace_ops *src)
{
	dst->func_hash = &src->local_hash;
}

#else
#define KUNIT_STATIC_STUB_REDIRECT(fn, args...) do { } while (0)
#endif

#endif /* _KERNEL_TRACE_FTRACE_MUX_COMPAT_H */
