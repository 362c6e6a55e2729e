# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Configuration of the test suite: formats, substitutions, features.
import os
import subprocess
import sys

import lit.util

sys.path.insert(0, os.path.dirname(__file__))
import generated_tests

config.name = "Iris"
config.test_format = generated_tests.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "lib", "unit", "runtime", "fuzz", "install"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.iris_obj_root, "test")

# Tests see only the environment that they may depend on.
config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.iris_obj_root, "bin"),
        config.llvm_tools_dir,
        os.environ.get("PATH", ""),
    ]
)
for name in ("HOME", "TMPDIR", "XDG_RUNTIME_DIR", "ASAN_OPTIONS", "TSAN_OPTIONS",
             "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# LLVM marks its arenas' memory as free or in use from inlined code. Iris' code
# is instrumented and does, LLVM's libraries are not and do not.
if "address" in config.iris_sanitize:
    config.available_features.add("asan")
    config.environment.setdefault("ASAN_OPTIONS", "allow_user_poisoning=0")

# The passes' debug log is in builds with assertions.
if config.iris_build_type == "Debug":
    config.available_features.add("debug-log")

config.substitutions += [
    ("%iris_obj_root", config.iris_obj_root),
    ("%iris_src_root", config.iris_src_root),
    ("%iris_plugin", os.path.join(config.iris_obj_root, "lib", "IrisPlugin.so")),
    ("%python", config.python_executable),
]

# Interpreting PTX needs NumPy, of lit's interpreter or of the system's. So do the
# scripts that execute AMD machine code, which load a library without sanitizers.
if any(
    os.path.exists(python)
    and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode
    == 0
    for python in (sys.executable, "/usr/bin/python3")
):
    config.available_features.add("numpy")
    if not config.iris_sanitize:
        config.available_features.add("emulator")

# The pseudo-code of AMD's ISA documents, where utils/check.sh installs it, or where
# the interpreter has it.
pseudo_code = os.path.join(config.iris_obj_root, "pseudo-code", "packages")
config.substitutions.append(("%pseudo_code", pseudo_code))
if (
    subprocess.run(
        [config.python_executable, "-c",
         "import tinygrad.runtime.autogen.amd.cdna.str_pcode"],
        env={**config.environment, "PYTHONPATH": pseudo_code},
        capture_output=True,
    ).returncode
    == 0
):
    config.available_features.add("tinygrad")

# NVIDIA's assembler, where iris-compile looks for it.
if lit.util.which("ptxas", config.environment["PATH"]):
    config.available_features.add("ptxas")

# A debugger, which may not be permitted to trace processes.
if (
    lit.util.which("gdb", config.environment["PATH"])
    and subprocess.run(
        ["gdb", "-q", "-nx", "-batch", "-ex", "starti", "/bin/true"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
    ).stdout.find(b"stopped")
    >= 0
):
    config.available_features.add("gdb")

# The pages of the API are made with it.
if lit.util.which("doxygen", config.environment["PATH"]):
    config.available_features.add("doxygen")

# Tests of the programs on real devices.
if lit_config.params.get("device", ""):
    config.available_features.add("device-" + lit_config.params["device"])

# The long forms: more sizes, more ranks.
if lit_config.params.get("full", ""):
    config.available_features.add("full")

# Re-runs every iris-opt test with a round trip through text.
if lit_config.params.get("roundtrip", ""):
    config.substitutions.append(("iris-opt", "iris-opt --verify-roundtrip"))
