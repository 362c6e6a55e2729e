# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of the C and the C++ API, from the public headers.

Doxygen finds the declarations; their comments are taken from the headers as
they are, because they are Markdown. One comment may be for several
declarations: those that follow it without an empty line.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import xml.etree.ElementTree as ElementTree

import pages

C_HEADERS = ("runtime/include/iris/iris.h", "runtime/include/iris/ccl.h")
DOXYFILE = """\
INPUT = {inputs}
OUTPUT_DIRECTORY = {out}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
MACRO_EXPANSION = YES
INCLUDE_PATH = include runtime/include
PREDEFINED = __attribute__(x)= __cplusplus=201703L
SORT_MEMBER_DOCS = NO
QUIET = YES
WARNINGS = NO
WARN_LOGFILE = {out}/warnings
"""
# Parts of other macros, and what controls the library's symbols.
HIDDEN_MACROS = re.compile(r"_IMPL$|_H$|^IRISRT_CONCAT$|^IRISRT_API$|"
                           r"^IRIS_COLLECTIVE$|^IRISRT_PACKED$")


class Symbol:
    """A declaration of a header: what Doxygen and the header say."""

    def __init__(self, element, owner=""):
        location = element.find("location")
        self.kind = element.get("kind")
        self.path = location.get("declfile") or location.get("file")
        self.line = int(location.get("declline") or location.get("line"))
        self.owner = owner
        self.name = element.findtext("name") or \
            element.findtext("compoundname").rpartition("::")[2]
        self.type = self.text(element.find("type"))
        self.arguments = self.text(element.find("argsstring"))
        self.value = self.text(element.find("initializer"))
        self.is_static = element.get("static") == "yes"
        self.members, self.cases, self.comment = [], [], ""

    @staticmethod
    def text(element):
        """The code in an element, without Doxygen's spaces around `<>`."""
        text = "" if element is None else "".join(element.itertext()).strip()
        return re.sub(r"(?<!<)< | >(?!>)", lambda match: match[0].strip(), text)

    def qualified(self):
        return f"{self.owner}::{self.name}" if self.owner else self.name

    def signature(self):
        """The declaration, with one argument per line if it is long."""
        head = " ".join(part for part in (
            "static" if self.is_static and self.owner else "", self.type,
            self.name) if part).replace("* ", "*").replace("& ", "&")
        arguments = self.arguments.replace("=", " = ").replace("  ", " ")
        if len(head) + len(arguments) < 88:
            return f"{head}{arguments};"
        inside, _, after = arguments[1:].rpartition(")")
        split, depth, parts = 0, 0, []
        for at, letter in enumerate(inside + ","):
            depth += (letter in "<({") - (letter in ">)}")
            if letter == "," and not depth:
                parts.append(inside[split:at].strip())
                split = at + 1
        return f"{head}(\n    " + ",\n    ".join(parts) + f"){after};"


class Header:
    """A header's text, and the comment of the declaration at a line."""

    def __init__(self, path):
        self.path, self.lines = path, pages.read(path).splitlines()

    def start(self, line):
        """The first line (from 0) of the declaration that names its symbol in
        `line` (from 1)."""
        at = line - 1
        while at > 0 and re.search(r"[\w>,*&(=]$", self.lines[at - 1]) and \
                not re.match(r"\s*(//|/\*|\*|#|\w+:$)", self.lines[at - 1]):
            at -= 1
        return at

    def above(self, at):
        """The comment that ends above line `at`, or the one of the
        declarations directly above; '' if there is none."""
        lines, end = self.lines, at
        if at and lines[at - 1].rstrip().endswith("*/") and \
                lines[at - 1].lstrip().startswith(("/*", "*", " ")) and \
                not re.search(r"[;,]\s*/\*", lines[at - 1]):
            while at and "/*" not in lines[at - 1]:
                at -= 1
            return uncomment(lines[at - 1:end])
        while at and lines[at - 1].lstrip().startswith("///"):
            at -= 1
        if at != end:
            return uncomment(lines[at:end])
        # A declaration without an empty line above shares its comment.
        if at and lines[at - 1].strip() and re.search(
                r"[;})]\s*(//.*|/\*.*\*/)?$", lines[at - 1]) and \
                not lines[at - 1].lstrip().startswith(("//", "#", "public")):
            previous = at - 1
            while previous > 0 and re.match(r"\s{6,}|.*\)\s*(const)?;$",
                                            lines[previous]) and \
                    lines[previous].startswith("   ") and not re.match(
                        r"\s{0,4}\S.*\(", lines[previous]):
                previous -= 1
            return self.above(self.start(previous + 1))
        return ""

    def comment(self, line):
        """The comment of the declaration at `line`, in Markdown."""
        code = self.lines[line - 1]
        if code.startswith("#define"):
            return self.above(line - 1)
        while not re.search(r"[;,{}]", code) and line < len(self.lines):
            line += 1
            code = self.lines[line - 1]
        after = re.search(r"[;,{(]?\s*(//[/<]* ?.*|/\*.*)$", code)
        if after and not code.lstrip().startswith(("//", "/*")):
            lines = [after[1]]
            while lines[0].startswith("/*") and "*/" not in lines[-1] or \
                    lines[0].startswith("//") and re.match(
                        r"\s{12,}//", self.lines[line]):
                lines.append(self.lines[line])
                line += 1
            return uncomment(lines)
        return self.above(self.start(line))


