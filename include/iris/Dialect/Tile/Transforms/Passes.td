// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAssignLayoutsPass : Pass<"tile-assign-layouts"> {
  let summary = "Gives every tile of a kernel a layout";
  let description = [{
    Says for every tile which thread holds which element. Layouts that the
    kernel pins are obeyed; the pass chooses the others. Tiles that are tied to
    each other by elementwise ops, control flow or atomics share one layout; a
    reduction, an inserted dimension or a transpose passes a derived layout on.
    Where layouts that meet differ, a `tile.convert_layout` goes in between.

    A chosen layout gives each thread as many neighbours of a row as fit into
    16 bytes of the widest element that the tile is loaded or stored as, or
    fewer if the tile has not enough elements for all threads.

    A pinned layout that does not fit the workgroup is an error.

    Example, with waves of 64 threads and `iris.num_warps = 4`:

    ```mlir
    %v = tile.load %in[%i, %j] : memref<?x?xf16> -> tensor<8x256xf16>
    ```

    becomes

    ```mlir
    #blocked = #tile.blocked<size_per_thread = [1, 8],
                             threads_per_warp = [2, 32],
                             warps_per_cta = [4, 1], order = [1, 0]>
    %v = tile.load %in[%i, %j]
        : memref<?x?xf16> -> tensor<8x256xf16, #blocked>
    ```
  }];
  let options = [
    Option<"warpSize", "warp-size", "unsigned", /*default=*/"64",
           "threads per wave of the target">
  ];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

#endif // IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD
