/* SPDX-License-Identifier: MIT */
/*
 * elf_sites_test.c - sites, symbols and build-ids in three kinds of files: one laid out by hand,
 * whose words are known and deliberately damaged; this test program itself, which has sites; and
 * random mutants of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <waymark/abi.h>

#include "base/file.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "elf/sites.h"

/* ---- a file laid out by hand --------------------------------------------- */

#define BASE        0x400000ull
#define NR_SECTIONS 6
#define NR_SITES    3

/* The whole file is one loaded segment at BASE. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	unsigned char note[12 + 4 + 20];
	unsigned char text[64];
	struct waymark_site sites[NR_SITES];
	struct {
		struct waymark_desc head;
		char text[24];
	} descs[2];
	Elf64_Sym symbols[4];
	char strings[32];
	char names[72];
	struct waymark_event_state states[2];
	Elf64_Shdr sections[NR_SECTIONS];
};

static uint64_t address_of(size_t offset)
{
	return BASE + offset;
}

#define AT(member) address_of(offsetof(struct image, member))
#define RELATIVE(site, word, to)                                                                   \
	((int32_t)((int64_t)(to) - (int64_t)(AT(sites) + (site) * sizeof(struct waymark_site) +    \
					     offsetof(struct waymark_site, word))))

static void put_section(struct image *im, unsigned i, uint32_t name, uint32_t type, size_t offset,
			size_t bytes, uint32_t link)
{
	im->sections[i] = (Elf64_Shdr){
	    .sh_name = name,
	    .sh_type = type,
	    .sh_addr = address_of(offset),
	    .sh_offset = offset,
	    .sh_size = bytes,
	    .sh_link = link,
	    .sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
	};
}

static void put_site(struct image *im, unsigned i, unsigned insn, unsigned event)
{
	im->sites[i] = (struct waymark_site){
	    .insn = insn ? RELATIVE(i, insn, AT(text) + insn) : 0,
	    .target = insn ? RELATIVE(i, target, AT(text) + insn + 8) : 0,
	    .desc = RELATIVE(i, desc, AT(descs) + event * sizeof(im->descs[0])),
	    .event = RELATIVE(i, event, AT(states) + event * sizeof(im->states[0])),
	};
}

static void put_names(struct image *im)
{
	static const char names[] = "\0waymark_sites\0.symtab\0.strtab\0.shstrtab\0.note";
	static const char strings[] = "\0work\0idle\0local";

	memcpy(im->names, names, sizeof(names));
	memcpy(im->strings, strings, sizeof(strings));
	put_section(im, 1, 1, SHT_PROGBITS, offsetof(struct image, sites), sizeof(im->sites), 0);
	put_section(im, 2, 15, SHT_SYMTAB, offsetof(struct image, symbols), sizeof(im->symbols), 3);
	put_section(im, 3, 23, SHT_STRTAB, offsetof(struct image, strings), sizeof(im->strings), 0);
	put_section(im, 4, 31, SHT_STRTAB, offsetof(struct image, names), sizeof(im->names), 0);
	put_section(im, 5, 41, SHT_NOTE, offsetof(struct image, note), sizeof(im->note), 0);
}

static void put_symbol(struct image *im, unsigned i, uint32_t name, unsigned type, unsigned offset,
		       unsigned bytes)
{
	im->symbols[i] = (Elf64_Sym){.st_name = name,
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, type),
				     .st_shndx = 1,
				     .st_value = AT(text) + offset,
				     .st_size = bytes};
}

static void build_image(struct image *im)
{
	static const uint32_t note[3] = {4, 20, NT_GNU_BUILD_ID};

	memset(im, 0, sizeof(*im));
	memcpy(im->header.e_ident, ELFMAG, SELFMAG);
	im->header.e_ident[EI_CLASS] = ELFCLASS64;
	im->header.e_ident[EI_DATA] = ELFDATA2LSB;
	im->header.e_ident[EI_VERSION] = EV_CURRENT;
	im->header.e_type = ET_DYN;
	im->header.e_machine = EM_X86_64;
	im->header.e_phoff = offsetof(struct image, segments);
	im->header.e_phnum = 2;
	im->header.e_phentsize = sizeof(Elf64_Phdr);
	im->header.e_shoff = offsetof(struct image, sections);
	im->header.e_shnum = NR_SECTIONS;
	im->header.e_shentsize = sizeof(Elf64_Shdr);
	im->header.e_shstrndx = 4;
	im->segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				       .p_vaddr = BASE,
				       .p_filesz = sizeof(*im),
				       .p_memsz = sizeof(*im),
				       .p_align = 4096};
	im->segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
				       .p_offset = offsetof(struct image, note),
				       .p_vaddr = AT(note),
				       .p_filesz = sizeof(im->note),
				       .p_align = 4};
	memcpy(im->note, note, sizeof(note));
	memcpy(im->note + 12, "GNU", 4);
	for (unsigned i = 0; i < 20; i++)
		im->note[16 + i] = (unsigned char)(i + 1);
	put_names(im);
	for (unsigned i = 0; i < 2; i++) {
		im->descs[i].head = (struct waymark_desc){.magic = WAYMARK_DESC_MAGIC,
							  .size = sizeof(im->descs[i]),
							  .text_size = sizeof(im->descs[i].text)};
		memcpy(im->descs[i].text, i ? "app\0two\0\0\0b.c" : "app\0one\0\0\0a.c", 13);
	}
	put_site(im, 0, 4, 1);
	put_site(im, 1, 0, 0); /* a load+test site */
	put_site(im, 2, 36, 1);
	put_symbol(im, 1, 1, STT_FUNC, 0, 32);  /* work */
	put_symbol(im, 2, 6, STT_FUNC, 32, 32); /* idle */
	put_symbol(im, 3, 11, STT_NOTYPE, 34, 0);
}

