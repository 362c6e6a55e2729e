# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Upstream's collectives in Triton, in the form that is cheapest for Triton.

Written from the description of the algorithms: a persistent grid, flat tiles,
whole tiles without a mask and one masked tile at the end, sums in f32. Hints
state what Triton cannot derive: peers' pointers are computed once, before the
loop, and carry alignment hints. There are no barriers; upstream's are before
and after the loop.

    triton_kernels.py < jobs.json

compiles for gfx942, without a GPU. A job names the kernel, its constants and
the files for HSACO and assembly.
"""

import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def peer_pointer(local, own_base, heap_bases, peer):
    """The same address in a peer's heap."""
    base = tl.load(heap_bases + peer)
    moved = local.to(tl.uint64, bitcast=True) - own_base + base
    return tl.multiple_of(moved.to(local.dtype, bitcast=True), 16)


@triton.jit
def peer_pointers(local, heap_bases, rank, first, W: tl.constexpr):
    """The pointers of all ranks, from rank `first` on."""
    own_base = tl.load(heap_bases + rank)
    pointers = ()
    for i in tl.static_range(W):
        pointers = pointers + (peer_pointer(local, own_base, heap_bases,
                                            (first + i) % W),)
    return pointers


@triton.jit
def hinted(offsets, BLOCK: tl.constexpr):
    return tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)


@triton.jit
def all_gather(source, target, heap_bases, rank, count, W: tl.constexpr,
               BLOCK: tl.constexpr, PROGRAMS: tl.constexpr,
           LIMIT: tl.constexpr):
    """Push: each tile is loaded once and stored to all, in rotated order."""
    pointers = peer_pointers(target + rank.to(tl.int64) * count, heap_bases,
                             rank, rank, W)
    pid = tl.program_id(0)
    tl.assume(count >= 0)
    tl.assume(count <= LIMIT)
    whole = count // BLOCK
    lanes = tl.arange(0, BLOCK)
    for tile in range(pid, whole, PROGRAMS):
        offsets = hinted(tile * BLOCK + lanes, BLOCK)
        data = tl.load(source + offsets)
        for i in tl.static_range(W):
            tl.store(pointers[i] + offsets, data)
    if whole % PROGRAMS == pid:
        offsets = whole * BLOCK + lanes
        inside = offsets < count
        data = tl.load(source + offsets, mask=inside)
        for i in tl.static_range(W):
            tl.store(pointers[i] + offsets, data, mask=inside)


@triton.jit
def one_shot(source, target, heap_bases, rank, count, W: tl.constexpr,
             BLOCK: tl.constexpr, PROGRAMS: tl.constexpr,
           LIMIT: tl.constexpr):
    """Pull: the inputs of all ranks in rank order, stored locally."""
    pointers = peer_pointers(source, heap_bases, rank, 0, W)
    pid = tl.program_id(0)
    tl.assume(count >= 0)
    tl.assume(count <= LIMIT)
    whole = count // BLOCK
    lanes = tl.arange(0, BLOCK)
    for tile in range(pid, whole, PROGRAMS):
        offsets = hinted(tile * BLOCK + lanes, BLOCK)
        total = tl.load(pointers[0] + offsets).to(tl.float32)
        for i in tl.static_range(1, W):
            total += tl.load(pointers[i] + offsets).to(tl.float32)
        tl.store(target + offsets, total.to(target.dtype.element_ty))
    if whole % PROGRAMS == pid:
        offsets = whole * BLOCK + lanes
        inside = offsets < count
        total = tl.load(pointers[0] + offsets, mask=inside).to(tl.float32)
        for i in tl.static_range(1, W):
            total += tl.load(pointers[i] + offsets, mask=inside).to(tl.float32)
        tl.store(target + offsets, total.to(target.dtype.element_ty),
                 mask=inside)


@triton.jit
def two_shot(source, target, heap_bases, rank, count, W: tl.constexpr,
             BLOCK: tl.constexpr, PROGRAMS: tl.constexpr,
           LIMIT: tl.constexpr):
    """The owner of a tile (strided) pulls it from all ranks, starting with a
    rank that depends on the program, and stores the sum to all ranks."""
    pid = tl.program_id(0)
    tl.assume(count >= 0)
    tl.assume(count <= LIMIT)
    tl.assume(rank >= 0)
    tl.assume(rank < W)
    tl.assume(pid < PROGRAMS)
    inputs = peer_pointers(source, heap_bases, rank, pid % W, W)
    outputs = peer_pointers(target, heap_bases, rank, rank, W)
    whole = count // BLOCK
    lanes = tl.arange(0, BLOCK)
    for tile in range(rank + pid * W, whole, PROGRAMS * W):
        offsets = hinted(tile * BLOCK + lanes, BLOCK)
        total = tl.load(inputs[0] + offsets).to(tl.float32)
        for i in tl.static_range(1, W):
            total += tl.load(inputs[i] + offsets).to(tl.float32)
        result = total.to(target.dtype.element_ty)
        for i in tl.static_range(W):
            tl.store(outputs[i] + offsets, result)
    if whole % (PROGRAMS * W) == rank + pid * W:
        offsets = whole * BLOCK + lanes
        inside = offsets < count
        total = tl.load(inputs[0] + offsets, mask=inside).to(tl.float32)
        for i in tl.static_range(1, W):
            total += tl.load(inputs[i] + offsets, mask=inside).to(tl.float32)
        result = total.to(target.dtype.element_ty)
        for i in tl.static_range(W):
            tl.store(outputs[i] + offsets, result, mask=inside)


def compile_job(job):
    pointer = "*" + job["element"]
    signature = {"source": pointer, "target": pointer, "heap_bases": "*u64",
                 "rank": "i32", "count": "i32"}
    constants = {"W": job["ranks"], "BLOCK": job["tile"],
                 "PROGRAMS": job["programs"],
                 # Buffers of at most 1 GiB: offsets in bytes fit into i32.
                 "LIMIT": 2**29}
    names = list(signature) + list(constants)
    signature.update({name: "constexpr" for name in constants})
    # What the just-in-time compiler derives from real arguments.
    aligned = ["tt.divisibility", 16]
    attributes = {(4,): [aligned]}
    for i in range(3):
        attributes[(i,)] = [aligned, ["tt.pointer_range", 32]]
    source = ASTSource(globals()[job["kernel"]], signature,
                       {(names.index(k),): v for k, v in constants.items()},
                       attributes)
    image = triton.compile(source, target=GPUTarget("hip", "gfx942", 64),
                           options={"num_warps": job["warps"],
                                    "num_stages": 1,
                                    "enable_fp_fusion": True})
    with open(job["hsaco"], "wb") as file:
        file.write(image.asm["hsaco"])
    with open(job["asm"], "w", encoding="utf-8") as file:
        file.write(image.asm["amdgcn"])


def main():
    for job in json.load(sys.stdin):
        compile_job(job)


if __name__ == "__main__":
    main()
