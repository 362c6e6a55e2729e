#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets Iris up, builds it, runs the all-gather on CPU ranks with every element
# checked, and then its machine code for an AMD MI300 (gfx942) on emulated GPUs.
#
#   utils/quickstart.sh [RANKS]      default: 4 ranks
#
# Can be run again cheaply: packages, build and outputs are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

ranks=${1:-4}
program=examples/02-all-gather/all_gather.mlir

iris_setup
iris_build release iris-compile iris-run iris-opt iris-bench iris-emulate

echo "==> running the all-gather on $ranks CPU ranks"
build/bin/iris-run -n "$ranks" "$program"

echo "==> compiling it for gfx942"
build/bin/iris-compile "$program" --target=gfx942 --emit=obj \
  -o build/all_gather.gfx942.hsaco

echo "==> running this machine code on $ranks emulated GPUs"
build/bin/iris-run -n "$ranks" --device=emulated:gfx942 "$program"

cat <<END

Done.
  build/bin/iris-compile            compiles .mlir kernels
  build/bin/iris-run                runs programs on N ranks
  build/bin/iris-emulate            executes code objects of AMD GPUs
  build/bin/iris-opt                runs single passes
  build/bin/iris-bench              times the collectives and matmuls
  build/all_gather.gfx942.hsaco     the all-gather's AMD code object
Next: build/bin/iris-run --help, examples/, docs/.
END
