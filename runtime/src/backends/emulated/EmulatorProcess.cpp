// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatorProcess.cpp - The process of an emulator -------------------===//
#include "backends/emulated/EmulatorProcess.h"

#include "compile/RunProcess.h"
#include "core/Files.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace iris::rt;
using Clock = Deadline::Clock;
using Kind = EmulatorRequestKind;

/// How much of the process's last output an error quotes.
static constexpr size_t maxMessages = 4096;
/// The time that a process has to end after its socket is closed.
static constexpr auto emulatorEndGrace = std::chrono::seconds(2);
/// The interval between two checks whether the process has been silent.
static constexpr int pollMs = 200;

//===----------------------------------------------------------------------===//
// Start and end
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<EmulatorProcess>>
EmulatorProcess::start(const std::string &program, const std::string &chip,
                       const EmulatorLimits &limits) {
  std::unique_ptr<EmulatorProcess> process(
      new EmulatorProcess(program, limits));
  int sockets[2], pipe[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return makeErrnoStatus(StatusCode::internal, errno,
                           "cannot create a socket");
  process->socket_.reset(sockets[0]);
  UniqueFd theirs(sockets[1]);
  if (::pipe2(pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot create a pipe");
  process->messages_.reset(pipe[0]);
  // std::function must be copyable.
  auto handed = std::make_shared<std::pair<UniqueFd, UniqueFd>>(
      std::move(theirs), UniqueFd(pipe[1]));
  EmulatorProcess *raw = process.get();
  process->heard_ = Clock::now();
  IRISRT_ASSIGN_OR_RETURN(process->thread_, OsThread::start([raw, handed] {
                            raw->run(std::move(handed->first),
                                     std::move(handed->second));
                          }));
  handed.reset();
  EmulatorRequest hello;
  hello.kind = Kind::hello;
  hello.address = emulatorVersion;
  IRISRT_ASSIGN_OR_RETURN(uint64_t programs, process->valueOf(hello, chip));
  if (programs == 0 || programs > UINT32_MAX)
    return makeStatus(StatusCode::unavailable,
                      "the emulator '%s' executes %llu concurrent programs; "
                      "expected 1 to 4294967295",
                      program.c_str(),
                      static_cast<unsigned long long>(programs));
  process->maxPrograms_ = static_cast<uint32_t>(programs);
  return process;
}

EmulatorProcess::~EmulatorProcess() {
  ::shutdown(socket_.get(), SHUT_RDWR); // wakes the thread
  thread_.join();
}

void EmulatorProcess::kill(const Status &why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok())
    failure_ = why;
  if (pid_ > 0)
    ::kill(pid_, SIGKILL);
  ::shutdown(socket_.get(), SHUT_RDWR);
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

/// Starts the process on this thread, because a child ends with the thread that
/// started it.
void EmulatorProcess::run(UniqueFd theirs, UniqueFd errors) {
  Expected<pid_t> pid = startProcess({program_, "--serve"}, theirs.get(),
                                     errors.get(), errors.get());
  theirs.reset();
  errors.reset();
  if (!pid.ok()) {
    ::shutdown(socket_.get(), SHUT_RDWR);
    failAll(pid.status().withContext("the emulator"));
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    pid_ = *pid;
  }
  receiveAll();
}

void EmulatorProcess::receiveAll() {
  Status status;
  while (status.ok()) {
    pollfd entries[] = {{socket_.get(), POLLIN, 0},
                        {messages_.get(), POLLIN, 0}};
    nfds_t count = messages_.valid() ? 2 : 1;
    if (::poll(entries, count, pollMs) < 0 && errno != EINTR)
      break;
    if (count == 2 && entries[1].revents != 0)
      readMessages();
    if (entries[0].revents != 0) {
      Expected<bool> more = receive();
      if (more.ok() && !*more)
        break;
      status = more.status();
    }
    // Also after a message: a process may answer pings only.
    if (status.ok())
      status = checkSilence();
  }
  if (!status.ok())
    kill(status);
  ::shutdown(socket_.get(), SHUT_RDWR);
  std::string ending = reap();
  readMessages();
  std::string text = ending;
  while (!messageText_.empty() && messageText_.back() == '\n')
    messageText_.pop_back();
  if (!messageText_.empty())
    text += ": " + messageText_;
  failAll(makeStatus(StatusCode::unavailable, "the emulator '%s' %s",
                     program_.c_str(), text.c_str()));
}

static Status malformed(const std::string &program, const std::string &what) {
  return makeStatus(StatusCode::unavailable,
                    "the emulator '%s' sent %s; expected a reply of version %u "
                    "of the protocol",
                    program.c_str(), what.c_str(), emulatorVersion);
}

Expected<bool> EmulatorProcess::receive() {
  std::vector<char> buffer(maxEmulatorMessage); // the stack may be as small
  // MSG_TRUNC: the real size of a message that is too long.
  ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(),
                       MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (got <= 0)
    return false; // it has closed the socket
  EmulatorReply reply;
  auto size = static_cast<size_t>(got);
  if (size < sizeof(reply) || size > buffer.size())
    return malformed(program_, formatString("a message of %zu bytes", size));
  std::memcpy(&reply, buffer.data(), sizeof(reply));
  if (reply.magic != emulatorMagic || reply.reserved != 0 ||
      reply.result > EmulatorResult::failed)
    return malformed(program_, "a message that is no reply");
  if (reply.result == EmulatorResult::failed && size == sizeof(reply))
    return malformed(program_, "an error without a message");
  std::lock_guard<std::mutex> lock(mutex_);
  heard_ = Clock::now();
  if (reply.id == 0)
    return true; // to a ping
  progressed_ = heard_;
  auto found = pending_.find(reply.id);
  if (found == pending_.end())
    return malformed(program_, formatString("a reply to request %u, which is "
                                            "not pending",
                                            reply.id));
  Answer &answer = *found->second;
  answer.result = reply.result;
  answer.value = reply.value;
  // Escaped first: it makes a text longer.
  answer.text = escapeControls(
      std::string(buffer.data() + sizeof(reply), size - sizeof(reply)));
  if (answer.text.size() > maxMessages) {
    answer.text.resize(maxMessages);
    answer.text +=
        formatString(" ... (the text has %zu bytes)", size - sizeof(reply));
  }
  answer.isDone = true;
  isStarted_ = true;
  pending_.erase(found);
  changed_.notify_all();
  return true;
}

std::string EmulatorProcess::describeStop() const {
  siginfo_t info{};
  if (pid_ <= 0 ||
      ::waitid(P_PID, static_cast<id_t>(pid_), &info,
               WSTOPPED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_)
    return "";
  return formatString(", while its process %d was stopped (signal %d)", pid_,
                      info.si_status);
}

/// A kernel may run for long, but the emulator answers pings meanwhile.
Status EmulatorProcess::checkSilence() {
  bool shouldPing = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok() || pending_.empty())
      return Status::success();
    auto silence = Clock::now() - heard_;
    auto limit = isStarted_ ? limits_.answer : limits_.start;
    if (silence > limit)
      return makeStatus(
          StatusCode::unavailable, "the emulator '%s' was silent for %.3g s%s",
          program_.c_str(), std::chrono::duration<double>(limit).count(),
          describeStop().c_str());
    if (limits_.progress && Clock::now() - progressed_ > *limits_.progress)
      return makeStatus(
          StatusCode::unavailable,
          "the emulator '%s' answered nothing but pings for %.3g s, while %zu "
          "request%s pending; if its kernels take longer, raise "
          "IRIS_EMULATOR_LIMIT",
          program_.c_str(),
          std::chrono::duration<double>(*limits_.progress).count(),
          pending_.size(), pending_.size() == 1 ? " was" : "s were");
    shouldPing =
        isStarted_ && Clock::now() - std::max(heard_, pinged_) > limit / 4;
    if (shouldPing)
      pinged_ = Clock::now();
  }
  if (shouldPing)
    send(EmulatorRequest(), {}, {}, -1, std::chrono::milliseconds(0))
        .ignore("the silence is noticed");
  return Status::success();
}

void EmulatorProcess::readMessages() {
  char buffer[4096];
  while (messages_.valid()) {
    ssize_t got = ::read(messages_.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got == 0 || (got < 0 && errno != EAGAIN))
      messages_.reset();
    if (got <= 0)
      return;
    messageText_.append(buffer, static_cast<size_t>(got));
    if (messageText_.size() > maxMessages)
      messageText_.erase(0, messageText_.size() - maxMessages);
  }
}

std::string EmulatorProcess::reap() {
  Deadline grace(emulatorEndGrace);
  int waitStatus = 0;
  bool wasKilled = false;
  pid_t ended = 0;
  while (true) {
    {
      // Under the mutex: kill() must not meet a process id that is free.
      std::lock_guard<std::mutex> lock(mutex_);
      ended = ::waitpid(pid_, &waitStatus, WNOHANG);
      if (ended != 0 && !(ended < 0 && errno == EINTR)) {
        pid_ = -1;
        break;
      }
      if (!wasKilled && grace.passed())
        wasKilled = ::kill(pid_, SIGKILL) == 0;
    }
    readMessages(); // it may wait for the pipe
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (wasKilled)
    return formatString(
        "closed its socket, but did not end within %.3g s "
        "and was killed",
        std::chrono::duration<double>(emulatorEndGrace).count());
  // The host program may have reaped the child, by ignoring SIGCHLD.
  return ended > 0 ? describeExit(waitStatus) : "ended";
}

void EmulatorProcess::failAll(const Status &why) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failure_.ok())
    failure_ = why;
  for (auto &[id, answer] : pending_) {
    answer->isDone = true;
    answer->result = EmulatorResult::failed;
  }
  pending_.clear();
  pid_ = -1;
  changed_.notify_all();
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

Status EmulatorProcess::send(const EmulatorRequest &request,
                             std::string_view name, std::string_view args,
                             int fd, std::chrono::milliseconds limit) {
  EmulatorRequest header = request;
  header.nameBytes = static_cast<uint32_t>(name.size());
  if (sizeof(header) + name.size() + args.size() > maxEmulatorMessage)
    return makeStatus(StatusCode::invalidArgument,
                      "a request to the emulator has %zu bytes; expected at "
                      "most %zu",
                      sizeof(header) + name.size() + args.size(),
                      maxEmulatorMessage);
  iovec parts[] = {{&header, sizeof(header)},
                   {const_cast<char *>(name.data()), name.size()},
                   {const_cast<char *>(args.data()), args.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  }
  Deadline deadline(limit);
  while (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR)
      continue;
    // A closed socket: the thread finds out why.
    if (errno != EAGAIN || deadline.passed())
      return makeErrnoStatus(StatusCode::unavailable, errno,
                             "the emulator '%s' takes no requests",
                             program_.c_str());
    pollfd entry = {socket_.get(), POLLOUT, 0};
    ::poll(&entry, 1, deadline.pollMs(pollMs));
  }
  return Status::success();
}

Expected<EmulatorProcess::Answer>
EmulatorProcess::request(EmulatorRequest request, std::string_view name,
                         std::string_view args, int fd) {
  Answer answer;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok())
      return failure_;
    if (pending_.empty())
      heard_ = progressed_ = Clock::now(); // nothing was expected so far
    if (++nextId_ == 0)
      ++nextId_;
    request.id = nextId_;
    pending_[request.id] = &answer;
  }
  Status sent = send(request, name, args, fd, limits_.answer);
  std::unique_lock<std::mutex> lock(mutex_);
  if (!sent.ok()) {
    // A process that has ended explains itself soon.
    changed_.wait_for(lock, 2 * emulatorEndGrace,
                      [&] { return !failure_.ok(); });
    pending_.erase(request.id);
    return failure_.ok() ? sent : failure_;
  }
  changed_.wait(lock, [&] { return answer.isDone; });
  if (answer.result == EmulatorResult::failed && answer.text.empty())
    return failure_; // failAll()
  return answer;
}

