// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel of the collectives: the request that makes the compiler generate
// it, and what the compiler says about the kernel that it made.
#ifndef IRIS_RT_CCL_SPEC_H
#define IRIS_RT_CCL_SPEC_H

#include "iris/Plan/Workspace.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Kernel.h"

#include <string>

namespace iris::ccl {

/// Whether a config leaves all to the Selector but the number of programs and
/// whether buffers are staged.
bool isOpen(const Config &config);
/// What a config that names no variant leaves open, as it was chosen.
Config complete(Config config, const Config &chosen);

/// What tells kernels of one group size apart.
struct Spec {
  Op op = Op::allReduce;
  /// Only of operations that reduce.
  ReduceOp reduce = ReduceOp::sum;
  /// i8 for operations that only move data, whatever they move.
  DType dtype = DType::i8;
  uint32_t groupSize = 1;
  Config config;
  /// The config is the Selector's: a requested config rather than an order.
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

/// Whether copies move the data, between two barriers: there is no kernel for
/// it, and buffers lie on the heap.
bool isCopied(const std::string &variant);

/// The spec of the kernel that serves a spec: one kernel does for any number of
/// programs, which a launch decides on; but the ring's scratch is dealt out to
/// them when it is generated.  For copies it is the barrier's.
Spec kernelSpec(Spec spec);

/// "all_reduce sum bf16 size 8 {tile = 2048, variant = "one_shot"}": the same
/// text for the same kernel.
std::string describe(const Spec &spec);

/// What kernels are generated for that do not ask for another size.
constexpr uint64_t defaultWorkspaceBytes = plan::Workspace::defaultBytes;

/// The .mlir module that asks for it, for a workspace of that size.  A spec
/// without a number of programs asks for as many as there may be.
std::string requestText(const Spec &spec,
                        uint64_t workspaceBytes = defaultWorkspaceBytes);

/// The type in MLIR: "ui8", "f8E4M3FN".
const char *mlirType(DType dtype);

/// The element of the kernel's buffers: fp8 and u8 travel as i8.
IrisRtElement bufferElement(DType dtype);

/// What a generated kernel says about itself (KernelInfo::config).
struct KernelFacts {
  std::string collective;
  std::string reduction;  ///< "" where nothing is reduced
  std::string element;    ///< as in MLIR: "ui8", "f8E4M3FN"
  uint32_t groupSize = 0; ///< 0: any
  std::string variant;
  int64_t tile = 1;
  int64_t programs = 1;
  /// 0: the kernel does not say.
  int64_t warps = 0;
  int64_t xcds = 0;
  bool staged = false;
  /// Whether the output may be the input, as the operation defines it.
  bool inPlace = false;
  uint64_t workspaceBytes = 0;
  /// The compiler's number for how the workspace is laid out; 1 in kernels that
  /// do not say.
  uint64_t workspaceLayout = 1;
  /// Most elements of one chunk; 0: any number.
  uint64_t maxCount = 0;
};

/// Reads and checks the facts, and that the kernel takes the arguments that a
/// communicator passes.
rt::Expected<KernelFacts> readFacts(const rt::KernelInfo &kernel);

/// Whether the kernel of these facts does what the spec asks for.  A requested
/// config is served by the variant it names, whatever its other numbers.
bool serves(const KernelFacts &facts, const Spec &spec);

/// Whether it is better than no kernel for a requested config: another variant,
/// whose results are the same and that takes the same buffers.
bool servesAtAll(const KernelFacts &facts, const Spec &spec);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_SPEC_H
