// tests/unit/colouring_test.cc -- colourings are valid, and of known patterns the best
#include <hom/categories/colouring.h>

#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace hom {
namespace {

using Entries = std::vector<std::pair<std::int64_t, std::int64_t>>;

SparsityPattern where(std::int64_t rows, std::int64_t columns,
                      const std::function<bool(std::int64_t, std::int64_t)>& is_entry) {
  Entries entries;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (is_entry(i, j)) entries.emplace_back(i, j);
    }
  }
  return sparsity_pattern(rows, columns, entries);
}
SparsityPattern banded(std::int64_t n, std::int64_t width) {
  return where(n, n, [&](std::int64_t i, std::int64_t j) { return std::abs(i - j) <= width; });
}
SparsityPattern arrow_matrix(std::int64_t n) {
  return where(n, n, [](std::int64_t i, std::int64_t j) { return i == j || i == 0 || j == 0; });
}

/// Columns that share a row differ.
bool keeps_columns_apart(const SparsityPattern& pattern,
                         const std::vector<std::uint32_t>& colours) {
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t a : pattern.row(i)) {
      for (std::uint32_t b : pattern.row(i)) {
        if (a != b && colours[a] == colours[b]) return false;
      }
    }
  }
  return true;
}

/// By the definition: neighbours differ, and no path of four columns has two colours.
bool is_star_colouring(const SparsityPattern& pattern, const std::vector<std::uint32_t>& colours) {
  const auto adjacent = [&](std::uint32_t a, std::uint32_t b) {
    return a != b && pattern.contains(a, b);
  };
  const auto n = static_cast<std::uint32_t>(pattern.column_count);
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = 0; b < n; ++b) {
      if (!adjacent(a, b)) continue;
      if (colours[a] == colours[b]) return false;
      for (std::uint32_t c = 0; c < n; ++c) {
        if (c == a || !adjacent(b, c) || colours[c] != colours[a]) continue;
        for (std::uint32_t d = 0; d < n; ++d) {
          if (d != a && d != b && adjacent(c, d) && colours[d] == colours[b]) return false;
        }
      }
    }
  }
  return true;
}

/// The fewest colours of any valid colouring, by trying all.
std::int64_t fewest(const SparsityPattern& pattern,
                    const std::function<bool(const std::vector<std::uint32_t>&)>& is_valid) {
  for (std::uint32_t count = 1;; ++count) {
    std::vector<std::uint32_t> colours(static_cast<std::size_t>(pattern.column_count), 0);
    while (true) {
      if (is_valid(colours)) return count;
      std::size_t digit = 0;
      while (digit < colours.size() && ++colours[digit] == count) colours[digit++] = 0;
      if (digit == colours.size()) break;
    }
  }
}

SparsityPattern random_pattern(std::mt19937& random, std::int64_t rows, std::int64_t columns) {
  return where(rows, columns, [&](std::int64_t, std::int64_t) { return random() % 4 == 0; });
}
SparsityPattern random_symmetric(std::mt19937& random, std::int64_t n) {
  const SparsityPattern any = random_pattern(random, n, n);
  return unite(any, transpose(any));
}

TEST(Colouring, of_a_band_has_as_many_colours_as_the_band_is_wide) {
  EXPECT_EQ(colour_columns(banded(10, 0)).count, 1);
  EXPECT_EQ(colour_columns(banded(10, 1)).count, 3);
  EXPECT_EQ(colour_columns(banded(100, 2)).count, 5);
  EXPECT_EQ(colour_columns(banded(2, 5)).count, 2);
}

TEST(Colouring, of_an_arrow_matrix_is_dense_but_symmetrically_two) {
  const SparsityPattern arrow = arrow_matrix(20);
  EXPECT_EQ(colour_columns(arrow).count, 20);
  EXPECT_EQ(colour_symmetric(arrow).count, 2);
}

TEST(Colouring, of_a_symmetric_band) {
  // A path needs three: of two colours, four columns in a row would have two.
  EXPECT_EQ(colour_symmetric(banded(30, 1)).count, 3);
  EXPECT_EQ(colour_symmetric(banded(3, 1)).count, 2);
  EXPECT_EQ(colour_symmetric(banded(9, 0)).count, 1);
}

TEST(Colouring, of_nothing_has_no_colours) {
  EXPECT_EQ(colour_columns(where(3, 4, [](auto, auto) { return false; })).count, 0);
  EXPECT_EQ(colour_columns(where(0, 0, [](auto, auto) { return false; })).count, 0);
  EXPECT_EQ(colour_symmetric(where(4, 4, [](auto, auto) { return false; })).count, 0);
}

TEST(Colouring, a_column_without_entries_needs_none) {
  const SparsityPattern pattern = sparsity_pattern(2, 3, {{0, 0}, {1, 2}});
  EXPECT_EQ(colour_columns(pattern).count, 1);
}

TEST(Colouring, of_columns_is_valid_and_at_least_the_widest_row) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const SparsityPattern pattern = random_pattern(random, 1 + random() % 12, 1 + random() % 12);
    const Colouring colouring = colour_columns(pattern);
    EXPECT_TRUE(keeps_columns_apart(pattern, colouring.colours)) << pattern;
    EXPECT_GE(colouring.count, pattern.widest_row());
    for (std::uint32_t colour : colouring.colours)
      EXPECT_LT(colour, std::max<std::int64_t>(colouring.count, 1));
  }
}

