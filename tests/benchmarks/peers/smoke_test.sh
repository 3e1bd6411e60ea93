#!/usr/bin/env bash
# tests/benchmarks/peers/smoke_test.sh -- Hom's side of the peers' benchmark, on tiny rows; and the driver's list
set -euo pipefail

folder=tests/benchmarks/peers
HOM_CACHE_DIR=$TEST_TMPDIR python3 "$folder/smoke_test.py" "$folder/worker"
rows=$(python3 "$folder/run" --list | sort | uniq | wc -l)
[ "$rows" = "$(python3 "$folder/run" --list | wc -l)" ] || { echo "two rows have one name"; exit 1; }

# The whole way of a row, with Hom alone.
python3 "$folder/run" --quick --peers '' --only '^gradient of 3 numbers' --hom "$folder/worker" | tee "$TEST_TMPDIR/out"
! grep -q -e WRONG -e ' no ' "$TEST_TMPDIR/out"
