#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the generated reference with what the tools and the library have.

    utils/docs/check_reference.py --pages=FOLDER [--ops=FOLDER] [--build=DIR]
                                  [WHAT...]

--pages is what generate.py wrote, --ops what ops.py wrote (the repository's
pages by default). WHAT is any of these, by default all, each compared in both
directions:

  ops        with those that are registered (iris-compile --list-ops); each has
             a summary, an example, and, on its page, its operands
  language   the element types of --list-ops with those of the ops' operands and
             results
  main       the ops of the table of @main with those of a program that uses
             all of them (test/Docs/Inputs/main.mlir)
  passes     with those that are registered (iris-opt --help), and their options
  options    of the tools' parsers with their --help
  variables  of the environment, that any source file reads
  symbols    of the C API with those that libiris_rt exports
"""
import argparse
import os
import re
import subprocess
import sys

import pages

WHAT = ("ops", "language", "main", "passes", "options", "variables", "symbols")
# Options that programs pass to themselves.
INTERNAL_OPTIONS = {"--dump-fd", "--print-target", "--result-fd"}
# Variables that are read outside of the table: by tests, by libraries, and by the
# emulator (docs/guides/emulated-amd.md).
KNOWN_VARIABLES = {"IRIS_TEST_PACKAGES", "IRIS_TEST_COMPILER",
                   "IRIS_EMULATOR_SEED", "IRIS_EMULATOR_MEMORY",
                   "IRIS_EMULATOR_CHECK"}


ELEMENTS = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32",
            "f64")
# What programs have besides the ops that they are made of.
IMPLIED = {"iris.ctx", "iris.symmetric", "scf.yield", "scf.condition",
           "scf.reduce"}


def element_types(section):
    """The element types in an op's tables of operands and results."""
    found = set()
    for text in re.findall(r"(?m)^\| `\w+` \| ([^|]*) \|$", section):
        text = text.replace("memory element type", " ".join(
            set(ELEMENTS) - {"i1", "index"}))
        text = text.replace("any type", " ".join(ELEMENTS))
        found |= {name for name in ELEMENTS if re.search(rf"\b{name}\b", text)}
    return found


