# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts beside it: where things are, how they report, how they install, how they end.
#
# Sourced, never run. BUILD_DIR (default: .build at the top of the repository) holds
# everything that is generated: the kernel git tree, builds, root filesystems, logs.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD_DIR=${BUILD_DIR:-$TOP/.build}
# The kernel git tree: tag "base", branch "series" on top of it.
LINUX=${LINUX:-$BUILD_DIR/linux}
LOGS=$BUILD_DIR/logs
JOBS=${JOBS:-$(($(nproc) + 1))}
export CCACHE_DIR=${CCACHE_DIR:-$BUILD_DIR/ccache}
mkdir -p "$BUILD_DIR" "$LOGS"

# What to remove when the script ends, however it ends.
litter=()

# start COMMAND...: runs it in the background, in a process group of its own, without
# input; $! is its pid. A background process of a script ignores SIGINT, and so do its
# children: it is for this script to end the group when it ends itself.
start() {
	set -m
	"$@" </dev/null &
	set +m
}

# run COMMAND...: runs it and waits. Unlike a command in the foreground, which a trap has to
# wait for, it ends at once when the script gets a signal.
run() {
	start "$@"
	wait $!
}

# timeout(1) puts itself into a process group that Ctrl-C does not reach.
timeout() {
	run command timeout "$@"
}

# stop: ends what was started and still runs, and waits for its end.
stop() {
	local pid
	trap '' HUP INT TERM
	for pid in $(jobs -rp); do
		kill -- "-$pid" || kill "$pid" || true
	done
	wait
	[ ${#litter[@]} -eq 0 ] || rm -rf "${litter[@]}"
} 2>/dev/null

# caught SIGNAL: the end by that signal, so that a caller sees what it was.
caught() {
	stop
	progress_end
	trap - EXIT "$1"
	kill -s "$1" "$BASHPID"
}

# catch_signals: nothing that was started outlives this shell. A subshell that starts
# something must call it, too: it has none of its parent's traps.
catch_signals() {
	litter=()
	trap stop EXIT
	trap 'caught HUP' HUP
	trap 'caught INT' INT
	trap 'caught TERM' TERM
}
catch_signals

# die MESSAGE...: one clear line on stderr, and out.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# need PACKAGE...: installs what is missing of these Debian packages, quietly.
need() {
	local p missing=()
	for p in "$@"; do
		dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null |
			grep -qx installed || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ "$(id -u)" -eq 0 ] || die "not root, and these packages are missing: ${missing[*]}"
	# Two lanes of scripts/ci may both be here.
	if ! (
		flock 9 && apt-get update &&
			DEBIAN_FRONTEND=noninteractive apt-get install -y \
				--no-install-recommends "${missing[@]}"
	) >>"$LOGS/apt.log" 2>&1 9>"$BUILD_DIR/apt.lock"; then
		die "apt could not install ${missing[*]}; see $LOGS/apt.log"
	fi
}

# elapsed SECONDS: 75 -> 1:15
elapsed() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# usage LINE...: how the script is called, on stderr, and out with 2.
usage() {
	printf 'usage: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '       %s\n' "$@" >&2
	exit 2
}

# say MESSAGE...: the one line of a script that did its work.
say() {
	printf '%s: %s\n' "${0##*/}" "$*"
}

# progress MESSAGE...: how far long work has come. On a terminal one line that is
# refreshed; elsewhere a line when the first word changes, or every 30 seconds.
progress_start=$SECONDS progress_last=-30 progress_word=
progress() {
	local t
	t=$(elapsed $((SECONDS - progress_start)))
	if [ -t 2 ]; then
		printf '\r\033[K%s: [%s] %s' "${0##*/}" "$t" "$*" >&2
	elif [ "${1%% *}" != "$progress_word" ] || [ $((SECONDS - progress_last)) -ge 30 ]; then
		printf '%s: [%s] %s\n' "${0##*/}" "$t" "$*" >&2
		progress_last=$SECONDS
	fi
	progress_word=${1%% *}
}

# progress_end: clears the refreshed line.
progress_end() {
	[ ! -t 2 ] || printf '\r\033[K' >&2
}
