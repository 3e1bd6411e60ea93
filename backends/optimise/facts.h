// backends/optimise/facts.h -- what is known of the elements of a slot, whatever the inputs are
#pragma once

#include <vector>

#include <hom/core/builder.h>

namespace hom::optimiser {

/// What some element may be; `false` is a promise. Of integers and bool only the last two say
/// anything, and the first three are false.
struct Facts {
  bool nan = true;
  bool infinite = true;
  bool negative_zero = true;
  /// Less than zero (−0 is not).
  bool negative = true;
  /// Zero, of either sign.
  bool zero = true;

  bool finite() const { return !nan && !infinite; }
};

/// Facts of the slots of a builder, found as they are asked for: from the definition of a slot and
/// the facts of its operands.
class FactTable {
 public:
  explicit FactTable(const Builder& builder) : builder_(builder) {}
  Facts operator()(Slot slot);

 private:
  const Builder& builder_;
  std::vector<Facts> known_;
};

}  // namespace hom::optimiser
