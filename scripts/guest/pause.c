// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaves the host's thread to the next CPU of the guest, again and again, until it is killed.
 *
 * With -icount, QEMU 7.2 gives a CPU all the time until the next timer, and nothing to the others, unless
 * it halts or executes "pause". A CPU of 6.1 that waits for another one to come up does neither: it calls
 * schedule() in a loop. With this beside it, schedule() has something to run.
 */

int main(void)
{
	for (;;)
		__builtin_ia32_pause();
}
