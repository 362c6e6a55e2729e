#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the Debian packages that are needed to build, run and test Iris. Does
# nothing if all are installed. Sourced by quickstart.sh and check.sh; can be
# run on its own.
set -euo pipefail

iris_packages=(
  # compiler
  cmake clang-22 g++ ninja-build ccache
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools liblld-22-dev
  zlib1g-dev libzstd-dev
  # runtime
  nlohmann-json3-dev libxxhash-dev libucx-dev
  # tests
  libgtest-dev python3 python3-numpy
)

iris_setup() {
  local missing=() package
  for package in "${iris_packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q "install ok installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  echo "==> installing Debian packages: ${missing[*]}"
  local root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || {
      echo "error: install these packages as root first: ${missing[*]}" >&2
      return 1
    }
    root=(sudo)
  fi
  "${root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${root[@]}" apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" >/dev/null
}

# Installs the pseudo-code of AMD's ISA documents, which a test of the emulator
# reads, in the build folder. Needs python3-venv and PyPI.
iris_pseudo_code() {
  local list=utils/pseudo-code.txt folder=build/pseudo-code
  cmp -s "$list" "$folder/installed.txt" && return 0
  echo "==> installing the pseudo-code of AMD's ISA documents"
  rm -rf "$folder"
  python3 -m venv "$folder/venv" || return 1
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    --require-hashes -r "$list" --target "$folder/packages" || return 1
  rm -rf "$folder/venv"
  cp "$list" "$folder/installed.txt"
}

# Configures and builds preset $1; further arguments are targets. With LLVM's
# own clang, unless CXX says otherwise: it takes half of GCC's time.
iris_build() {
  local preset=$1
  shift
  [[ -v CXX ]] || local -x CC=clang-22 CXX=clang++-22
  echo "==> configuring (preset $preset)"
  cmake --preset "$preset" >"/dev/null" || {
    cmake --preset "$preset"
    return 1
  }
  echo "==> building"
  cmake --build --preset "$preset" -- "$@"
}

if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then
  iris_setup
fi
