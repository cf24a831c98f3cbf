/* SPDX-License-Identifier: MIT */
/* ctf_words.c - names of CTF scopes and log levels; see ctf_words.h. */
#include "trace/ctf_words.h"

#include <stddef.h>

const char *const wm_ctf_scope_words[WM_CTF_NR_SCOPES][3] = {
    [WM_CTF_PACKET_HEADER] = {"trace", "packet", "header"},
    [WM_CTF_PACKET_CONTEXT] = {"stream", "packet", "context"},
    [WM_CTF_EVENT_HEADER] = {"stream", "event", "header"},
    [WM_CTF_STREAM_EVENT_CONTEXT] = {"stream", "event", "context"},
    [WM_CTF_EVENT_CONTEXT] = {"event", "context", NULL},
    [WM_CTF_EVENT_FIELDS] = {"event", "fields", NULL},
};

const char *const wm_ctf_scope_origins[WM_CTF_NR_SCOPES] = {
    [WM_CTF_PACKET_HEADER] = "packet-header",
    [WM_CTF_PACKET_CONTEXT] = "packet-context",
    [WM_CTF_EVENT_HEADER] = "event-record-header",
    [WM_CTF_STREAM_EVENT_CONTEXT] = "event-record-common-context",
    [WM_CTF_EVENT_CONTEXT] = "event-record-specific-context",
    [WM_CTF_EVENT_FIELDS] = "event-record-payload",
};

const char *const wm_ctf_level_names[WM_CTF_NR_LEVELS] = {
    "emergency",    "alert",      "critical",       "error",         "warning",
    "notice",       "info",       "debug:system",   "debug:program", "debug:process",
    "debug:module", "debug:unit", "debug:function", "debug:line",    "debug",
};
