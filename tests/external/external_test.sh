#!/usr/bin/env bash
# tests/external/external_test.sh -- builds and tests a user's extension of Hom in a workspace of its own, in both ways
# in which users have Hom: as an external repository of Bazel, and installed
#
# Called by tools/test, not by Bazel: it runs Bazel itself, which waits for any Bazel that is running already.
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Whoever extends Hom includes installed headers only, and none of its own is among them.
includes_public_headers() {
  local header missing=0
  while IFS= read -r header; do
    [ -f "$scratch/prefix/include/$header" ] || { echo "$header is not installed" && missing=1; }
  done < <(grep -hoE '#include <hom/[^>]*' "$root"/tests/external/*.{h,cc} | sed 's/.*<//' | sort -u)
  return $missing
}

as_external_repository() {
  (cd "$root/tests/external" &&
    bazel test "${bazel_quiet[@]}" --experimental_convenience_symlinks=ignore --test_output=errors //:extension_test)
}

# Not optimised: compiling is what takes time.
by_cmake() {
  cmake -S "$root/tests/external" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" &&
    cmake --build "$scratch/build" --parallel "$(nproc)"
}

report "tools/install for the extension" "$root/tools/install" "$scratch/prefix"
report "the extension includes public headers only" includes_public_headers
report "the extension builds and passes its tests on Hom as an external repository" as_external_repository
report "the extension builds by CMake on the installed library" by_cmake

# Every case counts, as in the tests of Hom itself.
[ -x "$scratch/build/extension_test" ] || exit 1
"$scratch/build/extension_test" >"$scratch/output" 2>&1 || true
sed -nE 's/^\[       OK \] (\S+).*/ok   extension: \1/p' "$scratch/output"
if ! grep -q '^\[  PASSED  \]' "$scratch/output" || grep -q '^\[  FAILED  \]' "$scratch/output"; then
  cat "$scratch/output"
  sed -nE 's/^\[  FAILED  \] (\S+) \(.*/FAIL extension: \1/p' "$scratch/output"
  exit 1
fi
[ "$failed" = 0 ]
