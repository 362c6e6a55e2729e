// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Spec.h - Specs of collective kernels ---------------------*- C++ -*-===//
//
// A spec identifies one kernel of the collectives. It determines the request
// from which the compiler generates the kernel; the facts are what the compiler
// records about the generated kernel.
#ifndef IRIS_RT_CCL_SPEC_H
#define IRIS_RT_CCL_SPEC_H

#include "iris/Plan/Workspace.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Kernel.h"

#include <string>

namespace iris::ccl {

/// Whether a config leaves everything to the Selector except the number of
/// programs and whether buffers are staged.
bool isOpen(const Config &config);
/// Takes the fields that a config without a variant leaves open from `chosen`.
Config complete(Config config, const Config &chosen);

/// Identifies a kernel.
struct Spec {
  Op op = Op::allReduce;
  /// Only meaningful for operations that reduce.
  ReduceOp reduce = ReduceOp::sum;
  /// i8 for operations that only move data.
  DType dtype = DType::i8;
  uint32_t groupSize = 1;
  Config config;
  /// The Selector chose the config, so another kernel that computes the same
  /// may replace it. False if the user requested the config.
  bool isSelected = false;

  bool operator==(const Spec &other) const {
    return op == other.op && reduce == other.reduce && dtype == other.dtype &&
           groupSize == other.groupSize && config == other.config &&
           isSelected == other.isSelected;
  }
};

struct SpecHash {
  size_t operator()(const Spec &spec) const;
};

/// The spec of a call: data that is only moved becomes bytes.
Spec makeSpec(Op op, DType dtype, ReduceOp reduce, uint32_t groupSize,
              const Config &config);

/// The config of the kernel that runs groups of sends and receives, beside that
/// of a message in slots.
Config configOfGroups(Config ofSlots);

/// Whether it is the kernel that runs groups of sends and receives.
bool isGrouped(Op op, const std::string &variant);

/// Whether copy engines move the data between two barriers. There is no kernel
/// for it, and the buffers must be on the symmetric heap.
bool usesCopyEngine(Op op, const std::string &variant);

/// The spec of the kernel that runs a spec. One kernel serves any number of
/// programs, which the launch decides on; only the ring divides its scratch
/// among its programs at compile time. For copies it is the barrier's kernel.
Spec kernelSpec(Spec spec);

/// "all_reduce sum bf16 size 8 {tile = 2048, variant = "one_shot"}"; equal
/// texts mean equal kernels.
std::string describe(const Spec &spec);

/// What kernels are generated for that do not ask for another size.
constexpr uint64_t defaultWorkspaceBytes = plan::Workspace::defaultBytes;

/// The MLIR module that requests the kernel, for a workspace of that size. A
/// spec without a number of programs requests the maximum.
std::string requestText(const Spec &spec,
                        uint64_t workspaceBytes = defaultWorkspaceBytes);

/// The symbol of that request, which no other request has:
/// "all_reduce_sum_bf16_size_8_programs_128_tile_2048_variant_one_shot".
std::string requestName(const Spec &spec,
                        uint64_t workspaceBytes = defaultWorkspaceBytes);

/// The name of the type in MLIR: "ui8", "f8E4M3FN".
const char *mlirType(DType dtype);

/// The element type of the kernel's buffers: fp8 is moved as i8, unsigned
/// integers as signed ones.
IrisRtElement bufferElement(DType dtype);

/// What a generated kernel records about itself (KernelInfo::config).
struct KernelFacts {
  std::string collective;
  std::string reduction;  ///< "" if it does not reduce
  std::string element;    ///< as in MLIR: "ui8", "f8E4M3FN"
  uint32_t groupSize = 0; ///< 0: any
  std::string variant;
  int64_t tile = 1;
  int64_t programs = 1;
  /// 0: not recorded.
  int64_t warps = 0;
  int64_t xcds = 0;
  bool staged = false;
  /// Whether the kernel supports in-place calls.
  bool inPlace = false;
  uint64_t workspaceBytes = 0;
  /// The version of the workspace layout; 1 if not recorded.
  uint64_t workspaceLayout = 1;
  /// The maximum number of elements of one chunk; 0: unlimited.
  uint64_t maxCount = 0;
};

/// Reads and checks the facts, and checks that the kernel takes a
/// communicator's arguments.
rt::Expected<KernelFacts> readFacts(const rt::KernelInfo &kernel);

/// Whether the kernel fulfills the spec. For a selected config the variant must
/// match; its numbers may differ.
bool serves(const KernelFacts &facts, const Spec &spec);

/// Whether the kernel can replace a selected config's kernel if that is not
/// available: any variant with the same results and the same kind of buffers.
bool servesAtAll(const KernelFacts &facts, const Spec &spec);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_SPEC_H
