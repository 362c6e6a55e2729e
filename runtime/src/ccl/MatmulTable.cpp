// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTable.cpp - Table of tuned matmuls ---------------------------===//
//
// Tuned matmuls, one JSON object per line:
//
//   {"target": "sm_90a", "ranks": 8, "op": "all_gather_matmul", "shard": "k",
//    "dtype": "f16", "result": "f16", "m": 4096, "n": 3584, "k": 1024,
//    "config": {"variant": "unfused", "tile_m": 128, ...}, "us": 535.2}
//
// m, n and k have the meaning of MatmulProblem. All values are checked against
// the limits of a caller's config: a table can make a matmul slow, but not
// wrong.
#include "iris/ccl/MatmulSelector.h"

#include "ccl/EmbeddedModels.h"
#include "ccl/MatmulPlan.h"
#include "core/Files.h"
#include "core/Log.h"
#include "iris/rt/Env.h"
#include "package/JsonReader.h"

using namespace iris::ccl;
using namespace iris::rt;
using Json = nlohmann::ordered_json;

/// The maximum size of a file, for about ten thousand entries.
static constexpr uint64_t maxBytes = 4 << 20;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static const MatmulKind allKinds[] = {
    MatmulKind::matmul, MatmulKind::allGatherMatmul,
    MatmulKind::matmulAllGather, MatmulKind::matmulReduceScatter,
    MatmulKind::matmulAllReduce};
static const DType allTypes[] = {
    DType::f16,    DType::bf16,       DType::f32,
    DType::i8,     DType::i32,        DType::f8e4m3fn,
    DType::f8e5m2, DType::f8e4m3fnuz, DType::f8e5m2fnuz};

/// The element of `all` whose name is `value`.
template <typename T, size_t N, typename Name>
static T readWord(const JsonValue &value, const T (&all)[N], Name nameOf) {
  std::string text = value.string(), allowed;
  for (T each : all) {
    if (text == nameOf(each))
      return each;
    allowed += (allowed.empty() ? "" : ", ") + std::string(nameOf(each));
  }
  value.fail("is '" + text + "'; expected one of " + allowed);
  return all[0];
}

