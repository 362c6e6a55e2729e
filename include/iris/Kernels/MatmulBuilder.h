// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulBuilder.h - Builds a kernel with matmuls -----------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULBUILDER_H
#define IRIS_KERNELS_MATMULBUILDER_H

#include "iris/Kernels/GroupBuilder.h"
#include "iris/Kernels/MatmulConfig.h"
#include "iris/Plan/FusedSizes.h"
#include "iris/Plan/FusedWorkspace.h"
#include "iris/Plan/TileSchedule.h"

namespace mlir::iris {

using plan::FusedWorkspace;
using plan::TileOrder;
using plan::TileRange;
using plan::Workspace;

/// An offset in a matrix.
struct MatrixOffset {
  Value matrix, row, column;
};

class MatmulBuilder : public GroupBuilder {
public:
  /// Creates the kernel in `module`, with the module's name and the arguments
  /// of `iris.matmul_kernel`. The insertion point is in its body.
  MatmulBuilder(gpu::GPUModuleOp module, const MatmulConfig &config);

  const MatmulConfig &config;
  /// The kernel's arguments after the context; null if the kernel has no such
  /// argument.
  Value a, b_, c, bias, scale, staging;

  //===--------------------------------------------------------------------===//
  // Shapes and tiles
  //===--------------------------------------------------------------------===//

  Value rowsOf(Value matrix);
  Value columnsOf(Value matrix);
  Value tileRows() { return index(config.tileM); }
  Value tileColumns() { return index(config.tileN); }
  /// Number of tiles that cover so many rows or columns.
  Value rowTiles(Value rows) { return ceilDiv(rows, tileRows()); }
  Value columnTiles(Value columns) { return ceilDiv(columns, tileColumns()); }
  /// The order of a grid of tiles, with the config's group_m.
  TileOrder<ScalarBuilder> order(Value rows, Value columns);
  /// body(row, column) for this program's tiles of a grid.
  void forTiles(Value rows, Value columns,
                llvm::function_ref<void(Value, Value)> body);
  /// Programs with an index below this number are communication programs, the
  /// others compute programs. In a launch with at most this many programs every
  /// program does both.
  Value commPrograms() { return min(index(config.fetchPrograms), programs); }
  /// The range of the `tiles` that this program computes. Communication
  /// programs compute their tiles after communication (`isLate`) or before it.
  TileRange<Value> tilesForProgram(Value tiles, bool isLate) {
    return plan::assignTiles(static_cast<ScalarBuilder &>(*this), program,
                             programs, index(config.fetchPrograms),
                             config.tilesPerCommProgram, tiles, isLate);
  }
  /// The range of the `tiles` that this program computes if all programs do the
  /// same work.
  TileRange<Value> evenTilesForProgram(Value tiles) {
    return {program, tiles, programs};
  }
  /// The flags and the staging buffer.
  plan::FusedSizes<Value> fusedSizes(const plan::MatmulShape<Value> &shape);
  /// The variant copy_engine: chunks, slices and flags, for an a of `aRows`
  /// rows and a result of `columns` columns.
  plan::CopyLayout<ScalarBuilder> copyLayout(Value aRows, Value columns);
  /// Rows `first` to first + count of a matrix; accesses are bounded to them.
  Value rows(Value matrix, Value first, Value count);
  Value columns(Value matrix, Value first, Value count);
  /// The offset of a tile; accesses are bounded to the config's tile_n, even
  /// if the tile type has more columns.
  MatrixOffset tileAt(Value matrix, Value row, Value column);

  //===--------------------------------------------------------------------===//
  // Matmuls
  //===--------------------------------------------------------------------===//

