#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lbr.py FROM TO - a recording with call chains, as if the processor had recorded the user's part (--call-graph lbr).

FROM is of `perf record -c N -g`: its samples have IP, TID, TIME and CALLCHAIN. In TO, a chain ends after the first
user address, and the callers are in a stack of branches. Prints the number of samples.
"""
import struct
import sys

USER = (1 << 64) - 512
CHAIN_AT, SAMPLE_TYPE = 32, 0x27


def with_calls(record):
    count = struct.unpack_from("<Q", record, CHAIN_AT)[0]
    chain = list(struct.unpack_from(f"<{count}Q", record, CHAIN_AT + 8))
    calls = []
    if USER in chain:
        user = chain[chain.index(USER) + 1:]
        chain = chain[:chain.index(USER) + 2]
        calls = [(caller, callee) for callee, caller in zip(user, user[1:])] or [(user[0], user[0])]
    body = record[8:CHAIN_AT] + struct.pack(f"<Q{len(chain)}Q", len(chain), *chain) + struct.pack("<Q", len(calls))
    body += b"".join(struct.pack("<QQQ", caller, callee, 0) for caller, callee in calls)
    return record[:6] + struct.pack("<H", 8 + len(body)) + body


def main():
    data = open(sys.argv[1], "rb").read()
    attr, at, size = (struct.unpack_from("<Q", data, i)[0] for i in (24, 40, 48))
    assert struct.unpack_from("<Q", data, attr + 24)[0] == SAMPLE_TYPE
    head, end, records, nr = bytearray(data[:at]), at + size, bytearray(), 0
    struct.pack_into("<Q", head, attr + 24, SAMPLE_TYPE | 1 << 11)
    struct.pack_into("<Q", head, attr + 72, 1 | 1 << 11)  # of user code; a stack of calls
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        nr += kind == 9
        records += with_calls(record) if kind == 9 else record
        at += size
    # The features follow the records.
    tail, more = bytearray(data[end:]), len(records) - struct.unpack_from("<Q", head, 48)[0]
    for i in range(bin(int.from_bytes(head[72:104], "little")).count("1")):
        struct.pack_into("<Q", tail, 16 * i, struct.unpack_from("<Q", tail, 16 * i)[0] + more)
    struct.pack_into("<Q", head, 48, len(records))
    open(sys.argv[2], "wb").write(bytes(head + records + tail))
    print(nr)


main()
