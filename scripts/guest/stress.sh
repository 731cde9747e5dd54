#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest: starts and stops tracers in random order, under load.
#
# usage: stress.sh WHAT ROUNDS SEED [hotplug]
#
# WHAT (function_graph, function_stat or function) runs in the instances m0..m7; the function profiler, the
# top instance's tracers, kprobes, kretprobes, fprobes, the stack tracer and modules come and go
# beside it, and with "hotplug" all CPUs but the first, one at a time. Traces of function_graph are
# left in /out for scripts/graphcheck. Every line that begins with "BAD" is something that was found wrong; the last line is "done".

what=$1 rounds=$2 RANDOM=$3 hotplug=${4:-}
T=/sys/kernel/tracing
N=8
cd $T || exit 1

bad=0
bad() {
	echo "BAD round $round: $*"
	bad=$((bad + 1))
}

# dead: ENODEV is how ftrace says that it found itself broken, and gave up.
dead() {
	echo "BAD round $round: ftrace has disabled itself"
	touch /tmp/online
	# shellcheck disable=SC2086
	kill $pids
	exit 1
}

# put FILE VALUE: what must not fail.
put() {
	{ printf '%s\n' "$2" >"$1"; } 2>/tmp/err && return
	bad "writing '$2' to $1: $(sed 's/.*: //' /tmp/err)"
	! grep -q 'No such device' /tmp/err || dead
	return 1
}

# Most filters are small, as patching is slow; few are wide.
case $(uname -m) in
x86_64) syscalls='__x64_sys_*' ;;
aarch64) syscalls='__arm64_sys_*' ;;
s390x) syscalls='__s390x_sys_*' ;;
*) syscalls='sys_*' ;;
esac
filters=('schedule' 'vfs_*' 'do_sys*' '*mmap*' 'kmem_cache_*' 'rcu_*' "$syscalls"
	'*page_fault*' 'ksys_*' 'pick_*task_*' 'd_*' 'tick_*' '*_timer*' 'vfs_read' 'wake_up_*'
	"$syscalls" 'exit_*' 'mutex_*lock' '*')
notraces=('vfs_write' 'd_lookup' 'rcu_read*' '*_lock*' 'kmem_cache_free' '')
probes=(vfs_read do_sys_openat2 schedule kernel_clone vfs_write)

rand() { # N: 0..N-1
	R=$((RANDOM % $1))
}

state=() filter=() seen=() round=0 dump=0 lines=0 pids=''

# listing FILE: what a filter holds, without a fork. A wide one is not read.
listing() {
	local line n=0
	L=
	while IFS= read -r line && [ $n -lt 60 ]; do
		L+="$line;"
		n=$((n + 1))
	done <"$1" || dead
}

