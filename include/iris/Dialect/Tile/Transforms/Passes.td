// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileAssignLayoutsPass : Pass<"tile-assign-layouts"> {
  let summary = "Assign a layout to every tile of a kernel";
  let description = [{
    Determines for every tile which thread holds which element. Pinned layouts
    are kept; the pass selects the others. Tiles connected by elementwise ops,
    control flow or atomics share one layout; a reduction, an inserted dimension
    or a transpose propagates a derived layout. A `tile.convert_layout` is
    inserted where different layouts meet.

    A selected layout gives each thread as many consecutive elements of a row as
    fit into 16 bytes of the widest element type that the tile is loaded or
    stored as, or fewer if the tile does not have enough elements for all
    threads. They are elements of a column, or of another dimension, if all
    buffers that the tile is loaded from or stored to have, by their types, a
    stride of 1 along that dimension and not along the last. Tiles that are sent
    as packets always have 8 contiguous bytes per thread: one access. Where sums
    or products of floats reduce the rows of a tile, which `tile.reduce` does in
    order, the rows of a thread are consecutive. Tiles that are only gathered or
    scattered, element by element, have neighbours in neighbouring threads,
    unless such a sum adds them.

    It is an error if a pinned layout does not fit the workgroup.

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
  let summary = "Insert barriers between dependent accesses of threads";
  let description = [{
    A kernel reads as if one thread executed it. If an access may touch memory
    that an earlier one touched, one of the two writes, and they are not known
    to be made element by element by the same thread, this pass inserts a
    `gpu.barrier` between them. Runs after `tile-assign-layouts`, which
    determines the thread of each access. Each op declares the accesses that it
    makes, and those that it orders before and after itself
    (ProgramOrderOpInterface; the table is in `docs/internals/memory-model.md`), so that
    synchronization ops need no further barrier if they order enough. Loops are
    processed until no barrier is added.

    Different arguments of a function are assumed to be disjoint memory, or the
    same buffer. `iris.argument_overlaps` lists the pairs for which the ordering
    depends on this assumption, and the launch checks them: `disjoint` pairs
    must not share a byte, `same_or_disjoint` pairs may also be the same buffer.
    A function with `iris.may_overlap` depends on no such assumption.

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

def TileRecordOverlapsPass : Pass<"tile-record-overlaps"> {
  let summary = "Record which arguments must not overlap on any GPU";
  let description = [{
    Sets `iris.argument_overlaps` as `tile-insert-barriers` does with waves of
    32 and of 64 threads, and changes nothing else. For the host, where one
    thread makes all accesses in order: a launch that a GPU refuses is refused
    there as well.

    Example: the windows are at different offsets.

    ```mlir
    func.func @shifted(%x: memref<?xf32>, %z: memref<?xf32>, %i: index) {
      %next = arith.addi %i, %c1 : index
      %a = tile.load %x[%next] : memref<?xf32> -> tensor<256xf32>
      tile.store %a, %z[%i] : tensor<256xf32>, memref<?xf32>
    ```

    gets the attribute `iris.argument_overlaps = {disjoint = [[0, 1]]}`.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::tile::TileDialect"];
}

#endif // IRIS_DIALECT_TILE_TRANSFORMS_PASSES_TD
