/* SPDX-License-Identifier: MIT */
/*
 * line.c - parses a line of ftrace's text:
 *
 *      bash-411     (    411) [001] dN.2.  4626.132111: sched_switch: prev_comm=bash ...
 *
 * The process in parentheses and the flags may be missing; the name of a task may contain anything,
 * so a line is split at its "[001]". With the option latency-format, and from latency tracers, it
 * is
 *
 *      bash-411     1dN.2. 132111us+: sched_switch: prev_comm=bash ...
 *
 * with the time since the trace began, and a mark if the next event comes long after it. perf
 * script, whose output is similar, prints one of
 *
 *      bash   411 [001]  4626.132111:  sched:sched_switch: prev_comm=bash ...
 *      bash   411/411    4626.132111:     250000 cpu-clock:  ffffffff81000000 f+0x1 (vmlinux)
 *
 * and the addresses of a call chain on the lines after it.
 */
#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "read/ftrace/ftrace_int.h"

static void skip_spaces(const char **at, const char *end)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
}

static struct wm_ft_text ftrace_line_trim(const char *at, const char *end)
{
	skip_spaces(&at, end);
	while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (struct wm_ft_text){at, (uint32_t)(end - at)};
}

/*
 * Parses a decimal number. Returns false when there are no digits, or the number is not below the
 * limit.
 */
static bool ftrace_line_digits(const char **at, const char *end, uint64_t limit, uint64_t *ret)
{
	const char *begin = *at;
	uint64_t n = 0;

	for (; *at < end && isdigit((unsigned char)**at); ++*at) {
		if (n > limit / 10 - 1)
			return false;
		n = n * 10 + (uint64_t)(**at - '0');
	}
	*ret = n;
	return *at > begin;
}

/* Parses "12.345678:" or, from a clock that counts ticks, "12345678:". */
static bool parse_time(const char **at, const char *end, int64_t *ret_ns)
{
	uint64_t seconds, part = 0, unit = WM_NS_PER_SECOND;

	if (!ftrace_line_digits(at, end, INT64_MAX, &seconds) || *at == end)
		return false;
	if (**at == ':') {
		++*at;
		*ret_ns = (int64_t)seconds;
		return true;
	}
	if (*(*at)++ != '.' || seconds >= INT64_MAX / WM_NS_PER_SECOND)
		return false;
	for (; *at < end && isdigit((unsigned char)**at); ++*at) {
		unit /= 10;
		part += (uint64_t)(**at - '0') * unit;
	}
	if (*at == end || *(*at)++ != ':' || unit == WM_NS_PER_SECOND)
		return false;
	*ret_ns = (int64_t)(seconds * WM_NS_PER_SECOND + part);
	return true;
}

/* Parses "bash-411", or "bash-411 (  411)", where dashes mean that the process is unknown. */
static bool ftrace_line_parse_task(const char *at, const char *end, struct wm_ft_line *l)
{
	struct wm_ft_text task = ftrace_line_trim(at, end);
	const char *last = task.at + task.bytes, *p;
	uint64_t n;

	l->pid = -1;
	if (task.bytes && last[-1] == ')') {
		for (p = last - 1; p > task.at && *p != '('; p--)
			;
		at = p + 1;
		skip_spaces(&at, last);
		if (*p != '(' ||
		    (ftrace_line_digits(&at, last, INT32_MAX, &n) ? *at != ')' : *at != '-'))
			return false;
		l->pid = *at == ')' ? (int32_t)n : -1;
		task = ftrace_line_trim(task.at, p);
		last = task.at + task.bytes;
	}
	for (p = last; p > task.at && isdigit((unsigned char)p[-1]); p--)
		;
	at = p;
	if (p == task.at || p[-1] != '-' || !ftrace_line_digits(&at, last, INT32_MAX, &n))
		return false;
	l->tid = (int32_t)n;
	l->comm = (struct wm_ft_text){task.at, (uint32_t)(p - 1 - task.at)};
	return true;
}

