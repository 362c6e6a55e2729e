# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A lit format in which one table stands for many tests.

`NAME.gen.py` has a function `tests()` that returns pairs of a name and the text
of a shell test. As in libc++'s test suite, each of them is a lit test: with its
own name, REQUIRES, time and result. Discovery writes the text to the test's
path in the build folder.
"""
import os
import runpy

import lit.formats
import lit.Test

SUFFIX = ".gen.py"


class GeneratedTest(lit.Test.Test):
    """A test whose text is in the build folder."""

    def getSourcePath(self):
        return self.getExecPath()


class ShTest(lit.formats.ShTest):
    """lit's ShTest, and tests from tables."""

    def getTestsForPath(self, suite, path, lit_config, config):
        if not path[-1].endswith(SUFFIX):
            yield from super().getTestsForPath(suite, path, lit_config, config)
            return
        table = suite.getSourcePath(path)
        names = set()
        for name, text in runpy.run_path(table)["tests"]():
            test = GeneratedTest(suite, path[:-1] + (name + ".test",), config)
            written = os.path.join(os.path.dirname(table), name + ".test")
            if name in names or os.path.exists(written):
                lit_config.error(f"{table}: there are two tests named {name}")
                continue
            names.add(name)
            write(test.getSourcePath(), text)
            yield test


def write(path, text):
    """Makes `text` the contents of a file that other runs may be reading."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    ours = f"{path}.{os.getpid()}"
    with open(ours, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(ours, path)
