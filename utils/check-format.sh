#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks the format of every C and C++ file with clang-format (14, Debian 12's).
# `utils/check-format.sh --fix` formats them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(--dry-run -Werror)
[[ "${1:-}" == --fix ]] && mode=(-i)
git ls-files -z '*.cpp' '*.h' '*.c' | xargs -0 clang-format "${mode[@]}"
echo "formatting: ok"
