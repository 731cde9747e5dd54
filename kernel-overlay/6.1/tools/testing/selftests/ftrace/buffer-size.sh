#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The top level trace buffer is small until it is used. An instance that is used
# before it must neither expand it nor keep it from being expanded.
#
# ftracetest uses the top level buffer before each of its tests, so this is not
# one of them, and it must be the first to trace after boot.

ksft_skip=4

skip() {
	echo "SKIP: $1"
	exit $ksft_skip
}

ret=0
fail() {
	echo "FAIL: $1"
	ret=1
}

[ "$(id -u)" = 0 ] || skip "needs root"

tracefs=/sys/kernel/tracing
[ -d $tracefs/instances ] || mount -t tracefs nodev $tracefs ||
	skip "no tracefs"
cd $tracefs && [ -d instances ] || skip "no instances"

# "7 (expanded: 1408)", and "1410" once it is used
full=$(sed -n 's/.*(expanded: \([0-9]*\))$/\1/p' buffer_size_kb)
[ "$full" ] || skip "the top level buffer has been used since boot"
small=$(cat buffer_size_kb)

x=instances/buffer-size
trap 'rmdir $x' EXIT
mkdir $x || skip "cannot create an instance"

check() { # FILE EXPECTED WHEN
	[ "$(cat $1)" = "$2" ] || fail "$1 is '$(cat $1)' $3, not '$2'"
}

used=$(sed 's/ .*//' $x/buffer_size_kb)
check $x/buffer_size_kb "$used" "before it is used"

echo nop > $x/current_tracer
check buffer_size_kb "$small" "after a tracer of an instance was set"

echo $((used * 2)) > $x/buffer_size_kb
check buffer_size_kb "$small" "after an instance was resized"

echo 1 > $x/events/sched/sched_process_exit/enable
echo 0 > $x/events/sched/sched_process_exit/enable
check buffer_size_kb "$small" "after an event of an instance was enabled"

echo nop > current_tracer
check buffer_size_kb "$used" "after it was used"

[ $ret -ne 0 ] || echo PASS
exit $ret
