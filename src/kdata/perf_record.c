/* SPDX-License-Identifier: MIT */
/*
 * perf_record.c - parses records with one function per kind, looked up by the record's type.
 */
#include "kdata/perf_record.h"

#include <errno.h>

#include "kdata/perf_cursor_int.h"
#include "kdata/perf_sample.h"

/*
 * The members of the sample_id at the end of records other than samples, in this order, 8 bytes
 * each.
 */
#define TRAILER                                                                                    \
	(WM_PERF_SAMPLE_TID | WM_PERF_SAMPLE_TIME | WM_PERF_SAMPLE_ID | WM_PERF_SAMPLE_STREAM_ID | \
	 WM_PERF_SAMPLE_CPU | WM_PERF_SAMPLE_IDENTIFIER)

static int16_t id_in_sample(uint64_t type)
{
	const uint64_t before =
	    WM_PERF_SAMPLE_IP | WM_PERF_SAMPLE_TID | WM_PERF_SAMPLE_TIME | WM_PERF_SAMPLE_ADDR;

	if (type & WM_PERF_SAMPLE_IDENTIFIER)
		return WM_PERF_HEADER_BYTES;
	if (!(type & WM_PERF_SAMPLE_ID))
		return -1;
	return (int16_t)(WM_PERF_HEADER_BYTES + 8 * __builtin_popcountll(type & before));
}

static int16_t id_from_end(uint64_t type)
{
	const uint64_t behind =
	    WM_PERF_SAMPLE_STREAM_ID | WM_PERF_SAMPLE_CPU | WM_PERF_SAMPLE_IDENTIFIER;

	if (type & WM_PERF_SAMPLE_IDENTIFIER)
		return 8;
	if (!(type & WM_PERF_SAMPLE_ID))
		return -1;
	return (int16_t)(8 + 8 * __builtin_popcountll(type & behind));
}

/* In a sample, the time comes after IDENTIFIER, IP and TID. */
static int16_t time_in_sample(uint64_t type)
{
	const uint64_t before = WM_PERF_SAMPLE_IDENTIFIER | WM_PERF_SAMPLE_IP | WM_PERF_SAMPLE_TID;

	if (!(type & WM_PERF_SAMPLE_TIME))
		return -1;
	return (int16_t)(WM_PERF_HEADER_BYTES + 8 * __builtin_popcountll(type & before));
}

/* In the trailer, only TID comes before the time. */
static int16_t time_from_end(uint64_t type)
{
	const uint64_t behind = TRAILER & ~WM_PERF_SAMPLE_TID;

	return (int16_t)(type & WM_PERF_SAMPLE_TIME ? 8 * __builtin_popcountll(type & behind) : -1);
}

void wm_kperf_shape_init(struct wm_perf_shape *s, const struct wm_perf_attr *attr, bool big_endian)
{
	bool all = wm_kperf_attr_has(attr, WM_PERF_ATTR_SAMPLE_ID_ALL);
	uint64_t type = attr->sample_type;

	*s = (struct wm_perf_shape){
	    .sample_type = type,
	    .read_format = attr->read_format,
	    .branch_sample_type = attr->branch_sample_type,
	    .regs_user = attr->regs_user,
	    .regs_intr = attr->regs_intr,
	    .trailer_bytes = all ? (uint16_t)(8 * __builtin_popcountll(type & TRAILER)) : 0,
	    .id_in_sample = id_in_sample(type),
	    .id_from_end = (int16_t)(all ? id_from_end(type) : -1),
	    .time_in_sample = time_in_sample(type),
	    .time_from_end = (int16_t)(all ? time_from_end(type) : -1),
	    .nr_regs_user = (uint8_t)__builtin_popcountll(attr->regs_user),
	    .nr_regs_intr = (uint8_t)__builtin_popcountll(attr->regs_intr),
	    .swap = wm_order_swap(big_endian),
	    .big_endian = big_endian,
	    .has_build_ids = wm_kperf_attr_has(attr, WM_PERF_ATTR_BUILD_ID),
	};
}

/* Reads a word whose offset differs between samples and other records. */
static int word_at(const struct wm_perf_shape *s, const unsigned char *p, int in_sample,
		   int from_end, uint64_t *ret)
{
	struct wm_perf_header h = wm_kperf_header_get(p, s->swap);
	int at = in_sample;

	if (h.type != WM_PERF_SAMPLE)
		at = from_end < 0 ? -1 : h.size - from_end;
	if (at < (int)WM_PERF_HEADER_BYTES || at + 8 > h.size)
		return -ENOENT;
	*ret = wm_get_u64(p + at, s->swap);
	return 0;
}

