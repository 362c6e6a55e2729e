// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TunedChoices.h - Measured choices on disk ----------------*- C++ -*-===//
//
// What was measured on this machine, so that it is measured once: a directory
// "tuned" beside the compiled kernels, with one file for each key. A key says
// everything that a choice depends on: the ranks' devices, their links and
// driver, Iris' version, and the problem. A file repeats its key and has a hash
// of its contents; a file that is damaged, has another key or belongs to
// another user is removed and made again.
//
// Without a disk cache, choices are kept in the process.
#ifndef IRIS_RT_CCL_TUNEDCHOICES_H
#define IRIS_RT_CCL_TUNEDCHOICES_H

#include "ccl/Agreement.h"
#include "iris/ccl/KernelCache.h"

#include <optional>
#include <string>

namespace iris::ccl {

/// Describes the ranks' devices for a key: an exchange over the group.
rt::Expected<std::string> describeMachine(const rt::World &world,
                                          Agreement agreement);

/// Why nothing can be measured on a world at all; "" if it can.
std::string whyNotMeasured(const rt::World &world);

class TunedChoices {
public:
  /// Opens the directory beside the compiled kernels of `cache`. One that other
  /// users can access is an error; without a usable one, choices are kept in
  /// the process.
  static rt::Expected<TunedChoices> open(const KernelCache &cache);

  /// The text that was kept for the key; none if there is none.
  std::optional<std::string> read(const std::string &key);
  /// Keeps a text of one or more whole lines. A failure is logged: the next
  /// program measures again.
  void write(const std::string &key, const std::string &text);
  /// Removes the entry of a key whose text is of no use.
  void remove(const std::string &key, const std::string &why);

private:
  TunedChoices(std::string directory, std::string build)
      : directory_(std::move(directory)), build_(std::move(build)) {}

  /// Empty: in the process.
  std::string directory_;
  /// The compiler whose kernels are measured; a part of all keys.
  std::string build_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_TUNEDCHOICES_H
