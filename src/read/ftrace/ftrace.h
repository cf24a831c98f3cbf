/* SPDX-License-Identifier: MIT */
/*
 * ftrace.h - reads the text of ftrace: a copy of the kernel's `trace` file, what
 * came out of `trace_pipe`, or trace-cmd report's lines.
 *
 * Events are called as in the text, without their system. Name and flags of the
 * task are items of WM_PART_STREAM_CONTEXT. What stands as KEY=VALUE in an
 * event's text are its fields, by the first line of its kind; an event that has
 * none has a field `text`.
 */
#ifndef WM_READ_FTRACE_FTRACE_H
#define WM_READ_FTRACE_FTRACE_H

#include "trace/reader.h"

extern const struct wm_reader_ops wm_ftrace_ops;

#endif
