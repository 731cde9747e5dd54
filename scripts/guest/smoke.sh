#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest: does tracing work at all? function and function_graph, alone and filtered.
set -e
cd /sys/kernel/tracing
for tracer in function function_graph; do
	for filter in 'vfs_*' ''; do
		echo "$filter" >set_ftrace_filter
		echo "$tracer" >current_tracer
		ls / >/dev/null
		echo 0 >tracing_on
		grep -q 'vfs_' trace || { echo "no vfs_ in the trace of $tracer, filter '$filter'"; exit 1; }
		echo nop >current_tracer
		echo 1 >tracing_on
	done
done
[ "$(wc -l <enabled_functions)" -eq 0 ] || { echo 'functions left enabled'; exit 1; }
echo "tracing works on $(uname -rm)"
