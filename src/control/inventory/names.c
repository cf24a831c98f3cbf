/* SPDX-License-Identifier: MIT */
/* names.c - names for kinds, levels and types; suggestions of similar names. See inventory.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <waymark/abi.h>

#include "base/nearest.h"
#include "control/inventory.h"

static const char *const kinds[] = {
    [WAYMARK_KIND_EVENT] = "event",       [WAYMARK_KIND_MARKER] = "marker",
    [WAYMARK_KIND_PRINTF] = "printf",     [WAYMARK_KIND_SPAN_BEGIN] = "span-begin",
    [WAYMARK_KIND_SPAN_END] = "span-end", [WAYMARK_KIND_SPAN] = "span",
};

static const char *const levels[] = {"emerg",   "alert",  "crit", "err",
				     "warning", "notice", "info", "debug"};

/* wm_class_parse() refuses other kinds and levels */
const char *wm_inventory_kind(const struct wm_class *c)
{
	return c->kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[c->kind] : "?";
}

const char *wm_inventory_level(const struct wm_class *c)
{
	return c->level < sizeof(levels) / sizeof(levels[0]) ? levels[c->level] : "?";
}

/* The type of one element: "uint32", "float", "char", "pointer" and so on. */
static const char *scalar_name(const struct wm_field *f, char *buf, size_t size)
{
	static const char *const names[] = {
	    [WM_SCALAR_SIGNED] = "int",  [WM_SCALAR_UNSIGNED] = "uint",
	    [WM_SCALAR_HEX] = "hex",     [WM_SCALAR_BOOL] = "bool",
	    [WM_SCALAR_FLOAT] = "float", [WM_SCALAR_POINTER] = "pointer",
	};

	if (f->scalar == WM_SCALAR_BOOL || f->scalar == WM_SCALAR_POINTER)
		(void)snprintf(buf, size, "%s", names[f->scalar]);
	else
		(void)snprintf(buf, size, "%s%u", names[f->scalar], 8u * f->bytes);
	return buf;
}

const char *wm_inventory_type(const struct wm_field *f, char *buf, size_t size)
{
	char element[32];

	scalar_name(f, element, sizeof(element));
	switch (f->shape) {
	case WM_SHAPE_STRING:
		(void)snprintf(buf, size, "string");
		break;
	case WM_SHAPE_BLOB:
		(void)snprintf(buf, size, "blob");
		break;
	case WM_SHAPE_CHARS:
		(void)snprintf(buf, size, "char[%" PRIu32 "]", f->length);
		break;
	case WM_SHAPE_ARRAY:
		(void)snprintf(buf, size, "%s[%" PRIu32 "]", element, f->length);
		break;
	case WM_SHAPE_SEQUENCE:
		(void)snprintf(buf, size, "%s[]", element);
		break;
	default:
		(void)snprintf(buf, size, "%s", element);
	}
	return buf;
}

/* Offers full names or, for a glob without ':', names without the provider. */
static void offer_all(const struct wm_inventory *l, const char *glob, struct wm_nearest *near)
{
	for (uint32_t i = 0; i < l->nr_files; i++) {
		for (uint32_t e = 0; e < l->files[i]->nr_events; e++) {
			const struct wm_class *c = l->files[i]->events[e].class;
			char full[2 * WM_CLASS_NAME_MAX + 2];

			(void)snprintf(full, sizeof(full), "%s:%s", c->provider, c->name);
			wm_nearest_offer(near, strchr(glob, ':') ? full : c->name);
		}
	}
}

bool wm_inventory_near(const struct wm_inventory *l, const char *glob, char *hint, size_t bytes)
{
	struct wm_nearest near;

	wm_nearest_init(&near, strncmp(glob, "user:", 5) ? glob : glob + 5);
	offer_all(l, glob, &near);
	return *wm_nearest_sentence(&near, "", hint, bytes) != '\0';
}
