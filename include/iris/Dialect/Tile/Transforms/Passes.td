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
    fewer if the tile has not enough elements for all threads. Tiles that travel
    in packets give it 8 bytes of data in a row, always: one access.

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

def TileInsertBarriersPass : Pass<"tile-insert-barriers"> {
  let summary = "Orders accesses of different threads that depend on each other";
  let description = [{
    A kernel reads as if one thread executed it. Where an access touches memory
    that an earlier one touched, one of the two writes, and they are not known
    to be made element by element by the same thread, this pass puts a
    `gpu.barrier` in between. Runs after `tile-assign-layouts`, which decides
    which thread accesses what. Each op says what it orders before and after
    itself and what it accesses (ProgramOrderOpInterface; the table is in
    `docs/memory-model.md`), so that synchronisation needs no further barrier
    where it orders enough. Loops are followed until nothing is added.

    Different arguments of a function are taken to be different memory, or the
    same buffer. `iris.argument_overlaps` says of which pairs the order relies
    on that, for the launch to check: `disjoint` ones must share no byte,
    `same_or_disjoint` ones may also be the same buffer. A function with
    `iris.may_overlap` relies on nothing.

    Example: the second window overlaps the first one.

    ```mlir
    tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
    %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
    ```

    becomes

    ```mlir
    tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
    gpu.barrier
    %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

#endif // IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD
