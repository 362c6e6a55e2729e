// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Agreement.cpp - Agreement between the host sides of a group --------===//
#include "ccl/Agreement.h"

#include "bootstrap/Messages.h"

#include <algorithm>
#include <cstring>

using namespace iris::ccl;
using namespace iris::rt;

Status Agreement::same(const char *what, const std::string &mine) {
  std::string text = mine.substr(0, maxContribution);
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all,
                          world_.exchange(group_, channel_, text));
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i] != all[0])
      return makeStatus(StatusCode::failedPrecondition,
                        "members differ in %s: rank %u has '%s', rank %u has "
                        "'%s'",
                        what, group_.ranks[0], all[0].c_str(), group_.ranks[i],
                        all[i].c_str());
  return Status::success();
}

Status Agreement::succeeded(const Status &mine) {
  return least(mine.ok() ? Expected<uint64_t>(0) : mine).status();
}

/// Message format: the status code as one byte, then the number or the error
/// message.
Expected<uint64_t> Agreement::least(const Expected<uint64_t> &mine) {
  std::string text(1, static_cast<char>(mine.status().code()));
  if (mine.ok())
    text.append(reinterpret_cast<const char *>(&*mine), sizeof(uint64_t));
  else
    text += mine.status().message();
  text.resize(std::min(text.size(), maxContribution));
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all,
                          world_.exchange(group_, channel_, text));
  if (!mine.ok())
    return mine;
  uint64_t result = *mine;
  for (size_t i = 0; i < all.size(); ++i) {
    uint64_t peerValue = 0;
    bool ok = all[i].size() == 1 + sizeof(peerValue) && all[i][0] == 0;
    if (!ok)
      return makeStatus(all[i].empty() ? StatusCode::internal
                                       : static_cast<StatusCode>(all[i][0]),
                        "rank %u: %s", group_.ranks[i],
                        all[i].empty() ? "no answer" : all[i].c_str() + 1);
    std::memcpy(&peerValue, all[i].data() + 1, sizeof(peerValue));
    result = std::min(result, peerValue);
  }
  return result;
}
