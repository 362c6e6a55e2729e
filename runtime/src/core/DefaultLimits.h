// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DefaultLimits.h - Time limits without a request ----------*- C++ -*-===//
#ifndef IRIS_RT_CORE_DEFAULTLIMITS_H
#define IRIS_RT_CORE_DEFAULTLIMITS_H

namespace iris::rt {

/// For all ranks to join (IRIS_JOIN_LIMIT).
constexpr double defaultJoinSeconds = 60;
/// Of a collective on the host (IRIS_COLLECTIVE_LIMIT).
constexpr double defaultCollectiveSeconds = 300;

} // namespace iris::rt

#endif // IRIS_RT_CORE_DEFAULTLIMITS_H
