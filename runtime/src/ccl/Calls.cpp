// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Calls.cpp - From a collective call to a launch ---------------------===//
//
// Operations.cpp has the methods of Communicator that make the calls.
#include "ccl/CommunicatorImpl.h"
#include "ccl/ProgramLimit.h"
#include "iris/Plan/CollectiveForm.h"

#include <algorithm>
#include <cinttypes>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr size_t maxChoices = 4096;

static bool isOfAllMembers(Op op) {
  return !getCollective(op).isPointToPoint();
}

//===----------------------------------------------------------------------===//
// Kernel selection
//===----------------------------------------------------------------------===//

bool ChoiceKey::operator==(const ChoiceKey &other) const {
  const TuningKey &a = tuningKey, &b = other.tuningKey;
  return a.bytes == b.bytes && a.op == b.op && a.dtype == b.dtype &&
         a.alignment == b.alignment && a.inPlace == b.inPlace &&
         a.onHeap == b.onHeap && a.maxPrograms == b.maxPrograms &&
         reduce == other.reduce && hasConfig == other.hasConfig &&
         config == other.config;
}

size_t ChoiceHash::operator()(const ChoiceKey &key) const {
  const TuningKey &of = key.tuningKey;
  uint64_t hash = static_cast<uint64_t>(of.op) |
                  static_cast<uint64_t>(of.dtype) << 8 |
                  static_cast<uint64_t>(key.reduce) << 16 |
                  static_cast<uint64_t>(of.inPlace) << 24 |
                  static_cast<uint64_t>(of.onHeap) << 25 | of.alignment << 32;
  auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  mix(of.bytes);
  mix(static_cast<uint64_t>(of.maxPrograms));
  if (key.hasConfig) {
    const Config &config = key.config;
    mix(std::hash<std::string>()(config.variant));
    mix(static_cast<uint64_t>(config.tile) |
        static_cast<uint64_t>(config.programs) << 16 |
        static_cast<uint64_t>(config.warps) << 32 |
        static_cast<uint64_t>(config.xcds) << 40 |
        static_cast<uint64_t>(config.staged) << 48 | uint64_t(1) << 49);
  }
  return hash;
}

const Extent &iris::ccl::sharedBuffer(Op op, const CheckedCall &checked) {
  return getCollective(op).sharesInput() ? checked.in : checked.out;
}

/// The largest power of two that divides all addresses and sizes, whose bits
/// are `bits`, and a page.
static uint64_t alignmentOf(uint64_t bits) {
  bits |= uint64_t(1) << 12;
  return bits & (~bits + 1);
}

/// Replaces addresses of the program in memory that was imported by those of
/// the heap. A kernel must not use both addresses of the same bytes, so that of
/// buffers in place either both are on the heap or none.
static void useHeapAddresses(const World &world, CheckedCall &checked) {
  auto onHeap = [&](const Extent &extent) {
    return extent.bytes == 0
               ? std::optional<uint64_t>(extent.address)
               : world.symmetricAddress(extent.address, extent.bytes);
  };
  const std::optional<uint64_t> in = onHeap(checked.in),
                                out = onHeap(checked.out);
  if (checked.inPlace && !(in && out))
    return;
  checked.in.address = in.value_or(checked.in.address);
  checked.out.address = out.value_or(checked.out.address);
}

Expected<CheckedCall> Communicator::Impl::check(const Call &call) const {
  IRISRT_ASSIGN_OR_RETURN(CheckedCall checked,
                          checkCall(call,
                                    static_cast<uint32_t>(group.ranks.size()),
                                    static_cast<uint32_t>(group.index)));
  useHeapAddresses(world, checked);
  return checked;
}

/// The tuning key, which is equal on all ranks of the group.
Expected<TuningKey>
Communicator::Impl::tuningKeyOf(const Call &call,
                                const CheckedCall &checked) const {
  auto onHeap = [this](const Extent &extent) {
    return extent.bytes == 0 || world.isSymmetric(extent.address, extent.bytes);
  };
  TuningKey tuningKey;
  tuningKey.op = call.op;
  tuningKey.dtype = call.dtype;
  tuningKey.bytes = checked.chunkBytes;
  tuningKey.maxPrograms = smallerLimit(options.maxPrograms, call.maxPrograms);
  tuningKey.groupSize = static_cast<uint32_t>(group.ranks.size());
  tuningKey.device = world.deviceKind();
  tuningKey.attributes = &world.deviceAttributes();
  tuningKey.onHeap = onHeap(checked.in) && onHeap(checked.out);
  tuningKey.inPlace = checked.inPlace;
  uint64_t bits = tuningKey.bytes;
  if (hasRoot(call.op)) {
    // Other ranks cannot see the buffer that only the root has.
    const Extent &shared = sharedBuffer(call.op, checked);
    tuningKey.onHeap = onHeap(shared);
    tuningKey.inPlace = false;
    if (getCollective(call.op).isAtSameOffset())
      bits |= shared.address;
  } else {
    bits |= checked.in.address | checked.out.address;
  }
  // Heap offsets are equal on all ranks; addresses of other memory are not.
  tuningKey.alignment =
      tuningKey.onHeap ? alignmentOf(bits) : dtypeBytes(call.dtype);
  return tuningKey;
}