Expected<uint64_t> EmulatorProcess::valueOf(EmulatorRequest what,
                                            std::string_view name,
                                            std::string_view args, int fd) {
  IRISRT_ASSIGN_OR_RETURN(Answer answer, request(what, name, args, fd));
  if (answer.result == EmulatorResult::ok)
    return answer.value;
  if (answer.result == EmulatorResult::failed)
    return makeStatus(StatusCode::deviceError, "the emulator '%s': %s",
                      program_.c_str(), answer.text.c_str());
  return makeStatus(StatusCode::internal,
                    "the emulator '%s': its addresses are occupied",
                    program_.c_str());
}

Expected<bool> EmulatorProcess::acceptedBy(EmulatorRequest what, int fd) {
  IRISRT_ASSIGN_OR_RETURN(Answer answer, request(what, {}, {}, fd));
  if (answer.result != EmulatorResult::failed)
    return answer.result == EmulatorResult::ok;
  return makeStatus(StatusCode::deviceError, "the emulator '%s': %s",
                    program_.c_str(), answer.text.c_str());
}

static EmulatorRequest requestOf(Kind kind, uint64_t address,
                                 uint64_t bytes = 0) {
  EmulatorRequest request;
  request.kind = kind;
  request.address = address;
  request.bytes = bytes;
  return request;
}

