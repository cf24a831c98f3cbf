/* SPDX-License-Identifier: MIT */
/*
 * ctf2_known.c - warns about properties that CTF 2 does not define. A reader ignores them, but they
 * may be misspelt, in which case the default of the intended property is used.
 */
#include <string.h>

#include "read/ctf/meta/ctf2_int.h"

#define FIXED   "length byte-order bit-order alignment "
#define INTEGER "roles preferred-display-base mappings "
#define NAMES   "namespace name uid "

/*
 * Properties of fragments, of field classes and of objects inside them, each followed by a space.
 */
static const struct {
	const char *type, *properties;
} known[] = {
    {"preamble", "version uuid "},
    {"field-class-alias", "name field-class "},
    {"trace-class", NAMES "environment packet-header-field-class "},
    {"clock-class", NAMES "id description frequency precision accuracy origin offset-from-origin "},
    {"data-stream-class", NAMES "id default-clock-class-id default-clock-class-name "
				"packet-context-field-class event-record-header-field-class "
				"event-record-common-context-field-class "},
    {"event-record-class",
     NAMES "id data-stream-class-id specific-context-field-class payload-field-class "},
    {"fixed-length-unsigned-integer", FIXED INTEGER},
    {"fixed-length-signed-integer", FIXED INTEGER},
    {"fixed-length-boolean", FIXED},
    {"fixed-length-bit-array", FIXED},
    {"fixed-length-bit-map", FIXED "flags "},
    {"fixed-length-floating-point-number", FIXED},
    {"variable-length-unsigned-integer", INTEGER},
    {"variable-length-signed-integer", INTEGER},
    {"null-terminated-string", "encoding "},
    {"static-length-string", "encoding length "},
    {"dynamic-length-string", "encoding length-field-location "},
    {"static-length-blob", "length media-type roles "},
    {"dynamic-length-blob", "length-field-location media-type "},
    {"structure", "member-classes minimum-alignment "},
    {"static-length-array", "element-field-class minimum-alignment length "},
    {"dynamic-length-array", "element-field-class minimum-alignment length-field-location "},
    {"optional", "selector-field-location selector-field-ranges field-class "},
    {"variant", "selector-field-location options "},
    {"structure member", "name field-class "},
    {"variant option", "name field-class selector-field-ranges "},
    {"field location", "origin path "},
    {"offset-from-origin", "seconds cycles "},
    {"clock origin", NAMES},
};

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (; *words; words += strcspn(words, " ") + 1)
		if (!strncmp(words, word, n) && words[n] == ' ')
			return true;
	return false;
}

void wm_ctf2_check_properties(struct ctf2 *p, const char *type, json_t *object)
{
	const char *properties = NULL, *key;
	json_t *value;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !properties; i++)
		if (!strcmp(known[i].type, type))
			properties = known[i].properties;
	json_object_foreach(object, key, value)
	{
		(void)value;
		if (properties && !has_word("type attributes extensions ", key) &&
		    !has_word(properties, key))
			wm_ctf_warn(p->m, p->offset, p->line, "unknown property '%.60s' of %s %s",
				    key, strchr("aeiou", type[0]) ? "an" : "a", type);
	}
}
