#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""filter_cases.py - a second, slow opinion on what filters mean.

Parses and evaluates the filter language of src/event/filter.h on its own (no
code shared with it), packs a few records, and writes src/event/filter_cases_test_kit.h
and its neighbours: records, expressions, and the expected answer of each. With
--check it judges the answers in those files instead.

    test/data/filter_cases.py [--check]
"""
import pathlib
import random
import re
import struct
import sys

M64 = (1 << 64) - 1


class NoValue(Exception):
    """Division by zero, an index out of range: the whole filter is false."""


# --- values: (kind, value); kind i (signed), u (unsigned), f, s, g (glob), e (enum) ---

def wrap(value, unsigned):
    value &= M64
    return value if unsigned or value < 1 << 63 else value - (1 << 64)


def integer(value, unsigned=False):
    return ("u" if unsigned else "i", wrap(value, unsigned))


def glob_to_regex(pattern):
    """pattern: list of (char, literal?)"""
    out, i = "", 0
    while i < len(pattern):
        c, literal = pattern[i]
        if not literal and c == "*":
            out += "(?s:.*)"
        elif not literal and c == "?":
            out += "(?s:.)"
        elif not literal and c == "[":
            j = i + 1
            if j < len(pattern) and pattern[j][0] in "!^":
                j += 1
            if j < len(pattern) and pattern[j][0] == "]":
                j += 1
            while j < len(pattern) and pattern[j] != ("]", False):
                j += 1
            if j == len(pattern):
                out += r"\["
            else:
                body = "".join(p[0] for p in pattern[i + 1:j])
                negated = body[:1] in ("!", "^")
                body = body[1:] if negated else body
                body = re.sub(r"([\\\[\]^&~|])", r"\\\1", body)
                out += "[" + ("^" if negated else "") + body + "]"
                i = j
        else:
            out += re.escape(c)
        i += 1
    return out


# --- tokens ---

TOKEN = re.compile(r"""\s*(?:
    (?P<float>\d+\.\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)
  | (?P<int>0[xX][0-9a-fA-F]+|\d+)(?P<unit>ns|us|ms|s)?(?!\w)
  | (?P<name>[A-Za-z_]\w*)
  | \$(?P<context>\w+)
  | (?P<char>'(?:\\.[0-9a-f]*|[^'\\])')
  | (?P<text>"(?:\\.|[^"\\])*")
  | (?P<op>\|\||&&|==|!=|<=|>=|<<|>>|[-|^&<>+*/%!~()\[\]])
)""", re.X)
UNITS = {None: 1, "ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
BINDING = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7,
           ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}


def unquote(text):
    """The characters between quotes, each with whether a backslash was before it."""
    out, i = [], 1
    while i < len(text) - 1:
        if text[i] != "\\":
            out.append((text[i], False))
            i += 1
            continue
        c = text[i + 1]
        digits = re.match(r"x([0-9a-fA-F]{1,2})|([0-7]{1,3})", text[i + 1:])
        if digits:
            out.append((chr(int(digits[1], 16) if digits[1] else int(digits[2], 8)), True))
            i += 1 + digits.end()
        else:
            out.append((ESCAPES.get(c, c), True))
            i += 2
    return out


def tokenize(text):
    pos, out = 0, []
    while text[pos:].strip():
        m = TOKEN.match(text, pos)
        assert m, (text, pos)
        pos = m.end()
        if m["float"]:
            out.append(("const", ("f", float(m["float"]))))
        elif m["int"]:
            digits = m["int"]
            base = 16 if digits[:2].lower() == "0x" else 8 if re.match(r"0\d", digits) else 10
            value = int(digits, base) * UNITS[m["unit"]]
            out.append(("const", integer(value, value >= 1 << 63)))
        elif m["char"]:
            out.append(("const", integer(ord(unquote(m["char"])[0][0]))))
        elif m["text"]:
            chars = unquote(m["text"])
            special = any(not lit and c in "*?" for c, lit in chars) or \
                "[" in re.sub(r"\\\[", "", glob_to_regex(chars))
            out.append(("const", ("g", glob_to_regex(chars)) if special else
                        ("s", "".join(c for c, _ in chars))))
        elif m["name"]:
            out.append(("name", m["name"]))
        elif m["context"]:
            out.append(("context", m["context"]))
        else:
            out.append(("op", m["op"]))
    return out + [("end", None)]


class Parser:
    def __init__(self, text):
        self.tokens = tokenize(text)
        self.pos = 0

    def take(self):
        self.pos += 1
        return self.tokens[self.pos - 1]

    def peek(self):
        return self.tokens[self.pos]

    def expect(self, op):
        assert self.take() == ("op", op)

    def unary(self):
        kind, value = self.take()
        if kind == "op" and value in "-!~":
            return (value, self.unary())
        if (kind, value) == ("op", "("):
            inner = self.expression(1)
            self.expect(")")
            return inner
        if kind == "name" and self.peek() == ("op", "["):
            self.take()
            index = self.expression(1)
            self.expect("]")
            return ("element", value, index)
        assert kind in ("name", "const", "context"), (kind, value)
        return (kind, value)

    def expression(self, binding):
        left = self.unary()
        while self.peek()[0] == "op" and BINDING.get(self.peek()[1], 0) >= binding:
            op = self.take()[1]
            left = (op, left, self.expression(BINDING[op] + 1))
        return left


# --- evaluation ---

def truth(v):
    assert v[0] in "iufe", v
    return v[1] != 0


def labels_of(enum, text):
    kind, value = text
    return [v for label, v in enum if
            (re.fullmatch(value, label) if kind == "g" else value == label)]


def compare(op, a, b):
    if a[0] in "sg" or b[0] in "sg":
        if a[0] == "g" or (a[0] == "s" and b[0] == "e"):
            mirror = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
            op, a, b = mirror.get(op, op), b, a
        if a[0] == "e":
            values = labels_of(a[2], b)
            assert values, b
            if op in ("==", "!="):
                return (a[1] in values) == (op == "==")
            assert len(values) == 1
            b = ("i", values[0])
        else:
            same = bool(re.fullmatch(b[1], a[1])) if b[0] == "g" else a[1] == b[1]
            return same == (op == "==")
    x, y = a[1], b[1]
    if "f" in (a[0], b[0]):
        x, y = float(x), float(y)
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op]


def arith(op, a, b):
    if "f" in (a[0], b[0]):
        x, y = float(a[1]), float(b[1])
        if op == "/" and y == 0:
            raise NoValue
        return ("f", {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y,
                      "/": lambda: x / y}[op]())
    shift = op in ("<<", ">>")
    unsigned = a[0] == "u" or (b[0] == "u" and not shift)
    x, y = wrap(a[1], unsigned), wrap(b[1], unsigned and not shift)
    if shift:
        count = b[1] if 0 <= b[1] < 64 else 64
        return integer(x << count if op == "<<" else x >> count, unsigned)
    if op in "/%":
        if y == 0:
            raise NoValue
        quotient = abs(x) // abs(y)
        quotient = -quotient if (x < 0) != (y < 0) else quotient
        return integer(quotient if op == "/" else x - quotient * y, unsigned)
    return integer({"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y,
                    "^": x ^ y}[op], unsigned)


def evaluate(node, record):
    op = node[0]
    if op == "const":
        return node[1]
    if op == "name":
        return record.value(node[1])
    if op == "context":
        return ("s", record.contexts["comm"]) if node[1] == "comm" else \
            ("i", record.contexts[node[1]])
    if op == "element":
        return record.element(node[1], evaluate(node[2], record)[1])
    if op == "&&":
        return ("i", int(truth(evaluate(node[1], record)) and truth(evaluate(node[2], record))))
    if op == "||":
        return ("i", int(truth(evaluate(node[1], record)) or truth(evaluate(node[2], record))))
    a = evaluate(node[1], record)
    if len(node) == 2:
        if op == "!":
            return ("i", int(not truth(a)))
        if a[0] == "f":
            return ("f", -a[1])
        if op == "-" and a == ("u", 1 << 63):
            return ("i", -(1 << 63))
        return integer(-a[1] if op == "-" else ~a[1], a[0] == "u")
    b = evaluate(node[2], record)
    if op in ("==", "!=", "<", "<=", ">", ">="):
        return ("i", int(compare(op, a, b)))
    return arith(op, a, b)


def passes(expression, record):
    parser = Parser(expression)
    tree = parser.expression(1)
    assert parser.peek()[0] == "end", expression
    try:
        return truth(evaluate(tree, record))
    except NoValue:
        return False


# --- records ---

CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q",
         "f4": "f", "f8": "d", "b1": "B"}


class Record:
    """An event's fields as (name, type, value...) and the contexts."""

    def __init__(self, name, fields, contexts):
        self.name, self.fields, self.contexts = name, fields, contexts

    def scalar(self, kind, value, labels=None):
        kind = kind.replace("x", "u").replace("p", "u")
        value = struct.unpack("<" + CODES[kind], struct.pack("<" + CODES[kind], value))[0]
        if labels:
            return ("e", value, labels)
        if kind[0] == "f":
            return ("f", value)
        return integer(int(value), kind == "u8")

    def find(self, name):
        return next(f for f in self.fields if f[0] == name)

    def value(self, name):
        _, kind, value, *labels = self.find(name)
        if kind == "s":
            return ("s", value)
        if kind[0] == "c":
            return ("s", value.split("\0")[0])
        return self.scalar(kind, value, *labels)

    def element(self, name, index):
        _, kind, value, *_ = self.find(name)
        if kind[0] == "c":
            value = value.ljust(int(kind[1:]), "\0")
        if not 0 <= index < len(value):
            raise NoValue
        if kind[0] in "scz":
            v = value[index]
            return integer(ord(v) if isinstance(v, str) else v)
        return self.scalar(kind[-2:], value[index])

    def pack(self):
        out = b""
        for _, kind, value, *_ in self.fields:
            element = kind[-2:].replace("x", "u").replace("p", "u")
            if kind == "s":
                out += value.encode("latin-1") + b"\0"
            elif kind[0] == "c":
                out += value.encode("latin-1").ljust(int(kind[1:]), b"\0")
            elif kind == "z":
                out += struct.pack("<I", len(value)) + value
            elif kind[0] in "aq":
                if kind[0] == "q":
                    out += struct.pack("<I", len(value))
                out += struct.pack("<%d%s" % (len(value), CODES[element]), *value)
            else:
                out += struct.pack("<" + CODES[element], value)
        return out

    def schema(self):
        """The schema and the values[] of its '#'."""
        parts, values = [], []
        for name, kind, value, *labels in self.fields:
            if kind[0] == "c":
                values.append(int(kind[1:]))
                kind = "c#"
            elif kind[0] == "a":
                values.append(len(value))
                kind = "a#" + kind[-2:]
            elif labels:
                values += [v for _, v in labels[0]]
                kind = "e%s{%s}" % (kind, ",".join(l + "#" for l, _ in labels[0]))
            parts.append(f"{name}:{kind}")
        return ";".join(parts), values


