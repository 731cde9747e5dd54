// SPDX-License-Identifier: GPL-2.0
/*
 * Hooks of kretprobes and fprobes on function return, on the shadow stack of
 * function graph
 *
 * A hooked call has a frame of its own, which no graph user is in. Its return
 * goes to arch_rethook_trampoline, that of a frame of graph users to
 * return_to_handler. Frames of both kinds may follow each other for a single
 * call: the trampoline of each returns to that of the next older one.
 *
 * A task may sleep in a hooked call when the rethook is freed. So the memory of
 * a struct rethook is only reused for another struct rethook. Frames remember
 * its generation, which tells whether their rethook still exists.
 */
#define pr_fmt(fmt) "rethook: " fmt

#include <linux/bug.h>
#include <linux/context_tracking.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/preempt.h>
#include <linux/rethook.h>
#include <linux/slab.h>

#include <asm/rethook.h>

#include "ftrace_internal.h"
#include "fgraph_stack.h"

#ifndef HAVE_FUNCTION_GRAPH_RET_ADDR_PTR
# error "rethook needs fgraph_frame.retp"
#endif

/* Walkers read the return address of any frame, and rethook_call() stores it */
static_assert(offsetof(struct fgraph_frame, hook.ret_addr) ==
	      offsetof(struct fgraph_frame, ret));

/* Without a hole, so that the data follow the node as they do in its owner */
static_assert(offsetof(struct fgraph_frame, hook_data) ==
	      offsetofend(struct fgraph_frame, hook));

/* To be reused. Entries are removed with ftrace_lock held */
static LLIST_HEAD(rethook_unused);

/**
 * rethook_alloc() - allocate a rethook
 * @data:	passed to @handler
 * @handler:	called when a hooked function returns
 * @size:	size of a node in bytes: sizeof(struct rethook_node), and the
 *		data that the caller keeps behind it
 * @num:	ignored, as nodes are on the shadow stacks of tasks
 *
 * Context: may sleep.
 * Return: the rethook, to be freed with rethook_free(). On failure, an error
 * pointer: -EINVAL if an argument is missing or too small, -E2BIG if the data
 * do not fit on a shadow stack, or -ENOMEM.
 */
struct rethook *rethook_alloc(void *data, rethook_handler_t handler,
			      size_t size, int num)
{
	struct llist_node *unused;
	struct rethook *rh;
	int ret;

	if (!handler || size < sizeof(struct rethook_node))
		return ERR_PTR(-EINVAL);
	if (size > FGRAPH_DATA_SIZE - FGRAPH_DATA_START)
		return ERR_PTR(-E2BIG);

	mutex_lock(&ftrace_lock);
	ret = fgraph_get_stacks();
	if (ret)
		goto out;

	unused = llist_del_first(&rethook_unused);
	if (unused)
		rh = container_of(unused, struct rethook, unused);
	else
		rh = kzalloc(sizeof(*rh), GFP_KERNEL);
	if (!rh) {
		fgraph_put_stacks();
		ret = -ENOMEM;
	}
out:
	mutex_unlock(&ftrace_lock);
	if (ret)
		return ERR_PTR(ret);

	rh->data = data;
	rh->size = size;
	rh->generation++;
	/* Pairs with smp_load_acquire() in rethook_call() */
	smp_store_release(&rh->handler, handler);

	return rh;
}

/**
 * rethook_stop() - stop calling the handler of a rethook
 * @rh:		the rethook
 *
 * No new calls are hooked. After an RCU grace period, the handler is not
 * running and will not be called again, not even for the return of open calls.
 *
 * Context: any.
 */
void rethook_stop(struct rethook *rh)
{
	WRITE_ONCE(rh->handler, NULL);
}

static void rethook_free_rcu(struct rcu_head *head)
{
	struct rethook *rh = container_of(head, struct rethook, rcu);

	llist_add(&rh->unused, &rethook_unused);
}

/**
 * rethook_free() - stop and free a rethook
 * @rh:		the rethook
 *
 * Calls may still be hooked, and sleep. See rethook_stop() for their returns.
 *
 * Context: may sleep.
 */
void rethook_free(struct rethook *rh)
{
	rethook_stop(rh);

	mutex_lock(&ftrace_lock);
	fgraph_put_stacks();
	mutex_unlock(&ftrace_lock);

	/* After a grace period, nothing is hooking a call for @rh any more */
	call_rcu(&rh->rcu, rethook_free_rcu);
}

