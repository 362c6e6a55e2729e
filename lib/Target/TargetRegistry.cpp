// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets: every chip of the table of chips, and the host.
#include "iris/Target/TargetRegistry.h"

#include "iris/Chips/ChipInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include <mutex>

using namespace mlir::iris;

static constexpr llvm::StringLiteral amdTriple = "amdgcn-amd-amdhsa";
static constexpr llvm::StringLiteral nvTriple = "nvptx64-nvidia-cuda";
static constexpr llvm::StringLiteral hostTriple = "x86_64-unknown-linux-gnu";

static TargetSpec makeTarget(const ChipInfo &chip) {
  bool amd = chip.isAMD();
  return {amd ? TargetKind::AMDGPU : TargetKind::NVPTX,
          chip.name,
          amd ? amdTriple : nvTriple,
          chip.name,
          chip.llvmFeatures,
          chip.gpus,
          amd ? "HSACO" : "cubin where ptxas is there, else PTX"};
}

llvm::ArrayRef<TargetSpec> mlir::iris::getKnownTargets() {
  static const llvm::SmallVector<TargetSpec> targets = [] {
    auto all = llvm::map_to_vector(getKnownChips(), makeTarget);
    all.push_back({TargetKind::Host, "host", hostTriple, "x86-64-v3", "",
                   "any x86-64-v3 Linux machine", "shared object"});
    return llvm::SmallVector<TargetSpec>(all);
  }();
  return targets;
}

llvm::Expected<TargetSpec> mlir::iris::parseTarget(llvm::StringRef name) {
  for (const TargetSpec &target : getKnownTargets())
    if (target.name == name)
      return target;
  return llvm::createStringError(describeUnknownTarget(name));
}

llvm::Expected<llvm::SmallVector<TargetSpec, 4>>
mlir::iris::parseTargetList(llvm::StringRef names) {
  llvm::SmallVector<TargetSpec, 4> targets;
  llvm::SmallVector<llvm::StringRef> parts;
  names.split(parts, ',');
  for (llvm::StringRef part : parts) {
    llvm::Expected<TargetSpec> target = parseTarget(part.trim());
    if (!target)
      return target.takeError();
    if (llvm::any_of(targets, [&](const TargetSpec &other) {
          return other.name == target->name;
        }))
      return llvm::createStringError("target '%s' is named twice",
                                     target->name.str().c_str());
    targets.push_back(*target);
  }
  return targets;
}

/// Keeps the time of LLVM's CodeGenPrepare linear in the number of blocks. The
/// pass starts again at the first block after each change of the dominator
/// tree, except in a function of more blocks than this option says, where it
/// visits again only the blocks that changed. With LLVM's 10,000 it took 23 of
/// the 25 s of a kernel of 3,357 blocks, which takes 2 s now.
static void limitRestartsOfCodeGenPrepare() {
  constexpr llvm::StringLiteral maxBlocks = "500";
  auto &known = llvm::cl::getRegisteredOptions();
  auto found = known.find("cgpp-huge-func");
  if (found == known.end() || found->second->getNumOccurrences() != 0)
    return; // another LLVM, or the process has chosen
  found->second->addOccurrence(/*pos=*/0, found->second->ArgStr, maxBlocks);
}

void mlir::iris::initializeBackend(TargetKind kind) {
  static std::once_flag allKinds;
  std::call_once(allKinds, limitRestartsOfCodeGenPrepare);
  // Writing an object file requires parsing inline assembly, so the assembly
  // parsers are initialized too; NVPTX, which emits text, has none.
  static std::once_flag amdgpu, nvptx, host;
  switch (kind) {
  case TargetKind::AMDGPU:
    std::call_once(amdgpu, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTarget();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUAsmParser();
      LLVMInitializeAMDGPUAsmPrinter();
    });
    return;
  case TargetKind::NVPTX:
    std::call_once(nvptx, [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
    return;
  case TargetKind::Host:
    std::call_once(host, [] {
      LLVMInitializeX86TargetInfo();
      LLVMInitializeX86Target();
      LLVMInitializeX86TargetMC();
      LLVMInitializeX86AsmParser();
      LLVMInitializeX86AsmPrinter();
    });
    return;
  }
}
