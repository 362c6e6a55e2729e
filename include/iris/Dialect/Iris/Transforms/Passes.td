// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
#define IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def IrisInlineFunctionsPass
    : Pass<"iris-inline-functions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Inlines the functions that kernels call";
  let description = [{
    Kernels may call `func.func`s of their `gpu.module`, with tiles as arguments
    and results. Every call becomes the body of its function, on all targets:
    tiles have no calling convention, and nothing is linked to kernels. The
    functions are erased. Recursion, declarations and functions of several
    blocks are errors.

    Before:

    ```mlir
    func.func @twice(%v: tensor<256xf32>) -> tensor<256xf32> {
      %r = arith.addf %v, %v : tensor<256xf32>
      return %r : tensor<256xf32>
    }
    gpu.func @k(%b: memref<?xf32>, %i: index) kernel {
      %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
      %w = func.call @twice(%v) : (tensor<256xf32>) -> tensor<256xf32>
      tile.store %w, %b[%i] : tensor<256xf32>, memref<?xf32>
      gpu.return
    }
    ```

    After:

    ```mlir
    gpu.func @k(%b: memref<?xf32>, %i: index) kernel {
      %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
      %w = arith.addf %v, %v : tensor<256xf32>
      tile.store %w, %b[%i] : tensor<256xf32>, memref<?xf32>
      gpu.return
    }
    ```
  }];
}

