// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Create.cpp - Creation of communicators -----------------------------===//
#include "Api.h"
#include "Config.h"
#include "Device.h"
#include "Group.h"
#include "RealLibrary.h"

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Job.h"

#include <algorithm>

using namespace iris::nccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// \param most ranks that a communicator can have
static Status checkRanks(int numRanks, int rank, int most) {
  if (numRanks < 1 || rank < 0 || rank >= numRanks)
    return makeStatus(StatusCode::invalidArgument,
                      "rank %d of %d; expected at least one rank, and a rank "
                      "from 0 to the number of ranks - 1",
                      rank, numRanks);
  if (numRanks > most)
    return makeStatus(StatusCode::failedPrecondition,
                      "a communicator of %d ranks; Iris serves at most %d on "
                      "one node, and %d on several (IRIS_NODE_ADDRESS)",
                      numRanks, IRISRT_MAX_GROUP, IRISRT_MAX_RANKS);
  return Status::success();
}

/// The options of a communicator on the calling thread's device.
static Expected<CommOptions> optionsFor(int numRanks, int rank,
                                        const ncclConfig_t *config,
                                        const IdContents &contents) {
  IRISRT_RETURN_IF_ERROR(checkRanks(
      numRanks, rank,
      contents.address.empty() ? IRISRT_MAX_GROUP : IRISRT_MAX_RANKS));
  CommOptions options;
  options.secret = contents.secret;
  options.address = contents.address;
  options.rank = static_cast<uint32_t>(rank);
  options.numRanks = static_cast<uint32_t>(numRanks);
  IRISRT_ASSIGN_OR_RETURN(options.config, readConfig(config, Config()));
  options.device = deviceKind();
  IRISRT_ASSIGN_OR_RETURN(options.deviceIndex, currentDevice(options.device));
  return options;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

/// Makes the handle null if it is still that of the communicator.
static void discard(ncclComm_t *out) {
  ncclComm::take(*out).status().ignore("the caller has destroyed it");
  *out = nullptr;
}

/// Creates the communicator on its own thread, or on this one.
static ncclResult_t create(const char *function, ncclComm_t *out,
                           const CommOptions &options) {
  std::shared_ptr<ncclComm> comm = ncclComm::make(options);
  *out = comm.get();
  Task task;
  task.comm = comm;
  task.job = [comm, out] {
    Status status = comm->open();
    // Of a nonblocking one, the caller asks for the error, and destroys it.
    if (!status.ok() && comm->options.config.isBlocking)
      discard(out);
    return status;
  };
  task.drop = [out] { discard(out); };
  return submit(function, std::move(task));
}

/// The secret of a communicator that is created from ids, and the address of
/// the first of them.
static Expected<IdContents> readIds(const ncclUniqueId *ids, int count,
                                    const RealLibrary *real) {
  IRISRT_RETURN_IF_ERROR(checkPointer(ids, "commId"));
  if (count < 1)
    return makeStatus(StatusCode::invalidArgument,
                      "%d unique ids; expected at least one", count);
  IdContents contents;
  std::string jobs;
  for (int i = 0; i < count; ++i) {
    Expected<IdContents> next = readId(ids[i]);
    if (real && next.status().code() == StatusCode::invalidArgument)
      next = IdContents{hashId(ids[i]), "", /*isForeign=*/true};
    if (!next.ok())
      return next.status();
    if (i == 0)
      contents = *next;
    else
      jobs += next->secret.job();
  }
  if (count != 1)
    contents.secret = contents.secret.derive(jobs);
  return contents;
}

static ncclResult_t initRank(const char *function, ncclComm_t *out,
                             int numRanks, int rank, ncclUniqueId *ids,
                             int numIds, ncclConfig_t *config) {
  Status status = checkPointer(out, "comm");
  if (!status.ok())
    return reject(function, status);
  *out = nullptr;
  Expected<const RealLibrary *> real = RealLibrary::find();
  if (!real.ok())
    return reject(function, real.status());
  Expected<IdContents> contents = readIds(ids, numIds, *real);
  if (!contents.ok())
    return reject(function, contents.status());
  Expected<CommOptions> options = optionsFor(numRanks, rank, config, *contents);
  if (*real && contents->isForeign &&
      options.status().code() == StatusCode::failedPrecondition)
    return (*real)->create(out, numRanks, rank, numIds, ids, config,
                           options.status().message().c_str());
  if (!options.ok())
    return reject(function, options.status());
  return create(function, out, *options);
}

/// The id that every rank makes of NCCL_COMM_ID.
/// \param known its value
static Expected<IdContents> knownId(const std::string &known,
                                    bool isForSeveralNodes) {
  IdContents contents;
  contents.secret = Secret().derive("NCCL_COMM_ID " + known);
  if (!isForSeveralNodes) // ranks of this user only: others cannot connect
    return contents;
  const Expected<LaunchInfo> &launch = Env::get().launch();
  IRISRT_RETURN_IF_ERROR(launch.status());
  if (launch->token == 0)
    return Status(StatusCode::failedPrecondition,
                  "NCCL_COMM_ID for ranks of several machines "
                  "(IRIS_NODE_ADDRESS) needs a secret, because anybody can "
                  "connect to its address; set IRIS_TOKEN on every rank to 16 "
                  "random hexadecimal digits, or pass the id of one rank to "
                  "the others, without NCCL_COMM_ID");
  contents.address = known;
  contents.secret.words[2] = launch->token;
  return contents;
}

/// \param host the address of this machine for ranks on others; empty: all are
///   on this one
static Status makeUniqueId(ncclUniqueId *id, const std::string &host) {
  IRISRT_RETURN_IF_ERROR(checkPointer(id, "uniqueId"));
  IdContents contents;
  const std::string &known = Env::get().ncclCommId();
  if (!known.empty()) {
    IRISRT_ASSIGN_OR_RETURN(contents, knownId(known, !host.empty()));
  } else {
    IRISRT_ASSIGN_OR_RETURN(contents.secret, Secret::make());
    if (!host.empty()) {
      IRISRT_ASSIGN_OR_RETURN(contents.address, Job::reserveAddress(host));
    }
  }
  IRISRT_ASSIGN_OR_RETURN(*id, makeId(contents));
  return Status::success();
}

ncclResult_t api::ncclGetUniqueId(ncclUniqueId *id) {
  const char *function = "ncclGetUniqueId";
  Expected<const RealLibrary *> real = RealLibrary::find();
  if (!real.ok())
    return finish(function, real.status());
  const std::string &host = Env::get().nodeAddress();
  // Either library can create communicators from it. Where Iris serves several
  // nodes, the other one is the engine between them.
  if (*real && host.empty())
    return (*real)->ncclGetUniqueId(id);
  return finish(function, makeUniqueId(id, host));
}

ncclResult_t api::getLocalUniqueId(ncclUniqueId *id) {
  return finish("irisNcclGetLocalUniqueId", makeUniqueId(id, ""));
}

ncclResult_t api::ncclCommInitRank(ncclComm_t *comm, int nranks,
                                   ncclUniqueId id, int rank) {
  return initRank("ncclCommInitRank", comm, nranks, rank, &id, 1, nullptr);
}

ncclResult_t api::ncclCommInitRankConfig(ncclComm_t *comm, int nranks,
                                         ncclUniqueId id, int rank,
                                         ncclConfig_t *config) {
  return initRank("ncclCommInitRankConfig", comm, nranks, rank, &id, 1, config);
}

ncclResult_t api::ncclCommInitRankScalable(ncclComm_t *comm, int nranks,
                                           int rank, int numIds,
                                           ncclUniqueId *ids,
                                           ncclConfig_t *config) {
  return initRank("ncclCommInitRankScalable", comm, nranks, rank, ids, numIds,
                  config);
}

/// Checks the devices of ncclCommInitAll: on a GPU, no two ranks share one.
static Status checkDevices(int count, const int *devices) {
  IRISRT_RETURN_IF_ERROR(checkRanks(count, 0, IRISRT_MAX_GROUP));
  if (deviceKind().kind == DeviceKind::host)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(int present, deviceCount(deviceKind()));
  for (int i = 0; i < count; ++i) {
    int device = devices ? devices[i] : i;
    if (device < 0 || device >= present)
      return makeStatus(StatusCode::invalidArgument,
                        "there is no device %d; this process has %d", device,
                        present);
    for (int k = 0; devices && k < i; ++k)
      if (devices[k] == device)
        return makeStatus(StatusCode::failedPrecondition,
                          "ranks %d and %d are both on device %d; expected one "
                          "device per rank",
                          k, i, device);
  }
  return Status::success();
}

ncclResult_t api::ncclCommInitAll(ncclComm_t *comms, int ndev,
                                  const int *devices) {
  const char *function = "ncclCommInitAll";
  Expected<const RealLibrary *> real = RealLibrary::find();
  Status status = real.ok() ? checkPointer(comms, "comm") : real.status();
  if (status.ok())
    status = checkDevices(ndev, devices);
  if (status.code() == StatusCode::failedPrecondition && *real)
    return (*real)->createAll(comms, ndev, devices, status.message().c_str());
  Expected<Secret> secret = status.ok() ? Secret::make() : status;
  if (!secret.ok())
    return reject(function, secret.status());
  startGroup();
  for (int rank = 0; rank < ndev; ++rank) {
    CommOptions options;
    options.rank = static_cast<uint32_t>(rank);
    options.numRanks = static_cast<uint32_t>(ndev);
    options.secret = *secret;
    options.device = deviceKind();
    options.deviceIndex = devices ? devices[rank] : rank;
    // Collected: the group runs it.
    (void)create(function, &comms[rank], options);
  }
  ncclResult_t result = endGroup(function);
  for (int rank = 0; result != ncclSuccess && rank < ndev; ++rank)
    if (comms[rank])
      discard(&comms[rank]);
  return result;
}
