// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Decoder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;

InstructionTable::InstructionTable() {
  addScalarArithmetic(*this);
  addScalarControl(*this);
  addScalarFloats(*this);
  addVectorIntegers(*this);
  addVectorFloats(*this);
  addVectorComparisons(*this);
  addVectorConversions(*this);
  addVectorMixed(*this);
  addVectorDots(*this);
  addVectorPacked(*this);
  addVectorMoves(*this);
  addVectorIndices(*this);
  addGlobalMemory(*this);
  addSharedMemory(*this);
  addMatrixOperations(*this);
  addWmmaOperations(*this);
}

const InstructionTable &mlir::iris::emulator::getInstructionTable() {
  static const InstructionTable table;
  return table;
}

void InstructionTable::add(StringRef name, Semantics semantics) {
  add(name, [semantics = std::move(semantics)](InstructionBuilder &builder) {
    return builder.operation(semantics);
  });
}

llvm::SmallVector<StringRef> InstructionTable::getNames() const {
  llvm::SmallVector<StringRef> names;
  for (const auto &entry : functions)
    names.push_back(entry.first());
  llvm::sort(names);
  return names;
}

Error mlir::iris::emulator::decode(Instruction &instruction,
                                   llvm::ArrayRef<uint8_t> encoding,
                                   const Kernel &kernel,
                                   const irischips::AMDExecution &execution,
                                   const RegisterOffsets *offsets) {
  if (StringRef(instruction.text).contains("::"))
    return decodeDual(instruction, encoding, kernel, execution);
  ParsedInstruction parsed(instruction.text);
  const InstructionTable &table = getInstructionTable();
  const BuildFunction *build = nullptr;
  if (parsed.has("clamp"))
    build = table.find((parsed.name + kClampedIntegers).str());
  if (!build)
    build = table.find(parsed.name);
  if (!build)
    return llvm::createStringError("the emulator does not know '" +
                                   parsed.name + "'");
  InstructionBuilder builder(instruction, parsed, encoding, kernel, execution,
                             offsets);
  if (Error error = (*build)(builder))
    return error;
  if (!builder.hasAddedOffsets())
    return builder.error("the emulator does not add M0 to the registers");
  if (parsed.isSdwa)
    return buildSelected(builder);
  if (parsed.isDpp)
    return buildPermuted(builder);
  return Error::success();
}

Error InstructionBuilder::error(const Twine &message) const {
  return llvm::createStringError(message + " in '" + instruction.text + "'");
}

Error InstructionBuilder::expectOperands(unsigned count) const {
  if (numOperands() == count)
    return Error::success();
  return error("the emulator expects " + Twine(count) + " operands but finds " +
               Twine(numOperands()));
}

llvm::Expected<int64_t> InstructionBuilder::integer(unsigned operand) const {
  if (operand < numOperands())
    if (std::optional<int64_t> value = parseInteger(parsed.operands[operand]))
      return *value;
  return error("the emulator expects an integer as operand " + Twine(operand));
}

Error InstructionBuilder::usesM0() {
  Operand m0;
  m0.kind = Operand::Scalar;
  m0.index = kM0;
  return range(m0, 1);
}

/// Scalar and memory instructions have no offsets.
bool InstructionBuilder::hasAddedOffsets() const {
  if (!offsets || *offsets == RegisterOffsets() || numOperands() == 0 ||
      !parsed.name.starts_with("v_"))
    return true;
  // v_fmamk has its constant before its second source.
  return isOperation && !parsed.name.contains("mk_");
}

/// Records the registers that are read or written.
Error InstructionBuilder::range(const Operand &operand, unsigned words) {
  if (operand.kind != Operand::Vector && operand.kind != Operand::Scalar)
    return Error::success();
  if (instruction.numRanges == std::size(instruction.ranges) ||
      words > kMaxRangeRegisters)
    return error("too many registers");
  unsigned first =
      operand.index + (operand.kind == Operand::Vector ? kFirstRowBit : 0);
  instruction.ranges[instruction.numRanges++] = {uint16_t(first),
                                                 uint16_t(words)};
  return Error::success();
}

