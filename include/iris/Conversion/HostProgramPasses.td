// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_HOSTPROGRAMPASSES_TD
#define IRIS_CONVERSION_HOSTPROGRAMPASSES_TD

include "mlir/Pass/PassBase.td"

def IrisVerifyHostProgramPass
    : Pass<"iris-verify-host-program", "::mlir::ModuleOp"> {
  let summary = "Check that @main can run on the host";
  let description = [{
    `@main` takes one `!iris.ctx` and returns nothing. It may contain scalar
    arithmetic, structured control flow, views of buffers (`memref.cast`,
    `memref.dim`, `memref.subview` and the like), and the iris ops of host
    programs. Buffers are in device memory, so their elements cannot be
    accessed.

    Example, an error:

    ```mlir
    func.func @main(%ctx: !iris.ctx) {
      %c4 = arith.constant 4 : index
      %b = iris.alloc(%c4) : memref<?xi32, #iris.symmetric>
      %v = memref.load %b[%c4] : memref<?xi32, #iris.symmetric>
      return
    }
    ```
  }];
}

def ConvertIrisHostProgramPass
    : Pass<"convert-iris-host-program", "::mlir::ModuleOp"> {
  let summary = "Convert @main to calls of the runtime";
  let description = [{
    `@main` becomes `IrisRtMain` of RuntimeABI.h. Its argument is the runtime's
    table of functions. If a call fails, `@main` returns its status immediately,
    which requires unstructured control flow. Sizes of allocations are checked
    for negative extents and overflow. Kernels are removed from the module.

    Before:

    ```mlir
    func.func @main(%ctx: !iris.ctx) {
      iris.sync %ctx
      return
    }
    ```

    After:

    ```mlir
    llvm.func @irisrtIR_main(%api: !llvm.ptr) -> i32 {
      ...
      %status = llvm.call %sync(%world) : !llvm.ptr, (!llvm.ptr) -> i32
      %failed = llvm.icmp "ne" %status, %zero : i32
      llvm.cond_br %failed, ^bb2, ^bb1
    ^bb1:
      llvm.return %zero : i32
    ^bb2:
      llvm.return %status : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // IRIS_CONVERSION_HOSTPROGRAMPASSES_TD