def uncomment(lines):
    text = "\n".join(re.sub(r"^\s*(?:///?<? ?|/\*\*? ?|\*(?!/) ?)", "", line)
                     for line in lines)
    return separate_lists(textwrap.dedent(re.sub(r"\s*\*/\s*$", "", text)))


def separate_lists(text):
    """Comments have lists directly below a paragraph, and indent them as they
    like; Markdown wants empty lines around a list, and 4 spaces in it."""
    lines, inside = [], False
    for line in text.splitlines():
        starts = re.match(r"\s*\* +(?=\S)", line)
        goes_on = inside and line.startswith("  ")
        if bool(starts or goes_on) != inside and line.strip():
            lines.append("")
        if line.strip():
            inside = bool(starts or goes_on)
        if starts:
            line = "* " + line[starts.end():]
        elif inside:
            line = "    " + line.strip()
        lines.append(line.rstrip() if inside else line.strip())
    return "\n".join(lines).strip()


def doxygen(headers):
    """The roots of Doxygen's XML for these headers."""
    program = shutil.which("doxygen")
    if program is None:
        sys.exit("the API's pages need Debian's doxygen")
    with tempfile.TemporaryDirectory(prefix="iris-api-") as out:
        subprocess.run([program, "-"], cwd=pages.ROOT, check=True, text=True,
                       input=DOXYFILE.format(inputs=" ".join(headers), out=out),
                       stdout=subprocess.DEVNULL)
        folder = os.path.join(out, "xml")
        return [ElementTree.parse(os.path.join(folder, name)).getroot()
                for name in sorted(os.listdir(folder))
                if name.endswith(".xml") and name not in
                ("index.xml", "Doxyfile.xml")]


def is_shown(element):
    if element.get("prot") not in (None, "public"):
        return False
    name = element.findtext("name") or ""
    arguments = element.findtext("argsstring") or ""
    return element.get("kind") != "friend" and "=delete" not in \
        arguments.replace(" ", "") and not HIDDEN_MACROS.search(name)


def symbols(headers):
    """{header: [symbol]}, in the order of the headers' lines."""
    found, seen = {header: [] for header in headers}, set()
    texts = {header: Header(header) for header in headers}

    def comment(symbol):
        if symbol.path in texts:
            symbol.comment = texts[symbol.path].comment(symbol.line)
        return symbol

    def member(element, owner=""):
        symbol = comment(Symbol(element, owner))
        for case in element.findall("enumvalue"):
            each = Symbol.__new__(Symbol)
            each.name = case.findtext("name")
            each.comment = case_comment(texts, symbol, each.name)
            symbol.cases.append(each)
        return symbol

    for root in doxygen(headers):
        for compound in root.iter("compounddef"):
            kind = compound.get("kind")
            if kind in ("class", "struct"):
                path = compound.find("location").get("file")
                if path not in found or compound.get("prot") != "public":
                    continue
                owner = compound.findtext("compoundname")
                parts = owner.removeprefix("iris::rt::").removeprefix(
                    "iris::ccl::").split("::")
                symbol = comment(Symbol(compound, "::".join(parts[:-1])))
                symbol.members = sorted(
                    (member(each, "::".join(parts))
                     for each in compound.iter("memberdef")
                     if is_shown(each)), key=lambda each: each.line)
                found[path].append(symbol)
            elif kind in ("namespace", "file"):
                for each in compound.iter("memberdef"):
                    path = each.find("location").get("file")
                    if each.get("id") in seen or path not in found or \
                            not is_shown(each):
                        continue
                    seen.add(each.get("id"))
                    found[path].append(member(each))
    for header, list_ in found.items():
        bodies = {each.name for each in list_
                  if each.kind in ("struct", "enum", "class")}
        found[header] = sorted(
            (each for each in list_
             if not (each.kind == "typedef" and each.name in bodies)),
            key=lambda each: each.line)
    return found


