# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parses and verifies every ```mlir block of documents and op descriptions.

    utils/docs/mlir_snippets.py IRIS_OPT FILE...

A block that is not a complete module is put into a kernel, or into @main if
it has ops of host programs. Undefined values become arguments; their types
are taken from the parser's errors, which name the expected type.
"""
import json
import os
import re
import subprocess
import sys

import pages

# iris-compile is beside iris-opt.
COLLECTIVES = [each["op"] for each in json.loads(subprocess.run(
    [os.path.join(os.path.dirname(sys.argv[1]), "iris-compile"),
     "--list-collectives"], check=True,
    stdout=subprocess.PIPE).stdout) if each["op"]]
HOST_OPS = re.compile(
    r"\biris\.(alloc|dealloc|launch|sync|" + "|".join(COLLECTIVES) + "|"
    r"matmul|all_gather_matmul|matmul_all_gather|matmul_reduce_scatter|"
    r"matmul_all_reduce)\b")
COMPLETE = re.compile(r"^\s*(gpu\.module|func\.func|module|iris\.collective|"
                      r"iris\.matmul_kernel)\b",
                      re.M)
ALIAS = re.compile(r"^\s*([#!][\w.]+) = ")
DEFINED = re.compile(r"^\s*(%\w+(?::\d+)?(?:, %\w+)*) += "
                     r"|scf\.for (%\w+) =|[(,]\s*(%\w+) = |\^bb\d+\((.*?)\)",
                     re.M)
NAME = re.compile(r"%\w+")
WANTED = re.compile(r"use of value '(%\w+)' expects different type than prior "
                    r"uses: '(.*)' vs '(.*)'")
SEPARATOR = "// -----\n"
# Layouts that examples use without defining them.
LAYOUTS = """\
#a = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [2, 32], \
warps_per_cta = [4, 1], order = [1, 0]>
#b = #tile.blocked<size_per_thread = [1, 8], threads_per_warp = [1, 64], \
warps_per_cta = [4, 1], order = [1, 0]>
"""


class Snippet:
    def __init__(self, path, line, text):
        self.path, self.line, self.text = path, line, text
        self.types = {}
        self.error = None
        if not self.is_complete():
            for name in NAME.findall(text):
                self.types.setdefault(name, "none")
            for match in DEFINED.finditer(text):
                for name in NAME.findall(" ".join(filter(None,
                                                         match.groups()))):
                    self.types.pop(name, None)
            if "%ctx" in self.types:
                self.types["%ctx"] = "!iris.ctx"

    def is_complete(self):
        return COMPLETE.search(self.text) is not None

    def is_type(self):
        return re.match(r"\s*(tensor|memref|!)", self.text) is not None

    def is_attribute(self):
        return (re.match(r"\s*#", self.text) is not None
                and ALIAS.match(self.text) is None)

    def module(self):
        """The block as a complete module."""
        if self.is_complete():
            return self.text
        if self.is_type():
            return LAYOUTS + f"func.func private @type({self.text.strip()})\n"
        if self.is_attribute():
            return f"module attributes {{snippet.attr = {self.text.strip()}}} {{}}\n"
        aliases, body = [], []
        is_open = False
        for line in self.text.splitlines():
            if is_open or ALIAS.match(line):
                aliases.append(line)
                text = "\n".join(aliases).replace("->", "")
                is_open = text.count("<") > text.count(">")
            else:
                body.append(line)
        body = "\n".join(body)
        types = dict(self.types)
        types.setdefault("%ctx", "!iris.ctx")
        arguments = ", ".join(f"{n}: {t}" for n, t in types.items())
        head = LAYOUTS + "\n".join(aliases)
        if HOST_OPS.search(body):
            return (f"{head}\nfunc.func @main({arguments}) {{\n{body}\n"
                    "return\n}\n")
        return (f"{head}\ngpu.module @snippet {{\ngpu.func @kernel({arguments})"
                f" kernel {{\n{body}\ngpu.return\n}}\n}}\n")


def extract(path):
    """The ```mlir blocks of a file, without the indentation of op
    descriptions."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for number, language, comment, body in pages.blocks(text):
        # Copies of files (code_snippets.py) are compiled as those files.
        if language == "mlir" and not comment.startswith("from "):
            yield Snippet(path, number, "\n".join(body) + "\n")


def run(iris_opt, snippets):
    """Verifies all snippets at once; returns each snippet's first error or
    None."""
    text = SEPARATOR.join(s.module() for s in snippets)
    starts, line = [], 1
    for snippet in snippets:
        starts.append(line)
        line += snippet.module().count("\n") + 1
    result = subprocess.run(
        [iris_opt, "--split-input-file", "-o", "/dev/null", "-"], input=text,
        capture_output=True, text=True, check=False)
    errors = {}
    for match in re.finditer(r"^.*?:(\d+):\d+: error: (.*)$", result.stderr,
                             re.M):
        at = int(match[1])
        owner = max(n for n, start in enumerate(starts) if start <= at)
        errors.setdefault(owner, match[2])
    if result.returncode and not errors:
        sys.exit(f"iris-opt failed:\n{result.stderr}")
    return errors


def main():
    iris_opt, paths = sys.argv[1], sys.argv[2:]
    snippets = [s for path in paths for s in extract(path)]
    if not snippets:
        sys.exit("no snippets found")
    open_ones = snippets
    while open_ones:
        errors = run(iris_opt, open_ones)
        again = []
        for number, error in errors.items():
            snippet = open_ones[number]
            wanted = WANTED.match(error)
            if wanted and snippet.types.get(wanted[1]) == "none":
                snippet.types[wanted[1]] = wanted[2]
                again.append(snippet)
            else:
                snippet.error = error
        open_ones = again
    failed = [s for s in snippets if s.error]
    for snippet in failed:
        print(f"{snippet.path}:{snippet.line}: {snippet.error}")
        print("".join(f"    {line}\n" for line in
                      snippet.module().splitlines()))
    print(f"{len(snippets)} snippets, {len(failed)} failed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
