// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Package.h"

#include "support/Metadata.h"
#include "support/PackageWriter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

namespace {

std::string goodPackage() {
  return writeEntry(kernelEntry("gfx942", richMetadata(), "an HSACO image")) +
         writeEntry(kernelEntry("host", richMetadata(), "a shared object")) +
         writeEntry(mainEntry("the main program"));
}

Expected<Package> read(const std::string &bytes) {
  return Package::fromBytes(bytes.data(), bytes.size());
}

/// The message of reading `bytes`, which must fail.
std::string readError(const std::string &bytes) {
  Expected<Package> package = read(bytes);
  EXPECT_FALSE(package.ok());
  return package.status().toString();
}

/// The start of an ELF file for `machine`.
std::string elfOf(char machine) {
  std::string bytes = ELFMAG;
  bytes.resize(64);
  bytes[18] = machine;
  return bytes;
}

/// The message for a package whose only image has this metadata.
std::string metaError(const std::string &meta) {
  return readError(writeEntry(kernelEntry("host", meta, "x")));
}

/// richMetadata() with `from` replaced by `to`.
std::string edited(const std::string &from, const std::string &to) {
  std::string meta = richMetadata();
  size_t at = meta.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return meta.replace(at, from.size(), to);
}

#define EXPECT_HAS(text, part)                                                 \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Package, ReadsImages) {
  Expected<Package> package = read(goodPackage());
  ASSERT_TRUE(package.ok()) << package.status().toString();
  ASSERT_EQ(package->images().size(), 3u);
  const PackageImage &image = package->images()[0];
  EXPECT_EQ(image.arch, "gfx942");
  EXPECT_EQ(image.triple, "amdgcn-amd-amdhsa");
  EXPECT_EQ(image.translation, "stride");
  EXPECT_EQ(image.abiMajor, uint32_t(IRISRT_ABI_VERSION_MAJOR));
  EXPECT_EQ(std::string(image.data, image.data + image.size), "an HSACO image");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(image.data) % 8, 0u);

  ASSERT_EQ(image.kernels.size(), 1u);
  const KernelInfo &kernel = image.kernels[0];
  EXPECT_EQ(kernel.fullName(), "kernels::k");
  EXPECT_EQ(kernel.workgroup[0], 256u);
  EXPECT_EQ(kernel.sharedBytes, 4096u);
  EXPECT_EQ(kernel.dynamicSharedBytes, 1024u);
  EXPECT_TRUE(kernel.coresident);
  EXPECT_TRUE(kernel.dependentLaunch);
  EXPECT_EQ(kernel.argsBytes, 152u);
  ASSERT_EQ(kernel.args.size(), 6u);
  EXPECT_EQ(kernel.signature(),
            "kernels::k(!iris.ctx, memref<?x?xf16, symmetric>, "
            "memref<4x?xf32, strided<[?, 1]>>, i32, i1, index)");
  EXPECT_EQ(kernel.args[1].divisibility, 16u);
  EXPECT_EQ(kernel.args[1].sizeDivisibility, (std::vector<uint64_t>{1, 8}));
  ASSERT_EQ(kernel.sites.size(), 2u);
  EXPECT_EQ(kernel.sites[0].location, "a.mlir:12:5");
  EXPECT_EQ(kernel.sites[1].what, "gathered");
  EXPECT_FALSE(kernel.sites[1].element.has_value());
  EXPECT_EQ(kernel.config, R"({"num_warps":4})");

  const PackageImage *main = package->findMain();
  ASSERT_NE(main, nullptr);
  EXPECT_TRUE(main->isMain());
  EXPECT_TRUE(main->kernels.empty());
}

TEST(Package, OutlivesItsCopies) {
  const PackageImage *image = nullptr;
  Expected<Package> kept = Status(StatusCode::internal, "none yet");
  {
    Expected<Package> package = read(goodPackage());
    ASSERT_TRUE(package.ok());
    image = &package->images()[1];
    kept = *package;
  }
  EXPECT_EQ(image->arch, "host");
  EXPECT_EQ(&kept->images()[1], image);
}

