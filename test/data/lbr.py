#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lbr.py FROM TO [taken] - a recording with call chains, as if the processor had recorded the user's part (--call-graph lbr).

FROM is of `perf record -c N -g`: its samples have IP, TID, TIME and CALLCHAIN. In TO, a chain ends after the first
user address, and the callers are in a stack of branches. With taken, TO is as of `perf record -g -b` instead: the chains are
whole, and the branches, with flags of many kinds, are those between the addresses of the chain, kernel and user, except
one to an address without code. Prints the number of samples.
"""
import struct
import sys

USER = (1 << 64) - 512
CHAIN_AT, SAMPLE_TYPE = 32, 0x27
CALL_STACK, ANY_USER = 1 | 1 << 11, 1 | 1 << 3
TAKEN = "taken" in sys.argv[3:]


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


def flags_of(i):
    """mispredicted, predicted, in_tx, abort, 16 bits of cycles, 4 of the type"""
    return (1 + i % 2) | (i % 3 == 1) << 2 | (i % 5 == 4) << 3 | (i % 7) * 3 << 4 | i % 6 << 20


def with_branches(record):
    count = struct.unpack_from("<Q", record, CHAIN_AT)[0]
    chain = [a for a in struct.unpack_from(f"<{count}Q", record, CHAIN_AT + 8) if a < (1 << 64) - 4096]
    ends = [(caller, callee) for callee, caller in zip(chain, chain[1:])] + [(chain[0], 0x10)] if chain else []
    body = record[8:] + struct.pack("<Q", len(ends))
    body += b"".join(struct.pack("<QQQ", a, b, flags_of(i + a)) for i, (a, b) in enumerate(ends))
    return record[:6] + struct.pack("<H", 8 + len(body)) + body


def main():
    data = open(sys.argv[1], "rb").read()
    attr, at, size = (struct.unpack_from("<Q", data, i)[0] for i in (24, 40, 48))
    assert struct.unpack_from("<Q", data, attr + 24)[0] == SAMPLE_TYPE
    head, end, records, nr = bytearray(data[:at]), at + size, bytearray(), 0
    struct.pack_into("<Q", head, attr + 24, SAMPLE_TYPE | 1 << 11)
    struct.pack_into("<Q", head, attr + 72, ANY_USER if TAKEN else CALL_STACK)
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        record = data[at:at + size]
        nr += kind == 9
        records += record if kind != 9 else with_branches(record) if TAKEN else with_calls(record)
        at += size
    # The features follow the records.
    tail, more = bytearray(data[end:]), len(records) - struct.unpack_from("<Q", head, 48)[0]
    for i in range(bin(int.from_bytes(head[72:104], "little")).count("1")):
        struct.pack_into("<Q", tail, 16 * i, struct.unpack_from("<Q", tail, 16 * i)[0] + more)
    struct.pack_into("<Q", head, 48, len(records))
    open(sys.argv[2], "wb").write(bytes(head + records + tail))
    print(nr)


main()
