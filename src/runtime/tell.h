/* SPDX-License-Identifier: MIT */
/*
 * tell.h - what session.c needs of tell.c beyond runtime.h. Locked, as all there.
 */
#ifndef WM_RUNTIME_TELL_H
#define WM_RUNTIME_TELL_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/registry.h"

struct wm_session;

#define WM_FD_MOVED_ABOVE 100 /* low descriptors belong to the program */
#define WM_SEND_WAIT_MS   500 /* a recorder that takes nothing for so long is given up */

/* One message, with a descriptor unless fd < 0. 0 or -errno: -ETIMEDOUT when nobody reads. */
int wm_session_send(struct wm_session *s, const void *bytes, size_t n, int fd);

/* Into the messages that wait for wm_session_flush(). */
void wm_session_say_module(struct wm_session *s, const struct wm_module *m, bool unload);

/* A sealable file in memory, its descriptor out of the program's way, or -errno. */
long wm_session_memfd(const char *name);

#endif
