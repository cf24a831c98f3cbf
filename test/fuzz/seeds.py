#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py DIR - small sound traces of other tracers' formats, to be damaged.

DIR/ctf-1.8/NAME/, DIR/ctf-2/NAME/, DIR/perf.data/NAME and DIR/ftrace/NAME: every kind of field,
both byte orders, every usual event header, several packets, losses; perf.data in
file and pipe form with every record of the kernel that matters. All is written
here; nothing comes from a recording.
"""
import pathlib
import struct
import sys

UUID = bytes(range(1, 17))
UUID_TEXT = "01020304-0506-0708-090a-0b0c0d0e0f10"
START = 1000000


def u(order, width, value):
    return (value & (1 << 8 * width) - 1).to_bytes(width, order)


def align(data, to):
    return data + bytes(-len(data) % to)


# --- CTF 1.8 ------------------------------------------------------------------------

TSDL_TYPES = """
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 16; align = 8; signed = false; } := u16;
typealias integer { size = 32; align = 8; signed = false; } := u32;
typealias integer { size = 32; align = 8; signed = true; } := s32;
typealias integer { size = 64; align = 8; signed = false; } := u64;
typealias integer { size = 64; align = 8; signed = false; map = clock.mono.value; } := ts64;
typealias integer { size = 27; align = 1; signed = false; map = clock.mono.value; } := ts27;
"""

TSDL_TRACE = """
trace {
	major = 1; minor = 8; uuid = "%s"; byte_order = %s;
	packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; };
};
env { hostname = "here"; domain = "kernel"; tracer_name = "by hand"; tracer_major = 1; };
clock { name = mono; freq = 1000000000; offset_s = 1600000000; offset = 5; };
"""

TSDL_COMPACT = """
	event.header := struct {
		enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
		variant <id> {
			struct { ts27 timestamp; } compact;
			struct { u32 id; ts64 timestamp; } align(8) extended;
		} v;
	} align(8);
"""

TSDL_LARGE = """
	event.header := struct {
		enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
		variant <id> {
			struct { integer { size = 32; align = 8; map = clock.mono.value; } timestamp; } compact;
			struct { u32 id; ts64 timestamp; } extended;
		} v;
	} align(8);
"""

TSDL_PLAIN = """
	event.header := struct { u16 id; ts64 timestamp; };
