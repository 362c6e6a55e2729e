// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MmaLayoutTest.cpp - Fragments of mma.sync against the PTX ISA ------===//
//
// The lowering finds its addresses by linear maps of bits. Here they are
// evaluated and compared with the formulas of the PTX ISA ("Matrix Fragments
// for mma.m16n8k8", "... m16n8k16", "... m16n8k32", "ldmatrix"), which speak of
// groupID = lane >> 2 and threadID_in_group = lane % 4.
//
//===----------------------------------------------------------------------===//

#include "MmaPlan.h"
#include "iris/Analysis/LinearLayout.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::iris;

namespace {
MmaOperand makeOperand(bool isA, unsigned rows, unsigned block,
                       unsigned elementBytes, bool isKMajor) {
  MmaOperand operand;
  operand.kDim = isA ? 1 : 0;
  operand.rows = rows;
  operand.block = block;
  operand.elementBytes = elementBytes;
  operand.isKMajor = isKMajor;
  return operand;
}

/// The exclusive-or of the elements that the bits of `lane` select.
OperandElementIndex select(ArrayRef<OperandElementIndex> bits, unsigned lane) {
  OperandElementIndex element{0, 0};
  for (auto [i, bit] : llvm::enumerate(bits))
    if ((lane >> i) & 1) {
      element.row ^= bit.row;
      element.k ^= bit.k;
    }
  return element;
}

/// Every combination that a plan may have.
template <typename Body>
void forEachOperand(Body body) {
  for (bool isA : {true, false})
    for (unsigned elementBytes : {1u, 2u, 4u})
      for (unsigned rows : {16u, 32u, 64u, 128u, 256u})
        for (unsigned blockBytes : {32u, 64u, 128u, 256u})
          for (bool isKMajor : {true, false}) {
            if (!isKMajor && elementBytes == 1)
              continue;
            SCOPED_TRACE(testing::Message()
                         << (isA ? "a " : "b ") << rows << " rows, "
                         << blockBytes << " bytes of k, " << elementBytes
                         << " bytes each, "
                         << (isKMajor ? "k-major" : "row-major"));
            body(makeOperand(isA, rows, blockBytes / elementBytes, elementBytes,
                             isKMajor));
          }
}

/// What PTX says that `element` number `i` of a thread's fragment of a is, for
/// elements of 4, 2 and 1 bytes: m16n8k8, m16n8k16, m16n8k32.
OperandElementIndex getDocumentedA(unsigned elementBytes, unsigned lane,
                                   unsigned i) {
  unsigned groupID = lane >> 2, threadID = lane % 4;
  switch (elementBytes) {
  case 4: // row = groupID for a0 and a2, else groupID + 8
    return {i == 0 || i == 2 ? groupID : groupID + 8,
            i < 2 ? threadID : threadID + 4};
  case 2:
    return {(i < 2 || (i >= 4 && i < 6)) ? groupID : groupID + 8,
            threadID * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  default:
    return {(i < 4 || (i >= 8 && i < 12)) ? groupID : groupID + 8,
            threadID * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  }
}

/// The same for b; the row is the column of b.
OperandElementIndex getDocumentedB(unsigned elementBytes, unsigned lane,
                                   unsigned i) {
  unsigned groupID = lane >> 2, threadID = lane % 4;
  switch (elementBytes) {
  case 4:
    return {groupID, i == 0 ? threadID : threadID + 4};
  case 2:
    return {groupID, threadID * 2 + (i & 1) + (i >= 2 ? 8 : 0)};
  default:
    return {groupID, threadID * 4 + (i & 3) + (i >= 4 ? 16 : 0)};
  }
}

/// The elements that a 32-bit register of a thread should hold. Registers 2 and
/// 3 of b belong to the next eight columns.
OperandElementIndex getDocumented(const MmaOperand &operand, unsigned lane,
                                  unsigned reg, unsigned part) {
  unsigned each = 4 / operand.elementBytes;
  if (operand.kDim == 1)
    return getDocumentedA(operand.elementBytes, lane, reg * each + part);
  OperandElementIndex element =
      getDocumentedB(operand.elementBytes, lane, reg % 2 * each + part);
  element.row += reg / 2 * 8;
  return element;
}

TEST(MmaLayout, EveryElementHasAPlace) {
  forEachOperand([](const MmaOperand &operand) {
    std::set<uint64_t> taken;
    for (unsigned row = 0; row < operand.rows; ++row)
      for (unsigned k = 0; k < operand.block; ++k) {
        uint64_t offset = operand.getOffset({row, k});
        ASSERT_LT(offset, operand.getBytes());
        ASSERT_TRUE(taken.insert(offset).second);
      }
    EXPECT_EQ(taken.size() * operand.elementBytes, operand.getBytes());
  });
}

TEST(MmaLayout, OffsetsAreLinear) {
  forEachOperand([](const MmaOperand &operand) {
    for (unsigned row = 0; row < operand.rows; ++row)
      for (unsigned k = 0; k < operand.block; ++k) {
        uint64_t sum = 0;
        for (unsigned bit = 1; bit < operand.rows; bit *= 2)
          sum ^= row & bit ? operand.getOffset({bit, 0}) : 0;
        for (unsigned bit = 1; bit < operand.block; bit *= 2)
          sum ^= k & bit ? operand.getOffset({0, bit}) : 0;
        ASSERT_EQ(operand.getOffset({row, k}), sum);
      }
  });
}

/// The chunk that a copy writes holds what the buffer has there.
TEST(MmaLayout, CopiesWriteWhatLinesHold) {
  forEachOperand([](const MmaOperand &operand) {
    for (unsigned line = 0; line < operand.getNumLines(); ++line)
      for (unsigned byte = 0; byte < operand.getLineBytes();
           byte += kChunkBytes)
        for (unsigned i = 0; i < kChunkBytes; i += operand.elementBytes) {
          unsigned along = (byte + i) / operand.elementBytes;
          OperandElementIndex element = operand.isKMajor
                                            ? OperandElementIndex{line, along}
                                            : OperandElementIndex{along, line};
          ASSERT_EQ(operand.getOffset(element),
                    operand.getChunkOffset(line, byte) + i);
        }
  });
}

/// Loads of single registers, which serve where ldmatrix cannot.
TEST(MmaLayout, RegistersAreThoseOfPTX) {
  forEachOperand([](const MmaOperand &operand) {
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned reg = 0; reg < 4; ++reg) {
        OperandElementIndex first = select(operand.getFragmentLanes(), lane);
        OperandElementIndex more = operand.getFragmentRegister(reg);
        for (unsigned part = 0; part < 4 / operand.elementBytes; ++part) {
          OperandElementIndex expected =
              getDocumented(operand, lane, reg, part);
          EXPECT_EQ((first.row ^ more.row), expected.row);
          EXPECT_EQ((first.k ^ more.k) + part, expected.k);
        }
      }
  });
}

/// ldmatrix.x4: lane l passes the address of row l % 8 of matrix l / 8; of
/// matrix `reg` lane l gets the 32 bits number l % 4 of row l / 4 or, with
/// .trans, the 16-bit elements of column l / 4 of rows l % 4 * 2 and the next.
TEST(MmaLayout, LdMatrixGivesTheFragmentsOfPTX) {
  forEachOperand([](const MmaOperand &operand) {
    if (!operand.isKMajor && operand.elementBytes != 2)
      return;
    std::map<uint64_t, OperandElementIndex> memory;
    for (unsigned row = 0; row < operand.rows; ++row)
      for (unsigned k = 0; k < operand.block; ++k)
        memory[operand.getOffset({row, k})] = {row, k};
    SmallVector<OperandElementIndex> lanes = operand.getLdMatrixLanes();
    for (unsigned firstRow = 0; firstRow < operand.rows;
         firstRow += kFragmentRows)
      for (unsigned firstK = 0; firstK < operand.block;
           firstK += kFragmentBytes / operand.elementBytes)
        for (unsigned reg = 0; reg < 4; ++reg)
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned part = 0; part < 4 / operand.elementBytes; ++part) {
              unsigned matrixRow = lane / 4, byte = lane % 4 * 4;
              byte += part * operand.elementBytes;
              if (!operand.isKMajor) {
                matrixRow = lane % 4 * 2 + part;
                byte = lane / 4 * 2;
              }
              OperandElementIndex passed = select(lanes, reg * 8 + matrixRow);
              uint64_t address = operand.getOffset(passed) ^
                                 operand.getOffset({firstRow, firstK});
              ASSERT_EQ(address % kChunkBytes, 0u);
              OperandElementIndex found = memory.at(address + byte);
              OperandElementIndex expected =
                  getDocumented(operand, lane, reg, part);
              ASSERT_EQ(found.row, firstRow + expected.row);
              ASSERT_EQ(found.k, firstK + expected.k);
            }
  });
}

/// The addresses that eight lanes pass for one matrix are in different banks:
/// of the 8 chunks that 32 banks hold, each is asked for once.
TEST(MmaLayout, LdMatrixHasNoBankConflicts) {
  forEachOperand([](const MmaOperand &operand) {
    if (!operand.isKMajor && operand.elementBytes != 2)
      return;
    SmallVector<OperandElementIndex> lanes = operand.getLdMatrixLanes();
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      std::set<uint64_t> banks;
      for (unsigned line = 0; line < 8; ++line)
        banks.insert(operand.getOffset(select(lanes, matrix * 8 + line)) /
                     kChunkBytes % 8);
      EXPECT_EQ(banks.size(), 8u);
    }
  });
}

