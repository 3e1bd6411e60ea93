// categories/colouring.cc -- greedy colourings of columns, and of symmetric patterns
#include <hom/categories/colouring.h>

#include <algorithm>
#include <numeric>

#include <hom/core/error.h>

namespace hom {
namespace {

using Number = std::uint32_t;
constexpr Number uncoloured = UINT32_MAX;

/// A set of colours for the column in turn. Nothing is cleared between columns.
class Colours {
 public:
  void start(Number column) { column_ = column; }
  void add(Number colour) {
    if (colour == uncoloured) return;
    if (colour >= by_.size()) by_.resize(colour + 1, uncoloured);
    by_[colour] = column_;
  }
  bool contains(Number colour) const { return colour < by_.size() && by_[colour] == column_; }
  Number first_free() const {
    Number colour = 0;
    while (contains(colour)) ++colour;
    return colour;
  }

 private:
  Number column_ = 0;
  std::vector<Number> by_;
};

/// One greedy colouring: `forbid(column, colours, forbidden)` says what its neighbours leave.
template <class Forbid>
Colouring greedy(const std::vector<Number>& order, const std::vector<bool>& has_entries,
                 const Forbid& forbid) {
  Colouring colouring{std::vector<Number>(order.size(), uncoloured), 0};
  Colours forbidden;
  for (Number column : order) {
    if (!has_entries[column]) continue;
    forbidden.start(column);
    forbid(column, colouring.colours, forbidden);
    const Number colour = forbidden.first_free();
    colouring.colours[column] = colour;
    colouring.count = std::max<std::int64_t>(colouring.count, colour + 1);
  }
  std::replace(colouring.colours.begin(), colouring.colours.end(), uncoloured, Number{0});
  return colouring;
}

/// The greedy colouring in natural order, or largest first where that is better.
template <class Forbid>
Colouring better_of_two(const std::vector<std::int64_t>& neighbours, std::int64_t at_least,
                        const Forbid& forbid) {
  std::vector<bool> has_entries;
  for (std::int64_t count : neighbours) has_entries.push_back(count > 0);
  std::vector<Number> order(neighbours.size());
  std::iota(order.begin(), order.end(), Number{0});
  Colouring natural = greedy(order, has_entries, forbid);
  if (natural.count <= at_least) return natural;
  std::stable_sort(order.begin(), order.end(),
                   [&](Number a, Number b) { return neighbours[a] > neighbours[b]; });
  Colouring largest_first = greedy(order, has_entries, forbid);
  return largest_first.count < natural.count ? largest_first : natural;
}

}  // namespace

Colouring colour_columns(const SparsityPattern& pattern) {
  const SparsityPattern by_columns = transpose(pattern);
  // How many columns each meets, those met in several rows counted again.
  std::vector<std::int64_t> neighbours;
  for (std::int64_t j = 0; j < pattern.column_count; ++j) {
    std::int64_t count = 0;
    for (Number i : by_columns.row(j)) count += static_cast<std::int64_t>(pattern.row(i).size());
    neighbours.push_back(count);
  }
  return better_of_two(neighbours, pattern.widest_row(),
                       [&](Number column, const std::vector<Number>& colours, Colours& forbidden) {
                         for (Number i : by_columns.row(column)) {
                           for (Number other : pattern.row(i)) forbidden.add(colours[other]);
                         }
                       });
}

Colouring colour_symmetric(const SparsityPattern& pattern, const Location& at) {
  require(pattern == transpose(pattern), at, [&] {
    return Complaint{"colour_symmetric: a pattern of " + std::to_string(pattern.row_count) + " × " +
                         std::to_string(pattern.column_count) + " is not symmetric",
                     "unite it with its transpose, or colour its columns"};
  });
  std::vector<std::int64_t> neighbours;
  for (std::int64_t j = 0; j < pattern.column_count; ++j)
    neighbours.push_back(static_cast<std::int64_t>(pattern.row(j).size()));
  // Whether x has another neighbour of the colour of w.
  const auto has_neighbour = [&](Number x, Number w, const std::vector<Number>& colours) {
    const auto row = pattern.row(x);
    return std::any_of(row.begin(), row.end(),
                       [&](Number y) { return y != w && y != x && colours[y] == colours[w]; });
  };
  // With a path v — w — x — y, or u — v — w — x, it is v's turn to break it.
  Colours seen;
  Colours repeated;
  return better_of_two(
      neighbours, 1, [&](Number v, const std::vector<Number>& colours, Colours& forbidden) {
        seen.start(v);
        repeated.start(v);
        for (Number w : pattern.row(v)) {
          if (w == v) continue;
          forbidden.add(colours[w]);
          if (seen.contains(colours[w])) repeated.add(colours[w]);
          seen.add(colours[w]);
        }
        for (Number w : pattern.row(v)) {
          if (w == v) continue;
          const bool decided = colours[w] == uncoloured || repeated.contains(colours[w]);
          for (Number x : pattern.row(w)) {
            if (x == v || x == w || colours[x] == uncoloured) continue;
            if (decided || has_neighbour(x, w, colours)) forbidden.add(colours[x]);
          }
        }
      });
}

std::vector<bool> read_in_place(const SparsityPattern& pattern, const Colouring& colouring) {
  std::vector<bool> in_place;
  in_place.reserve(pattern.columns.size());
  std::vector<std::int64_t> of_colour(static_cast<std::size_t>(colouring.count), 0);
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (Number column : pattern.row(i)) ++of_colour[colouring.colours[column]];
    for (Number column : pattern.row(i))
      in_place.push_back(of_colour[colouring.colours[column]] == 1);
    for (Number column : pattern.row(i)) of_colour[colouring.colours[column]] = 0;
  }
  return in_place;
}

}  // namespace hom
