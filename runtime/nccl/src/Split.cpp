// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Split.cpp - Communicators from parts of another one ----------------===//
#include "Api.h"
#include "Config.h"
#include "Group.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace iris::nccl;
using namespace iris::rt;

/// Checks the arguments that ncclCommSplit and ncclCommShrink share.
static Expected<std::shared_ptr<ncclComm>>
checkParent(ncclComm_t handle, ncclComm_t *child, const ncclConfig_t *config) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  IRISRT_RETURN_IF_ERROR(checkPointer(child, "newcomm"));
  IRISRT_RETURN_IF_ERROR(readConfig(config, Config()).status());
  return comm;
}

/// A child of the parent; its rank and secret are to be filled in.
static Expected<CommOptions> childOptions(const ncclComm &parent,
                                          const ncclConfig_t *config) {
  CommOptions options = parent.options;
  options.address.clear();
  IRISRT_ASSIGN_OR_RETURN(options.config,
                          readConfig(config, parent.options.config));
  return options;
}

/// Ranks agree on a secret without an exchange: the parent may have failed, and
/// the ranks that would have to forward it may be dead.
/// \param purpose the function that makes the child
/// \param number from ncclComm::takeChildNumber
static Secret secretAmong(const ncclComm &parent, const char *purpose,
                          const std::vector<uint32_t> &ranks, uint64_t number) {
  std::string text = std::to_string(number) + " " + purpose;
  for (uint32_t rank : ranks)
    text += " " + std::to_string(rank);
  return parent.options.secret.derive(text);
}

/// The child of these ranks, which meet without the parent; its secret is to be
/// filled in.
static Expected<CommOptions> optionsAmong(const ncclComm &parent,
                                          CommOptions options,
                                          const std::vector<uint32_t> &ranks) {
  if (parent.areOnSeveralNodes(ranks)) {
    IRISRT_ASSIGN_OR_RETURN(options.address, parent.addressAmong(ranks));
  }
  options.numRanks = static_cast<uint32_t>(ranks.size());
  auto found = std::find(ranks.begin(), ranks.end(), parent.options.rank);
  options.rank = static_cast<uint32_t>(found - ranks.begin());
  return options;
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

namespace {
/// What a rank tells the others.
struct SplitEntry {
  int32_t color = NCCL_SPLIT_NOCOLOR;
  int32_t key = 0;
  /// That of the child in which this rank comes first.
  Secret secret;
};
} // namespace

/// What all ranks tell each other.
static Expected<std::vector<SplitEntry>> exchangeEntries(ncclComm &parent,
                                                         int color, int key) {
  SplitEntry mine;
  mine.color = color;
  mine.key = key;
  IRISRT_ASSIGN_OR_RETURN(mine.secret, Secret::make());
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<std::string> texts,
      parent.exchange(
          std::string(reinterpret_cast<const char *>(&mine), sizeof(mine))));
  std::vector<SplitEntry> entries(texts.size());
  for (uint32_t rank = 0; rank < texts.size(); ++rank) {
    if (texts[rank].size() != sizeof(SplitEntry))
      return makeStatus(StatusCode::failedPrecondition,
                        "rank %u does not split the communicator", rank);
    std::memcpy(&entries[rank], texts[rank].data(), sizeof(SplitEntry));
  }
  return entries;
}

/// The ranks of a color, by key and rank; none without a color.
static std::vector<uint32_t> ranksOf(const std::vector<SplitEntry> &entries,
                                     int color) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < entries.size(); ++rank)
    if (color != NCCL_SPLIT_NOCOLOR && entries[rank].color == color)
      ranks.push_back(rank);
  std::stable_sort(ranks.begin(), ranks.end(), [&](uint32_t a, uint32_t b) {
    return entries[a].key < entries[b].key;
  });
  return ranks;
}

