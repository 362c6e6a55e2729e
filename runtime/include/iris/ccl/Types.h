// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations, element types, reductions and configs of the collectives.
//
// \param op the operation
// \param dtype the type of the elements
// \param reduce how the elements are combined
#ifndef IRIS_CCL_TYPES_H
#define IRIS_CCL_TYPES_H

#include "iris/Plan/Collectives.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

namespace plan = ::irisplan;

/// The operations.  The values are those of the C API.
enum class Op : int32_t {
#define IRIS_COLLECTIVE(Name, name, ...) name,
#include "iris/Plan/Collectives.def"
};

/// \return the operation's row of the table; null for an invalid value
constexpr const plan::Collective *findCollective(Op op) {
  return plan::findCollective(static_cast<int32_t>(op));
}
/// \return the same for a valid value
constexpr const plan::Collective &getCollective(Op op) {
  return plan::getCollective(static_cast<plan::CollectiveKind>(op));
}

/// Element types.  The fp8 types are those of OCP (fn) and of AMD's gfx94x
/// (fnuz).  The values are those of the C API.
enum class DType : int32_t {
  f16 = 0,
  bf16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  f8e4m3fn,
  f8e5m2,
  f8e4m3fnuz,
  f8e5m2fnuz,
  u32,
  u64,
};

/// The DType of elements of a C++ type; the others have no C++ type.
template <typename T>
inline constexpr DType dtypeOf = [] {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::u32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::u64;
  else
    static_assert(!sizeof(T),
                  "expected float, double, int8_t to int64_t, uint8_t, "
                  "uint32_t or uint64_t; name the DType of other elements");
}();

/// The reductions.  `avg` is the sum, divided once by the number of ranks;
/// integers are truncated towards zero.  Sums of f16, bf16 and fp8
/// accumulate in f32.  The values are those of the C API.
enum class ReduceOp : int32_t { sum = 0, prod, min, max, avg };

/// \return the name of an operation: "all_gather"; "unknown" for another value
std::string_view opName(Op op);
/// \return the name of a type: "bf16"; "unknown" for another value
std::string_view dtypeName(DType dtype);
/// \return the name of a reduction: "sum"; "unknown" for another value
std::string_view reduceOpName(ReduceOp reduce);

/// \return the bytes of one element; 0 for a value that is no DType
uint32_t dtypeBytes(DType dtype);

/// \return whether the operation combines elements
bool reduces(Op op);
/// \return whether the operation has a root or a peer
bool hasRoot(Op op);

/// The config of a collective.  Fields that are empty or 0 are chosen by the
/// Selector.  All ranks of the group pass the same.
struct Config {
  /// The algorithm; variantsOf() lists those of an operation.
  std::string variant;
  /// Elements per program and iteration: a power of two, of 16 to 16384 bytes.
  /// (In bytes for operations that do not reduce.)
  int64_t tile = 0;
  /// Warps of a program: 1, 2, 4, 8 or 16.
  int64_t warps = 0;
  /// The maximum number of programs of a launch: 1 to 128 (send and recv: 16).
  int64_t programs = 0;
  /// Chiplets (XCDs) to which programs are assigned round-robin: 1 to 64.
  int64_t xcds = 0;
  /// Requests the staged kernel, whose buffers may be any device memory, also
  /// for buffers on the heap.
  bool staged = false;

  /// Whether all fields are equal.
  bool operator==(const Config &other) const {
    return variant == other.variant && tile == other.tile &&
           warps == other.warps && programs == other.programs &&
           xcds == other.xcds && staged == other.staged;
  }
};

/// \return the names of an operation's variants
const std::vector<std::string> &variantsOf(Op op);

/// Finds out whether a variant has a staged form, for buffers that peers cannot
/// access.
/// \param variant the name of a variant
/// \return whether it has; false if the operation has no such variant
bool hasStagedForm(Op op, const std::string &variant);

/// Checks the fields of a config.
/// \param config the config
/// \retval invalidArgument a field has a value that no kernel of the operation
///   supports; the message says what is allowed
rt::Status checkConfig(Op op, DType dtype, const Config &config);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_TYPES_H
