#!/usr/bin/env bash
# examples/digits/digits_test.sh -- the main job learns to read digits, and leaves what it promises
set -euo pipefail

out=$TEST_TMPDIR/digits
log=$TEST_TMPDIR/log
examples/digits/digits --out "$out" >"$log" 2>&1 || { cat "$log"; exit 1; }

accuracy=$(sed -n 's/^test accuracy \([0-9.]*\) %$/\1/p' "$log")
awk -v accuracy="$accuracy" 'BEGIN { exit !(accuracy >= 97) }' ||
  { echo "test accuracy is '$accuracy', not at least 97 %"; cat "$log"; exit 1; }

# In a log there is no carriage return and no escape code.
! grep -q $'[\r\033]' "$log" || { echo "the log has control characters"; exit 1; }
grep -q 'train 100%.*loss .*accuracy .*examples/s' "$log"

grep -q '<svg' "$out/loss.svg"
grep -q 'dot_general' "$out/derivative.svg"
[ -s "$out/parameters.npz" ]

# The same seed gives the same result, another batch size than there are digits is refused.
examples/digits/digits --out "$out" --epochs 1 >"$TEST_TMPDIR/first" 2>/dev/null
examples/digits/digits --out "$out" --epochs 1 >"$TEST_TMPDIR/second" 2>/dev/null
cmp "$TEST_TMPDIR/first" "$TEST_TMPDIR/second"
! examples/digits/digits --out "$out" --batch 5000 >"$log" 2>&1
grep -q -- '--batch 5000 is more than the' "$log"
