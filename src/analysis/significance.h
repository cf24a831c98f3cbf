/* SPDX-License-Identifier: MIT */
/*
 * significance.h - how likely a difference is that of chance: probabilities, 0
 * to 1, that what did not change looks as different as this or more.
 */
#ifndef WM_ANALYSIS_SIGNIFICANCE_H
#define WM_ANALYSIS_SIGNIFICANCE_H

#include <stdint.h>

/*
 * Two sets of measurements, two and more each, of unequal spread (Welch's t
 * test, two-sided). NAN: too few. Equal constants: 1; different ones: 0.
 */
double wm_significance_means(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/* `a` of nr_a and `b` of nr_b trials (two-sided, normal approximation). NAN: no trials. */
double wm_significance_counts(uint64_t a, uint64_t nr_a, uint64_t b, uint64_t nr_b);

#endif
