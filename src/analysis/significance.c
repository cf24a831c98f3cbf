/* SPDX-License-Identifier: MIT */
/*
 * significance.c - see significance_int.h. The tail of Student's distribution is a
 * regularised incomplete beta function, computed by its continued fraction
 * (Lentz's method); a dozen terms give three digits.
 */
#include "analysis/significance_int.h"

#include <math.h>

#define TERMS_MAX 300
#define EXACT     1e-12
#define TINY      1e-300

static double at_least_tiny(double v)
{
	return fabs(v) < TINY ? TINY : v;
}

/* The continued fraction of the incomplete beta function. */
static double significance_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / at_least_tiny(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m <= TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / at_least_tiny(1 + even * d);
		c = at_least_tiny(1 + even / c);
		h *= d * c;
		d = 1 / at_least_tiny(1 + odd * d);
		c = at_least_tiny(1 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < EXACT)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * significance_fraction(a, b, x) / a
					 : 1 - front * significance_fraction(b, a, 1 - x) / b;
}

/* The mean, and the square of its standard error. */
static double mean_of(const double *v, uint32_t nr, double *ret_error)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += v[i];
	for (uint32_t i = 0; i < nr; i++)
		squares += (v[i] - sum / nr) * (v[i] - sum / nr);
	*ret_error = squares / (nr - 1) / nr;
	return sum / nr;
}

double wm_significance_means(const double *a, uint32_t nr_a, const double *b, uint32_t nr_b)
{
	double ea, eb, difference, freedom, t;

	if (nr_a < 2 || nr_b < 2)
		return NAN;
	difference = mean_of(a, nr_a, &ea);
	difference -= mean_of(b, nr_b, &eb);
	if (ea + eb <= 0)
		return difference != 0 ? 0 : 1;
	t = difference / sqrt(ea + eb);
	freedom = (ea + eb) * (ea + eb) / (ea * ea / (nr_a - 1) + eb * eb / (nr_b - 1));
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double wm_significance_counts(uint64_t a, uint64_t nr_a, uint64_t b, uint64_t nr_b)
{
	double n = (double)nr_a, m = (double)nr_b, p, error;

	if (!nr_a || !nr_b)
		return NAN;
	p = ((double)a + (double)b) / (n + m);
	error = sqrt(p * (1 - p) * (1 / n + 1 / m));
	if (!(error > 0))
		return 1;
	return erfc(fabs((double)a / n - (double)b / m) / error / sqrt(2));
}
