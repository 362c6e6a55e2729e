// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLanguage.cpp - The table of the portable kernel language -----===//

#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// Ops of one dialect with the same types.
struct Row {
  StringLiteral dialect;
  /// Names without the dialect, separated by spaces.
  StringLiteral ops;
  uint32_t shapes;
  uint32_t elements;
  StringLiteral note = "";
};
} // namespace

static constexpr Row rows[] = {
    //===--- iris, tile ---------------------------------------------------===//
    {"iris", "rank num_ranks group_size group_index group_member trace",
     OnScalars, EltIndex},
    {"iris", "translate", OnScalars | OnBuffers, EltAny},
    {"iris", "load store packet_store packet_load atomic_cas",
     OnScalars | OnTiles | OnBuffers, EltStored | EltIndex,
     "`index` for offsets and ranks"},
    {"iris", "gather scatter get put copy atomic_rmw",
     OnScalars | OnTiles | OnBuffers, EltAny,
     "`i1` for masks, `index` for offsets, coordinates and ranks"},
    {"iris", "signal wait", OnScalars | OnBuffers, EltI32 | EltI64 | EltIndex,
     "`index` for offsets and ranks"},
    {"iris", "barrier", OnBuffers, EltI32},
    {"iris", "fence", 0, 0},
    {"iris", "expect_eq", OnScalars | OnTiles, EltAny,
     "in kernels with an argument of type `!iris.ctx`"},
    {"iris", "check", OnScalars, EltIndex,
     "a failure ends the program and fails the world"},
    {"tile", "load store", OnScalars | OnTiles | OnBuffers,
     EltStored | EltIndex, "`index` for offsets"},
    {"tile", "gather scatter", OnScalars | OnTiles | OnBuffers, EltAny,
     "`i1` for masks, `index` for coordinates"},
    {"tile", "range", OnTiles, EltI32 | EltI64 | EltIndex},
    {"tile", "expand_dims broadcast transpose convert_layout", OnTiles, EltAny},
    {"tile", "reduce", OnScalars | OnTiles, EltStored,
     "`i1` by `arith.extui`, `index` by `arith.index_cast`"},
    {"tile", "matmul", OnScalars | OnTiles | OnBuffers,
     EltI8 | EltI32 | EltFloatsTo32 | EltIndex,
     "`index` for offsets and k; f8 by `as` in buffers of i8, where the "
     "target's matrix instructions have the type"},
    {"tile", "yield", OnScalars | OnBuffers, EltStored | EltIndex,
     "`index` for offsets"},

    //===--- gpu, func ----------------------------------------------------===//
    {"gpu", "module func return", OnScalars | OnBuffers, EltAny,
     "a kernel takes `!iris.ctx`, memrefs and scalars, and declares no "
     "workgroup or private memory"},
    {"gpu", "block_id grid_dim", OnScalars, EltIndex},
    {"gpu", "barrier", 0, 0, "the compiler adds those that are needed"},
    {"func", "func call return", OnAny, EltAnyF8,
     "functions of one block in the kernel's `gpu.module`; they are inlined"},

    //===--- arith --------------------------------------------------------===//
    {"arith", "constant", OnNumbers, EltAnyF8,
     "a tile has the same value in all its elements"},
    {"arith", "select", OnNumbers, EltAnyF8},
    {"arith", "addi andi cmpi maxsi maxui minsi minui muli ori subi xori",
     OnNumbers, EltAllIntegers},
    {"arith",
     "ceildivsi ceildivui divsi divui floordivsi remsi remui shli shrsi shrui",
     OnNumbers, EltIntegers},
    {"arith", "addui_extended mulsi_extended mului_extended",
     OnScalars | OnVectors, EltInts | EltI1,
     "products of tiles: extend to i64, `arith.muli`"},
    {"arith", "extsi extui trunci", OnNumbers, EltInts | EltI1},
    {"arith", "index_cast index_castui", OnNumbers, EltAllIntegers},
    {"arith", "addf divf maximumf maxnumf minimumf minnumf mulf negf subf",
     OnNumbers, EltFloats},
    {"arith", "cmpf", OnNumbers, EltFloats | EltI1},
    {"arith", "extf truncf", OnNumbers, EltFloats | EltF8,
     "to nearest even; `truncf` to f8 saturates"},
    {"arith", "fptosi fptoui sitofp uitofp", OnNumbers, EltFloats | EltInts},
    {"arith", "bitcast", OnNumbers, EltInts | EltFloats | EltF8,
     "f8 from and to i8"},

    //===--- math (docs/reference/math.md)
    //------------------------------------------===//
    {"math",
     "acos asin atan atan2 cbrt cos erf erfc exp exp2 expm1 log log1p log2 "
     "powf sin tanh",
     OnNumbers, EltFloatsTo32},
    {"math", "absf ceil copysign floor round roundeven rsqrt sqrt trunc",
     OnNumbers, EltFloats},
    {"math", "fma", OnScalars | OnTiles, EltFloats,
     "`vector.fma` is for vectors"},
    {"math", "isfinite isnan", OnNumbers, EltFloats | EltI1},
    {"math", "absi ctlz ctpop cttz", OnNumbers, EltIntegers},

    //===--- Control flow -------------------------------------------------===//
    {"scf", "condition for if while yield", OnAny, EltAnyF8,
     "no value of theirs is a buffer of `memref.alloca`: index one of [2, "
     "...]"},
    {"scf", "execute_region index_switch", OnScalars | OnBuffers, EltAny},

    //===--- Buffers ------------------------------------------------------===//
    {"memref", "load store", OnScalars | OnBuffers, EltAny},
    {"memref", "dim", OnScalars | OnBuffers, EltAny,
     "of a dimension that the buffer has"},
    {"memref", "alloca", OnScalars | OnBuffers, EltInts | EltFloats,
     "of a static shape; memory of the program"},
    {"memref",
     "assume_alignment cast collapse_shape expand_shape "
     "extract_aligned_pointer_as_index extract_strided_metadata "
     "reinterpret_cast subview transpose view",
     OnScalars | OnBuffers, EltAny, "strided layouts"},
    {"memref", "memory_space_cast", OnScalars | OnBuffers, EltAny,
     "from `#iris.symmetric` or `#iris.peer` to no memory space"},
    {"affine", "apply for if max min yield", OnNumbers | OnBuffers, EltAny,
     "maps divide by positive constants"},
    {"affine", "load store", OnScalars | OnBuffers, EltAny,
     "maps divide by positive constants"},

    //===--- Tiles and vectors --------------------------------------------===//
    {"tensor", "splat", OnScalars | OnTiles, EltAnyF8},
    {"vector",
     "broadcast extract from_elements insert shuffle extract_strided_slice "
     "insert_strided_slice",
     OnScalars | OnVectors, EltInVectors},
    {"vector", "fma", OnVectors, EltFloats & ~EltBF16},
    {"vector", "load store", OnScalars | OnVectors | OnBuffers,
     (EltStored & ~EltBF16) | EltIndex},
};

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> splitNames(StringRef names) {
  SmallVector<StringRef> parts;
  names.split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return parts;
}