def case_comment(texts, symbol, name):
    """The comment of an enumerator, which Doxygen gives no line."""
    if symbol.path not in texts:
        return ""
    header = texts[symbol.path]
    for at in range(symbol.line - 1, min(symbol.line + 60, len(header.lines))):
        line = header.lines[at]
        if re.match(rf"\s*{name}\b", line):
            after = re.search(r"(//[/<]* ?.*|/\*.*\*/)$", line)
            if after:
                return uncomment([after[1]])
            end = at
            while header.lines[at - 1].lstrip().startswith("///"):
                at -= 1
            return uncomment(header.lines[at:end])
        if at > symbol.line and line.startswith("}"):
            break
    return ""


def missing(found):
    """The declarations without a comment, as `header:line: name`."""
    return [f"{each.path}:{each.line}: {each.qualified()} has no comment"
            for list_ in found.values() for symbol in list_
            for each in (symbol, *symbol.members) if not each.comment]


def link_names(text, known):
    """A comment with links for the names of other symbols, code for variables
    of the environment, and no HTML. Code is left alone."""
    def change(match):
        name = match[0]
        if name in ("<", ">"):
            return html.escape(name)
        if name in known:
            return f"[`{name}`](#{pages.slug(name.replace('::', '-'))})"
        return f"`{name}`" if name.startswith("IRIS") and "_" in name else name
    parts = re.split(r"(```.*?```|`[^`]*`)", text, flags=re.S)
    parts[::2] = [re.sub(r"[<>]|(?<![\w/.$])[A-Za-z]\w*(?:::\w+)*(?![\w/])",
                         change, part) for part in parts[::2]]
    return "".join(parts)


def cell(text):
    """Markdown in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def anchor(name):
    return f'<a id="{pages.slug(name.replace("::", "-"))}"></a>'


def case_table(symbol):
    lines = ["| value | meaning |", "|---|---|"]
    for case in symbol.cases:
        name = f"{symbol.qualified()}-{case.name}"
        lines.append(f"| {anchor(name)}`{case.name}` | {cell(case.comment)} |")
    return "\n".join(lines) + "\n"


def field_table(fields):
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for field in fields:
        default = field.value.lstrip("= ")
        name = field.name + re.sub(r"\s", "", field.arguments)
        lines.append(
            f"| {anchor(field.qualified())}`{name}` | `{field.type}` | "
            f"{f'`{default}`' if default else ''} | {cell(field.comment)} |")
    return "\n".join(lines) + "\n"


def groups(members):
    """Functions in groups that share a section: overloads, and declarations
    with the same comment."""
    result = []
    for each in members:
        last = result[-1][-1] if result else None
        if last and (last.name == each.name or
                     each.comment and last.comment == each.comment):
            result[-1].append(each)
        else:
            result.append([each])
    return result


def error_link(group, comments, errors):
    """Where the errors of functions are that do not list their own; `errors`
    is the anchor of a header that says what every call returns."""
    fails = any(re.match(r"(?:rt::)?(?:Status|Expected)\b", each.type)
                for each in group)
    if not errors or not fails or re.search(r"(?i)\berrors?:|\bfails\b",
                                            " ".join(comments)):
        return ""
    return f"\n\nErrors: [those of every call](#{errors})."


def function_section(group, level, language, errors=""):
    """One section for functions that share a comment; an anchor for each."""
    names = list(dict.fromkeys(each.qualified() for each in group))
    heading = "#" * level + " " + ", ".join(f"`{name}`" for name in names)
    code = "\n".join(each.signature() for each in group)
    comments = dict.fromkeys(each.comment for each in group if each.comment)
    marks = "".join(anchor(name) for name in names)
    return (f"{heading}\n\n{marks}\n\n```{language}\n{code}\n```\n\n" +
            "\n\n".join(comments) + error_link(group, comments, errors) + "\n")


def class_section(symbol, language, errors=""):
    name = symbol.qualified()
    parts = [f"### `{name}`\n", f"{anchor(name)}\n"]
    if symbol.comment:
        parts.append(symbol.comment + "\n")
    fields = [each for each in symbol.members if each.kind == "variable"]
    if fields:
        parts.append(field_table(fields))
    for each in symbol.members:
        if each.kind == "enum":
            parts.append(f"#### `{each.qualified()}`\n\n{each.comment}\n")
            parts.append(case_table(each))
    functions = groups([each for each in symbol.members
                        if each.kind in ("function", "typedef")])
    parts += [function_section(group, 4, language, errors)
              for group in functions]
    return "\n".join(parts)


def macro_section(symbol, language):
    text = f"### `{symbol.name}`\n\n{anchor(symbol.name)}\n\n"
    value = "" if "\n" in symbol.value or len(symbol.value) > 60 else \
        " " + symbol.value
    return (text + f"```{language}\n#define {symbol.name}"
            f"{symbol.arguments}{value}\n```\n\n{symbol.comment}\n")


def section(group, language, errors=""):
    symbol = group[0]
    if symbol.kind in ("class", "struct"):
        return class_section(symbol, language, errors)
    if symbol.kind == "enum":
        return (f"### `{symbol.name}`\n\n{anchor(symbol.name)}\n\n"
                f"{symbol.comment}\n\n{case_table(symbol)}")
    if symbol.kind == "define":
        return macro_section(symbol, language)
    return function_section(group, 3, language)


def prose(path, language):
    """The comment at a header's start; an indented paragraph is an example."""
    banner = re.match(r"((?:\s*//[^\n]*\n|\s*/\*.*?\*/\n)+)", pages.read(path),
                      re.S)[1]
    lines = [re.sub(r"^\s*(?:///?|/?\*+/?) ?", "", line).rstrip().removesuffix(
        "*/").rstrip() for line in banner.splitlines()]
    lines = [line for line in lines if "SPDX" not in line and
             "===" not in line]
    result = []
    for part in re.split(r"\n{2,}", "\n".join(lines).strip("\n")):
        is_code = all(line.startswith("  ") for line in part.splitlines())
        result.append(f"```{language}\n{textwrap.dedent(part)}\n```"
                      if is_code else separate_lists(part))
    return "\n\n".join(result)


