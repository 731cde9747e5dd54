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

# A direct caller has an ops of its own, whose callback does not look at the function
s#^/\* Does a member of @set change where functions continue, as livepatch does? \*/#/*\n * Does a member of @set change where a function continues, without looking at which\n * function it is? Livepatch does, and so do direct callers.\n */#
s#if (set->members\[i\]->flags & FTRACE_OPS_FL_IPMODIFY)#if (set->members[i]->flags \&\n\t\t    (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT))#
s@^#define MUX_DIRECT\tKUNIT_CASE.*@/* A jump that others may be about to take is not redirected to a direct caller */\nstatic void mux_direct_moves(struct kunit *test)\n{\n\tvoid *direct = ftrace_stub_direct_tramp;\n\tunsigned long jump;\n\n\tstart(test, 0, FN_A | FN_B);\n\tstart(test, 1, FN_A | FN_B);\n\tjump = jump_of(0);\n\tKUNIT_EXPECT_EQ(test, jump, jump_of(1));\n\tKUNIT_EXPECT_EQ(test, 0, set_filter(\&tracers[0], FN_A));\n\n\t/* Of FN_A */\n\tKUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ips(\&direct_ops, func_ips, 1, 0, 1));\n\tKUNIT_ASSERT_EQ(test, 0, register_ftrace_direct(\&direct_ops,\n\t\t\t\t\t\t\t(unsigned long)direct));\n\tKUNIT_ASSERT_EQ(test, 0, kunit_add_action(test, unregister_direct, direct));\n\tKUNIT_EXPECT_NE(test, 0UL, jump_of(0));\n\tKUNIT_EXPECT_NE(test, jump, jump_of(0));\n\texpect_calls(test);\n\n\tunregister_direct(direct);\n\texpect_sets_and_calls(test);\n}\n\n&\n#define MUX_DIRECT_MOVES\tKUNIT_CASE(mux_direct_moves),@
s@^#define MUX_DIRECT$@&\n#define MUX_DIRECT_MOVES@
s@^\tMUX_DIRECT$@&\n\tMUX_DIRECT_MOVES@

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
