// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_TILETOLOOPSPASSES_TD
#define IRIS_CONVERSION_TILETOLOOPSPASSES_TD

include "mlir/Pass/PassBase.td"

def IrisOutlineKernelsPass
    : Pass<"iris-outline-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns kernels into ordinary functions";
  let description = [{
    On the host a kernel is a function. `gpu.func` becomes `func.func` with the
    same attributes, and `iris.kernel` if it was a kernel; other functions
    become private, so that they disappear once they are inlined.

    Before:

    ```mlir
    gpu.func @k(%ctx: !iris.ctx) kernel attributes {iris.num_warps = 4 : i32} {
      gpu.return
    }
    ```

    After:

    ```mlir
    func.func @k(%ctx: !iris.ctx)
        attributes {iris.kernel, iris.num_warps = 4 : i32} {
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def ConvertTileToLoopsPass
    : Pass<"convert-tile-to-loops", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns tiles into loops over buffers";
  let description = [{
    For the host target: one thread holds whole tiles. Layouts are dropped.
    Loaded, reduced and loop-carried tiles get a buffer (`memref.alloc`, static
    and one-dimensional); elementwise arithmetic is emitted in the loop of its
    only consumer, or gets a buffer where there are several. A loaded tile is a
    copy taken at the load.

    `tile.load` and `tile.store` have two paths, chosen at run time: a window
    inside of the buffer is copied row by row with `llvm.intr.memcpy`; one that
    hangs over an edge runs over what is left of it, and a load fills the rest
    with 0 or the `else` value. Volatile accesses go element by element. Cache
    modifiers have no meaning on the host.

    `tile.reduce` folds the upper half of the dimension onto the lower one until
    one element is left. Atomics on tiles become a release fence, one relaxed
    update per element, and an acquire fence, as their `sem` says;
    `iris.expect_eq` on tiles becomes one loop and one `iris.record_expect`. The
    scalar forms of these are left alone.

    `tile.matmul` becomes a loop over k-blocks: the region's ops, copies of the
    block's parts of a and b to operand tiles of the type of the sum, and the product
    of the operand tiles in vectors.

    Before:

    ```mlir
    %v = tile.load %in[%i] : memref<?xf16> -> tensor<256xf16>
    ```

    After, in essence:

    ```mlir
    %v = memref.alloc() : memref<256xf16>
    scf.if %inside {
      "llvm.intr.memcpy"(%to, %from, %c512)
    } else {
      // Zeros, then what lies within the buffer.
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def IrisAssignArenaPass
    : Pass<"iris-assign-arena", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Gives tile buffers their place in the program's arena";
  let description = [{
    Every `memref.alloc` of static shape becomes a view of the arena of the
    running program (`iris.host_arena`), 64-byte aligned. Buffers that never
    live at the same time share a place. The size goes to the function's
    attribute `iris.arena_bytes`.

    Before:

    ```mlir
    %v = memref.alloc() : memref<256xf16>
    ```

    After:

    ```mlir
    %arena = iris.host_arena : memref<?xi8>
    %v = memref.view %arena[%c0][] : memref<?xi8> to memref<256xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::iris::IrisDialect",
                           "::mlir::memref::MemRefDialect"];
}

def IrisLegalizeHostFloatsPass : Pass<"iris-legalize-host-floats"> {
  let summary = "Expresses f16 and bf16 arithmetic with what x86-64-v3 has";
  let description = [{
    Arithmetic on f16 and bf16 is done in f32 and rounded after every
    operation, which for `+ - * /` and `sqrt` gives the same bits as arithmetic
    in the narrow type. Conversions between f32 and f16 are left to the F16C
    instructions; those of bf16 become integer arithmetic, round to nearest
    even, NaN kept. Narrowing from f64 rounds once: it goes through f32 rounded
    to odd.

    Example: `arith.addf %a, %b : bf16` becomes two shifts, an addition in f32,
    and the rounding of its bits.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def IrisBf16AsBitsPass
    : Pass<"iris-bf16-as-bits", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Replaces bf16 values by their bits";
  let description = [{
    The last step of the host target, on the LLVM dialect: after
    `iris-legalize-host-floats` bf16 values are only moved, so they may as well
    be i16. LLVM for x86 would call a library function for some of the moves.

    Example: `llvm.load %p : !llvm.ptr -> bf16` becomes
    `llvm.load %p : !llvm.ptr -> i16`.
  }];
}

#endif // IRIS_CONVERSION_TILETOLOOPSPASSES_TD
