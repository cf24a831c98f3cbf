/* SPDX-License-Identifier: MIT */
/*
 * module_file_int.h - finds a module's files on this machine: the program or library itself, and
 * the file with its symbols and debug information. Never accepts a file from another build.
 */
#ifndef WM_SYMBOL_MODULE_FILE_INT_H
#define WM_SYMBOL_MODULE_FILE_INT_H

#include "elf/elf_file.h"
#include "symbol/modules.h"

/* Why an address has no name. */
enum wm_unnamed {
	WM_NAMED,
	WM_UNNAMED_NO_MAPPING, /* no known mapping at the address */
	WM_UNNAMED_NO_CODE,    /* stack, heap or data */
	WM_UNNAMED_NO_FILE,    /* the file is not on this machine */
	WM_UNNAMED_UNREADABLE, /* no permission, damaged, or an unknown kind of file */
	WM_UNNAMED_CHANGED,    /* the file at the path is another build */
	WM_UNNAMED_STRIPPED,   /* the file's symbols were stripped */
	WM_UNNAMED_OUTSIDE,    /* between its symbols */
	WM_UNNAMED_NO_KALLSYMS,
	WM_UNNAMED_NO_JIT_MAP,
	WM_UNNAMED_NR
};

/*
 * Returns the reason as text, such as "no known mapping at the address"; it is printed after a
 * count and in lists.
 */
const char *wm_unnamed_text(enum wm_unnamed why);

/* Where to look for files. The strings are not copied; NULL: none. */
struct wm_module_places {
	const char *symfs;   /* root folder of all files */
	const char *cache;   /* files indexed by build-id, such as perf's "$HOME/.debug" */
	bool no_processes;   /* do not look in /proc/PID/root of a process that mapped the file */
	bool no_debug_files; /* do not look for separate debug files */
};

struct wm_module_files {
	struct wm_elf *image; /* NULL: not on this machine */
	struct wm_elf *debug; /* with .symtab, or DWARF that the image lacks; may be NULL */
};

/*
 * Opens the files of a FILE, VDSO or VDSO32 module; for the last two, this machine's, since the
 * kernel maps the same one into all processes. Returns WM_NAMED when at least one file is open,
 * otherwise the reason, with `diag` if there are details.
 */
enum wm_unnamed wm_module_open(const struct wm_module *m, const struct wm_module_places *places,
			       struct wm_module_files *ret, struct wm_diag *diag);
void wm_module_close(struct wm_module_files *f);

/* Opens a file only if it is a regular file, not a device or pipe. */
int wm_module_open_plain(const char *path, int *ret_fd);

#endif
