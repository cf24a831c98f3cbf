/* SPDX-License-Identifier: MIT */
/*
 * elf_file.h - reads little-endian 64-bit and 32-bit ELF files with bounds checks. Every offset and
 * size is compared with the file's length before use; every read copies and nothing is mapped, so a
 * file truncated during a read causes an error, not a signal. libelf is not used, because it checks
 * less. Both classes are stored in the same form (elf_wide_int.h).
 *
 * Addresses are those in the file (before the loader adds its bias). Knows nothing about processes:
 * callers that trace one open its files with base/maps.h.
 */
#ifndef WM_ELF_ELF_FILE_H
#define WM_ELF_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define WM_ELF_SECTIONS_MAX 65536u
#define WM_ELF_SEGMENTS_MAX 4096u
#define WM_ELF_NAMES_MAX    (16u << 20) /* maximum bytes of section names */
#define WM_ELF_BUILD_ID_MAX 64u
#define WM_ELF_NOTES_MAX    (1u << 20) /* maximum bytes of one note segment or section */

struct wm_elf_section {
	const char *name; /* "" when it has no readable name */
	uint32_t type;    /* SHT_* */
	uint32_t link;
	uint64_t flags; /* SHF_* */
	uint64_t address, offset, bytes, entry_bytes;
};

struct wm_elf_segment {
	uint32_t type;  /* PT_* */
	uint32_t flags; /* PF_* */
	uint64_t address, offset, file_bytes, memory_bytes, align;
};

/* All members are read-only for users of this header. */
struct wm_elf {
	char *name; /* the name passed to open, for messages */
	int fd;
	uint64_t bytes;         /* length of the file */
	bool narrow;            /* a 32-bit file: its addresses and pointers are 32 bits wide */
	uint16_t type, machine; /* ET_*, EM_* */
	uint32_t nr_sections, nr_segments;
	struct wm_elf_section *sections; /* [0] is the null section; NULL when stripped */
	struct wm_elf_segment *segments;
	char *names;
	uint32_t build_id_bytes; /* 0: the file has no build-id */
	unsigned char build_id[WM_ELF_BUILD_ID_MAX];
};

/*
 * Opens an ELF file. Returns 0; -ENOEXEC: not an ELF file, or an unsupported one (big-endian, for
 * example; `diag` states which); -EBADMSG: damaged, `diag` states where; -EISDIR; or the errno of a
 * system call. open_fd takes ownership of the descriptor, even on failure. In other functions here,
 * diag->where is elf->name, which is valid as long as elf.
 */
int wm_elf_open(const char *path, struct wm_elf **ret_elf, struct wm_diag *diag);
int wm_elf_open_fd(int fd, const char *name, struct wm_elf **ret_elf, struct wm_diag *diag);
void wm_elf_close(struct wm_elf *e); /* accepts NULL */

/* The first section with that name; NULL: there is none. */
const struct wm_elf_section *wm_elf_section(const struct wm_elf *e, const char *name);

/*
 * Reads exactly these bytes. Returns -EBADMSG (with diag) when the file does not contain all of
 * them.
 */
int wm_elf_read(const struct wm_elf *e, uint64_t offset, void *buf, size_t bytes,
		struct wm_diag *diag);

/*
 * Like wm_elf_read(), but into new memory, with a NUL appended; free() it. Returns -EFBIG when
 * there are more than `limit` bytes.
 */
int wm_elf_read_new(const struct wm_elf *e, uint64_t offset, uint64_t bytes, size_t limit,
		    void **ret_data, struct wm_diag *diag);

/*
 * Finds the file offset of the bytes [address, address + bytes) of the loaded image; -ENOENT when
 * no loaded segment contains all of them in the file.
 */
int wm_elf_offset(const struct wm_elf *e, uint64_t address, uint64_t bytes, uint64_t *ret_offset);

/*
 * Computes the loader's bias from the file's lowest mapping (start address, file offset); -ENOENT
 * when no segment begins there. If several segments begin in that page of the file, the first one
 * is used.
 */
int wm_elf_bias(const struct wm_elf *e, uint64_t map_start, uint64_t map_offset,
		uint64_t *ret_bias);

/*
 * Walks the notes of a segment or section ([offset, offset + bytes)): calls fn until it returns
 * nonzero, and returns that; or -EBADMSG, -EFBIG or -ENOMEM.
 */
struct wm_elf_note {
	const char *owner; /* NUL-terminated */
	uint32_t type;
	uint32_t desc_bytes;
	const unsigned char *desc;
};
int wm_elf_notes(const struct wm_elf *e, uint64_t offset, uint64_t bytes, uint64_t align,
		 int (*fn)(const struct wm_elf_note *note, void *data), void *data);

/* Whether the file is a 32-bit ELF file; false also when it is not ELF or cannot be read. */
bool wm_elf_is_narrow(const char *path);

/* Names a machine, for example "x86-64" or "machine N"; buf has 24 bytes. */
const char *wm_elf_machine_name(uint16_t machine, char *buf);

#endif
