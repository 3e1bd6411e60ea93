// core/batched_program.h -- the result of the functor batch: a program for many lanes at once
#pragma once

#include <vector>

#include <hom/core/program.h>

namespace hom {

/// A program for a batch of lanes. Batched inputs and outputs have the lanes as a further axis in
/// front.
struct BatchedProgram {
  Program program;
  /// For each output, whether it is batched; the others are the same for all lanes.
  std::vector<bool> output_batched;
};

/// x for each of `size` lanes: a view with one axis more in front.
Tensor repeated_for_lanes(const Tensor& x, std::int64_t size);

}  // namespace hom
