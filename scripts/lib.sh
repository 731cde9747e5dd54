# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts beside it: where things are, how they report, how they install, how they end.
#
# Sourced, never run. BUILD_DIR (default: .build at the top of the repository) holds
# everything that is generated: the kernel git tree, builds, root filesystems, logs. TARGET is
# the kernel that the patches are for: 6.1 (default), or 6.12 or mainline, which have all of this in
# $BUILD_DIR/$TARGET.

set -euo pipefail

# --help: the text at the script's head.
case ${1:-} in
-h | --help)
	sed -n '4,/^$/s/^# \{0,1\}//p' "$0"
	exit 0
	;;
esac

# die MESSAGE...: one clear line on stderr, and out.
die() {
	said=$*
	printf '%s: %s\n' "${0##*/}" "$said" >&2
	exit 1
}

# usage: how the script is called, by its head, and $usage_also, on stderr, and out with 2.
usage() {
	local how
	how=$(sed -n '/^# usage: /,/^#$/s/^# //p' "$0")
	printf '%s\n' "${how:-usage: $0}" ${usage_also:+"$usage_also"} >&2
	exit 2
}

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD_DIR=$(realpath -ms -- "${BUILD_DIR:-$TOP/.build}")
# The patches lie in patches/$TARGET/PART/, in the order of the file series.$TARGET.
# shellcheck disable=SC2034
TARGETS=(6.1 6.12 mainline)
TARGET=${TARGET:-6.1}
case $TARGET in
6.1) ;;
6.12 | mainline)
	# A script that another one runs has it from there.
	[ "${BUILD_DIR##*/}" = "$TARGET" ] || BUILD_DIR+=/$TARGET
	;;
*) die "TARGET is 6.1, 6.12 or mainline, not $TARGET" ;;
esac
# The kernel git tree: tag "base", branch "series" on top of it.
LINUX=$(realpath -ms -- "${LINUX:-$BUILD_DIR/linux}")
[[ $BUILD_DIR$LINUX != *[[:space:]:]* ]] ||
	die "a kernel is not built below a directory with a space or a colon in its name: set BUILD_DIR"
LOGS=$BUILD_DIR/logs
JOBS=${JOBS:-$(($(nproc) + 1))}
export CCACHE_DIR=${CCACHE_DIR:-$BUILD_DIR/ccache}
# Order and messages are the same everywhere.
export LC_ALL=C.UTF-8
# Nobody's own hooks and settings of git, nor the repository of a hook that runs this, take part.
export GIT_CONFIG_GLOBAL=$TOP/scripts/gitconfig GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
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
	trap 'result $? || true; stop' EXIT
	trap 'caught HUP' HUP
	trap 'caught INT' INT
	trap 'caught TERM' TERM
}
catch_signals

# alone NAME: until this script ends, no other one makes the result NAME.
alone() {
	local lock
	exec {lock}>"$BUILD_DIR/$1.lock"
	flock -n "$lock" && return
	printf '%s: waiting for another script that makes %s\n' "${0##*/}" "$1" >&2
	run flock "$lock"
}

# aptget ARGUMENT...: apt-get, which waits up to ten minutes for another one that holds a lock, as
# Debian's unattended upgrades do. What it prints: $LOGS/apt.log
aptget() {
	local try from
	for ((try = 0; ; try++)); do
		from=$(stat -c %s "$LOGS/apt.log" 2>/dev/null || echo 0)
		DEBIAN_FRONTEND=noninteractive apt-get "$@" >>"$LOGS/apt.log" 2>&1 && return
		[ $try -lt 120 ] && tail -c "+$((from + 1))" "$LOGS/apt.log" |
			grep '^E: Could not get lock' >/dev/null || return 1
		progress "waiting for another apt-get"
		sleep 5
	done
}

# apt_failed WHAT: out, with what apt said last.
apt_failed() {
	local why
	why=$(grep '^E: ' "$LOGS/apt.log" | tail -n 1 || true)
	progress_end
	die "apt could not $1${why:+: ${why#E: }}; see $LOGS/apt.log"
}

# What to do on a system without the packages
elsewhere='take Debian 12 with its security updates, or a container of it (Dockerfile); KERNEL_TREE=DIR gives base a tree of your own'

