# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the checks.
#
# Sourced, never run. A check prints what it finds on stdout, progress on stderr, and exits
# with 0 or 1. Its last line says how it went.

# shellcheck source=scripts/lib-series.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib-series.sh"

# A check takes no arguments.
[ $# -eq 0 ] || usage

# shellcheck disable=SC2034
SELFTESTS=tools/testing/selftests/ftrace
