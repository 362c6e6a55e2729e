// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TempDir.h"

#include "iris/Target/TemporaryFiles.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::iris;

namespace fs = llvm::sys::fs;

static constexpr llvm::StringLiteral namePrefix = "iris-compile-";
/// Directories older than this do not belong to a running process.
static constexpr auto abandonedAge = std::chrono::hours(1);

//===----------------------------------------------------------------------===//
// Directories of this process, for signal handlers
//===----------------------------------------------------------------------===//

namespace {
/// A directory. `used` is set after the path, and says whether it is valid.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> used{false};
  char path[512];
};
} // namespace

/// Several threads may generate code; directories of threads beyond this number
/// are removed by a later process.
static Slot slots[16];

static void noteDirectory(const std::string &path) {
  if (path.size() >= sizeof(Slot::path))
    return;
  for (Slot &slot : slots) {
    if (slot.taken.exchange(true))
      continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.used = true;
    return;
  }
}

static void forgetDirectory(const std::string &path) {
  for (Slot &slot : slots) {
    if (!slot.used || path != slot.path)
      continue;
    slot.used = false;
    slot.taken = false;
    return;
  }
}

void mlir::iris::removeTemporaryDirectories() {
  // The files that a directory may contain; LLVM's handlers have removed those
  // they know.
  static constexpr const char *names[] = {"image.o", "image.so", "image.ptx",
                                          "image.cubin", "log"};
  for (Slot &slot : slots) {
    if (!slot.used)
      continue;
    int fd = ::open(slot.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
      continue;
    for (const char *name : names)
      ::unlinkat(fd, name, 0);
    ::close(fd);
    ::rmdir(slot.path);
  }
}

//===----------------------------------------------------------------------===//
// Directories of other processes
//===----------------------------------------------------------------------===//

/// Removes directories that processes of this user have left in `parent`.
static void sweep(StringRef parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error, /*follow_symlinks=*/false),
       end;
       !error && entry != end; entry.increment(error)) {
    StringRef name = llvm::sys::path::filename(entry->path());
    llvm::ErrorOr<fs::basic_file_status> status = entry->status();
    if (!name.starts_with(namePrefix) || !status ||
        status->type() != fs::file_type::directory_file ||
        status->getUser() != ::geteuid() ||
        status->getLastModificationTime() + abandonedAge >
            std::chrono::system_clock::now())
      continue;
    std::error_code ignored;
    for (fs::directory_iterator file(entry->path(), ignored, false);
         !ignored && file != end; file.increment(ignored))
      ::unlink(file->path().c_str());
    ::rmdir(entry->path().c_str());
  }
}

/// A path for messages: it comes from the environment, and may contain terminal
/// control sequences.
static std::string printable(StringRef path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(path, os);
  return text;
}

//===----------------------------------------------------------------------===//
// TempDir
//===----------------------------------------------------------------------===//

TempDir::~TempDir() {
  for (const std::string &file : files) {
    fs::remove(file);
    llvm::sys::DontRemoveFileOnSignal(file);
  }
  if (path.empty())
    return;
  ::rmdir(path.c_str());
  forgetDirectory(path);
}

LogicalResult TempDir::create(Location loc) {
  SmallString<128> pattern;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, pattern);
  static const bool swept = (sweep(pattern), true);
  (void)swept;
  llvm::sys::path::append(pattern, namePrefix + "XXXXXX");
  // A signal in between would leave a directory that is not registered.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool made = ::mkdtemp(const_cast<char *>(pattern.c_str())) != nullptr;
  int error = errno;
  if (made) {
    path = pattern.str().str();
    noteDirectory(path);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!made)
    return emitError(loc) << "cannot create the temporary directory '"
                          << printable(pattern)
                          << "': " << std::strerror(error);
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
    return emitError(loc) << "cannot write the temporary file '"
                          << printable(path) << "': " << error.message();
  return success();
}

FailureOr<SmallVector<char, 0>> mlir::iris::readFile(Location loc,
                                                     StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read the temporary file '"
                          << printable(path)
                          << "': " << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
