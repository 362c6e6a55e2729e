// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packet kernels of 8 ranks spill no scalar registers. A wait for packets
// compares up to 16 flags; threads leave its loop one by one, so a comparison
// that its report used as well was alive as two lane masks throughout the loop.
// The kernels spilled 118, 146, 78, 143 and 109 registers then. They still have
// too many addresses of peers, which LLVM hoists out of the loop over rounds;
// vector registers hold those.
//
// RUN: iris-compile %s --target=gfx942 --emit=asm -o - | FileCheck %s
// RUN: iris-compile %s --target=gfx1201 --emit=asm -o - | FileCheck %s
//
// CHECK: .name: all_gather
// CHECK: .sgpr_spill_count: 0
// CHECK: .name: all_to_all
// CHECK: .sgpr_spill_count: 0
// CHECK: .name: one_shot
// CHECK: .sgpr_spill_count: 0
// CHECK: .name: two_shot
// CHECK: .sgpr_spill_count: 0
// CHECK: .name: reduce_scatter
// CHECK: .sgpr_spill_count: 0

iris.collective @all_gather all_gather i8 size 8 {variant = "packet"}
iris.collective @all_to_all all_to_all f16 size 8 {variant = "packet"}
iris.collective @one_shot all_reduce sum f16 size 8
    {variant = "one_shot_packet"}
iris.collective @two_shot all_reduce sum f16 size 8
    {variant = "two_shot_packet"}
iris.collective @reduce_scatter reduce_scatter sum f16 size 8
    {variant = "packet"}
