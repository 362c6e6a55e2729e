// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BackendGuard.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Process.h"

using namespace mlir;

namespace {
/// Data of the fatal error handler.
struct FatalErrorContext {
  Location loc;
  StringRef what;
  bool reported = false;
};
} // namespace

/// Reports the error and exits with status 1, through the crash recovery
/// context if there is one.
static void onFatalError(void *data, const char *reason, bool) {
  auto &context = *static_cast<FatalErrorContext *>(data);
  context.reported = true;
  emitError(context.loc) << context.what << " failed: " << reason;
  llvm::sys::Process::Exit(1, /*NoCleanup=*/true);
}

LogicalResult mlir::iris::runBackend(Location loc, StringRef what,
                                     llvm::function_ref<void()> work) {
  // Sanitizers must handle signals themselves.
#if !LLVM_ADDRESS_SANITIZER_BUILD && !LLVM_THREAD_SANITIZER_BUILD
  llvm::CrashRecoveryContext::Enable();
#endif
  FatalErrorContext context{loc, what};
  llvm::ScopedFatalErrorHandler handler(onFatalError, &context);
  llvm::CrashRecoveryContext recovery;
  if (recovery.RunSafely(work))
    return success();
  if (!context.reported)
    emitError(loc) << what << " crashed; this is a bug in Iris or LLVM";
  return failure();
}
