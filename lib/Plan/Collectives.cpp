// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.cpp - The table of collectives as JSON -----------------===//

#include "iris/Plan/Collectives.h"

#include "iris/Plan/CollectiveWork.h"

#include <cstdio>

using namespace irisplan;

/// "key": value, after a comma unless it is the first of an object.
static void add(std::string &text, const char *key, const std::string &value) {
  text += text.back() == '{' ? "" : ", ";
  text += '"' + std::string(key) + "\": " + value;
}

static std::string quote(std::string_view name) {
  return '"' + std::string(name) + '"';
}

static std::string asText(bool value) { return value ? "true" : "false"; }

static std::string describe(const Buffer &buffer) {
  static constexpr std::string_view chunks[] = {"none", "one", "all"};
  std::string text = "{";
  add(text, "chunks", quote(chunks[static_cast<int>(buffer.chunks)]));
  add(text, "only_on_root", asText(buffer.isOnlyOnRoot));
  add(text, "counts", asText(buffer.hasCounts));
  return text + "}";
}

static std::string asText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// `valueOf(size)` for groups of 1 to maxMembers ranks, in order.
template <typename ValueOf>
static std::string listBySize(ValueOf valueOf) {
  std::string text = "[";
  for (int64_t size = 1; size <= Workspace::maxMembers; ++size)
    text += (size == 1 ? "" : ", ") + valueOf(size);
  return text + "]";
}

/// The terms of the cost model (CollectiveWork.h).
static void addWork(std::string &text, const Collective &collective,
                    const Variant &variant) {
  add(text, "ways", listBySize([&](int64_t size) {
        return asText(getWork(variant, size).ways);
      }));
  add(text, "link_chunks", listBySize([&](int64_t size) {
        return asText(getWork(variant, size).linkChunks);
      }));
  if (usesWorkspace(variant))
    add(text, "round_bytes", listBySize([&](int64_t size) {
          return std::to_string(getRoundBytes(collective, variant, size));
        }));
}

static std::string describe(const Collective &collective,
                            const Variant &variant) {
  std::string text = "{";
  add(text, "name", quote(variant.name));
  add(text, "in_place", asText(variant.has(inPlace)));
  add(text, "staged", asText(variant.hasStagedForm()));
  add(text, "anywhere", asText(variant.has(anywhere)));
  add(text, "kernel", asText(variant.hasKernel()));
  add(text, "any_order", asText(variant.has(anyOrder)));
  add(text, "only_by_name", asText(variant.has(onlyByName)));
  add(text, "grouped", asText(variant.has(grouped)));
  add(text, "tile_bytes", std::to_string(getDefaultTileBytes(variant)));
  add(text, "warps", std::to_string(collectiveWarps.defaultValue));
  addWork(text, collective, variant);
  return text + "}";
}

std::string irisplan::listCollectivesAsJson() {
  std::string text = "[";
  for (const Collective &each : collectives) {
    std::string row = "{", variants;
    add(row, "name", quote(each.name));
    add(row, "op", quote(each.mnemonic));
    add(row, "reduces", asText(each.reduces()));
    add(row, "root", asText(each.hasRoot()));
    add(row, "point_to_point", asText(each.isPointToPoint()));
    add(row, "input", describe(each.in));
    add(row, "output", describe(each.out));
    for (const Variant &variant : each)
      variants +=
          (variants.empty() ? "\n   " : ",\n   ") + describe(each, variant);
    add(row, "variants", "[" + variants + "]");
    text += (text.size() == 1 ? "\n " : ",\n ") + row + "}";
  }
  return text + "\n]\n";
}