static const llvm::StringMap<KernelOp> &getTable() {
  static const llvm::StringMap<KernelOp> table = [] {
    llvm::StringMap<KernelOp> map;
    for (const Row &row : rows)
      for (StringRef name : splitNames(row.ops))
        map[(row.dialect + "." + name).str()] = {row.shapes, row.elements,
                                                 row.note};
    return map;
  }();
  return table;
}

const KernelOp *mlir::iris::findKernelOp(StringRef name) {
  auto found = getTable().find(name);
  return found == getTable().end() ? nullptr : &found->second;
}

SmallVector<StringRef> mlir::iris::getKernelOpNames(StringRef dialect) {
  SmallVector<StringRef> names;
  for (const Row &row : rows)
    if (row.dialect == dialect)
      llvm::append_range(names, splitNames(row.ops));
  llvm::sort(names);
  return names;
}

ArrayRef<StringRef> mlir::iris::getKernelDialects() {
  static const SmallVector<StringRef> dialects = [] {
    SmallVector<StringRef> all;
    for (const Row &row : rows)
      if (!llvm::is_contained(all, row.dialect))
        all.push_back(row.dialect);
    return all;
  }();
  return dialects;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "a", "a and b", "a, b and c".
static std::string joinWith(ArrayRef<StringRef> words, StringRef last) {
  if (words.size() < 2)
    return words.empty() ? "" : words.front().str();
  return llvm::join(words.drop_back(), ", ") + (" " + last + " ").str() +
         words.back().str();
}

/// The names of the members of `set`.
static SmallVector<StringRef>
namesOf(uint32_t set, ArrayRef<std::pair<uint32_t, StringRef>> all) {
  SmallVector<StringRef> names;
  for (auto [bit, name] : all)
    if (set & bit)
      names.push_back(name);
  return names;
}

static SmallVector<StringRef> elementNames(uint32_t elements) {
  return namesOf(elements, {{EltI1, "i1"},
                            {EltI8, "i8"},
                            {EltI16, "i16"},
                            {EltI32, "i32"},
                            {EltI64, "i64"},
                            {EltIndex, "index"},
                            {EltF8, "f8"},
                            {EltF16, "f16"},
                            {EltBF16, "bf16"},
                            {EltF32, "f32"},
                            {EltF64, "f64"}});
}

static SmallVector<StringRef> shapeNames(uint32_t shapes) {
  return namesOf(shapes, {{OnScalars, "scalars"},
                          {OnVectors, "vectors"},
                          {OnTiles, "tiles"},
                          {OnBuffers, "memrefs"}});
}

std::string mlir::iris::describeElements(uint32_t elements) {
  return joinWith(elementNames(elements), "or");
}

std::string mlir::iris::describeShapes(uint32_t shapes) {
  return joinWith(shapeNames(shapes), "and");
}

/// The registered ops of `dialect` that are not in the table.
static SmallVector<StringRef> getOtherOps(MLIRContext &context,
                                          StringRef dialect) {
  SmallVector<StringRef> others;
  // getRegisteredOperationsByDialect finds none for most dialects: its binary
  // search is by a comparison that is no order.
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        !findKernelOp(name.getStringRef()))
      others.push_back(name.getStringRef());
  llvm::sort(others);
  return others;
}

static std::string quoteAll(ArrayRef<StringRef> names, StringRef prefix = "") {
  return llvm::join(llvm::map_range(names,
                                    [&](StringRef name) {
                                      return ("`" + prefix + name + "`").str();
                                    }),
                    ", ");
}

void mlir::iris::printKernelLanguage(raw_ostream &os, MLIRContext &context) {
  for (StringRef dialect : getKernelDialects()) {
    context.getOrLoadDialect(dialect);
    os << "### " << dialect << "\n\n"
       << "| ops | on | elements | notes |\n|---|---|---|---|\n";
    for (const Row &row : rows) {
      if (row.dialect != dialect)
        continue;
      SmallVector<StringRef> names = splitNames(row.ops);
      llvm::sort(names);
      os << "| " << quoteAll(names, (dialect + ".").str()) << " | "
         << llvm::join(shapeNames(row.shapes), ", ") << " | "
         << llvm::join(elementNames(row.elements), ", ") << " | " << row.note
         << " |\n";
    }
    if (SmallVector<StringRef> others = getOtherOps(context, dialect);
        !others.empty())
      os << "\nNot in the language: " << quoteAll(others) << ".\n";
    os << "\n";
  }
  printKernelAttributes(os);
}
