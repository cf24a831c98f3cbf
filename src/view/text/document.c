/* SPDX-License-Identifier: MIT */
/* document.c - see document.h; contains each schema's version. */
#include "view/document.h"

#include <assert.h>
#include <string.h>

#define NAME_BYTES 40u

/* The version rises when a member is removed or changes its meaning, not when one is added. */
static const struct {
	const char *verb;
	unsigned version;
} schemas[] = {
    {"annotate", 1}, {"diff", 1},   {"doctor", 1}, {"info", 1}, {"list", 1},
    {"print", 1},    {"report", 1}, {"stat", 1},   {"top", 1},
};

static unsigned document_version(const char *verb)
{
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
		if (!strcmp(schemas[i].verb, verb))
			return schemas[i].version;
	assert(!"a verb without a schema");
	return 0;
}

void wm_view_document(struct wm_json *j, FILE *out, unsigned lines, const char *verb)
{
	char name[NAME_BYTES];

	(void)snprintf(name, sizeof(name), "waymark-%s", verb);
	wm_json_init(j, out, lines);
	wm_json_object(j, NULL);
	wm_json_string(j, "schema", name);
	wm_json_u64(j, "schema_version", document_version(verb));
}

void wm_view_document_text(struct wm_text *t, const char *verb)
{
	wm_text_f(t, "{\"schema\":\"waymark-%s\",\"schema_version\":%u", verb,
		  document_version(verb));
}
