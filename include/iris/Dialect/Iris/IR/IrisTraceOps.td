// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracing of a kernel's execution.

#ifndef IRIS_DIALECT_IRIS_IR_IRISTRACEOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISTRACEOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// The effects keep the op in its position.
def Iris_TraceOp : Iris_Op<"trace", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Marks the start or the end of a trace span";
  let description = [{
    Spans have a name and may nest; an `end` closes the program's last open span
    of that name. `bytes` is the number of bytes moved in the span. The time is
    that of the program's first thread.

    Traces are compiled only on request (`iris-compile --trace`, `iris-run
    --trace=FILE`); otherwise the op is removed without a trace. Waits and
    barriers are then also spans, called "wait" and "barrier". See
    `docs/guides/tracing.md`.

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
