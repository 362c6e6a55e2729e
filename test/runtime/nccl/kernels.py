#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NCCL's API on a machine without a compiler.

Compiles the list of iris-bench --nccl to a folder of kernels, as a user does,
and runs the conformance tests of libiris_nccl with it: beside a copy of the
library, named by IRIS_NCCL_KERNEL_DIR, missing, and with permissions that let
others write. IRIS_COMPILE names no file, and the cache is empty."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Tests whose calls the list covers.
TESTS = "*NcclCollectives.EveryOperation/{0}:*NcclScaling.EveryReduction/{0}"
FROM_FOLDER = "comes from the package of a kernel folder"


def fail(text, output=""):
    sys.exit(f"FAILED: {text}\n{output}")


def compile_kernels(args, folder):
    listed = subprocess.run(
        [args.bench, "--nccl", "--requests=-", "--target=host",
         "--nccl-sizes=2", "--nccl-types=i32,f32", "--nccl-reductions=sum"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    (folder.parent / "list.mlir").write_text(listed)
    os.umask(0o002)  # what is made must be usable nevertheless
    subprocess.run(
        [args.compiler, str(folder.parent / "list.mlir"), "--split",
         "--target=host", "-o", str(folder)], check=True)
    files = {path.name for path in folder.iterdir()}
    expected = {f"{name}.iris" for name in
                re.findall(r"^(?:iris.collective|gpu.module) @(\w+)", listed,
                           re.M)}
    if files != expected or not expected:
        fail(f"the folder has other files than the list: {files ^ expected}")


class Runner:
    def __init__(self, args, work):
        self.args = args
        self.cache = work / "cache"

    def run(self, library, **environment):
        """Runs the tests with a copy of the library; returns the exit status
        and what was printed."""
        shutil.rmtree(self.cache, ignore_errors=True)
        ran = subprocess.run(
            [self.args.test, "--gtest_filter=" + TESTS.format(self.args.ranks)],
            env={**os.environ, "LD_LIBRARY_PATH": str(library),
                 "IRIS_COMPILE": "/nonexistent/iris-compile",
                 "IRIS_CACHE_DIR": str(self.cache), "IRIS_LOG": "info",
                 **environment},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if "[  PASSED  ] 0 tests" in ran.stdout and ran.returncode == 0:
            fail("no test ran", ran.stdout)
        return ran

    def expect_success(self, what, library, **environment):
        ran = self.run(library, **environment)
        if ran.returncode != 0:
            fail(f"{what}: the tests fail", ran.stdout)
        if FROM_FOLDER not in ran.stdout:
            fail(f"{what}: no line of the log says '{FROM_FOLDER}'", ran.stdout)

    def expect_failure(self, what, library, texts, **environment):
        ran = self.run(library, **environment)
        if ran.returncode == 0:
            fail(f"{what}: the tests succeed", ran.stdout)
        for text in texts:
            if text not in ran.stdout:
                fail(f"{what}: expected '{text}'", ran.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", required=True, help="iris-bench")
    parser.add_argument("--compiler", required=True, help="iris-compile")
    parser.add_argument("--test", required=True, help="iris-nccl-test")
    parser.add_argument("--library", required=True, help="libnccl.so.2")
    parser.add_argument("--ranks", default="Processes2",
                        help="the parameter of the tests")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iris-nccl-kernels-") as name:
        work = pathlib.Path(name)
        library = work / "lib"
        library.mkdir()
        shutil.copy(args.library, library / "libnccl.so.2")
        kernels = library / "kernels.host"
        runner = Runner(args, work)

        runner.expect_failure("no kernels", library, [
            "/nonexistent/iris-compile", "cannot open the kernel folder",
            "kernels.host", "compile kernels ahead of time"])
        compile_kernels(args, kernels)
        runner.expect_success("beside the library", library)

        # Files and folders that others can write to.
        for path in kernels.iterdir():
            path.chmod(0o666)
        refusal = ["other users can write to", "has no usable"]
        runner.expect_failure("files of others", library, refusal)
        for path in kernels.iterdir():
            path.chmod(0o644)
        kernels.chmod(0o777)
        runner.expect_failure("a folder of others", library, refusal[:1])
        kernels.chmod(0o755)

        # Elsewhere.
        named = work / "named"
        named.mkdir()
        kernels.rename(named / "kernels.host")
        runner.expect_success("named", library,
                              IRIS_NCCL_KERNEL_DIR=str(named))
    print("PASSED")


if __name__ == "__main__":
    main()