  /// The offsets of the A and the B tile of one k-block.
  using OperandOffsets = std::pair<MatrixOffset, MatrixOffset>;
  /// Computes a tile of the accumulator type: the matmul of the rows from
  /// `left` on with the columns from `right` on, over `length` values of k,
  /// plus `init` if there is one. `before(kb)` runs before k-block kb is read;
  /// `operandOffsetsOf(kb)` also runs then, and returns the offsets of its
  /// operand tiles. Records a trace span "gemm".
  Value multiply(MatrixOffset left, MatrixOffset right, Value length,
                 Value init = {}, llvm::function_ref<void(Value)> before = {});
  Value multiplyAt(MatrixOffset left, MatrixOffset right, Value length,
                   Value init,
                   llvm::function_ref<OperandOffsets(Value)> operandOffsetsOf);
  /// The matmul of this rank's matrices: a tile of the accumulator type.
  Value ownMatmul(Value row, Value column);
  /// The epilogue: applies scale, bias and activation to the tile at (row,
  /// column), and converts it to the result's type.
  Value finishTile(Value sum, Value row, Value column);
  /// The steps of the epilogue, if the config has them, on tiles of f32 or i32.
  Value applyScale(Value tile);
  Value addBias(Value tile, Value row, Value column);
  /// A loop that carries a tile, starting with `initial`: next(k, tile) for k =
  /// first .. size - 1.
  Value accumulate(int64_t first, Value initial,
                   llvm::function_ref<Value(Value, Value)> next);
  Value zeros(Type element);
  /// The type of tiles of c with the accumulator's elements.
  RankedTensorType sumType() const;
  /// Converts a tile's elements.
  Value convertTo(Value tile, Type element);
  /// Adds a partial sum of type `partialType` to a tile of the accumulator
  /// type.
  Value addPartialSum(Value sum, Value partialSum);
  /// body(column) for the strips of columns of the tile that begins at
  /// `column`. Strips are narrow enough for a thread to keep a sum and its
  /// addends in registers.
  void forStrips(Value column, Body body);
  RankedTensorType stripType(Type element) const;
  /// The sum of `count` strips, in order; several are loaded at once. The
  /// others follow in a loop: LLVM would load more at once, and spill
  /// registers.
  Value sumStrips(int64_t count, llvm::function_ref<Value(Value)> load);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  Value load(MatrixOffset from, RankedTensorType type);
  void store(Value tile, MatrixOffset to);
  /// As `load` and `store`, on a member's memory.
  Value loadFrom(Value member, MatrixOffset from, RankedTensorType type);
  void storeTo(Value member, Value tile, MatrixOffset to);
  /// Adds a tile to a member's memory with element-wise atomics.
  void addTo(Value member, Value tile, MatrixOffset to);
  /// The address of `matrix` in a member's memory.
  Value onMember(Value member, Value matrix);
  /// Bytes of a tile at an offset, clipped to the matrix; multiplied by
  /// `times` if given.
  Value bytesOf(MatrixOffset at, Type tile, Value times = {});
  /// Stores a tile of the result to the members me + first, me + first + 1,
  /// ...; records a trace span "send".
  void sendTo(int64_t first, Value tile, MatrixOffset to);

  //===--------------------------------------------------------------------===//
  // The workspace
  //===--------------------------------------------------------------------===//

  /// Starts a launch with the next epoch, `epoch`, and `numFlags` flags.
  /// `endEpoch` must come last.
  void beginEpoch(Value numFlags);
  void endEpoch();
  /// For flags that the caller of the kernel clears and sets to 1; there are no
  /// epochs.
  void beginCleared(Value numFlags);
  /// Sets a flag of a member, which may be this rank, with release semantics:
  /// this program's earlier writes are visible to the program that waits.
  /// `signalPrograms` sets a flag of this rank for programs of this rank.
  void signal(Value member, Value flag);
  void signalPrograms(Value flag);
  /// Subtracts one from a flag that the caller initialized to the number of
  /// outstanding items and waits on. Release semantics.
  void countDown(Value flag);
  /// Adds one to a flag, relaxed; the program's next signal publishes it.
  void countUp(Value flag);
  /// Waits until `source` has set a flag of this rank in this launch, or
  /// (`waitForProgram`) until another program of this rank has set it.
  void wait(Value flag, Value source);
  void waitForProgram(Value flag);
  /// Waits until a flag of this rank, which `source` sets, is at least `least`.
  void waitForCount(Value flag, Value source, Value least);
  /// Opens counters that are never reset, one for each flag.
  void openCounts(Value numFlags) { openFlags(numFlags); }
  /// Increments a flag's counter on this device with acquire-release semantics,
  /// and returns the previous value. Writes that other programs made before
  /// they arrived are then visible.
  Value arrive(Value flag);
  /// The value that flags are set to in this launch.
  Value epoch;

private:
  tile::MatmulOp createMatmul(MatrixOffset left, MatrixOffset right,
                              Value length, Value init);
  Value locate(Value flag);
  void openFlags(Value numFlags);

  Value flags;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULBUILDER_H
