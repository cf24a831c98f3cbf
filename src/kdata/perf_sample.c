/* SPDX-License-Identifier: MIT */
/* perf_sample.c - reads the parts of a sample in the order in which the kernel writes them. */
#include "kdata/perf_sample.h"

#include <errno.h>

#include "kdata/perf_cursor_int.h"

#define BRANCH_BYTES 24u /* three words: from, to, flags */

static unsigned counter_bytes(uint64_t read_format)
{
	return 8u *
	       (1 + !!(read_format & WM_PERF_FORMAT_ID) + !!(read_format & WM_PERF_FORMAT_LOST));
}

static struct wm_perf_counter counter_tail(struct wm_perf_cursor *c, uint64_t format,
					   uint64_t value)
{
	struct wm_perf_counter k = {.value = value};

	if (format & WM_PERF_FORMAT_ID)
		k.id = wm_kperf_u64(c, "counter's id");
	if (format & WM_PERF_FORMAT_LOST)
		k.lost = wm_kperf_u64(c, "counter's losses");
	return k;
}

void wm_kperf_take_read(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			struct wm_perf_read *ret)
{
	uint64_t format = s->read_format, first = wm_kperf_u64(c, "counter");
	bool group = format & WM_PERF_FORMAT_GROUP;

	if (format & WM_PERF_FORMAT_TOTAL_TIME_ENABLED)
		ret->time_enabled = wm_kperf_u64(c, "time enabled");
	if (format & WM_PERF_FORMAT_TOTAL_TIME_RUNNING)
		ret->time_running = wm_kperf_u64(c, "time running");
	if (group) {
		uint64_t each = counter_bytes(format);

		ret->counters =
		    wm_kperf_take(c, first > SIZE_MAX / 32 ? UINT64_MAX : first * each, "counters");
		ret->nr = ret->counters ? first : 0;
		if (ret->nr)
			ret->first = wm_kperf_read_counter(s, ret, 0);
		return;
	}
	ret->nr = 1;
	ret->first = counter_tail(c, format, first);
}

struct wm_perf_counter wm_kperf_read_counter(const struct wm_perf_shape *s,
					     const struct wm_perf_read *r, uint64_t i)
{
	unsigned each = counter_bytes(s->read_format);
	struct wm_perf_cursor c = {.swap = s->swap};

	if (!r->counters)
		return r->first;
	c.at = c.start = r->counters + i * each;
	c.end = c.at + each;
	return counter_tail(&c, s->read_format, wm_kperf_u64(&c, "counter"));
}

static void take_branches(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			  struct wm_perf_branches *ret)
{
	uint64_t nr = wm_kperf_u64(c, "branch stack's length");

	ret->hw_index = UINT64_MAX;
	if (s->branch_sample_type & WM_PERF_BRANCH_HW_INDEX)
		ret->hw_index = wm_kperf_u64(c, "branch stack's index");
	ret->entries =
	    wm_kperf_take(c, nr > SIZE_MAX / 32 ? UINT64_MAX : nr * BRANCH_BYTES, "branch stack");
	ret->nr = ret->entries ? nr : 0;
	if (s->branch_sample_type & WM_PERF_BRANCH_COUNTERS)
		ret->counters = wm_kperf_take_words(c, nr, "branch counters");
}

static void take_regs(struct wm_perf_cursor *c, uint64_t mask, unsigned nr,
		      struct wm_perf_regs *ret)
{
	ret->abi = wm_kperf_u64(c, "registers' kind");
	ret->mask = mask;
	if (ret->abi != WM_PERF_REGS_NONE)
		ret->words = wm_kperf_take_words(c, nr, "registers");
}

static void take_stack(struct wm_perf_cursor *c, struct wm_perf_sample *ret)
{
	uint64_t asked = wm_kperf_u64(c, "stack's size"), copied;

	ret->stack_user_asked = asked;
	if (asked == 0)
		return;
	ret->stack_user = wm_kperf_take_bytes(c, asked, "stack");
	copied = wm_kperf_u64(c, "stack's copied size");
	if (copied < ret->stack_user.bytes)
		ret->stack_user.bytes = copied;
}

/* Reads the parts of fixed size that nearly every sample has. */
static void take_fixed(struct wm_perf_cursor *c, uint64_t type, struct wm_perf_sample *ret)
{
	if (type & WM_PERF_SAMPLE_IDENTIFIER)
		ret->id = wm_kperf_u64(c, "identifier");
	if (type & WM_PERF_SAMPLE_IP)
		ret->ip = wm_kperf_u64(c, "address of the instruction");
	if (type & WM_PERF_SAMPLE_TID) {
		ret->pid = wm_kperf_u32(c, "pid");
		ret->tid = wm_kperf_u32(c, "tid");
	}
	if (type & WM_PERF_SAMPLE_TIME)
		ret->time = wm_kperf_u64(c, "time");
	if (type & WM_PERF_SAMPLE_ADDR)
		ret->addr = wm_kperf_u64(c, "address");
	if (type & WM_PERF_SAMPLE_ID)
		ret->id = wm_kperf_u64(c, "id");
	if (type & WM_PERF_SAMPLE_STREAM_ID)
		ret->stream_id = wm_kperf_u64(c, "stream id");
	if (type & WM_PERF_SAMPLE_CPU) {
		ret->cpu = wm_kperf_u32(c, "cpu");
		(void)wm_kperf_u32(c, "cpu"); /* reserved */
	}
	if (type & WM_PERF_SAMPLE_PERIOD)
		ret->period = wm_kperf_u64(c, "period");
}