"""

TSDL_STREAM = """
stream {
	id = 7;
	packet.context := struct {
		ts64 timestamp_begin; ts64 timestamp_end; u64 content_size; u64 packet_size;
		u32 events_discarded; u32 cpu_id; u64 packet_seq_num;
	};
%s	event.context := struct { s32 _vpid; integer { size = 8; align = 8; encoding = UTF8; } _comm[4]; };
};
event { name = "hand:numbers"; id = 0; stream_id = 7; loglevel = 6;
	fields := struct {
		u8 _a; u16 _b; s32 _c; integer { size = 64; align = 8; base = 16; } _d;
		floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _f;
		floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _g;
	};
};
event { name = "hand:text"; id = 1; stream_id = 7;
	context := struct { u32 _extra; };
	fields := struct { string _s; u8 _len; u16 _list[_len]; u8 __n_length; u8 _fixed[3]; };
};
event { name = "hand:shapes"; id = 2; stream_id = 7;
	fields := struct {
		enum : u8 { "one" = 1, "few" = 2 ... 5, "many" } _tag;
		variant <_tag> { u8 one; struct { u8 x; u16 y; } few; string many; } _choice;
		struct { integer { size = 3; align = 1; } p; integer { size = 5; align = 1; signed = true; } q; } _bits[2];
	} align(8);
};
"""


def compact_header(order, ident, time):
    if ident < 31:
        low = time & (1 << 27) - 1
        word = low << 5 | ident if order == "little" else ident << 27 | low
        return u(order, 4, word)
    return (b"\x1f" if order == "little" else b"\xf8") + u(order, 4, ident) + u(order, 8, time)


def large_header(order, ident, time):
    return u(order, 2, ident) + u(order, 4, time)


def plain_header(order, ident, time):
    return u(order, 2, ident) + u(order, 8, time)


def ctf1_events(order, header, first, count):
    out, code = b"", "<" if order == "little" else ">"
    for i in range(count):
        time = START + 100 * (first + i)
        kind = i % 3
        out += header(order, kind, time) + u(order, 4, 42) + b"app\0"
        if kind == 0:
            out += struct.pack(code + "BHiQfd", i, 1000 + i, -i, 1 << 40 | i, 0.5 * i, -2.25 * i)
        elif kind == 1:
            text = b"word %d\0" % i
            out += u(order, 4, 9) + text + bytes([2]) + u(order, 2, i) + u(order, 2, 7)
            out += b"\0" + b"abc"
        else:
            tag = 1 + i % 6
            body = b"\x05" if tag == 1 else b"\x01\x02\x03" if tag < 6 else b"rest\0"
            out += bytes([tag]) + body + b"\xa5\x5a"
    return out


def ctf1_packet(order, header, seq, first, count, lost):
    events = ctf1_events(order, header, first, count)
    head = u(order, 4, 0xC1FC1FC1) + UUID + u(order, 4, 7)
    room = len(head) + 8 * 4 + 4 * 2 + 8
    content = room + len(events)
    packet = (content + 63) // 64 * 64
    context = b"".join(u(order, 8, v) for v in (START + 100 * first, START + 100 * (first + count - 1),
                                               8 * content, 8 * packet))
    context += u(order, 4, lost) + u(order, 4, 1) + u(order, 8, seq)
    return align(head + context + events, 64)


def ctf1(where, order, header, text, wrapped=False):
    where.mkdir(parents=True)
    code = "le" if order == "little" else "be"
    tsdl = "/* CTF 1.8 */\n" + TSDL_TYPES + TSDL_TRACE % (UUID_TEXT, code) + TSDL_STREAM % text
    data = tsdl.encode()
    if wrapped:
        data = b"".join(metadata_packet(order, data[i:i + 900]) for i in range(0, len(data), 900))
    (where / "metadata").write_bytes(data)
    packets = [ctf1_packet(order, header, s, 12 * s, 12, 3 if s > 1 else 0) for s in range(4)]
    (where / "stream_0").write_bytes(b"".join(packets))
    (where / "stream_1").write_bytes(ctf1_packet(order, header, 0, 5, 6, 0))


def metadata_packet(order, text):
    bits = 8 * (37 + len(text))
    return (u(order, 4, 0x75D11D57) + UUID + u(order, 4, 0) + u(order, 4, bits) + u(order, 4, bits) +
            bytes([0, 0, 0, 1, 8]) + text)


# --- CTF 2 --------------------------------------------------------------------------

def integer(width, more="", kind="unsigned", order="little-endian"):
    return ('{"type":"fixed-length-%s-integer","length":%d,"byte-order":"%s","alignment":8%s}'
            % (kind, width, order, more))


def structure(*members):
    return ('{"type":"structure","member-classes":[%s]}' %
            ",".join('{"name":"%s","field-class":%s}' % m for m in members))


def role(name):
    return ',"roles":["%s"]' % name


def ctf2_fragments(order):
    def num(width, more="", kind="unsigned"):
        return integer(width, more, kind, order + "-endian")

    yield '{"type":"preamble","version":2,"uuid":[%s]}' % ",".join(str(b) for b in UUID)
    yield '{"type":"field-class-alias","name":"u8","field-class":%s}' % num(8)
    header = structure(("magic", num(32, role("packet-magic-number"))),
                       ("uuid", '{"type":"static-length-blob","length":16,"roles":["metadata-stream-uuid"]}'),
                       ("id", num(32, role("data-stream-class-id"))))
    yield ('{"type":"trace-class","namespace":"hand","name":"t","environment":{"a":"b","c":3},'
           '"packet-header-field-class":%s}' % header)
    yield ('{"type":"clock-class","id":"mono","frequency":1000000000,"origin":"unix-epoch",'
           '"offset-from-origin":{"seconds":1600000000,"cycles":5},"precision":10}')
    context = structure(("begin", num(64, role("default-clock-timestamp"))),
                        ("end", num(64, role("packet-end-default-clock-timestamp"))),
                        ("content", num(64, role("packet-content-length"))),
                        ("total", num(64, role("packet-total-length"))),
                        ("lost", num(32, role("discarded-event-record-counter-snapshot"))),
                        ("seq", num(32, role("packet-sequence-number"))))
    event = structure(("id", num(16, role("event-record-class-id"))),
                      ("time", num(64, role("default-clock-timestamp"))))
    yield ('{"type":"data-stream-class","id":7,"default-clock-class-id":"mono",'
           '"packet-context-field-class":%s,"event-record-header-field-class":%s,'
           '"event-record-common-context-field-class":%s}'
           % (context, event, structure(("vpid", num(32, "", "signed")))))
    yield event_class(0, "hand:numbers", structure(
        ("a", '"u8"'), ("b", num(16)), ("c", num(32, "", "signed")),
        ("d", num(64, ',"preferred-display-base":16')),
        ("f", '{"type":"fixed-length-floating-point-number","length":64,"byte-order":"%s-endian",'
              '"alignment":8}' % order),
        ("leb", '{"type":"variable-length-unsigned-integer"}'),
        ("sleb", '{"type":"variable-length-signed-integer"}'),
        ("flag", '{"type":"fixed-length-boolean","length":8,"byte-order":"%s-endian"}' % order),
        ("map", '{"type":"fixed-length-bit-map","length":8,"byte-order":"%s-endian",'
                '"flags":{"x":[[0,0]],"y":[[1,3]]}}' % order)))
    yield event_class(1, "hand:text", structure(
        ("s", '{"type":"null-terminated-string"}'),
        ("n", num(8)),
        ("dyn", '{"type":"dynamic-length-string","length-field-location":{"path":["n"]}}'),
        ("list", '{"type":"dynamic-length-array","element-field-class":%s,'
                 '"length-field-location":{"path":["n"]}}' % num(16)),
        ("blob", '{"type":"static-length-blob","length":4,"media-type":"x/y"}'),
        ("fixed", '{"type":"static-length-array","length":2,"element-field-class":"u8"}'),
        ("text", '{"type":"static-length-string","length":4,"encoding":"utf-8"}')))
    yield event_class(2, "hand:shapes", structure(
        ("tag", num(8, ',"mappings":{"one":[[1,1]],"few":[[2,5]]}')),
        ("maybe", '{"type":"optional","field-class":"u8","selector-field-location":{"path":["tag"]},'
                  '"selector-field-ranges":[[1,3]]}'),
        ("choice", '{"type":"variant","selector-field-location":{"path":["tag"]},"options":['
                   '{"name":"x","selector-field-ranges":[[0,2]],"field-class":"u8"},'
                   '{"selector-field-ranges":[[3,9]],"field-class":{"type":"null-terminated-string"}}]}')))


def event_class(ident, name, payload):
    return ('{"type":"event-record-class","id":%d,"data-stream-class-id":7,"name":"%s",'
            '"payload-field-class":%s}' % (ident, name, payload))


def ctf2_events(order, first, count):
    out, code = b"", "<" if order == "little" else ">"
    for i in range(count):
        kind = i % 3
        out += u(order, 2, kind) + u(order, 8, START + 100 * (first + i)) + u(order, 4, 42)
        if kind == 0:
            out += struct.pack(code + "BHiQd", i, 1000 + i, -i, 1 << 40 | i, 0.5 * i)
            out += b"\x85\x02" + b"\x7e" + b"\x01" + b"\x05"
        elif kind == 1:
            out += b"word\0" + b"\x02" + b"hi" + u(order, 2, 1) + u(order, 2, 2) + b"blob" + b"\x01\x02" + b"text"
        else:
            tag = 1 + i % 6
            out += bytes([tag]) + (b"\x09" if tag <= 3 else b"") + (b"\x07" if tag <= 2 else b"str\0")
    return out


def ctf2(where, order):
    where.mkdir(parents=True)
    (where / "metadata").write_bytes(b"".join(b"\x1e" + f.encode() + b"\n" for f in ctf2_fragments(order)))
    stream = b""
    for seq in range(4):
        events = ctf2_events(order, 12 * seq, 12)
        head = u(order, 4, 0xC1FC1FC1) + UUID + u(order, 4, 7)
        content = len(head) + 40 + len(events)
        total = (content + 63) // 64 * 64
        context = b"".join(u(order, 8, v) for v in (START + 1200 * seq, START + 1200 * seq + 1100,
                                                   8 * content, 8 * total))
        context += u(order, 4, 2 if seq > 2 else 0) + u(order, 4, seq)
        stream += align(head + context + events, 64)
    (where / "stream").write_bytes(stream)


# --- perf.data ----------------------------------------------------------------------

IP, TID, TIME, CALLCHAIN, CPU, PERIOD, RAW, IDENTIFIER = 1, 2, 4, 1 << 5, 1 << 7, 1 << 8, 1 << 10, 1 << 16
SAMPLE_ID_ALL = 18  # number of the bit, counted from where the compiler began

TICK = """name: tick
ID: 300
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:int n;\toffset:8;\tsize:4;\tsigned:1;
\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;