/// Reads v5, v[2:3], a1, s[0:1], vcc, ...; `into` has no kind if it is none.
Error InstructionBuilder::registers(StringRef text, Operand &into) {
  struct Named {
    StringRef name;
    unsigned index, count;
  };
  static constexpr Named named[] = {{"vcc", kVcc, 2},
                                    {"vcc_lo", kVcc, 1},
                                    {"vcc_hi", kVcc + 1, 1},
                                    {"exec", kExec, 2},
                                    {"exec_lo", kExec, 1},
                                    {"exec_hi", kExec + 1, 1},
                                    {"m0", kM0, 1},
                                    {"null", kNull, 2},
                                    {"flat_scratch", 102, 2},
                                    {"flat_scratch_lo", 102, 1},
                                    {"flat_scratch_hi", 103, 1},
                                    {"xnack_mask", 104, 2}};
  if (text == "src_scc" || text == "scc") {
    into.kind = Operand::Scc;
    return Error::success();
  }
  for (const Named &each : named)
    if (text == each.name) {
      into.kind = Operand::Scalar;
      into.index = each.index;
      into.count = each.count;
      return Error::success();
    }
  StringRef digits = text;
  unsigned base = 0, limit = 0;
  if (digits.consume_front("ttmp")) {
    into.kind = Operand::Scalar;
    base = kTrapRegisters, limit = kTrapRegisters + 16;
  } else if (digits.consume_front("v")) {
    into.kind = Operand::Vector;
    base = offset, limit = kernel.accumulatorOffset;
    if (digits.consume_back(".h"))
      into.isHigh = true;
    else
      digits.consume_back(".l");
  } else if (digits.consume_front("a")) {
    into.kind = Operand::Vector;
    base = kernel.accumulatorOffset, limit = kernel.numVectors;
    if (offset)
      return error("the emulator does not add M0 to '" + text + "'");
  } else if (digits.consume_front("s")) {
    into.kind = Operand::Scalar;
    limit = kNumPlainScalars;
  } else {
    return Error::success();
  }
  unsigned first, last;
  bool isBad;
  if (digits.consume_front("[") && digits.consume_back("]")) {
    auto [from, to] = digits.split(':');
    isBad = from.getAsInteger(10, first) ||
            (to.empty() ? (last = first, false) : to.getAsInteger(10, last));
  } else {
    isBad = digits.getAsInteger(10, first);
    last = first;
  }
  if (isBad || last < first) {
    into.kind = Operand::None;
    return Error::success();
  }
  if (offset && into.kind == Operand::Vector &&
      uint64_t(offset) + last >= limit)
    return error("register '" + text + "' and the " + Twine(offset) +
                 " of M0 are beyond the kernel's " + Twine(limit));
  if (base + last >= limit)
    return error("register '" + text + "' is beyond the kernel's " +
                 Twine(limit - base));
  into.index = base + first;
  into.count = last - first + 1;
  return Error::success();
}

/// Reads a constant, as the bits that an operation of this type gets.
Error InstructionBuilder::number(StringRef text, Operand &into,
                                 OperandType type) {
  into.kind = Operand::Constant;
  bool isLiteral = text.consume_front("lit(") && text.consume_back(")");
  if (std::optional<int64_t> value = parseInteger(text)) {
    into.constant = uint64_t(*value);
    isLiteral |= text.starts_with("0x");
    // Literals of f64 are its upper half.
    if (isLiteral && type.words == 2 && type.isFloat)
      into.constant <<= 32;
    else if (isLiteral && type.words == 2 && type.isPacked)
      into.constant = uint32_t(into.constant);
    if (type.bits == 16 && !type.isPacked)
      into.constant &= 0xFFFF;
    return Error::success();
  }
  double value;
  if (text.getAsDouble(value))
    return error("the emulator cannot read the operand '" + text + "'");
  if (type.words == 2 && !type.isPacked)
    into.constant = bitCast<uint64_t>(value);
  else if (type.bits == 16 && type.isFloat)
    into.constant = type.isBrain ? toBrain(float(value)) : toHalf(float(value));
  else
    into.constant = bitCast<uint32_t>(float(value));
  return Error::success();
}

Error InstructionBuilder::source(unsigned operand, Operand &into,
                                 OperandType type) {
  if (operand >= numOperands())
    return expectOperands(operand + 1);
  StringRef text = parsed.operands[operand];
  if (text.consume_front("sext(")) {
    text.consume_back(")");
  } else {
    if (text.size() > 1 && text[0] == '-' && !llvm::isDigit(text[1])) {
      into.isNegated = true;
      text = text.drop_front();
    } else if (text.consume_front("neg(")) {
      into.isNegated = true;
      text.consume_back(")");
    }
    if (text.consume_front("|")) {
      into.isAbsolute = true;
      text.consume_back("|");
    } else if (text.consume_front("abs(")) {
      into.isAbsolute = true;
      text.consume_back(")");
    }
  }
  if (Error error = registers(text, into))
    return error;
  if (text == "null") {
    into = Operand();
    into.kind = Operand::Constant;
    return Error::success();
  }
  if (text == "src_shared_base" || text == "src_private_base") {
    // The upper half of the address of LDS, and of scratch.
    into.kind = Operand::Constant;
    into.constant =
        uint64_t(text == "src_shared_base" ? kSharedAperture : kPrivateAperture)
        << 32;
    return Error::success();
  }
  if (into.kind == Operand::None)
    return number(text, into, type);
  unsigned words = type.words;
  if (words == 0)
    words = kernel.waveSize / 32;
  if (into.count < words)
    return error("the emulator expects " + Twine(words) + " registers as '" +
                 text + "'");
  return range(into, std::max<unsigned>(words, into.count));
}

