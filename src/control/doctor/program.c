/* SPDX-License-Identifier: MIT */
/*
 * program.c - tests what marked programs require: patchable code, sealable memory, a barrier, a
 * clock, and for -p the permission to attach. Each is tried in a child, the way the runtime does it
 * in a program.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "control/doctor/doctor_int.h"

/* ---- code -------------------------------------------------------------------------- */

enum patch_way {
	PATCH_NONE,
	PATCH_MEM,
	PATCH_MPROTECT,
};

static void write_code(unsigned char *to, int value)
{
#if defined(__x86_64__)
	const unsigned char code[] = {0xb8, (unsigned char)value, 0, 0, 0, 0xc3}; /* mov, ret */
#elif defined(__aarch64__)
	const uint32_t code[] = {0x52800000u | (uint32_t)value << 5, 0xd65f03c0u};
#endif

	memcpy(to, code, sizeof(code));
}

static int call_code(const unsigned char *code)
{
	int (*function)(void);

	memcpy(&function, &code, sizeof(function));
	return function();
}

static bool patch_mem(unsigned char *page)
{
	unsigned char code[16] = {0};
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	write_code(code, 2);
	return fd >= 0 &&
	       pwrite(fd, code, sizeof(code), (off_t)(uintptr_t)page) == (ssize_t)sizeof(code);
}

static bool patch_mprotect(unsigned char *page, size_t bytes)
{
	if (mprotect(page, bytes, PROT_READ | PROT_WRITE) < 0)
		return false;
	write_code(page, 2);
	return mprotect(page, bytes, PROT_READ | PROT_EXEC) == 0;
}

/* Runs in a child: patches a function that returns 1 so that it returns 2. */
static enum patch_way try_patch(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *page =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return PATCH_NONE;
	write_code(page, 1);
	__builtin___clear_cache((char *)page, (char *)page + 16);
	if (mprotect(page, bytes, PROT_READ | PROT_EXEC) < 0 || call_code(page) != 1)
		return PATCH_NONE;
	if (patch_mem(page)) {
		__builtin___clear_cache((char *)page, (char *)page + 16);
		if (call_code(page) == 2)
			return PATCH_MEM;
	}
	if (patch_mprotect(page, bytes)) {
		__builtin___clear_cache((char *)page, (char *)page + 16);
		if (call_code(page) == 2)
			return PATCH_MPROTECT;
	}
	return PATCH_NONE;
}

static void check_patch(struct wm_doctor *d, struct wm_check *c)
{
	static const char cure[] =
	    "build with -DWAYMARK_LOADTEST: it loads and tests a word instead of "
	    "patching an instruction";
	pid_t pid = fork();
	int status = 0;

	(void)d;
	if (pid == 0)
		_exit((int)try_patch());
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		wm_check_no(c, WM_WORKS_NO, cure, "the process that tried it was killed");
	else if (WEXITSTATUS(status) == PATCH_MEM)
		wm_check_yes(c, "through /proc/self/mem");
	else if (WEXITSTATUS(status) == PATCH_MPROTECT)
		wm_check_yes(c, "through mprotect");
	else
		wm_check_no(
		    c, WM_WORKS_NO, cure,
		    "neither /proc/self/mem nor mprotect works: a security module forbids it");
}

/* ---- kernel facilities ----------------------------------------------------------------- */

static void check_membarrier(struct wm_doctor *d, struct wm_check *c)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	(void)d;
	if (commands < 0)
		wm_check_no(c, WM_WORKS_PARTLY, "",
			    "no membarrier system call: other cores see a changed instruction "
			    "a little later");
	else if (!(commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
		wm_check_no(c, WM_WORKS_PARTLY, "",
			    "without SYNC_CORE: other cores see a changed instruction a little "
			    "later");
	else
		wm_check_yes(c, "membarrier with SYNC_CORE");
}

static void check_memory(struct wm_doctor *d, struct wm_check *c)
{
	int fd = memfd_create("waymark-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err = 0;

	(void)d;
	if (fd < 0 || ftruncate(fd, 4096) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		err = errno;
	if (fd >= 0)
		(void)close(fd);
	if (err)
		wm_check_no(c, WM_WORKS_NO, "allow memfd_create(2) and seals in the sandbox",
			    "memory cannot be shared and sealed: %s", strerror(err));
	else
		wm_check_yes(c, "memfd with seals");
}

/*
 * Attaches to a child, which stands in for one of this user's processes that did not explicitly
 * permit tracing.
 */
static void check_attach(struct wm_doctor *d, struct wm_check *c)
{
	static long word = 42;
	struct iovec to = {&(long){0}, sizeof(word)}, from = {&word, sizeof(word)};
	int64_t scope = 0;
	bool yama = wm_privilege_setting("/proc/sys/kernel/yama/ptrace_scope", &scope) == 0;
	pid_t pid = fork();
	int err;

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)pause();
		_exit(0);
	}
	err = process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 ? errno : 0;
	if (pid > 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	if (err)
		wm_check_no(c, WM_WORKS_NO, wm_check_root(d, ", or allow process_vm_readv(2)"),
			    "cannot read another process's memory: %s", strerror(err));
	else if (yama && scope > 0 && !wm_privilege_has(&d->privilege, 19 /* CAP_SYS_PTRACE */))
		wm_check_no(c, WM_WORKS_PARTLY,
			    wm_check_root(d, ", or: sudo sysctl kernel.yama.ptrace_scope=0"),
			    "only child processes: kernel.yama.ptrace_scope is %" PRId64, scope);
	else
		wm_check_yes(c, geteuid() ? "your own processes" : "all processes");
}

/* Whether programs can read this clock source in user space (vDSO). */
static bool is_read_by_programs(const char *source)
{
	static const char *const names[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					    "arch_sys_counter"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(source, names[i]))
			return true;
	return false;
}

static void check_clock(struct wm_doctor *d, struct wm_check *c)
{
	char *source = NULL;
	size_t bytes;

	(void)d;
	if (wm_clock_best() == WM_CLOCK_CYCLES) {
		wm_check_yes(c, "the CPU's cycle counter, steady and trusted by the kernel");
		return;
	}
	if (wm_file_read(AT_FDCWD,
			 "/sys/devices/system/clocksource/clocksource0/current_clocksource", 64,
			 &source, &bytes) == 0)
		source[strcspn(source, "\n")] = '\0';
	wm_check_no(c, WM_WORKS_PARTLY,
		    "boot with clocksource=tsc if the counter is known to be reliable",
		    "CLOCK_MONOTONIC: an event costs %s more (the kernel's clock source is %.40s)",
		    source && is_read_by_programs(source) ? "about 20 ns" : "a system call",
		    source ? source : "unknown");
	free(source);
}

#define GROUP "Programs"

const struct wm_doctor_check wm_doctor_programs[] = {
    {GROUP, "patching", "enable tracepoints by patching code", check_patch},
    {GROUP, "membarrier", "patches reach all cores at once", check_membarrier},
    {GROUP, "memory", "share buffers with programs", check_memory},
    {GROUP, "attach", "record running processes", check_attach},
    {GROUP, "clock", "the clock of events", check_clock},
    {NULL, NULL, NULL, NULL},
};
