/* SPDX-License-Identifier: MIT */
/*
 * document.h - begins every JSON document that a verb prints:
 * {"schema":"waymark-VERB","schema_version":N,... The schema is
 * share/schema/waymark-VERB.schema.json; doc/format/json.md explains how versions are numbered.
 */
#ifndef WM_VIEW_DOCUMENT_H
#define WM_VIEW_DOCUMENT_H

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"

/*
 * Begins a document for the verb: initializes `j`, as wm_json_init() does, and opens the outermost
 * object, which the caller closes with wm_json_end().
 */
void wm_view_document(struct wm_json *j, FILE *out, unsigned lines, const char *verb);

/* Appends the same to a text, without a trailing comma; the caller closes the object. */
void wm_view_document_text(struct wm_text *t, const char *verb);

#endif
