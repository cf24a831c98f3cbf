/* SPDX-License-Identifier: MIT */
/* perfdata.c - entry points of the perf.data reader; see perfdata_int.h. */
#include "read/perfdata.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "read/perfdata/perfdata_int.h"

#define KALLSYMS    "kcore_dir/kallsyms"
#define MAGIC_BYTES 8
static const char magic[] = "PERFILE2", magic_swapped[] = "2ELIFREP", magic_1[] = "PERFFILE";
#define PIPE_HEADER_BYTES 16u

static bool has_magic(const unsigned char *head, size_t bytes)
{
	return bytes >= PIPE_HEADER_BYTES &&
	       (!memcmp(head, magic, MAGIC_BYTES) || !memcmp(head, magic_swapped, MAGIC_BYTES) ||
		!memcmp(head, magic_1, MAGIC_BYTES));
}

/* Finds the file with the magic in a folder: "data" or "header". */
static const char *main_of_folder(const char *path, char *name, size_t room)
{
	static const char *const names[] = {"data", "header"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned char head[PIPE_HEADER_BYTES];
		ssize_t got = -1;
		int fd;

		if (snprintf(name, room, "%s/%s", path, names[i]) >= (int)room)
			continue;
		fd = open(name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		got = pread(fd, head, sizeof(head), 0);
		close(fd);
		if (got > 0 && has_magic(head, (size_t)got))
			return names[i];
	}
	return NULL;
}

static bool perfdata_probe(const char *path, bool is_folder, const unsigned char *head,
			   size_t bytes)
{
	char name[4096];

	return is_folder ? main_of_folder(path, name, sizeof(name)) != NULL
			 : has_magic(head, bytes);
}

static int add_source(struct wm_pd *pd, const char *path, const char *file)
{
	struct wm_trace *t = pd->trace;
	struct wm_stream *stream = wm_arena_get(&t->arena, sizeof(*stream));
	struct wm_pd_source *more, s = {.fd = -1};
	struct stat st;

	if (pd->nr_sources >= WM_PD_SOURCES_MAX)
		return -E2BIG;
	more = wm_arena_grow(&t->arena, pd->sources, pd->nr_sources, sizeof(*more));
	s.file = wm_arena_copy(&t->arena, file, strlen(file));
	if (!stream || !more || !s.file)
		return -ENOMEM;
	pd->sources = more;
	s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s.fd < 0)
		return -errno;
	if (fstat(s.fd, &st) || !S_ISREG(st.st_mode)) {
		(void)close(s.fd);
		return -EBADMSG;
	}
	s.end = (uint64_t)st.st_size;
	stream->file = s.file;
	stream->cpu = -1;
	stream->instance = pd->nr_sources;
	stream->clock = pd->clock;
	s.stream = stream;
	pd->sources[pd->nr_sources++] = s;
	return wm_trace_add_stream(t, stream);
}

static int is_data_file(const struct dirent *d)
{
	return !strncmp(d->d_name, "data.", 5);
}

