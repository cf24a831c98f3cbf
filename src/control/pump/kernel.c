/* SPDX-License-Identifier: MIT */
/* kernel.c - the kernel's events in the pump process; see pump_int.h. */
#include "control/pump/pump_int.h"

/* Wakes the loop; the round after it looks what there is. */
static void on_kernel_ring(int fd, uint32_t events, void *data)
{
	(void)fd;
	(void)events;
	(void)data;
}

int wm_serving_begin_kernel(struct serving *s, struct wm_diag *diag)
{
	struct wm_kernel_events *k = s->kernel_events;
	int err = wm_kernel_events_source(k, s->writer, &s->kernel, diag);

	for (uint32_t i = 0; err == 0 && i < wm_kernel_events_nr_rings(k); i++)
		if (wm_kernel_events_fd(k, i) >= 0)
			err = wm_loop_fd(s->loop, wm_kernel_events_fd(k, i), EPOLLIN,
					 on_kernel_ring, s, NULL);
	return err;
}

void wm_serving_end_kernel(struct serving *s)
{
	if (!s->kernel)
		return;
	wm_kernel_events_stop(s->kernel_events);
	(void)wm_kernel_source_finish(s->kernel);                 /* errors are in the totals */
	(void)wm_kernel_events_save(s->kernel_events, s->writer); /* a full disk was seen before */
}
