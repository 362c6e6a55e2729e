// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check of debug runs, where a pass inserts it, and of collectives with counts.

#ifndef IRIS_DIALECT_IRIS_IR_IRISCHECKOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISCHECKOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Iris_CheckOp : Iris_Op<"check", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends the program if an access is invalid";
  let description = [{
    In debug mode a check precedes every access: `below` requires 0 <= `value` <
    `bound`, `at_least` requires `value` >= `bound`. If the condition does not
    hold, the first such check of the rank is recorded, the abort word is set
    and the program ends without publishing anything. `of` is the name of the
    checked op; `what` is stored in the metadata, with `$value`, `$bound` and
    `$last` (`bound` - 1) as placeholders of the numbers.

    Example:

    ```mlir
    iris.check %ctx, %i below %size of "iris.signal" "accesses index $value"
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Index:$value, Index:$bound, UnitAttr:$atLeast,
    StrAttr:$of, StrAttr:$what);
  let assemblyFormat = [{
    $ctx `,` $value (`at_least` $atLeast^) : (`below`)? $bound `of` $of $what
    attr-dict
  }];
  let hasCanonicalizeMethod = 1;
}

#endif // IRIS_DIALECT_IRIS_IR_IRISCHECKOPS_TD
