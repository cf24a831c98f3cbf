/* SPDX-License-Identifier: MIT */
/*
 * sampler_attr.c - the perf_event_open(2) attributes for sampled events, and whether this kernel
 * accepts them. See sampler.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "kernel/perf_event.h"
#include "kernel/privilege.h"
#include "kernel/sampler.h"

#define MAX_RATE_FILE "/proc/sys/kernel/perf_event_max_sample_rate"

/* Parts of every record, so that the records in one ring can be attributed and ordered. */
#define IN_ALL (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

uint64_t wm_sampler_regs(void)
{
#if defined(__x86_64__)
	/* All registers except DS, ES, FS and GS, which the kernel does not provide. */
	return 0xff0fff;
#elif defined(__aarch64__)
	return (1ull << 33) - 1; /* registers x0 to x30, sp and pc */
#else
#error "waymark: the registers of samples are unknown for this machine"
#endif
}

/* Whether an event's samples contain a data address. */
static bool has_address(const struct wm_event_def *def)
{
	if (def->family == WM_FAMILY_BREAKPOINT)
		return true;
	if (def->type != PERF_TYPE_SOFTWARE)
		return false;
	return def->config == PERF_COUNT_SW_PAGE_FAULTS ||
	       def->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
	       def->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ ||
	       def->config == PERF_COUNT_SW_ALIGNMENT_FAULTS;
}

/*
 * Whether each sample shall contain its period. For events that the kernel counts itself, a fixed
 * period must not be in it: with it, the kernel takes a sample of each hit, with the hit's weight
 * as its period (perf_swevent_event()). Period 1 needs that: some tracepoints count nanoseconds.
 */
static bool has_period(const struct wm_sampler_event *e, uint32_t type)
{
	bool counted = type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
		       type == PERF_TYPE_BREAKPOINT;

	return e->frequency || e->period <= 1 || !counted;
}

static void set_clock(struct perf_event_attr *a, int clockid)
{
	a->use_clockid = 1;
	a->clockid = clockid;
	a->sample_id_all = 1;
}

void wm_sampler_attr(const struct wm_sampler_event *e, int clockid, struct perf_event_attr *ret)
{
	struct perf_event_attr *a = ret;

	wm_event_def_attr(e->def, a);
	set_clock(a, clockid);
	a->disabled = 1;
	a->sample_type = IN_ALL | PERF_SAMPLE_IP;
	if (has_period(e, a->type))
		a->sample_type |= PERF_SAMPLE_PERIOD;
	if (has_address(e->def))
		a->sample_type |= PERF_SAMPLE_ADDR;
	if (a->type == PERF_TYPE_TRACEPOINT)
		a->sample_type |= PERF_SAMPLE_RAW;
	a->freq = e->frequency != 0;
	a->sample_period = e->frequency ? e->frequency : e->period;
	if (e->chain == WM_CHAIN_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (e->chain != WM_CHAIN_STACK)
		return;
	a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	a->exclude_callchain_user = 1;
	a->sample_regs_user = wm_sampler_regs();
	a->sample_stack_user = e->stack_bytes;
}

void wm_sampler_tasks_attr(int clockid, struct perf_event_attr *ret)
{
	wm_perf_attr_init(ret, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	set_clock(ret, clockid);
	ret->sample_type = IN_ALL;
	ret->sample_period = 1;
	/* The event counts nothing, and needs less privilege if it excludes the kernel. */
	ret->exclude_kernel = 1;
	ret->mmap = ret->mmap2 = ret->build_id = 1;
	ret->comm = ret->comm_exec = 1;
	ret->task = 1;
	ret->ksymbol = 1;
}

static int refuse_rate(const struct wm_sampler_event *e, struct wm_diag *diag)
{
	int64_t most;

	if (!e->frequency || wm_privilege_setting(MAX_RATE_FILE, &most) < 0 ||
	    e->frequency <= (uint64_t)most)
		return 0;
	return wm_diag_set(diag, -EINVAL, NULL, -1,
			   "'%.80s': %" PRIu64
			   " samples a second are more than the kernel's limit of %" PRId64
			   "; lower -F or raise kernel.perf_event_max_sample_rate",
			   e->def->name, e->frequency, most);
}

static int refuse_family(const struct wm_sampler_event *e, struct wm_diag *diag)
{
	if (e->def->family <= WM_FAMILY_BREAKPOINT)
		return 0;
	return wm_diag_set(diag, -EOPNOTSUPP, NULL, -1,
			   "'%.80s' is a probe, which is recorded at each hit; omit -F, -c and -g",
			   e->def->name);
}

int wm_sampler_try(const struct wm_sampler_event *e, int clockid, bool everywhere,
		   struct wm_diag *diag)
{
	const struct wm_perf_where where = {everywhere ? -1 : 0, everywhere ? 0 : -1};
	struct perf_event_attr attr;
	int fd, err = refuse_family(e, diag);
	bool narrow = false;

	if (!err)
		err = refuse_rate(e, diag);
	if (err)
		return err;
	wm_sampler_attr(e, clockid, &attr);
	fd = wm_perf_open(&attr, where, -1, e->def->name, diag);
	if (fd < 0 && wm_event_def_may_narrow(e->def, fd)) {
		narrow = true;
		wm_sampler_narrow(&attr);
		fd = wm_perf_open(&attr, where, -1, e->def->name, diag);
	}
	err = fd < 0 ? fd : 0;
	if (!err && e->filter)
		err = wm_perf_filter(fd, e->filter, e->def->name, diag);
	if (fd >= 0)
		(void)close(fd);
	return err ? err : narrow;
}
