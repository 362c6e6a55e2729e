// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kernel.h - Kernel metadata and launch arguments ----------*- C++ -*-===//
//
// Describes the kernels of a package, checks launch arguments against that, and
// packs them into the argument block (iris-c/RuntimeABI.h, section 3).
//
// \param element the type of the elements, or of a scalar
// \param kernel the metadata of the kernel
// \param args the arguments of a launch, in the order of the kernel's
// \param count the number of arguments
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

/// \return the name of a type: "f16"; "unknown" for a value that is not an
///   IrisRtElement
std::string_view elementName(uint32_t element);

/// Finds a type by its name.
/// \param name "f16"
/// \return the type, if there is one of that name
std::optional<IrisRtElement> parseElement(std::string_view name);

/// \return the size of an element in bytes; 0 for a value that is not an
///   IrisRtElement
uint32_t elementBytes(uint32_t element);

/// One argument that a kernel expects.
struct ArgInfo {
  /// Context, memref or scalar.
  IrisRtArgKind kind = IRISRT_ARG_SCALAR;
  /// The offset of the argument in the packed block.
  uint32_t offset = 0;
  /// The element type of a memref, or the type of a scalar.
  IrisRtElement element = IRISRT_ELT_I32;
  /// Memref: must be on the symmetric heap.
  bool symmetric = false;
  /// Memref: static extents; none where dynamic.
  std::vector<std::optional<int64_t>> sizes;
  /// Memref: row-major, so that the sizes determine the strides.
  bool identity = true;
  /// Memref without identity layout: static strides; none where dynamic.
  std::vector<std::optional<int64_t>> strides;
  /// A divisor of a memref's address in bytes, or of a scalar.
  uint64_t divisibility = 1;
  /// Divisors of a memref's sizes and strides; empty: unknown.
  std::vector<uint64_t> sizeDivisibility;
  std::vector<uint64_t> strideDivisibility;

  /// \return the argument's type in MLIR: "memref<?x8xf16, symmetric>"
  std::string typeName() const;
};

/// A source location to which a record of the control block refers.
struct SiteInfo {
  std::string op;       ///< "iris.wait"
  std::string location; ///< "a.mlir:12:5"
  std::string what;     ///< message of an iris.expect_eq
  /// The type of the flag or value; none if the package does not record it.
  std::optional<IrisRtElement> element;
};

/// An argument that the runtime creates (RuntimeABI.h, section 3).
struct HiddenArgInfo {
  /// What the runtime creates; a kind of a newer compiler is unknown, and a
  /// launch then fails.
  enum class Kind { tensorMapMask, tensorMap, unknown };
  /// What the runtime creates for this argument.
  Kind kind = Kind::unknown;
  /// The name of the kind in the package.
  std::string kindName;
  /// The offset of the argument in the packed block.
  uint32_t offset = 0;
  /// Of a tensor map: the index of the memref argument, its dimension with
  /// stride 1, the extents of the box along that dimension and across, the
  /// bytes of a swizzled row, and whether the map covers all ranks.
  uint32_t arg = 0;
  uint32_t contiguous = 0;
  std::array<uint32_t, 2> box = {1, 1};
  uint32_t swizzle = 0;
  bool ranks = false;
};

/// Two memref arguments, at least one of which is written. The kernel's
/// accesses are ordered only if the buffers are disjoint or, with `same`,
/// identical.
struct OverlapInfo {
  /// The indices of the arguments.
  uint32_t first = 0;
  uint32_t second = 0;
  /// Whether identical buffers are allowed.
  bool same = false;
};

/// A memref argument that holds the state of a barrier, from element `offset`
/// on: 32 elements for each program and each rank of the world or the group.
struct BarrierInfo {
  /// The index of the argument, and the first element of the state in it.
  uint32_t arg = 0;
  uint64_t offset = 0;
  /// Among the ranks of the launch's group; otherwise of the world.
  bool group = false;
};

