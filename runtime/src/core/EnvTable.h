// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EnvTable.h - Table of environment variables --------------*- C++ -*-===//
//
// One row for each variable: name, values, default and meaning for users, and
// the function that parses its value. Env::read, the help and the reference
// follow from it.
#ifndef IRIS_RT_CORE_ENVTABLE_H
#define IRIS_RT_CORE_ENVTABLE_H

#include "iris/rt/Env.h"

namespace iris::rt {

/// A friend of Env: its parsers set fields.
struct EnvTable {
  /// Sets the variable's field of `env`; false for an invalid value, which is
  /// then ignored.
  using Parser = bool (*)(Env &env, const std::string &value);

  struct Row {
    EnvVariable variable;
    /// Null: the variable has no field. The launcher sets it (readLaunch), or a
    /// default depends on it.
    Parser parse = nullptr;
  };

  static const std::vector<Row> &rows();
};

/// The value of a variable; "" if it is not set.
using EnvLookup = std::function<std::string(const char *name)>;

/// Rank, size and job, from the variables of the first launcher that set them.
Expected<LaunchInfo> readLaunch(const EnvLookup &lookup);

/// Parses all of `text` as a decimal number.
std::optional<uint64_t> parseNumber(const std::string &text);

} // namespace iris::rt

#endif // IRIS_RT_CORE_ENVTABLE_H
