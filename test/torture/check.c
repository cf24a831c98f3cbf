/* SPDX-License-Identifier: MIT */
/*
 * check.c - check TRACE-DIR TALLY [KINDS]: checks that the trace is valid, and that it contains
 * every event of the tally once, or counts it as lost. An independent CTF 1.8 reader, written from
 * the format's specification, not from the product's sources; strict: any byte it cannot account
 * for is an error. KINDS, of the letters f, t and b, is what the recorder requested: writers of
 * other kinds must be absent; with a p it joined late and left early: its events of a writer have
 * no gap; with a c the pump was killed: a stream may end in a partial packet; with a d the recorder
 * detached from the program at some time after `done`, one site after the other; with an l not all
 * losses could be written. Exit status 0, or 1 and one sentence per error.
 */
#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/stat.h>

#define WAYMARK_DISABLE
#include "torture.h"

#define FIELDS_MAX   40
#define EVENTS_MAX   4096
#define STREAMS_MAX  16
#define NR_CAUSES    9
#define MAGIC        0xc1fc1fc1u
#define HEADER_BYTES 32u

enum shape { SCALAR, STRING, ARRAY, SEQUENCE };

struct field {
	char name[64];
	enum shape shape;
	unsigned bytes, length, of; /* `of`: index of the field that contains a sequence's length */
};

struct fields {
	struct field at[FIELDS_MAX];
	unsigned count;
};

struct event {
	char name[128];
	unsigned id, stream;
	struct fields context, payload;
	enum { OTHER, FIXED, TEXT, BYTES, LOST, DEATH } what;
};

static struct fields packet_context[STREAMS_MAX], event_context[STREAMS_MAX];
static bool stream_known[STREAMS_MAX];
static struct event *events;
static unsigned nr_events, by_id[STREAMS_MAX][65536]; /* `by_id` has the index + 1 */
static unsigned char uuid[16];
static struct torture_tally *tally;
static uint8_t **seen; /* one bitmap for each slot */
static uint64_t recorded[TORTURE_SLOTS];
static const char *kinds = "ftb";
static uint64_t nr_wrong, total, total_lost, lost_by_cause[NR_CAUSES], packets, parts;
static struct {
	uint32_t pid;
	uint64_t lost, begun, done, recorded, repeated, spare;
} process[65536]; /* indexed by the low bits of the pid; pids are below 32768 in tests */

static void wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *fmt, ...)
{
	va_list args;

	if (++nr_wrong > 30)
		return;
	va_start(args, fmt);
	fputs("check: ", stdout);
	vprintf(fmt, args);
	putchar('\n');
	va_end(args);
}

static void fatal(const char *what, const char *about)
{
	printf("check: %s: %s\n", what, about);
	exit(1);
}

/* --- metadata ----------------------------------------------------------- */

static unsigned scalar_bytes(const char *name)
{
	const char *digits = name + 4; /* wm_u4 */

	if (!strcmp(name, "wm_clock"))
		return 8;
	if (!strcmp(name, "wm_clock_low"))
		return 6;
	if (strncmp(name, "wm_", 3) || strlen(name) != 5)
		fatal("metadata: unknown type", name);
	return (unsigned)atoi(digits);
}

static void add_field(struct fields *f, char *line)
{
	struct field *n = &f->at[f->count];
	char type[64] = "", *p, *bracket;
	int used = 0;

	if (f->count == FIELDS_MAX)
		fatal("metadata", "too many fields");
	while (*line == '\t' || *line == ' ')
		line++;
	if (!strncmp(line, "enum : ", 7)) {
		sscanf(line + 7, "%63s", type);
		p = strrchr(line, '}');
		p += 2;
	} else {
		if (sscanf(line, "%63s %n", type, &used) != 1)
			return;
		p = line + used;
	}
	p[strcspn(p, ";")] = 0;
	bracket = strchr(p, '[');
	if (bracket)
		*bracket++ = 0;
	snprintf(n->name, sizeof(n->name), "%s", p);
	n->shape = SCALAR;
	if (!strcmp(type, "string")) {
		n->shape = STRING;
	} else {
		n->bytes = scalar_bytes(type);
		if (bracket) {
			bracket[strcspn(bracket, "]")] = 0;
			n->shape = ARRAY;
			n->length = (unsigned)atoi(bracket);
			for (unsigned i = 0; i < f->count; i++)
				if (!strcmp(f->at[i].name, bracket)) {
					n->shape = SEQUENCE;
					n->of = i;
				}
		}
	}
	f->count++;
}

