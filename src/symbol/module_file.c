/* SPDX-License-Identifier: MIT */
/*
 * module_file.c - see module_file_int.h. File names come from a trace and may be hostile, so only
 * regular files are opened. Files are searched for in perf's order, because the first one found
 * determines function names.
 */
#include "symbol/module_file_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/text.h"
#include "symbol/vdso_int.h"

#define DEBUG_ROOT     "/usr/lib/debug"
#define LINK_MAX_BYTES 4096u

static const char *const texts[WM_UNNAMED_NR] = {
    [WM_NAMED] = "named",
    [WM_UNNAMED_NO_MAPPING] = "no known mapping at the address",
    [WM_UNNAMED_NO_CODE] = "memory that holds no code",
    [WM_UNNAMED_NO_FILE] = "the file is not on this machine",
    [WM_UNNAMED_UNREADABLE] = "the file cannot be read",
    [WM_UNNAMED_CHANGED] = "the file is a different build now",
    [WM_UNNAMED_STRIPPED] = "the file's symbols were stripped",
    [WM_UNNAMED_OUTSIDE] = "between the file's symbols",
    [WM_UNNAMED_NO_KALLSYMS] = "the trace has no kernel symbols, and another kernel is running",
    [WM_UNNAMED_NO_JIT_MAP] = "the JIT compiler left no map in /tmp",
};

const char *wm_unnamed_text(enum wm_unnamed why)
{
	return why < WM_UNNAMED_NR ? texts[why] : "";
}

int wm_module_open_plain(const char *path, int *ret_fd)
{
	struct stat st;
	int fd, err = 0;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOENT;
	if (err)
		close(fd);
	else
		*ret_fd = fd;
	return err;
}

/* ---- one file ------------------------------------------------------------------ */

/* State of the search for a file, with the most specific failure so far. */
struct looking {
	const struct wm_module *module;
	const struct wm_module_places *places;
	struct wm_module_files *files;
	struct wm_text path;
	enum wm_unnamed why;
	struct wm_diag *diag;
};

/*
 * Returns whether the file has the build-id. A trace may truncate a long build-id or pad a short
 * one with zeros.
 */
static bool module_file_is_build(const struct wm_elf *e, const struct wm_module *m)
{
	uint32_t nr = e->build_id_bytes < m->build_id_bytes ? e->build_id_bytes : m->build_id_bytes;
	bool filled = true;

	for (uint32_t i = nr; i < m->build_id_bytes; i++)
		filled &= !m->build_id[i];
	return nr && filled && !memcmp(e->build_id, m->build_id, nr) &&
	       (e->build_id_bytes <= nr || nr == WM_MODULE_BUILD_BYTES);
}

/* Opens the file at x->path if it has the module's build-id, or if that is unknown. */
static struct wm_elf *open_build(struct looking *x)
{
	struct wm_elf *e;
	int fd, err;

	if (x->path.failed || !x->path.data)
		return NULL;
	err = wm_module_open_plain(x->path.data, &fd);
	if (err) {
		if (err != -ENOENT && err != -ENOTDIR && x->why == WM_UNNAMED_NO_FILE) {
			x->why = WM_UNNAMED_UNREADABLE;
			(void)wm_diag_set(x->diag, err, NULL, -1, "%s", strerror(-err));
		}
		return NULL;
	}
	if (wm_elf_open_fd(fd, x->path.data, &e, x->diag) < 0) {
		x->why = x->why == WM_UNNAMED_NO_FILE ? WM_UNNAMED_UNREADABLE : x->why;
		return NULL;
	}
	if (!x->module->build_id_bytes || module_file_is_build(e, x->module))
		return e;
	x->why = WM_UNNAMED_CHANGED;
	wm_elf_close(e);
	return NULL;
}

