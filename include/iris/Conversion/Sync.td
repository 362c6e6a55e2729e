// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_SYNC_TD
#define IRIS_CONVERSION_SYNC_TD

include "mlir/Pass/PassBase.td"

def IrisElideFencesPass : Pass<"iris-elide-fences"> {
  let summary = "Shares the fences of consecutive synchronisations";
  let description = [{
    Signals in a row, with no access between them, are one release; waits in a
    row are one acquire. A release stays with the first signal, an acquire with
    the last wait. A loop that does nothing but signal (wait) gets one
    `iris.fence` before (after) it. Signals that share a release are not ordered
    among themselves.

    Runs on structured control flow. What is shared is marked with unit
    attributes, which the lowering to a target turns into fences or leaves out.
    Each op whose fence goes is reported as a remark of category
    `iris-elide-fences`.

    Before:

    ```mlir
    iris.signal set %ctx, %v, %p[%i] : i32, memref<?xi32, #iris.peer>
    iris.signal set %ctx, %v, %q[%i] : i32, memref<?xi32, #iris.peer>
    ```

    After:

    ```mlir
    iris.signal set %ctx, %v, %p[%i] {iris.release_shared}
        : i32, memref<?xi32, #iris.peer>
    iris.signal set %ctx, %v, %q[%i] {iris.release_covered}
        : i32, memref<?xi32, #iris.peer>
    ```
  }];
}

def IrisLowerSyncPass : Pass<"iris-lower-sync"> {
  let summary = "Lowers addresses, orderings and atomics to a target's";
  let description = [{
    Lowers, in every kernel of the `gpu.module`, the ops of the iris dialect
    that are left when tiles are gone and control flow is unstructured: `rank`,
    `num_ranks`, `translate`, `signal`, `wait`, `barrier`, `expect_eq`, atomics
    and fences. What differs per target comes from TargetInfo. Fields of the
    context stay `iris.ctx_field`, for iris-lower-kernel-abi.

    `docs/memory-model.md` has the sequences. Kernels get the attributes
    `iris.sites` (the ops that may report, in the form of the metadata),
    `iris.coresident` if they wait, and `iris.shared_bytes`.

    Before:

    ```mlir
    %p = iris.translate %ctx, %b to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    ```

    After, with `translation=stride`, for the pointer in the descriptor:

    ```mlir
    %distance = arith.muli %rMinusRank, %heapStride : i64
    %q = llvm.getelementptr %pointer[%distance]
        : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Target: host, gfx942, gfx950, gfx90a, gfx1100, gfx1201, sm_80, "
           "sm_90a, sm_100a">,
    Option<"translation", "translation", "::mlir::iris::Translation",
           /*default=*/"::mlir::iris::Translation::Stride",
           "How addresses on other ranks are found",
           [{::llvm::cl::values(
              clEnumValN(::mlir::iris::Translation::Stride, "stride",
                         "heaps lie at a uniform stride"),
              clEnumValN(::mlir::iris::Translation::Table, "table",
                         "a table has every heap's base"))}]>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect"
  ];
}

def IrisLowerHostCallbacksPass : Pass<"iris-lower-host-callbacks"> {
  let summary = "Connects waits on the host to the runtime's callbacks";
  let description = [{
    On the host, waits read the clock and yield through IrisRtHostProgram. The
    lowering leaves calls of `irisrtIR_clock` and `irisrtIR_yield`; this pass,
    which runs when kernels have their final signature (iris-lower-kernel-abi),
    makes them calls through the pointers in the kernel's second argument.

    Before:

    ```mlir
    llvm.call @irisrtIR_yield() : () -> ()
    ```

    After:

    ```mlir
    %field = llvm.getelementptr %program[40] : (!llvm.ptr) -> !llvm.ptr, i8
    %yield = llvm.load %field : !llvm.ptr -> !llvm.ptr
    llvm.call %yield() : !llvm.ptr, () -> ()
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def IrisPrepareTracesPass
    : Pass<"iris-prepare-traces", "::mlir::ModuleOp"> {
  let summary = "Removes traces, or completes them";
  let description = [{
    Without `enable` every `iris.trace` is erased, and what only computes its
    bytes: the kernels are those that one gets without them. With it,

    * each `iris.wait` and `iris.barrier` becomes a span, "wait" or "barrier", so
      that time in which a program could not go on shows;
    * the first module with traces gets a kernel `__iris_clock`, which tells the
      runtime the device's time, so that it can show all devices on one clock.

    Before:

    ```mlir
    %seen = iris.wait %ctx, %flags[%i] ge %epoch : i32, memref<?xi32>
    ```

    After, with `enable`:

    ```mlir
    iris.trace begin %ctx, "wait"
    %seen = iris.wait %ctx, %flags[%i] ge %epoch : i32, memref<?xi32>
    iris.trace end %ctx, "wait"
    ```
  }];
  let options = [Option<"enable", "enable", "bool", /*default=*/"false",
                        "keep the traces">];
}

#endif // IRIS_CONVERSION_SYNC_TD
