// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TEST_RUNTIME_SUPPORT_READFILE_H
#define IRIS_TEST_RUNTIME_SUPPORT_READFILE_H

#include <fstream>
#include <sstream>
#include <string>

namespace iris::rt::test {

/// The bytes of a file; empty if it cannot be read.
inline std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_READFILE_H
