// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Comm.h - A communicator ----------------------------------*- C++ -*-===//
#ifndef IRIS_NCCL_COMM_H
#define IRIS_NCCL_COMM_H

#include "CallerStreams.h"
#include "Config.h"
#include "PointToPoint.h"
#include "Result.h"
#include "Scaling.h"
#include "Secret.h"
#include "Session.h"
#include "Worker.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace iris::nccl {

/// What a communicator is created with; constant afterwards.
struct CommOptions {
  uint32_t rank = 0, numRanks = 1;
  Secret secret;
  /// See IdContents::address.
  std::string address;
  rt::DeviceSpec device;
  int deviceIndex = 0;
  Config config;
};

/// A collective, or a send or receive, of the caller.
struct Operation {
  /// Its stream is unused: `stream` is the caller's.
  ccl::Call call;
  void *stream = nullptr;
  /// A factor of the input. It outlives the reduction, which the caller may
  /// destroy before the operation runs.
  std::optional<Factor> factor;

  bool isPointToPoint() const {
    return call.op == ccl::Op::send || call.op == ccl::Op::recv;
  }
};

/// Memory that the caller has registered; its address is the handle.
struct Registration {
  enum class Kind { buffer, window };
  Kind kind = Kind::buffer;
  /// Of a window.
  uint64_t address = 0;
  /// What World::import returned; 0: collectives stage the memory.
  uint64_t imported = 0;
};

/// Whether ncclCommFinalize, ncclCommAbort or ncclCommRevoke was called.
enum class Lifetime { inUse, finalized, revoked, aborted };

} // namespace iris::nccl

/// The target of an ncclComm_t. Calls hold a shared pointer, so that a thread
/// may abort the communicator during a call of another one.
struct ncclComm : std::enable_shared_from_this<ncclComm> {
  explicit ncclComm(const iris::nccl::CommOptions &options);
  ~ncclComm();

  /// Makes a communicator known by its address, before it joins.
  static std::shared_ptr<ncclComm> make(const iris::nccl::CommOptions &options);
  /// Finds the communicator of a handle.
  /// \retval invalidArgument the handle is null, or was destroyed
  static iris::rt::Expected<std::shared_ptr<ncclComm>> find(ncclComm_t handle);
  /// Makes the handle unknown. Others may still hold the communicator.
  /// \retval invalidArgument it is no handle
  static iris::rt::Expected<std::shared_ptr<ncclComm>> take(ncclComm_t handle);

  /// Joins the other ranks. Collective; an aborted communicator ends it.
  iris::rt::Status open();
  /// Fails unless operations can run: the communicator is open, in use, has not
  /// failed, and no job runs.
  iris::rt::Status checkUsable();
  /// Whether ncclCommFinalize has been called, and no later call ended it.
  bool isFinalized() const;
  /// Enqueues the operations of one group.
  iris::rt::Status run(const std::vector<iris::nccl::Operation> &operations);
  /// Whether run() would wait for no other rank, so that one thread can run the
  /// operations of several ranks one after the other.
  bool onlyEnqueues(const std::vector<iris::nccl::Operation> &operations);
  /// Loads the kernels of sends and receives, if it can; run() reports errors.
  void loadTransfers(const std::vector<iris::nccl::Operation> &operations);
  /// The time that run() is expected to take on the device, in microseconds.
  iris::rt::Expected<double>
  estimate(const std::vector<iris::nccl::Operation> &operations);
  /// Waits for the work of this rank. No further operation can run.
  iris::rt::Status finalize();
  /// Ends this rank's work, and waits of peers for it, with an error on all
  /// ranks. No further operation can run.
  /// \param lifetime revoked or aborted
  void stop(iris::nccl::Lifetime lifetime);
  /// Whether ncclCommRevoke was called on this rank: others can be made of the
  /// communicator, but it has no operations any more.
  bool isRevoked() const;
  /// Waits for calls of other threads and frees everything.
  iris::rt::Status destroy();

