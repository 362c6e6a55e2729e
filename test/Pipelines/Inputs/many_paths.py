# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints kernels whose values have 2^COUNT paths to what they depend on.

    many_paths.py COUNT

@stored and @carried double a tile COUNT times, which two stores or the next
iteration use; @address adds and multiplies COUNT numbers that are not known.
"""
import sys

TILE, BUFFER = "tensor<256xf32>", "memref<?xf32>"


def doubled(count, first):
    for i in range(count):
        print(f"%v{i + 1} = arith.addf {f'%v{i}' if i else first}, "
              f"{f'%v{i}' if i else first} : {TILE}")


def main():
    count = int(sys.argv[1])
    print("gpu.module @kernels {")
    print(f"gpu.func @stored(%in: {BUFFER}, %x: {BUFFER}, %y: {BUFFER}) kernel {{")
    print(f"%c0 = arith.constant 0 : index\n"
          f"%first = tile.load %in[%c0] : {BUFFER} -> {TILE}")
    doubled(count, "%first")
    for buffer in ("%x", "%y"):
        print(f"tile.store %v{count}, {buffer}[%c0] : {TILE}, {BUFFER}")
    print("gpu.return\n}")

    print(f"gpu.func @carried(%in: {BUFFER}, %x: {BUFFER}) kernel {{")
    print(f"""%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c9 = arith.constant 9 : index
%first = tile.load %in[%c0] : {BUFFER} -> {TILE}
%last = scf.for %i = %c0 to %c9 step %c1 iter_args(%each = %first) -> ({TILE}) {{""")
    doubled(count, "%each")
    print(f"scf.yield %v{count} : {TILE}\n}}")
    print(f"tile.store %last, %x[%c0] : {TILE}, {BUFFER}\ngpu.return\n}}")

    numbers = ", ".join(f"%n{i}: index" for i in range(count + 1))
    print(f"gpu.func @address(%x: {BUFFER}, {numbers}) kernel {{")
    for i in range(count):
        print(f"%a{i} = arith.{'muli' if i % 4 == 3 else 'addi'} "
              f"{f'%a{i - 1}' if i else '%n0'}, %n{i + 1} : index")
    # Two accesses that may overlap, of which the first one writes.
    print(f"%v = tile.load %x[%a{count - 1}] : {BUFFER} -> {TILE}\n"
          f"tile.store %v, %x[%a{count - 2}] : {TILE}, {BUFFER}\n"
          f"%w = tile.load %x[%a{count // 2}] : {BUFFER} -> {TILE}\n"
          f"tile.store %w, %x[%a{count - 1}] : {TILE}, {BUFFER}\n"
          f"gpu.return\n}}\n}}")


if __name__ == "__main__":
    main()
