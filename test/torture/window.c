/* SPDX-License-Identifier: MIT */
/*
 * window.c - window MODE COUNT: one event of 3,000 sites, enabled and disabled COUNT times by a
 * callback while two threads run through them. After each change, every site and every byte between
 * sites is checked, and no code may be writable.
 *
 *   plain    no restriction
 *   narrow   writing a single site is refused: only the window works
 *   denied   text can never be made writable (as SELinux or systemd may enforce)
 *   copying  the call that copies into the window is refused
 *   meddled  a thread continuously makes the text read-only again
 *   fork     children are forked in the middle of a change, and change it themselves
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <waymark/tracepoint.h>

#define SITES 3000

WAYMARK_EVENT(torture, many, WAYMARK_ARGS(int, a), WAYMARK_FIELDS((i32, a, a)));

static volatile int stop;
static uint64_t passed[2][8];
static struct {
	unsigned char *start, *copy;
	size_t bytes;
} text;

/*
 * The sites are written by hand, each with its own target, because sites of real events would take
 * minutes to compile. Each is followed by three bytes that must not change.
 */
static __attribute__((noinline, noclone)) uint64_t many(void)
{
	uint64_t hits = 0;

	__asm__ volatile(".rept %c[sites]\n"
			 "771:\t.byte 0xa9\n\t.long 772f - . - 4\n"
			 "773:\tnopl (%%rax)\n"
			 ".pushsection waymark_sites,\"aR?\",@progbits\n\t.balign 4\n"
			 "\t.long 771b - ., 772f - ., %c[desc] - ., %c[event] - .\n.popsection\n"
			 ".subsection 1\n772:\tincq %[hits]\n\tjmp 773b\n.previous\n"
			 ".endr"
			 : [hits] "+r"(hits)
			 : [sites] "i"(SITES), [desc] "i"(&waymark_desc__torture__many),
			   [event] "i"(&waymark_event__torture__many)
			 : "cc");
	return hits;
}

static void *run(void *mine)
{
	while (!stop) {
		(void)many();
		__atomic_fetch_add((uint64_t *)mine, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void callback(void *data, int a)
{
	(void)data;
	(void)a;
}

static void fail(const char *what, unsigned long n)
{
	fprintf(stderr, "window: %s (%lu)\n", what, n);
	_exit(1);
}

/* Saves the code around the sites while they are off. */
static void remember_text(void)
{
	const struct waymark_site *first = waymark_module.sites,
				  *last = waymark_module.sites_end - 1;
	uintptr_t from = (uintptr_t)&first->insn + (uintptr_t)(intptr_t)first->insn;
	uintptr_t to = (uintptr_t)&last->insn + (uintptr_t)(intptr_t)last->insn;

	text.start = (unsigned char *)(from & ~4095ul);
	text.bytes = ((to + 4096) & ~4095ul) - (from & ~4095ul);
	text.copy = malloc(text.bytes);
	memcpy(text.copy, text.start, text.bytes);
}

static void check_bytes(bool on)
{
	const struct waymark_site *s = waymark_module.sites;
	unsigned char *expected = malloc(text.bytes);
	size_t nr = 0;

	memcpy(expected, text.copy, text.bytes);
	for (; s < waymark_module.sites_end; s++, nr++) {
		uintptr_t at = (uintptr_t)&s->insn + (uintptr_t)(intptr_t)s->insn;
		if (*(unsigned char *)at != (on ? 0xe9 : 0xa9))
			fail(on ? "a site is off" : "a site is on", nr);
		expected[at - (uintptr_t)text.start] = on ? 0xe9 : 0xa9;
	}
	if (nr != SITES)
		fail("number of sites", nr);
	if (memcmp(expected, text.start, text.bytes))
		fail("text outside of the sites was changed", 0);
	free(expected);
}

static void check_protection(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[600];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " rwx"))
			fail("writable text", 0);
	if (!f || fclose(f))
		fail("/proc/self/maps", 0);
}

static void change(bool on)
{
	int err = on ? waymark_probe_register(torture, many, callback, NULL)
		     : waymark_probe_unregister(torture, many, callback, NULL);
	uint64_t hits;

	if (err)
		fail("registering", (unsigned long)-err);
	check_bytes(on);
	hits = many();
	if (hits != (on ? SITES : 0))
		fail("number of sites that jump", hits);
}

/*
 * Makes one system call fail from now on: always, or when an argument has this value (or these
 * bits).
 */
static void refuse(long call, unsigned argument, uint16_t test, uint32_t value)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[argument])),
	    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, test == BPF_JSET ? value : ~0u),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1 /* EPERM */),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		fail("seccomp", 0);
}

static void *meddle(void *none)
{
	while (!stop)
		mprotect(text.start, text.bytes, PROT_READ | PROT_EXEC);
	return none;
}

static void *beget(void *none)
{
	while (!stop) {
		pid_t pid = fork();
		int status = -1;

		if (pid == 0) {
			/* The child does not know at which step of the change the parent was. */
			(void)waymark_probe_unregister(torture, many, callback, NULL);
			check_protection();
			change(true);
			change(false);
			check_protection();
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fail("a child", (unsigned long)status);
		__atomic_fetch_add((uint64_t *)none, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	int count = argc > 2 ? atoi(argv[2]) : 100;
	pthread_t thread[3];
	uint64_t children = 0;

	remember_text();
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, run, passed[i]);
	if (!strcmp(mode, "narrow")) {
		change(true); /* selects the method of writing code, once */
		change(false);
		refuse(SYS_pwrite64, 2, BPF_JEQ, 1);
	} else if (!strcmp(mode, "denied")) {
		refuse(SYS_mprotect, 2, BPF_JSET, PROT_WRITE | PROT_EXEC);
	} else if (!strcmp(mode, "copying")) {
		refuse(SYS_process_vm_readv, 1, BPF_JSET, 0);
	} else if (!strcmp(mode, "meddled")) {
		pthread_create(&thread[2], NULL, meddle, NULL);
	} else if (!strcmp(mode, "fork")) {
		pthread_create(&thread[2], NULL, beget, &children);
	}
	for (int i = 0; i < count; i++) {
		change(true);
		check_protection();
		change(false);
		check_protection();
	}
	while (!passed[0][0] || !passed[1][0])
		usleep(1000);
	stop = 1;
	for (int i = 0; i < (!strcmp(mode, "fork") || !strcmp(mode, "meddled") ? 3 : 2); i++)
		pthread_join(thread[i], NULL);
	printf("window: %s: %d changes, %llu times through the sites, %llu children\n", mode,
	       2 * count, (unsigned long long)(passed[0][0] + passed[1][0]),
	       (unsigned long long)children);
	return 0;
}