print fmt: "n=%d name=%s", REC->n, __get_str(name)
"""


def attr(order, kind, config, sample_type):
    return (u(order, 4, kind) + u(order, 4, 112) + u(order, 8, config) + u(order, 8, 1) +
            u(order, 8, sample_type) + u(order, 8, 4) + u(order, 8, 1 << (SAMPLE_ID_ALL if order == "little" else 63 - SAMPLE_ID_ALL))).ljust(112, b"\0")


def record(order, kind, body, misc=2):
    body = align(body, 8)
    return u(order, 4, kind) + u(order, 2, misc) + u(order, 2, 8 + len(body)) + body


def trailer(order, time, ident):
    return u(order, 4, 42) + u(order, 4, 43) + u(order, 8, time) + u(order, 4, 1) + bytes(4) + u(order, 8, ident)


def sample(order, i, traced):
    time = START + 100 * i
    body = u(order, 8, 2 if traced else 1) + u(order, 8, 0x400000 + i) + u(order, 4, 42) + u(order, 4, 43)
    body += u(order, 8, time) + u(order, 4, 1) + bytes(4) + u(order, 8, 1)
    if traced:
        raw = u(order, 2, 300) + bytes(2) + u(order, 4, 43) + u(order, 4, i) + u(order, 4, 16 | 6 << 16) + b"hello\0"
        raw = raw.ljust(28, b"\0")
        body += u(order, 8, 3) + u(order, 8, (1 << 64) - 512) + u(order, 8, 0x400010) + u(order, 8, 0x400020)
        body += u(order, 4, len(raw)) + raw
    return record(order, 9, body)


def perf_records(order):
    out = record(order, 3, u(order, 4, 42) + u(order, 4, 43) + b"app\0\0\0\0\0" + trailer(order, START, 1))
    out += record(order, 1, u(order, 4, 42) + u(order, 4, 42) + u(order, 8, 0x400000) + u(order, 8, 0x1000) +
                  u(order, 8, 0) + align(b"/bin/app\0", 8) + trailer(order, START, 1))
    out += record(order, 10, u(order, 4, 42) + u(order, 4, 42) + u(order, 8, 0x500000) + u(order, 8, 0x1000) +
                  bytes(8) + bytes(24) + u(order, 4, 5) + u(order, 4, 2) + align(b"/lib/c.so\0", 8) +
                  trailer(order, START, 1))
    for i in range(8):
        out += sample(order, i, i % 2 == 1)
    out += record(order, 68, b"", 0)
    out += record(order, 7, b"".join(u(order, 4, v) for v in (50, 42, 50, 42)) + u(order, 8, START + 850) +
                  trailer(order, START + 850, 1))
    out += record(order, 14, trailer(order, START + 860, 1))
    out += record(order, 2, u(order, 8, 1) + u(order, 8, 5) + trailer(order, START + 900, 1))
    for i in range(10, 30):
        out += sample(order, i, i % 3 == 1)
    out += record(order, 4, b"".join(u(order, 4, v) for v in (42, 1, 43, 1)) + u(order, 8, START + 4000) +
                  trailer(order, START + 4000, 1))
    return out + record(order, 68, b"", 0)


def tracing(order):
    page = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
            b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")
    out = b"\x17\x08\x44tracing0.6\0" + (b"\0" if order == "little" else b"\1") + b"\x08" + u(order, 4, 4096)
    out += b"header_page\0" + u(order, 8, len(page)) + page + b"header_event\0" + u(order, 8, 2) + b"#\n"
    out += u(order, 4, 0) + u(order, 4, 1) + b"test\0" + u(order, 4, 1) + u(order, 8, len(TICK)) + TICK.encode()
    symbols, texts, names = b"ffffffff81000000 T start\n", b"0xffff : \"x\"\n", b"43 app\n"
    return align(out + b"".join(u(order, 4, len(t)) + t for t in (symbols, texts)) +
                 u(order, 8, len(names)) + names, 8)


def perf_string(order, text):
    text = align(text + b"\0", 64)
    return u(order, 4, len(text)) + text


def attrs(order):
    usual = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
    return [attr(order, 1, 0, usual), attr(order, 2, 300, usual | CALLCHAIN | RAW)]


def perf_file(order):
    ids = [u(order, 8, 1), u(order, 8, 2)]
    start = 104
    at = start + 16
    entries = b""
    for i, a in enumerate(attrs(order)):
        entries += a + u(order, 8, start + 8 * i) + u(order, 8, 8)
    data = perf_records(order)
    features = [(1, tracing(order)), (3, perf_string(order, b"here")), (4, perf_string(order, b"6.1")),
                (11, u(order, 4, 2) + perf_string(order, b"perf") + perf_string(order, b"record"))]
    data_at = at + len(entries)
    table_at = data_at + len(data)
    body_at = table_at + 16 * len(features)
    table = bodies = b""
    for _, body in features:
        table += u(order, 8, body_at + len(bodies)) + u(order, 8, len(body))
        bodies += body
    magic = b"PERFILE2" if order == "little" else b"2ELIFREP"
    header = magic + u(order, 8, 104) + u(order, 8, 128) + u(order, 8, at) + u(order, 8, len(entries))
    header += u(order, 8, data_at) + u(order, 8, len(data)) + bytes(16)
    header += u(order, 8, sum(1 << number for number, _ in features)) + bytes(24)
    return header + b"".join(ids) + entries + data + table + bodies


def perf_features(order):
    """Those that perf writes, by number, each with what is in it."""
    def n(value):
        return u(order, 4, value)

    def q(*values):
        return b"".join(u(order, 8, v) for v in values)

    def text(*words):
        return b"".join(perf_string(order, w) for w in words)

    event = attrs(order)[0] + n(1) + text(b"cycles") + q(1)
    return {
        3: text(b"here"), 7: n(2) + n(2), 8: text(b"a cpu"), 10: q(4096), 11: n(2) + text(b"perf", b"record"),
        12: n(1) + n(112) + event,
        13: n(1) + text(b"0-1") + n(2) + text(b"0", b"1") + n(0) + n(0) + n(1) + n(0) + n(1) + text(b"0-1") + n(0) + n(0),
        14: n(1) + n(0) + q(4096, 1024) + text(b"0-1"), 16: n(2) + n(4) + text(b"cpu") + n(1) + text(b"software"),
        17: n(1) + text(b"pair") + n(0) + n(2), 18: q(0), 19: b"",
        20: n(1) + n(1) + n(1) + n(64) + n(64) + n(8) + text(b"Data", b"32K", b"0-1"), 21: q(START, START + 4000),
        22: q(1, 1 << 27, 1, 0, 33, 33, 0x1fffffffd), 23: q(1), 24: q(1),
        25: n(1) + n(8) + n(4) + q(0) + bytes(12), 26: n(1) + n(7) + n(3) + b"btf", 28: n(1) + text(b"branches", b"32"),
        30: n(1) + text(b"cpu_core", b"0-1"), 31: n(1) + n(1) + text(b"branches", b"32") + text(b"cpu"), 32: b"",
    }


def perf_pipe(order):
    out = (b"PERFILE2" if order == "little" else b"2ELIFREP") + u(order, 8, 16)
    for i, a in enumerate(attrs(order)):
        out += record(order, 64, a + u(order, 8, i + 1), 0)
    for number, body in perf_features(order).items():
        out += record(order, 80, u(order, 8, number) + body, 0)
    formats = tracing(order)
    out += u(order, 4, 66) + u(order, 2, 0) + u(order, 2, 12) + u(order, 4, len(formats)) + formats
    out += record(order, 78, u(order, 8, 2) + u(order, 8, 1) + b"cycles\0", 0)
    out += record(order, 73, u(order, 8, 1) + u(order, 8, 43) + b"app".ljust(16, b"\0"), 0)
    out += record(order, 74, u(order, 2, 0) + u(order, 2, 2) + u(order, 2, 0) + u(order, 2, 1), 0)
    return out + perf_records(order)


# --- ftrace's text --------------------------------------------------------------------

TRACE_HEAD = """# tracer: nop
#
# entries-in-buffer/entries-written: 40/%d   #P:2
#
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
#              | |         |   |||||     |         |
"""


def trace_lines(tgid, count):
    for i in range(count):
        task = "%16s-%-7d %s[%03d]" % ("<idle>" if i % 5 == 0 else "a task-%d" % (i % 3), i % 5 * 10,
                                       "(%7d) " % 40 if tgid and i % 2 else "(-------) " if tgid else "", i % 2)
        time = "%6d.%06d" % (100 + i // 10, 1000 * i)
        if i % 4 == 0:
            yield (f"{task} d..2. {time}: sched_switch: prev_comm=a b prev_pid={i} prev_prio=120 "
                   f"prev_state=R+ ==> next_comm=c next_pid={i + 1} next_prio=120")
        elif i % 4 == 1:
            yield f"{task} ..... {time}: tracing_mark_write: hello {i}"
        elif i % 4 == 2:
            yield f"{task} dN.1. {time}: <stack trace>"
            yield " => schedule"
            yield " => do_idle"
        else:
            yield f"{task} d.h1. {time}: mm_page_alloc: page=0xffff{i:04x} pfn=0x{i:x} order=0 gfp_flags=GFP_KERNEL"
        if i % 16 == 15 and not tgid:
            yield "CPU:1 [LOST 3 EVENTS]"


def ftrace(where):
    where.mkdir(parents=True)
    (where / "trace").write_text(TRACE_HEAD % 47 + "\n".join(trace_lines(True, 40)) + "\n")
    (where / "plain").write_text(TRACE_HEAD % 40 + "\n".join(trace_lines(False, 40)) + "\n")
    pipe = where.parent / "ftrace-pipe"  # without the header it is not known how much is missing
    pipe.mkdir()
    (pipe / "trace_pipe").write_text("\n".join(trace_lines(False, 40)) + "\n")


# ------------------------------------------------------------------------------------

def main():
    top = pathlib.Path(sys.argv[1])
    ctf1(top / "ctf-1.8/compact", "little", compact_header, TSDL_COMPACT)
    ctf1(top / "ctf-1.8/compact-big", "big", compact_header, TSDL_COMPACT)
    ctf1(top / "ctf-1.8/large", "little", large_header, TSDL_LARGE, wrapped=True)
    ctf1(top / "ctf-1.8/plain", "big", plain_header, TSDL_PLAIN)
    ctf2(top / "ctf-2/little", "little")
    ctf2(top / "ctf-2/big", "big")
    ftrace(top / "ftrace")
    (top / "perf.data").mkdir(parents=True)
    for order in ("little", "big"):
        (top / "perf.data" / f"file-{order}").write_bytes(perf_file(order))
        (top / "perf.data" / f"pipe-{order}").write_bytes(perf_pipe(order))


main()
