#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""report_compare.py WAYMARK FILE KEYS [ONLY] [--no-children | --hierarchy] - shares of `waymark report` against `perf report`.

Both are asked for the same keys over the same perf.data; ONLY is a regular
expression of the first key of rows that count. With --hierarchy the rows of
each level are compared, known by the texts above them. Prints one line; exit
status 1 when a share differs by more than 0.01 percentage points, or a row is
missing on one side.
"""
import json
import re
import subprocess
import sys

PERF_KEYS = {"comm": "comm", "dso": "dso", "sym": "sym", "srcline": "srcline"}
BRANCH_KEYS = ["dso_from", "dso_to", "symbol_from", "symbol_to", "mispredict", "cycles", "in_tx", "abort"]
BRANCH_DEFAULT = ["comm", "dso_from", "symbol_from", "symbol_to", "cycles"]
PERF_KEYS.update({k: k for k in BRANCH_KEYS})
LIMIT = 0.0101  # limit for differences in percentage points; perf prints two digits


def plain(texts):
    """Without what perf writes in two ways: an address of 0; and names no longer than it shows them. The end of a
    branch that is in no mapping is of a hypervisor in perf 6.1."""
    texts = (re.sub(r"^\[H\] (0x)?([0-9a-f]{16})$", r"[.] 0x\2", t) for t in texts)
    return tuple(re.sub(r"^(\[.\]) 0{16}$", r"\1 0x0000000000000000", t)[:240] for t in texts)


def branch_flag(keys, perf):
    branches = any(k in BRANCH_KEYS for k in keys)
    return "-b" if branches else "--no-branch-stack" if perf else "--stdio"


def is_address(key):
    return any(re.match(r"\[.\] 0x[0-9a-f]{16}$", t) for t in key)


def perf_rows(path, keys, children):
    """{(key texts): [children, self]} for each of perf's tables; without children where there are no chains."""
    flag = "--children" if children else "--no-children"
    args = ["perf", "report", "--stdio", branch_flag(keys, True), "--no-group", "--no-inline", flag, "-t", "\x01", "--percent-limit", "0",
            "-w", "16,256,256,256", "-i", path]
    if keys != BRANCH_DEFAULT:  # perf 6.1 dies of these keys in -s when an end of a branch is in no mapping
        args += ["-s", ",".join(PERF_KEYS[k] for k in keys)]
    out = ""
    for more in (["-g", "none"], []):  # these options are refused when there are no call chains
        run = subprocess.run(args + more, capture_output=True, stdin=subprocess.DEVNULL)
        out = run.stdout.decode("utf-8", "replace")
        if "\n# Samples:" in out:
            break
    children = "Children\x01" in out
    tables = []
    for line in out.splitlines():
        if line.startswith("# Samples:"):
            tables.append({})
        if not line or line.startswith("#"):
            continue
        parts = [p.strip() for p in line.split("\x01")]
        nr = 2 if children else 1
        if len(parts) < nr + len(keys) or not parts[0].endswith("%"):
            continue
        shares = [float(p.rstrip("%")) for p in parts[:nr]]
        key = plain(parts[nr:nr + len(keys)])
        # perf has several rows with the same text (functions with one name), and rounds each
        old = tables[-1].get(key, (0, [0] * nr))
        tables[-1][key] = (old[0] + 1, [a + b for a, b in zip(old[1], shares)])
    return tables, children


def perf_parts(path, keys):
    """The same of --hierarchy: a row's key is as long as its level."""
    args = ["perf", "report", "--stdio", "--hierarchy", "--no-branch-stack", "--no-group", "--no-inline", "-t", "\x01",
            "--percent-limit", "0", "-w", "16,256,256,256", "-i", path, "-s", ",".join(PERF_KEYS[k] for k in keys)]
    out = ""
    for more in (["-g", "none"], []):
        out = subprocess.run(args + more, capture_output=True, stdin=subprocess.DEVNULL).stdout.decode("utf-8", "replace")
        if "\n# Samples:" in out:
            break
    tables, above = [], []
    for line in out.splitlines():
        if line.startswith("# Samples:"):
            tables.append({})
        share, _, text = line.partition("\x01")
        if line.startswith("#") or not share.strip().endswith("%"):
            continue
        depth = (len(share) - len(share.lstrip()) - 1) // 3
        above[depth:] = [text.strip()]
        key = plain(above)
        old = tables[-1].get(key, (0, [0]))
        tables[-1][key] = (old[0] + 1, [old[1][0] + float(share.strip().rstrip("%"))])
    return tables


