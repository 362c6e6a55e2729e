// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobModel.cpp - Measured cost of transfers between nodes ------------===//
//
// Messages between the ranks of the rails, all at the same time, as in the
// collectives. All ranks take the numbers of the slowest one, so that they
// choose alike.
#include "ccl/JobCommunicatorImpl.h"
#include "core/Log.h"

#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;

/// Timed rounds after a warm-up; a rank's time is that of its fastest round.
static constexpr uint32_t timedRounds = 4;
/// Exchanges of a round of empty messages.
static constexpr uint32_t latencyExchanges = 8;
static constexpr uint64_t emptyBytes = 8;
/// Messages get longer until one takes so long. A network of 100 Mbit/s then
/// takes 0.1 s in all.
static constexpr uint64_t firstBytes = 256 << 10;
static constexpr double longEnoughUs = 1000;

/// The largest number of all ranks; collective.
Expected<double> JobCommunicator::Impl::largest(double mine) {
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<std::string> texts,
      job.allGather(
          std::string(reinterpret_cast<const char *>(&mine), sizeof(mine))));
  double result = mine;
  for (const std::string &text : texts) {
    double other = 0;
    if (text.size() == sizeof(other))
      std::memcpy(&other, text.data(), sizeof(other));
    result = std::max(result, other);
  }
  return result;
}

/// Sends to the rank of the next node and receives from that of the last one.
Status JobCommunicator::Impl::exchangeInRing(uint64_t bytes, uint32_t number) {
  const uint32_t numNodes = map.numNodes();
  Transfers list;
  addSend(list, map.rankAt((myNode + 1) % numNodes, myLocal), staging, bytes);
  addRecv(list, map.rankAt((myNode + numNodes - 1) % numNodes, myLocal),
          staging + stageBytes(), bytes);
  for (uint32_t i = 0; i < number; ++i)
    IRISRT_RETURN_IF_ERROR(onStreams ? engine.enqueue(list, transfers.stream())
                                     : engine.run(list));
  return onStreams ? world.synchronize(transfers.stream()) : Status::success();
}

/// Microseconds of one exchange on the slowest rank; collective.
Expected<double> JobCommunicator::Impl::timeExchange(uint64_t bytes,
                                                     uint32_t number) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (uint32_t round = 0; myLocal < map.numRails() && round <= timedRounds;
       ++round) {
    const Clock::time_point begin = Clock::now();
    IRISRT_RETURN_IF_ERROR(exchangeInRing(bytes, number));
    const double us =
        std::chrono::duration<double, std::micro>(Clock::now() - begin)
            .count() /
        number;
    if (round > 0) // after the warm-up
      best = best == 0 ? us : std::min(best, us);
  }
  return largest(best);
}

InterNodeModel JobCommunicator::Impl::fixedModel() const {
  if (options.model)
    return *options.model;
  return world.deviceKind() == DeviceKind::host ? InterNodeModel()
                                                : InterNodeModel::ofGpus();
}

Expected<InterNodeModel> JobCommunicator::Impl::measureModel() {
  const InterNodeModel base = fixedModel();
  if (map.numNodes() == 1)
    return base;
  const Enqueuing enqueuing(*this, {transfers.stream()});
  IRISRT_ASSIGN_OR_RETURN(double latencyUs,
                          timeExchange(emptyBytes, latencyExchanges));
  uint64_t bytes = std::min(firstBytes, stageBytes());
  IRISRT_ASSIGN_OR_RETURN(double us, timeExchange(bytes, 1));
  while (us < longEnoughUs && 4 * bytes <= stageBytes()) {
    bytes *= 4;
    IRISRT_ASSIGN_OR_RETURN(us, timeExchange(bytes, 1));
  }
  const InterNodeModel measured = base.fitted(latencyUs, bytes, us);
  Log(me, map.numRanks())
      .info("between nodes: %.3g us and %.3g GB/s, measured with %s",
            measured.latencyUs, measured.bandwidthGBs, engine.name().c_str());
  return measured;
}
