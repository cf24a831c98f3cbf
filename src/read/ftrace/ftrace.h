/* SPDX-License-Identifier: MIT */
/*
 * ftrace.h - reads ftrace's text output: a copy of the kernel's `trace` file, output of
 * `trace_pipe`, lines of trace-cmd report, or a page of Android's systrace that contains it.
 *
 * Events have the names that the text gives them, without their system. The task's name and flags
 * are items of WM_PART_STREAM_CONTEXT. KEY=VALUE pairs in an event's text are its fields, as found
 * in the first line of that event type; an event without pairs has a field `text`.
 */
#ifndef WM_READ_FTRACE_FTRACE_H
#define WM_READ_FTRACE_FTRACE_H

#include "trace/reader.h"

extern const struct wm_reader_ops wm_ftrace_ops;

#endif