def header_section(path, list_, language, known):
    parts, functions = [], []
    name, banner = path.split("include/", 1)[1], prose(path, language)
    errors = pages.slug(name) if re.search(r"(?m)^Errors\b", banner) else ""
    for symbol in list_:
        if symbol.kind in ("function", "typedef", "variable"):
            functions.append(symbol)
            continue
        parts += [section(group, language) for group in groups(functions)]
        functions = []
        parts.append(section([symbol], language, errors))
    parts += [section(group, language) for group in groups(functions)]
    return (f"## `{name}`\n\n{link_names(banner, known)}\n\n"
            + "\n".join(parts))


def page(note, title, intro, headers, language):
    """The page's text, and what lacks a comment."""
    found = symbols(headers)
    problems = missing(found)
    known = {each.qualified() for list_ in found.values() for symbol in list_
             for each in (symbol, *symbol.members)}
    # Plain words that are also symbols ("select", "full") are words.
    known = {name for name in known if "::" in name or
             re.match(r"iris\w+[A-Z]|[A-Z]\w*[a-z]\w*[A-Z]", name)}
    for list_ in found.values():
        for symbol in list_:
            for each in (symbol, *symbol.members, *symbol.cases):
                each.comment = link_names(each.comment, known)
    index = ["| header | symbols |", "|---|---|"]
    for path, list_ in found.items():
        name = path.split("include/", 1)[1]
        links = ", ".join(
            f"[`{each.qualified()}`](#{pages.slug(each.qualified().replace('::', '-'))})"
            for each in list_)
        index.append(f"| [`{name}`](#{pages.slug(name)}) | {links} |")
    parts = [note, f"# {title}\n", intro + "\n", *index, ""]
    parts += [header_section(path, list_, language, known)
              for path, list_ in found.items()]
    text = "\n".join(parts)
    return re.sub(r"\n{3,}", "\n\n", pages.join_code(text)), problems


def main():
    """Prints the declarations of headers that have no comment."""
    problems = missing(symbols([os.path.relpath(os.path.abspath(path),
                                                pages.ROOT)
                                for path in sys.argv[1:]]))
    print("\n".join(problems))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
