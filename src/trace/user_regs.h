/* SPDX-License-Identifier: MIT */
/*
 * user_regs.h - whether a sample's registers are of a 32-bit program. perf's files record this
 * separately, waymark's traces do not; the code segment determines it in both, as in the kernel.
 */
#ifndef WM_TRACE_USER_REGS_H
#define WM_TRACE_USER_REGS_H

#include "event/item.h"

/*
 * Returns whether they are of a 32-bit program on x86. `mask`: the sampled registers, a bit each,
 * numbered as in perf; `values` in the order of its bits. False when the code segment was not
 * sampled.
 */
bool wm_user_regs_narrow(uint64_t mask, const struct wm_item *values, uint32_t nr);

#endif
