// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceApi.cpp - The host's part of NCCL's device API ---------------===//
#include "Api.h"
#include "Comm.h"
#include "Result.h"

using namespace iris::nccl;
using namespace iris::rt;

/// The ranks of a communicator whose memory a kernel of this rank can reach, as
/// a team. NCCL's teams have one distance between ranks; those of a node may
/// have none, then a rank stands alone.
static ncclTeam_t reachableRanks(const ncclComm &comm) {
  if (comm.spansNodes())
    return {1, 0, 1};
  return {static_cast<int>(comm.options.numRanks),
          static_cast<int>(comm.options.rank), 1};
}

/// Finds the communicator of a call that returns no result; the last error says
/// why there is none.
static std::shared_ptr<ncclComm> findFor(const char *function,
                                         ncclComm_t handle) {
  Expected<std::shared_ptr<ncclComm>> comm = ncclComm::find(handle);
  if (comm.ok())
    return *comm;
  (void)finish(function, comm.status());
  return nullptr;
}

ncclTeam_t api::ncclTeamWorld(ncclComm_t handle) {
  std::shared_ptr<ncclComm> comm = findFor("ncclTeamWorld", handle);
  if (!comm)
    return {};
  return {static_cast<int>(comm->options.numRanks),
          static_cast<int>(comm->options.rank), 1};
}

ncclTeam_t api::ncclTeamLsa(ncclComm_t handle) {
  std::shared_ptr<ncclComm> comm = findFor("ncclTeamLsa", handle);
  return comm ? reachableRanks(*comm) : ncclTeam_t{};
}

ncclTeam_t api::ncclTeamRail(ncclComm_t handle) {
  std::shared_ptr<ncclComm> comm = findFor("ncclTeamRail", handle);
  if (!comm)
    return {};
  const int size = reachableRanks(*comm).nRanks;
  return {static_cast<int>(comm->options.numRanks) / size,
          static_cast<int>(comm->options.rank) / size, size};
}

int api::ncclTeamRankToWorld(ncclComm_t handle, ncclTeam_t team, int rank) {
  std::shared_ptr<ncclComm> comm = findFor("ncclTeamRankToWorld", handle);
  if (!comm)
    return -1;
  return static_cast<int>(comm->options.rank) +
         (rank - team.rank) * team.stride;
}

int api::ncclTeamRankToLsa(ncclComm_t handle, ncclTeam_t team, int rank) {
  std::shared_ptr<ncclComm> comm = findFor("ncclTeamRankToLsa", handle);
  if (!comm)
    return -1;
  return reachableRanks(*comm).rank + (rank - team.rank) * team.stride;
}

static ncclResult_t refuse(const char *function) {
  return finish(function,
                Status(StatusCode::failedPrecondition,
                       "Iris has no device communicators; NCCL has, as the "
                       "library of IRIS_NCCL_LIBRARY with IRIS_NCCL=off"));
}

ncclResult_t api::ncclDevCommCreate(ncclComm_t,
                                    const ncclDevCommRequirements_t *,
                                    ncclDevComm_t *) {
  return refuse("ncclDevCommCreate");
}

ncclResult_t api::ncclDevCommDestroy(ncclComm_t, const ncclDevComm_t *) {
  return refuse("ncclDevCommDestroy");
}

ncclResult_t
api::ncclLsaBarrierCreateRequirement(ncclTeam_t, int, ncclLsaBarrierHandle_t *,
                                     ncclDevResourceRequirements_t *) {
  return refuse("ncclLsaBarrierCreateRequirement");
}

ncclResult_t
api::ncclGinBarrierCreateRequirement(ncclComm_t, ncclTeam_t, int,
                                     ncclGinBarrierHandle_t *,
                                     ncclDevResourceRequirements_t *) {
  return refuse("ncclGinBarrierCreateRequirement");
}

int api::ncclLLA2ACalcSlots(int, int) {
  (void)refuse("ncclLLA2ACalcSlots");
  return 0;
}

ncclResult_t api::ncclLLA2ACreateRequirement(int, int, ncclLLA2AHandle_t *,
                                             ncclDevResourceRequirements_t *) {
  return refuse("ncclLLA2ACreateRequirement");
}