/* Parses the text after the time: "name: text", or "function <-caller" from the function tracer. */
static void parse_event(const char *at, const char *end, struct wm_ft_line *l)
{
	const char *p = at;

	skip_spaces(&p, end);
	at = p;
	while (p < end && *p != ':' && *p != ' ')
		p++;
	if (p > at && p < end && *p == ':') {
		l->name = (struct wm_ft_text){at, (uint32_t)(p - at)};
		l->text = ftrace_line_trim(p + 1, end);
		return;
	}
	l->text = ftrace_line_trim(at, end);
	if (l->text.bytes && *at == '<')
		l->name = (struct wm_ft_text){"kernel_stack", 12};
	else
		l->name = (struct wm_ft_text){"function", 8};
}

/* Parses the text after "[001]": flags, time, event. */
static bool parse_rest(const char *at, const char *end, struct wm_ft_line *l)
{
	const char *p = at;

	skip_spaces(&p, end);
	at = p;
	l->flags = (struct wm_ft_text){at, 0};
	if (!parse_time(&p, end, &l->ns)) {
		for (p = at; p < end && *p != ' '; p++)
			;
		l->flags.bytes = (uint32_t)(p - at);
		if (l->flags.bytes > 16)
			return false;
		skip_spaces(&p, end);
		if (!parse_time(&p, end, &l->ns))
			return false;
	}
	parse_event(p, end, l);
	return l->text.bytes || l->name.bytes;
}

static bool parse_at(const char *line, const char *bracket, const char *end, struct wm_ft_line *l)
{
	const char *p = bracket + 1;
	uint64_t cpu;

	if (!ftrace_line_digits(&p, end, INT32_MAX, &cpu) || p == end || *p != ']' ||
	    !ftrace_line_parse_task(line, bracket, l) || !parse_rest(p + 1, end, l))
		return false;
	l->cpu = (int32_t)cpu;
	l->kind = WM_FT_EVENT;
	return true;
}

/* Parses "132111us+:" or "132us :", without the unit when the clock counts ticks. */
static bool parse_latency_time(const char **at, const char *end, int64_t *ret_ns)
{
	uint64_t n;
	bool us;

	if (!ftrace_line_digits(at, end, INT64_MAX / 1000, &n))
		return false;
	us = end - *at > 2 && !memcmp(*at, "us", 2);
	*at += us ? 2 : 0;
	if (end - *at < 2 || !strchr(" +!#*@$", **at) || (*at)[1] != ':')
		return false;
	*at += 2;
	*ret_ns = (int64_t)(us ? n * 1000 : n);
	return true;
}

/* Parses a line in latency format; `dash` precedes the thread id. */
static bool parse_latency_at(const char *line, const char *dash, const char *end,
			     struct wm_ft_line *l)
{
	const char *p = dash + 1;
	uint64_t tid, cpu;

	if (!ftrace_line_digits(&p, end, INT32_MAX, &tid) || p == end || *p != ' ')
		return false;
	skip_spaces(&p, end);
	if (!ftrace_line_digits(&p, end, INT32_MAX, &cpu))
		return false;
	l->flags = (struct wm_ft_text){p, 0};
	while (p < end && *p != ' ')
		p++;
	l->flags.bytes = (uint32_t)(p - l->flags.at);
	skip_spaces(&p, end);
	if (!l->flags.bytes || l->flags.bytes > 16 || !parse_latency_time(&p, end, &l->ns))
		return false;
	parse_event(p, end, l);
	l->comm = ftrace_line_trim(line, dash);
	l->tid = (int32_t)tid;
	l->pid = -1;
	l->cpu = (int32_t)cpu;
	l->kind = WM_FT_EVENT;
	return true;
}

static bool ftrace_line_begins(const char *line, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && !memcmp(line, with, strlen(with));
}

/* Parses "CPU:1 [LOST 12 EVENTS]", "CPU:1 [LOST EVENTS]" or trace-cmd's "[12 EVENTS DROPPED]". */
static bool ftrace_line_parse_lost(const char *line, const char *end, struct wm_ft_line *l)
{
	const char *p = memchr(line, '[', (size_t)(end - line));
	uint64_t cpu = 0;

	if (!ftrace_line_begins(line, (size_t)(end - line), "CPU:") || !p)
		return false;
	l->kind = WM_FT_LOST;
	line += 4;
	l->cpu = ftrace_line_digits(&line, end, INT32_MAX, &cpu) ? (int32_t)cpu : -1;
	while (p < end && !isdigit((unsigned char)*p))
		p++;
	if (!ftrace_line_digits(&p, end, INT64_MAX, &l->lost))
		l->lost = UINT64_MAX;
	return true;
}

