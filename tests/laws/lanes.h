// tests/laws/lanes.h -- random lanes for a program, and the law that batching it equals the loop
#pragma once

#include <hom/tests/laws/support.h>

namespace hom::laws {

using Mask = std::vector<bool>;

/// A program at a point.
struct Example {
  Program program;
  Tensors inputs;
};
std::string text_of(const Example& example);

/// How many lanes a batch has.
inline constexpr std::int64_t lane_counts[] = {0, 1, 2, 3};

/// Marks input i where bit i is set.
Mask subset(std::uint64_t bits, std::size_t size);
/// Marks at least one.
Mask random_mask(std::size_t size, Choices& choices);

/// The inputs of each lane. Those not batched are the same in all; no lane raises.
std::vector<Tensors> random_lanes(const Example& one, const Mask& batched, std::int64_t size,
                                  Choices& choices);
/// The inputs of all lanes: stacked where they are batched, else those that all share.
Tensors stacked(const std::vector<Tensors>& lanes, const Tensors& shared, const Mask& batched);
/// What one lane has of batched results.
Tensors lane_of(const Tensors& outputs, const Mask& batched, std::size_t lane);

/// Where results for all lanes have other types than those for one; empty where they do not.
std::string wrong_types(const Example& one, const Tensors& outputs, const Mask& batched,
                        std::int64_t size);
/// The law for one program, subset of inputs and number of lanes: bits are equal.
std::string batch_equals_loop(const Example& one, const Mask& batched, std::int64_t size,
                              Choices& choices);

}  // namespace hom::laws
