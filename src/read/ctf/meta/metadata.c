/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - prepares a metadata file for the parsers: detects its language, and extracts the
 * text from metadata packets (as written by LTTng).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "read/ctf/meta/ctf2_parse.h"
#include "read/ctf/meta/tsdl_parse.h"
#include "read/ctf/meta/type.h"

#define METADATA_MAGIC        0x75d11d57u
#define METADATA_HEADER_BYTES 37u
#define METADATA_PMETA_BYTES  44u
#define RECORD_SEPARATOR      0x1e

static const char signature[] = "/* CTF 1.8";

static uint32_t load32(const char *at, bool big)
{
	const unsigned char *b = (const unsigned char *)at;

	return big ? (uint32_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]
		   : (uint32_t)b[3] << 24 | b[2] << 16 | b[1] << 8 | b[0];
}

/*
 * After the fields of CTF 1.8, the header of CTF2-PMETA-1.0 has three reserved bytes and its own
 * size in bits. LTTng wraps CTF 2 in CTF 1.8 packets.
 */
static uint32_t header_bytes(const char *head, size_t bytes, bool big)
{
	bool is_pmeta = bytes >= METADATA_PMETA_BYTES && head[35] == 2 &&
			load32(head + 40, big) == 8 * METADATA_PMETA_BYTES;

	return is_pmeta ? METADATA_PMETA_BYTES : METADATA_HEADER_BYTES;
}

/*
 * Extracts the text of one metadata packet. Its layout: u32 magic, uuid, u32 checksum, u32 content
 * bits, u32 packet bits, u8 compression, encryption, checksum scheme, major, minor, text.
 */
static int unwrap_one(const char *where, const char *text, size_t bytes, size_t at, bool big,
		      char *out, size_t *out_bytes, struct wm_diag *diag)
{
	const char *head = text + at;
	uint32_t content, packet, header;

	if (bytes - at < METADATA_HEADER_BYTES || load32(head, big) != METADATA_MAGIC)
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)at, "not a metadata packet");
	content = load32(head + 24, big) / 8;
	packet = load32(head + 28, big) / 8;
	if (packet > bytes - at)
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)at,
				   "a metadata packet claims %u bytes, %zu are left in the file",
				   packet, bytes - at);
	header = header_bytes(head, bytes - at, big);
	if (content < header || packet < content)
		return wm_diag_set(diag, -EBADMSG, where, (int64_t)at,
				   "a metadata packet of %u bytes claims that %u of them are "
				   "used; its header alone has %u",
				   packet, content, header);
	if (head[32] || head[33] || head[34])
		return wm_diag_set(
		    diag, -EBADMSG, where, (int64_t)at + 32,
		    "compressed, encrypted or checksummed metadata, which is not supported");
	content -= header;
	memcpy(out + *out_bytes, head + header, content);
	*out_bytes += content;
	return (int)packet;
}

static int metadata_unwrap(const char *where, const char *text, size_t bytes, bool big, char **ret,
			   size_t *ret_bytes, struct wm_diag *diag)
{
	char *out = malloc(bytes);
	size_t at = 0, n = 0;

	if (!out)
		return -ENOMEM;
	while (at < bytes) {
		int packet = unwrap_one(where, text, bytes, at, big, out, &n, diag);

		if (packet < 0) {
			free(out);
			return packet;
		}
		at += (size_t)packet;
	}
	*ret = out;
	*ret_bytes = n;
	return 0;
}

static int parse_text(struct wm_ctf_metadata *m, const char *where, const char *text, size_t bytes,
		      bool packets, struct wm_diag *diag)
{
	if (bytes && (text[0] == RECORD_SEPARATOR || text[0] == '{'))
		return wm_ctf2_parse(m, where, text, bytes, diag);
	if (!packets &&
	    (bytes < sizeof(signature) - 1 || memcmp(text, signature, sizeof(signature) - 1) != 0))
		return wm_diag_set(diag, -EBADMSG, where, 0,
				   "does not begin like CTF 1.8 (\"/* CTF 1.8 */\") or CTF 2");
	m->major = 1;
	m->minor = 8;
	return wm_tsdl_parse(m, where, text, bytes, 0, diag);
}

