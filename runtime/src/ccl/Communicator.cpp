// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Communicator.cpp - Communicators and their kernels -----------------===//
//
// Operations.cpp has the operations, Calls.cpp their launches.
#include "ccl/CommunicatorImpl.h"
#include "iris/Plan/CollectiveForm.h"

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

Communicator::Communicator(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
Communicator::~Communicator() = default;

/// The compiler generates no kernel for another workspace.
static Status checkWorkspace(uint64_t bytes) {
  const plan::ConfigNumber &number = plan::collectiveWorkspace;
  if (bytes % 4 == 0 && bytes <= static_cast<uint64_t>(number.most) &&
      number.accepts(static_cast<int64_t>(bytes)))
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "communicator: a workspace of %llu bytes; expected a "
                    "multiple of 4, %s (CommunicatorOptions::workspaceBytes)",
                    static_cast<unsigned long long>(bytes),
                    number.describe().c_str());
}

static std::vector<uint32_t> allRanks(const World &world) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < world.numRanks(); ++rank)
    ranks.push_back(rank);
  return ranks;
}

Expected<std::unique_ptr<Communicator::Impl>>
Communicator::Impl::open(World &world, const CommunicatorOptions &options,
                         uint32_t channel) {
  Expected<Group> group =
      world.makeGroup(options.ranks.empty() ? allRanks(world) : options.ranks);
  if (!group.ok())
    return group.status().withContext("communicator");
  IRISRT_RETURN_IF_ERROR(checkCostModel(world.deviceKind()));
  IRISRT_RETURN_IF_ERROR(checkWorkspace(options.workspaceBytes));
  if (options.maxPrograms < 0)
    return makeStatus(
        StatusCode::invalidArgument,
        "communicator: at most %lld programs; expected at least 0 "
        "(CommunicatorOptions::maxPrograms)",
        static_cast<long long>(options.maxPrograms));
  return std::make_unique<Impl>(world, options, group.take(), channel);
}

Expected<std::unique_ptr<Communicator>>
Communicator::create(World &world, const CommunicatorOptions &options) {
  // Take the channels before any check, so that a rank with invalid options
  // numbers the channels of later communicators as its peers do.
  const uint32_t channel = world.makeChannel();
  const uint32_t tuningChannel = world.makeChannel();
  const auto tuning = CollectiveTuneRequest::from(options.tuning);
  Expected<std::unique_ptr<Impl>> opened = Impl::open(world, options, channel);
  std::optional<Agreement> everyone;
  // A world may have more ranks than a group; then nothing is measured.
  Expected<Group> all = world.makeGroup(allRanks(world));
  if (tuning.level != TuneLevel::off && all.ok()) {
    everyone.emplace(world, *all, tuningChannel);
    // An error on one rank is one on all of them, so that none waits.
    IRISRT_RETURN_IF_ERROR(everyone->succeeded(opened.status()));
  }
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<Impl> impl, std::move(opened));
  Expected<uint64_t> workspace = world.allocate(options.workspaceBytes);
  if (!workspace.ok())
    return workspace.status().withContext("the communicator's workspace");
  impl->workspace = *workspace;
  std::unique_ptr<Communicator> communicator(new Communicator(std::move(impl)));
  Impl &created = *communicator->impl_;
  Status status = created.checkCalls ? created.transfers.open() : Status();
  if (status.ok() && everyone)
    status = created.tuneWhenCreated(*everyone);
  if (status.ok())
    return communicator;
  communicator->destroy().ignore("the first error is reported");
  return status;
}

Communicator::Impl::Impl(World &world, const CommunicatorOptions &options,
                         Group members, uint32_t channel)
    : world(world), options(options), group(std::move(members)),
      cache(options.cache ? options.cache : KernelCache::shared()),
      checkCalls(options.checkCalls.value_or(Env::get().checkCollectives())),
      tuning(CollectiveTuneRequest::from(options.tuning)),
      agreement(world, group, channel), transfers(world, group),
      log(world.rank(), world.numRanks()), side(world) {}

