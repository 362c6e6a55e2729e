// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives on any kind of device: worlds, buffers, calls, and checks of the
// results. Data is copied on every device, so that all devices use the same
// code.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_SOLVE_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_SOLVE_H

#include "backends/Backend.h"
#include "iris/ccl/Communicator.h"
#include "support/ccl/Reference.h"

#include <memory>
#include <string>
#include <vector>

namespace iris::rt::test {

WorldOptions worldOptions(DeviceKind kind, const LaunchInfo &launch);

inline void *toPointer(uint64_t address) {
  return reinterpret_cast<void *>(address);
}

/// Location of a call's buffers.
enum class BufferLocation { heap, inPlace, ordinary, ordinaryOnRoot };

/// Input and output of one rank, on the heap and off it.
class Buffers {
public:
  /// Collective over the world.
  static Expected<Buffers> create(World &world, uint64_t bytes);
  Buffers(Buffers &&) = default;
  ~Buffers();

  uint64_t in = 0, out = 0;
  uint64_t ordinaryIn = 0, ordinaryOut = 0;

private:
  Buffers() = default;
  /// A second handle on the world's device: worlds allocate only on the heap.
  std::unique_ptr<Backend> backend;
};

/// The addresses of a call's input and output on one rank.
struct CallBuffers {
  uint64_t in = 0, out = 0;
};

/// The buffers of rank `me` of the group in this location, `offset` bytes into
/// each of `buffers`.
CallBuffers buffersAt(BufferLocation location, const Problem &p, uint32_t me,
                      const Buffers &buffers, uint64_t offset = 0);

/// Bytes of this value behind an output show whether a call changes them.
constexpr uint64_t guardBytes = 64;
constexpr uint8_t guard = 0xcd;

/// The bytes of the problem's input, and of its output, on rank `me` of the
/// group.
std::vector<uint8_t> inputOf(const Problem &p, uint32_t me);
std::vector<uint8_t> outputOf(const Problem &p, uint32_t me);

/// Makes the call; uses only the problem's parameters that the call passes.
Status call(World &world, ccl::Communicator &comm, const Problem &p,
            uint64_t in, uint64_t out, const ccl::Config *config = nullptr,
            Stream stream = {});

/// A barrier on the device.
Status deviceBarrier(World &world, ccl::Communicator &comm, Stream stream = {});

/// Solves a problem on this rank, and checks the output and the input.
std::string solve(World &world, ccl::Communicator &comm, const Buffers &buffers,
                  Problem p, BufferLocation location = BufferLocation::heap,
                  const ccl::Config *config = nullptr);

/// "" if the bytes are right, else the first wrong element.
std::string compare(const Problem &p, const std::vector<uint8_t> &got,
                    const std::vector<uint8_t> &want);

/// "all_reduce f32 sum x 7, root 1, 3 members, in place: "
std::string describe(const Problem &p,
                     BufferLocation location = BufferLocation::heap,
                     const ccl::Config *config = nullptr);

} // namespace iris::rt::test

/// Inside a RankBody: returns solve()'s message if there is one.
#define SOLVE(...)                                                             \
  do {                                                                         \
    std::string wrong_ = solve(__VA_ARGS__);                                   \
    if (!wrong_.empty())                                                       \
      return wrong_;                                                           \
  } while (false)

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_SOLVE_H
