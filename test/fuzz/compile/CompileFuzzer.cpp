// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes iris-compile's input: parses, runs the whole pipeline and generates
// code, in process. The first byte selects the target:
//   0, 1, 2   host with @main, gfx942, sm_90a; addresses by stride
//   3, 4, 5   the same; addresses by table
// To run a finding through the compiler itself: tail -c +2 FINDING > a.mlir
#include "Driver.h"
#include "Mutator.h"

#include "iris/InitAllDialects.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <csignal>
#include <cstdlib>

using namespace mlir;
using namespace mlir::iris;

/// Only instrumented code marks memory of LLVM's arenas as used or unused, and
/// LLVM's libraries are not instrumented; a back end that fails leaks its state
/// on purpose.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}

static DriverOptions makeOptions(uint8_t mode) {
  static constexpr const char *targets[] = {"host", "gfx942", "sm_90a"};
  DriverOptions options;
  options.targets.push_back(llvm::cantFail(parseTarget(targets[mode % 3])));
  options.translations.push_back(mode / 3 % 2 ? "table" : "stride");
  options.emit = mode % 3 ? EmitKind::Object : EmitKind::Package;
  return options;
}

static const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *filled = new DialectRegistry;
    registerAllDialects(*filled);
    for (TargetKind kind :
         {TargetKind::Host, TargetKind::AMDGPU, TargetKind::NVPTX})
      registerTargetTranslations(kind, *filled);
    return filled;
  }();
  return *registry;
}

/// Handles LLVM's fatal errors as the compiler does, as diagnostics, but leaves
/// crashes to the fuzzer.
static void enableFatalErrorRecovery() {
  constexpr int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
  struct sigaction before[std::size(signals)];
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], nullptr, &before[i]);
  llvm::CrashRecoveryContext::Enable();
  for (size_t i = 0; i < std::size(signals); ++i)
    sigaction(signals[i], &before[i], nullptr);
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  enableFatalErrorRecovery();
  return 0;
}

/// The parser needs a terminating zero.
static std::string getText(const uint8_t *data, size_t size) {
  return std::string(reinterpret_cast<const char *>(data + 1), size - 1);
}

/// Parses and verifies as iris-compile does; errors go to `report`.
static OwningOpRef<ModuleOp>
parse(const std::string &text, MLIRContext &context,
      llvm::function_ref<void(Diagnostic &)> report) {
  context.printOpOnDiagnostic(false);
  context.getDiagEngine().registerHandler([=](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      report(diagnostic);
    return success();
  });
  return parseSourceString<ModuleOp>(text, &context);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  unsigned numErrors = 0;
  std::string lastError;
  auto report = [&](Diagnostic &diagnostic) {
    ++numErrors;
    lastError = diagnostic.str();
  };
  auto source = parse(getText(data, size), context, report);
  bool good = bool(source);
  if (good) {
    TimingScope timing;
    good = succeeded(compile(*source, makeOptions(data[0]), timing));
  }
  // Every rejection has a message, and nothing is written after an error.
  if (good != (numErrors == 0)) {
    llvm::errs() << (good ? "compiled in spite of: " + lastError
                          : "refused without an error")
                 << "\n";
    std::abort();
  }
  // The compiler reports this as an error; here it is a finding.
  if (StringRef(lastError).contains("this is a bug in")) {
    llvm::errs() << lastError << "\n";
    std::abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  static ::iris::fuzz::Mutator mutator;
  // Occasionally, raw bytes and words of the dictionary.
  if (size < 2 || seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  uint8_t mode = seed % 8 == 1 ? '0' + seed / 8 % 6 : data[0];
  std::string text = getText(data, size);
  mutator.learn(text);
  // The passes only see input that parses, so skip most input that does not.
  constexpr unsigned maxAttempts = 20;
  std::string mutated;
  for (unsigned attempt = 0; attempt < maxAttempts; ++attempt) {
    mutated = mutator.mutate(text, seed + attempt);
    MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
    if (parse(mutated, context, [](Diagnostic &) {}))
      break;
  }
  if (mutated.size() + 1 > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  data[0] = mode;
  std::copy(mutated.begin(), mutated.end(), data + 1);
  return mutated.size() + 1;
}
