#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sets Iris up, builds it, and passes every test that needs no GPU.
#
#   utils/check.sh             the default set
#   utils/check.sh --full      the long forms too
#
# Ends with one line, 'N passed, N failed, N skipped'; exit status 0 only if
# none failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

lit_args=()
for arg in "$@"; do
  case "$arg" in
  --full) lit_args+=(--param full=1) ;;
  *) echo "usage: utils/check.sh [--full]" >&2; exit 1 ;;
  esac
done

# The pages of the API are made from headers by Doxygen, and checked.
iris_packages+=(doxygen python3-venv)
iris_setup
iris_pseudo_code || echo "==> not installed: its test is skipped"
utils/check-dependencies.py
iris_build release

status=0
# Many of them wait for most of their time.
echo "==> unit and runtime tests"
ctest --test-dir build -j "$((3 * $(nproc)))" --output-on-failure --exclude-regex '^lit$' \
  --output-junit "$PWD/build/ctest.xml" || status=1
echo "==> lit tests"
lit=$(sed -n 's/^IRIS_LIT:FILEPATH=//p' build/CMakeCache.txt)
"$lit" -v --xunit-xml-output="$PWD/build/lit.xml" "${lit_args[@]}" build/test ||
  status=1

python3 utils/summarize-tests.py build/ctest.xml build/lit.xml || status=1
exit "$status"
