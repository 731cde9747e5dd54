#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The first process of the kernels in which scripts/bench-changes and scripts/scale measure what a change of
# what is traced costs. Runs in busybox's ash, which has EPOCHREALTIME.
#
# Prints, for each time that a change is made, "changes: KIND BESIDE TIME SYNCS": how many
# microseconds the write or the program took that made it, and how many times that had all
# CPUs synchronised (do_sync_core() is traced and counted). The TIME of KIND "stack" is what
# one stack trace takes, in nanoseconds.
#
# With LOCKS=y, on a kernel with LOCK_STAT, there follow how long ftrace_lock was held at most, how long
# interrupts were off at most, in microseconds, and how many kilobytes less are free two seconds later than
# before; for a tracer that leaves, than before it joined. At the end, as many processes as there are CPUs fork
# and wait in a loop, before function_graph traces all functions and while it does: "changes: forks NR TRACER
# TIME", and "changes: lock NAME TRACER ACQUISITIONS CONTENTIONS".
#
# The tracers are instances with the function tracer that record nothing. The others trace
# everything but what is in set_ftrace_notrace, so that they trace a module that is loaded,
# too. What runs while a change is made is found out in rehearsals, and is not traced: the
# figures are those of the change, not of calls that are traced while it is made.

# What the kernel's command line has as NAME=VALUE is in the environment. SHARED may be "all": all idle functions
# but 64, which unrelated filters get.
nr_shared=${SHARED:-6600}	# how many functions the others trace
nr_combos=${COMBOS:-1000}	# how many combinations of others trace functions in the last case
repeated=${REPEATED:-3}
besides=${BESIDES:-1,3,8,31}
nr_forks=25	# on each CPU
locks=''	# becomes $LOCKS when the rehearsals are over
nr_bits=1	# how many others have that many combinations
while [ $((1 << nr_bits)) -lt "$nr_combos" ]; do
	nr_bits=$((nr_bits + 1))
done

tracing=/sys/kernel/tracing

fail() {
	echo "changes: failed: $*"
	poweroff -f
}

put() {
	echo "$2" >"$1"
}

add() {
	echo "$2" >>"$1"
}

# user NAME: an instance that records nothing.
user() {
	mkdir "$1" || fail "no instance $1"
	put "$1/tracing_on" 0
}

on() {
	put "$1/current_tracer" function || fail "no function tracer in $1"
}

off() {
	put "$1/current_tracer" nop || fail "the tracer of $1 does not stop"
}

# count: how many times all CPUs were synchronised, to $syncs.
count() {
	local key value
	syncs=0
	while read -r key value; do
		case $key in entries: | overrun:) syncs=$((syncs + value)) ;; esac
	done <syncs/per_cpu/cpu0/stats
}

# memory: how many kilobytes are free, to $kb.
memory() {
	local key value
	while read -r key value _; do
		[ "$key" != MemFree: ] || kb=$value
	done </proc/meminfo
}

# held: how long ftrace_lock was held at most since lock_stat was cleared, to $us.
held() {
	local name rest
	us=''
	while read -r name rest; do
		# shellcheck disable=SC2086
		[ "$name" != ftrace_lock: ] || { set -- $rest && us=${10%.*}; }
	done </proc/lock_stat
	[ -n "$us" ] || fail "no ftrace_lock in lock_stat"
}

# timed KIND COMMAND...: prints what COMMAND takes.
timed() {
	local kind=$1 before start end us kb off
	shift
	if [ -n "$locks" ]; then
		put /proc/lock_stat 0
		put $tracing/tracing_max_latency 0
		memory
		[ "$kind" = leave ] || old=$kb
	fi
	count
	before=$syncs
	start=$EPOCHREALTIME
	"$@" || fail "$kind beside $beside"
	end=$EPOCHREALTIME
	count
	if [ -n "$locks" ]; then
		read -r off <$tracing/tracing_max_latency
		held
	fi
	# What a change has left behind goes after a second, and a tracer that stops then waits for that, too
	sleep 2
	[ -z "$locks" ] || memory
	echo "changes: $kind $beside $((${end/./} - ${start/./})) $((syncs - before))${locks:+ $us $off $((old - kb))}"
}

