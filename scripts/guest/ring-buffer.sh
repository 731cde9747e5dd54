#!/bin/sh
# In the guest: readers of each kind while events are written, see scripts/ring-buffer.
# usage: ring-buffer.sh SECONDS

T=/sys/kernel/tracing
I=$T/instances/ring
seconds=$1 failed=0 passed=0 skipped=0

# result STATUS NAME
result() {
	case $1 in
	0) passed=$((passed + 1)) ;;
	4) skipped=$((skipped + 1)) && echo "SKIP $2" ;;
	*) failed=$((failed + 1)) && echo "FAIL $2" ;;
	esac
}

# read_all NAME WAY [gaps]: on each CPU
read_all() {
	name=$1 way=$2 pids=''
	shift 2
	echo "-- $name, $way"
	for cpu in 0 1; do
		/job/ring-reader "$way" $I $cpu "$seconds" "$@" &
		pids="$pids $!"
	done
	status=0
	for pid in $pids; do
		wait "$pid"
		got=$?
		[ $got -eq 0 ] || [ $status -eq 1 ] || status=$got
	done
	result $status "$name, $way"
}

# meanwhile COMMAND: again and again, for that long
meanwhile() {
	end=$(($(date +%s) + seconds))
	while [ "$(date +%s)" -lt $end ]; do
		"$@" || return 1
	done
}

resize() {
	for size in 64 1024 128 400; do
		echo $size >$I/buffer_size_kb || return 1
	done
}

snapshot() {
	echo 1 >$I/snapshot && tail -n 1 $I/snapshot >/dev/null
}

[ -d $T/instances ] || mount -t tracefs tracefs $T || exit 1
mkdir $I || exit 1
for funcs in 'vfs_*' 'ksys_*' '*tick*' 'hrtimer*' '*softirq*'; do
	echo "$funcs" >>$I/set_ftrace_filter
done
# Times in both ways, interrupts, and events of several sizes
echo function_graph >$I/current_tracer || exit 1
echo 1 >$I/events/sched/enable
echo 1 >$I/events/irq/enable
loads=''
for cpu in 0 1; do
	while :; do taskset -c $cpu dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null; done &
	loads="$loads $!"
done

for overwrite in 1 0; do
	echo $overwrite >$I/options/overwrite
	echo 256 >$I/buffer_size_kb
	echo >$I/trace
	for way in splice read mmap; do
		read_all "overwrite $overwrite" $way
	done

	meanwhile resize &
	job=$!
	read_all "overwrite $overwrite, resized" splice
	wait $job
	result $? "overwrite $overwrite, resize"
	if [ -e $I/snapshot ]; then
		meanwhile snapshot &
		job=$!
		read_all "overwrite $overwrite, with snapshots" splice gaps
		wait $job
		result $? "overwrite $overwrite, snapshot"
		echo 0 >$I/snapshot
	fi

	timeout "$seconds" cat $I/trace_pipe | grep -q ' us '
	result $? "overwrite $overwrite, trace_pipe"
	grep -q ' us ' $I/trace
	result $? "overwrite $overwrite, trace"
done
# shellcheck disable=SC2086 # two
kill $loads
echo nop >$I/current_tracer
echo 0 >$I/events/enable

if modprobe ring_buffer_benchmark 2>/dev/null; then
	# Writes for ten seconds and rests for ten
	echo >$T/trace
	sleep 25
	rmmod ring_buffer_benchmark
	grep -o 'Time: .*\|Missed: .*\|Hit: .*\|ERROR.*' $T/trace | sort | uniq -c
	grep -q 'Hit:' $T/trace && ! grep -q ERROR $T/trace
	result $? ring_buffer_benchmark
else
	result 4 ring_buffer_benchmark
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
