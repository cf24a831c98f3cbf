/* SPDX-License-Identifier: MIT */
/*
 * probe_owner.h - the names of groups of probes, which say whose they are: waymark_PID_START, or
 * waymark_PID_STARTnNS in another PID namespace than the initial one. PID is the process's number
 * in its namespace, START its start time, which distinguishes processes with the same number, and
 * NS the inode of the namespace, both in hexadecimal digits. All containers of a machine see the
 * same probes, so a number alone would name another process in each of them.
 */
#ifndef WM_KERNEL_PROBES_PROBE_OWNER_H
#define WM_KERNEL_PROBES_PROBE_OWNER_H

#include <stdbool.h>
#include <stddef.h>

#define WM_PROBE_OWNER_PREFIX "waymark_"

/* Writes the name of this process's group. */
void wm_probe_owner_name(char *ret, size_t bytes);

/*
 * Whether the owner of a group has exited. `name` may go on with "_REST", as names of synthetic
 * events do. False when that is not certain: for a name of another form, for a process of another
 * PID namespace that still exists, and when /proc shows other processes than those of this
 * namespace.
 */
bool wm_probe_owner_has_exited(const char *name);

#endif
