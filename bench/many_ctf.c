/* SPDX-License-Identifier: MIT */
/*
 * many_ctf.c - bench-many-ctf DIR STREAMS CLASSES EVENTS: writes a trace in CTF 1.8 with that many
 * streams, one file each, and event classes of one to eight fields of six kinds. Successive events
 * are in different streams, so that a reader must merge all of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC        0xc1fc1fc1u
#define PACKET_BYTES 65536u
#define EVENT_MAX    512u
#define HEAD_BYTES   (4 + 4 + 8 * 4)

/* One packet of a stream, while it is filled. */
struct packet {
	uint64_t begin, end;
	size_t bytes; /* 0: empty */
	unsigned char data[PACKET_BYTES];
};

static const struct {
	const char *declaration;
	uint32_t bytes; /* 0: a string */
} kinds[] = {
    {"uint32_t", 4}, {"int64_t", 8}, {"hex64_t", 8}, {"string", 0}, {"uint8_t", 1}, {"mode_t", 1},
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const char metadata_head[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = 16; } := hex64_t;\n"
    "typealias enum : uint8_t { idle = 0, busy = 1, waiting = 2 ... 9, other = 10 ... 255 } := "
    "mode_t;\n"
    "trace { major = 1; minor = 8; byte_order = le;\n"
    "\tpacket.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
    "clock { name = bench; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.bench.value; } := "
    "time_t;\n"
    "stream { id = 0;\n"
    "\tpacket.context := struct { time_t timestamp_begin; time_t timestamp_end;\n"
    "\t\tuint64_t content_size; uint64_t packet_size; };\n"
    "\tevent.header := struct { uint16_t id; time_t timestamp; };\n"
    "};\n";

static void fail(const char *what)
{
	fprintf(stderr, "bench-many-ctf: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t nr_fields(uint32_t class)
{
	return 1 + class % 8;
}

static uint32_t kind_of(uint32_t class, uint32_t field)
{
	return (class * 7 + field) % NR_KINDS;
}

static void write_metadata(const char *dir, uint32_t nr_classes)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	f = fopen(path, "we");
	if (!f)
		fail(path);
	fputs(metadata_head, f);
	for (uint32_t c = 0; c < nr_classes; c++) {
		fprintf(f,
			"event { name = \"part_%" PRIu32 ":event_%" PRIu32 "\"; id = %" PRIu32
			"; stream_id = 0; fields := struct {",
			c % 37, c, c);
		for (uint32_t k = 0; k < nr_fields(c); k++)
			fprintf(f, " %s field_%" PRIu32 ";", kinds[kind_of(c, k)].declaration, k);
		fputs(" }; };\n", f);
	}
	if (fclose(f))
		fail(path);
}

static void many_put(struct packet *p, const void *data, size_t bytes)
{
	memcpy(p->data + p->bytes, data, bytes);
	p->bytes += bytes;
}

static void put_word(struct packet *p, uint64_t value, uint32_t bytes)
{
	many_put(p, &value, bytes); /* little endian, as the metadata says */
}

static void put_event(struct packet *p, uint32_t class, uint64_t ns, uint64_t random)
{
	char text[32];

	put_word(p, class, 2);
	put_word(p, ns, 8);
	for (uint32_t k = 0; k < nr_fields(class); k++, random = random >> 7 | random << 57) {
		uint32_t bytes = kinds[kind_of(class, k)].bytes;

		if (bytes) {
			put_word(p, random >> 20, bytes);
			continue;
		}
		snprintf(text, sizeof(text), "name %" PRIu64, random >> 48);
		many_put(p, text, strlen(text) + 1);
	}
}

static void begin_packet(struct packet *p, uint64_t ns)
{
	p->begin = ns;
	p->bytes = 0;
	put_word(p, MAGIC, 4);
	put_word(p, 0, 4);
	p->bytes = HEAD_BYTES; /* the rest is known at the end */
}

static void end_packet(struct packet *p, const char *dir, uint32_t stream)
{
	const uint64_t context[] = {p->begin, p->end, p->bytes * 8, p->bytes * 8};
	char path[4096];
	FILE *f;

	memcpy(p->data + 8, context, sizeof(context));
	snprintf(path, sizeof(path), "%s/stream_%04" PRIu32, dir, stream);
	f = fopen(path, "ae"); /* not kept open: there may be more streams than descriptors */
	if (!f || fwrite(p->data, p->bytes, 1, f) != 1 || fclose(f))
		fail(path);
	p->bytes = 0;
}

int main(int argc, char **argv)
{
	uint32_t nr_streams = argc > 4 ? (uint32_t)atoi(argv[2]) : 0, nr_classes;
	struct packet *packets = calloc(nr_streams, sizeof(*packets));
	uint64_t state = 1, ns = 1000000000;

	if (!packets || !nr_streams || mkdir(argv[1], 0755))
		fail(argc > 4 ? argv[1] : "usage: DIR STREAMS CLASSES EVENTS");
	nr_classes = (uint32_t)atoi(argv[3]);
	write_metadata(argv[1], nr_classes);
	for (long i = atol(argv[4]); i > 0; i--) {
		struct packet *p;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		p = &packets[(state >> 33) % nr_streams];
		ns += 1 + (state >> 50) % 1000;
		if (p->bytes > PACKET_BYTES - EVENT_MAX)
			end_packet(p, argv[1], (uint32_t)(p - packets));
		if (!p->bytes)
			begin_packet(p, ns);
		p->end = ns;
		put_event(p, (uint32_t)(state >> 40) % nr_classes, ns, state);
	}
	for (uint32_t s = 0; s < nr_streams; s++)
		if (packets[s].bytes)
			end_packet(&packets[s], argv[1], s);
	free(packets);
	return 0;
}
