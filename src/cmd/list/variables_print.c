/* SPDX-License-Identifier: MIT */
/* variables_print.c - see variables.h. */
#include "cmd/list/variables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/say.h"
#include "kernel/probe_variables.h"

/* The sentence without its leading "'NAME': ", which the line already shows. */
static const char *reason_of(const struct wm_probe_variable *v)
{
	size_t n = strlen(v->name);
	const char *s = v->refused;

	return *s == '\'' && !strncmp(s + 1, v->name, n) && !strncmp(s + 1 + n, "': ", 3)
		   ? s + n + 4
		   : s;
}

static int variable_text(const struct wm_probe_variable *v, void *data)
{
	int pad = 16 - (int)strlen(v->type);

	(void)data;
	(void)printf("      ");
	wm_say_clean(stdout, v->type);
	(void)printf("%*s ", pad > 0 ? pad : 0, "");
	wm_say_clean(stdout, v->name);
	if (v->refused) {
		(void)printf("  (");
		wm_say_clean(stdout, reason_of(v));
		(void)printf(")");
	}
	(void)printf("\n");
	return 0;
}

void wm_list_variables_text(const struct wm_inventory_kernel *k, const struct wm_event_def *d)
{
	const struct wm_event_def *before = d > k->defs.defs ? d - 1 : NULL;
	struct wm_diag diag = {.offset = -1};
	int err;

	if (!k->variables)
		return;
	err = wm_probe_variables_each(k->variables, d, variable_text, NULL, &diag);
	if (!err || err == -EINVAL)
		return;
	if (err == -ENODATA && before && before->path && d->path && !strcmp(before->path, d->path))
		return;
	(void)printf("      (");
	wm_say_clean(stdout, diag.sentence[0] ? diag.sentence : wm_diag_errno(err));
	(void)printf(")\n");
}

/* ---- JSON ------------------------------------------------------------------------------ */

struct writing {
	struct wm_json *j;
	bool begun;
};

static int variable_json(const struct wm_probe_variable *v, void *data)
{
	struct writing *w = data;

	if (!w->begun)
		wm_json_array(w->j, "variables");
	w->begun = true;
	wm_json_object(w->j, NULL);
	wm_json_string(w->j, "name", v->name);
	wm_json_string(w->j, "type", v->type);
	wm_json_bool(w->j, "parameter", v->is_parameter);
	if (v->refused)
		wm_json_string(w->j, "refused", reason_of(v));
	wm_json_end(w->j);
	return 0;
}

void wm_list_variables_json(const struct wm_inventory_kernel *k, const struct wm_event_def *d,
			    struct wm_json *j)
{
	struct writing w = {.j = j};
	int err;

	if (!k->variables)
		return;
	err = wm_probe_variables_each(k->variables, d, variable_json, &w, NULL);
	if (!err && !w.begun)
		wm_json_array(j, "variables");
	if (!err || w.begun)
		wm_json_end(j);
}