Status Communicator::destroy() {
  if (impl_->workspace == 0)
    return Status::success();
  impl_->choices.clear();
  impl_->kernels.clear();
  Status status = impl_->side.close();
  Status freed = impl_->world.deallocate(std::exchange(impl_->workspace, 0));
  return status.ok() ? freed : status;
}

uint32_t Communicator::size() const {
  return static_cast<uint32_t>(impl_->group.ranks.size());
}
int32_t Communicator::index() const { return impl_->group.index; }
const Group &Communicator::group() const { return impl_->group; }

Status Communicator::Impl::checkUsable(const char *what) const {
  IRISRT_RETURN_IF_ERROR(world.failure());
  if (!group.contains()) {
    std::string list;
    for (uint32_t rank : group.ranks)
      list += (list.empty() ? "" : ", ") + std::to_string(rank);
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: rank %u is no member of this communicator (ranks "
                      "%s)",
                      what, world.rank(), list.c_str());
  }
  if (workspace == 0)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: the communicator was destroyed", what);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status Communicator::addPackage(const Package &package) {
  Expected<const PackageImage *> image =
      package.findImage(impl_->world.target(), impl_->world.translation());
  if (!image.ok())
    return image.status();
  impl_->cache->add(package);
  return Status::success();
}

Status Communicator::addPackage(const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(Package package, Package::fromFile(path));
  return addPackage(package).withContext(path);
}

KernelRequest Communicator::Impl::requestOf(const Spec &spec) const {
  KernelRequest request;
  request.source = requestText(spec, options.workspaceBytes);
  if (options.rewrite)
    request.source = options.rewrite(request.source);
  else
    request.name = requestName(spec, options.workspaceBytes);
  request.target = world.target();
  request.translation = world.translation();
  request.matches = [spec](const KernelInfo &kernel) {
    Expected<KernelFacts> facts = readFacts(kernel);
    return facts.ok() && serves(*facts, spec);
  };
  request.isAcceptable = [spec](const KernelInfo &kernel) {
    Expected<KernelFacts> facts = readFacts(kernel);
    return facts.ok() && servesAtAll(*facts, spec);
  };
  return request;
}

/// Gets the package and loads the kernel, without communication.
Expected<LoadedKernel> Communicator::Impl::loadAlone(const Spec &spec) {
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled,
                          cache->find(requestOf(spec)));
  return load(spec, compiled);
}

Expected<LoadedKernel>
Communicator::Impl::load(const Spec &spec, const CompiledKernel &compiled) {
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  LoadedKernel loaded;
  IRISRT_ASSIGN_OR_RETURN(loaded.kernel, module.kernel(compiled.name));
  IRISRT_ASSIGN_OR_RETURN(loaded.facts, readFacts(loaded.kernel.info()));
  if (!serves(loaded.facts, spec) && !servesAtAll(loaded.facts, spec))
    return makeStatus(StatusCode::internal,
                      "the kernel from %s is another one; its config is %s",
                      originName(compiled.origin),
                      loaded.kernel.info().config.c_str());
  if (loaded.facts.workspaceBytes > options.workspaceBytes)
    return makeStatus(
        StatusCode::failedPrecondition,
        "the kernel needs a workspace of %llu bytes, but the communicator has "
        "%llu (CommunicatorOptions::workspaceBytes)",
        static_cast<unsigned long long>(loaded.facts.workspaceBytes),
        static_cast<unsigned long long>(options.workspaceBytes));
  // The workspace layout depends on its size. Kernels with different sizes
  // would misread each other's packets.
  for (const auto &[other, kernel] : kernels) {
    if (kernel.facts.workspaceLayout != loaded.facts.workspaceLayout)
      return makeStatus(
          StatusCode::failedPrecondition,
          "the kernel's workspace has layout %llu, that of '%s' layout %llu; "
          "expected kernels from one version of iris-compile",
          static_cast<unsigned long long>(loaded.facts.workspaceLayout),
          describe(other).c_str(),
          static_cast<unsigned long long>(kernel.facts.workspaceLayout));
    if (kernel.facts.workspaceBytes != loaded.facts.workspaceBytes)
      return makeStatus(
          StatusCode::failedPrecondition,
          "the kernel was generated for a workspace of %llu bytes, that of "
          "'%s' for %llu; expected the same",
          static_cast<unsigned long long>(loaded.facts.workspaceBytes),
          describe(other).c_str(),
          static_cast<unsigned long long>(kernel.facts.workspaceBytes));
  }
  uint64_t programs = static_cast<uint64_t>(loaded.facts.programs);
  if (loaded.kernel.info().coresident) {
    IRISRT_ASSIGN_OR_RETURN(uint32_t most, world.maxCoresident(loaded.kernel));
    programs = std::min<uint64_t>(programs, most);
  }
  loaded.programs = programs;
  log.info("%s comes from %s", describe(spec).c_str(),
           originName(compiled.origin));
  return loaded;
}

