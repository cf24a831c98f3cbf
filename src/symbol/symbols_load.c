/* SPDX-License-Identifier: MIT */
/*
 * symbols_load.c - reads the names of one module: from its files, or from a
 * compiler's /tmp/perf-PID.map.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/elf_mini.h"
#include "symbol/symbols_int.h"

#define STATUS_MAX (64u << 10)

/* ---- files ------------------------------------------------------------------------ */

/*
 * Stores which file range is at which image address. Code comes first, because a page at the border
 * of two segments is in both.
 */
static int note_segments(struct wm_module_symbols *t, const struct wm_elf *e)
{
	t->segments = reallocarray(NULL, e->nr_segments + 1, sizeof(*t->segments));
	if (!t->segments)
		return -ENOMEM;
	for (int code = 1; code >= 0; code--) {
		for (uint32_t i = 0; i < e->nr_segments; i++) {
			const struct wm_elf_segment *g = &e->segments[i];
			uint64_t into = g->address & 4095;

			if (g->type != PT_LOAD || (int)(g->flags & PF_X) != code)
				continue;
			if (g->offset < into || g->address < into)
				into = 0;
			t->segments[t->nr_segments++] = (struct wm_module_segment){
			    g->offset - into, g->memory_bytes + into, g->address - into};
		}
	}
	return 0;
}

/* Adds the function names that are compressed in the image, if any. Returns 0 or -ENOMEM. */
static int symbols_load_add_mini(struct wm_module_symbols *t, const struct wm_elf *image)
{
	struct wm_elf *mini;
	int err = wm_elf_mini_open(image, &mini, NULL);

	if (!err) {
		err = wm_code_add_elf(&t->code, mini, NULL);
		wm_elf_close(mini);
	}
	return err == -ENOMEM ? err : 0;
}

/*
 * Adds the names in the debug file; if it has none, those in the image: the compressed ones, and
 * those in .dynsym, which cannot be stripped.
 */
static int symbols_load_add_names(struct wm_module_symbols *t, const struct wm_module_files *f,
				  struct wm_diag *diag)
{
	int err = f->debug ? wm_code_add_elf(&t->code, f->debug, diag) : 0;

	if (!err && f->image && !t->code.nr) {
		err = symbols_load_add_mini(t, f->image);
		if (!err)
			err = wm_code_add_elf(&t->code, f->image, diag);
	}
	if (!err && f->image && t->code.nr)
		err = wm_code_add_plt(&t->code, f->image);
	return err;
}

static int load_files(struct wm_module_symbols *t, const struct wm_module_files *f)
{
	struct wm_diag diag = {.offset = -1};
	int err = note_segments(t, f->image ? f->image : f->debug);

	if (!err)
		err = symbols_load_add_names(t, f, &diag);
	if (err == -ENOMEM)
		return err;
	if (err) {
		t->why = WM_UNNAMED_UNREADABLE;
		memcpy(t->sentence, diag.sentence, sizeof(t->sentence));
		return 0;
	}
	t->why = t->code.nr ? WM_NAMED : WM_UNNAMED_STRIPPED;
	t->otherwise = t->code.static_table ? WM_UNNAMED_OUTSIDE : WM_UNNAMED_STRIPPED;
	return 0;
}

static int symbols_load_file(struct wm_module_symbols *t, const struct wm_module *m,
			     const struct wm_module_places *places)
{
	struct wm_diag diag = {.offset = -1};
	struct wm_module_files files;
	int err = 0;

	t->why = wm_module_open(m, places, &files, &diag);
	if (t->why == WM_NAMED)
		err = load_files(t, &files);
	else
		memcpy(t->sentence, diag.sentence, sizeof(t->sentence));
	wm_module_close(&files);
	return err;
}

/* ---- code made at run time --------------------------------------------------------------- */

/*
 * Parses the lines that just-in-time compilers write: "START BYTES name", with hexadecimal numbers.
 * Returns 0 or -ENOMEM.
 */
static int jit_map_parse(struct wm_code *c, char *text)
{
	char *next;

	for (char *line = text; line && *line; line = next) {
		struct wm_code_symbol s = {.binding = STB_GLOBAL};
		char *at;
		uint64_t bytes;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		s.start = strtoull(line, &at, 16);
		if (at == line || *at != ' ')
			continue;
		bytes = strtoull(at, &at, 16);
		if (*at++ != ' ' || !*at || __builtin_add_overflow(s.start, bytes, &s.end))
			continue;
		s.name = wm_arena_copy(&c->names, at, strlen(at));
		if (!s.name)
			return -ENOMEM;
		if (wm_code_add(c, &s))
			break;
	}
	return 0;
}

/* Returns whether the file belongs to this user or root: other files in /tmp are not trusted. */
static bool symbols_load_is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid());
}

static int read_jit_map(struct wm_module_symbols *t, const char *path)
{
	char *text;
	size_t bytes;
	int fd, err = wm_module_open_plain(path, &fd);

	if (err)
		return err;
	err =
	    symbols_load_is_ours(fd) ? wm_file_read_fd(fd, WM_JIT_MAP_MAX, &text, &bytes) : -EPERM;
	(void)close(fd);
	if (err)
		return err;
	err = jit_map_parse(&t->code, text);
	free(text);
	return err;
}

/* Returns the process's pid in its own namespace, which is different in a container; 0: unknown. */
static int own_pid(int32_t pid)
{
	char path[40], *text, *at;
	size_t bytes;
	int own = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (wm_file_read(AT_FDCWD, path, STATUS_MAX, &text, &bytes))
		return 0;
	at = strstr(text, "\nNSpid:");
	if (at) {
		at[strcspn(at + 1, "\n") + 1] = '\0';
		at = strrchr(at, '\t');
		own = at ? (int)strtol(at, NULL, 10) : 0;
	}
	free(text);
	return own;
}

static int load_jit(struct wm_module_symbols *t, const struct wm_module *m,
		    const struct wm_module_places *places)
{
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s%s", places->symfs ? places->symfs : "", m->path);
	err = read_jit_map(t, path);
	if (err && err != -ENOMEM && !places->no_processes && !places->symfs) {
		snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", m->pid,
			 own_pid(m->pid));
		err = read_jit_map(t, path);
	}
	t->why = t->code.nr ? WM_NAMED : WM_UNNAMED_NO_JIT_MAP;
	return err == -ENOMEM ? err : 0;
}

int wm_symbols_load(struct wm_module_symbols *t, const struct wm_module *m,
		    const struct wm_symbols_options *options)
{
	switch (m->kind) {
	case WM_MODULE_FILE:
	case WM_MODULE_VDSO:
	case WM_MODULE_VDSO32:
		return symbols_load_file(t, m, &options->places);
	case WM_MODULE_JIT:
		return load_jit(t, m, &options->places);
	case WM_MODULE_CODE:
		t->why = WM_NAMED;
		return 0;
	case WM_MODULE_GUEST:
		t->why = WM_UNNAMED_NO_KALLSYMS;
		return 0;
	default:
		t->why = WM_UNNAMED_NO_CODE;
		return 0;
	}
}
