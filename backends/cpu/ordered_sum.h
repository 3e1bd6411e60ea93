// backends/cpu/ordered_sum.h -- the order in which terms are reduced, whatever the layout
//
// Terms come in logical row-major order. Term i of each chunk of 64 goes to lane i mod 8; the eight
// lanes of a chunk are folded in halves (4, 2, 1), and chunks are combined pairwise like the digits
// of a binary counter, so that an error grows with log n. A missing term is the identity. W results
// are computed side by side: the columns of a matrix whose rows lie in memory, or a single one.
#pragma once

#include <cstdint>

#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {

/// Reduces sequences of elements stored as `T` by the associative functor `F`, W at a time.
template <class F, class T, std::int64_t W>
class OrderedReduction {
 public:
  using Computed = scalar::Compute<T>;
  static constexpr std::int64_t lanes = 8;
  static constexpr std::int64_t chunk = 64;

  explicit OrderedReduction(Computed identity) : identity_(identity) { clear_lanes(); }

  /// The next term of each of the `width` sequences.
  void add_term(const T* terms, std::int64_t stride, std::int64_t width) {
    Computed* lane = lanes_ + filled_ % lanes * W;
    if (stride == 1) {
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) lane[c] = F{}(lane[c], scalar::load(terms[c]));
    } else {
      for (std::int64_t c = 0; c < width; ++c)
        lane[c] = F{}(lane[c], scalar::load(terms[c * stride]));
    }
    if (++filled_ == chunk) finish_chunk();
  }

  /// The next n terms of the only sequence.
  void add_run(const T* terms, std::int64_t stride, std::int64_t n)
    requires(W == 1)
  {
    while (n > 0 && filled_ != 0) {
      add_term(terms, 1, 1);
      terms += stride;
      --n;
    }
    for (; n >= chunk; n -= chunk, terms += chunk * stride) {
      if (stride == 1) {
        add_chunk(terms);
      } else {
        for (std::int64_t i = 0; i < chunk; ++i) {
          lanes_[i % lanes] = F{}(lanes_[i % lanes], scalar::load(terms[i * stride]));
        }
      }
      finish_chunk();
    }
    for (; n > 0; --n, terms += stride) add_term(terms, 1, 1);
  }

  /// Writes the `width` results and starts anew.
  void finish(T* results, std::int64_t width) {
    if (filled_ > 0) finish_chunk();
    for (std::int64_t c = 0; c < width; ++c) {
      Computed total = identity_;
      bool is_first = true;
      for (std::int64_t level = 0; chunks_ >> level != 0; ++level) {
        if ((chunks_ >> level & 1) == 0) continue;
        const Computed part = pending_[level * W + c];
        total = is_first ? part : F{}(part, total);
        is_first = false;
      }
      results[c] = static_cast<T>(total);
    }
    chunks_ = 0;
  }

 private:
  void clear_lanes() {
    for (Computed& lane : lanes_) lane = identity_;
    filled_ = 0;
  }

  void add_chunk(const T* terms) {
    Computed local[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) local[l] = lanes_[l];
    for (std::int64_t i = 0; i < chunk; i += lanes) {
#pragma omp simd
      for (std::int64_t l = 0; l < lanes; ++l) local[l] = F{}(local[l], scalar::load(terms[i + l]));
    }
    for (std::int64_t l = 0; l < lanes; ++l) lanes_[l] = local[l];
  }

  void finish_chunk() {
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
      for (std::int64_t i = 0; i < half * W; ++i) lanes_[i] = F{}(lanes_[i], lanes_[half * W + i]);
    }
    std::int64_t level = 0;
    for (; chunks_ >> level & 1; ++level) {
      for (std::int64_t c = 0; c < W; ++c) lanes_[c] = F{}(pending_[level * W + c], lanes_[c]);
    }
    for (std::int64_t c = 0; c < W; ++c) pending_[level * W + c] = lanes_[c];
    ++chunks_;
    clear_lanes();
  }

  Computed identity_;
  Computed lanes_[lanes * W];
  /// Level k holds the total of 2^k chunks where bit k of their number is set. Left unset until
  /// then.
  Computed pending_[58 * W];
  std::uint64_t chunks_ = 0;
  std::int64_t filled_ = 0;
};

/// Combines the totals of blocks, each of a power of two times `chunk` terms but for the last one,
/// which may have fewer: the digits of the same binary counter, so the same tree and the same bits
/// as all terms in one `OrderedReduction`. Totals of 16-bit floats are kept in f32 until the end.
template <class F, class T>
class PairwiseReduction {
 public:
  using Computed = scalar::Compute<T>;

  explicit PairwiseReduction(Computed identity) : identity_(identity) {}

  void add(const T& total) {
    Computed part = scalar::load(total);
    std::int64_t level = 0;
    for (; count_ >> level & 1; ++level) part = F{}(pending_[level], part);
    pending_[level] = part;
    ++count_;
  }

  /// The result; starts anew.
  T finish() {
    Computed total = identity_;
    bool is_first = true;
    for (std::int64_t level = 0; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      total = is_first ? pending_[level] : F{}(pending_[level], total);
      is_first = false;
    }
    count_ = 0;
    return static_cast<T>(total);
  }

 private:
  Computed identity_;
  Computed pending_[58];
  std::uint64_t count_ = 0;
};

}  // namespace hom::cpu
