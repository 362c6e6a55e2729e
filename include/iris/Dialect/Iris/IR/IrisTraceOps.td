// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel tells about its time.

#ifndef IRIS_DIALECT_IRIS_IR_IRISTRACEOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISTRACEOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Stays where it was written.
def Iris_TraceOp : Iris_Op<"trace", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Marks where a span of the program's time begins or ends";
  let description = [{
    Spans have a name and may nest; an `end` closes the last span of its name
    that the program has begun. `bytes` says how much was moved in it. The time
    is the one at which the program's first thread passes.

    Traces are compiled only if they are asked for (`iris-compile --trace`,
    `iris-run --trace=FILE`); else nothing of this op is left. Waits and barriers
    are spans of their own then, called "wait" and "barrier". See
    `docs/tracing.md`.

    Example:

    ```mlir
    iris.trace begin %ctx, "fetch"
    iris.trace end %ctx, "fetch" bytes(%n)
    ```
  }];
  let arguments = (ins
    Iris_TracePhaseAttr:$phase, Iris_CtxType:$ctx, StrAttr:$span,
    Optional<Index>:$bytes);
  let assemblyFormat = [{
    custom<Keyword>($phase) $ctx `,` $span (`bytes` `(` $bytes^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // IRIS_DIALECT_IRIS_IR_IRISTRACEOPS_TD
