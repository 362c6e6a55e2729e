// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the package reader and the argument checks. The first byte selects how
// the rest is read, since a fuzzer cannot find valid hashes:
//   0   as a package
//   1   as a package whose hashes are corrected first
//   2   as the metadata of a package
#include "iris/rt/Package.h"

#include "package/Container.h"
#include "support/PackageWriter.h"

#include <cstdlib>

using namespace iris::rt;

/// Overwrites each entry's hash with the right one.
static void repairHashes(std::string &bytes) {
  auto *data = reinterpret_cast<uint8_t *>(&bytes[0]);
  auto entries = parseContainer(data, bytes.size());
  if (!entries.ok())
    return;
  for (const ContainerEntry &entry : *entries) {
    auto found = entry.strings.find(IRISRT_KEY_HASH);
    std::string hash = computeEntryHash(entry);
    if (found != entry.strings.end() && found->second.size() == hash.size())
      std::memcpy(const_cast<char *>(found->second.data()), hash.data(),
                  hash.size());
  }
}

/// A valid argument of the kernel, except for the changes of `seed`.
static IrisRtArg makeArg(const ArgInfo &info, uint64_t seed) {
  IrisRtArg arg = {};
  arg.kind = info.kind;
  arg.element = info.element;
  arg.rank = static_cast<uint32_t>(info.sizes.size());
  arg.symmetric = info.symmetric;
  arg.value = seed;
  for (uint32_t i = 0; i < arg.rank && i < IRISRT_MAX_DIMS; ++i) {
    arg.sizes[i] = info.sizes[i].value_or(int64_t(seed >> i));
    arg.strides[i] = int64_t(seed << i);
    if (i < info.strides.size())
      arg.strides[i] = info.strides[i].value_or(arg.strides[i]);
  }
  return arg;
}

static void useKernel(const KernelInfo &kernel, uint64_t seed) {
  std::vector<IrisRtArg> args;
  for (const ArgInfo &info : kernel.args)
    args.push_back(makeArg(info, seed));
  auto inHeap = [&](uint64_t address, uint64_t bytes) {
    return address >= seed && bytes <= UINT64_MAX - address;
  };
  std::vector<uint8_t> block;
  bool good = checkArgs(kernel, args.data(), args.size(), inHeap).ok();
  bool packed =
      packArgs(kernel, IrisRtContext(), args.data(), args.size(), block).ok();
  // Arguments that pass the check can be packed.
  if (good && (!packed || block.size() != kernel.argsBytes))
    std::abort();
  (void)kernel.signature();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  int mode = data[0] % 3;
  std::string bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  if (mode == 1 && !bytes.empty())
    repairHashes(bytes);
  if (mode == 2)
    bytes = test::writeEntry(test::kernelEntry("host", bytes, "image"));

  Expected<Package> package = Package::fromBytes(bytes.data(), bytes.size());
  if (!package.ok()) {
    // Every rejection has a message.
    if (package.status().message().empty())
      std::abort();
    return 0;
  }
  uint64_t seed = 0;
  for (size_t i = 0; i < size; ++i)
    seed = seed * 0x100000001b3ull + data[i];
  uint8_t sum = 0;
  for (const PackageImage &image : package->images()) {
    for (size_t i = 0; i < image.size; ++i)
      sum ^= image.data[i];
    for (const KernelInfo &kernel : image.kernels) {
      useKernel(kernel, seed);
      useKernel(kernel, seed & 0xff0);
      (void)image.findKernel(kernel.name);
    }
    (void)package->findImage(std::string(image.arch), image.translation);
  }
  (void)package->findImage("sm_90a", "stride");
  volatile uint8_t used = sum;
  (void)used;
  return 0;
}