TEST(Package, FindsImages) {
  Expected<Package> package = read(goodPackage());
  ASSERT_TRUE(package.ok());
  auto found = package->findImage("host", "stride");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->arch, "host");
  found = package->findImage("sm_90a", "stride");
  ASSERT_FALSE(found.ok());
  EXPECT_HAS(found.status().message(), "gfx942 (stride), host (stride)");
  EXPECT_HAS(found.status().message(), "this device is sm_90a");
  found = package->findImage("host", "table");
  ASSERT_FALSE(found.ok());
  EXPECT_HAS(found.status().message(), "needs translation by table");
  EXPECT_FALSE(package->findImage("main", "").ok());
}

TEST(Package, FindsOlderNvidiaImages) {
  const char *meta = R"({"kernels": []})";
  std::string cubin = "\x7f"
                      "ELF...";
  Expected<Package> package =
      read(writeEntry(kernelEntry("sm_80", meta, "PTX")) +
           writeEntry(kernelEntry("sm_86", meta, cubin)) +
           writeEntry(kernelEntry("sm_89", meta, "PTX", "table")) +
           writeEntry(kernelEntry("sm_100a", meta, "PTX")));
  ASSERT_TRUE(package.ok()) << package.status().toString();
  auto find = [&](const char *target, const char *translation) {
    auto found = package->findImage(target, translation);
    return found.ok() ? std::string((*found)->arch) : "none";
  };
  EXPECT_EQ(find("sm_90a", "stride"), "sm_80"); // sm_86 is machine code
  EXPECT_EQ(find("sm_90a", "table"), "sm_89");
  EXPECT_EQ(find("sm_89", "stride"), "sm_86");
  EXPECT_EQ(find("sm_86", "stride"), "sm_86");
  EXPECT_EQ(find("sm_75", "stride"), "none");
  EXPECT_EQ(find("sm_100a", "stride"), "sm_100a");
  EXPECT_EQ(find("sm_103a", "stride"), "sm_80");
  EXPECT_EQ(find("sm_", "stride"), "none");
  EXPECT_EQ(find("gfx942", "stride"), "none");
}

TEST(Package, FindsKernels) {
  std::string two = richMetadata();
  std::string kernel = two.substr(two.find('[') + 1);
  kernel.resize(kernel.rfind(']'));
  std::string other = kernel;
  other.replace(other.find("\"kernels\""), 9, "\"more\"");
  Expected<Package> package = read(writeEntry(kernelEntry(
      "host", "{\"kernels\": [" + kernel + "," + other + "]}", "x")));
  ASSERT_TRUE(package.ok()) << package.status().toString();
  const PackageImage &image = package->images()[0];
  auto found = image.findKernel("more::k");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->module, "more");
  EXPECT_HAS(image.findKernel("k").status().message(), "several modules");
  EXPECT_HAS(image.findKernel("z").status().message(),
             "it has kernels::k, more::k");

  package = read(goodPackage());
  ASSERT_TRUE(package.ok());
  EXPECT_TRUE(package->images()[0].findKernel("k").ok());
  EXPECT_FALSE(package->images()[2].findKernel("k").ok());
}

TEST(Package, RefusesEveryTruncation) {
  std::string good = goodPackage();
  std::string first =
      writeEntry(kernelEntry("gfx942", richMetadata(), "an HSACO image"));
  std::string second =
      writeEntry(kernelEntry("host", richMetadata(), "a shared object"));
  for (size_t size = 0; size < good.size(); ++size) {
    // A package that is cut between two entries is a smaller, valid package.
    bool whole = size == first.size() || size == first.size() + second.size();
    EXPECT_EQ(read(good.substr(0, size)).ok(), whole) << "at " << size;
  }
}

TEST(Package, RefusesEveryFlippedBit) {
  std::string good =
      writeEntry(kernelEntry("gfx942", richMetadata(), "an HSACO image"));
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] ^= char(1 << bit);
      EXPECT_FALSE(read(bad).ok()) << "byte " << at << ", bit " << bit;
    }
  }
}

