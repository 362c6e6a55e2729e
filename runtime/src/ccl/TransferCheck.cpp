// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransferCheck.cpp - Lengths of sends and their receives ------------===//
#include "ccl/TransferCheck.h"

#include "core/SharedMemory.h"
#include "core/WorldAccess.h"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <optional>
#include <sys/mman.h>

using namespace iris::ccl;
using namespace iris::rt;

/// Messages of a direction that are remembered. A rank that is further behind
/// its peer compares nothing until it has caught up.
static constexpr uint64_t window = 1024;

struct TransferCheck::Message {
  uint64_t bytes = 0;
  DType dtype = DType::i8;
  bool isCaptured = false;

  std::string text() const;
};

std::string TransferCheck::Message::text() const {
  const uint32_t width = dtypeBytes(dtype);
  std::string text = std::to_string(bytes) + " bytes";
  if (width != 0)
    text += formatString(" (%s x %" PRIu64 ")", dtypeName(dtype).data(),
                         bytes / width);
  return text;
}

//===----------------------------------------------------------------------===//
// Records in shared memory
//===----------------------------------------------------------------------===//
//
// What a peer writes is only compared and printed. All accesses are
// sequentially consistent: of two ranks that each write their record and then
// read the other's, at least one sees both.

/// Zero at first.
struct TransferCheck::Record {
  /// The number of the message, from 1; 0 while the record changes.
  std::atomic<uint64_t> number;
  std::atomic<uint64_t> bytes;
  std::atomic<int32_t> dtype;
  std::atomic<uint32_t> isCaptured;

  void write(uint64_t n, const Message &message) {
    number.store(0);
    bytes.store(message.bytes);
    dtype.store(static_cast<int32_t>(message.dtype));
    isCaptured.store(message.isCaptured ? 1 : 0);
    number.store(n);
  }
  std::optional<Message> read(uint64_t n) const {
    if (number.load() != n)
      return std::nullopt;
    Message message = {bytes.load(), static_cast<DType>(dtype.load()),
                       isCaptured.load() != 0};
    if (number.load() != n)
      return std::nullopt;
    return message;
  }
};

/// A rank's sends to a peer, or its receives from it.
struct TransferCheck::Direction {
  /// Nothing more is compared: how often graphs run is not known here, so the
  /// numbers of messages do not match once only one side has captured one.
  std::atomic<uint32_t> isOff;
  Record records[window];
};

/// By the peer's index in the group.
struct TransferCheck::Records {
  Direction sends[IRISRT_MAX_GROUP];
  Direction receives[IRISRT_MAX_GROUP];
};

void TransferCheck::Unmap::operator()(Records *records) const {
  ::munmap(records, sizeof(Records));
}

Expected<TransferCheck::Mapping> TransferCheck::map(int fd, bool isOwn) {
  static_assert(std::atomic<uint64_t>::is_always_lock_free);
  IRISRT_RETURN_IF_ERROR(checkSharedMemory(fd, sizeof(Records)));
  void *memory =
      ::mmap(nullptr, sizeof(Records),
             isOwn ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot map a rank's records of its messages");
  return Mapping(static_cast<Records *>(memory));
}

Expected<std::vector<TransferCheck::Mapping>> TransferCheck::share() {
  IRISRT_ASSIGN_OR_RETURN(
      UniqueFd own, createSharedMemory("iris-transfers", sizeof(Records)));
  IRISRT_ASSIGN_OR_RETURN(std::vector<UniqueFd> fds,
                          WorldAccess::exchangeFds(world_, own.get()));
  std::vector<Mapping> records;
  for (uint32_t rank : group_.ranks) {
    IRISRT_ASSIGN_OR_RETURN(
        Mapping next, map(fds[rank].get(), /*isOwn=*/rank == world_.rank()));
    records.push_back(std::move(next));
  }
  return records;
}

Status TransferCheck::open() {
  Expected<std::vector<Mapping>> records = share();
  if (records.ok())
    records_ = records.take();
  else // on this rank alone, perhaps
    world_.fail(records.status());
  return records.status();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

Status TransferCheck::check(const Call &call) {
  const bool isSend = call.op == Op::send;
  if (records_.empty() || (!isSend && call.op != Op::recv))
    return Status::success();
  const auto me = static_cast<uint32_t>(group_.index);
  const Message mine = {call.count * dtypeBytes(call.dtype), call.dtype,
                        world_.isCaptured(call.stream)};
  Records &own = *records_[me];
  const Records &peer = *records_[call.root];
  Direction &here = (isSend ? own.sends : own.receives)[call.root];
  const Direction &there = (isSend ? peer.receives : peer.sends)[me];
  const uint64_t number = ++(isSend ? sends_ : receives_)[call.root];
  here.records[number % window].write(number, mine);
  const std::optional<Message> other =
      there.records[number % window].read(number);
  if (!other || here.isOff.load() != 0 || there.isOff.load() != 0)
    return Status::success();
  if (mine.isCaptured != other->isCaptured) {
    here.isOff.store(1);
    return Status::success();
  }
  if (mine.bytes == other->bytes)
    return Status::success();
  Status status = makeStatus(
      StatusCode::invalidArgument,
      "rank %u %s %s %s rank %u; its %s, message %" PRIu64
      " between them, has %s",
      world_.rank(), isSend ? "sends" : "receives", mine.text().c_str(),
      isSend ? "to" : "from", group_.ranks[call.root],
      isSend ? "receive" : "send", number, other->text().c_str());
  world_.fail(status);
  return status;
}
