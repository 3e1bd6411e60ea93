// backends/nests/expand_functions.cc -- functions as what they are made of
#include <hom/backends/nests/expand_functions.h>

#include <bit>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>

#include <hom/backends/math/number.h>
#include <hom/backends/nests/narrow.h>

namespace hom::nest {
namespace {

/// Nodes appended to a kernel, and to the block in which they are wanted.
class Expansion {
 public:
  explicit Expansion(Kernel& kernel) : kernel_(kernel) {}

  /// New nodes are defined in this block from now on, where these are known.
  void enter(Block& block) {
    blocks_.push_back(&block);
    known_.emplace_back();
  }
  void leave() {
    blocks_.pop_back();
    known_.pop_back();
  }

  Value constant(Dtype dtype, std::int64_t bits) {
    return append({.kind = Node::Kind::constant, .dtype = dtype, .number = bits});
  }
  Value apply(Function function, Dtype dtype, SmallVector<Value, 3> operands) {
    return append({.kind = Node::Kind::apply,
                   .function = function,
                   .dtype = dtype,
                   .operands = std::move(operands)});
  }
  Value convert(Value x, Dtype dtype) {
    if (kernel_.nodes[x].dtype == dtype) return x;
    return append({.kind = Node::Kind::convert, .dtype = dtype, .operands = {x}});
  }
  /// An i64 that fits, as an i32.
  Value narrow(Value x) {
    const Node& node = kernel_.nodes[x];
    if (node.kind == Node::Kind::constant) return constant(i32, node.number & 0xffffffff);
    const bool is_widened =
        node.kind == Node::Kind::convert && kernel_.nodes[node.operands[0]].dtype == i32;
    return is_widened ? node.operands[0] : convert(x, i32);
  }
  Value bitcast(Value x, Dtype dtype) {
    return append({.kind = Node::Kind::bitcast, .dtype = dtype, .operands = {x}});
  }
  void set_step(std::uint32_t step) { step_ = step; }

 private:
  using Key = std::tuple<Node::Kind, Function, Dtype::Id, std::vector<Value>, std::int64_t>;

  Value append(Node node) {
    const Key key{node.kind, node.function, node.dtype.id,
                  std::vector<Value>(node.operands.begin(), node.operands.end()), node.number};
    for (const std::map<Key, Value>& known : known_) {
      if (const auto found = known.find(key); found != known.end()) return found->second;
    }
    node.step = step_;
    const auto value = static_cast<Value>(kernel_.nodes.size());
    const bool is_defined = node.kind != Node::Kind::constant;
    kernel_.nodes.push_back(std::move(node));
    if (is_defined) blocks_.back()->push_back({Define{value}});
    known_.back().emplace(key, value);
    return value;
  }

