/* SPDX-License-Identifier: MIT */
/*
 * formats.h - what is known about the kernel of one trace: its events by id, and the tables that
 * translate numbers in their records to text: symbols, formats of trace_printk(), names of
 * processes.
 *
 * Filled when a trace is opened, sealed once, then immutable for its users: any number of threads
 * may read it. It owns everything it returns.
 */
#ifndef WM_KDATA_FORMATS_H
#define WM_KDATA_FORMATS_H

#include "kdata/event_format.h"

/* The number of possible values of common_type, which has 16 bits. */
#define WM_KFORMATS_IDS       65536u
#define WM_KFORMATS_BYTES_MAX (1u << 28) /* memory limit, independent of the trace's content */

struct wm_kformats;
struct wm_kprint;

/* An event of the kernel, and the program of its print form; NULL: not compiled yet. */
struct wm_kform {
	const struct wm_kformat *format;
	const struct wm_kprint *print;
};

/* Returns NULL when out of memory. */
struct wm_kformats *wm_kformats_create(const struct wm_kmachine *machine);
void wm_kformats_destroy(struct wm_kformats *k);

/*
 * Adds the event described by a format file. Returns 0; -EEXIST when another event has the same id,
 * in which case the first one stays; or an error from wm_kformat_parse(). `ret` (optional) is set
 * to the event.
 */
int wm_kformats_add(struct wm_kformats *k, const char *system, const char *text, size_t bytes,
		    const struct wm_kformat **ret, struct wm_diag *diag);

/*
 * Adds the lines of a text in the format of /proc/kallsyms ("ffffffff81000000 T _text\t[module]"),
 * printk_formats ("0xffff...: "text"") or saved_cmdlines ("123 name"). Returns the number of lines
 * in any other format, or -ENOMEM.
 */
int wm_kformats_add_symbols(struct wm_kformats *k, const char *text, size_t bytes);
int wm_kformats_add_printk(struct wm_kformats *k, const char *text, size_t bytes);
int wm_kformats_add_comms(struct wm_kformats *k, const char *text, size_t bytes);

/*
 * Instead of adding symbols: `ask` is called once, when an address is first looked up, by any
 * thread. It returns 0 and a text as for wm_kformats_add_symbols(), to be freed, with room for a
 * NUL behind it; or -errno: there are no symbols.
 */
typedef int wm_kformats_symbols_fn(void *data, char **ret_text, size_t *ret_bytes);
void wm_kformats_set_symbols(struct wm_kformats *k, wm_kformats_symbols_fn *ask, void *data);

/* Sorts the entries. Nothing may be added afterwards. Returns 0 or -ENOMEM. */
int wm_kformats_seal(struct wm_kformats *k);

const struct wm_kmachine *wm_kformats_machine(const struct wm_kformats *k);

/* Returns NULL when no event has that id. */
const struct wm_kformat *wm_kformats_event(const struct wm_kformats *k, uint32_t id);
const struct wm_kform *wm_kformats_form(const struct wm_kformats *k, uint32_t id);

/*
 * Returns the program of a print form, which is compiled when it is first asked for, as most events
 * of a kernel do not occur; NULL when out of memory. Call only after sealing.
 */
const struct wm_kprint *wm_kformats_compile(const struct wm_kformats *k,
					    const struct wm_kform *form);

static inline const struct wm_kprint *wm_kformats_print(const struct wm_kformats *k,
							const struct wm_kform *form)
{
	const struct wm_kprint *print = __atomic_load_n(&form->print, __ATOMIC_ACQUIRE);

	return print ? print : wm_kformats_compile(k, form);
}

/* Returns the highest event id plus 1. */
uint32_t wm_kformats_nr_ids(const struct wm_kformats *k);

/*
 * Returns the name, of `ret_bytes` bytes, and the start of the symbol that contains an address, or
 * NULL. Call only after sealing.
 */
const char *wm_kformats_symbol(const struct wm_kformats *k, uint64_t addr, uint64_t *ret_start,
			       size_t *ret_bytes);
/*
 * Returns the string at an address in the traced kernel, or NULL when it is not known. Call only
 * after sealing.
 */
const char *wm_kformats_text(const struct wm_kformats *k, uint64_t addr);
/* Returns the name of a thread, or NULL when it is not known. Call only after sealing. */
const char *wm_kformats_comm(const struct wm_kformats *k, uint32_t pid);

#endif
