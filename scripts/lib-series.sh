# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts that apply, write out or check the series: where it lies, and kernel trees that
# may be thrown away.
#
# Sourced, never run.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What export writes.
# shellcheck disable=SC2034
EXPORTED=("patches/$TARGET" patches/README "series.$TARGET" kernel-overlay tools)
# shellcheck disable=SC2034
NOTES=$TOP/MAINTAINERS-notes
# What mails have in their subject for the list to know the tree; nothing for mainline.
# shellcheck disable=SC2034
if [ "$TARGET" = mainline ]; then LIST=''; else LIST=$TARGET.y; fi

# prefix_of PART: what the subjects of its mails begin with.
prefix_of() {
	case $1 in *fix* | *speed-ups) echo PATCH ;; *) echo 'RFC PATCH' ;; esac
}

# needs PART: the parts that must be there before it, in order, one a line: all before it, but for those
# that configs/needs lists.
needs() {
	local line
	line=$(grep -sE "^$TARGET $1( |\$)" "$TOP/configs/needs") || { parts | sed "/^$1\$/,\$d" && return; }
	for line in ${line#"$TARGET $1"}; do echo "$line"; done
}

# in_a_name: the tags in somebody's name of a message on stdin. The list of stable is nobody.
in_a_name() {
	grep -iE '^([a-z-]+-by|cc): ' | grep -viE '^cc: <?stable@vger\.kernel\.org>?( *#.*)?$' || true
}

# base_version: what the series stands on, as "linux 6.1.192 (Debian linux-source-6.1 6.1.192-2)".
base_version() {
	git -C "$LINUX" log -1 --format=%s refs/tags/base
}

# temporary: makes $tmp, a directory that is gone in the end.
temporary() {
	tmp=$(mktemp -d "$BUILD_DIR/${0##*/}.XXXXXX")
	litter+=("$tmp")
}

# idle_tree: ends the script when $LINUX has changes or a rebase that is not finished.
idle_tree() {
	local busy dirty
	lx rev-parse -q --verify 'refs/tags/base^{commit}' >/dev/null 2>&1 ||
		die "no kernel tree with a tag base at $LINUX: run scripts/base first"
	for busy in rebase-merge rebase-apply; do
		[ ! -e "$(lx rev-parse --path-format=absolute --git-path $busy)" ] ||
			die "a rebase or am is under way in $LINUX: finish it first"
	done
	dirty=$(lx status --porcelain)
	[ -z "$dirty" ] || die "$LINUX has uncommitted changes: ${dirty%%$'\n'*}"
}

# clone DIR [TREE]: a git clone of $LINUX or TREE without files. It borrows the objects.
clone() {
	local tree=${2:-$LINUX}
	[ $# -eq 2 ] || lx rev-parse -q --verify 'refs/tags/base^{commit}' >/dev/null 2>&1 ||
		die "no kernel tree at $LINUX: run scripts/base first"
	git clone -q --shared --no-checkout --no-tags "$tree" "$1"
	git -C "$1" config user.name ftrace-mux
	git -C "$1" config user.email ftrace-mux@example.invalid
	git -C "$1" config gc.auto 0
	git -C "$1" config commit.gpgsign false
	git -C "$1" config advice.detachedHead false
	[ $# -eq 2 ] || git -C "$1" update-ref refs/tags/base "$(lx rev-parse 'refs/tags/base^{commit}')"
}

# scratch DIR [TREE REVISION]: a clone with base or that REVISION of TREE checked out as branch
# series, but only the directories that the series touches and what the kernel's own scripts
# expect of a kernel tree: it takes two seconds instead of thirty.
scratch() {
	local dirs files
	mapfile -t files < <(patches)
	mapfile -t dirs < <(
		printf '%s\n' Documentation/process include kernel scripts tools/docs tools/lib/python
		[ ${#files[@]} -eq 0 ] ||
			sed -n 's#^[-+]\{3\} [ab]/\(.*\)/[^/]*$#\1#p' "${files[@]}"
	)
	clone "$1" ${2:+"$2"}
	git -C "$1" sparse-checkout set --cone "${dirs[@]}"
	git -C "$1" checkout -q --no-track -B series "${3:-base}"
	(cd "$1" && mkdir -p Documentation arch drivers fs init ipc lib)
}

# apply_am DIR FILE...: these mails on what DIR has checked out. Committer and dates are fixed:
# the same base and patches give the same commit ids.
apply_am() {
	GIT_COMMITTER_NAME=ftrace-mux GIT_COMMITTER_EMAIL=ftrace-mux@localhost \
		git -C "$1" am -q --committer-date-is-author-date --whitespace=nowarn "${@:2}" 2>&1
}

# apply_parts DIR [PART...]: all parts or these, one after the other, with their branches. Where it
# stops, the last line that it prints says at what.
apply_parts() {
	local dir=$1 files part said
	shift
	# shellcheck disable=SC2046
	[ $# -gt 0 ] || set -- $(parts)
	for part in "$@"; do
		mapfile -t files < <(patches "$part")
		said=$(apply_am "$dir" "${files[@]}") || {
			echo "$said"
			echo "${files[$(cat "$dir/.git/rebase-apply/next") - 1]#"$TOP/"} does not apply: $(
				sed -n 's/^error: //p' <<<"$said" | head -n 1)"
			return 1
		}
		git -C "$dir" branch -q -f "part/$part"
	done
}

# patched DIR: a scratch clone with the series on base, in branches series and part/*.
patched() {
	scratch "$1"
	apply_parts "$1"
}
