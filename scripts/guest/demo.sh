#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In the guest: three function_graph tracers, the function profiler and, where the kernel has it,
# function_stat at once, each told to look at something else, over the same short piece of work.
# Prints what each of them saw.
#
# usage: demo.sh [WIDTH]   (columns of the terminal: side by side from 96, else one by one)
#
# Fails when one of them was refused or saw nothing.

width=${1:-100}
[ "$width" -le 120 ] || width=120
[ "$width" -ge 40 ] || width=40
cd /sys/kernel/tracing || exit

# What opens files has another name in 7.3.
opens=$(grep -xm 1 -e do_filp_open -e do_file_open available_filter_functions) || exit

# Who looks at what: directory, root function, depth, in words.
views=(
	".               $opens 4 opening files"
	'instances/io    vfs_read     4 reading files'
	'instances/tasks kernel_clone 2 making processes'
)
lines=24
said=()
status=0

# tell NAME FILE VALUE: what a user would echo into tracefs; a refusal is kept to be shown.
tell() {
	local error
	error=$({ printf '%s\n' "$3" >"$2"; } 2>&1) && return 0
	said+=("$1: echo $3 > $2: ${error##*: }")
	status=1
	return 1
}

work() {
	for file in /proc/version /proc/loadavg /proc/uptime; do
		cat "$file" >/dev/null
	done
}

# column N: headline and trace of view N, as narrow as a column.
column() {
	local dir root depth words
	read -r dir root depth words <<<"${views[$1]}"
	printf '%s: %s\n' "${dir/#./top level}" "$words"
	printf 'graph of %s, depth %s\n' "$root" "$depth"
	printf '%*s\n' "$each" '' | tr ' ' -
	# The newest complete call of the root function, without CPU and overhead marks.
	awk -F'|' -v root="$root" -v lines="$lines" '
		!/^#/ && /\|/ {
			time = $1
			sub(/^ *[0-9]+\)/, "", time); gsub(/[^0-9.]/, "", time)
			text = substr($0, index($0, "|") + 3)
			sub(/ *\/\*.*/, "", text)
			# 7.3 and 6.12 indent by the calls that others trace, too.
			if (text ~ "^ *" root "\\(\\)") { match(text, /^ */); indent = RLENGTH; open = 1; n = 0 }
			text = substr(text, indent + 1)
			if (open)
				call[++n] = sprintf("%7s %s", time, text)
			if (open && text ~ /^}/) {
				open = 0; kept = n
				for (i = 1; i <= n; i++)
					keep[i] = call[i]
			}
		}
		END {
			if (!kept) {
				print "(no call seen)"
				exit
			}
			for (i = 1; i <= kept && i <= lines; i++)
				print keep[i]
			if (kept > lines)
				printf "%7s ... %d more lines\n", "", kept - lines
		}' "$dir/trace"
}

# Set up, tracing nothing yet.
for view in "${views[@]}"; do
	read -r dir root depth words <<<"$view"
	[ "$dir" = . ] || mkdir -p "$dir" || exit
	echo 0 >"$dir/tracing_on"
	if tell "${dir/#./top level}" "$dir/current_tracer" function_graph; then
		tell "${dir/#./top level}" "$dir/set_graph_function" "$root"
		tell "${dir/#./top level}" "$dir/max_graph_depth" "$depth"
	fi
done
tell 'function profiler' function_profile_enabled 1
stat=/dev/null
if grep -qw function_stat available_tracers; then
	stat=instances/stat
	mkdir -p $stat || exit
	echo 0 >$stat/tracing_on
	tell $stat $stat/set_ftrace_filter 'vfs_* shmem_*'
	tell $stat $stat/current_tracer function_stat
fi

# Opened beforehand, or switching them would be part of what is seen.
exec 5>tracing_on 6>instances/io/tracing_on 7>instances/tasks/tracing_on 8>"${stat/%stat/stat/tracing_on}"
for fd in 5 6 7 8; do echo 1 >&$fd; done
work
for fd in 5 6 7 8; do echo 0 >&$fd; done
exec 5>&- 6>&- 7>&- 8>&-

echo "$(uname -sr): three times cat, and four function graph users asked to look at it (times in us)."
echo '"graph of F, depth N": it has F in its set_graph_function and N in its max_graph_depth.'
echo
columns=1
[ "$width" -lt 96 ] || columns=3
each=$(((width - 3 * (columns - 1)) / columns))
out=$(mktemp -d)
for n in "${!views[@]}"; do
	column "$n" | expand | cut -c "1-$each" >"$out/$n"
	! grep -q 'no call seen' "$out/$n" || status=1
done
if [ "$columns" -eq 3 ]; then
	paste "$out/0" "$out/1" "$out/2" |
		awk -F '\t' -v w="$each" '{ line = sprintf("%-" w "s | %-" w "s | %s", $1, $2, $3)
			sub(/ +$/, "", line); print line }'
else
	for n in "${!views[@]}"; do
		cat "$out/$n"
		echo
	done
fi

echo
echo "function profiler: what was called most, and how long it took in all"
printf '%*s\n' "$width" '' | tr ' ' -
if [ "$(cat function_profile_enabled)" = 1 ]; then
	echo 0 >function_profile_enabled
	cat trace_stat/function* | awk '
		$2 ~ /^[0-9]+$/ { hits[$1] += $2; us[$1] += $3 }
		END { for (f in hits) printf "%8d calls %12.1f us  %s\n", hits[f], us[f], f }' |
		sort -k1,1nr -k5 | head -n 6 >"$out/profile"
	[ -s "$out/profile" ] || status=1
	cat "$out/profile"
else
	echo "(not running)"
fi

if [ $stat != /dev/null ]; then
	echo
	echo 'function_stat in instances/stat, functions vfs_* and shmem_*: what took longest'
	printf '%*s\n' "$width" '' | tr ' ' -
	awk '/^# *CALLS/ || !/^#/ { sub(/^#/, " ")
		printf "%7s %13s %12s %9s %9s %12s %9s  %s\n", $1, $3, $4, $5, $6, $7, $8, $9 }' $stat/trace |
		head -n 7 | cut -c "1-$width" >"$out/stat"
	[ "$(wc -l <"$out/stat")" -gt 1 ] || status=1
	cat "$out/stat"
	echo nop >$stat/current_tracer
	rmdir $stat
fi

for view in "${views[@]}"; do
	dir=${view%% *}
	echo nop >"$dir/current_tracer"
	[ ! -e "$dir/set_graph_function" ] || echo >"$dir/set_graph_function"
	[ ! -e "$dir/max_graph_depth" ] || echo 0 >"$dir/max_graph_depth"
	[ "$dir" = . ] || rmdir "$dir"
done
echo 1 >tracing_on
rm -rf "$out"

if [ ${#said[@]} -gt 0 ]; then
	echo
	echo "This kernel refused:"
	printf '    %s\n' "${said[@]}"
fi
exit $status
