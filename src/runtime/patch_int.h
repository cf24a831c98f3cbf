/* SPDX-License-Identifier: MIT */
/*
 * patch_int.h - changes the program's code while its threads execute it: one byte (x86-64) or word
 * (aarch64) per site. The caller holds the runtime's lock.
 */
#ifndef WM_RUNTIME_PATCH_INT_H
#define WM_RUNTIME_PATCH_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <waymark/abi.h>

/* patch.c: one site at a time, between begin and end */
enum wm_patch_way { WM_PATCH_UNTRIED, WM_PATCH_MEM, WM_PATCH_MPROTECT, WM_PATCH_NONE };
enum wm_patch_way wm_patch_init(bool refuse);
/*
 * Flips one site; returns false when it contains foreign bytes. While a window is open, the site is
 * flipped when the window closes.
 */
bool wm_patch_site(const struct waymark_site *site, bool on);
void wm_patch_begin(void);
void wm_patch_end(void);    /* when it returns, all CPUs see the new bytes */
void wm_patch_forked(void); /* called in a child before its first update */
/*
 * Writes `n` bytes of code with one store: one byte, or four at an aligned address. Returns false
 * and leaves the code unchanged if it could not be written.
 */
bool wm_patch_write(unsigned char *at, const void *bytes, size_t n);
void wm_patch_sync(void); /* when it returns, all CPUs see the bytes written so far */
/* A site that is never registered, on which ways of writing are tried; _jumps() runs it. */
unsigned char *wm_patch_private(void);
bool wm_patch_private_jumps(void);

/*
 * window.c: flips many sites at once by making the code writable for a short time. For fewer sites
 * than this, the cost and side effects are not justified.
 */
#define WM_WINDOW_SITES 1024u

/*
 * Announces that sites in [start, end) will be flipped. The range is code that is mapped readable
 * and executable, not writable. Returns false, with nothing changed, when no window is possible.
 */
bool wm_window_open(uintptr_t start, uintptr_t end);
/* Queues a byte to be written; returns false when it is not in the window. */
bool wm_window_put(unsigned char *at, unsigned char byte);
/*
 * Writes all queued bytes and protects the code again. Returns the number of bytes that could not
 * be written.
 */
uint32_t wm_window_close(void);
void wm_window_forked(void); /* called in a child before its first update */

#endif