static void module_file_set_path(struct looking *x, const char *a, const char *b)
{
	wm_text_cut(&x->path, 0);
	if (x->places->symfs)
		wm_text_str(&x->path, x->places->symfs);
	wm_text_str(&x->path, a);
	wm_text_str(&x->path, b);
}

/*
 * Builds the path ROOT/.build-id/xx/yyyy... from the module's build-id, or the image's if that is
 * unknown.
 */
static bool set_build_path(struct looking *x, const char *root, const char *end)
{
	const unsigned char *id = x->module->build_id;
	uint32_t bytes = x->module->build_id_bytes;

	if (!bytes && x->files->image) {
		id = x->files->image->build_id;
		bytes = x->files->image->build_id_bytes;
	}
	if (bytes < 2)
		return false;
	wm_text_cut(&x->path, 0);
	wm_text_str(&x->path, root);
	wm_text_f(&x->path, "/.build-id/%02x/", id[0]);
	for (uint32_t i = 1; i < bytes; i++)
		wm_text_f(&x->path, "%02x", id[i]);
	wm_text_str(&x->path, end);
	return true;
}

/* ---- the file itself -------------------------------------------------------------- */

static const char deleted[] = " (deleted)";

/* Tries the places that require a known build-id, because the path may by now name another file. */
static struct wm_elf *open_elsewhere(struct looking *x)
{
	const struct wm_module *m = x->module;
	size_t n = strlen(m->path), tail = strlen(deleted);
	struct wm_elf *e = NULL;
	char root[40];

	if (x->places->cache && set_build_path(x, x->places->cache, "/elf"))
		e = open_build(x);
	if (!e && m->pid > 0 && !x->places->no_processes && !x->places->symfs) {
		snprintf(root, sizeof(root), "/proc/%d/root", m->pid);
		module_file_set_path(x, root, m->path);
		e = open_build(x);
	}
	if (!e && n > tail && !strcmp(m->path + n - tail, deleted)) {
		module_file_set_path(x, m->path, "");
		wm_text_cut(&x->path, x->path.bytes - tail);
		e = open_build(x);
	}
	return e;
}

static struct wm_elf *open_image(struct looking *x)
{
	struct wm_elf *e;

	module_file_set_path(x, x->module->path, "");
	e = open_build(x);
	if (!e && x->module->build_id_bytes)
		e = open_elsewhere(x);
	return e;
}

/* ---- the file with its symbols ------------------------------------------------------ */

static bool module_file_has_symbols(const struct wm_elf *e)
{
	for (uint32_t i = 1; i < e->nr_sections; i++)
		if (e->sections[i].type == SHT_SYMTAB)
			return true;
	return false;
}

static bool same_build(const struct wm_elf *a, const struct wm_elf *b)
{
	return a->build_id_bytes && a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes);
}

static bool has_sum(const struct wm_elf *e, uint32_t sum)
{
	unsigned char buffer[65536];
	uLong have = crc32(0, NULL, 0);

	for (uint64_t at = 0; at < e->bytes;) {
		size_t n = e->bytes - at < sizeof(buffer) ? e->bytes - at : sizeof(buffer);

		if (wm_elf_read(e, at, buffer, n, NULL) < 0)
			return false;
		have = crc32(have, buffer, (uInt)n);
		at += n;
	}
	return (uint32_t)have == sum;
}

/* Tries the symbol file at x->path; `sum` is its checksum, used if neither file has a build-id. */
static bool try_debug(struct looking *x, const uint32_t *sum)
{
	const struct wm_elf *image = x->files->image;
	struct wm_elf *e = open_build(x);

	if (!e)
		return false;
	if (module_file_has_symbols(e) &&
	    (!image || same_build(e, image) ||
	     (!image->build_id_bytes && (!sum || has_sum(e, *sum))))) {
		x->files->debug = e;
		return true;
	}
	wm_elf_close(e);
	return false;
}

