#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_values.py [--body] PROGRAM PLACES - compares what a probe fetches with what gdb sees there.

PROGRAM is linked at fixed addresses (-no-pie). PLACES is a file with lines "PLACE EXPRESSION...": a
place as after uprobe:PROGRAM:, and what to fetch there. Each expression that waymark does not refuse
is recorded at the first hit of the place, and must be equal to gdb's at the same address. --body:
for a function, gdb looks where its body begins, because without optimization a debugger cannot see
parameters before. Prints each difference and "N equal, N refused, N that gdb has not"; exits with 1
when there is a difference.
"""
import json
import subprocess
import sys
import tempfile

GDB = """
import gdb, json

def value(v):
    t = v.type.strip_typedefs()
    if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return int(v.cast(t.target().pointer()))
    if t.code == gdb.TYPE_CODE_PTR:
        target = t.target().strip_typedefs()
        return v.string() if target.sizeof == 1 and target.name in ("char", "unsigned char") else int(v)
    if t.code == gdb.TYPE_CODE_FLT:
        return float(v)
    if t.code == gdb.TYPE_CODE_ARRAY:
        low, high = t.range()
        return [value(v[i]) for i in range(low, high + 1)]
    if t.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        raise gdb.error("a structure")
    return int(v)

class Place(gdb.Breakpoint):
    def stop(self):
        for e in self.expressions:
            try:
                v = gdb.parse_and_eval(e)
                found = {"value": value(v)} if not v.is_optimized_out else {"error": "optimized out"}
            except Exception as x:
                found = {"error": str(x)}
            print("@@" + json.dumps([self.place, e, found]))
        self.enabled = False
        return False

for place, where, expressions in json.load(open(PLACES)):
    b = Place(where)
    b.place, b.expressions = place, expressions
gdb.execute("run")
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def segments(program):
    """[(offset, bytes, address)] of what is loaded"""
    lines = [line.split() for line in run("readelf", "-lW", program).stdout.splitlines()]
    return [(int(w[1], 16), int(w[4], 16), int(w[2], 16)) for w in lines if w[:1] == ["LOAD"]]


def address(program, offset):
    return next(a + offset - o for o, n, a in segments(program) if o <= offset < o + n)


def offset_of(program, name):
    """the offset in the file of the first place of a probe; None when waymark refuses it"""
    out = run("waymark", "list", "--json", name)
    if out.returncode:
        return None
    kernel = next(g for g in json.loads(out.stdout)["groups"] if "kernel" in g)
    return kernel["events"][0]["places"][0]["offset"]


def gdb_values(program, places, body):
    """{(place, expression): value, or None when gdb has none}"""
    asked = []
    for place, expressions in places.items():
        offset = offset_of(program, f"uprobe:{program}:{place}")
        if offset is None:  # inlined everywhere, or removed
            continue
        function = body and ":" not in place
        asked.append([place, place if function else f"*{address(program, offset):#x}", expressions])
    with tempfile.NamedTemporaryFile("w", suffix=".json") as names, tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        json.dump(asked, names)
        names.flush()
        script.write(GDB.replace("PLACES", repr(names.name)))
        script.flush()
        out = run("gdb", "-batch", "-nx", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
                  "-ex", "set language c", "-x", script.name, program)
    rows = [json.loads(line[2:]) for line in out.stdout.splitlines() if line.startswith("@@")]
    for missed in set(places) - {row[0] for row in rows}:
        del places[missed]  # the compiler has removed all calls of it
    if not places:
        sys.exit("gdb stopped nowhere:\n" + out.stdout + out.stderr)
    return {(place, e): found.get("value") for place, e, found in rows}


def fetched_values(program, places):
    """{(place, expression): value}, without those that waymark refuses"""
    command, names = [], {}
    for at, (place, expressions) in enumerate(places.items()):
        taken = [e for e in expressions if offset_of(program, f"uprobe:{program}:{place}({e})") is not None]
        names[place] = {f"p{at}v{i}": e for i, e in enumerate(taken)}
        values = ", ".join(f"{name}={e}" for name, e in names[place].items())
        command += ["-e", f"uprobe:{program}:{place}({values})"] if taken else []
    with tempfile.TemporaryDirectory() as folder:
        trace = folder + "/t"
        out = run("waymark", "record", "-q", "--preload", "none", "-o", trace, *command, "--", program)
        lines = run("waymark", "print", "--jsonl", trace).stdout.splitlines()
        if not lines:
            sys.exit("nothing was recorded: " + out.stderr)
    found = {}
    for event in map(json.loads, lines):
        for place, known in names.items():
            for name, e in known.items():
                if name in event["fields"]:
                    found.setdefault((place, e), event["fields"][name])
    return found


def same(ours, theirs):
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, bool) or isinstance(ours, bool):
        return int(ours) == int(theirs)
    return ours == theirs


def main(arguments):
    body = arguments[:1] == ["--body"]
    program, listed = arguments[body:]
    places = {words[0]: words[1:] for words in map(str.split, open(listed)) if words}
    theirs = gdb_values(program, places, body)
    ours = fetched_values(program, places)
    wrong = [key for key, v in ours.items() if theirs[key] is not None and not same(v, theirs[key])]
    for place, e in wrong:
        print(f"{place}: {e}: waymark {ours[place, e]!r}, gdb {theirs[place, e]!r}")
    unseen = sum(theirs[key] is None for key in ours)
    refused = [" ".join(key) for key in theirs if key not in ours]
    print(f"{len(ours) - len(wrong) - unseen} equal, {len(refused)} refused, {unseen} that gdb has not")
    if refused:
        print("refused:", ", ".join(refused))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
