// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_TILETOTHREADS_TD
#define IRIS_CONVERSION_TILETOTHREADS_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToThreadsPass : Pass<"convert-tile-to-threads"> {
  let summary = "Distribute tiles over the threads of the workgroup";
  let description = [{
    A tile with a layout becomes a vector of the elements that the thread holds
    in registers; elementwise ops apply to that vector. Loads and stores become
    `llvm.load` and `llvm.store` of the widest vectors, up to 16 bytes, that
    layout, strides and alignment allow. Facts that are unknown at compile time
    are checked at run time, once per access and for the whole workgroup: a
    window inside the buffer, with aligned rows, takes the unmasked vector path;
    one that is aligned to words only takes the same vectors in words; any other
    window is accessed element by element with bounds checks.
    Conditions that `iris.divisibility` or static shapes prove are not checked,
    nor is alignment where the target has `unaligned-vectors`.

    Each access is reported as a remark of category `tile-vectorize-access`:
    passed with the bytes per access, or missed with the reason. Gathers and
    scatters access element by element.

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
           "workgroup memory for the exchange of elements">,
    Option<"unalignedVectors", "unaligned-vectors", "bool", /*default=*/"false",
           "vectors in global memory may begin at any address">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def IrisUnswitchLoopsPass : Pass<"iris-unswitch-loops"> {
  let summary = "Hoist invariant access checks out of innermost loops";
  let description = [{
    Accesses select their form by an `scf.if` with `iris.checked_form`. Its
    condition, mostly alignment, is uniform, and its else branch checks
    everything. An innermost loop in which the conditions of such ops are
    invariant becomes two loops: one for the case that all of them hold, with
    the then branches, and the loop as it was.

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
      scf.for %i = %a to %b step %c {
        scf.if %aligned { fast } else { checked } {iris.checked_form}
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def IrisScalarizeSinglesPass : Pass<"iris-scalarize-singles"> {
  let summary = "Compute on scalars instead of vectors of one element";
  let description = [{
    A thread that holds one element of a tile has vectors of one element.
    Elementwise ops on those become ops on the element; ops that carry or move
    vectors are not changed.
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
