// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lanes.h - Handlers from functions of one lane ------------*- C++ -*-===//
//
//   lanes<F32(F32, F32)>([](float a, float b) { return a + b; })
//
// is the handler, and the types of the operands, of an instruction that adds.
#ifndef IRIS_EMULATOR_LANES_H
#define IRIS_EMULATOR_LANES_H

#include "Types.h"
#include "Wide.h"
#include <tuple>
#include <utility>

namespace mlir::iris::emulator {

/// What an instruction does, and its operands in the order of the assembly.
struct Semantics {
  Handler run;
  llvm::SmallVector<OperandType, 2> results;
  llvm::SmallVector<OperandType, 4> sources;
  /// The result is also the last source (v_fmac).
  bool accumulates = false;
  /// Of integers: limits its result (`clamp`).
  bool isClamped = false;
};

/// Follows the names of operations that are other functions with a clamp.
constexpr llvm::StringLiteral kClampedIntegers = " clamp";

template <class Signature>
struct LaneFunction;

template <class Result, class... Sources>
struct LaneFunction<Result(Sources...)> {
  template <class Function, size_t... indices>
  IRIS_INLINE static void run(Wave &wave, const Instruction &instruction,
                              const Function &function,
                              std::index_sequence<indices...>) {
    std::tuple<LaneBuffer<typename Sources::Value>...> buffers;
    std::tuple sources{Sources::load(wave, instruction.sources[indices],
                                     std::get<indices>(buffers))...};
    LaneBuffer<typename Result::Value> results;
    auto *values = Result::begin(wave, instruction.result, results);
    IRIS_EACH_LANE
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = function(std::get<indices>(sources)[lane]...);
    Result::end(wave, instruction, instruction.result, values, results);
  }

  template <class Function, size_t... indices>
  IRIS_INLINE static void
  runWithMask(Wave &wave, const Instruction &instruction,
              const Function &function, std::index_sequence<indices...>) {
    std::tuple<LaneBuffer<typename Sources::Value>...> buffers;
    std::tuple sources{Sources::load(wave, instruction.sources[indices],
                                     std::get<indices>(buffers))...};
    LaneBuffer<typename Result::Value> results;
    auto *values = Result::begin(wave, instruction.result, results);
    uint8_t bits[kLanes];
    IRIS_EACH_LANE
    for (unsigned lane = 0; lane < kLanes; ++lane)
      values[lane] = function(std::get<indices>(sources)[lane]..., bits[lane]);
    Result::end(wave, instruction, instruction.result, values, results);
    Mask::store(wave, instruction, instruction.result2, bits);
  }
};

template <class Signature>
struct Describe;
template <class Result, class... Sources>
struct Describe<Result(Sources...)> {
  static constexpr auto indices = std::index_sequence_for<Sources...>();
  static Semantics semantics(Handler run) {
    return {run, {Result::type}, {Sources::type...}};
  }
};

/// A function of the values in one lane. It must be defined for all values.
/// `plain` is the same for hosts without wide vectors.
template <class Signature, class Function, class Plain>
Semantics lanes(Function function, Plain plain) {
  // Functions without captures have no state: these copies are code alone.
  static Function stateless = function;
  static Plain statelessPlain = plain;
  struct Body {
    IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
      LaneFunction<Signature>::run(wave, instruction, stateless,
                                   Describe<Signature>::indices);
    }
  };
  struct PlainBody {
    IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
      LaneFunction<Signature>::run(wave, instruction, statelessPlain,
                                   Describe<Signature>::indices);
    }
  };
  return Describe<Signature>::semantics(widestOf<Body, PlainBody>());
}
template <class Signature, class Function>
Semantics lanes(Function function) {
  return lanes<Signature>(function, function);
}

/// As above, with a second result: a bit for each lane, which the function gets
/// as its last parameter.
template <class Signature, class Function>
Semantics lanesWithMask(Function function) {
  static Function stateless = function;
  struct Body {
    IRIS_INLINE static void run(Wave &wave, const Instruction &instruction) {
      LaneFunction<Signature>::runWithMask(wave, instruction, stateless,
                                           Describe<Signature>::indices);
    }
  };
  Semantics semantics = Describe<Signature>::semantics(widestOf<Body>());
  semantics.results.push_back(Mask::type);
  return semantics;
}

/// As `lanes`, where the result is the last source.
template <class Signature, class... Functions>
Semantics accumulating(Functions... functions) {
  Semantics semantics = lanes<Signature>(functions...);
  semantics.accumulates = true;
  return semantics;
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_LANES_H
