# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses the generic form of MLIR, as far as tile kernels need it."""
import re

LINE = re.compile(r'\s*(?:(?P<results>%[^=]*?) = )?"(?P<name>[\w.]+)"'
                  r"\((?P<operands>[^)]*)\)(?: <\{(?P<properties>.*?)\}>)?"
                  r"(?P<rest>.*)$")


class Op:
    def __init__(self, name, operands, properties):
        self.name, self.operands, self.properties = name, operands, properties
        self.results, self.regions, self.attributes = [], [], ""
        self.operand_types, self.result_types, self.line = [], [], ""

    def attribute(self, key):
        """The text of a property; None if there is none."""
        text = self.properties or ""
        match = re.search(r"(?:^|[ ,{])%s = " % re.escape(key), text)
        if not match:
            return None
        return split(text[match.end():])[0]

    def segments(self):
        """Operands by groups."""
        sizes = [int(n) for n in re.findall(
            r"\d+", self.attribute("operandSegmentSizes").split(":")[1])]
        result, first = [], 0
        for size in sizes:
            result.append(self.operands[first:first + size])
            first += size
        return result

    def array(self, key):
        """The integers of an `array<i64: ...>`."""
        text = self.attribute(key).split(":")
        return [int(n) for n in re.findall(r"-?\d+", text[1])] if len(
            text) > 1 else []


class Block:
    def __init__(self, arguments):
        self.arguments, self.ops = arguments, []


def split(text, separator=","):
    """Splits at separators outside brackets."""
    parts, depth, first = [], 0, 0
    position = 0
    while position < len(text):
        letter = text[position]
        if letter in "<([{":
            depth += 1
        elif letter in ")]}" or letter == ">" and text[position - 1] != "-":
            depth -= 1
        elif letter == '"':
            position = text.index('"', position + 1)
        elif letter == separator and depth == 0:
            parts.append(text[first:position].strip())
            first = position + 1
        position += 1
    last = text[first:].strip()
    return parts + [last] if last else parts


def types_of(signature):
    """`(a, b) -> c` as two lists."""
    depth = 0
    for position, letter in enumerate(signature):
        if letter in "<([{":
            depth += 1
        elif letter in ")]}" or letter == ">" and signature[position - 1] != "-":
            depth -= 1
        if depth == 0 and signature.startswith("->", position):
            sources = signature[:position].strip()
            results = signature[position + 2:].strip()
            if results.startswith("("):
                results = results[1:-1]
            return split(sources[1:-1]), split(results)
    raise ValueError(signature)


class Reader:
    def __init__(self, text):
        self.lines, self.position = text.splitlines(), 0

    def read(self):
        """The ops up to the end of a region, and its blocks."""
        block = Block([])
        while self.position < len(self.lines):
            line = self.lines[self.position]
            stripped = line.strip()
            if stripped.startswith("}"):
                return block
            self.position += 1
            if not stripped or stripped.startswith("//"):
                continue
            if stripped.startswith("^bb"):
                inside = stripped[stripped.find("(") + 1:stripped.rfind(")")]
                names = [part.split(":")[0].strip()
                         for part in split(inside)] if "(" in stripped else []
                assert not block.ops, "one block per region"
                block = Block(names)
                continue
            if stripped.startswith("#"):
                raise ValueError("attribute aliases are not read: " + line)
            block.ops.append(self.op(line))
        return block

    def op(self, line):
        match = LINE.match(line)
        if not match:
            raise ValueError("cannot read " + line)
        op = Op(match["name"], split(match["operands"]), match["properties"])
        op.line = line.strip()
        for result in split(match["results"] or ""):
            name, _, count = result.partition(":")
            op.results += ([name] if not count else
                           ["%s#%d" % (name, n) for n in range(int(count))])
        rest = match["rest"]
        while rest.strip().endswith("({") or rest.strip() == "}, {":
            op.regions.append(self.read())
            rest = self.lines[self.position]
            self.position += 1
            if rest.strip() == "}, {":
                continue
        op.attributes = rest[:rest.rfind(" : ")]
        colon = rest.find(" : (") if op.regions == [] else rest.rfind(" : (")
        op.operand_types, op.result_types = types_of(rest[colon + 3:])
        return op


def read(text):
    """The top-level ops."""
    return Reader(text).read().ops
