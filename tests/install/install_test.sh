#!/usr/bin/env bash
# tests/install/install_test.sh -- installs the library, moves it, and builds a program against it in both ways
#
# Called by tools/test, not by Bazel: it runs Bazel itself, which waits for any Bazel that is running already.
source "$(dirname "${BASH_SOURCE[0]}")/../../tools/lib/common.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A space in the path and a move after the installation find quoting mistakes and remembered paths.
prefix="$scratch/moved here"
expected='0.992808635854 -0.143654648747'

install_and_move() {
  "$root/tools/install" "$scratch/prefix" && mv "$scratch/prefix" "$prefix"
}

# Names of the build machine would make the installed files useless elsewhere, and tell where they were built.
names_no_path() {
  ! grep -rlaF -e "$root" -e "$scratch" -e "${HOME:-$root}/" "$prefix"
}

no_internal_header() {
  ! grep -rnE '#include <(Eigen|fmt|gtest|rapidcheck)' "$prefix/include"
}

is_expected() {
  local output
  output=$("$1") || return 1
  [ "$output" = "$expected" ] && return
  echo "expected $expected, got $output"
  return 1
}

by_pkg_config() {
  # pkg-config escapes the space in the path, which only eval undoes.
  eval "g++ -std=c++20 -O1 -Wall -Wextra -Werror '$root/tests/install/example.cc' -o '$scratch/example' \
    $(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs hom)" &&
    is_expected "$scratch/example"
}

by_cmake() {
  cmake -S "$root/tests/install" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$scratch/build" && is_expected "$scratch/build/example"
}

report "tools/install PREFIX" install_and_move
report "the installed files name no path of the build" names_no_path
report "the installed headers include nothing heavy" no_internal_header
report "a program builds and runs by pkg-config" by_pkg_config
report "a program builds and runs by CMake" by_cmake
[ "$failed" = 0 ]
