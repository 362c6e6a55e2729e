// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TempDir.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace mlir;
using namespace mlir::iris;

TempDir::~TempDir() {
  for (const std::string &file : files) {
    llvm::sys::fs::remove(file);
    llvm::sys::DontRemoveFileOnSignal(file);
  }
  if (!path.empty())
    ::rmdir(path.c_str());
}

LogicalResult TempDir::create(Location loc) {
  SmallString<128> pattern;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, pattern);
  llvm::sys::path::append(pattern, "iris-XXXXXX");
  if (!::mkdtemp(const_cast<char *>(pattern.c_str())))
    return emitError(loc) << "cannot make the temporary directory '" << pattern
                          << "': " << std::strerror(errno);
  path = pattern.str().str();
  return success();
}

std::string TempDir::file(StringRef name) {
  files.push_back(path + "/" + name.str());
  llvm::sys::RemoveFileOnSignal(files.back());
  return files.back();
}

LogicalResult mlir::iris::writeFile(Location loc, StringRef path,
                                    ArrayRef<char> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os.write(bytes.data(), bytes.size());
    os.close();
    error = os.error();
    os.clear_error();
  }
  if (error)
    return emitError(loc) << "cannot write the temporary file '" << path
                          << "': " << error.message();
  return success();
}

FailureOr<SmallVector<char, 0>> mlir::iris::readFile(Location loc,
                                                     StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read the temporary file '" << path
                          << "': " << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
