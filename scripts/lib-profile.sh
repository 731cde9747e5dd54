# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What scripts/bench --profile does: what one call executes, by function and by purpose.
#
# Sourced, never run. Of the caller: $work, ${names[@]}, the kernels that are measured, $tsv.
# shellcheck disable=SC2154

# What is counted of the instructions, in the order of the columns
counted=(instructions locked flags rdtsc indirect returns)

# step_plugin: builds what QEMU loads to write down instructions.
step_plugin() {
	need gcc gawk
	gcc -O2 -Wall -shared -fPIC -o "$work/steps.so" "$TOP/scripts/guest/steps.c" ||
		die "the plugin of QEMU does not build"
}

# How often each case calls the function with interrupts off, and then on
calls=16

# step NAME BUILT: boots that, and writes "KIND HERE ELSEWHERE INTERRUPTS ADDRESS WHAT TIMES" to
# $work/NAME.calls: what a call executes beyond an untraced one.
step() {
	local name=$1 log=$LOGS/${work##*/}-$1-profile.log machine=("${machine[@]}") func='' from='' to=''
	read -r func from to < <(gawk '
		from && !to { to = $1 }
		$3 == "bench_here" { here = $1 }
		$3 == "bench_profile_call" { from = $1 }
		END { print here, from, to }' "$BUILD_DIR/build/$2/System.map") || true
	[ -n "$to" ] || die "$name was built without what calls the function"
	machine+=(-plugin "$work/steps.so,out=$work/$1.steps,func=$func,from=$from,to=$to")
	progress "$name: stepping"
	# Unless told otherwise, the kernel does without lock prefixes on a single CPU.
	emulate "$log" "$2" bench ftrace_bench.profile=$calls noreplace-smp
	[ -s "$log" ] || die "QEMU: $(head -n 1 "${log%.log}.qemu")"
	grep -q 'ftrace-bench: tracers done' "$log" || die "$name did not get to its end; see $log"
	# Of the calls of each case, one that takes as many instructions as most: others begin a page of the
	# ring buffer, or are interrupted.
	tr -d '\r' <"$log" | gawk -v each=$calls '
		FILENAME == "-" {
			if (/ftrace-bench: profiled /) { sub(/.*profiled /, ""); label[labels++] = $0 }
			next
		}
		/^call/ { calls++; next }
		{ steps[calls]++; text[calls, steps[calls]] = $0 }
		END {
			if (calls != labels * each * 2) { print calls " calls of " labels " cases" >"/dev/stderr"; exit 1 }
			for (i = 0; i < calls / each; i++) {
				delete seen
				most = 0
				for (c = i * each + 1; c <= (i + 1) * each; c++)
					if (++seen[steps[c]] > most) { most = seen[steps[c]]; of = steps[c] }
				for (c = i * each + 1; steps[c] != of; c++) {}
				case_of = label[int(i / 2)] " " (i % 2 ? "on" : "off")
				delete times
				for (s = 1; s <= of; s++) times[text[c, s]]++
				# The first case is that nothing is traced
				if (i < 2) { for (s in times) untraced[i, s] = times[s]; continue }
				for (s in times) if (times[s] - untraced[i % 2, s]) print case_of, s, times[s] - untraced[i % 2, s]
			}
		}' - "$work/$1.steps" >"$work/$1.calls" || die "$name was not stepped through as it should; see $log"
	rm -f "$work/$1.steps"
}

# inlined NAME BUILT: which functions of the source the instructions of $work/NAME.calls are of, "ADDRESS SYMBOL
# FUNCTION...", the innermost first, to $work/NAME.where. The kernel is built without debug information, so
# the objects that matter are compiled once more, with it, to the same code.
inlined() {
	local name=$1 built=$BUILD_DIR/build/$2 dir object command objects=()
	dir=$(mktemp -d "$work/inlined.XXXXXX")
	litter+=("$dir")
	progress "$name: compiling with debug information"
	nm -S -n --defined-only "$built/vmlinux" | grep -i ' [tw] ' >"$dir/symbols"
	# Addresses are below 2^64 by less than 2^32: the lower half of one is enough.
	cut -d' ' -f5 "$work/$name.calls" | sort -u | gawk '
		function low(addr) { return strtonum("0x" substr(addr, 9)) }
		BEGIN { n = labels = 0 }
		FILENAME != "-" {
			if ($NF == "_etext") etext = low($1)
			if (NF == 4) { size[n] = low($2); start[n] = low($1); symbol[n++] = $4 }
			else { at[labels] = low($1); label[labels++] = $3 }
			next
		}
		# The last of table, which has as many entries, that is not behind
		function last(table, entries, addr,  lo, hi, mid) {
			lo = -1; hi = entries
			while (hi - lo > 1) { mid = int((lo + hi) / 2); if (table[mid] <= addr) lo = mid; else hi = mid }
			return lo
		}
		{
			addr = low($1)
			i = last(start, n, addr)
			if (addr >= etext) print $1, "generated"
			else if (i >= 0 && addr < start[i] + size[i]) print $1, symbol[i], addr - start[i], size[i]
			else print $1, label[last(at, labels, addr)]
		}' "$dir/symbols" - >"$dir/at"
	mapfile -t objects < <(cd "$built" && find arch kernel lib mm samples -name '*.o' -exec nm -A -S --defined-only {} + 2>/dev/null |
		gawk 'FILENAME != "-" { if (NF == 4) wanted[$2] = 1; next }
			$3 ~ /^[tTwW]$/ && $4 in wanted { sub(/:.*/, "", $1); print $1 }' "$dir/at" - | sort -u)
	for object in "${objects[@]}"; do
		# shellcheck disable=SC2016
		command=$(sed -n '1{s/^[^=]*= *//; s/ ; .*//; s/\$(pound)/#/g; s/-Wp,-MMD,[^ ]*//p}' \
			"$built/${object%/*}/.${object##*/}.cmd")
		[[ $command = *.c\ * || $command = *.c ]] || continue
		run bash -c "cd '$built' && ${command/ -o $object / -g1 -o $dir/${object//\//_} }" ||
			die "$object does not compile with debug information"
	done
	# Where they all lie, and what they lack, does not matter.
	ld -o "$dir/all" --noinhibit-exec --unresolved-symbols=ignore-all -z muldefs -e 0 "$dir"/*.o 2>/dev/null ||
		die "the objects with debug information do not link"
	nm -S --defined-only "$dir/all" | gawk '
		FILENAME == "-" { if (NF == 4) { start[$4] = strtonum("0x" $1); size[$4] = strtonum("0x" $2) } next }
		NF == 4 && $2 in start {
			if (size[$2] != $4) { print $2 " is compiled otherwise" >"/dev/stderr"; exit 1 }
			printf "%x %s %s\n", start[$2] + $3, $1, $2
		}' - "$dir/at" >"$dir/there" || die "$name: debug information would be of other code"
	cut -d' ' -f1 "$dir/there" | addr2line -e "$dir/all" -a -i -f | gawk '
		FILENAME == there { to[NR] = $2; symbol[$2] = $3; next }
		FILENAME == at { if (!(($1) in symbol)) print $1, $2, $2; next }
		/^0x/ { if (line) print line; line = to[++i] " " symbol[to[i]]; odd = 0; next }
		++odd % 2 { line = line " " $1 }
		END { if (line) print line }' there="$dir/there" at="$dir/at" "$dir/there" "$dir/at" - >"$work/$name.where"
	rm -rf "$dir"
}

# purposes NAME: $work/NAME.profile, "KIND HERE ELSEWHERE INTERRUPTS PURPOSE SYMBOL COUNT...", of both.
purposes() {
	gawk '
		FILENAME == ARGV[1] { if (/^[a-z]/) { purpose[++n] = $1; is[n] = $2 } next }
		FILENAME == ARGV[2] {
			p = "other"
			for (f = 3; f <= NF && p == "other"; f++) {
				sub(/\.(isra|part|constprop|cold).*/, "", $f)
				for (i = 1; i <= n; i++) if ($f ~ "^(" is[i] ")$") { p = purpose[i]; break }
			}
			of[$1] = p " " $2
			next
		}
		{
			row = $1 " " $2 " " $3 " " $4 " " of[$5]
			if (!(row in instructions)) order[++rows] = row
			instructions[row] += $7
			count[row, $6] += $7
		}
		END {
			for (i = 1; i <= rows; i++) {
				row = order[i]
				print row, instructions[row], count[row, "l"] + 0, count[row, "f"] + 0, count[row, "t"] + 0,
					count[row, "i"] + 0, count[row, "r"] + 0
			}
		}' "$TOP/configs/bench.purposes" "$work/$1.where" "$work/$1.calls" >"$work/$1.profile"
}

