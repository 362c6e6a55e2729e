#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the built site.

    utils/docs/check_site.py FOLDER

No page loads a script, style, font, image or frame from the web (links to it
are fine). Every page has one heading of the first level, which is its title;
every page is in the search's index, and everything that a page loads or links
to is there.
"""
import html.parser
import json
import os
import re
import sys
import urllib.parse

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src",
          "link": "href", "object": "data", "use": "href"}
# Links that do not load anything.
PLAIN = {"canonical", "next", "prev", "edit"}


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.loaded, self.links, self.ids = [], [], set()
        self.text, self.inside = {"title": "", "h1": ""}, None
        self.headings = 0  # of the page
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "link" and values.get("rel") in PLAIN:
            return
        if tag in LOADED and values.get(LOADED[tag]):
            self.loaded.append(values[LOADED[tag]])
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        self.ids.update(values[key] for key in ("id", "name")
                        if values.get(key))
        self.headings += tag == "h1"
        if tag in self.text and not self.text[tag]:
            self.inside = tag

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.text[self.inside] += data

    def title(self):
        return self.text["title"].strip().removesuffix(" - Iris")

    def heading(self):
        return self.text["h1"].strip().removesuffix("\N{PILCROW SIGN}").strip()


def is_foreign(address):
    return re.match(r"(?:[a-z]+:)?//", address) is not None


def is_missing(folder, name, address):
    path = urllib.parse.unquote(re.split("[?#]", address)[0])
    return path and not re.match(r"[a-z]+:", address) and not os.path.exists(
        os.path.join(folder, path.lstrip("/") if path.startswith("/") else
                     os.path.join(os.path.dirname(name), path)))


def check_page(folder, name, page, all_pages, problems):
    problems += [f"{name}: loads {each}" for each in page.loaded
                 if is_foreign(each)]
    problems += [f"{name}: there is no {each}" for each in page.loaded
                 if not is_foreign(each) and is_missing(folder, name, each)]
    if page.title() != page.heading() and name != "404.html":
        problems.append(f"{name}: has the title '{page.title()}'; expected "
                        f"'{page.heading()}'")
    if page.headings != 1:
        problems.append(f"{name}: has {page.headings} headings of the first "
                        "level; expected 1")
    for link in page.links:
        if is_foreign(link) or re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        path = urllib.parse.unquote(path)
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) \
            if path else name
        if is_missing(folder, name, path or name) and path:
            problems.append(f"{name}: there is no {link}")
        elif target in all_pages and anchor and anchor != "__" and \
                urllib.parse.unquote(anchor) not in all_pages[target].ids:
            problems.append(f"{name}: {link} leads nowhere")


def main():
    folder, problems, all_pages = sys.argv[1], [], {}
    for place, _, files in os.walk(folder):
        for file in files:
            path = os.path.join(place, file)
            name = os.path.relpath(path, folder)
            if file.endswith((".html", ".css")):
                with open(path, encoding="utf-8") as stream:
                    text = stream.read()
            if file.endswith(".html"):
                all_pages[name] = Page(text)
            elif file.endswith(".css"):
                problems += [f"{name}: loads {each}" for each in re.findall(
                    r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^)\"']+)",
                    text)]
    for name, page in sorted(all_pages.items()):
        check_page(folder, name, page, all_pages, problems)
    with open(os.path.join(folder, "search/search_index.json"),
              encoding="utf-8") as stream:
        indexed = {each["location"].partition("#")[0]
                   for each in json.load(stream)["docs"]}
    problems += [f"{name}: is not in the search's index" for name in all_pages
                 if name not in indexed | {"404.html"} and
                 not (name == "index.html" and "" in indexed)]
    print("\n".join([*problems, f"site: {len(all_pages)} pages, "
                     f"{len(problems)} problems"]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
