// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets of the compiler, and the properties of each that LLVM needs.
#ifndef IRIS_TARGET_TARGETREGISTRY_H
#define IRIS_TARGET_TARGETREGISTRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::iris {

/// The families of targets: each has one LLVM backend and one kind of image.
enum class TargetKind { AMDGPU, NVPTX, Host };

/// One target. Its name is used on the command line (`--target=`) and in
/// packages (`arch`). Values point into a static table, so copies are cheap and
/// valid for the lifetime of the process.
struct TargetSpec {
  TargetKind kind;
  /// "gfx942", "sm_90a", "host", ...
  llvm::StringRef name;
  /// LLVM triple of the image.
  llvm::StringRef triple;
  /// LLVM's name of the processor.
  llvm::StringRef chip;
  /// LLVM's subtarget features in addition to the processor's.
  llvm::StringRef features;
  /// The GPUs, and the kind of image, for people.
  llvm::StringRef gpus, image;

  bool isGPU() const { return kind != TargetKind::Host; }
};

/// Every known target, fully supported ones first.
llvm::ArrayRef<TargetSpec> getKnownTargets();

/// The target `name`; the error lists the known targets.
llvm::Expected<TargetSpec> parseTarget(llvm::StringRef name);

/// Parses a comma-separated list of names. A duplicate target is an error.
llvm::Expected<llvm::SmallVector<TargetSpec, 4>>
parseTargetList(llvm::StringRef names);

/// Registers LLVM's backend for `kind` only, to keep start-up fast. Cheap when
/// called again.
void initializeBackend(TargetKind kind);

} // namespace mlir::iris

#endif // IRIS_TARGET_TARGETREGISTRY_H
