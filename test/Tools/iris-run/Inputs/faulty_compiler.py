#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""faulty_compiler.py FOLDER OLD NEW ...: makes an `iris-compile` in FOLDER for which
OLD is NEW in its source, which the interpreter beside it does not see."""
import os
import shutil
import stat
import sys

folder, *pairs = sys.argv[1:]
os.makedirs(folder)
compiler = shutil.which("iris-compile")
os.symlink(os.path.join(os.path.dirname(compiler), "iris-interpret"),
           os.path.join(folder, "iris-interpret"))
path = os.path.join(folder, "iris-compile")
with open(path, "w", encoding="utf-8") as file:
    file.write(f"""#!{sys.executable}
import os, sys
words, pairs = sys.argv[1:], {pairs!r}
for n, word in enumerate(words):
    if word.endswith(".mlir"):
        text = open(word, encoding="utf-8").read()
        for old, new in zip(pairs[::2], pairs[1::2]):
            text = text.replace(old, new) if old else text
        words[n] = os.path.join({os.path.abspath(folder)!r}, f"{{os.getpid()}}.mlir")
        open(words[n], "w", encoding="utf-8").write(text)
os.execv({compiler!r}, [{compiler!r}, *words])
""")
os.chmod(path, stat.S_IRWXU)
