/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - writes any trace as CTF 1.8 or CTF 2: a folder of stream files with their index and
 * metadata. Several traces, or a tree of traces, become one folder each.
 *
 * A reader of the output finds the same events: names, times and fields, in the same order. Fields
 * that CTF requires but the trace does not have are added and are visible: a length before each
 * list (_NAME_length), cpu_id for a stream of one CPU.
 */
#ifndef WM_EXPORT_CTF_CTF_H
#define WM_EXPORT_CTF_CTF_H

#include "export/export.h"

extern const struct wm_exporter_ops wm_export_ctf1, wm_export_ctf2;

#endif
