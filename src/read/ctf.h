/* SPDX-License-Identifier: MIT */
/*
 * ctf.h - reads CTF 1.8 and CTF 2: one trace, or a folder with a tree of them.
 *
 * Exporters may also read the structures of an open CTF trace: when the ops of a trace are
 * wm_ctf_ops, its `own` is a struct wm_ctf_trace, the `own` of each stream is a struct wm_ctf_file,
 * and each folder has the tree of its metadata. These structures belong to the reader and live as
 * long as the trace; exporters must not change them.
 */
#ifndef WM_READ_CTF_H
#define WM_READ_CTF_H

#include "read/ctf/item_type.h"
#include "read/ctf/trace.h"

#endif
