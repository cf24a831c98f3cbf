/* SPDX-License-Identifier: MIT */
/*
 * remote_runtime.c - see remote_runtime.h. Each file is examined once, through its mapping at file
 * offset 0, even if it has many mappings.
 */
#include "control/target/remote_runtime.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include <waymark/abi.h>

static_assert(sizeof(struct wm_control) == 1080, "layout of the control page");

int wm_target_read(const struct wm_target *t, uint64_t address, void *data, size_t bytes)
{
	ssize_t n;

	if (address > INT64_MAX)
		return -EFAULT;
	n = pread(t->mem, data, bytes, (off_t)address);
	if (n < 0)
		return errno == EIO ? -EFAULT : -errno;
	return (size_t)n == bytes ? 0 : n == 0 ? -ESRCH : -EFAULT;
}

int wm_target_write(const struct wm_target *t, uint64_t address, const void *data, size_t bytes)
{
	ssize_t n;

	if (address > INT64_MAX)
		return -EFAULT;
	n = pwrite(t->mem, data, bytes, (off_t)address);
	if (n < 0)
		return errno == EIO ? -EFAULT : -errno;
	return (size_t)n == bytes ? 0 : n == 0 ? -ESRCH : -EFAULT;
}

void wm_target_string(const struct wm_target *t, uint64_t address, char *buf, size_t size)
{
	ssize_t n = 0;

	/*
	 * A short read at the end of a mapping is fine: the string may end before it.
	 */
	if (address && address <= INT64_MAX)
		n = pread(t->mem, buf, size - 1, (off_t)address);
	buf[n > 0 ? n : 0] = '\0';
}

/* The address of the control page in a mapped file; 0 if it has none. */
static uint64_t find_symbol(pid_t pid, const struct wm_map *map)
{
	struct wm_elf *elf = NULL;
	struct wm_elf_symbols symbols;
	const struct wm_elf_symbol *symbol;
	uint64_t bias, address = 0;
	int fd = wm_maps_open(pid, map);

	if (fd < 0 || wm_elf_open_fd(fd, map->path, &elf, NULL) < 0)
		return 0;
	if (wm_elf_bias(elf, map->start, map->offset, &bias) == 0 &&
	    wm_elf_symbols_read(elf, &symbols, NULL) == 0) {
		symbol = wm_elf_symbol_named(&symbols, WM_CONTROL_SYMBOL);
		if (symbol)
			address = symbol->address + bias;
		wm_elf_symbols_done(&symbols);
	}
	wm_elf_close(elf);
	return address;
}

enum place { PLACE_RUNTIME, PLACE_EXECUTABLE, PLACE_OTHER };

static enum place remote_place_of(const struct wm_map *map, const char *exe)
{
	const char *base = strrchr(map->path, '/');

	if (base && !strncmp(base + 1, "libwaymark-rt.so", 16))
		return PLACE_RUNTIME;
	return exe[0] && !strcmp(map->path, exe) ? PLACE_EXECUTABLE : PLACE_OTHER;
}