def output(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


class Checker:
    def __init__(self, options):
        self.folder, self.build = options.pages, options.build
        self.ops_folder = options.ops
        self.problems = []

    def page(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def ops_page(self, name):
        with open(os.path.join(self.ops_folder, name),
                  encoding="utf-8") as file:
            return file.read()

    def tool(self, name):
        return os.path.join(self.build, "bin", name)

    def compare(self, what, page, expected, found):
        for name in sorted(expected - found):
            self.problems.append(f"{page}: {what} {name} is missing")
        for name in sorted(found - expected):
            self.problems.append(f"{page}: there is no {what} {name}")

    def ops(self):
        table = output(self.tool("iris-compile"), "--list-ops")
        registered = set(re.findall(r"`((?:iris|tile)\.\w+)`",
                                    table.partition("### Attributes\n")[0]))
        found = {}
        for dialect in ("iris", "tile"):
            sections = re.split(r"(?m)^(?=### |## )",
                                self.ops_page(f"{dialect}.md"))
            for section in sections:
                if match := re.match(rf"### `({dialect}\.\w+)`", section):
                    found[match[1]] = section
        self.compare("op", "ops/*.md", registered, set(found))
        for name, section in found.items():
            if "```mlir" not in section:
                self.problems.append(f"{name} has no example")
            if not re.search(r"(?m)^_.+_$", section):
                self.problems.append(f"{name} has no summary")
        return len(found)

    def language(self):
        table = output(self.tool("iris-compile"), "--list-ops")
        listed = {}
        for names, elements in re.findall(
                r"(?m)^\| (`(?:iris|tile)\..*?) \| [^|]* \| ([^|]*) \|", table):
            for name in re.findall(r"`([\w.]+)`", names):
                listed[name] = set(elements.split(", ")) & set(ELEMENTS)
        for dialect in ("iris", "tile"):
            for section in re.split(r"(?m)^(?=### `)",
                                    self.ops_page(f"{dialect}.md")):
                name = re.match(r"### `([\w.]+)`|", section)[1]
                if name not in listed:
                    continue
                found = element_types(section)
                # The matmul's own verifier excludes more.
                if found != listed[name] and not (
                        name == "tile.matmul" and listed[name] < found):
                    self.problems.append(
                        f"--list-ops: {name} on {sorted(listed[name])}; its "
                        f"operands and results have {sorted(found)}")
        return len(listed)

    def main(self):
        page = pages.read("docs/reference/kernel-language.md")
        table = page.partition("<!-- begin: main -->")[2].partition(
            "<!-- end: main -->")[0]
        listed = set(re.findall(r"`((?:iris|scf|cf|func|memref)\.\w+)`", table))
        program = re.sub(r"//.*", "", pages.read("test/Docs/Inputs/main.mlir"))
        body = program.partition("func.func @main")[2]
        used = set(re.findall(r"\b((?:iris|scf|cf|func|memref)\.\w+)\b", body))
        self.compare("op of @main", "kernel-language.md", used - IMPLIED,
                     listed)
        return len(listed)

    def passes(self):
        own = re.compile(r"^( +)--((?:iris|tile|convert-(?:tile|iris))[\w-]*) "
                         r"|^( +)--([\w-]+)", re.M)
        registered, current, depth = {}, None, 0
        for match in own.finditer(output(self.tool("iris-opt"), "--help")):
            indent = len(match[1] or match[3])
            if match[2] and (current is None or indent <= depth):
                current, depth = match[2], indent
                registered[current] = set()
            elif current and indent > depth:
                registered[current].add(match[4] or match[2])
            else:
                current = None
        registered = {name: options for name, options in registered.items()
                      if not name.endswith("pipeline")}
        page = self.ops_page("passes.md")
        sections = dict(re.findall(r"(?ms)^## `([\w-]+)`\n(.*?)(?=^## |\Z)",
                                   page))
        self.compare("pass", "passes.md", set(registered), set(sections))
        for name in set(registered) & set(sections):
            listed = set(re.findall(r"(?m)^-([\w-]+)\s+:", sections[name]))
            self.compare(f"option of {name}", "passes.md", registered[name],
                         listed)
        commands = self.page("commands.md")
        for name in re.findall(r"--(iris-[\w-]*pipeline)\b",
                               output(self.tool("iris-opt"), "--help")):
            if f"--{name} " not in commands:
                self.problems.append(f"commands.md: {name} is missing")
        return len(sections)

    def options(self):
        page, count = self.page("commands.md"), 0
        for tool in ("iris-run", "iris-bench"):
            source = pages.read(f"tools/{tool}/Options.cpp")
            code = re.sub(r'R"\(.*?\)"', "", source, flags=re.S)
            known = set(re.findall(r'"(--?[a-z][\w-]*)"', code))
            section = re.search(rf"(?ms)^## {tool}\n(.*?)(?=^## |\Z)", page)[1]
            shown = set(re.findall(r"(?<![\w-])(--?[a-z][\w-]*)", section))
            for name in sorted(known - shown - INTERNAL_OPTIONS):
                self.problems.append(f"commands.md: {tool} {name} is missing; "
                                     "give it a help text")
            count += len(known & shown)
        for tool in ("iris-compile", "iris-interpret"):
            section = re.search(rf"(?ms)^## {tool}\n(.*?)(?=^## |\Z)", page)
            for line in output(self.tool(tool), "--help").splitlines():
                if (match := re.match(r"\s+(--?[\w-]+)", line)):
                    count += 1
                    if not section or match[1] not in section[1]:
                        self.problems.append(f"commands.md: {tool} {match[1]} "
                                             "is missing")
        return count

    def variables(self):
        listed = set(re.findall(r"(?m)^\| `(\w+)`",
                                self.page("environment.md")))
        used = set()
        for path in pages.tracked("runtime/*.cpp", "runtime/*.h", "tools/*.cpp",
                                  "tools/*.h", "lib/*.cpp"):
            text = pages.read(path)
            used |= set(re.findall(
                r'(?:getenv|\bvar|flag|seconds|size)\("([A-Z]\w+)"', text))
            used |= set(re.findall(r'"(IRIS_[A-Z_]+)"', text))
        used -= {"IRIS_VERSION"} | KNOWN_VARIABLES
        for name in sorted(used - listed):
            self.problems.append(f"environment.md: {name} is missing; add it "
                                 "to Env::variables")
        return len(listed)

    def symbols(self):
        library = os.path.join(self.build, "lib", "libiris_rt.so")
        if not os.path.exists(library):
            return 0
        exported = set(re.findall(r" T (iris(?:rt|ccl)\w+)$",
                                  output("nm", "-D", "--defined-only", library),
                                  re.M))
        page = self.page("c-api.md")
        declared = set(re.findall(r"\b(iris(?:rt|ccl)[A-Z]\w+)\(", page))
        for name in sorted(exported - declared):
            self.problems.append(f"c-api.md: {name} is missing")
        for name in sorted(declared - exported):
            self.problems.append(f"c-api.md: {name} is not exported")
        return len(exported)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", required=True)
    parser.add_argument("--ops", default=os.path.join(
        pages.ROOT, "docs/reference/ops"))
    parser.add_argument("--build", default=os.path.join(pages.ROOT, "build"))
    parser.add_argument("what", nargs="*")
    options = parser.parse_args()
    checker = Checker(options)
    counts = {name: getattr(checker, name)() for name in
              options.what or WHAT}
    for problem in checker.problems:
        print(problem)
    print("reference: " + ", ".join(f"{count} {name}"
                                    for name, count in counts.items()) +
          f"; {len(checker.problems)} problems")
    sys.exit(bool(checker.problems))


if __name__ == "__main__":
    main()
