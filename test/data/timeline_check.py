#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timeline_check.py chrome|perfetto JSONL FILE... - is every event in the timeline, with its values?

JSONL is what `waymark print --format=jsonl` says of the traces. The FILEs are
the pieces of what `waymark convert` made of the same: JSON for chrome, what
`protoc --decode=Trace perfetto.proto` printed for perfetto. Events are taken
out of points, bars and numbers again, as doc/format/chrome.md and perfetto.md
say, and compared by time and all their fields, contexts and messages.
Exit status 1 and the first differences when they are not the same.
"""
import collections
import decimal
import json
import re
import sys

WAKE = {"comm", "pid", "prio", "success", "target_cpu"}
FTRACE = {  # the events for which Perfetto defines messages; events with more fields become TrackEvents
    "sched_switch": {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
                     "next_prio"},
    "sched_wakeup": WAKE, "sched_waking": WAKE, "sched_wakeup_new": WAKE,
    "sched_process_exec": {"filename", "pid", "old_pid"},
    "sched_process_free": {"comm", "pid", "prio"},
    "cpu_frequency": {"state", "cpu_id"}, "cpu_idle": {"state", "cpu_id"},
    "softirq_entry": {"vec"}, "softirq_exit": {"vec"}, "softirq_raise": {"vec"},
    "irq_handler_entry": {"irq", "name"}, "irq_handler_exit": {"irq", "ret"},
    "task_rename": {"pid", "oldcomm", "newcomm", "oom_score_adj"},
}
RENAMED = {"tid": "pid", "prev_tid": "prev_pid", "next_tid": "next_pid", "old_tid": "old_pid"}


# --- a common form for the values of all formats -----------------------------------

def plain(v):
    """Numbers as text; labels without the number, which is beside them in JSONL only."""
    if isinstance(v, bool):
        return v
    if isinstance(v, dict):
        if set(v) == {"value", "label"}:
            return plain(v["value"]) if v["label"] is None else f"{v['label']} ({v['value']})"
        return {k: plain(x) for k, x in v.items()} or None
    if isinstance(v, list):
        return [plain(x) for x in v] or None
    if isinstance(v, int):
        return str(v)
    if isinstance(v, (float, decimal.Decimal)):
        return real(float(v))
    if isinstance(v, str) and v.lower() in ("nan", "-nan", "infinity", "-infinity", "inf", "-inf"):
        return v.lower().replace("infinity", "inf").lstrip("-")
    if isinstance(v, str) and re.fullmatch(r"0x[0-9a-f]{14,16}|-?[0-9]{16,20}", v):
        return str(int(v, 0))
    return v


def real(d):
    if d != d or d in (float("inf"), float("-inf")):
        return "nan" if d != d else "inf"
    return str(int(d)) if d == int(d) and abs(d) < 2**53 else "%.6g" % d


def key(ns, fields, common=None, context=None, message=None):
    if common and set(common) == {"pid", "tid"}:
        common = None  # JSONL has them separately from the fields
    return json.dumps([ns, plain(fields) or {}, plain(common or {}) or {},
                       plain(context or {}) or {}, message], sort_keys=True)


def key_of_args(ns, args):
    ns = None if args.get("$time") == "none" else ns
    fields = {k: v for k, v in args.items() if not k.startswith("$")}
    return key(ns, fields, args.get("$common"), args.get("$context"), args.get("$message"))


def is_whole(fields):
    return list(fields)[:3] == ["begin", "duration", "parent_id"]


def is_number(e):
    return re.search(r"(^|:)(power_)?cpu_(frequency|idle)$", e["name"])


def reading(ns, pid, title, unit, value):
    if not isinstance(value, int) or value >= 1 << 63:
        value = real(float(value))
    return json.dumps([ns, "reading", pid, title, unit, str(value)])


def readings(e):
    """The numbers of an event of /proc; then whether that was all of it."""
    fields = dict(e["fields"])
    part = "cpu" if e["name"] == "proc:cpu" else "dev"
    start = [e["name"]] + ([str(fields.pop(part))] if part in fields else [])
    for name, value in list(fields.items()):
        if isinstance(value, str):
            continue
        unit = re.search("_(bytes|ns)$|_(avg)[0-9]+$", name)
        unit = "value" if not unit else unit[1] or "percent"
        yield reading(e["time_ns"], e.get("pid"), " ".join(start + [name]), unit, value)
        del fields[name]
    yield not fields


# --- the three formats ---------------------------------------------------------------

def from_jsonl(path, ftrace):
    for line in open(path, encoding="utf-8"):
        e = json.loads(line)
        fields, name = e.get("fields", {}), e["name"].split(":")[-1]
        if e["name"].startswith("proc:"):
            *numbers, all_of_it = readings(e)
            yield from numbers
            if numbers and all_of_it:
                continue
        if "ip" in e.get("common", {}):
            tid = e.get("tid", e["common"].get("tid"))
            yield json.dumps([e["time_ns"], "sample", e["name"], None if tid == -1 else tid])
            # Contexts of waymark's own samples are beside the common fields in JSONL.
            fields = {**{k: v for k, v in e.items() if k in ("addr", "callchain", "regs_user", "stack_user")}, **fields}
            if not set(fields) - {"callchain", "regs_user", "stack_user"}:
                continue
            e["common"] |= {k: e[k] for k in ("pid", "tid")}
        renamed = {RENAMED.get(k, k): v for k, v in fields.items()}
        if name in ftrace and set(renamed) <= ftrace[name] and "cpu" in e:
            yield json.dumps([e["time_ns"], name, e["cpu"], plain(renamed)], sort_keys=True)
        elif is_number(e):
            value = fields["state"] if fields["state"] != 0xffffffff else -1
            yield json.dumps([e["time_ns"], "number", str(value)])
        else:
            ns = None if is_whole(fields) else e["time_ns"]
            yield key(ns, fields, e.get("common"), e.get("context"), e.get("message"))


def chrome_sample(sample, time_ns, frames):
    """A sample; its frames have names and callers. Rows of processors are no threads."""
    frame = sample["sf"]
    while frame:
        assert frames[frame]["name"], frame
        frame = frames[frame].get("parent")
    assert isinstance(sample["pid"], int) and isinstance(sample["weight"], int), sample
    tid = sample["tid"]
    return json.dumps([time_ns, "sample", sample["name"], tid if tid < 10000000 else None])


def refuse(constant):
    raise ValueError(f"{constant} is no JSON")


def from_chrome(path):
    with open(path, encoding="utf-8") as f:
        trace = json.load(f, parse_constant=refuse, parse_float=decimal.Decimal)
    base = int(trace["otherData"].get("ts_0_ns", "0"))

    def ns(us):
        n = us * 1000
        assert n == int(n)
        return base + int(n)

    for sample in trace.get("samples", []):
        yield chrome_sample(sample, ns(sample["ts"]), trace["stackFrames"])
    for e in trace["traceEvents"]:
        args, phase = e["args"], e["ph"]
        if phase == "M" or e["pid"] == 10000002:
            continue
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int) and e["name"] is not None
        begin = ns(e["ts"])
        if phase == "C" and e["name"].startswith("proc:"):
            [(unit, value)] = args.items()
            pid = None if e["pid"] == 10000003 else e["pid"]
            yield reading(begin, pid, e["name"], unit, value)
            continue
        if phase == "C":
            yield json.dumps([begin, "number", str(list(args.values())[0])])
            continue
        assert phase in ("i", "X", "B", "b", "e"), phase
        if phase in ("X", "b") and is_whole(args):
            begin = None
        if not (phase == "e" and not args):
            yield key_of_args(begin, args)
        if "$end" in args:
            yield key_of_args(ns(e["ts"] + e["dur"]), args["$end"])


def parse_text(path):
    """protoc's text as (name, value) pairs; a message's value is a list of them."""
    stack = [[]]
    for line in open(path, encoding="ascii"):
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            message = []
            stack[-1].append((line[:-2], message))
            stack.append(message)
        else:
            name, value = line.split(": ", 1)
            if value.startswith('"'):
                value = unescape(value[1:-1])
            elif name == "double_value":
                value = float(value)
            elif value in ("true", "false"):
                value = value == "true"
            elif re.fullmatch(r"-?[0-9]+", value):
                value = int(value)
            stack[-1].append((name, value))
    assert len(stack) == 1
    return stack[0]


def unescape(text):
    special = {"n": 10, "r": 13, "t": 9}
    out = re.sub(rb"\\([0-7]{1,3}|.)", lambda m: bytes([int(m[1], 8) if m[1][:1].isdigit() else
                                                       special.get(m[1].decode(), m[1][0])]),
                 text.encode())
    return out.decode()


def annotation(a, names):
    """(name, value): a value, a dict, a list, or None."""
    name, value, entries, elements = None, None, {}, []
    for k, v in a:
        if k in ("name_iid", "name"):
            name = names["debug_annotation_names"][v] if k == "name_iid" else v
        elif k == "dict_entries":
            entries.update([annotation(v, names)])
        elif k == "array_values":
            elements.append(annotation(v, names)[1])
        else:
            value = v
    return name, entries or elements or value


def perfetto_reading(ns, e, track):
    """Of the process that is the track's parent, or of the machine."""
    of, pid = divmod(track["parent_uuid"], 1 << 40)
    assert of == 1 or (of, pid) == (9, 0)
    counter = dict(track["counter"])
    unit = {"UNIT_TIME_NS": "ns", "UNIT_SIZE_BYTES": "bytes"}.get(counter.get("unit"))
    value = e["counter_value"] if "counter_value" in e else float(e["double_counter_value"])
    return reading(ns, pid if of == 1 else None, track["name"],
                   unit or counter.get("unit_name", "value"), value)


