// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warps of 32 threads have half of the default tile where the tiles of all members are
// in registers at once; tiles that the config names are kept.
// RUN: iris-opt %s --iris-expand-collectives | FileCheck %s --check-prefix=WIDE
// RUN: iris-opt %s --iris-expand-collectives=wave-size=32 | FileCheck %s --check-prefix=NARROW
// RUN: iris-compile %s --target=gfx1201 --emit=mlir --until=expand -o - | FileCheck %s --check-prefix=NARROW
// RUN: iris-compile %s --target=gfx942 --emit=mlir --until=expand -o - | FileCheck %s --check-prefix=WIDE
// RUN: iris-compile %s --target=sm_90a --emit=mlir --until=expand -o - | FileCheck %s --check-prefix=WIDE

// WIDE: gpu.func @sum{{.*}}tile = 4096
// NARROW: gpu.func @sum{{.*}}tile = 2048
iris.collective @sum all_reduce sum f16 size 8 {variant = "two_shot", staged = true}
// WIDE: gpu.func @given{{.*}}tile = 1024
// NARROW: gpu.func @given{{.*}}tile = 1024
iris.collective @given all_reduce sum f16 size 8 {variant = "two_shot", tile = 1024}
// WIDE: gpu.func @packets{{.*}}tile = [[PACKETS:[0-9]+]]
// NARROW: gpu.func @packets{{.*}}tile = 1024
iris.collective @packets all_reduce sum f16 size 8 {variant = "one_shot_packet"}
// WIDE: gpu.func @moved{{.*}}tile = 8192
// NARROW: gpu.func @moved{{.*}}tile = 8192
iris.collective @moved all_gather i8 size 8 {variant = "push"}
