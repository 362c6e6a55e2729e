// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arguments.h - Kernel arguments on a command line ---------*- C++ -*-===//
#ifndef IRIS_TOOLS_EMULATE_ARGUMENTS_H
#define IRIS_TOOLS_EMULATE_ARGUMENTS_H

#include "iris/Emulator/Memory.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace iristools {

/// A buffer in memory that the kernel may access, and what becomes of it.
struct Buffer {
  std::unique_ptr<uint8_t[]> storage;
  uint8_t *data = nullptr;
  uint64_t size = 0;
  /// Files that it is written to at the end, and whether it is printed.
  std::string path;
  bool isPrinted = false;
  std::string name;
};

/// The arguments of --args, as the kernel gets them.
struct Arguments {
  std::vector<std::vector<uint8_t>> values;
  std::vector<Buffer> buffers;
};

/// Parses --args, and registers its buffers. `explainArguments` is the syntax.
llvm::Expected<Arguments> parseArguments(llvm::StringRef text,
                                         mlir::iris::emulator::Memory &memory);
extern const char *const explainArguments;

/// Writes and prints the buffers.
llvm::Error finish(const Arguments &arguments);

} // namespace iristools

#endif // IRIS_TOOLS_EMULATE_ARGUMENTS_H