/// The config, with the fields it leaves open taken from the Selector's choice.
Config Communicator::Impl::completed(const Config &config,
                                     const Config &chosen) const {
  Config whole = complete(config, chosen);
  // Tiles are selected for the default workspace; for a smaller one the
  // generator finds the largest tile that fits.
  if (isOpen(config) && options.workspaceBytes < defaultWorkspaceBytes)
    whole.tile = whole.warps = 0;
  return whole;
}

/// What the Selector is asked for.
TuningKey Communicator::Impl::selectionKey(const Call &call,
                                           const TuningKey &tuningKey) const {
  TuningKey requested = tuningKey;
  if (call.config) {
    requested.onHeap = tuningKey.onHeap && !call.config->staged;
    requested.programs = call.config->programs;
  }
  // The peer does not know where this rank's buffer is.
  if (getCollective(call.op).isPointToPoint()) {
    requested.onHeap = true;
    requested.alignment = alignmentOf(tuningKey.bytes);
  }
  return requested;
}

/// The spec of the kernel that the config or, for open fields, the Selector
/// asks for.
Spec Communicator::Impl::specOf(const Call &call,
                                const TuningKey &tuningKey) const {
  Config config = call.config ? *call.config : Config();
  bool isSelected = isOpen(config);
  if (config.variant.empty())
    config = completed(config, selectFor(selectionKey(call, tuningKey)).config);
  config.staged = config.staged || !tuningKey.onHeap;
  Spec spec =
      makeSpec(call.op, call.dtype, call.reduce, tuningKey.groupSize, config);
  spec.isSelected = isSelected;
  return spec;
}

Expected<Chosen> Communicator::Impl::findKernel(const Call &call,
                                                const CheckedCall &checked,
                                                const TuningKey &tuningKey) {
  Spec spec = specOf(call, tuningKey);
  const bool copies = usesCopyEngine(spec.op, spec.config.variant);
  if (copies && spec.config.staged)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: variant %s copies directly between the ranks' "
                      "buffers; expected buffers on the symmetric heap, and "
                      "staged = false",
                      opName(call.op).data(), spec.config.variant.c_str());
  const bool together = isOfAllMembers(call.op);
  if (checkCalls && together)
    IRISRT_RETURN_IF_ERROR(compareCalls(call, checked, describe(spec)));
  if (!together)
    IRISRT_RETURN_IF_ERROR(loadBothDirections(call, spec));
  IRISRT_ASSIGN_OR_RETURN(const LoadedKernel *kernel, kernelOf(spec, together));
  if (copies) {
    IRISRT_RETURN_IF_ERROR(side.open());
    return Chosen{kernel, 1, copies};
  }
  if (tuningKey.inPlace && !kernel->canBeInPlace()) {
    spec.config.staged = true;
    IRISRT_ASSIGN_OR_RETURN(kernel, kernelOf(spec, together));
  }
  // The peer divides a message as this rank does, whatever the devices have
  // room for.
  Chosen chosen = {kernel, together
                               ? kernel->programs
                               : static_cast<uint64_t>(kernel->facts.programs)};
  if (call.config && call.config->programs > kernel->facts.programs)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: the config's programs is %lld; expected at most "
                      "%lld, which the kernel was generated for",
                      opName(call.op).data(),
                      static_cast<long long>(call.config->programs),
                      static_cast<long long>(kernel->facts.programs));
  if (spec.config.programs != 0)
    chosen.programs =
        std::min(chosen.programs, static_cast<uint64_t>(spec.config.programs));
  return chosen;
}

static ChoiceKey keyOf(const Call &call, const TuningKey &tuningKey) {
  ChoiceKey key = {tuningKey, call.reduce, call.config != nullptr, {}};
  if (call.config)
    key.config = *call.config;
  return key;
}

