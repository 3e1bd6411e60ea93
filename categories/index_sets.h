// categories/index_sets.h -- sets of numbers, each stored once, known by a number of their own
//
// What the category of sparsity patterns computes with. Equal sets have equal ids, so a union of
// large sets that was formed before is a look-up; sets of one element take no memory at all. A
// million sets of thirty elements take about 200 MB.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hom::categories {

/// A table of sets of numbers below 2³¹. It only grows.
class IndexSets {
 public:
  using Id = std::uint32_t;
  /// The empty set; what zeros stand for.
  static constexpr Id none = 0;

  IndexSets();

  /// {element}. Throws `Error` for 2³¹ and more.
  static Id singleton(std::uint64_t element);
  Id unite(Id a, Id b);
  /// The union of all, in time linear in their elements up to a sort of the result.
  Id unite(std::span<const Id> sets);

  std::size_t count(Id set) const;
  /// Appends the elements, ascending.
  void append(Id set, std::vector<std::uint32_t>& to) const;
  /// Sets stored, those of none and of one element left out.
  std::size_t stored() const { return starts_.size() - 2; }

 private:
  static constexpr Id single = 0x8000'0000u;

  Id merged(Id a, Id b);
  /// The set of these elements, ascending and without repetitions.
  Id intern(std::span<const std::uint32_t> elements);
  std::span<const std::uint32_t> stored_elements(Id set) const;
  void grow_table();

  /// Set k has the elements [starts_[k], starts_[k + 1]) of `elements_`; set 0 is empty.
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint32_t> elements_;
  /// Sets by the hash of their elements: open addressing, `none` where free.
  struct Place {
    Id set = none;
    std::uint32_t hash = 0;
  };
  std::vector<Place> by_elements_;

  /// Unions of pairs of larger sets: open addressing, key 0 where free.
  struct Pair {
    std::uint64_t key = 0;
    Id result = none;
  };
  std::vector<Pair> pairs_;
  std::size_t pair_count_ = 0;

  std::vector<Id> scratch_sets_;
  std::vector<std::uint32_t> scratch_;
  std::vector<std::uint32_t> union_;
};

}  // namespace hom::categories