/* Test if the data of the owner fit in a frame, behind the node */
static __always_inline bool rethook_fits(const struct rethook *rh)
{
	return rh->size <= offsetofend(struct fgraph_frame, hook_data) -
			   offsetof(struct fgraph_frame, hook);
}

/* Take memory for the data of the owner, with a node in front of them */
static noinline notrace __kprobes struct rethook_node *
rethook_reserve(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	struct rethook *rh = frame->hook.rethook;
	struct rethook_node *node;
	void *space;

	if (unlikely(!fgraph_stack_take(stack, frame, rh->size, &space))) {
		fgraph_stack_pop(stack, &current->curr_ret_stack, frame);
		return NULL;
	}

	node = space;
	node->rethook = rh;

	return node;
}

/*
 * Handlers use RCU, and rethook_free() waits for a grace period. This is
 * rcu_is_watching() for callers that have disabled preemption.
 */
static __always_inline bool rethook_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return !rcu_dynticks_curr_cpu_in_eqs();
#else
	return rcu_is_watching();
#endif
}

/**
 * rethook_try_get() - get a node for the call of a function
 * @rh:		the rethook
 *
 * Call rethook_hook() or rethook_recycle() with the node before preemption is
 * enabled.
 *
 * Context: any, with preemption disabled, at the entry of the function.
 * Return: the node, which is not initialized, nor are the data behind it. NULL
 * if @rh is being freed, RCU is not watching, function graph is paused, or the
 * shadow stack of the current task is full or was not allocated.
 */
struct rethook_node *rethook_try_get(struct rethook *rh)
{
	struct fgraph_stack *stack = READ_ONCE(current->ret_stack);
	struct fgraph_frame *frame;

	if (unlikely(!READ_ONCE(rh->handler) || !stack))
		return NULL;

	if (unlikely(!rethook_rcu_is_watching()))
		return NULL;

	/* Calls that do not return, see pause_graph_tracing() */
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return NULL;

	if (unlikely(!fgraph_stack_push(stack, &current->curr_ret_stack,
					&frame)))
		return NULL;

	atomic_set(&frame->users, 0);
	frame->hook.rethook = rh;
	frame->generation = rh->generation;

	if (likely(rethook_fits(rh)))
		return &frame->hook;

	return rethook_reserve(stack, frame);
}
NOKPROBE_SYMBOL(rethook_try_get);

/**
 * rethook_recycle() - give back a node for a call that is not to be hooked
 * @node:	from rethook_try_get()
 *
 * Context: that of rethook_try_get().
 */
void rethook_recycle(struct rethook_node *node)
{
	struct fgraph_stack *stack = current->ret_stack;

	fgraph_stack_pop(stack, &current->curr_ret_stack,
			 fgraph_stack_top(stack, current->curr_ret_stack));
}
NOKPROBE_SYMBOL(rethook_recycle);

/**
 * rethook_hook() - hook the return of a call
 * @node:	from rethook_try_get()
 * @regs:	the registers at the entry of the function
 * @mcount:	true if this is called from an ftrace callback, false if it is
 *		called from a breakpoint at the first instruction
 *
 * Context: that of rethook_try_get().
 */
void rethook_hook(struct rethook_node *node, struct pt_regs *regs, bool mcount)
{
	struct fgraph_frame *frame = fgraph_stack_top(current->ret_stack,
						      current->curr_ret_stack);
	unsigned long *ret_addr = arch_rethook_ret_addr(regs, mcount);

	frame->retp = (unsigned long *)arch_rethook_frame(regs);
	barrier();
	/* Walkers see the frame before they can see the trampoline */
	WRITE_ONCE(frame->ret, *ret_addr);
	barrier();
	*ret_addr = (unsigned long)arch_rethook_trampoline;
}
NOKPROBE_SYMBOL(rethook_hook);

/**
 * rethook_find_ret_addr() - find the return address of a hooked call
 * @tsk:	the task; current or not running
 * @frame:	what identifies the call, see arch_rethook_frame()
 * @cur:	not used
 *
 * Context: any. The caller must keep @tsk from being freed.
 * Return: the return address, or zero if @tsk has no such call.
 */