TEST(Package, RefusesEveryChangedByte) {
  std::string good =
      writeEntry(kernelEntry("sm_90a", R"({"kernels": []})", "some PTX"));
  for (size_t at = 0; at < good.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string bad = good;
      bad[at] = char(value);
      if (bad != good) {
        EXPECT_FALSE(read(bad).ok()) << "byte " << at << " = " << value;
      }
    }
  }
}

TEST(Package, RefusesHugeNumbers) {
  std::string good = goodPackage();
  // Every aligned 8-byte field of header, entry and string table.
  for (size_t at = 8; at < 72 + 6 * 16; at += 8) {
    for (uint64_t value :
         {~uint64_t(0), ~uint64_t(0) - 7, uint64_t(1) << 63, uint64_t(1) << 60,
          uint64_t(1) << 32, uint64_t(good.size()), uint64_t(0)}) {
      std::string bad = good;
      std::memcpy(&bad[at], &value, sizeof(value));
      if (bad != good) {
        EXPECT_FALSE(read(bad).ok()) << "field " << at << " = " << value;
      }
    }
  }
}

TEST(Package, RefusesOtherFiles) {
  EXPECT_HAS(readError(""), "empty");
  EXPECT_HAS(readError(goodPackage().substr(0, 3)), "truncated");
  EXPECT_HAS(readError("text\r\n"), "expected a package, which iris-compile "
                                    "--emit=package writes, but got text;");
  EXPECT_HAS(readError(std::string(4095, 'x') + "\xc3\xa4"), "got text;");
  EXPECT_HAS(readError("// PTX\n.version 8.0\n.target sm_80\n"), "got PTX;");
  EXPECT_HAS(readError(elfOf(224)), "got an AMD code object (HSACO);");
  EXPECT_HAS(readError(elfOf(190)), "got a cubin;");
  EXPECT_HAS(readError(elfOf(62)), "got an object or program of a CPU;");
  EXPECT_HAS(readError(ELFMAG), "got a truncated ELF file");
  EXPECT_HAS(readError("ML\xefR"), "got MLIR bytecode;");
  EXPECT_HAS(readError(std::string(100, '\1')),
             "got data that do not start with the bytes 10 ff 10 ad");
  std::string newer = goodPackage();
  newer[4] = 2;
  EXPECT_HAS(readError(newer), "OffloadBinary version 2; expected version 1");
  EXPECT_HAS(readError(goodPackage() + std::string(64, '\0')), "magic");
}

TEST(Package, ComparesVersions) {
  auto withVersion = [](const std::string &version) {
    EntrySpec spec = kernelEntry("host", richMetadata(), "x");
    spec.strings[IRISRT_KEY_ABI] = version;
    return writeEntry(spec);
  };
  int major = IRISRT_ABI_VERSION_MAJOR, minor = IRISRT_ABI_VERSION_MINOR;
  std::string own = abiVersion();
  for (int older = 0; older <= minor; ++older)
    EXPECT_TRUE(
        read(withVersion(std::to_string(major) + "." + std::to_string(older)))
            .ok());
  for (std::string other :
       {std::to_string(major) + "." + std::to_string(minor + 1),
        std::to_string(major + 1) + ".0", std::to_string(major - 1) + ".0"}) {
    std::string error = readError(withVersion(other));
    EXPECT_HAS(error, "ABI version " + other + ",");
    EXPECT_HAS(error, "version " + own + ";");
  }
  for (std::string bad : {"", "1", "1.", ".0", "1.0 ", " 1.0", "01.0", "1.0.0",
                          "1.-1", "99999999999.0", "x"})
    EXPECT_HAS(readError(withVersion(bad)), "is not an ABI version");
}

/// Written by version 1.0 and never regenerated: every later 1.x must read it.
TEST(Package, ReadsTheOldestVersion) {
  Expected<Package> package = Package::fromFile(IRIS_TEST_DATA "/abi-1.0.iris");
  ASSERT_TRUE(package.ok()) << package.status().toString();
  ASSERT_EQ(package->images().size(), 3u);
  EXPECT_EQ(package->images()[0].abiMinor, 0u);
  auto image = package->findImage("gfx942", "stride");
  ASSERT_TRUE(image.ok());
  auto kernel = (*image)->findKernel("kernels::k");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->args.size(), 6u);
  EXPECT_NE(package->findMain(), nullptr);
}

