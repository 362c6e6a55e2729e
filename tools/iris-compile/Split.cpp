// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Split.cpp - A folder of packages from one input --------------------===//
#include "Split.h"

#include "mlir/Support/ToolUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::iris;
namespace fs = llvm::sys::fs;

llvm::SmallVector<InputPart> mlir::iris::splitInput(llvm::StringRef input) {
  llvm::SmallVector<InputPart> parts;
  const char *begin = input.begin();
  unsigned first = 1, line = 1;
  bool isEmpty = true;
  auto finish = [&](const char *end, unsigned next) {
    if (!isEmpty)
      parts.push_back({llvm::StringRef(begin, end - begin), first});
    first = next;
    isEmpty = true;
  };
  while (!input.empty()) {
    auto [text, rest] = input.split('\n');
    llvm::StringRef trimmed = text.trim();
    if (trimmed == mlir::kDefaultSplitMarker) {
      finish(text.begin(), line + 1);
      begin = rest.begin();
    } else if (!trimmed.empty() && !trimmed.starts_with("//")) {
      isEmpty = false;
    }
    input = rest;
    ++line;
    if (input.empty())
      finish(text.end(), line);
  }
  return parts;
}

llvm::Error mlir::iris::createFolder(llvm::StringRef path) {
  const auto perms = fs::all_read | fs::all_exe | fs::owner_write;
  std::error_code error =
      fs::create_directories(path, /*IgnoreExisting=*/true, perms);
  if (!error)
    return llvm::Error::success();
  return llvm::createStringError("cannot create the folder '%s': %s",
                                 path.str().c_str(), error.message().c_str());
}

/// Waits for a child; returns whether it exited with 0.
static bool waitFor(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return false;
  if (WIFSIGNALED(status))
    llvm::errs() << "iris-compile: error: a job was ended by signal "
                 << WTERMSIG(status) << "\n";
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool mlir::iris::runInProcesses(unsigned jobs, size_t count,
                                llvm::function_ref<bool(size_t)> work) {
  // Processes, because lld is not reentrant.
  llvm::SmallVector<pid_t> children;
  bool succeeded = true;
  for (unsigned job = 0; job < jobs && job < count; ++job) {
    pid_t child = ::fork();
    if (child < 0) {
      llvm::errs() << "iris-compile: error: cannot start a job: "
                   << std::strerror(errno) << "\n";
      succeeded = false;
      break;
    }
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM); // ends with the parent
      bool allSucceeded = true;
      for (size_t i = job; i < count && allSucceeded; i += jobs)
        allSucceeded = work(i);
      llvm::errs().flush();
      ::_exit(allSucceeded ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children)
    succeeded &= waitFor(child);
  return succeeded;
}
