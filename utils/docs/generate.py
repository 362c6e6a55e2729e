#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of docs/reference that are made from tools and headers.

    utils/docs/generate.py --out=FOLDER [--build=DIR] [tools] [api]

    tools    from --help of the tools in DIR/bin: every command line option;
             from `iris-run --help-env` every environment variable
    api      from the public headers: the C and C++ API. Needs Doxygen. Exit
             status 1, with their names, if declarations have no comment.

Without a name, both. Ops and passes are written by ops.py.
"""
import argparse
import os
import re
import subprocess
import sys

import api
import pages

TOOLS = ("iris-run", "iris-interpret", "iris-bench", "iris-compile", "iris-opt")
NOTE = "<!-- Written by utils/docs/generate.py; do not edit. -->\n"


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False, **options)
    if result.returncode:
        sys.exit(f"generate.py: {' '.join(command)} failed:\n{result.stderr}")
    return result.stdout


def opt_pipelines(help_text):
    """The entries of our pipelines in iris-opt --help, which has thousands."""
    lines, inside = [], False
    for line in help_text.splitlines():
        if re.match(r"\s+--", line):
            indent = len(line) - len(line.lstrip())
            if re.match(r"\s+--iris-[\w-]*pipeline\b", line):
                inside, own = True, indent
            elif inside and indent <= own:
                inside = False
        if inside:
            lines.append(line.rstrip())
    depth = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(re.sub(r" {3,}-", "  -", line[depth:]) for line in lines)


def command_page(build):
    text = [NOTE, "# Commands\n",
            "What each tool prints with `--help`. Exit statuses and examples "
            "are at the end of each.\n"]
    for tool in TOOLS:
        help_text = run([os.path.join(build, "bin", tool), "--help"])
        text.append(f"## {tool}\n")
        if tool == "iris-opt":
            text.append("`iris-opt` takes every option of MLIR's `mlir-opt`, "
                        "[every pass](ops/passes.md) by its name, and these "
                        "pipelines:\n")
            help_text = opt_pipelines(help_text)
        text.append(f"```text\n{help_text.rstrip()}\n```\n")
    return "\n".join(text)


def environment_page(build):
    table = run([os.path.join(build, "bin", "iris-run"), "--help-env"])
    return (NOTE + "\n# Environment variables\n\n"
            "The runtime reads these once, when the first world is created "
            "(`iris-run --help-env` prints the table). A value that cannot be "
            "used is reported once and ignored. [Debugging]"
            "(../guides/debugging.md) says when to use which; variables that "
            "name files or programs do not count in set-user-ID processes.\n\n"
            + table +
            "\n`iris-compile` looks for `ptxas` on `PATH` and in "
            "`/usr/local/cuda/bin`. The tests also read "
            "`IRIS_TEST_PACKAGES` "
            "([test/README.md](../../test/README.md)), and `iris-emulate` reads "
            "`IRIS_EMULATOR_SEED`, `IRIS_EMULATOR_MEMORY` and `IRIS_EMULATOR_CHECK` "
            "([Run AMD code without an AMD GPU]"
            "(../guides/emulated-amd.md)).\n")


def api_pages():
    """{name of a page: text}, and the declarations without a comment."""
    headers = [path for path in pages.tracked("runtime/include/iris/*.h")
               if path not in api.C_HEADERS]
    c, c_missing = api.page(
        NOTE, "C API", "Link `libiris_rt` (CMake: `Iris::runtime`); "
        "[Embedding](../guides/embedding.md) is the guide. "
        "`iris-c/RuntimeABI.h`, which `iris/iris.h` includes, is the binary "
        "contract between compiler and runtime.", api.C_HEADERS, "c")
    cpp, cpp_missing = api.page(
        NOTE, "C++ API", "C++17, no exceptions: functions return "
        "[`Status`](#status) or [`Expected<T>`](#expected), whose "
        "[codes](#statuscode) say what kind of failure it is. "
        "[Embedding](../guides/embedding.md) is the guide.", headers, "cpp")
    return {"c-api.md": c, "cpp-api.md": cpp}, c_missing + cpp_missing


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--build", default=os.path.join(pages.ROOT, "build"))
    parser.add_argument("what", nargs="*", choices=["tools", "api", []])
    options = parser.parse_args()
    what, made, missing = options.what or ["tools", "api"], {}, []
    if "tools" in what:
        made["commands.md"] = command_page(options.build)
        made["environment.md"] = environment_page(options.build)
    if "api" in what:
        more, missing = api_pages()
        made.update(more)
    os.makedirs(options.out, exist_ok=True)
    for name, text in made.items():
        with open(os.path.join(options.out, name), "w",
                  encoding="utf-8") as file:
            file.write(text.rstrip() + "\n")
    for each in missing:
        print(each)
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
