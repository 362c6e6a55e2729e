// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Container.cpp - Reader of LLVM's OffloadBinary ---------------------===//
#include "package/Container.h"

#include "package/FileKind.h"

#include "iris-c/RuntimeABI.h"

// Header-only: no run-time dependency on libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <string>

namespace iris::rt {
namespace {

// The on-disk structures of LLVM's OffloadBinary.
struct Header {
  uint8_t magic[4];
  uint32_t version;
  uint64_t size;
  uint64_t entryOffset;
  uint64_t entrySize;
};
static_assert(sizeof(Header) == 32, "OffloadBinary header");

struct Entry {
  uint16_t imageKind;
  uint16_t offloadKind;
  uint32_t flags;
  uint64_t stringOffset;
  uint64_t numStrings;
  uint64_t imageOffset;
  uint64_t imageSize;
};
static_assert(sizeof(Entry) == 40, "OffloadBinary entry");

struct StringEntry {
  uint64_t keyOffset;
  uint64_t valueOffset;
};
static_assert(sizeof(StringEntry) == 16, "OffloadBinary string entry");

constexpr uint8_t magicBytes[4] = {0x10, 0xFF, 0x10, 0xAD};
constexpr uint32_t containerVersion = 1;
constexpr uint64_t containerAlignment = 8;
/// Limits that no writer reaches.
constexpr size_t maxEntries = 1024;
constexpr uint64_t maxStrings = 64;

/// Reads one entry and checks all bounds.
class EntryReader {
public:
  EntryReader(const uint8_t *data, size_t available, size_t offset)
      : data(data), available(available), offset(offset) {}

  /// The size of the entry; valid after read() succeeded.
  size_t size() const { return entryBytes; }
  Expected<ContainerEntry> read();

private:
  Status fail(const std::string &what) const {
    return makeStatus(StatusCode::invalidArgument,
                      "package entry at byte %zu: %s", offset, what.c_str());
  }
  /// Whether [at, at + bytes) is within the entry.
  bool inside(uint64_t at, uint64_t bytes) const {
    return at <= entryBytes && bytes <= entryBytes - at;
  }
  template <typename T>
  T load(uint64_t at) const {
    T value;
    std::memcpy(&value, data + at, sizeof(T));
    return value;
  }
  /// Reports what the file is, if it does not start as packages do.
  Status checkMagic() const;
  Status readHeader();
  Status readStrings(ContainerEntry &result);
  Expected<std::string_view> readText(uint64_t at);
  Status checkUnusedBytes(uint64_t from, uint64_t to) const;

