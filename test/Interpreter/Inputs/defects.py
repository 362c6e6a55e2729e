# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints kernels with a defect that other projects have had and repaired, or the
same kernel as it is right.

    defects.py NAME [right]

| name | project | what is wrong |
|---|---|---|
| lock-scope | ROCm/iris issue 462 | a lock of another GPU is polled and released at scope gpu |
| done-flags | tokenspeed pull request 1017 | a rank does not wait until its peers have read its buffer, before the next launch writes it |
| staging-slot | tokenspeed pull request 1356 | one staging slot, without a barrier at the end, in place of two that alternate |
| end-sync | ROCm/aiter pull request 3514 | the all-reduce has no barrier after its reads; the next kernel reuses the input |
| wait-scope | Triton-distributed, allgather_gemm.py | a wait at scope gpu for a flag that another GPU sets |
| relaxed-wait | ThunderKittens, sync.cuh | a wait without acquire, before reads of what the peer wrote |
"""
import sys

HEAD = """!words = memref<?xi32, #iris.symmetric>
gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %in: !words, %out: !words, %flags: !words,
              %state: !words, %epoch: i32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %rank = iris.rank %ctx : index
    %ranks = iris.num_ranks %ctx : index
    %sum = arith.addi %rank, %c1 : index
    %peer = arith.remui %sum, %ranks : index
    %v = tensor.splat %epoch : tensor<64xi32>
"""
TAIL = """    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %i1 = arith.constant 1 : i32
  %i2 = arith.constant 2 : i32
  %i3 = arith.constant 3 : i32
  %in = iris.alloc(%c128) : !words
  %out = iris.alloc(%c128) : !words
  %flags = iris.alloc(%c128) : !words
  %state = iris.alloc(%c128) : !words
"""
LAUNCH = """  iris.launch @kernels::@k programs(%c1)
      args(%ctx, %in, %out, %flags, %state, %i{epoch}
          : !iris.ctx, !words, !words, !words, !words, i32)
"""
BARRIER = "    iris.barrier %ctx, %state : !words\n"


def signal_peer(scope=""):
    return ("    iris.signal set %ctx, %epoch, %flags[%c0] to %peer" + scope +
            " : i32, !words\n")


def wait(more=""):
    return ("    %seen = iris.wait %ctx, %flags[%c0] ge %epoch" + more +
            " : i32, !words\n")


def store(buffer, offset, to):
    return (f"    iris.store %ctx, %v, %{buffer}[{offset}] to {to} "
            ": tensor<64xi32>, !words\n")


def load(buffer, offset, source):
    return (f"    %got = iris.load %ctx, %{buffer}[{offset}] from {source} "
            ": !words -> tensor<64xi32>\n")


def lock_scope(right):
    scope = "" if right else " scope(gpu)"
    # Ranks add to an element of rank 0 under a lock there.
    return ("    scf.while : () -> () {\n"
            "      %old = iris.atomic_cas %ctx, %zero, %one, %flags[%c0] to %c0"
            f" sem(acquire){scope} : i32, !words\n"
            "      %taken = arith.cmpi ne, %old, %zero : i32\n"
            "      scf.condition(%taken)\n    } do {\n      scf.yield\n    }\n" +
            load("out", "%c0", "%c0") +
            "    %more = arith.addi %got, %v : tensor<64xi32>\n"
            "    iris.store %ctx, %more, %out[%c0] to %c0 : tensor<64xi32>, !words\n"
            "    %free = iris.atomic_rmw xchg %ctx, %zero, %flags[%c0] to %c0"
            f" sem(release){scope} : i32, !words\n")


def done_flags(right):
    # The peer reads this rank's buffer, and says that it has.
    done = ("    iris.signal set %ctx, %epoch, %flags[%c64] to %peer : i32, !words\n"
            "    %done = iris.wait %ctx, %flags[%c64] ge %epoch : i32, !words\n"
            if right else "")
    return (store("in", "%c0", "%rank") + signal_peer() + wait() +
            load("in", "%c0", "%peer") + done)


def staging_slot(right):
    slot = ("    %parity = arith.remui %epoch, %two : i32\n"
            "    %number = arith.index_cast %parity : i32 to index\n" if right else
            "    %number = arith.index_cast %zero : i32 to index\n")
    return (slot + "    %slot = arith.muli %number, %c64 : index\n" +
            store("in", "%slot", "%rank") + BARRIER +
            load("in", "%slot", "%peer"))


def end_sync(right):
    return (store("in", "%c0", "%rank") + BARRIER + load("in", "%c0", "%peer") +
            (BARRIER if right else ""))


def wait_scope(right):
    return (store("out", "%c0", "%peer") + signal_peer() +
            wait("" if right else " scope(gpu)") + load("out", "%c0", "%rank") +
            BARRIER)


def relaxed_wait(right):
    return (store("out", "%c0", "%peer") + signal_peer() +
            wait("" if right else " sem(relaxed)") + load("out", "%c0", "%rank") +
            BARRIER)


DEFECTS = {
    "lock-scope": lock_scope, "done-flags": done_flags,
    "staging-slot": staging_slot, "end-sync": end_sync,
    "wait-scope": wait_scope, "relaxed-wait": relaxed_wait,
}

if len(sys.argv) < 2 or sys.argv[1] not in DEFECTS:
    sys.exit("usage: defects.py " + "|".join(DEFECTS) + " [right]")
print(HEAD + DEFECTS[sys.argv[1]](sys.argv[2:] == ["right"]) + TAIL +
      "".join(LAUNCH.format(epoch=epoch) for epoch in (1, 2, 3)) +
      "  iris.sync %ctx\n  return\n}")