static void set_uuid(const char *text)
{
	unsigned k = 0;

	for (; *text && *text != '"' && k < 32; text++) {
		int v = *text >= 'a' ? *text - 'a' + 10 : *text - '0';
		if (*text == '-')
			continue;
		uuid[k / 2] = (unsigned char)(uuid[k / 2] << 4 | v);
		k++;
	}
}

static void end_event(struct event *e)
{
	static const char *const names[] = {"",
					    "torture:fixed",
					    "torture:text",
					    "torture:bytes",
					    "waymark:lost",
					    "waymark:process_end"};

	for (unsigned i = 1; i < 6; i++)
		if (!strcmp(e->name, names[i]))
			e->what = i;
	if (e->stream >= STREAMS_MAX || e->id > 65535)
		fatal("metadata: an id out of range", e->name);
	if (by_id[e->stream][e->id])
		fatal("metadata: an id twice", e->name);
	by_id[e->stream][e->id] = ++nr_events;
}

static void read_metadata(const char *dir)
{
	char path[4096], line[16384], in[32] = "";
	struct event *e = NULL;
	struct fields *f = NULL, scratch;
	unsigned stream = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	file = fopen(path, "r");
	if (!file || !fgets(line, sizeof(line), file) || strcmp(line, "/* CTF 1.8 */\n"))
		fatal(path, "no CTF 1.8 metadata");
	while (fgets(line, sizeof(line), file)) {
		char *p = line + strspn(line, "\t ");
		if (line[0] != '\t' && strchr(line, '{')) {
			sscanf(line, "%31s", in);
			if (!strcmp(in, "event")) {
				if (nr_events == EVENTS_MAX)
					fatal("metadata", "too many events");
				e = &events[nr_events];
			}
		} else if (line[0] == '}') {
			if (!strcmp(in, "event"))
				end_event(e);
			in[0] = 0;
		} else if (f && p[0] == '}') {
			f = NULL;
		} else if (f) {
			add_field(f, p);
		} else if (!strcmp(in, "trace") && !strncmp(p, "uuid = \"", 8)) {
			set_uuid(p + 8);
		} else if (!strcmp(in, "stream") && !strncmp(p, "id = ", 5)) {
			stream = (unsigned)atoi(p + 5);
			if (stream >= STREAMS_MAX)
				fatal("metadata", "too many streams");
			stream_known[stream] = true;
		} else if (!strncmp(p, "packet.context :=", 17)) {
			f = &packet_context[stream];
		} else if (!strncmp(p, "event.context :=", 16)) {
			f = &event_context[stream];
		} else if (!strncmp(p, "event.header :=", 15) ||
			   !strncmp(p, "packet.header :=", 16)) {
			scratch.count = 0;
			f = &scratch;
		} else if (!strcmp(in, "event")) {
			if (!strncmp(p, "name = ", 7))
				sscanf(p, "name = \"%127[^\"]", e->name);
			else if (!strncmp(p, "id = ", 5))
				e->id = (unsigned)atoi(p + 5);
			else if (!strncmp(p, "stream_id = ", 12))
				e->stream = (unsigned)atoi(p + 12);
			else if (!strncmp(p, "context :=", 10))
				f = &e->context;
			else if (!strncmp(p, "fields :=", 9))
				f = &e->payload;
		}
	}
	fclose(file);
}

/* --- data ----------------------------------------------------------------- */

struct cursor {
	const unsigned char *at, *end;
	bool failed;
};

static uint64_t take(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	if (bytes > 8 || (size_t)(c->end - c->at) < bytes) {
		c->failed = true;
		return 0;
	}
	memcpy(&v, c->at, bytes);
	c->at += bytes;
	return v;
}

struct value {
	uint64_t number;
	const unsigned char *bytes;
	uint64_t count;
};

static void decode(struct cursor *c, const struct fields *f, struct value *v)
{
	for (unsigned i = 0; i < f->count && !c->failed; i++) {
		const struct field *d = &f->at[i];
		v[i].bytes = c->at;
		if (d->shape == SCALAR) {
			v[i].number = take(c, d->bytes);
			continue;
		}
		if (d->shape == STRING) {
			const unsigned char *nul = memchr(c->at, 0, (size_t)(c->end - c->at));
			if (!nul)
				c->failed = true;
			else
				c->at = nul + 1;
			continue;
		}
		v[i].count = d->shape == ARRAY ? d->length : v[d->of].number;
		if (v[i].count * d->bytes > (uint64_t)(c->end - c->at))
			c->failed = true;
		else
			c->at += v[i].count * d->bytes;
	}
}

