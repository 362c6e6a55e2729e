# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared code of the plotting scripts: reading lines, names, colours.

A measurement is a JSON object with at least `op`, `peer`, `bytes` (of one
chunk), `us` (the median time of a call), `busbw_GBs` (bus bandwidth as
nccl-tests defines it, in 1e9 bytes per second) and `ranks`.
"""
import gzip
import json
import sys

MANY_CHUNKS = {"all_gather", "reduce_scatter", "all_to_all", "gather",
               "scatter"}

# Okabe and Ito's palette, for colour-blind readers and print.
BLUE, RED, ORANGE, GREEN, PINK, SKY = (
    "#0072b2", "#d55e00", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")
GREY = "#555555"

# Names and styles of peers; unknown ones use the remaining styles.
PEERS = {
    "nccl": ("NCCL", RED),
    "nccl_symm": ("NCCL, registered memory", ORANGE),
    "torch_one_shot": ("PyTorch, one shot", GREEN),
    "torch_two_shot": ("PyTorch, two shots", PINK),
    "torch_symm": ("PyTorch, symmetric memory", GREEN),
    "torch_low_contention": ("PyTorch, low contention", GREEN),
}


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def read_lines(path):
    """The measurements of a file (.gz too), in file order; exits on a line
    that is not a measurement."""
    try:
        with (gzip.open if path.endswith(".gz") else open)(
                path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    entry = json.loads(line)
                    entry["op"], entry["peer"], entry["busbw_GBs"] + 0
                    if entry["bytes"] and not entry["us"] > 0:
                        raise ValueError("no time")
                    if not entry["ranks"] >= 1:
                        raise ValueError("no ranks")
                except (ValueError, KeyError, TypeError) as error:
                    fail(f"{path}:{number}: no measurement: {error!r}")
                yield entry
    except OSError as error:
        fail(str(error))


def read(paths):
    """The measurements of files, in order, except those without bytes
    (barriers)."""
    entries = [entry for path in paths for entry in read_lines(path)
               if entry["bytes"]]
    if not entries:
        fail("no measurement in " + ", ".join(paths))
    return entries


def format_size(size):
    """"64 KiB", "1500 B": the largest unit with an integral value."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024 or size % 1024:
            return f"{size} {unit}"
        size //= 1024
    return f"{size} GiB"


def name_size(size, _=None):
    """"64 KiB"; also a formatter for Matplotlib."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:g} {unit}"
        size /= 1024
    return ""


def name_peer(entry):
    """The display name of a peer."""
    peer = entry["peer"]
    name = {"iris": "Iris", "limit": "Hand-written limit"}.get(peer) or \
        PEERS.get(peer, (peer,))[0]
    if "RCCL" in entry.get("version", ""):
        name = name.replace("NCCL", "RCCL")
    return name


def group(entries, dtype=None, mode=None, ranks=None):
    """{(op, suffix of file names): entries}: one set for each operation,
    type, mode and number of ranks. The suffix has those that vary."""
    entries = [entry for entry in entries
               if dtype in (None, entry.get("dtype"))
               and mode in (None, entry.get("mode", "graph"))
               and ranks in (None, entry["ranks"])]

    def key(entry):
        return (str(entry.get("dtype", "")), entry.get("mode", "graph"),
                f"{entry['ranks']}-ranks")
    several = [len(set(values)) > 1 for values in zip(*map(key, entries))]
    groups = {}
    for entry in entries:
        parts = [part for part, wanted in zip(key(entry), several) if wanted]
        suffix = "".join("-" + part for part in parts)
        groups.setdefault((entry["op"], suffix), []).append(entry)
    return groups


def title(entries):
    """"all_reduce, bf16, 8 x NVIDIA H200"."""
    first = entries[0]
    devices = sorted({entry.get("device", "") for entry in entries} - {""})
    text = f"{first['op']}, {first.get('dtype', '')}, {first['ranks']} × " + \
        (" and ".join(devices) or "?")
    if first.get("mode", "graph") != "graph":
        text += f", {first['mode']}"
    return text


def load_pyplot():
    """Matplotlib, configured for small files that are reproducible."""
    try:
        import matplotlib
    except ImportError:
        fail("this needs Matplotlib (Debian: python3-matplotlib)")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.rcParams.update({
        "svg.fonttype": "none", "svg.hashsalt": "iris",
        "font.family": "sans-serif", "font.size": 9,
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.alpha": 0.3, "legend.frameon": False})
    return pyplot


def set_size_axis(axes, op):
    """Chunk sizes on a logarithmic axis, a tick at every fourth power of 2."""
    from matplotlib import ticker
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(ticker.LogLocator(base=16, numticks=20))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.xaxis.set_major_formatter(name_size)
    axes.set_xlabel("chunk of one rank" if op in MANY_CHUNKS else "buffer")


def save(figure, path):
    figure.savefig(path, dpi=110, facecolor="white",
                   metadata={"Date": None} if path.endswith(".svg") else None)
