/* SPDX-License-Identifier: MIT */
/*
 * attach_test.c - attaches to a child of this test program. It has a control page, modules, sites
 * and descriptions laid out as the compiler and the runtime do, but never executes any of them. The
 * test reads the bytes that the tool wrote from the child's memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/process.h"
#include "control/attach.h"
#include "control/session/session.h"
#include "control/target/remote_runtime.h"
#include "event/desc_build.h"
#include "ring/pool.h"
#include <waymark/abi.h>

#define NR_SITES 4

/* Exported like the runtime's page, so that its symbol is found. */
extern struct wm_control waymark_control;
struct wm_control waymark_control = {.magic = WM_CONTROL_MAGIC, .abi = WAYMARK_ABI};

/* One object, so that all parts are within reach of 32-bit offsets. */
static struct world {
	struct waymark_site site[NR_SITES];
	struct waymark_event_state event[3];
	uint32_t code[2 * NR_SITES]; /* the instructions, 8 bytes each */
	unsigned char desc[3][512] __attribute__((aligned(8)));
	char provider[8];
} world;

static struct waymark_module module;
static uint64_t modules[3];
static struct wm_rules *rules;
static pid_t target;

static int32_t distance(const void *from, const void *to)
{
	return (int32_t)((const char *)to - (const char *)from);
}

#if defined(__x86_64__)
#define DORMANT 0x000000a9u /* test $imm32, %eax */
#else
#define DORMANT 0xd503201fu /* nop */
#endif

static void describe(unsigned i, const char *provider, const char *name)
{
	size_t bytes;
	unsigned char *desc = wm_desc_simple(provider, name, "a:i4", NULL, 0, &bytes);

	assert_non_null(desc);
	assert_true(bytes <= sizeof(world.desc[i]));
	memcpy(world.desc[i], desc, bytes);
	free(desc);
}

static void place(unsigned i, unsigned event, bool loadtest)
{
	struct waymark_site *s = &world.site[i];

	world.code[2 * i] = DORMANT;
	s->insn = loadtest ? 0 : distance(&s->insn, &world.code[2 * i]);
	s->target = loadtest ? 0 : distance(&s->target, &world.code[2 * i + 1]);
	s->desc = distance(&s->desc, world.desc[event]);
	s->event = distance(&s->event, &world.event[event]);
}

/*
 * Defines the events app:one (two sites), app:two (load+test) and lib:three; the first two have no
 * provider.
 */
static void build_world(void)
{
	memset(&world, 0, sizeof(world));
	describe(0, "", "one");
	describe(1, "", "two");
	describe(2, "lib", "three");
	place(0, 0, false);
	place(1, 0, false);
	place(2, 1, true);
	place(3, 2, false);
	strcpy(world.provider, "app");
	for (int i = 0; i < 3; i++)
		world.event[i].word = WAYMARK_WORD_COMPLEX;
	module = (struct waymark_module){
	    .abi = WAYMARK_ABI,
	    .sites = world.site,
	    .sites_end = world.site + NR_SITES,
	    .provider = world.provider,
	};
	modules[0] = 0;                 /* unloaded */
	modules[1] = 0xdead00000000ull; /* nonsense */
	modules[2] = (uint64_t)(uintptr_t)&module;
	waymark_control.nr_modules = 3;
	waymark_control.modules = (uint64_t)(uintptr_t)modules;
	waymark_control.attach_request = waymark_control.attach_done = 6;
	waymark_control.flags = 0;
	waymark_control.folders[0] = '\0';
}

static void start_target(void)
{
	target = fork();
	assert_true(target >= 0);
	while (target == 0)
		pause();
}

static int setup(void **state)
{
	const struct wm_rules_options o = {.pool_mode = WM_POOL_DISCARD};

	build_world();
	return wm_rules_create(&o, &rules);
}

static int teardown(void **state)
{
	if (target > 0) {
		(void)kill(target, SIGKILL);
		(void)waitpid(target, NULL, 0);
	}
	target = 0;
	wm_rules_destroy(rules);
	rules = NULL;
	return 0;
}

static void peek(const void *address, void *data, size_t bytes)
{
	struct wm_target t;

	assert_int_equal(wm_target_open(target, true, &t, NULL), 0);
	assert_int_equal(wm_target_read(&t, (uint64_t)(uintptr_t)address, data, bytes), 0);
	wm_target_close(&t);
}

