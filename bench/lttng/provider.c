/* SPDX-License-Identifier: MIT */
/* provider.c - what LTTng-UST generates from provider.h: its probes. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng/provider.h"
