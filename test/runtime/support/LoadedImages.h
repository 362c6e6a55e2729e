// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Number of kernel images that a process has loaded.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_LOADEDIMAGES_H
#define IRIS_TEST_RUNTIME_SUPPORT_LOADEDIMAGES_H

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace iris::rt::test {

/// The host images that are mapped into this process (see SharedImage.cpp).
inline size_t loadedImages() {
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> inodes;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, mode, offset, device, inode, path;
    words >> range >> mode >> offset >> device >> inode >> path;
    if (path.rfind("/memfd:iris-image", 0) == 0)
      inodes.insert(inode);
  }
  return inodes.size();
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_LOADEDIMAGES_H