/* Adds the other files of a folder: they contain only records. */
static int add_folder(struct wm_pd *pd, const char *path)
{
	struct dirent **names;
	char name[4096];
	int n = scandir(path, &names, is_data_file, versionsort), err = 0;

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (!err && snprintf(name, sizeof(name), "%s/%s", path, names[i]->d_name) <
				(int)sizeof(name))
			err = add_source(pd, name, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return err;
}

static int add_clock(struct wm_pd *pd)
{
	pd->clock = wm_arena_get(&pd->trace->arena, sizeof(*pd->clock));
	if (!pd->clock)
		return -ENOMEM;
	*pd->clock =
	    (struct wm_trace_clock){.name = "perf", .hz = WM_NS_PER_SECOND, .error_ns = UINT64_MAX};
	return wm_trace_add_clock(pd->trace, pd->clock);
}

/*
 * Version 1 has the same magic in both byte orders; the header's own size, which is below 64 KiB in
 * all forms, reveals the order.
 */
static bool is_native(const unsigned char *head)
{
	if (memcmp(head, magic_1, MAGIC_BYTES) != 0)
		return memcmp(head, magic, MAGIC_BYTES) == 0;
	return wm_get_u64(head + 8, false) <= UINT16_MAX;
}

/* Determines byte order and form from the first 16 bytes. */
static int read_magic(struct wm_pd *pd, struct wm_diag *diag)
{
	struct wm_pd_source *s = &pd->sources[0];
	unsigned char head[PIPE_HEADER_BYTES];

	if (wm_pd_pread(s, head, sizeof(head), 0) || !has_magic(head, sizeof(head)))
		return wm_diag_set(diag, -EBADMSG, pd->trace->path, 0, "not a header of perf.data");
	pd->big_endian = is_native(head) == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	pd->swap = wm_order_swap(pd->big_endian);
	pd->is_pipe = wm_get_u64(head + 8, pd->swap) == PIPE_HEADER_BYTES;
	s->begin = PIPE_HEADER_BYTES;
	return 0;
}

static int finish_types(struct wm_pd *pd, struct wm_diag *diag)
{
	int err;

	if (!pd->nr_attrs)
		return wm_diag_set(
		    diag, -EBADMSG, pd->trace->path, 0,
		    "it has no event attributes (attrs), which describe its records");
	err = wm_pd_attrs_finish(pd);
	return err ? err : wm_pd_meta_types(pd);
}

static int perfdata_unpack_all(struct wm_pd *pd, struct wm_diag *diag)
{
	int err = 0;

	for (uint32_t i = 0; !err && pd->packed && i < pd->nr_sources; i++)
		err = wm_pd_unpack(pd, &pd->sources[i], diag);
	pd->packed = false;
	return err;
}

/* A pipe's header is empty: its records are described by other records, which are read first. */
static int read_pipe(struct wm_pd *pd, struct wm_diag *diag)
{
	int err = wm_pd_pipe_read(pd, diag);

	if (!err)
		err = perfdata_unpack_all(pd, diag);
	if (!err)
		err = finish_types(pd, diag);
	return err ? err : wm_pd_index(pd, diag);
}

/*
 * A file's header describes nearly everything, so one walk is enough, which finds a few more names.
 */
static int read_file(struct wm_pd *pd, struct wm_diag *diag)
{
	int err = wm_pd_header_read(pd, &pd->sources[0], diag);

	if (!err)
		err = perfdata_unpack_all(pd, diag);
	if (!err)
		err = wm_pd_index(pd, diag);
	return err ? err : finish_types(pd, diag);
}

static bool is_divisible(const struct wm_pd *pd)
{
	bool all = !pd->untimed;

	for (uint32_t i = 0; i < pd->nr_attrs; i++)
		all = all && pd->attrs[i].shape.sample_type & WM_PERF_SAMPLE_TID;
	return all;
}

static int perfdata_read_all(struct wm_pd *pd, struct wm_diag *diag)
{
	int err = read_magic(pd, diag);

	if (!err)
		err = pd->is_pipe ? read_pipe(pd, diag) : read_file(pd, diag);
	pd->trace->divisible = !err && is_divisible(pd);
	return err;
}

/* --- a copy of the kernel, from perf record --kcore ------------------------------------------- */

/*
 * Opens the file with the kernel's symbols. Returns a descriptor or -errno; -ENOENT: the trace has
 * none.
 */
static int open_kallsyms(const struct wm_trace *t)
{
	struct stat st;
	char path[4096];
	int fd, err = 0;

	if (snprintf(path, sizeof(path), "%s/" KALLSYMS, t->path) >= (int)sizeof(path))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		err = -EBADMSG;
	else if (st.st_size > (off_t)WM_KALLSYMS_MAX)
		err = -EFBIG;
	if (err)
		(void)close(fd);
	return err ? err : fd;
}

static int kallsyms(struct wm_trace *t, char **ret_text, size_t *ret_bytes)
{
	int fd = open_kallsyms(t), err;

	if (fd < 0)
		return fd;
	err = wm_file_read_fd(fd, WM_KALLSYMS_MAX, ret_text, ret_bytes);
	(void)close(fd);
	return err;
}

/*
 * Determines which parts of the copy of /proc/kcore are used, and reports a fault if they are not
 * usable. This is done when the trace is opened, because later faults need a lock.
 */
static int note_kcore(struct wm_trace *t)
{
	struct stat st;
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/kcore_dir", t->path) >= (int)sizeof(path) ||
	    stat(path, &st) || !S_ISDIR(st.st_mode))
		return 0;
	fd = open_kallsyms(t);
	if (fd >= 0)
		(void)close(fd);
	else
		wm_trace_fault(t, KALLSYMS, 0,
			       "cannot be read (%s): it is not used for names of kernel functions",
			       fd == -EBADMSG ? "not a regular file" : strerror(-fd));
	return wm_trace_add_word(t, "kernel's copy",
				 fd < 0 ? "kcore_dir: neither its symbols nor its code are used"
					: "kcore_dir: its symbols are used, its code is not");
}

