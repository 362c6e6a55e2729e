// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Picture.cpp - What an execution did, to look at --------------------===//
#include "iris/Interpreter/Picture.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Programs in the order of ranks, launches and block indices.
struct Lanes {
  Lanes(ArrayRef<PictureMark> marks) {
    for (const PictureMark &mark : marks)
      if (!llvm::is_contained(programs, mark.program)) {
        programs.push_back(mark.program);
        names.push_back(mark.lane);
      }
    SmallVector<size_t> order =
        llvm::to_vector(llvm::seq<size_t>(0, programs.size()));
    llvm::sort(order, [&](size_t a, size_t b) {
      auto key = [&](size_t n) {
        const ProgramId &id = programs[n];
        return std::make_tuple(id.rank, id.launch, id.block);
      };
      return key(a) < key(b);
    });
    std::vector<ProgramId> sorted;
    std::vector<std::string> sortedNames;
    for (size_t n : order) {
      sorted.push_back(programs[n]);
      sortedNames.push_back(names[n]);
    }
    programs = std::move(sorted);
    names = std::move(sortedNames);
  }
  size_t of(const PictureMark &mark) const {
    return llvm::find(programs, mark.program) - programs.begin();
  }

  std::vector<ProgramId> programs;
  std::vector<std::string> names;
};
} // namespace

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

static constexpr int laneWidth = 190, rowHeight = 26, top = 76, left = 24;

static std::string escape(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  llvm::printHTMLEscaped(text, os);
  return result;
}

/// "file.mlir:34:5" of "dir/file.mlir:34:5".
static StringRef withoutFolder(StringRef location) {
  return location.drop_front(location.rfind('/') + 1);
}

/// "signal :34" of "iris.signal" at "dir/file.mlir:34:5".
static std::string labelOf(const PictureMark &mark) {
  auto [file, rest] = StringRef(mark.location).rsplit(':');
  StringRef line = file.rsplit(':').second;
  return (StringRef(mark.op).rsplit('.').second + (line.empty() ? "" : " :") +
          line)
      .str();
}

