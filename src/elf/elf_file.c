/* SPDX-License-Identifier: MIT */
/*
 * elf_file.c - see elf_file.h. The tables are read whole once, at open. A table
 * that does not fit in the file makes open fail; a section or segment whose
 * contents do not fit fails when it is read.
 */
#include "elf/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf/elf_wide_int.h"

/* The offset of a header member in the file. */
#define MEMBER(e, member)                                                                          \
	((e)->narrow ? offsetof(Elf32_Ehdr, member) : offsetof(Elf64_Ehdr, member))

static int elf_file_damaged(const struct wm_elf *e, struct wm_diag *diag, uint64_t offset,
			    const char *what)
{
	return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)offset, "%s", what);
}

static bool elf_file_fits(const struct wm_elf *e, uint64_t offset, uint64_t bytes)
{
	return offset <= e->bytes && bytes <= e->bytes - offset;
}

int wm_elf_read(const struct wm_elf *e, uint64_t offset, void *buf, size_t bytes,
		struct wm_diag *diag)
{
	size_t done = 0;

	if (!elf_file_fits(e, offset, bytes))
		return elf_file_damaged(e, diag, offset,
					"the file ends before the data expected here");
	while (done < bytes) {
		ssize_t n = pread(e->fd, (char *)buf + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return wm_diag_set(diag, -errno, e->name, (int64_t)offset, "%s",
					   strerror(errno));
		if (n == 0)
			return elf_file_damaged(e, diag, offset + done,
						"the file was truncated while it was read");
		done += (size_t)n;
	}
	return 0;
}

int wm_elf_read_new(const struct wm_elf *e, uint64_t offset, uint64_t bytes, size_t limit,
		    void **ret_data, struct wm_diag *diag)
{
	char *data;
	int err;

	if (!elf_file_fits(e, offset, bytes))
		return elf_file_damaged(e, diag, offset,
					"the file ends before the data expected here");
	if (bytes > limit)
		return wm_diag_set(diag, -EFBIG, e->name, (int64_t)offset,
				   "%" PRIu64 " bytes here, more than the limit of %zu", bytes,
				   limit);
	data = malloc((size_t)bytes + 1);
	if (!data)
		return -ENOMEM;
	err = wm_elf_read(e, offset, data, (size_t)bytes, diag);
	if (err < 0) {
		free(data);
		return err;
	}
	data[bytes] = '\0';
	*ret_data = data;
	return 0;
}

/* ---- the header -------------------------------------------------------- */

static int elf_file_refuse(const struct wm_elf *e, struct wm_diag *diag, const char *why)
{
	return wm_diag_set(diag, -ENOEXEC, e->name, 0, "%s", why);
}

/* The identification has been checked; `have` bytes of the header have been read. */
static int widen_header(struct wm_elf *e, Elf64_Ehdr *h, size_t have, struct wm_diag *diag)
{
	Elf32_Ehdr narrow;
	size_t whole;

	e->narrow = h->e_ident[EI_CLASS] == ELFCLASS32;
	whole = e->narrow ? sizeof(narrow) : sizeof(*h);
	if (have < whole)
		return elf_file_damaged(e, diag, have, "the ELF header is truncated");
	if (e->narrow) {
		memcpy(&narrow, h, sizeof(narrow));
		wm_elf_widen_header(&narrow, h);
	}
	e->type = h->e_type;
	e->machine = h->e_machine;
	return 0;
}

static int read_header(struct wm_elf *e, Elf64_Ehdr *h, struct wm_diag *diag)
{
	size_t have = e->bytes < sizeof(*h) ? (size_t)e->bytes : sizeof(*h);
	unsigned char class;
	int err;

	memset(h, 0, sizeof(*h));
	err = wm_elf_read(e, 0, h, have, diag);
	if (err < 0)
		return err;
	class = h->e_ident[EI_CLASS];
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return elf_file_refuse(e, diag, "not an ELF file");
	if (class != ELFCLASS32 && class != ELFCLASS64)
		return elf_file_refuse(e, diag, "an ELF file of unknown class");
	if (h->e_ident[EI_DATA] == ELFDATA2MSB)
		return elf_file_refuse(
		    e, diag, "a big-endian ELF file: only little-endian ones can be traced");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_ident[EI_VERSION] != EV_CURRENT)
		return elf_file_refuse(e, diag, "an ELF file of unknown data encoding or version");
	return widen_header(e, h, have, diag);
}

