# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the checks and by post: the exported series, on kernel trees that may be thrown away.
#
# Sourced, never run. A check prints what it finds on stdout, progress on stderr, and exits
# with 0 or 1. Its last line says how it went.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# shellcheck disable=SC2034
SELFTESTS=tools/testing/selftests/ftrace
# shellcheck disable=SC2034
NOTES=$TOP/MAINTAINERS-notes

# patches: the files of the exported series, in order.
patches() {
	[ -f "$TOP/series" ] || return 0
	sed -e 's/#.*//' -e 's/[[:space:]]*$//' -e '/^$/d' "$TOP/series" |
		while read -r patch; do printf '%s\n' "$TOP/patches/$patch"; done
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

# clone DIR: a git clone of $LINUX without files. It borrows the objects of $LINUX, adds none.
clone() {
	git -C "$LINUX" rev-parse -q --verify 'refs/tags/base^{commit}' >/dev/null 2>&1 ||
		die "no kernel tree at $LINUX: run scripts/base first"
	git clone -q --shared --no-checkout --no-tags "$LINUX" "$1"
	git -C "$1" config user.name ftrace-mux
	git -C "$1" config user.email ftrace-mux@example.invalid
	git -C "$1" config gc.auto 0
	git -C "$1" config commit.gpgsign false
	git -C "$1" config advice.detachedHead false
	git -C "$1" update-ref refs/tags/base "$(git -C "$LINUX" rev-parse 'refs/tags/base^{commit}')"
}

# scratch DIR: a clone with base checked out, but only the directories that the series
# touches and those that make it a kernel tree to the kernel's own scripts: it takes two
# seconds instead of thirty.
scratch() {
	local dirs files
	mapfile -t files < <(patches)
	mapfile -t dirs < <(
		printf '%s\n' Documentation/process include kernel scripts
		[ ${#files[@]} -eq 0 ] ||
			sed -n 's#^[-+]\{3\} [ab]/\(.*\)/[^/]*$#\1#p' "${files[@]}"
	)
	clone "$1"
	git -C "$1" sparse-checkout set --cone "${dirs[@]}"
	git -C "$1" checkout -q -B series base
	(cd "$1" && mkdir -p Documentation arch drivers fs init ipc lib)
}

# apply_am DIR [PATCH...]: the series, or these mails, on top of base in the clone DIR.
apply_am() {
	local tree=$1 files
	shift
	[ $# -gt 0 ] || mapfile -t files < <(patches)
	[ $# -eq 0 ] || files=("$@")
	git -C "$tree" checkout -q -f -B series base
	git -C "$tree" am -q --whitespace=nowarn "${files[@]}" 2>&1 || {
		echo "git am does not apply the series to $(base_version)"
		return 1
	}
}
