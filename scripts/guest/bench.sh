#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# The first process of the kernels that scripts/bench measures: has the tracers of tracefs
# trace the function of scripts/guest/bench.c, which is built in and measures it. A tracer
# that this kernel cannot have gets a line that says "error".

t=/sys/kernel/tracing

# tracer NAME NR: turns it on, at the top level and in NR - 1 instances.
tracer() {
	local i=1 d
	echo "$1" >$t/current_tracer || return
	while [ $i -lt "$2" ]; do
		d=$t/instances/$i
		busybox mkdir $d && echo bench_here >$d/set_ftrace_filter &&
			echo "$1" >$d/current_tracer || return
		i=$((i + 1))
	done
}

# tracer with a limit that no function reaches
limited() {
	[ -e $t/max_call_rate ] && tracer "$@" && echo 2000000000 >$t/max_call_rate
}

returns() {
	[ -e $t/options/funcgraph-entries ] || return
	echo 0 >$t/options/funcgraph-entries
	tracer function_graph "$1"
}

profiler() {
	echo 1 >$t/function_profile_enabled
}

both() {
	tracer function_graph 1 && profiler
}

off() {
	local d
	echo 0 >$t/function_profile_enabled
	echo nop >$t/current_tracer
	[ ! -e $t/max_call_rate ] || echo 0 >$t/max_call_rate
	[ ! -e $t/options/funcgraph-entries ] || echo 1 >$t/options/funcgraph-entries
	for d in "$t"/instances/*; do
		[ ! -d "$d" ] || busybox rmdir "$d"
	done
	echo >$t/trace
}

# row KIND NR COMMAND...: what a call costs after COMMAND.
row() {
	local label="$1 $2 0"
	shift 2
	if "$@"; then
		echo "$label" >/sys/module/ftrace_bench/parameters/measure
	else
		echo "ftrace-bench: $label error"
	fi
	off
}

busybox mount -t sysfs sysfs /sys
busybox mount -t tracefs tracefs $t
echo bench_here >$t/set_ftrace_filter
row function 1 tracer function 1
row function 8 tracer function 8
row function_graph 1 tracer function_graph 1
row function_graph 8 tracer function_graph 8
row function_limited 1 limited function 1
row graph_limited 1 limited function_graph 1
row graph_returns 1 returns 1
row graph_returns 8 returns 8
row profiler 1 profiler
if busybox grep -qw function_stat $t/available_tracers; then
	row function_stat 1 tracer function_stat 1
	row function_stat 8 tracer function_stat 8
	row stat_limited 1 limited function_stat 1
fi
row graph+profiler 2 both
echo "ftrace-bench: tracers done"
busybox reboot -f
