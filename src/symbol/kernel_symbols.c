/* SPDX-License-Identifier: MIT */
/*
 * kernel_symbols.c - the symbols of the kernel and its modules. They come from the trace; else from
 * this machine, if it runs the same kernel; else from perf's build cache, or the debug information
 * of that build. The kernel's address differs from boot to boot: symbols from another boot are
 * corrected by the recorded address of one symbol. A trace without the kernel's build-id (from perf
 * record -z, -B, -o -) is assumed to come from this machine's kernel if host, release and this
 * address match.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "base/hex.h"
#include "symbol/symbols_int.h"

#define NOTES_MAX (1u << 20)

enum { OF_KERNEL, OF_MODULE }; /* symbol tags */

/* ---- lines -------------------------------------------------------------------- */

/*
 * Returns whether perf uses symbols of this type: functions and data. Small letters are local
 * symbols.
 */
static bool kernel_symbols_is_wanted(char type)
{
	return memchr("TWDB", type & ~32, 4) != NULL;
}

/*
 * Parses "ffffffff81000000 T _text" or "ffffffffc0000000 t x\t[module]"; may overwrite *end.
 * Returns 0 or -errno.
 */
static int kernel_symbols_add_line(struct wm_code *c, char *line, char *end, uint64_t *any)
{
	struct wm_code_symbol s = {0};
	size_t digits = wm_hex_read(line, end, &s.start);
	char *at = line + digits, *name, *tail;

	if (!digits || digits > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ' ||
	    !kernel_symbols_is_wanted(at[1]))
		return 0;
	*any |= s.start;
	if (!s.start)
		return 0; /* the address is hidden from this user; another source may have it */
	name = at + 3;
	tail = memchr(name, '\t', (size_t)(end - name));
	s.tag = tail ? OF_MODULE : OF_KERNEL;
	s.end = s.start;
	s.binding = at[1] == 'W' ? STB_WEAK : at[1] & 32 ? STB_LOCAL : STB_GLOBAL;
	if (name[0] == '$' || name == (tail ? tail : end))
		return 0;
	*(tail ? tail : end) = '\0';
	s.name = name;
	s.asked = true; /* kernel names are not mangled */
	return wm_code_add(c, &s);
}

/* Ends the last symbol of the kernel or of a module before the gap to the next module. */
static void end_at_gaps(struct wm_code *c)
{
	for (size_t i = 0; i + 1 < c->nr; i++) {
		struct wm_code_symbol *s = &c->symbols[i];

		if (s->tag != s[1].tag && s->start != s[1].start)
			s->end = (s->start + 4096 + 4095) & ~4095ull;
	}
}

int wm_kallsyms_parse(struct wm_code *c, char *text, size_t bytes)
{
	char *at = text, *end = text + bytes, *line;
	uint64_t any = 0;
	int err = c->nr_tables < sizeof(c->tables) / sizeof(c->tables[0]) ? 0 : -ENOENT;

	for (; !err && at < end; at = line + 1) {
		line = memchr(at, '\n', (size_t)(end - at));
		if (!line)
			line = end;
		err = kernel_symbols_add_line(c, at, line, &any);
	}
	if (err == -EFBIG)
		err = 0; /* the limit is reached: keep the names read so far */
	if (err || !any) {
		free(text);
		return err ? err : -ENOENT;
	}
	c->tables[c->nr_tables++] = text;
	wm_code_sort(c);
	end_at_gaps(c);
	return 0;
}

/* ---- sources --------------------------------------------------------------------- */

