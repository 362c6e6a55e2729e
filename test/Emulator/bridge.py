# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of libIrisEmulatorBridge.so; ../Emulated/machine.py makes devices
and memory of them."""
import ctypes
import functools
import pathlib
import shutil
import sys


@functools.cache
def load_library(path=None):
    """Without a path: of the build whose iris-emulate is first in PATH."""
    if path is None:
        tool = shutil.which("iris-emulate")
        if not tool:
            sys.exit("iris-emulate is not in PATH (build/bin)")
        path = (pathlib.Path(tool).resolve().parents[1] / "lib"
                / "libIrisEmulatorBridge.so")
    library = ctypes.CDLL(str(path))
    library.emulatorCreate.restype = ctypes.c_void_p
    library.emulatorError.restype = ctypes.c_char_p
    library.emulatorChip.restype = ctypes.c_char_p
    library.emulatorInstructions.restype = ctypes.c_uint64
    library.emulatorExecutions.restype = ctypes.c_char_p
    library.emulatorOrders.restype = ctypes.c_char_p
    return library


class Bridge:
    """The C functions, on one object."""

    def __init__(self, library):
        self._library = library
        self._handle = ctypes.c_void_p(library.emulatorCreate())

    def __getattr__(self, name):
        function = getattr(self._library, "emulator" + name)

        def call(*arguments):
            result = function(self._handle, *arguments)
            if result == -1:
                raise RuntimeError(
                    self._library.emulatorError(self._handle).decode())
            return result
        return call