# need PACKAGE...: installs what is missing of these Debian packages. Without apt, their programs will
# do.
need() {
	local p n missing=() debian=y
	[ -n "$(type -P apt-get)" ] && [ -n "$(type -P dpkg-query)" ] || debian=''
	for p in "$@"; do
		if [ -n "$debian" ]; then
			dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed
		else
			[ "$p" != xz-utils ] || p=xz
			[ -n "$(type -P "$p")" ]
		fi || missing+=("$p")
	done
	[ ${#missing[@]} -eq 0 ] && return 0
	[ -n "$debian" ] || die "there is no apt to install ${missing[*]}: $elsewhere"
	[ "$(id -u)" -eq 0 ] ||
		die "root, which nothing else needs, must install packages: apt-get install ${missing[*]}"
	# Two lanes of scripts/ci may both be here.
	(
		flock 9
		aptget update || apt_failed 'update its lists'
		n=$(apt-get install -s --no-install-recommends "${missing[@]}" 2>/dev/null | grep -c '^Inst ' || true)
		progress_end
		[ "$n" -eq 0 ] || printf '%s: installing %d packages: %s and what they need\n' "${0##*/}" "$n" "${missing[*]}" >&2
		aptget install -y --no-install-recommends "${missing[@]}" || apt_failed "install ${missing[*]}"
	) 9>"$BUILD_DIR/apt.lock" || exit 1
}

# lx COMMAND...: git in the kernel tree.
lx() {
	git -C "$LINUX" "$@"
}

# patches [PART]: the files of the series or of one part, in order, one a line.
# shellcheck disable=SC2120
patches() {
	[ ! -f "$TOP/series.$TARGET" ] ||
		sed -n "s#^$TARGET/${1:-[^/]*}/.*\.patch\$#$TOP/patches/&#p" "$TOP/series.$TARGET"
}

# added: the files that the series adds, by its patches, one a line.
added() {
	local files
	# shellcheck disable=SC2119
	mapfile -t files < <(patches)
	[ ${#files[@]} -eq 0 ] || awk '
		FNR == 1 || /^diff --git / { from = "" }
		/^--- (a\/|\/dev\/null$)/ { from = $2 }
		/^\+\+\+ (b\/|\/dev\/null$)/ && from != "" {
			if (from == "/dev/null") new[substr($2, 3)] = 1
			else if ($2 == "/dev/null") delete new[substr(from, 3)]
			from = ""
		}
		/^rename from / { was = $3 }
		/^rename to / { delete new[was]; new[$3] = 1 }
		END { for (file in new) print file }' "${files[@]}" | LC_ALL=C sort
}

# own_tests [TARGET]: the selftests that its series adds to the kernel's, below test.d, one a line.
own_tests() {
	TARGET=${1:-$TARGET} added | sed -n 's|^tools/testing/selftests/ftrace/test\.d/\(.*\.tc\)$|\1|p'
}

# common FILE: where in the repository such a file lies if several targets add the same.
common() {
	case $1 in
	tools/testing/selftests/ftrace/*) echo "$1" ;;
	*) echo "kernel-overlay/common/$1" ;;
	esac
}

# parts: the names of the parts, in order, one a line.
parts() {
	# shellcheck disable=SC2119
	patches | sed 's#/[^/]*$##; s#.*/##' | uniq
}

# mux_version: what the series of TARGET is called after the release that it is on, such as mux2.
mux_version() {
	awk -v target="$TARGET" '$1 == target { print $2 }' "$TOP/configs/version"
}

# later TYPE [ARCH]: makes lists of the suites that have newer kernels than this system's, of packages
# (TYPE deb) or of sources (deb-src), or of unstable alone for an ARCH that this Debian does not have,
# and sets $options, with which apt reads them. They are kept in $BUILD_DIR; the system's apt does not
# see them, and nothing of them is installed.
later() {
	local state=$BUILD_DIR/apt-later-$1${2:+-$2} mirror suite suites=(sid)
	# The mirror that this system gets Debian from
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' |
		awk 'NR == 1')
	[ -n "$mirror" ] || die "apt has no Debian release among its sources"
	mkdir -p "$state"/{lists/partial,cache/archives/partial}
	[ -n "${2:-}" ] || suites+=(trixie-backports)
	for suite in "${suites[@]}"; do
		echo "$1 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	done >"$state/sources.list"
	options=(-o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache"
		-o Debug::NoLocking=1 -o APT::Sandbox::User=root)
	[ -z "${2:-}" ] || options+=(-o "APT::Architecture=$2" -o "APT::Architectures=$2")
	aptget "${options[@]}" update || apt_failed "update the lists of ${suites[*]}"
}

# sources: makes lists of the sources of this system's suites, which its own lists may be without, and sets
# $options, with which apt reads them, and $state, where they are.
sources() {
	state=$BUILD_DIR/apt-source
	mkdir -p "$state/lists/partial" "$state/archives/partial"
	options=(-o "Dir::Etc::sourcelist=$state/sources.list" -o 'Dir::Etc::sourceparts=/dev/null'
		-o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state"
		-o 'Debug::NoLocking=1' -o 'APT::Sandbox::User=root')
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
		sort -u | sed 's#^#deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] #' >"$state/sources.list"
	aptget "${options[@]}" update || apt_failed 'update the lists of sources'
}

# bring ROOT PROGRAM...: copies the libraries that these programs load to ROOT, which goes to the guest.
bring() {
	local root=$1 lib
	while read -r lib; do
		install -D -m 755 "$lib" "$root/${lib#/usr}"
	done < <(ldd "${@:2}" 2>/dev/null | sed -n 's|.*[[:space:]]\(/[^ ]*\) (0x.*|\1|p' | sort -u)
}

# made_on: the release of the kernel that the patches were made on.
made_on() {
	sed -n '1s/^# linux \([0-9.]*[0-9]\).*/\1/p' "$TOP/series.$TARGET"
}

# newest_source PACKAGE [RELEASE]: sets $package and $version to the newest that apt offers, with
# $options; of RELEASE if it has that. PACKAGE is a regular expression.
newest_source() {
	# shellcheck disable=SC2046
	read -r version package < <(apt-cache "${options[@]}" madison \
		$(apt-cache "${options[@]}" search --names-only "^$1\$" | cut -d' ' -f1) |
		awk -F' *[|] *' '{ sub(/^ +/, ""); print $2, $1 }' | sort -V |
		awk -v release="${2:-}" '{ last = $0 } index($1, release "-") == 1 { wanted = $0 }
			END { print wanted ? wanted : last }') || true
	[ -n "$version" ] || die "apt offers no ${1//\\/}: $elsewhere"
}

# unpack_source DIR: unpacks the kernel's source in $version of Debian's $package, which apt finds with
# $options, to DIR; installs nothing.
unpack_source() {
	local deb
	progress "fetching $package $version"
	deb=$(mktemp -d "$BUILD_DIR/deb.XXXXXX")
	litter+=("$deb")
	(cd "$deb" && aptget "${options[@]}" download "$package=$version") || apt_failed "download $package"
	progress "unpacking $package $version"
	dpkg-deb --fsys-tarfile "$deb/$package"_*.deb | tar -xO "./usr/src/$package.tar.xz" |
		tar -xJ -C "$1" --strip-components=1
	rm -rf "$deb"
}

# linux_source VERSION DIR: unpacks Debian's linux-source-VERSION to DIR, which is kept if it is
# there. VERSION 7 is the newest 7.x of Debian's backports and unstable.
linux_source() {
	local package=linux-source-$1 dir=$2 version options
	[ ! -e "$dir/Makefile" ] || return 0
	need xz-utils
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	litter+=("$dir.new")
	if [ "$1" != 7 ]; then
		need "$package"
		progress "unpacking $package"
		tar -xf "/usr/src/$package.tar.xz" -C "$dir.new" --strip-components=1
	else
		progress "fetching linux-source-7.x"
		later deb
		newest_source 'linux-source-7\.[0-9]+'
		unpack_source "$dir.new"
	fi
	mv "$dir.new" "$dir"
	progress_end
}

# elapsed SECONDS: 75 -> 1:15
elapsed() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# options "NAME=... FLAG..." ARGUMENT...: sets $NAME for each "--NAME value" that the arguments
# begin with (a "-" of the name is "_" in the variable), and $FLAG to y for "--FLAG". The other
# arguments are in $rest. Anything else is a wrong call.
rest=()
options() {
	local known=" $1 " option
	shift
	while [[ ${1:-} = -* ]]; do
		option=${1#--}
		shift
		case $known in
		*" $option= "*)
			[ $# -gt 0 ] || usage
			printf -v "${option//-/_}" %s "$1"
			shift
			;;
		*" $option "*) printf -v "$option" y ;;
		*) usage ;;
		esac
	done
	# shellcheck disable=SC2034
	rest=("$@")
}

# tree_and_patches: what changes with branch series of the kernel tree and with patches/.
tree_and_patches() {
	lx rev-parse refs/heads/series
	# shellcheck disable=SC2119
	patches | xargs -r cat | sha1sum
}

# state: the commit that last changed the patches of TARGET, with a "+" if they, the scripts or the
# configurations are not as committed, or if the kernel tree has something else than what scripts/apply
# has made of them.
state() {
	local commit dirty
	# A shallow clone does not know it.
	[ "$(git -C "$TOP" rev-parse --is-shallow-repository)" != true ] || return
	commit=$(git -C "$TOP" log -1 --format=%h -- "patches/$TARGET") && [ -n "$commit" ] || return
	dirty=$(git -C "$TOP" --no-optional-locks status --porcelain -- "patches/$TARGET" scripts configs) || return
	[ ! -e "$LINUX/.git" ] || {
		[ "$(tree_and_patches)" = "$(cat "$BUILD_DIR/applied")" ] && lx --no-optional-locks diff --quiet HEAD
	} || dirty=y
	echo "$commit${dirty:++}"
} 2>/dev/null

# testing STEP KERNEL [ARGS]: what the script tests from here on, on that result of scripts/build, booted
# with ARGS, or on none ("-"). How it ends is a line of $LOGS/results.tsv, which scripts/results reads,
# unless it is interrupted, is a part of another test, or tests a kernel of another tree than $LINUX or
# base.
tested=() said='' part_of_test=${PART_OF_TEST:-}
testing() {
	[ -z "$part_of_test" ] || return 0
	export PART_OF_TEST=y
	tested=("$1" "$2" "${3:-}" "$(state || true)")
}

# result STATUS: that test has ended with this exit status, after the message $said.
result() {
	local how=failed arch=- dir commit=${tested[3]:-}
	[ -n "$commit" ] && [ "$BASHPID" = $$ ] || return 0
	case $1 in 0) how=passed ;; 4) how=skipped ;; esac
	dir=$BUILD_DIR/build/${tested[1]}
	if [ "${tested[1]}" != - ]; then
		case $(cat "$dir/.tree") in "$LINUX" | "$BUILD_DIR/linux-base") ;; *) tested=() && return ;; esac
		arch=$(cat "$dir/.arch") || return 0
		# The patches may have changed since it was built.
		[ ! -f "$dir/.state" ] || commit=$(cat "$dir/.state")
	fi
	# The message without its name of the kernel, and without places of this machine
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$TARGET" "$arch" \
		"${tested[1]%-"$arch"}${tested[2]:+ ${tested[2]}}" "${tested[0]}" "$how" \
		"$(awk -v kernel="${tested[1]}: " '{
			if (index($0, kernel) == 1) $0 = substr($0, length(kernel) + 1)
			sub(/; see .*/, ""); gsub(/(^| )\/[^ ]*/, " ..."); gsub(/[[:space:]]+/, " ")
			print
			exit
		}' <<<"$said")" "$commit" >>"$LOGS/results.tsv" || true
	tested=()
} 2>/dev/null

