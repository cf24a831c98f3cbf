/* SPDX-License-Identifier: MIT */
/* trace_open.c - see trace_open.h. */
#include "cmd/trace_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plural.h"
#include "base/text.h"
#include "cmd/exit.h"
#include "cmd/say.h"
#include "read/open.h"
#include "view/value_text.h"
#include "view/writer.h"

#define FAULTS_SAID   20u
#define WARNINGS_SAID 3u

/* --- standard input and pipes ------------------------------------------------------------ */

/* Returns a descriptor of standard input or a pipe; -1: the path is something else. */
static int stream_of(const char *path)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (stat(path, &st) || !S_ISFIFO(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int copy_stream(int from, int to)
{
	static char buffer[1u << 16];
	ssize_t got;

	while ((got = read(from, buffer, sizeof(buffer))) != 0) {
		int err = got > 0 ? wm_file_write(to, buffer, (size_t)got) : -errno;

		if (err && err != -EINTR)
			return err;
	}
	return 0;
}

/* Shows the trace under the path that the user gave. Returns 0 or -ENOMEM. */
static int rename_trace(struct wm_trace *t, const char *path)
{
	char *copy = strdup(path);

	if (!copy) {
		wm_trace_close(t);
		return -ENOMEM;
	}
	free(t->path);
	t->path = copy;
	return 0;
}

/*
 * Opens a piped trace: readers need to seek backwards, so it is first copied to an unnamed file.
 */
static int open_piped(int stream, const char *path, struct wm_trace **ret, struct wm_diag *diag)
{
	int fd = wm_file_temporary(), err = fd < 0 ? fd : copy_stream(stream, fd);
	char name[32];

	if (err) {
		if (fd >= 0)
			(void)close(fd);
		return wm_diag_set(diag, err, path, -1,
				   "cannot be copied to a temporary file ($TMPDIR or /var/tmp): %s",
				   strerror(-err));
	}
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	err = wm_read_open(name, ret, diag);
	(void)close(fd);
	if (err)
		diag->where = NULL; /* `name` */
	return err ? err : rename_trace(*ret, path);
}

int wm_input_open(const char *path, struct wm_trace **ret)
{
	struct wm_diag diag = {.offset = -1};
	int stream = stream_of(path), err;

	err = stream >= 0 ? open_piped(stream, path, ret, &diag) : wm_read_open(path, ret, &diag);
	if (stream >= 0)
		(void)close(stream);
	if (!err)
		return WM_EXIT_DONE;
	wm_say_diag("read the trace", path, err, &diag);
	return wm_exit_of(err);
}

void wm_input_fault_text(struct wm_text *t, const struct wm_fault *f)
{
	if (f->file[0]) {
		wm_view_safe(t, f->file, strlen(f->file), false);
		wm_text_f(t, ": at offset %llu: ", (unsigned long long)f->offset);
	}
	wm_view_safe(t, f->reason, strlen(f->reason), false);
}

static void say_warnings(const struct wm_trace *t)
{
	struct wm_text text;

	wm_text_init(&text);
	for (uint32_t i = 0; i < t->nr_warnings && i < WARNINGS_SAID; i++) {
		wm_text_cut(&text, 0);
		wm_input_fault_text(&text, &t->warnings[i]);
		if (!text.failed)
			wm_say("warning: %s", text.data);
	}
	if (t->nr_warnings > WARNINGS_SAID)
		wm_say("warning: ... and %llu more; 'waymark info --verify' lists them",
		       (unsigned long long)(t->nr_warnings - WARNINGS_SAID + t->nr_warnings_more));
	wm_text_done(&text);
}

static void say_faults(const struct wm_trace *t)
{
	struct wm_text text;

	wm_text_init(&text);
	for (uint32_t i = 0; i < t->nr_faults && i < FAULTS_SAID; i++) {
		wm_text_cut(&text, 0);
		wm_input_fault_text(&text, &t->faults[i]);
		if (!text.failed)
			wm_say("%s", text.data);
	}
	if (t->nr_faults > FAULTS_SAID)
		wm_say("... and %llu more; 'waymark info --verify' lists them",
		       (unsigned long long)(t->nr_faults - FAULTS_SAID + t->nr_faults_more));
	wm_text_done(&text);
}

static void say_losses_as_babeltrace(const struct wm_trace *t)
{
	struct wm_text text;

	wm_text_init(&text);
	for (uint32_t i = 0; i < t->nr_losses; i++)
		wm_view_loss(&text, t, &t->losses[i]);
	if (text.bytes)
		(void)fwrite(text.data, 1, text.bytes,
			     stderr); /* an error here cannot be reported */
	wm_text_done(&text);
}

/* For waymark's own traces: the total losses. */
static uint64_t input_nr_lost(const struct wm_trace *t)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->nr_causes; i++)
		if (__builtin_add_overflow(sum, t->causes[i].count, &sum))
			return UINT64_MAX;
	return sum;
}

