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

def IrisTakeVerdictsPass : Pass<"iris-take-verdicts"> {
  let summary = "Ends programs that gave up before they publish";
  let description = [{
    On GPUs each thread waits for its own part of an `iris.packet_load`, and one
    that gives up goes on alone. This pass puts an `iris.leave_if_failed`, where
    all threads meet and the program ends if one of them gave up, before the
    next op that other ranks can see: a store to a peer, a packet, a signal, an
    atomic, a fence or a barrier. Packets that are received in a row share one;
    if nothing is published after them, there is none. `iris.wait` and
    `iris.barrier` take the verdict as they end. Runs on structured control
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

def IrisVerifyMathPass : Pass<"iris-verify-math"> {
  let summary = "Rejects math functions that no target can compute";
  let description = [{
    No target has a mathematical library: what `math` ops are supported, and for
    which types, is the table in `docs/math.md`, the same on all targets. Any
    other op is an error here, and not a missing symbol later.

    Example, an error:

    ```mlir
    %y = math.exp %x : f64
    ```
  }];
}

def IrisVerifyVectorsPass : Pass<"iris-verify-vectors"> {
  let summary = "Rejects vectors that not all targets can compute with";
  let description = [{
    Kernels are written with scalars and tiles; vectors are mostly what tiles
    become. A program may bring along vectors of its own, of at most one
    dimension and of a fixed length, of anything but bf16. Any other is an error
    here, and not in some target's lowering later.

    Example, an error:

    ```mlir
    %y = math.exp %x : vector<4x4xf32>
    ```
  }];
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
