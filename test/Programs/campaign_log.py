# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The log of a campaign: one line of JSON for each thing that was run. It may be
interrupted at any time, and several processes may append to it."""
import json
import os


def read_log(path):
    """Its records; a line that an interruption cut short is none."""
    records = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    records.append(json.loads(line))
                except json.JSONDecodeError:
                    continue
    return records


def append(path, record):
    """In one write, on a line of its own."""
    with open(path, "ab") as file:
        cut_short = file.tell() and not ends_line(path)
        file.write((b"\n" if cut_short else b"")
                   + json.dumps(record).encode() + b"\n")


def ends_line(path):
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
