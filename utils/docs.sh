#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the documentation as a site, and checks it.
#
#   utils/docs.sh                 builds the tools if need be, then the site
#   utils/docs.sh --build=DIR     takes the tools of another build folder
#   utils/docs.sh --check         the checks alone, of a build that exists; needs
#                                 no network
#   utils/docs.sh --update        first copies into pages what they show of files
#
# Fails on a dead link, a stale snippet, a command that does not print what its
# page says, or an op, pass, option or variable that the reference lacks. The
# site is in build/docs/site/index.html.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

build= check=0 update=()
for arg in "$@"; do
  case "$arg" in
  --build=*) build=${arg#--build=} ;;
  --check) check=1 ;;
  --update) update=(--update) ;;
  *) sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 1 ;;
  esac
done

# The site's tools are installed in a virtual environment of the build folder.
((check)) || { iris_packages+=(python3-venv); iris_setup; }
if [[ -z $build ]]; then
  build=build
  ((check)) || iris_build release iris-compile iris-run iris-bench iris-opt
fi

work=build/docs
mkdir -p "$work"
mapfile -t files < <(find README.md CONTRIBUTING.md docs examples benchmarks \
  runtime test tools utils -name "*.md" ! -path "*/Inputs/*")
mapfile -t own < <(find README.md docs -name '*.md')

echo "==> reference"
python3 utils/docs/generate.py --build="$build" --out="$work/reference"
python3 utils/docs/check_reference.py --build="$build" --pages="$work/reference"
echo "==> links"
python3 utils/docs/check_links.py --pages="$work/reference"
echo "==> snippets"
python3 utils/docs/code_snippets.py "${update[@]}" copies "${files[@]}"
python3 utils/docs/mlir_snippets.py "$build/bin/iris-opt" "${files[@]}" \
  include/iris/Dialect/*/IR/*.td
python3 utils/docs/code_snippets.py cpp "${own[@]}"
python3 utils/docs/code_snippets.py --build="$build" run "${own[@]}"
((check)) && exit 0

echo "==> site"
if [[ ! -x $work/venv/bin/mkdocs ]]; then
  python3 -m venv "$work/venv"
fi
"$work/venv/bin/pip" install --quiet --disable-pip-version-check \
  --require-hashes -r utils/docs/requirements.txt
python3 utils/docs/stage.py --out="$work/pages" --reference="$work/reference"
NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --strict --quiet
echo "$PWD/$work/site/index.html"
