#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the documentation as a site, and checks it.
#
#   utils/docs.sh                 builds the tools if need be, then the site
#   utils/docs.sh --build=DIR     takes the tools of another build folder
#   utils/docs.sh --check         the checks alone, of a build that exists; needs
#                                 no network
#   utils/docs.sh --update        first writes anew what pages show of files, and
#                                 docs/reference/ops
#   utils/docs.sh --serve[=PORT]  then serves the site to this machine, on port
#                                 8000 by default
#
# Fails on a dead link, a stale snippet, a command that does not print what its
# page says, an op, pass, option or variable that the reference lacks, a public
# declaration without a comment, or a site that loads something from the web.
# The site is in build/docs/site/index.html, and needs neither network nor
# server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source utils/setup.sh

build= check=0 serve= update=()
for arg in "$@"; do
  case "$arg" in
  --build=*) build=${arg#--build=} ;;
  --check) check=1 ;;
  --update) update=(--update) ;;
  --serve) serve=8000 ;;
  --serve=*) serve=${arg#--serve=} ;;
  *) sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 1 ;;
  esac
done

# The site's tools are installed in a virtual environment of the build folder.
((check)) || { iris_packages+=(python3-venv doxygen); iris_setup; }
if [[ -z $build ]]; then
  build=build
  ((check)) || iris_build release iris-compile iris-run iris-bench iris-opt
fi

work=build/docs
mkdir -p "$work"
mapfile -t files < <(find README.md CONTRIBUTING.md docs examples benchmarks \
  runtime test tools utils -name "*.md" ! -path "*/Inputs/*" ! -path "docs/reference/ops/*")
mapfile -t own < <(find README.md docs -name '*.md')

echo "==> reference"
if ((${#update[@]})); then
  python3 utils/docs/ops.py
fi
python3 utils/docs/ops.py --check
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
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install --require-hashes -r utils/docs/requirements.txt
if [[ ! -f $work/mermaid/mermaidx/assets/mermaid.js ]]; then
  "${pip[@]}" install --no-deps --require-hashes -r utils/docs/mermaid.txt \
    --target "$work/mermaid"
fi
python3 utils/docs/stage.py --out="$work/pages" --reference="$work/reference" \
  --mermaid="$work/mermaid/mermaidx/assets/mermaid.js"
# With --quiet, warnings are no errors.
PYTHONPATH=utils/docs NO_MKDOCS_2_WARNING=1 \
  "$work/venv/bin/mkdocs" build --strict >"$work/mkdocs.log" 2>&1 || {
  cat "$work/mkdocs.log" >&2
  exit 1
}
python3 utils/docs/check_site.py "$work/site"
echo "file://$PWD/$work/site/index.html"
if [[ -n $serve ]]; then
  exec python3 -m http.server --bind 127.0.0.1 --directory "$work/site" "$serve"
fi
