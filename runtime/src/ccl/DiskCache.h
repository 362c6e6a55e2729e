// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of files named by a key, bounded in size.  Many ranks and jobs use
// it at once without locks: a file appears whole, by rename, and never changes.
#ifndef IRIS_RT_CCL_DISKCACHE_H
#define IRIS_RT_CCL_DISKCACHE_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace iris::ccl {

class DiskCache {
public:
  /// Opens, and creates where it is missing, the folder, which must be ours
  /// alone.
  static rt::Expected<DiskCache> open(const std::string &directory,
                                      uint64_t maxBytes);

  /// The bytes of an entry, which becomes the one used last; nothing where
  /// there is none.  An entry that is not ours alone is removed first.
  std::optional<std::string> read(const std::string &key);

  /// Removes an entry; `why` goes to the log.
  void remove(const std::string &key, const std::string &why);

  /// Stores an entry, then removes those that were not used for longest until
  /// the rest fits the bound; never this one.
  rt::Status write(const std::string &key, const std::string &bytes);

private:
  DiskCache(rt::UniqueFd fd, std::string directory, uint64_t maxBytes)
      : fd_(std::move(fd)), directory_(std::move(directory)),
        maxBytes_(maxBytes) {}
  void shrink(const std::string &keep);

  rt::UniqueFd fd_;
  std::string directory_;
  uint64_t maxBytes_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_DISKCACHE_H
