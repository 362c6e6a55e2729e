// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Output.cpp - Output files ------------------------------------------===//
#include "Output.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::iris;
namespace fs = llvm::sys::fs;

static llvm::Error makeError(llvm::StringRef path, const std::string &reason) {
  return llvm::createStringError("cannot write '%s': %s", path.str().c_str(),
                                 reason.c_str());
}

llvm::Error mlir::iris::checkOutput(llvm::StringRef path, bool binary) {
  if (path == "-") {
    if (binary && llvm::sys::Process::StandardOutIsDisplayed())
      return llvm::createStringError(
          "refusing to write binary output to a terminal; name a file with -o, "
          "or pipe the output");
    return llvm::Error::success();
  }
  if (fs::is_directory(path))
    return makeError(path, "it is a directory");
  return llvm::Error::success();
}

/// Writes and flushes; returns the error of either.
static llvm::Error writeStream(llvm::StringRef path, llvm::raw_fd_ostream &os,
                               llvm::StringRef bytes) {
  os << bytes;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error)
    return makeError(path, error.message());
  return llvm::Error::success();
}

llvm::Error mlir::iris::writeOutput(llvm::StringRef path,
                                    llvm::StringRef bytes) {
  if (path == "-")
    return writeStream("standard output", llvm::outs(), bytes);

  // Pipes and devices are written to; only regular files are replaced. A
  // symbolic link stays, and its target is replaced.
  llvm::SmallString<128> destination(path);
  fs::file_status status;
  if (!fs::status(path, status) && fs::exists(status)) {
    if (!fs::is_regular_file(status)) {
      std::error_code error;
      llvm::raw_fd_ostream os(path, error, fs::CD_OpenExisting, fs::FA_Write,
                              fs::OF_None);
      if (error)
        return makeError(path, error.message());
      return writeStream(path, os, bytes);
    }
    // Renaming needs no write permission on the file; require it nevertheless.
    if (std::error_code error = fs::access(path, fs::AccessMode::Write))
      return makeError(path, error.message());
    if (std::error_code error = fs::real_path(path, destination))
      return makeError(path, error.message());
  }

  llvm::Expected<fs::TempFile> temp =
      fs::TempFile::create(destination + ".tmp-%%%%%%%%");
  if (!temp)
    return makeError(path, llvm::toString(temp.takeError()));
  llvm::raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
  if (llvm::Error error = writeStream(path, os, bytes))
    return llvm::joinErrors(std::move(error), temp->discard());
  if (llvm::Error error = temp->keep(destination))
    return makeError(path, llvm::toString(std::move(error)));
  return llvm::Error::success();
}
