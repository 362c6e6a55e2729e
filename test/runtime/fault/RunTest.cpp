// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// iris-run from the outside: exit status, output, leftovers.
#include "support/ContestedDirectory.h"
#include "support/Ranks.h"
#include "support/TestKernels.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {
struct RunEnd {
  int status = -1;
  std::string text;
  double seconds = 0;
};

class Run : public testing::Test {
protected:
  void SetUp() override {
    char pattern[] = "/tmp/iris-run-test-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern), nullptr);
    directory = pattern;
  }
  void TearDown() override {
    // It must leave nothing: no temporary files, sockets, processes.
    std::string left = shell("find " + directory + "/tmp " + directory +
                             "/run -mindepth 2; "
                             "pgrep -f " +
                             directory +
                             " | grep -v $$ | xargs -r ps -o pid=,args= -p | "
                             "grep iris-run | grep -v grep")
                           .text;
    EXPECT_EQ(left, "");
    EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
    shell("rm -rf " + directory);
  }

  RunEnd shell(const std::string &command) {
    RunEnd end;
    auto start = std::chrono::steady_clock::now();
    FILE *pipe = ::popen((command + " 2>&1").c_str(), "r");
    char buffer[4096];
    size_t got;
    while ((got = ::fread(buffer, 1, sizeof(buffer), pipe)) > 0)
      end.text.append(buffer, got);
    int status = ::pclose(pipe);
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    end.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return end;
  }

  /// The file of a package with that variant of TestMain.cpp.
  std::string package(int variant) {
    std::string path =
        directory + "/program" + std::to_string(variant) + ".pkg";
    std::ofstream stream(path, std::ios::binary);
    stream << testPackageBytes(std::string(IRIS_TEST_MAIN_PREFIX) +
                               std::to_string(variant) + ".so");
    return path;
  }

  /// The start of a command line: private folders for everything that it may
  /// leave.
  std::string command() {
    ::mkdir((directory + "/run").c_str(), 0700);
    ::mkdir((directory + "/tmp").c_str(), 0700);
    return "XDG_RUNTIME_DIR=" + directory + "/run TMPDIR=" + directory +
           "/tmp " IRIS_TEST_IRIS_RUN " ";
  }
  RunEnd run(const std::string &args) { return shell(command() + args); }

  std::string directory;
};
} // namespace

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Run, ChecksHold) {
  std::string program = package(0);
  for (const char *ranks : {"1", "2", "3", "4", "8"})
    for (const char *how : {"processes", "threads"}) {
      RunEnd end =
          run(std::string("-n ") + ranks + " --ranks=" + how + " " + program);
      EXPECT_EQ(end.status, 0) << end.text;
      uint64_t n = std::strtoull(ranks, nullptr, 10);
      EXPECT_CONTAINS(end.text,
                      "all " + std::to_string(n * n * 4096) + " checks passed");
    }
}

TEST_F(Run, MismatchIsReported) {
  RunEnd end = run("-n 3 " + package(1));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "rank 1: 12288 of 12288 checks failed; the first: "
                            "test.check_gathered at test.mlir:12:5 in "
                            "kernels::check_gathered");
  EXPECT_CONTAINS(end.text, "FAILED on 1 of 3 ranks on host (12288 of 36864 "
                            "checks failed)");
}

TEST_F(Run, HangIsReportedOnEveryRank) {
  RunEnd end = run("-n 3 --timeout=1 " + package(2));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "rank 0: test.wait_flag at test.mlir:12:5");
  EXPECT_CONTAINS(end.text, "rank 1 owed the signal");
  EXPECT_CONTAINS(end.text, "rank 1: rank 0 failed: test.wait_flag");
  EXPECT_CONTAINS(end.text, "rank 2: rank 0 failed: test.wait_flag");
  EXPECT_LT(end.seconds, 10);
}

TEST_F(Run, NeedsLittleStack) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more stack";
#endif
  for (const char *limit : {"16", "64"})
    for (const char *ranks : {"", "--ranks=threads "}) {
      // The environment is on the stack too, and not of this test's choice.
      RunEnd end =
          shell(std::string("ulimit -s ") + limit + "; env -i PATH=\"$PATH\" " +
                command() + "-n 2 " + ranks + package(0));
      EXPECT_EQ(end.status, 0) << end.text;
      EXPECT_CONTAINS(end.text, "all 16384 checks passed");
    }
}

TEST_F(Run, NoCheckIsAFailure) {
  RunEnd end = run("-n 2 " + package(3));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "checked nothing");
}

