#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe_program.py SEED PROGRAM.c PLACES - writes a random program in C for probe_values.py.

Its functions have parameters of random types: numbers, enumerations, pointers, and structures by value
and by pointer with bit fields, unions, arrays and packed parts. PLACES names them and their members.
"""
import random
import sys

NUMBERS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
           "long long", "enum e0", "enum e1"]
BITS = {"unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32, "long long": 64, "unsigned long": 64}
REAL = ["float", "double", "long double", "float _Complex"]


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.structures = []  # (name, declaration, paths of its numbers)
        self.places = []
        self.out = ["enum e0 { A0, B0 = 9 };", "enum e1 { A1 = -5, B1 = 7 };"]
        self.calls = []

    def members(self, depth):
        """declarations of members, and the paths of their numbers"""
        text, paths = [], []
        for i in range(self.r.randint(1, 5)):
            name, kind = f"m{depth}{i}", self.r.random()
            if kind < 0.35:
                type = self.r.choice(list(BITS))
                text.append(f"{type} {name} : {self.r.randint(1, BITS[type])};")
                paths.append(name)
            elif kind < 0.65:
                text.append(f"{self.r.choice(NUMBERS)} {name};")
                paths.append(name)
            elif kind < 0.8:
                sizes = [self.r.randint(1, 4) for _ in range(self.r.randint(1, 2))]
                text.append(f"{self.r.choice(NUMBERS[1:])} {name}" + "".join(f"[{n}]" for n in sizes) + ";")
                paths.append(name + "".join(f"[{self.r.randrange(n)}]" for n in sizes))
            elif depth < 2:
                inner, found = self.members(depth + 1)
                unnamed = self.r.random() < 0.4
                packed = " __attribute__((packed))" if self.r.random() < 0.3 else ""
                text.append(f"{self.r.choice(['struct', 'union'])}{packed} {{ {inner} }} {'' if unnamed else name};")
                paths += found if unnamed else [f"{name}.{p}" for p in found]
        return (" ".join(text) or "int none;"), (paths or ["none"])

    def structure(self):
        name = f"s{len(self.structures)}"
        text, paths = self.members(0)
        # Members of unnamed parts may have one name twice: C refuses that.
        while len(set(paths)) != len(paths) or len({p.split(".")[0].split("[")[0] for p in paths}) < 1:
            text, paths = self.members(0)
        packed = " __attribute__((packed))" if self.r.random() < 0.3 else ""
        self.out.append(f"struct{packed} {name} {{ {text} }};")
        self.structures.append((name, paths))

    def function(self, at):
        parameters, asked, arguments, kept = [], [], [], []
        for i in range(self.r.randint(1, 9)):
            name, kind = f"p{i}", self.r.random()
            structure, paths = self.r.choice(self.structures)
            if kind < 0.5:
                parameters.append(f"{self.r.choice(NUMBERS)} {name}")
                arguments.append(str(self.r.randint(-100, 100)))
                asked.append(name)
            elif kind < 0.6:
                parameters.append(f"{self.r.choice(REAL)} {name}")
                arguments.append(f"{self.r.randint(-9, 9)}.5")
            elif kind < 0.75:
                parameters.append(f"struct {structure} {name}")
                arguments.append(f"v_{structure}")
                asked += [f"{name}.{p}" for p in paths]
            else:
                parameters.append(f"struct {structure} *{name}")
                arguments.append(f"&v_{structure}")
                asked += [f"{name}->{p}" for p in paths]
            kept.append(f"KEEP({name});" if self.r.random() < 0.5 else "")
        returned = self.r.choice(["int", "int", f"struct {self.structures[-1][0]}"])
        result = "return 0;" if returned == "int" else f"return v_{self.structures[-1][0]};"
        static = self.r.choice(["", "static "])
        self.out.append(f"{static}__attribute__((noinline)) {returned} f{at}({', '.join(parameters)})\n"
                        f"{{\n\tchanges++;\n\t{' '.join(kept)}\n\t{result}\n}}")
        self.calls.append(f"f{at}({', '.join(arguments)});")
        self.places.append(" ".join([f"f{at}"] + asked))

    def text(self):
        for _ in range(5):
            self.structure()
        self.out.append('#define KEEP(x) __asm__ volatile("" : : "r"(&x) : "memory")')
        self.out.append("static volatile int changes;")
        self.out += [f"static struct {name} v_{name};" for name, _ in self.structures]
        for at in range(8):
            self.function(at)
        fill = "\n".join(f"\tfill(&v_{name}, sizeof(v_{name}));" for name, _ in self.structures)
        self.out.append("static unsigned long state = %d;\n"
                        "static void fill(void *to, unsigned long bytes)\n{\n"
                        "\tfor (unsigned char *p = to; bytes--; p++)\n"
                        "\t\t*p = (unsigned char)((state = state * 6364136223846793005 + 1442695040888963407) >> 40);\n}"
                        % self.r.randrange(1 << 60))
        calls = "\n".join("\t" + call for call in self.calls)
        self.out.append(f"int main(void)\n{{\n{fill}\n{calls}\n\treturn changes == 0;\n}}")
        return "\n".join(self.out) + "\n"


def main(seed, program, places):
    p = Program(seed)
    text = p.text()
    open(program, "w").write(text)
    open(places, "w").write("\n".join(place for place in p.places if " " in place) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
