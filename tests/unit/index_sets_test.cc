// tests/unit/index_sets_test.cc -- interned sets unite as sets do, and equal ones have equal ids
#include <hom/categories/index_sets.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <hom/core/error.h>

namespace hom::categories {
namespace {

using Id = IndexSets::Id;
using Plain = std::set<std::uint32_t>;

Plain plain(const IndexSets& sets, Id id) {
  std::vector<std::uint32_t> list;
  sets.append(id, list);
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
  Plain found(list.begin(), list.end());
  EXPECT_EQ(found.size(), sets.count(id));
  return found;
}

TEST(IndexSets, begin_with_none_and_single_ones_that_take_no_memory) {
  IndexSets sets;
  EXPECT_EQ(plain(sets, IndexSets::none), Plain{});
  EXPECT_EQ(plain(sets, IndexSets::singleton(0)), Plain{0});
  EXPECT_EQ(plain(sets, IndexSets::singleton(7)), Plain{7});
  EXPECT_EQ(sets.unite(IndexSets::singleton(7), IndexSets::none), IndexSets::singleton(7));
  EXPECT_EQ(sets.unite(IndexSets::singleton(7), IndexSets::singleton(7)), IndexSets::singleton(7));
  EXPECT_EQ(sets.stored(), 0u);
  EXPECT_THROW(IndexSets::singleton(std::uint64_t{1} << 31), Error);
}

TEST(IndexSets, unite_as_sets_do) {
  IndexSets sets;
  std::mt19937 random(1);
  // Ids with what they stand for; small universes make unions meet, large ones grow.
  std::vector<std::pair<Id, Plain>> pool{{IndexSets::none, {}}};
  std::map<Plain, Id> known{{{}, IndexSets::none}};
  for (int round = 0; round < 6000; ++round) {
    Id id = IndexSets::none;
    Plain want;
    const auto any = [&] { return pool[random() % pool.size()]; };
    if (random() % 3 == 0) {
      const std::uint32_t element = random() % (round < 3000 ? 12 : 400);
      id = IndexSets::singleton(element);
      want = {element};
    } else if (random() % 2 == 0) {
      const auto [a, elements_a] = any();
      const auto [b, elements_b] = any();
      id = sets.unite(a, b);
      want = elements_a;
      want.insert(elements_b.begin(), elements_b.end());
    } else {
      std::vector<Id> list;
      for (std::size_t k = random() % 6; k > 0; --k) {
        const auto [a, elements] = any();
        list.push_back(a);
        want.insert(elements.begin(), elements.end());
      }
      id = sets.unite(list);
    }
    ASSERT_EQ(plain(sets, id), want);
    const auto [entry, is_new] = known.emplace(want, id);
    ASSERT_EQ(entry->second, id) << "equal sets have one id";
    pool.emplace_back(id, want);
  }
  EXPECT_GE(sets.stored(), 500u);
  std::size_t several = 0;
  for (const auto& [elements, id] : known) several += elements.size() > 1;
  EXPECT_EQ(sets.stored(), several);
}

}  // namespace
}  // namespace hom::categories
