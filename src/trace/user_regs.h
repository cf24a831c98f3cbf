/* SPDX-License-Identifier: MIT */
/*
 * user_regs.h - of what kind of program the registers of a sample are. perf's
 * files say so beside them, traces of ours do not; the code segment tells in
 * both, and is what the kernel itself asks.
 */
#ifndef WM_TRACE_USER_REGS_H
#define WM_TRACE_USER_REGS_H

#include "event/item.h"

/*
 * Are they of a program of 32 bits on x86? `mask`: which registers, a bit each,
 * as perf has them; `values` in the order of its bits. Without the code segment
 * it is one of 64.
 */
bool wm_user_regs_narrow(uint64_t mask, const struct wm_item *values, uint32_t nr);

#endif
