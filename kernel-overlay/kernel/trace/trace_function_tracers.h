/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choosing a tracer: what trace_function_tracers.c is made of, for its tests
 */
#ifndef _LINUX_KERNEL_TRACE_FUNCTION_TRACERS_H
#define _LINUX_KERNEL_TRACE_FUNCTION_TRACERS_H

#include <linux/mutex.h>
#include <linux/types.h>

#include "trace.h"

/**
 * struct function_tracer - a tracer that can be picked
 * @id:		&ftrace_ops.id, or 0 for the own tracer of the directory
 * @ops:	its ops, to be looked at only as long as ftrace_lock is held since
 *		the tracers were listed
 * @name:	what it is listed as
 */
struct function_tracer {
	u64			id;
	struct ftrace_ops	*ops;
	char			*name;
};

/**
 * struct function_tracers - the tracers that could be picked at some time
 * @nr:		how many there are
 * @tracers:	the own tracer of the directory, then the others, in the order
 *		in which they were registered
 */
struct function_tracers {
	unsigned int		nr;
	struct function_tracer	tracers[];
};

struct function_tracers *function_tracers_get(struct trace_array *tr, u64 *picked);
void function_tracers_put(struct function_tracers *list);
int function_tracer_pick(struct trace_array *tr, const char *name);

/**
 * struct filter_line - a line to read from a filter file
 * @name:	of whose filter it is
 * @ip:		a function in it, or 0
 * @text:	if it is not a function: some text; if NULL, too, the filter is
 *		empty
 */
struct filter_line {
	const char		*name;
	unsigned long		ip;
	char			*text;
};

/**
 * struct picked_filter - a filter file opened for a tracer that was picked
 * @tr:		the trace array whose file it is
 * @id:		the tracer
 * @untraced:	is it set_ftrace_notrace?
 * @lock:	for @parser and @hash
 * @parser:	the word that is being written
 * @before:	what was in the filter when the file was opened, NULL if that
 *		does not matter, as the file was truncated
 * @hash:	what is to be in it
 * @tracers:	those whose names are in @lines
 * @lines:	what to read
 * @nr_lines:	how many lines these are
 */
struct picked_filter {
	struct trace_array	*tr;
	u64			id;
	bool			untraced;
	struct mutex		lock;	/* for parser and hash */
	struct trace_parser	parser;
	struct ftrace_hash	*before;
	struct ftrace_hash	*hash;
	struct function_tracers	*tracers;
	struct filter_line	*lines;
	unsigned long		nr_lines;
};

struct picked_filter *picked_filter_open(struct trace_array *tr, bool untraced,
					 fmode_t mode, bool truncate);
int picked_filter_edit(struct picked_filter *filter, char *buf);
int picked_filter_apply(struct picked_filter *filter);
void picked_filter_free(struct picked_filter *filter);

#endif /* _LINUX_KERNEL_TRACE_FUNCTION_TRACERS_H */
