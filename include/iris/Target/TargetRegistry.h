// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chips Iris compiles for, and what LLVM has to know about each of them.
#ifndef IRIS_TARGET_TARGETREGISTRY_H
#define IRIS_TARGET_TARGETREGISTRY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::iris {

/// The families of targets: one LLVM back end and one kind of image each.
enum class TargetKind { AMDGPU, NVPTX, Host };

/// One target, by the name users type (`--target=`) and packages carry
/// (`arch`). Values point into a static table, so copies are cheap and live as
/// long as the process.
struct TargetSpec {
  TargetKind kind;
  /// "gfx942", "sm_90a", "host", ...
  llvm::StringRef name;
  /// LLVM triple of the image.
  llvm::StringRef triple;
  /// LLVM's name of the processor.
  llvm::StringRef chip;
  /// LLVM's subtarget features beyond what the processor implies.
  llvm::StringRef features;
  /// The products, and the kind of image, for people.
  llvm::StringRef products, image;

  /// LLVM's data layout of the triple. Does not need the back end.
  std::string getDataLayout() const;

  bool isGPU() const { return kind != TargetKind::Host; }
};

/// Every known target, first class ones first.
llvm::ArrayRef<TargetSpec> getKnownTargets();

/// The target called `name`; the error lists the known ones.
llvm::Expected<TargetSpec> parseTarget(llvm::StringRef name);

/// Parses a comma-separated list of names. A target that is named twice is an
/// error.
llvm::Expected<llvm::SmallVector<TargetSpec, 4>>
parseTargetList(llvm::StringRef names);

/// Registers LLVM's back end for `kind` (and only that: start-up time counts).
/// Cheap when called again.
void initializeBackend(TargetKind kind);

} // namespace mlir::iris

#endif // IRIS_TARGET_TARGETREGISTRY_H
