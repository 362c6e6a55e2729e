// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_TILETOTHREADS_TD
#define IRIS_CONVERSION_TILETOTHREADS_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToThreadsPass : Pass<"convert-tile-to-threads"> {
  let summary = "Spreads tiles over the threads of the workgroup";
  let description = [{
    A tile with a layout becomes a vector of the elements that the thread holds
    in registers; elementwise ops apply to that vector. Loads and stores become
    `llvm.load` and `llvm.store` of the widest vectors, up to 16 bytes, that
    layout, strides and alignment allow. What is not known at compile time is
    checked at run time, once per access and for the whole workgroup: a window
    that lies inside the buffer, on aligned rows, takes the unmasked vector
    path, any other one goes element by element with bounds checks. Parts that
    `iris.divisibility` or static shapes prove are not checked.

    Each access is reported as a remark of category `tile-vectorize-access`:
    passed with the bytes per access, or missed with the reason.

    Example, one 16-byte access per thread:

    ```mlir
    tile.store %v, %out[%i] : tensor<2048xf16, #blocked>, memref<?xf16>
    ```

    becomes, in essence,

    ```mlir
    scf.if %inside_and_aligned {
      %p = llvm.getelementptr %window[%byte]
          : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.store %v, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    } else {
      // Eight guarded stores of one element.
    }
    ```
  }];
  let options = [
    Option<"warpSize", "warp-size", "unsigned", /*default=*/"64",
           "threads per wave of the target">,
    Option<"maxScratchBytes", "max-scratch-bytes", "uint64_t",
           /*default=*/"65536",
           "workgroup memory that exchanges between threads may take">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def IrisUnswitchLoopsPass : Pass<"iris-unswitch-loops"> {
  let summary = "Takes invariant checks of accesses out of innermost loops";
  let description = [{
    Accesses choose their form by an `scf.if` with `iris.checked_form`: its
    condition, alignment above all, is the same in all threads, and its second
    branch checks everything. An innermost loop with such choices whose
    conditions do not change in it becomes two: one for when all of them hold,
    with the first branches, and one with the second branches, which are right
    in any case.

    Before:

    ```mlir
    scf.for %i = %a to %b step %c {
      scf.if %aligned { fast } else { checked } {iris.checked_form}
    }
    ```

    After:

    ```mlir
    scf.if %aligned {
      scf.for %i = %a to %b step %c { fast }
    } else {
      scf.for %i = %a to %b step %c { checked }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def IrisScalarizeSinglesPass : Pass<"iris-scalarize-singles"> {
  let summary = "Computes on scalars instead of vectors of one element";
  let description = [{
    A thread that holds one element of a tile has vectors of one element.
    Elementwise ops on those become ops on the element; what carries or moves
    vectors stays.

    Before:

    ```mlir
    %y = math.sqrt %x : vector<1xf32>
    ```

    After:

    ```mlir
    %e = vector.extract %x[0] : f32 from vector<1xf32>
    %r = math.sqrt %e : f32
    %y = vector.broadcast %r : f32 to vector<1xf32>
    ```
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect"];
}

#endif // IRIS_CONVERSION_TILETOTHREADS_TD
