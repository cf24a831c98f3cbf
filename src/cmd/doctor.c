/* SPDX-License-Identifier: MIT */
/* doctor.c - waymark doctor: checks what works on this machine, and prints reasons and fixes. */
#include <stdlib.h>
#include <string.h>

#include "cmd/exit.h"
#include "cmd/say.h"
#include "cmd/verb.h"
#include "control/doctor.h"
#include "view/document.h"

struct values {
	bool json;
};

static const char *const words[] = {
    [WM_WORKS_YES] = "yes",
    [WM_WORKS_PARTLY] = "partly",
    [WM_WORKS_NO] = "no",
};

static void cmd_doctor_print_text(const struct wm_check *checks, size_t nr)
{
	const char *group = "";
	int width = 0;

	for (size_t i = 0; i < nr; i++)
		width = (int)strlen(checks[i].name) > width ? (int)strlen(checks[i].name) : width;
	for (size_t i = 0; i < nr; i++) {
		const struct wm_check *c = &checks[i];

		if (strcmp(group, c->group))
			(void)printf("%s%s:\n", *group ? "\n" : "", c->group);
		group = c->group;
		(void)printf("  %-6s  %-*s  ", words[c->works], width, c->name);
		wm_say_clean(stdout, c->detail);
		if (*c->cure) {
			(void)printf("\n%*s", width + 12, "");
			(void)printf("fix: ");
			wm_say_clean(stdout, c->cure);
		}
		(void)printf("\n");
	}
}

static void cmd_doctor_print_json(const struct wm_check *checks, size_t nr)
{
	struct wm_json j;

	wm_view_document(&j, stdout, 2, "doctor");
	wm_json_array(&j, "capabilities");
	for (size_t i = 0; i < nr; i++) {
		const struct wm_check *c = &checks[i];

		wm_json_object(&j, NULL);
		wm_json_string(&j, "capability", c->id);
		wm_json_string(&j, "group", c->group);
		wm_json_string(&j, "name", c->name);
		wm_json_string(&j, "works", words[c->works]);
		wm_json_string(&j, "detail", c->detail);
		if (*c->cure)
			wm_json_string(&j, "cure", c->cure);
		wm_json_end(&j);
	}
	wm_json_end(&j);
	wm_json_end(&j);
}

static int cmd_doctor_run(void *values, int nr_args, char **args)
{
	const struct values *v = values;
	struct wm_check *checks;
	size_t nr;
	int err;

	(void)nr_args;
	(void)args;
	err = wm_doctor(&checks, &nr);
	if (err < 0) {
		wm_say("doctor: %s", wm_diag_errno(err));
		return WM_EXIT_FAILED;
	}
	if (v->json)
		cmd_doctor_print_json(checks, nr);
	else
		cmd_doctor_print_text(checks, nr);
	free(checks);
	return WM_EXIT_DONE;
}

static const struct wm_option options[] = {
    {.name = "json", .help = "print one JSON object", WM_OPTION_TO_FLAG(struct values, json)},
    WM_OPTION_END,
};

const struct wm_verb wm_cmd_doctor = {
    .name = "doctor",
    .summary = "test what waymark can do on this machine; print reasons and fixes",
    .synopsis = "[--json]",
    .details = "Each capability is tested with the permissions of the current user; root may "
	       "have\nmore. The tests change nothing.",
    .options = options,
    .values_bytes = sizeof(struct values),
    .run = cmd_doctor_run,
};
