#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the table in a page with the output of iris-compile --list-ops.

    compare_table.py TABLE.md PAGE.md [--write]

The page has the table between two comments, `<!-- begin: iris-compile
--list-ops -->` and `<!-- end -->`. --write updates the page.
"""
import difflib
import sys

BEGIN, END = "<!-- begin: iris-compile --list-ops -->\n", "<!-- end -->\n"


def main():
    table_path, page_path = sys.argv[1:3]
    with open(table_path, encoding="utf-8") as file:
        table = file.read()
    with open(page_path, encoding="utf-8") as file:
        page = file.read()
    head, rest = page.split(BEGIN)
    old, tail = rest.split(END)
    if "--write" in sys.argv:
        with open(page_path, "w", encoding="utf-8") as file:
            file.write(head + BEGIN + table + END + tail)
        return 0
    difference = list(difflib.unified_diff(
        old.splitlines(), table.splitlines(), page_path, "--list-ops",
        lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