COLORS = [("RED", 1), ("GREEN", 2), ("BLUE", 4), ("DARK RED", 101), ("DARK BLUE", 104)]
LEVELS = [("MIN", -100), ("WARN", 3), ("NOTE", 5), ("WARNING", 3)]
CONTEXT = {"pid": 4711, "tid": 4712, "cpu": 3, "time": 1500000000123, "comm": "worker/7"}


def make_records():
    def query(rows, ms, ratio, big, color, ok, name, arr, tiny, flags, ptr, sql, seq, blob, last,
              note, level, contexts):
        return Record("query", [
            ("rows", "i4", rows), ("ms", "f4", ms), ("ratio", "f8", ratio), ("big", "u8", big),
            ("color", "u1", color, COLORS), ("ok", "b1", ok), ("name", "c8", name),
            ("arr", "ai2", arr), ("tiny", "i1", tiny), ("flags", "x4", flags),
            ("ptr", "p8", ptr), ("sql", "s", sql), ("seq", "qi4", seq), ("pid", "u2", 77),
            ("blob", "z", blob), ("last", "i2", last), ("note", "s", note), ("wide", "i8", -rows),
            ("level", "i4", level, LEVELS)], contexts)

    return [
        query(150, 2.5, 0.25, (1 << 64) - 1, 1, 1, "alpha", [10, -20, 30, -32768], -5, 0xF0F0,
              0x7FFF12345678, "SELECT * FROM t WHERE a[3] = '\\'", [100, -1, 1 << 30], b"\0\xff\x10",
              -300, "a note", 3, CONTEXT),
        query(0, -0.0, float("1e300"), 0, 104, 0, "", [0, 0, 0, 0], 127, 0, 0, "", [], b"", 0, "",
              -100, dict(CONTEXT, pid=1, cpu=0, comm="")),
        query(-(1 << 31), 1e30, float("nan"), 1 << 63, 7, 1, "12345678", [1, 2, 3, 4], -128,
              0xFFFFFFFF, 1, "insert into x", [7], b"abc" * 20, 32767, "\xe4*?", 5,
              dict(CONTEXT, comm="123456789012345")),
        Record("far", [("s" + str(i), "s", "x" * i) for i in range(20)] +
               [("n", "u8", 42), ("q", "qu8", [1, 2, 1 << 63]), ("end", "i8", -1)], CONTEXT),
        Record("small", [("n", "i8", 9223372036854775807), ("m", "i8", -9223372036854775808),
                         ("u", "u4", 4294967295), ("b", "x1", 255), ("f", "f4", 0.1),
                         ("not", "b1", 0), ("and", "i2", 2), ("time", "u2", 10)], CONTEXT),
    ]


