# tools/lib/common.sh -- sourced by every script: the repository's root, messages, and counted checks
# shellcheck shell=bash
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)

die() {
  echo "${0##*/}: $*" >&2
  exit 1
}

# Without a terminal a progress line at most every half minute, so that logs stay readable.
bazel_flags=(--noshow_loading_progress)
[ -t 2 ] || bazel_flags+=(--show_progress_rate_limit=30)
# For builds; with `bazel test` it would hide the output of failing tests too.
# shellcheck disable=SC2034
bazel_quiet=("${bazel_flags[@]}" --ui_event_filters=-info)

# A folder on whose include path <hom/...> is this repository, without Bazel. Prints its path relative to the root.
include_dir() {
  mkdir -p "$root/out/include"
  ln -sfn ../.. "$root/out/include/hom"
  echo out/include
}

passed=0
failed=0

# report NAME COMMAND... -- runs the command as one check: `ok NAME`, or its output and `FAIL NAME`.
report() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok   $name"
    passed=$((passed + 1))
  else
    [ -z "$output" ] || printf '%s\n' "$output"
    echo "FAIL $name"
    failed=$((failed + 1))
  fi
}
