// backends/optimise/smaller_loops.h -- a loop or branch that takes, carries and gives less
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <hom/backends/optimise/loop_parts.h>

namespace hom::optimiser {

/// A loop or branch that is made smaller: its step, on operands of the new program.
struct Site {
  Builder& builder;
  const Step& step;
  std::span<const Slot> operands;
  /// Which of its results are used.
  const std::vector<bool>& used;

  Slot append(const Primitive& primitive, std::span<const Slot> on, const Attributes& with) const {
    return builder.append(primitive, with, on, step.at, step.scope);
  }
  Slot literal(const Attribute& value, const TensorType& type) const;
  std::optional<Attribute> literal_of(std::size_t operand) const;
};

/// For each result the slot that stands for it; anything for those that nobody uses.
using Results = std::vector<Slot>;

/// What was met first.
class Firsts {
 public:
  /// The number given with an equal key before, or nothing, and this one is the first.
  std::optional<std::size_t> before(std::uint64_t key, std::size_t number) {
    const auto [found, is_first] = numbers_.emplace(key, number);
    return is_first ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

inline std::uint64_t pair_of(Slot a, Slot b) { return std::uint64_t{a} << 32 | b; }

/// Inputs, in order, whose operands are literals or the same as those of inputs before.
void find_sources(const Builder& builder, std::span<const Slot> operands,
                  const std::vector<std::size_t>& inputs, std::vector<Source>& sources);

/// The results of the step, by a smaller one where that does.
Results smaller_scan(const Site& site);

}  // namespace hom::optimiser
