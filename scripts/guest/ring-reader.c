// SPDX-License-Identifier: GPL-2.0-only
/*
 * usage: ring-reader read|splice|mmap DIR CPU SECONDS [gaps]
 *
 * Consumes the pages of a CPU's trace buffer in that way, DIR being an instance, while events are
 * written, and checks that they parse and that times do not go backwards. With "gaps", only within
 * pages: a snapshot that is taken meanwhile swaps older pages in. Prints what it has seen in one line.
 * Exit status: 1 if something is wrong or nothing was there, 4 if the kernel does not offer the way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAGE	65536
#define HEADER		16	/* time stamp and commit, see events/header_page */
#define COMMIT_SIZE	0xfffff
#define COMMIT_MISSED	(1u << 31)
#define GET_READER	_IO('R', 0x20)

/* struct trace_buffer_meta of the kernel */
struct meta {
	uint32_t page_size, struct_len, subbuf_size, nr_subbufs;
	struct {
		uint64_t lost_events;
		uint32_t id, read;
	} reader;
};

static uint64_t last, pages, events, extends, stamps, missed, backwards, bad;
static bool gaps;
static unsigned char buf[MAX_PAGE];
static unsigned int page_size;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t word(const unsigned char *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static void check_page(const unsigned char *page)
{
	const unsigned char *data = page + HEADER;
	uint64_t time = word(page) | (uint64_t)word(page + 4) << 32;
	uint32_t commit = word(page + 8), size = commit & COMMIT_SIZE, at = 0;

	if (commit & COMMIT_MISSED)
		missed++;
	if (size > page_size - HEADER) {
		bad++;
		return;
	}
	pages++;
	if (gaps)
		last = 0;

	while (at + 4 <= size) {
		uint32_t type = word(data + at) & 31, delta = word(data + at) >> 5;
		/* All but the smallest events have a second word */
		uint32_t second = at + 8 <= size ? word(data + at + 4) : 0;

		if (second > MAX_PAGE && (type == 29 || !type))
			break;

		switch (type) {
		case 29:	/* padding, with no delta until the end of the page */
			if (!delta)
				return;
			at += 4 + second;
			continue;
		case 30:	/* time extend */
			time += delta + ((uint64_t)second << 27);
			at += 8;
			extends++;
			continue;
		case 31:	/* absolute time, without the upper five bits */
			time = (time & 0xf8ull << 56) | (delta + ((uint64_t)second << 27));
			at += 8;
			stamps++;
			continue;
		}
		time += delta;
		at += 4 + (type ? type * 4 : second);
		events++;
		if (time < last)
			backwards++;
		last = time;
	}
	if (at != size)
		bad++;
}

static bool again(ssize_t n)
{
	if (n > 0)
		return false;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		die("read");
	usleep(1000);
	return true;
}

static void do_read(int fd)
{
	if (!again(read(fd, buf, page_size)))
		check_page(buf);
}

static void do_splice(int fd)
{
	static int ends[2];
	ssize_t n;

	if (!ends[1] && (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 16 * page_size) < 0))
		die("pipe");

	n = splice(fd, NULL, ends[1], NULL, 16 * page_size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
	if (again(n))
		return;
	for (; n > 0; n -= page_size) {
		for (unsigned int got = 0; got < page_size;) {
			ssize_t more = read(ends[0], buf + got, page_size - got);

			if (more <= 0)
				die("read from the pipe");
			got += more;
		}
		check_page(buf);
	}
}

static void do_mmap(int fd)
{
	static uint32_t id = -1;
	static struct meta *meta;
	static unsigned char *data;

	if (!meta) {
		meta = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
		if (meta == MAP_FAILED && (errno == ENODEV || errno == EINVAL))
			exit(4);
		if (meta == MAP_FAILED)
			die("mmap");
		page_size = meta->subbuf_size;
		data = mmap(NULL, (size_t)meta->nr_subbufs * page_size, PROT_READ, MAP_SHARED, fd, meta->page_size);
		if (data == MAP_FAILED)
			die("mmap of the pages");
	}
	if (again(ioctl(fd, GET_READER) < 0 ? -1 : 1) || meta->reader.id == id)
		return;
	id = meta->reader.id;
	/* Writers may still be there: what they add is not looked at */
	memcpy(buf, data + (size_t)id * page_size, page_size);
	check_page(buf);
}

int main(int argc, char **argv)
{
	void (*consume)(int fd);
	char name[256];
	time_t end;
	int fd;

	if (argc < 5)
		return 2;
	consume = !strcmp(argv[1], "mmap") ? do_mmap : !strcmp(argv[1], "splice") ? do_splice : do_read;
	gaps = argc > 5;
	page_size = getpagesize();
	snprintf(name, sizeof(name), "%s/per_cpu/cpu%s/trace_pipe_raw", argv[2], argv[3]);
	fd = open(name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		die(name);

	end = time(NULL) + atoi(argv[4]);
	while (time(NULL) < end)
		consume(fd);

	printf("%s cpu%s: %lu pages, %lu events, %lu extends, %lu stamps, %lu missed, %lu backwards, %lu bad\n",
	       argv[1], argv[3], pages, events, extends, stamps, missed, backwards, bad);
	return backwards || bad || !events;
}
