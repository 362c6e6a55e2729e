// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Server.h"
#include "DeviceMemory.h"
#include "iris/Chips/AMDExecution.h"
#include "iris/Emulator/Emulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace iristools;
using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

namespace {

enum class Kind : uint32_t {
  Hello = 1,
  Reserve,
  Release,
  Map,
  Unmap,
  Load,
  Unload,
  Find,
  Launch,
  Ping,
};

struct Request {
  Kind kind;
  uint32_t id;
  uint64_t address, bytes;
  uint32_t grid[3], workgroup[3];
  uint32_t dynamicBytes, nameBytes;
};
static_assert(sizeof(Request) == 56);

enum class Result : uint32_t { Ok, Occupied, Failed };

struct Reply {
  uint32_t magic, id;
  Result result;
  uint32_t reserved;
  uint64_t value;
};
static_assert(sizeof(Reply) == 24);

constexpr uint64_t kVersion = 1;
constexpr uint32_t kMagic = 0x4D455249;
constexpr size_t kMaxMessage = 64 << 10;
/// Workgroups of a launch that run at the same time.
constexpr unsigned kResidentGroups = 256;
/// Instructions until requests are looked at.
constexpr uint64_t kStep = 20000;
/// How long waves that only wait leave the processor to others: each time twice
/// as long, since most wait for another rank's next instructions.
constexpr std::chrono::microseconds kShortestPause{50}, kLongestPause{1000};
/// Launches after which an emulator that has nothing to do is replaced.
constexpr unsigned kMaxLaunches = 256;

/// A launch that is not answered yet.
struct Pending {
  uint32_t request;
  unsigned launch, queue;
};

class Server {
public:
  explicit Server(int socket) : socket(socket) {}

  Error run();

private:
  /// Receives a request and answers it. False at the end of the socket.
  llvm::Expected<bool> receive();
  llvm::Expected<uint64_t> handle(const Request &request, StringRef name,
                                  int file);
  Error hello(uint64_t version, StringRef chip);
  llvm::Expected<uint64_t> load(int file, uint64_t bytes);
  llvm::Expected<uint64_t> find(uint64_t module, StringRef symbol);
  Error unload(uint64_t module);
  Error launch(const Request &request, StringRef arguments);
  Error reply(uint32_t id, Result result, uint64_t value, StringRef text = "");
  Error replyAbout(uint32_t id, llvm::Expected<uint64_t> value);
  /// Executes instructions, and answers the launches that have ended.
  Error advance();
  void forgetLaunches();

  int socket;
  std::string chip;
  RunOptions options;
  DeviceMemory memory;
  uint64_t nextNumber = 1;
  std::map<uint64_t, std::unique_ptr<CodeObject>> modules;
  /// Modules that launches of the emulator refer to.
  std::vector<std::unique_ptr<CodeObject>> unloaded;
  std::map<uint64_t, std::pair<const CodeObject *, const Kernel *>> kernels;
  std::unique_ptr<Emulator> emulator;
  std::vector<Pending> pending;
  unsigned numLaunches = 0;
  /// How long to wait for a request before waves that only waited run again; 0
  /// if they did not only wait.
  std::chrono::microseconds pause{0};
};

} // namespace