  /// Whether the ranks are on several nodes.
  bool spansNodes() const;
  /// Whether these ranks, some of the communicator's, are.
  bool areOnSeveralNodes(const std::vector<uint32_t> &ranks) const;
  /// Job::reserveAddress, of a communicator on several nodes.
  iris::rt::Expected<std::string> reserveAddress() const;
  /// Where a communicator of some of the ranks, on several nodes, can meet
  /// without the others.
  iris::rt::Expected<std::string>
  addressAmong(const std::vector<uint32_t> &ranks) const;
  /// The error of the last job of a nonblocking communicator, or of the world.
  /// ncclInProgress is told by worker.isBusy(). Ranks that have left are none
  /// while no operation waits for them.
  iris::rt::Status asyncError();
  /// Which ranks have left, as an error; success where none has.
  iris::rt::Status departures();
  /// Gathers a text of every rank. Collective.
  iris::rt::Expected<std::vector<std::string>>
  exchange(const std::string &mine);
  /// A number of a new communicator of some of the ranks. It is the same on all
  /// of them if each has made the same ones of these ranks before, whatever it
  /// has made of others.
  uint64_t takeChildNumber(const std::vector<uint32_t> &ranks);
  /// Gives back the number of a communicator that was not created, so that
  /// another attempt has it.
  void giveChildNumber(const std::vector<uint32_t> &ranks, uint64_t number);

  /// \return a handle
  void *addRegistration(const iris::nccl::Registration &registration);
  /// Registers a window and stores its handle. With NCCL_WIN_COLL_SYMMETRIC it
  /// is collective: collectives then use the memory where it is, if peers can
  /// map it; otherwise, and without the flag, they stage it.
  iris::rt::Status registerWindow(void *address, size_t bytes, int flags,
                                  ncclWindow_t *window);
  /// Waits for this rank's work if collectives use the memory where it is.
  /// \retval invalidArgument it is no handle of that kind
  iris::rt::Status removeRegistration(iris::nccl::Registration::Kind kind,
                                      const void *handle);

  /// Whether collectives of a communicator use a window where it is that begins
  /// in this memory.
  static bool usesWindowIn(uint64_t address, uint64_t bytes);

  const iris::nccl::CommOptions options;
  iris::nccl::Worker worker;
  iris::nccl::Scaling scaling;

private:
  bool hasWindowIn(uint64_t address, uint64_t bytes) const;
  iris::rt::Status checkInUse() const;
  iris::rt::Status prepare();
  iris::rt::Status failOnDeviceError(const iris::rt::Status &status);
  iris::rt::Status named(const iris::rt::Status &status);
  iris::rt::Status runAll(const std::vector<iris::nccl::Operation> &operations);
  iris::rt::World *world() const;
  bool isSynchronous(const iris::nccl::Operation &operation) const;
  iris::rt::Status runCollective(const iris::nccl::Operation &operation);
  iris::rt::Status
  runPointToPoint(const std::vector<const iris::nccl::Operation *> &operations);

  /// Ends open().
  std::atomic<bool> cancelled_{false};
  /// Held by calls that use the session, one at a time.
  std::mutex runMutex_;
  /// Guards what follows, which stop() reads while a call runs. The world
  /// exists from open() to destroy().
  mutable std::mutex mutex_;
  iris::nccl::Session session_;
  iris::nccl::Lifetime lifetime_ = iris::nccl::Lifetime::inUse;
  iris::rt::Status openError_;
  bool isDestroyed_ = false;
  std::map<const void *, std::unique_ptr<iris::nccl::Registration>>
      registrations_;
  struct ChildNumbers {
    uint64_t next = 0;
    /// Below `next`.
    std::set<uint64_t> free;
  };
  std::map<std::vector<uint32_t>, ChildNumbers> children_;

  // Used with runMutex_ held.
  iris::nccl::CallerStreams streams_;
  iris::nccl::PointToPoint pointToPoint_;
};

#endif // IRIS_NCCL_COMM_H