TEST(Package, RefusesMissingStrings) {
  for (std::string key : {"triple", "arch", IRISRT_KEY_ABI, IRISRT_KEY_META,
                          IRISRT_KEY_TRANSLATION}) {
    EntrySpec spec = kernelEntry("host", richMetadata(), "x");
    spec.strings.erase(key);
    EXPECT_HAS(readError(writeEntry(spec)), "no string '" + key + "'");
  }
  EntrySpec spec = kernelEntry("host", richMetadata(), "x");
  spec.addHash = false;
  EXPECT_HAS(readError(writeEntry(spec)), "no string 'iris.hash'");
  EXPECT_HAS(readError(writeEntry(kernelEntry("host", richMetadata(), ""))),
             "empty");
  EXPECT_HAS(
      readError(writeEntry(kernelEntry("host", richMetadata(), "x", "magic"))),
      "unknown translation 'magic'");
  std::string one = writeEntry(kernelEntry("host", richMetadata(), "x"));
  EXPECT_HAS(readError(one + one), "two images for host");
}

TEST(Package, ChecksMetadata) {
  EXPECT_HAS(metaError(""), "not valid JSON");
  EXPECT_HAS(metaError("{"), "not valid JSON");
  EXPECT_HAS(metaError("[]"), "should be an object");
  EXPECT_HAS(metaError("{}"), "'kernels' is missing");
  EXPECT_HAS(metaError(R"({"kernels": 1})"), "should be an array");
  EXPECT_HAS(metaError(std::string(100000, '[')), "nests deeper than");
  EXPECT_HAS(metaError(R"({"kernels": [1]})"), "should be an object");
  EXPECT_HAS(metaError(edited("\"symbol\": \"k\"", "\"symbol\": \"\"")),
             "'kernels[0].symbol' is empty");
  EXPECT_HAS(metaError(edited("\"symbol\": \"k\"", "\"symbol\": \"\\u0000\"")),
             "null character");
  EXPECT_HAS(metaError(edited("[256, 1, 1]", "[256, 1]")), "3 elements");
  EXPECT_HAS(metaError(edited("[256, 1, 1]", "[256, 5, 1]")), "1280 threads");
  EXPECT_HAS(metaError(edited("[256, 1, 1]", "[0, 1, 1]")), "from 1 to");
  EXPECT_HAS(metaError(edited("4096", "-1")), "shared_bytes");
  EXPECT_HAS(metaError(edited("4096", "1e99")), "shared_bytes");
  EXPECT_HAS(metaError(edited("1024", "8192")), "dynamic_shared_bytes");
  EXPECT_HAS(metaError(edited("true,", "1,")), "should be true or false");
  EXPECT_HAS(metaError(edited("\"coresident\"", "\"cores\"")), "unknown key");
  EXPECT_HAS(metaError(edited("\"kind\": \"context\"", "\"kind\": \"what\"")),
             "expected context, memref or scalar");
  EXPECT_HAS(metaError(edited("\"f16\"", "\"f17\"")), "not an element type");
  EXPECT_HAS(metaError(edited("\"offset\": 112", "\"offset\": 120")),
             "the layout rules give 112");
  EXPECT_HAS(metaError(edited("\"args_bytes\": 152", "\"args_bytes\": 151")),
             "the arguments take 152");
  EXPECT_HAS(metaError(edited("[4, null]", "[-4, null]")), "negative");
  EXPECT_HAS(metaError(edited("[4, null]", "[1,1,1,1,1,1,1]")), "at most 6");
  EXPECT_HAS(metaError(edited("\"strides\": [null, 1]", "\"strides\": [1]")),
             "one element per size");
  EXPECT_HAS(metaError(edited("\"sizes\": [1, 8]", "\"sizes\": [8]")),
             "should have 2 elements");
  EXPECT_HAS(metaError(edited("\"sizes\": [1, 8]", "\"sizes\": [0, 8]")),
             "from 1 to");
  std::string meta = richMetadata();
  std::string kernel = meta.substr(meta.find('[') + 1);
  kernel.resize(kernel.rfind(']'));
  EXPECT_HAS(metaError("{\"kernels\": [" + kernel + "," + kernel + "]}"),
             "same name");
}