/// The address of a child on several nodes, which its first rank reserves; else
/// empty. Collective over the parent.
static Expected<std::string> addressOf(ncclComm &parent,
                                       const std::vector<uint32_t> &ranks) {
  if (!parent.spansNodes())
    return std::string();
  const bool spans = parent.areOnSeveralNodes(ranks);
  Expected<std::string> mine = std::string();
  if (spans && ranks.front() == parent.options.rank)
    mine = parent.reserveAddress();
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> addresses,
                          parent.exchange(mine.ok() ? *mine : std::string()));
  IRISRT_RETURN_IF_ERROR(mine.status());
  if (!spans)
    return std::string();
  const std::string &address = addresses[ranks.front()];
  if (address.empty())
    return makeStatus(StatusCode::unavailable,
                      "rank %u, the first one of the new communicator, cannot "
                      "listen for the others; its error says why",
                      ranks.front());
  return address;
}

/// The child of this rank's color, or none without a color.
static Expected<std::optional<CommOptions>>
splitOptions(ncclComm &parent, int color, int key, CommOptions options) {
  IRISRT_ASSIGN_OR_RETURN(std::vector<SplitEntry> entries,
                          exchangeEntries(parent, color, key));
  const std::vector<uint32_t> ranks = ranksOf(entries, color);
  IRISRT_ASSIGN_OR_RETURN(options.address, addressOf(parent, ranks));
  if (ranks.empty())
    return std::optional<CommOptions>();
  const auto mine = std::find(ranks.begin(), ranks.end(), parent.options.rank);
  options.numRanks = static_cast<uint32_t>(ranks.size());
  options.rank = static_cast<uint32_t>(mine - ranks.begin());
  options.secret = entries[ranks.front()].secret;
  return std::optional<CommOptions>(options);
}

/// Creates the child on the parent's thread, because its ranks are known only
/// after an exchange.
static Status split(ncclComm &parent, int color, int key,
                    const CommOptions &options, ncclComm_t *child) {
  IRISRT_ASSIGN_OR_RETURN(std::optional<CommOptions> chosen,
                          splitOptions(parent, color, key, options));
  if (!chosen)
    return Status::success();
  std::shared_ptr<ncclComm> comm = ncclComm::make(*chosen);
  Status status = comm->open();
  if (status.ok())
    *child = comm.get();
  else
    ncclComm::take(comm.get()).status().ignore("it was made above");
  return status;
}

/// Splits a communicator that was revoked, in which nothing can be exchanged:
/// its ranks join another one, which is split in its place.
static Status splitRevoked(ncclComm &parent, int color, int key,
                           const CommOptions &options, ncclComm_t *child) {
  std::vector<uint32_t> ranks(parent.options.numRanks);
  std::iota(ranks.begin(), ranks.end(), 0);
  IRISRT_ASSIGN_OR_RETURN(CommOptions all, childOptions(parent, nullptr));
  IRISRT_ASSIGN_OR_RETURN(all, optionsAmong(parent, all, ranks));
  const uint64_t number = parent.takeChildNumber(ranks);
  all.secret = secretAmong(parent, "split", ranks, number);
  std::shared_ptr<ncclComm> standIn = std::make_shared<ncclComm>(all);
  Status status = standIn->open();
  if (!status.ok()) {
    parent.giveChildNumber(ranks, number);
    return status;
  }
  status = split(*standIn, color, key, options, child);
  Status ended = standIn->destroy();
  return status.ok() ? ended : status;
}

ncclResult_t api::ncclCommSplit(ncclComm_t handle, int color, int key,
                                ncclComm_t *child, ncclConfig_t *config) {
  const char *function = "ncclCommSplit";
  auto make = [&]() -> Expected<Task> {
    IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> parent,
                            checkParent(handle, child, config));
    const bool isRevoked = parent->isRevoked();
    if (!isRevoked)
      IRISRT_RETURN_IF_ERROR(parent->checkUsable());
    if (color < 0 && color != NCCL_SPLIT_NOCOLOR)
      return makeStatus(StatusCode::invalidArgument,
                        "color %d; expected at least 0, or NCCL_SPLIT_NOCOLOR",
                        color);
    IRISRT_ASSIGN_OR_RETURN(CommOptions options, childOptions(*parent, config));
    *child = nullptr;
    Task task;
    task.comm = parent;
    auto run = isRevoked ? splitRevoked : split;
    task.job = [parent = parent.get(), run, color, key, options, child] {
      return run(*parent, color, key, options, child);
    };
    return task;
  };
  Expected<Task> task = make();
  return task.ok() ? submit(function, task.take())
                   : reject(function, task.status());
}

