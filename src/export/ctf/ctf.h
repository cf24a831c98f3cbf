/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - writes any trace as CTF 1.8 or CTF 2: a folder of stream
 * files with their index and metadata; of several traces, or a tree of them, a
 * folder for each.
 *
 * Read back, the events are the same: names, times, fields, in the same order.
 * What CTF asks for and a trace had not is added and is seen: a length before
 * each list (_NAME_length), cpu_id of a stream of one CPU.
 */
#ifndef WM_EXPORT_CTF_CTF_H
#define WM_EXPORT_CTF_CTF_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_ctf1, wm_export_ctf2;

#endif
