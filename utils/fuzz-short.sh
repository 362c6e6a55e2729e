#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the fuzz targets with clang and runs each for a short time.
#
#   utils/fuzz-short.sh [--no-compiler] [SECONDS]   20 seconds each by default
#
# --no-compiler omits the fuzzers of the compiler and of the emulator, which need
# LLVM; the compiler's needs the whole compiler built with clang.
#
# IRIS_FUZZ_BUILD names the build folder (default: build/fuzz). Corpora stay
# there, so that a later run continues. A finding ends the script and leaves its
# input in IRIS_FUZZ_BUILD/findings. IRIS_FUZZ_SEEDS is the number of kernels
# that the compiler's fuzzer starts from (default: 60).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
compiler=ON
if [ "${1:-}" = --no-compiler ]; then
  compiler=OFF
  shift
fi
seconds=${1:-20}
build=${IRIS_FUZZ_BUILD:-build/fuzz}

mkdir -p "$(dirname "$build")"
cmake -G Ninja -S . -B "$build" -DCMAKE_C_COMPILER=clang \
  -DCMAKE_CXX_COMPILER=clang++ -DIRIS_BUILD_FUZZERS=ON \
  -DIRIS_BUILD_TESTS=OFF -DIRIS_BUILD_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" \
  >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target fuzzers

mkdir -p "$build/findings"
"$build/fuzz/make-corpus" "$build/corpus"
fuzzers=(package messages)
if [ "$compiler" = ON ]; then
  fuzzers+=(emulator compile)
  test/fuzz/emulator/make-seeds.py "$build/corpus/emulator"
  # The compiler's seeds are built before the time limit starts.
  test/fuzz/compile/make-seeds.py --max="${IRIS_FUZZ_SEEDS:-60}" . \
    "$build/corpus/compile" "$build/compile.dict"
fi
for name in "${fuzzers[@]}"; do
  fuzzer=$build/fuzz/fuzz-$name
  mkdir -p "$build/corpus/$name"
  echo "==> $name: $seconds seconds"
  log="$build/findings/$name.log"
  status=0
  limits=(-timeout=10 -rss_limit_mb=2048 -max_len=65536)
  if [ "$name" = compile ]; then
    limits=(-timeout=120 -rss_limit_mb=4096 -max_len=8192
      -dict="$build/compile.dict")
  fi
  "$fuzzer" -max_total_time="$seconds" "${limits[@]}" \
    -artifact_prefix="$build/findings/$name-" \
    -print_final_stats=1 "$build/corpus/$name" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 60 "$log"
    echo "$name: a finding; its input is in $build/findings" >&2
    exit 1
  fi
  grep -E 'DONE|number_of_executed_units' "$log"
done
echo "no findings"
