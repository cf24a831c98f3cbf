#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""json_check.py SCHEMAS VERB[:lines] FILE... - validates JSON of waymark.

Each FILE is a document of `waymark VERB`, or with :lines one document a line.
The VERB event:lines means lines of `print --jsonl`. Refuses duplicate members
and NaN. Prints how many documents were valid; the first error ends it.
"""
import json
import pathlib
import sys

from jsonschema import Draft202012Validator


def unique(pairs):
    members = dict(pairs)
    assert len(members) == len(pairs), f"duplicate members: {[name for name, _ in pairs]}"
    return members


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def parse(text):
    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def load(folder, verb):
    name = "print" if verb == "event" else verb
    schema = json.loads((pathlib.Path(folder) / f"waymark-{name}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return {"$ref": "#/$defs/event", "$defs": schema["$defs"]} if verb == "event" else schema


def deepest(error):
    """The error below oneOf that tells most: the one farthest inside the document."""
    inner = [deepest(e) for e in error.context or ()]
    return max(inner, key=lambda e: len(e.absolute_path), default=error)


def check(validator, verb, text, where):
    document = parse(text)
    if verb != "event":
        assert list(document)[:2] == ["schema", "schema_version"], f"{where}: begins otherwise"
    for error in validator.iter_errors(document):
        error = deepest(error)
        place = "/".join(str(step) for step in error.absolute_path)
        sys.exit(f"{where}: {place}: {error.message[:400]}")


def main(folder, verb, *files):
    verb, _, lines = verb.partition(":")
    validator = Draft202012Validator(load(folder, verb))
    nr = 0
    for name in files:
        text = pathlib.Path(name).read_text(encoding="utf-8")
        for document in text.rstrip("\n").split("\n") if lines else [text]:
            check(validator, verb, document, name)
            nr += 1
    print(nr)


main(*sys.argv[1:])
