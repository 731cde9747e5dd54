# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Shared by the scripts that measure: guests in which a nanosecond is an instruction.
#
# Sourced, never run.

# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# machine_of ARCH NAME: sets $arch, $machine, $image and $console, and makes $work, where what is
# measured lies: $BUILD_DIR/NAME, with the architecture if it is not x86.
# shellcheck disable=SC2034
machine_of() {
	arch=$1 work=$BUILD_DIR/$2
	case $1 in
	x86)
		need qemu-system-x86 cpio
		machine=(qemu-system-x86_64 -M q35) image=arch/x86/boot/bzImage console='ttyS0 tsc=reliable'
		;;
	arm64)
		need qemu-system-arm cpio
		machine=(qemu-system-aarch64 -M virt) image=arch/arm64/boot/Image console=ttyAMA0
		work+=-arm64
		;;
	*) usage ;;
	esac
	mkdir -p "$work"
}

# initrd INIT FILE...: INIT, a script of scripts/guest or a C program, the FILEs and busybox, to $work/INIT.cpio.
initrd() {
	local root=$work/root
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys}
	# The guest's own, which is static, too
	(cd "$root" && cpio -i --quiet bin/busybox) <"$("$TOP/scripts/rootfs" --arch "$arch")"
	if [ -f "$TOP/scripts/guest/$1.c" ] && [ ! -f "$TOP/scripts/guest/$1.sh" ]; then
		need gcc libc6-dev
		gcc -O2 -Wall -static -o "$root/init" "$TOP/scripts/guest/$1.c"
	else
		cp "$TOP/scripts/guest/$1.sh" "$root/init"
	fi
	[ $# -eq 1 ] || cp "${@:2}" "$root/"
	(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$work/$1.cpio"
	rm -rf "$root"
}

# module_of_functions BUILD: a module with functions to trace, to $work/module/changes.ko.
module_of_functions() {
	local dir=$work/module i
	rm -rf "$dir"
	mkdir "$dir"
	{
		echo '#include <linux/module.h>'
		for ((i = 0; i < 200; i++)); do
			echo "void changes_$i(void); void changes_$i(void) { asm volatile(\"\" : : \"i\" ($i)); }"
		done
		echo 'MODULE_LICENSE("GPL");'
	} >"$dir/changes.c"
	echo 'obj-m := changes.o' >"$dir/Makefile"
	run make -C "$(cat "$BUILD_DIR/build/$1/.tree")" "O=$BUILD_DIR/build/$1" "M=$dir" ARCH=x86_64 modules \
		>"$LOGS/module.build" 2>&1 || die "the module does not build; see $LOGS/module.build"
}

# The guest's CPUs, of which one runs at a time, its memory, and how many seconds it may take
cpus=1 memory=1G longest=5400

# emulate LOG BUILD INIT ARG...: boots that, time is instructions, until it goes down.
emulate() {
	rm -f "$1"
	timeout --foreground "$longest" "${machine[@]}" -cpu max -accel tcg,thread=single -icount shift=0,sleep=off \
		-smp "$cpus" -m "$memory" -nodefaults -display none -no-reboot -kernel "$BUILD_DIR/build/$2/$image" \
		-initrd "$work/$3.cpio" -serial "file:$1" -rtc base=2000-01-01,clock=vm \
		-append "console=$console norandmaps nokaslr panic=-1 ${*:4}" >"${1%.log}.qemu" 2>&1 || true
}

# budget: what scripts/guest/budget.c measures, as a table
budget() {
	local log=$LOGS/bench-budget.log
	[ -f "$BUILD_DIR/build/normal/$image" ] || die 'no kernel "normal": run scripts/build normal first'
	initrd budget
	progress 'measuring what is done in a second'
	emulate "$log" normal budget 'ftrace=nop kunit.enable=0 quiet'
	progress_end
	tr -d '\r' <"$log" | sed -n 's/^budget: //p' >"$work/budget"
	grep -qx 'done' "$work/budget" || die "$(grep '^error' "$work/budget" || echo 'did not get to its end'); see $log"
	awk 'BEGIN {
			printf "%-9s %-15s %6s %9s %10s %6s   %s\n", "", "tracer", "limit", "untraced", "no limit", "muted", "of untraced, in each second"
		}
		NF > 6 {
			printf "%-9s %-15s %6d %9d %8.1f %% %6d  ", $1, $2, $3, $4, $5 * 100 / $4, $6
			for (i = 7; i <= NF; i++) {
				printf " %5.1f %%", $i * 100 / $4
				slow = slow || (i > 7 && $i < .9 * $4)
			}
			print ""
		}
		END { exit slow }' "$work/budget" || die 'not within 10 % of the untraced speed after a second'
}
