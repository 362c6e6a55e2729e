// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VariantRows.h - Rows of the tables of variants -----------*- C++ -*-===//
//
// The variants of all collectives are one table, those of all matmuls another.
// Each variant has the kind of the operation that it belongs to; the variants
// of an operation are in consecutive rows.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_VARIANTROWS_H
#define IRIS_PLAN_VARIANTROWS_H

#include <cstddef>
#include <iterator>

namespace irisplan {

/// The rows first ... last - 1 of a table.
template <typename VariantT>
struct RowsOf {
  const VariantT *first = nullptr, *last = nullptr;
};

/// The rows of the operation `kind`.
template <typename VariantT, size_t size, typename KindT>
constexpr RowsOf<VariantT> findRows(const VariantT (&table)[size], KindT kind) {
  const VariantT *first = std::begin(table);
  while (first != std::end(table) && first->kind != kind)
    ++first;
  const VariantT *last = first;
  while (last != std::end(table) && last->kind == kind)
    ++last;
  return {first, last};
}

/// Whether each operation has 1 to `most` variants, and each row of `table`
/// belongs to the range of an operation.
template <typename OperationT, size_t numOperations, typename VariantT,
          size_t size>
constexpr bool areRowsComplete(const OperationT (&operations)[numOperations],
                               const VariantT (&)[size], ptrdiff_t most) {
  ptrdiff_t count = 0;
  for (const OperationT &each : operations) {
    ptrdiff_t numVariants = each.end() - each.begin();
    if (numVariants < 1 || numVariants > most)
      return false;
    count += numVariants;
  }
  return count == static_cast<ptrdiff_t>(size);
}

} // namespace irisplan

#endif // IRIS_PLAN_VARIANTROWS_H