# expires FILE: a list of what is known not to pass. What is a fault of the kernel or of chance is looked at
# again, so such an entry has until=RELEASE.
expires() {
	local forever
	forever=$(awk '/^(FAIL|RETRY|CRASH)/ && $3 !~ /^until=[0-9]+(\.[0-9]+)+$/ { print $1, $2 }' "$1")
	[ -z "$forever" ] || die "configs/${1##*/} has entries without until=RELEASE: ${forever//$'\n'/, }"
}

# known_as FILE RESULT TEST: the reason, if the list FILE has this for $kernel of $arch and TARGET, or that the
# entry has expired: the patches are made on $release.
known_as() {
	# shellcheck disable=SC2154
	awk -v result="$2" -v test="$3" -v scopes=" $arch $TARGET $kernel " -v release="$release" '
		# A release of 6.1 or 6.12 says nothing of other kernels.
		function kernel(of) { return match(of, /^6\.(1|12)\./) ? substr(of, 1, RLENGTH) : "later" }
		function expired(until,  u, r, i) {
			if (kernel(until) != kernel(release)) return 0
			split(until, u, "."); split(release, r, ".")
			for (i = 1; i <= 3; i++)
				if (u[i] + 0 != r[i] + 0) return r[i] + 0 > u[i] + 0
			return 1
		}
		$2 != test { next }
		{ split($1, of, "@") }
		of[1] == result && (of[2] == "" || index(scopes, " " of[2] " ")) {
			until = $3 ~ /^until=/ ? substr($3, 7) : ""
			sub(/^[^ ]+ [^ ]+ (until=[^ ]* )?/, "")
			print (until != "" && expired(until) ? "expired with " until ": " : "") $0
			exit
		}' "$1"
}

