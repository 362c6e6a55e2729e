// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of NCCL's API. Every rank draws the same program from the
// same seed: which communicators there are, and what is called on them.
#ifndef IRIS_TEST_RUNTIME_NCCL_RANDOM_PROGRAM_H
#define IRIS_TEST_RUNTIME_NCCL_RANDOM_PROGRAM_H

#include "Values.h"

#include <random>
#include <string>
#include <vector>

namespace nccl_random {

enum class Op {
  allReduce,
  allGather,
  reduceScatter,
  broadcast,
  bcast,
  reduce,
  allToAll,
  gather,
  scatter,
  send, // and its receive
};
const char *nameOf(Op op);

/// A communicator; its ranks are the positions in `members`, which are numbers
/// in the program.
struct Group {
  int id = 0;
  std::vector<int> members;
  /// Of each rank's window; 0: it has none.
  uint64_t windowBytes = 0;

  int size() const { return static_cast<int>(members.size()); }
  /// The rank of a member; -1: it is none.
  int rankOf(int member) const;
};

/// Where the buffers of an operation are.
enum class Memory { own, window };

struct Operation {
  Op op = Op::allReduce;
  int group = 0;
  const Type *type = nullptr;
  Reduction reduction;
  uint64_t count = 0;
  int root = 0;
  bool inPlace = false;
  Memory memory = Memory::own;
  /// Elements between the start of an allocation and the buffer, of the input
  /// and of the output; in a window of both.
  uint64_t inOffset = 0, outOffset = 0;
  int stream = 0;
  /// Whether the factor of preMulSum is on the device.
  bool factorOnDevice = false;
  /// Of a send, whose sender is the root.
  int receiver = 0;

  std::string describe() const;
};

/// What the ranks do next.
struct Step {
  enum Kind { call, split, destroy, registerWindow };
  Kind kind = call;
  /// Of `call`: in a group, unless there is only one.
  std::vector<Operation> operations;
  bool isGrouped = false;
  /// The operations are on one stream, of which a graph is made.
  bool isCaptured = false;
  /// All streams are synchronized afterwards, and the results are checked.
  bool isChecked = true;
  /// Of the others.
  int group = 0;
  /// Of `split`, of each rank of the group.
  std::vector<int> colors, keys;
  /// The groups that are made.
  std::vector<Group> made;
  uint64_t windowBytes = 0;
};

struct ProgramOptions {
  int ranks = 2;
  uint64_t seed = 0;
  /// Of the largest buffer; at least 2048.
  uint64_t maxBytes = 1 << 20;
  bool canCapture = false;
  /// All calls are made in groups.
  bool alwaysGroups = false;
  int streams = 3;
};

class Program {
public:
  explicit Program(const ProgramOptions &options);
  Step next();
  const Group &group(int id) const;
  const std::vector<Group> &groups() const { return groups_; }

private:
  uint64_t below(uint64_t n) { return random_() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  uint64_t drawCount(uint64_t max);
  Operation drawCollective(const Group &group);
  void drawTransfers(const Group &group, std::vector<Operation> &operations);
  Step drawCalls();
  Step drawSplit();

  const ProgramOptions options_;
  std::mt19937_64 random_;
  std::vector<Group> groups_;
  int nextGroup_ = 1;
  uint64_t nextSeed_ = 0;
};

} // namespace nccl_random

#endif // IRIS_TEST_RUNTIME_NCCL_RANDOM_PROGRAM_H