TEST_F(Run, KilledRank) {
  RunEnd end = run("-n 4 " + package(4));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "rank 1: its process was killed by signal 9");
  for (const char *rank : {"0", "2", "3"})
    EXPECT_CONTAINS(end.text,
                    std::string("rank ") + rank + ": rank 1 failed: process");
  EXPECT_LT(end.seconds, 10);
}

TEST_F(Run, ExitingRank) {
  RunEnd end = run("-n 2 " + package(5));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "rank 1: its process exited with status 3");
  EXPECT_CONTAINS(end.text, "rank 0: rank 1 failed: process");
}

TEST_F(Run, FullHeap) {
  RunEnd end = run("-n 2 --heap=16M " + package(6));
  EXPECT_EQ(end.status, 1);
  // The first rank to fail may be faster than its peers.
  EXPECT_CONTAINS(end.text, "iris-run: rank 0: ");
  EXPECT_CONTAINS(end.text, "iris-run: rank 1: ");
  EXPECT_CONTAINS(end.text, "the symmetric heap is full: 35184372088832 bytes "
                            "requested, but of its 16777216 bytes");
}

TEST_F(Run, DifferentAllocations) {
  RunEnd end = run("-n 3 " + package(7));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "the ranks used the symmetric heap differently");
}

TEST_F(Run, UnknownKernelAndWrongArguments) {
  RunEnd unknown = run("-n 2 " + package(8));
  EXPECT_EQ(unknown.status, 1);
  EXPECT_CONTAINS(unknown.text, "no_such_kernel");
  RunEnd wrong = run("-n 2 " + package(9));
  EXPECT_EQ(wrong.status, 1);
  EXPECT_CONTAINS(wrong.text, "kernels::fill");
}

TEST_F(Run, SignalsEndEverything) {
  for (int signal : {SIGINT, SIGTERM}) {
    std::string program = package(10);
    RunEnd end =
        shell("timeout --signal=" + std::to_string(signal) +
              " --preserve-status 1 env " + command() + "-n 3 " + program);
    EXPECT_EQ(end.status, 128 + signal) << end.text;
    EXPECT_LT(end.seconds, 6);
  }
}

TEST_F(Run, SignalsAtAnyTimeLeaveNothing) {
  std::string program = package(10);
  for (int ms = 2; ms < 60; ms += 4) {
    RunEnd end = shell("timeout --preserve-status 0.0" +
                       std::string(ms < 10 ? "0" : "") + std::to_string(ms) +
                       " env " + command() + "-n 4 " + program);
    EXPECT_EQ(end.status, 128 + SIGTERM) << end.text;
    EXPECT_LT(end.seconds, 6);
  }
}

TEST_F(Run, KilledLauncherLeavesNoRanks) {
  std::string program = package(10);
  RunEnd end =
      shell("timeout --signal=KILL 1 env " + command() + "-n 3 " + program);
  ::usleep(200000); // TearDown looks for processes
}

TEST_F(Run, KilledLauncherLeavesNoCompiler) {
  std::string compiler = directory + "/cc", source = directory + "/a.mlir";
  std::ofstream(source) << "// source\n";
  std::ofstream(compiler) << "#!/bin/sh\nexec sleep 60.0625\n";
  ::chmod(compiler.c_str(), 0700);
  shell("timeout --signal=KILL 1 env IRIS_COMPILE=" + compiler + " " +
        command() + source);
  EXPECT_EQ(shell("sleep 0.2; pgrep -f 'sleep 60.062[5]'").text, "");
}

/// A compiler that hangs or is stopped, and the processes that it started, end
/// at the limit.
TEST_F(Run, CompilerThatDoesNotEndIsKilled) {
  std::string compiler = directory + "/cc", source = directory + "/a.mlir";
  std::ofstream(source) << "// source\n";
  for (const char *body : {"exec sleep 60.0375", "kill -STOP $$",
                           "trap '' TERM\nsleep 60.0375 &\nwait\nwait\n"
                           "sleep 60.0375"}) {
    std::ofstream(compiler) << "#!/bin/sh\n" << body << "\n";
    ::chmod(compiler.c_str(), 0700);
    RunEnd end = shell("timeout --signal=KILL 30 env IRIS_COMPILE=" + compiler +
                       " " + command() + "--compile-limit=0.5 " + source);
    EXPECT_EQ(end.status, 1) << body;
    EXPECT_CONTAINS(end.text, "iris-compile ('" + compiler +
                                  "') did not end within 0.5 s and was killed");
    EXPECT_LT(end.seconds, 10);
    EXPECT_EQ(shell("sleep 0.1; pgrep -f 'sleep 60.037[5]'").text, "");
  }
}

