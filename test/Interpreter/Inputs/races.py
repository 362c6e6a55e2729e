# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program in which rank r sends data to rank r + 1, twice.

    races.py KIND    one of KINDS; `right` has no race
"""
import sys

KINDS = ("right", "no-wait", "relaxed-wait", "relaxed-signal", "fences",
         "narrow-wait", "no-last-barrier", "packets", "data-beside-packets",
         "packet-after-signal", "atomics", "plain-load")


def program(kind):
    sem = " sem(relaxed)" if kind in ("relaxed-signal", "fences") else ""
    fences = kind == "fences"
    signal = ("    iris.fence release\n" if fences else "") + \
        "    iris.signal set %ctx, %epoch, %flags[%c0] to %next" + sem + \
        " : i32, !words"
    wait = ""
    if kind != "no-wait":
        relaxed = (" sem(relaxed)" if fences or kind == "relaxed-wait" else
                   " scope(gpu)" if kind == "narrow-wait" else "")
        wait = ("    %seen = iris.wait %ctx, %flags[%c0] ge %epoch" + relaxed +
                " : i32, !words")
        if fences:
            wait += "\n    iris.fence acquire"
    end = "" if kind == "no-last-barrier" else \
        "    iris.barrier %ctx, %state : !words"
    store = "    iris.store %ctx, %v, %data[%c0] to %next : tensor<64xi32>, !words"
    load = "    %got = tile.load %data[%c0] : !words -> tensor<64xi32>"
    if kind == "packets":
        store = ("    iris.packet_store %ctx, %v, %data[%c0] to %next "
                 "flag(%epoch) : tensor<64xi32>, !words")
        load = ("    %got = iris.packet_load %ctx, %data[%c0] flag(%epoch)"
                " : !words -> tensor<64xi32>")
        signal = wait = ""
    elif kind == "data-beside-packets":
        signal = ("    iris.packet_store %ctx, %v, %flags[%c0] to %next "
                  "flag(%epoch) : tensor<64xi32>, !words")
        wait = ("    %seen = iris.packet_load %ctx, %flags[%c0] flag(%epoch)"
                " : !words -> tensor<64xi32>")
    elif kind == "packet-after-signal":
        # It ends a row of signals: the second one is a release of its own.
        store = ("    iris.signal set %ctx, %epoch, %flags[%c1] to %next"
                 " : i32, !words\n"
                 "    iris.packet_store %ctx, %v, %data[%c0] to %next "
                 "flag(%epoch) : tensor<64xi32>, !words")
    elif kind in ("atomics", "plain-load"):
        store = ("    %old = iris.atomic_rmw add %ctx, %epoch, %data[%c0] "
                 "to %next sem(relaxed) : i32, !words")
        load = ("    %got = iris.atomic_rmw add %ctx, %epoch, %data[%c0] "
                "sem(relaxed) : i32, !words" if kind == "atomics" else
                "    %got = memref.load %data[%c0] : !words")
        signal = wait = ""
    return f"""!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {{
  gpu.func @produce(%ctx: !iris.ctx, %data: !words, %flags: !words,
                    %epoch: i32) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %next = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
{store}
{signal}
    gpu.return
  }}
  gpu.func @consume(%ctx: !iris.ctx, %data: !words, %flags: !words,
                    %state: !words, %epoch: i32) kernel {{
    %c0 = arith.constant 0 : index
{wait}
{load}
{end}
    gpu.return
  }}
}}
func.func @main(%ctx: !iris.ctx) {{
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %state = iris.alloc(%c256) : !words
  %data = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  iris.launch @kernels::@produce programs(%c1)
      args(%ctx, %data, %flags, %one : !iris.ctx, !words, !words, i32)
  iris.launch @kernels::@consume programs(%c1)
      args(%ctx, %data, %flags, %state, %one
          : !iris.ctx, !words, !words, !words, i32)
  iris.launch @kernels::@produce programs(%c1)
      args(%ctx, %data, %flags, %two : !iris.ctx, !words, !words, i32)
  iris.launch @kernels::@consume programs(%c1)
      args(%ctx, %data, %flags, %state, %two
          : !iris.ctx, !words, !words, !words, i32)
  iris.sync %ctx
  return
}}
"""


if len(sys.argv) != 2 or sys.argv[1] not in KINDS:
    sys.exit("usage: races.py " + "|".join(KINDS))
print(program(sys.argv[1]))
