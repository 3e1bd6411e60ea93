// categories/sparsity_pattern.cc -- patterns: made from entries, turned round, united, shown
#include <hom/categories/sparsity_pattern.h>

#include <algorithm>
#include <iterator>
#include <ostream>

#include <hom/core/error.h>

namespace hom {
namespace {

std::string size_of(const SparsityPattern& pattern) {
  return std::to_string(pattern.row_count) + " × " + std::to_string(pattern.column_count);
}

}  // namespace

std::span<const std::uint32_t> SparsityPattern::row(std::int64_t i) const {
  const auto k = static_cast<std::size_t>(i);
  return {columns.data() + starts[k], columns.data() + starts[k + 1]};
}

bool SparsityPattern::contains(std::int64_t i, std::int64_t column) const {
  const auto entries = row(i);
  return std::binary_search(entries.begin(), entries.end(), static_cast<std::uint32_t>(column));
}

std::int64_t SparsityPattern::widest_row() const {
  std::int64_t widest = 0;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    widest = std::max(widest, starts[i + 1] - starts[i]);
  return widest;
}

SparsityPattern sparsity_pattern(std::int64_t row_count, std::int64_t column_count,
                                 std::vector<std::pair<std::int64_t, std::int64_t>> entries,
                                 const Location& at) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  SparsityPattern pattern{row_count, column_count, {0}, {}};
  std::size_t next = 0;
  for (std::int64_t i = 0; i < row_count; ++i) {
    for (; next < entries.size() && entries[next].first == i; ++next) {
      const std::int64_t column = entries[next].second;
      if (column < 0 || column >= column_count) break;
      pattern.columns.push_back(static_cast<std::uint32_t>(column));
    }
    pattern.starts.push_back(pattern.entry_count());
  }
  require(next == entries.size(), at, [&] {
    // What comes first and is not in a row: negative rows stand in front, columns in their row.
    const auto& [row, column] = entries[next];
    return Complaint{"sparsity_pattern: entry (" + std::to_string(row) + ", " +
                         std::to_string(column) + ") is outside a matrix of " + size_of(pattern),
                     "rows and columns count from 0"};
  });
  return pattern;
}

SparsityPattern transpose(const SparsityPattern& pattern) {
  SparsityPattern turned{pattern.column_count, pattern.row_count, {}, {}};
  turned.starts.assign(static_cast<std::size_t>(pattern.column_count) + 1, 0);
  for (std::uint32_t column : pattern.columns) ++turned.starts[column + 1];
  for (std::size_t j = 1; j < turned.starts.size(); ++j) turned.starts[j] += turned.starts[j - 1];
  turned.columns.resize(pattern.columns.size());
  std::vector<std::int64_t> next(turned.starts.begin(), turned.starts.end() - 1);
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t column : pattern.row(i))
      turned.columns[static_cast<std::size_t>(next[column]++)] = static_cast<std::uint32_t>(i);
  }
  return turned;
}

SparsityPattern unite(const SparsityPattern& a, const SparsityPattern& b, const Location& at) {
  require(a.row_count == b.row_count && a.column_count == b.column_count, at, [&] {
    return Complaint{"unite: a pattern of " + size_of(a) + " and one of " + size_of(b),
                     "both belong to one matrix"};
  });
  SparsityPattern both{a.row_count, a.column_count, {0}, {}};
  both.starts.reserve(a.starts.size());
  both.columns.reserve(std::max(a.columns.size(), b.columns.size()));
  for (std::int64_t i = 0; i < a.row_count; ++i) {
    const auto x = a.row(i);
    const auto y = b.row(i);
    std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(both.columns));
    both.starts.push_back(both.entry_count());
  }
  return both;
}

bool includes(const SparsityPattern& a, const SparsityPattern& b) {
  if (a.row_count != b.row_count || a.column_count != b.column_count) return false;
  for (std::int64_t i = 0; i < a.row_count; ++i) {
    const auto x = a.row(i);
    const auto y = b.row(i);
    if (!std::includes(x.begin(), x.end(), y.begin(), y.end())) return false;
  }
  return true;
}

Tensor to_dense(const SparsityPattern& pattern) {
  const auto dense = Array::allocate(bool_[{pattern.row_count, pattern.column_count}]);
  bool* entries = dense->data<bool>();
  std::fill_n(entries, pattern.row_count * pattern.column_count, false);
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t column : pattern.row(i)) entries[i * pattern.column_count + column] = true;
  }
  return Tensor(dense);
}

std::string to_string(const SparsityPattern& pattern) {
  constexpr std::int64_t largest = 80;
  if (pattern.row_count > largest || pattern.column_count > largest)
    return size_of(pattern) + " with " + std::to_string(pattern.entry_count()) + " entries\n";
  std::string text;
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::int64_t j = 0; j < pattern.column_count; ++j)
      text += std::string(j ? " " : "") + (pattern.contains(i, j) ? 'x' : '.');
    text += '\n';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const SparsityPattern& pattern) {
  return out << to_string(pattern);
}

}  // namespace hom