  Kernel& kernel_;
  std::vector<Block*> blocks_;
  std::vector<std::map<Key, Value>> known_;
  std::uint32_t step_ = Node::no_step;
};

// ---- the numbers of backends/math/ ----

template <class E>
inline constexpr Dtype dtype_of_element = std::is_same_v<E, double> ? f64 : f32;
template <class E>
inline constexpr Dtype integers_of = std::is_same_v<E, double> ? u64 : u32;

template <class E>
struct Term {
  using Element = E;
  Expansion* in;
  Value value;
};
template <class E>
struct TermBits {
  Expansion* in;
  Value value;
};
struct TermMask {
  Expansion* in;
  Value value;
};

template <class E>
Term<E> apply(Function function, const Term<E>& a, const Term<E>& b) {
  return {a.in, a.in->apply(function, dtype_of_element<E>, {a.value, b.value})};
}
template <class E>
TermMask compare(Function function, const Term<E>& a, const Term<E>& b) {
  return {a.in, a.in->apply(function, bool_, {a.value, b.value})};
}
template <class E>
Term<E> operator+(const Term<E>& a, const Term<E>& b) {
  return apply(Function::add, a, b);
}
template <class E>
Term<E> operator-(const Term<E>& a, const Term<E>& b) {
  return apply(Function::sub, a, b);
}
template <class E>
Term<E> operator*(const Term<E>& a, const Term<E>& b) {
  return apply(Function::mul, a, b);
}
template <class E>
Term<E> operator/(const Term<E>& a, const Term<E>& b) {
  return apply(Function::div, a, b);
}
template <class E>
TermMask operator<(const Term<E>& a, const Term<E>& b) {
  return compare(Function::lt, a, b);
}
template <class E>
TermMask operator>(const Term<E>& a, const Term<E>& b) {
  return compare(Function::gt, a, b);
}
template <class E>
TermMask operator>=(const Term<E>& a, const Term<E>& b) {
  return compare(Function::ge, a, b);
}
template <class E>
TermMask operator==(const Term<E>& a, const Term<E>& b) {
  return compare(Function::eq, a, b);
}
TermMask operator&(const TermMask& a, const TermMask& b) {
  return {a.in, a.in->apply(Function::and_, bool_, {a.value, b.value})};
}
TermMask operator|(const TermMask& a, const TermMask& b) {
  return {a.in, a.in->apply(Function::or_, bool_, {a.value, b.value})};
}

template <class E>
Term<E> like(const Term<E>& x, double value) {
  const E element = static_cast<E>(value);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &element, sizeof element);
  return {x.in, x.in->constant(dtype_of_element<E>, static_cast<std::int64_t>(bits))};
}
template <class E>
TermBits<E> bits_like(const Term<E>& x, std::uint64_t value) {
  return {x.in, x.in->constant(integers_of<E>, static_cast<std::int64_t>(value))};
}
template <class E>
TermBits<E> bits(const Term<E>& x) {
  return {x.in, x.in->bitcast(x.value, integers_of<E>)};
}
template <class E>
Term<E> number(const Term<E>& x, const TermBits<E>& b) {
  return {x.in, x.in->bitcast(b.value, dtype_of_element<E>)};
}
template <class E>
TermBits<E> apply(Function function, const TermBits<E>& a, const TermBits<E>& b) {
  return {a.in, a.in->apply(function, integers_of<E>, {a.value, b.value})};
}
template <class E>
TermBits<E> operator+(const TermBits<E>& a, const TermBits<E>& b) {
  return apply(Function::add, a, b);
}
template <class E>
TermBits<E> operator-(const TermBits<E>& a, const TermBits<E>& b) {
  return apply(Function::sub, a, b);
}
template <class E>
TermBits<E> operator&(const TermBits<E>& a, const TermBits<E>& b) {
  return apply(Function::and_, a, b);
}
template <class E>
TermBits<E> operator^(const TermBits<E>& a, const TermBits<E>& b) {
  return apply(Function::xor_, a, b);
}
template <class E>
TermBits<E> constant_like(const TermBits<E>& b, std::int64_t value) {
  return {b.in, b.in->constant(integers_of<E>, value)};
}
template <class E>
TermBits<E> shift_left(const TermBits<E>& b, int by) {
  return apply(Function::shift_left, b, constant_like(b, by));
}
template <class E>
TermBits<E> shift_right(const TermBits<E>& b, int by) {
  return apply(Function::shift_right, b, constant_like(b, by));
}
template <class E>
TermMask is_zero(const TermBits<E>& b) {
  return {b.in, b.in->apply(Function::eq, bool_, {b.value, constant_like(b, 0).value})};
}
template <class E>
Term<E> select(const TermMask& mask, const Term<E>& a, const Term<E>& b) {
  return {a.in, a.in->apply(Function::select, dtype_of_element<E>, {mask.value, a.value, b.value})};
}
template <class E>
Term<E> unary(Function function, const Term<E>& x) {
  return {x.in, x.in->apply(function, dtype_of_element<E>, {x.value})};
}
template <class E>
Term<E> abs(const Term<E>& x) {
  return unary(Function::abs, x);
}
template <class E>
Term<E> sqrt(const Term<E>& x) {
  return unary(Function::sqrt, x);
}
template <class E>
Term<E> copysign(const Term<E>& magnitude, const Term<E>& sign) {
  constexpr std::uint64_t bit = std::uint64_t{1} << (8 * sizeof(E) - 1);
  return number(sign, bits(abs(magnitude)) ^ (bits(sign) & bits_like(sign, bit)));
}
template <class E>
Term<E> fma(const Term<E>& a, const Term<E>& b, const Term<E>& c) {
  return {a.in, a.in->apply(Function::fma, dtype_of_element<E>, {a.value, b.value, c.value})};
}
/// The far functions look for themselves where that is.
template <class E>
Term<E> rarely(const TermMask&, math::Rare function, const Term<E>& x) {
  switch (function) {
    case math::Rare::sin:
      return unary(Function::far_sin, x);
    case math::Rare::cos:
      return unary(Function::far_cos, x);
    default:
      return unary(Function::far_tan, x);
  }
}

}  // namespace
}  // namespace hom::nest