TEST_F(Run, StoppedRankIsNamedAndEnded) {
  RunEnd end = run("-n 3 --timeout=4 " + package(11));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "rank 1: its process stayed stopped (signal 19) "
                            "for 2 s and was killed");
  for (const char *rank : {"0", "2"})
    EXPECT_CONTAINS(end.text,
                    std::string("rank ") + rank + ": rank 1 failed: process");
  EXPECT_LT(end.seconds, 15);
}

/// Time in which the launcher is stopped, too, as by Ctrl-Z, does not count:
/// the rank is stopped for longer than the limit of 6 s, and is not killed.
TEST_F(Run, RankStoppedWithItsLauncherContinues) {
  RunEnd end = shell(command() + "-n 3 --timeout=12 " + package(11) +
                     " & sleep 0.5; kill -STOP $!; sleep 7; kill -CONT $!; "
                     "sleep 0.5; pkill -CONT -P $!; wait $!");
  EXPECT_EQ(end.status, 0) << end.text;
}

TEST_F(Run, ARankThatCannotStartIsNamed) {
  // Descriptors for the pipes of some ranks, not of all.
  RunEnd end = shell("ulimit -n 40; " + command() + "-n 64 " + package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "cannot be started: cannot create a pipe: Too many "
                            "open files (this process may open 40; raise the "
                            "limit with ulimit -n)");
  EXPECT_LT(end.seconds, 15);
}

/// An emulator that ends is no lack of memory.
TEST_F(Run, EmulatorThatDiesGetsNoAdviceOnMemory) {
  for (const char *chip : {"dies_in_reserve", "dies_in_map"}) {
    RunEnd end = shell("IRIS_EMULATOR=" IRIS_TEST_EMULATOR " " + command() +
                       "-n 1 --device=emulated:" + chip + " " + package(0));
    EXPECT_EQ(end.status, 1);
    EXPECT_CONTAINS(end.text, "exited with status 1: no memory for the waves");
    EXPECT_EQ(end.text.find("IRIS_HEAP_SIZE"), std::string::npos) << end.text;
  }
}

TEST_F(Run, EmulatorThatMakesNoProgressEndsAtTheLimit) {
  RunEnd end =
      shell("IRIS_EMULATOR=" IRIS_TEST_EMULATOR " IRIS_EMULATOR_LIMIT=1.5 " +
            command() + "-n 1 --device=emulated:never_reserves " + package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "answered nothing but pings for 1.5 s, while 1 "
                            "request was pending");
  EXPECT_EQ(end.text.find("IRIS_HEAP_SIZE"), std::string::npos) << end.text;
  EXPECT_LT(end.seconds, 30);
}

TEST_F(Run, LongErrorOfAnEmulatorIsReported) {
  RunEnd end =
      shell("IRIS_EMULATOR=" IRIS_TEST_EMULATOR " " + command() +
            "-n 1 --device=emulated:refuses_with_controls " + package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "first line\\x01\\x1b");
  EXPECT_CONTAINS(end.text, "(the text has 61451 bytes)");
  EXPECT_EQ(end.text.find('\x1b'), std::string::npos);
}

TEST_F(Run, LimitsAreNamed) {
  std::string program = package(0);
  RunEnd memory = shell("ulimit -v 4000000; " + command() + program);
  EXPECT_EQ(memory.status, 1);
  EXPECT_CONTAINS(memory.text, "IRIS_HEAP_SIZE");
  RunEnd file = shell("ulimit -f 1000; " + command() + program);
  EXPECT_EQ(file.status, 1);
  EXPECT_CONTAINS(file.text, "File too large");
  EXPECT_CONTAINS(file.text, "ulimit -f");
}

TEST_F(Run, OutputThatCannotBeWrittenIsAnError) {
  std::string program = package(0);
  for (const std::string &args :
       {std::string("--help"), std::string("--version"), "-n 1 " + program,
        "-n 1 --ranks=threads " + program}) {
    RunEnd full = shell("{ " + command() + args + " 2>&1 >/dev/full; }");
    EXPECT_EQ(full.status, 1) << args;
    EXPECT_CONTAINS(full.text, "iris-run: cannot write to standard output: No "
                               "space left on device");
    EXPECT_EQ(shell("{ " + command() + args + " >&-; }").status, 1) << args;
  }
  // A file opened later must not become a standard descriptor.
  EXPECT_EQ(shell("{ " + command() + "-n 2 " + program + " <&- 2>&-; }").status,
            0);
}

