// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container of a package: LLVM's OffloadBinary, version 1, read without
// LLVM.  An entry starts with a header, then come the entry record, a table of
// key and value offsets, the null-terminated texts it points to, and the image;
// all offsets count from the start of the entry and are little endian.
#ifndef IRIS_RT_PACKAGE_CONTAINER_H
#define IRIS_RT_PACKAGE_CONTAINER_H

#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace iris::rt {

/// LLVM's ImageKind and OffloadKind, as far as packages use them.
enum : uint16_t { imageObject = 1, imageCubin = 3, imagePtx = 5 };
enum : uint16_t { producerNone = 0, producerCuda = 2, producerHip = 4 };

/// One entry; the views point into the parsed buffer.
struct ContainerEntry {
  uint16_t imageKind = 0;
  uint16_t offloadKind = 0;
  std::map<std::string_view, std::string_view> strings;
  const uint8_t *image = nullptr;
  size_t imageSize = 0;
  /// Where the entry starts in the buffer, for messages.
  size_t offset = 0;

  /// The string called `key`, or an error that names the missing key.
  Expected<std::string_view> string(std::string_view key) const;
};

/// Splits a buffer into its entries.  Every byte is accounted for: what no
/// field points to must be zero, so that damage cannot hide there.
Expected<std::vector<ContainerEntry>> parseContainer(const uint8_t *data,
                                                     size_t size);

/// The `iris.hash` that the entry should have: 16 lower-case hex digits.
std::string computeEntryHash(const ContainerEntry &entry);

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_CONTAINER_H
