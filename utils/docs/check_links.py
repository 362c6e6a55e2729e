#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds dead links, without a network.

    utils/docs/check_links.py [--pages=FOLDER]

In every Markdown file of the repository: relative links and images to files
that are not there, and anchors that no heading has. In every other file: names
of pages under docs/ that are not there. Pages of docs/reference that
generate.py makes are known by name, and their anchors are checked where
--pages names the folder that it wrote to. Addresses of the web are left alone.
"""
import argparse
import os
import re
import sys

import pages

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(\s*<?([^)\s>]+)>?"
                  r"(?:\s+\"[^\"]*\")?\s*\)")
MENTION = re.compile(r"(?<![\w/.-])docs/[\w./-]*?\.(?:md|svg|mlir)\b")
GENERATED = {f"docs/reference/{name}" for name in pages.GENERATED}


class Checker:
    def __init__(self, folder):
        self.folder, self.problems, self.count = folder, [], 0
        self.anchors = {}

    def anchors_of(self, path):
        """The anchors of a page; None where they cannot be known."""
        if path not in self.anchors:
            self.anchors[path] = None
            if path in GENERATED:
                made = os.path.join(self.folder or "", os.path.basename(path))
                if self.folder and os.path.exists(made):
                    with open(made, encoding="utf-8") as file:
                        self.anchors[path] = pages.anchors(file.read())
            else:
                self.anchors[path] = pages.anchors(pages.read(path))
        return self.anchors[path]

    def page(self, path, text):
        text = pages.prose(text)
        for match in LINK.finditer(text):
            self.link(path, text.count("\n", 0, match.start()) + 1, match[1])

    def link(self, path, number, target):
        if re.match(r"[a-z]+:", target):
            return
        self.count += 1
        file, _, anchor = target.partition("#")
        target_path = os.path.normpath(
            os.path.join(os.path.dirname(path), file)) if file else path
        if target_path.startswith(".."):
            self.problems.append(f"{path}:{number}: {target} is outside of "
                                 "the repository")
        elif target_path not in GENERATED and not os.path.exists(
                os.path.join(pages.ROOT, target_path)):
            self.problems.append(f"{path}:{number}: {target} is not there")
        elif anchor and target_path.endswith(".md"):
            known = self.anchors_of(target_path)
            if known is not None and anchor not in known:
                self.problems.append(f"{path}:{number}: {target_path} has no heading "
                                     f"#{anchor}")

    def mentions(self, path, text):
        for number, line in enumerate(text.splitlines(), 1):
            for name in MENTION.findall(line):
                self.count += 1
                if name not in GENERATED and not os.path.exists(
                        os.path.join(pages.ROOT, name)):
                    self.problems.append(f"{path}:{number}: {name} is not "
                                         "there")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages")
    checker = Checker(parser.parse_args().pages)
    for path in pages.tracked():
        if path == "CHANGELOG.md" or path.startswith("benchmarks/results/") \
                and not path.endswith(".md"):
            continue
        if path.endswith((".svg", ".gz", ".iris", ".png", ".jsonl")):
            continue
        try:
            text = pages.read(path)
        except UnicodeDecodeError:
            continue
        if path.endswith(".md"):
            checker.page(path, text)
        checker.mentions(path, pages.prose(text) if path.endswith(".md")
                         else text)
    if checker.folder:
        for name in pages.GENERATED:
            made = os.path.join(checker.folder, name)
            if os.path.exists(made):
                with open(made, encoding="utf-8") as file:
                    checker.page(f"docs/reference/{name}", file.read())
    for problem in checker.problems:
        print(problem)
    print(f"{checker.count} links, {len(checker.problems)} dead")
    sys.exit(bool(checker.problems))


if __name__ == "__main__":
    main()
