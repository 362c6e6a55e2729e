// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CodeObject.h - Loaded code objects of AMD GPUs -----------*- C++ -*-===//
//
// An ELF file for amdgcn, loaded and checked: segments, relocations, the
// kernels' descriptors and their metadata.
#ifndef IRIS_EMULATOR_CODEOBJECT_H
#define IRIS_EMULATOR_CODEOBJECT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace irischips {
struct AMDExecution;
} // namespace irischips

namespace mlir::iris::emulator {

/// An argument of a kernel, as its metadata describe it.
struct KernelArgument {
  std::string name;
  /// `global_buffer`, `by_value`, `hidden_block_count_x`, ...
  std::string kind;
  uint64_t offset = 0, size = 0;

  bool isHidden() const { return llvm::StringRef(kind).starts_with("hidden_"); }
};

/// A kernel of a code object.
struct Kernel {
  std::string name;
  /// Byte offsets in the image.
  uint64_t entry = 0, descriptor = 0;
  uint32_t kernargBytes = 0;
  /// Of a workgroup: without what a launch adds.
  uint32_t ldsBytes = 0;
  /// Scratch of a lane.
  uint32_t scratchBytes = 0;
  unsigned waveSize = 64;
  /// Vector registers of a wave; accumulation registers start at
  /// `accumulatorOffset` (equal to `numVectors` if there are none).
  unsigned numVectors = 0, accumulatorOffset = 0;
  unsigned maxWorkgroupSize = 1024;
  /// COMPUTE_PGM_RSRC1 and 2, and the properties of the descriptor.
  uint32_t rsrc1 = 0, rsrc2 = 0;
  uint16_t properties = 0;
  /// Words of the argument block that are loaded into registers, and the first.
  unsigned preloadedWords = 0, preloadOffset = 0;
  std::vector<KernelArgument> arguments;
};

/// A loaded code object.
class CodeObject {
public:
  /// Loads an ELF file. `name` is its name in messages.
  static llvm::Expected<std::unique_ptr<CodeObject>> load(llvm::StringRef bytes,
                                                          llvm::StringRef name);

  /// The kernel of this name, or an error that lists the kernels there are.
  llvm::Expected<const Kernel *> find(llvm::StringRef kernel) const;

  llvm::StringRef getName() const { return name; }
  llvm::StringRef getChip() const { return chip; }
  const irischips::AMDExecution &getExecution() const { return *execution; }
  const std::vector<Kernel> &getKernels() const { return kernels; }
  /// The loaded segments.
  const std::vector<uint8_t> &getImage() const { return image; }
  /// The file, for debug information.
  llvm::StringRef getFile() const { return file; }
  /// Byte offsets in the image of the segment with instructions.
  uint64_t getCodeBegin() const { return codeBegin; }
  uint64_t getCodeEnd() const { return codeEnd; }

private:
  friend class CodeObjectLoader;

  std::string name, chip, file;
  const irischips::AMDExecution *execution = nullptr;
  std::vector<uint8_t> image;
  uint64_t codeBegin = 0, codeEnd = 0;
  std::vector<Kernel> kernels;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_CODEOBJECT_H
