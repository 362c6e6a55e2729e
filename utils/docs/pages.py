# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts of this folder share: where pages are, and their parts."""
import fnmatch
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# Pages of docs/reference that generate.py writes; they are not in the
# repository.
GENERATED = ("commands.md", "environment.md", "c-api.md", "cpp-api.md")
FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\S*)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")


def tracked(*patterns):
    """The repository's files that match, as paths relative to ROOT: what is
    tracked, and what is new and not ignored."""
    text = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard",
         "--", *patterns], cwd=ROOT, capture_output=True, text=True,
        check=False).stdout
    names = [name for name in text.split("\0") if name]
    if not names:  # an archive, without .git
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders
                          if not f.startswith((".", "build", "__"))]
            names += [os.path.relpath(os.path.join(folder, f), ROOT)
                      for f in files]
        names = [n for n in names if not patterns or
                 any(fnmatch.fnmatch(n, p) for p in patterns)]
    return sorted(n for n in set(names) if os.path.exists(os.path.join(ROOT, n)))


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def blocks(text):
    """Yields (line number, language, comment before, lines) of each fenced
    block; `comment before` is the HTML comment in the line above, or ''."""
    lines = text.splitlines()
    start = None
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if start is None and match:
            start, mark = number, match
        elif start is not None and match and line.strip() == mark[2]:
            above = lines[start - 1].strip() if start else ""
            comment = re.fullmatch(r"<!--\s*(.*?)\s*-->", above)
            indent = len(mark[1])
            yield (start + 1, mark[3], comment[1] if comment else "",
                   [each[indent:] for each in lines[start + 1:number]])
            start = None


def prose(text):
    """The text with fenced blocks, inline code and comments blanked out; what
    remains is at the same offsets."""
    result, mark = [], None
    for line in text.splitlines():
        match = FENCE.match(line)
        if mark is None and match:
            mark = match[2]
            result.append(" " * len(line))
        elif mark is not None:
            if match and line.strip() == mark:
                mark = None
            result.append(" " * len(line))
        else:
            result.append(line)
    joined = "\n".join(result)
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    joined = re.sub(r"<!--.*?-->", blank, joined, flags=re.S)
    return re.sub(r"`[^`\n]*`", blank, joined)


def join_code(text):
    """The text with inline code that is broken between two lines on one line:
    `#name` at the start of a line would be a heading."""
    result, mark = [], None
    for line in text.splitlines():
        fence = FENCE.match(line)
        if fence and mark is None:
            mark = fence[2]
        elif fence and line.strip() == mark:
            mark = None
        elif mark is None and result and result[-1].count("`") % 2 and \
                line.strip() and not FENCE.match(result[-1]):
            result[-1] = f"{result[-1].rstrip()} {line.strip()}"
            continue
        result.append(line)
    return "\n".join(result)


def slug(title):
    """The anchor of a heading, by the rules of GitHub and of pymdownx.slugs."""
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    title = re.sub(r"[`*]", "", title).strip().lower()
    title = re.sub(r"[^\w\- ]", "", title)
    return title.replace(" ", "-")


def anchors(text):
    """The anchors of a page: its headings, and explicit ids."""
    found, mark = {}, None
    for line in text.splitlines():
        match = FENCE.match(line)
        if mark is None and match:
            mark = match[2]
        elif mark is not None:
            if match and line.strip() == mark:
                mark = None
        elif heading := HEADING.match(line):
            name = slug(heading[2])
            count = found.get(name, -1) + 1
            found[name] = count
            if count:
                found[f"{name}-{count}"] = 0
    return set(found) | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))
