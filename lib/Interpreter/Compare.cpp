// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.cpp - Compares a device's buffer with the reference --------===//
#include "iris/Interpreter/Compare.h"

#include "Memory.h"

#include <cmath>

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

static Element elementAt(Kind kind, ArrayRef<uint8_t> bytes, uint64_t byte) {
  Element element;
  for (int64_t i = 0; i < kind.bytes(); ++i)
    element.bits |= uint64_t(bytes[byte + i]) << (8 * i);
  return element;
}

static bool isClose(Kind kind, Element found, Element expected,
                    double tolerance) {
  if (tolerance == 0)
    return false;
  double want = toDouble(kind, expected);
  if (!std::isfinite(want))
    return false;
  double difference = std::fabs(toDouble(kind, found) - want);
  return difference <= tolerance * std::fmax(1, std::fabs(want));
}

BufferDifference mlir::iris::compareBuffer(const BufferSnapshot &expected,
                                           ArrayRef<uint8_t> found,
                                           double tolerance) {
  assert(found.size() == expected.bytes.size() && "checked by the caller");
  BufferDifference difference;
  Kind kind = expected.element;
  forEachElement(expected.sizes, [&](int64_t n, ArrayRef<int64_t> at) {
    uint64_t byte = n * kind.bytes();
    for (int64_t i = 0; i < kind.bytes(); ++i)
      if (!expected.defined[byte + i])
        return;
    ++difference.compared;
    Element got = elementAt(kind, found, byte);
    Element want = elementAt(kind, expected.bytes, byte);
    if (isEqual(kind, got, want) ||
        (kind.isFloat() && isClose(kind, got, want, tolerance)))
      return;
    if (difference.count++ != 0)
      return;
    difference.index.assign(at.begin(), at.end());
    difference.found = toText(kind, got);
    difference.expected = toText(kind, want);
  });
  return difference;
}
