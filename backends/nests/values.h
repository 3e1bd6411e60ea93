// backends/nests/values.h -- the values of a kernel while it is made: equal ones are one, and index
// arithmetic cancels
#pragma once

#include <initializer_list>
#include <span>
#include <unordered_map>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// A set of axes of one kernel, which has at most 64.
using AxisSet = std::uint64_t;
inline constexpr std::size_t most_axes = 64;
constexpr AxisSet axis_bit(Axis axis) { return AxisSet{1} << axis; }

/// Makes nodes. Index arithmetic (`position`, `add`, `scale`, `quotient`, `remainder`, `is_below`,
/// `both`) is simplified by the bounds that every index carries, so that views of views, and
/// reshapes that come back to where they were, leave nothing behind.
class Values {
 public:
  Value axis(Axis axis, std::int64_t extent);
  /// A constant index.
  Value position(std::int64_t index);
  Value add(Value a, Value b);
  Value scale(Value a, std::int64_t factor);
  /// ⌊a/divisor⌋ and a mod divisor; a ≥ 0, divisor > 0.
  Value quotient(Value a, std::int64_t divisor);
  Value remainder(Value a, std::int64_t divisor);
  /// a < b, as bool.
  Value is_below(Value a, Value b);
  /// a and b, of bools.
  Value both(Value a, Value b);
  /// Σ indices[i]·strides[i]
  Value flat(std::span<const Value> indices, const Shape& strides);

  /// `bits` as in `Node::number`.
  Value constant(Dtype dtype, std::int64_t bits);
  Value truth(bool value) { return constant(bool_, value ? 1 : 0); }
  /// Is it a constant, and which?
  std::optional<std::int64_t> known(Value value) const;
  /// `when` is a bool value; where it is known to hold, it goes.
  Value load(std::uint32_t buffer, Dtype dtype, Value index, Value when, std::uint32_t step);
  Value apply(Function function, Dtype dtype, std::initializer_list<Value> operands,
              std::uint32_t step, std::int64_t parameter = 0);
  Value convert(Value x, Dtype dtype, std::uint32_t step);
  Value bitcast(Value x, Dtype dtype, std::uint32_t step);
  /// A new value that a loop over `along` makes of `term`.
  Value reduced(Dtype dtype, Value term, AxisSet along, std::uint32_t step);
  /// A new value that a loop carries; it depends on the axes `on`.
  Value carried(Dtype dtype, AxisSet on, std::uint32_t step);
  /// A node of other values on these operands; `axes` for those that loops define.
  Value copy(const Node& node, const SmallVector<Value, 3>& operands, AxisSet axes);
  /// What was known of `was` among others is known of `value`.
  void keep_bounds(Value value, const Values& others, Value was);
  /// An integer as an index that is known to be in low … high.
  Value within(Value index, std::int64_t low, std::int64_t high);

  const Node& operator[](Value value) const { return nodes_[value]; }
  std::size_t size() const { return nodes_.size(); }
  /// The axes that it depends on.
  AxisSet axes(Value value) const { return facts_[value].axes; }
  std::vector<Node> take() && { return std::move(nodes_); }

 private:
  struct Facts {
    /// Of an i64: what it lies between.
    std::int64_t low = INT64_MIN;
    std::int64_t high = INT64_MAX;
    AxisSet axes = 0;
  };

  Value make(Node node, Facts facts);
  std::optional<bool> compared(Function function, std::initializer_list<Value> operands) const;
  Facts facts_of(std::initializer_list<Value> operands) const;
  /// The terms of a sum of indices.
  void split_sum(Value a, SmallVector<Value, 8>& terms) const;
  /// a = divisor·(what is divisible) + rest
  struct Divided {
    Value quotient;
    Value rest;
  };
  Divided divide(Value a, std::int64_t divisor);

  std::vector<Node> nodes_;
  std::vector<Facts> facts_;
  std::unordered_multimap<std::size_t, Value> known_;
};

}  // namespace hom::nest