/// One of the allowed names, or "" if the key is missing.
static std::string readName(const JsonValue &object, const char *key,
                            const std::vector<std::string> &allowed) {
  if (!object.has(key))
    return "";
  std::string text = object.member(key).string(), all;
  for (const std::string &each : allowed) {
    if (text == each)
      return text;
    all += (all.empty() ? "" : ", ") + each;
  }
  object.member(key).fail("is '" + text + "'; expected one of " + all);
  return "";
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static MatmulConfig readConfig(const JsonValue &json, MatmulKind kind) {
  json.expectKeys({"variant", "tile_m", "tile_n", "tile_k", "group_m", "xcds",
                   "warps", "programs", "k_per_flag", "num_fetch_programs",
                   "tiles_per_comm_program", "split_k", "num_fetch_stages",
                   "first_stage_fetch_programs", "staged_layout", "library"});
  MatmulConfig config;
  config.variant = readName(json, "variant", variantsOf(kind));
  if (!json.has("variant"))
    (void)json.member("variant"); // reports the missing key
  config.stagedLayout =
      readName(json, "staged_layout", {"k_contiguous", "m_contiguous"});
  config.library = readName(json, "library", {"vendor"});
  for (const MatmulNumber &field : matmulNumbers)
    if (json.has(field.key().c_str()))
      config.*field.value = static_cast<int64_t>(
          json.member(field.key().c_str())
              .integer(1, static_cast<uint64_t>(field.number.most)));
  // An entry without split_k was tuned without splits.
  if (config.splitK == 0 && hasSplits(kind, config.variant))
    config.splitK = 1;
  for (const char *key : {"tile_m", "tile_n", "tile_k"})
    if (!json.has(key))
      (void)json.member(key);
  for (int64_t tile : {config.tileM, config.tileK, config.warps, config.splitK})
    if (tile != 0 && !plan::isPowerOfTwo(tile))
      json.fail("has a tile, warps or split_k of " + std::to_string(tile) +
                "; expected powers of two");
  if (!plan::isTileWidth(config.tileN))
    json.fail("has tile_n = " + std::to_string(config.tileN) +
              "; expected a power of two or a multiple of " +
              std::to_string(plan::matmulColumnUnit));
  return config;
}

static MatmulEntry readEntry(const JsonValue &json) {
  json.expectKeys({"target", "ranks", "op", "shard", "partial_type", "dtype",
                   "result", "a", "b", "m", "n", "k", "config", "us"});
  MatmulEntry entry;
  MatmulProblem &p = entry.problem;
  constexpr uint64_t most = uint64_t(1) << 24;
  entry.target = json.member("target").string();
  entry.groupSize = static_cast<uint32_t>(
      json.member("ranks").integer(1, IRISRT_MAX_ANY_GROUP));
  p.kind = readWord(json.member("op"), allKinds, kindName);
  p.element = readWord(json.member("dtype"), allTypes, dtypeName);
  p.result = readWord(json.member("result"), allTypes, dtypeName);
  p.aIsColumnMajor = readName(json, "a", {"row", "column"}) == "column";
  p.bIsColumnMajor = readName(json, "b", {"row", "column"}) == "column";
  p.m = json.member("m").integer(1, most);
  p.n = json.member("n").integer(1, most);
  p.k = json.member("k").integer(1, most);
  entry.config = readConfig(json.member("config"), p.kind);
  entry.config.shard = readName(json, "shard", {"k", "m", "n"});
  entry.config.partialType = readName(json, "partial_type", {"sum", "result"});
  p.config.shard = entry.config.shard;
  p.config.partialType = entry.config.partialType;
  fillSemantics(p);
  entry.config.shard = p.config.shard;
  entry.config.partialType = p.config.partialType;
  // For readers; nothing depends on it.
  if (json.has("us"))
    entry.us = json.member("us").number();
  return entry;
}

Expected<MatmulTable> MatmulTable::parse(const std::string &text,
                                         const std::string &name) {
  MatmulTable table;
  size_t number = 0;
  for (size_t start = 0; start < text.size();) {
    size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    ++number;
    if (line.empty() || line[0] == '#')
      continue;
    nlohmann::json json =
        nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    std::string where = formatString("%s:%zu", name.c_str(), number);
    if (json.is_discarded())
      return makeStatus(
          StatusCode::invalidArgument,
          "%s: the line is not JSON; expected one object per line",
          where.c_str());
    JsonErrors errors;
    MatmulEntry entry = readEntry(JsonValue(&json, "", errors));
    if (!errors.status().ok())
      return errors.status().withContext(where);
    table.add(entry);
  }
  return table;
}

static std::string lineOf(const MatmulEntry &entry) {
  const MatmulProblem &p = entry.problem;
  Json config;
  config["variant"] = entry.config.variant;
  for (const MatmulNumber &field : matmulNumbers)
    if (entry.config.*field.value != 0)
      config[field.key()] = entry.config.*field.value;
  if (!entry.config.stagedLayout.empty())
    config["staged_layout"] = entry.config.stagedLayout;
  if (!entry.config.library.empty())
    config["library"] = entry.config.library;
  Json json;
  json["target"] = entry.target;
  json["ranks"] = entry.groupSize;
  json["op"] = kindName(p.kind);
  json["shard"] = p.config.shard;
  if (!p.config.partialType.empty())
    json["partial_type"] = p.config.partialType;
  json["dtype"] = std::string(dtypeName(p.element));
  json["result"] = std::string(dtypeName(p.result));
  if (p.aIsColumnMajor)
    json["a"] = "column";
  if (p.bIsColumnMajor)
    json["b"] = "column";
  json["m"] = p.m;
  json["n"] = p.n;
  json["k"] = p.k;
  json["config"] = config;
  json["us"] = static_cast<double>(static_cast<int64_t>(entry.us * 100)) / 100;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

//===----------------------------------------------------------------------===//
// Lookup and files
//===----------------------------------------------------------------------===//

static bool isSame(const MatmulProblem &a, const MatmulProblem &b) {
  return a.kind == b.kind && a.m == b.m && a.n == b.n && a.k == b.k &&
         a.element == b.element && a.result == b.result &&
         a.aIsColumnMajor == b.aIsColumnMajor &&
         a.bIsColumnMajor == b.bIsColumnMajor &&
         a.config.shard == b.config.shard &&
         a.config.partialType == b.config.partialType;
}

const MatmulEntry *MatmulTable::find(const MatmulTuningKey &tuningKey) const {
  MatmulProblem wanted = tuningKey.problem;
  fillSemantics(wanted);
  for (const MatmulEntry &entry : entries_)
    if (entry.target == tuningKey.target &&
        entry.groupSize == tuningKey.groupSize && isSame(entry.problem, wanted))
      return &entry;
  return nullptr;
}

void MatmulTable::add(const MatmulEntry &given) {
  MatmulEntry entry = given;
  fillSemantics(entry.problem);
  for (MatmulEntry &old : entries_)
    if (old.target == entry.target && old.groupSize == entry.groupSize &&
        isSame(old.problem, entry.problem)) {
      old = entry;
      return;
    }
  entries_.push_back(entry);
}

std::string MatmulTable::text() const {
  std::string text;
  for (const MatmulEntry &entry : entries_)
    text += lineOf(entry);
  return text;
}

Expected<MatmulTable> MatmulTable::read(const std::string &path) {
  IRISRT_ASSIGN_OR_RETURN(std::string text,
                          readOwnFile(path, "the table", maxBytes));
  return parse(text, path);
}

Status MatmulTable::write(const std::string &path) const {
  return replaceOwnFile(path, text());
}

const MatmulTable &MatmulTable::builtIn() {
  static const MatmulTable table = [] {
    Expected<MatmulTable> read =
        parse(tunedMatmulText(), "the library's table");
    // A unit test parses it.
    if (read.ok())
      return read.take();
    Log().error("%s", read.status().message().c_str());
    return MatmulTable();
  }();
  return table;
}

const Expected<MatmulTable> &MatmulTable::fromEnvironment() {
  static const Expected<MatmulTable> table = [] {
    const std::string &path = Env::get().matmulTable();
    return path.empty() ? Expected<MatmulTable>(MatmulTable()) : read(path);
  }();
  return table;
}
