// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's own table of tuned products: what `iris-bench --tune` wrote.
// All entries were measured on the device that they name.  There are none for
// AMD GPUs, on which nothing has run: configs for those come from the model
// (MatmulModel.cpp), whose numbers are published peak rates and counts of
// instructions in machine code.
#include "core/Log.h"
#include "iris/ccl/MatmulSelector.h"

using namespace iris::ccl;
using namespace iris::rt;

static const char lines[] = R"(
)";

const MatmulTable &MatmulTable::builtIn() {
  static const MatmulTable table = [] {
    Expected<MatmulTable> read = parse(lines, "the library's table");
    if (read.ok())
      return read.take();
    Log().error("%s", read.status().message().c_str());
    return MatmulTable();
  }();
  return table;
}