/* Returns whether the part before the damage suffices to decode some streams. */
static bool worth_keeping(const struct wm_ctf_metadata *m)
{
	return m->packet_header && m->nr_streams && m->nr_clocks;
}

/* Sets the offset of line diag->line; 0 when the message is about the whole file. */
static void metadata_find_place(const char *text, size_t bytes, struct wm_diag *diag)
{
	const char *at = text;

	if (diag->offset >= 0)
		return;
	for (uint32_t line = 1; line < diag->line && at < text + bytes; line++) {
		at = memchr(at, '\n', (size_t)(text + bytes - at));
		at = at ? at + 1 : text + bytes;
	}
	diag->offset = at - text;
}

static bool is_signed_text(const char *text, size_t bytes)
{
	return (bytes && (*text == RECORD_SEPARATOR || *text == '{')) ||
	       (bytes >= sizeof(signature) - 1 && !memcmp(text, signature, sizeof(signature) - 1));
}

int wm_ctf_metadata_text(const char *where, const char *text, size_t bytes, char **ret,
			 size_t *ret_bytes, struct wm_diag *diag)
{
	static const char line[] = "/* CTF 1.8 */\n";
	bool little = bytes >= 4 && load32(text, false) == METADATA_MAGIC;
	bool big = bytes >= 4 && load32(text, true) == METADATA_MAGIC;
	char *unwrapped = NULL, *copy;
	size_t head = 0;
	int err = 0;

	if (little || big)
		err = metadata_unwrap(where, text, bytes, big, &unwrapped, &bytes, diag);
	if (err)
		return err;
	text = unwrapped ? unwrapped : text;
	if (unwrapped && !is_signed_text(text, bytes))
		head = sizeof(line) - 1;
	copy = malloc(head + bytes + 1);
	if (copy) {
		memcpy(copy, line, head);
		memcpy(copy + head, text, bytes);
		*ret = copy;
		*ret_bytes = head + bytes;
	}
	free(unwrapped);
	return copy ? 0 : -ENOMEM;
}

static int metadata_parse(struct wm_ctf_metadata *m, const char *where, const char *text,
			  size_t bytes, struct wm_diag *ret_damage, struct wm_diag *diag)
{
	bool little = bytes >= 4 && load32(text, false) == METADATA_MAGIC;
	bool big = bytes >= 4 && load32(text, true) == METADATA_MAGIC;
	char *unwrapped = NULL;
	int err = 0;

	if (bytes > WM_CTF_METADATA_MAX)
		return wm_diag_set(diag, -E2BIG, where, -1, "metadata of more than %u bytes",
				   WM_CTF_METADATA_MAX);
	if (little || big) {
		err = metadata_unwrap(where, text, bytes, big, &unwrapped, &bytes, diag);
		text = unwrapped;
		m->order = big ? WM_CTF_BIG : WM_CTF_LITTLE;
	}
	if (!err)
		err = parse_text(m, where, text, bytes, unwrapped != NULL, diag);
	if (err == -EBADMSG && ret_damage && worth_keeping(m)) {
		*ret_damage = *diag;
		err = 0;
	}
	if (!err && (m->order == WM_CTF_NATIVE && m->major == 1))
		err = wm_diag_set(diag, -EBADMSG, where, 0, "no byte_order in a trace block");
	if (!err)
		err = wm_ctf_check(m, diag);
	if (err && text)
		metadata_find_place(text, bytes, diag);
	free(unwrapped);
	return err;
}

int wm_ctf_metadata_parse(const char *where, const char *text, size_t bytes,
			  struct wm_ctf_metadata **ret, struct wm_diag *ret_damage,
			  struct wm_diag *diag)
{
	struct wm_ctf_metadata *m = wm_ctf_metadata_create();
	struct wm_diag own = {.offset = -1};
	int err;

	if (!m)
		return -ENOMEM;
	if (!diag)
		diag = &own;
	*diag = (struct wm_diag){.where = where, .offset = -1};
	if (ret_damage)
		*ret_damage = *diag;
	err = metadata_parse(m, where, text, bytes, ret_damage, diag);
	if (err) {
		wm_ctf_metadata_destroy(m);
		return err;
	}
	*ret = m;
	return 0;
}
