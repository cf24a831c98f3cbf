/* SPDX-License-Identifier: MIT */
/* synthesize.c - see synthesize.h. */
#include "kernel/synthesize.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/maps.h"
#include "elf/elf_file.h"
#include "kernel/counters.h"

#define SYMBOLS_MAX ((size_t)256 << 20)
/* How much of the beginning of the symbol list is read: it contains _text. */
#define BEGIN_BYTES ((size_t)1 << 20)
#define MODULES_MAX ((size_t)16 << 20)
#define SMALL_FILE  65536u
#define ID_BYTES    20u /* space for a build-id in a record */
#define FILES_KNOWN 4096u

/* --- build-ids ------------------------------------------------------------------------ */

struct id {
	unsigned char data[ID_BYTES];
	uint8_t bytes; /* 0: none */
};

/*
 * Reads a build-id from a file of ELF notes, as in /sys: u32 owner size, data size, type; then
 * owner and data.
 */
static struct id id_of_notes(const char *path)
{
	struct id id = {.bytes = 0};
	size_t bytes, at = 0;
	Elf64_Nhdr h;
	char *data;

	if (wm_file_read(AT_FDCWD, path, SMALL_FILE, &data, &bytes) < 0)
		return id;
	while (bytes - at >= sizeof(h)) {
		size_t owner, desc;

		memcpy(&h, data + at, sizeof(h));
		owner = ((size_t)h.n_namesz + 3) & ~(size_t)3;
		desc = ((size_t)h.n_descsz + 3) & ~(size_t)3;
		at += sizeof(h);
		if (owner > bytes - at || desc > bytes - at - owner)
			break;
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
		    !memcmp(data + at, "GNU", 4)) {
			id.bytes = (uint8_t)(h.n_descsz < ID_BYTES ? h.n_descsz : ID_BYTES);
			memcpy(id.data, data + at + owner, id.bytes);
			break;
		}
		at += owner + desc;
	}
	free(data);
	return id;
}

/* A cache entry: a file's build-id. A file whose entry was replaced is read again. */
struct file {
	uint64_t inode;
	uint32_t major, minor;
	struct id id;
};

struct telling {
	wm_running_fn *fn;
	void *data;
	bool constants;
	struct file *files; /* indexed by a hash of the inode */
};

static struct id id_of_map(struct telling *t, pid_t pid, const struct wm_map *m)
{
	struct file *f = &t->files[(m->inode * 31 + m->dev_minor) % FILES_KNOWN];
	struct wm_elf *elf;
	int fd;

	if (f->inode == m->inode && f->major == m->dev_major && f->minor == m->dev_minor)
		return f->id;
	*f = (struct file){.inode = m->inode, .major = m->dev_major, .minor = m->dev_minor};
	fd = m->inode ? wm_maps_open(pid, m) : -ENOENT;
	if (fd < 0 || wm_elf_open_fd(fd, m->path, &elf, NULL))
		return f->id;
	f->id.bytes = (uint8_t)(elf->build_id_bytes < ID_BYTES ? elf->build_id_bytes : ID_BYTES);
	memcpy(f->id.data, elf->build_id, f->id.bytes);
	wm_elf_close(elf);
	return f->id;
}

/* --- records --------------------------------------------------------------------------- */

static struct wm_perf_text synthesize_text(const char *s)
{
	return (struct wm_perf_text){s, (uint32_t)strlen(s)};
}

static void tell_mmap(struct telling *t, struct wm_perf_record *r, const struct id *id)
{
	r->header.type = WM_PERF_MMAP2;
	r->mmap.build_id = id->bytes ? id->data : NULL;
	r->mmap.build_id_bytes = id->bytes;
	t->fn(r, t->data);
}

static bool is_told(const struct telling *t, const struct wm_map *m)
{
	return m->perms & WM_MAP_EXEC || (t->constants && m->path[0] == '/' &&
					  m->perms & WM_MAP_READ && !(m->perms & WM_MAP_WRITE));
}

