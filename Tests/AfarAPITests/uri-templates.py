#!/usr/bin/env python3
"""Compares uri-templates.json with PyPI's uritemplate, or writes the file with --write. `make uri-templates` runs this script.

Each case has a template, its variables and the expansion. The value of a variable is a text, a list of texts, or a list of pairs.
The cases leave out what uritemplate 4.2 expands differently than RFC 6570 specifies:

- values with escapes in {+x} and {#x}: it doesn't encode the rest of the value
- empty members of lists and pairs in {;x*}: it writes an equals sign
- empty lists in {x}, {+x}, {#x} and {;x}: it doesn't treat them as undefined
- non-ASCII characters outside of expressions: it doesn't encode them
"""

import json
import pathlib
import random
import sys
import urllib.parse

import uritemplate

COUNT = 500
TABLE = pathlib.Path(__file__).with_suffix(".json")
NAMES = ["a", "b2", "under_score", "dotted.name", "UPPER", "x%20y", "_"]
LITERALS = ["", "/", "x", "?q=1", "/~u/", "http://example.com/", "%41", "#f", "-._!$&'()*+,;=:@[]"]
ALPHABET = list("abcXYZ019-._~:/?#[]@!$&'()*+,;=% \"<>\\^`{|}\t") + ["ä", "é", "e\u0301", "漢", "😀", "\u00a0"]
OPERATORS = ["", "+", "#", ".", "/", ";", "?", "&"]


class Generator:
    def __init__(self):
        self.random = random.Random(6570)

    def number(self, limit):
        # Only random() returns the same numbers in all versions of Python.
        return int(self.random.random() * limit)

    def choice(self, values):
        return values[self.number(len(values))]

    def text(self, operator, allows_empty):
        while True:
            text = "".join(self.choice(ALPHABET) for _ in range(self.number(6)))
            has_escape = urllib.parse.unquote(text) != text
            if (text or allows_empty) and not (has_escape and operator in "+#" and operator):
                return text

    def value(self, operator):
        kind = self.number(4)
        count = self.number(4)
        if kind > 1 and count == 0 and operator not in ("?", "&", "/", "."):
            count = 1
        allows_empty = operator != ";"
        if kind == 2:
            return [self.text(operator, allows_empty) for _ in range(count)]
        if kind == 3:
            return [(self.text(operator, allows_empty), self.text(operator, allows_empty)) for _ in range(count)]
        return self.text(operator, True)

    def case(self):
        template, variables = self.choice(LITERALS), {}
        # Each variable is used only once, because its value depends on the operator.
        names = NAMES.copy()
        for _ in range(1 + self.number(2)):
            operator, specifications = self.choice(OPERATORS), []
            for _ in range(1 + self.number(3)):
                name = names.pop(self.number(len(names)))
                modifier = self.choice(["", "", "*", f":{1 + self.number(5)}"])
                if self.number(6) > 0:
                    value = self.value(operator)
                    variables[name] = value
                    if not isinstance(value, str) and modifier.startswith(":"):
                        modifier = "*"
                specifications.append(name + modifier)
            template += "{" + operator + ",".join(specifications) + "}" + self.choice(LITERALS)
        return {"template": template, "variables": variables, "expansion": uritemplate.expand(template, variables)}


def main():
    generator = Generator()
    lines = [json.dumps(generator.case(), ensure_ascii=True) for _ in range(COUNT)]
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    if "--write" in sys.argv[1:]:
        TABLE.write_text(text)
    elif TABLE.read_text() != text:
        sys.exit(f"{TABLE} differs from the expansions of uritemplate {uritemplate.__version__}.")
    print(f"{COUNT} expansions equal those of uritemplate {uritemplate.__version__}.")


main()
