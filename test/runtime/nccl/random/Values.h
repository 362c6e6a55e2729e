// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the operations of random programs read and have to write. All values are
// integers that are exact in their type, also while they are reduced, so that
// results are compared bit by bit; the reference is the definition of each
// operation in NCCL's documentation.
#ifndef IRIS_TEST_RUNTIME_NCCL_RANDOM_VALUES_H
#define IRIS_TEST_RUNTIME_NCCL_RANDOM_VALUES_H

#include <cstdint>
#include <nccl.h>
#include <vector>

namespace nccl_random {

/// An element type; integers have no exponent.
struct Type {
  ncclDataType_t type;
  const char *name;
  unsigned bytes, exponentBits, mantissaBits;
  bool isSigned;

  bool isFloat() const { return exponentBits != 0; }
  bool isFloat8() const { return isFloat() && bytes == 1; }
  /// The bytes of an integer of at most 53 bits.
  void encode(int64_t value, uint8_t *to) const;
};
const std::vector<Type> &allTypes();

/// A well mixed number.
uint64_t hashOf(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/// How the elements of an operation among `ranks` are reduced.
struct Reduction {
  enum Kind { none, sum, prod, min, max, avg, preMulSum };
  Kind kind = none;
  const Type *type = nullptr;
  int ranks = 1;
  uint64_t seed = 0;

  /// Whether all results of this kind are exact.
  bool isExact() const;
  /// What a member of the communicator has at an index.
  int64_t input(int member, uint64_t index) const;
  /// The factor of a member, of preMulSum.
  static int64_t factor(int member) { return 1 + member % 3; }
  /// The elements at the index of all members, reduced.
  int64_t reduced(uint64_t index) const;
};

} // namespace nccl_random

#endif // IRIS_TEST_RUNTIME_NCCL_RANDOM_VALUES_H