static void tell_maps(struct telling *t, pid_t pid)
{
	struct wm_maps maps;

	if (wm_maps_read(pid, &maps) < 0)
		return;
	for (size_t i = 0; i < maps.nr; i++) {
		const struct wm_map *m = &maps.maps[i];
		bool is_code = m->perms & WM_MAP_EXEC;
		struct wm_perf_record r = {
		    .header = {.misc = WM_PERF_MISC_USER | (is_code ? 0 : WM_PERF_MISC_MMAP_DATA)},
		    .mmap = {.pid = (uint32_t)pid,
			     .tid = (uint32_t)pid,
			     .addr = m->start,
			     .len = m->end - m->start,
			     .pgoff = m->offset,
			     .prot = (m->perms & WM_MAP_READ ? PROT_READ : 0) |
				     (m->perms & WM_MAP_WRITE ? PROT_WRITE : 0) |
				     (is_code ? PROT_EXEC : 0),
			     .flags = m->perms & WM_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE,
			     .filename = synthesize_text(m->path[0] ? m->path : "//anon")}};
		struct id id;

		if (!is_told(t, m))
			continue;
		id = id_of_map(t, pid, m);
		tell_mmap(t, &r, &id);
	}
	wm_maps_done(&maps);
}

static void tell_comm(struct telling *t, pid_t pid, pid_t tid)
{
	struct wm_perf_record r = {.header = {.type = WM_PERF_COMM},
				   .comm = {.pid = (uint32_t)pid, .tid = (uint32_t)tid}};
	char path[64], *comm;
	size_t bytes;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	if (wm_file_read(AT_FDCWD, path, SMALL_FILE, &comm, &bytes) < 0)
		return;
	comm[strcspn(comm, "\n")] = '\0';
	r.comm.comm = synthesize_text(comm);
	t->fn(&r, t->data);
	free(comm);
}

static void tell_process(struct telling *t, pid_t pid)
{
	pid_t *tids;
	size_t nr;

	if (wm_threads_of(pid, &tids, &nr) < 0)
		return;
	for (size_t i = 0; i < nr; i++)
		tell_comm(t, pid, tids[i]);
	free(tids);
	tell_maps(t, pid);
}

/* --- selecting processes ------------------------------------------------------------------ */

static void tell_all(struct telling *t)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]))
			tell_process(t, (pid_t)strtol(d->d_name, NULL, 10));
	if (proc)
		closedir(proc);
}

/* The process to which a thread belongs; 0 if the thread has ended. */
static pid_t synthesize_process_of(pid_t tid)
{
	char path[64], *status, *at;
	size_t bytes;
	pid_t pid = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (wm_file_read(AT_FDCWD, path, SMALL_FILE, &status, &bytes) < 0)
		return 0;
	at = strstr(status, "\nTgid:");
	if (at)
		pid = (pid_t)strtol(at + strlen("\nTgid:"), NULL, 10);
	free(status);
	return pid;
}