static int check_entry(const struct wm_elf *e, enum wm_elf_entry kind, uint64_t nr, size_t bytes,
		       uint64_t offset, const char *what, struct wm_diag *diag)
{
	if (!nr || bytes == wm_elf_entry_bytes(e, kind))
		return 0;
	return wm_diag_set(diag, -EBADMSG, e->name, (int64_t)offset,
			   "%s headers do not have %zu bytes each", what,
			   wm_elf_entry_bytes(e, kind));
}

/*
 * Reads counts that do not fit in the header from section 0 (then e_shnum is 0 and the others have
 * an escape value).
 */
static int read_counts(const struct wm_elf *e, const Elf64_Ehdr *h, uint32_t *ret_segments,
		       uint64_t *ret_sections, uint32_t *ret_names, struct wm_diag *diag)
{
	Elf64_Shdr *zero;
	int err;

	*ret_segments = h->e_phoff ? h->e_phnum : 0;
	*ret_sections = h->e_shoff ? h->e_shnum : 0;
	*ret_names = h->e_shstrndx;
	if (h->e_shoff && (!h->e_shnum || h->e_phnum == PN_XNUM || h->e_shstrndx == SHN_XINDEX)) {
		err = wm_elf_read_entries(e, WM_ELF_SHDR, h->e_shoff, 1, (void **)&zero, diag);
		if (err < 0)
			return err;
		if (!h->e_shnum)
			*ret_sections = zero->sh_size;
		if (h->e_phnum == PN_XNUM)
			*ret_segments = zero->sh_info;
		if (h->e_shstrndx == SHN_XINDEX)
			*ret_names = zero->sh_link;
		free(zero);
	}
	if (*ret_sections > WM_ELF_SECTIONS_MAX)
		return elf_file_damaged(e, diag, MEMBER(e, e_shnum), "too many sections");
	if (*ret_segments > WM_ELF_SEGMENTS_MAX)
		return elf_file_damaged(e, diag, MEMBER(e, e_phnum), "too many segments");
	err = check_entry(e, WM_ELF_SHDR, *ret_sections, h->e_shentsize, MEMBER(e, e_shentsize),
			  "section", diag);
	if (!err)
		err = check_entry(e, WM_ELF_PHDR, *ret_segments, h->e_phentsize,
				  MEMBER(e, e_phentsize), "program", diag);
	return err;
}

static int read_segments(struct wm_elf *e, uint64_t offset, uint32_t nr, struct wm_diag *diag)
{
	Elf64_Phdr *table;
	int err = wm_elf_read_entries(e, WM_ELF_PHDR, offset, nr, (void **)&table, diag);

	if (err < 0)
		return err;
	e->segments = calloc(nr, sizeof(*e->segments));
	if (!e->segments) {
		free(table);
		return -ENOMEM;
	}
	e->nr_segments = nr;
	for (uint32_t i = 0; i < nr; i++)
		e->segments[i] = (struct wm_elf_segment){
		    .type = table[i].p_type,
		    .flags = table[i].p_flags,
		    .address = table[i].p_vaddr,
		    .offset = table[i].p_offset,
		    .file_bytes = table[i].p_filesz,
		    .memory_bytes = table[i].p_memsz,
		    .align = table[i].p_align,
		};
	free(table);
	return 0;
}

/* Reads the section names. They are optional: if they are unreadable, sections have no names. */
static int name_sections(struct wm_elf *e, const Elf64_Shdr *table, uint32_t names)
{
	const Elf64_Shdr *strings = names < e->nr_sections ? &table[names] : NULL;
	void *data;
	int err;

	for (uint32_t i = 0; i < e->nr_sections; i++)
		e->sections[i].name = "";
	if (!strings || strings->sh_type != SHT_STRTAB)
		return 0;
	err =
	    wm_elf_read_new(e, strings->sh_offset, strings->sh_size, WM_ELF_NAMES_MAX, &data, NULL);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	e->names = data;
	for (uint32_t i = 0; i < e->nr_sections; i++) {
		if (table[i].sh_name < strings->sh_size)
			e->sections[i].name = e->names + table[i].sh_name;
	}
	return 0;
}

