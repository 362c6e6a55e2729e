// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iris dialect.
//
// Include map: IrisBase <- IrisEnums <- IrisTypes <- IrisInterfaces <- IrisOps;
// the tile dialect's TileEnums comes before all of them.

#ifndef IRIS_DIALECT_IRIS_IR_IRISBASE_TD
#define IRIS_DIALECT_IRIS_IR_IRISBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"

def Iris_Dialect : Dialect {
  let name = "iris";
  let cppNamespace = "::mlir::iris";
  let summary = "Kernels that access the memory of other ranks";
  let description = [{
    A *symmetric heap* exists on every rank (one rank = one device = one
    process): a buffer allocated in it, of type `memref<..., #iris.symmetric>`,
    has the same offset in every rank's heap. Ops of this dialect read and write
    any rank's copy of such a buffer, execute atomics on it, and signal and wait
    for flags.

    The unit of ordering is the *program* (workgroup): a release orders every
    earlier access of every thread of the program before it, an acquire every
    later one after it.

    Plain accesses have ordinary read and write effects. Ordered accesses
    (atomics, `signal`, `wait`, `barrier`, volatile accesses) report both a read
    and a write of all memory: nothing is merged with them, moved across them,
    or forwarded over them.
  }];
  let dependentDialects = ["::mlir::tile::TileDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Iris_Op<string mnemonic, list<Trait> traits = []>
    : Op<Iris_Dialect, mnemonic, traits>;

#endif // IRIS_DIALECT_IRIS_IR_IRISBASE_TD
