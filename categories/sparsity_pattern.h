// categories/sparsity_pattern.h -- which entries of a matrix may differ from zero
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hom/core/tensor.h>

namespace hom {

/// The places of the entries of a matrix by rows: those of row i are `columns[k]`, ascending, for k
/// from `starts[i]` to `starts[i + 1]`. All other entries are zero.
struct SparsityPattern {
  std::int64_t row_count = 0;
  std::int64_t column_count = 0;
  /// row_count + 1 of them, the first 0.
  std::vector<std::int64_t> starts{0};
  std::vector<std::uint32_t> columns = {};

  std::int64_t entry_count() const { return static_cast<std::int64_t>(columns.size()); }
  std::span<const std::uint32_t> row(std::int64_t i) const;
  bool contains(std::int64_t row, std::int64_t column) const;
  /// The largest number of entries in a row.
  std::int64_t widest_row() const;

  friend bool operator==(const SparsityPattern&, const SparsityPattern&) = default;
};

/// The pattern of these entries (row, column), in any order; repeated ones count once. Throws for a
/// place outside.
SparsityPattern sparsity_pattern(std::int64_t row_count, std::int64_t column_count,
                                 std::vector<std::pair<std::int64_t, std::int64_t>> entries,
                                 const Location& at = Location::current());
SparsityPattern transpose(const SparsityPattern& pattern);
/// The entries of either. Throws where the matrices differ in size.
SparsityPattern unite(const SparsityPattern& a, const SparsityPattern& b,
                      const Location& at = Location::current());
/// Whether `a` has every entry of `b`.
bool includes(const SparsityPattern& a, const SparsityPattern& b);
/// bool [rows, columns], true for the entries.
Tensor to_dense(const SparsityPattern& pattern);

/// A picture, one line for each row: `x` for an entry and `.` for none; of large ones their size.
std::string to_string(const SparsityPattern& pattern);
std::ostream& operator<<(std::ostream& out, const SparsityPattern& pattern);

}  // namespace hom
