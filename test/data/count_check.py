#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""count_check.py JSON TALLY [any]: does what `waymark stat --json` counted agree with the tally of a
torture program (test/torture/torture.h)? done <= counted + lost <= begun; with "any", where all
is emitted by torture_any(), of each event, too. Says the numbers; exit status 0 or 1."""
import json
import struct
import sys

UNSEEN, UNCOUNTED = 2, 8
SLOT = struct.Struct("<II7Q")  # pid flags, begun done spare kind due longest pad
HEAD_BYTES = 64


def kinds(n):
    """How many of each kind the first n emits of torture_any() are."""
    text = (n + 4) // 5
    some = (n + 3) // 5
    return {"torture:text": text, "torture:bytes": some, "torture:fixed": n - text - some}


def main():
    result = json.load(open(sys.argv[1]))
    tally = open(sys.argv[2], "rb").read()
    counted = {e["event"]: e["value"] for e in result["events"] if e["event"].startswith("torture:")}
    done = begun = spare = 0
    low, high = dict.fromkeys(counted, 0), dict.fromkeys(counted, 0)
    for who in range(struct.unpack_from("<I", tally)[0]):
        _, flags, b, d, s, *_ = SLOT.unpack_from(tally, HEAD_BYTES + who * SLOT.size)
        if flags & (UNSEEN | UNCOUNTED):
            continue
        done, begun, spare = done + d, begun + b, spare + s
        for name in low:
            low[name] += kinds(d)[name]
            high[name] += kinds(b)[name]
    total, lost = sum(counted.values()), result["lost"]
    print(f"counted {total}, lost {lost}, done {done}, begun {begun}, spare {spare}")
    good = done <= total + lost <= begun + spare
    for name in counted if sys.argv[3:] == ["any"] else ():
        if not low[name] <= counted[name] <= high[name]:
            print(f"{name}: {counted[name]}, not from {low[name]} to {high[name]}")
            good = False
    return 0 if good else 1


sys.exit(main())
