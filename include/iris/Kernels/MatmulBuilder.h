// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulBuilder.h - Writes a kernel with matmuls -----------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULBUILDER_H
#define IRIS_KERNELS_MATMULBUILDER_H

#include "iris/Kernels/GroupBuilder.h"
#include "iris/Kernels/MatmulConfig.h"
#include "iris/Kernels/TileSchedule.h"
#include "iris/Plan/FusedWorkspace.h"

namespace mlir::iris {

using plan::FusedWorkspace;
using plan::Workspace;

/// A place in a matrix.
struct Place {
  Value matrix, row, column;
};

class MatmulBuilder : public GroupBuilder {
public:
  /// Starts the kernel of `module`, of the same name, with the arguments of
  /// `iris.matmul_kernel`; the insertion point is in its body.
  MatmulBuilder(gpu::GPUModuleOp module, const MatmulConfig &config);

  const MatmulConfig &config;
  /// The kernel's arguments, beside the context; null if there are none.
  Value a, b_, c, bias, scale, staging;

  //===--------------------------------------------------------------------===//
  // Shapes and tiles
  //===--------------------------------------------------------------------===//

  Value rowsOf(Value matrix);
  Value columnsOf(Value matrix);
  Value tileRows() { return index(config.tileM); }
  Value tileColumns() { return index(config.tileN); }
  /// Tiles that cover as many rows or columns.
  Value rowTiles(Value rows) { return ceilDiv(rows, tileRows()); }
  Value columnTiles(Value columns) { return ceilDiv(columns, tileColumns()); }
  /// The order of a grid of tiles, with the config's groups.
  TileOrder<ScalarBuilder> order(Value rows, Value columns);
  /// body(row, column) for this program's tiles of a grid.
  void forTiles(Value rows, Value columns,
                llvm::function_ref<void(Value, Value)> body);
  /// Programs below this move what others multiply, or have multiplied. With
  /// fewer than the config wants all programs do both.
  Value commPrograms() { return min(index(config.fetchPrograms), programs); }
  /// The share of `tiles` that this program multiplies: communication programs
  /// theirs after they have moved (`isLate`), or before.
  TileRange<Value> tilesForProgram(Value tiles, bool isLate) {
    return assignTiles(static_cast<ScalarBuilder &>(*this), program, programs,
                       index(config.fetchPrograms), config.tilesPerCommProgram,
                       tiles, isLate);
  }
  /// The share of `tiles` where all programs do the same.
  TileRange<Value> evenTilesForProgram(Value tiles) {
    return {program, tiles, programs};
  }
  /// Rows `first` to first + count of a matrix: accesses end there.
  Value rows(Value matrix, Value first, Value count);
  Value columns(Value matrix, Value first, Value count);
  /// The place of a tile: accesses end with it, also where its type has more
  /// columns than the config.
  Place tileAt(Value matrix, Value row, Value column);

  //===--------------------------------------------------------------------===//
  // Matmuls
  //===--------------------------------------------------------------------===//

  /// Where a k-block is read.
  using Places = std::pair<Place, Place>;
  /// A tile of the sum's type: the matmuls of the rows from `left` on and the
  /// columns from `right` on, over `length` values of k, plus `init` if there
  /// is one. `before(kb)` runs before k-block kb is read; `placesOf(kb)` as
  /// well, and says where. A span "gemm".
  Value multiply(Place left, Place right, Value length, Value init = {},
                 llvm::function_ref<void(Value)> before = {});
  Value multiplyAt(Place left, Place right, Value length, Value init,
                   llvm::function_ref<Places(Value)> placesOf);
  /// The matmul of own matrices: a tile of the sum's type.
  Value ownMatmul(Value row, Value column);
  /// The tile of the result at a place in it: scale, bias, activation, and the
  /// result's type.
  Value finishTile(Value sum, Value row, Value column);
  /// Its steps, where the config has them, on tiles of f32 or i32.
  Value applyScale(Value tile);
  Value addBias(Value tile, Value row, Value column);
  /// next(k, tile) for k = first .. size - 1, from a tile on.
  Value accumulate(int64_t first, Value initial,
                   llvm::function_ref<Value(Value, Value)> next);
  Value zeros(Type element);
  /// Tiles of c in the sum's type.
  RankedTensorType sumType() const;
  /// A tile with other elements.
  Value convertTo(Value tile, Type element);
  /// A tile of the sum's type plus one in the type that shares travel in.
  Value addPartialSum(Value sum, Value share);
  /// body(column) for the strips of columns of the tile that begins at
  /// `column`: as many columns at a time as leave a thread registers for a sum
  /// and for what is added to it.
  void forStrips(Value column, Body body);
  RankedTensorType stripType(Type element) const;
  /// The sum of `count` strips, in order; several are loaded at once.
  Value sumStrips(int64_t count, llvm::function_ref<Value(Value)> load);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  Value load(Place from, RankedTensorType type);
  void store(Value tile, Place to);
  /// The same on a member's memory.
  Value loadFrom(Value member, Place from, RankedTensorType type);
  void storeTo(Value member, Value tile, Place to);
  /// Adds a tile to a member's memory, element by element.
  void addTo(Value member, Value tile, Place to);
  /// `matrix` in a member's memory.
  Value onMember(Value member, Value matrix);
  /// Bytes of a tile at a place, as far as it lies in the matrix; `times`: of
  /// as many of them.
  Value bytesOf(Place place, Type tile, Value times = {});
  /// Stores a tile of the result to members first, first + 1, ... after the
  /// own place; a span "send".
  void sendTo(int64_t first, Value tile, Place to);

  //===--------------------------------------------------------------------===//
  // The workspace
  //===--------------------------------------------------------------------===//

  /// Counts a launch, whose number is `epoch`, with as many flags. `endEpoch`
  /// must come last.
  void beginEpoch(Value numFlags);
  void endEpoch();
  /// Flags that who calls the kernel has cleared, and sets to 1: there is no
  /// epoch.
  void beginCleared(Value numFlags);
  /// Says to a member, which may be this one, that a thing is there; all that
  /// this program did before is, too. `signalHere`: to programs of this rank.
  void raise(Value member, Value flag);
  void signalHere(Value flag);
  /// Takes one from a flag that who calls the kernel has set to the number of
  /// things that are missing, and waits for; all that this program did before
  /// is there.
  void countDown(Value flag);
  /// Adds one to a flag that is of use behind the program's next signal.
  void countUp(Value flag);
  /// Waits until `source`, or another program of this rank, has raised an own
  /// flag in this launch.
  void await(Value flag, Value source);
  void awaitHere(Value flag);
  /// Waits until an own flag, which `source` sets, is at least a number.
  void awaitCount(Value flag, Value source, Value least);
  /// Opens counts that are never reset, one for each flag.
  void openCounts(Value numFlags) { openFlags(numFlags); }
  /// Adds one to the count of a flag on this device, behind everything that the
  /// program did before, and returns what it was; what others did before they
  /// counted is visible then.
  Value arrive(Value flag);
  /// What flags of this launch show.
  Value epoch;

private:
  tile::MatmulOp createMatmul(Place left, Place right, Value length,
                              Value init);
  Value placeOf(Value flag);
  void openFlags(Value numFlags);

  Value flags;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULBUILDER_H