/// c0, c1: row groupID, columns threadID * 2 and the next; c2, c3: eight rows
/// below. Then the next eight columns, and so on.
TEST(MmaLayout, ResultsAreThoseOfPTX) {
  MLIRContext context;
  context.loadDialect<tile::TileDialect>();
  for (unsigned rows : {16u, 32u, 128u})
    for (unsigned columns : {16u, 64u, 128u})
      for (unsigned warpRows : {1u, 2u, 4u})
        for (unsigned warpColumns : {1u, 2u, 4u}) {
          if (rows / warpRows < 16 || columns / warpColumns < 16)
            continue;
          MmaPlan plan;
          plan.numWarps = warpRows * warpColumns;
          plan.warpRows = warpRows;
          plan.warpColumns = warpColumns;
          plan.a = makeOperand(true, rows, 32, 2, true);
          plan.b = makeOperand(false, columns, 32, 2, true);
          LinearLayout layout = *getLinearLayout(
              getResultLayout(&context, plan), {rows, columns});
          ASSERT_EQ(layout.getNumRegisters(), plan.getNumResults());
          for (unsigned warp = 0; warp < plan.numWarps; ++warp)
            for (unsigned lane = 0; lane < 32; ++lane)
              for (unsigned reg = 0; reg < plan.getNumResults(); ++reg) {
                unsigned fragment = reg / kFragmentResults;
                unsigned half = reg % kFragmentResults / 4, i = reg % 4;
                unsigned row = warp / warpColumns * (rows / warpRows) +
                               fragment / plan.getColumnFragments() * 16 +
                               (lane >> 2) + (i < 2 ? 0 : 8);
                unsigned column = warp % warpColumns * (columns / warpColumns) +
                                  fragment % plan.getColumnFragments() * 16 +
                                  half * 8 + lane % 4 * 2 + (i & 1);
                SmallVector<int64_t> found =
                    layout.getCoordinates(layout.apply({reg, lane, warp}));
                ASSERT_EQ(found[0], row);
                ASSERT_EQ(found[1], column);
              }
        }
}
} // namespace
