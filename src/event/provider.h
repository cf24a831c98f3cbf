/* SPDX-License-Identifier: MIT */
/*
 * provider.h - the provider of events that give none: the name of the program
 * or library they are in. One rule for the runtime, for attaching and for
 * `waymark list`, so that all call an event the same. No libc: the guest's too.
 */
#ifndef WM_EVENT_PROVIDER_H
#define WM_EVENT_PROVIDER_H

#include <stddef.h>

#define WM_PROVIDER_MAX 64u /* room a provider takes at most, NUL included */

/*
 * "/usr/lib/libfoo-1.so.2" -> "foo_1", "/usr/bin/python3.11" -> "python3": the
 * file's name up to its first dot, a library's without "lib", and '_' for what
 * is neither letter nor digit. Cut to `size`; never empty when size > 1.
 */
void wm_provider_of_path(const char *path, char *buf, size_t size);

#endif
