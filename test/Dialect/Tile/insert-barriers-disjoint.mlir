// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses that are proven to touch different elements need no barrier. Next to
// each of them stands a function in which one number is different, where they do
// touch common ones.
//
// RUN: iris-opt %s --split-input-file --tile-insert-barriers | FileCheck %s
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// One of two halves is stored, the other one loaded.
// CHECK-LABEL: @other_half
// CHECK-NOT: gpu.barrier
func.func @other_half(%b: memref<2000xf32>, %n: i32, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c1 = arith.constant 1 : index
  %c1_i32 = arith.constant 1 : i32
  %c1000 = arith.constant 1000 : index
  %bit = arith.andi %n, %c1_i32 : i32
  %p = arith.index_castui %bit : i32 to index
  %q = arith.subi %c1, %p : index
  %i = arith.muli %p, %c1000 : index
  %j = arith.muli %q, %c1000 : index
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<2000xf32>
  %w = tile.load %b[%j] : memref<2000xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// Halves that are closer than a window is long.
// CHECK-LABEL: @halves_overlap
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @halves_overlap(%b: memref<2000xf32>, %n: i32,
                          %v: tensor<256xf32, #l>) -> tensor<256xf32, #l> {
  %c1 = arith.constant 1 : index
  %c1_i32 = arith.constant 1 : i32
  %c255 = arith.constant 255 : index
  %bit = arith.andi %n, %c1_i32 : i32
  %p = arith.index_castui %bit : i32 to index
  %q = arith.subi %c1, %p : index
  %i = arith.muli %p, %c255 : index
  %j = arith.muli %q, %c255 : index
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<2000xf32>
  %w = tile.load %b[%j] : memref<2000xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// Two numbers that have nothing to do with each other may be equal; the offset
// of one is a little larger.
// CHECK-LABEL: @some_half
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @some_half(%b: memref<2001xf32>, %n: i32, %m: i32,
                     %v: tensor<256xf32, #l>) -> tensor<256xf32, #l> {
  %c1 = arith.constant 1 : index
  %c1_i32 = arith.constant 1 : i32
  %c1000 = arith.constant 1000 : index
  %bit = arith.andi %n, %c1_i32 : i32
  %other = arith.andi %m, %c1_i32 : i32
  %p = arith.index_castui %bit : i32 to index
  %q = arith.index_castui %other : i32 to index
  %i = arith.muli %p, %c1000 : index
  %start = arith.muli %q, %c1000 : index
  %j = arith.addi %start, %c1 : index
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<2001xf32>
  %w = tile.load %b[%j] : memref<2001xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Chunks of this rank and of the next one. What is accessed of either ends
// with the chunk.
// CHECK-LABEL: @other_chunk
// CHECK-NOT: gpu.barrier
func.func @other_chunk(%ctx: !iris.ctx, %b: memref<?xf32>, %count: index,
                       %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1024 = arith.constant 1024 : index
  %me = iris.group_index %ctx {iris.upper_bound = 3 : index} : index
  %sum = arith.addi %me, %c1 : index
  %next = arith.remui %sum, %c3 : index
  scf.for %start = %c0 to %count step %c1024 {
    %rest = arith.subi %count, %start : index
    %length = arith.minui %rest, %c1024 : index
    %mine = arith.muli %me, %count : index
    %own = arith.addi %mine, %start : index
    %others = arith.muli %next, %count : index
    %other = arith.addi %others, %start : index
    %x = memref.subview %b[%own] [%length] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %y = memref.subview %b[%other] [%length] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    scf.for %i = %c0 to %length step %c3 {
      tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
      tile.store %v, %y[%c0] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
    }
  }
  return
}

// What is accessed may begin in one chunk and end in the next one.
// CHECK-LABEL: @beyond_chunk
// CHECK: tile.store
// CHECK: gpu.barrier
// CHECK: tile.store
func.func @beyond_chunk(%ctx: !iris.ctx, %b: memref<?xf32>, %count: index,
                        %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1024 = arith.constant 1024 : index
  %me = iris.group_index %ctx {iris.upper_bound = 3 : index} : index
  %sum = arith.addi %me, %c1 : index
  %next = arith.remui %sum, %c3 : index
  scf.for %start = %c0 to %count step %c1024 {
    %mine = arith.muli %me, %count : index
    %own = arith.addi %mine, %start : index
    %others = arith.muli %next, %count : index
    %other = arith.addi %others, %start : index
    %x = memref.subview %b[%own] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
    %y = memref.subview %b[%other] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
    tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
    tile.store %v, %y[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
  }
  return
}

// With a condition around them they end with the chunk again.
// CHECK-LABEL: @whole_part
// CHECK-NOT: gpu.barrier
func.func @whole_part(%ctx: !iris.ctx, %b: memref<?xf32>, %count: index,
                      %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1024 = arith.constant 1024 : index
  %me = iris.group_index %ctx {iris.upper_bound = 3 : index} : index
  %sum = arith.addi %me, %c1 : index
  %next = arith.remui %sum, %c3 : index
  scf.for %start = %c0 to %count step %c1024 {
    %end = arith.addi %start, %c1024 : index
    %fits = arith.cmpi uge, %count, %end : index
    scf.if %fits {
      %mine = arith.muli %me, %count : index
      %own = arith.addi %mine, %start : index
      %others = arith.muli %next, %count : index
      %other = arith.addi %others, %start : index
      %x = memref.subview %b[%own] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
      %y = memref.subview %b[%other] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
      tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
      tile.store %v, %y[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
    }
  }
  return
}

// The other branch.
// CHECK-LABEL: @not_whole
// CHECK: tile.store
// CHECK: gpu.barrier
// CHECK: tile.store
func.func @not_whole(%ctx: !iris.ctx, %b: memref<?xf32>, %count: index,
                     %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c1024 = arith.constant 1024 : index
  %me = iris.group_index %ctx {iris.upper_bound = 3 : index} : index
  %sum = arith.addi %me, %c1 : index
  %next = arith.remui %sum, %c3 : index
  scf.for %start = %c0 to %count step %c1024 {
    %end = arith.addi %start, %c1024 : index
    %fits = arith.cmpi uge, %count, %end : index
    scf.if %fits {
    } else {
      %mine = arith.muli %me, %count : index
      %own = arith.addi %mine, %start : index
      %others = arith.muli %next, %count : index
      %other = arith.addi %others, %start : index
      %x = memref.subview %b[%own] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
      %y = memref.subview %b[%other] [1024] [1] : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
      tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
      tile.store %v, %y[%c0] : tensor<256xf32, #l>, memref<1024xf32, strided<[1], offset: ?>>
    }
  }
  return
}

// Without a loop nothing says that `count` is no negative number, which is a
// large unsigned one.
// CHECK-LABEL: @may_be_negative
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.store
func.func @may_be_negative(%b: memref<?xf32>, %count: index,
                           %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c300 = arith.constant 300 : index
  %c100 = arith.constant 100 : index
  %fits = arith.cmpi uge, %count, %c300 : index
  scf.if %fits {
    %i = arith.addi %count, %c100 : index
    tile.store %v, %b[%c0] : tensor<256xf32, #l>, memref<?xf32>
    tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  }
  return
}

// CHECK-LABEL: @is_positive
// CHECK-NOT: gpu.barrier
func.func @is_positive(%b: memref<?xf32>, %count: index,
                       %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c300 = arith.constant 300 : index
  %c100 = arith.constant 100 : index
  %fits = arith.cmpi sge, %count, %c300 : index
  scf.if %fits {
    %i = arith.addi %count, %c100 : index
    tile.store %v, %b[%c0] : tensor<256xf32, #l>, memref<?xf32>
    tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Another member's copy of the buffer.
// CHECK-LABEL: @other_member
// CHECK-NOT: gpu.barrier
func.func @other_member(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
                        %i: index, %j: index, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %me = iris.group_index %ctx {iris.upper_bound = 3 : index} : index
  %sum = arith.addi %me, %c2 : index
  %next = arith.remui %sum, %c3 : index
  %rank = iris.group_member %ctx, %next : index
  %p = iris.translate %ctx, %b to %rank : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  tile.store %v, %p[%i] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
  %w = tile.load %b[%j] : memref<?xf32, #iris.symmetric> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// A rank that may be this one.
// CHECK-LABEL: @some_member
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @some_member(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
                       %i: index, %j: index, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %me = iris.group_index %ctx {iris.upper_bound = 4 : index} : index
  %sum = arith.addi %me, %c2 : index
  %next = arith.remui %me, %c2 : index
  %rank = iris.group_member %ctx, %next : index
  %p = iris.translate %ctx, %b to %rank : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  tile.store %v, %p[%i] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
  %w = tile.load %b[%j] : memref<?xf32, #iris.symmetric> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// A rank of the world and a member of a group are not compared.
// CHECK-LABEL: @rank_or_member
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @rank_or_member(%ctx: !iris.ctx, %b: memref<?xf32, #iris.symmetric>,
                          %i: index, %j: index, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rank = iris.group_member %ctx, %c0 : index
  %p = iris.translate %ctx, %b to %rank : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  %q = iris.translate %ctx, %b to %c1 : memref<?xf32, #iris.symmetric> -> memref<?xf32, #iris.peer>
  tile.store %v, %p[%i] : tensor<256xf32, #l>, memref<?xf32, #iris.peer>
  %w = tile.load %q[%j] : memref<?xf32, #iris.peer> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Windows of different views are on one grid of their buffer: each element is
// one thread's, in every iteration.
// CHECK-LABEL: @grid_of_views
// CHECK-NOT: gpu.barrier
func.func @grid_of_views(%b: memref<?xf32>, %count: index, %i: index,
                         %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  scf.for %start = %c0 to %count step %c256 {
    %j = arith.addi %i, %start : index
    %x = memref.subview %b[%j] [%c256] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %w = tile.load %x[%c0] : memref<?xf32, strided<[1], offset: ?>> -> tensor<256xf32, #l>
    %y = memref.subview %b[%i] [%count] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    tile.store %w, %y[%start] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// The store of an iteration before may be to what is loaded.
// CHECK-LABEL: @no_grid
// CHECK: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK: tile.store
func.func @no_grid(%b: memref<?xf32>, %count: index, %i: index,
                   %v: tensor<256xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c255 = arith.constant 255 : index
  %c256 = arith.constant 256 : index
  scf.for %start = %c0 to %count step %c255 {
    %j = arith.addi %i, %start : index
    %x = memref.subview %b[%j] [%c256] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %w = tile.load %x[%c0] : memref<?xf32, strided<[1], offset: ?>> -> tensor<256xf32, #l>
    %y = memref.subview %b[%i] [%count] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    tile.store %w, %y[%start] : tensor<256xf32, #l>, memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>
#m = #tile.blocked<size_per_thread = [2], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Every iteration has elements of its own, whoever accesses them. What it loads
// after the barrier no later one stores to.
// CHECK-LABEL: @later_elements
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NOT: gpu.barrier
func.func @later_elements(%b: memref<?xf32>, %count: index,
                          %v: tensor<512xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  scf.for %start = %c0 to %count step %c512 {
    tile.store %v, %b[%start] : tensor<512xf32, #l>, memref<?xf32>
    gpu.barrier
    %w = tile.load %b[%start] : memref<?xf32> -> tensor<512xf32, #m>
  }
  return
}

// Here the next one does.
// CHECK-LABEL: @next_elements
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @next_elements(%b: memref<?xf32>, %count: index,
                         %v: tensor<512xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c511 = arith.constant 511 : index
  scf.for %start = %c0 to %count step %c511 {
    tile.store %v, %b[%start] : tensor<512xf32, #l>, memref<?xf32>
    gpu.barrier
    %w = tile.load %b[%start] : memref<?xf32> -> tensor<512xf32, #m>
  }
  return
}

// The counter starts again in each iteration of the outer loop.
// CHECK-LABEL: @starts_again
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK-NEXT: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @starts_again(%b: memref<?xf32>, %count: index,
                        %v: tensor<512xf32, #l>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  scf.for %iteration = %c0 to %count step %c1 {
    scf.for %start = %c0 to %count step %c512 {
      tile.store %v, %b[%start] : tensor<512xf32, #l>, memref<?xf32>
      gpu.barrier
      %w = tile.load %b[%start] : memref<?xf32> -> tensor<512xf32, #m>
    }
  }
  return
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Bytes of a buffer by views of different types.
// CHECK-LABEL: @other_bytes
// CHECK-NOT: gpu.barrier
func.func @other_bytes(%b: memref<?xi8>, %v: tensor<256xf32, #l>)
    -> tensor<256xf16, #l> {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %x = memref.view %b[%c0][] : memref<?xi8> to memref<256xf32>
  %y = memref.view %b[%c1024][] : memref<?xi8> to memref<256xf16>
  tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<256xf32>
  %w = tile.load %y[%c0] : memref<256xf16> -> tensor<256xf16, #l>
  return %w : tensor<256xf16, #l>
}

// CHECK-LABEL: @common_byte
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @common_byte(%b: memref<?xi8>, %v: tensor<256xf32, #l>)
    -> tensor<256xf16, #l> {
  %c0 = arith.constant 0 : index
  %c1022 = arith.constant 1022 : index
  %x = memref.view %b[%c0][] : memref<?xi8> to memref<256xf32>
  %y = memref.view %b[%c1022][] : memref<?xi8> to memref<256xf16>
  tile.store %v, %x[%c0] : tensor<256xf32, #l>, memref<256xf32>
  %w = tile.load %y[%c0] : memref<256xf16> -> tensor<256xf16, #l>
  return %w : tensor<256xf16, #l>
}

// -----

#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

// Products of i32 wrap around: 4 * 2^30 is 0.
// CHECK-LABEL: @wraps
// CHECK: tile.store
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: tile.load
func.func @wraps(%b: memref<?xf32>, %n: i32, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %large = arith.constant 1073741824 : i32
  %bits = arith.andi %n, %c3 : i32
  %factor = arith.addi %bits, %c4 : i32
  %product = arith.muli %factor, %large : i32
  %sum = arith.addi %product, %c4 : i32
  %i = arith.index_castui %sum : i32 to index
  tile.store %v, %b[%c0] : tensor<256xf32, #l>, memref<?xf32>
  %w = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// CHECK-LABEL: @does_not_wrap
// CHECK-NOT: gpu.barrier
func.func @does_not_wrap(%b: memref<?xf32>, %n: i32, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %small = arith.constant 65536 : i32
  %bits = arith.andi %n, %c3 : i32
  %factor = arith.addi %bits, %c4 : i32
  %product = arith.muli %factor, %small : i32
  %sum = arith.addi %product, %c4 : i32
  %i = arith.index_castui %sum : i32 to index
  tile.store %v, %b[%c0] : tensor<256xf32, #l>, memref<?xf32>
  %w = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}

// A grid stays one where sums wrap: 256 divides 2^32.
// CHECK-LABEL: @grid_wraps
// CHECK-NOT: gpu.barrier
func.func @grid_wraps(%b: memref<?xf32>, %n: i32, %v: tensor<256xf32, #l>)
    -> tensor<256xf32, #l> {
  %c256 = arith.constant 256 : i32
  %next = arith.addi %n, %c256 : i32
  %i = arith.index_castui %n : i32 to index
  %j = arith.index_castui %next : i32 to index
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  return %w : tensor<256xf32, #l>
}
