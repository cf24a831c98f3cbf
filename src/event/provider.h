/* SPDX-License-Identifier: MIT */
/*
 * provider.h - derives a provider for events that name none, from the name of their program or
 * library. The runtime, attaching and `waymark list` all use this rule, so an event has the same
 * name everywhere. No libc: guest code uses it too.
 */
#ifndef WM_EVENT_PROVIDER_H
#define WM_EVENT_PROVIDER_H

#include <stddef.h>

#define WM_PROVIDER_MAX 64u /* maximum size of a provider, NUL included */

/*
 * Turns a path into a provider: "/usr/lib/libfoo-1.so.2" -> "foo_1", "/usr/bin/python3.11" ->
 * "python3". The result is the file's name up to its first dot, without a library's "lib", with '_'
 * for each character that is neither a letter nor a digit. Truncated to `size`; never empty when
 * size > 1.
 */
void wm_provider_of_path(const char *path, char *buf, size_t size);

#endif
