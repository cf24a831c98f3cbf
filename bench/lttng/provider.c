/* SPDX-License-Identifier: MIT */
/* provider.c - the probes that LTTng-UST generates from provider.h. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng/provider.h"
