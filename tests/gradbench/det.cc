// tests/gradbench/det.cc -- all minors of one size as one batch of matrices
//
// det M = Σⱼ (−1)ʲ M₀ⱼ·det(M without row 0 and column j), down to matrices of one entry. The
// recursion is the plain one: no minor is computed once for several products, and ℓ levels hold ℓ!,
// ℓ!/2, ℓ!/6 … matrices of 1, 2, 3 … rows, about e·ℓ! entries times 2 in all. But each level is a
// few steps on one tensor, so a program has a number of steps proportional to ℓ, and reverse mode
// costs a small factor of it.
#include <hom/tests/gradbench/det.h>

namespace hom::gradbench {
namespace {

/// Which columns a minor keeps: row j of [s, s − 1] is 0 … s − 1 without j.
Tensor columns_without_each(std::int64_t s) {
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < s; ++j) {
    for (std::int64_t k = 0; k < s; ++k) {
      if (k != j) columns.push_back(k);
    }
  }
  return tensor(columns, Shape{s, s - 1});
}

/// Determinants of a batch of matrices, [batch, s, s] → [batch].
Tensor determinants(const Tensor& m) {
  const std::int64_t batch = m.extent(0);
  const std::int64_t s = m.extent(1);
  if (s == 1) return reshape(m, {batch});
  // [batch, s − 1, s, s − 1]: rows 1 … without each column; then one matrix for each column.
  const Tensor below = take(m(all, Range{1}), columns_without_each(s), 2);
  const Tensor minors = reshape(swap_axes(below, 1, 2), {batch * s, s - 1, s - 1});
  const Tensor sign = 1.0 - 2.0 * (arange(s) % 2).astype(f64);
  return sum(sign * m(all, 0) * reshape(determinants(minors), {batch, s}), 1);
}

double expansion(const std::vector<double>& a, std::size_t size, std::size_t row,
                 std::vector<std::size_t>& columns) {
  if (row + 1 == size) return a[row * size + columns[0]];
  double total = 0;
  double sign = 1;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const std::size_t column = columns[j];
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(j));
    total += sign * a[row * size + column] * expansion(a, size, row + 1, columns);
    columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(j), column);
    sign = -sign;
  }
  return total;
}

}  // namespace

Workload det(const Records& in) {
  const auto f = [](const Tensor& a) { return determinants(expand_dims(a, 0))(0); };
  const Tensor a = in["A"];

  const auto by_hand = [entries = a.to_vector(), size = static_cast<std::size_t>(a.extent(0))] {
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < size; ++j) columns.push_back(j);
    return std::vector{expansion(entries, size, 0, columns)};
  };

  return {.primal = prepared(f, a),
          .gradient = prepared([f](const Tensor& x) { return ravel(grad(f)(x)); }, a),
          .by_hand = by_hand,
          .named = [](const Results& primal, const Results& gradient) {
            return joined(name_in_order({"primal"}, primal), name_in_order({"gradient"}, gradient));
          }};
}

}  // namespace hom::gradbench
