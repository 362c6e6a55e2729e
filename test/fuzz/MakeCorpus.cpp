// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the seeds of the fuzz targets of the runtime.
#include "bootstrap/Messages.h"
#include "support/Metadata.h"
#include "support/PackageWriter.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {

class Corpus {
public:
  Corpus(const std::filesystem::path &root, const char *fuzzer)
      : folder(root / fuzzer) {
    std::filesystem::create_directories(folder);
  }

  void add(char mode, const std::string &bytes) {
    std::ofstream out(folder / ("seed-" + std::to_string(count++)),
                      std::ios::binary);
    out.put(mode);
    out << bytes;
  }

  void add(char mode, const std::vector<uint8_t> &bytes) {
    add(mode, std::string(bytes.begin(), bytes.end()));
  }

private:
  std::filesystem::path folder;
  int count = 0;
};

void makePackages(const std::filesystem::path &root) {
  Corpus corpus(root, "package");
  std::string meta = richMetadata();
  std::string host = writeEntry(kernelEntry("host", meta, "shared object"));
  std::string amd = writeEntry(kernelEntry("gfx942", meta, "object", "table"));
  std::string empty =
      writeEntry(kernelEntry("sm_90a", R"({"kernels": []})", "text"));
  std::string main = writeEntry(mainEntry("main"));
  for (char mode : {0, 1}) {
    corpus.add(mode, empty);
    corpus.add(mode, host);
    corpus.add(mode, host + amd + main);
  }
  corpus.add(2, meta);
  corpus.add(2, std::string(R"({"kernels": []})"));
}

void makeMessages(const std::filesystem::path &root) {
  Corpus corpus(root, "messages");
  MessageHeader header;
  auto add = [&](MessageKind kind, const std::vector<uint8_t> &payload) {
    header.kind = kind;
    corpus.add(2, encodeMessage(header, payload.data(), payload.size()));
  };
  Hello hello;
  hello.numRanks = 2;
  add(MessageKind::hello, encodeHello(hello));
  add(MessageKind::challenge, encodeChallenge({1, {2, 3}}));
  add(MessageKind::admitted, encodeProof(4));
  add(MessageKind::welcome, {});
  add(MessageKind::contribution, {1, 2, 3});
  add(MessageKind::result, encodeContributions({{1, 2, 3}, {}}));
  Failure failure;
  failure.reason = "it broke";
  add(MessageKind::failure, encodeFailure(failure));
  add(MessageKind::goodbye, {});
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make-corpus FOLDER\n");
    return 1;
  }
  makePackages(argv[1]);
  makeMessages(argv[1]);
  return 0;
}
