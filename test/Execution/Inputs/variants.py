# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives that tests go through, from the compiler's own table."""
import json
import subprocess

COLLECTIVES = json.loads(subprocess.run(
    ["iris-compile", "--list-collectives"], check=True,
    stdout=subprocess.PIPE).stdout)
# Those that a host program calls, but for the ones with counts (counted.py).
CALLED = [each for each in COLLECTIVES
          if each["op"] and not each["output"]["counts"]]


def variants(reduces, trait="kernel"):
    return {each["name"]: [variant["name"] for variant in each["variants"]
                           if variant["kernel"] and variant[trait]]
            for each in CALLED if each["reduces"] == reduces}


def having(buffer, key, value, name="name"):
    """Names of the collectives whose input or output is so."""
    return [each[name] for each in CALLED if each[buffer][key] == value]


# name -> variants
MOVES = variants(reduces=False)
REDUCES = variants(reduces=True)
# Those that may write to where they read from.
IN_PLACE = {**variants(False, "in_place"), **variants(True, "in_place")}
# name -> op, where they differ
CALLS = {each["name"]: each["op"] for each in CALLED
         if each["op"] != each["name"]}