std::string mlir::iris::drawImage(const Picture &picture, size_t most) {
  const size_t omitted =
      picture.marks.size() > most ? picture.marks.size() - most : 0;
  ArrayRef<PictureMark> marks =
      ArrayRef<PictureMark>(picture.marks).drop_front(omitted);
  const Lanes lanes(marks);
  auto x = [&](const PictureMark &mark) {
    return left + static_cast<int>(lanes.of(mark)) * laneWidth;
  };
  auto y = [](size_t row) {
    return top + static_cast<int>(row) * rowHeight + rowHeight / 2;
  };
  const int width = left + laneWidth * std::max<int>(lanes.names.size(), 3),
            height = top + rowHeight * static_cast<int>(marks.size()) + 20;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width
     << "\" height=\"" << height << "\" viewBox=\"0 0 " << width << " "
     << height << "\" font-family=\"sans-serif\" font-size=\"12\">\n"
     << "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
        "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 8 "
        "4 0 8z\" fill=\"#2a6f97\"/></marker></defs>\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
     << "<text x=\"8\" y=\"18\" font-weight=\"bold\">" << escape(picture.title)
     << "</text>\n";
  if (omitted != 0)
    os << "<text x=\"8\" y=\"34\" fill=\"#666\">without the first " << omitted
       << " ops</text>\n";
  for (auto [n, name] : llvm::enumerate(lanes.names)) {
    const int at = left + static_cast<int>(n) * laneWidth;
    auto [program, kernel] = StringRef(name).split(" of ");
    os << "<text x=\"" << at - 12 << "\" y=\"54\">" << escape(program)
       << "</text><text x=\"" << at - 12 << "\" y=\"68\" fill=\"#666\">"
       << escape(kernel) << "</text>\n<line x1=\"" << at << "\" y1=\"" << top
       << "\" x2=\"" << at << "\" y2=\"" << height - 10
       << "\" stroke=\"#ccc\"/>\n";
  }
  for (const PictureArrow &arrow : picture.arrows) {
    if (arrow.from < omitted || arrow.to < omitted)
      continue;
    const size_t from = arrow.from - omitted, to = arrow.to - omitted;
    os << "<line x1=\"" << x(marks[from]) << "\" y1=\"" << y(from) << "\" x2=\""
       << x(marks[to]) << "\" y2=\"" << y(to) - 5
       << "\" stroke=\"#2a6f97\" marker-end=\"url(#head)\"/>\n";
  }
  std::optional<size_t> faulty;
  for (auto [row, mark] : llvm::enumerate(marks)) {
    if (mark.faulty && faulty)
      os << "<line x1=\"" << x(marks[*faulty]) << "\" y1=\"" << y(*faulty)
         << "\" x2=\"" << x(mark) << "\" y2=\"" << y(row)
         << "\" stroke=\"#c1121f\" stroke-width=\"2\" "
            "stroke-dasharray=\"6 4\"/>\n";
    if (mark.faulty)
      faulty = row;
  }
  for (auto [row, mark] : llvm::enumerate(marks)) {
    StringRef color = mark.faulty ? "#c1121f" : "#333";
    os << "<circle cx=\"" << x(mark) << "\" cy=\"" << y(row)
       << "\" r=\"5\" stroke=\"" << color << "\" fill=\""
       << (mark.blocked ? "#fff" : color) << "\"><title>" << escape(mark.op)
       << " at " << escape(withoutFolder(mark.location))
       << "</title></circle><text x=\"" << x(mark) + 10 << "\" y=\""
       << y(row) + 4 << "\" fill=\"" << color << "\">" << escape(labelOf(mark))
       << (mark.blocked ? ": waits" : "") << "</text>\n";
  }
  os << "</svg>\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Perfetto
//===----------------------------------------------------------------------===//

std::string mlir::iris::drawTrace(const Picture &picture) {
  const Lanes lanes(picture.marks);
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  auto begin = [&](StringRef phase, StringRef name, uint64_t rank,
                   uint64_t lane) {
    json.attribute("ph", phase);
    json.attribute("name", name);
    json.attribute("pid", rank);
    json.attribute("tid", lane);
  };
  auto nameIs = [&](StringRef what, const std::string &name, uint64_t rank,
                    uint64_t lane) {
    json.object([&] {
      begin("M", what, rank, lane);
      json.attributeObject("args", [&] { json.attribute("name", name); });
    });
  };
  auto flow = [&](StringRef phase, uint64_t id, uint32_t n) {
    const PictureMark &mark = picture.marks[n];
    json.object([&] {
      begin(phase, "happens before", mark.program.rank, lanes.of(mark));
      json.attribute("cat", "order");
      json.attribute("id", id);
      json.attribute("ts", n);
      json.attribute("bp", "e");
    });
  };
  json.object([&] {
    json.attributeArray("traceEvents", [&] {
      for (auto [lane, id] : llvm::enumerate(lanes.programs)) {
        nameIs("process_name", "rank " + std::to_string(id.rank), id.rank, 0);
        nameIs("thread_name", lanes.names[lane], id.rank, lane);
      }
      for (size_t n = 0; n < picture.marks.size(); ++n) {
        const PictureMark &mark = picture.marks[n];
        json.object([&] {
          begin("X", mark.op, mark.program.rank, lanes.of(mark));
          json.attribute("ts", n);
          json.attribute("dur", 1);
          json.attributeObject("args", [&] {
            json.attribute("at", mark.location);
            if (mark.blocked)
              json.attribute("waits", true);
            if (mark.faulty)
              json.attribute("error", picture.title);
          });
        });
      }
      for (auto [id, arrow] : llvm::enumerate(picture.arrows)) {
        flow("s", id, arrow.from);
        flow("f", id, arrow.to);
      }
    });
  });
  os << "\n";
  return text;
}
