// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#l = #tile.blocked<size_per_thread = [1], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

func.func @read_after_write(%b: memref<?xf32>, %i: index, %j: index,
                            %v: tensor<256xf32, #l>) {
  tile.store %v, %b[%i] : tensor<256xf32, #l>, memref<?xf32>
  %w = tile.load %b[%j] : memref<?xf32> -> tensor<256xf32, #l>
  tile.store %w, %b[%j] : tensor<256xf32, #l>, memref<?xf32>
  return
}
