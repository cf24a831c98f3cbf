/* SPDX-License-Identifier: MIT */
/*
 * program_counts.c - see program_counts.h. Connections are accepted and served in the caller's
 * loop. Ten times a second, the counts of ended processes are added up, the processes released, and
 * sealed chunks emptied, so that the number of short-lived threads is not limited.
 */
#include "control/counting/program_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/counting/program_counts_int.h"
#include "kernel/privilege.h"
#include "ring/counts.h"
#include "runtime/agent.h"

#define MEMBERS_MAX 32768u
/* Fewer connections than the loop serves in one step, as in a recording. */
#define ACCEPT_PER_CALL 32
#define SWEEP_NS        100000000u
#define RELEASE_SWEEPS  10u /* sweeps between two looks at processes whose threads have exited */
/* Limit for the memory of a process's chunks. It is allocated only when used. */
#define BIG_BYTES (1ull << 30)
/* Most loop steps spent on the last messages from ended processes. */
#define LEAVE_STEPS 1000

struct wm_rules_options wm_tally_rules_options(void)
{
	return (struct wm_rules_options){
	    .pool_mode = WM_POOL_DISCARD,
	    .buffer_bytes = BIG_BYTES,
	    .chunk_bytes = WM_COUNTS_BIG_BYTES,
	    .clock_kind = WM_CLOCK_MONOTONIC,
	    .counts = true,
	};
}

/* ---- joining and ending --------------------------------------------------------------- */

static void program_counts_account(struct tally_member *m)
{
	struct wm_tally *t = m->tally;
	uint64_t missed = wm_app_filtered_missing(m->app);

	if (missed > m->missed)
		t->totals.filtered_missing += missed - m->missed;
	m->missed = missed;
	if (m->counted || !wm_app_has_joined(m->app))
		return;
	m->counted = true;
	t->totals.nr_processes++;
	if (t->o.joined)
		t->o.joined((pid_t)wm_app_pid(m->app), t->o.data);
}

static void program_counts_farewell(struct tally_member *m)
{
	struct wm_tally *t = m->tally;
	const char *why = wm_app_violation(m->app);

	program_counts_account(m);
	if (wm_app_pool(m->app))
		wm_counts_close(wm_app_pool(m->app));
	if (why && t->o.refused)
		t->o.refused((pid_t)wm_app_pid(m->app), why, t->o.data);
	t->totals.nr_unpatched += (wm_app_flags(m->app) & WM_HELLO_NOPATCH) != 0;
	t->totals.sites_unpatched += wm_app_synced(m->app)->nr_unpatched;
	t->totals.sites_refused += wm_app_synced(m->app)->nr_refused;
	wm_app_destroy(m->app);
	free(m->events);
	free(m);
	t->nr_members--;
}

static void drop_members(struct wm_tally *t)
{
	while (t->members) {
		struct tally_member *m = t->members;

		t->members = m->next;
		program_counts_farewell(m);
	}
}

/* Adds the counts of ended processes to the final sums. */
static void program_counts_settle(struct wm_tally *t)
{
	struct tally_member **link = &t->members;

	while (*link) {
		struct tally_member *m = *link;

		program_counts_account(m);
		if (wm_app_settle(m->app, NULL) == 0) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		wm_tally_keep(m);
		program_counts_farewell(m);
	}
}

static void program_counts_add_member(struct wm_tally *t, int sock)
{
	struct tally_member *m = t->nr_members < MEMBERS_MAX ? calloc(1, sizeof(*m)) : NULL;

	if (!m) {
		close(sock);
	} else {
		m->tally = t;
		if (wm_app_create(&t->host, sock, m, &m->app) == 0) {
			m->next = t->members;
			t->members = m;
			t->nr_members++;
			return;
		}
		free(m);
	}
	if (t->o.refused)
		t->o.refused(0, "out of memory or descriptors for another process", t->o.data);
}

