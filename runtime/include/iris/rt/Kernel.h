// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a package says about its kernels, and the arguments of a launch: checked
// against that, then packed into the block of bytes that the kernel reads
// (iris-c/RuntimeABI.h, section 3).
#ifndef IRIS_RT_KERNEL_H
#define IRIS_RT_KERNEL_H

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

/// "f16"; "unknown" for a value that is no IrisRtElement.
std::string_view elementName(uint32_t element);

/// The IrisRtElement called `name`, if there is one.
std::optional<IrisRtElement> parseElement(std::string_view name);

/// Bytes of one element in memory; 0 for a value that is no IrisRtElement.
uint32_t elementBytes(uint32_t element);

/// One argument that a kernel expects.
struct ArgInfo {
  IrisRtArgKind kind = IRISRT_ARG_SCALAR;
  /// Where the argument starts in the packed block.
  uint32_t offset = 0;
  /// Element type of a memref, or the scalar's type.
  IrisRtElement element = IRISRT_ELT_I32;
  /// Memref: must lie on the symmetric heap.
  bool symmetric = false;
  /// Memref: static extents; nothing where they are dynamic.
  std::vector<std::optional<int64_t>> sizes;
  /// Memref: row major, so that strides follow from the sizes.
  bool identity = true;
  /// Memref without identity layout: static strides; nothing where dynamic.
  std::vector<std::optional<int64_t>> strides;
  /// Bytes that divide a memref's address, or a scalar's divisor.
  uint64_t divisibility = 1;
  /// Divisors of a memref's sizes and strides; empty: none promised.
  std::vector<uint64_t> sizeDivisibility;
  std::vector<uint64_t> strideDivisibility;

  /// The argument's type as people write it: "memref<?x8xf16, symmetric>".
  std::string typeName() const;
};

/// A place in the kernel's source that a record of the control block names.
struct SiteInfo {
  std::string op;       ///< "iris.wait"
  std::string location; ///< "a.mlir:12:5"
  std::string what;     ///< message of an iris.expect_eq
  /// Type of the flag or value; nothing where the package does not say.
  std::optional<IrisRtElement> element;
};

/// An argument that the runtime makes itself (RuntimeABI.h, section 3).
struct HiddenArgInfo {
  enum class Kind { tensorMapMask, tensorMap, unknown };
  Kind kind = Kind::unknown;
  /// The kind as the package spells it.
  std::string kindName;
  /// Where it lies in the packed block.
  uint32_t offset = 0;
  /// A tensor map: number of the memref argument, its dimension with stride 1,
  /// the extents of a copy along that and across, bytes of a swizzled row, and
  /// whether the map covers all ranks.
  uint32_t arg = 0;
  uint32_t contiguous = 0;
  std::array<uint32_t, 2> box = {1, 1};
  uint32_t swizzle = 0;
  bool ranks = false;
};

/// Two memref arguments, one of which is written: the kernel's accesses are in
/// order only if they share no byte, or, with `same`, are the same buffer.
struct OverlapInfo {
  uint32_t first = 0;
  uint32_t second = 0;
  bool same = false;
};

/// A memref argument that holds the state of a barrier from element `offset`
/// on: 32 elements for each program and rank of the world, or of the group.
struct BarrierInfo {
  uint32_t arg = 0;
  uint64_t offset = 0;
  bool group = false;
};

/// A kernel as its package describes it.
struct KernelInfo {
  std::string name;
  std::string module;
  std::string symbol;
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  uint32_t sharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  uint64_t arenaBytes = 0;
  bool coresident = false;
  uint32_t argsBytes = 0;
  std::vector<ArgInfo> args;
  std::vector<HiddenArgInfo> hidden;
  std::vector<OverlapInfo> overlaps;
  /// Where each parameter of a kernel with tensor maps lies in the packed
  /// block, in order; else empty.  ptxas aligns a map by its address in
  /// constant memory, not by its offset, so that the driver must place the
  /// parameters.
  std::vector<uint32_t> parameterOffsets;
  std::vector<SiteInfo> sites;
  /// What the kernel was compiled with, as JSON; for people and tools.
  std::string config = "{}";
  /// Of a generated kernel: the size of the groups it was generated for, 0 for
  /// any size up to IRISRT_MAX_GROUP.
  std::optional<uint32_t> groupSize;
  /// Of a generated kernel: most programs of a launch, which has one dimension;
  /// what they share in the workspace has room for no more.
  std::optional<uint32_t> mostPrograms;
  std::vector<BarrierInfo> barriers;
  /// The kernel checks its remote and synchronising accesses.
  bool debug = false;

  /// "module::name".
  std::string fullName() const { return module + "::" + name; }
  /// IrisRtHangRecord.kernelHash: FNV-1a 64 of `name`.
  uint64_t nameHash() const;
  /// "kernels::k(!iris.ctx, memref<?xf16, symmetric>, i32)".
  std::string signature() const;
};

/// FNV-1a, 64 bits.
uint64_t fnv1a64(std::string_view text);

/// Says whether `bytes` bytes at `address` lie on the symmetric heap.
using HeapCheck = std::function<bool(uint64_t address, uint64_t bytes)>;

/// Checks the arguments of a launch against what the kernel expects.  The error
/// names the kernel and the argument, what it should be and what it is.
/// Without `inHeap`, addresses are not compared with the heap.
Status checkArgs(const KernelInfo &kernel, const IrisRtArg *args, size_t count,
                 const HeapCheck &inHeap = nullptr);

/// Checks that the states of the kernel's barriers, among checked arguments,
/// are large enough for a launch of so many programs on so many ranks of the
/// world and of the group.
Status checkBarriers(const KernelInfo &kernel, const IrisRtArg *args,
                     uint64_t programs, uint32_t ranks, uint32_t groupSize);

/// Lays out checked arguments as the kernel reads them, with `context` by value
/// where the kernel takes it.  `block` becomes exactly `argsBytes` long; a
/// caller that keeps it allocates once.
Status packArgs(const KernelInfo &kernel, const IrisRtContext &context,
                const IrisRtArg *args, size_t count,
                std::vector<uint8_t> &block);

/// An argument that stands for the kernel's `!iris.ctx`.
IrisRtArg makeContextArg();

/// A row-major memref at `address`.  `sizes` has at most IRISRT_MAX_DIMS
/// entries (further ones are refused by checkArgs).
IrisRtArg makeMemrefArg(IrisRtElement element, uint64_t address,
                        const std::vector<int64_t> &sizes,
                        bool symmetric = true);

/// A scalar; `bits` holds its value, zero extended.
IrisRtArg makeScalarArg(IrisRtElement element, uint64_t bits);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_KERNEL_H
