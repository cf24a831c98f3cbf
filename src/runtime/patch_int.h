/* SPDX-License-Identifier: MIT */
/*
 * patch_int.h - writing the program's text while its threads run through it: the
 * one byte (x86-64) or word (aarch64) of a site. The caller holds the runtime's
 * lock.
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
/* Flips one site; false when it holds foreign bytes. In an open window: when that closes. */
bool wm_patch_site(const struct waymark_site *site, bool on);
void wm_patch_begin(void);
void wm_patch_end(void);    /* when it returns, all CPUs see the new bytes */
void wm_patch_forked(void); /* in a child, before its first update */
/* Writes n bytes of text, 1 or an aligned 4, at once; false: nothing was written. */
bool wm_patch_write(unsigned char *at, const void *bytes, size_t n);
void wm_patch_sync(void); /* when it returns, all CPUs see the bytes written before */
/* A private site, never registered, on which ways of writing are tried; _jumps() runs it. */
unsigned char *wm_patch_private(void);
bool wm_patch_private_jumps(void);

/*
 * window.c: many sites at once, through a window in the text's protection. With
 * fewer sites than this, its cost and its side effects are not worth it.
 */
#define WM_WINDOW_SITES 1024u

/*
 * Announces that [start, end) will be patched: text mapped readable and
 * executable, not writable. False, and nothing is changed, when no window is
 * possible.
 */
bool wm_window_open(uintptr_t start, uintptr_t end);
/* Queues a byte to be written; false when it is not in the window. */
bool wm_window_put(unsigned char *at, unsigned char byte);
/* Writes all queued bytes and protects the text again. Returns how many could not be written. */
uint32_t wm_window_close(void);
void wm_window_forked(void); /* in a child, before its first update */

#endif
