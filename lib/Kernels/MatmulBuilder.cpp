// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulBuilder.cpp - Builds a kernel with matmuls -------------------===//

#include "iris/Kernels/MatmulBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::iris;

using Bias = MatmulConfig::Bias;
using Activation = MatmulConfig::Activation;

MatmulBuilder::MatmulBuilder(gpu::GPUModuleOp module,
                             const MatmulConfig &config)
    : GroupBuilder(module, config.argumentTypes(),
                   {config.size, config.warps, config.xcds}),
      config(config) {
  unsigned number = 1;
  auto next = [&] { return kernel.getArgument(number++); };
  a = next();
  b_ = next();
  c = next();
  if (config.bias != Bias::None)
    bias = next();
  if (config.scale)
    scale = next();
  if (config.hasStaging())
    staging = next();
  if (!config.hasWorkspace())
    return;
  workspace = next();
  barrierState = words(FusedWorkspace::barrier, FusedWorkspace::barrierBytes);
}

//===----------------------------------------------------------------------===//
// Shapes and tiles
//===----------------------------------------------------------------------===//

Value MatmulBuilder::rowsOf(Value matrix) {
  return memref::DimOp::create(b, matrix, 0);
}

Value MatmulBuilder::columnsOf(Value matrix) {
  return memref::DimOp::create(b, matrix, 1);
}

TileOrder<ScalarBuilder> MatmulBuilder::order(Value rows, Value columns) {
  return {*this, rows, columns, config.groupM};
}

void MatmulBuilder::forTiles(Value rows, Value columns,
                             llvm::function_ref<void(Value, Value)> body) {
  order(rows, columns).forTiles(program, programs, body);
}

plan::FusedSizes<Value>
MatmulBuilder::fusedSizes(const plan::MatmulShape<Value> &shape) {
  return plan::getFusedSizes<ScalarBuilder>(*this, config, shape);
}

plan::CopyLayout<ScalarBuilder> MatmulBuilder::copyLayout(Value aRows,
                                                          Value columns) {
  return {*this, config, aRows, columns, size};
}

static Value window(ImplicitLocOpBuilder &b, Value matrix,
                    ArrayRef<OpFoldResult> first,
                    ArrayRef<OpFoldResult> count) {
  SmallVector<OpFoldResult> steps(2, b.getIndexAttr(1));
  return memref::SubViewOp::create(b, matrix, first, count, steps);
}

Value MatmulBuilder::rows(Value matrix, Value first, Value count) {
  return window(b, matrix, {first, b.getIndexAttr(0)},
                {count, columnsOf(matrix)});
}

Value MatmulBuilder::columns(Value matrix, Value first, Value count) {
  return window(b, matrix, {b.getIndexAttr(0), first}, {rowsOf(matrix), count});
}

MatrixOffset MatmulBuilder::tileAt(Value matrix, Value row, Value column) {
  if (config.isNarrow()) {
    Value end = min(add(column, tileColumns()), columnsOf(matrix));
    matrix = columns(matrix, index(0), end);
  }
  return {matrix, row, column};
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// The number of columns of a tile type is a power of two; the config may use
/// fewer.
static RankedTensorType tileType(const MatmulConfig &config, Type element) {
  return RankedTensorType::get({config.tileM, config.getTileWidth()}, element);
}

tile::MatmulOp MatmulBuilder::createMatmul(MatrixOffset left,
                                           MatrixOffset right, Value length,
                                           Value init) {
  // Buffers hold f8 elements as i8, so the element type is passed separately.
  TypeAttr element = config.element == config.storage
                         ? TypeAttr()
                         : TypeAttr::get(config.element);
  tile::MatmulOp op;
  span("gemm", /*bytes=*/Value(), [&] {
    op = tile::MatmulOp::create(
        b, sumType(), left.matrix, ValueRange{left.row, left.column},
        right.matrix, ValueRange{right.row, right.column}, length, init,
        b.getI64IntegerAttr(config.tileK),
        config.isNarrow() ? b.getI64IntegerAttr(config.tileN) : IntegerAttr(),
        element, element);
  });
  return op;
}

Value MatmulBuilder::multiply(MatrixOffset left, MatrixOffset right,
                              Value length, Value init,
                              llvm::function_ref<void(Value)> before) {
  tile::MatmulOp op = createMatmul(left, right, length, init);
  if (!before)
    return op;
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getBody(), {}, b.getIndexType(), {b.getLoc()});
  before(op.getBody().getArgument(0));
  // Yields no locations: the matmul reads its own operands.
  tile::YieldOp::create(b, /*a=*/Value(), /*aOffsets=*/ValueRange(),
                        /*b=*/Value(), /*bOffsets=*/ValueRange());
  return op;
}

