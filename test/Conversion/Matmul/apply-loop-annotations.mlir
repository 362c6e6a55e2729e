// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --iris-apply-loop-annotations | FileCheck %s

#unroll = #llvm.loop_unroll<disable = true>
#annotation = #llvm.loop_annotation<unroll = #unroll>

// CHECK: #[[A:.+]] = #llvm.loop_annotation<unroll = #{{.*}}>
// CHECK-LABEL: @loop
// CHECK: llvm.br ^bb1 {loop_annotation = #[[A]]}
llvm.func @loop(%more: i1) {
  llvm.br ^bb1
^bb1:
  llvm.cond_br %more, ^bb2, ^bb3
^bb2:
  llvm.br ^bb1 {llvm.loop_annotation = #annotation}
^bb3:
  llvm.return
}
