/* SPDX-License-Identifier: MIT */
/*
 * user_regs.h - determines whether a sample's registers belong to a 32-bit program. perf.data
 * records this separately, waymark's traces do not; the code segment register gives the answer for
 * both.
 */
#ifndef WM_TRACE_USER_REGS_H
#define WM_TRACE_USER_REGS_H

#include "event/item.h"

/*
 * Returns whether the registers belong to a 32-bit program on x86. `mask` has one bit per sampled
 * register, numbered as in perf; `values` are in the order of its bits. Returns false when the code
 * segment was not sampled.
 */
bool wm_user_regs_narrow(uint64_t mask, const struct wm_item *values, uint32_t nr);

#endif