static bool is_on(unsigned site)
{
	uint32_t code[2];

	peek(&world.code[2 * site], code, sizeof(code));
#if defined(__x86_64__)
	assert_int_equal(code[0] & ~0xffu, DORMANT & ~0xffu); /* the displacement was not changed */
	return (code[0] & 0xff) == 0xe9;
#else
	return code[0] == 0x14000001u; /* b .+4 */
#endif
}

static void want(const char *glob)
{
	assert_true(wm_rules_add(rules, glob, NULL, 0, WM_RULES_ALL_LEVELS, NULL) >= 0);
}

static void switches_what_is_wanted(void **state)
{
	const uint64_t on = WAYMARK_WORD_COMPLEX | WAYMARK_WORD_RECORD;
	struct wm_attach_result r;
	struct wm_control page;
	struct world w;

	want("app:*");
	start_target();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_false(r.agent);
	assert_int_equal(r.nr_events, 2);
	assert_int_equal(r.nr_sites, 3);
	assert_int_equal(r.nr_refused, 0);
	assert_int_equal(r.nr_known, NR_SITES);
	peek(&waymark_control, &page, sizeof(page));
	assert_string_equal(page.folders, "/tmp/session");
	assert_int_equal(page.attach_request, 7);
	assert_int_equal(page.attach_done, 6);
	peek(&world, &w, sizeof(w));
	assert_true(w.event[0].word == on);
	assert_true(w.event[1].word == on);
	assert_int_equal(w.event[1].enabled, 1);
	assert_int_equal(w.event[0].enabled, 0);
	assert_true(w.event[2].word == WAYMARK_WORD_COMPLEX);
	assert_true(is_on(0) && is_on(1));
	assert_false(is_on(3));
}

/* A debugger's breakpoint is not overwritten. */
static void leaves_other_bytes_alone(void **state)
{
	struct wm_attach_result r;
	uint32_t code;

	want("one");
	world.code[2] = 0xcc;
	start_target();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_int_equal(r.nr_sites, 1);
	assert_int_equal(r.nr_refused, 1);
	peek(&world.code[2], &code, sizeof(code));
	assert_int_equal(code, 0xcc);
}

/* A site that cannot be read is not mistaken for one with a breakpoint. */
static void site_outside_of_memory(void **state)
{
	struct wm_attach_result r;

	want("one");
	world.site[1].insn = INT32_MIN; /* two GiB below: not mapped */
	start_target();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_int_equal(r.nr_sites, 1);
	assert_int_equal(r.nr_refused, 0);
	assert_int_equal(r.nr_failed, 1);
	assert_true(r.failed_err < 0 && r.failed_err != -EBUSY);
}

/* If the agent never polls, the sites are enabled from outside after a while. */
static void sleeping_agent(void **state)
{
	struct wm_attach_result r;

	want("app:one");
	waymark_control.flags = WM_CONTROL_AGENT;
	start_target();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_false(r.agent);
	assert_int_equal(r.nr_sites, 2);
}

/*
 * With a runtime that takes one folder: a running recorder's request is respected, an exited one's
 * is replaced.
 */