def our_parts(waymark, path, keys):
    run = subprocess.run([waymark, "report", "--json", "--hierarchy", "-s", ",".join(keys), path], capture_output=True)
    if run.returncode not in (0, 5):
        sys.exit("waymark report failed: " + run.stderr.decode())

    def walk(rows, above, found):
        last = None
        for r in rows:
            texts = [r[k] for k in keys if r[k] is not None]
            assert len(texts) == 1 and (last is None or r["weight"] <= last), r
            last = r["weight"]
            key = above + texts
            old = found.setdefault(plain(t.strip() for t in key), [0.0])
            old[0] += r["self"] * 100
            parts = r.get("parts", [])
            assert not parts or sum(p["weight"] for p in parts) == r["weight"], r
            walk(parts, key, found)
        return found
    return [walk(t["rows"], [], {}) for t in json.loads(run.stdout)["tables"]]


def our_rows(waymark, path, keys, children):
    args = [waymark, "report", "--json", branch_flag(keys, False), "-s", ",".join(keys), path]
    if not children:
        args.append("--no-children")
    run = subprocess.run(args, capture_output=True)
    if run.returncode not in (0, 5):
        sys.exit("waymark report failed: " + run.stderr.decode())
    tables = []
    for t in json.loads(run.stdout)["tables"]:
        rows = {}
        for r in t["rows"]:
            key = plain((r[k] or "").strip() for k in keys)
            shares = [r["self"] * 100]
            if children:
                shares.insert(0, r.get("children", r["self"]) * 100)
            old = rows.get(key)
            rows[key] = [a + b for a, b in zip(old, shares)] if old else shares
        tables.append(rows)
    return tables


def main():
    children = "--no-children" not in sys.argv
    hierarchy = "--hierarchy" in sys.argv
    waymark, path, keys, only = ([a for a in sys.argv[1:] if not a.startswith("--")] + [""])[:4]
    keys = keys.split(",")
    if hierarchy:
        children, theirs, ours = False, perf_parts(path, keys), our_parts(waymark, path, keys)
    else:
        theirs, children = perf_rows(path, keys, children)
        ours = our_rows(waymark, path, keys, children)
    theirs = [t for t in theirs if t]
    bad, rows, worst = [], 0, 0.0
    if len(theirs) != len(ours):
        bad.append(f"{len(theirs)} tables of perf, {len(ours)} of ours")
    for a, b in zip(theirs, ours):
        for key in a.keys() | b.keys():
            # perf prints two rows for a place without a name: one by its offset in the file, one by
            # its address. It also counts callers at addresses where no code can be.
            if (children and (is_address(key) or "[unknown]" in key)) or not re.match(only, key[0]):
                continue
            rows += 1
            nr, x = a.get(key, (1, None))
            y = b.get(key)
            if x is None or y is None:
                if max(x or y) > LIMIT:
                    bad.append(f"{key}: perf {x}, ours {y}")
                continue
            d = max(abs(p - q) for p, q in zip(x, y)) / nr
            worst = max(worst, d)
            if d > LIMIT:
                bad.append(f"{key}: perf {x}, ours {[round(v, 4) for v in y]}")
    print(f"{path.split('/')[-1]}: {rows} rows, largest difference {worst:.4f}, {len(bad)} differ")
    for line in bad[:int(10)]:
        print("  ", line)
    sys.exit(bool(bad) or not rows)


main()
