#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest: runs the programs that use ftrace, each alone and all at once, and checks what
# they print. Each traces loadavg_proc_show(), some also uptime_proc_show(), while each of these
# is called 20 times.
#
# usage: clients.sh [work]   ("work" makes the calls)
#
# Prints "ok NAME", "not ok NAME: why" or "skipped NAME: why", then how many. Output: /out/NAME.*

if [ "${1:-}" = work ]; then
	for ((i = 0; i < 20; i++)); do
		read -r _ </proc/loadavg
		read -r _ </proc/uptime
	done
	exit
fi

cd /sys/kernel/tracing || exit
mkdir -p /var/tmp
load=loadavg_proc_show up=uptime_proc_show
# For trace-cmd, with the function to trace and one that it calls; -g is for the top level alone.
graph=(-p function_graph -l seq_printf -l)

# calls FILE PATTERN: PATTERN is in FILE once for each call.
calls() {
	local n
	n=$(grep -cE "$2" "$1")
	[ "$n" -eq 20 ] && return
	echo "$n instead of 20 lines match $2${said:+; $said}"
	return 1
}

# has FILE PATTERN: there is a line in FILE that matches PATTERN.
has() {
	grep -qE "$2" "$1" && return
	echo "no line matches $2${said:+; $said}"
	return 1
}

# until_true COMMAND...: waits for at most 60 s.
until_true() {
	local i
	for ((i = 0; i < 300; i++)); do
		"$@" && return
		sleep 0.2
	done
	echo "no '$*' within 60 s"
	return 1
}

# tracer DIR NAME, idle: what until_true waits for.
tracer() { [ "$(cat "$1/current_tracer" 2>/dev/null)" = "$2" ]; }
idle() { [ -z "$(cat enabled_functions)" ] && tracer . nop; }

# run COMMAND...: its output goes to $out, what looks like its complaint to $said.
run() {
	"$@" >"$out" 2>&1
	heed $?
}
heed() {
	said=$(grep -m1 -iE 'error|fail|busy|invalid|cannot|can.t' "$out")
	said=${said:-$([ "$1" -eq 0 ] || echo "it ended with $1")}
}
work() { "$0" work; }

# finish: ends what still traces; trace-cmd and perf end with their sleep. The sessions end one
# after the other, before all else: trace-cmd takes the size of /proc/kallsyms and then reads it,
# and fails if it has changed meanwhile, as it does when a tracer gets or loses a trampoline.
finish() {
	local i
	for i in "${!sessions[@]}"; do
		pkill -f "^sleep 60$i\$"
		wait "${sessions[i]}"
	done
	sessions=()
	pkill -INT -x bpftrace
	pkill -x sleep
	wait
}

trace_cmd_record() {
	run trace-cmd record -o "$out.dat" "${graph[@]}" $load -B second "${graph[@]}" $up "$0" work
	trace-cmd report -i "$out.dat" >"$out.report" 2>&1
	calls "$out.report" "\| +$load\(\) \{" && calls "$out.report" "second:.*\| +$up\(\) \{" &&
		! grep "second:.*$load" "$out.report"
}

trace_cmd_start() {
	run trace-cmd start "${graph[@]}" $load
	[ -n "$said" ] || run trace-cmd start -B second "${graph[@]}" $up
	work
	trace-cmd show >"$out.top"
	trace-cmd show -B second >"$out.second"
	trace-cmd reset -a -d >/dev/null 2>&1
	rmdir instances/second 2>/dev/null
	calls "$out.top" "\| +$load\(\) \{" && calls "$out.second" "\| +$up\(\) \{" &&
		! grep "$load" "$out.second"
}

# session NR: records in an instance; in a directory of its own, as trace-cmd 3.1.6 has files
# named (null).cpu0 in the one that it is in.
sessions=()
session() {
	mkdir -p "/tmp/session$1" && cd "/tmp/session$1" || return
	trace-cmd record -o "$out.$1.dat" -B "session$1" "${graph[@]}" $load sleep "60$1" >"$out.$1" 2>&1
}

