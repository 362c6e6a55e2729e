// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scaling.cpp - Sums whose inputs have factors -----------------------===//
#include "Scaling.h"

#include "iris/ccl/KernelCache.h"

#include <algorithm>
#include <cinttypes>

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

/// Factors that exist at once, of any type.
static constexpr uint64_t maxFactors = 256;
static constexpr uint64_t slotBytes = 16;
static constexpr uint64_t scratchBytes = 4 << 20;
/// Elements that a program scales at once.
static constexpr uint64_t tile = 2048;
static constexpr uint64_t maxPrograms = 64;

Status Scaling::open(World &world) {
  IRISRT_ASSIGN_OR_RETURN(slots_, world.allocate(maxFactors * slotBytes));
  IRISRT_ASSIGN_OR_RETURN(scratch_, world.allocate(scratchBytes));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

Expected<int> Scaling::add(World &world, DType dtype, const void *value) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (numOwn_ == maxFactors)
    return makeStatus(StatusCode::failedPrecondition,
                      "there are %" PRIu64
                      " reductions with factors; destroy some before",
                      maxFactors);
  if (copies_.id == 0) {
    IRISRT_ASSIGN_OR_RETURN(copies_, world.createStream());
  }
  std::vector<bool> isUsed(maxFactors);
  for (const auto &[number, factor] : factors_)
    if (factor.isOwn)
      isUsed[(factor.address - slots_) / slotBytes] = true;
  uint64_t slot = numWritten_ % maxFactors;
  while (isUsed[slot])
    slot = (slot + 1) % maxFactors;
  // Operations with a destroyed factor may be pending when its slot is used
  // again.
  if (numWritten_ >= maxFactors)
    IRISRT_RETURN_IF_ERROR(world.synchronize());
  ++numWritten_;
  const uint64_t address = slots_ + slot * slotBytes;
  IRISRT_RETURN_IF_ERROR(
      world.writeNow(address, value, dtypeBytes(dtype), copies_));
  ++numOwn_;
  factors_[next_] = {dtype, address, /*isOwn=*/true};
  return next_++;
}

int Scaling::addFromDevice(DType dtype, uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  factors_[next_] = {dtype, address, /*isOwn=*/false};
  return next_++;
}

static Status noReduction() {
  return Status(StatusCode::invalidArgument,
                "the reduction is none of ncclRedOpCreatePreMulSum, or was "
                "destroyed");
}

Status Scaling::remove(int number) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = factors_.find(number);
  if (found == factors_.end())
    return noReduction();
  numOwn_ -= found->second.isOwn;
  factors_.erase(found);
  return Status::success();
}

Expected<uint64_t> Scaling::find(int number, DType dtype) const {
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
  return found->second.address;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// How a type is held in buffers, and multiplied.
struct Arithmetic {
  const char *stored = "f32";
  /// Of the values; another type than `stored` if that is its bits.
  const char *element = "f32";
  const char *wide = "f32";
  IrisRtElement buffer = IRISRT_ELT_F32;
};
} // namespace

static Arithmetic arithmeticOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return {"f16", "f16", "f32", IRISRT_ELT_F16};
  case DType::bf16:
    return {"bf16", "bf16", "f32", IRISRT_ELT_BF16};
  case DType::f32:
    return {"f32", "f32", "f32", IRISRT_ELT_F32};
  case DType::f64:
    return {"f64", "f64", "f64", IRISRT_ELT_F64};
  case DType::i8:
  case DType::u8:
    return {"i8", "i8", "i8", IRISRT_ELT_I8};
  case DType::i16:
    return {"i16", "i16", "i16", IRISRT_ELT_I16};
  case DType::i32:
  case DType::u32:
    return {"i32", "i32", "i32", IRISRT_ELT_I32};
  case DType::i64:
  case DType::u64:
    return {"i64", "i64", "i64", IRISRT_ELT_I64};
  case DType::f8e4m3fn:
    return {"i8", "f8E4M3FN", "f32", IRISRT_ELT_I8};
  case DType::f8e5m2:
    return {"i8", "f8E5M2", "f32", IRISRT_ELT_I8};
  case DType::f8e4m3fnuz:
    return {"i8", "f8E4M3FNUZ", "f32", IRISRT_ELT_I8};
  case DType::f8e5m2fnuz:
    return {"i8", "f8E5M2FNUZ", "f32", IRISRT_ELT_I8};
  }
  return {};
}