Error InstructionBuilder::result(unsigned operand, Operand &into,
                                 OperandType type) {
  if (operand >= numOperands())
    return expectOperands(operand + 1);
  StringRef text = parsed.operands[operand];
  if (Error error = registers(text, into))
    return error;
  unsigned words = type.words ? type.words : kernel.waveSize / 32;
  if ((into.kind != Operand::Vector && into.kind != Operand::Scalar) ||
      into.count < words)
    return error("the emulator expects " + Twine(words) +
                 " registers for the result '" + text + "'");
  unsigned number = instruction.numRanges;
  if (Error error = range(into, std::max<unsigned>(words, into.count)))
    return error;
  if (instruction.numResults == std::size(instruction.results))
    return error("too many results");
  instruction.results[instruction.numResults++] = instruction.ranges[number];
  return Error::success();
}

Error InstructionBuilder::operation(const Semantics &semantics) {
  unsigned numResults = semantics.results.size();
  unsigned numSources =
      semantics.sources.size() - (semantics.accumulates ? 1 : 0);
  if (Error error = expectOperands(numResults + numSources))
    return error;
  instruction.run = semantics.run;
  isOperation = true;
  Operand *results[] = {&instruction.result, &instruction.result2};
  for (unsigned i = 0; i < numResults; ++i) {
    offset = offsets && i == 0 ? offsets->front() : 0;
    if (Error error = result(i, *results[i], semantics.results[i]))
      return error;
    bool isVector = semantics.results[i].words != 0;
    if (isVector && results[i]->kind != Operand::Vector)
      return error("the emulator expects a vector register for the result");
    if (!isVector && results[i]->kind != Operand::Scalar)
      return error("the emulator expects scalar registers for the result");
  }
  for (unsigned i = 0; i < numSources; ++i) {
    offset = offsets && i < 3 ? (*offsets)[1 + i] : 0;
    if (Error error = source(numResults + i, instruction.sources[i],
                             semantics.sources[i]))
      return error;
  }
  offset = 0;
  if (semantics.accumulates) {
    // Whether the register that is read is also another one.
    if (offsets && offsets->front())
      return error("the emulator does not add M0 to the result");
    instruction.sources[numSources] = instruction.result;
  }
  // Halves of registers: a bit for each source, then one for the result.
  llvm::SmallVector<unsigned, 4> halves = parsed.getList("op_sel");
  bool isPacked = llvm::any_of(semantics.sources,
                               [](OperandType type) { return type.isPacked; });
  if (isPacked) {
    auto low = halves, high = parsed.getList("op_sel_hi");
    auto negatedLow = parsed.getList("neg_lo");
    auto negatedHigh = parsed.getList("neg_hi");
    auto at = [](llvm::ArrayRef<unsigned> list, unsigned i, bool otherwise) {
      return i < list.size() ? list[i] != 0 : otherwise;
    };
    for (unsigned i = 0; i < numSources; ++i) {
      Operand &operand = instruction.sources[i];
      operand.isHigh = at(low, i, false);
      operand.isHighForHigh = at(high, i, true);
      operand.isNegated = at(negatedLow, i, false);
      operand.isNegatedForHigh = at(negatedHigh, i, false);
    }
  } else if (!halves.empty()) {
    for (unsigned i = 0; i < numSources && i < halves.size(); ++i)
      instruction.sources[i].isHigh |= halves[i] != 0;
    if (halves.size() > numSources && halves[numSources])
      instruction.result.isHigh = true;
    if (semantics.accumulates)
      instruction.sources[numSources].isHigh = instruction.result.isHigh;
  }
  if (instruction.result.kind == Operand::Vector &&
      semantics.results[0].bits == 16 && !semantics.results[0].isPacked)
    instruction.keepsOtherHalf |= execution.keepsUpperHalf;
  int64_t factor = parsed.getNumber("mul", 1);
  instruction.outputScale = factor == 2 ? 1 : factor == 4 ? 2 : 0;
  if (parsed.getNumber("div", 1) == 2)
    instruction.outputScale = -1;
  instruction.clamps = parsed.has("clamp");
  if (instruction.clamps && numResults && semantics.results[0].words &&
      !semantics.results[0].isFloat && !semantics.isClamped)
    return error("the emulator does not know 'clamp' of integers");
  return Error::success();
}
