// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpForms.cpp - How ops are written ----------------------------------===//
//
// The parser says which token it expected, not what the whole op looks like.
// KernelLanguageTest parses every form.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/OpForms.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

#define I32S "memref<?xi32, #iris.symmetric>"
#define F16S "memref<?x?xf16, #iris.symmetric>"

static constexpr StringLiteral forms[] = {
    // Ranks and groups.
    "%rank = iris.rank %ctx : index",
    "%ranks = iris.num_ranks %ctx : index",
    "%size = iris.group_size %ctx : index",
    "%member = iris.group_index %ctx : index",
    "%peer = iris.group_member %ctx, %i : index",

    // Remote memory.
    "%peer = iris.translate %ctx, %buffer to %r : " I32S
    " -> memref<?xi32, #iris.peer>",
    "%v = iris.load %ctx, %buffer[%i] from %r : " I32S " -> tensor<64xi32>",
    "iris.store %ctx, %tile, %buffer[%i] to %r : tensor<64xi32>, " I32S,
    "%v = iris.gather %ctx, %buffer[%indices] from %r mask %mask : " I32S
    ", tensor<64xindex> -> tensor<64xi32>",
    "iris.scatter %ctx, %tile, %buffer[%indices] to %r mask %mask : "
    "tensor<64xi32>, " I32S ", tensor<64xindex>",
    "iris.get %ctx, %in[%i], %out[%j] from %r shape [64] : " I32S ", " I32S,
    "iris.put %ctx, %in[%i], %out[%j] to %r shape [64] : " I32S ", " I32S,
    "iris.copy %ctx, %in[%i], %out[%j] from %r to %s shape [64] : " I32S
    ", " I32S,

    // Synchronization.
    "%old = iris.atomic_rmw add %ctx, %value, %buffer[%i] to %r : i32, " I32S,
    "%old = iris.atomic_cas %ctx, %expected, %value, %buffer[%i] to %r : "
    "i32, " I32S,
    "iris.signal set %ctx, %value, %flags[%i] to %r : i32, " I32S,
    "%seen = iris.wait %ctx, %flags[%i] ge %value : i32, " I32S,
    "iris.barrier %ctx, %state : " I32S,
    "iris.fence release scope(sys)",
    "iris.packet_store %ctx, %tile, %buffer[%i] to %r flag(%value) : "
    "tensor<64xi32>, " I32S,
    "%v = iris.packet_load %ctx, %buffer[%i] flag(%value) owed_by(%r) : " I32S
    " -> tensor<64xi32>",

    // Checks and traces.
    "iris.expect_eq %got, %want, \"what is compared\" : tensor<64xi32>",
    "iris.check %ctx, %i below %n of \"iris.store\" \"index $value\"",
    "iris.trace begin %ctx, \"name of the span\"",

    // Host programs.
    "%heap = iris.alloc(%n) : " I32S,
    "iris.dealloc %buffer : " I32S,
    "iris.launch @module::@kernel programs(%n) args(%ctx, %buffer : "
    "!iris.ctx, " I32S ")",
    "iris.sync %ctx",
    "iris.all_gather %ctx, %in, %out : " I32S ", " I32S,
    "iris.all_reduce sum %ctx, %in, %out : " I32S ", " I32S,
    "iris.reduce_scatter sum %ctx, %in, %out : " I32S ", " I32S,
    "iris.all_to_all %ctx, %in, %out : " I32S ", " I32S,
    "iris.broadcast %ctx, %in, %out root(%r) : " I32S ", " I32S,
    "iris.reduce sum %ctx, %in, %out root(%r) : " I32S ", " I32S,
    "iris.gather_to %ctx, %in, %out root(%r) : " I32S ", " I32S,
    "iris.scatter_from %ctx, %in, %out root(%r) : " I32S ", " I32S,
    "iris.all_to_all_v %ctx, %in chunks(%counts, %offsets), %out "
    "chunks(%counts, %offsets) : " I32S ", " I32S
    ", memref<?xi64, #iris.symmetric>",
    "iris.all_gather_v %ctx, %in, %out chunks(%counts, %offsets) : " I32S
    ", " I32S ", memref<?xi64, #iris.symmetric>",
    "iris.matmul %ctx, %a, %b, %c : " F16S ", " F16S ", " F16S,
    "iris.all_gather_matmul %ctx, %a, %b, %c : " F16S ", " F16S ", " F16S,
    "iris.matmul_all_gather %ctx, %a, %b, %c : " F16S ", " F16S ", " F16S,
    "iris.matmul_reduce_scatter %ctx, %a, %b, %c : " F16S ", " F16S ", " F16S,
    "iris.matmul_all_reduce %ctx, %a, %b, %c : " F16S ", " F16S ", " F16S,

    // Tiles.
    "%v = tile.load %buffer[%i] : " I32S " -> tensor<64xi32>",
    "tile.store %tile, %buffer[%i] : tensor<64xi32>, " I32S,
    "%v = tile.gather %buffer[%indices] mask %mask : " I32S
    ", tensor<64xindex> -> tensor<64xi32>",
    "tile.scatter %tile, %buffer[%indices] mask %mask : tensor<64xi32>, " I32S
    ", tensor<64xindex>",
    "%v = tile.range : tensor<64xi32>",
    "%v = tile.expand_dims %tile dim 1 : tensor<64xi32> -> tensor<64x1xi32>",
    "%v = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x16xi32>",
    "%v = tile.transpose %column [1, 0] : tensor<64x1xi32> -> tensor<1x64xi32>",
    "%v = tile.convert_layout %tile : tensor<64xi32> -> tensor<64xi32, "
    "#layout>",
    "%v = tile.reduce sum %tile dim 0 : tensor<64xi32> -> i32",
    "%v = tile.matmul %a[%i, %j], %b[%j, %i] k(%n) block(32) : " F16S ", " F16S
    " -> tensor<64x64xf32>",
    "tile.yield %a[%i, %j] : " F16S,
};

/// The name of the op that a form shows.
static StringRef nameIn(StringRef form) {
  StringRef op = form.starts_with("%") ? form.split(" = ").second : form;
  return op.take_until([](char c) { return c == ' ' || c == '('; });
}

StringRef mlir::iris::getOpForm(StringRef name) {
  const StringLiteral *form = llvm::find_if(
      forms, [&](StringRef candidate) { return nameIn(candidate) == name; });
  return form == std::end(forms) ? StringRef() : StringRef(*form);
}

ArrayRef<StringLiteral> mlir::iris::getOpForms() { return forms; }