/* --- perf script ---------------------------------------------------------------------- */

/* Parses "bash   411", or "bash   411/412" with the process and the thread. */
static bool script_task(const char *at, const char *end, struct wm_ft_line *l)
{
	struct wm_ft_text task = ftrace_line_trim(at, end);
	const char *last = task.at + task.bytes, *p = last, *number;
	uint64_t tid, pid;

	while (p > task.at && isdigit((unsigned char)p[-1]))
		p--;
	number = p;
	if (!ftrace_line_digits(&number, last, INT32_MAX, &tid))
		return false;
	l->pid = -1;
	if (p > task.at && p[-1] == '/') {
		for (last = --p; p > task.at && isdigit((unsigned char)p[-1]); p--)
			;
		number = p;
		if (!ftrace_line_digits(&number, last, INT32_MAX, &pid))
			return false;
		l->pid = (int32_t)pid;
	}
	l->tid = (int32_t)tid;
	l->comm = ftrace_line_trim(task.at, p);
	return l->comm.bytes && p[-1] == ' ';
}

/* Parses "   250000 cpu-clock:u: text" or "sched:sched_switch: text". */
static bool script_event(const char *at, const char *end, struct wm_ft_line *l)
{
	const char *p, *name;
	uint64_t period;

	skip_spaces(&at, end);
	p = at;
	if (ftrace_line_digits(&p, end, INT64_MAX, &period) && p < end && *p == ' ')
		at = p;
	skip_spaces(&at, end);
	name = at;
	while (at < end && *at != ' ' && !(*at == ':' && (at + 1 == end || at[1] == ' ')))
		at++;
	if (at == name || at == end || *at != ':')
		return false;
	l->name = (struct wm_ft_text){name, (uint32_t)(at - name)};
	l->text = ftrace_line_trim(at + 1, end);
	return true;
}

/* Parses a line of perf script; `point` is the decimal point in its time. */
static bool parse_script_at(const char *line, const char *point, const char *end,
			    struct wm_ft_line *l)
{
	struct wm_ft_text head;
	const char *p = point, *bracket;
	uint64_t cpu;

	while (p > line && isdigit((unsigned char)p[-1]))
		p--;
	if (p == point || p == line || p[-1] != ' ')
		return false;
	head = ftrace_line_trim(line, p);
	if (!parse_time(&p, end, &l->ns) || !script_event(p, end, l))
		return false;
	l->cpu = -1;
	if (head.bytes && head.at[head.bytes - 1] == ']') {
		for (bracket = head.at + head.bytes; bracket > head.at && *bracket != '[';
		     bracket--)
			;
		p = bracket + 1;
		if (*bracket != '[' || !ftrace_line_digits(&p, end, INT32_MAX, &cpu) || *p != ']')
			return false;
		l->cpu = (int32_t)cpu;
		head = ftrace_line_trim(head.at, bracket);
	}
	l->flags = (struct wm_ft_text){line, 0};
	l->kind = WM_FT_EVENT;
	return script_task(head.at, head.at + head.bytes, l);
}

/* Returns whether the line is a call chain frame: "	ffffffff81000000 f+0x1 (vmlinux)". */
static bool is_script_frame(const char *line, const struct wm_ft_text *whole)
{
	uint32_t n = 0;

	while (n < whole->bytes && isxdigit((unsigned char)whole->at[n]))
		n++;
	return *line == '\t' && n && n < whole->bytes && whole->at[n] == ' ' &&
	       whole->at[whole->bytes - 1] == ')';
}

