// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TempDir.h"

#include "iris/Target/TemporaryFiles.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::iris;

static constexpr llvm::StringLiteral namePrefix = "iris-compile-";
/// Directories older than this do not belong to a running process.
static constexpr time_t abandonedSeconds = 3600;

//===----------------------------------------------------------------------===//
// Directories by descriptor
//===----------------------------------------------------------------------===//

/// Opens the directory `name` in `parent`, or the path `name`, and no symbolic
/// link; -1 with errno if that is impossible.
static int openDirectory(int parent, const char *name) {
  return ::openat(parent, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// True if `fd` is a directory of this user that no other user may change.
static bool isOwn(int fd, struct stat &info) {
  return ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) &&
         info.st_uid == ::geteuid() && (info.st_mode & 022) == 0;
}

/// Calls `visit` with the name of each entry of the directory `fd`.
static void forEachEntry(int fd, llvm::function_ref<void(const char *)> visit) {
  int copy = openDirectory(fd, "."); // closedir closes it
  DIR *directory = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!directory) {
    if (copy >= 0)
      ::close(copy);
    return;
  }
  while (dirent *entry = ::readdir(directory))
    if (StringRef(entry->d_name) != "." && StringRef(entry->d_name) != "..")
      visit(entry->d_name);
  ::closedir(directory);
}

//===----------------------------------------------------------------------===//
// Directories of this process, for signal handlers
//===----------------------------------------------------------------------===//

namespace {
/// A directory. `fd` is set after the path, and says whether it is valid.
struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<int> fd{-1};
  char path[512];
};
} // namespace

/// Several threads may generate code; directories of threads beyond this number
/// are removed by a later process.
static Slot slots[16];

static void noteDirectory(const std::string &path, int fd) {
  if (path.size() >= sizeof(Slot::path))
    return;
  for (Slot &slot : slots) {
    if (slot.taken.exchange(true))
      continue;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.fd = fd;
    return;
  }
}

static void forgetDirectory(int fd) {
  for (Slot &slot : slots) {
    if (slot.fd != fd)
      continue;
    slot.fd = -1;
    slot.taken = false;
    return;
  }
}

/// Removes the files in an open directory, whatever their names: the linker and
/// ptxas have temporary files of their own. Calls the system directly, because
/// readdir allocates memory, which a signal handler must not do.
static void removeFiles(int directory) {
  // Like the kernel's linux_dirent64, up to the name.
  struct Entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
  };
  constexpr size_t nameOffset = offsetof(Entry, type) + 1;
  alignas(Entry) char buffer[2048];
  // A signal may come while this function reads the same directory.
  ::lseek(directory, 0, SEEK_SET);
  long bytes;
  while ((bytes =
              ::syscall(SYS_getdents64, directory, buffer, sizeof(buffer))) > 0)
    for (long at = 0; at < bytes;) {
      Entry entry;
      std::memcpy(&entry, buffer + at, nameOffset);
      // Fails for "." and "..", which are directories.
      ::unlinkat(directory, buffer + at + nameOffset, 0);
      at += entry.length;
    }
}

void mlir::iris::removeTemporaryDirectories() {
  for (Slot &slot : slots) {
    int fd = slot.fd;
    if (fd < 0)
      continue;
    removeFiles(fd);
    ::rmdir(slot.path);
  }
}

//===----------------------------------------------------------------------===//
// Directories of other processes
//===----------------------------------------------------------------------===//

/// Removes directories that processes of this user have left in `path`.
static void sweep(const std::string &path) {
  int parent = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0)
    return;
  llvm::scope_exit close([&] { ::close(parent); });
  forEachEntry(parent, [&](const char *name) {
    if (!StringRef(name).starts_with(namePrefix))
      return;
    int fd = openDirectory(parent, name);
    if (fd < 0)
      return;
    struct stat info;
    if (isOwn(fd, info) &&
        info.st_mtime + abandonedSeconds <= ::time(nullptr)) {
      removeFiles(fd);
      ::unlinkat(parent, name, AT_REMOVEDIR);
    }
    ::close(fd);
  });
}

//===----------------------------------------------------------------------===//
// TempDir
//===----------------------------------------------------------------------===//

TempDir::~TempDir() {
  if (fd < 0)
    return;
  removeFiles(fd);
  ::rmdir(path.c_str());
  forgetDirectory(fd);
  ::close(fd);
}

/// Creates a directory and opens it; -1 with errno if that fails.
static int makeDirectory(std::string &pattern) {
  if (!::mkdtemp(pattern.data()))
    return -1;
  int fd = openDirectory(AT_FDCWD, pattern.c_str());
  struct stat info;
  if (fd >= 0 && isOwn(fd, info))
    return fd;
  int error = fd < 0 ? errno : EPERM; // another one took its place
  if (fd >= 0)
    ::close(fd);
  else
    ::rmdir(pattern.c_str());
  errno = error;
  return -1;
}

LogicalResult TempDir::create(Location loc) {
  SmallString<128> parent;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  static const bool swept = (sweep(parent.str().str()), true);
  (void)swept;
  path = (parent + "/" + namePrefix + "XXXXXX").str();
  // A signal in between would leave a directory that is not registered.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  fd = makeDirectory(path);
  int error = errno;
  if (fd >= 0)
    noteDirectory(path, fd);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (fd < 0)
    return emitError(loc) << "cannot create the temporary directory '" << path
                          << "': " << std::strerror(error)
                          << "; expected TMPDIR to name a directory of yours";
  // Children that use `file` inherit it.
  ::fcntl(fd, F_SETFD, 0);
  return success();
}

std::string TempDir::file(StringRef name) const {
  return ("/proc/self/fd/" + Twine(fd) + "/" + name).str();
}

InFlightDiagnostic TempDir::error(Location loc, StringRef action,
                                  StringRef name,
                                  const std::string &reason) const {
  return emitError(loc) << "cannot " << action << " the temporary file '"
                        << path << "/" << name << "': " << reason;
}

LogicalResult TempDir::write(Location loc, StringRef name,
                             ArrayRef<char> bytes) const {
  int output =
      ::openat(fd, name.str().c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (output < 0)
    return error(loc, "create", name, std::strerror(errno));
  llvm::raw_fd_ostream os(output, /*shouldClose=*/true);
  os.write(bytes.data(), bytes.size());
  os.close();
  std::error_code code = os.error();
  os.clear_error();
  if (code)
    return error(loc, "write", name, code.message());
  return success();
}

FailureOr<SmallVector<char, 0>> TempDir::read(Location loc,
                                              StringRef name) const {
  int input =
      ::openat(fd, name.str().c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (input < 0)
    return error(loc, "open", name, std::strerror(errno));
  llvm::scope_exit close([&] { ::close(input); });
  auto buffer =
      llvm::MemoryBuffer::getOpenFile(input, name, /*FileSize=*/-1,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error(loc, "read", name, buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
