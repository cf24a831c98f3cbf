/* SPDX-License-Identifier: MIT */
/*
 * elf_class_test_kit.h - the same small program laid out by hand as a 64-bit
 * file and as a 32-bit one: functions in .symtab and, through PT_DYNAMIC, in
 * .dynsym, a build-id, a procedure linkage table, a USDT probe. For tests and
 * for the initial inputs of fuzzers.
 */
#ifndef WM_ELF_ELF_CLASS_TEST_KIT_H
#define WM_ELF_ELF_CLASS_TEST_KIT_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KIT_BASE        0x400000u
#define KIT_NR_SECTIONS 10u

#define KIT_NAMES                                                                                  \
	"\0.symtab\0.strtab\0.shstrtab\0.dynsym\0.text\0.plt\0.rel.plt\0.note.stapsdt\0.note"
#define KIT_STRINGS "\0work\0idle\0puts"

/* The members of the file; `A` is the type of an address in its class. */
#define KIT_IMAGE(B, A)                                                                            \
	struct kit_image##B {                                                                      \
		Elf##B##_Ehdr header;                                                              \
		Elf##B##_Phdr segments[3];                                                         \
		struct {                                                                           \
			uint32_t head[3];                                                          \
			char owner[4];                                                             \
			unsigned char id[20];                                                      \
		} build;                                                                           \
		unsigned char text[64], plt[32];                                                   \
		Elf##B##_Sym symbols[4];                                                           \
		Elf##B##_Dyn dynamic[5];                                                           \
		struct {                                                                           \
			uint32_t head[4];                                                          \
			A bloom;                                                                   \
			uint32_t buckets[1], chain[3];                                             \
		} hash;                                                                            \
		Elf##B##_Rel relocation;                                                           \
		struct __attribute__((packed)) {                                                   \
			uint32_t head[3];                                                          \
			char owner[8];                                                             \
			A words[3];                                                                \
			char text[24];                                                             \
		} probe;                                                                           \
		char strings[16], names[80];                                                       \
		Elf##B##_Shdr sections[KIT_NR_SECTIONS];                                           \
	};                                                                                         \
                                                                                                   \
	static inline void kit_section##B(struct kit_image##B *im, unsigned i, uint32_t type,      \
					  size_t offset, size_t bytes, uint32_t link)              \
	{                                                                                          \
		uint32_t name = 0;                                                                 \
                                                                                                   \
		for (unsigned k = 0; k < i; k++)                                                   \
			name += (uint32_t)strlen(im->names + name) + 1;                            \
		im->sections[i] = (Elf##B##_Shdr){.sh_name = name,                                 \
						  .sh_type = type,                                 \
						  .sh_addr = (A)(KIT_BASE + offset),               \
						  .sh_offset = (A)offset,                          \
						  .sh_size = (A)bytes,                             \
						  .sh_link = link};                                \
	}                                                                                          \
                                                                                                   \
	static inline void kit_sections##B(struct kit_image##B *im)                                \
	{                                                                                          \
		static const struct {                                                              \
			uint32_t type;                                                             \
			size_t offset, bytes;                                                      \
			uint32_t link;                                                             \
		} table[] = {                                                                      \
		    KIT_PART(B, SHT_SYMTAB, symbols, 2), KIT_PART(B, SHT_STRTAB, strings, 0),      \
		    KIT_PART(B, SHT_STRTAB, names, 0),   KIT_PART(B, SHT_DYNSYM, symbols, 2),      \
		    KIT_PART(B, SHT_PROGBITS, text, 0),  KIT_PART(B, SHT_PROGBITS, plt, 0),        \
		    KIT_PART(B, SHT_REL, relocation, 4), KIT_PART(B, SHT_NOTE, probe, 0),          \
		    KIT_PART(B, SHT_NOTE, build, 0),                                               \
		};                                                                                 \
                                                                                                   \
		memcpy(im->names, KIT_NAMES, sizeof(KIT_NAMES));                                   \
		memcpy(im->strings, KIT_STRINGS, sizeof(KIT_STRINGS));                             \
		for (unsigned i = 1; i < KIT_NR_SECTIONS; i++)                                     \
			kit_section##B(im, i, table[i - 1].type, table[i - 1].offset,              \
				       table[i - 1].bytes, table[i - 1].link);                     \
	}                                                                                          \
                                                                                                   \
	static inline void kit_symbols##B(struct kit_image##B *im)                                 \
	{                                                                                          \
		const A at = (A)(KIT_BASE + offsetof(struct kit_image##B, text));                  \
                                                                                                   \
		im->symbols[1] = (Elf##B##_Sym){.st_name = 1,                                      \
						.st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),    \
						.st_shndx = 5,                                     \
						.st_value = at,                                    \
						.st_size = 32};                                    \
		im->symbols[2] = im->symbols[1];                                                   \
		im->symbols[2].st_name = 6;                                                        \
		im->symbols[2].st_value += 32;                                                     \
		im->symbols[3] =                                                                   \
		    (Elf##B##_Sym){.st_name = 11, .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)}; \
		im->relocation.r_info = ELF##B##_R_INFO((A)3, 7);                                  \
		im->hash.head[0] = 1;                                                              \
		im->hash.head[1] = 1;                                                              \
		im->hash.head[2] = 1;                                                              \
		im->hash.buckets[0] = 1;                                                           \
		im->hash.chain[2] = 1;                                                             \
	}                                                                                          \
                                                                                                   \
	static inline void kit_notes##B(struct kit_image##B *im)                                   \
	{                                                                                          \
		static const uint32_t build[3] = {4, 20, NT_GNU_BUILD_ID};                         \
		static const char text[] = "zoo\0feed\0"                                           \
					   "4@%eax";                                               \
                                                                                                   \
		memcpy(im->build.head, build, sizeof(build));                                      \
		memcpy(im->build.owner, "GNU", 4);                                                 \
		for (unsigned i = 0; i < 20; i++)                                                  \
			im->build.id[i] = (unsigned char)(i + 1);                                  \
		im->probe.head[0] = 8;                                                             \
		im->probe.head[1] = 3 * sizeof(A) + sizeof(text);                                  \
		im->probe.head[2] = 3;                                                             \
		memcpy(im->probe.owner, "stapsdt", 8);                                             \
		im->probe.words[0] = im->symbols[1].st_value + 4;                                  \
		memcpy(im->probe.text, text, sizeof(text));                                        \
	}                                                                                          \
                                                                                                   \
	static inline void kit_segments##B(struct kit_image##B *im)                                \
	{                                                                                          \
		im->segments[0] = (Elf##B##_Phdr){.p_type = PT_LOAD,                               \
						  .p_flags = PF_R | PF_X,                          \
						  .p_vaddr = KIT_BASE,                             \
						  .p_filesz = sizeof(*im),                         \
						  .p_memsz = sizeof(*im),                          \
						  .p_align = 4096};                                \
		im->segments[1] = im->segments[0];                                                 \
		im->segments[1].p_type = PT_NOTE;                                                  \
		im->segments[1].p_offset = offsetof(struct kit_image##B, build);                   \
		im->segments[1].p_filesz = sizeof(im->build);                                      \
		im->segments[1].p_align = 4;                                                       \
		im->segments[2] = im->segments[0];                                                 \
		im->segments[2].p_type = PT_DYNAMIC;                                               \
		im->segments[2].p_offset = offsetof(struct kit_image##B, dynamic);                 \
		im->segments[2].p_filesz = sizeof(im->dynamic);                                    \
		im->dynamic[0].d_tag = DT_SYMTAB;                                                  \
		im->dynamic[0].d_un.d_val = KIT_BASE + offsetof(struct kit_image##B, symbols);     \
		im->dynamic[1].d_tag = DT_STRTAB;                                                  \
		im->dynamic[1].d_un.d_val = KIT_BASE + offsetof(struct kit_image##B, strings);     \
		im->dynamic[2].d_tag = DT_STRSZ;                                                   \
		im->dynamic[2].d_un.d_val = sizeof(im->strings);                                   \
		im->dynamic[3].d_tag = DT_GNU_HASH;                                                \
		im->dynamic[3].d_un.d_val = KIT_BASE + offsetof(struct kit_image##B, hash);        \
	}                                                                                          \
                                                                                                   \
	static inline void kit_build##B(struct kit_image##B *im)                                   \
	{                                                                                          \
		memset(im, 0, sizeof(*im));                                                        \
		memset(im->text, 0x90, sizeof(im->text));                                          \
		memcpy(im->header.e_ident, ELFMAG, SELFMAG);                                       \
		im->header.e_ident[EI_CLASS] = B == 32 ? ELFCLASS32 : ELFCLASS64;                  \
		im->header.e_ident[EI_DATA] = ELFDATA2LSB;                                         \
		im->header.e_ident[EI_VERSION] = EV_CURRENT;                                       \
		im->header.e_type = ET_EXEC;                                                       \
		im->header.e_machine = B == 32 ? EM_386 : EM_X86_64;                               \
		im->header.e_phoff = offsetof(struct kit_image##B, segments);                      \
		im->header.e_phnum = 3;                                                            \
		im->header.e_phentsize = sizeof(im->segments[0]);                                  \
		im->header.e_shoff = offsetof(struct kit_image##B, sections);                      \
		im->header.e_shnum = KIT_NR_SECTIONS;                                              \
		im->header.e_shentsize = sizeof(im->sections[0]);                                  \
		im->header.e_shstrndx = 3;                                                         \
		kit_sections##B(im);                                                               \
		kit_symbols##B(im);                                                                \
		kit_notes##B(im);                                                                  \
		kit_segments##B(im);                                                               \
	}

#define KIT_PART(B, type, member, link)                                                            \
	{                                                                                          \
		type, offsetof(struct kit_image##B, member),                                       \
		    sizeof(((struct kit_image##B *)0)->member), link                               \
	}

KIT_IMAGE(32, uint32_t)
KIT_IMAGE(64, uint64_t)

#endif
