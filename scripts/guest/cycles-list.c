// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list function of ftrace, as a program of user space: what scripts/cycles measures beside the
 * trampolines of cycles.S. Compiled with and without retpolines and return thunks.
 */
#include <stdbool.h>
#include <stddef.h>

struct entry {
	struct entry	*next;
	unsigned long	ip;
};

struct hash {
	unsigned long	bits;
	struct entry	**buckets;
	unsigned long	count;
	unsigned long	flags;
};

struct ops_hash {
	struct hash	*notrace;
	struct hash	*filter;
	/* In place of a mutex: the copy on the stack is zeroed as a whole */
	unsigned long	lock[4];
};

/* The offsets are those of cycles.S */
struct ops {
	void		(*func)(unsigned long ip, unsigned long parent_ip,
				struct ops *op, void *regs);
	unsigned long	weight;
	unsigned long	flags;
	struct ops	*next;
	struct ops_hash	*func_hash;
	unsigned long	pad;
};

_Static_assert(offsetof(struct ops, weight) == 8 && sizeof(struct ops) == 48,
	       "cycles.S has another struct ops");

enum { STUB = 1, NEEDS_RCU = 2, SAVES_REGS = 4 };
enum { NR_LISTED = 16 };

void callback(unsigned long ip, unsigned long parent_ip, struct ops *op,
	      void *regs);
void list_2(void);
void list_8(void);
void list_16(void);

/* Weights 1, 2, 4, ... */
struct ops set_ops[8];

/* What the kernel has for each task and CPU */
static volatile unsigned long recursion;
static volatile unsigned int preempt_count;
static volatile unsigned int watching = 1;

static __attribute__((noipa)) bool is_watching(void)
{
	bool ret;

	preempt_count++;
	ret = watching & 1;
	preempt_count--;

	return ret;
}

static bool lookup(struct hash *hash, unsigned long ip)
{
	unsigned long key = 0;
	struct entry *entry;

	if (hash->bits)
		key = ip * 0x61c8864680b583ebUL >> (64 - hash->bits);
	for (entry = hash->buckets[key]; entry; entry = entry->next) {
		if (entry->ip == ip)
			return true;
	}

	return false;
}

static bool empty(struct hash *hash)
{
	return !hash || !(hash->count || (hash->flags & 1));
}

static __attribute__((noipa))
bool contains(unsigned long ip, struct ops_hash *hash)
{
	return (empty(hash->filter) || lookup(hash->filter, ip)) &&
	       (empty(hash->notrace) || !lookup(hash->notrace, ip));
}

/* ftrace_ops_test() */
static inline bool wants(struct ops *op, unsigned long ip, void *regs)
{
	struct ops_hash hash;

	if (!regs && (op->flags & SAVES_REGS))
		return false;
	*(struct hash *volatile *)&hash.filter = op->func_hash->filter;
	*(struct hash *volatile *)&hash.notrace = op->func_hash->notrace;

	return contains(ip, &hash);
}

/* __ftrace_ops_list_func() */
void list_func(unsigned long ip, unsigned long parent_ip, struct ops *op,
	       void *regs)
{
	unsigned int context = preempt_count;
	unsigned int bit = 1;

	bit += !!(context & 0xf00000);
	bit += !!(context & 0xff0000);
	bit += !!(context & 0xff0100);
	if (recursion & 1UL << bit)
		return;
	recursion |= 1UL << bit;
	preempt_count++;

	for (; op; op = *(struct ops *volatile *)&op->next) {
		if (op->flags & STUB)
			continue;
		if ((op->flags & NEEDS_RCU) && !is_watching())
			continue;
		if (!wants(op, ip, regs))
			continue;
		op->func(ip, parent_ip, op, regs);
	}

	preempt_count--;
	recursion &= ~(1UL << bit);
}

/* A list: each ops with filters of its own, of two buckets and one function */
struct list {
	struct ops	ops[NR_LISTED];
	struct ops_hash	func_hash[NR_LISTED];
	struct hash	filter[NR_LISTED], notrace[NR_LISTED];
	struct entry	*buckets[NR_LISTED][2], *nothing[NR_LISTED][2];
	struct entry	entry[NR_LISTED];
};

static struct list lists[3];
struct ops *list_2_op = lists[0].ops;
struct ops *list_8_op = lists[1].ops;
struct ops *list_16_op = lists[2].ops;

/* The first @matches of @nr ops trace @func, the others something else */
static void setup_list(struct list *list, unsigned int nr, unsigned int matches,
		       void (*func)(void))
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct entry *entry = &list->entry[i];
		unsigned long key;

		entry->ip = (unsigned long)func + (i < matches ? 0 : 1);
		key = entry->ip * 0x61c8864680b583ebUL >> 63;
		list->buckets[i][key] = entry;
		list->filter[i] = (struct hash){ 1, list->buckets[i], 1, 0 };
		list->notrace[i] = (struct hash){ 1, list->nothing[i], 0, 0 };
		list->func_hash[i].filter = &list->filter[i];
		list->func_hash[i].notrace = &list->notrace[i];
		list->ops[i].func = callback;
		list->ops[i].weight = 1UL << i;
		list->ops[i].func_hash = &list->func_hash[i];
		list->ops[i].next = i + 1 < nr ? &list->ops[i + 1] : NULL;
	}
}

void setup(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		set_ops[i].func = callback;
		set_ops[i].weight = 1UL << i;
	}
	setup_list(&lists[0], 2, 2, list_2);
	setup_list(&lists[1], 8, 8, list_8);
	setup_list(&lists[2], 16, 2, list_16);
}
