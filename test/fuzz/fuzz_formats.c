/* SPDX-License-Identifier: MIT */
/*
 * fuzz_formats.c - parses an event format of the kernel, runs its print form over a record, and
 * transcodes the record. The input is the format, a NUL, and the record, whose first byte selects
 * the machine.
 */
#include <stdlib.h>

#include "harness.h"
#include "kdata/formats.h"
#include "kdata/print.h"
#include "kdata/transcode.h"

static void transcode(const struct wm_kformat *f, const struct wm_kmachine *m,
		      const struct wm_kprint *print, const uint8_t *record, uint32_t bytes)
{
	struct wm_kplan *plan;
	unsigned char *out;
	size_t room;

	if (wm_kplan_create(f, m, print, true, &plan, NULL))
		return;
	room = wm_kplan_bound(plan, bytes);
	out = malloc(room ? room : 1);
	if (out && wm_kplan_run(plan, record, bytes, out, room) > (int64_t)room)
		abort();
	free(out);
	wm_kplan_destroy(plan);
}

static void run(struct wm_kformats *k, const struct wm_kformat *f, const struct wm_kmachine *m,
		const uint8_t *rest, size_t bytes)
{
	const struct wm_kprint *print = wm_kformats_print(k, wm_kformats_form(k, f->id));
	uint8_t *record = fuzz_copy(rest, bytes);
	struct wm_text text;

	wm_text_init(&text);
	if (record)
		wm_kprint_run(print, k, record, (uint32_t)bytes, &text);
	if (record)
		transcode(f, m, print, record, (uint32_t)bytes);
	wm_text_done(&text);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t text_bytes, rest_bytes;
	const uint8_t *rest;
	char *text = fuzz_split(data, bytes, &text_bytes, &rest, &rest_bytes);
	const struct wm_kformat *f = NULL;
	struct wm_diag diag = {.offset = -1};
	struct wm_kmachine m;
	struct wm_kformats *k;

	wm_kmachine_init(&m, rest_bytes && rest[0] & 1 ? 4 : 8, rest_bytes && rest[0] & 2);
	k = wm_kformats_create(&m);
	if (text && k && !wm_kformats_add(k, "fuzz", text, text_bytes, &f, &diag) && f &&
	    !wm_kformats_seal(k) && rest_bytes < UINT16_MAX)
		run(k, f, &m, rest, rest_bytes);
	wm_kformats_destroy(k);
	free(text);
	return 0;
}
