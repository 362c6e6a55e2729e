// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupBuilder.cpp - Programs of a group of ranks --------------------===//

#include "iris/Kernels/GroupBuilder.h"

#include "iris/Analysis/ArgumentOverlaps.h"
#include "iris/Dialect/Iris/IR/GroupBounds.h"
#include "iris/Plan/TileSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::iris;

GroupBuilder::GroupBuilder(gpu::GPUModuleOp module, TypeRange arguments,
                           const Launch &launch)
    : ScalarBuilder(module.getLoc()), knownSize(launch.size) {
  MLIRContext *context = module.getContext();
  SmallVector<Type> types = {CtxType::get(context)};
  llvm::append_range(types, arguments);
  b.setInsertionPointToStart(module.getBody());
  // Kernels of one image need distinct names.
  kernel =
      gpu::GPUFuncOp::create(b, module.getName(), b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel->setAttr(kNumWarpsAttr, b.getI32IntegerAttr(launch.warps));
  // Collectives may run in place: an input may overlap the output.
  kernel->setAttr(kMayOverlapAttr, b.getUnitAttr());
  b.setInsertionPointToStart(&kernel.getBody().front());
  ctx = kernel.getArgument(0);
  programs = gpu::GridDimOp::create(b, gpu::Dimension::x);
  program = gpu::BlockIdOp::create(b, gpu::Dimension::x);
  program =
      plan::remapXcd<ScalarBuilder>(*this, program, programs, launch.xcds);
  Type index = b.getIndexType();
  size = knownSize ? this->index(knownSize)
                   : GroupSizeOp::create(b, index, ctx).getResult();
  auto groupIndex = GroupIndexOp::create(b, index, ctx);
  if (knownSize)
    groupIndex->setAttr(kUpperBoundAttr, b.getIndexAttr(knownSize));
  me = groupIndex;
}

void GroupBuilder::setDescription(DictionaryAttr description) {
  kernel->setAttr(kConfigAttr, description);
}

void GroupBuilder::finish() { gpu::ReturnOp::create(b); }

void GroupBuilder::forMembers(int64_t first, Body body) {
  if (!unrollsMembers())
    return loop(index(first), size, index(1), body);
  for (int64_t member = first; member < knownSize; ++member)
    body(index(member));
}

Value GroupBuilder::rotate(Value start, Value k) {
  return rem(add(start, k), size);
}

Value GroupBuilder::rankOf(Value member) {
  return GroupMemberOp::create(b, b.getIndexType(), ctx, member);
}

Value GroupBuilder::view(Value offset, ValueRange sizes, Type type) {
  SmallVector<int64_t> shape(sizes.size(), ShapedType::kDynamic);
  auto buffer = cast<MemRefType>(workspace.getType());
  return memref::ViewOp::create(
      b, MemRefType::get(shape, type, AffineMap(), buffer.getMemorySpace()),
      workspace, offset, sizes);
}

Value GroupBuilder::words(int64_t offset, int64_t bytes) {
  return view(index(offset), index(bytes / 4), b.getI32Type());
}

void GroupBuilder::barrier() {
  BarrierOp::create(b, ctx, barrierState, /*group=*/true);
}

void GroupBuilder::span(StringRef name, Value bytes,
                        llvm::function_ref<void()> body) {
  TraceOp::create(b, TracePhase::Begin, ctx, name, /*bytes=*/Value());
  body();
  TraceOp::create(b, TracePhase::End, ctx, name, bytes);
}

void GroupBuilder::storeEpoch(Value epochs, int64_t maxPrograms, Value last) {
  // A program reads the word of its own index. It writes that word and every
  // `programs`-th word after it: program, program + programs, ... So all words
  // are equal for the next launch, whatever its number of programs. No other
  // program accesses these words, so no ordering is needed.
  auto type = RankedTensorType::get({maxPrograms}, b.getIndexType());
  auto splat = [&](Value number) -> Value {
    return tensor::SplatOp::create(b, type, number);
  };
  Value multiple = tile::RangeOp::create(b, type, /*dim=*/0);
  Value word = arith::AddIOp::create(
      b, splat(program), arith::MulIOp::create(b, multiple, splat(programs)));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, word,
                                       splat(index(maxPrograms)));
  Value words = tensor::SplatOp::create(b, type.clone(b.getI32Type()), last);
  tile::ScatterOp::create(b, words, epochs, ValueRange{word}, exists);
}
