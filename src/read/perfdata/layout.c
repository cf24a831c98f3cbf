/* SPDX-License-Identifier: MIT */
/*
 * layout.c - computes the length of a feature from the counts and lengths in it, even for features
 * that this reader ignores: a FEATURE record whose size was damaged may swallow the records after
 * it, which may be events.
 */
#include <string.h>

#include "read/perfdata/perfdata_int.h"

#define PAD_MAX 8u /* records are padded to words */

/*
 * u, q: words of 32 and 64 bits; s: a perf string; d: u32 size, then bytes; m: u64 number of bits,
 * then words; p: a BPF program; c: per-processor data; e: event descriptions; {} and []: repeated
 * as often as the preceding u32 or u64 says. Features without a layout are not checked: future
 * versions of perf will have more.
 */
static const char *const layouts[] = {
    [WM_PD_HAS_HOSTNAME] = "s",
    [WM_PD_HAS_OSRELEASE] = "s",
    [WM_PD_HAS_VERSION] = "s",
    [WM_PD_HAS_ARCH] = "s",
    [WM_PD_HAS_NRCPUS] = "uu",
    [WM_PD_HAS_CPUDESC] = "s",
    [WM_PD_HAS_CPUID] = "s",
    [WM_PD_HAS_TOTAL_MEM] = "q",
    [WM_PD_HAS_CMDLINE] = "{s}",
    [WM_PD_HAS_EVENT_DESC] = "e",
    [WM_PD_HAS_CPU_TOPOLOGY] = "{s}{s}c",
    [WM_PD_HAS_NUMA_TOPOLOGY] = "{uqqs}",
    [WM_PD_HAS_BRANCH_STACK] = "",
    [WM_PD_HAS_PMU_MAPPINGS] = "{us}",
    [WM_PD_HAS_GROUP_DESC] = "{suu}",
    [WM_PD_HAS_AUXTRACE] = "[qq]",
    [WM_PD_HAS_STAT] = "",
    [WM_PD_HAS_CACHE] = "u{uuuusss}",
    [WM_PD_HAS_SAMPLE_TIME] = "qq",
    [WM_PD_HAS_MEM_TOPOLOGY] = "qq[qqm]",
    [WM_PD_HAS_CLOCKID] = "q",
    [WM_PD_HAS_DIR_FORMAT] = "q",
    [WM_PD_HAS_BPF_PROG_INFO] = "{p}",
    [WM_PD_HAS_BPF_BTF] = "{ud}",
    [WM_PD_HAS_COMPRESSED] = "uuuuu",
    [WM_PD_HAS_CPU_PMU_CAPS] = "{ss}",
    [WM_PD_HAS_CLOCK_DATA] = "uuqq",
    [WM_PD_HAS_HYBRID_TOPOLOGY] = "{ss}",
    [WM_PD_HAS_PMU_CAPS] = "{{ss}s}",
};

static void layout_skip(struct wm_pd_bytes *b, uint64_t nr, uint64_t each)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(nr, each, &bytes))
		bytes = UINT64_MAX;
	(void)wm_pd_take(b, bytes);
}

static void layout_skip_string(struct wm_pd_bytes *b)
{
	layout_skip(b, wm_pd_u32(b), 1);
}

/* Skips u32 bytes of description, u32 bytes of other data, u64; then both. */
static void skip_program(struct wm_pd_bytes *b)
{
	uint64_t bytes = wm_pd_u32(b);

	bytes += wm_pd_u32(b);
	(void)wm_pd_u64(b);
	(void)wm_pd_take(b, bytes);
}

static void skip_bits(struct wm_pd_bytes *b)
{
	uint64_t bits = wm_pd_u64(b);

	layout_skip(b, bits / 64 + (bits % 64 != 0), 8);
}

/*
 * Skips the core and socket of each processor; since Linux 5.3 also a list of dies, and each
 * processor's die.
 */
static void skip_processors(struct wm_pd_bytes *b, uint32_t nr)
{
	uint64_t left = (uint64_t)(b->end - b->at);
	uint32_t nr_dies;

	if (!nr || left < 8ull * nr) {
		(void)wm_pd_take(b, left); /* written by an old perf, or the number is unknown */
		return;
	}
	layout_skip(b, nr, 8);
	if (b->end - b->at < (ptrdiff_t)PAD_MAX)
		return;
	nr_dies = wm_pd_u32(b);
	for (uint32_t i = 0; i < nr_dies && !b->failed; i++)
		layout_skip_string(b);
	layout_skip(b, nr, 4);
}

static void skip_descriptions(struct wm_pd_bytes *b)
{
	uint32_t nr = wm_pd_u32(b), attr_bytes = wm_pd_u32(b);

	for (uint32_t i = 0; i < nr && !b->failed; i++) {
		uint32_t nr_ids;

		(void)wm_pd_take(b, attr_bytes);
		nr_ids = wm_pd_u32(b);
		layout_skip_string(b);
		layout_skip(b, nr_ids, 8);
	}
}

static void skip_one(const struct wm_pd *pd, char what, struct wm_pd_bytes *b)
{
	switch (what) {
	case 'u':
		(void)wm_pd_u32(b);
		break;
	case 'q':
		(void)wm_pd_u64(b);
		break;
	case 's':
	case 'd':
		layout_skip_string(b);
		break;
	case 'm':
		skip_bits(b);
		break;
	case 'p':
		skip_program(b);
		break;
	case 'c':
		skip_processors(b, pd->nr_cpus);
		break;
	case 'e':
		skip_descriptions(b);
		break;
	}
}

/* Returns the position after the bracket that closes the one at `l`. */
static const char *layout_behind(const char *l)
{
	int depth = 0;

	do {
		depth += *l == '{' || *l == '[';
		depth -= *l == '}' || *l == ']';
		l++;
	} while (depth);
	return l;
}

/* Skips the layout between `l` and `end`; each iteration of a loop consumes bytes, or fails. */
static void skip_layout(const struct wm_pd *pd, const char *l, const char *end,
			struct wm_pd_bytes *b)
{
	while (l < end && !b->failed) {
		const char *next = l + 1;

		if (*l == '{' || *l == '[') {
			uint64_t nr = *l == '{' ? wm_pd_u32(b) : wm_pd_u64(b);

			next = layout_behind(l);
			for (uint64_t i = 0; i < nr && !b->failed; i++)
				skip_layout(pd, l + 1, next - 1, b);
		} else {
			skip_one(pd, *l, b);
		}
		l = next;
	}
}

bool wm_pd_layout_check(const struct wm_pd *pd, uint32_t feature, struct wm_pd_bytes b,
			const char **ret_flaw)
{
	const char *l = feature < sizeof(layouts) / sizeof(layouts[0]) ? layouts[feature] : NULL;

	if (!l)
		return false;
	if (b.at == b.end)
		/*
		 * a record without a body, with a number above the last feature's, ends the
		 * features
		 */
		return true;
	skip_layout(pd, l, l + strlen(l), &b);
	if (b.failed)
		*ret_flaw = "ends inside a value";
	else if (b.end - b.at >= (ptrdiff_t)PAD_MAX)
		*ret_flaw = "has bytes after its contents";
	return true;
}