TEST_F(Run, HostCodeCanBeRefused) {
  RunEnd end =
      shell("IRIS_REFUSE_HOST_CODE=1 " + command() + "-n 2 " + package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "the package's @main is code that would run in "
                            "this process");
  EXPECT_CONTAINS(end.text, "IRIS_REFUSE_HOST_CODE=1");
}

TEST_F(Run, RelativeRendezvousDirectoryIsRefused) {
  RunEnd end = shell("cd " + directory + " && IRIS_RENDEZVOUS_DIR=run " +
                     command() + "-n 2 " + package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_CONTAINS(end.text, "the rendezvous directory 'run' is relative; "
                            "expected an absolute path");
}

TEST_F(Run, TheLauncherChoosesADirectoryThatAnotherUserTakes) {
  std::string name = directory + "/contested", program = package(0);
  ContestedDirectory contested(name);
  for (int job = 0; job < 10; ++job) {
    contested.awaitRound();
    RunEnd end = shell("IRIS_RENDEZVOUS_DIR=" + name + " " + command() +
                       "-n 3 " + program);
    EXPECT_EQ(end.status, 0) << job << ": " << end.text;
    shell("[ -O " + name + " ] && rmdir " + name);
  }
}

TEST_F(Run, NoRendezvousDirectoryIsReportedOnceBeforeRanksStart) {
  std::string name = directory + "/taken";
  ContestedDirectory::occupy(name);
  RunEnd end = shell("IRIS_RENDEZVOUS_DIR=" + name + " " + command() + "-n 3 " +
                     package(0));
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.text.find("iris-run: there is no usable rendezvous directory"),
            0u)
      << end.text;
  EXPECT_CONTAINS(end.text, name);
  EXPECT_EQ(end.text.find("rank 1"), std::string::npos) << end.text;
  // One rank needs none.
  EXPECT_EQ(shell("IRIS_RENDEZVOUS_DIR=" + name + " " + command() + "-n 1 " +
                  package(0))
                .status,
            0);
}

TEST_F(Run, WrongFiles) {
  EXPECT_EQ(run("-n 2 " + directory + "/nothing.pkg").status, 1);
  EXPECT_CONTAINS(run("-n 2 " + directory + "/nothing.pkg").text,
                  "cannot read");
  EXPECT_EQ(run("-n 2 " + directory).status, 1);
  std::string program = package(0);
  shell("truncate -s 1000 " + program);
  RunEnd cut = run("-n 2 " + program);
  EXPECT_EQ(cut.status, 1);
  EXPECT_CONTAINS(cut.text, "program0.pkg");
}

TEST_F(Run, CommandLine) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_CONTAINS(run("--help").text, "usage: iris-run");
  EXPECT_CONTAINS(run("--version").text, "iris-run 0.");
  for (const char *args :
       {"", "-n 0 a", "-n 65 a", "-n x a", "--device=tpu a", "--ranks=fibers a",
        "--heap=lots a", "--timeout=-1 a", "--nonsense a", "a b"})
    EXPECT_EQ(run(args).status, 1) << args;
}

TEST_F(Run, CompilesSourceFirst) {
  std::string program = package(0);
  std::string source = directory + "/a.mlir", compiler = directory + "/cc";
  std::ofstream(source) << "// source\n";
  // A stand-in for iris-compile: checks its arguments, copies a package.
  std::ofstream(compiler) << "#!/bin/sh\n"
                             "[ \"$1\" = '"
                          << source
                          << "' ] || exit 9\n"
                             "[ \"$2 $3 $4 $5\" = '--target=host "
                             "--emit=package -o -' ] || exit 8\n"
                             "cat '"
                          << program << "'\n";
  ::chmod(compiler.c_str(), 0700);
  RunEnd end =
      shell("IRIS_COMPILE=" + compiler + " " + command() + "-n 2 " + source);
  EXPECT_EQ(end.status, 0) << end.text;
  std::ofstream(compiler) << "#!/bin/sh\necho 'a.mlir:1:1: error: no' >&2\n"
                             "exit 1\n";
  RunEnd wrong =
      shell("IRIS_COMPILE=" + compiler + " " + command() + "-n 2 " + source);
  EXPECT_EQ(wrong.status, 1);
  EXPECT_CONTAINS(wrong.text, "a.mlir:1:1: error: no");
  RunEnd none = shell("IRIS_COMPILE=/nowhere " + command() + "-n 2 " + source);
  EXPECT_EQ(none.status, 1);
  EXPECT_CONTAINS(none.text, "'/nowhere' cannot be run");
}
