/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - see demangle.h. A short name can demangle to a string of exponential length.
 * libiberty passes the text to demangle_take() in pieces; when it becomes too long, demangle_take()
 * leaves libiberty with longjmp(). That is safe, because libiberty keeps all its data on the stack
 * in this mode.
 */
#include "elf/demangle.h"

#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/text.h"

struct taking {
	struct wm_text text;
	jmp_buf too_long;
};

static void demangle_take(const char *piece, size_t bytes, void *opaque)
{
	struct taking *t = opaque;

	if (bytes > WM_DEMANGLE_RESULT_MAX - t->text.bytes)
		longjmp(t->too_long, 1);
	wm_text_add(&t->text, piece, bytes);
	if (t->text.failed)
		longjmp(t->too_long, 1);
}

bool wm_demangle_may(const char *name)
{
	return (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == '_' ||
				   !strncmp(name + 1, "GLOBAL_", 7)));
}

/*
 * Handles Rust's two mangling schemes: its own, and the older one, which looks like C++ and ends in
 * a hash.
 */
static bool demangle_take_name(const char *name, struct taking *t)
{
	return rust_demangle_callback(name, DMGL_NO_OPTS, demangle_take, t) ||
	       cplus_demangle_v3_callback(name, DMGL_NO_OPTS, demangle_take, t);
}

char *wm_demangle(const char *name)
{
	struct taking t;
	bool known = false;

	if (!wm_demangle_may(name) || strnlen(name, WM_DEMANGLE_NAME_MAX) == WM_DEMANGLE_NAME_MAX)
		return NULL;
	wm_text_init(&t.text);
	if (setjmp(t.too_long) == 0)
		known = demangle_take_name(name, &t) && t.text.bytes > 0;
	else
		known = false;
	if (known)
		return t.text.data;
	wm_text_done(&t.text);
	return NULL;
}
