#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The hash over all values (doc/format/hash.md) of babeltrace2's text on standard input.

Lines are babeltrace2's, with any header; prints "events N" and "hash 0x...", as waymark info --hash does.
"""
import re
import sys

MASK = (1 << 64) - 1
F = 0x9E3779B97F4A7C15
M = 0xD6E8FEB86659FD93

ESCAPES = {c: v for c, v in zip(b"abefnrtv", b"\a\b\x1b\f\n\r\t\v")}
STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
INDEX = re.compile(rb"\[\d+\] = ")
NAME = re.compile(rb"(?:[^\s{}\[\](),\"]+) = ")
TOKEN = re.compile(rb"[^\s,]+")
ESCAPE = re.compile(rb"\\(x[0-9a-f]{2}|.)")


def mix(x):
    x = ((x ^ x >> 32) * M) & MASK
    x = ((x ^ x >> 32) * M) & MASK
    return x ^ x >> 32


def text_hash(b):
    h = len(b)
    for i in range(0, len(b), 8):
        h = ((h ^ int.from_bytes(b[i : i + 8], "little")) * F) & MASK
        h ^= h >> 32
    return h


def unescape(b):
    def one(m):
        e = m[1]
        if len(e) == 3:
            return bytes([int(e[1:], 16)])
        return bytes([ESCAPES.get(e[0], e[0])])

    return ESCAPE.sub(one, b)


REAL = re.compile(rb"(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?")


def real(sign, whole, part, power):
    """%g's six digits and the exponent of ten of the first."""
    part = part or b""
    digits = (whole + part).lstrip(b"0")
    exponent = int(power or 0) + len(whole) - 1 - (len(whole + part) - len(digits))
    v = (exponent + 1024 << 20) + int(digits.ljust(6, b"0"))
    return (-v if sign else v) & MASK


def number(token):
    if token.startswith(b"0x"):
        return int(token, 16)
    if token.startswith(b"0b"):
        return int(token[2:], 2)
    if re.fullmatch(rb"0[0-7]+", token):
        return int(token, 8)
    if re.fullmatch(rb"-?[0-9]+", token):
        return int(token) & MASK
    if token in (b"true", b"false"):
        return int(token == b"true")
    if m := REAL.fullmatch(token):
        return real(*m.groups())
    return text_hash(token)


class Line:
    def __init__(self, line, at):
        self.line, self.at, self.values = line, at, []

    def skip(self, text):
        if not self.line.startswith(text, self.at):
            raise ValueError(f"{text!r} expected at {self.at}: {self.line!r}")
        self.at += len(text)

    def sees(self, text):
        return self.line.startswith(text, self.at)

    def match(self, pattern):
        m = pattern.match(self.line, self.at)
        if m:
            self.at = m.end()
        return m

    def members(self):
        """Behind "{", up to and with " }"."""
        while not self.sees(b" }"):
            if self.sees(b","):
                self.skip(b",")
            self.skip(b" ")
            self.match(NAME)
            self.value()
        self.skip(b" }")

    def elements(self):
        self.values.append(0)
        count = len(self.values) - 1
        while not self.sees(b" ]"):
            if self.sees(b","):
                self.skip(b",")
            self.skip(b" ")
            if not self.match(INDEX):
                raise ValueError(f"index expected at {self.at}: {self.line!r}")
            self.value()
            self.values[count] += 1
        self.skip(b" ]")

    def enumeration(self):
        if self.sees(b"<unknown>"):
            self.skip(b"<unknown>")
        while self.match(STRING):
            if self.sees(b", "):
                self.skip(b", ")
        self.skip(b" : container = ")
        self.values.append(number(self.match(TOKEN)[0]))
        self.skip(b" )")

    def value(self):
        if self.sees(b"{"):
            self.skip(b"{")
            self.members()
        elif self.sees(b"["):
            self.skip(b"[")
            self.elements()
        elif self.sees(b"( "):
            self.skip(b"( ")
            self.enumeration()
        elif self.sees(b'"'):
            self.values.append(text_hash(unescape(self.match(STRING)[1])))
        else:
            self.values.append(number(self.match(TOKEN)[0]))

    def hash(self):
        while self.at < len(self.line):
            if self.sees(b", "):
                self.skip(b", ")
            self.skip(b"{")
            self.members()
        factor, total = F, len(self.values)
        for v in self.values:
            total = (total + v * factor) & MASK
            factor = (factor * F) & MASK
        return mix(total)


def main():
    events = total = 0
    for line in sys.stdin.buffer:
        line = line.rstrip(b"\n")
        at = line.find(b": {")
        events += 1
        total = (total + Line(line, len(line) if at < 0 else at + 2).hash()) & MASK
    print(f"events {events}\nhash 0x{total:016x}")


if __name__ == "__main__":
    main()
