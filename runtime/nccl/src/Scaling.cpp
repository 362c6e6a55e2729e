// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scaling.cpp - Sums whose inputs have factors -----------------------===//
#include "Scaling.h"

#include "ScalingKernel.h"
#include "core/Log.h"
#include "iris-nccl/nccl.h"

#include <algorithm>
#include <cinttypes>
#include <limits>
#include <set>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

static constexpr uint64_t scratchBytes = 4 << 20;
static constexpr uint64_t maxPrograms = 64;

Status Scaling::open(World &world, std::shared_ptr<KernelCache> cache) {
  cache_ = std::move(cache);
  IRISRT_ASSIGN_OR_RETURN(scratch_, world.allocate(scratchBytes));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of all reductions in this process: one communicator's is no
/// other's, so that it can be refused there.
struct Numbers {
  std::mutex mutex;
  std::set<int> used;
  int next = 0;
};
} // namespace

/// The numbers are behind those of ncclRedOp_t.
static constexpr int maxNumber = std::numeric_limits<int>::max() - ncclNumOps;

/// Never destroyed: communicators may be destroyed while the process exits.
static Numbers &allNumbers() {
  static auto *numbers = new Numbers();
  return *numbers;
}

static Expected<int> takeNumber() {
  Numbers &numbers = allNumbers();
  std::lock_guard<std::mutex> lock(numbers.mutex);
  if (numbers.used.size() > static_cast<size_t>(maxNumber))
    return makeStatus(StatusCode::failedPrecondition,
                      "there are %zu reductions with factors; destroy some "
                      "before",
                      numbers.used.size());
  // Numbers of destroyed reductions come again as late as possible.
  int number = 0;
  do {
    number = numbers.next;
    numbers.next = number == maxNumber ? 0 : number + 1;
  } while (!numbers.used.insert(number).second);
  return number;
}

static void giveNumber(int number) {
  Numbers &numbers = allNumbers();
  std::lock_guard<std::mutex> lock(numbers.mutex);
  numbers.used.erase(number);
}

Scaling::~Scaling() {
  for (const auto &[number, factor] : factors_)
    giveNumber(number);
}

Expected<int> Scaling::add(const Factor &factor) {
  IRISRT_ASSIGN_OR_RETURN(int number, takeNumber());
  std::lock_guard<std::mutex> lock(mutex_);
  factors_[number] = factor;
  return number;
}

static Status noReduction() {
  return Status(StatusCode::invalidArgument,
                "the reduction is none of ncclRedOpCreatePreMulSum with this "
                "communicator, or was destroyed");
}

Status Scaling::remove(int number) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (factors_.erase(number) == 0)
    return noReduction();
  giveNumber(number);
  return Status::success();
}

Expected<Factor> Scaling::find(int number, DType dtype) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = factors_.find(number);
  if (found == factors_.end())
    return noReduction();
  if (found->second.dtype != dtype)
    return makeStatus(StatusCode::invalidArgument,
                      "the reduction has a factor of type %s, the call is of "
                      "%s; expected the same",
                      std::string(dtypeName(found->second.dtype)).c_str(),
                      std::string(dtypeName(dtype)).c_str());
  return found->second;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Expected<Kernel> Scaling::kernelFor(World &world, DType dtype) {
  auto found = kernels_.find(dtype);
  if (found != kernels_.end())
    return found->second;
  if (!world.canLoad())
    return Status(StatusCode::failedPrecondition,
                  "the kernel that applies a factor is not loaded, and this "
                  "driver cannot load it while a stream is captured; run the "
                  "call once before");
  const ScalingKernel scaling = ScalingKernel::of(dtype);
  KernelRequest request;
  request.source = scaling.source;
  request.name = scaling.name;
  request.target = world.target();
  request.translation = world.translation();
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled, cache_->find(request));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel(scaling.name));
  Log(world.rank(), world.numRanks())
      .info("%s comes from %s", scaling.name.c_str(),
            originName(compiled.origin));
  kernels_[dtype] = kernel;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Status Scaling::scale(World &world, const Call &call, uint64_t from,
                      uint64_t to, uint64_t count, const Factor &factor) {
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, kernelFor(world, call.dtype));
  const IrisRtElement element = ScalingKernel::of(call.dtype).element;
  const auto size = static_cast<int64_t>(count);
  const uint64_t programs = std::min(
      maxPrograms, (count + ScalingKernel::tile - 1) / ScalingKernel::tile);
  const bool isRead = factor.address != 0;
  return world.launch(kernel, {programs, 1, 1},
                      {makeContextArg(),
                       makeMemrefArg(element, from, {size}, false),
                       makeMemrefArg(element, to, {size}, false),
                       makeMemrefArg(element, isRead ? factor.address : to,
                                     {isRead ? 1 : 0}, false),
                       makeScalarArg(element, factor.bits)},
                      call.stream);
}

Status Scaling::run(World &world, uint32_t numRanks, const Run &collective,
                    const Call &call, const Factor &factor) {
  const uint64_t width = dtypeBytes(call.dtype);
  const uint64_t in = reinterpret_cast<uint64_t>(call.in);
  const uint64_t out = reinterpret_cast<uint64_t>(call.out);
  if (call.count != 0 && (in == 0 || in % width != 0))
    return makeStatus(StatusCode::invalidArgument,
                      "the input is at 0x%" PRIx64
                      "; expected device memory that is aligned to %" PRIu64
                      " bytes",
                      in, width);
  // What the collective reads: a slice of each chunk of the input.
  const uint64_t chunks = call.op == Op::reduceScatter ? numRanks : 1;
  const uint64_t most = scratchBytes / width / chunks;
  uint64_t done = 0;
  do {
    const uint64_t count = std::min(most, call.count - done);
    for (uint64_t chunk = 0; chunk < chunks && count != 0; ++chunk)
      IRISRT_RETURN_IF_ERROR(
          scale(world, call, in + (chunk * call.count + done) * width,
                scratch_ + chunk * count * width, count, factor));
    Call slice = call;
    slice.in = reinterpret_cast<const void *>(scratch_);
    slice.out = out ? reinterpret_cast<void *>(out + done * width) : nullptr;
    slice.count = count;
    IRISRT_RETURN_IF_ERROR(collective(slice));
    done += count;
  } while (done < call.count);
  return Status::success();
}