Value MatmulBuilder::multiplyAt(
    MatrixOffset left, MatrixOffset right, Value length, Value init,
    llvm::function_ref<OperandOffsets(Value)> operandOffsetsOf) {
  tile::MatmulOp op = createMatmul(left, right, length, init);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&op.getBody(), {}, b.getIndexType(), {b.getLoc()});
  auto [x, y] = operandOffsetsOf(op.getBody().getArgument(0));
  tile::YieldOp::create(b, x.matrix, ValueRange{x.row, x.column}, y.matrix,
                        ValueRange{y.row, y.column});
  return op;
}

/// Broadcasts a row or column vector to a tile.
static Value broadcast(ImplicitLocOpBuilder &b, Value line, int64_t newDim,
                       RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape[newDim] = 1;
  line = tile::ExpandDimsOp::create(b, type.clone(shape), line, newDim);
  return tile::BroadcastOp::create(b, type, line);
}

/// Converts a tile's elements.
static Value convert(ImplicitLocOpBuilder &b, Value tile, Type element) {
  auto type = cast<RankedTensorType>(tile.getType());
  Type from = type.getElementType();
  if (from == element)
    return tile;
  type = type.clone(element);
  if (from.isInteger())
    return arith::SIToFPOp::create(b, type, tile);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, type, tile);
  return arith::TruncFOp::create(b, type, tile);
}

static Value splat(ImplicitLocOpBuilder &b, RankedTensorType type,
                   double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getF32FloatAttr(value).getValue()));
}

/// max(x, 0), or x * (1 + erf(x / sqrt(2))) / 2; both keep NaN.
static Value activate(ImplicitLocOpBuilder &b, Value x, Activation activation) {
  auto type = cast<RankedTensorType>(x.getType());
  if (type.getElementType().isInteger()) {
    // The only activation of integers is ReLU.
    Value zero =
        arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
    return arith::MaxSIOp::create(b, x, zero);
  }
  if (activation == Activation::Relu)
    return arith::MaximumFOp::create(b, x, splat(b, type, 0));
  Value half = arith::MulFOp::create(b, x, splat(b, type, 0.5));
  Value scaled =
      arith::MulFOp::create(b, x, splat(b, type, 0.70710678118654752));
  Value factor = arith::AddFOp::create(b, math::ErfOp::create(b, scaled),
                                       splat(b, type, 1));
  return arith::MulFOp::create(b, half, factor);
}

Value MatmulBuilder::applyScale(Value tile) {
  if (!scale)
    return tile;
  return arith::MulFOp::create(
      b, tile, tensor::SplatOp::create(b, scale, tile.getType()));
}

Value MatmulBuilder::addBias(Value tile, Value row, Value column) {
  if (!bias)
    return tile;
  auto type = cast<RankedTensorType>(tile.getType());
  bool isColumn = config.bias == Bias::Column;
  auto line =
      RankedTensorType::get({type.getDimSize(isColumn ? 1 : 0)}, config.result);
  Value values = tile::LoadOp::create(b, line, bias, isColumn ? column : row,
                                      /*other=*/Value());
  values = convert(b, values, type.getElementType());
  values = broadcast(b, values, isColumn ? 0 : 1, type);
  if (type.getElementType().isInteger())
    return arith::AddIOp::create(b, tile, values);
  return arith::AddFOp::create(b, tile, values);
}

Value MatmulBuilder::finishTile(Value sum, Value row, Value column) {
  // All steps compute in f32, or in i32 for an integer result.
  Value x = config.result.isInteger() ? sum : convert(b, sum, b.getF32Type());
  x = addBias(applyScale(x), row, column);
  if (config.activation != Activation::None)
    x = activate(b, x, config.activation);
  return convert(b, x, config.result);
}

