#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# odd_ctf.py OUT - writes small CTF 1.8 traces that use rare features of the language, each in a
# folder of OUT.
import os
import struct
import sys

TYPES = "".join(
    "typealias integer { size = %d; align = 8; } := u%d;" % (n, n) for n in (8, 16, 32, 64)
)
HEAD = "/* CTF 1.8 */ " + TYPES + "%s trace { major = 1; minor = 8; byte_order = %s; %s};"
EVENT = 'event { name = "e"; fields := struct { %s }; };'
CLOCK = (
    "clock { name = c; freq = %s; %s };"
    "typealias integer { size = %d; align = 8; map = clock.c.value; } := ts;"
)

CASES = {}


def fields(name, members, data, decl="", order="le"):
    CASES[name] = (HEAD % (decl, order, "") + "stream { };" + EVENT % members, data)


def clock(name, hz, more, bits, times):
    head = HEAD % (CLOCK % (hz, more, bits), "le", "")
    stream = "stream { event.header := struct { ts timestamp; }; };"
    data = b"".join(t.to_bytes(bits // 8, "little") + b"x" for t in times)
    CASES[name] = (head + stream + EVENT % "u8 x;", data)


BITS = bytes([0x9A, 0x5C, 0xE3, 0x71, 0x0F, 0xAA, 0x55, 0x12, 0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4])
VARIANT = "variant <t> { u8 A; struct { u16 x; u8 y; } B; string C; } v; u8 z;"

for order in ("le", "be"):
    fields(
        "bits-" + order,
        "integer { size = 3; align = 1; } a; integer { size = 7; align = 1; signed = true; } b;"
        "integer { size = 13; align = 1; base = x; } c; integer { size = 1; align = 1; } d;"
        "integer { size = 40; align = 1; } e; integer { size = 64; align = 1; } f;",
        BITS,
        order=order,
    )
    fields(
        "bit-lists-" + order,
        "struct { integer { size = 3; align = 1; } x; integer { size = 6; align = 1; } y; } a[4];"
        "integer { size = 4; align = 1; } z; u8 q;",
        BITS[:6],
        order=order,
    )
    fields(
        "bit-enums-" + order,
        "enum : integer { size = 3; align = 1; } { A, B, C = 5, D } x;"
        "enum : integer { size = 5; align = 1; signed = true; } { N = -1, M = -16 ... -2, P = 0 ... 15 } y;",
        b"\x9a",
        order=order,
    )
fields("enum-order", "enum : integer { size = 16; align = 8; byte_order = be; } { A = 258 } x;", b"\1\2")
fields("enum-parens", "enum : u8 { A = +5, B = (7) ... ((9)) } x;", b"\x08")
fields("enum-overlap", "enum : u8 { A = 0 ... 9, B = 5, C = 3 ... 7, A = 20 } x[4];", bytes([0, 5, 20, 10]))
fields("enum-order-of-names", "enum : u8 { A = 9, B = 5, A = 5, C = 5, B = 6, D = 6, A = 6 } x[3];", bytes([5, 6, 9]))
fields("enum-64", "enum : u64 { M = 18446744073709551615, L = 0x8000000000000000 } x[2];",
       struct.pack("<2Q", 2**64 - 1, 2**63))
# Labels that no value has, as LTTng writes -5 of an unsigned char.
fields("enum-beyond", "enum : u8 { A = 18446744073709551611, B = 255, C, D = 1 } x[4];", bytes([251, 255, 0, 1]))
fields("enum-beyond-range", "enum : u8 { A = 250 ... 300, B = 0 ... 18446744073709551615 } x[2];", b"\xfb\1")
fields("enum-beyond-signed", "enum : integer { size = 8; align = 8; signed = true; }"
       "{ A = 18446744073709551611, B = -6 ... 300, C = 251 } x[3];", bytes([251, 1, 128]))
fields("enum-beyond-tag", "enum : u8 { A = 251, B = 18446744073709551611, C = 1 } t;"
       "variant <t> { u8 A; u16 C; } v;", b"\xfb\1")
fields("pointer", "foo * p; u8 q;", BITS[:9], "typealias integer { size = 64; align = 8; base = x; } := foo *;")
fields("words", "unsigned long int x;", BITS[:8],
       "typealias integer { size = 64; align = 8; } := unsigned long int;")
fields("lists", "u8 n; u8 m; u8 x[n][m]; u16 y[2][n];", b"\2\3abcdef" + BITS[:8])
fields("own-tags", "u8 n; struct { enum : u8 { A, B } t; variant <t> { u8 A; u16 B; } v; u8 m; u8 q[m]; } s[n];",
       b"\3\1ab\1x\0c\2xy\1de\0")
fields("outer-tag", "enum : u8 { A, B } t; struct { struct { variant <t> { u8 A; u16 B; } v; } i; } s;", b"\1ab")
fields("aligned", "u8 a; struct { u8 x; } align(64) s; struct { } align(32) e; u8 b;", b"\1......." + b"\2...\3")
fields("floats", "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } a[6];",
       struct.pack("<6d", float("inf"), float("-inf"), float("nan"), -0.0, 1e-310, 1e22))
fields("char-base", "integer { size = 8; align = 8; base = 'x'; } x;", b"\x12")
fields("env-keywords", "u8 x;", b"a", "env { string = \"a\"; integer = 3; struct = \"x\"; a = 'x'; b = '\\n'; };"
       "clock { name = a; freq = 1; string = \"x\"; }; callsite { name = \"x\"; struct = \"s\"; };")
for tag in range(3):
    fields("variant-%d" % tag, "enum : u8 { A, B, C } t; " + VARIANT, bytes([tag]) + b"ab\0c"[: 2 + 2 * (tag == 1)] +
           (b"" if tag < 2 else b"\0z"))
clock("before-origin", 1000000000, "offset_s = -7;", 64, (10**9, 2 * 10**9 + 5))
clock("wraps", 1000, "", 8, (250, 3, 3, 2))
clock("odd-hz", 32768, "offset_s = 1; offset = 40000;", 64, (10**3, 2 * 10**5 + 5))


def packets(name, hz, packets, more="", offset=""):
    """Packets (begin, end, times), in ticks of a clock; they end where the last event ends."""
    head = HEAD % (CLOCK % (hz, offset, 64), "le", "packet.header := struct { u32 magic; };")
    context = "u64 content_size; u64 packet_size; ts timestamp_begin; ts timestamp_end;"
    stream = ("stream { packet.context := struct { %s integer { size = 5; align = 8; } k; };"
              "event.header := struct { ts timestamp; }; };" % context)
    data = b""
    for begin, end, times in packets:
        body = b"".join(struct.pack("<QBB", t, 9, 0x1D) for t in times)
        size = 8 * (4 + 33 + len(body))
        used = size - 3 if not times else size - 6
        data += struct.pack("<I4QB", 0xC1FC1FC1, used, size, begin, end, 7) + body
    CASES[name] = (head + stream + EVENT % ("u8 a; integer { size = 2; align = 8; } b;" + more), data)


# Events and packets that end inside a byte; packets that touch, and ticks that are not nanoseconds.
for hz in (1, 32768, 1000000000, 2596150469, 7000000001):
    base = hz * 10 + 7
    list_of_packets = [
        (base, base + 4, (base, base + 2)), (base + 5, base + 5, ()), (base + 5, base + 8, (base + 5, base + 8)),
        (base + 8, base + 9, ()), (base + 9, base + 9, (base + 9,)), (base + 10, base + 40, (base + 11,)),
    ]
    packets("packets-%d" % hz, hz, list_of_packets)
    # After the last number there are only members without bits.
    packets("packets-empty-%d" % hz, hz, list_of_packets, "struct { } c[b]; struct { struct { } e; } d;")
# Packets that touch, with a clock whose offset is not a whole number of nanoseconds.
packets("packets-fraction", 2596150469, [(500 + 7 * i, 507 + 7 * i, (500 + 7 * i, 507 + 7 * i)) for i in range(12)],
        offset="offset_s = 17; offset = 5;")
os.makedirs(sys.argv[1], exist_ok=True)
for name, (metadata, data) in CASES.items():
    folder = os.path.join(sys.argv[1], name)
    os.makedirs(folder)
    with open(os.path.join(folder, "metadata"), "w", encoding="ascii") as f:
        f.write(metadata)
    with open(os.path.join(folder, "stream"), "wb") as f:
        f.write(data)
