# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the checks that compile: a whole tree with the series in it, what to compile
# of it, and what the compiler said.
#
# Sourced after lib.sh, never run.

# The whole tree, kept from run to run as what is built from it is; it is detached at some
# commit of base..series.
source_tree=$BUILD_DIR/check/linux
# What compiled without new warnings is not compiled again: empty files, by names that say
# everything it depended on.
compiled=$BUILD_DIR/check/compiled
mkdir -p "$compiled"

# Users of what the series' headers define, for patches that change a header.
users_of_headers=(
	kernel/trace/{fgraph,ftrace,trace,trace_event_perf,trace_events,trace_functions}.c
	kernel/trace/{trace_functions_graph,trace_irqsoff,trace_kprobe,trace_osnoise}.c
	kernel/trace/{trace_output,trace_sched_wakeup,trace_selftest,trace_stack,fprobe}.c
	kernel/{exit,fork,kprobes}.c kernel/{bpf/trampoline,livepatch/patch,sched/core}.c
	init/init_task.c
)

# whole_tree: makes or renews $source_tree, with base and branch series in it; and $tmp.
whole_tree() {
	temporary
	# One check at a time compiles in it.
	exec 9>"$BUILD_DIR/check/lock"
	flock 9
	# shellcheck disable=SC2154
	scratch "$tmp/linux"
	apply_am "$tmp/linux"
	if [ "$(git -C "$source_tree" rev-parse -q --verify refs/tags/base^0 2>/dev/null)" != \
		"$(git -C "$LINUX" rev-parse refs/tags/base^0)" ]; then
		progress "a tree to compile"
		rm -rf "$source_tree"
		clone "$source_tree"
		git -C "$source_tree" checkout -q --detach base
	fi
	git -C "$source_tree" fetch -q --no-tags "$tmp/linux" +series:refs/heads/series
}

# touched_by COMMIT: in $touched, the files that base..COMMIT touches, and who uses them.
touched_by() {
	mapfile -t touched < <(git -C "$source_tree" diff --name-only --diff-filter=AM base "$1")
	if printf '%s\n' "${touched[@]}" | grep -q '\.h$'; then
		touched+=("${users_of_headers[@]}")
	fi
}

# makefile_line DIR NAME OUT: the line of DIR's Makefile that builds NAME, an object or a
# directory with a slash, unless OUT/.config switches it off. Continued lines are joined;
# ftrace_$(BITS).o is ftrace_64.o on 64 bit.
makefile_line() {
	local line option bits=32
	! grep -q '^CONFIG_64BIT=y' "$3/.config" || bits=64
	line=$(sed -e ':join' -e '/\\$/{N;s/\\\n//;bjoin' -e '}' -e "s/\$(BITS)/$bits/" \
		"$source_tree/$1/Makefile" 2>/dev/null | grep -E '^[a-z0-9_]+-[^=]*=' |
		grep -E -m1 "[[:space:]]$2([[:space:]]|\$)") || return 1
	option=$(sed -nE 's/^[^=]*\$\((CONFIG_[A-Z0-9_]+)\).*/\1/p' <<<"$line")
	[ -z "$option" ] || grep -q "^$option=[ym]" "$3/.config" || return 1
	# A part of an object that is made of several is built if that is.
	[[ $line != [!o]*-objs* ]] || makefile_line "$1" "${line%%-objs*}.o" "$3"
}

# objects ARCH OUT: the objects of $touched files that $source_tree, as it is checked out,
# builds with OUT/.config. A Makefile names an object, or nobody builds it.
objects() {
	local file dir object
	for file in "${touched[@]}"; do
		case $file in
		arch/"$1"/*.[cS] | block/*.c | init/*.c | kernel/*.c | lib/*.c | mm/*.c | net/*.c) ;;
		*) continue ;;
		esac
		[ -f "$source_tree/$file" ] || continue
		dir=${file%/*} object=${file##*/}
		object=${object%.[cS]}.o
		makefile_line "$dir" "$object" "$2" || continue
		# kernel/trace/ is there when kernel/Makefile says so.
		[[ $dir != kernel/* ]] || makefile_line "${dir%/*}" "${dir##*/}/" "$2" || continue
		printf '%s\n' "$dir/$object"
	done | sort -u
}

# warnings LOG: what compiler, sparse and kernel-doc warned about, without the places, and
# without the length of the README in trace.c, which sparse finds too long in any case.
warnings() {
	grep -E '(warning|error):' "$1" | grep -v '^make' |
		sed -E "s#^[^ ]*${source_tree#"$BUILD_DIR/"}/##; s/:[0-9]+(:[0-9]+)?:/:/; s/\+0x[0-9a-f]+/+/g; s/[0-9]+-character/N-character/" |
		sort -u || true
}
