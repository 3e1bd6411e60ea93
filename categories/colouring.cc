// categories/colouring.cc -- greedy colourings of columns, and of symmetric patterns
#include <hom/categories/colouring.h>

#include <algorithm>
#include <numeric>
#include <utility>

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

/// One greedy colouring, by a rule that says which colours the neighbours of a column leave, and
/// takes note of each that is given.
template <class Rule>
Colouring greedy(Rule rule, const std::vector<Number>& order,
                 const std::vector<std::int64_t>& neighbours) {
  Colouring colouring{std::vector<Number>(order.size(), uncoloured), 0};
  Colours forbidden;
  for (Number column : order) {
    if (neighbours[column] == 0) continue;
    forbidden.start(column);
    rule.forbid(column, colouring.colours, forbidden);
    const Number colour = forbidden.first_free();
    colouring.colours[column] = colour;
    colouring.count = std::max<std::int64_t>(colouring.count, colour + 1);
    rule.note(column, colouring.colours);
  }
  std::replace(colouring.colours.begin(), colouring.colours.end(), uncoloured, Number{0});
  return colouring;
}

/// The greedy colouring in natural order, or largest first where that is better.
template <class Rule>
Colouring better_of_two(const Rule& rule, const std::vector<std::int64_t>& neighbours,
                        std::int64_t at_least) {
  std::vector<Number> order(neighbours.size());
  std::iota(order.begin(), order.end(), Number{0});
  Colouring natural = greedy(rule, order, neighbours);
  if (natural.count <= at_least) return natural;
  std::sort(order.begin(), order.end(), [&](Number a, Number b) {
    return std::pair{-neighbours[a], a} < std::pair{-neighbours[b], b};
  });
  Colouring largest_first = greedy(rule, order, neighbours);
  return largest_first.count < natural.count ? largest_first : natural;
}

/// Columns with a row in common differ.
struct Apart {
  const SparsityPattern& by_rows;
  const SparsityPattern& by_columns;

  void forbid(Number column, const std::vector<Number>& colours, Colours& forbidden) const {
    for (Number i : by_columns.row(column)) {
      for (Number other : by_rows.row(i)) forbidden.add(colours[other]);
    }
  }
  void note(Number, const std::vector<Number>&) const {}
};

/// No path of four has two colours. The path that column v might close is v — w — x — y, or has v
/// in the middle, u — v — w — x; both have x in reach by its colour alone, so that only colours
/// around a column are kept, and no path is walked.
class Stars {
 public:
  explicit Stars(const SparsityPattern& pattern)
      : pattern_(pattern), around_(pattern.starts.size()), closing_(pattern.starts.size()) {}

  void forbid(Number v, const std::vector<Number>& colours, Colours& forbidden) const {
    for (const Seen& seen : around_[v]) forbidden.add(seen.colour);
    for (Number w : pattern_.row(v)) {
      if (w == v) continue;
      if (colours[w] == uncoloured || times(v, colours[w]) > 1) {
        for (const Seen& seen : around_[w]) forbidden.add(seen.colour);
      } else {
        for (Number colour : closing_[w]) forbidden.add(colour);
      }
    }
  }

  void note(Number v, const std::vector<Number>& colours) {
    const Number colour = colours[v];
    for (Number x : pattern_.row(v)) {
      if (x == v) continue;
      const auto found = std::find_if(around_[x].begin(), around_[x].end(),
                                      [&](const Seen& seen) { return seen.colour == colour; });
      if (found == around_[x].end()) {
        around_[x].push_back({colour, v, 1});
        continue;
      }
      if (++found->times == 2) close(found->first, colours[x]);
      close(v, colours[x]);
    }
    for (Number w : pattern_.row(v)) {
      if (w != v && colours[w] != uncoloured && times(v, colours[w]) > 1) close(w, colour);
    }
  }

 private:
  struct Seen {
    Number colour;
    Number first;
    Number times;
  };

  Number times(Number v, Number colour) const {
    for (const Seen& seen : around_[v]) {
      if (seen.colour == colour) return seen.times;
    }
    return 0;
  }
  void close(Number w, Number colour) {
    std::vector<Number>& list = closing_[w];
    if (colour != uncoloured && std::find(list.begin(), list.end(), colour) == list.end())
      list.push_back(colour);
  }

  const SparsityPattern& pattern_;
  /// For each column the colours of its neighbours.
  std::vector<std::vector<Seen>> around_;
  /// For each column w the colours of neighbours x that have another neighbour of w's colour.
  std::vector<std::vector<Number>> closing_;
};

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
  return better_of_two(Apart{pattern, by_columns}, neighbours, pattern.widest_row());
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
  return better_of_two(Stars(pattern), neighbours, 1);
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
