// backends/cpu/place_of_extreme.h -- where the largest or smallest term of a sequence is
#pragma once

#include <cstdint>

#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {

/// The first extreme and its place; the first NaN is the most extreme of all. `Beats` is Gt or Lt.
template <class Beats, class T>
class PlaceOfExtreme {
 public:
  /// The place among the terms so far, counted from 0.
  std::int64_t next(T term) {
    const scalar::Compute<T> x = scalar::load(term);
    const bool is_better = place_ < 0 || Beats{}(x, extreme_) || (x != x && extreme_ == extreme_);
    ++count_;
    if (is_better) {
      extreme_ = x;
      place_ = count_;
    }
    return place_;
  }

  std::int64_t place() const { return place_; }

 private:
  scalar::Compute<T> extreme_{};
  std::int64_t count_ = -1;
  std::int64_t place_ = -1;
};
template <class T>
using PlaceOfMax = PlaceOfExtreme<scalar::Gt, T>;
template <class T>
using PlaceOfMin = PlaceOfExtreme<scalar::Lt, T>;

}  // namespace hom::cpu
