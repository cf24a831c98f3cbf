/* SPDX-License-Identifier: MIT */
/*
 * print_form.h - fills in an event's print form, or a printf-like marker's format, with the values
 * of one event. The form comes from a traced program: it is data here, never a format for printf().
 *
 * Each conversion consumes the next field; %% consumes none. A field that does not fit its
 * conversion is shown in its default form. A conversion without a field is copied unchanged. A
 * newline at the end of the form is dropped.
 */
#ifndef WM_VIEW_TEXT_PRINT_FORM_H
#define WM_VIEW_TEXT_PRINT_FORM_H

#include "base/text.h"
#include "trace/reader.h"
#include "view/shape.h"

#define WM_PRINT_WIDTH_MAX 4096u

/* `fields`: the shape of the event's visible fields; conversions skip hidden ones. */
void wm_view_print_form(struct wm_text *t, const char *form, const struct wm_shape *fields,
			const struct wm_event *e);

#endif
