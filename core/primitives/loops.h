// core/primitives/loops.h -- what `scan` and `while` share, and who appends them
#pragma once

#include <hom/core/primitives/programs.h>

namespace hom {

struct ScanShape {
  std::size_t carries;
  std::size_t scanned;
  std::int64_t length;
  bool reverse;
};
/// Applies a scan to carries…, scanned operands…, constants….
TensorList scan_step(ProgramPtr body, const ScanShape& shape, std::span<const Tensor> operands,
                     const Location& at);
/// Throws unless the body's first results have the types of its carries.
void require_carries(const Typing& typing, const Program& body,
                     std::span<const TensorType> carries);

/// Of a `while` with a bound, from its attributes and the types of its operands: carries…,
/// constants… ↦ carries…, by a scan over the most iterations that there may be, each of which goes
/// on only where the loop does.
Program bounded_while_as_scan(const Attributes& attributes, std::span<const TensorType> types);

}  // namespace hom