TEST(Colouring, of_columns_is_seldom_more_than_the_best) {
  std::mt19937 random(2);
  std::int64_t best = 0;
  std::int64_t found = 0;
  for (int round = 0; round < 60; ++round) {
    const SparsityPattern pattern = random_pattern(random, 6, 6);
    const std::int64_t least =
        fewest(pattern, [&](const auto& colours) { return keeps_columns_apart(pattern, colours); });
    const std::int64_t count = std::max<std::int64_t>(1, colour_columns(pattern).count);
    EXPECT_GE(count, least);
    EXPECT_LE(count, least + 1);
    best += least;
    found += count;
  }
  EXPECT_LE(found, best + best / 20);
}

TEST(Colouring, of_a_symmetric_pattern_is_a_star_colouring_that_recovers_every_entry) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const SparsityPattern pattern = random_symmetric(random, 1 + random() % 12);
    const Colouring colouring = colour_symmetric(pattern);
    EXPECT_TRUE(is_star_colouring(pattern, colouring.colours)) << pattern;
    EXPECT_LE(colouring.count, colour_columns(pattern).count + 1);
    // Each entry is alone with its colour in its own row, or in the row of its twin.
    const std::vector<bool> in_place = read_in_place(pattern, colouring);
    std::size_t entry = 0;
    for (std::int64_t i = 0; i < pattern.row_count; ++i) {
      for (std::uint32_t j : pattern.row(i)) {
        const auto alone = [&](std::int64_t row, std::uint32_t column) {
          std::int64_t same = 0;
          for (std::uint32_t k : pattern.row(row))
            same += colouring.colours[k] == colouring.colours[column];
          return same == 1;
        };
        EXPECT_EQ(in_place[entry], alone(i, j));
        EXPECT_TRUE(in_place[entry] || alone(j, static_cast<std::uint32_t>(i)));
        ++entry;
      }
    }
  }
}

TEST(Colouring, of_small_symmetric_patterns_is_near_the_best) {
  std::mt19937 random(4);
  std::int64_t best = 0;
  std::int64_t found = 0;
  for (int round = 0; round < 40; ++round) {
    const SparsityPattern pattern = random_symmetric(random, 6);
    const std::int64_t least =
        fewest(pattern, [&](const auto& colours) { return is_star_colouring(pattern, colours); });
    const std::int64_t count = std::max<std::int64_t>(1, colour_symmetric(pattern).count);
    EXPECT_GE(count, least);
    EXPECT_LE(count, least + 2);
    best += least;
    found += count;
  }
  EXPECT_LE(found, best + best / 6);
}

TEST(Colouring, of_a_pattern_that_is_not_symmetric_is_refused) {
  try {
    colour_symmetric(sparsity_pattern(2, 2, {{0, 1}}));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a pattern of 2 × 2 is not symmetric"),
              std::string::npos)
        << error.what();
  }
}

TEST(Colouring, takes_linear_time_for_narrow_rows) {
  // A million columns; a quadratic algorithm would not end.
  const std::int64_t n = 1000000;
  SparsityPattern pattern{n, n, {0}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j < std::min(n, i + 2); ++j)
      pattern.columns.push_back(static_cast<std::uint32_t>(j));
    pattern.starts.push_back(pattern.entry_count());
  }
  EXPECT_EQ(colour_columns(pattern).count, 3);
  EXPECT_EQ(colour_symmetric(pattern).count, 3);
}
TEST(Colouring, takes_linear_time_for_a_symmetric_pattern_with_a_full_row) {
  const std::int64_t n = 300000;
  SparsityPattern pattern{n, n, {0}, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == 0) {
      for (std::int64_t j = 0; j < n; ++j) pattern.columns.push_back(static_cast<std::uint32_t>(j));
    } else {
      pattern.columns.push_back(0);
      pattern.columns.push_back(static_cast<std::uint32_t>(i));
    }
    pattern.starts.push_back(pattern.entry_count());
  }
  EXPECT_EQ(colour_symmetric(pattern).count, 2);
}

TEST(SparsityPattern, is_made_turned_round_and_shown) {
  const SparsityPattern pattern = sparsity_pattern(2, 3, {{1, 2}, {0, 0}, {1, 0}, {1, 2}});
  EXPECT_EQ(to_string(pattern), "x . .\nx . x\n");
  EXPECT_EQ(to_string(transpose(pattern)), "x x\n. .\n. x\n");
  EXPECT_EQ(transpose(transpose(pattern)), pattern);
  EXPECT_EQ(pattern.entry_count(), 3);
  EXPECT_TRUE(pattern.contains(1, 2));
  EXPECT_FALSE(pattern.contains(0, 2));
  EXPECT_TRUE(array_equal(to_dense(pattern), tensor({{true, false, false}, {true, false, true}})));
  const SparsityPattern more = unite(pattern, sparsity_pattern(2, 3, {{0, 1}}));
  EXPECT_EQ(to_string(more), "x x .\nx . x\n");
  EXPECT_TRUE(includes(more, pattern));
  EXPECT_FALSE(includes(pattern, more));
  EXPECT_THROW(sparsity_pattern(2, 3, {{0, 3}}), Error);
  EXPECT_THROW(sparsity_pattern(2, 3, {{-1, 0}}), Error);
  EXPECT_THROW(unite(pattern, transpose(pattern)), Error);
}

}  // namespace
}  // namespace hom
