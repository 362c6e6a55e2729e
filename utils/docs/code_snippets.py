#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the blocks of documents that are not MLIR.

    utils/docs/code_snippets.py [--build=DIR] [--update] WHAT... FILE.md...

WHAT is one or more of

  copies    A block below `<!-- from FILE -->`, or `<!-- from FILE NAME -->`, is
            that file of the repository, or what is in it between the lines
            that have `[NAME]` and `[/NAME]`. --update writes it anew.
  cpp       Every `cpp` and `c` block compiles (-fsyntax-only). One without an
            #include becomes the body of a function, after the declarations of
            preamble.h or preamble.c beside this script.
  run       Commands of a `console` block below `<!-- run -->` are executed, in
            a folder where the repository's files and build/bin are as the page
            names them. Each has to succeed (below `<!-- run, fails -->` the
            last one has to fail), and to print the lines that the block has
            below it, in that order; `...` stands for anything.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import pages

HERE = os.path.dirname(os.path.abspath(__file__))
COMMENT = re.compile(r"^\s*(//|#|/\*)")


def region(path, name):
    """A file's lines, without its licence, or those between [name]s."""
    lines = pages.read(path).splitlines()
    if name:
        start = next((n for n, line in enumerate(lines)
                      if f"[{name}]" in line and COMMENT.match(line)), None)
        end = next((n for n, line in enumerate(lines)
                    if f"[/{name}]" in line and COMMENT.match(line)), None)
        if start is None or end is None:
            return None
        lines = lines[start + 1:end]
    else:
        lines = [line for line in lines if "SPDX-License" not in line]
    lines = [line for line in lines if not
             (COMMENT.match(line) and re.search(r"\[/?[\w-]+\]\s*$", line))]
    while lines and not lines[0].strip("/# "):
        lines.pop(0)
    depth = min((len(line) - len(line.lstrip()) for line in lines
                 if line.strip()), default=0)
    return [line[depth:].rstrip() for line in lines]


def check_copies(path, update):
    problems, text = [], pages.read(path)
    lines = text.splitlines()
    for number, _, comment, body in reversed(list(pages.blocks(text))):
        match = re.fullmatch(r"from (\S+)(?: (\S+))?", comment)
        if not match:
            continue
        expected = region(match[1], match[2]) if os.path.exists(
            os.path.join(pages.ROOT, match[1])) else None
        if expected is None:
            problems.append(f"{path}:{number}: there is no {match[1]} "
                            f"{match[2] or ''}")
        elif [line.rstrip() for line in body] != expected:
            if update:
                lines[number:number + len(body)] = expected
            else:
                problems.append(f"{path}:{number}: differs from {match[1]} "
                                f"{match[2] or ''}; utils/docs.sh --update "
                                "copies it")
    if update:
        with open(os.path.join(pages.ROOT, path), "w",
                  encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return problems


def check_cpp(paths, build):
    """Compiles all fragments as one file for each language."""
    problems = []
    for language, compiler, standard, preamble in (
            ("cpp", os.environ.get("CXX", "c++"), "c++17", "preamble.h"),
            ("c", os.environ.get("CC", "cc"), "c11", "preamble.c")):
        with open(os.path.join(HERE, preamble), encoding="utf-8") as file:
            fragments = [file.read()]
        sources = [fragments]
        for path in paths:
            for number, name, comment, body in pages.blocks(pages.read(path)):
                if comment.startswith("from "):
                    continue  # the file is compiled
                if name != language and (name, language) != ("c++", "cpp"):
                    continue
                marked = f'#line {number + 1} "{path}"\n' + "\n".join(body)
                if any(line.startswith("#include") for line in body):
                    # The declarations that a fragment's main() is about.
                    sources.append([marked])
                else:
                    count = len(fragments)
                    head = ("static iris::rt::Status" if language == "cpp"
                            else "static int")
                    end = "return {};" if language == "cpp" else "return 0;"
                    fragments.append(f"{head} fragment{count}(void) {{\n"
                                     f"{marked}\n#line 1\n{end}\n}}")
        for source in sources:
            if len(source) == 1 and source is fragments:
                continue
            result = subprocess.run(
                [compiler, f"-std={standard}", "-fsyntax-only", "-w",
                 "-I", os.path.join(pages.ROOT, "include"),
                 "-I", os.path.join(pages.ROOT, "runtime/include"),
                 "-x", "c++" if language == "cpp" else "c", "-"],
                input="\n".join(source), capture_output=True, text=True,
                check=False)
            if result.returncode:
                problems.append(result.stderr.strip())
    return problems


def commands(body):
    """[(command, [lines that it prints])] of a console block."""
    found = []
    for line in body:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] += "\n" + line
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def prints(expected, text):
    """The first expected line that does not follow the ones before it."""
    position = 0
    for line in expected:
        if line.strip() == "...":
            continue
        pattern = ".*?".join(re.escape(" ".join(part.split()))
                             for part in line.split("..."))
        match = re.compile(pattern).search(text, position)
        if not match:
            return line
        position = match.end()
    return None


def check_run(path, build):
    problems, count = [], 0
    with tempfile.TemporaryDirectory(prefix="iris-docs-") as folder:
        for name in os.listdir(pages.ROOT):
            if name != "build" and not name.startswith("."):
                os.symlink(os.path.join(pages.ROOT, name),
                           os.path.join(folder, name))
        os.mkdir(os.path.join(folder, "build"))
        for name in os.listdir(build):
            os.symlink(os.path.join(build, name),
                       os.path.join(folder, "build", name))
        environment = dict(os.environ, LC_ALL="C.UTF-8")
        environment["PATH"] = (os.path.join(build, "bin") + os.pathsep +
                               environment["PATH"])
        for number, name, comment, body in pages.blocks(pages.read(path)):
            if not re.match(r"run\b", comment):
                continue
            steps = commands(body)
            if name not in ("console", "sh") or not steps:
                problems.append(f"{path}:{number}: expected a console block "
                                "with commands after `$ `")
            for step, (command, expected) in enumerate(steps):
                count += 1
                result = subprocess.run(
                    ["bash", "-c", command], cwd=folder, env=environment,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    text=True, timeout=300, check=False)
                fails = "fails" in comment and step == len(steps) - 1
                text = " ".join(result.stdout.split())
                missing = prints(expected, text)
                if (result.returncode != 0) != fails or missing:
                    problems.append(
                        f"{path}:{number}: {command}\n  exit status "
                        f"{result.returncode}" +
                        (f"; not printed: {missing}" if missing else "") +
                        "\n" + result.stdout)
    return problems, count


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(pages.ROOT, "build"))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("arguments", nargs="+")
    options = parser.parse_intermixed_args()
    what = {a for a in options.arguments if a in ("copies", "cpp", "run")}
    paths = [os.path.relpath(os.path.abspath(a), pages.ROOT)
             for a in options.arguments if a not in what]
    problems, count = [], 0
    if "copies" in what:
        for path in paths:
            problems += check_copies(path, options.update)
    if "cpp" in what:
        problems += check_cpp(paths, options.build)
    if "run" in what:
        for path in paths:
            more, ran = check_run(path, os.path.abspath(options.build))
            problems += more
            count += ran
    for problem in problems:
        print(problem)
    print(f"{', '.join(sorted(what))}: {len(paths)} pages" +
          (f", {count} commands" if "run" in what else "") +
          f", {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
