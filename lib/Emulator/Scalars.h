// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scalars.h - Handlers of scalar operations ----------------*- C++ -*-===//
//
//   scalar<uint32_t(uint32_t, uint32_t)>(
//       [](uint32_t a, uint32_t b, uint32_t &) { return a & b; })
//
// The last parameter of the function is SCC.
#ifndef IRIS_EMULATOR_SCALARS_H
#define IRIS_EMULATOR_SCALARS_H

#include "Decoder.h"

namespace mlir::iris::emulator {

template <class T>
inline T readInteger(const Wave &wave, const Operand &operand) {
  switch (operand.kind) {
  case Operand::Scalar:
    if constexpr (sizeof(T) == 8)
      return T(wave.scalar64(operand.index));
    else
      return T(wave.scalars[operand.index]);
  case Operand::Scc:
    return T(wave.scc);
  default:
    return T(operand.constant);
  }
}

/// An f16 in the lower half of a register.
struct Half {
  float value;
  explicit operator float() const { return value; }
};

template <class T>
inline T readScalar(const Wave &wave, const Operand &operand) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, Half>) {
    uint32_t bits = readScalar<uint32_t>(wave, operand);
    uint32_t sign = std::is_same_v<T, float> ? 1u << 31 : 0x8000;
    bits = (operand.isAbsolute ? bits & ~sign : bits) ^
           (operand.isNegated ? sign : 0);
    if constexpr (std::is_same_v<T, float>)
      return bitCast<float>(bits);
    else
      return {fromHalf(bits & 0xFFFF)};
  } else {
    return readInteger<T>(wave, operand);
  }
}

template <class T>
inline void writeScalar(Wave &wave, const Operand &operand, T value) {
  if constexpr (std::is_same_v<T, float>)
    wave.scalars[operand.index] = bitCast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, Half>)
    wave.scalars[operand.index] = toHalf(value.value) & 0xFFFF;
  else if constexpr (sizeof(T) == 8)
    wave.setScalar64(operand.index, uint64_t(value));
  else
    wave.scalars[operand.index] = uint32_t(value);
}

template <class T>
constexpr OperandType scalarType() {
  constexpr bool isHalf = std::is_same_v<T, Half>;
  return {sizeof(T) / 4, isHalf ? 16u : unsigned(sizeof(T) * 8),
          isHalf || std::is_same_v<T, float>};
}

template <class Signature>
struct ScalarFunction;
template <class Result, class... Sources>
struct ScalarFunction<Result(Sources...)> {
  template <class Function, size_t... indices>
  static void run(Wave &wave, const Instruction &instruction,
                  const Function &function, std::index_sequence<indices...>) {
    if constexpr (std::is_void_v<Result>)
      function(readScalar<Sources>(wave, instruction.sources[indices])...,
               wave.scc);
    else
      writeScalar<Result>(
          wave, instruction.result,
          function(readScalar<Sources>(wave, instruction.sources[indices])...,
                   wave.scc));
  }

  static llvm::Error build(InstructionBuilder &builder, Handler handler) {
    constexpr unsigned numResults = std::is_void_v<Result> ? 0 : 1;
    constexpr OperandType types[] = {scalarType<Sources>()..., {}};
    if (llvm::Error error =
            builder.expectOperands(numResults + sizeof...(Sources)))
      return error;
    if constexpr (numResults != 0)
      if (llvm::Error error = builder.result(0, builder.instruction.result,
                                             scalarType<Result>()))
        return error;
    for (unsigned i = 0; i < sizeof...(Sources); ++i)
      if (llvm::Error error = builder.source(
              numResults + i, builder.instruction.sources[i], types[i]))
        return error;
      else if (builder.instruction.sources[i].kind == Operand::Vector)
        return builder.error("the emulator expects scalar operands");
    builder.instruction.run = handler;
    return llvm::Error::success();
  }
  static constexpr auto indices = std::index_sequence_for<Sources...>();
};

template <class Signature, class Function>
BuildFunction scalar(Function function) {
  static Function stateless = function;
  Handler handler = [](Wave &wave, const Instruction &instruction) {
    ScalarFunction<Signature>::run(wave, instruction, stateless,
                                   ScalarFunction<Signature>::indices);
  };
  return [handler](InstructionBuilder &builder) {
    return ScalarFunction<Signature>::build(builder, handler);
  };
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_SCALARS_H
