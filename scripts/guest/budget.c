// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of the kernel of scripts/bench --budget: how much work gets done in a
 * second of the guest's time, which under -icount is a number of instructions, while all
 * functions are traced, without and with a limit for the calls of each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRACEFS	"/sys/kernel/tracing/"
#define SECOND	1000000000ULL
/* With a limit: for so long */
#define SECONDS	5

static int console;

static void fail(const char *what)
{
	dprintf(console, "budget: error: %s: %s\n", what, strerror(errno));
	reboot(RB_POWER_OFF);
}

static int try_write(const char *file, const char *text)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), TRACEFS "%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return ret;
}

static void set(const char *file, const char *text)
{
	if (try_write(file, text))
		fail(file);
}

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void run(char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execv(argv[0], argv);
		_exit(1);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail(argv[1]);
}

static void do_fork(void)
{
	run((char *[]) { "/bin/busybox", "true", NULL });
}

static void do_tar(void)
{
	run((char *[]) { "/bin/busybox", "tar", "-cf", "/dev/null", "/tree", NULL });
}

static int pipe_fd, socket_fd;

static void ping(int fd, const char *what)
{
	char c = 0;

	if (write(fd, &c, 1) != 1 || read(fd, &c, 1) != 1)
		fail(what);
}

static void do_pipe(void)
{
	ping(pipe_fd, "pipe");
}

static void do_loopback(void)
{
	ping(socket_fd, "loopback");
}

static struct {
	const char *name;
	void (*once)(void);
} works[] = {
	{ "fork", do_fork },
	{ "tar", do_tar },
	{ "pipe", do_pipe },
	{ "loopback", do_loopback },
};

/* A task that answers, and the socket to it */
static int start_echo(int fd, int peer)
{
	char c;

	if (!fork()) {
		close(fd);
		while (read(peer, &c, 1) == 1 && write(peer, &c, 1) == 1)
			;
		_exit(0);
	}
	close(peer);
	return fd;
}

static void prepare(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(5000),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fds[2], listener, fd, i;
	char path[32], data[4096] = "";

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		fail("socketpair");
	pipe_fd = start_echo(fds[0], fds[1]);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) || bind(listener, (void *)&addr, sizeof(addr)) ||
	    listen(listener, 1) || connect(fd, (void *)&addr, sizeof(addr)))
		fail("loopback");
	socket_fd = start_echo(fd, accept(listener, NULL, NULL));

	mkdir("/tree", 0755);
	for (i = 0; i < 50; i++) {
		snprintf(path, sizeof(path), "/tree/%d", i);
		fd = open(path, O_CREAT | O_WRONLY, 0644);
		if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data))
			fail(path);
		close(fd);
	}
}

/* How often it is done in a second */
static unsigned long measure(void (*once)(void))
{
	unsigned long long end = now() + SECOND;
	unsigned long times = 0;

	do {
		once();
		times++;
	} while (now() < end);

	return times;
}

static int muted(void)
{
	FILE *f = fopen(TRACEFS "muted_functions", "r");
	char line[256];
	int lines = -1;

	while (f && fgets(line, sizeof(line), f))
		lines++;
	if (f)
		fclose(f);
	return lines < 0 ? 0 : lines;
}

static void measure_tracer(const char *name, void (*once)(void), const char *tracer,
			   const char *limit)
{
	unsigned long untraced = measure(once), unlimited;
	char seconds[128] = "";
	int i, len = 0;

	if (try_write("current_tracer", tracer))
		return;
	unlimited = measure(once);
	set("current_tracer", "nop");
	set("max_call_rate", limit);
	set("current_tracer", tracer);
	for (i = 0; i < SECONDS; i++)
		len += snprintf(seconds + len, sizeof(seconds) - len, " %lu", measure(once));
	dprintf(console, "budget: %s %s %s %lu %lu %d%s\n", name, tracer, limit, untraced,
		unlimited, muted(), seconds);
	set("current_tracer", "nop");
	set("max_call_rate", "0");
	set("muted_functions", "\n");
}

int main(void)
{
	static const char * const tracers[] = { "function", "function_graph", "function_stat" };

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console = open("/dev/console", O_WRONLY);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	if (mount("tracefs", TRACEFS, "tracefs", 0, NULL))
		fail(TRACEFS);
	if (access(TRACEFS "max_call_rate", F_OK))
		fail("max_call_rate");
	prepare();
	for (unsigned int w = 0; w < sizeof(works) / sizeof(works[0]); w++) {
		/* Page faults and the like, of the first time */
		measure(works[w].once);
		for (unsigned int t = 0; t < 3; t++) {
			measure_tracer(works[w].name, works[w].once, tracers[t], "10000");
			measure_tracer(works[w].name, works[w].once, tracers[t], "1000");
		}
	}
	dprintf(console, "budget: done\n");
	reboot(RB_POWER_OFF);
	return 1;
}
