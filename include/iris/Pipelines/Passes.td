// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_PIPELINES_PASSES_TD
#define IRIS_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def IrisVerifyStagePass : Pass<"iris-verify-stage"> {
  let summary = "Check the post-conditions of a stage of the pipeline";
  let description = [{
    Each stage of the pipeline promises what is gone after it and what holds:
    its post-conditions, which `iris-compile --list-stages` prints. With
    `verify-stages`, the pipelines run this pass after every stage, on each
    `gpu.module` (after `expand`, and on the host program, on the whole module).
    The op that violates a post-condition is reported together with the pass
    that should have changed it. It is never an error of the source.

    Besides the values of `until` there are two stages: `barriers`, in the
    middle of `tiles` on GPUs, where tiles have layouts and every two accesses
    that conflict must have a barrier between them (the analysis of
    `tile-insert-barriers` runs again); and `main`, the host program.

    Example, an error after stage `translate`:

    ```mlir
    %v = iris.load %ctx, %b[%i] from %r
        : memref<?xf32, #iris.symmetric> -> tensor<256xf32>
    ```
  }];
  let options = [
    Option<"stage", "stage", "std::string", /*default=*/"\"\"",
           "Stage after which the pass runs: a value of until, 'barriers' or "
           "'main'">,
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Target: host, or a chip of lib/Chips">
  ];
}

#endif // IRIS_PIPELINES_PASSES_TD
