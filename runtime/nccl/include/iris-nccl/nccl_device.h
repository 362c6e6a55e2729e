/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- nccl_device.h - The host's part of NCCL's device API -----*- C++ -*-===*
 *
 * The functions that libnccl exports for kernels that communicate by
 * themselves (NCCL 2.28). Frameworks link them, so that libiris_nccl has them.
 * Iris has teams; it has no device communicators, since its kernels are
 * written in the iris dialect: the functions that prepare one return
 * ncclInvalidUsage, unless NCCL serves the communicator (IRIS_NCCL=off).
 */
#ifndef IRIS_NCCL_NCCL_DEVICE_H
#define IRIS_NCCL_NCCL_DEVICE_H

#include "nccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ranks of a communicator: member i is rank r + (i - rank) * stride, where r is
 * the calling rank and rank its number in the team. */
typedef struct ncclTeam {
  int nRanks, rank, stride;
} ncclTeam_t;

typedef struct ncclDevComm ncclDevComm_t;
typedef struct ncclDevCommRequirements ncclDevCommRequirements_t;
typedef struct ncclDevResourceRequirements ncclDevResourceRequirements_t;
typedef struct ncclLsaBarrierHandle ncclLsaBarrierHandle_t;
typedef struct ncclGinBarrierHandle ncclGinBarrierHandle_t;
typedef struct ncclLLA2AHandle ncclLLA2AHandle_t;

#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result name parameters;                                                      \
  result p##name parameters;
#include "device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION

#ifdef __cplusplus
}
#endif

#endif /* IRIS_NCCL_NCCL_DEVICE_H */