# changes BESIDE NR: makes each change, takes it back, and does so again; NR others trace all
# functions of the module.
changes() {
	local i=0 f
	beside=$1
	sleep 1
	while [ $i -lt "$repeat" ]; do
		timed join put new/current_tracer function
		timed leave put new/current_tracer nop
		read -r f <&3
		timed function add other/set_ftrace_filter "$f"
		read -r f <&4
		timed filter add other/set_ftrace_filter "$f"
		put other/set_ftrace_filter vfs_fallocate
		timed kprobe put $tracing/events/changes/enable 1
		put $tracing/events/changes/enable 0
		timed pid add 1/set_ftrace_pid $$
		put 1/set_ftrace_pid ''
		timed module insmod /changes.ko
		[ $i -gt 0 ] || [ "$(grep -c "\[changes\] ($2)" $tracing/enabled_functions)" -ge 200 ] ||
			fail "$2 do not trace the module"
		rmmod changes || fail "the module does not go"
		sleep 1
		i=$((i + 1))
	done
	echo "changes: about $beside: $(grep -c '\<ftrace_trampoline' /proc/kallsyms) trampolines"
}

reads() {
	dd if=/dev/zero of=/dev/null bs=1 count=1000 2>/dev/null
}

# stack BESIDE: what a stack trace takes from a callback of vfs_read(), which two trace.
stack() {
	local i=0 start middle
	while [ $i -lt "$repeat" ]; do
		sleep 1
		start=$EPOCHREALTIME
		reads
		middle=$EPOCHREALTIME
		put stack1/tracing_on 1
		reads
		put stack1/tracing_on 0
		echo "changes: stack $1 $((${EPOCHREALTIME/./} - 2 * ${middle/./} + ${start/./})) 0"
		grep -q '=> ksys_read' stack1/trace || fail "no stack traces"
		put stack1/trace ''
		i=$((i + 1))
	done
}

# forks TRACER: as many processes as there are CPUs fork and wait in a loop. TRACER only says what is on.
forks() {
	local nr start end cpus times
	cpus=$(seq "$(grep -c ^processor /proc/cpuinfo)")
	times=$(seq $nr_forks)
	put /proc/lock_stat 0
	start=$EPOCHREALTIME
	for nr in $cpus; do
		for i in $times; do (:); done &
	done
	wait
	end=$EPOCHREALTIME
	nr=$((nr * nr_forks))
	echo "changes: forks $nr $1 $((${end/./} - ${start/./}))"
	# The last twelve fields are numbers. A name may have spaces.
	awk -v tracer="$1" 'match($0, /: +[0-9]+ +[0-9]+ /) {
		name = substr($0, 1, RSTART - 1)
		gsub(/ |-[RW]$/, "", name)
		if ($(NF - 4) > 0)
			print "changes: lock", name, tracer, $(NF - 4), $(NF - 10)
	}' /proc/lock_stat
}

# others NR: that many trace all but what is in /except.
others() {
	while [ $nr_others -lt "$1" ]; do
		nr_others=$((nr_others + 1))
		[ -d $nr_others ] || user $nr_others
		cat /except >$nr_others/set_ftrace_notrace || fail "filter of $nr_others"
		on $nr_others
	done
}

# combos FILE: others trace the functions of FILE in that many combinations, bit by bit of a
# function's number.
combos() {
	local u=0
	awk -v total="$total" -v combos="$nr_combos" -v bits=$nr_bits '
		{ nr[$1] = NR % combos }
		END {
			for (j = bit = 1; j <= bits; j++) {
				for (i = 1; i <= total; i++)
					if (int(nr[i] / bit) % 2 == 0)
						print i >"/except." j
				close("/except." j)
				bit *= 2
			}
		}' "$1"
	while [ "$u" -lt $nr_bits ]; do
		u=$((u + 1))
		[ -d "$u" ] || user "$u"
		cat "/except.$u" >"$u/set_ftrace_notrace"
		on "$u"
	done
}

# stop_combos: none of them traces anything.
stop_combos() {
	local u=$nr_bits

	while [ $u -gt 0 ]; do
		off $u
		put $u/set_ftrace_notrace ''
		u=$((u - 1))
	done
}

