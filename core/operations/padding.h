// core/operations/padding.h -- what pooling and convolution have in common: layout and padding
//
// One layout is the default: channels last. Images are [batch…, height, width, channels], signals
// [batch…, time, channels], volumes [batch…, depth, height, width, channels]; any number of leading
// axes is the batch, none too. The axes between batch and channels are the spatial ones, and lists
// have one entry for each of them. `Channels::first` takes [batch…, channels, spatial…] instead.
#pragma once

#include <cstdint>
#include <initializer_list>

#include <hom/core/dtype.h>

namespace hom {

enum class Channels : std::uint8_t { last, first };

/// Places around the spatial axes that windows may reach. `{1, 1}` is one place on each side of two
/// axes.
class Padding {
 public:
  enum class Rule : std::uint8_t { valid, same, sides };

  /// None: windows lie within the tensor.
  Padding() = default;
  /// As many places before as after each spatial axis.
  Padding(std::initializer_list<std::int64_t> both) : Padding(Shape(both)) {}
  Padding(const Shape& both)  // NOLINT(google-explicit-constructor)
      : rule_(Rule::sides), low_(both), high_(both) {}

  static Padding valid() { return {}; }
  /// As many windows as stride 1 would make elements, divided by the stride and rounded up: ⌈n/s⌉.
  /// The places are shared between the sides; an odd one is after.
  static Padding same() {
    Padding padding;
    padding.rule_ = Rule::same;
    return padding;
  }
  static Padding sides(const Shape& low, const Shape& high) {
    Padding padding(low);
    padding.high_ = high;
    return padding;
  }

  Rule rule() const { return rule_; }
  /// Where given by number.
  const Shape& low() const { return low_; }
  const Shape& high() const { return high_; }

 private:
  Rule rule_ = Rule::valid;
  Shape low_ = {};
  Shape high_ = {};
};

}  // namespace hom