static void account(uint32_t pid, uint64_t who, uint64_t n, const char *file)
{
	if (who >= TORTURE_SLOTS || who >= tally->next) {
		wrong("%s: an event of writer %llu, which does not exist", file,
		      (unsigned long long)who);
		return;
	}
	if (tally->slot[who].pid != pid && (tally->slot[who].flags & TORTURE_SHARED)) {
		process[pid & 65535].repeated++;
		return;
	}
	if (tally->slot[who].pid != pid)
		wrong("%s: an event of writer %llu (pid %u) in a packet of pid %u", file,
		      (unsigned long long)who, tally->slot[who].pid, pid);
	if (n >= tally->slot[who].begun) {
		wrong("%s: event %llu of writer %llu, which has begun only %llu", file,
		      (unsigned long long)n, (unsigned long long)who,
		      (unsigned long long)tally->slot[who].begun);
		return;
	}
	if (!seen[who])
		seen[who] = calloc(1, tally->slot[who].begun / 8 + 1);
	if (seen[who][n / 8] >> (n % 8) & 1)
		wrong("%s: event %llu of writer %llu twice", file, (unsigned long long)n,
		      (unsigned long long)who);
	seen[who][n / 8] |= (uint8_t)(1u << (n % 8));
	recorded[who]++;
	total++;
}

static void on_lost(uint32_t pid, uint64_t cause, uint64_t count)
{
	lost_by_cause[cause < 8 ? cause : 8] += count;
	process[pid & 65535].lost += count;
	total_lost += count;
}

static void check_values(const struct event *e, const struct value *v, uint32_t pid,
			 const char *file)
{
	uint64_t who = v[0].number, n = v[1].number;
	char text[96];
	bool good = true;

	switch (e->what) {
	case FIXED:
		good = v[2].number == (uint32_t)n * 2654435761u;
		break;
	case TEXT:
		good = !strcmp((const char *)v[2].bytes, torture_string(text, n)) &&
		       v[3].number == 0xbeef;
		break;
	case BYTES:
		good = v[3].count == n % 41 && v[4].number == 0xab;
		for (unsigned i = 0; good && i < v[3].count; i++)
			good = v[3].bytes[2 * i] == (uint8_t)(n + i) &&
			       v[3].bytes[2 * i + 1] == (uint8_t)((n + i) >> 8);
		break;
	case LOST:
		on_lost((uint32_t)v[0].number, v[3].number, v[4].number);
		return;
	default:
		return;
	}
	if (!good)
		wrong("%s: %s %llu of writer %llu has wrong field values", file, e->name,
		      (unsigned long long)n, (unsigned long long)who);
	account(pid, who, n, file);
}

struct packet {
	uint64_t begin, end, content, size, seq, discarded, count;
	uint32_t pid;
};

static uint64_t full_time(uint64_t low, uint64_t before)
{
	uint64_t t = (before & ~0xffffffffffffull) | low;

	return t < before ? t + (1ull << 48) : t;
}

static void read_records(struct cursor c, const unsigned char *packet, unsigned stream,
			 const struct packet *p, const char *file)
{
	struct value v[FIELDS_MAX];
	uint64_t n = 0, now = p->begin;

	while (c.at < c.end && !c.failed) {
		uint64_t id = take(&c, 2), time = full_time(take(&c, 6), now);
		uint32_t pid = p->pid;
		const struct event *e;
		if (time > p->end)
			wrong("%s: a record's time is outside of its packet, or decreases", file);
		now = time;
		if (c.failed || !by_id[stream][id]) {
			wrong("%s: a record with id %llu, which is not declared", file,
			      (unsigned long long)id);
			return;
		}
		e = &events[by_id[stream][id] - 1];
		if (event_context[stream].count) {
			decode(&c, &event_context[stream], v);
			pid = (uint32_t)v[0].number;
		}
		decode(&c, &e->context, v);
		decode(&c, &e->payload, v);
		if (c.failed)
			break;
		check_values(e, v, pid, file);
		c.at = packet + (((size_t)(c.at - packet) + 7) & ~(size_t)7);
		n++;
	}
	if (c.failed || (size_t)(c.at - c.end) >= 8) /* the last record of a packet is not padded */
		wrong("%s: a record does not end where its packet does", file);
	if (n != p->count)
		wrong("%s: a packet declares %llu records and contains %llu", file,
		      (unsigned long long)p->count, (unsigned long long)n);
}

