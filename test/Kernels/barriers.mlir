// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many barriers tile-insert-barriers and the generators leave in each kernel,
// outside of loops, in one loop, in two, ...: a rule that is made stricter shows
// here. Loops over tiles, the innermost ones, have none. Layouts do not depend on
// the target.
//
// RUN: iris-opt %s --iris-expand-pipeline --iris-translate-pipeline="target=gfx942" -o %t.mlir
// RUN: iris-opt %t.mlir \
// RUN:   --pass-pipeline="builtin.module(gpu.module(iris-check-wait-status,tile-assign-layouts{warp-size=64},tile-insert-barriers))" \
// RUN:   | %python %S/Inputs/count_barriers.py | FileCheck %s
// RUN: iris-opt %t.mlir -o /dev/null \
// RUN:   --pass-pipeline="builtin.module(gpu.module(iris-check-wait-status,tile-assign-layouts{warp-size=64},tile-insert-barriers,test-verify-barriers))"

// CHECK-DAG: {{^}}all_gather_push: 0 1{{$}}
iris.collective @all_gather_push all_gather f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_gather_pull: 0 1{{$}}
iris.collective @all_gather_pull all_gather f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_gather_packet: 1 0 2{{$}}
iris.collective @all_gather_packet all_gather f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_gather_buffered: 1 0 3{{$}}
iris.collective @all_gather_buffered all_gather f16 size 4 {variant = "buffered", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_to_all_push: 0 1{{$}}
iris.collective @all_to_all_push all_to_all f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_to_all_pull: 0 1{{$}}
iris.collective @all_to_all_pull all_to_all f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_to_all_packet: 1 0 2{{$}}
iris.collective @all_to_all_packet all_to_all f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_to_all_buffered: 1 0 3{{$}}
iris.collective @all_to_all_buffered all_to_all f16 size 4 {variant = "buffered", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}broadcast_push: 0 1{{$}}
iris.collective @broadcast_push broadcast f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}broadcast_pull: 1 2 6{{$}}
iris.collective @broadcast_pull broadcast f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}broadcast_scatter: 1 2 6{{$}}
iris.collective @broadcast_scatter broadcast f16 size 4 {variant = "scatter", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}broadcast_packet: 1 6 2{{$}}
iris.collective @broadcast_packet broadcast f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}gather_pull: 0 1{{$}}
iris.collective @gather_pull gather f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}gather_push: 1 1 2{{$}}
iris.collective @gather_push gather f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}gather_packet: 1 6 2{{$}}
iris.collective @gather_packet gather f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}scatter_push: 0 1{{$}}
iris.collective @scatter_push scatter f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}scatter_pull: 1 1 2{{$}}
iris.collective @scatter_pull scatter f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}scatter_packet: 1 6 2{{$}}
iris.collective @scatter_packet scatter f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_two_shot_sum: 0 1{{$}}
iris.collective @all_reduce_two_shot_sum all_reduce sum f16 size 4 {variant = "two_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_two_shot_push_sum: 1 0 4{{$}}
iris.collective @all_reduce_two_shot_push_sum all_reduce sum f16 size 4 {variant = "two_shot_push", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_one_shot_sum: 0 1{{$}}
iris.collective @all_reduce_one_shot_sum all_reduce sum f16 size 4 {variant = "one_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_one_shot_packet_sum: 1 0 2{{$}}
iris.collective @all_reduce_one_shot_packet_sum all_reduce sum f16 size 4 {variant = "one_shot_packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_two_shot_packet_sum: 1 0 5{{$}}
iris.collective @all_reduce_two_shot_packet_sum all_reduce sum f16 size 4 {variant = "two_shot_packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_one_shot_buffered_sum: 1 0 3{{$}}
iris.collective @all_reduce_one_shot_buffered_sum all_reduce sum f16 size 4 {variant = "one_shot_buffered", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_ring_sum: 0{{$}}
iris.collective @all_reduce_ring_sum all_reduce sum f16 size 4 {variant = "ring", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_reduce_atomic_sum: 0 2{{$}}
iris.collective @all_reduce_atomic_sum all_reduce sum f16 size 4 {variant = "atomic", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_scatter_pull_sum: 0 1{{$}}
iris.collective @reduce_scatter_pull_sum reduce_scatter sum f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_scatter_packet_sum: 1 0 2{{$}}
iris.collective @reduce_scatter_packet_sum reduce_scatter sum f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_scatter_buffered_sum: 1 0 3{{$}}
iris.collective @reduce_scatter_buffered_sum reduce_scatter sum f16 size 4 {variant = "buffered", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_pull_sum: 0 1{{$}}
iris.collective @reduce_pull_sum reduce sum f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_two_shot_sum: 1 1 1 2{{$}}
iris.collective @reduce_two_shot_sum reduce sum f16 size 4 {variant = "two_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}reduce_packet_sum: 1 6 2{{$}}
iris.collective @reduce_packet_sum reduce sum f16 size 4 {variant = "packet", tile = 1024, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}all_gather_push_staged: 1 0 3{{$}}
iris.collective @all_gather_push_staged all_gather f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}all_to_all_push_staged: 1 0 3{{$}}
iris.collective @all_to_all_push_staged all_to_all f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}broadcast_push_staged: 1 0 6{{$}}
iris.collective @broadcast_push_staged broadcast f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}gather_pull_staged: 1 0 2{{$}}
iris.collective @gather_pull_staged gather f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}gather_push_staged: 1 0 2{{$}}
iris.collective @gather_push_staged gather f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}scatter_push_staged: 1 0 2{{$}}
iris.collective @scatter_push_staged scatter f16 size 4 {variant = "push", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}scatter_pull_staged: 1 0 2{{$}}
iris.collective @scatter_pull_staged scatter f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}all_reduce_two_shot_sum_staged: 1 0 7{{$}}
iris.collective @all_reduce_two_shot_sum_staged all_reduce sum f16 size 4 {variant = "two_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}all_reduce_one_shot_sum_staged: 1 0 3{{$}}
iris.collective @all_reduce_one_shot_sum_staged all_reduce sum f16 size 4 {variant = "one_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}reduce_scatter_pull_sum_staged: 1 0 3{{$}}
iris.collective @reduce_scatter_pull_sum_staged reduce_scatter sum f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}reduce_pull_sum_staged: 1 0 1 2{{$}}
iris.collective @reduce_pull_sum_staged reduce sum f16 size 4 {variant = "pull", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}reduce_two_shot_sum_staged: 1 0 1 2{{$}}
iris.collective @reduce_two_shot_sum_staged reduce sum f16 size 4 {variant = "two_shot", tile = 1024, warps = 2, programs = 2, workspace = 786432, staged = true}
// CHECK-DAG: {{^}}send_fifo: 1 0 1{{$}}
iris.collective @send_fifo send f16 size 4 {variant = "fifo", tile = 16, warps = 2, programs = 2, workspace = 786432}
// CHECK-DAG: {{^}}recv_fifo: 1 0 1{{$}}
iris.collective @recv_fifo recv f16 size 4 {variant = "fifo", tile = 16, warps = 2, programs = 2, workspace = 786432}

// CHECK: {{^}}in innermost loops: none{{$}}