static int load_trace(struct wm_module_symbols *t, const struct wm_module *m)
{
	const char *text;
	size_t bytes;
	int err = m->trace ? wm_trace_kallsyms(m->trace, &text, &bytes) : -ENOENT;
	char *copy;

	if (err)
		return err;
	copy = malloc(bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	return wm_kallsyms_parse(&t->code, copy, bytes);
}

static int kernel_symbols_load_file(struct wm_module_symbols *t, const char *path)
{
	size_t bytes;
	char *text;
	int err = wm_file_read(AT_FDCWD, path, WM_KALLSYMS_MAX, &text, &bytes);

	return err ? err : wm_kallsyms_parse(&t->code, text, bytes);
}

bool wm_symbols_kernel_runs(const unsigned char *id, uint32_t id_bytes)
{
	bool is = false;
	char *notes;
	size_t bytes;

	if (!id_bytes || wm_file_read(AT_FDCWD, "/sys/kernel/notes", NOTES_MAX, &notes, &bytes))
		return false;
	for (size_t at = 0; !is && bytes - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr n;
		uint64_t name = at + sizeof(n), desc, next;

		memcpy(&n, notes + at, sizeof(n));
		desc = name + ((n.n_namesz + 3ull) & ~3ull);
		next = desc + ((n.n_descsz + 3ull) & ~3ull);
		if (next > bytes)
			break;
		is = n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		     !memcmp(notes + name, "GNU", 4) && n.n_descsz == id_bytes &&
		     !memcmp(notes + desc, id, id_bytes);
		at = (size_t)next;
	}
	free(notes);
	return is;
}

static int load_cached(struct wm_module_symbols *t, const char *cache, const unsigned char *id,
		       uint32_t id_bytes)
{
	char path[4096];
	int n;

	if (!cache || !id_bytes)
		return -ENOENT;
	n = snprintf(path, sizeof(path), "%s/[kernel.kallsyms]/", cache);
	for (uint32_t i = 0; i < id_bytes && n + 3 < (int)sizeof(path); i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", id[i]);
	if (n + 16 >= (int)sizeof(path))
		return -ENAMETOOLONG;
	strcpy(path + n, "/kallsyms");
	return kernel_symbols_load_file(t, path);
}

uint32_t wm_symbols_kernel_build(const struct wm_module *m, const unsigned char **ret_id)
{
	*ret_id = m->build_id;
	if (m->kind == WM_MODULE_KERNEL && m->build_id_bytes)
		return m->build_id_bytes;
	for (uint32_t i = 0; m->trace && i < m->trace->nr_binaries; i++) {
		const struct wm_trace_binary *b = &m->trace->binaries[i];

		if (b->kernel && !strncmp(b->path, "[kernel.", 8)) {
			*ret_id = b->build_id;
			return b->build_id_bytes;
		}
	}
	return 0;
}

uint64_t wm_symbols_kernel_moved(const struct wm_code *c, const struct wm_kernel_mark *mark)
{
	for (size_t i = 0; mark->address && i < c->nr; i++)
		if (!strcmp(c->symbols[i].name, mark->name))
			return mark->address - c->symbols[i].start;
	return 0;
}

static int kernel_symbols_open_at(const char *path, const struct wm_module_places *places,
				  const unsigned char *id, uint32_t id_bytes,
				  struct wm_module_files *ret)
{
	struct wm_module vmlinux = {
	    .path = path, .kind = WM_MODULE_FILE, .pid = -1, .build_id_bytes = (uint8_t)id_bytes};

	memcpy(vmlinux.build_id, id, id_bytes);
	return wm_module_open(&vmlinux, places, ret, NULL) == WM_NAMED ? 0 : -ENOENT;
}

int wm_vmlinux_open(const struct wm_module_places *places, const unsigned char *id,
		    uint32_t id_bytes, struct wm_module_files *ret)
{
	/* wm_module_open() also looks below /usr/lib/debug. */
	static const char *const paths[] = {"/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux",
					    "/lib/modules/%s/vmlinux"};
	struct utsname name;
	char path[256];
	int err;

	if (!id_bytes || id_bytes > WM_MODULE_BUILD_BYTES)
		return -ENOENT;
	err = kernel_symbols_open_at("/boot/vmlinux", places, id, id_bytes, ret);
	for (size_t i = 0; err && i < sizeof(paths) / sizeof(paths[0]) && !uname(&name); i++) {
		(void)snprintf(path, sizeof(path), paths[i], name.release);
		err = kernel_symbols_open_at(path, places, id, id_bytes, ret);
	}
	return err;
}

static int load_vmlinux(struct wm_module_symbols *t, const struct wm_module_places *places,
			const unsigned char *id, uint32_t id_bytes)
{
	struct wm_module_files files;
	int err = wm_vmlinux_open(places, id, id_bytes, &files);

	if (err)
		return err;
	err = wm_code_add_elf(&t->code, files.debug ? files.debug : files.image, NULL);
	wm_module_close(&files);
	if (!err && !t->code.nr)
		err = -ENOENT;
	if (!err)
		wm_code_sort(&t->code);
	return err;
}

/*
 * Sets the reason: the trace comes from the running kernel, but this user may not see its
 * addresses.
 */
static void say_hidden(struct wm_module_symbols *t)
{
	strcpy(t->sentence, "the running kernel hides its addresses (kernel.kptr_restrict); read "
			    "the trace as root");
}

static bool kernel_symbols_is_build(const unsigned char *id, uint32_t id_bytes)
{
	for (uint32_t i = 0; i < id_bytes; i++)
		if (id[i])
			return true;
	return false;
}

/*
 * Returns whether a trace without the kernel's build-id was recorded on this host with this kernel
 * release.
 */
static bool seems_to_run(const struct wm_module *m)
{
	const char *host = m->trace ? wm_trace_word(m->trace, "host") : NULL;
	const char *release = host ? wm_trace_word(m->trace, "kernel") : NULL;
	struct utsname now;

	return release && !uname(&now) && !strcmp(host, now.nodename) &&
	       !strcmp(release, now.release);
}

/* Checks that the recorded symbol is at its recorded address. */
static bool is_in_place(const struct wm_code *c, const struct wm_kernel_mark *mark)
{
	for (size_t i = 0; mark->address && i < c->nr; i++)
		if (c->symbols[i].start == mark->address && !strcmp(c->symbols[i].name, mark->name))
			return true;
	return false;
}

/* Loads the running kernel's names if it is the traced one. Returns 0 or -errno. */
static int load_running(struct wm_module_symbols *t, const struct wm_module *m,
			const struct wm_symbols_options *options, const unsigned char *id,
			uint32_t id_bytes)
{
	bool is = wm_symbols_kernel_runs(id, id_bytes);
	int err;

	if (!is && (kernel_symbols_is_build(id, id_bytes) || !seems_to_run(m)))
		return -ENOENT;
	err = kernel_symbols_load_file(t, "/proc/kallsyms");
	if (err)
		say_hidden(t);
	if (err || is || is_in_place(&t->code, m->kernel))
		return err;
	wm_code_done(&t->code);
	wm_code_init(&t->code, options->raw_names);
	return -ENOENT;
}

int wm_symbols_load_kernel(struct wm_module_symbols *t, const struct wm_module *m,
			   const struct wm_symbols_options *options)
{
	const unsigned char *id;
	uint32_t id_bytes = wm_symbols_kernel_build(m, &id);
	int err = load_trace(t, m);

	if (err && err != -ENOMEM)
		err = load_running(t, m, options, id, id_bytes);
	if (err && err != -ENOMEM)
		err = load_cached(t, options->places.cache, id, id_bytes);
	if (err && err != -ENOMEM)
		err = load_vmlinux(t, &options->places, id, id_bytes);
	t->why = err ? WM_UNNAMED_NO_KALLSYMS : WM_NAMED;
	return err == -ENOMEM ? err : 0;
}