Expected<Chosen> Communicator::Impl::choose(const Call &call,
                                            const CheckedCall &checked) {
  IRISRT_ASSIGN_OR_RETURN(TuningKey tuningKey, tuningKeyOf(call, checked));
  Chosen chosen;
  if (checkCalls) {
    IRISRT_ASSIGN_OR_RETURN(chosen, findKernel(call, checked, tuningKey));
  } else {
    ChoiceKey key = keyOf(call, tuningKey);
    auto found = choices.find(key);
    if (found != choices.end()) {
      chosen = found->second;
    } else {
      IRISRT_ASSIGN_OR_RETURN(chosen, findKernel(call, checked, tuningKey));
      // Bounds the map for applications whose sizes never repeat.
      if (choices.size() >= maxChoices)
        choices.clear();
      choices.emplace(std::move(key), chosen);
    }
  }
  return chosen;
}

/// Debug check: the ranks compare their calls.
Status Communicator::Impl::compareCalls(const Call &call,
                                        const CheckedCall &checked,
                                        const std::string &how) {
  std::string text = how + ", " + std::string(dtypeName(call.dtype)) + " x " +
                     std::to_string(call.count);
  if (getCollective(call.op).hasCounts())
    text += formatString(", rows of %" PRIu64 " elements from %" PRIu64
                         " to %" PRIu64 " elements",
                         call.rowElements, call.inSize, call.outSize);
  if (hasRoot(call.op))
    text += ", root " + std::to_string(call.root);
  else if (checked.inPlace)
    text += ", in place";
  const Extent &shared = sharedBuffer(call.op, checked);
  if (getCollective(call.op).isAtSameOffset() && shared.bytes != 0 &&
      world.isSymmetric(shared.address, shared.bytes))
    text += formatString(", '%s' at heap offset %" PRIu64,
                         &shared == &checked.out ? "out" : "in",
                         shared.address - world.context().heapBase);
  return agreement.same("a call", text);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

IrisRtArg iris::ccl::vectorArg(IrisRtElement element, const Extent &extent,
                               bool symmetric) {
  IrisRtArg arg = {};
  arg.kind = IRISRT_ARG_MEMREF;
  arg.element = element;
  arg.rank = 1;
  arg.symmetric = symmetric;
  arg.value = extent.address;
  arg.sizes[0] = static_cast<int64_t>(extent.bytes / elementBytes(element));
  arg.strides[0] = 1;
  return arg;
}

/// Programs of a launch on a chunk of `count` elements.
static uint64_t programsFor(uint64_t count, const LoadedKernel &kernel,
                            const Chosen &chosen) {
  plan::IntegerArithmetic n;
  return static_cast<uint64_t>(plan::countPrograms(
      n, plan::ceilDiv(static_cast<int64_t>(count), kernel.facts.tile),
      static_cast<int64_t>(chosen.programs)));
}

/// Checks the length of a chunk, in elements of the kernel, if the collective
/// cannot run in several launches.
static Status checkLength(Op op, const KernelFacts &facts, uint64_t total,
                          uint64_t width) {
  if (facts.maxCount == 0 || total <= facts.maxCount ||
      getCollective(op).isDivisible())
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%s: chunks of %" PRIu64 " bytes; expected at most "
                    "%" PRIu64 " for the variant '%s'%s with a workspace of "
                    "%" PRIu64 " bytes",
                    opName(op).data(), total * width, facts.maxCount * width,
                    facts.variant.c_str(), facts.staged ? ", staged," : "",
                    facts.workspaceBytes);
}

/// The last argument of a launch: the root, and whether peers cannot access the
/// buffer that only the root passes, because it is outside of the heap.
uint64_t Communicator::Impl::rootArgument(const Call &call,
                                          const CheckedCall &checked,
                                          const KernelFacts &facts) const {
  if (!isOfAllMembers(call.op) || !hasRoot(call.op) || facts.staged)
    return call.root;
  const Extent &rootBuffer =
      &sharedBuffer(call.op, checked) == &checked.in ? checked.out : checked.in;
  bool isOffHeap = rootBuffer.bytes != 0 &&
                   !world.isSymmetric(rootBuffer.address, rootBuffer.bytes);
  return call.root + (isOffHeap ? plan::rootIsElsewhere : 0);
}

bool Communicator::Impl::hasRoomFor(const CheckedCall &checked,
                                    const Chosen &chosen) {
  const LoadedKernel &loaded = *chosen.kernel;
  const uint64_t width = elementBytes(loaded.kernel.info().args[1].element);
  return programsFor(checked.chunkBytes / width, loaded, chosen) <=
         loaded.programs;
}

