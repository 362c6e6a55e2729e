#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes fused kernels, to be precompiled for fused.py.

Usage: fused_kernels.py -n RANKS SPEC...   prints a module with these kernels.

A SPEC is a kind and its config, as in docs/guides/fused-matmuls.md:

    all_gather_matmul,variant=hbm_buffer,num_fetch_programs=16

Shapes for fused.py may follow, each after an @. Defaults are: f16, tiles of
128 x 256 x 64, 8 warps, 132 programs. `name` is the kernel's name: a hash of
its spec.

With `chosen=1` the library selects the config, and only shard and
partial_type of the spec count. Kernels of such specs, of `unfused` and of
`copy_engine` are not written here: `iris-bench --requests` lists what they
need.
"""
import argparse
import hashlib

DEFAULTS = {"tile_m": 128, "tile_n": 256, "tile_k": 64, "warps": 8,
            "programs": 132}


class Spec:
    """A kernel: its kind and config."""

    def __init__(self, text, ranks):
        text, *self.shapes = text.split("@")
        kind, *settings = text.split(",")
        self.text, self.kind, self.ranks = text, kind, ranks
        self.config = {} if "chosen=1" in settings else dict(DEFAULTS)
        for setting in settings:
            key, value = setting.split("=")
            self.config[key] = int(value) if value.isdigit() else value
        self.element = self.config.pop("element", "f16")
        self.is_chosen = bool(self.config.pop("chosen", 0))
        self.is_kernel = not self.is_chosen and \
            self.config.get("variant") not in ("unfused", "copy_engine")
        digest = hashlib.sha256(f"{text} {ranks}".encode()).hexdigest()[:12]
        self.name = f"{kind}_{digest}"

    def __getitem__(self, key):
        return self.config[key]

    def get(self, key, default):
        return self.config.get(key, default)

    def config_text(self):
        def spell(value):
            return str(value) if isinstance(value, int) else f'"{value}"'
        return ", ".join(f"{key} = {spell(value)}"
                         for key, value in sorted(self.config.items()))

    def op(self):
        return (f"iris.matmul_kernel @{self.name} {self.kind} "
                f"{self.element} -> {self.element} size {self.ranks} "
                f"{{{self.config_text()}}}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("-n", type=int, required=True, help="ranks")
    parser.add_argument("specs", nargs="+")
    options = parser.parse_args()
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    for spec in (Spec(text, options.n) for text in options.specs):
        if spec.is_kernel:
            print(spec.op())


if __name__ == "__main__":
    main()