static int memory_file(const void *data, size_t bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(wm_file_write(fd, data, bytes), 0);
	return fd;
}

static int open_image(const struct image *im, struct wm_elf **ret, struct wm_diag *diag)
{
	return wm_elf_open_fd(memory_file(im, sizeof(*im)), "image", ret, diag);
}

static void test_by_hand(void **state)
{
	struct wm_elf_symbols symbols;
	struct wm_elf_sites sites;
	struct wm_elf *e;
	struct image im;
	uint64_t offset, bias;

	build_image(&im);
	assert_int_equal(open_image(&im, &e, NULL), 0);
	assert_int_equal(e->nr_sections, NR_SECTIONS);
	assert_int_equal(e->build_id_bytes, 20);
	assert_int_equal(e->build_id[19], 20);
	assert_int_equal(wm_elf_offset(e, AT(text), 4, &offset), 0);
	assert_int_equal(offset, offsetof(struct image, text));
	assert_int_equal(wm_elf_offset(e, BASE + sizeof(im) - 3, 4, &offset), -ENOENT);
	assert_int_equal(wm_elf_offset(e, UINT64_MAX - 1, 4, &offset), -ENOENT);
	assert_int_equal(wm_elf_bias(e, 0x7f0000000000, 0, &bias), 0);
	assert_true(bias == 0x7f0000000000 - BASE);
	assert_int_equal(wm_elf_bias(e, 0x7f0000000000, 0x1000, &bias), -ENOENT);

	assert_int_equal(wm_elf_sites_read(e, &sites, NULL), 0);
	assert_int_equal(sites.nr_sites, 3);
	assert_int_equal(sites.nr_events, 2);
	assert_int_equal(sites.nr_bad, 0);
	assert_int_equal(sites.sites[0].insn, AT(text) + 4);
	assert_int_equal(sites.sites[0].target, AT(text) + 12);
	assert_int_equal(sites.sites[0].insn_offset, offsetof(struct image, text) + 4);
	assert_int_equal(sites.sites[0].event, 1);
	assert_int_equal(sites.sites[1].insn, 0);
	assert_int_equal(sites.sites[1].event, 0);
	assert_int_equal(sites.sites[2].event, 1);
	assert_int_equal(sites.events[0].nr_sites, 1);
	assert_int_equal(sites.events[1].nr_sites, 2);
	assert_int_equal(sites.events[1].state_address, AT(states[1]));
	assert_int_equal(sites.events[1].desc_bytes, sizeof(im.descs[1]));
	assert_memory_equal(sites.events[1].desc, &im.descs[1], sizeof(im.descs[1]));

	assert_int_equal(wm_elf_symbols_read(e, &symbols, NULL), 0);
	assert_int_equal(symbols.nr, 3);
	assert_string_equal(wm_elf_symbol_at(&symbols, AT(text))->name, "work");
	assert_string_equal(wm_elf_symbol_at(&symbols, AT(text) + 31)->name, "work");
	assert_string_equal(wm_elf_symbol_at(&symbols, AT(text) + 40)->name, "idle");
	assert_null(wm_elf_symbol_at(&symbols, AT(text) + 64));
	assert_null(wm_elf_symbol_at(&symbols, AT(text) - 1));
	assert_int_equal(wm_elf_symbol_named(&symbols, "local")->address, AT(text) + 34);
	assert_null(wm_elf_symbol_named(&symbols, "none"));
	wm_elf_symbols_done(&symbols);
	wm_elf_sites_done(&sites);
	wm_elf_close(e);
}

