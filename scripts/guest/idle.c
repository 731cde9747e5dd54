// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of the kernels that scripts/idle measures. Under -icount the
 * time stamp counter counts instructions.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <unistd.h>
#include <x86intrin.h>

#define READS	20000

int main(void)
{
	unsigned long long boot = __rdtsc(), reads;
	int console, fd, i, missed = 0;
	char c;

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console = open("/dev/console", O_WRONLY);
	fd = open("/init", O_RDONLY);
	/* Twice: the first time takes page faults and the like */
	for (int n = 0; n < 2; n++) {
		reads = __rdtsc();
		for (i = 0; i < READS; i++)
			missed += pread(fd, &c, 1, 0) != 1;
		reads = __rdtsc() - reads;
	}
	if (!missed)
		dprintf(console, "idle: boot %llu\nidle: reads %llu\n", boot, reads);
	reboot(RB_POWER_OFF);
	return 1;
}
