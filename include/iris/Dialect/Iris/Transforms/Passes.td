// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
#define IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def IrisCheckFlagsPass : Pass<"iris-check-flags", "::mlir::ModuleOp"> {
  let summary = "Reject constant indices of flags outside of their buffer";
  let description = [{
    A signal or wait that every program of a kernel executes must access a flag
    of its buffer, as far as constants tell: the index, and the size in the type
    of the buffer or in the `iris.alloc` of a buffer that a launch passes. Such
    a wait would end only by its time limit.

    Example, an error:

    ```mlir
    %c40 = arith.constant 40 : index
    iris.signal set %ctx, %one, %flags[%c40]
        : i32, memref<32xi32, #iris.symmetric>
    ```
  }];
}

def IrisCheckSyncPass : Pass<"iris-check-sync", "::mlir::ModuleOp"> {
  let summary = "Warn of errors in the synchronization of ranks";
  let description = [{
    Executes the programs of small worlds (2 to 8 ranks) as far as
    scalars, control flow and addresses are known, and warns of what is wrong in
    all of them:

    * a wait whose flag no signal satisfies;
    * a wait for packets that are missing or overwritten;
    * a barrier that not all ranks execute;
    * a scope that leaves out the rank that writes, or reads, the flag;
    * a relaxed signal or wait between a store and the read of it;
    * a read of what a peer stores, before the wait that guards it;
    * a signal before a store that it announces;
    * a wait that an earlier signal of the same epoch satisfies;
    * any other store that nothing orders with a read on another rank.

    Of memory, an integer is known that only programs of the same rank store, by
    `memref.store` or `tile.scatter`, in an order that its stream gives: such as
    an epoch that each launch counts up.

    Each warning is backed by an execution that the memory model allows. Where a
    program depends on other contents of memory, the checks stop; a remark says
    where. Changes nothing.

    Example, a warning:

    ```mlir
    iris.signal set %ctx, %epoch, %flags[%c0] to %next : i32, memref<?xi32, #iris.symmetric>
    %v = tile.load %data[%c0] : memref<?xi32, #iris.symmetric> -> tensor<64xi32>
    %seen = iris.wait %ctx, %flags[%c0] ge %epoch : i32, memref<?xi32, #iris.symmetric>
    ```
  }];
  let options = [
    Option<"maxOps", "max-ops", "uint64_t", "100000",
           "How many ops of each rank to execute; what comes after them is not "
           "checked">
  ];
}

