// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CommunicatorImpl.h - Implementation of Communicator ------*- C++ -*-===//
#ifndef IRIS_RT_CCL_COMMUNICATORIMPL_H
#define IRIS_RT_CCL_COMMUNICATORIMPL_H

#include "ccl/Agreement.h"
#include "ccl/CheckCall.h"
#include "ccl/CollectiveTuner.h"
#include "ccl/SideStream.h"
#include "ccl/Spec.h"
#include "ccl/TransferCheck.h"
#include "core/Log.h"
#include "iris/ccl/Communicator.h"
#include "iris/ccl/Selector.h"

#include <unordered_map>

namespace iris::ccl {

/// A kernel that is loaded on this rank's device.
struct LoadedKernel {
  rt::Kernel kernel;
  KernelFacts facts;
  /// The maximum number of programs of a launch; the group agreed on it, but
  /// for sends and receives.
  uint64_t programs = 1;

  bool canBeInPlace() const { return facts.inPlace || facts.staged; }
};

/// The kernel of a call and the maximum number of programs that divide its data
/// among them, which is equal on all ranks.
struct Chosen {
  const LoadedKernel *kernel = nullptr;
  uint64_t programs = 1;
  /// Copy engines move the data; the kernel is the barrier before and after the
  /// copies.
  bool usesCopyEngine = false;
};

/// A selected config, its expected time in microseconds, and where it comes
/// from, as Communicator::explain() returns it.
struct Selection {
  Config config;
  double us = 0;
  std::string text;
};

/// The properties of a call that select the kernel.
struct ChoiceKey {
  TuningKey tuningKey;
  ReduceOp reduce = ReduceOp::sum;
  /// Whether the caller passes a config; a default config differs from none.
  bool hasConfig = false;
  Config config;

  bool operator==(const ChoiceKey &other) const;
};

struct ChoiceHash {
  size_t operator()(const ChoiceKey &key) const;
};

/// A send or a receive of a group (TransferGroup.cpp).
struct Transfer;

/// The buffer that every rank of the group passes and that peers access.
const Extent &sharedBuffer(Op op, const CheckedCall &checked);

/// The argument of a one-dimensional buffer.
IrisRtArg vectorArg(IrisRtElement element, const Extent &extent,
                    bool symmetric);

struct Communicator::Impl {
  Impl(rt::World &world, const CommunicatorOptions &options, rt::Group members,
       uint32_t channel);

  static rt::Expected<std::unique_ptr<Impl>>
  open(rt::World &world, const CommunicatorOptions &options, uint32_t channel);

  rt::Status checkUsable(const char *what) const;
  KernelRequest requestOf(const Spec &spec) const;
  rt::Expected<LoadedKernel> loadAlone(const Spec &spec);
  rt::Expected<LoadedKernel> load(const Spec &spec,
                                  const CompiledKernel &compiled);
  rt::Expected<LoadedKernel> loadTogether(const Spec &spec,
                                          const Spec &requested);
  /// Returns the kernel and loads it on first use.
  rt::Expected<const LoadedKernel *> kernelOf(const Spec &spec, bool together);

  rt::Status loadBothDirections(const Call &call, const Spec &spec);

  std::vector<Config> configsToPrepare(const Call &call,
                                       Placement placement) const;
  rt::Status prepare(const Call &call, Placement placement);

  rt::Status run(const Call &call);
  bool onlyEnqueues(const Call &call) const;
  rt::Status load(const Call &call);
  rt::Status runGroup(const std::vector<Call> &calls, rt::Stream stream);
  bool hasGroupKernel() const;
  const Spec &groupSpec() const;
  rt::Status launchGroup(const std::vector<Transfer> &group,
                         const LoadedKernel &loaded, rt::Stream stream);
  /// The config of the kernel of groups.
  Config groupConfig() const;
  rt::Status runAlone(const Call &call, const CheckedCall &checked);
  rt::Status compareCalls(const Call &call, const CheckedCall &checked,
                          const std::string &how);
  /// Checks the arguments, and finds the buffers on the heap.
  rt::Expected<CheckedCall> check(const Call &call) const;
  Config completed(const Config &config, const Config &chosen) const;
  rt::Expected<TuningKey> tuningKeyOf(const Call &call,
                                      const CheckedCall &checked) const;
  TuningKey selectionKey(const Call &call, const TuningKey &tuningKey) const;
  Spec specOf(const Call &call, const TuningKey &tuningKey) const;

  struct Tuner;
  rt::Status tuneWhenCreated(Agreement everyone);
  rt::Status tuneWhenPrepared(const Call &call, Placement placement);
  const TunedCollective *findTuned(Op op, bool onHeap) const;
  Selection selectFor(const TuningKey &tuningKey) const;
  rt::Expected<std::optional<Selection>> selectionOf(const Call &call) const;
  rt::Expected<Chosen> choose(const Call &call, const CheckedCall &checked);
  rt::Expected<Chosen> findKernel(const Call &call, const CheckedCall &checked,
                                  const TuningKey &tuningKey);
  uint64_t rootArgument(const Call &call, const CheckedCall &checked,
                        const KernelFacts &facts) const;
  /// Whether the device runs the programs of a send or receive at once;
  /// otherwise it runs in the kernel of groups, where one program does the work
  /// of several.
  static bool hasRoomFor(const CheckedCall &checked, const Chosen &chosen);
  rt::Status launch(const Call &call, const CheckedCall &checked,
                    const Chosen &chosen);
  rt::Status launchCounted(const Call &call, const CheckedCall &checked,
                           const Chosen &chosen);
  rt::Status copyChunks(const Call &call, const CheckedCall &checked,
                        const Chosen &chosen);

  rt::World &world;
  const CommunicatorOptions options;
  const rt::Group group;
  const std::shared_ptr<KernelCache> cache;
  const bool checkCalls;
  const CollectiveTuneRequest tuning;
  Agreement agreement;
  TransferCheck transfers;
  const rt::Log log;
  uint64_t workspace = 0;
  /// For copies by copy engines; opened when they are first selected.
  SideStream side;
  std::unordered_map<Spec, LoadedKernel, SpecHash> kernels;
  /// Earlier choices, so that a repeated call costs one lookup. Empty if the
  /// ranks compare their calls.
  std::unordered_map<ChoiceKey, Chosen, ChoiceHash> choices;
  /// groupSpec(), which takes the device's model to find, once it was asked
  /// for.
  mutable std::optional<Spec> specOfGroups;
  /// Operations that were to be measured, and whether prepare() may measure.
  std::vector<TunedCollective> tuned;
  bool mayTune = false;
  /// Why nothing is measured at all, if tuning is not off.
  std::string whyNotTuned;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COMMUNICATORIMPL_H
