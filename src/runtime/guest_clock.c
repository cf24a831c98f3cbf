/* SPDX-License-Identifier: MIT */
/*
 * guest_clock.c - reads the time in a traced program without libc: the cycle counter, or
 * CLOCK_MONOTONIC through the vDSO if the kernel provides one.
 */
#include <elf.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/runtime_int.h"
#include "runtime/sys_int.h"

static int (*vdso_gettime)(int, struct timespec *);

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* Finds a dynamic symbol in the vDSO, a small shared object that the kernel maps. */
static void *vdso_symbol(const char *base, const char *wanted)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)(const void *)base;
	const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)(base + eh->e_phoff);
	const Elf64_Dyn *dyn = NULL;
	const Elf64_Sym *sym = NULL;
	const char *names = NULL, *load = base;
	const uint32_t *hash = NULL;

	for (unsigned i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD)
			load = base + ph[i].p_offset - ph[i].p_vaddr;
		if (ph[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(const void *)(base + ph[i].p_offset);
	}
	for (; dyn && dyn->d_tag; dyn++) {
		const void *p = load + dyn->d_un.d_ptr;
		if (dyn->d_tag == DT_SYMTAB)
			sym = p;
		else if (dyn->d_tag == DT_STRTAB)
			names = p;
		else if (dyn->d_tag == DT_HASH)
			hash = p;
	}
	for (uint32_t i = 0; sym && names && hash && i < hash[1]; i++)
		if (sym[i].st_shndx && equal(names + sym[i].st_name, wanted))
			return (void *)(uintptr_t)(load + sym[i].st_value);
	return NULL;
}

void wm_guest_clock_init(void)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	if (!base)
		return;
	*(void **)&vdso_gettime = vdso_symbol(base, "__vdso_clock_gettime");
	if (!vdso_gettime)
		*(void **)&vdso_gettime = vdso_symbol(base, "__kernel_clock_gettime");
}

uint64_t wm_guest_clock_now(uint32_t kind)
{
	struct timespec t = {0, 0};

	if (kind == WM_CLOCK_CYCLES)
		return wm_clock_cycles();
	if (!vdso_gettime || vdso_gettime(CLOCK_MONOTONIC, &t))
		(void)WM_SYS_2(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
