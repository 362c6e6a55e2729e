# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Colours for MLIR: a lexer for Pygments, and what mkdocs.yml calls for blocks.

Ops of iris and tile are known by name, from docs/reference/ops; a name that
they do not have is shown as an error.
"""
import os
import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import RegexLexer, bygroups
from pygments.token import (Comment, Error, Keyword, Name, Number, Operator,
                            Punctuation, String, Text)

import pages

OWN = ("iris", "tile")
# Words of the assembly formats, apart from names of ops.
WORDS = ("func", "kernel", "attributes", "module", "to", "step", "iter_args",
         "else", "do", "loc", "dense", "strided", "affine_map", "affine_set",
         "mask", "shape", "sem", "scope", "cache", "store_cache", "volatile",
         "as", "at", "k", "block", "columns", "init", "precision", "bias",
         "scale", "group", "args", "programs", "owed_by", "tol", "true",
         "false", "unit", "set", "add", "eq", "ne", "ge", "gt", "le", "lt")


def own_ops():
    """The ops of our dialects, as their pages list them."""
    found = set()
    for dialect in OWN:
        path = f"docs/reference/ops/{dialect}.md"
        if os.path.exists(os.path.join(pages.ROOT, path)):
            found |= set(re.findall(rf"(?m)^### `({dialect}\.\w+)`$",
                                    pages.read(path)))
    return found


class MLIRLexer(RegexLexer):
    name = "MLIR"
    aliases = ["mlir"]
    filenames = ["*.mlir"]
    url = "https://mlir.llvm.org/docs/LangRef/"
    ops = own_ops()

    def operation(self, match):
        text = match.group()
        is_own = text.partition(".")[0] in OWN
        kind = Name.Function if not is_own else \
            Keyword if text in self.ops else Error
        yield match.start(), kind, text

    tokens = {
        "root": [
            (r"//.*?$", Comment.Single),
            (r"\s+", Text),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"%[\w$.-]+(?:[:#]\d+)?", Name.Variable),
            (r"@(?:[\w$.-]+|\"[^\"]*\")", Name.Label),
            (r"\^\w+", Name.Label),
            (r"[#!][A-Za-z_][\w.]*", Name.Decorator),
            (r"(tensor|memref|vector)(<)", bygroups(Keyword.Type, Punctuation),
             "shape"),
            (r"\b(?:[su]?i\d+|b?f\d+\w*|index|none)\b", Keyword.Type),
            (r"\b[a-z_]\w*(?:\.\w+)+\b", operation),
            (rf"\b(?:{'|'.join(WORDS)})\b", Keyword.Reserved),
            (r"-?\b(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\b",
             Number),
            (r"\b(?:return)\b", Name.Function),
            (r"[A-Za-z_]\w*", Name),
            (r"->|==|>=|<=|[-+*/=]", Operator),
            (r"\.\.\.", Comment),
            (r"[][(){}<>,:.|?$&^!#;'`@%\\]", Punctuation),
        ],
        # The extents of a shaped type, up to its element type.
        "shape": [
            (r"(\?|\d+)(x)", bygroups(Number, Punctuation)),
            (r"\*x", Punctuation),
            (r"(?:[su]?i\d+|b?f\d+\w*|index)\b", Keyword.Type, "#pop"),
            (r"", Text, "#pop"),
        ],
    }


def fence(source, language, css_class, options, md, **_):
    """The format of `mlir` blocks for pymdownx.superfences."""
    return highlight(source, MLIRLexer(stripnl=False), HtmlFormatter(
        cssclass=f"language-{language} {css_class}", wrapcode=True))