static void take_packet_context(struct cursor *c, unsigned stream, struct packet *p)
{
	const struct fields *f = &packet_context[stream];
	struct value v[FIELDS_MAX];

	*p = (struct packet){0};
	decode(c, f, v);
	for (unsigned i = 0; i < f->count; i++) {
		const char *name = f->at[i].name;
		if (!strcmp(name, "timestamp_begin"))
			p->begin = v[i].number;
		else if (!strcmp(name, "timestamp_end"))
			p->end = v[i].number;
		else if (!strcmp(name, "content_size"))
			p->content = v[i].number / 8;
		else if (!strcmp(name, "packet_size"))
			p->size = v[i].number / 8;
		else if (!strcmp(name, "packet_seq_num"))
			p->seq = v[i].number;
		else if (!strcmp(name, "events_discarded"))
			p->discarded = v[i].number;
		else if (!strcmp(name, "event_count"))
			p->count = v[i].number;
		else if (!strcmp(name, "pid"))
			p->pid = (uint32_t)v[i].number;
	}
}

static bool hostile(uint32_t pid)
{
	for (uint32_t who = 0; pid && who < tally->next; who++)
		if (tally->slot[who].pid == pid && (tally->slot[who].flags & TORTURE_HOSTILE))
			return true;
	return false;
}

static bool take_packet_header(struct cursor *c, uint32_t *ret_stream)
{
	uint32_t magic = (uint32_t)take(c, 4);
	bool same = c->end - c->at >= 16 && !memcmp(c->at, uuid, 16);

	if (same)
		c->at += 16;
	*ret_stream = (uint32_t)take(c, 4);
	(void)take(c, 8);
	return !c->failed && magic == MAGIC && same && *ret_stream < STREAMS_MAX &&
	       stream_known[*ret_stream];
}

/* Whether the data is the beginning of a packet, left by a write that a kill interrupted. */
static bool is_part(const unsigned char *data, size_t bytes)
{
	struct cursor c = {data, data + bytes, false};
	struct packet p;
	uint32_t stream;

	if (bytes < HEADER_BYTES)
		return bytes < 4 || take(&c, 4) == MAGIC;
	if (!take_packet_header(&c, &stream))
		return false;
	take_packet_context(&c, stream, &p);
	return c.failed || p.size > bytes;
}

static void read_stream(const char *file, const unsigned char *data, size_t bytes)
{
	struct packet p, last = {0};
	uint64_t seq = 0;

	for (size_t at = 0; at < bytes; at += p.size, seq++) {
		struct cursor c = {data + at, data + bytes, false};
		uint32_t stream;
		if (strchr(kinds, 'c') && is_part(data + at, bytes - at)) {
			parts++;
			return;
		}
		if (!take_packet_header(&c, &stream)) {
			wrong("%s: no packet at %zu", file, at);
			return;
		}
		take_packet_context(&c, stream, &p);
		if (c.failed || p.size > bytes - at || p.content > p.size ||
		    p.content < (size_t)(c.at - data - at)) {
			wrong("%s: the packet at %zu does not fit", file, at);
			return;
		}
		if (p.seq != seq)
			wrong("%s: packet %llu where %llu should be", file,
			      (unsigned long long)p.seq, (unsigned long long)seq);
		if (p.begin > p.end || p.begin < last.end)
			wrong("%s: packets out of order at %zu", file, at);
		if (p.discarded < last.discarded)
			wrong("%s: fewer events are lost at %zu than before", file, at);
		c.end = data + at + p.content;
		if (!hostile(p.pid))
			read_records(c, data + at, stream, &p, file);
		last = p;
		packets++;
	}
}

static void read_data(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[4096];
		struct stat st;
		void *map;
		int fd;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "metadata") || stat(path, &st) ||
		    !S_ISREG(st.st_mode) || !st.st_size)
			continue;
		fd = open(path, O_RDONLY);
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			fatal("cannot read", path);
		read_stream(e->d_name, map, (size_t)st.st_size);
		munmap(map, (size_t)st.st_size);
		close(fd);
	}
	if (d)
		closedir(d);
}

/* --- verdict -------------------------------------------------------------- */

static bool has(uint32_t who, uint64_t n)
{
	return seen[who] && seen[who][n / 8] >> (n % 8) & 1;
}