/* ---- refused and damaged ---------------------------------------------------- */

static void refused(const struct image *im, int err, const char *sentence)
{
	struct wm_diag diag = {0};
	struct wm_elf *e = NULL;

	assert_int_equal(open_image(im, &e, &diag), err);
	assert_null(e);
	assert_string_equal(diag.sentence, sentence);
}

static void test_files_refused_at_open(void **state)
{
	struct wm_diag diag = {0};
	struct wm_elf *e = NULL;
	struct image im;

	build_image(&im);
	im.header.e_ident[EI_CLASS] = 3;
	refused(&im, -ENOEXEC, "an ELF file of unknown class");
	build_image(&im);
	im.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(&im, -ENOEXEC, "a big-endian ELF file: only little-endian ones can be traced");
	build_image(&im);
	im.header.e_ident[0] = '#';
	refused(&im, -ENOEXEC, "not an ELF file");
	build_image(&im);
	im.header.e_shoff = sizeof(im);
	refused(&im, -EBADMSG, "the file ends before the data expected here");
	build_image(&im);
	im.header.e_shnum = 0;
	im.sections[0].sh_size = UINT64_MAX;
	refused(&im, -EBADMSG, "too many sections");
	build_image(&im);
	im.header.e_phnum = PN_XNUM;
	im.sections[0].sh_info = UINT32_MAX;
	refused(&im, -EBADMSG, "too many segments");
	assert_int_equal(wm_elf_open("/", &e, &diag), -EISDIR);
	assert_int_equal(wm_elf_open("/nonexistent", &e, &diag), -ENOENT);
	assert_string_equal(diag.sentence, "No such file or directory");
	assert_int_equal(wm_elf_open("/dev/null", &e, &diag), -ENOEXEC);
	assert_int_equal(wm_elf_open_fd(memory_file("", 0), "empty", &e, &diag), -ENOEXEC);
	assert_int_equal(wm_elf_open_fd(memory_file("\177ELF\2\1\1", 7), "short", &e, &diag),
			 -EBADMSG);
	assert_string_equal(diag.sentence, "the ELF header is truncated");
}

/* Reads the sites of a damaged image: expects err and how many sites remain. */
static void sites_of(const struct image *im, int err, unsigned nr_sites, unsigned nr_bad,
		     const char *sentence)
{
	struct wm_diag diag = {0};
	struct wm_elf_sites sites = {0};
	struct wm_elf *e;

	assert_int_equal(open_image(im, &e, NULL), 0);
	assert_int_equal(wm_elf_sites_read(e, &sites, &diag), err);
	assert_int_equal(sites.nr_sites, nr_sites);
	assert_int_equal(sites.nr_bad, nr_bad);
	assert_string_equal(diag.sentence, sentence);
	wm_elf_sites_done(&sites);
	wm_elf_close(e);
}

static void test_damaged_tables(void **state)
{
	struct image im;

	build_image(&im);
	im.sections[1].sh_size--;
	sites_of(&im, -EBADMSG, 0, 0, "section waymark_sites has an invalid size: 47");
	build_image(&im);
	im.sections[1].sh_offset = sizeof(im) - 16;
	sites_of(&im, -EBADMSG, 0, 0, "the file ends before the data expected here");
	build_image(&im);
	im.sections[1].sh_type = SHT_NOBITS;
	sites_of(&im, -ENODATA, 0, 0, "it has only debug information: name the program itself");
	build_image(&im);
	im.header.e_type = ET_REL;
	sites_of(&im, -ENOEXEC, 0, 0, "an object file: its events are known once it is linked");
	build_image(&im);
	im.header.e_shoff = 0;
	sites_of(
	    &im, -ENODATA, 0, 0,
	    "its section headers were stripped: list a running process of this program with -p");
	build_image(&im);
	im.names[1] = 'x';
	sites_of(&im, 0, 0, 0, "");

	build_image(&im);
	im.sites[1].desc = 0;
	sites_of(&im, 0, 2, 1, "site 1: its description or its state is not in the file");
	build_image(&im);
	im.sites[0].target = 0;
	sites_of(&im, 0, 2, 1, "site 0: it has only one of instruction and target");
	build_image(&im);
	im.sites[2].insn = 0x7fffffff;
	sites_of(&im, 0, 2, 1, "site 2: its instruction is not in the file");
	build_image(&im);
	im.sites[2].desc = 0x7fffffff;
	sites_of(&im, 0, 2, 1, "site 2: the description is damaged or not in the file");
	build_image(&im);
	im.descs[1].head.magic++;
	sites_of(&im, 0, 1, 2, "site 0: the description is damaged or not in the file");
	build_image(&im);
	im.descs[0].head.size = 31;
	sites_of(&im, 0, 2, 1, "site 1: the description is damaged or not in the file");
	build_image(&im);
	im.descs[0].head.size = sizeof(im);
	sites_of(&im, 0, 2, 1, "site 1: the description is damaged or not in the file");
}

