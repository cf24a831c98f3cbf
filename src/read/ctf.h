/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - reads CTF 1.8 and CTF 2: one trace, or a folder with a tree of them.
 *
 * Exporters may also use the structures of an open CTF trace: a trace whose ops are wm_ctf_ops has
 * a struct wm_ctf_trace as its `own`, its streams are struct wm_ctf_file, and each folder has the
 * tree of its metadata. They belong to the reader and live as long as the trace; exporters only
 * read them.
 */
#ifndef WM_READ_CTF_H
#define WM_READ_CTF_H

#include "read/ctf/item_type.h"
#include "read/ctf/meta/ctf2_parse.h"
#include "read/ctf/trace.h"

#endif