# idle: finds the functions that no profile so far has, and among them those that are to
# be shared, spread evenly. Functions go by their numbers, as by name each is looked for among
# all of them. The profile has the first 30 characters of the names.
idle() {
	local share=$nr_shared
	cat $tracing/trace_stat/function* >>/ran
	awk 'FILENAME != file { file = FILENAME; nr = 0 }
		{ nr++ }
		FILENAME == "/ran" { ran[$1] = 1; next }
		!(substr($1, 1, 30) in ran) && $1 !~ /^__ftrace_invalid/ { print nr, $1 }' \
		/ran $tracing/available_filter_functions >/idle
	rm -f /shared /spare
	[ "$share" != all ] || share=$(($(grep -c . /idle) - 64))
	awk -v share="$share" -v all="$(grep -c . /idle)" '
		{ print $1 >(int(NR * share / all) > int((NR - 1) * share / all) ? "/shared" : "/spare") }' /idle
	awk 'FILENAME == "/shared" { shared[$1] = 1; next } !($1 in shared)' /shared /all >/except
}

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
mount -t sysfs sysfs /sys
# With maxcpus=1: see pause.c
if [ -x /pause ]; then
	/pause &
	for cpu in /sys/devices/system/cpu/cpu[1-9]*; do
		put "$cpu/online" 1 || fail "$cpu does not come up"
	done
	kill $!
	wait $! || true
fi
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs $tracing
cd $tracing/instances || fail "no instances"

user syncs
put syncs/set_ftrace_filter do_sync_core
on syncs
put syncs/tracing_on 1
for u in stack1 stack2; do
	user $u
	put $u/set_ftrace_filter vfs_read
	on $u
done
put stack1/options/func_stack_trace 1
user other
put other/set_ftrace_filter vfs_fallocate
on other
user new

# Two rehearsals with all functions profiled: what runs in the first is not traced in the
# second, which has many sets.
total=$(grep -c . $tracing/available_filter_functions)
seq "$total" >/all
seq 100 >/shared
put $tracing/kprobe_events 'p:changes/probe vfs_fallocate'
repeat=1
for i in 1 2; do
	put $tracing/function_profile_enabled 1
	cat /shared >new/set_ftrace_filter
	combos /shared
	exec 3</all 4</shared
	stack rehearsal
	changes rehearsal $((nr_bits + 1))
	put $tracing/function_profile_enabled 0
	idle
	stop_combos
done
repeat=$repeated
exec 3</spare 4</shared
echo "changes: about all: $total functions, $(grep -c . /idle) of them idle, $(grep -c . /shared) shared"
[ "$nr_shared" = all ] || [ "$(grep -c . /shared)" -eq "$nr_shared" ] || fail "this kernel has too few functions"
cat /shared >new/set_ftrace_filter

# The kprobe is on a function of the others that can have one, and has it by ftrace.
put $tracing/kprobe_events ''
awk 'FILENAME == "/shared" { if (FNR >= 255) want[$1] = 1; next } $1 in want { print $2 }' \
	/shared /idle >/probes
while read -r f; do
	put $tracing/kprobe_events "p:changes/probe $f" 2>/dev/null || continue
	put $tracing/events/changes/enable 1 &&
		grep -q "$f.*FTRACE" /sys/kernel/debug/kprobes/list && break
	put $tracing/events/changes/enable 0
done </probes
put $tracing/events/changes/enable 0
[ -n "$f" ] || fail "no function for a kprobe"

stack 1-set
if [ -n "${LOCKS:-}" ]; then
	locks=y
	put $tracing/options/function-trace 0
	put $tracing/current_tracer irqsoff || fail "no irqsoff"
fi
nr_others=0
for nr in $(echo "$besides" | tr , " "); do
	others "$nr"
	changes "$nr-others" "$nr"
done

while [ "$nr_others" -gt 0 ]; do
	off "$nr_others"
	nr_others=$((nr_others - 1))
done
combos /shared
changes "$nr_combos-sets" $nr_bits
stack "$nr_combos-sets"

stop_combos
if [ -n "$locks" ]; then
	put $tracing/tracing_on 0
	put $tracing/current_tracer nop
	# What the others have left behind is freed meanwhile
	sleep 5
	forks none
	put $tracing/current_tracer function_graph || fail "no function_graph"
	forks graph
	put $tracing/current_tracer nop
fi
echo "changes: done"
poweroff -f