/* ---- this program ------------------------------------------------------------ */

/* A site, as the macros of <waymark/tracepoint.h> define it. */
#if defined(__x86_64__)
#define SITE_INSN "771:\t.byte 0xa9\n\t.long %l[on] - . - 4\n"
#else
#define SITE_INSN "771:\tnop\n"
#endif

struct own_desc {
	struct waymark_desc head;
	char text[32];
};

__attribute__((used, aligned(8))) static const struct own_desc own_desc = {
    .head = {.magic = WAYMARK_DESC_MAGIC, .size = sizeof(own_desc), .text_size = 32},
    .text = "own\0event\0n:i4\0\0x.c",
};
static struct waymark_event_state own_state = {.word = WAYMARK_WORD_COMPLEX};

static inline __attribute__((always_inline)) int own_site(void)
{
	__asm__ goto(SITE_INSN ".pushsection waymark_sites,\"aR?\",@progbits\n"
			       "\t.balign 4\n"
			       "\t.long 771b - .\n"
			       "\t.long %l[on] - .\n"
			       "\t.long %c0 - .\n"
			       "\t.long %c1 - .\n"
			       "\t.popsection"
		     :
		     : "i"(&own_desc), "i"(&own_state)
		     : "cc"
		     : on);
	return 0;
on:
	return 1;
}

__attribute__((noinline, used)) static int own_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + own_site() + own_site();
}

static void test_this_program(void **state)
{
	struct wm_elf_symbols symbols;
	struct wm_elf_sites sites;
	const struct wm_elf_symbol *s;
	struct wm_elf *e;

	assert_int_equal(own_function(5), 5);
	assert_int_equal(wm_elf_open("/proc/self/exe", &e, NULL), 0);
	assert_int_equal(wm_elf_sites_read(e, &sites, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &symbols, NULL), 0);
	assert_int_equal(sites.nr_bad, 0);
	assert_int_equal(sites.nr_sites, 2);
	assert_int_equal(sites.nr_events, 1);
	assert_int_equal(sites.events[0].nr_sites, 2);
	assert_memory_equal(sites.events[0].desc, &own_desc, sizeof(own_desc));
	for (unsigned i = 0; i < 2; i++) {
		s = wm_elf_symbol_at(&symbols, sites.sites[i].insn);
		assert_non_null(s);
		assert_string_equal(s->name, "own_function");
	}
	/* The distance between two addresses is the same in memory and in the file. */
	s = wm_elf_symbol_named(&symbols, "own_function");
	assert_non_null(s);
	assert_true(sites.events[0].state_address - s->address ==
		    (uint64_t)(uintptr_t)&own_state - (uint64_t)(uintptr_t)&own_function);
	wm_elf_symbols_done(&symbols);
	wm_elf_sites_done(&sites);
	wm_elf_close(e);
}

/*
 * Reads the symbols of the installed libc, then again without its section headers: the names must
 * be the same.
 */
static void test_dynamic_without_sections(void **state)
{
	static const char *const names[] = {"qsort", "printf", "environ"};
	struct wm_elf_symbols with, without;
	struct wm_elf *e;
	char line[4096], *path = NULL, *data;
	size_t bytes;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (!path && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		path = strstr(line, "/libc.so") ? strchr(line, '/') : NULL;
	}
	fclose(maps);
	if (!path)
		skip();
	assert_int_equal(wm_elf_open(path, &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &with, NULL), 0);
	assert_true(e->build_id_bytes > 0);
	wm_elf_close(e);
	assert_int_equal(wm_file_read(AT_FDCWD, path, 64u << 20, &data, &bytes), 0);
	((Elf64_Ehdr *)data)->e_shoff = 0;
	assert_int_equal(wm_elf_open_fd(memory_file(data, bytes), "libc", &e, NULL), 0);
	assert_int_equal(wm_elf_symbols_read(e, &without, NULL), 0);
	assert_int_equal(e->nr_sections, 0);
	assert_true(without.nr > 1000);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct wm_elf_symbol *a = wm_elf_symbol_named(&with, names[i]);
		const struct wm_elf_symbol *b = wm_elf_symbol_named(&without, names[i]);

		assert_non_null(a);
		assert_non_null(b);
		assert_int_equal(a->address, b->address);
	}
	wm_elf_close(e);
	free(data);
	wm_elf_symbols_done(&with);
	wm_elf_symbols_done(&without);
}

