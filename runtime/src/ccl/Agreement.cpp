// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Agreement.cpp - Agreement between the host sides of a group --------===//
#include "ccl/Agreement.h"

#include "bootstrap/Messages.h"

#include <algorithm>
#include <cstdlib>
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

/// The code on this rank of a failure of another one: this rank's device works.
static StatusCode codeOfPeer(StatusCode code) {
  return code == StatusCode::deviceError ? StatusCode::aborted : code;
}

/// Message format: the status code as one byte, then the bytes or the error
/// message.
Expected<std::vector<std::string>> Agreement::gather(const Status &mine,
                                                     std::string_view bytes) {
  std::string text(1, static_cast<char>(mine.code()));
  text += mine.ok() ? bytes : std::string_view(mine.message());
  text.resize(std::min(text.size(), maxContribution));
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all,
                          world_.exchange(group_, channel_, text));
  if (!mine.ok())
    return mine;
  for (size_t i = 0; i < all.size(); ++i) {
    bool ok = all[i].size() == 1 + bytes.size() && all[i][0] == 0;
    if (!ok)
      return makeStatus(all[i].empty() || all[i][0] == 0
                            ? StatusCode::internal
                            : codeOfPeer(static_cast<StatusCode>(all[i][0])),
                        "rank %u: %s", group_.ranks[i],
                        all[i].size() < 2 ? "no answer" : all[i].c_str() + 1);
    all[i].erase(0, 1);
  }
  return all;
}

Expected<uint64_t> Agreement::least(const Expected<uint64_t> &mine) {
  uint64_t result = mine.ok() ? *mine : 0;
  std::string_view bytes(reinterpret_cast<const char *>(&result),
                         sizeof(result));
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all,
                          gather(mine.status(), bytes));
  for (const std::string &each : all) {
    uint64_t value = 0;
    std::memcpy(&value, each.data(), sizeof(value));
    result = std::min(result, value);
  }
  return result;
}

Expected<std::vector<double>>
Agreement::greatest(const Expected<std::vector<double>> &mine) {
  std::vector<double> result;
  if (mine.ok())
    result = *mine;
  std::string_view bytes(reinterpret_cast<const char *>(result.data()),
                         result.size() * sizeof(double));
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all,
                          gather(mine.status(), bytes));
  for (const std::string &each : all)
    for (size_t i = 0; i < result.size(); ++i) {
      double value = 0;
      std::memcpy(&value, each.data() + i * sizeof(value), sizeof(value));
      result[i] = std::max(result[i], value);
    }
  return result;
}

Expected<std::vector<std::string>> Agreement::all(const std::string &mine) {
  return world_.exchange(group_, channel_, mine.substr(0, maxContribution));
}

Expected<std::string> Agreement::first(const std::string &mine) {
  std::string text = group_.index == 0 ? mine.substr(0, maxContribution) : "";
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> texts, all(text));
  return texts[0];
}

Expected<std::string> Agreement::firstText(const std::string &mine) {
  constexpr uint64_t maxBytes = 1 << 20;
  IRISRT_ASSIGN_OR_RETURN(std::string size, first(std::to_string(mine.size())));
  const uint64_t bytes = std::strtoull(size.c_str(), nullptr, 10);
  if (bytes > maxBytes)
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u sends a text of %s bytes; expected at most "
                      "%llu",
                      group_.ranks[0], size.c_str(),
                      static_cast<unsigned long long>(maxBytes));
  std::string text;
  while (text.size() < bytes) {
    std::string piece = text.size() < mine.size()
                            ? mine.substr(text.size(), maxContribution)
                            : "";
    IRISRT_ASSIGN_OR_RETURN(piece, first(piece));
    if (piece.empty())
      return makeStatus(StatusCode::internal, "rank %u: no answer",
                        group_.ranks[0]);
    text += piece;
  }
  return text;
}
