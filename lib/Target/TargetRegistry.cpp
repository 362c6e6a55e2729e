// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of targets. A new chip of a known family is one line here;
// differences in code generation are in `TargetInfo` in lib/Conversion.
#include "iris/Target/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include <mutex>

using namespace mlir::iris;

static constexpr llvm::StringLiteral amdTriple = "amdgcn-amd-amdhsa";
static constexpr llvm::StringLiteral nvTriple = "nvptx64-nvidia-cuda";
static constexpr llvm::StringLiteral hostTriple = "x86_64-unknown-linux-gnu";

// PTX versions are the lowest that support the chip's lowering: 8.1 (CUDA 12.1)
// is the first one with multimem, 8.6 (CUDA 12.7) the first one with sm_100a.
static constexpr TargetSpec knownTargets[] = {
    {TargetKind::AMDGPU, "gfx942", amdTriple, "gfx942", "",
     "AMD Instinct MI300A, MI300X, MI325X: HSACO"},
    {TargetKind::AMDGPU, "gfx950", amdTriple, "gfx950", "",
     "AMD Instinct MI350X, MI355X: HSACO"},
    {TargetKind::AMDGPU, "gfx90a", amdTriple, "gfx90a", "",
     "AMD Instinct MI210, MI250, MI250X: HSACO"},
    {TargetKind::AMDGPU, "gfx1100", amdTriple, "gfx1100", "",
     "AMD Radeon RX 7900, PRO W7900: HSACO"},
    {TargetKind::AMDGPU, "gfx1201", amdTriple, "gfx1201", "",
     "AMD Radeon RX 9070, AI PRO R9700: HSACO"},
    {TargetKind::NVPTX, "sm_90a", nvTriple, "sm_90a", "+ptx81",
     "NVIDIA H100, H200: cubin if ptxas is available, otherwise PTX"},
    {TargetKind::NVPTX, "sm_80", nvTriple, "sm_80", "+ptx81",
     "NVIDIA A100: cubin if ptxas is available, otherwise PTX"},
    {TargetKind::NVPTX, "sm_100a", nvTriple, "sm_100a", "+ptx86",
     "NVIDIA B200: cubin if ptxas is available, otherwise PTX"},
    {TargetKind::Host, "host", hostTriple, "x86-64-v3", "",
     "any x86-64-v3 Linux machine: shared object"},
};

llvm::ArrayRef<TargetSpec> mlir::iris::getKnownTargets() {
  return knownTargets;
}

std::string TargetSpec::getDataLayout() const {
  return llvm::Triple(triple).computeDataLayout();
}

llvm::Expected<TargetSpec> mlir::iris::parseTarget(llvm::StringRef name) {
  const TargetSpec *found =
      llvm::find_if(knownTargets, [&](const TargetSpec &target) {
        return target.name == name;
      });
  if (found != std::end(knownTargets))
    return *found;
  std::string known = llvm::join(
      llvm::map_range(knownTargets,
                      [](const TargetSpec &t) { return t.name.str(); }),
      ", ");
  return llvm::createStringError("unknown target '%s'; expected one of %s",
                                 name.str().c_str(), known.c_str());
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

void mlir::iris::initializeBackend(TargetKind kind) {
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
