#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest: runs a test suite that scripts/suites has put into /suite.
#
# usage: suites.sh SUITE
#
# Prints what the tests print, and for each "== passed TEST", "== failed TEST WHY" or "== skipped TEST
# WHY", and "== done" at last. Traces of the instances beside them are left in /out for scripts/graphcheck.

T=/sys/kernel/tracing
cd $T || exit

passed() { echo "== passed $1"; }
failed() { echo "== failed $*"; }
skipped() { echo "== skipped $*"; }

# in_debugfs TEST...: whether tracefs is in debugfs, where LTP and stress-ng look for it; these are skipped
# if not.
in_debugfs() {
	local test
	[ ! -e /sys/kernel/debug/tracing/trace ] || return 0
	for test in "$@"; do
		skipped "$test" 'takes tracefs in debugfs: CONFIG_TRACEFS_AUTOMOUNT_DEPRECATED'
	done
	return 1
}

# at_rest TEST: after the tests and when all is off, ftrace works, and no function is traced.
at_rest() {
	local left trigger
	echo nop >current_tracer
	# LTP kills who would take its triggers back.
	grep -v '^#' set_ftrace_filter | sed -n 's/^\([^: ]*:[^: ]*\).*/\1/p' | while read -r trigger; do
		echo "!$trigger" >>set_ftrace_filter
	done
	echo >set_ftrace_filter
	echo >set_ftrace_pid
	echo 0 >function_profile_enabled
	echo 0 >/proc/sys/kernel/stack_tracer_enabled
	echo 1 >/proc/sys/kernel/ftrace_enabled
	echo 0 >events/enable
	left=$(wc -l <enabled_functions)
	if [ "$left" -ne 0 ]; then
		failed "$1" "$left functions are still traced: $(head -n 3 enabled_functions | paste -sd ' ')"
	elif ! { echo function >current_tracer && echo nop >current_tracer; } 2>/dev/null; then
		failed "$1" 'the tracer function cannot be set any more'
	else
		passed "$1"
	fi
}

ltp() {
	local line test args status why
	in_debugfs ftrace_regression01 ftrace_regression02 ftrace_stress_test || return
	# Traps of the tests are of signals with their "SIG", which dash does not take.
	ln -sf bash /bin/sh
	cd /suite || exit
	export PATH=/suite:$PATH
	# As LTP's runtest/tracing has them
	for line in ftrace_regression01 ftrace_regression02 'ftrace_stress_test 90'; do
		read -r test args <<<"$line"
		status=0
		# shellcheck disable=SC2086
		"./$test.sh" $args >"/tmp/$test" 2>&1 </dev/null || status=$?
		cat "/tmp/$test"
		# What a worker of the stress test reports is in none's status.
		why=$(grep -m1 -E 'T(FAIL|BROK|CONF)' "/tmp/$test")
		case $status${why:+y} in
		0) passed "$test" ;;
		32*) skipped "$test" "$why" ;;
		*) failed "$test" "${why:-it ended with $status}" ;;
		esac
	done
	cd $T && at_rest at-rest
}

# utest: what CUnit prints of each test
utest() {
	local status=0
	cd /suite/utest || exit
	./trace-utest 2>&1 | tee /tmp/utest || true
	status=${PIPESTATUS[0]}
	awk '
		function finish() {
			if (name != "") print "== " (how == "" ? "failed" : how) " " name
			name = how = ""
		}
		/^[[:space:]]*Test: / {
			finish()
			name = $0
			sub(/^[[:space:]]*Test: /, "", name)
			sub(/ ?\.\.\..*/, "", name)
			gsub(/[^[:alnum:]_]+/, "-", name)
			tests++
		}
		# What a test prints itself may come in between.
		name != "" && /passed[[:space:]]*$/ { how = "passed"; finish() }
		name != "" && /FAILED[[:space:]]*$/ { how = "failed"; finish() }
		/^Run Summary/ { finish(); summary = 1 }
		END {
			finish()
			exit !(tests && summary)
		}' /tmp/utest || failed run "it did not get to its end; it ended with $status"
	cd $T && at_rest at-rest
}
libtracefs() { utest; }
trace-cmd() { utest; }

