# Steps through a call of bench.c's function: what scripts/bench --profile has gdb do. For each case
# prints "case KIND HERE ELSEWHERE", and for one call with interrupts off and one with interrupts on
# "interrupts off" or "on" and its instructions, as they are in memory. QEMU takes no interrupt while it
# steps.

set pagination off
set confirm off
set width 0

# step_call: to the end of the function, wherever its return address is in between
define step_call
	set $caller = *(unsigned long *)$rsp
	set $stack = $rsp + 8
	while $pc != $caller || $rsp != $stack
		x/i $pc
		stepi
	end
end

break *bench_report if $_regex((char *)$rdi, "^((ops 2|(function|function_graph|profiler|graph|untimed|fprobe_exit|kretprobe) 1) 0)$")
break *bench_here
disable 2

# Until the guest is gone
while 1
	continue
	printf "case %s\n", (char *)$rdi
	# The first calls do what later ones do not
	enable 2
	ignore 2 9
	continue
	printf "interrupts off\n"
	step_call
	continue
	disable 2
	printf "interrupts on\n"
	set $eflags = (int)$eflags | 0x200
	step_call
	set $eflags = (int)$eflags & ~0x200
end
