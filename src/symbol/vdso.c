/* SPDX-License-Identifier: MIT */
/* vdso.c - see vdso_int.h. */
#include "symbol/vdso_int.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/maps.h"

int wm_vdso_open(struct wm_elf **ret)
{
	uint64_t at = getauxval(AT_SYSINFO_EHDR);
	const struct wm_map *map;
	struct wm_maps maps;
	int err, fd = -1;

	if (!at)
		return -ENOENT;
	err = wm_maps_read(getpid(), &maps);
	if (err)
		return err;
	map = wm_maps_find(&maps, at);
	if (!map || map->start != at)
		err = -ENOENT;
	if (!err && (fd = memfd_create("vdso", MFD_CLOEXEC)) < 0)
		err = -errno;
	if (!err)
		err = wm_file_write(fd, (const void *)(uintptr_t)at, map->end - at);
	wm_maps_done(&maps);
	if (err) {
		if (fd >= 0)
			(void)close(fd);
		return err;
	}
	return wm_elf_open_fd(fd, "[vdso]", ret, NULL);
}

#ifdef __x86_64__

#define MAP_VDSO_32 0x2002 /* ARCH_MAP_VDSO_32 from asm/prctl.h, missing in old headers */
#define PAGE_BYTES  4096u
#define PAGES_MAX   64u /* maximum pages of the vdso and the data before it */

/*
 * Unmaps the child's own vdso with its data, because a process can have only one; it must not read
 * a clock afterwards.
 */
static bool drop_ours(const struct wm_maps *maps)
{
	for (size_t i = 0; i < maps->nr; i++) {
		const struct wm_map *m = &maps->maps[i];

		if ((!strcmp(m->path, "[vdso]") || !strncmp(m->path, "[vvar", 5)) &&
		    munmap((void *)(uintptr_t)m->start, m->end - m->start) < 0)
			return false;
	}
	return true;
}

/*
 * Writes the vdso to a file. The kernel returns its size, but not its address: it follows data
 * pages, some of which are not readable.
 */
static bool write_narrow(int fd, const unsigned char *near, long bytes)
{
	for (unsigned i = 0; i < PAGES_MAX; i++) {
		const unsigned char *at = near + (size_t)i * PAGE_BYTES;

		if (pwrite(fd, at, PAGE_BYTES, 0) == PAGE_BYTES && !memcmp(at, ELFMAG, SELFMAG))
			return pwrite(fd, at, (size_t)bytes, 0) == bytes;
	}
	return false;
}

/*
 * Runs in the child process. The parent may have other threads, so only raw system calls are safe.
 */
static bool fetch_narrow(int fd, const struct wm_maps *maps)
{
	const size_t room = (size_t)PAGES_MAX * PAGE_BYTES;
	void *near = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long bytes;

	if (near == MAP_FAILED || munmap(near, room) < 0 || !drop_ours(maps))
		return false;
	bytes = syscall(SYS_arch_prctl, MAP_VDSO_32, near);
	return bytes > 0 && write_narrow(fd, near, bytes);
}

/*
 * Runs fetch_narrow() in a child, whose exit sends no signal and is invisible to other wait()
 * calls.
 */
static int fetch_in_child(int fd, const struct wm_maps *maps)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	int status;

	if (!pid)
		_exit(!fetch_narrow(fd, maps));
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, __WCLONE) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -ENOENT : 0;
}

int wm_vdso_open_narrow(struct wm_elf **ret)
{
	struct wm_maps maps;
	int err = wm_maps_read(getpid(), &maps), fd;

	if (err)
		return err;
	fd = memfd_create("vdso32", MFD_CLOEXEC);
	err = fd < 0 ? -errno : fetch_in_child(fd, &maps);
	wm_maps_done(&maps);
	if (!err)
		return wm_elf_open_fd(fd, "[vdso]", ret, NULL);
	if (fd >= 0)
		(void)close(fd);
	return err;
}

#else

int wm_vdso_open_narrow(struct wm_elf **ret)
{
	return -ENOENT;
}

#endif
