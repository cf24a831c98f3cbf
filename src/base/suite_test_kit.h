/* SPDX-License-Identifier: MIT */
/*
 * suite_test_kit.h - settings that unit tests take from the test run: where to create files, and
 * how many rounds to run.
 */
#ifndef WM_BASE_SUITE_TEST_KIT_H
#define WM_BASE_SUITE_TEST_KIT_H

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * The folder for a test's files, in memory if the machine has /dev/shm. A test that creates and
 * syncs a thousand files takes half the time there, and is independent of how busy the disk is.
 */
static inline const char *kit_scratch_folder(void)
{
	return access("/dev/shm", W_OK | X_OK) ? "/tmp" : "/dev/shm";
}

/* The number of rounds: `brief` in `make check`, `full` in `make check-long`. */
static inline uint32_t kit_rounds(uint32_t brief, uint32_t full)
{
	return getenv("WAYMARK_LONG") ? full : brief;
}

#endif
