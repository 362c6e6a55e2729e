// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_SYNC_TD
#define IRIS_CONVERSION_SYNC_TD

include "mlir/Pass/PassBase.td"

def IrisElideFencesPass : Pass<"iris-elide-fences"> {
  let summary = "Merge the fences of consecutive synchronizations";
  let description = [{
    Consecutive signals, with no access between them, need one release;
    consecutive waits need one acquire. The first signal keeps its release, the
    last wait its acquire. A loop that contains only signals (waits) gets one
    `iris.fence` before (after) it. Signals that share a release are not ordered
    with each other.

    Runs on structured control flow. Shared fences are marked with unit
    attributes; the lowering to a target emits or omits the fences accordingly.
    Each op whose fence is removed is reported as a remark of category
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
  let summary = "Lower synchronization and remote addressing to a target";
  let description = [{
    Lowers, in every kernel of the `gpu.module`, the remaining ops of the iris
    dialect: `rank`, `num_ranks`, `translate`, `signal`, `wait`, `barrier`,
    `expect_eq`, atomics and fences. Tiles must be lowered, and control flow
    must be unstructured. Differences between targets are in TargetInfo. Fields
    of the context remain `iris.ctx_field`, for iris-lower-kernel-abi.

    `docs/internals/memory-model.md` lists the instruction sequences. Kernels get the
    attributes `iris.sites` (the ops that may report, in the form of the
    metadata), `iris.coresident` if they wait, and `iris.shared_bytes`.

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
           "Target: host, or a chip of lib/Chips">,
    Option<"translation", "translation", "::mlir::iris::Translation",
           /*default=*/"::mlir::iris::Translation::Stride",
           "How addresses on peers are computed",
           [{::llvm::cl::values(
              clEnumValN(::mlir::iris::Translation::Stride, "stride",
                         "heaps have a uniform stride"),
              clEnumValN(::mlir::iris::Translation::Table, "table",
                         "a table holds the base of every heap"))}]>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def IrisLowerHostCallbacksPass : Pass<"iris-lower-host-callbacks"> {
  let summary = "Connect waits on the host to the runtime's callbacks";
  let description = [{
    On the host, waits read the clock and yield through IrisRtHostProgram. The
    lowering generates calls of `irisrtIR_clock` and `irisrtIR_yield`. This pass
    runs when kernels have their final signature (iris-lower-kernel-abi), and
    replaces them by calls through the pointers in the kernel's second argument.

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
  let summary = "Remove or complete traces";
  let description = [{
    Without `enable`, every `iris.trace` is erased, together with the ops that
    only compute its bytes: the result equals that of kernels without traces.
    With `enable`,

    * each `iris.wait` and `iris.barrier` becomes a span, "wait" or "barrier",
      so that the time for which a program waits is recorded;
    * the first module with traces gets a kernel `__iris_clock`, which reads the
      device's clock, so that the runtime can show all devices on one time axis.

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
