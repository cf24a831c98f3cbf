#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_events.py A B [--cpu] [--fields] - two JSONL prints of one trace in two formats.

Same events in the same order: name, time, all values. What a format had to
add is passed over: a length or tag before what it belongs to (_X_length,
_X_tag), the kernel's common fields, fields of packets, and the time of an event that had none. A blob may
be a list of bytes, a boolean a number. --cpu: CPUs are equal
too. --fields: contexts are not looked at. Says the first difference; prints how many events are equal.
"""
import json
import sys


def values(part):
    if isinstance(part, dict):
        return {
            k: values(v)
            for k, v in part.items()
            if not (k[:1] == "_" and k.rsplit("_", 1)[-1] in ("length", "tag")
                    and k[1:].rsplit("_", 1)[0] in part)
        }
    if isinstance(part, list):
        return [values(v) for v in part]
    return part


def same(a, b):
    if isinstance(a, str) and isinstance(b, list):
        return list(bytes.fromhex(a)) == b
    if isinstance(a, list) and isinstance(b, str):
        return same(b, a)
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and "value" in a and isinstance(b, int):
        return a["value"] == b  # one side has a label that the other has only in its print form
    return a == b  # in Python, True equals 1


def fields(event):
    all_parts = []
    for part in ("fields",) if "--fields" in sys.argv else ("common", "context", "fields"):
        all_parts += values(event.get(part, {})).items()
    all_parts = [(k, v) for k, v in all_parts if not k.startswith("common_")]
    return all_parts


def main():
    with_cpu = "--cpu" in sys.argv
    a, b = [open(path) for path in sys.argv[1:] if path[:2] != "--"]
    count = 0
    for line in a:
        other = b.readline()
        x, y = json.loads(line), json.loads(other or "{}")
        ok = x["name"] == y.get("name") and x["time_ns"] in (None, y.get("time_ns"))
        if with_cpu:
            ok = ok and x.get("cpu") == y.get("cpu")
        fx, fy = fields(x), fields(y)
        ok = ok and [k for k, v in fx] == [k for k, v in fy]
        ok = ok and all(same(v, w) for (k, v), (l, w) in zip(fx, fy))
        if not ok:
            sys.exit(f"event {count}:\n{line}{other}")
        count += 1
    if b.readline():
        sys.exit(f"more than {count} events")
    print(count)


main()
