# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cycles of a matmul's main loop in LLVM's model of an AMD GPU.

llvm-mca issues the instructions of one wave again and again. Its model has
neither other waves nor LDS banks, caches or clocks that fall: it compares loops
for the same tile, and is no measurement.
"""
import json
import re
import subprocess

import main_loop

ITERATIONS = 20
# The units of matrix instructions (mfma) in LLVM's models of gfx9.
UNIT = "HWXDL"


def estimate(mca, chip, path, kernel):
    """Of one iteration: cycles, cycles that the unit of matrix instructions is
    busy (`matrix_cycles`), and the first over the second (`over_bound`)."""
    with open(path, encoding="utf-8") as file:
        lines, _ = main_loop.get_kernel(file.read(), kernel)
    # Labels of branches are not in the loop's text.
    loop = [line for line in main_loop.get_main_loop(lines)
            if not re.match("s_c?branch", line)]
    run = subprocess.run(
        [mca, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={chip}",
         f"-iterations={ITERATIONS}", "-json", "-"],
        input="\n".join(loop), capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    region = report["CodeRegions"][0]
    unit = report["TargetInfo"]["Resources"].index(UNIT)
    # The entry behind the last instruction is the sum over all.
    busy = next(entry["ResourceUsage"] for entry
                in region["ResourcePressureView"]["ResourcePressureInfo"]
                if entry["InstructionIndex"] == len(loop)
                and entry["ResourceIndex"] == unit)
    cycles = region["SummaryView"]["TotalCycles"] / ITERATIONS
    return {"cycles": cycles, "matrix_cycles": busy,
            "over_bound": round(cycles / busy, 3)}
