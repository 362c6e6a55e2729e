# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names the line of an instruction, by the line tables of its image."""
import os
import shutil
import subprocess

SYMBOLIZERS = ("llvm-symbolizer", "llvm-symbolizer-22")
MOST_SECONDS = 20


def find_line(image, offset):
    """"file:line:column" of the instruction at `offset` in `image`, the bytes of
    an ELF file; None without line tables or LLVM's tool that reads them."""
    tool = next(filter(None, map(shutil.which, SYMBOLIZERS)), None)
    if tool is None:
        return None
    file = os.memfd_create("image")
    try:
        with open(file, "wb", closefd=False) as copy:
            copy.write(image)
        run = subprocess.run(
            [tool, f"--obj=/proc/{os.getpid()}/fd/{file}", "--no-inlines",
             "--functions=none", f"{offset:#x}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, timeout=MOST_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    finally:
        os.close(file)
    place = run.stdout.strip()
    parts = place.rsplit(":", 2)
    known = len(parts) == 3 and parts[1].isdigit() and int(parts[1]) > 0
    return place if run.returncode == 0 and known else None