/// The rich metadata with `hidden` after its arguments, which end at 152.
static std::string withHidden(const std::string &hidden) {
  std::string meta = edited("\"args_bytes\": 152", "\"args_bytes\": 384");
  size_t at = meta.find("\"hidden\": []");
  return meta.replace(at, std::strlen("\"hidden\": []"),
                      "\"hidden\": [" + hidden + "]");
}

TEST(Package, ReadsHiddenArguments) {
  const std::string mask = R"({"kind": "tensor_map_mask", "offset": 152})";
  const std::string map = R"({"kind": "tensor_map", "offset": 256, "arg": 1,
      "contiguous": 1, "box": [64, 128], "swizzle": 128, "ranks": true})";
  Expected<Package> package = read(writeEntry(
      kernelEntry("host", withHidden(mask + "," + map), "an image")));
  ASSERT_TRUE(package.ok()) << package.status().toString();
  const auto &hidden = package->images()[0].kernels[0].hidden;
  ASSERT_EQ(hidden.size(), 2u);
  EXPECT_EQ(hidden[0].kind, HiddenArgInfo::Kind::tensorMapMask);
  EXPECT_EQ(hidden[0].offset, 152u);
  EXPECT_EQ(hidden[1].kind, HiddenArgInfo::Kind::tensorMap);
  EXPECT_EQ(hidden[1].offset, 256u);
  EXPECT_EQ(hidden[1].arg, 1u);
  EXPECT_EQ(hidden[1].contiguous, 1u);
  EXPECT_EQ(hidden[1].box[1], 128u);
  EXPECT_EQ(hidden[1].swizzle, 128u);
  EXPECT_TRUE(hidden[1].ranks);

  // A future kind: the package loads, launches fail.
  EXPECT_TRUE(read(writeEntry(kernelEntry(
                       "host", withHidden(R"({"kind": "sampler", "x": 1})"),
                       "an image")))
                  .ok());

  auto error = [&](std::string from, const std::string &to) {
    std::string text = mask + "," + map;
    return metaError(
        withHidden(text.replace(text.find(from), from.size(), to)));
  };
  EXPECT_HAS(error("\"offset\": 152", "\"offset\": 144"), "take 152");
  EXPECT_HAS(error("\"offset\": 152", "\"offset\": 156"), "multiple of 8");
  EXPECT_HAS(error("\"offset\": 256", "\"offset\": 192"), "multiple of 128");
  EXPECT_HAS(error("\"offset\": 256", "\"offset\": 384"), "128 bytes");
  EXPECT_HAS(error("\"arg\": 1", "\"arg\": 0"), "memref of two dimensions");
  EXPECT_HAS(error("\"arg\": 1", "\"arg\": 99"), "memref of two dimensions");
  EXPECT_HAS(error("[64, 128]", "[64, 257]"), "from 1 to");
  EXPECT_HAS(error("[64, 128]", "[64]"), "2 elements");
  EXPECT_HAS(error("\"swizzle\": 128", "\"swizzle\": 96"), "32, 64 or 128");
  EXPECT_HAS(error("\"contiguous\": 1", "\"contiguous\": 2"), "from 0 to");
  EXPECT_HAS(metaError(withHidden(map)), "one mask");
  EXPECT_HAS(metaError(withHidden(mask + "," + mask + "," + map)), "one mask");
}

