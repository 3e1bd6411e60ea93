// backends/nests/arena.cc -- packing of blocks by best fit
#include <hom/backends/nests/arena.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace hom::nest {
namespace {

/// Free ranges of memory that grows at its end; neighbours become one.
class FreeRanges {
 public:
  /// The smallest range that has room, at its start, or the end of the memory.
  std::int64_t take(std::int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit != by_size_.end()) {
      const auto [size, offset] = *fit;
      remove(by_offset_.find(offset));
      if (size > bytes) insert(offset + bytes, size - bytes);
      return offset;
    }
    // A free range at the end grows.
    std::int64_t offset = end_;
    if (!by_offset_.empty()) {
      const auto last = std::prev(by_offset_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        remove(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  void give(std::int64_t offset, std::int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = remove(next);
    }
    if (next != by_offset_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        remove(before);
      }
    }
    insert(offset, bytes);
  }

  std::int64_t end() const { return end_; }

 private:
  using ByOffset = std::map<std::int64_t, std::int64_t>;

  void insert(std::int64_t offset, std::int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  ByOffset::iterator remove(ByOffset::iterator range) {
    by_size_.erase({range->second, range->first});
    return by_offset_.erase(range);
  }

  ByOffset by_offset_;
  std::set<std::pair<std::int64_t, std::int64_t>> by_size_;
  std::int64_t end_ = 0;
};

/// Blocks in the order of their begin.
Packing best_fit(std::span<const MemoryBlock> blocks) {
  std::vector<std::uint32_t> by_begin(blocks.size());
  std::iota(by_begin.begin(), by_begin.end(), 0U);
  std::vector<std::uint32_t> by_end = by_begin;
  std::sort(by_begin.begin(), by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    // Of those that begin together, the largest first.
    if (blocks[a].begin != blocks[b].begin) return blocks[a].begin < blocks[b].begin;
    if (blocks[a].bytes != blocks[b].bytes) return blocks[a].bytes > blocks[b].bytes;
    return a < b;
  });
  std::sort(by_end.begin(), by_end.end(), [&](std::uint32_t a, std::uint32_t b) {
    return blocks[a].end != blocks[b].end ? blocks[a].end < blocks[b].end : a < b;
  });
  Packing packing;
  packing.offsets.resize(blocks.size());
  FreeRanges free;
  auto over = by_end.begin();
  for (const std::uint32_t b : by_begin) {
    for (; over != by_end.end() && blocks[*over].end < blocks[b].begin; ++over)
      free.give(packing.offsets[*over], blocks[*over].bytes);
    packing.offsets[b] = free.take(blocks[b].bytes);
  }
  packing.bytes = free.end();
  return packing;
}

/// The largest block first, each at the lowest place that is free for as long as it is needed.
/// Quadratic.
Packing by_size(std::span<const MemoryBlock> blocks) {
  std::vector<std::uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return blocks[a].bytes != blocks[b].bytes ? blocks[a].bytes > blocks[b].bytes : a < b;
  });
  Packing packing;
  packing.offsets.resize(blocks.size());
  std::vector<std::uint32_t> placed;  // by offset
  for (const std::uint32_t b : order) {
    std::int64_t offset = 0;
    for (const std::uint32_t other : placed) {
      if (blocks[other].end < blocks[b].begin || blocks[b].end < blocks[other].begin) continue;
      if (packing.offsets[other] >= offset + blocks[b].bytes) break;
      offset = std::max(offset, packing.offsets[other] + blocks[other].bytes);
    }
    packing.offsets[b] = offset;
    packing.bytes = std::max(packing.bytes, offset + blocks[b].bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [&](std::int64_t at, std::uint32_t other) {
                                     return at < packing.offsets[other];
                                   }),
                  b);
  }
  return packing;
}

}  // namespace

Packing pack(std::span<const MemoryBlock> blocks) {
  Packing best = best_fit(blocks);
  const auto keep = [&](Packing other) {
    if (other.bytes < best.bytes) best = std::move(other);
  };
  std::vector<MemoryBlock> backwards(blocks.begin(), blocks.end());
  for (MemoryBlock& block : backwards)
    block = {UINT32_MAX - block.end, UINT32_MAX - block.begin, block.bytes};
  keep(best_fit(backwards));
  constexpr std::size_t few = 512;
  if (blocks.size() <= few) keep(by_size(blocks));
  return best;
}

}  // namespace hom::nest