# --- expressions ---

WRITTEN = {
    "query": r'''
rows > 100 | rows >= 150 | rows == 150 | rows != 150 | rows < 150 | rows <= 150 | 100 < rows
150 == rows | 0 >= rows | rows | !rows | !!rows | -rows > 0 | ~rows == -151 | rows == -2147483648
rows + 1 > 150 | rows - 151 < 0 | rows * rows == 22500 | rows / 7 == 21 | rows % 7 == 3
rows / 0 == 1 | rows % 0 == 0 | 10 / rows > 0 | rows != 0 && 300 / rows == 2 | rows == 0 || 300 / rows == 2
!(1 / 0) | 1 / 0 || 1 | 1 || 1 / 0 | 0 && 1 / 0 | rows == rows | rows << 1 == 300 | rows >> 1 == 75
rows << 64 | rows >> 100 == 0 | rows >> 100 == -1 | rows >> -1 == -1 | 1 << 63 == -9223372036854775808
-9223372036854775808 < rows | 9223372036854775808 > rows | -1 < big | big > -1 | big == -1
big == 18446744073709551615 | big >= 18446744073709551615 | big < 0 | big > 9223372036854775807
big + 1 == 0 | big * 2 == 18446744073709551614 | big / 2 == 9223372036854775807 | big - big == 0
big >> 63 == 1 | big << 1 > 0 | big & 1 | big % 10 == 5 | big == big | big != rows | rows < big
rows - big > 0 | wide == -150 | wide < 0 && wide > -200 | wide == 2147483648
color == "RED" | color != "RED" | "RED" == color | color == "DARK*" | color != "DARK*"
color == "*BLUE" | color == "DARK BLUE" | color == "[RG]*" | color <= "GREEN"
color > "GREEN" | "GREEN" > color | "GREEN" <= color | color == 1 | color == 104 | color + 0 == 7
color == "*" | color != "*" | color | level == "WARN" | level == "WARNING" | level >= "NOTE"
level < "WARN" | level == "MIN" | level != "W*" | level == "*N*" | level > "MIN" | color == "RED" && level == "WARN"
ok | !ok | ok == 1 | ok == 0 | ok && rows | ok || rows | ok && !rows || color == "DARK BLUE"
name == "alpha" | name != "alpha" | name == "" | name == "a*" | name == "*a" | name == "a?p*" | name == "12345678"
name == "1*8" | name == "123456789" | name == "[a-c]lpha" | name == "[!a]lpha" | name == "[^a-c]*" | name[0] == 'a'
name[4] == 'a' | name[7] == 0 | name[7] == '8' | name[rows / 150] == 'l' | name == note | note == note | sql != note
arr[0] == 10 | arr[1] < 0 | arr[3] == -32768 | arr[rows - 149] == -20 | arr[arr[0] - 10] == 10 | arr[rows] == 0
arr[0] + arr[1] + arr[2] == 20 | arr[2] == 3 || arr[2] == 30 | arr[tiny] == 1 | arr[0] | !arr[0]
tiny == -5 | tiny < 0 | tiny == 127 | tiny >= -128 | tiny > 200 | tiny < -200 | tiny + 251 == 246
flags & 0x10 | flags & 0xf | (flags & 0xf0) == 0xf0 | flags & 0xf0 == 0xf0 | flags | 1 && flags ^ flags
flags == 0xF0F0 | flags ^ 0xffff == 0x0f0f | (flags ^ 0xffff) == 0x0f0f | flags == 4294967295 | ~flags == -4294967296
ptr == 0x7fff12345678 | ptr > 0x7fff00000000 | ptr == 0 | !ptr | ptr & 1 | ptr >> 40 == 0x7f
sql == "SELECT*" | sql == "*FROM t*" | sql == "select*" | sql != "SELECT*" | sql == "" | sql == "*" | sql == "?*"
sql == "SELECT * FROM t WHERE a[3] = '\\'" | sql == "SELECT \* FROM t WHERE a\[3] = '\\'" | sql == "SELECT \*\*"
sql == "*a\[3]*" | sql == "*a[3]*" | sql == "*\\'" | sql == "*'\\\\'" | sql == "insert into x" | sql == "insert [!i]*"
sql == "insert i*" | sql == "i*t*x" | sql == "*x*x*" | sql[0] == 'S' | sql[6] == ' ' | sql[100] == 0 | sql[0] == 'i' || sql[0] == 'S'
note == "a note" | note == "a\x20note" | note == "a\040note" | note == "\xe4\*\?" | note == "\xe4*" | note == "?*?" | note == "[\xe0-\xef]*"
note == "a [m-o]ote" | note == "*[]]" | note == "*[e-]" | note == "*[" | note == "[" | note == "" && rows == 0
seq[0] == 100 | seq[1] == -1 | seq[2] > 1000000 | seq[3] == 0 | seq[0] == 7 | seq[1] | !seq[1] | seq[-1] == 0 | seq[rows - 150] == 100
seq[2] == 1 << 30 | seq[0] > rows | rows > 0 && seq[1] < 0 | blob[0] == 0 | blob[1] == 255 | blob[1] == 0xff && blob[2] == 16
blob[0] == 'a' | blob[59] == 'c' | blob[60] == 'c' | last == -300 | last == 32767 | last > 0 | last < 0 || last == 0 | pid == 77
pid == 77 && $pid == 4711 | $pid == 1 | $tid == 4712 | $tid != $pid | $cpu == 3 | $cpu < 3 | !$cpu | $time > 1500s
$time > 1501s | $time >= 1500000ms && $time < 1500001ms | $time % 1us == 123 | $time / 1s == 1500 | $time - 1500s < 1ms
$comm == "worker/7" | $comm == "worker/*" | $comm == "*/[0-9]" | $comm == "" | $comm == "123456789012345" | $comm != "w*" | $comm == name | $comm == note
ms > 2 | ms == 2.5 | ms < 2.5 | ms >= 2.5 | ms == 0 | ms == 0.0 | ms | !ms | -ms == -2.5 | ms * 2 == 5 | ms + 0.5 == 3 | ms - 3 < 0 | ms / 2 == 1.25
ms / 0 > 1 | ms / 0.0 > 1 | 1 / ms > 0 | 2.5 == ms | 3 > ms | ms > rows | rows > ms | ms > 1e29 | ms == 1e30 | ratio == .25 | ratio == 1e300 | ratio * 1e300 > 1
ratio * ratio > 1e300 | ratio == ratio | ratio != ratio | ratio < 1 || ratio >= 1 | !(ratio < 1) | ratio > 0 && ms > 0 | ratio | !ratio | ratio + ms == 2.75
ratio > -1e-3 | big > ratio | big > 1e19 | big * 1.0 == 18446744073709551616.0 | rows * 0.5 == 75 | rows + 0.5 > rows | ms == 2.5 && sql == "S*" && ok
(rows > 100) + (ms > 2) + ok == 3 | (rows > 100) == ok | (rows > 100 && ok) == 1 | !(rows > 100 && ok) | !(rows > 100 || ok) | (rows > 100 || ok) != 0
rows > 100 && ok && color == "RED" | rows > 100 && ok && color == "BLUE" | rows > 1000 || !ok || color == "BLUE" | rows > 1000 || ok || 1 / 0
rows > 100 && (ok || 1 / 0) && color == "RED" | (rows > 100 || 1 / 0) && (ok || 1 / 0) | (rows < 100 && 1 / 0) || ok | (rows == 0 && !ok) || (rows == 150 && ok)
((rows)) == (150) | 1 + 2 * 3 == 7 | (1 + 2) * 3 == 9 && rows | 10 - 4 - 3 == 3 | 100 / 10 / 5 == 2 | 1 << 2 << 3 == 32 | 1 | 0 | 7 & 3 == 3 | (7 & 3) == 3
1 < 2 == 1 | 2 > 1 > 0 | 3 > 2 > 1 | -7 / 2 == -3 | -7 % 2 == -1 | 7 % -2 == 1 | 0x1F == 31 | 017 == 15 | 'a' == 97 | '\n' == 10 | '\x41' == 65 | '\'' == 39 | '\0' == 0
1 - -1 == 2 | - - 1 == 1 | !0 == 1 | !5 + 1 == 1 | ~0 == -1 | -1 >> 63 == -1 | 18446744073709551615 >> 63 == 1 | 18446744073709551615 > -1 | 10ms == 10000000 | 1s == 1000ms && 1us == 1000ns
rows||ok | rows&&ok | rows|ok | rows&ok | rows^ok | rows>ok | rows>=ok && rows<=150 || !ok | rows-150||ok-1||!tiny+5
''',
    "far": r'''
n == 42 | n > 42 | n < 43 && end == -1 | end | end == -1 && n == 42 | end == -2 | q[0] == 1 | q[1] == 2 | q[2] > 9223372036854775807 | q[2] < 0 | q[3]
s0 == "" | s1 == "x" | s2 == "xx" | s19 == "xxxxxxxxxxxxxxxxxxx" | s19 == "xxxxxxxxxxxxxxxxxx" | s18 != s19 | s19 == s19 | s17[16] == 'x' | s17[17] == 'x'
s19 == "x*x" && s3 == "???" && n == 42 | s3 == "????" || s1 == "?" | n == 42 && s1 == "y" | n == q[1] * 21 | s16 == "xxxxxxxxxxxxxxxx" | s16[n - 42] == 120 | n - 43 > 0 | n / q[0] == 42
''',
    "small": r'''
n == 9223372036854775807 | n + 1 < 0 | n > 9223372036854775806 | n <= 9223372036854775807 | n < 9223372036854775808 | n >= 9223372036854775808 | -n == m + 1
m == -9223372036854775808 | m < 0 | m - 1 > 0 | -m == m | m / -1 == m | m % -1 == 0 | m <= -9223372036854775808 | m < -9223372036854775808 | m >= -9223372036854775808
u == 4294967295 | u > 4294967294 | u + 1 == 4294967296 | u - 4294967296 == -1 | u * u > 0 | u < -1 | u > -1 | b == 0xff | b == -1 | b > 254 | b + 1 == 256
f == 0.1 | f > 0.1 | f < 0.11 && f > 0.09 | f * 10 == 1 | not | !not | and == 2 | and && !not | time == 10 | time < $time | time == 10ns | -f < 0 | f != f
''',
}