/* Accepts connections. Returns the number accepted or -errno. */
static int program_counts_accept_some(struct wm_tally *t)
{
	int nr = 0;

	while (nr < ACCEPT_PER_CALL) {
		int sock = accept4(t->session.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (sock < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (sock < 0)
			return errno == EAGAIN ? nr : -errno;
		program_counts_add_member(t, sock);
		nr++;
	}
	return nr;
}

static void on_connection(int fd, uint32_t events, void *data)
{
	struct wm_tally *t = data;

	(void)fd;
	(void)events;
	if (program_counts_accept_some(t) >= 0)
		return;
	/*
	 * Stops accepting until the next sweep, because a connection that cannot be accepted would
	 * wake the loop continuously.
	 */
	wm_watch_remove(t->accept_watch);
	t->accept_watch = NULL;
}

static int listen_on(struct wm_tally *t)
{
	return t->accept_watch ? 0
			       : wm_loop_fd(t->loop, t->session.listen_fd, EPOLLIN, on_connection,
					    t, &t->accept_watch);
}

static void on_sweep(void *data)
{
	struct wm_tally *t = data;

	bool release = ++t->nr_sweeps % RELEASE_SWEEPS == 0;

	program_counts_settle(t);
	for (struct tally_member *m = t->members; m; m = m->next) {
		wm_tally_take(m, false);
		if (release)
			wm_app_release(m->app);
	}
	(void)listen_on(t);
}

/* Tool requests are not supported here. */
static void on_tool(struct wm_app *a, const void *message, size_t bytes, void *data)
{
	(void)message;
	(void)bytes;
	(void)data;
	wm_app_end(a);
}

/* ---- creation and end ------------------------------------------------------------------- */

int wm_tally_create(struct wm_rules *rules, const char *runtime_dir, struct wm_tally **ret,
		    struct wm_diag *diag)
{
	struct wm_tally *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->session = (struct wm_session){.dirfd = -1, .listen_fd = -1, .lock_fd = -1};
	t->o.rules = rules;
	t->host = (struct wm_app_host){
	    .rules = rules,
	    .buffer = malloc(WM_MSG_MAX),
	    .on_event = wm_tally_on_event,
	    .on_tool = on_tool,
	    .data = t,
	};
	err = t->host.buffer ? wm_session_create(runtime_dir, NULL, &t->session, diag) : -ENOMEM;
	if (err == 0)
		err = wm_rules_write(rules, t->session.dirfd, t->session.file_mode);
	if (err < 0) {
		wm_tally_destroy(t);
		return err;
	}
	*ret = t;
	return 0;
}

int wm_tally_serve(struct wm_tally *t, const struct wm_tally_options *o, struct wm_loop *loop)
{
	int err;

	(void)wm_privilege_raise_files(); /* each process needs two descriptors */
	t->o = *o;
	t->o.rules = (struct wm_rules *)t->host.rules;
	t->loop = t->host.loop = loop;
	err = wm_tally_find_threads(t);
	if (err == 0)
		err = listen_on(t);
	return err < 0 ? err
		       : wm_loop_timer(loop, SWEEP_NS, SWEEP_NS, on_sweep, t, &t->sweep_watch);
}

const struct wm_session *wm_tally_session(const struct wm_tally *t)
{
	return &t->session;
}

void wm_tally_read(struct wm_tally *t)
{
	for (size_t i = 0; i < t->nr_events; i++)
		memset(t->events[i]->now, 0, t->nr_columns * sizeof(uint64_t));
	t->lost_now = 0;
	program_counts_settle(t);
	for (struct tally_member *m = t->members; m; m = m->next)
		wm_tally_take(m, true);
}

void wm_tally_hold(struct wm_tally *t)
{
	t->held = true;
}

void wm_tally_begin(struct wm_tally *t)
{
	wm_tally_read(t);
	for (size_t i = 0; i < t->nr_events; i++) {
		struct tally_event *e = t->events[i];

		for (size_t c = 0; c < t->nr_columns; c++)
			e->before[c] = e->kept[c] + e->now[c];
	}
	t->lost_before = t->totals.lost + t->lost_now;
	t->held = false;
}

/*
 * Accepts all processes that connected before the folder was removed, because they may have counted
 * events and ended, and handles messages until none are left.
 */
static void take_last(struct wm_tally *t)
{
	int got;

	wm_watch_remove(t->accept_watch);
	wm_watch_remove(t->sweep_watch);
	t->accept_watch = t->sweep_watch = NULL;
	do {
		got = program_counts_accept_some(t);
		for (int n = 0; n < LEAVE_STEPS && wm_loop_step(t->loop, 0) > 0; n++)
			;
		program_counts_settle(t);
	} while (got > 0);
}

void wm_tally_end(struct wm_tally *t)
{
	wm_session_remove(&t->session);
	if (!t->loop)
		return;
	take_last(t);
	wm_tally_read(t);
	for (struct tally_member *m = t->members; m; m = m->next)
		/* If this fails, the process will find its socket closed. */
		(void)wm_app_send(m->app, WM_MSG_DETACH);
	drop_members(t);
	t->loop = NULL;
}

void wm_tally_totals(const struct wm_tally *t, struct wm_tally_totals *ret)
{
	uint64_t lost = t->totals.lost + t->lost_now;

	*ret = t->totals;
	ret->lost = t->held || lost < t->lost_before ? 0 : lost - t->lost_before;
}

void wm_tally_destroy(struct wm_tally *t)
{
	if (!t)
		return;
	wm_watch_remove(t->accept_watch);
	wm_watch_remove(t->sweep_watch);
	drop_members(t);
	wm_session_remove(&t->session);
	wm_session_done(&t->session);
	wm_tally_forget(t);
	free(t->host.buffer);
	free(t);
}