void wm_ft_line_parse(const char *line, size_t bytes, struct wm_ft_line *ret)
{
	const char *end = line + bytes;
	struct wm_ft_text whole = ftrace_line_trim(line, end);

	*ret = (struct wm_ft_line){.kind = WM_FT_NO_EVENT, .lost = UINT64_MAX};
	if (!whole.bytes || *whole.at == '#' || ftrace_line_begins(line, bytes, "cpus=") ||
	    ftrace_line_begins(line, bytes, "version = ")) {
		ret->kind = WM_FT_COMMENT;
		return;
	}
	if (ftrace_line_begins(whole.at, whole.bytes, "=> ")) {
		ret->kind = WM_FT_MORE;
		return;
	}
	if (ftrace_line_parse_lost(line, end, ret))
		return;
	for (const char *p = line; (p = memchr(p, '[', (size_t)(end - p))); p++)
		if (parse_at(line, p, end, ret))
			return;
	for (const char *p = line; (p = memchr(p, '-', (size_t)(end - p))); p++)
		if (parse_latency_at(line, p, end, ret))
			return;
	for (const char *p = line; (p = memchr(p, '.', (size_t)(end - p))); p++)
		if (parse_script_at(line, p, end, ret))
			return;
	ret->kind = is_script_frame(line, &whole) ? WM_FT_MORE : WM_FT_NO_EVENT;
}

bool wm_ft_goes_on(const struct wm_ft_line *event)
{
	static const char *const names[] = {"tracing_mark_write", "print", "bprint"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (event->name.bytes == strlen(names[i]) &&
		    !memcmp(event->name.at, names[i], event->name.bytes))
			return true;
	return false;
}

/* --- the text of an event ------------------------------------------------------------ */

static bool ftrace_line_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Returns the start of the key that ends at the '=' at `equal`, or `equal` if there is no key. */
static uint32_t key_begin(const struct wm_ft_text *text, uint32_t from, uint32_t equal)
{
	uint32_t at = equal;

	while (at > from && ftrace_line_is_word(text->at[at - 1]))
		at--;
	if (at == equal || isdigit((unsigned char)text->at[at]) ||
	    (at > 0 && !strchr(" ,({[", text->at[at - 1])))
		return equal;
	return at;
}

/* Finds the next '=' after a key; UINT32_MAX: none. */
static uint32_t ftrace_line_find_key(const struct wm_ft_text *text, uint32_t from,
				     uint32_t *ret_begin)
{
	for (uint32_t i = from; i < text->bytes; i++) {
		if (text->at[i] != '=')
			continue;
		*ret_begin = key_begin(text, from, i);
		if (*ret_begin < i && (i + 1 == text->bytes || text->at[i + 1] != '='))
			return i;
	}
	return UINT32_MAX;
}

bool wm_ft_pair(const struct wm_ft_text *text, uint32_t *at, struct wm_ft_text *ret_key,
		struct wm_ft_text *ret_value)
{
	uint32_t begin = 0, next = 0, equal = ftrace_line_find_key(text, *at, &begin), end;

	if (equal == UINT32_MAX)
		return false;
	end = ftrace_line_find_key(text, equal + 1, &next) == UINT32_MAX ? text->bytes : next;
	*ret_key = (struct wm_ft_text){text->at + begin, equal - begin};
	*ret_value = ftrace_line_trim(text->at + equal + 1, text->at + end);
	*at = end;
	if (ret_value->bytes >= 4 && !memcmp(ret_value->at + ret_value->bytes - 4, " ==>", 4))
		*ret_value = ftrace_line_trim(ret_value->at, ret_value->at + ret_value->bytes - 4);
	while (ret_value->bytes && strchr(",({", ret_value->at[ret_value->bytes - 1]))
		*ret_value = ftrace_line_trim(ret_value->at, ret_value->at + ret_value->bytes - 1);
	return true;
}

static bool hex_digits(const char **at, const char *end, uint64_t *ret)
{
	const char *begin = *at;
	uint64_t n = 0;

	for (; *at < end && isxdigit((unsigned char)**at); ++*at) {
		int c = tolower((unsigned char)**at);

		n = n << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = n;
	return *at > begin && *at - begin <= 16;
}

bool wm_ft_number(const struct wm_ft_text *value, bool *ret_hex, int64_t *ret)
{
	const char *at = value->at, *end = at + value->bytes;
	bool minus = value->bytes && *at == '-', good;
	uint64_t n = 0;

	*ret_hex = value->bytes > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	at += *ret_hex ? 2 : minus;
	good = *ret_hex ? hex_digits(&at, end, &n) : ftrace_line_digits(&at, end, INT64_MAX, &n);
	skip_spaces(&at, end);
	if (at < end && *at == '[')
		at = memchr(at, ']', (size_t)(end - at)) ? end : at;
	*ret = minus ? -(int64_t)n : (int64_t)n;
	return good && at == end;
}