/// Loads the kernel on all ranks of the group, or fails on all of them.
Expected<LoadedKernel> Communicator::Impl::loadTogether(const Spec &spec,
                                                        const Spec &requested) {
  // Synchronize before the compiler runs, so that no kernel of a peer waits for
  // a rank that is still compiling.
  IRISRT_RETURN_IF_ERROR(agreement.same("what they call", describe(requested)));
  // One rank compiles; its peers then find the package on disk. Otherwise all
  // ranks would compile the same kernel.
  std::optional<Expected<CompiledKernel>> first;
  if (group.index == 0)
    first = cache->find(requestOf(spec));
  IRISRT_RETURN_IF_ERROR(
      agreement.succeeded(first ? first->status() : Status()));
  Expected<LoadedKernel> loaded = first ? load(spec, **first) : loadAlone(spec);
  Expected<uint64_t> programs =
      loaded.ok() ? Expected<uint64_t>(loaded->programs) : loaded.status();
  IRISRT_ASSIGN_OR_RETURN(programs, agreement.least(programs));
  // Packages that were compiled ahead of time may differ between ranks.
  IRISRT_RETURN_IF_ERROR(
      agreement.same("a kernel", loaded->kernel.info().config));
  loaded->programs = *programs;
  return loaded;
}

Expected<const LoadedKernel *>
Communicator::Impl::kernelOf(const Spec &requested, bool together) {
  const Spec spec = kernelSpec(requested);
  auto found = kernels.find(spec);
  if (found != kernels.end())
    return &found->second;
  if (!world.canLoad())
    return makeStatus(
        StatusCode::failedPrecondition,
        "the kernel of '%s' is not loaded, and this driver cannot "
        "load it while a stream is captured; call prepare()%s before the "
        "capture",
        describe(spec).c_str(),
        spec.config.staged ? " for buffers anywhere" : "");
  Expected<LoadedKernel> loaded =
      together ? loadTogether(spec, requested) : loadAlone(spec);
  if (!loaded.ok())
    return loaded.status().withContext(describe(spec));
  return &kernels.emplace(spec, *loaded).first->second;
}

/// Loads all kernels of sends and receives before the first one runs. A driver
/// may load only when the device's kernels have ended (CUDA does), and a send
/// can wait for a peer that first waits for what this rank sends or receives
/// next.
Status Communicator::Impl::loadBothDirections(const Call &call,
                                              const Spec &spec) {
  if (kernels.count(kernelSpec(spec)) || !world.canLoad())
    return Status::success();
  for (Op op : {Op::send, Op::recv}) {
    Call each = call;
    each.op = op;
    for (const Config &config : configsToPrepare(each, Placement::anywhere)) {
      Spec other =
          makeSpec(op, call.dtype, call.reduce, spec.groupSize, config);
      other.isSelected = spec.isSelected;
      const Status status = kernelOf(other, /*together=*/false).status();
      // A package may lack those that are not called; their call reports it.
      if (!status.ok() && kernelSpec(other) == kernelSpec(spec))
        return status;
    }
  }
  return Status::success();
}

/// Describes a prepare() call; equal texts load equal kernels.
static std::string describeCall(const Call &call, Placement placement,
                                uint32_t groupSize) {
  Spec spec = makeSpec(call.op, call.dtype, call.reduce, groupSize,
                       call.config ? *call.config : Config());
  return describe(spec) + (call.config ? "" : ", as chosen") +
         (placement == Placement::anywhere ? ", for buffers anywhere" : "");
}

