// backends/nests/values.cc -- hash-consed nodes and the arithmetic of indices
#include <hom/backends/nests/values.h>

#include <algorithm>
#include <cstring>

#include <hom/core/attribute.h>
#include <hom/core/convert_element.h>

namespace hom::nest {
namespace {

std::size_t hash_of(const Node& node) {
  std::size_t hash = static_cast<std::size_t>(node.kind);
  hash = hash_combine(hash, static_cast<std::size_t>(node.function));
  hash = hash_combine(hash, static_cast<std::size_t>(node.dtype.id));
  hash = hash_combine(hash, static_cast<std::size_t>(node.number));
  for (Value operand : node.operands) hash = hash_combine(hash, operand);
  return hash;
}

/// The same value, whatever step it comes from.
bool is_equal(const Node& a, const Node& b) {
  return a.kind == b.kind && a.function == b.function && a.dtype == b.dtype &&
         a.number == b.number &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end());
}

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Bounds of data-dependent indices are far from the ends, so that sums of a few do not overflow.
constexpr std::int64_t unbounded = INT64_MAX / 4;

std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) != (b < 0) ? -unbounded : unbounded;
  return std::clamp(product, -unbounded, unbounded);
}

}  // namespace

Value Values::make(Node node, Facts facts) {
  const std::size_t hash = hash_of(node);
  const auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (is_equal(nodes_[it->second], node)) return it->second;
  }
  const auto value = static_cast<Value>(nodes_.size());
  nodes_.push_back(std::move(node));
  facts_.push_back(facts);
  known_.emplace(hash, value);
  return value;
}

Values::Facts Values::facts_of(std::initializer_list<Value> operands) const {
  Facts facts{-unbounded, unbounded, 0};
  for (Value operand : operands) facts.axes |= facts_[operand].axes;
  return facts;
}

Value Values::axis(Axis axis, std::int64_t extent) {
  if (extent == 1) return position(0);
  return make({.kind = Node::Kind::axis, .dtype = i64, .number = axis},
              {0, extent - 1, axis_bit(axis)});
}

Value Values::position(std::int64_t index) {
  return make({.kind = Node::Kind::constant, .dtype = i64, .number = index}, {index, index, 0});
}

std::optional<std::int64_t> Values::known(Value value) const {
  if (nodes_[value].kind != Node::Kind::constant) return std::nullopt;
  return nodes_[value].number;
}

Value Values::add(Value a, Value b) {
  if (known(a)) std::swap(a, b);
  const auto constant = known(b);
  if (constant) {
    if (const auto other = known(a)) return position(*other + *constant);
    if (*constant == 0) return a;
    const Node node = nodes_[a];
    if (node.kind == Node::Kind::index_add) {
      // Constants stand last.
      if (const auto inner = known(node.operands[1]))
        return add(node.operands[0], position(*inner + *constant));
    }
  } else {
    const Node& left = nodes_[a];
    if (left.kind == Node::Kind::index_add && known(left.operands[1])) {
      const Value rest = left.operands[0];
      const Value last = left.operands[1];
      return add(add(rest, b), last);
    }
    const Node& right = nodes_[b];
    if (right.kind == Node::Kind::index_add && known(right.operands[1])) {
      const Value rest = right.operands[0];
      const Value last = right.operands[1];
      return add(add(a, rest), last);
    }
    // k·(a div n) with k = m·n, and m·(a mod n): m·a.
    const auto factor = [&](Value v) {
      return nodes_[v].kind == Node::Kind::index_scale
                 ? std::pair{nodes_[v].operands[0], nodes_[v].number}
                 : std::pair{v, std::int64_t{1}};
    };
    for (int turn = 0; turn < 2; ++turn) {
      const auto [high, high_factor] = factor(turn == 0 ? a : b);
      const auto [low, low_factor] = factor(turn == 0 ? b : a);
      if (nodes_[high].kind == Node::Kind::index_quotient &&
          nodes_[low].kind == Node::Kind::index_remainder &&
          nodes_[high].operands[0] == nodes_[low].operands[0] &&
          nodes_[high].number == nodes_[low].number &&
          high_factor == low_factor * nodes_[low].number) {
        return scale(nodes_[high].operands[0], low_factor);
      }
    }
    if (nodes_[a].kind == Node::Kind::index_add) {
      // (x + y) + b, where y and b meet.
      const Value x = nodes_[a].operands[0];
      const Value y = nodes_[a].operands[1];
      const Value both = add(y, b);
      if (nodes_[both].kind != Node::Kind::index_add) return add(x, both);
    }
  }
  Facts facts = facts_of({a, b});
  facts.low = std::max(-unbounded, facts_[a].low + facts_[b].low);
  facts.high = std::min(unbounded, facts_[a].high + facts_[b].high);
  return make({.kind = Node::Kind::index_add, .dtype = i64, .operands = {a, b}}, facts);
}