static void read_exe(pid_t pid, char *buf, size_t size)
{
	char name[32];
	ssize_t n;

	(void)snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	n = readlink(name, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	if (n > 10 && !strcmp(buf + n - 10, " (deleted)"))
		buf[n - 10] = '\0';
}

/* Whether one of the process's modules has sites; the runtime itself has none. */
static bool has_sites(const struct wm_target *t, const struct wm_control *control)
{
	uint32_t nr = control->nr_modules;

	for (uint32_t i = 0; i < nr && nr <= WM_CONTROL_MODULES_MAX; i++) {
		struct waymark_module m;
		uint64_t address = 0;

		if (wm_target_read(t, control->modules + i * sizeof(address), &address,
				   sizeof(address)) == 0 &&
		    address && wm_target_read(t, address, &m, sizeof(m)) == 0 &&
		    m.sites_end > m.sites)
			return true;
	}
	return false;
}

/*
 * Reads the page at an address and checks its magic. Returns true if the search can end: a runtime
 * without sites is used only if there is no other (for example, the library preloaded into a
 * program that has the runtime linked in).
 */
static bool try_page(struct wm_target *t, uint64_t address)
{
	struct wm_control control;
	bool is_it;

	if (!address || wm_target_read(t, address, &control, sizeof(control)) < 0 ||
	    control.magic != WM_CONTROL_MAGIC)
		return false;
	is_it = has_sites(t, &control);
	if (t->page && !is_it)
		return false;
	t->page = address;
	t->control = control;
	return is_it;
}

static int find_page(struct wm_target *t, bool quick, struct wm_diag *diag)
{
	char exe[4096];

	read_exe(t->pid, exe, sizeof(exe));
	for (int place = PLACE_RUNTIME; place <= (quick ? PLACE_EXECUTABLE : PLACE_OTHER);
	     place++) {
		for (size_t i = 0; i < t->maps.nr; i++) {
			const struct wm_map *map = &t->maps.maps[i];

			if (map->path[0] != '/' || map->offset != 0 ||
			    (int)remote_place_of(map, exe) != place)
				continue;
			if (try_page(t, find_symbol(t->pid, map)))
				return 0;
		}
	}
	if (t->page)
		return 0;
	return wm_diag_set(
	    diag, -ENOENT, NULL, -1,
	    "process %d has no waymark runtime: link it with the flags of 'pkg-config "
	    "waymark-rt', or "
	    "start it with LD_PRELOAD=libwaymark-rt.so.0",
	    (int)t->pid);
}

static int remote_explain(pid_t pid, int err, struct wm_diag *diag)
{
	if (err == -ENOENT || err == -ESRCH)
		return wm_diag_set(diag, -ESRCH, NULL, -1, "there is no process %d", (int)pid);
	if (err == -EACCES || err == -EPERM)
		return wm_diag_set(diag, err, NULL, -1, "cannot access process %d: %s", (int)pid,
				   geteuid()
				       ? "it belongs to another user or is protected. Run as that "
					 "user or root, or lower kernel.yama.ptrace_scope"
				       : "this root user lacks the capability CAP_SYS_PTRACE, or "
					 "the process is protected by another user namespace or a "
					 "security module");
	return wm_diag_set(diag, err, NULL, -1, "cannot read process %d: %s", (int)pid,
			   strerror(-err));
}

int wm_target_open(pid_t pid, bool quick, struct wm_target *ret, struct wm_diag *diag)
{
	struct wm_target t = {.pid = pid, .mem = -1};
	char name[32];
	int err = wm_maps_read(pid, &t.maps);

	if (err < 0)
		return remote_explain(pid, err, diag);
	(void)snprintf(name, sizeof(name), "/proc/%d/mem", (int)pid);
	t.mem = open(name, O_RDWR | O_CLOEXEC);
	err = t.mem < 0 ? remote_explain(pid, -errno, diag) : find_page(&t, quick, diag);
	if (err == 0 && t.control.abi != WAYMARK_ABI)
		err = wm_diag_set(diag, -EPROTO, NULL, -1,
				  "process %d has a waymark runtime of version %u; this command "
				  "needs version %u",
				  (int)pid, t.control.abi, WAYMARK_ABI);
	if (err < 0) {
		wm_target_close(&t);
		return err;
	}
	*ret = t;
	return 0;
}

void wm_target_close(struct wm_target *t)
{
	if (t->mem >= 0)
		close(t->mem);
	t->mem = -1;
	wm_maps_done(&t->maps);
	t->maps = (struct wm_maps){0};
}

int wm_target_refresh(struct wm_target *t)
{
	struct wm_control fresh;
	int err = wm_target_read(t, t->page, &fresh, offsetof(struct wm_control, folders));

	if (err < 0)
		return err;
	memcpy(&t->control, &fresh, offsetof(struct wm_control, folders));
	return 0;
}