Expected<bool> EmulatorProcess::reserve(uint64_t address, uint64_t bytes) {
  return acceptedBy(requestOf(Kind::reserve, address, bytes));
}

Expected<bool> EmulatorProcess::map(int fd, uint64_t address, uint64_t bytes) {
  return acceptedBy(requestOf(Kind::map, address, bytes), fd);
}

Status EmulatorProcess::unmap(uint64_t address, uint64_t bytes) {
  return valueOf(requestOf(Kind::unmap, address, bytes)).status();
}

Status EmulatorProcess::release(uint64_t address, uint64_t bytes) {
  return valueOf(requestOf(Kind::release, address, bytes)).status();
}

Expected<uint64_t> EmulatorProcess::load(const void *image, size_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(
      UniqueFd file,
      makeMemoryFile(
          "iris-code",
          std::string_view(static_cast<const char *>(image), bytes)));
  return valueOf(requestOf(Kind::load, 0, bytes), {}, {}, file.get());
}

Status EmulatorProcess::unload(uint64_t module) {
  return valueOf(requestOf(Kind::unload, module)).status();
}

Expected<uint64_t> EmulatorProcess::find(uint64_t module,
                                         std::string_view symbol) {
  return valueOf(requestOf(Kind::find, module), symbol);
}

Status EmulatorProcess::launch(uint64_t kernel, const LaunchConfig &config,
                               const void *args, size_t argBytes) {
  EmulatorRequest request = requestOf(Kind::launch, kernel, argBytes);
  std::copy(std::begin(config.grid), std::end(config.grid), request.grid);
  std::copy(std::begin(config.workgroup), std::end(config.workgroup),
            request.workgroup);
  request.dynamicSharedBytes = config.dynamicSharedBytes;
  return valueOf(request, {},
                 std::string_view(static_cast<const char *>(args), argBytes))
      .status();
}
