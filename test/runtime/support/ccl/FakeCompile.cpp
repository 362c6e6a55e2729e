// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stand-in for iris-compile in tests of the collectives: makes packages of
// StandInKernels.cpp for the requests that these kernels cover. Words in the
// request make it misbehave: "fail", "garbage", "die", "hang". Each run adds a
// line to the file that IRIS_FAKE_COMPILE_LOG names.
#include "support/PackageWriter.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>
#include <utility>

using namespace iris::rt::test;

/// The bytes of a file; "-": of standard input.
static std::string readAll(const std::string &path) {
  std::stringstream bytes;
  if (path == "-")
    bytes << std::cin.rdbuf();
  else
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

static bool contains(const std::string &text, const char *word) {
  return text.find(word) != std::string::npos;
}

/// The value of `key = ` in the request, or `otherwise`.
static std::string valueOf(const std::string &request, const std::string &key,
                           const std::string &otherwise) {
  size_t at = request.find(key + " = ");
  if (at == std::string::npos)
    return otherwise;
  at += key.size() + 3;
  return request.substr(at, request.find_first_of(",}", at) - at);
}

/// Metadata of the kernel for a line of the request.
static std::string kernelOf(const std::string &request) {
  std::istringstream words(request.substr(request.find("iris.collective")));
  std::string skip, symbol, op, word, reduction, element, size;
  words >> skip >> symbol >> op >> word;
  symbol.erase(0, 1);
  bool reduces = op == "all_reduce" || op == "reduce_scatter" || op == "reduce";
  if (reduces)
    reduction = std::exchange(word, "");
  element = word;
  if (reduces)
    words >> element;
  words >> skip >> size;
  bool staged = valueOf(request, "staged", "false") == "true";
  std::string buffer = R"("element": ")" + element + R"(", "symmetric": )" +
                       (staged ? "false" : "true") +
                       R"(, "sizes": [null], "strides": null})";
  return R"({"name": "kernel", "module": ")" + symbol + R"(", "symbol": ")" +
         op + (staged ? "_staged" : "") +
         R"(", "workgroup": [1, 1, 1], "shared_bytes": 0,
      "dynamic_shared_bytes": 0, "arena_bytes": 0, "coresident": true,
      "args_bytes": 152, "args": [
      {"kind": "context", "offset": 0},
      {"kind": "memref", "offset": 88, )" +
         buffer + R"(, {"kind": "memref", "offset": 104, )" + buffer +
         R"(, {"kind": "memref", "offset": 120, "element": "i32",
       "symmetric": true, "sizes": [null], "strides": null},
      {"kind": "scalar", "offset": 136, "element": "index"},
      {"kind": "scalar", "offset": 144, "element": "index"}],
      "hidden": [], "sites": [], "config": {"collective": ")" +
         op + R"(", )" +
         (reduces ? R"("reduction": ")" + reduction + R"(", )" : "") +
         R"("element": ")" + element + R"(", "group": )" + size +
         R"(, "variant": )" + valueOf(request, "variant", "\"push\"") +
         R"(, "tile": )" + valueOf(request, "tile", "64") +
         R"(, "programs": )" + valueOf(request, "programs", "1") +
         R"(, "staged": )" + (staged ? "true" : "false") + R"(, "in_place": )" +
         (op == "all_reduce" && !staged ? "false" : "true") +
         R"(, "workspace_bytes": 1048576, "max_count": )" +
         (staged ? "1000" : "0") + "}}";
}

static std::string metadataOf(const std::string &request) {
  std::istringstream lines(request);
  std::string kernels;
  for (std::string line; std::getline(lines, line);)
    if (contains(line, "iris.collective"))
      kernels += (kernels.empty() ? "" : ", ") + kernelOf(line);
  return R"({"kernels": [)" + kernels + "]}";
}

int main(int argc, char **argv) {
  std::string source, target, translation = "stride", output;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.rfind("--target=", 0) == 0)
      target = arg.substr(9);
    else if (arg.rfind("--translation=", 0) == 0)
      translation = arg.substr(14);
    else if (arg == "-o" && i + 1 < argc)
      output = argv[++i];
    else if (arg == "-" || arg.rfind("-", 0) != 0)
      source = arg;
  }
  if (const char *log = std::getenv("IRIS_FAKE_COMPILE_LOG"))
    std::ofstream(log, std::ios::app) << ::getpid() << "\n";
  std::string request = readAll(source);
  if (contains(request, "fail")) {
    std::cerr << "<stdin>:1:1: error: 'iris.collective' op is not to be\n";
    return 1;
  }
  if (contains(request, "die"))
    ::raise(SIGKILL);
  if (contains(request, "hang"))
    ::pause();
  std::string bytes =
      contains(request, "garbage")
          ? "no package"
          : writeEntry(kernelEntry(target, metadataOf(request),
                                   readAll(IRIS_TEST_STAND_INS), translation));
  if (output == "-")
    std::cout << bytes << std::flush;
  else
    std::ofstream(output, std::ios::binary) << bytes;
  return 0;
}
