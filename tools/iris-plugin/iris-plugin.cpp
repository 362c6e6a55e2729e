// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-plugin.cpp - The Iris dialects and passes for stock mlir-opt --===//

#include "iris/InitAllDialects.h"
#include "iris/InitAllPasses.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Iris", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::iris::registerAllDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Iris", LLVM_VERSION_STRING,
          [] { mlir::iris::registerAllPasses(); }};
}