static std::string environment(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? value : otherwise;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Error Server::reply(uint32_t id, Result result, uint64_t value,
                    StringRef text) {
  Reply reply{kMagic, id, result, 0, value};
  std::string data(reinterpret_cast<const char *>(&reply), sizeof(reply));
  data += text.take_front(kMaxMessage / 2);
  while (::send(socket, data.data(), data.size(), MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return llvm::createStringError("cannot reply: %s", std::strerror(errno));
  return Error::success();
}

Error Server::replyAbout(uint32_t id, llvm::Expected<uint64_t> value) {
  if (value)
    return reply(id, Result::Ok, *value);
  return reply(id, Result::Failed, 0, llvm::toString(value.takeError()));
}

/// The descriptor that a message carries, or -1.
static int descriptorOf(msghdr &message) {
  for (cmsghdr *part = CMSG_FIRSTHDR(&message); part;
       part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      int file;
      std::memcpy(&file, CMSG_DATA(part), sizeof(file));
      return file;
    }
  return -1;
}

llvm::Expected<bool> Server::receive() {
  std::vector<char> buffer(kMaxMessage);
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && errno == EINTR)
    return true;
  if (got <= 0)
    return false;
  int file = descriptorOf(message);
  llvm::scope_exit close([&] {
    if (file >= 0)
      ::close(file);
  });
  Request request;
  StringRef data(buffer.data(), size_t(got));
  if (data.size() < sizeof(request))
    return llvm::createStringError("a request of %zu bytes", data.size());
  std::memcpy(&request, data.data(), sizeof(request));
  data = data.drop_front(sizeof(request));
  if (request.nameBytes > data.size())
    return llvm::createStringError("a name of %u bytes in a request of %zu",
                                   request.nameBytes, data.size());
  StringRef name = data.take_front(request.nameBytes);
  if (request.kind == Kind::Launch) {
    // The reply follows when the launch has ended.
    if (Error error = launch(request, data.drop_front(request.nameBytes)))
      if (Error failure = reply(request.id, Result::Failed, 0,
                                llvm::toString(std::move(error))))
        return std::move(failure);
    return true;
  }
  if (request.kind == Kind::Reserve || request.kind == Kind::Map) {
    auto mapped = request.kind == Kind::Map
                      ? memory.map(request.address, request.bytes, file)
                      : memory.reserve(request.address, request.bytes);
    Error error =
        mapped && !*mapped
            ? reply(request.id, Result::Occupied, 0)
            : replyAbout(request.id, mapped ? llvm::Expected<uint64_t>(0)
                                            : mapped.takeError());
    if (error)
      return std::move(error);
    return true;
  }
  if (Error error = replyAbout(request.id, handle(request, name, file)))
    return std::move(error);
  return true;
}

/// 0, or the error.
static llvm::Expected<uint64_t> valueOf(Error error) {
  if (error)
    return std::move(error);
  return 0;
}

llvm::Expected<uint64_t> Server::handle(const Request &request, StringRef name,
                                        int file) {
  switch (request.kind) {
  case Kind::Hello:
    if (Error error = hello(request.address, name))
      return std::move(error);
    return kResidentGroups;
  case Kind::Release:
    return valueOf(memory.release(request.address, request.bytes));
  case Kind::Unmap:
    return valueOf(memory.unmap(request.address, request.bytes));
  case Kind::Load:
    return load(file, request.bytes);
  case Kind::Unload:
    return valueOf(unload(request.address));
  case Kind::Find:
    return find(request.address, name);
  case Kind::Ping:
    return 0;
  default:
    return llvm::createStringError("unknown request %u",
                                   unsigned(request.kind));
  }
}

/// 100 MHz, but slower than time, as the waves are: otherwise waits would time
/// out for a peer that is only slow.
static uint64_t readClock() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(now)
                      .count()) /
         80;
}