/// Launches the kernel, once for each slice of the chunks that it can process
/// in one launch.
Status Communicator::Impl::launch(const Call &call, const CheckedCall &checked,
                                  const Chosen &chosen) {
  const LoadedKernel &loaded = *chosen.kernel;
  const KernelFacts &facts = loaded.facts;
  const KernelInfo &info = loaded.kernel.info();
  IrisRtElement element = info.args[1].element;
  uint64_t width = elementBytes(element);
  uint64_t total = call.count * dtypeBytes(call.dtype) / width;
  uint64_t sliceLimit = facts.maxCount == 0 ? total : facts.maxCount;
  IRISRT_RETURN_IF_ERROR(checkLength(call.op, facts, total, width));
  const Extent workspaceExtent = {workspace, options.workspaceBytes};
  const uint64_t root = rootArgument(call, checked, facts);
  uint64_t done = 0;
  do {
    uint64_t count = std::min(total - done, sliceLimit);
    auto sliceOf = [&](const Extent &extent) {
      // The kernel checks that even an empty buffer is on the heap.
      if (extent.bytes == 0)
        return Extent{workspace, 0};
      if (count == total)
        return extent;
      return Extent{extent.address + done * width, count * width};
    };
    uint64_t programs[3] = {programsFor(count, loaded, chosen), 1, 1};
    IrisRtArg args[6] = {
        makeContextArg(),
        vectorArg(element, sliceOf(checked.in), info.args[1].symmetric),
        vectorArg(element, sliceOf(checked.out), info.args[2].symmetric),
        vectorArg(info.args[3].element, workspaceExtent, true),
        makeScalarArg(IRISRT_ELT_INDEX, count),
        makeScalarArg(IRISRT_ELT_INDEX, root)};
    IRISRT_RETURN_IF_ERROR(world.launchOnHeap(loaded.kernel, programs, args, 6,
                                              call.stream, &group));
    done += count;
  } while (done < total);
  return Status::success();
}

/// Launches a collective with counts. They are in device memory, so that the
/// host does not know the lengths of the chunks.
Status Communicator::Impl::launchCounted(const Call &call,
                                         const CheckedCall &checked,
                                         const Chosen &chosen) {
  const LoadedKernel &loaded = *chosen.kernel;
  const KernelInfo &info = loaded.kernel.info();
  IrisRtElement element = info.args[1].element;
  uint64_t width = elementBytes(element);
  auto onHeapIfEmpty = [&](const Extent &extent) {
    return extent.bytes == 0 ? Extent{workspace, 0} : extent;
  };
  uint64_t row = call.rowElements * dtypeBytes(call.dtype) / width;
  uint64_t largest = std::max(checked.in.bytes, checked.out.bytes) / width;
  uint64_t programs[3] = {programsFor(largest, loaded, chosen), 1, 1};
  std::vector<IrisRtArg> args = {
      makeContextArg(),
      vectorArg(element, onHeapIfEmpty(checked.in), info.args[1].symmetric),
      vectorArg(element, onHeapIfEmpty(checked.out), info.args[2].symmetric),
      vectorArg(info.args[3].element, {workspace, options.workspaceBytes},
                true),
      makeScalarArg(IRISRT_ELT_INDEX, row),
      makeScalarArg(IRISRT_ELT_INDEX, 0)};
  auto addTable = [&](const plan::Buffer &buffer, const ChunkTable &table) {
    if (!buffer.hasCounts)
      return;
    for (const int64_t *entries : {table.counts, table.offsets})
      args.push_back(vectorArg(IRISRT_ELT_I64,
                               {reinterpret_cast<uint64_t>(entries),
                                group.ranks.size() * sizeof(int64_t)},
                               /*symmetric=*/false));
  };
  addTable(getCollective(call.op).in, call.inChunks);
  addTable(getCollective(call.op).out, call.outChunks);
  return world.launchOnHeap(loaded.kernel, programs, args.data(),
                            static_cast<uint32_t>(args.size()), call.stream,
                            &group);
}

