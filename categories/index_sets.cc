// categories/index_sets.cc -- hash tables of sets and of their unions
#include <hom/categories/index_sets.h>

#include <algorithm>
#include <iterator>
#include <string>

#include <hom/core/error.h>

namespace hom::categories {
namespace {

/// Finaliser of MurmurHash3: every bit of the key changes about half of the result's.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51'afd7'ed55'8ccdull;
  x = (x ^ (x >> 33)) * 0xc4ce'b9fe'1a85'ec53ull;
  return x ^ (x >> 33);
}

std::uint32_t hash_of(std::span<const std::uint32_t> elements) {
  std::uint64_t hash = elements.size();
  for (std::uint32_t element : elements) hash = (hash ^ element) * 0x9e37'79b9'7f4a'7c15ull;
  return static_cast<std::uint32_t>(mixed(hash));
}

}  // namespace

IndexSets::IndexSets() : starts_{0, 0}, by_elements_(64), pairs_(64) {}

IndexSets::Id IndexSets::singleton(std::uint64_t element) {
  require(element < single, Location::current(), [&] {
    return Complaint{"sparsity: element number " + std::to_string(element) +
                         " of the arguments; sets have numbers below 2^31",
                     "differentiate in fewer elements at a time"};
  });
  return static_cast<Id>(element) | single;
}

std::span<const std::uint32_t> IndexSets::stored_elements(Id set) const {
  return {elements_.data() + starts_[set], elements_.data() + starts_[set + 1]};
}

std::size_t IndexSets::count(Id set) const {
  return set & single ? 1 : stored_elements(set).size();
}

void IndexSets::append(Id set, std::vector<std::uint32_t>& to) const {
  if (set & single) {
    to.push_back(set & ~single);
    return;
  }
  const auto elements = stored_elements(set);
  to.insert(to.end(), elements.begin(), elements.end());
}

void IndexSets::grow_table() {
  std::vector<Place> larger(2 * by_elements_.size());
  const std::size_t mask = larger.size() - 1;
  for (const Place& old : by_elements_) {
    if (old.set == none) continue;
    std::size_t place = old.hash & mask;
    while (larger[place].set != none) place = (place + 1) & mask;
    larger[place] = old;
  }
  by_elements_ = std::move(larger);
}

IndexSets::Id IndexSets::intern(std::span<const std::uint32_t> elements) {
  if (elements.empty()) return none;
  if (elements.size() == 1) return singleton(elements[0]);
  if (2 * starts_.size() > by_elements_.size()) grow_table();
  const std::uint32_t hash = hash_of(elements);
  const std::size_t mask = by_elements_.size() - 1;
  std::size_t place = hash & mask;
  for (; by_elements_[place].set != none; place = (place + 1) & mask) {
    if (by_elements_[place].hash != hash) continue;
    const auto known = stored_elements(by_elements_[place].set);
    if (std::equal(known.begin(), known.end(), elements.begin(), elements.end()))
      return by_elements_[place].set;
  }
  const auto set = static_cast<Id>(starts_.size() - 1);
  ensure(set < single, "fewer than 2^31 sets");
  elements_.insert(elements_.end(), elements.begin(), elements.end());
  starts_.push_back(elements_.size());
  by_elements_[place] = {set, hash};
  return set;
}

IndexSets::Id IndexSets::merged(Id a, Id b) {
  scratch_.clear();
  append(a, scratch_);
  const std::size_t of_a = scratch_.size();
  append(b, scratch_);
  const std::size_t of_b = scratch_.size() - of_a;
  const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>(of_a);
  union_.clear();
  std::set_union(scratch_.begin(), middle, middle, scratch_.end(), std::back_inserter(union_));
  // One that has the other is in the table already.
  if (union_.size() == of_a) return a;
  if (union_.size() == of_b) return b;
  return intern(union_);
}

IndexSets::Id IndexSets::unite(Id a, Id b) {
  if (a == b || b == none) return a;
  if (a == none) return b;
  // Small sets are merged sooner than their union is found: a look-up waits for memory.
  constexpr std::size_t small = 64;
  if (count(a) + count(b) <= small) return merged(a, b);
  if (a > b) std::swap(a, b);
  if (2 * pair_count_ >= pairs_.size()) {
    std::vector<Pair> larger(2 * pairs_.size());
    for (const Pair& pair : pairs_) {
      if (pair.key == 0) continue;
      std::size_t place = mixed(pair.key) & (larger.size() - 1);
      while (larger[place].key != 0) place = (place + 1) & (larger.size() - 1);
      larger[place] = pair;
    }
    pairs_ = std::move(larger);
  }
  const std::uint64_t key = std::uint64_t{a} << 32 | b;
  const std::size_t mask = pairs_.size() - 1;
  std::size_t place = mixed(key) & mask;
  for (; pairs_[place].key != 0; place = (place + 1) & mask) {
    if (pairs_[place].key == key) return pairs_[place].result;
  }
  pairs_[place] = {key, merged(a, b)};
  ++pair_count_;
  return pairs_[place].result;
}

IndexSets::Id IndexSets::unite(std::span<const Id> sets) {
  // Many are the same: each is read once.
  scratch_sets_.assign(sets.begin(), sets.end());
  std::sort(scratch_sets_.begin(), scratch_sets_.end());
  scratch_sets_.erase(std::unique(scratch_sets_.begin(), scratch_sets_.end()), scratch_sets_.end());
  if (scratch_sets_.empty()) return none;
  if (scratch_sets_.size() == 1) return scratch_sets_[0];
  if (scratch_sets_.size() == 2) return unite(scratch_sets_[0], scratch_sets_[1]);
  scratch_.clear();
  for (Id set : scratch_sets_) append(set, scratch_);
  std::sort(scratch_.begin(), scratch_.end());
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  return intern(scratch_);
}

}  // namespace hom::categories