static int elf_file_read_sections(struct wm_elf *e, uint64_t offset, uint32_t nr, uint32_t names,
				  struct wm_diag *diag)
{
	Elf64_Shdr *table;
	int err = wm_elf_read_entries(e, WM_ELF_SHDR, offset, nr, (void **)&table, diag);

	if (err < 0)
		return err;
	e->sections = calloc(nr, sizeof(*e->sections));
	if (!e->sections) {
		free(table);
		return -ENOMEM;
	}
	e->nr_sections = nr;
	for (uint32_t i = 0; i < nr; i++)
		e->sections[i] = (struct wm_elf_section){
		    .type = table[i].sh_type,
		    .link = table[i].sh_link,
		    .flags = table[i].sh_flags,
		    .address = table[i].sh_addr,
		    .offset = table[i].sh_offset,
		    .bytes = table[i].sh_size,
		    .entry_bytes = table[i].sh_entsize,
		};
	err = name_sections(e, table, names);
	free(table);
	return err;
}

static int keep_build_id(const struct wm_elf_note *note, void *data)
{
	struct wm_elf *e = data;

	if (note->type != NT_GNU_BUILD_ID || strcmp(note->owner, "GNU") != 0 || !note->desc_bytes ||
	    note->desc_bytes > WM_ELF_BUILD_ID_MAX)
		return 0;
	memcpy(e->build_id, note->desc, note->desc_bytes);
	e->build_id_bytes = note->desc_bytes;
	return 1;
}

/*
 * Searches the segments first, because they survive every kind of stripping; object files have only
 * sections.
 */
static void find_build_id(struct wm_elf *e)
{
	for (uint32_t i = 0; i < e->nr_segments && !e->build_id_bytes; i++) {
		const struct wm_elf_segment *s = &e->segments[i];

		if (s->type == PT_NOTE)
			(void)wm_elf_notes(e, s->offset, s->file_bytes, s->align, keep_build_id, e);
	}
	for (uint32_t i = 0; i < e->nr_sections && !e->build_id_bytes; i++) {
		const struct wm_elf_section *s = &e->sections[i];

		if (s->type == SHT_NOTE)
			(void)wm_elf_notes(e, s->offset, s->bytes, 4, keep_build_id, e);
	}
}

static int elf_file_load(struct wm_elf *e, struct wm_diag *diag)
{
	Elf64_Ehdr header;
	uint32_t nr_segments, names;
	uint64_t nr_sections;
	struct stat st;
	int err;

	if (fstat(e->fd, &st) < 0)
		return wm_diag_set(diag, -errno, e->name, -1, "%s", strerror(errno));
	if (S_ISDIR(st.st_mode))
		return wm_diag_set(diag, -EISDIR, e->name, -1, "a directory");
	if (!S_ISREG(st.st_mode))
		return wm_diag_set(diag, -ENOEXEC, e->name, -1, "not a regular file");
	e->bytes = (uint64_t)st.st_size;
	err = read_header(e, &header, diag);
	if (!err)
		err = read_counts(e, &header, &nr_segments, &nr_sections, &names, diag);
	if (!err && nr_segments)
		err = read_segments(e, header.e_phoff, nr_segments, diag);
	if (!err && nr_sections)
		err = elf_file_read_sections(e, header.e_shoff, (uint32_t)nr_sections, names, diag);
	if (!err)
		find_build_id(e);
	return err;
}

int wm_elf_open_fd(int fd, const char *name, struct wm_elf **ret_elf, struct wm_diag *diag)
{
	struct wm_elf *e = calloc(1, sizeof(*e));
	int err;

	if (!e) {
		(void)close(fd);
		return -ENOMEM;
	}
	e->fd = fd;
	e->name = strdup(name);
	err = e->name ? elf_file_load(e, diag) : -ENOMEM;
	if (err < 0) {
		if (diag)
			/* The elf's name is freed here; the caller has its own copy. */
			diag->where = NULL;
		wm_elf_close(e);
		return err;
	}
	*ret_elf = e;
	return 0;
}

