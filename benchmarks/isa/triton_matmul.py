# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A matmul in Triton, in the form that is cheapest for Triton.

Shapes are whole tiles, so that nothing is masked in the loop; pointers,
pitches and sizes are multiples of 16, and offsets have 32 bits, which lets
Triton use buffer instructions.

    triton_matmul.py < jobs.json > shared.json

compiles without a GPU. A job names chip, constants, options and the file for
assembly; the output is the LDS size of each in bytes.
"""

import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def matmul(a, b, c, m, n, k, pitch_a, pitch_b, pitch_c, BM: tl.constexpr,
           BN: tl.constexpr, BK: tl.constexpr, ALONG_K: tl.constexpr):
    """c = a @ b; b is column-major if ALONG_K."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    from_a = a + rows[:, None] * pitch_a + ks[None, :]
    if ALONG_K:
        from_b = b + ks[:, None] + columns[None, :] * pitch_b
    else:
        from_b = b + ks[:, None] * pitch_b + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(k, BK)):
        total = tl.dot(tl.load(from_a), tl.load(from_b), total)
        from_a += BK
        if ALONG_K:
            from_b += BK
        else:
            from_b += BK * pitch_b
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + rows[:, None] * pitch_c + columns[None, :],
             total.to(c.dtype.element_ty), mask=inside)


def compile_job(job):
    names = ["a", "b", "c", "m", "n", "k", "pitch_a", "pitch_b", "pitch_c"]
    constants = job["constants"]
    signature = {name: "*fp16" if name in "abc" else "i32" for name in names}
    facts = {(i,): [["tt.divisibility", 16]]
             + ([["tt.pointer_range", 32]] if i < 3 else [])
             for i in range(len(names))}
    source = ASTSource(matmul, constexprs=constants, attrs=facts,
                       signature={**signature,
                                  **{name: "constexpr" for name in constants}})
    kernel = triton.compile(source, target=GPUTarget("hip", job["chip"], 64),
                            options=job["options"])
    with open(job["file"], "w", encoding="utf-8") as file:
        file.write(kernel.asm["amdgcn"])
    return kernel.metadata.shared


def main():
    result = []
    for job in json.load(sys.stdin):
        try:
            result.append(compile_job(job))
        except triton.runtime.errors.OutOfResources:
            result.append(None)
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
