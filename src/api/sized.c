/* SPDX-License-Identifier: MIT */
/* sized.c - copies structures between the caller's size and the library's. See sized.h. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "api/api.h"
#include "api/sized.h"

/* Reads the size in the structure's first member. Returns 0 or the error. */
static int get_size(const void *given, size_t first_size, size_t *ret_size)
{
	size_t size;

	memcpy(&size, given, sizeof(size));
	if (size < first_size)
		return -EINVAL;
	if (size > WM_API_SIZE_MAX)
		return -E2BIG;
	*ret_size = size;
	return 0;
}

static bool sized_is_zero(const unsigned char *bytes, size_t nr)
{
	while (nr && !bytes[nr - 1])
		nr--;
	return !nr;
}

int wm_api_copy_in(void *known, size_t known_size, size_t first_size, const void *given,
		   const char *what, struct waymark_error *error)
{
	const unsigned char *from = given;
	size_t size, common;
	int err = get_size(given, first_size, &size);

	if (err)
		return wm_api_fail(error, err,
				   "the member 'size' of the %s is %s; initialise them with "
				   "WAYMARK_INIT, or set it to their sizeof",
				   what, err == -EINVAL ? "missing or too small" : "too large");
	common = size < known_size ? size : known_size;
	if (!sized_is_zero(from + common, size - common))
		return wm_api_fail(error, -E2BIG,
				   "the %s set a member that libwaymark " WM_VERSION
				   " does not have; use a newer library",
				   what);
	memset(known, 0, known_size);
	memcpy(known, from, common);
	memcpy(known, &known_size, sizeof(known_size));
	return 0;
}

int wm_api_copy_out(void *ret, const void *known, size_t known_size, size_t first_size)
{
	unsigned char *to = ret;
	size_t size, common;
	int err = get_size(ret, first_size, &size);

	if (err)
		return err;
	common = size < known_size ? size : known_size;
	memcpy(to + sizeof(size), (const unsigned char *)known + sizeof(size),
	       common - sizeof(size));
	memset(to + common, 0, size - common);
	return 0;
}

int wm_api_error_begin(struct waymark_error *error)
{
	static const struct waymark_error none;

	return error ? WM_API_COPY_OUT(error, &none, text) : 0;
}
