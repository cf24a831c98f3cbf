/* SPDX-License-Identifier: MIT */
/*
 * tell_int.h - the part of tell.c that session.c needs beyond runtime_int.h. All
 * functions need the lock.
 */
#ifndef WM_RUNTIME_TELL_INT_H
#define WM_RUNTIME_TELL_INT_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/registry_int.h"

struct wm_guest_session;

#define WM_FD_MOVED_ABOVE 100 /* leaves low descriptors to the program */
#define WM_SEND_WAIT_MS   500 /* timeout for a recorder that does not read its socket */

/*
 * Sends one message, with a descriptor unless fd < 0. Returns 0 or -errno; -ETIMEDOUT when the
 * recorder does not read.
 */
int wm_guest_session_send(struct wm_guest_session *s, const void *bytes, size_t n, int fd);

/* Appends to the messages waiting for wm_guest_session_flush(). */
void wm_guest_session_say_module(struct wm_guest_session *s, const struct wm_guest_module *m,
				 bool unload);

/* Returns a sealable memfd whose number is above those that programs use, or -errno. */
long wm_guest_session_memfd(const char *name);

#endif
