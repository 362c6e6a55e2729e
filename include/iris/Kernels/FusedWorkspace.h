// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusedWorkspace.h - Layout of a fused kernel's workspace --*- C++ -*-===//
//
// The workspace of one fused kernel on matrices of one shape: zero at first,
// never reset. Offsets are in bytes.
//
//   barrier lines   one per program and member: the state of iris.barrier
//   epochs          a word per program, all the same between kernels: launches
//                   so far
//   flags           a line each: the epoch in which something is there
//   slabs           a matrix for each member: staged operands or partial sums
//
// Shapes are known when a kernel runs, so the layout is computed both by the
// host program that allocates and by the kernel: numbers are those of
// TileSchedule.h.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_FUSEDWORKSPACE_H
#define IRIS_KERNELS_FUSEDWORKSPACE_H

#include "iris/Kernels/TileSchedule.h"
#include "iris/Kernels/Workspace.h"

namespace mlir::iris {

template <typename Arithmetic>
class FusedWorkspace {
public:
  using Number = typename Arithmetic::Number;

  static constexpr int64_t line = Workspace::line;
  /// Most programs of a launch: a power of two.
  static constexpr int64_t maxPrograms = 512;
  static constexpr int64_t barrier = 0;
  static constexpr int64_t barrierBytes =
      line * maxPrograms * Workspace::maxMembers;
  static constexpr int64_t epochs = barrier + barrierBytes;
  static constexpr int64_t epochBytes = 4 * maxPrograms;
  static constexpr int64_t flags = epochs + epochBytes;

  FusedWorkspace(Arithmetic &n, Number numFlags, Number numSlabs,
                 Number slabBytes)
      : n(n), numFlags(numFlags), numSlabs(numSlabs) {
    pitch = n.mul(n.ceilDiv(slabBytes, n.index(line)), n.index(line));
  }

  /// Where the matrix of a member begins: at a line of its own.
  Number slab(Number member) { return n.add(flagsEnd(), n.mul(member, pitch)); }
  Number bytes() { return n.add(flagsEnd(), n.mul(numSlabs, pitch)); }

  Number numFlags;

private:
  Number flagsEnd() {
    return n.add(n.index(flags), n.mul(numFlags, n.index(line)));
  }

  Arithmetic &n;
  Number numSlabs, pitch;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_FUSEDWORKSPACE_H
