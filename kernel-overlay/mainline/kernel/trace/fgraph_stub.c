// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stubs, by which functions are called whose return is hooked
 *
 * A CPU predicts a return by the call before it. When the return address of a
 * function is replaced, its return goes elsewhere, and so does that of
 * return_to_handler(): both are mispredicted. A stub calls the function, so that
 * each return has its call:
 *
 *   func:  jmp stub          stub:  call enter     push a frame
 *   body:  ...                      jne body       if that is not hooked
 *          ret                      drop the return address
 *                                   call body
 *                                   jmp leave      pop the frame, return
 *
 * The return address of "call body" takes the place of the one that is dropped, so
 * the function finds its stack as it was called.
 *
 * A function has a stub while function graph is all that traces it, and is not among
 * so many that they call the same jump. Without memory for one, its return address is
 * replaced. Tasks can be in a function, and return to its stub, long after nobody
 * traces it. So stubs stay for the next user. Those of a module are freed after it.
 *
 * Everything here requires ftrace_lock, except fgraph_stub_at().
 */
#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/fgraph_stub.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "trace.h"
#include "ftrace_internal.h"
#include "ftrace_mux.h"

#define STUBS_PER_CHUNK	(PAGE_SIZE / FGRAPH_STUB_SIZE)

/**
 * struct fgraph_chunk - memory of some stubs, which is never freed
 * @ops:	has the memory as its trampoline
 * @code:	to find the memory by address
 * @list:	node in the list of all chunks
 * @used:	bitmap of the stubs that are in use
 */
struct fgraph_chunk {
	struct ftrace_ops	ops;
	struct ftrace_mux_code	code;
	struct list_head	list;
	DECLARE_BITMAP(used, STUBS_PER_CHUNK);
};

/**
 * struct fgraph_stub - stub of a function
 * @node:	node in the hash table of stubs
 * @retired:	node in the list of stubs to be freed
 * @ip:		address of the call site of the function
 * @addr:	address of the stub
 * @chunk:	memory that has it
 */
struct fgraph_stub {
	union {
		struct hlist_node	node;
		struct list_head	retired;
	};
	unsigned long		ip;
	unsigned long		addr;
	struct fgraph_chunk	*chunk;
};

static DEFINE_HASHTABLE(fgraph_stubs, 10);
static LIST_HEAD(fgraph_chunks);
/* Stubs of functions that are gone, to be freed */
static LIST_HEAD(fgraph_stubs_retired);

/* Stubs that are yet to be written, one behind the other */
static u8 fgraph_stubs_new[PAGE_SIZE];
static unsigned long fgraph_stubs_new_start;
static size_t fgraph_stubs_new_size;

/* From the first chunk to the last one. Modules can lie between them */
unsigned long fgraph_stubs_start __read_mostly;
unsigned long fgraph_stubs_end __read_mostly;

/* No call site jumps to @chunk before this is done */
static void fgraph_add_chunk(struct fgraph_chunk *chunk)
{
	unsigned long start = chunk->ops.trampoline, end = start + PAGE_SIZE;

	list_add(&chunk->list, &fgraph_chunks);
	ftrace_mux_add_code(&chunk->code, &chunk->ops);
	if (!fgraph_stubs_end || start < fgraph_stubs_start)
		WRITE_ONCE(fgraph_stubs_start, start);
	if (end > fgraph_stubs_end)
		WRITE_ONCE(fgraph_stubs_end, end);
}

static struct fgraph_stub *fgraph_stub_find(unsigned long ip)
{
	struct fgraph_stub *stub;

	hash_for_each_possible(fgraph_stubs, stub, node, ip) {
		if (stub->ip == ip)
			return stub;
	}

	return NULL;
}

static struct fgraph_chunk *fgraph_chunk_new(void)
{
	struct fgraph_chunk *chunk = kzalloc_obj(struct fgraph_chunk);

	if (!chunk)
		return NULL;

	chunk->ops.flags = FTRACE_OPS_FL_STUB | FTRACE_OPS_FL_SET |
			   FTRACE_OPS_FL_GRAPH;
	if (!arch_fgraph_chunk_create(&chunk->ops)) {
		kfree(chunk);
		return NULL;
	}

	fgraph_add_chunk(chunk);

	return chunk;
}

/* The first chunk that has room */
static struct fgraph_chunk *fgraph_chunk_get(void)
{
	struct fgraph_chunk *chunk;

	list_for_each_entry(chunk, &fgraph_chunks, list) {
		if (!bitmap_full(chunk->used, STUBS_PER_CHUNK))
			return chunk;
	}

	return fgraph_chunk_new();
}