/// The configs that prepare() loads, for buffers on the heap or staged.
std::vector<Config>
Communicator::Impl::configsToPrepare(const Call &call,
                                     Placement placement) const {
  const Config config = call.config ? *call.config : Config();
  bool isAnywhere = placement == Placement::anywhere && call.op != Op::barrier;
  std::vector<Config> configs;
  if (!config.variant.empty()) {
    configs = {config};
    if (isAnywhere && !usesCopyEngine(call.op, config.variant) &&
        !config.staged) {
      configs.push_back(config);
      configs.back().staged = true;
    }
    return configs;
  }
  const auto size = static_cast<uint32_t>(group.ranks.size());
  auto add = [&](bool onHeap) {
    for (const Config &each :
         candidates(call.op, call.dtype, world.deviceKind(), size, onHeap,
                    &world.deviceAttributes())) {
      Config whole = completed(config, each);
      whole.staged = each.staged;
      configs.push_back(whole);
    }
  };
  if (!config.staged)
    add(/*onHeap=*/true);
  if (isAnywhere || config.staged)
    add(/*onHeap=*/false);
  if (getCollective(call.op).isPointToPoint())
    configs.push_back(groupConfig());
  return configs;
}

Status Communicator::Impl::prepare(const Call &call, Placement placement) {
  const auto size = static_cast<uint32_t>(group.ranks.size());
  const Config config = call.config ? *call.config : Config();
  bool isNamed = !config.variant.empty();
  // The other ranks do not know whether the root's call is in place.
  bool maySwitch = call.op != Op::barrier && !hasRoot(call.op) && !isNamed &&
                   !getCollective(call.op).hasCounts();
  for (const Config &each : configsToPrepare(call, placement)) {
    Spec spec = makeSpec(call.op, call.dtype, call.reduce, size, each);
    spec.isSelected = isOpen(config);
    IRISRT_ASSIGN_OR_RETURN(const LoadedKernel *kernel,
                            kernelOf(spec, /*together=*/true));
    if (usesCopyEngine(call.op, each.variant)) {
      IRISRT_RETURN_IF_ERROR(side.open());
      continue;
    }
    if (maySwitch && !kernel->canBeInPlace()) {
      spec.config.staged = true;
      IRISRT_RETURN_IF_ERROR(kernelOf(spec, /*together=*/true).status());
    }
  }
  return Status::success();
}

/// Checks the arguments of prepare().
static Status checkPrepare(const Call &call, Placement placement, uint32_t size,
                           uint32_t index) {
  if (!findCollective(call.op))
    return makeStatus(StatusCode::invalidArgument,
                      "prepare: %d is no operation", static_cast<int>(call.op));
  if (placement != Placement::onHeap && placement != Placement::anywhere)
    return makeStatus(StatusCode::invalidArgument,
                      "prepare: %d is no placement",
                      static_cast<int>(placement));
  if (call.config)
    IRISRT_RETURN_IF_ERROR(checkConfig(call.op, call.dtype, *call.config));
  // A group of one rank has no peer to send to.
  return size == 1 ? Status::success() : checkCall(call, size, index).status();
}

Status Communicator::prepare(Op op, DType dtype, ReduceOp reduce,
                             const Config *config, Placement placement) {
  IRISRT_RETURN_IF_ERROR(impl_->checkUsable("prepare"));
  Call call;
  call.op = op;
  call.dtype = dtype;
  call.reduce = reduce;
  call.config = config;
  call.root = op == Op::send || op == Op::recv ? (index() + 1u) % size() : 0;
  Status mine = checkPrepare(call, placement, size(), index());
  if (size() == 1 && (!mine.ok() || !getCollective(op).hasCounts()))
    return mine; // nothing is launched
  // Fail on all ranks if the arguments are invalid on one, so that no rank
  // waits.
  IRISRT_RETURN_IF_ERROR(impl_->agreement.succeeded(mine));
  IRISRT_RETURN_IF_ERROR(impl_->agreement.same(
      "what they prepare", describeCall(call, placement, size())));
  IRISRT_RETURN_IF_ERROR(impl_->prepare(call, placement));
  return impl_->tuneWhenPrepared(call, placement);
}
