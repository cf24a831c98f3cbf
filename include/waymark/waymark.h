/* SPDX-License-Identifier: MIT */
/* waymark.h - all of libwaymark, for tools. Traced programs include tracepoint.h. */
#ifndef WAYMARK_WAYMARK_H
#define WAYMARK_WAYMARK_H

#include <waymark/list.h>
#include <waymark/read.h>
#include <waymark/record.h>

#endif
