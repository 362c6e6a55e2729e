// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rendezvous.cpp - Rendezvous of the ranks of a job ------------------===//
#include "bootstrap/Rendezvous.h"

#include "bootstrap/LauncherNotice.h"
#include "bootstrap/RendezvousSides.h"
#include "bootstrap/ReservedAddress.h"
#include "core/Log.h"

#include <optional>

using namespace iris::rt;

void iris::rt::sweepRendezvous(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    Expected<std::optional<RendezvousDirectory>> directory =
        RendezvousDirectory::find(path);
    if (directory.ok() && *directory)
      (*directory)->sweep();
  }
}

/// Opens the directory for the ranks of a job.
static Expected<RendezvousDirectory>
openDirectory(const std::vector<std::string> &paths, const Log &log) {
  std::string skipped;
  IRISRT_ASSIGN_OR_RETURN(RendezvousDirectory directory,
                          RendezvousDirectory::open(paths, skipped));
  if (!skipped.empty())
    log.warning("using rendezvous directory '%s' (set IRIS_RENDEZVOUS_DIR to "
                "choose another one): %s",
                directory.path().c_str(), skipped.c_str());
  return directory;
}

Expected<std::string>
iris::rt::chooseRendezvous(const std::vector<std::string> &paths) {
  IRISRT_ASSIGN_OR_RETURN(RendezvousDirectory directory,
                          openDirectory(paths, Log()));
  return directory.path();
}

Status iris::rt::checkNotice(const RendezvousOptions &options) {
  if (options.cancelled && options.cancelled->load())
    return Status(StatusCode::aborted, "this process cancelled it");
  std::optional<LauncherNotice> notice = peekNotice(options.noticeFd);
  if (!notice || notice->rank == options.rank)
    return Status::success();
  return makeStatus(StatusCode::aborted, "rank %u failed: %s", notice->rank,
                    notice->how.c_str());
}

int iris::rt::pollTime(const RendezvousOptions &options,
                       const Deadline &deadline) {
  return deadline.pollMs(options.noticeFd >= 0 || options.cancelled ? 50
                                                                    : 1000);
}

static Expected<std::vector<Peer>> hostHere(const RendezvousOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(
      RendezvousDirectory directory,
      openDirectory(options.directories, Log(options.rank, options.numRanks)));
  return hostRanks(options, directory);
}

Expected<std::vector<Peer>>
iris::rt::connectRanks(const RendezvousOptions &options) {
  if (options.numRanks == 1) {
    // No rank will come.
    IRISRT_RETURN_IF_ERROR(takeAddress(options.address).status());
    return std::vector<Peer>(1);
  }
  const bool isLocal = options.address.empty();
  Expected<std::vector<Peer>> peers =
      options.rank == 0 ? (isLocal ? hostHere(options) : hostRanksAt(options))
                        : (isLocal ? joinHost(options) : joinHostAt(options));
  if (peers.ok())
    return peers;
  // If rank 0 was killed, its socket file is still there.
  if (isLocal)
    sweepRendezvous(options.directories);
  return peers.status().withContext(formatString(
      "rendezvous of rank %u of %u failed", options.rank, options.numRanks));
}