/// An all-gather by the device's copy engines. Only the barriers before and
/// after the copies are kernels. After the first barrier, all inputs are
/// complete and no rank uses an output of an earlier call. After the last
/// barrier, no peer reads this rank's input.
Status Communicator::Impl::copyChunks(const Call &call,
                                      const CheckedCall &checked,
                                      const Chosen &chosen) {
  Call barrierCall;
  barrierCall.op = Op::barrier;
  barrierCall.stream = call.stream;
  IRISRT_RETURN_IF_ERROR(launch(barrierCall, CheckedCall(), chosen));
  const auto size = static_cast<uint32_t>(group.ranks.size());
  const auto me = static_cast<uint32_t>(group.index);
  auto copy = [&](uint32_t member, Stream stream) -> Status {
    uint64_t to = checked.out.address + member * checked.in.bytes;
    // In place, a rank's input is its chunk of its output.
    IRISRT_ASSIGN_OR_RETURN(
        uint64_t from,
        world.translate(checked.inPlace ? to : checked.in.address,
                        group.ranks[member]));
    return world.copyOnDevice(to, from, checked.in.bytes, stream);
  };
  // This rank's own chunk crosses no link, so its copy runs concurrently with
  // the copies from peers.
  if (!checked.inPlace) {
    IRISRT_RETURN_IF_ERROR(side.fork(call.stream));
    IRISRT_RETURN_IF_ERROR(copy(me, side.stream()));
  }
  // Each rank starts with the next rank, so that no two ranks read from the
  // same peer at the same time.
  for (uint32_t i = 1; i < size; ++i)
    IRISRT_RETURN_IF_ERROR(copy((me + i) % size, call.stream));
  if (!checked.inPlace)
    IRISRT_RETURN_IF_ERROR(side.join(call.stream));
  return launch(barrierCall, CheckedCall(), chosen);
}

/// In a group of one rank every collective is a copy; a reduction returns its
/// operand.
Status Communicator::Impl::runAlone(const Call &call,
                                    const CheckedCall &checked) {
  if (checked.out.bytes == 0 || checked.inPlace)
    return Status::success();
  return world.copyOnDevice(checked.out.address, checked.in.address,
                            checked.out.bytes, call.stream);
}

/// Of counts only the device knows that they are 0.
static bool isEmpty(const Call &call) {
  return getCollective(call.op).hasCounts() ? call.inSize + call.outSize == 0
                                            : call.count == 0;
}

bool Communicator::Impl::onlyEnqueues(const Call &call) const {
  if (workspace == 0 || !group.contains())
    return true;
  const auto size = static_cast<uint32_t>(group.ranks.size());
  const plan::Collective &collective = getCollective(call.op);
  if (checkCalls && size > 1)
    return false;
  Expected<CheckedCall> checked = check(call);
  if (!checked.ok() || (isEmpty(call) && collective.hasBuffers()) ||
      (size == 1 && !collective.hasCounts()))
    return true;
  Expected<TuningKey> tuningKey = tuningKeyOf(call, *checked);
  return !tuningKey.ok() || choices.count(keyOf(call, *tuningKey)) > 0;
}

/// What is selected for a call without a config; nothing if no rank sends data.
Expected<std::optional<Selection>>
Communicator::Impl::selectionOf(const Call &call) const {
  IRISRT_RETURN_IF_ERROR(checkUsable(opName(call.op).data()));
  const auto size = static_cast<uint32_t>(group.ranks.size());
  IRISRT_ASSIGN_OR_RETURN(CheckedCall checked, check(call));
  if (isEmpty(call) || size == 1)
    return std::optional<Selection>();
  IRISRT_ASSIGN_OR_RETURN(TuningKey tuningKey, tuningKeyOf(call, checked));
  return std::optional<Selection>(selectFor(selectionKey(call, tuningKey)));
}

Status Communicator::Impl::run(const Call &call) {
  if (call.config && isGrouped(call.op, call.config->variant))
    return runGroup({call}, call.stream);
  if (workspace == 0 || !group.contains() || !world.failure().ok())
    return checkUsable(opName(call.op).data());
  const auto size = static_cast<uint32_t>(group.ranks.size());
  Expected<CheckedCall> arguments = check(call);
  const bool compares = checkCalls && size > 1 && isOfAllMembers(call.op);
  // An invalid argument on one rank is an error on all ranks.
  if (compares)
    IRISRT_RETURN_IF_ERROR(agreement.succeeded(arguments.status()));
  IRISRT_ASSIGN_OR_RETURN(CheckedCall checked, std::move(arguments));
  const plan::Collective &collective = getCollective(call.op);
  if (isEmpty(call) && collective.hasBuffers())
    return compares ? compareCalls(call, checked, opName(call.op).data())
                    : transfers.check(call);
  if (size == 1 && !collective.hasCounts())
    return runAlone(call, checked);
  IRISRT_ASSIGN_OR_RETURN(Chosen chosen, choose(call, checked));
  if (!isOfAllMembers(call.op) && !hasRoomFor(checked, chosen))
    return runGroup({call}, call.stream);
  IRISRT_RETURN_IF_ERROR(transfers.check(call));
  if (chosen.usesCopyEngine)
    return copyChunks(call, checked, chosen);
  return collective.hasCounts() ? launchCounted(call, checked, chosen)
                                : launch(call, checked, chosen);
}
