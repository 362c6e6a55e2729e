#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs clang-tidy (.clang-tidy) on what changed.
#
#   utils/check-tidy.sh [BASE] [--build=DIR] [--limit=N]
#
# BASE (default: the merge base with origin/main or main) is compared with the
# working tree. Of each changed C and C++ file the warnings on changed lines
# count. DIR (default: build) has compile_commands.json and the generated
# headers; build it before. A file takes half a minute to a minute: with a
# limit only the N files with the most changed lines are checked.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base= build=build limit=
for arg in "$@"; do
  case "$arg" in
  --build=*) build=${arg#--build=} ;;
  --limit=*) limit=${arg#--limit=} ;;
  -*) sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 1 ;;
  *) base=$arg ;;
  esac
done
if [[ -z $base ]]; then
  for name in origin/main main; do
    base=$(git merge-base HEAD "$name" 2>/dev/null) && break
  done
  [[ -n $base ]] || { echo "error: no main to compare with; name a BASE" >&2; exit 1; }
fi
[[ -f $build/compile_commands.json ]] || {
  echo "error: $build/compile_commands.json is missing; run cmake --preset release" >&2
  exit 1
}
tidy=$(command -v clang-tidy-22 || command -v clang-tidy) || {
  echo "error: clang-tidy is missing; install Debian's clang-tidy" >&2
  exit 1
}

# By number of changed lines, most first.
mapfile -t files < <(git diff --numstat --no-renames --diff-filter=AM "$base" -- \
  'lib/*.cpp' 'tools/*.cpp' 'runtime/src/*.cpp' |
  awk '{ print $1 + $2 "\t" $3 }' | sort -rn | cut -f 2)
if ((${#files[@]} == 0)); then
  echo "no C++ file changed since $base"
  exit 0
fi
if [[ -n $limit ]] && ((${#files[@]} > limit)); then
  echo "clang-tidy: $limit of ${#files[@]} files that changed since $base"
  files=("${files[@]:0:limit}")
fi
# [{"name": FILE, "lines": [[FIRST, LAST], ...]}, ...]
filter=$(git diff -U0 "$base" -- '*.cpp' '*.h' | python3 -c '
import json, re, sys
files, name = {}, None
for line in sys.stdin:
    if line.startswith("+++ "):
        name = line[6:].strip() if line.startswith("+++ b/") else None
    elif name and (match := re.match(r"@@ .* \+(\d+)(?:,(\d+))? @@", line)):
        first, count = int(match[1]), int(match[2] or 1)
        if count:
            files.setdefault(name, []).append([first, first + count - 1])
print(json.dumps([{"name": n, "lines": l} for n, l in files.items()]))')

# Precompiled headers of another compiler are of no use to clang-tidy: it reads
# their text. The database of a unity build names only the generated files that
# include the sources; without a command of its own, a source would be checked
# with that of a file whose name is like it, in another library.
database=$(mktemp -d)
trap 'rm -rf "$database"' EXIT
python3 - "$build" "$database" <<'END'
import json, re, shutil, sys
build, out = sys.argv[1:]
headers = {}
def text_of(match):
    path = match[1]
    if path not in headers:
        headers[path] = f"{out}/pch{len(headers)}.h"
        shutil.copy(path, headers[path])
    return f"-include {headers[path]}"
with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
    commands = json.load(file)
sources = []
for command in commands:
    text = command["command"].replace("-Winvalid-pch ", "")
    # Clang names the precompiled headers and their text.
    text = re.sub(r"-Xclang -include-pch -Xclang \S+ "
                  r"-Xclang -include -Xclang", "-include", text)
    command["command"] = re.sub(r"-include (\S+cmake_pch\.h(?:xx)?)", text_of, text)
    unity = command["file"]
    if "/Unity/unity_" in unity:
        with open(unity, encoding="utf-8") as file:
            sources += [{**command, "file": source,
                         "command": command["command"].replace(unity, source)}
                        for source in re.findall(r'#include "(.+)"', file.read())]
commands += sources
with open(f"{out}/compile_commands.json", "w", encoding="utf-8") as file:
    json.dump(commands, file)
END

status=0
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" "$tidy" -p "$database" --quiet \
    --extra-arg=-Wno-unknown-warning-option \
    --line-filter="$filter" || status=1
((status == 0)) && echo "clang-tidy: ${#files[@]} files, nothing to mend"
exit "$status"
