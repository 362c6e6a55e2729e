// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobProof.h - Proof that a process belongs to a job -------*- C++ -*-===//
//
// Rank 0 sends a challenge, the other rank answers with a proof, and rank 0
// with one of its own. A proof is a hash with the job's token as its key, of
// the random numbers of both sides, so that the token itself is never sent and
// a proof is of no use for another connection.
#ifndef IRIS_RT_BOOTSTRAP_JOBPROOF_H
#define IRIS_RT_BOOTSTRAP_JOBPROOF_H

#include "core/SipHash.h"
#include "iris/rt/Status.h"

#include <array>
#include <cstdint>
#include <string>

namespace iris::rt {

/// A random number that is used once.
using Nonce = std::array<uint64_t, 2>;
Expected<Nonce> makeNonce();

class JobProof {
public:
  JobProof(const std::string &job, uint64_t token);

  /// Tells jobs apart that use one address, without revealing their names.
  uint64_t jobTag() const { return jobTag_; }
  /// What a rank proves to rank 0.
  uint64_t ofRank(uint32_t rank, uint32_t numRanks, const Nonce &challenge,
                  const Nonce &answer) const;
  /// What rank 0 proves to a rank.
  uint64_t ofRoot(uint32_t rank, uint32_t numRanks, const Nonce &challenge,
                  const Nonce &answer) const;

private:
  uint64_t prove(uint64_t side, uint32_t rank, uint32_t numRanks,
                 const Nonce &challenge, const Nonce &answer) const;

  SipKey key_;
  uint64_t jobTag_ = 0;
};

/// Compares without branches that depend on how much is equal.
inline bool isSameProof(uint64_t a, uint64_t b) { return (a ^ b) == 0; }

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_JOBPROOF_H