# ktap: results as the kernel's own tests have them, from lines "passed|failed|skipped NAME [WHY]".
ktap() {
	awk '{
			why = $0
			sub(/^[^ ]+ [^ ]+ */, "", why)
			if (why != "" || $1 == "skipped") why = " #" ($1 == "skipped" ? " SKIP" : "") " " why
			line[NR] = ($1 == "failed" ? "not ok " : "ok ") NR " " $2 why
		}
		END {
			printf "KTAP version 1\n1..%d\n", NR
			for (i = 1; i <= NR; i++) print line[i]
		}'
}

# say MESSAGE...: the one line of a script that did its work.
say() {
	said=$*
	printf '%s: %s\n' "${0##*/}" "$said"
}

# progress MESSAGE...: how far long work has come. On a terminal one line that is
# refreshed; elsewhere a line when the first word changes, or every 30 seconds. It goes to stderr,
# or, in a check, whose stderr scripts/check logs, to that of scripts/check.
progress_fd=${PROGRESS_FD:-2}
unset PROGRESS_FD
progress_start=$SECONDS progress_last=-30 progress_word=
progress() {
	local t
	t=$(elapsed $((SECONDS - progress_start)))
	if [ -t "$progress_fd" ]; then
		printf '\r\033[K%s: [%s] %s' "${0##*/}" "$t" "$*" >&"$progress_fd"
	elif [ "${1%% *}" != "$progress_word" ] || [ $((SECONDS - progress_last)) -ge 30 ]; then
		printf '%s: [%s] %s\n' "${0##*/}" "$t" "$*" >&"$progress_fd"
		progress_last=$SECONDS
	fi
	progress_word=${1%% *}
}

