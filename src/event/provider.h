/* SPDX-License-Identifier: MIT */
/*
 * provider.h - the provider of events that name none: the name of their program or library. The
 * runtime, attaching and `waymark list` use this one rule, so they name an event alike. No libc:
 * guest code uses it too.
 */
#ifndef WM_EVENT_PROVIDER_H
#define WM_EVENT_PROVIDER_H

#include <stddef.h>

#define WM_PROVIDER_MAX 64u /* maximum size of a provider, NUL included */

/*
 * "/usr/lib/libfoo-1.so.2" -> "foo_1", "/usr/bin/python3.11" -> "python3": the file's name up to
 * its first dot, without a library's "lib", with '_' for each character that is neither letter nor
 * digit. Cut to `size`; never empty when size > 1.
 */
void wm_provider_of_path(const char *path, char *buf, size_t size);

#endif
