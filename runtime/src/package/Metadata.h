// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Metadata.h - Parser of kernel metadata -------------------*- C++ -*-===//
//
// The metadata is the JSON text `iris.meta` of RuntimeABI.h, section 5.
#ifndef IRIS_RT_PACKAGE_METADATA_H
#define IRIS_RT_PACKAGE_METADATA_H

#include "iris/rt/Kernel.h"
#include "iris/rt/Status.h"

#include <string_view>
#include <vector>

namespace iris::rt {

/// Parses the metadata and checks the type and range of every field. Keys that
/// RuntimeABI.h does not define are errors, because packages of a newer minor
/// version are rejected earlier. Argument offsets must follow the layout rules.
Expected<std::vector<KernelInfo>> parseMetadata(std::string_view text);

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_METADATA_H
