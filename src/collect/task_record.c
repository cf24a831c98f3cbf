/* SPDX-License-Identifier: MIT */
/*
 * task_record.c - the table of the records that are kept, with their fields and the fields'
 * offsets.
 */
#include "collect/task_record_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/desc_build.h"

#define AT(f)      offsetof(struct wm_perf_record, f)
#define FIELDS_MAX 10

/* Special values for `width`. TEXT: a string; ID: a mapping's build-id. */
enum { TEXT = 0, ID = 255 };

static const struct kept {
	uint32_t kind;
	const char *name, *schema;
	struct {
		size_t offset;
		uint8_t width;
	} fields[FIELDS_MAX];
	uint32_t nr_fields;
} kept[] = {
    {WM_PERF_COMM,
     "comm",
     "pid:i4;tid:i4;comm:s;misc:x2",
     {{AT(comm.pid), 4}, {AT(comm.tid), 4}, {AT(comm.comm), TEXT}, {AT(header.misc), 2}},
     4},
    {WM_PERF_FORK,
     "fork",
     "pid:i4;ppid:i4;tid:i4;ptid:i4;misc:x2",
     {{AT(task.pid), 4},
      {AT(task.ppid), 4},
      {AT(task.tid), 4},
      {AT(task.ptid), 4},
      {AT(header.misc), 2}},
     5},
    {WM_PERF_EXIT,
     "exit",
     "pid:i4;ppid:i4;tid:i4;ptid:i4",
     {{AT(task.pid), 4}, {AT(task.ppid), 4}, {AT(task.tid), 4}, {AT(task.ptid), 4}},
     4},
    {WM_PERF_MMAP2,
     "mmap2",
     "pid:i4;tid:i4;addr:x8;len:x8;pgoff:x8;prot:u4;flags:u4;build_id:z;filename:s;"
     "misc:x2",
     {{AT(mmap.pid), 4},
      {AT(mmap.tid), 4},
      {AT(mmap.addr), 8},
      {AT(mmap.len), 8},
      {AT(mmap.pgoff), 8},
      {AT(mmap.prot), 4},
      {AT(mmap.flags), 4},
      {AT(mmap), ID},
      {AT(mmap.filename), TEXT},
      {AT(header.misc), 2}},
     10},
    {WM_PERF_KSYMBOL,
     "ksymbol",
     "addr:x8;len:u4;type:u2;flags:u2;name:s",
     {{AT(ksymbol.addr), 8},
      {AT(ksymbol.len), 4},
      {AT(ksymbol.type), 2},
      {AT(ksymbol.flags), 2},
      {AT(ksymbol.name), TEXT}},
     5},
    {WM_PERF_SWITCH,
     "switch",
     "pid:i4;tid:i4;misc:x2",
     {{AT(id.pid), 4}, {AT(id.tid), 4}, {AT(header.misc), 2}},
     3},
    {WM_PERF_THROTTLE,
     "throttle",
     "id:u8;stream_id:u8",
     {{AT(throttle.id), 8}, {AT(throttle.stream_id), 8}},
     2},
    {WM_PERF_UNTHROTTLE,
     "unthrottle",
     "id:u8;stream_id:u8",
     {{AT(throttle.id), 8}, {AT(throttle.stream_id), 8}},
     2},
};
#define NR_KEPT (sizeof(kept) / sizeof(kept[0]))

static int task_record_declare(struct wm_kernel_stream *tasks, const struct kept *k)
{
	struct wm_class *class;
	size_t bytes;
	unsigned char *desc = wm_desc_simple("perf", k->name, k->schema, NULL, 0, &bytes);
	int err = desc ? wm_class_parse(desc, bytes, NULL, &class, NULL) : -ENOMEM;

	free(desc);
	return err ? err : wm_stream_kernel_event(tasks, k->kind, class);
}

int wm_task_records_declare(struct wm_kernel_stream *tasks, bool switches)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_KEPT; i++)
		if (switches || kept[i].kind != WM_PERF_SWITCH)
			err = task_record_declare(tasks, &kept[i]);
	return err;
}

static size_t task_record_put_text(unsigned char *to, const struct wm_perf_text *text)
{
	memcpy(to, text->data, text->bytes);
	to[text->bytes] = '\0';
	return text->bytes + 1;
}

static size_t put_id(unsigned char *to, const struct wm_perf_mmap *mmap)
{
	uint32_t n = mmap->build_id ? mmap->build_id_bytes : 0;

	memcpy(to, &n, sizeof(n));
	if (n)
		memcpy(to + sizeof(n), mmap->build_id, n);
	return sizeof(n) + n;
}

size_t wm_task_record_put(const struct wm_perf_record *r, unsigned char *to)
{
	const struct kept *k = kept;
	unsigned char *at = to;

	while (k < kept + NR_KEPT && k->kind != r->header.type)
		k++;
	if (k == kept + NR_KEPT)
		return 0;
	for (uint32_t i = 0; i < k->nr_fields; i++) {
		const void *from = (const unsigned char *)r + k->fields[i].offset;
		uint8_t width = k->fields[i].width;

		if (width == TEXT) {
			at += task_record_put_text(at, from);
		} else if (width == ID) {
			at += put_id(at, from);
		} else {
			memcpy(at, from, width);
			at += width;
		}
	}
	return (size_t)(at - to);
}
