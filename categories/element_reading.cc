// categories/element_reading.cc -- periods of places, as slices
#include <hom/categories/element_reading.h>

#include <algorithm>
#include <optional>

#include <hom/core/operations/indexing.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

constexpr std::size_t longest_period = 256;
/// Blocks that stand for fewer elements are not worth their steps, and neither are many of them.
constexpr std::size_t least_repeats = 4;
constexpr std::size_t most_blocks = 16;

/// `repeats` times `period` places, from `begin`.
struct Block {
  std::size_t begin;
  std::size_t period;
  std::size_t repeats;
};

class Reader {
 public:
  Reader(const std::vector<PlacedTensor>& tensors, const std::vector<std::int64_t>& places,
         Dtype dtype)
      : tensors_(tensors), places_(places), dtype_(dtype) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].tensor.size() > 0) order_.push_back(i);
    }
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return tensors[a].first < tensors[b].first; });
    for (std::int64_t place : places) source_.push_back(place < 0 ? none : source_of(place));
  }

  Tensor run() const {
    if (places_.empty()) return zeros({0}, dtype_);
    if (const auto blocks = all_blocks()) {
      std::vector<Tensor> parts;
      for (const Block& block : *blocks) {
        auto part = sliced(block);
        if (!part) return gathered();
        parts.push_back(*std::move(part));
      }
      return parts.size() == 1 ? parts[0] : concat(parts, 0);
    }
    return gathered();
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  std::size_t source_of(std::int64_t place) const {
    const auto after = std::upper_bound(
        order_.begin(), order_.end(), place,
        [&](std::int64_t wanted, std::size_t i) { return wanted < tensors_[i].first; });
    return *(after - 1);
  }

  std::optional<std::vector<Block>> all_blocks() const {
    std::vector<Block> blocks;
    for (std::size_t begin = 0; begin < places_.size();) {
      if (blocks.size() == most_blocks) return std::nullopt;
      const Block block = block_at(begin);
      if (block.repeats < least_repeats) return std::nullopt;
      blocks.push_back(block);
      begin += block.period * block.repeats;
    }
    return blocks;
  }

  /// The block from `begin` on that has most elements.
  Block block_at(std::size_t begin) const {
    Block best{begin, 1, 1};
    for (std::size_t period = 1; period <= longest_period; ++period) {
      const Block block{begin, period, repeats(begin, period)};
      if (block.repeats >= least_repeats &&
          block.period * block.repeats > best.period * best.repeats)
        best = block;
    }
    return best;
  }

  std::size_t repeats(std::size_t begin, std::size_t period) const {
    std::size_t count = 1;
    for (; begin + (count + 1) * period <= places_.size(); ++count) {
      for (std::size_t b = 0; b < period; ++b) {
        const std::size_t now = begin + count * period + b;
        if (source_[now] != source_[now - period]) return count;
        if (source_[now] == none) continue;
        const std::int64_t step = places_[now] - places_[now - period];
        if (step <= 0 || step != places_[begin + period + b] - places_[begin + b]) return count;
      }
    }
    return count;
  }

  /// [repeats·period]: columns that lie one beside the other in a tensor are one slice of its rows.
  std::optional<Tensor> sliced(const Block& block) const {
    std::vector<Tensor> columns;
    for (std::size_t b = 0; b < block.period;) {
      const std::size_t at = block.begin + b;
      const auto repeats = static_cast<std::int64_t>(block.repeats);
      std::size_t width = 1;
      if (source_[at] == none) {
        while (b + width < block.period && source_[at + width] == none) ++width;
        columns.push_back(zeros({repeats, static_cast<std::int64_t>(width)}, dtype_));
        b += width;
        continue;
      }
      const PlacedTensor& source = tensors_[source_[at]];
      const std::int64_t row = places_[at + block.period] - places_[at];
      const std::int64_t offset = places_[at] - source.first;
      if (source.tensor.size() % row != 0) return std::nullopt;
      while (b + width < block.period && source_[at + width] == source_[at] &&
             places_[at + width] == places_[at] + static_cast<std::int64_t>(width) &&
             offset % row + static_cast<std::int64_t>(width) < row &&
             places_[at + width + block.period] - places_[at + width] == row)
        ++width;
      const Tensor rows = reshape(source.tensor, {source.tensor.size() / row, row});
      columns.push_back(slice(rows, {offset / row, offset % row},
                              {repeats, static_cast<std::int64_t>(width)}, {1, 1}));
      b += width;
    }
    return ravel(columns.size() == 1 ? columns[0] : concat(columns, 1));
  }

  Tensor gathered() const {
    std::vector<Tensor> flat;
    std::vector<std::int64_t> first(tensors_.size());
    std::int64_t size = 0;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      flat.push_back(ravel(tensors_[i].tensor));
      first[i] = size;
      size += tensors_[i].tensor.size();
    }
    flat.push_back(zeros({1}, dtype_));
    std::vector<std::int64_t> indices;
    indices.reserve(places_.size());
    for (std::size_t k = 0; k < places_.size(); ++k) {
      indices.push_back(
          source_[k] == none ? size : first[source_[k]] + places_[k] - tensors_[source_[k]].first);
    }
    return take(concat(flat, 0), tensor(indices, Shape{static_cast<std::int64_t>(indices.size())}));
  }

  const std::vector<PlacedTensor>& tensors_;
  const std::vector<std::int64_t>& places_;
  Dtype dtype_;
  /// By first place.
  std::vector<std::size_t> order_;
  /// Of each place.
  std::vector<std::size_t> source_;
};

}  // namespace

Tensor elements_at(const std::vector<PlacedTensor>& tensors,
                   const std::vector<std::int64_t>& places, Dtype dtype) {
  return Reader(tensors, places, dtype).run();
}

}  // namespace hom
