// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --target=gfx942 --translation=stride --emit=asm -o - | FileCheck %s --check-prefix=STRIDE
// RUN: iris-compile %s --target=gfx942 --translation=table --emit=asm -o - | FileCheck %s --check-prefix=TABLE

// One loop over all ranks. With a stride it contains no load; with the table
// its only load is the peer's base. The signals of the loop share one release,
// which precedes it.
gpu.module @kernels {
  // STRIDE-LABEL: {{^}}signal_all:
  // STRIDE: buffer_wbl2 sc0 sc1
  // STRIDE: This Inner Loop Header
  // STRIDE-NOT: load_dword
  // STRIDE-NOT: buffer_wbl2
  // STRIDE: global_store_dword {{.*}} sc0 sc1
  // STRIDE-NOT: load_dword
  // STRIDE: s_endpgm
  // TABLE-LABEL: {{^}}signal_all:
  // TABLE: buffer_wbl2 sc0 sc1
  // TABLE: load_dwordx2
  // TABLE-NOT: buffer_wbl2
  // TABLE: global_store_dword {{.*}} sc0 sc1
  // TABLE: s_endpgm
  gpu.func @signal_all(%ctx: !iris.ctx, %f: memref<?xi32, #iris.symmetric>,
                       %v: i32, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = iris.num_ranks %ctx : index
    scf.for %r = %c0 to %n step %c1 {
      iris.signal set %ctx, %v, %f[%i] to %r
          : i32, memref<?xi32, #iris.symmetric>
    }
    gpu.return
  }
}
