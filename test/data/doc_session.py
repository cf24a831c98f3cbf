#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""doc_session.py [-w] FILE... - runs what documents show, and compares.

A session is, in Markdown, what ```console blocks hold; in a manual page, what
is between .EX and .EE in its EXAMPLES. Lines that begin with "$ " are
commands, the lines behind them their output; no lines: any output. A file is
one session, in one shell, in the current folder. A block ```c NAME is written
to the file NAME first; `cat NAME` of a manual page makes a file of what it
shows. A command must succeed unless the next one is `echo $?`.

Numbers, addresses and sizes are compared as words, not by value; a line "..."
stands for any lines. The current folder is shown as /home/ada, the machine's
name as "debian". -w writes the real output into the Markdown document.
Exit status 1 and the differences when a document is wrong.
"""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile


# A document sleeps until the programs that it started in the background are ready. On a busy
# machine that takes longer, so this sleep also waits for the program and the recordings themselves,
# at most half a minute.
WAIT = """recordings=
there() {
	local r
	[ -z "$!" ] || [ ! -e /proc/$!/exe ] || ! [ /proc/$!/exe -ef /proc/$$/exe ] || return 1
	for r in $recordings; do [ -e "$r/.waymark" ] || return 1; done
}
sleep() {
	local i
	command sleep "$@"
	for i in {1..300}; do ! there || break; command sleep 0.1; done
	recordings=
	command sleep 1
}
# Waits, at most ten seconds, until the background program sleeps for the first time: a recorder that comes before
# its start finds this shell, or a process without marks.
started() {
	local i
	for i in {1..200}; do
		[ -e /proc/$!/exe ] || break
		[ /proc/$!/exe -ef /proc/$$/exe ] || ! grep -q '^State:.S' /proc/$!/status || break
		command sleep 0.05
	done 2>/dev/null
}"""


def unroff(line):
    line = line.replace("\\(aq", "'").replace("\\(dq", '"').replace("\\-", "-").replace("\\&", "")
    return line.replace("\\(ti", "~").replace("\\(ha", "^").replace("\\e", "\\")


def blocks(path, lines):
    """(first line, last line, kind, name) of each block shown."""
    out, start, kind, name, heading = [], None, None, None, ""
    roff = path.suffix != ".md"
    for i, line in enumerate(lines):
        if roff:
            heading = line[4:] if line.startswith(".SH ") else heading
            if line == ".EX" and heading == "EXAMPLES":
                start, kind = i + 1, "console"
            elif line == ".EE" and start is not None:
                out.append((start, i, kind, None))
                start = None
        elif start is None and line.startswith("```"):
            kind, _, name = line[3:].partition(" ")
            start = i + 1
        elif start is not None and line == "```":
            out.append((start, i, kind, name))
            start = None
    return out


def commands(path, lines):
    """[command, output lines shown, line of the first, line behind the last]"""
    found = []
    for first, last, kind, name in blocks(path, lines):
        text = lines[first:last]
        if path.suffix != ".md":
            text = [unroff(t) for t in text]
        if kind == "c" and name:
            pathlib.Path(name).write_text("\n".join(text) + "\n")
        if kind != "console":
            continue
        for i, line in enumerate(text):
            if line.startswith("$ "):
                found.append([line[2:], [], first + i + 1, first + i + 1])
            elif found:
                found[-1][1].append(line)
                found[-1][3] = first + i + 1
    return found


def run(found):
    """The output and status of each command; one shell runs them all."""
    with tempfile.TemporaryDirectory() as folder:
        script = ["exec </dev/null", WAIT, "unset WAYMARK_ENABLE WAYMARK_SESSION MAKEFLAGS MAKELEVEL MFLAGS", "last=0"]
        for i, (command, *_) in enumerate(found):
            background = re.search(r"waymark record .*-o (\w+) .*&$", command)
            if background:
                script.append(f"recordings+=' {background.group(1)}'")
            script += [f"{{ (exit $last)", command, f"}} >{folder}/{i} 2>&1", "last=$?",
                       f"echo $last >{folder}/{i}.status"]
            if command.endswith(" &") and not background:
                script.append("started")
        subprocess.run(["bash", "-c", "\n".join(script)], check=False, timeout=240)
        out = []
        for i in range(len(found)):
            text = pathlib.Path(folder, str(i))
            status = pathlib.Path(folder, f"{i}.status")
            printed = shown_as(text.read_text(errors="replace")) if text.exists() else ""
            number = int(status.read_text()) if status.exists() else -1
            # On a busy machine, readings of /proc come late and are reported as lost, which is not
            # an error of the document.
            short = re.sub(r"^waymark: events are missing: \d+ lost: \d+ late\n", "", printed, flags=re.MULTILINE)
            out.append((short, 0 if number == 5 and short != printed else number))
        return out


def shown_as(text):
    text = text.replace(str(pathlib.Path.cwd()), "/home/ada")
    return re.sub(rf"(^host +|\] ){re.escape(socket.gethostname())}\b", r"\1debian", text,
                  flags=re.MULTILINE)


def plain(line):
    line = re.sub(r"0x[0-9a-f]+", "HEX", line.rstrip())
    line = re.sub(r"\b(\d+ bytes|[\d.]+ [KMG]iB)", "SIZE", line)
    line = re.sub(r"\?\.\?+|[0-9]+(,[0-9]{3})*([.:][0-9]+)*", "N", line)
    return re.sub(r" +", " ", line)


def same(shown, got):
    """Lines against lines; "..." matches any number of them."""
    if not shown:
        return not got
    if shown[0].strip() == "...":
        return any(same(shown[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and plain(shown[0]) == plain(got[0]) and same(shown[1:], got[1:])


def check(path, write):
    lines = path.read_text().splitlines()
    found = commands(path, lines)
    if not found:
        print(f"{path}: shows no command")
        return 1
    for command, shown, *_ in found:
        if path.suffix != ".md" and re.fullmatch(r"cat \w+\.c", command):
            pathlib.Path(command.split()[1]).write_text("\n".join(shown) + "\n")
    bad = 0
    results = run(found)
    for i, ((command, shown, *_), (got, status)) in enumerate(zip(found, results)):
        asked = i + 1 < len(found) and found[i + 1][0] == "echo $?"
        if status != 0 and not asked:
            print(f"{path}: '{command}' ended with {status}:\n{got}")
            bad = 1
        elif not write and shown and not same(shown, got.splitlines()):
            print(f"{path}: '{command}' printed\n{got}and not\n" + "\n".join(shown))
            bad = 1
    if write and not bad:
        for (command, shown, first, last), (got, _) in reversed(list(zip(found, results))):
            if shown and "..." not in shown:
                lines[first:last] = got.splitlines()
        path.write_text("\n".join(lines) + "\n")
    print(f"{path}: {len(found)} commands")
    return bad


def main():
    files = [a for a in sys.argv[1:] if a != "-w"]
    return max(check(pathlib.Path(f), "-w" in sys.argv) for f in files)


sys.exit(main())