Error Server::hello(uint64_t version, StringRef name) {
  if (version != kVersion)
    return llvm::createStringError("version " + llvm::Twine(version) +
                                   " of the protocol; expected " +
                                   llvm::Twine(kVersion));
  if (!irischips::findExecution(std::string_view(name.data(), name.size())))
    return llvm::createStringError("the emulator does not know the chip '" +
                                   name + "'");
  std::string kind = environment("IRIS_EMULATOR_MEMORY", "coherent");
  auto caches = llvm::StringSwitch<std::optional<Caches>>(kind)
                    .Case("coherent", Caches::None)
                    .Case("device", Caches::Device)
                    .Case("wg", Caches::Workgroup)
                    .Case("wave", Caches::Wave)
                    .Case("cu", Caches::ComputeUnit)
                    .Default(std::nullopt);
  if (!caches)
    return llvm::createStringError("IRIS_EMULATOR_MEMORY is '" + kind +
                                   "'; expected coherent, device, wg, cu or "
                                   "wave");
  options.caches = *caches;
  chip = name.str();
  StringRef seed;
  std::string text = environment("IRIS_EMULATOR_SEED", "1");
  if ((seed = text).getAsInteger(10, options.seed))
    return llvm::createStringError("IRIS_EMULATOR_SEED is '" + text +
                                   "'; expected a number");
  // Ranks run their waves in different orders.
  uint64_t rank = 0;
  std::string rankText = environment("IRIS_RANK", "0");
  if (!StringRef(rankText).getAsInteger(10, rank))
    options.seed = options.seed * 1000003 + rank;
  std::string check = environment("IRIS_EMULATOR_CHECK", "");
  if (!check.empty() && check != "init")
    return llvm::createStringError("IRIS_EMULATOR_CHECK is '" + check +
                                   "'; expected init");
  options.checksInit = check == "init";
  options.residentGroups = kResidentGroups;
  options.budget = ~uint64_t(0);
  options.clock = readClock;
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

llvm::Expected<uint64_t> Server::load(int file, uint64_t bytes) {
  std::string image(bytes, '\0');
  if (file < 0 || ::pread(file, image.data(), bytes, 0) != ssize_t(bytes))
    return llvm::createStringError("cannot read the code object");
  auto code = CodeObject::load(image, "the code object");
  if (!code)
    return code.takeError();
  if ((*code)->getChip() != chip)
    return llvm::createStringError("the code object is for " +
                                   (*code)->getChip() + "; expected " + chip);
  modules[nextNumber] = std::move(*code);
  return nextNumber++;
}

llvm::Expected<uint64_t> Server::find(uint64_t module, StringRef symbol) {
  auto found = modules.find(module);
  if (found == modules.end())
    return llvm::createStringError("there is no module " + llvm::Twine(module));
  auto kernel = found->second->find(symbol);
  if (!kernel)
    return kernel.takeError();
  kernels[nextNumber] = {found->second.get(), *kernel};
  return nextNumber++;
}

Error Server::unload(uint64_t module) {
  auto found = modules.find(module);
  if (found == modules.end())
    return llvm::createStringError("there is no module " + llvm::Twine(module));
  for (auto kernel = kernels.begin(); kernel != kernels.end();)
    kernel = kernel->second.first == found->second.get() ? kernels.erase(kernel)
                                                         : std::next(kernel);
  unloaded.push_back(std::move(found->second));
  modules.erase(found);
  if (pending.empty())
    forgetLaunches();
  return Error::success();
}

void Server::forgetLaunches() {
  emulator.reset();
  unloaded.clear();
  numLaunches = 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Error Server::launch(const Request &request, StringRef arguments) {
  auto found = kernels.find(request.address);
  if (found == kernels.end())
    return llvm::createStringError("there is no kernel " +
                                   llvm::Twine(request.address));
  auto [code, kernel] = found->second;
  Launch launch;
  launch.code = code;
  launch.kernel = kernel;
  std::copy_n(request.grid, 3, launch.groups.begin());
  std::copy_n(request.workgroup, 3, launch.threads.begin());
  launch.extraLdsBytes = request.dynamicBytes;
  std::vector<std::vector<uint8_t>> values;
  for (const KernelArgument &argument : kernel->arguments) {
    if (argument.isHidden())
      continue;
    if (argument.offset + argument.size > arguments.size())
      return llvm::createStringError(
          kernel->name + ": the argument block has " +
          llvm::Twine(arguments.size()) + " bytes; expected at least " +
          llvm::Twine(argument.offset + argument.size));
    StringRef bytes = arguments.substr(argument.offset, argument.size);
    values.emplace_back(bytes.bytes_begin(), bytes.bytes_end());
  }
  auto packed = packArguments(*kernel, values, launch);
  if (!packed)
    return packed.takeError();
  launch.arguments = std::move(*packed);
  // Launches of a stream come one after the other; all that are here run at the
  // same time.
  while (llvm::any_of(
      pending, [&](const Pending &each) { return each.queue == launch.queue; }))
    ++launch.queue;
  unsigned queue = launch.queue;
  if (pending.empty() && numLaunches >= kMaxLaunches)
    forgetLaunches();
  if (!emulator)
    emulator = std::make_unique<Emulator>(memory.getMemory(), options);
  auto number = emulator->launch(std::move(launch));
  if (!number)
    return number.takeError();
  ++numLaunches;
  pause = {};
  pending.push_back({request.id, *number, queue});
  return Error::success();
}

Error Server::advance() {
  uint64_t stores = emulator->countStores();
  if (Error error = emulator->advance(kStep, /*stopsIfAllWait=*/true)) {
    // Nothing can be executed after an error.
    std::string text = llvm::toString(std::move(error));
    for (const Pending &each : std::exchange(pending, {}))
      if (Error failure = reply(each.request, Result::Failed, 0, text))
        return failure;
    forgetLaunches();
    return Error::success();
  }
  // Other ranks need the processor, and may soon be as far.
  pause = emulator->countStores() == stores
              ? std::clamp(2 * pause, kShortestPause, kLongestPause)
              : std::chrono::microseconds(0);
  for (size_t i = 0; i < pending.size();) {
    if (!emulator->isDone(pending[i].launch)) {
      ++i;
      continue;
    }
    pause = {};
    if (Error error = reply(pending[i].request, Result::Ok, 0))
      return error;
    pending.erase(pending.begin() + i);
  }
  return Error::success();
}

Error Server::run() {
  while (true) {
    // Waves that only wait leave the processor to the ranks they wait for.
    pollfd entry{socket, POLLIN, 0};
    timespec limit{0, long(std::chrono::nanoseconds(pause).count())};
    if (::ppoll(&entry, 1, pending.empty() ? nullptr : &limit, nullptr) < 0 &&
        errno != EINTR)
      return llvm::createStringError("cannot wait for requests: %s",
                                     std::strerror(errno));
    if (entry.revents) {
      auto more = receive();
      if (!more)
        return more.takeError();
      if (!*more)
        return Error::success();
    } else if (!pending.empty()) {
      if (Error error = advance())
        return error;
    }
  }
}

Error iristools::serve(int socket) {
  int kind = 0;
  socklen_t size = sizeof(kind);
  if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &size) != 0 ||
      kind != SOCK_SEQPACKET)
    return llvm::createStringError(
        "--serve is for the runtime: standard input is not its socket");
  return Server(socket).run();
}
