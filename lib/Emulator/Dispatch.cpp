// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Dispatch.h"
#include "InitCheck.h"
#include "iris/Chips/AMDExecution.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/Endian.h"

using namespace mlir::iris::emulator;
namespace hsa = llvm::amdhsa;
namespace endian = llvm::support::endian;

Dispatch::Dispatch(MachineState &machine, const Launch &launch, unsigned number,
                   Program &program, Caches cacheKind, Cache *deviceCache)
    : launch(launch), program(program), machine(machine), cacheKind(cacheKind),
      deviceCache(deviceCache), number(number),
      numGroups(uint64_t(launch.groups[0]) * launch.groups[1] *
                launch.groups[2]),
      arguments(launch.arguments) {
  // Whole cache lines: LLVM loads more than it needs, up to the next one.
  arguments.resize((std::max<size_t>(arguments.size(), 1) + 63) / 64 * 64);
  machine.memory.add(arguments.data(), arguments.size(), /*isWritable=*/false,
                     "the arguments of " + program.kernel.name);
  // hsa_kernel_dispatch_packet_t.
  for (unsigned i = 0; i < 3; ++i) {
    endian::write16le(&packet[4 + 2 * i], uint16_t(launch.threads[i]));
    endian::write32le(&packet[12 + 4 * i],
                      launch.groups[i] * launch.threads[i]);
  }
  endian::write16le(&packet[2], 3);
  endian::write32le(&packet[24], program.kernel.scratchBytes);
  endian::write32le(&packet[28],
                    program.kernel.ldsBytes + launch.extraLdsBytes);
  endian::write64le(&packet[32],
                    program.addressOf(0) + program.kernel.descriptor);
  endian::write64le(&packet[40], reinterpret_cast<uintptr_t>(arguments.data()));
  machine.memory.add(packet.data(), packet.size(), /*isWritable=*/false,
                     "the dispatch packet of " + program.kernel.name);
  if (deviceCache)
    deviceCache->invalidate();
}

Dispatch::~Dispatch() {
  machine.memory.remove(arguments.data());
  machine.memory.remove(packet.data());
}

Cache *Dispatch::makeCache(Scope coherentScope, bool writesThrough) {
  caches.push_back(
      std::make_unique<Cache>(machine.history, coherentScope, writesThrough));
  return caches.back().get();
}

void Dispatch::writeBack() {
  if (deviceCache)
    deviceCache->writeBack();
  for (const std::unique_ptr<Cache> &cache : caches)
    cache->writeBack();
}

/// The threads of a workgroup.
static unsigned countThreads(const Launch &launch) {
  return launch.threads[0] * launch.threads[1] * launch.threads[2];
}

unsigned Dispatch::countWavesOfGroup() const {
  return llvm::divideCeil(countThreads(launch), program.kernel.waveSize);
}

std::unique_ptr<Workgroup> Dispatch::startGroup() {
  auto group = std::make_unique<Workgroup>();
  group->launch = number;
  group->device = launch.device;
  uint64_t index = nextGroup++;
  group->ids[0] = uint32_t(index % launch.groups[0]);
  index /= launch.groups[0];
  group->ids[1] = uint32_t(index % launch.groups[1]);
  group->ids[2] = uint32_t(index / launch.groups[1]);
  // LDS has what earlier workgroups left there.
  group->lds.assign(program.kernel.ldsBytes + launch.extraLdsBytes, 0xCD);
  if (machine.checksInit)
    group->ldsWritten.resize(group->lds.size());
  unsigned waveSize = program.kernel.waveSize;
  Cache *cache = deviceCache;
  if (cacheKind == Caches::Workgroup || cacheKind == Caches::ComputeUnit)
    cache = makeCache(Scope::Agent,
                      /*writesThrough=*/cacheKind == Caches::ComputeUnit);
  unsigned numThreads = countThreads(launch);
  for (unsigned first = 0; first < numThreads; first += waveSize) {
    auto wave = std::make_unique<Wave>(machine, *group, program);
    wave->number = first / waveSize;
    unsigned count = std::min(waveSize, numThreads - first);
    wave->setScalar64(kExec,
                      count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1);
    initialize(*wave, first);
    wave->cache = cacheKind == Caches::Wave
                      ? makeCache(Scope::Workgroup, /*writesThrough=*/true)
                      : cache;
    wave->isWatched = wave->cache || machine.order;
    if (machine.checksInit)
      startInitCheck(*wave);
    if (machine.order)
      machine.order->start(*wave);
    group->waves.push_back(std::move(wave));
  }
  group->numLive = unsigned(group->waves.size());
  ++numRunning;
  return group;
}