# profile NAME BUILT: all three.
profile() {
	step "$@"
	inlined "$@"
	purposes "$1"
}

# profile_table ABOUT: prints what was measured of each of ${names[@]} by purpose, a table for each tracer, or two if
# interrupts matter. Writes it as TSV to $tsv, after a line that says ABOUT, and the functions of each purpose to
# $LOGS/bench-NAME.functions.
profile_table() {
	local name
	for name in "${names[@]}"; do
		sort -k1,5 -k7,7nr "$work/$name.profile" | gawk -v counted="${counted[*]}" '
			BEGIN { gsub(" ", "\t", counted) }
			$1 " " $2 " " $3 " " $4 != tracer {
				tracer = $1 " " $2 " " $3 " " $4
				printf "%s%s %d here, %d elsewhere, interrupts %s\n%s\n", (NR > 1 ? "\n" : ""), $1, $2, $3, $4, counted
			}
			{ printf "%d\t%d\t%d\t%d\t%d\t%d\t%s: %s\n", $7, $8, $9, $10, $11, $12, $5, $6 }' \
			>"$LOGS/${work##*/}-$name.functions"
	done
	(cd "$work" && gawk -v tsv="$tsv" -v about="$1" -v counted="${counted[*]}" -v names="${names[*]}" '
		function cell(row, purpose, k,  v) {
			v = (row, k) in have ? sum[row, purpose, k] + 0 : "-"
			printf " %10s", v
			printf "\t%s", v >tsv
		}
		function lines(row, shown,  part, w, k, any) {
			split(row, part, " ")
			printf "\n%-33s", part[1] " " part[2] (shown == "any" ? "" : ", interrupts " shown)
			for (k = 1; k <= kernels; k++) printf " %10s", name[k]
			print ""
			for (w = 1; w <= whats; w++) {
				any = w > purposes
				for (k = 1; k <= kernels; k++) if (sum[row, what[w], k]) any = 1
				if (!any) continue
				printf "%-33s", "  " what[w]
				printf "%s\t%d\t%d\t%s\t%s", part[1], part[2], part[3], shown, what[w] >tsv
				for (k = 1; k <= kernels; k++) cell(row, what[w], k)
				print ""
				print "" >tsv
			}
		}
		BEGIN {
			kernels = split(names, name, " ")
			printf "# %s\nkind\there\telsewhere\tinterrupts\twhat", about >tsv
			for (k = 1; k <= kernels; k++) printf "\t%s", name[k] >tsv
			print "" >tsv
		}
		FILENAME == ARGV[1] {
			if (/^[a-z]/ && !known[$1]++) what[++purposes] = $1
			next
		}
		FNR == 1 { kernel++ }
		{
			row = $1 " " $2 " " $3
			if (!seen[row]++) order[++rows] = row
			row = row " " $4
			have[row, kernel] = 1
			sum[row, $5, kernel] += $7
			split(counted, of, " ")
			for (i in of) sum[row, of[i], kernel] += $(6 + i)
		}
		END {
			what[++purposes] = "other"
			whats = purposes
			n = split(counted, of, " ")
			for (i = 1; i <= n; i++) what[++whats] = of[i]
			for (r = 1; r <= rows; r++) {
				same = 1
				for (w = 1; w <= whats; w++)
					for (k = 1; k <= kernels; k++)
						if (sum[order[r] " on", what[w], k] + 0 != sum[order[r] " off", what[w], k] + 0) same = 0
				if (same) { lines(order[r] " off", "any"); continue }
				lines(order[r] " off", "off")
				lines(order[r] " on", "on")
			}
		}' "$TOP/configs/bench.purposes" "${names[@]/%/.profile}")
	printf "\nfunctions of each purpose: %s\n" "${LOGS#"$TOP/"}/${work##*/}-*.functions"
}

# profile_keep: the TSV, and of what profile_table printed, which is on stdin, the table of function_graph with
# interrupts on, to MAINTAINERS-notes.
profile_keep() {
	local notes=$TOP/MAINTAINERS-notes
	cp "$tsv" "$notes/profile.tsv"
	gawk '
		FILENAME == "-" {
			if (/^function_graph 1(, interrupts on)? /) wanted = 1
			if (wanted && NF) table = table "    " $0 "\n"
			else wanted = 0
			next
		}
		/^<!-- scripts\/bench --profile --plot/ { printf "%s\n\n%s\n", $0, table; inside = 1 }
		/^<!-- to here -->/ { inside = 0 }
		!inside' - "$notes/performance.md" >"$work/performance.md"
	cp "$work/performance.md" "$notes/performance.md"
}

# profile_check: fails unless the series keeps to configs/profile.bounds.
profile_check() {
	grep -q "^${TARGET}[[:space:]]" "$TOP/configs/profile.bounds" || die "configs/profile.bounds has none for $TARGET"
	gawk -v target="$TARGET" '
		BEGIN { column["locked"] = 5; column["flags"] = 6; column["rdtsc"] = 7 }
		FILENAME == ARGV[1] {
			if ($1 != target) next
			rows[++n] = $2 " " $3 " " $4
			for (what in column) bound[rows[n], what] = $column[what]
			next
		}
		$5 in column {
			row = $1 " " $2 " " $3
			if (!((row, $5) in bound)) { printf "%s: there is no bound\n", row; bad = 1 }
			else if ($NF > bound[row, $5]) {
				printf "%s, interrupts %s: %s %s, the bound is %d\n", row, $4, $NF, $5, bound[row, $5]
				bad = 1
			}
			if ($NF != "-") measured[row] = 1
		}
		END {
			for (i = 1; i <= n; i++) if (!(rows[i] in measured)) { printf "%s: not measured\n", rows[i]; bad = 1 }
			exit bad
		}' "$TOP/configs/profile.bounds" "$tsv" >&2 || die "a bound does not hold"
	say "the bounds hold"
}