void wm_input_lost_text(struct wm_text *text, const struct wm_trace *t)
{
	const char *between = ": ";

	wm_text_u64(text, input_nr_lost(t));
	wm_text_str(text, " lost");
	for (uint32_t i = 0; i < t->nr_causes; i++) {
		const struct wm_trace_cause *c = &t->causes[i];
		bool unknown = !strcmp(c->name, WM_CAUSE_UNKNOWN);

		if (!c->count)
			continue;
		wm_text_str(text, between);
		wm_text_u64(text, c->count);
		wm_text_char(text, ' ');
		wm_view_safe(text, unknown ? "for unknown reasons" : c->name,
			     strlen(unknown ? "for unknown reasons" : c->name), false);
		between = ", ";
	}
}

static void say_causes(const struct wm_trace *t)
{
	struct wm_text text;

	if (!input_nr_lost(t))
		return;
	wm_text_init(&text);
	wm_input_lost_text(&text, t);
	if (!text.failed)
		wm_say("events are missing: %s", text.data);
	wm_text_done(&text);
}

static void trace_open_say_losses(const struct wm_trace *t)
{
	uint64_t events = 0, packets = 0, unknown = 0;

	for (uint32_t i = 0; i < t->nr_losses; i++) {
		const struct wm_trace_loss *l = &t->losses[i];

		if (l->count == UINT64_MAX)
			unknown++;
		else if (l->packets)
			packets += l->count;
		else
			events += l->count;
	}
	if (t->is_own)
		say_causes(t); /* includes the losses counted in `events` */
	else if (events)
		wm_say("the tracer lost %llu %s", (unsigned long long)events,
		       wm_plural(events, "event", "events"));
	if (packets)
		wm_say("the tracer lost %llu %s", (unsigned long long)packets,
		       wm_plural(packets, "packet", "packets"));
	if (unknown)
		wm_say("the tracer lost an unknown number of events, %llu %s",
		       (unsigned long long)unknown, wm_plural(unknown, "time", "times"));
}

void wm_input_say_repeated(const struct wm_trace *t)
{
	if (t->nr_repeated)
		wm_say("%llu %s left out, because other files of the same recording have %s, too",
		       (unsigned long long)t->nr_repeated,
		       wm_plural(t->nr_repeated, "packet is", "packets are"),
		       wm_plural(t->nr_repeated, "it", "them"));
}

bool wm_input_is_damaged(const struct wm_trace *t)
{
	return t->nr_faults || t->nr_losses || input_nr_lost(t);
}

int wm_input_report_missing(struct wm_trace *t, int status, bool babeltrace)
{
	if (t->nr_warnings || t->nr_repeated || wm_input_is_damaged(t))
		(void)fflush(stdout);
	say_warnings(t);
	wm_input_say_repeated(t);
	if (!wm_input_is_damaged(t))
		return status;
	say_faults(t);
	if (babeltrace)
		say_losses_as_babeltrace(t);
	else
		trace_open_say_losses(t);
	return status == WM_EXIT_DONE || status == WM_EXIT_NO_MATCH ? WM_EXIT_INCOMPLETE : status;
}
