#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py TOOLS-PREFIX VARIANT MARKED.o PLAIN.o - what marks cost while dormant.

Compares each function of two object files, one compiled with its marks and
one without. The hot path is what can be reached from the function's start
without a site's jump being taken. It may have, for each site, one instruction
more, and register moves; nothing else: no push, no memory operand, no branch.
(An x86 instruction that loads and computes counts as two; a jump to where the
function goes on is layout and counts as none.)
VARIANT load: instead of one instruction a load, a test and a branch.
VARIANT reload, load-reload: the compiler is one that loads memory again after
any asm goto (clang); functions called memory_* are left out.
Prints a line for each function that differs more; exits 1 then.
"""
import re
import subprocess
import sys
from collections import namedtuple

Instruction = namedtuple("Instruction", "address mnemonic operands")
BRANCH = re.compile(r"^(j\w+|b(\.\w+)?|cbn?z|tbn?z)$")
ALWAYS = {"jmp", "b"}
END = {"ret", "retq", "ud2", "hlt", "brk"}
NOTHING = re.compile(r"^(nop\w*|data16|cs|xchg)$")
MOVE = re.compile(r"^(movslq|cltq|[su]xtw|mov[lq]?|mova?p[sd]|movss|movsd|movq|movd|fmov)$")


def functions(prefix, path):
    """{name: [Instruction]} of all functions."""
    out = subprocess.run([prefix + "objdump", "-d", "--no-show-raw-insn", path],
                         capture_output=True, text=True, check=True).stdout
    found, code = {}, None
    for line in out.splitlines():
        if match := re.match(r"^[0-9a-f]+ <(.+)>:$", line):
            code = found.setdefault(match[1], [])
        elif match := re.match(r"^\s+([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
            operands = re.sub(r"\s*(#|//).*$", "", match[3]).strip()
            code.append(Instruction(int(match[1], 16), match[2], operands))
    return found


def sites(prefix, path):
    """Addresses in .text of the patched instructions."""
    out = subprocess.run([prefix + "readelf", "-rW", path],
                         capture_output=True, text=True, check=True).stdout
    found, table = set(), False
    for line in out.splitlines():
        if line.startswith("Relocation section"):
            table = "waymark_sites" in line
        match = re.match(r"^([0-9a-f]+)\s+\S+\s+\S+\s+\S+\s+(\S+) \+ ([0-9a-f]+)$", line)
        if table and match and int(match[1], 16) % 16 == 0 and match[2].startswith(".text"):
            found.add(int(match[3], 16))
    return found


def flag_branches(code):
    """Branches that test a flag just loaded: {address: taken when the flag is not 0}."""
    found, loaded = {}, 0
    for i in code:
        reads = "(%rip)" in i.operands or "[" in i.operands
        if i.mnemonic in ("mov", "cmpl", "cmp", "ldr") and reads:
            loaded = 6
        if loaded and i.mnemonic in ("jne", "cbnz"):
            found[i.address] = True
        elif loaded and i.mnemonic in ("je", "cbz"):
            found[i.address] = False
        loaded = max(0, loaded - 1) if i.mnemonic not in END else 0
    return found


def hot_path(code, flags, site_addresses):
    """Instructions that can be reached while everything is dormant."""
    index = {i.address: k for k, i in enumerate(code)}
    seen, todo = set(), [0]
    while todo:
        k = todo.pop()
        if k in seen or k >= len(code):
            continue
        seen.add(k)
        i = code[k]
        target = None
        if BRANCH.match(i.mnemonic):
            match = re.search(r"([0-9a-f]+) <", i.operands)
            target = index.get(int(match[1], 16)) if match else None
        if i.mnemonic in END or (i.mnemonic in ALWAYS and not i.mnemonic.startswith("b.")):
            follow = []
        else:
            follow = [k + 1]
        if i.address in flags:  # the hot path, not the cold one
            follow = follow if flags[i.address] else [target]
        elif target is not None:
            follow.append(target)
        todo.extend(t for t in follow if t is not None)
    return [code[k] for k in sorted(seen)
            if code[k].address in site_addresses or not NOTHING.match(code[k].mnemonic)]


def is_move(i):
    registers = "(" not in i.operands and "$" not in i.operands and "[" not in i.operands \
        and "#" not in i.operands
    if i.mnemonic == "xor" and len(set(i.operands.split(","))) == 1:
        return True  # a zero
    return bool(MOVE.match(i.mnemonic)) and registers


def weight(i):
    """An operation with an operand in memory is two."""
    alone = re.match(r"^(v?mov|lea|cvt|push|pop|call|j|prefetch|ld|st)", i.mnemonic)
    return 2 if "(" in i.operands and not alone else 1


def tally(hot, site_addresses):
    """How much of each sort is on a hot path, sites themselves left out."""
    count = {"instructions": 0, "moves": 0, "pushes": 0, "memory": 0, "branches": 0, "sites": 0}
    for i in hot:
        if i.address in site_addresses:
            count["sites"] += 1
        elif is_move(i):
            count["moves"] += 1
        elif i.mnemonic not in ALWAYS:
            count["instructions"] += weight(i)
            count["pushes"] += i.mnemonic in ("push", "pop", "stp", "ldp")
            memory = "(" in i.operands or "[" in i.operands
            count["memory"] += memory and not i.mnemonic.startswith("lea")
            count["branches"] += bool(BRANCH.match(i.mnemonic))
    return count


def compare(name, marked, plain, variant):
    """What is too much, in words; empty: nothing."""
    wanted = int(name.rsplit("_", 1)[1])
    more = {key: marked[key] - plain[key] for key in marked}
    allowed = dict.fromkeys(("instructions", "pushes", "memory", "branches"), 0)
    if variant == "load":  # load, test, branch, and where an address needs an instruction, that one too
        allowed.update(instructions=4 * wanted, memory=wanted, branches=wanted)
    elif more["sites"] != wanted:
        return f"{more['sites']} sites on the hot path, not {wanted}"
    bad = [f"{more[key]} more {key}" for key, most in allowed.items() if more[key] > most]
    if more["moves"] > 6:  # for four arguments and a result
        bad.append(f"{more['moves']} more moves")
    return ", ".join(bad)


def main():
    prefix, variant, marked_path, plain_path = sys.argv[1:]
    sorts = "leaf|around|loop|pointer" + ("" if "reload" in variant else "|memory")
    variant = variant.split("-")[0]
    marked, plain = functions(prefix, marked_path), functions(prefix, plain_path)
    at = sites(prefix, marked_path)
    names = sorted(n for n in plain if re.match(rf"^({sorts})_.*\d$", n))
    failed, most_moves = 0, 0
    for name in names:
        flags = flag_branches(marked[name]) if variant == "load" else {}
        hot, cold = hot_path(marked[name], flags, at), hot_path(plain[name], {}, set())
        with_marks, without = tally(hot, at), tally(cold, set())
        most_moves = max(most_moves, with_marks["moves"] - without["moves"])
        if bad := compare(name, with_marks, without, variant):
            failed += 1
            print(f"{name}: {bad}")
            for i in hot:
                print(f"    {'*' if i.address in at else ' '} {i.mnemonic:8} {i.operands}")
    print(f"{len(names)} functions, {failed} cost more, at most {most_moves} moves more")
    sys.exit(1 if failed or len(names) < 20 else 0)


if __name__ == "__main__":
    main()
