// SPDX-License-Identifier: GPL-2.0-only
/*
 * function_tracers - select the tracer that set_ftrace_filter applies to
 *
 * By default, set_ftrace_filter and set_ftrace_notrace at the top level show
 * and change the filter of the function tracer. Other tracers have filters as
 * well. function_tracers lists the tracers that support this, and the two files
 * apply to the tracer that is selected there.
 *
 * An open file keeps the tracer it was opened for. All tracers in the list are
 * built in, so they need no reference counting, and a new selection needs no
 * further action. Instances have their own filter files.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "ftrace_internal.h"

/* Much longer than any name */
#define MAX_WRITE	64

struct function_tracer {
	const char		*name;
	/* Finds the ops to open a filter file with; NULL for global_ops */
	struct ftrace_ops	*(*filter_ops)(void);
};

static const struct function_tracer tracers[] = {
	{ "trace" },
#ifdef CONFIG_STACK_TRACER
	{ "stack_trace", stack_tracer_ops },
#endif
};

static const struct function_tracer *selected = &tracers[0];

/* Messages for error_log */
static const char *errors[] = {
	[FUNCTION_TRACER_UNKNOWN]	= "No such tracer",
	[FUNCTION_TRACER_NO_COMMANDS]	= "Only the tracer \"trace\" can have commands",
};

/**
 * function_tracer_ops - find the ops that the top level filter files apply to
 *
 * Context: any.
 * Return: the ops, or NULL for the default, the function tracer.
 */
struct ftrace_ops *function_tracer_ops(void)
{
	const struct function_tracer *tracer = READ_ONCE(selected);

	return tracer->filter_ops ? tracer->filter_ops() : NULL;
}

/**
 * function_tracer_log - log an error of a write to a filter file
 * @text:	what was written
 * @pos:	position of the error in @text, in characters
 * @filter:	true for set_ftrace_filter, false for set_ftrace_notrace
 * @error:	the error
 *
 * Context: may sleep, takes tracing_err_log_lock.
 */
void function_tracer_log(const char *text, unsigned int pos, bool filter,
			 enum function_tracer_error error)
{
	tracing_log_err(NULL, filter ? "set_ftrace_filter" : "set_ftrace_notrace",
			text, errors, error, pos);
}

static int function_tracers_show(struct seq_file *m, void *v)
{
	const struct function_tracer *now = READ_ONCE(selected), *tracer;

	for (tracer = tracers; tracer < tracers + ARRAY_SIZE(tracers); tracer++)
		seq_printf(m, "%s%s\n", tracer == now ? "*" : "", tracer->name);

	return 0;
}

static int function_tracers_open(struct inode *inode, struct file *file)
{
	int ret;

	ret = tracing_check_open_get_tr(NULL);
	if (ret)
		return ret;

	return single_open(file, function_tracers_show, NULL);
}

static ssize_t function_tracers_write(struct file *file, const char __user *ubuf,
				      size_t cnt, loff_t *ppos)
{
	size_t len = min_t(size_t, cnt, MAX_WRITE - 1);
	const struct function_tracer *tracer;
	char buf[MAX_WRITE];
	char *name;

	if (!cnt)
		return 0;

	if (copy_from_user(buf, ubuf, len))
		return -EFAULT;
	buf[len] = '\0';
	name = strim(buf);

	for (tracer = tracers; tracer < tracers + ARRAY_SIZE(tracers); tracer++) {
		if (len < cnt || strcmp(name, tracer->name))
			continue;

		WRITE_ONCE(selected, tracer);
		*ppos += cnt;
		return cnt;
	}

	tracing_log_err(NULL, "function_tracers", name, errors,
			FUNCTION_TRACER_UNKNOWN, 0);
	return -EINVAL;
}

static const struct file_operations function_tracers_fops = {
	.open		= function_tracers_open,
	.read		= seq_read,
	.write		= function_tracers_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/**
 * function_tracers_create_file - create the file function_tracers
 * @parent:	top level directory of tracefs
 *
 * Context: may sleep.
 */
void __init function_tracers_create_file(struct dentry *parent)
{
	trace_create_file("function_tracers", TRACE_MODE_WRITE, parent, NULL,
			  &function_tracers_fops);
}