/* Reads .gnu_debuglink: a name, and the checksum of that file. */
static bool read_link(const struct wm_elf *e, char name[LINK_MAX_BYTES], uint32_t *ret_sum)
{
	const struct wm_elf_section *s = wm_elf_section(e, ".gnu_debuglink");
	size_t n;

	if (!s || s->type == SHT_NOBITS || s->bytes > LINK_MAX_BYTES || s->bytes < 8 ||
	    wm_elf_read(e, s->offset, name, s->bytes, NULL) < 0)
		return false;
	n = strnlen(name, s->bytes);
	if (!n || memchr(name, '/', n) || (n & ~(size_t)3) + 8 > s->bytes)
		return false;
	memcpy(ret_sum, name + (n & ~(size_t)3) + 4, 4);
	return true;
}

static bool try_link(struct looking *x)
{
	static const char *const folders[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_ROOT, "/"}};
	const struct wm_elf *image = x->files->image;
	const char *path = x->module->path, *slash = strrchr(path, '/');
	char name[LINK_MAX_BYTES];
	uint32_t sum;

	if (!image || !slash || !read_link(image, name, &sum))
		return false;
	for (size_t i = 0; i < 3; i++) {
		module_file_set_path(x, folders[i][0], "");
		wm_text_add(&x->path, path, (size_t)(slash - path));
		wm_text_str(&x->path, folders[i][1]);
		wm_text_str(&x->path, name);
		if (try_debug(x, &sum))
			return true;
	}
	return false;
}

static bool find_debug(struct looking *x)
{
	const char *path = x->module->path;
	char root[4096];

	if (try_link(x))
		return true;
	if (x->places->cache && set_build_path(x, x->places->cache, "/debug") && try_debug(x, NULL))
		return true;
	module_file_set_path(x, DEBUG_ROOT, path);
	wm_text_str(&x->path, ".debug");
	if (try_debug(x, NULL))
		return true;
	module_file_set_path(x, DEBUG_ROOT, path);
	if (try_debug(x, NULL))
		return true;
	snprintf(root, sizeof(root), "%s" DEBUG_ROOT, x->places->symfs ? x->places->symfs : "");
	return set_build_path(x, root, ".debug") && try_debug(x, NULL);
}

/* ---- the vdso ------------------------------------------------------------------------ */

/* Opens this machine's vdso, since the kernel maps the same one into all processes. */
static enum wm_unnamed open_vdso(const struct wm_module *m, struct wm_module_files *ret)
{
	if (m->kind == WM_MODULE_VDSO32 ? wm_vdso_open_narrow(&ret->image)
					: wm_vdso_open(&ret->image))
		return WM_UNNAMED_NO_FILE;
	if (!m->build_id_bytes || module_file_is_build(ret->image, m))
		return WM_NAMED;
	wm_module_close(ret);
	return WM_UNNAMED_CHANGED;
}

enum wm_unnamed wm_module_open(const struct wm_module *m, const struct wm_module_places *places,
			       struct wm_module_files *ret, struct wm_diag *diag)
{
	struct looking x = {
	    .module = m, .places = places, .files = ret, .why = WM_UNNAMED_NO_FILE, .diag = diag};
	enum wm_unnamed why;

	*ret = (struct wm_module_files){0};
	if (m->kind == WM_MODULE_VDSO || m->kind == WM_MODULE_VDSO32)
		return open_vdso(m, ret);
	if (m->kind != WM_MODULE_FILE || m->path[0] != '/')
		return WM_UNNAMED_NO_FILE;
	wm_text_init(&x.path);
	ret->image = open_image(&x);
	why = x.why;
	x.diag = NULL;
	if (!places->no_debug_files)
		(void)find_debug(&x);
	wm_text_done(&x.path);
	return ret->image || ret->debug ? WM_NAMED : why;
}

void wm_module_close(struct wm_module_files *f)
{
	wm_elf_close(f->image);
	wm_elf_close(f->debug);
	*f = (struct wm_module_files){0};
}
