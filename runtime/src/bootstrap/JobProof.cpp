// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobProof.cpp - Proof that a process belongs to a job ---------------===//
#include "bootstrap/JobProof.h"

#include <cerrno>
#include <sys/random.h>

using namespace iris::rt;

Expected<Nonce> iris::rt::makeNonce() {
  Nonce nonce{};
  while (true) {
    ssize_t got = ::getrandom(nonce.data(), sizeof(nonce), 0);
    if (got == static_cast<ssize_t>(sizeof(nonce)))
      return nonce;
    if (got >= 0 || errno != EINTR)
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot get random numbers");
  }
}

JobProof::JobProof(const std::string &job, uint64_t token) {
  key_.low = token;
  key_.high = sipHash({token, 0}, job.data(), job.size());
  jobTag_ = sipHash({0, 0}, job.data(), job.size());
}

uint64_t JobProof::prove(uint64_t side, uint32_t rank, uint32_t numRanks,
                         const Nonce &challenge, const Nonce &answer) const {
  const uint64_t text[] = {side,         uint64_t(rank) << 32 | numRanks,
                           challenge[0], challenge[1],
                           answer[0],    answer[1]};
  return sipHash(key_, text, sizeof(text));
}

uint64_t JobProof::ofRank(uint32_t rank, uint32_t numRanks,
                          const Nonce &challenge, const Nonce &answer) const {
  return prove(1, rank, numRanks, challenge, answer);
}

uint64_t JobProof::ofRoot(uint32_t rank, uint32_t numRanks,
                          const Nonce &challenge, const Nonce &answer) const {
  return prove(2, rank, numRanks, challenge, answer);
}