trace_cmd_sessions() {
	session 1 &
	sessions[1]=$!
	session 2 &
	sessions[2]=$!
	until_true tracer instances/session1 function_graph >"$out" &&
		until_true tracer instances/session2 function_graph >"$out"
	work
	finish
	cat "$out".[12] >>"$out"
	heed 0
	trace-cmd report -i "$out.1.dat" >"$out.1.report" 2>&1
	trace-cmd report -i "$out.2.dat" >"$out.2.report" 2>&1
	calls "$out.1.report" "\| +$load\(\) \{" && calls "$out.2.report" "\| +$load\(\) \{"
}

perf_ftrace() {
	run perf ftrace -a -G $load -- "$0" work
	calls "$out" "\| +$load\(\) \{"
}

perf_ftrace_latency() {
	run perf ftrace latency -a -T $load -- "$0" work
	awk -F'|' '/ [mu]s +\|/ { n += $2 } END { for (i = 0; i < n; i++) print "call" }' "$out" >"$out.calls"
	calls "$out.calls" call
}

# Without entries. The option stays after trace-cmd and perf, which know nothing of it.
no_entries() {
	if [ ! -e options/funcgraph-entries ]; then
		echo 'the kernel has no option funcgraph-entries'
		return 4
	fi
	"$@"
	set -- $?
	echo 1 >options/funcgraph-entries
	return "$1"
}

# With the names, which trace-cmd leaves out of returns otherwise
returns_record() {
	run trace-cmd record -o "$out.dat" "${graph[@]}" $load -O nofuncgraph-entries "$0" work
	trace-cmd report -O fgraph:tailprint -i "$out.dat" >"$out.report" 2>&1
	calls "$out.report" "[0-9]+\.[0-9]+ us +\| +\} /\* $load \*/" && ! grep "$load() {" "$out.report"
}
trace_cmd_returns() { no_entries returns_record; }

returns_perf() {
	echo 0 >options/funcgraph-entries
	run perf ftrace -a -G $load -- "$0" work
	calls "$out" "[0-9]+\.[0-9]+ us +\| +$load\(\);"
}
perf_ftrace_returns() { no_entries returns_perf; }

returns_latency() {
	echo 0 >options/funcgraph-entries
	perf_ftrace_latency
}
perf_latency_returns() { no_entries returns_latency; }

perf_record() {
	run perf record -a -o "$out.data" -e ftrace:function --filter "ip == $load" -- "$0" work
	perf script -i "$out.data" >"$out.script" 2>&1
	calls "$out.script" "ftrace:function:.* $load"
}

# The entry and the return, with call graphs, whose callers must be real
perf_probe() {
	run perf probe -q -a "entry=$load" -a "ret=$load%return \$retval:s32"
	[ -n "$said" ] || run perf record -a -g -o "$out.data" -e probe:entry -e probe:ret__return -- "$0" work
	perf script -i "$out.data" >"$out.script" 2>&1
	perf probe -q -d '*' >>"$out" 2>&1
	grep -E '^[^ ].* probe:| do_syscall_64\+' "$out.script" | paste -d ' ' - - >"$out.calls"
	calls "$out.calls" 'probe:entry:.* do_syscall_64\+' &&
		calls "$out.calls" 'probe:ret__return:.* arg1=0 .* do_syscall_64\+' &&
		! grep -E 'return_to_handler|arch_rethook_trampoline' "$out.script"
}

# kprobe_sample MODULE WHAT PARAMETER: one of samples/kprobes reports each call of the function.
kprobe_sample() {
	if ! modprobe -n "$1" 2>/dev/null; then
		echo "the kernel has no module $1"
		return 4
	fi
	dmesg -C
	run modprobe "$1" "$3=$load"
	work
	modprobe -r "$1"
	dmesg >>"$out"
	calls "$out" "$2"
}
kprobe_example() { kprobe_sample kprobe_example "<$load> p->addr = .* ip = " symbol; }
kretprobe_example() {
	kprobe_sample kretprobe_example "$load returned 0 and took" func &&
		has "$out" 'Missed probing 0 instances'
}

