// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AtomicOps.h - What atomics do with a value ---------------*- C++ -*-===//
#ifndef IRIS_EMULATOR_ATOMICOPS_H
#define IRIS_EMULATOR_ATOMICOPS_H

#include "FloatOps.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::iris::emulator {

/// A function of each half.
template <class Decode, class Encode>
inline uint32_t addHalves(uint32_t a, uint32_t b, Decode decode,
                          Encode encode) {
  uint32_t low = encode(decode(a & 0xFFFF) + decode(b & 0xFFFF));
  uint32_t high = encode(decode(a >> 16) + decode(b >> 16));
  return (low & 0xFFFF) | high << 16;
}

/// The integer atomics of one width. `suffix` is that of the names up to gfx9.
template <class Unsigned, class Signed, class Visit>
void forIntegerAtomics(llvm::StringRef suffix, const char *bits, Visit visit) {
  auto call = [&](const char *old, const char *name, const char *kind,
                  bool compares, auto combine) {
    visit((llvm::Twine(old) + suffix).str(),
          (llvm::Twine(name) + "_" + kind + bits).str(), compares, Unsigned(),
          combine);
  };
  using U = Unsigned;
  using S = Signed;
  call("swap", "swap", "b", false, [](U, U b, U) { return b; });
  call("cmpswap", "cmpswap", "b", true,
       [](U old, U b, U compared) { return old == compared ? b : old; });
  call("add", "add", "u", false, [](U a, U b, U) { return U(a + b); });
  call("sub", "sub", "u", false, [](U a, U b, U) { return U(a - b); });
  call("smin", "min", "i", false,
       [](U a, U b, U) { return S(a) < S(b) ? a : b; });
  call("umin", "min", "u", false, [](U a, U b, U) { return a < b ? a : b; });
  call("smax", "max", "i", false,
       [](U a, U b, U) { return S(a) > S(b) ? a : b; });
  call("umax", "max", "u", false, [](U a, U b, U) { return a > b ? a : b; });
  call("and", "and", "b", false, [](U a, U b, U) { return U(a & b); });
  call("or", "or", "b", false, [](U a, U b, U) { return U(a | b); });
  call("xor", "xor", "b", false, [](U a, U b, U) { return U(a ^ b); });
  // Wrap at the operand.
  call("inc", "inc", "u", false,
       [](U a, U b, U) { return a >= b ? U(0) : U(a + 1); });
  call("dec", "dec", "u", false,
       [](U a, U b, U) { return a == 0 || a > b ? b : U(a - 1); });
}

/// Calls visit(old name, name, whether it compares, a value of its type, the
/// function of the value, the operand and the compared operand).
template <class Visit>
void forAtomics(Visit visit) {
  forIntegerAtomics<uint32_t, int32_t>("", "32", visit);
  forIntegerAtomics<uint64_t, int64_t>("_x2", "64", visit);
  auto addSingle = [](float a, float b, float) { return a + b; };
  visit("", "add_f32", false, float(), addSingle);
  auto addDouble = [](double a, double b, double) { return a + b; };
  visit("", "add_f64", false, double(), addDouble);
  auto smallerDouble = [](double a, double b, double) {
    return smallerNumber(a, b);
  };
  visit("", "min_f64", false, double(), smallerDouble);
  auto largerDouble = [](double a, double b, double) {
    return largerNumber(a, b);
  };
  visit("", "max_f64", false, double(), largerDouble);
  auto smallerSingle = [](float a, float b, float) {
    return smallerNumber(a, b);
  };
  visit("fmin", "min_f32", false, float(), smallerSingle);
  visit("", "min_num_f32", false, float(), smallerSingle);
  auto largerSingle = [](float a, float b, float) {
    return largerNumber(a, b);
  };
  visit("fmax", "max_f32", false, float(), largerSingle);
  visit("", "max_num_f32", false, float(), largerSingle);
  auto addHalf = [](uint32_t a, uint32_t b, uint32_t) {
    return addHalves(a, b, fromHalf, toHalf);
  };
  visit("", "pk_add_f16", false, uint32_t(), addHalf);
  auto addBrain = [](uint32_t a, uint32_t b, uint32_t) {
    return addHalves(a, b, fromBrain, toBrain);
  };
  visit("", "pk_add_bf16", false, uint32_t(), addBrain);
}

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_ATOMICOPS_H