/**
 * fgraph_stub_addr - find the stub of a function
 * @ip:		address of the call site of the function
 *
 * Context: ftrace_lock held.
 * Return: the address of the stub; zero if there is none.
 */
unsigned long fgraph_stub_addr(unsigned long ip)
{
	struct fgraph_stub *stub = fgraph_stub_find(ip);

	return stub ? stub->addr : 0;
}

/**
 * fgraph_stubs_write - write the stubs that fgraph_stub_make() has created
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void fgraph_stubs_write(void)
{
	if (!fgraph_stubs_new_size)
		return;

	arch_fgraph_stubs_write(fgraph_stubs_new_start, fgraph_stubs_new,
				fgraph_stubs_new_size);
	fgraph_stubs_new_size = 0;
}

/* Write @stub later, together with those in front of it */
static void fgraph_stub_add(struct fgraph_stub *stub)
{
	if (fgraph_stubs_new_size == sizeof(fgraph_stubs_new) ||
	    stub->addr != fgraph_stubs_new_start + fgraph_stubs_new_size) {
		fgraph_stubs_write();
		fgraph_stubs_new_start = stub->addr;
	}

	arch_fgraph_stub_gen(fgraph_stubs_new + fgraph_stubs_new_size, stub->addr,
			     stub->ip);
	fgraph_stubs_new_size += FGRAPH_STUB_SIZE;
}

/**
 * fgraph_stub_make - create the stub of a function, unless it has one
 * @ip:		address of the call site of the function
 *
 * fgraph_stubs_write() has to follow before a call site is patched.
 *
 * Context: ftrace_lock held, text_mutex not held; may sleep.
 */
void fgraph_stub_make(unsigned long ip)
{
	struct fgraph_stub *stub;
	unsigned int i;

	if (!arch_fgraph_stubs_help() || fgraph_stub_find(ip))
		return;

	stub = kzalloc_obj(struct fgraph_stub);
	if (!stub)
		return;

	stub->chunk = fgraph_chunk_get();
	if (!stub->chunk) {
		kfree(stub);
		return;
	}

	i = find_first_zero_bit(stub->chunk->used, STUBS_PER_CHUNK);
	__set_bit(i, stub->chunk->used);
	stub->ip = ip;
	stub->addr = stub->chunk->ops.trampoline + i * FGRAPH_STUB_SIZE;
	fgraph_stub_add(stub);
	hash_add(fgraph_stubs, &stub->node, ip);
}

/* Free stubs of functions that are gone, without ftrace_lock while waiting */
static void fgraph_stubs_free_retired(struct work_struct *work)
{
	struct fgraph_stub *stub, *next;
	LIST_HEAD(stubs);

	mutex_lock(&ftrace_lock);
	list_splice_init(&fgraph_stubs_retired, &stubs);
	mutex_unlock(&ftrace_lock);

	/*
	 * Wait for tasks that were preempted there, or in what stubs call and jump to.
	 * No task sleeps in the function of a stub: it would keep the module. If it
	 * left by a jump into a function that sleeps, its module must not go before
	 * that returns.
	 */
	ftrace_synchronize(true);

	mutex_lock(&ftrace_lock);
	list_for_each_entry_safe(stub, next, &stubs, retired) {
		struct fgraph_chunk *chunk = stub->chunk;

		arch_fgraph_stubs_write(stub->addr, NULL, FGRAPH_STUB_SIZE);
		__clear_bit((stub->addr - chunk->ops.trampoline) / FGRAPH_STUB_SIZE,
			    chunk->used);
		kfree(stub);
	}
	mutex_unlock(&ftrace_lock);
}

static DECLARE_DELAYED_WORK(fgraph_stubs_free_work, fgraph_stubs_free_retired);

/**
 * fgraph_stub_retire - free the stub of a function, if it has one, later
 * @ip:		address of the call site of the function, which is about to be gone
 *
 * Context: ftrace_lock held.
 */
void fgraph_stub_retire(unsigned long ip)
{
	struct fgraph_stub *stub = fgraph_stub_find(ip);

	if (!stub)
		return;

	hash_del(&stub->node);
	list_add(&stub->retired, &fgraph_stubs_retired);
	queue_delayed_work(system_dfl_long_wq, &fgraph_stubs_free_work, HZ);
}

/* The slow path of fgraph_stub_at() */
unsigned long __fgraph_stub_at(unsigned long addr)
{
	struct ftrace_ops *ops;

	guard(preempt_notrace)();
	ops = ftrace_mux_trampoline(addr);
	if (!ops || !(ops->flags & FTRACE_OPS_FL_GRAPH))
		return 0;

	return ALIGN_DOWN(addr, FGRAPH_STUB_SIZE);
}
