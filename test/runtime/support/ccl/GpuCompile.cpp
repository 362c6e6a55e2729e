// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// iris-compile for the fake GPUs, which run code of the host: the compiler that
// IRIS_TEST_COMPILER names compiles for the host, and the package is then one
// for the target that was asked for.
#include "package/Container.h"
#include "support/PackageWriter.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>

using namespace iris::rt;
using namespace iris::rt::test;

/// The output of a command; "" if it fails.
static std::string outputOf(const std::string &command) {
  FILE *pipe = ::popen(command.c_str(), "r");
  if (!pipe)
    return "";
  std::string bytes;
  std::array<char, 4096> block = {};
  while (size_t read = std::fread(block.data(), 1, block.size(), pipe))
    bytes.append(block.data(), read);
  return ::pclose(pipe) == 0 ? bytes : "";
}

int main(int argc, char **argv) {
  std::string target, translation = "stride", output = "-";
  std::string command = "'" IRIS_TEST_COMPILER "' -o - --target=host";
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "-o" && i + 1 < argc) {
      output = argv[++i];
      continue;
    }
    if (arg.rfind("--target=", 0) == 0) {
      target = arg.substr(9);
      continue;
    }
    if (arg.rfind("--translation=", 0) == 0)
      translation = arg.substr(14);
    command += " '" + arg + "'";
  }
  const std::string compiled = outputOf(command);
  auto entries = parseContainer(
      reinterpret_cast<const uint8_t *>(compiled.data()), compiled.size());
  if (!entries.ok() || entries->size() != 1) {
    std::cerr << "no package from: " << command << "\n";
    return 1;
  }
  const ContainerEntry &entry = entries->front();
  const std::string image(reinterpret_cast<const char *>(entry.image),
                          entry.imageSize);
  const std::string meta(entry.strings.at(IRISRT_KEY_META));
  const std::string bytes =
      writeEntry(kernelEntry(target, meta, image, translation));
  if (output == "-")
    std::cout << bytes << std::flush;
  else
    std::ofstream(output, std::ios::binary) << bytes;
  return 0;
}
