/* SPDX-License-Identifier: MIT */
/*
 * module_file.h - finds on this machine the files that a module was: the
 * program or library itself, and the one with its symbols and debug
 * information. A file of another build is never taken for it.
 */
#ifndef WM_SYMBOL_MODULE_FILE_H
#define WM_SYMBOL_MODULE_FILE_H

#include "elf/elf_file.h"
#include "symbol/modules.h"

/* Why an address has no name. */
enum wm_unnamed {
	WM_NAMED,
	WM_UNNAMED_NO_MAPPING, /* nothing known was mapped there */
	WM_UNNAMED_NO_CODE,    /* stack, heap or data */
	WM_UNNAMED_NO_FILE,    /* the file is not on this machine */
	WM_UNNAMED_UNREADABLE, /* it may not be read, or is damaged, or of no kind we read */
	WM_UNNAMED_CHANGED,    /* the file is another build now */
	WM_UNNAMED_STRIPPED,   /* its symbols were stripped off */
	WM_UNNAMED_OUTSIDE,    /* between its symbols */
	WM_UNNAMED_NO_KALLSYMS,
	WM_UNNAMED_NO_JIT_MAP,
	WM_UNNAMED_NR
};

/* "no mapping there", "the file changed since": for a count or a list. */
const char *wm_unnamed_text(enum wm_unnamed why);

/* Strings stay the caller's; NULL: not there. */
struct wm_module_places {
	const char *symfs;   /* all files are below this folder */
	const char *cache;   /* builds by id, "$HOME/.debug" of perf */
	bool no_processes;   /* not to look through /proc/PID/root of a process that mapped it */
	bool no_debug_files; /* only the files themselves */
};

struct wm_module_files {
	struct wm_elf *image; /* NULL: not here */
	struct wm_elf *debug; /* with a .symtab, or DWARF that the image lacks; NULL: none */
};

/*
 * Opens what there is of a module of kind FILE, or of VDSO and VDSO32: those of
 * this machine, as the kernel gives the same one to all. WM_NAMED: one or both are
 * open; else why not, and the reason in `diag` where it has more to say.
 */
enum wm_unnamed wm_module_open(const struct wm_module *m, const struct wm_module_places *places,
			       struct wm_module_files *ret, struct wm_diag *diag);
void wm_module_close(struct wm_module_files *f);

/* An ordinary file, whatever stands at that path: devices and pipes are not opened. */
int wm_module_open_plain(const char *path, int *ret_fd);

#endif