static void pending_request(void **state)
{
	char folder[] = "/tmp/wm-attach-XXXXXX", base[64];
	struct wm_diag diag = {.offset = -1};
	struct wm_attach_result r;
	struct wm_control page;
	struct wm_session s;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(wm_session_create(NULL, folder, &s, NULL), 0);
	want("app:one");
	waymark_control.attach_request = 7;
	strcpy(waymark_control.folders, s.path);
	start_target();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, &diag), -EAGAIN);
	peek(&waymark_control, &page, sizeof(page));
	assert_string_equal(page.folders, s.path);

	wm_session_remove(&s);
	wm_session_done(&s);
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, &diag), 0);
	peek(&waymark_control, &page, sizeof(page));
	assert_string_equal(page.folders, "/tmp/session");
	assert_int_equal(page.attach_request, 8);
	(void)snprintf(base, sizeof(base), "%s/waymark-%u", folder, (unsigned)geteuid());
	assert_int_equal(rmdir(base), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* A request is appended to a running recorder's, once; an exited one's is dropped. */
static void pending_list(void **state)
{
	char folder[] = "/tmp/wm-attach-XXXXXX", base[64], list[sizeof(waymark_control.folders)];
	struct wm_attach_result r;
	struct wm_control page;
	struct wm_session s;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(wm_session_create(NULL, folder, &s, NULL), 0);
	want("app:one");
	waymark_control.flags = WM_CONTROL_LIST;
	waymark_control.attach_request = 7;
	(void)snprintf(waymark_control.folders, sizeof(waymark_control.folders), "/tmp/gone:%s",
		       s.path);
	start_target();
	for (int i = 0; i < 2; i++)
		assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_int_equal(r.nr_sites, 2);
	peek(&waymark_control, &page, sizeof(page));
	(void)snprintf(list, sizeof(list), "%s:/tmp/session", s.path);
	assert_string_equal(page.folders, list);
	assert_int_equal(page.attach_request, 8);

	wm_session_remove(&s);
	wm_session_done(&s);
	assert_int_equal(wm_attach(target, "/tmp/other", rules, true, &r, NULL), 0);
	peek(&waymark_control, &page, sizeof(page));
	assert_string_equal(page.folders, "/tmp/other");
	assert_int_equal(page.attach_request, 9);
	(void)snprintf(base, sizeof(base), "%s/waymark-%u", folder, (unsigned)geteuid());
	assert_int_equal(rmdir(base), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* Starts another recorder, which holds the lock and never writes its request. */
static pid_t start_asking(void)
{
	int said[2];
	char name[32], byte;
	pid_t pid;

	(void)snprintf(name, sizeof(name), "/proc/%d/mem", (int)target);
	assert_int_equal(pipe(said), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (flock(open(name, O_RDWR | O_CLOEXEC), LOCK_EX) < 0 || write(said[1], "", 1) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	close(said[1]);
	assert_int_equal(read(said[0], &byte, 1), 1);
	close(said[0]);
	return pid;
}

/*
 * A recorder waits for another's lock, so that requests do not overwrite each other; but only for a
 * limited time.
 */
static void asked_one_by_one(void **state)
{
	struct wm_attach_result r;
	uint64_t begin;
	pid_t other;

	want("app:one");
	start_target();
	other = start_asking();
	begin = wm_clock_monotonic_ns();
	assert_int_equal(wm_attach(target, "/tmp/session", rules, true, &r, NULL), 0);
	assert_true(wm_clock_monotonic_ns() - begin >= 300000000);
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

#define NR_MANY 3

/* Whether the process has given itself the name of an agent. */
static bool has_name(pid_t pid)
{
	return wm_process_has_thread((uint32_t)pid, WM_AGENT_NAME);
}

/* Handles the request once the last process has one, too. */
static void act_as_agent(pid_t *pids)
{
	(void)prctl(PR_SET_NAME, WM_AGENT_NAME);
	while (!__atomic_load_n(&pids[NR_MANY - 1], __ATOMIC_ACQUIRE))
		usleep(1000);
	for (;;) {
		uint32_t other;
		struct wm_target t;

		if (wm_target_open(pids[NR_MANY - 1], true, &t, NULL) < 0)
			_exit(1);
		other = t.control.attach_request;
		wm_target_close(&t);
		if (other == 7)
			waymark_control.attach_done = 7;
		usleep(1000);
	}
}

struct many {
	pid_t *pids;
	bool agent[NR_MANY];
	unsigned nr_done;
};

static void note_done(pid_t pid, int err, const struct wm_attach_result *result,
		      const struct wm_diag *diag, void *data)
{
	struct many *m = data;

	m->nr_done++;
	for (unsigned i = 0; i < NR_MANY; i++)
		if (m->pids[i] == pid) {
			assert_int_equal(err, 0);
			m->agent[i] = result->agent;
			return;
		}
	assert_int_equal(err, -ESRCH);
	assert_non_null(strstr(diag->sentence, "no process"));
}

/*
 * All processes are asked before any of them is waited for: the agents here answer only when the
 * last process was asked.
 */
static void many_at_once(void **state)
{
	pid_t asked[NR_MANY + 1];
	struct many m = {.nr_done = 0};

	want("app:one");
	waymark_control.flags = WM_CONTROL_AGENT;
	m.pids =
	    mmap(NULL, sizeof(asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(m.pids, MAP_FAILED);
	for (unsigned i = 0; i < NR_MANY; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!pid && i < NR_MANY - 1)
			act_as_agent(m.pids);
		while (!pid)
			pause(); /* without a thread of the agent's name */
		__atomic_store_n(&m.pids[i], pid, __ATOMIC_RELEASE);
	}
	while (!has_name(m.pids[0]) || !has_name(m.pids[1]))
		usleep(1000);
	memcpy(asked, m.pids, NR_MANY * sizeof(*asked));
	asked[NR_MANY] = INT32_MAX; /* no process */
	wm_attach_many(asked, NR_MANY + 1, "/tmp/session", rules, true, note_done, &m);
	assert_int_equal(m.nr_done, NR_MANY + 1);
	assert_true(m.agent[0] && m.agent[1]);
	assert_false(m.agent[2]);
	for (unsigned i = 0; i < NR_MANY; i++) {
		(void)kill(m.pids[i], SIGKILL);
		(void)waitpid(m.pids[i], NULL, 0);
	}
	(void)munmap(m.pids, sizeof(asked));
}

/* Tables that have invalid addresses or no end are skipped. */
static void hostile_tables(void **state)
{
	static const struct waymark_site *const ends[] = {
	    world.site, /* empty */
	    /* Before the beginning of the table. */
	    world.site - 1, (const struct waymark_site *)0xffffffffffffffffull, /* no end */
	};
	struct wm_diag diag = {.offset = -1};
	struct wm_attach_result r;

	want("*");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		module.sites_end = ends[i];
		start_target();
		assert_int_equal(wm_attach(target, "/x", rules, true, &r, NULL), 0);
		assert_int_equal(r.nr_known, 0);
		(void)kill(target, SIGKILL);
		(void)waitpid(target, NULL, 0);
	}
	module.sites_end = world.site + NR_SITES;
	world.site[0].desc = INT32_MAX;
	memset(world.desc[1], 0xff, sizeof(struct waymark_desc));
	start_target();
	assert_int_equal(wm_attach(target, "/x", rules, true, &r, NULL), 0);
	assert_int_equal(r.nr_known, 2); /* the second site of app:one, and lib:three */
	waymark_control.nr_modules = WM_CONTROL_MODULES_MAX + 1;
	(void)kill(target, SIGKILL);
	(void)waitpid(target, NULL, 0);
	start_target();
	assert_int_equal(wm_attach(target, "/x", rules, true, &r, &diag), -EBADMSG);
	assert_non_null(strstr(diag.sentence, "is corrupt: it counts 513 modules"));
}

static void count_name(const struct wm_attach_site *s, void *data)
{
	const struct waymark_desc *d = s->desc;

	assert_int_equal(d->size, s->desc_bytes);
	if (!strcmp(s->class->provider, "app") && !strcmp(s->class->name, "one"))
		++*(unsigned *)data;
}

static void listed(void **state)
{
	unsigned nr = 0;

	start_target();
	assert_int_equal(wm_attach_list(target, count_name, &nr, NULL), 0);
	assert_int_equal(nr, 2);
}

static void refused(void **state)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_attach_result r;

	want("*");
	waymark_control.abi = WAYMARK_ABI + 1;
	start_target();
	assert_int_equal(wm_attach(target, "/x", rules, true, &r, &diag), -EPROTO);
	waymark_control.abi = WAYMARK_ABI;
	(void)kill(target, SIGKILL);
	(void)waitpid(target, NULL, 0);
	assert_int_equal(wm_attach(target, "/x", rules, true, &r, &diag), -ESRCH);
	assert_non_null(strstr(diag.sentence, "no process"));

	waymark_control.magic = 0;
	start_target();
	assert_int_equal(wm_attach(target, "/x", rules, true, &r, &diag), -ENOENT);
	waymark_control.magic = WM_CONTROL_MAGIC;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(switches_what_is_wanted, setup, teardown),
	    cmocka_unit_test_setup_teardown(leaves_other_bytes_alone, setup, teardown),
	    cmocka_unit_test_setup_teardown(site_outside_of_memory, setup, teardown),
	    cmocka_unit_test_setup_teardown(sleeping_agent, setup, teardown),
	    cmocka_unit_test_setup_teardown(pending_request, setup, teardown),
	    cmocka_unit_test_setup_teardown(pending_list, setup, teardown),
	    cmocka_unit_test_setup_teardown(asked_one_by_one, setup, teardown),
	    cmocka_unit_test_setup_teardown(many_at_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(hostile_tables, setup, teardown),
	    cmocka_unit_test_setup_teardown(listed, setup, teardown),
	    cmocka_unit_test_setup_teardown(refused, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
