/* SPDX-License-Identifier: MIT */
/*
 * tracing.c - reads the formats of the kernel's events, which perf stores as the beginning of a
 * trace.dat file:
 *
 *   17 08 44 "tracing" VERSION 0, u8 big endian, u8 bytes of a long, u32 page
 *   "header_page" 0, u64 bytes, text; "header_event" 0, u64 bytes, text
 *   u32 formats of ftrace; for each u64 bytes, text
 *   u32 systems; for each NAME 0, u32 events; for each u64 bytes, text
 *   u32 bytes, kallsyms; u32 bytes, formats of trace_printk()
 *   since version 0.6: u64 bytes, names of threads
 */
#include <errno.h>
#include <string.h>

#include "read/perfdata/perfdata_int.h"

#define SYSTEMS_MAX 65536u

static const char magic[] = "\x17\x08\x44tracing";

/* Takes a NUL-terminated string from the section; NULL if the NUL is missing. */
static const char *tracing_take_name(struct wm_pd_bytes *b)
{
	const unsigned char *nul = b->failed ? NULL : memchr(b->at, '\0', (size_t)(b->end - b->at));

	if (!nul) {
		b->failed = true;
		return NULL;
	}
	return (const char *)wm_pd_take(b, (uint64_t)(nul - b->at) + 1);
}

/* Takes the text after its size, a u64. */
static const unsigned char *tracing_take_text(struct wm_pd_bytes *b, uint64_t *ret_bytes)
{
	*ret_bytes = wm_pd_u64(b);
	return wm_pd_take(b, *ret_bytes);
}

static int tracing_add_format(struct wm_pd *pd, struct wm_pd_bytes *b, const char *system)
{
	struct wm_diag why = {.offset = 0};
	uint64_t bytes;
	const unsigned char *text = tracing_take_text(b, &bytes);
	int err;

	if (!text)
		return 0;
	err = wm_kformats_add(pd->formats, system, (const char *)text, bytes, NULL, &why);
	if (err && err != -ENOMEM && err != -EEXIST)
		wm_trace_fault(pd->trace, "", 0, "the format of an event of %s cannot be read: %s",
			       system, why.sentence);
	return err == -ENOMEM ? err : 0;
}

static int add_system(struct wm_pd *pd, struct wm_pd_bytes *b, const char *system)
{
	uint32_t nr = wm_pd_u32(b);
	int err = 0;

	for (uint32_t i = 0; !err && !b->failed && i < nr; i++)
		err = tracing_add_format(pd, b, system);
	return err;
}

static int add_systems(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	int err = add_system(pd, b, "ftrace");
	uint32_t nr = wm_pd_u32(b);

	if (nr > SYSTEMS_MAX)
		b->failed = true;
	for (uint32_t i = 0; !err && !b->failed && i < nr; i++) {
		const char *system = tracing_take_name(b);

		if (system)
			err = add_system(pd, b, system);
	}
	return err;
}

static int tracing_add_words(struct wm_pd *pd, struct wm_pd_bytes *b,
			     int (*add)(struct wm_kformats *k, const char *text, size_t bytes))
{
	uint32_t bytes = wm_pd_u32(b);
	const unsigned char *text = wm_pd_take(b, bytes);

	return text && add(pd->formats, (const char *)text, bytes) == -ENOMEM ? -ENOMEM : 0;
}

/* Stores the bytes from `begin` to the current position. */
static int tracing_keep(struct wm_pd *pd, const unsigned char *begin, const struct wm_pd_bytes *b)
{
	size_t bytes = (size_t)(b->at - begin);
	unsigned char *copy = b->failed ? NULL : wm_arena_copy(&pd->trace->arena, begin, bytes);

	if (b->failed)
		return 0;
	pd->tracing = (struct wm_pd_bytes){.at = copy, .end = copy + bytes, .swap = b->swap};
	return copy ? 0 : -ENOMEM;
}

int wm_pd_tracing(struct wm_pd *pd, struct wm_pd_bytes *b)
{
	const unsigned char *begin = b->at, *head = wm_pd_take(b, sizeof(magic) - 1), *machine;
	const char *version;
	uint64_t bytes;
	int err;

	if (pd->formats || !head || memcmp(head, magic, sizeof(magic) - 1))
		return 0;
	version = tracing_take_name(b); /* 0.5 or 0.6 */
	machine = wm_pd_take(b, 2);
	(void)wm_pd_u32(b);
	if (!machine || (machine[1] != 4 && machine[1] != 8))
		return 0;
	wm_kmachine_init(&pd->machine, machine[1], machine[0] != 0);
	pd->formats = wm_kformats_create(&pd->machine);
	if (!pd->formats)
		return -ENOMEM;
	(void)tracing_take_name(b);
	(void)tracing_take_text(b, &bytes);
	(void)tracing_take_name(b);
	(void)tracing_take_text(b, &bytes);
	err = add_systems(pd, b);
	if (!err)
		err = tracing_add_words(pd, b, wm_kformats_add_symbols);
	if (!err)
		err = tracing_add_words(pd, b, wm_kformats_add_printk);
	if (version && strcmp(version, "0.6") >= 0)
		(void)tracing_take_text(b, &bytes); /* COMM records have the thread names, too */
	if (!err)
		err = tracing_keep(pd, begin, b);
	return err ? err : wm_kformats_seal(pd->formats);
}