/// Appends the conversion of `value`, of type prefix + stored + suffix, to the
/// wide type.
/// \return the name of the result
static std::string widen(std::string &text, const Arithmetic &a,
                         const std::string &value, const std::string &prefix,
                         const std::string &suffix) {
  std::string name = value;
  auto convert = [&](const char *op, const char *from, const char *to) {
    if (std::string(from) == to)
      return;
    text += "      " + name + "x = " + op + " " + name + " : " + prefix + from +
            suffix + " to " + prefix + to + suffix + "\n";
    name += "x";
  };
  convert("arith.bitcast", a.stored, a.element);
  convert("arith.extf", a.element, a.wide);
  return name;
}

/// The kernel out[i] = in[i] * factor[0]; the result is rounded once.
static std::string sourceOf(DType dtype) {
  const Arithmetic a = arithmeticOf(dtype);
  const std::string size = std::to_string(tile);
  const std::string buffer = std::string("memref<?x") + a.stored + ">";
  auto tiled = [&](const char *element) {
    return "tensor<" + size + "x" + element + ">";
  };
  const bool isFloat = a.wide[0] == 'f';
  std::string text = "gpu.module @nccl_scale {\n"
                     "  gpu.func @nccl_scale(%ctx: !iris.ctx, %in: " +
                     buffer + ", %out: " + buffer + ", %factor: " + buffer +
                     ") kernel attributes {iris.num_warps = 4 : i32} {\n"
                     "      %zero = arith.constant 0 : index\n"
                     "      %tile = arith.constant " +
                     size +
                     " : index\n"
                     "      %program = gpu.block_id x\n"
                     "      %programs = gpu.grid_dim x\n"
                     "      %size = memref.dim %in, %zero : " +
                     buffer +
                     "\n"
                     "      %scalar = memref.load %factor[%zero] : " +
                     buffer + "\n";
  const std::string factor = widen(text, a, "%scalar", "", "");
  text += "      %splat = tensor.splat " + factor + " : " + tiled(a.wide) +
          "\n"
          "      %first = arith.muli %program, %tile : index\n"
          "      %step = arith.muli %programs, %tile : index\n"
          "      scf.for %i = %first to %size step %step {\n"
          "      %loaded = tile.load %in[%i] : " +
          buffer + " -> " + tiled(a.stored) + "\n";
  const std::string value =
      widen(text, a, "%loaded", "tensor<" + size + "x", ">");
  text += std::string("      %scaled = arith.mul") + (isFloat ? "f" : "i") +
          " " + value + ", %splat : " + tiled(a.wide) + "\n";
  std::string result = "%scaled";
  if (std::string(a.element) != a.wide) {
    text += "      %narrow = arith.truncf %scaled : " + tiled(a.wide) + " to " +
            tiled(a.element) + "\n";
    result = "%narrow";
  }
  if (std::string(a.stored) != a.element) {
    text += "      %bits = arith.bitcast " + result + " : " + tiled(a.element) +
            " to " + tiled(a.stored) + "\n";
    result = "%bits";
  }
  return text + "      tile.store " + result +
         ", %out[%i] : " + tiled(a.stored) + ", " + buffer +
         "\n      }\n    gpu.return\n  }\n}\n";
}

Expected<Kernel> Scaling::kernelFor(World &world, DType dtype) {
  auto found = kernels_.find(dtype);
  if (found != kernels_.end())
    return found->second;
  if (world.capturing())
    return Status(StatusCode::failedPrecondition,
                  "the kernel that applies a factor is not loaded, and cannot "
                  "be while a stream is captured; run the call once before");
  KernelRequest request;
  request.source = sourceOf(dtype);
  request.target = world.target();
  request.translation = world.translation();
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled,
                          KernelCache::shared()->find(request));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel("nccl_scale"));
  kernels_[dtype] = kernel;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Status Scaling::scale(World &world, const Call &call, uint64_t from,
                      uint64_t to, uint64_t count, uint64_t factor) {
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, kernelFor(world, call.dtype));
  const IrisRtElement element = arithmeticOf(call.dtype).buffer;
  const auto size = static_cast<int64_t>(count);
  const uint64_t programs = std::min(maxPrograms, (count + tile - 1) / tile);
  return world.launch(kernel, {programs, 1, 1},
                      {makeContextArg(),
                       makeMemrefArg(element, from, {size}, false),
                       makeMemrefArg(element, to, {size}, false),
                       makeMemrefArg(element, factor, {1}, false)},
                      call.stream);
}

Status Scaling::run(World &world, Communicator &collectives, const Call &call,
                    uint64_t factor) {
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
  const uint64_t chunks = call.op == Op::reduceScatter ? collectives.size() : 1;
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
    IRISRT_RETURN_IF_ERROR(collectives.run(slice));
    done += count;
  } while (done < call.count);
  return Status::success();
}
