/* SPDX-License-Identifier: MIT */
/*
 * patch.c - flips sites: one byte on x86-64 (A9 test, E9 jmp), one word on aarch64 (nop, b). A
 * method of writing code counts as working only after a private site has been flipped, run and seen
 * to jump.
 *
 * Sites with any other bytes (a debugger's, a uprobe's) are left alone. Writing one aligned word or
 * one byte is atomic for a CPU that executes it; membarrier SYNC_CORE at the end makes every CPU
 * see it.
 */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "runtime/patch_int.h"
#include "runtime/sys_int.h"

static enum wm_patch_way way;
static int mem_fd =
    /* Opened by the first write of an update, because most updates at start-up flip no site. */
    -1;
static bool wrote; /* something was written since wm_patch_begin() */

static unsigned char *patch_address_of(const int32_t *word)
{
	return (unsigned char *)(uintptr_t)((intptr_t)word + *word);
}

static bool open_mem(void)
{
	if (mem_fd < 0)
		mem_fd =
		    (int)WM_SYS_4(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
	return mem_fd >= 0;
}

static bool write_mem(unsigned char *at, const void *bytes, size_t n)
{
	return WM_SYS_4(SYS_pwrite64, mem_fd, bytes, n, at) == (long)n;
}

/* Makes the pages around `at` writable and executable during the store. */
static bool write_mprotect(unsigned char *at, const void *bytes, size_t n)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)4095;
	size_t span = ((uintptr_t)at + n - page + 4095) & ~(size_t)4095;
	const unsigned char *b = bytes;

	if (wm_sys_failed(WM_SYS_3(SYS_mprotect, page, span, PROT_READ | PROT_WRITE | PROT_EXEC)))
		return false;
	if (n == 1)
		wm_store_relaxed(at, *b);
	else
		wm_store_relaxed((uint32_t *)(void *)at, *(const uint32_t *)bytes);
	return !wm_sys_failed(WM_SYS_3(SYS_mprotect, page, span, PROT_READ | PROT_EXEC));
}

bool wm_patch_write(unsigned char *at, const void *bytes, size_t n)
{
	wrote = true;
	if (way == WM_PATCH_MEM && !open_mem())
		way = WM_PATCH_MPROTECT;
	if (way == WM_PATCH_MEM)
		return write_mem(at, bytes, n);
	return write_mprotect(at, bytes, n);
}

void wm_patch_begin(void)
{
	(void)wm_patch_init(false);
	wrote = false;
}

void wm_patch_end(void)
{
	if (mem_fd >= 0)
		(void)WM_SYS_1(SYS_close, mem_fd);
	mem_fd = -1;
	if (wrote)
		wm_patch_sync();
}

void wm_patch_sync(void)
{
	(void)WM_SYS_3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

/*
 * Must be called in a child: a descriptor inherited in the middle of an update would write to the
 * parent.
 */
void wm_patch_forked(void)
{
	if (mem_fd >= 0)
		(void)WM_SYS_1(SYS_close, mem_fd);
	mem_fd = -1;
	wm_window_forked();
}

#if defined(__x86_64__)
bool wm_patch_site(const struct waymark_site *site, bool on)
{
	unsigned char *at = patch_address_of(&site->insn);
	const unsigned char now = *at, wanted = on ? 0xe9 : 0xa9;

	if (now != 0xa9 && now != 0xe9)
		return false;
	if (now == wanted)
		return true;
	wrote = true;
	return wm_window_put(at, wanted) || wm_patch_write(at, &wanted, 1);
}
#else
bool wm_patch_site(const struct waymark_site *site, bool on)
{
	unsigned char *at = patch_address_of(&site->insn);
	intptr_t distance = patch_address_of(&site->target) - at;
	const uint32_t nop = 0xd503201f;
	uint32_t branch = 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffff);
	uint32_t now = *(const uint32_t *)(const void *)at, wanted = on ? branch : nop;

	if (now != nop && now != branch)
		return false;
	if (now == wanted)
		return true;
	if (!wm_patch_write(at, &wanted, 4))
		return false;
	__builtin___clear_cache((char *)at, (char *)at + 4);
	return true;
}
#endif

/* A site on which to try the ways of writing. It is never registered. */
static const struct waymark_site *private_site(void)
{
	const struct waymark_site *s;
#if defined(__x86_64__)
	__asm__("leaq wm_patch_private_site(%%rip), %0" : "=r"(s));
#else
	__asm__("adrp %0, wm_patch_private_site\n\tadd %0, %0, :lo12:wm_patch_private_site"
		: "=r"(s));
#endif
	return s;
}

__attribute__((noinline, noclone)) bool wm_patch_private_jumps(void)
{
#if defined(__x86_64__)
	__asm__ goto("771:\t.byte 0xa9\n\t.long %l[on] - . - 4\n"
		     ".pushsection .rodata, \"a\"\n\t.balign 4\n"
		     "wm_patch_private_site:\n\t.long 771b - .\n\t.long %l[on] - .\n\t.long 0, 0\n"
		     ".popsection"
		     :
		     :
		     :
		     : on);
#else
	__asm__ goto("771:\tnop\n"
		     ".pushsection .rodata, \"a\"\n\t.balign 4\n"
		     "wm_patch_private_site:\n\t.long 771b - .\n\t.long %l[on] - .\n\t.long 0, 0\n"
		     ".popsection"
		     :
		     :
		     :
		     : on);
#endif
	return false;
on:
	return true;
}

unsigned char *wm_patch_private(void)
{
	return patch_address_of(&private_site()->insn);
}

static bool patch_works(enum wm_patch_way candidate)
{
	bool jumped;

	way = candidate;
	jumped = wm_patch_site(private_site(), true) && way == candidate;
	wm_patch_sync();
	jumped = jumped && wm_patch_private_jumps();
	jumped = wm_patch_site(private_site(), false) && jumped;
	wm_patch_end();
	return jumped && !wm_patch_private_jumps();
}

enum wm_patch_way wm_patch_init(bool refuse)
{
	if (way != WM_PATCH_UNTRIED)
		return way;
	if (refuse) {
		way = WM_PATCH_NONE;
	} else if (!patch_works(WM_PATCH_MEM) && !patch_works(WM_PATCH_MPROTECT)) {
		way = WM_PATCH_NONE;
	}
	return way;
}
