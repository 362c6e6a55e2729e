// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChipInfo.h - The table of chips in the compiler ----------*- C++ -*-===//

#ifndef IRIS_CHIPS_CHIPINFO_H
#define IRIS_CHIPS_CHIPINFO_H

#include "iris/Chips/ChipTable.h"

namespace mlir::iris {

using irischips::AMDChipInfo;
using irischips::ChipInfo;
using irischips::ChipVendor;
using irischips::describeUnknownTarget;
using irischips::findChip;
using irischips::getKnownChips;
using irischips::MatrixElement;
using irischips::MatrixInstructionInfo;
using irischips::MatrixUnit;
using irischips::NVIDIAChipInfo;
using irischips::OperandElement;
using irischips::RowBit;

} // namespace mlir::iris

#endif // IRIS_CHIPS_CHIPINFO_H
