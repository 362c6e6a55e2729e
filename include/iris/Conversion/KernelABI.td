// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_KERNELABI_TD
#define IRIS_CONVERSION_KERNELABI_TD

include "mlir/Pass/PassBase.td"

def IrisLowerKernelABIPass
    : Pass<"iris-lower-kernel-abi", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert kernels to the signature of the runtime ABI";
  let description = [{
    Kernels receive the argument block of RuntimeABI.h. On GPUs every item of
    the block is a kernel parameter; on the host the kernel gets a pointer to
    the block and one to its IrisRtHostProgram. `!iris.ctx` becomes the fields
    of IrisRtContext, a memref becomes its pointer, dynamic sizes and dynamic
    strides; `iris.ctx_field` becomes the field. Memory spaces become address
    spaces. The metadata that the runtime needs is stored in the attribute
    `iris.meta`, a dictionary in the shape of the package's JSON. It is an error
    if a kernel declares more workgroup memory than the target has in addition
    to the compiler's own use.

    Before:

    ```mlir
    gpu.func @k(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>) kernel {
      %r = iris.ctx_field "rank" %ctx : i32
      ...
    ```

    After (GPU):

    ```mlir
    gpu.func @k(%rank: i32, %numRanks: i32, ..., %b: !llvm.ptr<1>, %size: i64)
        kernel attributes {iris.meta = {...}} {
      ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Target: host, or a chip of lib/Chips">,
    Option<"maxWorkgroupBytes", "max-workgroup-bytes", "uint64_t",
           /*default=*/"65536",
           "workgroup memory that a kernel may declare, on GPUs">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // IRIS_CONVERSION_KERNELABI_TD
