/* SPDX-License-Identifier: MIT */
/* sites.h - 10,000 sites, which gen-sites generates: each function passes a thousand of them. */
#ifndef BENCH_SITES_H
#define BENCH_SITES_H

#define NR_SITES 10000

void run_sites_0(int a);
void run_sites_1000(int a);
void run_sites_2000(int a);
void run_sites_3000(int a);
void run_sites_4000(int a);
void run_sites_5000(int a);
void run_sites_6000(int a);
void run_sites_7000(int a);
void run_sites_8000(int a);
void run_sites_9000(int a);

#endif