Value Values::scale(Value a, std::int64_t factor) {
  if (factor == 0) return position(0);
  if (factor == 1) return a;
  if (const auto constant = known(a)) return position(*constant * factor);
  const Node node = nodes_[a];
  if (node.kind == Node::Kind::index_add) {
    const Value left = scale(node.operands[0], factor);
    return add(left, scale(node.operands[1], factor));
  }
  if (node.kind == Node::Kind::index_scale) return scale(node.operands[0], node.number * factor);
  Facts facts = facts_of({a});
  const std::int64_t ends[] = {bounded_product(facts_[a].low, factor),
                               bounded_product(facts_[a].high, factor)};
  facts.low = std::min(ends[0], ends[1]);
  facts.high = std::max(ends[0], ends[1]);
  return make({.kind = Node::Kind::index_scale, .dtype = i64, .operands = {a}, .number = factor},
              facts);
}

void Values::split_sum(Value a, SmallVector<Value, 8>& terms) const {
  while (nodes_[a].kind == Node::Kind::index_add) {
    split_sum(nodes_[a].operands[1], terms);
    a = nodes_[a].operands[0];
  }
  terms.push_back(a);
}

Values::Divided Values::divide(Value a, std::int64_t divisor) {
  SmallVector<Value, 8> terms;
  split_sum(a, terms);
  std::reverse(terms.begin(), terms.end());
  Value quotient = position(0);
  Value rest = position(0);
  for (Value term : terms) {
    const Node node = nodes_[term];
    if (const auto constant = known(term)) {
      const std::int64_t whole = floor_divided(*constant, divisor);
      quotient = add(quotient, position(whole));
      rest = add(rest, position(*constant - whole * divisor));
    } else if (node.kind == Node::Kind::index_scale && node.number % divisor == 0) {
      quotient = add(quotient, scale(node.operands[0], node.number / divisor));
    } else {
      rest = add(rest, term);
    }
  }
  return {quotient, rest};
}

Value Values::quotient(Value a, std::int64_t divisor) {
  if (divisor == 1) return a;
  const auto [whole, rest] = divide(a, divisor);
  if (facts_[rest].low >= 0 && facts_[rest].high < divisor) return whole;
  const bool splits = facts_[rest].low >= 0;
  const Value inside = splits ? rest : a;
  const Node node = nodes_[inside];
  if (node.kind == Node::Kind::index_quotient) {
    const Value merged = quotient(node.operands[0], node.number * divisor);
    return splits ? add(whole, merged) : merged;
  }
  Facts facts = facts_of({inside});
  facts.low = floor_divided(facts_[inside].low, divisor);
  facts.high = floor_divided(facts_[inside].high, divisor);
  const Value result = make(
      {.kind = Node::Kind::index_quotient, .dtype = i64, .operands = {inside}, .number = divisor},
      facts);
  return splits ? add(whole, result) : result;
}

Value Values::remainder(Value a, std::int64_t divisor) {
  if (divisor == 1) return position(0);
  const auto [whole, rest] = divide(a, divisor);
  if (facts_[rest].low >= 0 && facts_[rest].high < divisor) return rest;
  const Value inside = facts_[rest].low >= 0 ? rest : a;
  Facts facts = facts_of({inside});
  facts.low = 0;
  facts.high = divisor - 1;
  return make(
      {.kind = Node::Kind::index_remainder, .dtype = i64, .operands = {inside}, .number = divisor},
      facts);
}

Value Values::is_below(Value a, Value b) {
  if (facts_[a].high < facts_[b].low) return truth(true);
  if (facts_[a].low >= facts_[b].high) return truth(false);
  return make(
      {.kind = Node::Kind::apply, .function = Function::lt, .dtype = bool_, .operands = {a, b}},
      facts_of({a, b}));
}

Value Values::both(Value a, Value b) {
  if (const auto constant = known(a)) return *constant != 0 ? b : a;
  if (const auto constant = known(b)) return *constant != 0 ? a : b;
  if (a == b) return a;
  return make(
      {.kind = Node::Kind::apply, .function = Function::and_, .dtype = bool_, .operands = {a, b}},
      facts_of({a, b}));
}

Value Values::flat(std::span<const Value> indices, const Shape& strides) {
  Value sum = position(0);
  for (std::size_t i = 0; i < indices.size(); ++i) sum = add(sum, scale(indices[i], strides[i]));
  return sum;
}

Value Values::constant(Dtype dtype, std::int64_t bits) {
  if (dtype == i64) return position(bits);
  return make({.kind = Node::Kind::constant, .dtype = dtype, .number = bits}, facts_of({}));
}