/// The metadata of a kernel.
struct KernelInfo {
  /// The names of the gpu.func and of its gpu.module, and the symbol in the
  /// image.
  std::string name;
  std::string module;
  std::string symbol;
  /// Threads of a program in x, y and z.
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  /// Static and dynamic shared memory (LDS) of a program, in bytes.
  uint32_t sharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  /// On the host: bytes of the memory for a program's tiles.
  uint64_t arenaBytes = 0;
  /// Programs wait for each other, so that all of a launch must run at once.
  bool coresident = false;
  /// Bytes of the packed argument block.
  uint32_t argsBytes = 0;
  /// The arguments of a launch, in order.
  std::vector<ArgInfo> args;
  /// The arguments that the runtime adds.
  std::vector<HiddenArgInfo> hidden;
  /// Pairs of arguments whose buffers must not overlap.
  std::vector<OverlapInfo> overlaps;
  /// The offsets of the kernel's parameters in the packed block, in order;
  /// empty for kernels without tensor maps. ptxas aligns a map by its address
  /// in constant memory, not by its offset, so the driver must place the
  /// parameters.
  std::vector<uint32_t> parameterOffsets;
  /// The source locations of waits, checks and comparisons.
  std::vector<SiteInfo> sites;
  /// The compile-time config of the kernel as JSON, for users and tools.
  std::string config = "{}";
  /// Of a generated kernel: the group size it was generated for; 0: any size up
  /// to IRISRT_MAX_ANY_GROUP.
  std::optional<uint32_t> groupSize;
  /// Ranks of the largest group that may launch the kernel.
  uint32_t maxGroup = IRISRT_MAX_ANY_GROUP;
  /// Of a generated kernel: the maximum number of programs of a launch, which
  /// is one-dimensional. The workspace has no room for more.
  std::optional<uint32_t> maxPrograms;
  /// The memrefs that hold the state of barriers.
  std::vector<BarrierInfo> barriers;
  /// The kernel waits for the one in front of it in its stream itself: it may
  /// be launched before that has ended (CUDA's programmatic dependent launch).
  bool dependentLaunch = false;
  /// The kernel checks its remote and synchronizing accesses.
  bool debug = false;

  /// \return "module::name"
  std::string fullName() const { return module + "::" + name; }
  /// \return IrisRtHangRecord.kernelHash: FNV-1a 64 of `name`
  uint64_t nameHash() const;
  /// \return "kernels::k(!iris.ctx, memref<?xf16, symmetric>, i32)"
  std::string signature() const;
};

/// Computes a hash.
/// \param text the bytes
/// \return FNV-1a, 64 bits
uint64_t fnv1a64(std::string_view text);

/// Whether `bytes` bytes at `address` are on the symmetric heap.
using HeapCheck = std::function<bool(uint64_t address, uint64_t bytes)>;

/// Checks launch arguments against the kernel's metadata.
/// \param inHeap tells whether bytes are on the heap; null: symmetric memrefs
///   are not checked for that
/// \retval invalidArgument an argument differs; the message has the kernel, the
///   argument, the expected and the actual value
Status checkArgs(const KernelInfo &kernel, const IrisRtArg *args, size_t count,
                 const HeapCheck &inHeap = nullptr);

/// Checks that the memrefs with barrier state, among checked arguments, are
/// large enough for a launch.
/// \param programs the number of programs of the launch
/// \param ranks the number of ranks of the world
/// \param groupSize the number of ranks of the launch's group
/// \retval invalidArgument one is too small
Status checkBarriers(const KernelInfo &kernel, const IrisRtArg *args,
                     uint64_t programs, uint32_t ranks, uint32_t groupSize);

/// Packs checked arguments as the kernel reads them, with the context by value
/// if the kernel takes it.
/// \param context the device context
/// \param block receives the arguments, `argsBytes` bytes; reuse it to avoid
///   allocations
/// \retval invalidArgument the arguments are not those of the kernel
Status packArgs(const KernelInfo &kernel, const IrisRtContext &context,
                const IrisRtArg *args, size_t count,
                std::vector<uint8_t> &block);

/// \return the argument for the kernel's `!iris.ctx`
IrisRtArg makeContextArg();

/// Makes the argument for a row-major memref.
/// \param address the address of its first element
/// \param sizes the extents, in elements; checkArgs rejects more than
///   IRISRT_MAX_DIMS
/// \param symmetric whether it is on the symmetric heap
/// \return the argument
IrisRtArg makeMemrefArg(IrisRtElement element, uint64_t address,
                        const std::vector<int64_t> &sizes,
                        bool symmetric = true);

/// Makes the argument for a scalar.
/// \param bits the bits of the value, zero-extended
/// \return the argument
IrisRtArg makeScalarArg(IrisRtElement element, uint64_t bits);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_KERNEL_H
