# SPDX-License-Identifier: GPL-2.0-only
# From mainline's text of sets to that of 6.1: what scripts/check same allows to differ.

# KUnit that replaces functions: ftrace_mux_compat.h has what the tests use of it
s|^#include <kunit/static_stub.h>|#include "ftrace_mux_compat.h"|
s|kunit_get_current_test()|current->kunit_test|
s|KUNIT_CASE_SLOW|KUNIT_CASE|
s|KUNIT_FAIL_AND_ABORT|KUNIT_ASSERT_FAILURE|

# Allocation
s| __counted_by(nr)||
s/kzalloc_obj(\(\**[a-z_ ]*\))/kzalloc(sizeof(\1), GFP_KERNEL)/
s|\bkzalloc_flex(\*set, members, nr)|kzalloc(struct_size(set, members, nr), GFP_KERNEL)|
s|kvzalloc_flex(\*table, heads, 1UL << bits)|kvzalloc(struct_size(table, heads, 1UL << bits), GFP_KERNEL)|
s|system_dfl_long_wq|system_long_wq|

# Executable memory
s|^#include <linux/execmem.h>|#include <linux/moduleloader.h>|
s|execmem_alloc_rw(EXECMEM_FTRACE, TRAMP_CHUNK_SIZE)|module_alloc(TRAMP_CHUNK_SIZE)|
s|execmem_free|module_memfree|
s/set_memory_rox(start, TRAMP_CHUNK_SIZE \/ PAGE_SIZE)/set_memory_ro(start, TRAMP_CHUNK_SIZE \/ PAGE_SIZE) ||\n\t    set_memory_x(start, TRAMP_CHUNK_SIZE \/ PAGE_SIZE)/

# Patching of text: other names, and neither alternatives nor call depths in copied code
s|^#include <linux/text-patching.h>|\n#include <asm/text-patching.h>|
s|smp_text_poke_batch_finish|text_poke_finish|
s|smp_text_poke_batch_add|text_poke_queue|
/^\tmemcpy(buf + offset, from, to - from);/,/^}/{/memcpy\|^}/!d}
/no callthunk/d

# ftrace: function graph uses subops, its callbacks get no registers, ftrace_regs holds pt_regs
s|FTRACE_OPS_FL_GRAPH|FTRACE_OPS_FL_SUBOP|
s|struct fgraph_ops \*gops, struct ftrace_regs \*fregs)|struct fgraph_ops *gops)|
s|ftrace_synchronize(true)|ftrace_ops_synchronize()|
s|ftrace_regs_size()|sizeof(*fregs)|
s|ftrace_regs_get_stack_pointer(fregs)|fregs->regs.sp|
s|ftrace_regs_get_instruction_pointer(fregs)|fregs->regs.ip|
s|ftrace_regs_set_instruction_pointer|ftrace_instruction_pointer_set|

# Direct calls
s|unregister_ftrace_direct(&direct_ops, (unsigned long)direct, true)|unregister_ftrace_direct_multi(\&direct_ops, (unsigned long)direct)|
s|\bregister_ftrace_direct(&direct_ops,|register_ftrace_direct_multi(\&direct_ops,|
s|ftrace_stub_direct_tramp|ftrace_stub|

# kernel.ftrace_enabled can be zero
s#^\t/\* After a failure of ftrace, the list function may use old sets \*/#\t/*\n\t * While calls are disabled, slots have no callers, but are still needed.\n\t * After a failure of ftrace, the list function may use old sets.\n\t */#
s#if (ftrace_mux_state == FTRACE_MUX_IDLE || unlikely(ftrace_is_dead()))#if (ftrace_mux_state == FTRACE_MUX_IDLE || !ftrace_enabled ||\n\t    unlikely(ftrace_is_dead()))#

# Neither call ops nor a static call for a single user
/^With CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS, each/,/^Where the arch/{/^Where the arch/!d}
/^others, nothing is looked up\.$/{N;N;s|\nWith CONFIG_HAVE_STATIC_CALL, a \(.*\) a\n| A \1 a |}

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