static int synthesize_by_value(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void wm_running_tell(const pid_t *tids, size_t nr, bool constants, wm_running_fn *fn, void *data)
{
	struct telling t = {fn, data, constants, calloc(FILES_KNOWN, sizeof(*t.files))};
	pid_t *pids = calloc(nr + 1, sizeof(*pids)), last = 0;

	if (t.files && !nr)
		tell_all(&t);
	for (size_t i = 0; pids && i < nr; i++)
		pids[i] = synthesize_process_of(tids[i]);
	if (pids)
		qsort(pids, nr, sizeof(*pids), synthesize_by_value);
	for (size_t i = 0; t.files && pids && i < nr; i++) {
		if (pids[i] != last)
			tell_process(&t, pids[i]);
		last = pids[i];
	}
	free(pids);
	free(t.files);
}

void wm_running_tell_names(const pid_t *tids, size_t nr, wm_running_fn *fn, void *data)
{
	struct telling t = {.fn = fn, .data = data};

	for (size_t i = 0; i < nr; i++) {
		pid_t pid = synthesize_process_of(tids[i]);

		if (pid)
			tell_comm(&t, pid, tids[i]);
	}
}

/* --- the kernel ------------------------------------------------------------------------------ */

/* The address at the start of the line that contains the key; 0 if no line does. */
static uint64_t synthesize_address_of(const char *text, const char *key)
{
	const char *at = strstr(text, key), *line = at;

	while (line && line > text && line[-1] != '\n')
		line--;
	return line ? strtoull(line, NULL, 16) : 0;
}

/*
 * Finds the start of the kernel's code. The kernel sorts symbols by address, and only a few data
 * symbols precede its code.
 */
static int synthesize_find_begin(uint64_t *ret)
{
	char *text = malloc(BEGIN_BYTES + 1);
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : -EACCES;
	size_t bytes = 0;

	while (text && fd >= 0 && err == -EACCES && bytes < BEGIN_BYTES) {
		ssize_t n = read(fd, text + bytes, BEGIN_BYTES - bytes);

		if (n <= 0)
			break;
		bytes += (size_t)n;
		text[bytes] = '\0';
		*ret = synthesize_address_of(text, " T _text\n");
		if (*ret)
			err = 0;
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return err;
}

/*
 * Computes the size of the kernel's code from a line such as "  01000000-02209987 : Kernel code".
 * The addresses are physical, but the size is the same.
 */
static uint64_t code_bytes(void)
{
	uint64_t first = 0, last = 0;
	char *text, *at;
	size_t bytes;

	if (wm_file_read(AT_FDCWD, "/proc/iomem", SMALL_FILE * 16, &text, &bytes) < 0)
		return 0;
	at = strstr(text, " : Kernel code\n");
	while (at && at > text && at[-1] != '\n')
		at--;
	if (at && sscanf(at, " %" SCNx64 "-%" SCNx64, &first, &last) != 2)
		first = last = 0;
	free(text);
	return last > first ? last - first + 1 : 0;
}

int wm_kernel_text_find(struct wm_kernel_text *ret)
{
	uint64_t bytes = code_bytes();
	int err = synthesize_find_begin(&ret->begin);

	ret->end = err || !bytes ? 0 : ret->begin + bytes;
	return err;
}

int wm_kernel_symbols_read(char **ret_text, size_t *ret_bytes)
{
	int err = wm_file_read(AT_FDCWD, "/proc/kallsyms", SYMBOLS_MAX, ret_text, ret_bytes);

	if (!err && !synthesize_address_of(*ret_text, " T _text\n")) {
		free(*ret_text);
		err = -EACCES;
	}
	return err;
}

static void tell_part(struct telling *t, const char *name, uint64_t addr, uint64_t len,
		      const char *notes)
{
	struct wm_perf_record r = {.header = {.misc = WM_PERF_MISC_KERNEL},
				   .mmap = {.pid = UINT32_MAX,
					    .addr = addr,
					    .len = len,
					    .pgoff = addr,
					    .prot = PROT_READ | PROT_EXEC,
					    .filename = synthesize_text(name)}};
	struct id id = id_of_notes(notes);

	tell_mmap(t, &r, &id);
}

/* Lines in /proc/modules are "name bytes uses users state address". */
static void tell_modules(struct telling *t)
{
	char *list, *next, name[128], called[144], notes[192];
	uint64_t bytes, addr;
	size_t n;

	if (wm_file_read(AT_FDCWD, "/proc/modules", MODULES_MAX, &list, &n) < 0)
		return;
	for (char *line = list; *line; line = next) {
		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &bytes, &addr) !=
			3 ||
		    !addr)
			continue;
		(void)snprintf(called, sizeof(called), "[%s]", name);
		(void)snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id",
			       name);
		tell_part(t, called, addr, bytes, notes);
	}
	free(list);
}

void wm_running_tell_kernel(const struct wm_kernel_text *k, wm_running_fn *fn, void *data)
{
	struct telling t = {fn, data, NULL};

	tell_part(&t, "[kernel.kallsyms]_text", k->begin,
		  k->end > k->begin ? k->end - k->begin : ~k->begin, "/sys/kernel/notes");
	tell_modules(&t);
}
