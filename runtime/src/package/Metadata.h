// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metadata of kernels: the JSON text `iris.meta` of RuntimeABI.h,
// section 5.
#ifndef IRIS_RT_PACKAGE_METADATA_H
#define IRIS_RT_PACKAGE_METADATA_H

#include "iris/rt/Kernel.h"
#include "iris/rt/Status.h"

#include <string_view>
#include <vector>

namespace iris::rt {

/// Parses and checks the metadata.  Every field's type and range is checked;
/// keys that RuntimeABI.h does not know are errors, since a package of a newer
/// minor version is refused before this.  Argument offsets must be those that
/// the layout rules give.
Expected<std::vector<KernelInfo>> parseMetadata(std::string_view text);

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_METADATA_H