int wm_kperf_record_id(const struct wm_perf_shape *s, const void *record, uint64_t *ret_id)
{
	return word_at(s, record, s->id_in_sample, s->id_from_end, ret_id);
}

/* Offset of the time in FORK and EXIT, after four ids. */
#define TASK_TIME_AT (WM_PERF_HEADER_BYTES + 16)

int wm_kperf_record_time(const struct wm_perf_shape *s, const void *record, uint64_t *ret_time)
{
	struct wm_perf_header h = wm_kperf_header_get(record, s->swap);
	int err = word_at(s, record, s->time_in_sample, s->time_from_end, ret_time);

	if (err && (h.type == WM_PERF_FORK || h.type == WM_PERF_EXIT) &&
	    h.size >= TASK_TIME_AT + 8) {
		*ret_time = wm_get_u64((const unsigned char *)record + TASK_TIME_AT, s->swap);
		err = 0;
	}
	return err;
}

int wm_kperf_cursor_open(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			 const void *record, size_t avail, struct wm_perf_header *ret_header,
			 struct wm_diag *diag)
{
	const unsigned char *p = record;

	if (avail < WM_PERF_HEADER_BYTES)
		return wm_diag_set(diag, -EBADMSG, NULL, 0,
				   "a record's header needs 8 bytes, only %zu are present", avail);
	*ret_header = wm_kperf_header_get(p, s->swap);
	if (ret_header->size < WM_PERF_HEADER_BYTES || ret_header->size > avail)
		return wm_diag_set(diag, -EBADMSG, NULL, 6,
				   "a record claims %u bytes, the valid range is 8 to %zu",
				   ret_header->size, avail);
	*c = (struct wm_perf_cursor){
	    .at = p + WM_PERF_HEADER_BYTES,
	    .end = p + ret_header->size,
	    .start = p,
	    .swap = s->swap,
	};
	return 0;
}

/* Reads the sample_id and removes it from the end of the body. */
static void take_trailer(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			 struct wm_perf_sample_id *id)
{
	struct wm_perf_cursor t = *c;
	uint64_t type = s->sample_type;

	*id = (struct wm_perf_sample_id){0};
	if (s->trailer_bytes == 0)
		return;
	if (wm_kperf_left(c) < s->trailer_bytes) {
		c->missing = "sample_id";
		return;
	}
	c->end -= s->trailer_bytes;
	t.at = c->end;
	id->present = type & TRAILER;
	if (type & WM_PERF_SAMPLE_TID) {
		id->pid = wm_kperf_u32(&t, "pid");
		id->tid = wm_kperf_u32(&t, "tid");
	}
	if (type & WM_PERF_SAMPLE_TIME)
		id->time = wm_kperf_u64(&t, "time");
	if (type & WM_PERF_SAMPLE_ID)
		id->id = wm_kperf_u64(&t, "id");
	if (type & WM_PERF_SAMPLE_STREAM_ID)
		id->stream_id = wm_kperf_u64(&t, "stream id");
	if (type & WM_PERF_SAMPLE_CPU) {
		id->cpu = wm_kperf_u32(&t, "cpu");
		(void)wm_kperf_u32(&t, "cpu"); /* reserved */
	}
	if (type & WM_PERF_SAMPLE_IDENTIFIER)
		id->id = wm_kperf_u64(&t, "identifier");
}

/* Reads text up to its NUL or the end of the body; NULs pad the last word. */
static struct wm_perf_text perf_record_take_text(struct wm_perf_cursor *c)
{
	size_t left = wm_kperf_left(c), length, bytes;
	const char *p = (const char *)c->at;

	length = strnlen(p, left);
	bytes = (size_t)(c->at - c->start) + length + 1;
	bytes = ((bytes + 7) & ~(size_t)7) - (size_t)(c->at - c->start);
	c->at += bytes < left ? bytes : left;
	return (struct wm_perf_text){p, (uint32_t)length};
}

#define BUILD_ID_BYTES 20u

/*
 * Returns whether the record has a build-id. When one recorder asks for build-ids, the kernel sets
 * the bit in every recorder's records (seen in 6.1 to 6.18), but those of the others have the
 * device there. Only perf inject adds build-ids without setting the attr's bit. They begin with
 * their usual size as a word, which is not the number of any device in use.
 */
static bool perf_record_has_build_id(const struct wm_perf_cursor *c, const struct wm_perf_shape *s,
				     const struct wm_perf_header *h)
{
	static const unsigned char head[4] = {BUILD_ID_BYTES};

	if (h->type != WM_PERF_MMAP2 || !(h->misc & WM_PERF_MISC_MMAP_BUILD_ID))
		return false;
	return s->has_build_ids ||
	       (wm_kperf_left(c) >= sizeof(head) && !memcmp(c->at, head, sizeof(head)));
}

