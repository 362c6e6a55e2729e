// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// min and max of f8 types: all pairs of codes, with infinities, NaN and both
// zeros, by all variants of the collectives that reduce. The result is one of
// the inputs, whose order is that of their values.
#include "ccl/OnDevices.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// An f8 type, as the definitions of OCP and of the FNUZ types have it.
struct Format {
  DType dtype;
  int mantissa, bias;
  bool hasInfinity, isUnsignedZero;
};
} // namespace

static constexpr Format formats[] = {
    {DType::f8e4m3fn, 3, 7, false, false},
    {DType::f8e5m2, 2, 15, true, false},
    {DType::f8e4m3fnuz, 3, 8, false, true},
    {DType::f8e5m2fnuz, 2, 16, false, true},
};

static double valueOf(const Format &format, uint8_t code) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const int magnitude = code & 0x7f;
  if (format.isUnsignedZero && code == 0x80)
    return nan;
  const double sign = code & 0x80 ? -1.0 : 1.0;
  const int infinity = 0x1f << format.mantissa;
  if (format.hasInfinity && magnitude >= infinity)
    return magnitude == infinity
               ? sign * std::numeric_limits<double>::infinity()
               : nan;
  if (!format.hasInfinity && !format.isUnsignedZero && magnitude == 0x7f)
    return nan;
  const int exponent = magnitude >> format.mantissa;
  const int fraction = magnitude & ((1 << format.mantissa) - 1);
  const int ulp = std::max(exponent, 1) - format.bias - format.mantissa;
  const int leading = exponent == 0 ? 0 : 1 << format.mantissa;
  return std::copysign(std::ldexp(fraction + leading, ulp), sign);
}

/// Whether `a` comes before `b`; -0 is below +0.
static bool isLess(double a, double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

/// Whether `got` is the smaller or larger of two codes; any NaN for a NaN.
static bool isRight(const Format &format, ReduceOp reduce, uint8_t a, uint8_t b,
                    uint8_t got) {
  const double x = valueOf(format, a), y = valueOf(format, b);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(valueOf(format, got));
  const bool takesB = reduce == ReduceOp::max ? isLess(x, y) : isLess(y, x);
  return got == (takesB ? b : a);
}

static constexpr uint64_t numPairs = 256 * 256;

/// Of rank 0 and of rank 1, for pair i.
static uint8_t codeOf(uint32_t rank, uint64_t i) {
  return static_cast<uint8_t>(rank == 0 ? i / 256 : i % 256);
}

static std::string solve(World &world, Communicator &comm,
                         const Buffers &buffers, const Format &format, Op op,
                         ReduceOp reduce, const std::string &variant) {
  const auto me = static_cast<uint32_t>(comm.index());
  std::vector<uint8_t> input(numPairs), got(numPairs, 0);
  for (uint64_t i = 0; i < numPairs; ++i)
    input[i] = codeOf(me, i);
  RANK_TRY(world.copyToDevice(buffers.in, input.data(), numPairs));
  RANK_TRY(deviceBarrier(world, comm));
  Config config;
  config.variant = variant;
  const bool scatters = op == Op::reduceScatter;
  const uint64_t count = scatters ? numPairs / 2 : numPairs;
  RANK_TRY(comm.run({op,
                     toPointer(buffers.in),
                     toPointer(buffers.out),
                     count,
                     format.dtype,
                     reduce,
                     /*root=*/0,
                     {},
                     &config}));
  RANK_TRY(world.copyToHost(got.data(), buffers.out, count));
  RANK_TRY(world.synchronize());
  if (hasRoot(op) && me != 0)
    return "";
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t pair = scatters ? me * count + i : i;
    const uint8_t a = codeOf(0, pair), b = codeOf(1, pair);
    if (!isRight(format, reduce, a, b, got[i]))
      return std::string(opName(op)) + " " + variant + " " +
             std::string(reduceOpName(reduce)) + " " +
             std::string(dtypeName(format.dtype)) + " of " + std::to_string(a) +
             " and " + std::to_string(b) + " is " + std::to_string(got[i]);
  }
  return "";
}

class Extremes : public OnDevices {};
IRIS_ON_DEVICES(Extremes, 2u);

TEST_P(Extremes, AreInputs) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, numPairs));
    for (Op op : {Op::allReduce, Op::reduceScatter, Op::reduce})
      for (const std::string &variant : variantsOf(op)) {
        const plan::Variant *traits = getCollective(op).find(variant);
        if (traits->has(plan::anyOrder)) // atomic has no f8
          continue;
        // Those without infinities are narrowed as for sums.
        for (const Format &format : formats)
          for (ReduceOp reduce : {ReduceOp::min, ReduceOp::max})
            if (format.hasInfinity || variant == variantsOf(op).front())
              SOLVE(*world, *comm, buffers, format, op, reduce, variant);
      }
    RANK_TRY(world->sync());
    return "";
  });
}
