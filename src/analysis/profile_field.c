/* SPDX-License-Identifier: MIT */
/*
 * profile_field.c - finds event fields by names of the form FIELD or EVENT.FIELD; see
 * profile_key_int.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/profile_key_int.h"
#include "base/glob.h"
#include "base/nearest.h"

static bool event_matches(const struct wm_event_type *t, const char *glob, size_t bytes)
{
	const char *colon = strchr(t->name, ':');
	size_t provider = strlen(t->provider);

	if (!glob || wm_glob_match(glob, bytes, t->name, strlen(t->name)))
		return true;
	/*
	 * "kmalloc" also matches "kmem:kmalloc", and "kmem:kmalloc" matches if
	 * the provider is stored separately.
	 */
	if (colon && wm_glob_match(glob, bytes, colon + 1, strlen(colon + 1)))
		return true;
	return !colon && provider && bytes > provider && glob[provider] == ':' &&
	       !memcmp(glob, t->provider, provider) &&
	       wm_glob_match(glob + provider + 1, bytes - provider - 1, t->name, strlen(t->name));
}

static int profile_field_unknown(const struct wm_pass *pass, const char *name, struct wm_diag *diag)
{
	const char *dot = strrchr(name, '.'), *field = dot ? dot + 1 : name;
	char hint[256];
	struct wm_nearest near;

	wm_nearest_init(&near, field);
	for (const char *const *k = wm_key_names; *k; k++)
		wm_nearest_offer(&near, *k);
	for (uint32_t i = 0; i < pass->in->nr_traces; i++) {
		const struct wm_trace *t = pass->in->traces[i];

		for (uint32_t k = 0; k < t->nr_types; k++) {
			const struct wm_type *s = t->types[k]->parts[WM_PART_FIELDS];

			for (uint32_t m = 0; s && m < s->nr_members; m++)
				if (s->members[m].name && wm_pass_selects(pass, i, t->types[k]))
					wm_nearest_offer(&near, s->members[m].name);
		}
	}
	wm_nearest_sentence(&near, "", hint, sizeof(hint));
	return wm_diag_set(diag, -ENOENT, NULL, -1, "no selected event has a field '%.100s'%s%s",
			   name, hint[0] ? "; " : "", hint);
}

void wm_key_fields_free(const struct wm_pass *pass, struct wm_field_ref **fields)
{
	for (uint32_t i = 0; fields && i < pass->in->nr_traces; i++)
		free(fields[i]);
	free(fields);
}

int wm_key_fields(const struct wm_pass *pass, const char *name, struct wm_field_ref ***ret,
		  struct wm_diag *diag)
{
	const char *dot = strrchr(name, '.'), *field = dot ? dot + 1 : name;
	struct wm_field_ref **fields =
	    calloc(pass->in->nr_traces + 1, sizeof(struct wm_field_ref *));
	uint64_t nr = 0;

	for (uint32_t i = 0; fields && i < pass->in->nr_traces; i++) {
		const struct wm_trace *t = pass->in->traces[i];

		fields[i] = calloc(t->nr_types + 1, sizeof(**fields));
		if (!fields[i]) {
			wm_key_fields_free(pass, fields);
			return -ENOMEM;
		}
		for (uint32_t k = 0; k < t->nr_types; k++)
			if (wm_pass_selects(pass, i, t->types[k]) &&
			    event_matches(t->types[k], dot ? name : NULL,
					  dot ? (size_t)(dot - name) : 0))
				nr += wm_field_ref_find(t->types[k], field, &fields[i][k]);
	}
	if (!fields)
		return -ENOMEM;
	if (!nr) {
		wm_key_fields_free(pass, fields);
		return profile_field_unknown(pass, name, diag);
	}
	*ret = fields;
	return 0;
}
