# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts beside it: where things are, how they report, how they install.
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
	if ! {
		apt-get update &&
			DEBIAN_FRONTEND=noninteractive apt-get install -y \
				--no-install-recommends "${missing[@]}"
	} >>"$LOGS/apt.log" 2>&1; then
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