/* ---- mutants ------------------------------------------------------------------ */

/* Reads everything in a file; the sanitizers detect invalid accesses. */
static unsigned use(int fd)
{
	struct wm_elf_symbols symbols = {0};
	struct wm_elf_sites sites = {0};
	struct wm_diag diag = {0};
	struct wm_elf *e;
	unsigned sum = 0;

	if (wm_elf_open_fd(fd, "mutant", &e, &diag) < 0) {
		assert_int_not_equal(diag.sentence[0], 0);
		return 0;
	}
	if (wm_elf_sites_read(e, &sites, &diag) == 0) {
		for (uint32_t i = 0; i < sites.nr_sites; i++) {
			const struct wm_elf_event *event = &sites.events[sites.sites[i].event];

			assert_true(sites.sites[i].event < sites.nr_events);
			for (uint32_t j = 0; j < event->desc_bytes; j++)
				sum += event->desc[j];
		}
	}
	(void)wm_elf_symbols_read(e, &symbols, &diag);
	for (size_t i = 0; i < symbols.nr; i++)
		sum += (unsigned)strlen(symbols.symbols[i].name);
	(void)wm_elf_symbol_at(&symbols, sum);
	wm_elf_symbols_done(&symbols);
	wm_elf_sites_done(&sites);
	wm_elf_close(e);
	return sum;
}

static void test_every_word_of_the_image(void **state)
{
	static const uint64_t words[] = {0, 1, 0x7fffffff, 0xffffffff, UINT64_MAX, 1ull << 63};
	struct image im;

	for (size_t at = 0; at < sizeof(im); at += 2) {
		for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
			size_t bytes = sizeof(im) - at < 8 ? sizeof(im) - at : (at % 8 ? 2 : 8);

			build_image(&im);
			memcpy((char *)&im + at, &words[w], bytes);
			(void)use(memory_file(&im, sizeof(im)));
		}
	}
	for (size_t bytes = 0; bytes < sizeof(im); bytes++) {
		build_image(&im);
		(void)use(memory_file(&im, bytes));
	}
}

static uint64_t random_state = 0x9e3779b97f4a7c15ull;

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/*
 * Damages one place in a file and returns its offset: near the ends, in the headers, or anywhere.
 */
static off_t spoil(int fd, size_t bytes)
{
	size_t range = random_word() % 2 && bytes > 1024 ? 1024 : bytes;
	size_t at = random_word() % range;
	uint64_t word = random_word() % 3 ? random_word() : UINT64_MAX << random_word() % 64;
	size_t width = (size_t)1 << random_word() % 4;

	if (range == 1024 && random_word() % 2)
		at = bytes - 1 - at;
	width = width < bytes - at ? width : bytes - at;
	assert_int_equal(pwrite(fd, &word, width, (off_t)at), width);
	return (off_t)at;
}

/* One file for all mutants: damaged in up to four places, read, restored. */
static void use_mutants(const void *data, size_t bytes, unsigned nr)
{
	int fd = memory_file(data, bytes);

	for (unsigned i = 0; i < nr; i++) {
		off_t places[4];
		unsigned nr_places = 1 + (unsigned)(random_word() % 4);

		for (unsigned n = 0; n < nr_places; n++)
			places[n] = spoil(fd, bytes);
		(void)use(dup(fd));
		for (unsigned n = 0; n < nr_places; n++) {
			size_t width =
			    bytes - (size_t)places[n] < 8 ? bytes - (size_t)places[n] : 8;

			assert_int_equal(
			    pwrite(fd, (const char *)data + places[n], width, places[n]), width);
		}
	}
	close(fd);
}

static void test_random_mutants(void **state)
{
	struct image im;
	char *whole;
	size_t bytes;

	build_image(&im);
	use_mutants(&im, sizeof(im), 2000);
	assert_int_equal(wm_file_read(AT_FDCWD, "/proc/self/exe", 256u << 20, &whole, &bytes), 0);
	use_mutants(whole, bytes, 2000);
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_by_hand),
	    cmocka_unit_test(test_files_refused_at_open),
	    cmocka_unit_test(test_damaged_tables),
	    cmocka_unit_test(test_this_program),
	    cmocka_unit_test(test_dynamic_without_sections),
	    cmocka_unit_test(test_every_word_of_the_image),
	    cmocka_unit_test(test_random_mutants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