perf() {
	local test
	in_debugfs probe || return
	cd /suite/shell/base_probe || exit
	export PERFSUITE_RUN_DIR=/tmp/perf
	mkdir $PERFSUITE_RUN_DIR
	for test in test_*.sh; do
		bash "./$test" 2>&1
	done | tee /tmp/probe
	awk '
		!match($0, /^(--|##) \[ (PASS|FAIL|SKIP) \] (--|##) perf_probe :: /) { next }
		# A summary says something new if all of that test is skipped.
		/^##/ && !/SKIP/ { next }
		{
			how = /PASS/ ? "passed" : /FAIL/ ? "failed" : "skipped"
			name = substr($0, RLENGTH + 1)
			why = ""
			if (match(name, / \([^()]*\)$/)) {
				why = " " substr(name, RSTART + 2, RLENGTH - 3)
				name = substr(name, 1, RSTART - 1)
			}
			sub(/ :: testcase skipped$/, "", name)
			sub(/ :: /, "/", name)
			gsub(/[^[:alnum:]_\/]+/, "-", name)
			sub(/-$/, "", name)
			print "== " how " " name why
			tests++
		}
		END { exit !tests }' /tmp/probe || failed probe 'no test ran'
	cd $T && at_rest at-rest
}

# graph_users: two instances with function_graph, if the kernel has them
users=()
graph_users() {
	local filters=('vfs_* loadavg_proc_show' 'ksys_* do_sys_open* loadavg_proc_show') i dir
	for i in 1 2; do
		dir=instances/graph$i
		mkdir "$dir"
		# The first makes all that an instance needs to know it.
		echo "${filters[i - 1]}" >"$dir/set_ftrace_filter"
		echo 1 >"$dir/options/funcgraph-proc"
		echo 1 >"$dir/options/funcgraph-tail"
		if ! { echo function_graph >"$dir/current_tracer"; } 2>/dev/null; then
			skipped graph-users 'this kernel has no function_graph in instances'
			rmdir instances/graph*
			users=()
			return
		fi
		users+=("$dir")
	done
}

# graph_end: these two have traced on, and each still sees each call.
graph_end() {
	local dir c f n overrun i why=''
	[ ${#users[@]} -gt 0 ] || return
	for dir in "${users[@]}"; do
		echo 0 >"$dir/tracing_on"
		overrun=''
		for c in "$dir"/per_cpu/cpu*; do
			while read -r f n; do
				[ "$f" != overrun: ] || [ "$n" -eq 0 ] || overrun+=" ${c##*/cpu}"
			done <"$c/stats"
		done
		{
			echo "# overrun:$overrun"
			head -n 20000 "$dir/trace"
		} >"/out/trace.${dir##*/}"
		[ "$(wc -l <"/out/trace.${dir##*/}")" -gt 100 ] || why="${dir##*/} traced nothing"
		echo >"$dir/trace"
		echo 1 >"$dir/tracing_on"
	done
	for ((i = 0; i < 20; i++)); do
		read -r _ </proc/loadavg
	done
	for dir in "${users[@]}"; do
		echo 0 >"$dir/tracing_on"
		n=$(grep -cE '\| +loadavg_proc_show\(\)' "$dir/trace")
		[ "$n" -eq 20 ] || why="${dir##*/} saw $n of 20 calls"
		[ "$(cat "$dir/current_tracer")" = function_graph ] || why="${dir##*/} has lost its tracer"
		echo nop >"$dir/current_tracer"
		rmdir "$dir"
	done
	if [ -z "$why" ]; then passed graph-users; else failed graph-users "$why"; fi
}

# run COMMAND...: sets $status; what it prints is in /tmp/run.
run() {
	echo "# $*"
	timeout 300 "$@" >/tmp/run 2>&1
	status=$?
	cat /tmp/run
}

stress-ng() {
	local status
	in_debugfs ftrace || return
	graph_users
	# What it traces is the rest of what it does, which calls what the two trace, too.
	run stress-ng --ftrace --open 1 --get 1 --timeout 30 --metrics-brief --stdout
	if [ "$status" -ne 0 ]; then
		failed ftrace "it ended with $status: $(grep -m1 -iE 'fail|error|cannot' /tmp/run)"
	elif ! grep -qE 'ftrace: [1-9][0-9]* kernel functions called' /tmp/run; then
		failed ftrace "it has seen no calls: $(grep -m1 'ftrace: ' /tmp/run)"
	else
		passed ftrace
	fi
	graph_end
	at_rest at-rest
}

rtla() {
	local what quiet status n
	graph_users
	for what in osnoise-top osnoise-hist timerlat-top timerlat-hist; do
		quiet=''
		[[ $what != *-top ]] || quiet=--quiet
		# shellcheck disable=SC2086
		run rtla ${what/-/ } $quiet --duration 10s
		# Both CPUs, each with something that it has counted
		case $what in
		*-top) n=$(grep -cE '^ *[0-9]+ #[1-9]' /tmp/run) ;;
		*) n=$(awk '$1 == "count:" { for (i = 2; i <= NF; i++) if ($i > 0) n++ } END { print n + 0 }' /tmp/run) ;;
		esac
		if [ "$status" -ne 0 ]; then
			failed $what "it ended with $status: $(tail -n 1 /tmp/run)"
		elif [ "$n" -lt 2 ]; then
			failed $what "it has counted nothing on a CPU"
		else
			passed $what
		fi
	done
	graph_end
	at_rest at-rest
}

"$1"
echo '== done'
