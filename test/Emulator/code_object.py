# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code objects of one kernel, assembled by llvm-mc without a linker.

    code_object.py CHIP SOURCE OUTPUT [--lds=N] [--vectors=N] [--break=WHAT]
        [--scratch=N] [--scratch-buffer]

SOURCE has the instructions of the kernel `k` for gfx9, which are translated for
other chips (generations.py): s[0:1] is the address of its
arguments (64 bits each, --arguments of them), s2 the program's index, v0 the
thread's. With --scratch-buffer (gfx90a) the descriptor of scratch is in front of
them: s[0:3], the others are s[4:5] and s6, and s7 is where the wave's scratch is.
WHAT is a defect: see BREAKS.
"""
import argparse
import pathlib
import struct
import subprocess
import sys

from generations import has_own_waits, translate

MACHINES = {"gfx90a": 0x3F, "gfx942": 0x4C, "gfx950": 0x4F, "gfx1100": 0x41,
            "gfx1201": 0x4E}
DESCRIPTOR, CODE = 0x1000, 0x2000  # addresses in the image


def assemble(chip, source):
    """The bytes of the instructions."""
    run = subprocess.run(
        ["llvm-mc", "-triple=amdgcn-amd-amdhsa", f"-mcpu={chip}",
         "-filetype=obj"], input=source.encode(), capture_output=True)
    if run.returncode:
        sys.exit(run.stderr.decode())
    data = run.stdout
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size)
               for i in range(count)]
    strings = headers[names]
    for header in headers:
        start = strings[4] + header[0]
        if data[start:start + 6] == b".text\0":
            return data[header[4]:header[4] + header[5]]
    return sys.exit("no .text")


def pack(value):
    """MessagePack of the few types that metadata have."""
    if isinstance(value, dict):
        return b"\xde" + struct.pack(">H", len(value)) + b"".join(
            pack(k) + pack(v) for k, v in value.items())
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(
            map(pack, value))
    if isinstance(value, str):
        return b"\xda" + struct.pack(">H", len(value)) + value.encode()
    return b"\xce" + struct.pack(">I", value)


def descriptor(chip, options):
    wave = 32 if chip.startswith("gfx1") else 64
    granules = options.vectors // 8 - 1
    rsrc1 = granules | 0xF0 << 12
    rsrc2 = 2 << 1 | 1 << 7  # two user registers, the program's index
    if options.scratch_buffer:
        rsrc2 += 4 << 1 | 1
    rsrc3 = 0 if wave == 32 else options.vectors // 2 // 4 - 1
    properties = (options.scratch_buffer | 1 << 3
                  | (1 << 10 if wave == 32 else 0))
    return struct.pack("<IIIIq20xIIIHHI", options.lds, options.scratch,
                       8 * options.arguments, 0, CODE - DESCRIPTOR, rsrc3,
                       rsrc1, rsrc2, properties, 0, 0)


def build(chip, source, options):
    # Where the program's index is not in s2.
    start = "s_mov_b32 s2, ttmp9\n" if has_own_waits(chip) else ""
    code = assemble(chip, start + translate(source, chip))
    wave = 32 if chip.startswith("gfx1") else 64
    kernel = {".name": "k", ".symbol": "k.kd",
              ".kernarg_segment_size": 8 * options.arguments,
              ".group_segment_fixed_size": options.lds,
              ".private_segment_fixed_size": options.scratch,
              ".wavefront_size": wave, ".max_flat_workgroup_size": 1024,
              ".args": [{".offset": 8 * i, ".size": 8,
                         ".value_kind": "by_value"}
                        for i in range(options.arguments)]}
    flags = MACHINES[chip]
    if options.defect == "lds":
        kernel[".group_segment_fixed_size"] += 4
    elif options.defect == "symbol":
        kernel[".symbol"] = "other.kd"
    elif options.defect == "argument":
        kernel[".args"].append({".offset": 8 * options.arguments, ".size": 8,
                                ".value_kind": "by_value"})
    elif options.defect == "chip":
        flags = 0x2C  # gfx900
    elif options.defect == "flags":
        flags = 0x27  # reserved
    metadata = pack({"amdhsa.version": [1, 2], "amdhsa.kernels": [kernel]})
    if options.defect == "metadata":
        metadata = b"\xc1" * len(metadata)
    elif options.defect == "key":
        metadata = b"\x81\x81\xc0\xc0"  # a map with a map as its key
    note = struct.pack("<III", 7, len(metadata), 32) + b"AMDGPU\0\0" + metadata
    names = b"\0k.kd\0.dynsym\0.dynstr\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, DESCRIPTOR, 64)
    entry = descriptor(chip, options)
    if options.defect == "entry":
        entry = entry[:16] + struct.pack("<q", 1 << 20) + entry[24:]

    # File: header, segments' headers, sections' headers, and what these have.
    parts, offset = [], 64 + 3 * 56 + 4 * 64
    places = {}
    for name, data in (("note", note), ("symbols", symbols), ("names", names),
                       ("descriptor", entry), ("code", code)):
        offset = (offset + 63) // 64 * 64
        places[name] = offset, len(data)
        parts.append((offset, data))
        offset += len(data)
    header = b"\x7fELF" + bytes([2, 1, 1, 64, 3]) + bytes(7) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 224, 1, 0, 64, 64 + 3 * 56, flags, 64, 56, 3, 64,
        4, 3)

    def segment(kind, rights, name, address):
        start, size = places[name]
        return struct.pack("<IIQQQQQQ", kind, rights, start, address, address,
                           size, size, 4)

    def section(name, kind, place, link=0, entry=0):
        start, size = places[place] if place else (0, 0)
        return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, start, size, link,
                           0, 8, entry)

    header += segment(4, 4, "note", 0) + segment(
        1, 4, "descriptor", DESCRIPTOR) + segment(1, 5, "code", CODE)
    header += section(0, 0, None) + section(0, 1, None) + section(
        names.index(b".dynsym"), 11, "symbols", 3, 24) + section(
            names.index(b".dynstr"), 3, "names")
    image = bytearray(offset)
    image[:len(header)] = header
    for start, data in parts:
        image[start:start + len(data)] = data
    if options.defect == "truncated":
        image = image[:places["code"][0] + 2]
    elif options.defect == "short":
        image = image[:40]
    elif options.defect == "code":
        # The size in memory of the last segment.
        struct.pack_into("<Q", image, 64 + 2 * 56 + 40, len(code) + 4)
    elif options.defect == "machine":
        struct.pack_into("<H", image, 18, 62)
    return bytes(image)


BREAKS = ["lds", "symbol", "argument", "chip", "metadata", "entry", "truncated",
          "short", "machine", "flags", "code", "key"]


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("chip", choices=MACHINES)
    parser.add_argument("source")
    parser.add_argument("output")
    parser.add_argument("--lds", type=int, default=0)
    parser.add_argument("--scratch", type=int, default=0)
    parser.add_argument("--scratch-buffer", action="store_true")
    parser.add_argument("--vectors", type=int, default=64)
    parser.add_argument("--arguments", type=int, default=1)
    parser.add_argument("--break", dest="defect", choices=BREAKS)
    return parser.parse_args(arguments)


def main():
    options = parse()
    source = pathlib.Path(options.source).read_text()
    pathlib.Path(options.output).write_bytes(
        build(options.chip, source, options))


if __name__ == "__main__":
    main()