static void parse_mmap(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		       struct wm_perf_record *r)
{
	struct wm_perf_mmap *m = &r->mmap;

	m->pid = wm_kperf_u32(c, "pid");
	m->tid = wm_kperf_u32(c, "tid");
	m->addr = wm_kperf_u64(c, "address");
	m->len = wm_kperf_u64(c, "length");
	m->pgoff = wm_kperf_u64(c, "page offset");
	if (perf_record_has_build_id(c, s, &r->header)) {
		const unsigned char *p = wm_kperf_take(c, 24, "build-id");

		if (p) {
			m->build_id = p + 4;
			m->build_id_bytes = p[0] <= BUILD_ID_BYTES ? p[0] : BUILD_ID_BYTES;
		}
	} else if (r->header.type == WM_PERF_MMAP2) {
		m->major = wm_kperf_u32(c, "device");
		m->minor = wm_kperf_u32(c, "device");
		m->inode = wm_kperf_u64(c, "inode");
		m->inode_generation = wm_kperf_u64(c, "inode generation");
	}
	if (r->header.type == WM_PERF_MMAP2) {
		m->prot = wm_kperf_u32(c, "protection");
		m->flags = wm_kperf_u32(c, "flags");
	}
	m->filename = perf_record_take_text(c);
}

static void perf_record_parse_lost(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
				   struct wm_perf_record *r)
{
	if (r->header.type == WM_PERF_LOST)
		r->lost.id = wm_kperf_u64(c, "id");
	r->lost.lost = wm_kperf_u64(c, "count of lost records");
}

static void parse_comm(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		       struct wm_perf_record *r)
{
	r->comm.pid = wm_kperf_u32(c, "pid");
	r->comm.tid = wm_kperf_u32(c, "tid");
	r->comm.comm = perf_record_take_text(c);
}

static void perf_record_parse_task(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
				   struct wm_perf_record *r)
{
	r->task.pid = wm_kperf_u32(c, "pid");
	r->task.ppid = wm_kperf_u32(c, "parent's pid");
	r->task.tid = wm_kperf_u32(c, "tid");
	r->task.ptid = wm_kperf_u32(c, "parent's tid");
	r->task.time = wm_kperf_u64(c, "time");
}

static void parse_throttle(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			   struct wm_perf_record *r)
{
	r->throttle.time = wm_kperf_u64(c, "time");
	r->throttle.id = wm_kperf_u64(c, "id");
	r->throttle.stream_id = wm_kperf_u64(c, "stream id");
}

static void parse_read(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		       struct wm_perf_record *r)
{
	r->read.pid = wm_kperf_u32(c, "pid");
	r->read.tid = wm_kperf_u32(c, "tid");
	wm_kperf_take_read(c, s, &r->read.read);
}

static void parse_aux(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		      struct wm_perf_record *r)
{
	r->aux.offset = wm_kperf_u64(c, "offset");
	r->aux.size = wm_kperf_u64(c, "size");
	r->aux.flags = wm_kperf_u64(c, "flags");
}

static void parse_thread(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			 struct wm_perf_record *r)
{
	r->thread.pid = wm_kperf_u32(c, "pid");
	r->thread.tid = wm_kperf_u32(c, "tid");
}

static void parse_nothing(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			  struct wm_perf_record *r)
{
}

static void parse_namespaces(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			     struct wm_perf_record *r)
{
	uint64_t nr;

	r->namespaces.pid = wm_kperf_u32(c, "pid");
	r->namespaces.tid = wm_kperf_u32(c, "tid");
	nr = wm_kperf_u64(c, "count of namespaces");
	r->namespaces.dev_inode =
	    wm_kperf_take_words(c, nr > UINT64_MAX / 2 ? UINT64_MAX : 2 * nr, "namespaces");
}

static void parse_ksymbol(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			  struct wm_perf_record *r)
{
	r->ksymbol.addr = wm_kperf_u64(c, "address");
	r->ksymbol.len = wm_kperf_u32(c, "length");
	r->ksymbol.type = wm_kperf_u16(c, "type");
	r->ksymbol.flags = wm_kperf_u16(c, "flags");
	r->ksymbol.name = perf_record_take_text(c);
}

static void parse_bpf(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		      struct wm_perf_record *r)
{
	r->bpf.type = wm_kperf_u16(c, "type");
	r->bpf.flags = wm_kperf_u16(c, "flags");
	r->bpf.id = wm_kperf_u32(c, "id");
	r->bpf.tag = wm_kperf_take(c, 8, "tag");
}

