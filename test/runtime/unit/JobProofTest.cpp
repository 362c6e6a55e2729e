// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bootstrap/JobProof.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

using namespace iris::rt;

TEST(SipHash, PublishedValues) {
  // Of the paper's appendix, and of its reference implementation.
  const SipKey key = {0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::vector<uint8_t> text(64);
  std::iota(text.begin(), text.end(), uint8_t(0));
  EXPECT_EQ(sipHash(key, text.data(), 0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(sipHash(key, text.data(), 1), 0x74f839c593dc67fdu);
  EXPECT_EQ(sipHash(key, text.data(), 8), 0x93f5f5799a932462u);
  EXPECT_EQ(sipHash(key, text.data(), 15), 0xa129ca6149be45e5u);
}

TEST(JobProof, DependsOnEverything) {
  const Nonce one = {1, 2}, two = {3, 4};
  JobProof proof("job", 5);
  std::set<uint64_t> values = {
      proof.ofRank(1, 2, one, two),
      proof.ofRoot(1, 2, one, two),
      proof.ofRank(2, 2, one, two),
      proof.ofRank(1, 3, one, two),
      proof.ofRank(1, 2, two, one),
      proof.ofRank(1, 2, one, one),
      proof.ofRank(1, 2, {1, 3}, two),
      JobProof("job", 6).ofRank(1, 2, one, two),
      JobProof("job2", 5).ofRank(1, 2, one, two),
  };
  EXPECT_EQ(values.size(), 9u);
  EXPECT_TRUE(isSameProof(proof.ofRank(1, 2, one, two),
                          JobProof("job", 5).ofRank(1, 2, one, two)));
}

TEST(JobProof, TagsTellJobsApartAndNoTokens) {
  EXPECT_NE(JobProof("a", 1).jobTag(), JobProof("b", 1).jobTag());
  EXPECT_EQ(JobProof("a", 1).jobTag(), JobProof("a", 2).jobTag());
}

TEST(JobProof, NoncesDiffer) {
  std::set<Nonce> nonces;
  for (int i = 0; i < 100; ++i) {
    Expected<Nonce> nonce = makeNonce();
    ASSERT_TRUE(nonce.ok());
    nonces.insert(*nonce);
  }
  EXPECT_EQ(nonces.size(), 100u);
}
