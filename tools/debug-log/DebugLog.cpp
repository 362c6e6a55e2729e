// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DebugLog.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Debug.h"
#include <string>
#include <vector>

namespace cl = llvm::cl;

#ifndef NDEBUG
/// Adds `type`, "NAME" or "NAME:LEVEL", to those that are logged.
static void logType(const std::string &type) {
  static std::vector<std::string> types;
  types.push_back(type);
  llvm::SmallVector<const char *> pointers;
  for (const std::string &each : types)
    pointers.push_back(each.c_str());
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(pointers.data(), pointers.size());
}
#endif

void mlir::iris::registerDebugLogOption(cl::OptionCategory &category) {
#ifndef NDEBUG
  if (cl::getRegisteredOptions().contains("debug-only"))
    return;
  static cl::list<std::string> debugOnly(
      "debug-only",
      cl::desc("Log what these passes decide, on standard error: pass names, "
               "separated by commas; NAME:2 logs more"),
      cl::value_desc("names"), cl::CommaSeparated, cl::cat(category),
      cl::callback([](const std::string &type) { logType(type); }));
#else
  (void)category;
#endif
}