//===----------------------------------------------------------------------===//
// Shrink
//===----------------------------------------------------------------------===//

/// The ranks that remain, and this rank's index among them.
static Expected<std::vector<uint32_t>>
remainingRanks(const ncclComm &parent, const int *excluded, int numExcluded) {
  const uint32_t size = parent.options.numRanks;
  std::vector<bool> isExcluded(size);
  if (numExcluded < 1)
    return makeStatus(StatusCode::invalidArgument,
                      "%d ranks to exclude; expected at least one",
                      numExcluded);
  IRISRT_RETURN_IF_ERROR(checkPointer(excluded, "excludeRanksList"));
  for (int i = 0; i < numExcluded; ++i) {
    if (excluded[i] < 0 || static_cast<uint32_t>(excluded[i]) >= size)
      return makeStatus(StatusCode::invalidArgument,
                        "excluded rank %d; expected 0 to %u", excluded[i],
                        size - 1);
    isExcluded[static_cast<size_t>(excluded[i])] = true;
  }
  if (isExcluded[parent.options.rank])
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u excludes itself; expected a call of the ranks "
                      "that remain only",
                      parent.options.rank);
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < size; ++rank)
    if (!isExcluded[rank])
      ranks.push_back(rank);
  return ranks;
}

ncclResult_t api::ncclCommShrink(ncclComm_t handle, int *excluded,
                                 int numExcluded, ncclComm_t *child,
                                 ncclConfig_t *config, int flags) {
  const char *function = "ncclCommShrink";
  auto make = [&]() -> Expected<Task> {
    IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> parent,
                            checkParent(handle, child, config));
    if (flags != NCCL_SHRINK_DEFAULT && flags != NCCL_SHRINK_ABORT)
      return makeStatus(StatusCode::invalidArgument,
                        "flags of 0x%x; expected NCCL_SHRINK_DEFAULT or "
                        "NCCL_SHRINK_ABORT",
                        flags);
    IRISRT_ASSIGN_OR_RETURN(std::vector<uint32_t> ranks,
                            remainingRanks(*parent, excluded, numExcluded));
    // Without the flag, the parent works and stays in use, or was revoked.
    if (flags == NCCL_SHRINK_ABORT)
      parent->stop(Lifetime::revoked);
    else if (!parent->isRevoked())
      IRISRT_RETURN_IF_ERROR(parent->checkUsable());
    IRISRT_ASSIGN_OR_RETURN(CommOptions options, childOptions(*parent, config));
    IRISRT_ASSIGN_OR_RETURN(options, optionsAmong(*parent, options, ranks));
    const uint64_t number = parent->takeChildNumber(ranks);
    options.secret = secretAmong(*parent, "shrink", ranks, number);
    std::shared_ptr<ncclComm> comm = ncclComm::make(options);
    *child = comm.get();
    Task task;
    task.comm = comm;
    auto discard = [child] {
      ncclComm::take(*child).status().ignore("the caller has destroyed it");
      *child = nullptr;
    };
    auto giveNumber = [parent, ranks, number] {
      parent->giveChildNumber(ranks, number);
    };
    task.drop = [discard, giveNumber] {
      discard();
      giveNumber();
    };
    task.job = [comm, discard, giveNumber] {
      Status status = comm->open();
      if (!status.ok())
        giveNumber();
      if (!status.ok() && comm->options.config.isBlocking)
        discard();
      return status;
    };
    return task;
  };
  Expected<Task> task = make();
  return task.ok() ? submit(function, task.take())
                   : reject(function, task.status());
}
