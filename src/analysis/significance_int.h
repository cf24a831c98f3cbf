/* SPDX-License-Identifier: MIT */
/*
 * significance_int.h - statistical significance: the probability, 0 to 1, that
 * unchanged quantities differ this much or more by chance.
 */
#ifndef WM_ANALYSIS_SIGNIFICANCE_INT_H
#define WM_ANALYSIS_SIGNIFICANCE_INT_H

#include <stdint.h>

/*
 * Compares two sets of at least two measurements each, with unequal variances (Welch's t test,
 * two-sided). Returns NAN when there are too few. For sets without variance, returns 1 if they are
 * equal, else 0.
 */
double wm_significance_means(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b);

/*
 * Compares two proportions: `a` of nr_a and `b` of nr_b trials (two-sided, normal approximation).
 * Returns NAN without trials.
 */
double wm_significance_counts(uint64_t a, uint64_t nr_a, uint64_t b, uint64_t nr_b);

#endif
