// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulBuilder.h - Writes a kernel with products ----------*- C++ -*-===//

#ifndef IRIS_KERNELS_MATMULBUILDER_H
#define IRIS_KERNELS_MATMULBUILDER_H

#include "iris/Kernels/FusedWorkspace.h"
#include "iris/Kernels/GroupBuilder.h"
#include "iris/Kernels/MatmulConfig.h"
#include "iris/Kernels/TileSchedule.h"

namespace mlir::iris {

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
  Value a, b_, c, bias, scale;

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
  /// Rows `first` to first + count of a matrix: accesses end there.
  Value rows(Value matrix, Value first, Value count);
  Value columns(Value matrix, Value first, Value count);

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// A tile of the sum's type: the products of the rows from `left` on and the
  /// columns from `right` on, over `length` values of k, plus `init` if there
  /// is one. `before(kb)` runs before k-block kb is read.
  Value multiply(Place left, Place right, Value length, Value init = {},
                 llvm::function_ref<void(Value)> before = {});
  /// The tile of the result at a place in it: scale, bias, activation, and the
  /// result's type.
  Value finishTile(Value sum, Value row, Value column);
  /// The product of own matrices, ready to be stored.
  Value ownTile(Value row, Value column);
  /// next(k, tile) for k = first .. size - 1, from a tile on.
  Value accumulate(int64_t first, Value initial,
                   llvm::function_ref<Value(Value, Value)> next);
  Value zeros(Type element);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  Value load(Place from, Type element);
  void store(Value tile, Place to);
  /// The same on a member's memory.
  Value loadFrom(Value member, Place from, Type element);
  void storeTo(Value member, Value tile, Place to);
  /// `matrix` in a member's memory.
  Value onMember(Value member, Value matrix);

  //===--------------------------------------------------------------------===//
  // The workspace
  //===--------------------------------------------------------------------===//

  using Workspace = FusedWorkspace<ScalarBuilder>;
  /// Counts a launch; `epoch` is its number. `end` must come last.
  void beginEpoch(const Workspace &layout);
  void endEpoch();
  /// Says on a member, which may be this one, that a thing is there: all that
  /// this program did is, too. `onlyHere`: nobody else is told.
  void raise(Value member, Value flag);
  void raiseHere(Value flag);
  /// Waits until `source` has raised an own flag in this launch.
  void await(Value flag, Value source);
  void awaitHere(Value flag);
  /// A member's slab, a matrix.
  Value slab(Workspace &layout, Value member, Value rows, Value columns,
             Type element);

  Value epoch;

private:
  Value placeOf(Value flag);

  Value flags;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_MATMULBUILDER_H