static void parse_cgroup(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			 struct wm_perf_record *r)
{
	r->cgroup.id = wm_kperf_u64(c, "id");
	r->cgroup.path = perf_record_take_text(c);
}

static void parse_text_poke(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			    struct wm_perf_record *r)
{
	uint16_t old_bytes, new_bytes;

	r->text_poke.addr = wm_kperf_u64(c, "address");
	old_bytes = wm_kperf_u16(c, "length of the old text");
	new_bytes = wm_kperf_u16(c, "length of the new text");
	r->text_poke.old_text = wm_kperf_take_bytes(c, old_bytes, "old text");
	r->text_poke.new_text = wm_kperf_take_bytes(c, new_bytes, "new text");
}

static void parse_hw_id(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			struct wm_perf_record *r)
{
	r->hw_id = wm_kperf_u64(c, "hardware id");
}

static void parse_deferred(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
			   struct wm_perf_record *r)
{
	r->deferred.cookie = wm_kperf_u64(c, "cookie");
	r->deferred.callchain =
	    wm_kperf_take_words(c, wm_kperf_u64(c, "call chain's length"), "call chain");
}

static const struct kind {
	const char *name;
	void (*parse)(struct wm_perf_cursor *c, const struct wm_perf_shape *s,
		      struct wm_perf_record *r);
} kinds[WM_PERF_KIND_NR] = {
    [WM_PERF_MMAP] = {"MMAP", parse_mmap},
    [WM_PERF_LOST] = {"LOST", perf_record_parse_lost},
    [WM_PERF_COMM] = {"COMM", parse_comm},
    [WM_PERF_EXIT] = {"EXIT", perf_record_parse_task},
    [WM_PERF_THROTTLE] = {"THROTTLE", parse_throttle},
    [WM_PERF_UNTHROTTLE] = {"UNTHROTTLE", parse_throttle},
    [WM_PERF_FORK] = {"FORK", perf_record_parse_task},
    [WM_PERF_READ] = {"READ", parse_read},
    [WM_PERF_SAMPLE] = {"SAMPLE", NULL},
    [WM_PERF_MMAP2] = {"MMAP2", parse_mmap},
    [WM_PERF_AUX] = {"AUX", parse_aux},
    [WM_PERF_ITRACE_START] = {"ITRACE_START", parse_thread},
    [WM_PERF_LOST_SAMPLES] = {"LOST_SAMPLES", perf_record_parse_lost},
    [WM_PERF_SWITCH] = {"SWITCH", parse_nothing},
    [WM_PERF_SWITCH_CPU_WIDE] = {"SWITCH_CPU_WIDE", parse_thread},
    [WM_PERF_NAMESPACES] = {"NAMESPACES", parse_namespaces},
    [WM_PERF_KSYMBOL] = {"KSYMBOL", parse_ksymbol},
    [WM_PERF_BPF_EVENT] = {"BPF_EVENT", parse_bpf},
    [WM_PERF_CGROUP] = {"CGROUP", parse_cgroup},
    [WM_PERF_TEXT_POKE] = {"TEXT_POKE", parse_text_poke},
    [WM_PERF_AUX_OUTPUT_HW_ID] = {"AUX_OUTPUT_HW_ID", parse_hw_id},
    [WM_PERF_CALLCHAIN_DEFERRED] = {"CALLCHAIN_DEFERRED", parse_deferred},
};

const char *wm_kperf_kind_name(uint32_t type)
{
	return type < WM_PERF_KIND_NR ? kinds[type].name : NULL;
}

int wm_kperf_record_parse(const struct wm_perf_shape *s, const void *record, size_t avail,
			  struct wm_perf_record *ret, struct wm_diag *diag)
{
	struct wm_perf_cursor c;
	struct wm_perf_header h;
	bool known;
	int err;

	err = wm_kperf_cursor_open(&c, s, record, avail, &h, diag);
	if (err)
		return err;
	if (h.type == WM_PERF_SAMPLE || h.type >= WM_PERF_KIND_USER)
		return wm_diag_set(diag, -EINVAL, NULL, 0, "type %u is not a kernel record",
				   h.type);
	memset(ret, 0, sizeof(*ret));
	ret->header = h;
	take_trailer(&c, s, &ret->id);
	ret->body = (struct wm_perf_bytes){c.at, wm_kperf_left(&c)};
	known = wm_kperf_kind_name(h.type) != NULL;
	if (known && !c.missing)
		kinds[h.type].parse(&c, s, ret);
	ret->rest = (struct wm_perf_bytes){c.at, wm_kperf_left(&c)};
	err = wm_kperf_cursor_verdict(&c, diag);
	return err ? err : known;
}
