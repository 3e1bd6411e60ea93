// categories/graph_groups.h -- which steps of a long program a picture draws as one
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hom/core/program.h>

namespace hom {

/// Consecutive steps `begin` … `end − 1`, of which `count` are not constants.
struct StepRun {
  std::size_t begin;
  std::size_t end;
  std::size_t count;
};

/// Partitions the steps of `program` into at most `budget` runs: single steps where there is room;
/// otherwise runs of one line become one, the longest first; then runs of one named function; then
/// stretches of equal length.
std::vector<StepRun> group_steps(const Program& program, std::size_t budget);

/// What a run is called: `forward`, `train.cc:23`, or `train.cc:12–40`; and what is in it: `mul
/// ×40, add ×38, …`.
std::string run_title(const Program& program, const StepRun& run);
std::string run_contents(const Program& program, const StepRun& run);
/// Its lines with full path: `src/train.cc:12–40, in `forward``.
std::string run_place(const Program& program, const StepRun& run);

}  // namespace hom
