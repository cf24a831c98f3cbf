/* SPDX-License-Identifier: MIT */
/*
 * sized.h - structures that cross the boundary of the library and whose first member is their size
 * (WAYMARK_INIT in <waymark/read.h> has the rules for callers). A structure grows only at its end:
 * a caller's structure is then a prefix of the library's, or vice versa.
 *
 * Exported functions work on structures of the library's size and copy them with these functions.
 */
#ifndef WM_API_SIZED_H
#define WM_API_SIZED_H

#include <stddef.h>

#include <waymark/read.h>

/* The largest plausible size; a larger one is uninitialised memory. */
#define WM_API_SIZE_MAX 4096u

/*
 * The size of the first version of an object's type, whose last member was `last`. There must be no
 * padding after it: a member that is added later would share the size of the first version.
 */
#define WM_API_FIRST_SIZE(object, last)                                                            \
	({                                                                                         \
		enum { first_size = offsetof(__typeof__(object), last) + sizeof((object).last) };  \
		_Static_assert(first_size % _Alignof(__typeof__(object)) == 0,                     \
			       "the structure ends with padding");                                 \
		(size_t) first_size;                                                               \
	})

/*
 * Copies the caller's options to `known`, a pointer to the same type; members that the caller does
 * not have become 0. `last` is the last member of the first version. Returns 0; -EINVAL: the size
 * is smaller than that version's, or 0; -E2BIG: a member that the library does not know is not 0,
 * or the size is larger than WM_API_SIZE_MAX. `what` names the options in the message.
 */
#define WM_API_COPY_IN(known, given, last, what, error)                                            \
	({                                                                                         \
		(void)sizeof((known) == (given));                                                  \
		wm_api_copy_in(known, sizeof(*(known)), WM_API_FIRST_SIZE(*(known), last), given,  \
			       what, error);                                                       \
	})

/*
 * Copies `known` to the caller's structure, as much as fits; members that the library does not know
 * become 0, and the size is unchanged. Returns 0; -EINVAL and -E2BIG as above: nothing was written.
 */
#define WM_API_COPY_OUT(ret, known, last)                                                          \
	({                                                                                         \
		(void)sizeof((known) == (ret));                                                    \
		wm_api_copy_out(ret, known, sizeof(*(known)), WM_API_FIRST_SIZE(*(known), last));  \
	})

int wm_api_copy_in(void *known, size_t known_size, size_t first_size, const void *given,
		   const char *what, struct waymark_error *error);
int wm_api_copy_out(void *ret, const void *known, size_t known_size, size_t first_size);

/* Clears `error`, which may be NULL. Returns 0; -EINVAL or -E2BIG: its size is wrong. */
int wm_api_error_begin(struct waymark_error *error);

#endif
