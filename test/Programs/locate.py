# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the first value of a kernel's digest (values.py) that a device computes wrong.

The digest is a chain, `digest = digest * odd + bits`, which a region op carries through
its regions. A program stores a prefix of the chain in place of all of it; the shortest
prefix that differs ends with the value that is wrong.
"""
import re

USES = re.compile(r"%[\w$]+(?:#\d+)?")
DEFINITION = re.compile(r"\s*((?:%[\w$]+(?::\d+)?(?:, )?)+) = ")
LEAST = 2  # spaces in front of a kernel


class Located(Exception):
    """`line` is that of the wrong value, from 0."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line = line


def depth(line):
    return len(line) - len(line.lstrip())


class Search:
    """`differs` says whether a program differs from the reference."""

    def __init__(self, text, kernel, differs):
        self.lines, self.differs = text.splitlines(), differs
        self.begin = next(n for n, line in enumerate(self.lines)
                          if f"gpu.func @{kernel}(" in line)
        self.end = next(n for n in range(self.begin + 1, len(self.lines))
                        if self.lines[n].strip() and depth(self.lines[n]) <= LEAST)

    def definition(self, name, before):
        """The line that defines a value, above another."""
        base = name.partition("#")[0]
        for n in range(before - 1, self.begin, -1):
            found = DEFINITION.match(self.lines[n])
            if found and base in re.findall(r"%[\w$]+", found[1]):
                return n
        return None

    def chain(self, name, use):
        """[(prefix, bits)], the longest first; the last one has no bits."""
        result = []
        while True:
            total = self.definition(name, use)
            match = total and re.search(r"= arith\.addi (\S+), (\S+) :",
                                        self.lines[total])
            scaled = match and self.definition(match[1], total)
            before = scaled and re.search(r"= arith\.muli (\S+), %k\d+ :",
                                          self.lines[scaled])
            if not before:
                return result + [(name, None)]
            result.append((name, match[2]))
            name = before[1]

    def with_prefix(self, use, name, prefix):
        changed = list(self.lines)
        changed[use] = re.sub(re.escape(name) + r"(?![\w$#])", prefix, changed[use],
                              count=1)
        return "\n".join(changed) + "\n"

    def locate(self, use, name):
        """`name`, which is the digest in the line `use`, differs."""
        chain = self.chain(name, use)
        low, high = 0, len(chain) - 1  # chain[low] differs; chain[high + 1] does not
        if self.differs(self.with_prefix(use, name, chain[high][0])):
            low = high
        while low + 1 < high:
            middle = (low + high) // 2
            if self.differs(self.with_prefix(use, name, chain[middle][0])):
                low = middle
            else:
                high = middle
        prefix, bits = chain[low]
        if bits:
            raise Located(self.definition(bits, use), bits)
        self.descend(prefix, use)

    def descend(self, name, use):
        """Into the regions of the op that gives a digest."""
        op = self.definition(name, use)
        if op is None:
            return
        indent = depth(self.lines[op])
        end = next(n for n in range(op + 1, self.end)
                   if self.lines[n].strip() == "}" and depth(self.lines[n]) == indent)
        for n in range(op + 1, end):
            line = self.lines[n]
            words = USES.findall(line)
            is_end = re.match(r"\s*(scf|affine)\.(yield|condition)\b", line)
            if not is_end or depth(line) != indent + 2 or not words:
                continue
            for word in words[:3]:  # a loop's counter and condition may be in front
                chain = self.chain(word, n)
                if len(chain) > 1 and not self.differs(
                        self.with_prefix(n, word, chain[-1][0])):
                    self.locate(n, word)
        raise Located(op, name)


def slice_of(search, line, most=16):
    """The lines on which a value depends, the nearest ones."""
    found, pending = {line}, [line]
    while pending and len(found) < most:
        at = pending.pop(0)
        for name in USES.findall(search.lines[at].partition(" = ")[2]):
            source = search.definition(name, at)
            if source is not None and source not in found:
                found.add(source)
                pending.append(source)
    return [f"{n + 1}: {search.lines[n].strip()}" for n in sorted(found)]


def place_of(message):
    """(sync, line of iris.alloc) at which the first buffer differs; None: none does."""
    found = re.search(r"at sync (\d+) .*?\(iris\.alloc at [^:]*:(\d+)", message)
    return found and found.groups()


def kernel_of(text, message):
    """The kernel whose digest is the buffer that the message names, or None."""
    place = place_of(message)
    if not place:
        return None
    lines = text.splitlines()
    buffer = re.match(r"\s*(%\w+) =", lines[int(place[1]) - 1])[1]
    for launch in lines:
        found = re.search(r"iris\.launch @kernels::@(k\d+) .*args\((.*?) :", launch)
        if not found or buffer not in found[2].split(", "):
            continue
        place = found[2].split(", ").index(buffer)
        head = next(l for l in lines if f"gpu.func @{found[1]}(" in l)
        name = re.findall(r"(%\w+): ", head)[place]
        if name == "%digest":
            return found[1]
    return None


def locate(text, message, differs):
    """Lines that say where a program differs, which it does with `message`."""
    kernel = kernel_of(text, message)
    if not kernel:
        return ["what differs is no digest"]
    search = Search(text, kernel, differs)
    use, name = next(
        (n, USES.findall(line)[1 if "iris.store" in line else 0])
        for n, line in enumerate(search.lines[:search.end])
        if n > search.begin and re.search(r"(tile|iris)\.store .*, %digest\[", line))
    try:
        search.locate(use, name)
    except Located as found:
        return ([f"@{kernel}: {found} is the first that differs:"]
                + slice_of(search, found.line))
    return [f"@{kernel}: what the digest begins with differs"]
