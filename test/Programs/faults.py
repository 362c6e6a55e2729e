# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults of the compiler that a campaign has to find (mutants.py).

A fault is a file below lib/ and a piece of its text, in which `@{RIGHT ==> WRONG}@` are
two expressions of the same type, and `@value{RIGHT ==> WRONG}@` two that become an
mlir::Value. The text with RIGHT occurs once in the file.

`device` is where the fault shows: `host`, or `gpu` for what only kernels of GPUs go
through. `equivalent` says why no program shows it, of the few that change nothing.
"""
import collections

Fault = collections.namedtuple("Fault", "name device path text equivalent",
                               defaults=[""])

FAULTS = [Fault(*fault) for fault in (
    # Windows, gathers and scatters of the host ---------------------------------
    ("row copied from its start", "host", "Conversion/TileToLoops/Accesses.cpp",
     "arith::SubIOp::create(b, bounds.back().high, @{bounds.back().low ==> "
     "Value(arith::ConstantIndexOp::create(b, 0))}@));"),
    ("load without its other value", "host", "Conversion/TileToLoops/Accesses.cpp",
     "Value other = @{op.getOther() ? op.getOther() : zeroOf(b, element) ==> "
     "zeroOf(b, element)}@;"),
    ("gather without its mask", "host", "Conversion/TileToLoops/Accesses.cpp",
     "type.getShape(), @{op.getMask() ==> Value()}@,\n"
     "             [&](ImplicitLocOpBuilder &b, const Point &point, ElementCache &,"),
    ("scatter without its mask", "host", "Conversion/TileToLoops/Accesses.cpp",
     "type.getShape(), @{op.getMask() ==> Value()}@,\n"
     "             [&](ImplicitLocOpBuilder &b, const Point &point,\n"),
    ("gather without its other value", "host",
     "Conversion/TileToLoops/Accesses.cpp",
     "Value other =\n"
     "      @{op.getOther() ? op.getOther() : zeroOf(b, type.getElementType()) ==> "
     "zeroOf(b, type.getElementType())}@;"),
    ("index one beyond the buffer is inside", "host",
     "Conversion/TileToLoops/Window.cpp",
     "arith::CmpIOp::create(b, @{arith::CmpIPredicate::ult ==> "
     "arith::CmpIPredicate::ule}@, coordinate, size);"),
    ("negative index is inside", "host", "Conversion/TileToLoops/Window.cpp",
     "arith::CmpIOp::create(b, @{arith::CmpIPredicate::ult ==> "
     "arith::CmpIPredicate::slt}@, coordinate, size);"),
    ("window one beyond the buffer is inside", "host",
     "Conversion/TileToLoops/Window.cpp",
     "Value last = arith::SubIOp::create(b, size, constantIndex(b, @{extent ==> "
     "extent - 1}@));"),
    ("window one before the buffer is inside", "host",
     "Conversion/TileToLoops/Window.cpp",
     "arith::CmpIPredicate::sge, offset,\n"
     "                                      constantIndex(b, @{0 ==> -1}@));"),
    ("end of a part without its start", "host",
     "Conversion/TileToLoops/Window.cpp",
     "Value high = arith::SubIOp::create(b, size, @{start ==> zero}@);"),
    ("first row of a part left out", "host", "Conversion/TileToLoops/Window.cpp",
     "Value low = arith::SubIOp::create(b, @{zero ==> constantIndex(b, 1)}@, "
     "start);"),
    ("stride of the wrong dimension", "host", "Conversion/TileToLoops/Window.cpp",
     "arith::MulIOp::create(b, strides[dim + 1], sizes[@{dim + 1 ==> dim}@]);"),
    ("strides of a view exchanged", "host", "Conversion/TileToLoops/Window.cpp",
     "? metadata.getStrides()[@{dim ==> rank - 1 - dim}@]"),
    ("offset of a view ignored", "host", "Conversion/TileToLoops/Window.cpp",
     "offset = @value{ShapedType::isDynamic(staticOffset) ? metadata.getOffset()\n"
     "                                               : constantIndex(b, "
     "staticOffset) ==> constantIndex(b, 0)}@;"),
    # Tiles of the host ----------------------------------------------------------
    ("transpose that does not", "host", "Conversion/TileToLoops/Elements.cpp",
     "coordinates[@{from ==> int64_t(dim)}@] = point.coordinates[dim];"),
    ("broadcast of an extent of 2", "host", "Conversion/TileToLoops/Elements.cpp",
     "coordinates.push_back(@{extent == 1 ==> extent <= 2}@ ? zero : coordinate);"),
    ("expanded dimension confused", "host", "Conversion/TileToLoops/Elements.cpp",
     "coordinates.erase(coordinates.begin() + @{expand.getDim() ==> "
     "(expand.getDim() ? 0 : 1)}@);"),
    ("range of dimension 0", "host", "Conversion/TileToLoops/Elements.cpp",
     "result = point.coordinates[@{range.getDim() ==> 0}@];"),
    ("buffers meet at the ends of their lives", "host",
     "Conversion/TileToLoops/AssignArena.cpp",
     "if (@{other.start <= buffer.end && buffer.start <= other.end ==> "
     "other.start < buffer.end && buffer.start < other.end}@)",
     "a life ends with an op that uses the buffer, or with a region; neither is the "
     "allocation that another life starts with"),
    ("uses of views forgotten", "host", "Conversion/TileToLoops/AssignArena.cpp",
     "if (@{passesAddress(user) ==> false}@)",
     "only copies of rows use addresses of a tile, in the op that takes them: nothing is "
     "allocated in between; memory of the program lives as long as the program"),
    ("memory of the program reused", "host",
     "Conversion/TileToLoops/AssignArena.cpp",
     "if (@{alloc->hasAttr(kProgramMemoryAttr) ==> false}@) {",
     "memory of the program is allocated at the start of the kernel, so that its life up "
     "to the last use has all loops that use it"),
    ("order of a sum of halves", "host", "Conversion/TileToLoops/Reduce.cpp",
     "bool isNeighbour = @{tile::dependsOnOrder(op) ==> false}@;"),
    ("atomic without its mask", "host", "Conversion/TileToLoops/Sync.cpp",
     "if (@{mask ==> false}@)\n                beginIf(b, element"),
    ("atomic at coordinates without its mask", "host",
     "Conversion/TileToLoops/Sync.cpp",
     "forIndexed(b, op, window, offsets, shape, @{mask ==> Value()}@,"),
    ("atomic without its result", "host", "Conversion/TileToLoops/Sync.cpp",
     "bool used = @{!op.getResult().use_empty() ==> false}@;"),
    ("exchange with the operands exchanged", "host",
     "Conversion/TileToLoops/Sync.cpp",
     "type.getElementType(), @{compare ==> value}@,\n"
     "                                          @{value ==> compare}@, address"),
    ("i8 of a matmul without its sign", "host",
     "Conversion/TileToLoops/Matmul.cpp",
     "return @value{arith::ExtSIOp::create(b, shaped(wide), value) ==> "
     "arith::ExtUIOp::create(b, shaped(wide), value)}@;"),
    ("matmul that stays at the first k-block", "host",
     "Conversion/TileToLoops/Matmul.cpp",
     "bStart.offsets[0] = @value{arith::AddIOp::create(b, bStart.offsets[0], start) "
     "==> bStart.offsets[0]}@;"),
    ("matmul without padding", "host", "Conversion/TileToLoops/Matmul.cpp",
     "forSteps(b, extents[0] * extents[1], @{1 ==> 2}@,"),
    ("matmul without its init", "host", "Conversion/TileToLoops/Matmul.cpp",
     "if (@{op.getInit() ==> decltype(op.getInit())()}@) {"),
    # Reductions of all targets ---------------------------------------------------
    ("sum of bf16 in bf16", "host", "Dialect/Tile/Utils/Reduction.cpp",
     "bool isNarrow = @{element.isF16() || element.isBF16() ==> "
     "element.isF16()}@;"),
    ("umin signed", "host", "Dialect/Tile/Utils/Reduction.cpp",
     "return @value{arith::MinUIOp::create(builder, loc, lhs, rhs) ==> "
     "arith::MinSIOp::create(builder, loc, lhs, rhs)}@;"),
    ("min of floats skips NaN", "host", "Dialect/Tile/Utils/Reduction.cpp",
     "return @{make<arith::MinimumFOp, arith::MinSIOp>(builder, loc, lhs, rhs) ==> "
     "make<arith::MinNumFOp, arith::MinSIOp>(builder, loc, lhs, rhs)}@;"),
    ("max of integers unsigned", "host", "Dialect/Tile/Utils/Reduction.cpp",
     "return @{make<arith::MaximumFOp, arith::MaxSIOp>(builder, loc, lhs, rhs) ==> "
     "make<arith::MaximumFOp, arith::MaxUIOp>(builder, loc, lhs, rhs)}@;"),
    # Arithmetic --------------------------------------------------------------------
    ("f64 narrowed in two roundings", "host",
     "Conversion/TileToLoops/LegalizeHostFloats.cpp",
     "@value{emitRoundToOdd(b, op.getIn()) ==> isa<VectorType>(op.getType()) ? "
     "emitRoundToOdd(b, op.getIn()) : Value(arith::TruncFOp::create(b, "
     "b.getF32Type(), op.getIn()))}@);"),
    ("copysign from itself", "host",
     "Conversion/TileToLoops/LegalizeHostFloats.cpp",
     "bitsOf(op->getOperand(@{1 ==> 0}@)), sign);"),
    ("maxnum gives NaN", "host", "Conversion/TileToLoops/LegalizeHostFloats.cpp",
     "compare(arith::CmpFPredicate::UNO, second, @{second ==> first}@);"),
    ("minnum is maxnum", "host", "Conversion/TileToLoops/LegalizeHostFloats.cpp",
     "compare(@{isa<arith::MinNumFOp>(op) ==> false}@ ? "
     "arith::CmpFPredicate::OLT"),
    ("round to odd the wrong way", "host", "Dialect/Iris/Utils/RoundToOdd.cpp",
     "arith::SelectOp::create(b, above, @{down ==> up}@, up);"),
    ("fma rounded the wrong way", "host", "Dialect/Iris/Utils/RoundToOdd.cpp",
     "Value inward = @value{arith::XOrIOp::create(b, isNegative(error), "
     "isNegative(sum)) ==> isNegative(error)}@;"),
    ("integer to bf16 without sticky bit", "host",
     "Dialect/Iris/Transforms/ExpandConversions.cpp",
     "Value odd = @value{arith::OrIOp::create(b, kept, sticky) ==> kept}@;"),
    ("integer to bf16 without sign", "host",
     "Dialect/Iris/Transforms/ExpandConversions.cpp",
     "result = @value{a.select(isNegative, arith::NegFOp::create(a.b, result), "
     "result) ==> result}@;"),
    ("integer to f16 clamped too early", "host",
     "Dialect/Iris/Transforms/ExpandConversions.cpp",
     "a.floating(element, @{-kOverflowOfF16 ==> -kOverflowOfF16 / 4}@));"),
    ("f8 ties up", "host", "Dialect/Iris/Utils/Float8.cpp",
     "Value odd = t.andI(t.shr(magnitude, dropped), @{1 ==> 0}@);"),
    ("f8 infinity is NaN", "host", "Dialect/Iris/Utils/Float8.cpp",
     "t.select(t.is(@{Predicate::ugt ==> Predicate::uge}@, magnitude, first)"),
    ("f8 denormals one exponent off", "host", "Dialect/Iris/Utils/Float8.cpp",
     "static_cast<uint32_t>(kFloatBias + @{1 ==> 0}@ - format.bias)"),
    ("f64 to f8 in two roundings", "host",
     "Dialect/Iris/Transforms/LegalizeFloat8.cpp",
     "value = @value{emitRoundToOdd(b, value) ==> arith::TruncFOp::create(\n"
     "          b, withElement(value.getType(), b.getF32Type()), value)}@;"),
    ("shift by 32 narrowed", "host", "Dialect/Iris/Transforms/NarrowIntegers.cpp",
     "[&](arith::ShRUIOp) { return @{all.asUnsigned && shiftsBelow32() ==> "
     "all.asUnsigned}@; }"),
    ("unsigned values compared signed", "host",
     "Dialect/Iris/Transforms/NarrowIntegers.cpp",
     "return @{isSigned(op.getPredicate()) ? fit.asSigned : fit.any() ==> "
     "fit.any()}@;"),
    ("negative values divided unsigned", "host",
     "Dialect/Iris/Transforms/NarrowIntegers.cpp",
     "[&](auto) { return @{all.asUnsigned ==> all.any()}@; })"),
    ("minimum of unsigned values signed", "host",
     "Dialect/Iris/Transforms/NarrowIntegers.cpp",
     "[&](auto) { return @{all.asSigned ==> all.any()}@; })"),
    ("quotient that overflows", "host",
     "Dialect/Iris/Transforms/NarrowIntegers.cpp",
     "return @{all.asSigned && !mayOverflow(op, ranges) ==> all.asSigned}@;"),
    # Remote accesses and atomics -------------------------------------------------
    ("remote load without its other value", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "op.getOffsets(), @{op.getOther() ==> decltype(op.getOther())()}@,"),
    ("remote gather without its mask", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "op, op.getType(), source, op.getIndices(), @{op.getMask() ==> "
     "decltype(op.getMask())()}@, op.getOther(),"),
    ("remote scatter without its mask", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "op, op.getValue(), destination, op.getIndices(), @{op.getMask() ==> "
     "decltype(op.getMask())()}@,\n"),
    ("copy from the wrong rank", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "@{op.getFromRank() ==> op.getToRank()}@);"),
    ("masked transfer to the source's offsets", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "windowIndices(rewriter, loc, @{op.getDestinationOffsets() ==> "
     "op.getSourceOffsets()}@, type), mask,"),
    ("transfer without its other value", "host",
     "Dialect/Iris/Transforms/TranslatePointers.cpp",
     "@{op.getOther() ==> decltype(op.getOther())()}@, op.getCache(), "
     "op.getIsVolatile());\n    rewriter"),
    ("atomic umin signed", "host", "Conversion/Common/EmitHelpers.cpp",
     "return @{LLVM::AtomicBinOp::umin ==> LLVM::AtomicBinOp::min}@;"),
    ("atomic minimum of floats skips NaN", "host",
     "Conversion/Common/EmitHelpers.cpp",
     "return @value{arith::MinimumFOp::create(b, old, value) ==> "
     "arith::MinNumFOp::create(b, old, value)}@;"),
    ("member of a group", "host", "Conversion/Common/LowerTranslate.cpp",
     "arith::MulIOp::create(b, member, @{bits ==> emitI64(b, 16)}@);"),
    ("offset of a view not in bytes", "host",
     "Conversion/HostProgram/LaunchArguments.cpp",
     "calls.constant(64, @{getElementBytes(element) ==> 1}@));"),
    # Collectives ---------------------------------------------------------------------
    ("unsigned minimum of a collective signed", "host", "Kernels/Elements.cpp",
     ": @{isUnsigned ==> false}@ ? arith::MinUIOp::create"),
    ("unsigned average signed", "host", "Kernels/Elements.cpp",
     "return @{k.config.element.isUnsignedInteger() ==> false}@\n"
     "             ? arith::DivUIOp"),
    ("infinity of f8 saturates", "host", "Kernels/Elements.cpp",
     "/*keepsInfinity=*/@{isInput ==> false}@);"),
    ("offset of a counted chunk", "host", "Kernels/CountedChunks.cpp",
     "peer.sent = {entry(@{k.inChunks.offsets ==> k.inChunks.counts}@, member),"),
    ("last, partial tile left out", "host", "Kernels/KernelBuilder.cpp",
     "ifThen(@{notEqual(rem(sectionLength, tileSize()), index(0)) ==> "
     "less(index(0), index(0))}@, [&] {\n        ifThen"),
    ("ring that reduces the wrong tile", "host", "Kernels/AllReduce.cpp",
     "Value got = @{k.sub(k.sub(k.me, s), k.index(1)) ==> k.sub(k.me, s)}@;"),
    ("chunk of member 0", "host", "Kernels/ReduceScatter.cpp",
     "Value mine = k.chunk(k.in, @{k.me ==> k.index(0)}@);"),
    ("chunk for member 0", "host", "Kernels/AllToAll.cpp",
     "Value mine = k.chunk(k.in, @{k.me ==> k.index(0)}@);"),
    # GPUs ----------------------------------------------------------------------------
    ("gpu: atomics of all threads with an element", "gpu",
     "Conversion/TileToThreads/ElementPatterns.cpp",
     "Value owner = @{t.getOwnerPredicate(layout) ==> Value()}@;\n\n    if"),
    ("gpu: atomic without its mask", "gpu",
     "Conversion/TileToThreads/ElementPatterns.cpp",
     "return @{mask ? t.extract(mask, reg) : Value() ==> Value()}@;"),
    ("gpu: transpose that does not", "gpu",
     "Conversion/TileToThreads/ShapePatterns.cpp",
     "result |= static_cast<uint64_t>(coordinates[i])\n"
     "                  << from.getDimShift(@{dim ==> i}@);"),
    ("gpu: range of dimension 0", "gpu",
     "Conversion/TileToThreads/ShapePatterns.cpp",
     "t.getThreadCoordinate(layout, @{dim ==> 0}@));"),
    ("gpu: index one beyond the buffer is inside", "gpu",
     "Conversion/TileToThreads/BufferView.cpp",
     "@{arith::CmpIPredicate::ult ==> arith::CmpIPredicate::ule}@,\n"
     "                                       coordinate, size);"),
    ("gpu: negative index is inside", "gpu",
     "Conversion/TileToThreads/BufferView.cpp",
     "@{arith::CmpIPredicate::ult ==> arith::CmpIPredicate::slt}@,\n"
     "                                       coordinate, size);"),
    ("gpu: half of an i64 with its sign", "gpu",
     "Conversion/TileToThreads/ReducePatterns.cpp",
     "return @value{arith::ExtUIOp::create(t.b, t.loc, type,\n"
     "                                    shuffleXor(t, half, mask)) ==> "
     "arith::ExtSIOp::create(t.b, t.loc, type, shuffleXor(t, half, mask))}@;"),
    ("gpu: registers reduced with themselves", "gpu",
     "Conversion/TileToThreads/ReducePatterns.cpp",
     "combine(values[reg], values[@{reg | upper ==> reg}@]);"),
    ("gpu: divided registers exchanged", "gpu",
     "Conversion/TileToThreads/ReducePatterns.cpp",
     "shuffleXor(t, @{select(low, high) ==> select(high, low)}@, mask));"),
    ("gpu: gather without its mask", "gpu",
     "Conversion/TileToThreads/IndexedPatterns.cpp",
     "if (Value mask = @{adaptor.getMask() ==> Value()}@)\n"
     "        condition = emitAnd(t, condition"),
    ("gpu: scatter without its mask", "gpu",
     "Conversion/TileToThreads/IndexedPatterns.cpp",
     "if (Value mask = @{adaptor.getMask() ==> Value()}@)\n"
     "          condition = emitAnd(owner, condition"),
    ("gpu: load of elements without its other value", "gpu",
     "Conversion/TileToThreads/WindowPatterns.cpp",
     "vector::BroadcastOp::create(t.b, t.loc, group, @value{other ==> "
     "arith::ConstantOp::create(t.b, t.loc, "
     "t.b.getZeroAttr(tile.getElementType()))}@);"),
)]
