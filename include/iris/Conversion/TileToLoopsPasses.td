// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_TILETOLOOPSPASSES_TD
#define IRIS_CONVERSION_TILETOLOOPSPASSES_TD

include "mlir/Pass/PassBase.td"

def IrisOutlineKernelsPass
    : Pass<"iris-outline-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert kernels to ordinary functions";
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
  let summary = "Lower tiles to loops over buffers";
  let description = [{
    For the host target: one thread holds whole tiles. Layouts are dropped.
    Loaded, reduced and loop-carried tiles get a buffer (`memref.alloc`, static
    and one-dimensional). Elementwise arithmetic is emitted in the loop of its
    only consumer; with several consumers it gets a buffer too. A loaded tile is
    copied at the load.

    `tile.load` and `tile.store` have two paths, chosen at run time. A window
    inside the buffer is copied row by row with `llvm.intr.memcpy`. For a window
    that exceeds the buffer, the loop covers only the part inside, and a load
    fills the rest with 0 or the `else` value. Volatile accesses go element by
    element. Cache modifiers have no effect on the host.

    `tile.reduce` combines neighbours along the dimension until one element is
    left; halves, where the order does not matter. Atomics on tiles become a
    release fence, one relaxed update per element, and an acquire fence,
    according to their `sem`; `iris.expect_eq` on tiles becomes one loop and one
    `iris.record_expect`. Their scalar forms are not changed.

    `tile.matmul` becomes a loop over k-blocks: the ops of the region, copies of
    the block's elements of a and b to operand tiles of the accumulator type,
    and the matmul of the operand tiles with vectors.

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
      // Zeros, then the part inside the buffer.
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
  let summary = "Allocate tile buffers in the program's arena";
  let description = [{
    Every `memref.alloc` of static shape becomes a view of the arena of the
    running program (`iris.host_arena`), 64-byte aligned. Buffers with disjoint
    lifetimes share memory. The size is stored in the function's attribute
    `iris.arena_bytes`.

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
  let summary = "Legalize f16 and bf16 arithmetic for x86-64-v3";
  let description = [{
    Arithmetic on f16 and bf16 is done in f32 and rounded after every operation.
    For `+ - * /` and `sqrt` this gives the same bits as arithmetic in the
    narrow type. Conversions between f32 and f16 use the F16C instructions;
    those of bf16 become integer arithmetic: round to nearest even, NaN is
    preserved. Narrowing from f64 rounds once: it goes through f32 rounded to
    odd.

    Example: `arith.addf %a, %b : bf16` becomes two shifts, an addition in f32,
    and the rounding of its bits.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def IrisBf16AsBitsPass
    : Pass<"iris-bf16-as-bits", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Replace bf16 values by their bits";
  let description = [{
    The last step of the host target, on the LLVM dialect. After
    `iris-legalize-host-floats` bf16 values are only moved, so they can be
    represented as i16. Otherwise LLVM would call library functions on x86 for
    some of the moves.

    Example: `llvm.load %p : !llvm.ptr -> bf16` becomes
    `llvm.load %p : !llvm.ptr -> i16`.
  }];
}

#endif // IRIS_CONVERSION_TILETOLOOPSPASSES_TD