Value MatmulBuilder::ownMatmul(Value row, Value column) {
  Value zero = index(0);
  return multiply({a, row, zero}, {b_, zero, column}, columnsOf(a));
}

Value MatmulBuilder::accumulate(int64_t first, Value initial,
                                llvm::function_ref<Value(Value, Value)> next) {
  auto loop =
      scf::ForOp::create(b, index(first), size, index(1), initial,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = next(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, tile);
  return loop.getResult(0);
}

RankedTensorType MatmulBuilder::sumType() const {
  return tileType(config, config.sum);
}

Value MatmulBuilder::convertTo(Value tile, Type element) {
  return convert(b, tile, element);
}

Value MatmulBuilder::addPartialSum(Value sum, Value partialSum) {
  partialSum = convertTo(partialSum, config.sum);
  if (config.sum.isInteger())
    return arith::AddIOp::create(b, sum, partialSum);
  return arith::AddFOp::create(b, sum, partialSum);
}

RankedTensorType MatmulBuilder::stripType(Type element) const {
  constexpr int64_t threadElements = 32, waveSize = 32;
  int64_t most = threadElements * config.warps * waveSize / config.tileM;
  return RankedTensorType::get(
      {config.tileM, std::clamp<int64_t>(most, 1, config.getStripUnit())},
      element);
}

void MatmulBuilder::forStrips(Value column, Body body) {
  Value end = add(column, tileColumns());
  loop(column, end, index(stripType(config.sum).getDimSize(1)), body);
}

Value MatmulBuilder::sumStrips(int64_t count,
                               llvm::function_ref<Value(Value)> load) {
  // As many strips as a thread has registers for.
  constexpr int64_t atOnce = 4;
  // `sum` and strips from the number `first` on, in order.
  auto addStrips = [&](Value sum, Value first, int64_t strips) {
    SmallVector<Value> loaded;
    for (int64_t i = 0; i < strips; ++i)
      loaded.push_back(load(add(first, index(i))));
    for (Value strip : loaded)
      sum = addPartialSum(sum, strip);
    return sum;
  };
  Value sum =
      arith::ConstantOp::create(b, b.getZeroAttr(stripType(config.sum)));
  int64_t inLoop = count > atOnce ? count / atOnce * atOnce : 0;
  if (inLoop > 0) {
    auto body = [&](OpBuilder &, Location, Value first, ValueRange sums) {
      scf::YieldOp::create(b, addStrips(sums.front(), first, atOnce));
    };
    auto loop = scf::ForOp::create(b, index(0), index(inLoop), index(atOnce),
                                   ValueRange{sum}, body);
    sum = loop.getResult(0);
  }
  return inLoop < count ? addStrips(sum, index(inLoop), count - inLoop) : sum;
}

Value MatmulBuilder::zeros(Type element) {
  return arith::ConstantOp::create(b, b.getZeroAttr(tileType(config, element)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value MatmulBuilder::load(MatrixOffset from, RankedTensorType type) {
  return tile::LoadOp::create(b, type, from.matrix,
                              ValueRange{from.row, from.column},
                              /*other=*/Value());
}

void MatmulBuilder::store(Value value, MatrixOffset to) {
  tile::StoreOp::create(b, value, to.matrix, ValueRange{to.row, to.column});
}

Value MatmulBuilder::loadFrom(Value member, MatrixOffset from,
                              RankedTensorType type) {
  return iris::LoadOp::create(b, type, ctx, from.matrix,
                              ValueRange{from.row, from.column}, rankOf(member),
                              /*other=*/Value());
}

void MatmulBuilder::storeTo(Value member, Value value, MatrixOffset to) {
  iris::StoreOp::create(b, ctx, value, to.matrix, ValueRange{to.row, to.column},
                        rankOf(member));
}

void MatmulBuilder::addTo(Value member, Value value, MatrixOffset to) {
  AtomicRMWOp::create(b, value.getType(), RMWKind::Add, ctx, value, to.matrix,
                      ValueRange{to.row, to.column}, rankOf(member),
                      /*mask=*/Value(), MemSemantic::Relaxed, Scope::Sys);
}

Value MatmulBuilder::onMember(Value member, Value matrix) {
  return TranslateOp::create(b, ctx, matrix, rankOf(member));
}

Value MatmulBuilder::bytesOf(MatrixOffset at, Type tile, Value times) {
  auto type = cast<RankedTensorType>(tile);
  auto inside = [&](unsigned dim, Value size, Value first) {
    return min(index(type.getDimSize(dim)), sub(size, min(size, first)));
  };
  Value elements = mul(inside(0, rowsOf(at.matrix), at.row),
                       inside(1, columnsOf(at.matrix), at.column));
  Value bytes = mul(elements, index(type.getElementTypeBitWidth() / 8));
  return times ? mul(bytes, times) : bytes;
}

void MatmulBuilder::sendTo(int64_t first, Value tile, MatrixOffset to) {
  Value receivers = sub(size, index(first));
  span("send", bytesOf(to, tile.getType(), receivers), [&] {
    forMembers(first, [&](Value i) { storeTo(rotate(me, i), tile, to); });
  });
}

//===----------------------------------------------------------------------===//
// The workspace
//===----------------------------------------------------------------------===//

void MatmulBuilder::beginEpoch(Value numFlags) {
  Value words = this->words(FusedWorkspace::epochs, FusedWorkspace::epochBytes);
  epoch = addI32(memref::LoadOp::create(b, words, program), i32(1));
  openFlags(numFlags);
}

void MatmulBuilder::beginCleared(Value numFlags) {
  epoch = i32(1);
  openFlags(numFlags);
}

void MatmulBuilder::openFlags(Value numFlags) {
  Value numWords = mul(numFlags, index(FusedWorkspace::line / 4));
  flags = view(index(FusedWorkspace::flags), numWords, b.getI32Type());
}

void MatmulBuilder::endEpoch() {
  storeEpoch(words(FusedWorkspace::epochs, FusedWorkspace::epochBytes),
             FusedWorkspace::maxPrograms, epoch);
}

Value MatmulBuilder::locate(Value flag) {
  return mul(flag, index(FusedWorkspace::line / 4));
}

void MatmulBuilder::signal(Value member, Value flag) {
  SignalOp::create(b, SignalKind::Set, ctx, epoch, flags, locate(flag),
                   rankOf(member), MemSemantic::Release, Scope::Sys);
}

void MatmulBuilder::signalPrograms(Value flag) {
  SignalOp::create(b, SignalKind::Set, ctx, epoch, flags, locate(flag),
                   /*rank=*/Value(), MemSemantic::Release, Scope::Gpu);
}

void MatmulBuilder::countDown(Value flag) {
  SignalOp::create(b, SignalKind::Add, ctx, i32(-1), flags, locate(flag),
                   /*rank=*/Value(), MemSemantic::Release, Scope::Sys);
}

void MatmulBuilder::countUp(Value flag) {
  SignalOp::create(b, SignalKind::Add, ctx, i32(1), flags, locate(flag),
                   /*rank=*/Value(), MemSemantic::Relaxed, Scope::Sys);
}

Value MatmulBuilder::arrive(Value flag) {
  return AtomicRMWOp::create(b, b.getI32Type(), RMWKind::Add, ctx, i32(1),
                             flags, locate(flag), /*rank=*/Value(),
                             /*mask=*/Value(), MemSemantic::AcqRel, Scope::Gpu);
}

void MatmulBuilder::wait(Value flag, Value source) {
  waitForCount(flag, source, epoch);
}

void MatmulBuilder::waitForCount(Value flag, Value source, Value least) {
  WaitOp::create(b, least.getType(), ctx, flags, locate(flag), Comparison::GE,
                 least, /*rank=*/Value(), rankOf(source), MemSemantic::Acquire,
                 Scope::Sys);
}

void MatmulBuilder::waitForProgram(Value flag) {
  WaitOp::create(b, epoch.getType(), ctx, flags, locate(flag), Comparison::GE,
                 epoch, /*rank=*/Value(), /*owedBy=*/Value(),
                 MemSemantic::Acquire, Scope::Gpu);
}