bpftrace_one() { # PROBE
	run bpftrace -c "/bin/bash $0 work" -e "$1 { @calls = count(); }"
	has "$out" '^@calls: 20$'
}
bpftrace_kprobe() { bpftrace_one "kprobe:$load"; }
bpftrace_kretprobe() { bpftrace_one "kretprobe:$load /retval == 0/"; }
bpftrace_kfunc() { bpftrace_one "kfunc:$load"; }
bpftrace_kretfunc() { bpftrace_one "kretfunc:$load /retval == 0/"; }

# What the program clears before it reads, it has cleared.
reading() {
	local fd
	for fd in /proc/[0-9]*/fd/*; do
		[[ $(readlink "$fd" 2>/dev/null) != */trace_pipe ]] || return 0
	done
	return 1
}

funcgraph() {
	funcgraph-perf -d 600 $load >"$out" 2>&1 &
	until_true reading
	work
	finish
	heed 0
	calls "$out" "\| +$load\(\) \{"
}

funccount() {
	if [ ! -e function_profile_enabled ]; then
		echo 'the kernel has no CONFIG_FUNCTION_PROFILER'
		return 4
	fi
	funccount-perf -d 600 $load >"$out" 2>&1 &
	until_true grep -q 1 function_profile_enabled
	work
	finish
	heed 0
	has "$out" "^$load +20\$"
}

# All that can be had together: the files of the top level have one user at a time.
at_once() {
	local i
	bpftrace -e "kprobe:$load { @kprobe = count(); } kretprobe:$load { @kretprobe = count(); }
		kfunc:$load { @kfunc = count(); } kretfunc:$load { @kretfunc = count(); }
		interval:s:1 { printf(\"ready\\n\"); }" >"$out" 2>&1 &
	until_true grep -q ready "$out" || return
	perf record -a -o "$out.data" -e ftrace:function --filter "ip == $load" -- sleep 600 >"$out.perf" 2>&1 &
	for i in 1 2; do
		session $i &
		sessions[i]=$!
		until_true tracer instances/session$i function_graph || return
	done
	funcgraph-perf -d 600 $load >"$out.funcgraph" 2>&1 &
	until_true tracer . function_graph || return
	sleep 3
	grep $load enabled_functions >"$out.enabled"
	work
	finish
	said=''
	for i in kprobe kretprobe kfunc kretfunc; do
		has "$out" "^@$i: 20\$" || return
	done
	perf script -i "$out.data" >"$out.script" 2>&1
	calls "$out.script" "ftrace:function:.* $load" || return
	for i in 1 2; do
		trace-cmd report -i "$out.$i.dat" >"$out.$i.report" 2>&1
		calls "$out.$i.report" "\| +$load\(\) \{" || return
	done
	calls "$out.funcgraph" "\| +$load\(\) \{"
}

passed=0 failed=0 skipped=0
for client in trace_cmd_record trace_cmd_start trace_cmd_sessions perf_ftrace perf_ftrace_latency \
	trace_cmd_returns perf_ftrace_returns perf_latency_returns perf_record perf_probe \
	bpftrace_kprobe bpftrace_kretprobe bpftrace_kfunc bpftrace_kretfunc kprobe_example \
	kretprobe_example funcgraph funccount at_once; do
	name=${client//_/-} out=/out/${client//_/-} said=''
	: >"$out"
	why=$("$client" 2>&1)
	status=$?
	finish
	[ $status -ne 0 ] || why=$(until_true idle) || status=1
	case $status in
	0) passed=$((passed + 1)) && echo "ok $name" ;;
	4) skipped=$((skipped + 1)) && echo "skipped $name: $why" ;;
	*) failed=$((failed + 1)) && echo "not ok $name: $(head -n 1 <<<"$why")" ;;
	esac
	# The next one starts from nothing.
	trace-cmd reset -a -d >/dev/null 2>&1
	rmdir instances/* 2>/dev/null
	rm -f "$out"*.dat* "$out"*.data*
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
