/* SPDX-License-Identifier: MIT */
/*
 * members.c - the connections to the pump process: accepts, counts and closes them, and tells
 * processes from tools. The pump's set of sources changes only between rounds.
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
#define RELEASED_AT_ONCE 64u /* processes that wm_pumproc_release() looks at: about 1 ms */

void wm_pumproc_on_class(struct wm_app *a, uint32_t id, const struct wm_class *c, void *data)
{
	struct wm_pumproc *p = data;
	uint32_t nr = wm_rules_count(p->o->rules);

	(void)a;
	(void)id;
	for (uint32_t i = 0; i < nr; i++) {
		if (p->totals.matched[i / 8] >> (i % 8) & 1)
			continue;
		if (wm_rules_wants(p->o->rules, i, c->provider, c->name, c->level))
			p->totals.matched[i / 8] |= (unsigned char)(1u << (i % 8));
	}
}

void wm_pumproc_on_tool(struct wm_app *a, const void *message, size_t bytes, void *data)
{
	struct wm_pumproc *p = data;
	struct wm_pumproc_member *m = wm_app_owner(a);
	uint32_t uid = wm_app_uid(a);
	struct wm_msg h;

	memcpy(&h, message, sizeof(h));
	if (uid != 0 && uid != geteuid()) {
		wm_app_end(a);
	} else if (h.type == WM_MSG_SNAPSHOT && bytes == sizeof(h)) {
		m->asks = true;
		p->snapshot = true;
	} else if (!wm_pumproc_change_asked(m, message, bytes)) {
		wm_app_end(a);
	}
}

static void evict_oldest_new(struct wm_pumproc *p)
{
	struct wm_pumproc_member *oldest = NULL;
	uint32_t nr_new = 0;

	for (struct wm_pumproc_member *m = p->members; m; m = m->next) {
		if (wm_app_state(m->app) != WM_APP_NEW || m->asks || m->change)
			continue;
		nr_new++;
		oldest = m;
	}
	if (nr_new > NEW_MAX) {
		wm_app_end(oldest->app);
		p->totals.nr_refused[WM_REFUSED_SILENT]++;
	}
}

/* Counts a connection that failed with err. The first error is reported at once. */
static void members_refuse(struct wm_pumproc *p, int err)
{
	if (p->totals.nr_refused[WM_REFUSED_ERROR]++ > 0)
		return;
	p->totals.refused_err = err;
	wm_pumproc_trouble(p, "some processes are not recorded: cannot accept a connection: %s",
			   wm_diag_errno(err));
}

static void members_add(struct wm_pumproc *p, int sock)
{
	struct wm_pumproc_member *m;
	int err;

	if (p->nr_members >= WM_RECORDING_PROCESSES_MAX) {
		close(sock);
		p->totals.nr_refused[WM_REFUSED_FULL]++;
		return;
	}
	m = calloc(1, sizeof(*m));
	if (!m)
		close(sock);
	err = m ? wm_app_create(&p->host, sock, m, &m->app) : -ENOMEM;
	if (err < 0) {
		free(m);
		members_refuse(p, err);
		return;
	}

	m->next = p->members;
	p->members = m;
	/* counted rarely, because counting walks the whole list */
	if (++p->nr_members > NEW_MAX && p->nr_members % 64 == 0)
		evict_oldest_new(p);
}

/*
 * Stops accepting. The watch is level-triggered, so a connection that cannot be accepted would wake
 * the loop continuously.
 */
static void members_pause_accepting(struct wm_pumproc *p)
{
	wm_watch_remove(p->accept_watch);
	p->accept_watch = NULL;
}

