/* SPDX-License-Identifier: MIT */
/*
 * significance_int.h - statistical significance: the probability, 0 to 1, that
 * unchanged quantities differ this much or more by chance.
 */
#ifndef WM_ANALYSIS_SIGNIFICANCE_INT_H
#define WM_ANALYSIS_SIGNIFICANCE_INT_H

#include <stdint.h>

/*
 * For two sets of measurements, at least two each, of unequal variance (Welch's
 * t test, two-sided). NAN: too few. Equal constants: 1; different ones: 0.
 */
double wm_significance_means(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/* For `a` of nr_a and `b` of nr_b trials (two-sided, normal approximation). NAN: no trials. */
double wm_significance_counts(uint64_t a, uint64_t nr_a, uint64_t b, uint64_t nr_b);

#endif
