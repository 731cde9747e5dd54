# SPDX-License-Identifier: GPL-2.0-only
# From mainline's text of sets to that of 6.12: what scripts/check same allows to differ.

# Allocation
s|system_dfl_long_wq|system_unbound_wq|

# Executable memory, and patching of text: other names
s|^#include <linux/text-patching.h>|\n#include <asm/text-patching.h>|
s|execmem_alloc_rw|execmem_alloc|
s|smp_text_poke_batch_finish|text_poke_finish|
s|smp_text_poke_batch_add|text_poke_queue|

# Callbacks of function graph get no registers at the entry, an ops of one user no flag
s|struct fgraph_ops \*gops, struct ftrace_regs \*fregs)|struct fgraph_ops *gops)|
s|FTRACE_OPS_FL_GRAPH|FTRACE_OPS_FL_ENABLED|

# kernel.ftrace_enabled can be zero
s#^\t/\* After a failure of ftrace, the list function may use old sets \*/#\t/*\n\t * While calls are disabled, slots have no callers, but are still needed.\n\t * After a failure of ftrace, the list function may use old sets.\n\t */#
s#if (ftrace_mux_state == FTRACE_MUX_IDLE || unlikely(ftrace_is_dead()))#if (ftrace_mux_state == FTRACE_MUX_IDLE || !ftrace_enabled ||\n\t    unlikely(ftrace_is_dead()))#

# Stubs, which mainline alone has
/^#ifdef CONFIG_FUNCTION_GRAPH_STUBS/,/^#endif/{/^#endif/!d;N;/\n$/d;D}
/^\/\*\*$/{N;/ftrace_mux_add_code - /{N;N;N;N;N;d}}
s|^void ftrace_mux_add_code(\(.*code,\) \(struct ftrace_ops \*ops)\)$|static void ftrace_mux_add_code(\1\n\t\t\t\t\2|
/^ \* @stub:/d
/^void ftrace_mux_add_code(.*;$/d
/ftrace_mux_stub_changes(func)/{N;d}
/ftrace_mux_make_stubs()\|fgraph_stub_retire(\|ftrace_mux_set_stub(/d
s/ || ftrace_mux_stub(func)//
/^\/\* Without memory for a slot, a function that a tracer shares/,/^}/{/^}/!d;N;d}
/mux_graph_no_slot/d
s|Has 80 bytes on x86-64|Has 72 bytes on x86-64|
