#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_text.py PROGRAM PLACES [-O0] - compares probes with those of perf, without running the program.

PLACES is a file as for probe_values.py. For each function in it, perf probe -D writes the definition
of a probe for each expression; the same expression is fetched by waymark at the address that perf
chose, and both must fetch it from the same register or memory, with the same width. Where both probe
a function by its name, they must probe the same addresses: not with -O0, where perf skips the
prologue. Prints each difference and "N equal, N only of perf"; exits with 1 when there is a
difference.
"""
import re
import subprocess
import sys
import tempfile

from probe_values import address

EVENTS = "/sys/kernel/tracing/uprobe_events"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def perf_probes(program, place, expression=""):
    """[(offset in the file, the value's definition)], one for each address; [] if perf refuses it"""
    out = run("perf", "probe", "-x", program, "-D", f"{place} {expression}".strip())
    probes = re.findall(r"^p:\S+ \S+:(0x[0-9a-f]+)(?: \S+?=(\S+))?$", out.stdout, re.M)
    return [(int(offset, 16), value) for offset, value in probes] if not out.returncode else []


def is_probed(event):
    return run("waymark", "list", event).returncode == 0


def waymark_probes(events):
    """for each event: [(offset in the file, the value's definition)]"""
    with tempfile.TemporaryDirectory() as folder:
        options = [o for e in events for o in ("-e", e)]
        out = run("waymark", "record", "-q", "--preload", "none", "-o", folder + "/t", *options, "--",
                  "sh", "-c", f'echo $PPID; cat {EVENTS}')
    recorder = out.stdout.split("\n")[0]
    found = {}
    for number, offset, value in re.findall(
            rf"^p:waymark_{recorder}_[0-9a-f]+/e([0-9]+) \S+:(0x[0-9a-f]+)(?: \S+?=(\S+))?$",
            out.stdout, re.M):
        found.setdefault(int(number), []).append((int(offset, 16), value))
    return [found.get(i, []) for i in range(len(events))]


def agree(ours, theirs):
    """whether two definitions of a value are the same register or memory, and have the same width"""
    our_place, _, our_type = ours.rpartition(":")
    place, _, kind = theirs.rpartition(":") if ":" in theirs else (theirs, "", "")
    bits = re.match(r"b(\d+)@(\d+)/(\d+)$", kind)
    if bits:  # perf counts from the other end, which the kernel does not; gdb agrees with waymark
        width, position, size = map(int, bits.groups())
        kind = f"b{width}@{size - position - width}/{size}"
    else:
        kind, our_type = (re.sub(r"^[suxb](?=\d)", "", t) for t in (kind, our_type))
    return our_place == place and kind in ("", our_type)


def addresses(program, functions):
    """{function: the offsets in the file that waymark probes for its name}"""
    named = [f for f in functions if is_probed(f"uprobe:{program}:{f}")]
    probes = waymark_probes([f"uprobe:{program}:{f}" for f in named])
    return {f: {offset for offset, _ in found} for f, found in zip(named, probes)}


def compare_addresses(program, ours):
    """the functions that perf and waymark do not probe at the same addresses"""
    for function, offsets in ours.items():
        theirs = {offset for offset, _ in perf_probes(program, function)}
        if theirs and theirs != offsets:
            yield f"{function}: perf probes {sorted(map(hex, theirs))}, waymark {sorted(map(hex, offsets))}"


def perf_values(program, places):
    """{(function, expression, offset): [definition, the one as text]}, without the values of globals"""
    found = {}
    for function, expressions in places.items():
        for e in expressions:
            for kind in ("", ":string"):
                for offset, value in perf_probes(program, function, e + kind):
                    if not value.startswith("@"):  # perf's name of a symbol, which the kernel refuses
                        found.setdefault((function, e, offset), []).append(value)
    return found


def main(arguments):
    plain = arguments[-1:] == ["-O0"]
    program, listed = arguments[:2]
    places = {words[0]: words[1:] for words in map(str.split, open(listed)) if words and ":" not in words[0]}
    named = addresses(program, places)
    theirs = perf_values(program, places)
    events = {(f, e, o): f"uprobe:{program}:{f if o in named.get(f, ()) else hex(address(program, o))}({e})"
              for f, e, o in theirs}
    taken = {key: event for key, event in events.items() if is_probed(event)}
    wrong = [] if plain else list(compare_addresses(program, named))
    equal = 0
    for key, probes in zip(taken, waymark_probes(list(taken.values()))):
        found = dict(probes).get(key[2])
        if found and any(agree(found, value) for value in theirs[key]):
            equal += 1
        else:
            wrong.append(f"{key}: perf fetches {theirs[key]}, waymark {found}")
    for line in wrong:
        print(line)
    print(f"{equal} equal, {len(theirs) - len(taken)} only of perf")
    return bool(wrong)


sys.exit(main(sys.argv[1:]))
