/* SPDX-License-Identifier: MIT */
/* event_options.c - see event_options.h. */
#include "cmd/event_options.h"

#include <errno.h>

#include "base/plural.h"
#include "cmd/exit.h"
#include "cmd/say.h"

static int event_options_say_unmatched(const struct wm_select *s, const struct wm_select_rule *r)
{
	char sentence[WM_DIAG_SENTENCE];
	struct wm_nearest near;

	wm_select_nearest(s, r->glob, &near);
	(void)wm_nearest_sentence(&near, "", sentence, sizeof(sentence));
	wm_say("no event matches '%s'%s%s", r->glob, sentence[0] ? "; " : "", sentence);
	return WM_EXIT_NO_MATCH;
}

/* When the filter fits none of the events, a name in it is probably misspelt. */
static void event_options_say_unfit(const struct wm_select_rule *r)
{
	bool fits_none = r->glob ? r->nr_matched == r->nr_unfit : !r->nr_matched;
	unsigned long long n = r->nr_unfit;

	wm_say("%llu %s a field of the filter '%s' and %s left out%s%s", n,
	       wm_plural(n, "kind of events lacks", "kinds of events lack"), r->filter,
	       wm_plural(n, "is", "are"), fits_none && r->question[0] ? "; " : "",
	       fits_none ? r->question : "");
}

static int say_error(int err, const struct wm_select_rule *rule, const struct wm_diag *diag)
{
	if (!rule) {
		wm_say("out of memory");
		return WM_EXIT_FAILED;
	}
	wm_say_caret(rule->filter, diag);
	return err == -ENOMEM ? WM_EXIT_FAILED : WM_EXIT_USAGE;
}

int wm_asked_bind(struct wm_select *s, struct wm_trace *const *traces, uint32_t nr_traces)
{
	struct wm_diag diag = {.offset = -1};
	const struct wm_select_rule *rule = NULL;
	int err = wm_select_bind(s, traces, nr_traces, &diag, &rule);

	if (err)
		return say_error(err, rule, &diag);
	for (uint32_t k = 1; k < s->nr_rules; k++)
		if (!s->rules[k].nr_matched)
			return event_options_say_unmatched(s, &s->rules[k]);
	for (uint32_t k = 0; k < s->nr_rules; k++)
		if (s->rules[k].nr_unfit)
			event_options_say_unfit(&s->rules[k]);
	return WM_EXIT_DONE;
}