static void take_variable(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			  struct wm_perf_sample *ret)
{
	uint64_t type = s->sample_type;

	if (type & WM_PERF_SAMPLE_READ)
		wm_kperf_take_read(c, s, &ret->read);
	if (type & WM_PERF_SAMPLE_CALLCHAIN)
		ret->callchain =
		    wm_kperf_take_words(c, wm_kperf_u64(c, "call chain's length"), "call chain");
	if (type & WM_PERF_SAMPLE_RAW)
		ret->raw = wm_kperf_take_bytes(c, wm_kperf_u32(c, "raw data's size"), "raw data");
	if (type & WM_PERF_SAMPLE_BRANCH_STACK)
		take_branches(c, s, &ret->branches);
	if (type & WM_PERF_SAMPLE_REGS_USER)
		take_regs(c, s->regs_user, s->nr_regs_user, &ret->regs_user);
	if (type & WM_PERF_SAMPLE_STACK_USER)
		take_stack(c, ret);
}

/* Reads the parts that later kernels added. */
static void take_late(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		      struct wm_perf_sample *ret)
{
	uint64_t type = s->sample_type;

	if (type & (WM_PERF_SAMPLE_WEIGHT | WM_PERF_SAMPLE_WEIGHT_STRUCT))
		ret->weight = wm_kperf_u64(c, "weight");
	if (type & WM_PERF_SAMPLE_DATA_SRC)
		ret->data_src = wm_kperf_u64(c, "data source");
	if (type & WM_PERF_SAMPLE_TRANSACTION)
		ret->transaction = wm_kperf_u64(c, "transaction");
	if (type & WM_PERF_SAMPLE_REGS_INTR)
		take_regs(c, s->regs_intr, s->nr_regs_intr, &ret->regs_intr);
	if (type & WM_PERF_SAMPLE_PHYS_ADDR)
		ret->phys_addr = wm_kperf_u64(c, "physical address");
	if (type & WM_PERF_SAMPLE_CGROUP)
		ret->cgroup = wm_kperf_u64(c, "cgroup");
	if (type & WM_PERF_SAMPLE_DATA_PAGE_SIZE)
		ret->data_page_size = wm_kperf_u64(c, "size of the data's page");
	if (type & WM_PERF_SAMPLE_CODE_PAGE_SIZE)
		ret->code_page_size = wm_kperf_u64(c, "size of the code's page");
	if (type & WM_PERF_SAMPLE_AUX)
		ret->aux = wm_kperf_take_bytes(c, wm_kperf_u64(c, "aux data's size"), "aux data");
}

/* All parts from WEIGHT on. The kernel's order is not always the order of the bits. */
#define LATE                                                                                       \
	(WM_PERF_SAMPLE_WEIGHT | WM_PERF_SAMPLE_WEIGHT_STRUCT | WM_PERF_SAMPLE_DATA_SRC |          \
	 WM_PERF_SAMPLE_TRANSACTION | WM_PERF_SAMPLE_REGS_INTR | WM_PERF_SAMPLE_PHYS_ADDR |        \
	 WM_PERF_SAMPLE_CGROUP | WM_PERF_SAMPLE_DATA_PAGE_SIZE | WM_PERF_SAMPLE_CODE_PAGE_SIZE |   \
	 WM_PERF_SAMPLE_AUX)

int wm_kperf_sample_parse(const struct wm_perf_shape *s, const void *record, size_t avail,
			  struct wm_perf_sample *ret, struct wm_diag *diag)
{
	struct wm_perf_cursor c;
	struct wm_perf_header h;
	int err;

	err = wm_kperf_cursor_open(&c, s, record, avail, &h, diag);
	if (err)
		return err;
	memset(ret, 0, sizeof(*ret));
	ret->present = s->sample_type & WM_PERF_SAMPLE_KNOWN;
	ret->misc = h.misc;
	take_fixed(&c, s->sample_type, ret);
	take_variable(&c, s, ret);
	if (s->sample_type & LATE)
		take_late(&c, s, ret);
	err = wm_kperf_cursor_verdict(&c, diag);
	ret->rest = (struct wm_perf_bytes){c.at, wm_kperf_left(&c)};
	return err;
}

/*
 * Extracts the bits [at, at + width) of the flags, counted from the first bit that the compiler
 * allocates.
 */
static unsigned perf_sample_bits(uint64_t flags, unsigned at, unsigned width, bool big_endian)
{
	unsigned shift = big_endian ? 64 - at - width : at;

	return (unsigned)(flags >> shift & ((1u << width) - 1));
}

struct wm_perf_branch wm_kperf_branch_get(const struct wm_perf_shape *s,
					  const struct wm_perf_branches *b, uint64_t i)
{
	const unsigned char *p = b->entries + i * BRANCH_BYTES;
	uint64_t flags = wm_get_u64(p + 16, s->swap);
	bool big = s->big_endian;

	return (struct wm_perf_branch){
	    .from = wm_get_u64(p, s->swap),
	    .to = wm_get_u64(p + 8, s->swap),
	    .mispred = perf_sample_bits(flags, 0, 1, big),
	    .predicted = perf_sample_bits(flags, 1, 1, big),
	    .in_tx = perf_sample_bits(flags, 2, 1, big),
	    .abort = perf_sample_bits(flags, 3, 1, big),
	    .cycles = (uint16_t)perf_sample_bits(flags, 4, 16, big),
	    .type = (uint8_t)perf_sample_bits(flags, 20, 4, big),
	    .spec = (uint8_t)perf_sample_bits(flags, 24, 2, big),
	    .new_type = (uint8_t)perf_sample_bits(flags, 26, 4, big),
	    .priv = (uint8_t)perf_sample_bits(flags, 30, 3, big),
	};
}