def IrisPlaceAllocasPass : Pass<"iris-place-allocas"> {
  let summary = "Makes workgroup memory of the allocas of kernels";
  let description = [{
    `memref.alloca` in a kernel is a buffer of the program: one, wherever the op
    is, also in a loop, and however often it runs. It becomes workgroup memory
    that the kernel declares: shared memory on NVIDIA GPUs, LDS on AMD GPUs, and
    a place in the program's arena on the host. What it holds when the op runs
    is not defined; in particular it may be what an earlier round of a loop, or
    another program, has left there.

    Its shape is static, its elements are those of buffers, and together with
    what the compiler takes for itself it must fit into the target's workgroup
    memory (checked when the kernel is lowered). Accesses and views go on as for
    any buffer. It is an error to pass it to control flow, and to use it where
    other programs are meant: signals, waits, barriers, atomics, packets and
    translations.

    Before:

    ```mlir
    gpu.func @k(%b: memref<?xf32>, %i: index) kernel {
      %own = memref.alloca() : memref<256xf32>
      %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
      tile.store %v, %own[%i] : tensor<256xf32>, memref<256xf32>
      gpu.return
    }
    ```

    After:

    ```mlir
    gpu.func @k(%b: memref<?xf32>, %i: index)
        workgroup(%own : memref<256xf32, #gpu.address_space<workgroup>>
                         {llvm.align = 16 : i64}) kernel {
      %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
      tile.store %v, %own[%i] : tensor<256xf32>,
          memref<256xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def IrisTranslatePointersPass : Pass<"iris-translate-pointers"> {
  let summary = "Expands remote accesses into a translation and a local access";
  let description = [{
    Every op that names a rank becomes one on the translated buffer:
    `iris.load`, `store`, `gather` and `scatter` become the tile dialect's;
    `get`, `put` and `copy` become a load and a store; atomics, `signal` and
    `wait` lose their rank. Translation is on the *base* of the buffer: it is
    pure, so that CSE and LICM share and hoist it, and the access keeps its
    contiguity and alignment.

    Before:

    ```mlir
    iris.store %ctx, %v, %out[%i] to %r
        : tensor<256xf16>, memref<?xf16, #iris.symmetric>
    ```

    After:

    ```mlir
    %p = iris.translate %ctx, %out to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    tile.store %v, %p[%i] : tensor<256xf16>, memref<?xf16, #iris.peer>
    ```
  }];
  let dependentDialects = ["::mlir::tile::TileDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def IrisCheckWaitStatusPass : Pass<"iris-check-wait-status"> {
  let summary = "Ends programs that gave up before they publish";
  let description = [{
    On GPUs each thread waits for its own part of an `iris.packet_load`, and one
    that gives up goes on alone. This pass puts an `iris.leave_if_failed`, where
    all threads meet and the program ends if one of them gave up, before the
    next op that other ranks can see: a store to a peer, a packet, a signal, an
    atomic, a fence or a barrier. Packets that are received in a row share one;
    if nothing is published after them, there is none. `iris.wait` and
    `iris.barrier` take the waitStatus as they end. Runs on structured control
    flow, after `iris-translate-pointers`.

    Before:

    ```mlir
    %t = iris.packet_load %ctx, %b[%i] flag(%e)
        : memref<?xi32, #iris.symmetric> -> tensor<256xf32>
    iris.packet_store %ctx, %t, %p[%i] flag(%e)
        : tensor<256xf32>, memref<?xi32, #iris.peer>
    ```

    After:

    ```mlir
    %t = iris.packet_load %ctx, %b[%i] flag(%e)
        : memref<?xi32, #iris.symmetric> -> tensor<256xf32>
    iris.leave_if_failed
    iris.packet_store %ctx, %t, %p[%i] flag(%e)
        : tensor<256xf32>, memref<?xi32, #iris.peer>
    ```
  }];
}

def IrisVerifyPortablePass : Pass<"iris-verify-portable"> {
  let summary = "Rejects what is not in the portable kernel language";
  let description = [{
    Every target compiles the same kernels: which ops they may use, and on which
    types, is one table (`KernelLanguage.cpp`), printed by `iris-compile
    --list-ops` and in `docs/kernel-language.md`. Any other op is an error here,
    and not in some target's lowering later.

    With `allow-nonportable` only what no target has is an error: the `math`
    functions that are not in the table, `arith.remf`, and vectors that are not
    of one dimension and a fixed length.

    Example, an error:

    ```mlir
    %t = gpu.thread_id x
    ```
  }];
  let options = [
    Option<"allowNonportable", "allow-nonportable", "bool", "false",
           "Reject only what no target has">
  ];
}

def IrisLegalizeFloat8Pass : Pass<"iris-legalize-float8"> {
  let summary = "Turns f8 values into their codes";
  let description = [{
    Values of the f8 types become i8, on tiles and scalars, and `arith.extf` and
    `arith.truncf` from and to them integer arithmetic, the same bits on every
    target. Narrowing rounds once, to nearest even, and saturates. After
    `iris-inline-functions`.

    Before:

    ```mlir
    %f = arith.bitcast %codes : tensor<256xi8> to tensor<256xf8E4M3FN>
    %v = arith.extf %f : tensor<256xf8E4M3FN> to tensor<256xf32>
    ```

    After: shifts, masks and one multiplication on tiles of i32 and f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def IrisInsertChecksPass
    : Pass<"iris-insert-checks", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Checks ranks, indices and sizes as the kernel runs";
  let description = [{
    For debug runs, on the host: an `iris.check` in front of every op that names
    a rank, a member of the group, an element of a buffer by its indices, a
    packet, a view or the state of a barrier. Windows of tiles need none: what
    lies outside of the buffer reads as 0 and is not written. Kernels get the
    attribute `iris.debug`; one without an argument of type `!iris.ctx` has
    nobody to report to, and gives a warning. Before
    `iris-translate-pointers`, on ops as they were written.

    Before:

    ```mlir
    iris.signal set %ctx, %e, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    ```

    After:

    ```mlir
    %size = memref.dim %flags, %c0 : memref<?xi32, #iris.symmetric>
    iris.check %ctx, %i below %size of "iris.signal"
        "accesses index $value of dimension 0 of argument 1; expected 0 to $last"
    iris.signal set %ctx, %e, %flags[%i] : i32, memref<?xi32, #iris.symmetric>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def IrisVerifyAffinePass : Pass<"iris-verify-affine"> {
  let summary = "Rejects affine maps that divide by anything but constants";
  let description = [{
    What an affine map divides by, or takes the remainder of, is a positive
    constant once constants have been folded into the maps. No lowering has
    another, and the analysis of ranges would divide by zero.

    Example, an error:

    ```mlir
    %y = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%x)
    ```
  }];
}

def IrisResolveDimsPass : Pass<"iris-resolve-dims"> {
  let summary = "Finds out which dimension each memref.dim asks for";
  let description = [{
    A dimension that a buffer does not have is an error, also one that only
    constant propagation finds. Where the dimension is not constant its size is
    chosen among those of all dimensions, so that later folding cannot bring up
    one that is not there, and so that no target needs an array on its stack.

    Before:

    ```mlir
    %size = memref.dim %b, %i : memref<?x?xf32>
    ```

    After:

    ```mlir
    %c1 = arith.constant 1 : index
    %columns = memref.dim %b, %c1 : memref<?x?xf32>
    %c0 = arith.constant 0 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %c0_0 = arith.constant 0 : index
    %rows = memref.dim %b, %c0_0 : memref<?x?xf32>
    %size = arith.select %first, %rows, %columns : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def IrisExpandMathPass : Pass<"iris-expand-math"> {
  let summary = "Expresses math functions as arithmetic";
  let description = [{
    Functions without an instruction become polynomials in f32; f16 and bf16 are
    widened before and rounded after. Works on scalars and vectors, so it comes
    after tiles are gone. What remains has an instruction, or is expanded by
    LLVM without a call, on every target: `absf`, `ceil`, `copysign`, `floor`,
    `fma`, `round`, `roundeven`, `sqrt`, `trunc`, integer functions and the
    classifications. The errors are stated in `docs/math.md`.

    Example: `math.tanh %x : f32` becomes a rational function of clamped `%x`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