# Probes stay for some rounds: a kprobe and a kretprobe on the same function, and an fprobe with an
# exit handler on many, if its sample is there.
probe() {
	if [ -n "$probing" ]; then
		put events/stress/enable 0
		put kprobe_events ''
		[ ! -d /sys/module/fprobe_example ] || rmmod fprobe_example || bad "rmmod fprobe_example"
		probing=''
		return
	fi
	rand ${#probes[@]}
	put kprobe_events "p:stress/p$R ${probes[R]}"$'\n'"r:stress/r$R ${probes[R]}" || return
	put events/stress/enable 1
	modprobe -q fprobe_example symbol='vfs_*' stackdump=0 use_trace=1 2>/tmp/err ||
		! grep -q . /tmp/err || bad "modprobe fprobe_example: $(cat /tmp/err)"
	probing=1
}

choose() { # i: another filter
	rand ${#filters[@]}
	filter[$1]=${filters[R]}
	put "instances/m$1/set_ftrace_filter" "${filter[$1]}" || return
	rand ${#notraces[@]}
	put "instances/m$1/set_ftrace_notrace" "${notraces[R]}"
	listing "instances/m$1/set_ftrace_filter"
	seen[$1]=$L
}

start() { # i
	choose "$1"
	put "instances/m$1/trace" ''
	put "instances/m$1/tracing_on" 1
	# Functions may leave this tracer, but no filter file changes for that
	if [ -e "instances/m$1/max_call_rate" ]; then
		put "instances/m$1/muted_functions" ''
		rand 3
		put "instances/m$1/max_call_rate" $((R == 0 ? 200 : 0))
	fi
	put "instances/m$1/current_tracer" "$what" && state[$1]=on
}

stop() { # i
	local c f n overrun=''
	put "instances/m$1/tracing_on" 0
	if [ "$what" = function_graph ]; then
		for c in instances/m"$1"/per_cpu/cpu*; do
			while read -r f n; do
				[ "$f" != overrun: ] || [ "$n" -eq 0 ] || overrun+=" ${c##*/cpu}"
			done <"$c/stats"
		done
		dump=$((dump + 1))
		{
			echo "# overrun:$overrun"
			head -n 20000 "instances/m$1/trace"
		} >"/out/trace.$round.m$1"
	fi
	if [ "$what" = function_stat ]; then
		# Each line by itself: the numbers are sane
		f=$(awk '!/^#/ && (NF < 9 || $2 > $1 || $4 > $3 || $2 && ($6 > $5 || $5 > $7)) { print; exit }
			!/^#/ { n++ } END { if (n) print n >"/tmp/lines" }' "instances/m$1/trace")
		[ -z "$f" ] || bad "m$1: a line of function_stat: $f"
		[ ! -s /tmp/lines ] || { read -r n </tmp/lines; lines=$((lines + n)); rm /tmp/lines; }
	fi
	listing "instances/m$1/set_ftrace_filter"
	[ "$L" = "${seen[$1]}" ] || bad "m$1: set_ftrace_filter changed from ${seen[$1]:0:200} to ${L:0:200}"
	put "instances/m$1/current_tracer" nop
	state[$1]=
}

top=(function function_graph nop nop blk wakeup irqsoff function_graph)
# Before the series function_graph and the profiler cannot be there at once.
[ "$what" != function ] || top=(function nop blk wakeup irqsoff)
! grep -qw function_stat available_tracers || [ "$what" = function ] || top[7]=function_stat
topnow=nop profiling='' stacking='' module='' probing=''

for ((i = 0; i < N; i++)); do
	mkdir "instances/m$i" || bad "no instance m$i"
	if ! grep -qw "$what" "instances/m$i/available_tracers" 2>/dev/null &&
		! { echo "$what" >"instances/m$i/current_tracer"; } 2>/dev/null; then
		echo "BAD: this kernel has no $what in instances"
		rmdir instances/m*
		exit 2
	fi
	echo nop >"instances/m$i/current_tracer"
	if [ "$what" = function_graph ]; then
		# An exit names its function and each line its task, so that pairs can be told.
		# On a kernel where the options are the top instance's these are set there, too.
		for d in "instances/m$i/options" options; do
			[ ! -e "$d/funcgraph-proc" ] || echo 1 >"$d/funcgraph-proc"
			[ ! -e "$d/funcgraph-tail" ] || echo 1 >"$d/funcgraph-tail"
		done
	fi
done 2>/tmp/err

# The load: programs come and go, files are written, processes wait for each other.
load() {
	while :; do
		ls /proc/self/fd >/dev/null
		echo x >"/tmp/load.$1"
		read -r _ <"/tmp/load.$1"
		sleep 0.01
	done
}
load 1 & pids=$!
load 2 & pids="$pids $!"

# Each state lasts up to 3 s: with shorter ones, CPUs that come take all the time while much is traced.
hotplug() {
	local cpu to n=0
	while [ ! -e /tmp/online ]; do
		for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
			for to in 0 1; do
				echo $to >"$cpu" || echo "BAD: $cpu does not become $to"
				sleep $((RANDOM % 4))
			done
			n=$((n + 1))
		done
	done
	echo "$n times a CPU went and came"
}
if [ -n "$hotplug" ]; then
	hotplug &
	hotplug=$!
fi

for ((round = 1; round <= rounds; round++)); do
	[ $((round % 10)) -ne 0 ] || echo "round $round"
	rand 16
	case $R in
	[0-8])
		rand $N
		if [ -n "${state[R]}" ]; then stop "$R"; else start "$R"; fi
		;;
	9 | 10) # another filter while it runs
		rand $N
		[ -z "${state[R]}" ] || choose "$R"
		;;
	11)
		if [ -n "$profiling" ]; then profiling=''; else profiling=1; fi
		put function_profile_enabled "${profiling:-0}"
		;;
	12 | 13)
		rand ${#top[@]}
		new=${top[R]}
		rand 8
		put set_ftrace_filter "${filters[R]}"
		put current_tracer nop
		put current_tracer "$new"
		topnow=$new
		;;
	14)
		probe
		;;
	15)
		if [ -n "$module" ]; then
			rmmod trace_printk || bad "rmmod"
			module=''
		elif modprobe trace_printk 2>/tmp/err; then
			module=1
		fi
		if [ -n "$stacking" ]; then stacking=''; else stacking=1; fi
		put /proc/sys/kernel/stack_tracer_enabled "${stacking:-0}"
		;;
	esac
done

round=end
for ((i = 0; i < N; i++)); do
	[ -z "${state[i]}" ] || stop "$i"
done
[ "$topnow" = nop ] || put current_tracer nop
put set_ftrace_filter ''
put function_profile_enabled 0
put /proc/sys/kernel/stack_tracer_enabled 0
[ -z "$module" ] || rmmod trace_printk
[ -z "$probing" ] || probe
# shellcheck disable=SC2086
kill $pids
if [ -n "$hotplug" ]; then
	touch /tmp/online
	wait "$hotplug"
fi
for ((i = 0; i < N; i++)); do
	put "instances/m$i/set_ftrace_filter" ''
	put "instances/m$i/set_ftrace_notrace" ''
	listing "instances/m$i/set_ftrace_filter"
	[ "$L" = '#### all functions enabled ####;' ] || bad "m$i: the empty filter reads ${L:0:200}"
	rmdir "instances/m$i" || bad "instance m$i cannot be removed"
done
left=$(wc -l <enabled_functions)
[ "$left" -eq 0 ] || bad "$left functions still enabled: $(head -3 enabled_functions)"
[ "$what" != function_stat ] || [ $lines -gt 0 ] || bad "function_stat has shown no function"
echo "$dump traces, $lines lines of function_stat"
echo "done"
[ $bad -eq 0 ]