Value Values::load(std::uint32_t buffer, Dtype dtype, Value index, Value when, std::uint32_t step) {
  const bool always = known(when) == 1;
  Node node{.kind = Node::Kind::load,
            .dtype = dtype,
            .operands = {index},
            .number = buffer,
            .step = step};
  if (!always) node.operands.push_back(when);
  return make(std::move(node), always ? facts_of({index}) : facts_of({index, when}));
}

Value Values::apply(Function function, Dtype dtype, std::initializer_list<Value> operands,
                    std::uint32_t step, std::int64_t parameter) {
  if (function == Function::select) {
    const Value* of = operands.begin();
    if (const auto constant = known(of[0])) return *constant != 0 ? of[1] : of[2];
  }
  if (const auto constant = compared(function, operands)) return truth(*constant);
  return make({.kind = Node::Kind::apply,
               .function = function,
               .dtype = dtype,
               .operands = SmallVector<Value, 3>(operands),
               .number = parameter,
               .step = step},
              facts_of(operands));
}

/// A comparison of constants.
std::optional<bool> Values::compared(Function function,
                                     std::initializer_list<Value> operands) const {
  if (operands.size() != 2 || function < Function::eq || function > Function::ge)
    return std::nullopt;
  const Node& a = nodes_[operands.begin()[0]];
  const Node& b = nodes_[operands.begin()[1]];
  if (a.kind != Node::Kind::constant || b.kind != Node::Kind::constant) return std::nullopt;
  return visit(a.dtype, [&]<class T>() {
    T x{};
    T y{};
    std::memcpy(static_cast<void*>(&x), &a.number, sizeof x);
    std::memcpy(static_cast<void*>(&y), &b.number, sizeof y);
    const auto of = [&](auto left, auto right) {
      switch (function) {
        case Function::eq:
          return left == right;
        case Function::ne:
          return left != right;
        case Function::lt:
          return left < right;
        case Function::le:
          return left <= right;
        case Function::gt:
          return left > right;
        default:
          return left >= right;
      }
    };
    if constexpr (std::is_integral_v<T>) {
      return of(x, y);
    } else {
      return of(convert_element<double>(x), convert_element<double>(y));
    }
  });
}

Value Values::convert(Value x, Dtype dtype, std::uint32_t step) {
  if (nodes_[x].dtype == dtype) return x;
  if (nodes_[x].kind == Node::Kind::constant) {
    return visit(nodes_[x].dtype, [&]<class From>() {
      From from{};
      std::memcpy(static_cast<void*>(&from), &nodes_[x].number, sizeof from);
      return visit(dtype, [&]<class To>() {
        const To to = convert_element<To>(from);
        std::uint64_t bits = 0;
        std::memcpy(&bits, &to, sizeof to);
        return constant(dtype, static_cast<std::int64_t>(bits));
      });
    });
  }
  Facts facts = facts_of({x});
  return make({.kind = Node::Kind::convert, .dtype = dtype, .operands = {x}, .step = step}, facts);
}

Value Values::bitcast(Value x, Dtype dtype, std::uint32_t step) {
  if (nodes_[x].dtype == dtype) return x;
  return make({.kind = Node::Kind::bitcast, .dtype = dtype, .operands = {x}, .step = step},
              facts_of({x}));
}

Value Values::reduced(Dtype dtype, Value term, AxisSet along, std::uint32_t step) {
  Facts facts = facts_of({term});
  facts.axes &= ~along;
  const auto serial = static_cast<std::int64_t>(nodes_.size());
  return make({.kind = Node::Kind::reduced, .dtype = dtype, .number = serial, .step = step}, facts);
}

Value Values::carried(Dtype dtype, AxisSet on, std::uint32_t step) {
  Facts facts = facts_of({});
  facts.axes = on;
  const auto serial = static_cast<std::int64_t>(nodes_.size());
  return make({.kind = Node::Kind::carried, .dtype = dtype, .number = serial, .step = step}, facts);
}

Value Values::copy(const Node& node, const SmallVector<Value, 3>& operands, AxisSet axes) {
  Node copied = node;
  copied.operands = operands;
  Facts facts{-unbounded, unbounded, 0};
  for (Value operand : operands) facts.axes |= facts_[operand].axes;
  if (node.kind == Node::Kind::reduced || node.kind == Node::Kind::carried) facts.axes = axes;
  if (node.kind == Node::Kind::constant && node.dtype == i64) return position(node.number);
  return make(std::move(copied), facts);
}

void Values::keep_bounds(Value value, const Values& others, Value was) {
  facts_[value].low = std::max(facts_[value].low, others.facts_[was].low);
  facts_[value].high = std::min(facts_[value].high, others.facts_[was].high);
}

Value Values::within(Value index, std::int64_t low, std::int64_t high) {
  facts_[index].low = std::max(facts_[index].low, low);
  facts_[index].high = std::min(facts_[index].high, high);
  return index;
}

}  // namespace hom::nest