void Dispatch::initialize(Wave &wave, unsigned firstThread) const {
  const Kernel &kernel = program.kernel;
  const irischips::AMDExecution &execution = program.code.getExecution();
  unsigned next = 0;
  auto push = [&](uint32_t value) {
    if (next < kNumPlainScalars)
      wave.scalars[next++] = value;
  };
  auto pushAddress = [&](const void *data) {
    uint64_t address = reinterpret_cast<uintptr_t>(data);
    push(uint32_t(address));
    push(uint32_t(address >> 32));
  };
  auto has = [&](unsigned property) { return kernel.properties & property; };
  // User registers, in the order of the ABI. Absent services are null.
  const bool hasScratchBuffer =
      has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_BUFFER);
  if (hasScratchBuffer)
    for (uint32_t word : kScratchDescriptor)
      push(word);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_PTR))
    pushAddress(packet.data());
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_QUEUE_PTR))
    pushAddress(nullptr);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_KERNARG_SEGMENT_PTR))
    pushAddress(arguments.data());
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_DISPATCH_ID))
    pushAddress(nullptr);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_FLAT_SCRATCH_INIT))
    pushAddress(nullptr);
  if (has(hsa::KERNEL_CODE_PROPERTY_ENABLE_SGPR_PRIVATE_SEGMENT_SIZE))
    push(kernel.scratchBytes);
  if (kernel.preloadedWords) {
    for (unsigned i = 0; i < kernel.preloadedWords; ++i) {
      uint64_t offset = (uint64_t(kernel.preloadOffset) + i) * 4;
      push(offset + 4 <= arguments.size()
               ? endian::read32le(arguments.data() + offset)
               : 0);
    }
    // Behind the code that loads them where the firmware does not.
    wave.position += 256 / 4;
  }
  unsigned numUser =
      (kernel.rsrc2 & hsa::COMPUTE_PGM_RSRC2_GFX6_GFX120_USER_SGPR_COUNT) >>
      hsa::COMPUTE_PGM_RSRC2_GFX6_GFX120_USER_SGPR_COUNT_SHIFT;
  while (next < numUser)
    push(0xBAD00BAD);
  const uint32_t *ids = wave.group.ids;
  if (execution.hasIdsInTrapRegisters) {
    wave.scalars[kTrapRegisters + 9] = ids[0];
    wave.scalars[kTrapRegisters + 7] = (ids[1] & 0xFFFF) | ids[2] << 16;
  } else {
    for (unsigned i = 0; i < 3; ++i)
      if (kernel.rsrc2 &
          (unsigned(hsa::COMPUTE_PGM_RSRC2_ENABLE_SGPR_WORKGROUP_ID_X) << i))
        push(ids[i]);
  }
  // Where the wave's scratch is in that of all waves. Here each has its own.
  if (hasScratchBuffer &&
      (kernel.rsrc2 & hsa::COMPUTE_PGM_RSRC2_ENABLE_PRIVATE_SEGMENT))
    push(0);
  // The first vector register has the thread's indices, 10 bits each.
  const Dimensions &threads = launch.threads;
  for (unsigned lane = 0; lane < kernel.waveSize; ++lane) {
    unsigned thread = firstThread + lane;
    unsigned x = thread % threads[0], y = thread / threads[0] % threads[1];
    unsigned z = thread / (threads[0] * threads[1]);
    wave.row(0)[lane] = x | y << 10 | z << 20;
  }
  wave.mode = kernel.rsrc1 >> 12 & 0xFF;
  wave.scratchBytes = kernel.scratchBytes;
  wave.scratch.assign(uint64_t(kernel.scratchBytes) * kLanes, 0xCD);
}

llvm::Expected<std::vector<uint8_t>>
mlir::iris::emulator::packArguments(const Kernel &kernel,
                                    llvm::ArrayRef<std::vector<uint8_t>> values,
                                    const Launch &launch) {
  std::vector<uint8_t> block(kernel.kernargBytes);
  size_t next = 0;
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError("kernel '" + kernel.name + "': " + message);
  };
  for (const KernelArgument &argument : kernel.arguments) {
    if (!argument.isHidden()) {
      if (next == values.size())
        return fail("there are only " + llvm::Twine(values.size()) +
                    " arguments");
      const std::vector<uint8_t> &value = values[next];
      if (value.size() != argument.size)
        return fail("argument " + llvm::Twine(next) + " has " +
                    llvm::Twine(value.size()) + " bytes; expected " +
                    llvm::Twine(argument.size));
      std::copy(value.begin(), value.end(), block.begin() + argument.offset);
      ++next;
      continue;
    }
    llvm::StringRef kind = argument.kind;
    unsigned axis = kind.ends_with("_y") ? 1 : kind.ends_with("_z") ? 2 : 0;
    uint64_t value = 0;
    if (kind.starts_with("hidden_block_count_"))
      value = launch.groups[axis];
    else if (kind.starts_with("hidden_group_size_"))
      value = launch.threads[axis];
    else if (kind == "hidden_grid_dims")
      value = launch.groups[2] * launch.threads[2] > 1   ? 3
              : launch.groups[1] * launch.threads[1] > 1 ? 2
                                                         : 1;
    else if (kind == "hidden_dynamic_lds_size")
      value = launch.extraLdsBytes;
    for (unsigned i = 0; i < argument.size && i < 8; ++i)
      block[argument.offset + i] = uint8_t(value >> (8 * i));
  }
  if (next != values.size())
    return fail("there are " + llvm::Twine(values.size()) +
                " arguments; expected " + llvm::Twine(next));
  return block;
}