unsigned long rethook_find_ret_addr(struct task_struct *tsk, unsigned long frame,
				    struct llist_node **cur)
{
	return fgraph_stack_ret_addr(tsk, (unsigned long *)frame);
}
NOKPROBE_SYMBOL(rethook_find_ret_addr);

/* Call the handler for the return of a call, unless its rethook was freed */
static __always_inline void
rethook_call(struct fgraph_stack *stack, struct fgraph_frame *frame,
	     unsigned long ret_addr, struct pt_regs *regs)
{
	struct rethook_node *node = &frame->hook;
	struct rethook *rh = node->rethook;
	rethook_handler_t handler;

	/*
	 * Pairs with smp_store_release() in rethook_alloc(): the generation and
	 * the data are not older than the handler.
	 */
	handler = smp_load_acquire(&rh->handler);
	if (unlikely(!handler || frame->generation != rh->generation))
		return;

	if (unlikely(!rethook_fits(rh)))
		node = (void *)stack->data + frame->data;
	/*
	 * If the node is in the frame, this overwrites &fgraph_frame.ret with
	 * the original address. Unwinders then find that address in this frame.
	 */
	node->ret_addr = ret_addr;

	handler(node, rh->data, regs);
}

/* There is nowhere to return to */
static noinline notrace __kprobes void __noreturn
rethook_lost_return(struct fgraph_frame *frame, unsigned long *retp)
{
	if (frame)
		pr_emerg("Return from a call with its return address at %p, but the newest frame is for %p and returns to %pS\n",
			 retp, frame->retp, (void *)frame->ret);
	else
		pr_emerg("Return from a call that has no frame\n");
	BUG();
}

/* Handle the return of a call that has several frames, the newest one at @top */
static noinline notrace __kprobes unsigned long
rethook_return_several(struct fgraph_stack *stack, struct fgraph_frame *top,
		       struct pt_regs *regs)
{
	struct fgraph_frame *frame = top;
	unsigned long ret, ret_addr;

	/* Only the oldest frame of a call has its return address */
	while (fgraph_is_trampoline(frame->ret) && frame > stack->frames)
		frame--;
	ret_addr = frame->ret;
	instruction_pointer_set(regs, ret_addr);

	do {
		if (unlikely(top < stack->frames || top->retp != frame->retp))
			rethook_lost_return(NULL, frame->retp);

		ret = top->ret;
		rethook_call(stack, top, ret_addr, regs);
		if (!is_rethook_trampoline(ret))
			arch_rethook_fixup_return(regs, ret);
		/* Unwinders find the caller for the trampoline until here */
		fgraph_stack_pop(stack, &current->curr_ret_stack, top--);
	} while (is_rethook_trampoline(ret));

	return ret;
}

/**
 * rethook_trampoline_handler() - handle the return of a hooked call
 * @regs:	the registers at the return
 * @frame:	what identifies the call, see arch_rethook_frame()
 *
 * Calls the handlers of all hooks up to the next frame of graph users. The
 * instruction pointer in @regs is that of the caller. The fake return address
 * on the stack is replaced.
 *
 * Context: any, including NMI.
 * Return: the address to return to.
 */
unsigned long rethook_trampoline_handler(struct pt_regs *regs,
					 unsigned long frame)
{
	struct task_struct *task = current;
	struct fgraph_stack *stack = task->ret_stack;
	int offset = task->curr_ret_stack;
	struct fgraph_frame *top = fgraph_stack_top(stack, offset);
	unsigned long ret;

	if (unlikely(offset <= 0 || top->retp != (unsigned long *)frame))
		rethook_lost_return(offset > 0 ? top : NULL,
				    (unsigned long *)frame);

	preempt_disable_notrace();

	ret = top->ret;
	if (unlikely(fgraph_is_trampoline(ret))) {
		ret = rethook_return_several(stack, top, regs);
	} else {
		instruction_pointer_set(regs, ret);
		rethook_call(stack, top, ret, regs);
		/* Read the address again instead of keeping it in a register */
		ret = top->ret;
		arch_rethook_fixup_return(regs, ret);
		/* Unwinders find the caller for the trampoline until here */
		fgraph_stack_pop(current->ret_stack, &current->curr_ret_stack,
				 top);
	}

	preempt_enable_notrace();

	return ret;
}
NOKPROBE_SYMBOL(rethook_trampoline_handler);