def IrisInlineFunctionsPass
    : Pass<"iris-inline-functions", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Inline the functions that kernels call";
  let description = [{
    Kernels may call `func.func`s of their `gpu.module`, with tiles as arguments
    and results. Every call is inlined, on all targets, because tiles have no
    calling convention and nothing is linked to kernels. The functions are
    erased. Recursion, declarations and functions with several blocks are
    errors.

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
  let summary = "Lower allocas of kernels to workgroup memory";
  let description = [{
    A `memref.alloca` in a kernel is a buffer of the program: a single one, even
    if the op is in a loop or executed repeatedly. It becomes workgroup memory
    that the kernel declares: shared memory on NVIDIA GPUs, LDS on AMD GPUs, and
    part of the program's arena on the host. Its contents are undefined when the
    op executes; in particular they may be those of an earlier loop iteration,
    or of another program.

    The shape must be static and the element type that of a buffer. Together
    with the compiler's own use it must fit into the target's workgroup memory
    (checked when the kernel is lowered). Accesses and views are the same as for
    any buffer. It is an error to pass it to control flow, or to use it in ops
    that communicate with other programs: signals, waits, barriers, atomics,
    packets and translations.

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
  let summary = "Expand remote accesses into a translation and a local access";
  let description = [{
    Every op with a rank becomes one on the translated buffer: `iris.load`,
    `store`, `gather` and `scatter` become the tile dialect's ops; `get`, `put`
    and `copy` become a load and a store; atomics, `signal` and `wait` lose
    their rank. The translation applies to the *base* of the buffer: it is pure,
    so CSE and LICM can share and hoist it, and the access keeps its contiguity
    and alignment.

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
  let summary = "End programs with a failed wait before they publish";
  let description = [{
    On GPUs each thread waits for its own elements of an `iris.packet_load`, and
    a thread whose wait fails continues alone. Before the next op that is
    visible to other ranks (a store to a peer, a packet, a signal, an atomic, a
    fence or a barrier) this pass inserts an `iris.leave_if_failed`, a barrier
    at which the program ends if a wait of one of its threads has failed.
    Consecutive packets share one; if nothing is published after them, there is
    none. `iris.wait` and `iris.barrier` check the wait status themselves. Runs
    on structured control flow, after `iris-translate-pointers`.

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
  let summary = "Reject ops outside of the portable kernel language";
  let description = [{
    Every target compiles the same kernels: the ops they may use, and their
    types, are in one table (`KernelLanguage.cpp`), which `iris-compile
    --list-ops` prints and `docs/reference/kernel-language.md` contains. This pass rejects
    every other op, instead of the lowering of some target. So it does with
    attributes of the iris dialect that mean nothing before lowering, such as a
    misspelt `iris.num_warps` (`KernelAttributes.cpp`).

    With `allow-nonportable` only ops that no target supports are errors: the
    `math` functions that are not in the table, `arith.remf`, and vectors that
    are not one-dimensional or have no fixed length.

    Example, an error:

    ```mlir
    %t = gpu.thread_id x
    ```
  }];
  let options = [
    Option<"allowNonportable", "allow-nonportable", "bool", "false",
           "Reject only ops that no target supports">
  ];
}

def IrisLegalizeFloat8Pass : Pass<"iris-legalize-float8"> {
  let summary = "Lower f8 values to their encodings";
  let description = [{
    Values of the f8 types become i8, on tiles and scalars; `arith.extf` and
    `arith.truncf` from and to them become integer arithmetic, with the same
    bits on every target. Narrowing rounds once, to nearest even, and saturates.
    Runs after `iris-inline-functions`.

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
  let summary = "Insert run-time checks of ranks, indices and sizes";
  let description = [{
    For debug mode, on the host: inserts an `iris.check` before every op with a
    rank, a member of the group, indices of a buffer element, a packet, a view
    or the state of a barrier. Windows of tiles need no check: elements outside
    of the buffer read as 0 and are not written. Kernels get the attribute
    `iris.debug`; a kernel without an argument of type `!iris.ctx` cannot
    report, which is a warning. Runs before `iris-translate-pointers`, on the
    ops of the user.

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
  let summary = "Reject affine maps with non-constant divisors";
  let description = [{
    Divisors in affine maps, including those of remainders, must be positive
    constants after constants have been folded into the maps. No lowering
    supports others, and range analysis would divide by zero.

    Example, an error:

    ```mlir
    %y = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%x)
    ```
  }];
}

def IrisResolveDimsPass : Pass<"iris-resolve-dims"> {
  let summary = "Resolve the dimension of each memref.dim";
  let description = [{
    A dimension that a buffer does not have is an error, even if only constant
    propagation reveals it. If the dimension is not constant, the size is
    selected among those of all dimensions. Then later folding cannot create an
    invalid dimension, and no target needs an array on its stack.

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

def IrisDropOverflowFlagsPass : Pass<"iris-drop-overflow-flags"> {
  let summary = "Sums, multiplications and truncations lose their overflow flags";
  let description = [{
    A guard (docs/internals/guards.md): canonicalization keeps `nsw` and `nuw`
    where it merges two ops into one whose constant wraps around.

    Before:

    ```mlir
    %s = arith.addi %x, %c overflow<nsw> : i32
    ```

    After:

    ```mlir
    %s = arith.addi %x, %c : i32
    ```
  }];
}

def IrisCountLoopsPass : Pass<"iris-count-loops"> {
  let summary = "Unsigned loops, and loops up to the limit of their type, count";
  let description = [{
    A guard (docs/internals/guards.md): MLIR takes the bounds of
    `scf.for unsigned` for signed ones, and the last increment of a loop that
    ends next to the limit of its type wraps around. Such loops count in i64, or
    their iterations where they have 64 bits. Of signed loops only those with
    constant bounds are changed.

    Before:

    ```mlir
    scf.for unsigned %i = %lower to %upper step %step : i32 {
      "use"(%i) : (i32) -> ()
    }
    ```

    After:

    ```mlir
    %first = arith.extui %lower : i32 to i64
    %end = arith.extui %upper : i32 to i64
    %by = arith.extui %step : i32 to i64
    scf.for %k = %first to %end step %by : i64 {
      %i = arith.trunci %k : i64 to i32
      "use"(%i) : (i32) -> ()
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def IrisNarrowCasesPass : Pass<"iris-narrow-cases"> {
  let summary = "Indices and cases of scf.index_switch fit in 32 bits";
  let description = [{
    A guard (docs/internals/guards.md): MLIR's lowering compares the lower 32
    bits of the index with those of each case. An index beyond them becomes a
    number that no case has, and so does a case.

    Before:

    ```mlir
    scf.index_switch %i
    case 5 {
      scf.yield
    }
    default {
    }
    ```

    After:

    ```mlir
    %least = arith.constant -2147483648 : index
    %above = arith.subi %i, %least : index
    %most = arith.constant 4294967295 : index
    %is_narrow = arith.cmpi ule, %above, %most : index
    %other = arith.constant 0 : index
    %number = arith.select %is_narrow, %i, %other : index
    scf.index_switch %number
    case 5 {
      scf.yield
    }
    default {
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def IrisExpandCeilDivsPass : Pass<"iris-expand-ceil-divs"> {
  let summary = "Signed divisions that round up become ones that truncate";
  let description = [{
    A guard (docs/internals/guards.md): MLIR's analysis of ranges takes
    `arith.ceildivsi` of the least number of its type for positive. So it meets
    what MLIR itself makes of the op later: a quotient that is truncated, plus 1
    where the exact one is positive and no integer.

    Before:

    ```mlir
    %q = arith.ceildivsi %x, %y : i32
    ```

    After:

    ```mlir
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %truncated = arith.divsi %x, %y : i32
    %back = arith.muli %truncated, %y : i32
    %rounds = arith.cmpi ne, %x, %back : i32
    %is_negative = arith.cmpi slt, %x, %zero : i32
    %divides_by_negative = arith.cmpi slt, %y, %zero : i32
    %is_positive = arith.cmpi eq, %is_negative, %divides_by_negative : i1
    %rounds_up = arith.andi %rounds, %is_positive : i1
    %above = arith.addi %truncated, %one : i32
    %q = arith.select %rounds_up, %above, %truncated : i32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def IrisExpandPositionsPass : Pass<"iris-expand-positions"> {
  let summary = "Positions of vectors' elements become selections";
  let description = [{
    A guard (docs/internals/guards.md): MLIR's constant propagation may leave
    the position of the first iteration of a loop in `vector.insert` and
    `vector.extract`. So a position that is not constant becomes selections
    among all elements. Vectors of kernels have one dimension and few elements.

    Before:

    ```mlir
    %e = vector.extract %v[%i] : f32 from vector<2xf32>
    ```

    After:

    ```mlir
    %e0 = vector.extract %v[0] : f32 from vector<2xf32>
    %e1 = vector.extract %v[1] : f32 from vector<2xf32>
    %is1 = arith.cmpi eq, %i, %c1 : index
    %e = arith.select %is1, %e1, %e0 : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
}

def IrisExpandSlicesPass : Pass<"iris-expand-slices"> {
  let summary = "Slices of vectors become shuffles";
  let description = [{
    The conversions to LLVM have no patterns for slices of vectors. Vectors of
    kernels have one dimension, so that a slice is a choice of elements.

    Before:

    ```mlir
    %w = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]}
        : vector<4xi32> to vector<2xi32>
    ```

    After:

    ```mlir
    %w = vector.shuffle %v, %v [1, 2] : vector<4xi32>, vector<4xi32>
    ```
  }];
  let dependentDialects = ["::mlir::vector::VectorDialect"];
}

def IrisLowerExpandShapePass : Pass<"iris-lower-expand-shape"> {
  let summary = "Expanded shapes with several dynamic sizes become casts";
  let description = [{
    MLIR's `expand-strided-metadata` computes the sizes of a group from that of
    its source, which leaves one of them open; it crashes where several are
    dynamic. Such ops become casts with the sizes that they have.

    Before:

    ```mlir
    %e = memref.expand_shape %b [[0, 1]] output_shape [%m, %n]
        : memref<?xf32> into memref<?x?xf32>
    ```

    After:

    ```mlir
    %base, %offset, %size, %stride = memref.extract_strided_metadata %b
        : memref<?xf32> -> memref<f32>, index, index, index
    %e = memref.reinterpret_cast %base to offset: [0], sizes: [%m, %n],
        strides: [%n, 1] : memref<f32> to memref<?x?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def IrisNarrowIntegersPass : Pass<"iris-narrow-integers"> {
  let summary = "Compute with 32 bits where the values allow it";
  let description = [{
    Integers wider than 32 bits, and `index`, become i32 in operations and loops
    whose result stays the same. That depends on what the operation takes its
    values for: signed operations need values that fit in signed 32 bits,
    unsigned ones in unsigned 32 bits; sums and the like need either; shift
    amounts are below 32; loops do not wrap at their last step.

    In place of upstream's `arith-int-range-narrowing`, which does not
    distinguish them.

    Before, where `%rank` and `%n` are below 2^31:

    ```mlir
    %peer = arith.remui %rank, %n : index
    ```

    After:

    ```mlir
    %0 = arith.index_cast %rank : index to i32
    %1 = arith.index_cast %n : index to i32
    %2 = arith.remui %0, %1 : i32
    %peer = arith.index_castui %2 : i32 to index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def IrisExpandConversionsPass : Pass<"iris-expand-conversions"> {
  let summary = "Round conversions and sums to bf16 once";
  let description = [{
    Conversions of integers with more than 24 bits to bf16 become a conversion
    to f32 that rounds to odd, and one of f32 to bf16. No target rounds them
    once by itself, except NVIDIA GPUs since sm_90. Works on scalars, vectors
    and tensors.

    Example: `arith.sitofp %x : i32 to bf16` takes the first 24 bits of the
    magnitude, sets the last of them if a bit behind them is set, and scales.

    Integers that may overflow f16 are clamped to 65536 before they are narrowed
    to it, which does not change the result: LLVM loses the infinity where it is
    widened again.

    With `fma-bf16`, `math.fma` of bf16 also rounds once: by way of f64, rounded
    to odd.
  }];
  let options = [Option<"fmaBf16", "fma-bf16", "bool", /*default=*/"false",
                        "Expand math.fma of bf16, for targets without it">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def IrisExpandMathPass : Pass<"iris-expand-math"> {
  let summary = "Expand math functions to arithmetic";
  let description = [{
    Functions without an instruction become polynomials in f32; f16 and bf16 are
    widened before and rounded after. Works on scalars and vectors, so it runs
    after tiles are lowered. The remaining functions have an instruction, or
    LLVM expands them without a call, on every target: `absf`, `ceil`,
    `copysign`, `floor`, `fma`, `round`, `roundeven`, `sqrt`, `trunc`, integer
    functions and the classifications. The errors are stated in `docs/reference/math.md`.

    Example: `math.tanh %x : f32` becomes a rational function of clamped `%x`.

    `vector.fma` becomes `math.fma`, which is rounded once on every target.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
