#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""swallow.py FILE DIR - perf.data, damaged in each record's size so that it takes in the next.

FILE is of this machine's or the other byte order, without records that others follow
inside (AUX data). Writes DIR/OFFSET for each of perf's own records that has one behind it.
"""
import pathlib
import struct
import sys

TRACING_DATA, OWN = 66, 64


def records(data, order):
    pipe = struct.unpack_from(order + "Q", data, 8)[0] == 16
    at, end = (16, len(data)) if pipe else struct.unpack_from(order + "QQ", data, 40)
    end = end if pipe else at + end
    while at < end:
        kind, _, size = struct.unpack_from(order + "IHH", data, at)
        behind = struct.unpack_from(order + "I", data, at + 8)[0] if kind == TRACING_DATA else 0
        yield at, kind, size
        at += size + (behind + 7) // 8 * 8


def main(path, where):
    data = pathlib.Path(path).read_bytes()
    order = "<" if data[:8] == b"PERFILE2" else ">"
    found = list(records(data, order))
    for (at, kind, size), (behind, _, more) in zip(found, found[1:]):
        if kind < OWN or at + size != behind or size + more > 65535:
            continue
        damaged = bytearray(data)
        struct.pack_into(order + "H", damaged, at + 6, size + more)
        pathlib.Path(where, str(at)).write_bytes(damaged)


main(*sys.argv[1:])
