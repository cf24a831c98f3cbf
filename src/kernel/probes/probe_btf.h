/* SPDX-License-Identifier: MIT */
/*
 * probe_btf.h - looks up names in a kprobe's arguments, using the kernel's own type information:
 * function parameters, structure members.
 */
#ifndef WM_KERNEL_PROBES_PROBE_BTF_H
#define WM_KERNEL_PROBES_PROBE_BTF_H

#include "kdata/btf.h"
#include "kernel/probes/probe_args.h"

struct wm_probe_btf {
	void *data;
	struct wm_btf btf;
};

/*
 * Reads /sys/kernel/btf/vmlinux. Returns 0, -ENOENT (this kernel has no BTF), -EACCES or another
 * errno.
 */
int wm_probe_btf_open(struct wm_probe_btf *b, struct wm_diag *diag);
void wm_probe_btf_close(struct wm_probe_btf *b);

struct wm_probe_btf_site {
	const struct wm_probe_btf *btf; /* NULL: not available */
	const char *function;
	/*
	 * The place is the first instruction, where parameters are still in their argument
	 * registers.
	 */
	bool entry;
	bool returns;
};

/* Functions for struct wm_probe_scope; `data` is a struct wm_probe_btf_site. See probe_dwarf.h. */
int wm_probe_btf_named(void *data, const char *name, struct wm_probe_value *ret,
		       struct wm_diag *diag);
int wm_probe_btf_each(void *data, int (*fn)(const char *name, void *), void *user);

#endif