def perfetto_sample(p, packet, sequences):
    """A sample; everything it refers to was written before on its sequence."""
    if "trace_packet_defaults" in p:
        timebase = dict(dict(p["trace_packet_defaults"])["perf_sample_defaults"])["timebase"]
        sequences[p["trusted_packet_sequence_id"]] = (dict(timebase)["name"], collections.defaultdict(dict))
    event, known = sequences[p["trusted_packet_sequence_id"]]
    for kind, entry in p.get("interned_data", []):
        known[kind][dict(entry)["iid"]] = entry
    for kind, entry in p.get("interned_data", []):
        if kind == "callstacks":
            assert all(f in known["frames"] for k, f in entry if k == "frame_ids"), entry
        entry = dict(entry)
        assert entry.get("function_name_id", 0) in (0, *known["function_names"]), entry
        assert entry.get("mapping_id", 0) in (0, *known["mappings"]), entry
        assert entry.get("path_string_ids", 0) in (0, *known["mapping_paths"]), entry
    sample = dict(p["perf_sample"])
    assert sample["callstack_iid"] in known["callstacks"]
    return json.dumps([p["timestamp"], "sample", event, sample.get("tid")])


def from_perfetto(path):
    names = collections.defaultdict(dict)
    tracks, open_bars, sequences = {}, collections.defaultdict(int), {}
    for _, packet in parse_text(path):
        p = dict(packet)
        if "perf_sample" in p:
            yield perfetto_sample(p, packet, sequences)
            continue
        for kind, entry in p.get("interned_data", []):
            entry = dict(entry)
            names[kind][entry["iid"]] = entry["name"]
        if "track_descriptor" in p:
            tracks[dict(p["track_descriptor"])["uuid"]] = dict(p["track_descriptor"])
        if "ftrace_events" in p:
            cpu = dict(p["ftrace_events"])["cpu"]
            for kind, e in p["ftrace_events"]:
                if kind == "event":
                    message, fields = [x for x in e if x[0] not in ("timestamp", "pid")][0]
                    yield json.dumps([dict(e)["timestamp"], message, cpu, plain(dict(fields))],
                                     sort_keys=True)
        if "track_event" not in p:
            continue
        e = dict(p["track_event"])
        assert e["track_uuid"] in tracks, "a track that is not described"
        if tracks[e["track_uuid"]].get("name") == "Lost events":
            continue
        if "name_iid" in e:
            assert names["event_names"][e["name_iid"]] is not None
        args = dict(annotation(a, names) for k, a in p["track_event"] if k == "debug_annotations")
        track = tracks[e["track_uuid"]]
        if e["type"] == "TYPE_COUNTER" and track["name"].startswith("proc:"):
            yield perfetto_reading(p["timestamp"], e, track)
        elif e["type"] == "TYPE_COUNTER":
            yield json.dumps([p["timestamp"], "number", str(e["counter_value"])])
        elif e["type"] == "TYPE_SLICE_END":
            open_bars[e["track_uuid"]] -= 1
            assert open_bars[e["track_uuid"]] >= 0, "an end without a begin"
            if "$end" in args:
                yield key_of_args(p["timestamp"], args["$end"] or {})
        else:
            open_bars[e["track_uuid"]] += e["type"] == "TYPE_SLICE_BEGIN"
            yield key_of_args(None if is_whole(args) else p["timestamp"], args)


def main():
    kind, jsonl, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    read, ftrace = (from_chrome, {}) if kind == "chrome" else (from_perfetto, FTRACE)
    found = collections.Counter(k for f in files for k in read(f))
    wanted = collections.Counter(from_jsonl(jsonl, ftrace))
    missing, extra = wanted - found, found - wanted
    for title, counter in (("missing", missing), ("not in the trace", extra)):
        for k in list(counter)[:5]:
            print(f"{title}: {k}")
    print(f"{sum(found.values())} events")
    return 1 if missing or extra else 0


sys.exit(main())
