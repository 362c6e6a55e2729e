# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages of the C and the C++ API, from the public headers.

Doxygen finds the declarations; their comments are taken from the headers as
they are, because they are Markdown. One comment may be for several
declarations: those that follow it without an empty line. `\\param NAME`,
`\\return` and `\\retval CODE` (an error, and when) become tables; those in the
comment at the start of a header are of all its functions.
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
        self.parameters = [each.findtext("declname")
                           for each in element.findall("param")
                           if each.findtext("declname")]
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


class Contract:
    """What a comment says of a function besides its text."""

    def __init__(self, comment=""):
        self.text, self.parameters, self.errors, self.result = "", {}, {}, ""
        lines, store = [], None
        for line in comment.splitlines():
            command = re.match(r"\\(param|retval) (\S+) +(.*)", line)
            if command:
                store = (self.parameters if command[1] == "param"
                         else self.errors, command[2].strip("`"))
                store[0][store[1]] = command[3]
            elif line.startswith("\\return "):
                store = (self.__dict__, "result")
                self.result = line.removeprefix("\\return ")
            elif store and line.strip():
                store[0][store[1]] += " " + line.strip()
            else:
                store = None
                lines.append(line)
        self.text = "\n".join(lines).strip()

    def add(self, other):
        """Takes what another comment of the same functions says."""
        self.text = "\n\n".join(filter(None, [self.text, other.text]))
        self.parameters.update(other.parameters)
        self.errors.update(other.errors)
        self.result = self.result or other.result


def fails(symbol):
    """Whether the function returns a status, alone or in place of a value."""
    return re.match(r"(static )?((rt::)?(Status|Expected)\b(?!.*&)|"
                    r"IrisRtStatusCode$)", symbol.type) is not None


def undocumented(symbol, common):
    """What the comment of a function lacks; `common` is of its header."""
    own = Contract(symbol.comment)
    if symbol.kind != "function" or symbol.name.startswith(("operator", "~")):
        return
    for name in symbol.parameters:
        if name not in own.parameters and name not in common.parameters:
            yield f"has no \\param {name}"
    for name in own.parameters:
        if name not in symbol.all_parameters:
            yield f"has no parameter '{name}' of its comment"
    if symbol.type not in ("", "void", "Status", "rt::Status", "static Status",
                           "IrisRtStatusCode") and not own.result:
        yield "has no \\return"
    # Those of Status.h make statuses.
    if fails(symbol) and not own.errors and not common.errors and \
            not symbol.path.endswith("/Status.h"):
        yield "has no \\retval"


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
    """What comments lack, as `header:line: name has no ...`."""
    problems = []
    for path, list_ in found.items():
        common = Contract(banner(path))
        every = [each for symbol in list_ for each in (symbol, *symbol.members)]
        for each in every:
            # Several functions may share a comment.
            each.all_parameters = {
                name for other in every if other.comment == each.comment
                for name in other.parameters}
        for each in every:
            lacks = ["has no comment"] if not each.comment else \
                undocumented(each, common)
            problems += [f"{each.path}:{each.line}: {each.qualified()} {what}"
                         for what in lacks]
    return problems


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


def code_link(code):
    """An error code, with a link to its meaning in C++."""
    return f"`{code}`" if code.startswith("IRIS") else \
        f"[`{code}`](#statuscode-{code.lower()})"


def contract_tables(contract, names=None):
    """Parameters (of these names), result and errors as Markdown."""
    parts = []
    rows = [f"| `{name}` | {cell(contract.parameters[name])} |"
            for name in names or contract.parameters
            if name in contract.parameters]
    if rows:
        parts.append("\n".join(["| parameter | meaning |", "|---|---|", *rows]))
    if contract.result:
        parts.append("**Returns** " + contract.result)
    rows = [f"| {code_link(code)} | {cell(text)} |"
            for code, text in contract.errors.items()]
    if rows:
        parts.append("\n".join(["| error | when |", "|---|---|", *rows]))
    return parts


def function_contract(group, common):
    """The tables of functions that share a section."""
    own = Contract()
    for comment in dict.fromkeys(each.comment for each in group):
        own.add(Contract(comment))
    names = list(dict.fromkeys(name for each in group
                               for name in each.parameters))
    own.parameters = {**common.parameters, **own.parameters}
    parts = [own.text, *contract_tables(own, names or ["-"])]
    if common.errors and any(fails(each) for each in group):
        more = "More errors" if own.errors else "Errors"
        parts.append(f"{more}: [those of every call](#{common.anchor}).")
    return "\n\n".join(filter(None, parts))


def function_section(group, level, language, common):
    """One section for functions that share a comment; an anchor for each."""
    names = list(dict.fromkeys(each.qualified() for each in group))
    heading = "#" * level + " " + ", ".join(f"`{name}`" for name in names)
    code = "\n".join(each.signature() for each in group)
    marks = "".join(anchor(name) for name in names)
    return (f"{heading}\n\n{marks}\n\n```{language}\n{code}\n```\n\n" +
            function_contract(group, common) + "\n")


def class_section(symbol, language, common):
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
    parts += [function_section(group, 4, language, common)
              for group in functions]
    return "\n".join(parts)


def macro_section(symbol, language):
    text = f"### `{symbol.name}`\n\n{anchor(symbol.name)}\n\n"
    value = "" if "\n" in symbol.value or len(symbol.value) > 60 else \
        " " + symbol.value
    return (text + f"```{language}\n#define {symbol.name}"
            f"{symbol.arguments}{value}\n```\n\n{symbol.comment}\n")


def section(group, language, common):
    symbol = group[0]
    if symbol.kind in ("class", "struct"):
        return class_section(symbol, language, common)
    if symbol.kind == "enum":
        return (f"### `{symbol.name}`\n\n{anchor(symbol.name)}\n\n"
                f"{symbol.comment}\n\n{case_table(symbol)}")
    if symbol.kind == "define":
        return macro_section(symbol, language)
    return function_section(group, 3, language, common)


def banner(path):
    """The comment at a header's start."""
    text = re.match(r"((?:\s*//[^\n]*\n|\s*/\*.*?\*/\n)+)", pages.read(path),
                      re.S)[1]
    lines = [re.sub(r"^\s*(?:///?|/?\*+/?) ?", "", line).rstrip().removesuffix(
        "*/").rstrip() for line in text.splitlines()]
    return "\n".join(line for line in lines if "SPDX" not in line and
                     "===" not in line).strip("\n")


def prose(text, language):
    """A header's comment as Markdown; an indented paragraph is an example."""
    result = []
    for part in re.split(r"\n{2,}", text):
        is_code = all(line.startswith("  ") for line in part.splitlines())
        result.append(f"```{language}\n{textwrap.dedent(part)}\n```"
                      if is_code else separate_lists(part))
    return "\n\n".join(result)


def header_section(path, list_, language, known):
    parts, functions = [], []
    name, common = path.split("include/", 1)[1], Contract(banner(path))
    common.anchor = pages.slug(name)
    introduction = "\n\n".join(
        [link_names(prose(common.text, language), known),
         *(link_names(part, known) for part in contract_tables(common))])
    for symbol in list_:
        if symbol.kind in ("function", "typedef", "variable"):
            functions.append(symbol)
            continue
        parts += [section(group, language, common)
                  for group in groups(functions)]
        functions = []
        parts.append(section([symbol], language, common))
    parts += [section(group, language, common) for group in groups(functions)]
    return (f"## `{name}`\n\n{introduction}\n\n"
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
