# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the checks that compile: a whole tree with the series in it, the loop over what is to
# be compiled, and what the compiler said.
#
# Sourced after lib.sh, never run.

# The whole tree, kept from run to run as what is built from it is; it is detached at some
# commit of base..series.
source_tree=$BUILD_DIR/check/linux
# What was found good is not compiled again: empty files, by names that say everything it
# depended on.
compiled=$BUILD_DIR/check/compiled
mkdir -p "$compiled"
# As scripts/build does.
export CCACHE_BASEDIR=$BUILD_DIR CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1

# whole_tree: makes or renews $source_tree, with base and branch series in it; and $tmp.
whole_tree() {
	temporary
	# One check at a time compiles in it.
	exec 9>"$BUILD_DIR/check/lock"
	flock 9
	# shellcheck disable=SC2154
	patched "$tmp/linux"
	if [ "$(git -C "$source_tree" rev-parse -q --verify refs/tags/base^0 2>/dev/null)" != \
		"$(lx rev-parse refs/tags/base^0)" ]; then
		progress "a tree to compile"
		rm -rf "$source_tree"
		clone "$source_tree"
		git -C "$source_tree" checkout -q --detach base
	fi
	git -C "$source_tree" fetch -q --no-tags "$tmp/linux" +series:refs/heads/series
}

# each WHAT ITEM...: calls "check ITEM", which prints what is wrong and fails if something is, for
# each of them that was not found good before. Says how many there are, and exits with 1 if some
# are bad. What an item depends on, beside configs/ and these scripts, is what "state ITEM" prints.
each() {
	local what=$1 item stamp n=0 bad=0 before=0
	shift
	for item in "$@"; do
		n=$((n + 1))
		stamp=$compiled/$({
			state "$item"
			cat "$TOP"/configs/*.{set,config,renamed} "$0" "${BASH_SOURCE[0]}"
		} | sha256sum | cut -c 1-40).${0##*/}
		if [ -e "$stamp" ]; then
			before=$((before + 1))
			continue
		fi
		progress "$what: $n of $#$([ $bad -eq 0 ] || echo ", $bad bad")"
		if check "$item"; then
			touch "$stamp"
		else
			bad=$((bad + 1))
		fi
	done
	[ $bad -eq 0 ] || { echo "$bad of $# $what" && exit 1; }
	echo "$# $what$([ $before -eq 0 ] || echo ", $before of them earlier")"
}

# each_patch: "each" for the commits of the series or, if PARTS names some, for those of these parts.
each_patch() {
	local commits=() part before=refs/tags/base
	for part in ${PARTS:-}; do
		grep -qx "$part" < <(parts) || { echo "no part $part" && exit 1; }
	done
	for part in $(parts); do
		[[ " ${PARTS:-$part} " != *" $part "* ]] ||
			mapfile -t -O ${#commits[@]} commits < <(git -C "$tmp/linux" rev-list --reverse "$before..refs/heads/part/$part")
		before=refs/heads/part/$part
	done
	each patches "${commits[@]}"
}

# patch_name COMMIT: how to speak of it.
patch_name() {
	printf 'patch %s, "%s"\n' "$(git -C "$source_tree" rev-list --count "base..$1")" \
		"$(git -C "$source_tree" log -1 --format=%s "$1")"
}

# source_files COMMIT: its files, with their hashes, but for those that no compiler reads.
source_files() {
	git -C "$source_tree" ls-tree -r --full-tree "$1" |
		grep -vE '	(Documentation|tools/testing/selftests|MAINTAINERS)'
}

# off NAME: is that option off in $out/.config?
# shellcheck disable=SC2154
off() {
	! grep -q "^CONFIG_$1=[ym]" "$out/.config"
}

# kbuild ARCH COMPILER CONFIG DIR...: configures $source_tree in $out by CONFIG and the options in
# $tmp/asked.config, and compiles all of these directories; what make says goes to $tmp/log.
kbuild() {
	local make=(make -C "$source_tree" "O=$out" "ARCH=$1" "CC=ccache $2" "-j$JOBS") config=$3
	case $2 in
	clang) make+=(LLVM=1) ;;
	*) make+=("CROSS_COMPILE=${2%gcc}") ;;
	esac
	shift 3
	mkdir -p "$out"
	# Only allnoconfig reads KCONFIG_ALLCONFIG, where what was not asked for stays off.
	(cd "$source_tree" && KCONFIG_ALLCONFIG=$tmp/asked.config "${make[@]}" "$config") || return 1
	cat "$tmp/asked.config" >>"$out/.config"
	run "${make[@]}" olddefconfig && run "${make[@]}" prepare || return 1
	# All of it: what is not compiled again does not warn again.
	find "${@/#/$out/}" -name '*.o' -delete 2>/dev/null || true
	run "${make[@]}" "$@"
} >"$tmp/log" 2>&1

# objects: how many were compiled.
objects() {
	grep -cE '^  (CC|AS) ' "$tmp/log" || true
}

# warnings LOG: what compiler, sparse and kernel-doc warned about, without the places, and
# without the length of the README in trace.c, which sparse finds too long in any case. Kconfig's
# are about options that are asked for twice.
warnings() {
	grep -E '(warning|error):' "$1" | grep -vE '^make|\.config:[0-9]+:warning: override' |
		sed -E "s#^[^ ]*${source_tree#"$BUILD_DIR/"}/##; s/:[0-9]+(:[0-9]+)?:/:/; s/\+0x[0-9a-f]+/+/g; s/[0-9]+-character/N-character/" |
		sort -u || true
}