  const uint8_t *data;
  size_t available;
  size_t offset;
  size_t entryBytes = 0;
  Entry record = {};
  uint64_t textBegin = 0;
  /// One flag for each byte of the string area: some string uses it.
  std::vector<bool> used;
};

Status EntryReader::checkMagic() const {
  size_t compared = std::min(available, sizeof(magicBytes));
  if (std::memcmp(data, magicBytes, compared) == 0)
    return Status::success();
  if (offset > 0)
    return fail("it does not start with OffloadBinary's magic bytes 10 ff 10 "
                "ad");
  std::string_view file(reinterpret_cast<const char *>(data), available);
  return makeStatus(StatusCode::invalidArgument,
                    "expected a package, which iris-compile --emit=package "
                    "writes, but got %s",
                    describeFile(file).c_str());
}

Status EntryReader::readHeader() {
  IRISRT_RETURN_IF_ERROR(checkMagic());
  if (available < sizeof(Header))
    return fail(formatString("truncated: %zu bytes are left; a header has %zu",
                             available, sizeof(Header)));
  Header header = load<Header>(0);
  if (header.version != containerVersion)
    return fail(formatString("OffloadBinary version %" PRIu32
                             "; expected version %" PRIu32,
                             header.version, containerVersion));
  if (header.size > available)
    return fail(formatString("truncated: it should have %" PRIu64
                             " bytes, but only %zu are left",
                             header.size, available));
  if (header.size < sizeof(Header) + sizeof(Entry) ||
      header.size % containerAlignment != 0)
    return fail(formatString("wrong size %" PRIu64, header.size));
  entryBytes = header.size;
  if (header.entryOffset != sizeof(Header) || header.entrySize != sizeof(Entry))
    return fail("its entry record is misplaced");
  record = load<Entry>(header.entryOffset);
  return Status::success();
}

Expected<std::string_view> EntryReader::readText(uint64_t at) {
  // Null-terminated strings are between the string table and the image.
  if (at < textBegin || at >= record.imageOffset)
    return fail("a string is outside the string area");
  const char *begin = reinterpret_cast<const char *>(data + at);
  const void *end = std::memchr(begin, '\0', record.imageOffset - at);
  if (!end)
    return fail("a string is not null-terminated");
  size_t length = static_cast<const char *>(end) - begin;
  for (size_t i = 0; i <= length; ++i)
    used[at - textBegin + i] = true;
  return std::string_view(begin, length);
}

Status EntryReader::readStrings(ContainerEntry &result) {
  for (uint64_t i = 0; i < record.numStrings; ++i) {
    auto entry =
        load<StringEntry>(record.stringOffset + i * sizeof(StringEntry));
    IRISRT_ASSIGN_OR_RETURN(std::string_view key, readText(entry.keyOffset));
    IRISRT_ASSIGN_OR_RETURN(std::string_view value,
                            readText(entry.valueOffset));
    if (!result.strings.emplace(key, value).second)
      return fail("a string key occurs twice");
  }
  return Status::success();
}

Status EntryReader::checkUnusedBytes(uint64_t from, uint64_t to) const {
  for (uint64_t at = from; at < to; ++at) {
    bool isText =
        at >= textBegin && at - textBegin < used.size() && used[at - textBegin];
    if (!isText && data[at] != 0)
      return fail(formatString(
          "damaged: byte %" PRIu64 " of the entry is unused, but not 0", at));
  }
  return Status::success();
}

Expected<ContainerEntry> EntryReader::read() {
  IRISRT_RETURN_IF_ERROR(readHeader());
  if (record.flags != 0)
    return fail(formatString("unknown flags 0x%" PRIx32, record.flags));
  if (record.stringOffset != sizeof(Header) + sizeof(Entry) ||
      record.numStrings > maxStrings ||
      !inside(record.stringOffset, record.numStrings * sizeof(StringEntry)))
    return fail("its string table is outside the entry");
  textBegin = record.stringOffset + record.numStrings * sizeof(StringEntry);
  if (record.imageOffset % containerAlignment != 0 ||
      record.imageOffset < textBegin ||
      !inside(record.imageOffset, record.imageSize))
    return fail("its image is outside the entry");
  used.assign(record.imageOffset - textBegin, false);

  ContainerEntry result;
  result.imageKind = record.imageKind;
  result.offloadKind = record.offloadKind;
  result.offset = offset;
  result.image = data + record.imageOffset;
  result.imageSize = record.imageSize;
  IRISRT_RETURN_IF_ERROR(readStrings(result));
  IRISRT_RETURN_IF_ERROR(checkUnusedBytes(textBegin, record.imageOffset));
  IRISRT_RETURN_IF_ERROR(
      checkUnusedBytes(record.imageOffset + record.imageSize, entryBytes));
  return result;
}

} // namespace

Expected<std::string_view> ContainerEntry::string(std::string_view key) const {
  auto found = strings.find(key);
  if (found == strings.end())
    return makeStatus(StatusCode::invalidArgument,
                      "package entry at byte %zu has no string '%.*s'", offset,
                      static_cast<int>(key.size()), key.data());
  return found->second;
}

Expected<std::vector<ContainerEntry>> parseContainer(const uint8_t *data,
                                                     size_t size) {
  if (size == 0)
    return Status(StatusCode::invalidArgument, "the package is empty");
  std::vector<ContainerEntry> entries;
  for (size_t at = 0; at < size;) {
    if (entries.size() == maxEntries)
      return makeStatus(StatusCode::invalidArgument,
                        "the package has more than %zu entries", maxEntries);
    EntryReader reader(data + at, size - at, at);
    IRISRT_ASSIGN_OR_RETURN(ContainerEntry entry, reader.read());
    entries.push_back(std::move(entry));
    at += reader.size();
  }
  return entries;
}

std::string computeEntryHash(const ContainerEntry &entry) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  // std::map iterates in byte order of the keys, as the ABI requires.
  for (const auto &[key, value] : entry.strings) {
    if (key == IRISRT_KEY_HASH)
      continue;
    // Include the terminating null byte, which is in the buffer.
    XXH3_64bits_update(&state, key.data(), key.size() + 1);
    XXH3_64bits_update(&state, value.data(), value.size() + 1);
  }
  XXH3_64bits_update(&state, entry.image, entry.imageSize);
  return formatString("%016" PRIx64, uint64_t(XXH3_64bits_digest(&state)));
}

} // namespace iris::rt
