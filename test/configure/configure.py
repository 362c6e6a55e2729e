#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configures Iris on a machine that is not fresh, and compiles a file with the
flags of a unit test.

Source, build and LLVM are in folders with spaces; the source is read-only;
LLVM's include folder has the cxxabi.h of another package; and an older LLVM
comes first on the search path. LLVM is a copy of links to the one in use."""
import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys

OLDER = "19.1.7"
# What breaks first: the compiler's <exception> declares what cxxabi.h does.
PROBE = """#include <cxxabi.h>
#include <exception>
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Config/llvm-config.h"
static_assert(LLVM_VERSION_MAJOR == 22, "another LLVM");
"""


def link_all(source, target):
    target.mkdir(parents=True)
    for entry in source.iterdir():
        (target / entry.name).symlink_to(entry)


def make_llvm(llvm, prefix):
    """An LLVM at `prefix`. CMake finds the prefix from the real path of its
    package files, so these are copied."""
    link_all(llvm, prefix)
    for folder in ("include", "lib"):
        (prefix / folder).unlink()
        link_all(llvm / folder, prefix / folder)
    (prefix / "lib/cmake").unlink()
    shutil.copytree(llvm / "lib/cmake", prefix / "lib/cmake")
    (prefix / "include/cxxabi.h").unlink(missing_ok=True)
    (prefix / "include/cxxabi.h").write_text(
        '#error "the cxxabi.h of another package"\n')


def make_older(prefix):
    """The package files of an older LLVM, which end the configuration if they
    are used."""
    for name in ("LLVM", "MLIR", "LLD"):
        folder = prefix / "lib/cmake" / name.lower()
        folder.mkdir(parents=True)
        (folder / f"{name}Config.cmake").write_text(
            f'message(FATAL_ERROR "{name} {OLDER} was taken")\n')
        (folder / f"{name}ConfigVersion.cmake").write_text(
            f'set(PACKAGE_VERSION "{OLDER}")\n'
            'if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION '
            'OR NOT PACKAGE_FIND_VERSION)\n'
            '  set(PACKAGE_VERSION_COMPATIBLE 1)\nendif()\n')


def copy_source(source, target):
    """Copies the tracked files, read-only; returns their number."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=source, check=True,
                           capture_output=True, text=True).stdout.split("\0")
    names = [name for name in names if (source / name).is_file() and name]
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target / name)
    subprocess.run(["chmod", "-R", "a-w", str(target)], check=True)
    return len(names)


def run(command):
    print("+", shlex.join(map(str, command)), flush=True)
    result = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT)
    print(result.stdout, flush=True)
    if result.returncode:
        sys.exit(f"failed ({result.returncode}): {command[0]}")


def compile_probe(build, source, probe):
    """Checks PROBE with the flags of a unit test, which sees LLVM's headers and
    the compiler's, but without its precompiled ones."""
    commands = json.loads((build / "compile_commands.json").read_text())
    command = next(shlex.split(entry["command"]) for entry in commands
                   if entry["file"].endswith("test/unit/KernelLanguageTest.cpp"))
    flags = [flag for flag in command if flag.startswith(("-I", "-D", "-std"))]
    for at, flag in enumerate(command):
        if flag in ("-isystem", "-idirafter"):
            flags += command[at:at + 2]
    compiler = next(word for word in command
                    if pathlib.Path(word).name.startswith(("c++", "g++", "clang++")))
    probe.write_text(PROBE)
    run([compiler, *flags, "-fsyntax-only", probe])


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "work", "llvm", "cmake", "generator", "cc", "cxx"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    work = pathlib.Path(args.work).resolve()
    if work.exists():
        subprocess.run(["chmod", "-R", "u+w", str(work)], check=True)
        shutil.rmtree(work)
    llvm, older = work / "an LLVM", work / "an older LLVM"
    source, build = work / "the source", work / "the build"
    make_llvm(pathlib.Path(args.llvm).resolve(), llvm)
    make_older(older)
    files = copy_source(pathlib.Path(args.source), source)

    run([args.cmake, "-G", args.generator, "-S", source, "-B", build,
         f"-DCMAKE_C_COMPILER={args.cc}", f"-DCMAKE_CXX_COMPILER={args.cxx}",
         f"-DCMAKE_PREFIX_PATH={older};{llvm}"])
    compile_probe(build, source, work / "a probe.cpp")
    if sum(path.is_file() for path in source.rglob("*")) != files:
        sys.exit("the configuration wrote into the source folder")


if __name__ == "__main__":
    main()
