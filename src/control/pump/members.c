/* SPDX-License-Identifier: MIT */
/*
 * members.c - the connections to the pump process: accepts, counts and closes them, and
 * distinguishes processes from tools. The pump's set of sources changes only between rounds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/diag.h"
#include "control/pump/pumproc_int.h"
#include "control/tool.h"

#define NEW_MAX 512u /* limit for connections without HELLO; beyond it, the oldest is closed */
#define ACCEPT_PER_CALL                                                                            \
	32 /* fewer connections than the loop serves in a step, so that HELLOs are read in time */
#define ACCEPT_PER_ROUND 4096u
#define DEAD_KEPT        64u /* overwrite mode: number of exited processes whose buffers are kept */
#define QUARANTINES_SAID 10u

void wm_serving_on_class(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data)
{
	struct serving *s = data;
	uint32_t nr = wm_rules_count(s->o->rules);

	(void)a;
	(void)id;
	for (uint32_t i = 0; i < nr; i++) {
		if (s->totals.matched[i / 8] >> (i % 8) & 1)
			continue;
		if (wm_rules_wants(s->o->rules, i, c->provider, c->name, c->level))
			s->totals.matched[i / 8] |= (unsigned char)(1u << (i % 8));
	}
}

void wm_serving_on_tool(struct wm_app *a, const void *message, size_t bytes, void *data)
{
	struct serving *s = data;
	struct member *m = wm_app_owner(a);
	uint32_t uid = wm_app_uid(a);
	struct wm_msg h;

	memcpy(&h, message, sizeof(h));
	if (uid != 0 && uid != geteuid()) {
		wm_app_end(a);
	} else if (h.type == WM_MSG_SNAPSHOT && bytes == sizeof(h)) {
		m->asks = true;
		s->snapshot = true;
	} else if (!wm_serving_change_asked(m, message, bytes)) {
		wm_app_end(a);
	}
}

static void evict_oldest_new(struct serving *s)
{
	struct member *oldest = NULL;
	uint32_t nr_new = 0;

	for (struct member *m = s->members; m; m = m->next) {
		if (wm_app_state(m->app) != WM_APP_NEW || m->asks || m->change)
			continue;
		nr_new++;
		oldest = m;
	}
	if (nr_new > NEW_MAX) {
		wm_app_end(oldest->app);
		s->totals.nr_refused[WM_REFUSED_SILENT]++;
	}
}

/* Counts a connection that failed with err. The first error is reported at once. */
static void members_refuse(struct serving *s, int err)
{
	if (s->totals.nr_refused[WM_REFUSED_ERROR]++ > 0)
		return;
	s->totals.refused_err = err;
	wm_serving_trouble(s, "some processes are not recorded: cannot accept a connection: %s",
			   wm_diag_errno(err));
}