TEST(Package, ReadsOverlaps) {
  auto withOverlaps = [](const std::string &overlaps) {
    return edited("\"hidden\": []",
                  "\"hidden\": [], \"overlaps\": " + overlaps);
  };
  Expected<Package> package = read(writeEntry(kernelEntry(
      "host",
      withOverlaps(R"({"disjoint": [[1, 2]], "same_or_disjoint": [[2, 1]]})"),
      "an image")));
  ASSERT_TRUE(package.ok()) << package.status().toString();
  const auto &overlaps = package->images()[0].kernels[0].overlaps;
  ASSERT_EQ(overlaps.size(), 2u);
  EXPECT_EQ(overlaps[0].first, 1u);
  EXPECT_EQ(overlaps[0].second, 2u);
  EXPECT_FALSE(overlaps[0].same);
  EXPECT_EQ(overlaps[1].first, 2u);
  EXPECT_TRUE(overlaps[1].same);

  EXPECT_HAS(metaError(withOverlaps("[]")), "should be an object");
  EXPECT_HAS(metaError(withOverlaps(R"({"other": []})")), "unknown key");
  EXPECT_HAS(metaError(withOverlaps(R"({"disjoint": [[1]]})")), "2 elements");
  EXPECT_HAS(metaError(withOverlaps(R"({"disjoint": [[1, 3]]})")),
             "should name a memref");
  EXPECT_HAS(metaError(withOverlaps(R"({"disjoint": [[99, 1]]})")),
             "should name a memref");
  EXPECT_HAS(metaError(withOverlaps(R"({"disjoint": [[-1, 1]]})")),
             "from 0 to");
}

TEST(Package, ReadsWhatBoundsACollective) {
  auto kernelOf = [](const std::string &config) {
    Expected<Package> package = read(writeEntry(kernelEntry(
        "host", edited(R"({"num_warps": 4})", config), "an image")));
    EXPECT_TRUE(package.ok()) << package.status().toString();
    return package->images()[0].kernels[0];
  };
  KernelInfo plain = kernelOf(R"({"programs": 4, "group": 2})");
  EXPECT_FALSE(plain.groupSize.has_value());
  EXPECT_FALSE(plain.maxPrograms.has_value());
  KernelInfo collective =
      kernelOf(R"({"collective": "barrier", "group": 8, "programs": 32})");
  EXPECT_EQ(collective.groupSize, 8u);
  EXPECT_EQ(collective.maxPrograms, 32u);
  KernelInfo open = kernelOf(R"({"collective": "barrier", "group": 0})");
  EXPECT_EQ(open.groupSize, 0u);
  EXPECT_FALSE(open.maxPrograms.has_value());
  for (const char *programs : {"0", "-1", "2147483648", "\"4\""})
    EXPECT_HAS(metaError(edited(R"({"num_warps": 4})",
                                R"({"collective": "barrier", "group": 8,
                                    "programs": )" +
                                    std::string(programs) + "}")),
               "config.programs");
}

TEST(Package, ComparesBytes) {
  Expected<Package> one = read(goodPackage()), two = read(goodPackage());
  EXPECT_TRUE(*one == *two);
  EXPECT_TRUE(*one == Package(*one));
  Expected<Package> shorter =
      read(writeEntry(kernelEntry("gfx942", richMetadata(), "an HSACO image")));
  Expected<Package> other =
      read(writeEntry(kernelEntry("gfx942", richMetadata(), "an HSACO imagE")));
  EXPECT_TRUE(*one != *shorter);
  EXPECT_TRUE(*other != *shorter);
}

TEST(Package, ReadsFiles) {
  char name[] = "/tmp/iris-package-test-XXXXXX";
  int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  std::string good = goodPackage();
  ASSERT_EQ(write(fd, good.data(), good.size()), ssize_t(good.size()));
  Expected<Package> package = Package::fromFile(name);
  EXPECT_TRUE(package.ok()) << package.status().toString();

  // A sparse file with a huge size is rejected before it is read.
  ASSERT_EQ(ftruncate(fd, off_t(Package::maxBytes) + 1), 0);
  EXPECT_HAS(Package::fromFile(name).status().message(), "at most");
  close(fd);
  unlink(name);

  EXPECT_HAS(Package::fromFile(name).status().message(), "cannot open");
  EXPECT_HAS(Package::fromFile("/dev/zero").status().message(),
             "not a regular file");
  EXPECT_HAS(Package::fromFile("/tmp").status().message(),
             "not a regular file");
  ASSERT_EQ(mkfifo(name, 0600), 0);
  EXPECT_HAS(Package::fromFile(name).status().message(), "not a regular file");
  unlink(name);
}

} // namespace
