// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The texts of the files in models/, which the build embeds.
#ifndef IRIS_RT_CCL_EMBEDDEDMODELS_H
#define IRIS_RT_CCL_EMBEDDEDMODELS_H

#include <vector>

namespace iris::ccl {

struct EmbeddedModel {
  /// "nvidia-h200.json".
  const char *file;
  const char *text;
};

const std::vector<EmbeddedModel> &embeddedModelTexts();

/// The tables of tuned matmuls, one JSON object per line.
const char *tunedMatmulText();

} // namespace iris::ccl

#endif // IRIS_RT_CCL_EMBEDDEDMODELS_H