static void members_add(struct serving *s, int sock)
{
	struct member *m;
	int err;

	if (s->nr_members >= WM_RECORDING_PROCESSES_MAX) {
		close(sock);
		s->totals.nr_refused[WM_REFUSED_FULL]++;
		return;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		close(sock);
	err = m ? wm_app_create(&s->host, sock, m, &m->app) : -ENOMEM;
	if (err < 0) {
		free(m);
		members_refuse(s, err);
		return;
	}

	m->next = s->members;
	s->members = m;
	/* counted rarely, because counting walks over the whole list */
	if (++s->nr_members > NEW_MAX && s->nr_members % 64 == 0)
		evict_oldest_new(s);
}

/*
 * Stops accepting. The watch is level-triggered, so a connection that cannot be accepted would wake
 * the loop continuously.
 */
void wm_serving_pause_accepting(struct serving *s)
{
	wm_watch_remove(s->accept_watch);
	s->accept_watch = NULL;
}

/* Accepts a connection. Returns 1: more may be queued; 0: no more; or -errno. */
static int members_accept_some(struct serving *s)
{
	for (int i = 0; i < ACCEPT_PER_CALL; i++) {
		int sock =
		    accept4(s->o->session->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (sock < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (sock < 0)
			return errno == EAGAIN ? 0 : -errno;
		members_add(s, sock);
		s->accepted++;
	}
	return 1;
}

void wm_serving_on_connection(int fd, uint32_t events, void *data)
{
	struct serving *s = data;
	int got = members_accept_some(s);

	(void)fd;
	(void)events;
	if (got < 0) {
		members_refuse(s, got);
		s->accept_blocked = true;
	}
	if (got < 0 || s->accepted >= ACCEPT_PER_ROUND)
		wm_serving_pause_accepting(s);
}

void wm_serving_resume_accepting(struct serving *s)
{
	s->accepted = 0;
	if (!s->accept_watch && !s->accept_blocked && !s->stop)
		(void)wm_loop_fd(s->loop, s->o->session->listen_fd, EPOLLIN,
				 wm_serving_on_connection, s, &s->accept_watch);
}

/* Adds the member's counters to the totals. */
static void members_account(struct serving *s, struct member *m)
{
	uint64_t missed = wm_app_filtered_missing(m->app);
	struct wm_report r = {.kind = WM_REPORT_JOINED, .pid = wm_app_pid(m->app)};

	if (missed > m->missed)
		s->totals.filtered_missing += missed - m->missed;
	m->missed = missed;
	if (!m->counted && wm_app_has_joined(m->app)) {
		m->counted = true;
		s->totals.nr_processes++;
		wm_serving_report(s, &r, false);
	}
}

static void account_unpatched(struct serving *s, const struct member *m)
{
	uint32_t flags = wm_app_flags(m->app);

	s->totals.sites_unpatched += wm_app_synced(m->app)->nr_unpatched;
	s->totals.nr_unpatched += (flags & WM_HELLO_NOPATCH) != 0;
	s->totals.nr_unwanted += (flags & WM_HELLO_NOPATCH) && (flags & WM_HELLO_UNWANTED);
}

static void members_farewell(struct serving *s, struct member *m)
{
	const char *violation = wm_app_violation(m->app);

	members_account(s, m);
	wm_serving_change_gone(s, m);
	s->totals.sites_refused += wm_app_synced(m->app)->nr_refused;
	account_unpatched(s, m);
	if (violation) {
		s->totals.nr_quarantined += !wm_app_pump_fault(m->app);
		if (s->quarantines_said++ < QUARANTINES_SAID)
			wm_serving_trouble(s, "process %u is no longer recorded: %s",
					   wm_app_pid(m->app), violation);
	}
	wm_app_destroy(m->app);
	free(m);
	s->nr_members--;
	s->accept_blocked = false;
}

static bool keeps_dead(const struct serving *s, const struct member *m, uint32_t nr_dead)
{
	return s->overwrite && !s->stop && m->counted && nr_dead <= DEAD_KEPT;
}

/* Adds members that joined to the pump, and removes those that ended. */
void wm_serving_settle(struct serving *s, bool keep_dead)
{
	struct member **link = &s->members;
	uint32_t nr_dead = 0;

	while (*link) {
		struct member *m = *link;
		bool ended = wm_app_state(m->app) == WM_APP_ENDED;

		members_account(s, m);
		if (ended && keep_dead && keeps_dead(s, m, ++nr_dead)) {
			link = &m->next;
			continue;
		}
		if (wm_app_settle(m->app, s->pump) == 0) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		members_farewell(s, m);
	}
}

void wm_serving_take_last(struct serving *s)
{
	uint32_t before;
	int got;

	wm_serving_pause_accepting(s);
	do {
		got = members_accept_some(s);
		before = s->nr_members;
		/*
		 * Serves each member once, new ones last; a member that keeps sending cannot delay
		 * this.
		 */
		for (uint32_t n = s->nr_members / ACCEPT_PER_CALL + 2;
		     n && wm_loop_step(s->loop, 0) > 0; n--)
			;
		wm_serving_settle(s, false);
	} while (got > 0 || (got < 0 && s->nr_members < before));
	if (got < 0)
		members_refuse(s, got);
}

void wm_serving_drop_members(struct serving *s)
{
	while (s->members) {
		struct member *m = s->members;

		s->members = m->next;
		wm_app_destroy(m->app);
		free(m->change);
		free(m);
	}
}
