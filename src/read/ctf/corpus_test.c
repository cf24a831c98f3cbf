/* SPDX-License-Identifier: MIT */
/*
 * Reads every CTF trace in the corpus. The number of events must equal the referee's, faults must
 * be reported for damaged traces only, and the hash over all values must be the same whether
 * computed from bytes or from items. `differs` lists intended differences from the referee, with
 * reasons. Skipped when WAYMARK_CORPUS is not set.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/open.h"
#include "trace/reader.h"

struct result {
	uint64_t events, packets_outside;
	uint32_t faults;
	int err;        /* result of wm_read_open() */
	bool bad_fault; /* a fault without file or reason */
	char first[512];
};

static const struct {
	const char *path, *why;
	uint64_t events; /* number of events that waymark read */
	bool damage;
} differs[] = {
    {"ctf1/babeltrace/fail/fail1",
     "the referee gives up at the only packet's last event; the good ones before it count", 681,
     true},
    {"ctf1/conformance/metadata/fail/enum-type-negative-out-of-range",
     "a label costs no event: a warning; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/enum-type-value-out-of-range",
     "a label costs no event: a warning; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/enum-values-too-small",
     "a label costs no event: a warning; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/integer-base-as-string",
     "base = \"decimal\" is unambiguous; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/integer-encoding-as-string",
     "encoding = \"UTF8\" is unambiguous; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/metadata-packetized-endianness-mismatch",
     "the trace block gives the byte order; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/metadata/fail/variant-string-fields",
     "strings are valid options; babeltrace2 reads it too", 0, false},
    {"ctf1/conformance/stream/pass/integer-large-size",
     "one integer of 1024 bits, given as bytes; babeltrace2 supports at most 64", 1, false},
    {"ctf1/conformance/stream/pass/variant-missing-enum-mappings",
     "an option without a label can never be chosen, which is harmless", 1, false},
    {"ctf1/tracecompass/funky_trace",
     "the clock begins 1.3e18 s from its origin, beyond 64 bits of ns; a fault says so", 100002,
     true},
};

static void count(struct wm_trace *t, struct result *r)
{
	struct wm_packet_reader *reader = t->ops->reader_create(t, NULL);
	struct wm_batch b = {0};

	assert_non_null(reader);
	for (uint64_t i = 0; i < t->nr_packets; i++) {
		const struct wm_packet *p = &t->packets[i];
		int got = t->ops->reader_begin(reader, p);

		assert_int_equal(got, 0);
		while ((got = wm_batch_read(t, reader, &b)) > 0) {
			r->events += (uint64_t)got;
			for (uint32_t e = 0; e < b.nr_events; e++)
				r->packets_outside +=
				    b.events[e].ns != WM_TIME_NONE &&
				    (b.events[e].ns < p->begin_ns || b.events[e].ns > p->end_ns);
		}
		assert_int_equal(got, 0);
	}
	wm_batch_done(&b);
	t->ops->reader_destroy(reader);
}

static struct result read_trace(const char *path)
{
	struct wm_diag diag = {.offset = -1};
	struct result r = {0};
	struct wm_trace *t;

	r.err = wm_read_open(path, &t, &diag);
	if (r.err) {
		(void)snprintf(r.first, sizeof(r.first), "%s", diag.sentence);
		r.bad_fault = !diag.where || !diag.sentence[0];
		return r;
	}
	count(t, &r);
	r.faults = t->nr_faults;
	for (uint32_t i = 0; i < t->nr_faults; i++)
		r.bad_fault |= !t->faults[i].file[0] || !t->faults[i].reason[0];
	if (t->nr_faults)
		(void)snprintf(r.first, sizeof(r.first), "%s", t->faults[0].reason);
	wm_trace_close(t);
	return r;
}

/* Returns whether the result is as expected. */
static bool judge(const char *name, const char *verdict, const char *referee, uint64_t events,
		  const struct result *r)
{
	bool damage = !strncmp(verdict, "invalid", 7);
	bool counted = strncmp(referee, "dirname", 7) != 0 || !damage;

	for (size_t i = 0; i < sizeof(differs) / sizeof(*differs); i++) {
		if (!strcmp(name, differs[i].path)) {
			print_message("%s: %s\n", name, differs[i].why);
			events = differs[i].events;
			damage = differs[i].damage;
			counted = true;
		}
	}
	return !r->bad_fault && !r->packets_outside && damage == (r->err || r->faults) &&
	       (!counted || events == r->events);
}

static void test_corpus(void **state)
{
	const char *corpus = getenv("WAYMARK_CORPUS");
	char path[4096], line[4096], name[1024], kind[64], verdict[64], referee[128];
	uint32_t nr = 0, nr_wrong = 0;
	uint64_t bytes, events;
	FILE *f;

	if (!corpus) {
		print_message("WAYMARK_CORPUS is not set: no trace was read\n");
		skip();
	}
	(void)snprintf(path, sizeof(path), "%s/MANIFEST.tsv", corpus);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct result r;

		if (sscanf(line,
			   "%1023[^\t]\t%63[^\t]\t%" SCNu64 "\t%63[^\t]\t%" SCNu64 "\t%127[^\t]",
			   name, kind, &bytes, verdict, &events, referee) != 6 ||
		    strncmp(kind, "ctf", 3) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", corpus, name);
		r = read_trace(path);
		nr++;
		if (judge(name, verdict, referee, events, &r))
			continue;
		print_message("%s: %s, %" PRIu64 " events by %s; err %d, %u faults, %" PRIu64
			      " events, %" PRIu64 " outside their packets. %s\n",
			      name, verdict, events, referee, r.err, r.faults, r.events,
			      r.packets_outside, r.first);
		nr_wrong++;
	}
	fclose(f);
	assert_true(nr > 100);
	assert_int_equal(nr_wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
