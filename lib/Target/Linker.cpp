// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Linker.h"

#include "TempDir.h"
#include "lld/Common/Driver.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::iris;

/// Timeout in seconds, so that a stuck assembler does not block the build.
static constexpr unsigned ptxasSeconds = 300;

/// Symbols that LLVM's code generator may reference and every host process has.
static bool isProvidedByProcess(const TargetSpec &target, StringRef symbol) {
  static const llvm::StringSet<> provided = {"memcpy", "memmove", "memset",
                                             "memcmp", "bcmp"};
  return target.kind == TargetKind::Host && provided.contains(symbol);
}

/// Reports all undefined symbols of `object` in one error. lld reports one
/// error per use, and cannot be told which symbols are allowed.
static LogicalResult checkUndefined(Location loc, const TargetSpec &target,
                                    llvm::MemoryBufferRef object) {
  auto file = llvm::object::ObjectFile::createELFObjectFile(object);
  if (!file)
    return emitError(loc) << "cannot read the generated object: "
                          << llvm::toString(file.takeError());
  SmallVector<std::string> undefined;
  for (llvm::object::SymbolRef symbol : (*file)->symbols()) {
    uint32_t flags = llvm::cantFail(symbol.getFlags());
    if (!(flags & llvm::object::SymbolRef::SF_Undefined) ||
        (flags & llvm::object::SymbolRef::SF_FormatSpecific))
      continue;
    StringRef name = llvm::cantFail(symbol.getName());
    if (!name.empty() && !isProvidedByProcess(target, name))
      undefined.push_back(("'" + name + "'").str());
  }
  if (undefined.empty())
    return success();
  return emitError(loc) << "the image for " << target.name
                        << " has undefined symbols (no device or "
                           "math library is linked): "
                        << llvm::join(undefined, ", ");
}

FailureOr<SmallVector<char, 0>>
mlir::iris::linkSharedObject(Location loc, const TargetSpec &target,
                             ArrayRef<char> object) {
  llvm::MemoryBufferRef buffer(StringRef(object.data(), object.size()),
                               "object");
  if (failed(checkUndefined(loc, target, buffer)))
    return failure();

  TempDir dir;
  if (failed(dir.create(loc)))
    return failure();
  std::string input = dir.file("image.o");
  std::string output = dir.file("image.so");
  if (failed(dir.write(loc, "image.o", object)))
    return failure();

  // One thread: the inputs are small, and creating a thread pool takes longer
  // than the link. Undefined symbols have been checked above.
  const char *args[] = {"ld.lld",
                        "-shared",
                        "--threads=1",
                        "--build-id=none",
                        "--hash-style=gnu",
                        "--color-diagnostics=never",
                        "-o",
                        output.c_str(),
                        input.c_str()};
  std::string messages;
  llvm::raw_string_ostream os(messages);
  lld::Result result =
      lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return emitError(loc) << "linking the image for " << target.name
                          << " failed: " << StringRef(messages).trim();
  return dir.read(loc, "image.so");
}

FailureOr<SmallVector<char, 0>>
mlir::iris::assemblePTX(Location loc, const TargetSpec &target, StringRef ptxas,
                        unsigned optLevel, bool lineTables,
                        ArrayRef<char> ptx) {
  TempDir dir;
  if (failed(dir.create(loc)))
    return failure();
  std::string input = dir.file("image.ptx");
  std::string output = dir.file("image.cubin");
  std::string log = dir.file("log");
  if (failed(dir.write(loc, "image.ptx", ptx)))
    return failure();

  std::string arch = ("-arch=" + target.chip).str();
  std::string level = llvm::formatv("-O{0}", optLevel);
  SmallVector<StringRef> args = {ptxas, arch, level, input, "-o", output};
  if (lineTables)
    args.push_back("-lineinfo");
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string message;
  int status =
      llvm::sys::ExecuteAndWait(ptxas, args, /*Env=*/std::nullopt, redirects,
                                ptxasSeconds, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return dir.read(loc, "image.cubin");
  if (status > 0) {
    FailureOr<SmallVector<char, 0>> text = dir.read(loc, "log");
    if (succeeded(text))
      message = StringRef(text->data(), text->size()).trim().str();
  }
  return emitError(loc) << "'" << ptxas << "' failed for " << target.name
                        << ": " << message;
}
