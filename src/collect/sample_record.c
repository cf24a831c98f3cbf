/* SPDX-License-Identifier: MIT */
/* sample_record.c - see sample_record_int.h. */
#include "collect/sample_record_int.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "event/desc_build.h"
#include "kdata/print.h"
#include "trace/trace_layout.h"

/* The parts of a sample that become fields, in the order in which they are written. */
static const struct {
	uint64_t bit;
	const char *schema;
} parts[] = {
    {WM_PERF_SAMPLE_ADDR, "addr:p8"},
    {WM_PERF_SAMPLE_CALLCHAIN, "callchain:qp8"},
    {WM_PERF_SAMPLE_REGS_USER, "regs_user:qx8"},
    {WM_PERF_SAMPLE_STACK_USER, "stack_user:z"},
};

/* --- making ------------------------------------------------------------------------ */

static int set_shape(struct wm_sample_plan *p, const struct wm_sample_event *e, int clockid)
{
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct perf_event_attr bytes;
	struct wm_perf_attr attr;
	int err;

	wm_sampler_attr(&e->sampled, clockid, &bytes);
	err = wm_kperf_attr_parse(&bytes, sizeof(bytes), false, &attr, NULL);
	if (!err)
		wm_kperf_shape_init(&p->shape, &attr, big_endian);
	p->period = e->sampled.period;
	return err;
}

static void put_schema(struct wm_sample_plan *p, struct wm_text *schema)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!(p->shape.sample_type & parts[i].bit))
			continue;
		p->parts |= parts[i].bit;
		wm_text_f(schema, "%s%s", schema->bytes ? ";" : "", parts[i].schema);
	}
}

/*
 * Creates the class of an event that is not a tracepoint: "sw:cpu-clock" is the event cpu-clock
 * from provider sw.
 */
static int plain_class(const char *called, const char *schema, struct wm_class **ret,
		       struct wm_diag *diag)
{
	const char *colon = strchr(called, ':');
	struct wm_text provider;
	size_t bytes;
	unsigned char *desc = NULL;
	int err = -ENOMEM;

	wm_text_init(&provider);
	wm_text_add(&provider, called, colon ? (size_t)(colon - called) : 0);
	wm_text_char(&provider, '\0');
	if (!provider.failed)
		desc = wm_desc_simple(provider.data, colon ? colon + 1 : called, schema, NULL, 0,
				      &bytes);
	if (desc)
		err = wm_class_parse(desc, bytes, NULL, ret, diag);
	free(desc);
	wm_text_done(&provider);
	return err;
}

static int tracepoint_class(struct wm_sample_plan *p, const struct wm_sample_event *e,
			    const char *schema, const struct wm_kmachine *machine,
			    struct wm_arena *arena, struct wm_class **ret, struct wm_diag *diag)
{
	const struct wm_kprint *print = NULL;
	const struct wm_kformat *format;
	const unsigned char *desc;
	size_t bytes;
	int err =
	    wm_kformat_parse(arena, machine, e->system, e->format, e->format_bytes, &format, diag);

	if (!err)
		err = wm_kprint_compile(arena, machine, format, &print, NULL);
	if (!err)
		err = wm_kplan_create_behind(schema, format, machine, print, &p->fields, diag);
	if (err)
		return err;
	desc = wm_kplan_desc(p->fields, &bytes);
	return wm_class_parse(desc, bytes, NULL, ret, diag);
}

int wm_sample_plan_make(struct wm_sample_plan *p, const struct wm_sample_event *e, int clockid,
			struct wm_kernel_stream *samples, uint32_t id,
			const struct wm_kmachine *machine, struct wm_arena *arena,
			struct wm_diag *diag)
{
	struct wm_class *class;
	struct wm_text schema;
	int err;

	*p = (struct wm_sample_plan){0};
	err = set_shape(p, e, clockid);
	if (err)
		return err;
	wm_text_init(&schema);
	put_schema(p, &schema);
	wm_text_char(&schema, '\0');
	if (schema.failed)
		err = -ENOMEM;
	else if (e->format)
		err = tracepoint_class(p, e, schema.data, machine, arena, &class, diag);
	else
		err = plain_class(e->sampled.def->name, schema.data, &class, diag);
	wm_text_done(&schema);
	return err ? err : wm_stream_kernel_event(samples, id, class);
}

void wm_sample_plan_done(struct wm_sample_plan *p)
{
	wm_kplan_destroy(p->fields);
	p->fields = NULL;
}

/* --- writing ------------------------------------------------------------------------ */

static unsigned char *sample_record_put(unsigned char *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
	return to + bytes;
}

static unsigned char *put_counted(unsigned char *to, const void *from, uint64_t nr, size_t width)
{
	uint32_t count = htole32((uint32_t)nr);

	return sample_record_put(sample_record_put(to, &count, sizeof(count)), from, nr * width);
}

static unsigned char *sample_record_put_parts(const struct wm_sample_plan *p,
					      const struct wm_perf_sample *s, unsigned char *to)
{
	if (p->parts & WM_PERF_SAMPLE_ADDR)
		to = sample_record_put(to, &s->addr, sizeof(s->addr));
	if (p->parts & WM_PERF_SAMPLE_CALLCHAIN)
		to = put_counted(to, s->callchain.data, s->callchain.nr, 8);
	if (p->parts & WM_PERF_SAMPLE_REGS_USER)
		to = put_counted(to, s->regs_user.words.data, s->regs_user.words.nr, 8);
	if (p->parts & WM_PERF_SAMPLE_STACK_USER)
		to = put_counted(to, s->stack_user.data, s->stack_user.bytes, 1);
	return to;
}

int64_t wm_sample_put(const struct wm_sample_plan *p, const void *record, size_t bytes,
		      unsigned char *to, uint32_t *ret_pid, uint32_t *ret_tid)
{
	struct wm_sample_context context;
	struct wm_perf_sample s;
	unsigned char *at;
	int64_t n;
	int err = wm_kperf_sample_parse(&p->shape, record, bytes, &s, NULL);

	if (err)
		return err;
	context = (struct wm_sample_context){
	    (int32_t)s.pid, (int32_t)s.tid, s.ip,
	    p->shape.sample_type & WM_PERF_SAMPLE_PERIOD ? s.period : p->period};
	*ret_pid = s.pid;
	*ret_tid = s.tid;
	at = sample_record_put_parts(p, &s, sample_record_put(to, &context, sizeof(context)));
	if (!p->fields)
		return at - to;
	n = wm_kplan_run(p->fields, s.raw.data, (uint32_t)s.raw.bytes, at,
			 WM_SAMPLE_BYTES_MAX - (size_t)(at - to));
	return n < 0 ? n : at - to + n;
}