class Random:
    """Random expressions over the fields of `query`."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, *items):
        return self.r.choice(items)

    def constant(self):
        return self.pick("0", "1", "2", "7", "100", "150", "151", "0xff", "1024", "-1", "-5", "(-300)",
                         "4294967295", "9223372036854775807", "18446744073709551615", "'a'", "10us",
                         str(self.r.randrange(-70000, 70000)))

    def leaf(self):
        return self.pick("rows", "big", "color", "ok", "tiny", "flags", "ptr", "last", "wide", "pid",
                         "level", "arr[0]", "arr[1]", "arr[3]", "seq[0]", "seq[1]", "name[0]", "blob[1]",
                         "sql[0]", "arr[tiny & 3]", "$pid", "$cpu", self.constant(), self.constant())

    def number(self, depth):
        if depth == 0:
            return self.leaf()
        k = self.r.randrange(10)
        if k == 0:
            return self.pick("-", "~", "!") + self.number(depth - 1)
        if k == 1:
            return "(" + self.test(depth - 1) + ")"
        op = self.pick("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "+", "-")
        return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"

    def float_(self, depth):
        if depth == 0:
            return self.pick("ms", "ratio", "2.5", "0.25", "1e3", "rows", "-1.5")
        op = self.pick("+", "-", "*", "/")
        return f"({self.float_(depth - 1)} {op} {self.float_(depth - 1)})"

    def test(self, depth):
        compare = self.pick("==", "!=", "<", "<=", ">", ">=")
        k = self.r.randrange(12)
        if depth and k < 5:
            op = self.pick("&&", "||")
            text = f"{self.test(depth - 1)} {op} {self.test(depth - 1)}"
            return f"({text})" if self.r.randrange(2) else text
        if k == 5:
            return f"!({self.test(max(depth - 1, 0))})"
        if k == 6:
            return self.pick('sql == "S*"', 'sql != "*x*"', 'name == "?????"', '"alpha" == name',
                             '$comm == "w*"', 'note != ""', 'color == "DARK*"', 'color <= "BLUE"',
                             'level == "W*"')
        if k == 7:
            return f"{self.float_(1)} {compare} {self.float_(depth)}"
        if k == 8:
            return self.number(depth)
        return f"{self.number(depth)} {compare} {self.number(self.r.randrange(depth + 1))}"


def bare_bars(line):
    """Expressions of a line are set apart by ' | '; a '|' of one has none or is in brackets."""
    return [e.strip() for e in line.split(" | ") if e.strip()]


def all_cases(records):
    seen = set()
    for number, record in enumerate(records):
        for line in WRITTEN[record.name].strip().splitlines():
            for expression in bare_bars(line):
                if (number, expression) not in seen:
                    seen.add((number, expression))
                    yield number, expression
    source = Random(20240229)
    balance = {True: 0, False: 0}
    while min(balance.values()) < 250:
        number, expression = source.r.randrange(3), source.test(source.r.randrange(4))
        if len(expression) > 200 or (number, expression) in seen:
            continue
        answer = passes(expression, records[number])
        if balance[answer] >= 250:
            continue
        balance[answer] += 1
        seen.add((number, expression))
        yield number, expression


def c_string(text):
    out = ""
    for c in text:
        out += {'"': r"\"", "\\": r"\\"}.get(c, c)
    return f'"{out}"'


ROOM = pathlib.Path(__file__).resolve().parents[2] / "src/event"
FILES = {"filter_cases_test_kit.h": (0,), "filter_cases_1_test_kit.h": (1,),
         "filter_cases_2_test_kit.h": (2, 3, 4)}  # which records each file contains


def record_lines(records):
    for number, record in enumerate(records):
        schema, values = record.schema()
        c = record.contexts
        yield f"RECORD({number}, {c_string(record.name)}, {c_string(schema)},"
        yield "\tVALUES(%s), %d," % (", ".join(map(str, values or [0])), len(values))
        yield "\tBYTES(%s)," % ", ".join(str(b) for b in record.pack())
        yield "\tCONTEXTS(%d, %d, %d, %d, %s))" % (
            c["pid"], c["tid"], c["cpu"], c["time"], c_string(c["comm"]))


def write():
    records = make_records()
    cases = {number: [] for number in range(len(records))}
    for number, expression in all_cases(records):
        answer = passes(expression, records[number])
        cases[number].append(f"CASE({number}, {c_string(expression)}, {int(answer)})")
    for name, numbers in FILES.items():
        lines = ["/* SPDX-License-Identifier: MIT */",
                 f"/* {name} - written by test/data/filter_cases.py; do not edit. */",
                 "/* clang-format off */"]
        if 0 in numbers:
            lines += record_lines(records)
        lines += [line for number in numbers for line in cases[number]]
        (ROOM / name).write_text("\n".join(lines) + "\n")


def check():
    """Every CASE of the headers, judged anew. (Random expressions may differ by Python version.)"""
    text = "".join((ROOM / name).read_text() for name in FILES)
    records, wrong, nr = make_records(), 0, 0
    for match in re.finditer(r'^CASE\((\d+), "(.*)", ([01])\)$', text, re.M):
        number, answer = int(match[1]), match[3] == "1"
        expression = re.sub(r"\\(.)", r"\1", match[2])
        nr += 1
        if passes(expression, records[number]) != answer:
            print(f"record {number}: {expression}: should be {not answer}")
            wrong += 1
    print(f"{nr} cases, {wrong} wrong")
    return 1 if wrong or nr < 500 else 0


if sys.argv[1:] == ["--check"]:
    sys.exit(check())
write()