static void check_window(uint32_t who)
{
	uint64_t first = 0, n;

	while (first < tally->slot[who].begun && !has(who, first))
		first++;
	for (n = first; n < tally->slot[who].begun && has(who, n); n++)
		;
	if (n - first != recorded[who])
		wrong("writer %u (pid %u): event %llu is missing between others", who,
		      tally->slot[who].pid, (unsigned long long)n);
}

static void check_slot(uint32_t who)
{
	const struct torture_slot *s = &tally->slot[who];
	uint64_t done = s->done, begun = s->begun, m = recorded[who];
	uint32_t flags = s->flags;

	if (s->kind && !strchr(kinds, (int)s->kind)) {
		flags = TORTURE_UNSEEN;
		done = begun = 0;
	}
	if (flags & TORTURE_HOSTILE)
		return;
	if (flags & TORTURE_UNCOUNTED)
		done = 0;
	process[s->pid & 65535].done += done;
	process[s->pid & 65535].begun += begun;
	process[s->pid & 65535].recorded += m;
	process[s->pid & 65535].spare += s->spare;
	process[s->pid & 65535].pid = s->pid;
	if ((flags & TORTURE_UNSEEN) && m)
		wrong("writer %u (pid %u): %llu events, but none may be recorded", who, s->pid,
		      (unsigned long long)m);
	if (!(flags & TORTURE_LOSSLESS))
		return;
	if (strchr(kinds, 'p')) {
		check_window(who);
		return;
	}
	if (m < done || m > begun)
		wrong("writer %u (pid %u): %llu events recorded of %llu done, %llu begun", who,
		      s->pid, (unsigned long long)m, (unsigned long long)done,
		      (unsigned long long)begun);
	for (uint64_t n = 0; n < (strchr(kinds, 'd') ? done : m); n++)
		if (!has(who, n)) {
			wrong(
			    "writer %u (pid %u): event %llu is missing, but later ones are present",
			    who, s->pid, (unsigned long long)n);
			break;
		}
}

static void check_processes(void)
{
	for (unsigned i = 0; i < 65536; i++) {
		uint64_t sum = process[i].recorded + process[i].lost;
		if (!process[i].pid || hostile(process[i].pid))
			continue;
		if (sum < process[i].done ||
		    sum + process[i].repeated > process[i].begun + process[i].spare)
			wrong("pid %u: done %llu <= recorded %llu + lost %llu <= begun %llu does "
			      "not hold",
			      process[i].pid, (unsigned long long)process[i].done,
			      (unsigned long long)process[i].recorded,
			      (unsigned long long)process[i].lost,
			      (unsigned long long)process[i].begun);
	}
}

int main(int argc, char **argv)
{
	static const char *const cause[NR_CAUSES] = {
	    "full", "too_big", "nested", "overwritten", "torn", "early", "disk", "net", "unknown"};
	uint64_t begun = 0, done = 0, due = 0;

	if (argc < 3)
		fatal("usage", "check TRACE-DIR TALLY [KINDS]");
	if (argc > 3)
		kinds = argv[3];
	setenv("TORTURE_TALLY", argv[2], 1);
	tally = torture_map();
	events = calloc(EVENTS_MAX, sizeof(*events));
	seen = calloc(TORTURE_SLOTS, sizeof(*seen));
	read_metadata(argv[1]);
	read_data(argv[1]);
	for (uint32_t who = 0; who < tally->next; who++) {
		check_slot(who);
		begun += tally->slot[who].begun;
		done += tally->slot[who].done;
		due += tally->slot[who].due;
	}
	if (!strchr(kinds, 'p') && !strchr(kinds, 'l'))
		check_processes();
	printf("check: %u writers, %llu done, %llu begun, %llu recorded in %llu packets, %llu lost",
	       tally->next, (unsigned long long)done, (unsigned long long)begun,
	       (unsigned long long)total, (unsigned long long)packets,
	       (unsigned long long)total_lost);
	for (unsigned i = 0; i < NR_CAUSES; i++)
		if (lost_by_cause[i])
			printf(", %s %llu", cause[i], (unsigned long long)lost_by_cause[i]);
	if (strchr(kinds, 'c'))
		printf(", %llu due, %llu parts of packets", (unsigned long long)due,
		       (unsigned long long)parts);
	putchar('\n');
	if (nr_wrong)
		printf("check: errors: %llu\n", (unsigned long long)nr_wrong);
	return nr_wrong != 0;
}
