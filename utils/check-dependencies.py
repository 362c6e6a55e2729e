#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks who includes whom (docs/internals/architecture.md), that only the table
of chips names chips, and that every source file has an SPDX line. Prints each
violation; exits with status 1 if there is one."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)

# (folders, forbidden includes, reason)
RULES = [
    (["runtime", "tools/iris-bench", "tools/iris-run", "tools/launch"],
     r"^(mlir|llvm|llvm-c|mlir-c|iris)/(?!rt/|ccl/|Chips/ChipTable|Plan/|Text/|iris\.h|ccl\.h)",
     "the runtime and its tools are free of LLVM and of the compiler"),
    (["lib", "include/iris", "tools/iris-compile", "tools/iris-opt",
      "tools/iris-plugin", "tools/iris-interpret", "tools/iris-emulate"], r"^iris/(rt/|ccl/|(iris|ccl)\.h$)|^runtime/",
     "the compiler does not know the runtime; they share iris-c/RuntimeABI.h"),
    (["lib/Plan", "include/iris/Plan", "include/iris/Text"],
     r"^(mlir|llvm|llvm-c|mlir-c|iris-c|iris|ccl|core)/(?!Plan/)",
     "what compiler and runtime share is free of both"),
    (["include/iris-c"], r"^(?!stddef\.h|stdint\.h)",
     "the ABI header depends on nothing"),
    (["lib/Dialect/Iris/IR", "include/iris/Dialect/Iris/IR",
      "lib/Dialect/Tile/IR", "include/iris/Dialect/Tile/IR"],
     r"^iris/(Analysis|Conversion|Kernels|Pipelines|Target|Dialect/\w+/Transforms)/",
     "dialects depend on dialects only"),
    (["lib/Dialect/Tile/IR", "include/iris/Dialect/Tile/IR"], r"^iris/Dialect/Iris/",
     "the tile dialect is below the iris dialect"),
    (["lib/Chips", "include/iris/Chips"],
     r"^(mlir|llvm|llvm-c|mlir-c|iris-c|iris|ccl|core)/(?!Chips/)",
     "the table of chips, which compiler and runtime share, is free of both"),
    (["lib/Analysis", "include/iris/Analysis"],
     r"^iris/(Conversion|Kernels|Pipelines|Target|Dialect/\w+/Transforms)/",
     "analyses depend on dialects only"),
    (["lib/SyncCheck", "include/iris/SyncCheck"],
     r"^iris/(?!SyncCheck/|Dialect/\w+/IR/)",
     "the checks of synchronization depend on dialects only"),
    (["lib/Dialect/Iris/Transforms", "lib/Dialect/Tile/Transforms"],
     r"^iris/(Conversion|Kernels|Pipelines|Target)/",
     "target-independent passes know no target"),
    (["lib/Interpreter", "include/iris/Interpreter", "tools/iris-interpret"],
     r"^iris/(Analysis|Conversion|Guards|Kernels|Pipelines|Target|InitAll|Dialect/\w+/Transforms|Dialect/\w+/Utils)",
     "the reference shares nothing with what it checks, except for the dialects"),
    (["lib/Emulator", "include/iris/Emulator", "tools/iris-emulate"],
     r"^(mlir|iris-c)/|^iris/(?!Chips/|Emulator/)",
     "the emulator shares nothing with what it executes, except for the chips"),
    (["lib/Target", "include/iris/Target"],
     r"^iris/(Conversion|Kernels|Pipelines)/",
     "code generation starts from the LLVM dialect"),
    (["lib/Conversion/IrisToROCDL"], r"IrisToNVVM|IrisToLLVM", "targets are independent of each other"),
    (["lib/Conversion/IrisToNVVM"], r"IrisToROCDL|IrisToLLVM", "targets are independent of each other"),
    (["lib/Conversion/IrisToLLVM"], r"IrisToROCDL|IrisToNVVM", "targets are independent of each other"),
    (["lib/Kernels", "include/iris/Kernels"], r"^iris/(Conversion|Pipelines|Target)/",
     "kernel generators build IR and lower nothing"),
]
# Words that must not occur in the compiler's libraries.
WORDS = [(["lib"], re.compile(r"\b(getenv|cl::opt)\b"),
          "options come from pass options; the environment is not read")]
# Chips by name, in code (not in comments) of the libraries. What
# differs between chips is a property in their rows.
CHIP_TABLE = "lib/Chips"
CHIP_NAME = re.compile(r'"[^"\n]*\b(gfx\d|sm_\d)|\bChipset\b|\b(major|minor)Version\b')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|\[\{.*?\}\]', re.S)
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
NO_SPDX = {".gitignore", ".clang-format", "LICENSE", "CMakePresets.json"}
NO_SPDX_SUFFIXES = {".json", ".csv", ".jsonl", ".gz", ".png", ".svg", ".bin", ".iris",
                    ".md"}


def tracked():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True,
                         capture_output=True).stdout
    return [pathlib.Path(name) for name in out.decode().split("\0") if name]


def main():
    bad = []
    for path in tracked():
        full = ROOT / path
        if not full.is_file() or full.is_symlink():
            continue
        data = full.read_bytes()
        if (path.name not in NO_SPDX and path.suffix not in NO_SPDX_SUFFIXES
                and "corpus" not in path.parts and SPDX.encode() not in data[:600]):
            bad.append(f"{path}: no SPDX line")
        if path.suffix not in {".h", ".cpp", ".c", ".td", ".inc"}:
            continue
        text = data.decode()
        inside = lambda folders: any(path.is_relative_to(f) for f in folders)
        for folders, pattern, why in RULES:
            if inside(folders):
                bad += [f"{path}: includes {name}: {why}"
                        for name in INCLUDE.findall(text) if re.search(pattern, name)]
        for folders, pattern, why in WORDS:
            if inside(folders) and (hit := pattern.search(text)):
                bad.append(f"{path}: says {hit.group()}: {why}")
        if inside(["lib", "include/iris", "runtime"]) and not inside([CHIP_TABLE]):
            code = COMMENT.sub("", text)
            bad += [f"{path}: names a chip ({hit.group().strip()}): ask for a "
                    f"property of ChipInfo, whose rows are in {CHIP_TABLE}"
                    for hit in CHIP_NAME.finditer(code)]
    print("\n".join(bad) if bad else "dependencies and licences: ok")
    return 1 if bad else 0


sys.exit(main())