# progress_end: clears the refreshed line.
progress_end() {
	[ ! -t "$progress_fd" ] || printf '\r\033[K' >&"$progress_fd"
}

# machine: CPU, kernel and mitigations of the machine that runs this, for MAINTAINERS-notes/machines.md.
machine() {
	awk -F'[[:space:]]*: ' '
		/^$/ { exit }
		{ is[$1] = $2 }
		END {
			if (is["model name"] && is["cpu family"])
				printf "CPU: %s (family %d, model %d, stepping %d)%s\n", is["model name"],
					is["cpu family"], is["model"], is["stepping"],
					is["flags"] ~ /(^| )hypervisor( |$)/ ? ", in a virtual machine" : ""
			else if (is["CPU implementer"])
				printf "CPU: implementer %s, part %s, variant %s, revision %s\n", is["CPU implementer"],
					is["CPU part"], is["CPU variant"], is["CPU revision"]
			else
				print "CPU: of an unknown kind"
		}' /proc/cpuinfo
	echo "kernel: $(uname -rm)"
	(cd /sys/devices/system/cpu/vulnerabilities 2>/dev/null && grep -Hv '^Not affected' -- *) |
		sed 's/:Mitigation: /:/; s/:/: /; s/^/  /; 1i mitigations:' || echo 'mitigations: unknown'
}