/* --- entry points ------------------------------------------------------------------------- */

static int open_perfdata(struct wm_trace *t, const char *path, struct wm_diag *diag)
{
	struct wm_pd *pd = wm_arena_get(&t->arena, sizeof(*pd));
	char name[4096];
	const char *main;
	int err;

	if (!pd)
		return wm_diag_set(diag, -ENOMEM, path, -1, "out of memory");
	t->own = pd;
	pd->trace = t;
	snprintf(t->version, sizeof(t->version), "2");
	err = add_clock(pd);
	main = main_of_folder(path, name, sizeof(name));
	if (!err)
		err = main ? add_source(pd, name, main) : add_source(pd, path, "");
	if (!err && main)
		err = add_folder(pd, path);
	if (!err && main)
		err = note_kcore(t);
	if (err)
		return wm_diag_set(diag, err, path, -1, "cannot be opened: %s", strerror(-err));
	err = perfdata_read_all(pd, diag);
	if (err && diag && !diag->sentence[0])
		wm_diag_set(diag, err, path, -1, "cannot be read: %s", strerror(-err));
	return err;
}

static void close_perfdata(struct wm_trace *t)
{
	struct wm_pd *pd = t->own;

	for (uint32_t i = 0; pd && i < pd->nr_sources; i++)
		close(pd->sources[i].fd);
	if (pd) {
		wm_kformats_destroy(pd->formats);
		free(pd->ids);
		wm_table_done(&pd->id_table);
		free(pd->counters);
		wm_table_done(&pd->counter_table);
		free(pd->starts);
		free(pd->comms);
		wm_table_done(&pd->last_comms);
		free(pd->rounds);
	}
}

static bool perfdata_print(const struct wm_trace *t, const struct wm_event *e,
			   const struct wm_kernel_names *names, struct wm_text *out)
{
	const struct wm_pd *pd = t->own;
	const struct wm_pd_attr *a = e->type->meta ? NULL : e->type->own;
	const struct wm_kprint *print;

	if (!a || !a->format || !e->raw)
		return false;
	print = wm_kformats_print(pd->formats, a->form);
	if (!print)
		return false;
	wm_kprint_run_named(print, pd->formats, names, e->raw, e->raw_bytes, out);
	return true;
}

const struct wm_reader_ops wm_perfdata_ops = {
    .name = "perf.data",
    .probe = perfdata_probe,
    .open = open_perfdata,
    .close = close_perfdata,
    .reader_create = wm_pd_reader_create,
    .reader_begin = wm_pd_reader_begin,
    .reader_read = wm_pd_reader_read,
    .reader_destroy = wm_pd_reader_destroy,
    .comm = wm_pd_comm,
    .print = perfdata_print,
    .kallsyms = kallsyms,
};