// After the numbers that they are made for.
#include <hom/backends/math/functions.h>

namespace hom::nest {
namespace {

template <class E>
std::optional<Value> definition(Expansion& in, Function function,
                                const SmallVector<Value, 3>& operands) {
  const auto term = [&](std::size_t i) {
    return Term<E>{&in, in.convert(operands[i], dtype_of_element<E>)};
  };
  switch (function) {
#define HOM_MATH_CASE(name) \
  case Function::name:      \
    return math::name(term(0)).value;
    HOM_MATH_UNARY(HOM_MATH_CASE)
#undef HOM_MATH_CASE
#define HOM_MATH_CASE(name) \
  case Function::name:      \
    return math::name(term(0), term(1)).value;
    HOM_MATH_BINARY(HOM_MATH_CASE)
#undef HOM_MATH_CASE
    default:
      return std::nullopt;
  }
}

class Expander {
 public:
  explicit Expander(Kernel kernel) : kernel_(std::move(kernel)), in_(kernel_) {
    for (Value value = 0; value < kernel_.nodes.size(); ++value) by_.push_back(value);
    wants_narrow_operands_ = wants_narrow_operands(kernel_);
  }

  Kernel run() && {
    kernel_.body = block(std::move(kernel_.body));
    return std::move(kernel_);
  }

 private:
  Value now(Value value) const { return value < by_.size() ? by_[value] : value; }

  Block block(Block statements) {
    Block result;
    in_.enter(result);
    for (Statement& statement : statements) {
      std::visit([&](auto& is) { place(is, result); }, statement.is);
    }
    in_.leave();
    return result;
  }

  void place(Define& define, Block& to) {
    const Value value = define.value;
    Node node = kernel_.nodes[value];
    bool is_changed = false;
    for (Value& operand : node.operands) {
      is_changed = is_changed || now(operand) != operand;
      operand = now(operand);
    }
    if (node.kind == Node::Kind::apply && node.dtype.is_float() && is_expanded(node.function)) {
      in_.set_step(node.step);
      const auto made = node.dtype == f64 ? definition<double>(in_, node.function, node.operands)
                                          : definition<float>(in_, node.function, node.operands);
      by_[value] = in_.convert(*made, node.dtype);
      return;
    }
    if (wants_narrow_operands_[value]) {
      in_.set_step(node.step);
      for (Value& operand : node.operands) operand = in_.narrow(operand);
      is_changed = true;
    }
    // The same value may be computed in another loop, of what is known there.
    by_[value] = value;
    if (is_changed) {
      by_[value] = static_cast<Value>(kernel_.nodes.size());
      kernel_.nodes.push_back(std::move(node));
    }
    to.push_back({Define{by_[value]}});
  }
  void place(Store& store, Block& to) {
    store.index = now(store.index);
    store.value = now(store.value);
    if (store.when) store.when = now(*store.when);
    to.push_back({store});
  }
  void place(Check& check, Block& to) {
    check.ok = now(check.ok);
    check.offending = now(check.offending);
    to.push_back({check});
  }
  void place(Loop& loop, Block& to) {
    for (Carry& carry : loop.carries) carry.initial = now(carry.initial);
    loop.body = block(std::move(loop.body));
    for (Carry& carry : loop.carries) carry.next = now(carry.next);
    for (Reduction& reduction : loop.reductions) reduction.term = now(reduction.term);
    to.emplace_back().is = std::move(loop);
  }
  void place(Shortcut& shortcut, Block& to) {
    shortcut.attempt = block(std::move(shortcut.attempt));
    shortcut.holds = now(shortcut.holds);
    shortcut.quick = block(std::move(shortcut.quick));
    shortcut.full = block(std::move(shortcut.full));
    to.emplace_back().is = std::move(shortcut);
  }

  Kernel kernel_;
  Expansion in_;
  /// What stands for each value now.
  std::vector<Value> by_;
  std::vector<bool> wants_narrow_operands_;
};

}  // namespace

bool is_expanded(Function function) {
  switch (function) {
#define HOM_MATH_CASE(name) case Function::name:
    HOM_MATH_UNARY(HOM_MATH_CASE)
    HOM_MATH_BINARY(HOM_MATH_CASE)
#undef HOM_MATH_CASE
    return true;
    default:
      return false;
  }
}

Kernel expanded(Kernel kernel) { return Expander(std::move(kernel)).run(); }

}  // namespace hom::nest
