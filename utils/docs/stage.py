#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts the site's pages together, for MkDocs.

    utils/docs/stage.py --out=FOLDER --reference=FOLDER --mermaid=FILE

Copies docs/ and the generated reference. What pages link to outside of docs/
becomes part of the site as well, under source/: Markdown as a page, other text
as a page with the file in it, a folder as its README or a list. Scripts and
styles come from utils/docs/site, and Mermaid's script from FILE, so that the
site loads nothing from the web.
"""
import argparse
import os
import re
import shutil
import sys

import pages
from check_links import LINK

LANGUAGES = {".py": "python", ".h": "cpp", ".cpp": "cpp", ".c": "c",
             ".sh": "bash", ".json": "json", ".yml": "yaml"}

# Front matter of files of the repository: the search lists them after docs/.
BEHIND = "---\nsearch:\n  boost: 0.2\n---\n\n"


class Site:
    def __init__(self, out):
        self.out, self.todo, self.done = out, [], set()

    def address(self, path):
        """Where the site has a file or folder of the repository."""
        if path.startswith("docs/"):
            return path[len("docs/"):]
        if path == "README.md":
            return "source/about.md"
        full = os.path.join(pages.ROOT, path)
        if path.endswith((".svg", ".png")):
            return f"source/{path}"
        if os.path.isdir(full):
            return f"source/{path}/index.md" if path != "." else \
                "source/index.md"
        if path.endswith("/README.md"):
            return f"source/{path[:-len('README.md')]}index.md"
        return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"

    def rewrite(self, path, text, at):
        """The text of page `path`, shown at `at`, with its links changed."""
        def change(match):
            target = match[1]
            if re.match(r"[a-z]+:|#", target):
                return match[0]
            file, mark, anchor = target.partition("#")
            found = os.path.normpath(os.path.join(os.path.dirname(path), file))
            if found == "docs":
                found = "docs/index.md"
            elif found.startswith("docs/") and os.path.isdir(
                    os.path.join(pages.ROOT, found)):
                found += "/index.md"
            if not found.startswith("docs/") and found not in self.done:
                self.todo.append(found)
            to = self.address(found)
            if found.startswith("docs/") and not found.endswith(
                    (".md", ".svg", ".png")):
                to = f"source/{found}.md"
                self.todo.append(found)
            relative = os.path.relpath(to, os.path.dirname(at) or ".")
            start, end = match.span(1)
            start, end = start - match.start(), end - match.start()
            return match[0][:start] + relative + mark + anchor + match[0][end:]
        plain = pages.prose(text)
        result, last = [], 0
        for match in LINK.finditer(plain):
            original = LINK.match(text, match.start())
            if original:
                result += [text[last:match.start()], change(original)]
                last = original.end()
        return "".join(result) + text[last:]

    def write(self, at, text):
        """Writes a page. Comments before its heading (licence, origin) would
        keep MkDocs from taking the heading as title."""
        text = re.sub(r"\A(?:\s*<!--.*?-->)+\s*", "", text, flags=re.S)
        if at.startswith("source/"):
            text = BEHIND + text
        place = os.path.join(self.out, at)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)

    def docs(self, reference):
        for folder, _, files in os.walk(os.path.join(pages.ROOT, "docs")):
            for name in files:
                full = os.path.join(folder, name)
                path = os.path.relpath(full, pages.ROOT)
                at = self.address(path)
                if name.endswith(".md"):
                    self.write(at, self.rewrite(path, pages.read(path), at))
                elif name.endswith((".svg", ".png", ".css")):
                    os.makedirs(os.path.dirname(os.path.join(self.out, at)),
                                exist_ok=True)
                    shutil.copy(full, os.path.join(self.out, at))
        for name in pages.GENERATED:
            with open(os.path.join(reference, name), encoding="utf-8") as file:
                path = f"docs/reference/{name}"
                at, text = self.address(path), file.read()
            self.write(at, self.rewrite(path, text, at))
            self.link_generated(name, re.search(r"(?m)^# (.*)$", text)[1])

    def link_generated(self, name, title):
        """Links a generated page, which the repository does not have, in the
        list of the reference."""
        at = "reference/index.md"
        with open(os.path.join(self.out, at), encoding="utf-8") as file:
            text = file.read()
        self.write(at, text.replace(f"| {title}, *generated* |",
                                    f"| [{title}]({name}) |"))

    def sources(self):
        while self.todo:
            path = self.todo.pop()
            if path in self.done:
                continue
            self.done.add(path)
            full = os.path.join(pages.ROOT, path)
            at = self.address(path)
            if path.startswith("docs/"):
                at = f"source/{path}.md"
            if os.path.isdir(full):
                readme = os.path.join(path, "README.md")
                if os.path.exists(os.path.join(pages.ROOT, readme)):
                    text = self.rewrite(readme, pages.read(readme), at)
                    self.done.add(readme)
                else:
                    names = sorted(name for name in pages.tracked(path + "/*"))
                    text = f"# `{path}`\n\n" + "".join(f"* `{name}`\n"
                                                       for name in names)
                self.write(at, text)
            elif path.endswith(".md"):
                self.write(at, self.rewrite(path, pages.read(path), at))
            elif path.endswith((".svg", ".png")):
                os.makedirs(os.path.dirname(os.path.join(self.out, at)),
                            exist_ok=True)
                shutil.copy(full, os.path.join(self.out, at))
            else:
                text = pages.read(path)
                if len(text) > 200_000:
                    text = text[:200_000] + "\n..."
                language = LANGUAGES.get(os.path.splitext(path)[1], "text")
                self.write(at, f"# `{path}`\n\n````{language}\n{text}\n````\n")


    def assets(self, mermaid):
        folder = os.path.join(self.out, "assets")
        shutil.copytree(os.path.join(pages.ROOT, "utils/docs/site"), folder)
        shutil.copy(mermaid, os.path.join(folder, "mermaid.js"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--mermaid", required=True)
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    site = Site(options.out)
    site.docs(options.reference)
    site.sources()
    site.assets(options.mermaid)
    print(f"{len(site.done)} files of the repository besides docs/")


if __name__ == "__main__":
    sys.exit(main())