/* Accepts a connection. Returns 1 if more may be queued, 0 if not, or -errno. */
static int members_accept_some(struct wm_pumproc *p)
{
	for (int i = 0; i < ACCEPT_PER_CALL; i++) {
		int sock =
		    accept4(p->o->session->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (sock < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (sock < 0)
			return errno == EAGAIN ? 0 : -errno;
		members_add(p, sock);
		p->accepted++;
	}
	return 1;
}

void wm_pumproc_on_connection(int fd, uint32_t events, void *data)
{
	struct wm_pumproc *p = data;
	int got = members_accept_some(p);

	(void)fd;
	(void)events;
	if (got < 0) {
		members_refuse(p, got);
		p->accept_blocked = true;
	}
	if (got < 0 || p->accepted >= ACCEPT_PER_ROUND)
		members_pause_accepting(p);
}

void wm_pumproc_resume_accepting(struct wm_pumproc *p)
{
	p->accepted = 0;
	if (!p->accept_watch && !p->accept_blocked && !p->stop)
		(void)wm_loop_fd(p->loop, p->o->session->listen_fd, EPOLLIN,
				 wm_pumproc_on_connection, p, &p->accept_watch);
}

/* Adds the member's counters to the totals. */
static void members_account(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	uint64_t missed = wm_app_filtered_missing(m->app);
	struct wm_report r = {.kind = WM_REPORT_JOINED, .pid = wm_app_pid(m->app)};

	if (missed > m->missed)
		p->totals.filtered_missing += missed - m->missed;
	m->missed = missed;
	if (!m->counted && wm_app_has_joined(m->app)) {
		m->counted = true;
		p->totals.nr_processes++;
		wm_pumproc_report(p, &r, false);
	}
}

static void account_unpatched(struct wm_pumproc *p, const struct wm_pumproc_member *m)
{
	uint32_t flags = wm_app_flags(m->app);

	p->totals.sites_unpatched += wm_app_synced(m->app)->nr_unpatched;
	p->totals.nr_unpatched += (flags & WM_HELLO_NOPATCH) != 0;
	p->totals.nr_unwanted += (flags & WM_HELLO_NOPATCH) && (flags & WM_HELLO_UNWANTED);
}

static void members_farewell(struct wm_pumproc *p, struct wm_pumproc_member *m)
{
	const char *violation = wm_app_violation(m->app);

	members_account(p, m);
	wm_pumproc_change_gone(p, m);
	p->totals.sites_refused += wm_app_synced(m->app)->nr_refused;
	account_unpatched(p, m);
	if (violation) {
		p->totals.nr_quarantined += !wm_app_pump_fault(m->app);
		if (p->quarantines_said++ < QUARANTINES_SAID)
			wm_pumproc_trouble(p, "process %u is no longer recorded: %s",
					   wm_app_pid(m->app), violation);
	}
	wm_app_destroy(m->app);
	free(m);
	p->nr_members--;
	p->accept_blocked = false;
}

static bool keeps_dead(const struct wm_pumproc *p, const struct wm_pumproc_member *m,
		       uint32_t nr_dead)
{
	return p->overwrite && !p->stop && m->counted && nr_dead <= DEAD_KEPT;
}

/* Adds members that have joined to the pump, and removes those that have ended. */
void wm_pumproc_settle(struct wm_pumproc *p, bool keep_dead)
{
	struct wm_pumproc_member **link = &p->members;
	uint32_t nr_dead = 0;

	while (*link) {
		struct wm_pumproc_member *m = *link;
		bool ended = wm_app_state(m->app) == WM_APP_ENDED;

		members_account(p, m);
		if (ended && keep_dead && keeps_dead(p, m, ++nr_dead)) {
			link = &m->next;
			continue;
		}
		if (wm_app_settle(m->app, p->pump) == 0) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		members_farewell(p, m);
	}
}

void wm_pumproc_release(struct wm_pumproc *p)
{
	uint32_t skip = p->nr_members ? p->turn % p->nr_members : 0, nr = 0;

	for (struct wm_pumproc_member *m = p->members; m && nr < RELEASED_AT_ONCE; m = m->next) {
		if (skip > 0) {
			skip--;
			continue;
		}
		wm_app_release(m->app);
		nr++;
	}
	p->turn = nr < RELEASED_AT_ONCE ? 0 : p->turn + nr;
}

void wm_pumproc_take_last(struct wm_pumproc *p)
{
	uint32_t before;
	int got;

	members_pause_accepting(p);
	do {
		got = members_accept_some(p);
		before = p->nr_members;
		/*
		 * Serves each member once, new ones last; a member that keeps sending cannot delay
		 * this.
		 */
		for (uint32_t n = p->nr_members / ACCEPT_PER_CALL + 2;
		     n && wm_loop_step(p->loop, 0) > 0; n--)
			;
		wm_pumproc_settle(p, false);
	} while (got > 0 || (got < 0 && p->nr_members < before));
	if (got < 0)
		members_refuse(p, got);
}

void wm_pumproc_drop_members(struct wm_pumproc *p)
{
	while (p->members) {
		struct wm_pumproc_member *m = p->members;

		p->members = m->next;
		wm_app_destroy(m->app);
		free(m->change);
		free(m);
	}
}