int wm_elf_open(const char *path, struct wm_elf **ret_elf, struct wm_diag *diag)
{
	/* O_NONBLOCK, because opening a FIFO must not block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return wm_diag_set(diag, -errno, NULL, -1, "%s", strerror(errno));
	return wm_elf_open_fd(fd, path, ret_elf, diag);
}

void wm_elf_close(struct wm_elf *e)
{
	if (!e)
		return;
	(void)close(e->fd);
	free(e->sections);
	free(e->segments);
	free(e->names);
	free(e->name);
	free(e);
}

/* ---- looking things up -------------------------------------------------- */

const struct wm_elf_section *wm_elf_section(const struct wm_elf *e, const char *name)
{
	for (uint32_t i = 1; i < e->nr_sections; i++) {
		if (!strcmp(e->sections[i].name, name))
			return &e->sections[i];
	}
	return NULL;
}

int wm_elf_offset(const struct wm_elf *e, uint64_t address, uint64_t bytes, uint64_t *ret_offset)
{
	for (uint32_t i = 0; i < e->nr_segments; i++) {
		const struct wm_elf_segment *s = &e->segments[i];
		uint64_t into = address - s->address;

		if (s->type != PT_LOAD || address < s->address || into > s->file_bytes ||
		    bytes > s->file_bytes - into || s->offset > e->bytes ||
		    into > e->bytes - s->offset || bytes > e->bytes - s->offset - into)
			continue;
		*ret_offset = s->offset + into;
		return 0;
	}
	return -ENOENT;
}

int wm_elf_bias(const struct wm_elf *e, uint64_t map_start, uint64_t map_offset, uint64_t *ret_bias)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (uint32_t i = 0; i < e->nr_segments; i++) {
		const struct wm_elf_segment *s = &e->segments[i];

		if (s->type != PT_LOAD || (s->offset & ~(page - 1)) != map_offset)
			continue;
		*ret_bias = map_start - (s->address & ~(page - 1));
		return 0;
	}
	return -ENOENT;
}

static uint64_t elf_file_round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

static int walk_notes(const unsigned char *data, uint64_t bytes, uint64_t align,
		      int (*fn)(const struct wm_elf_note *note, void *data), void *fn_data)
{
	uint64_t at = 0;

	while (bytes - at >= sizeof(Elf64_Nhdr)) {
		char owner[64];
		struct wm_elf_note note = {.owner = owner};
		uint64_t name_at = at + sizeof(Elf64_Nhdr), desc_at;
		Elf64_Nhdr h;
		size_t length;
		int err;

		memcpy(&h, data + at, sizeof(h));
		/* The sizes are 32 bits wide, so the sums cannot overflow. */
		desc_at = elf_file_round_up(name_at + h.n_namesz, align);
		if (desc_at > bytes || h.n_descsz > bytes - desc_at)
			return -EBADMSG;
		length = h.n_namesz < sizeof(owner) ? h.n_namesz : sizeof(owner) - 1;
		memcpy(owner, data + name_at, length);
		owner[length] = '\0';
		note.type = h.n_type;
		note.desc = data + desc_at;
		note.desc_bytes = h.n_descsz;
		err = fn(&note, fn_data);
		if (err)
			return err;
		at = elf_file_round_up(desc_at + h.n_descsz, align);
		if (at > bytes)
			break; /* the last note need not be padded */
	}
	return 0;
}

int wm_elf_notes(const struct wm_elf *e, uint64_t offset, uint64_t bytes, uint64_t align,
		 int (*fn)(const struct wm_elf_note *note, void *data), void *data)
{
	void *copy;
	int err = wm_elf_read_new(e, offset, bytes, WM_ELF_NOTES_MAX, &copy, NULL);

	if (err < 0)
		return err;
	err = walk_notes(copy, bytes, align == 8 ? 8 : 4, fn, data);
	free(copy);
	return err;
}

bool wm_elf_is_narrow(const char *path)
{
	unsigned char ident[EI_CLASS + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool narrow = fd >= 0 && read(fd, ident, sizeof(ident)) == (ssize_t)sizeof(ident) &&
		      !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS32;

	if (fd >= 0)
		(void)close(fd);
	return narrow;
}

const char *wm_elf_machine_name(uint16_t machine, char *buf)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
	    {EM_X86_64, "x86-64"}, {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv64"},
	    {EM_PPC64, "ppc64"},   {EM_386, "i386"},        {EM_ARM, "arm"},
	};

	(void)snprintf(buf, 24, "machine %u", machine);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == machine)
			(void)snprintf(buf, 24, "%s", names[i].name);
	}
	return buf;
}
