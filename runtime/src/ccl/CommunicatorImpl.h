// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a Communicator is made of; shared by the files that implement it.
#ifndef IRIS_RT_CCL_COMMUNICATORIMPL_H
#define IRIS_RT_CCL_COMMUNICATORIMPL_H

#include "ccl/Agreement.h"
#include "ccl/CheckCall.h"
#include "ccl/SideStream.h"
#include "ccl/Spec.h"
#include "core/Log.h"
#include "iris/ccl/Communicator.h"
#include "iris/ccl/Selector.h"

#include <unordered_map>

namespace iris::ccl {

/// A kernel on this rank's device.
struct LoadedKernel {
  rt::Kernel kernel;
  KernelFacts facts;
  /// Most programs of a launch, on which the members agreed.
  uint64_t programs = 1;

  bool canBeInPlace() const { return facts.inPlace || facts.staged; }
};

/// What a call launches: a kernel, and most programs of the launch.
struct Chosen {
  const LoadedKernel *kernel = nullptr;
  uint64_t programs = 1;
  /// The kernel is a barrier's, around copies.
  bool isCopied = false;
};

/// A call, as far as it decides on the kernel.
struct ChoiceKey {
  TuningKey tuningKey;
  ReduceOp reduce = ReduceOp::sum;
  /// What the caller asks for; a config of defaults is not none.
  bool hasConfig = false;
  Config config;

  bool operator==(const ChoiceKey &other) const;
};

struct ChoiceHash {
  size_t operator()(const ChoiceKey &key) const;
};

struct Communicator::Impl {
  Impl(rt::World &world, const CommunicatorOptions &options, rt::Group members,
       uint32_t channel);

  rt::Status checkUsable(const char *what) const;
  KernelRequest requestOf(const Spec &spec) const;
  rt::Expected<LoadedKernel> loadAlone(const Spec &spec);
  rt::Expected<LoadedKernel> loadTogether(const Spec &spec, const Spec &asked);
  /// The kernel, loaded on first use.
  rt::Expected<const LoadedKernel *> kernelOf(const Spec &spec, bool together);

  std::vector<Config> configsToPrepare(const Call &call,
                                       Placement placement) const;
  rt::Status prepare(const Call &call, Placement placement);

  rt::Status run(const Call &call);
  rt::Status runAlone(const Call &call, const CheckedCall &checked);
  rt::Status compareCalls(const Call &call, const CheckedCall &checked,
                          const std::string &how);
  Config completed(const Config &config, const Config &chosen) const;
  rt::Expected<TuningKey> tuningKeyOf(const Call &call,
                                      const CheckedCall &checked) const;
  Spec specOf(const Call &call, const TuningKey &tuningKey) const;
  rt::Expected<Chosen> choose(const Call &call, const CheckedCall &checked);
  rt::Expected<Chosen> findKernel(const Call &call, const CheckedCall &checked,
                                  const TuningKey &tuningKey);
  rt::Status launch(const Call &call, const CheckedCall &checked,
                    const Chosen &chosen);
  rt::Status launchCounted(const Call &call, const CheckedCall &checked,
                           const Chosen &chosen);
  rt::Status copyParts(const Call &call, const CheckedCall &checked,
                       const Chosen &chosen);

  rt::World &world;
  const CommunicatorOptions options;
  const rt::Group group;
  const std::shared_ptr<KernelCache> cache;
  const bool checkCalls;
  Agreement agreement;
  const rt::Log log;
  uint64_t workspace = 0;
  /// For copies; opened when they are first chosen.
  SideStream side;
  std::unordered_map<Spec, LoadedKernel, SpecHash> kernels;
  /// What was chosen before, so that a call costs one look here; empty where
  /// the members compare their calls.
  std::unordered_map<ChoiceKey, Chosen, ChoiceHash> choices;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COMMUNICATORIMPL_H
