// tests/laws/random_kernel_reference.cc -- kernels by plain recursion
#include <hom/tests/laws/random_kernel_reference.h>

#include <bit>
#include <cmath>
#include <cstring>

#include <hom/backends/cpu/ordered_sum.h>
#include <hom/backends/cpu/scalar_gamma.h>
#include <hom/backends/cpu/scalar_special.h>

namespace hom::laws {
namespace {

using nest::Block;
using nest::Combine;
using nest::Function;
using nest::Kernel;
using nest::Loop;
using nest::Node;
using nest::Value;

/// An element's bits, zero-extended, as in constants.
using Bits = std::uint64_t;

template <Element T>
T element(Bits bits) {
  if constexpr (std::same_as<T, bool>) {
    return bits != 0;
  } else {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &bits, sizeof(T));
    return std::bit_cast<T>(bytes);
  }
}

template <Element T>
Bits bits_of(T value) {
  Bits bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

// ---- functions ----

template <class F>
Bits unary(Dtype dtype, Bits a) {
  return visit(dtype, [&]<class T>() -> Bits {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>>) {
      return bits_of(scalar::apply<F>(element<T>(a)));
    } else {
      throw Bug("reference: a function of another dtype");
    }
  });
}

template <class F>
Bits binary(Dtype dtype, Bits a, Bits b) {
  return visit(dtype, [&]<class T>() -> Bits {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      return bits_of(scalar::apply<F>(element<T>(a), element<T>(b)));
    } else {
      throw Bug("reference: a function of another dtype");
    }
  });
}

/// f(x…) for a functor with a parameter, of floats.
template <class F, class... Operands>
Bits parametric(Dtype dtype, std::int64_t parameter, Operands... operands) {
  return visit(dtype, [&]<class T>() -> Bits {
    if constexpr (scalar::Float<scalar::Compute<T>>) {
      return bits_of(static_cast<T>(F{}(parameter, scalar::load(element<T>(operands))...)));
    } else {
      throw Bug("reference: a function of another dtype");
    }
  });
}

/// `dtype` is that of the last operand.
Bits apply(const Node& node, Dtype dtype, Bits a, Bits b, Bits c) {
  switch (node.function) {
    case Function::neg:
      return unary<scalar::Neg>(dtype, a);
    case Function::abs:
      return unary<scalar::Abs>(dtype, a);
    case Function::sign:
      return unary<scalar::Sign>(dtype, a);
    case Function::round:
      return unary<scalar::Round>(dtype, a);
    case Function::floor:
      return unary<scalar::Floor>(dtype, a);
    case Function::ceil:
      return unary<scalar::Ceil>(dtype, a);
    case Function::sqrt:
      return unary<scalar::Sqrt>(dtype, a);
    case Function::rsqrt:
      return unary<scalar::Rsqrt>(dtype, a);
    case Function::exp:
      return unary<scalar::Exp>(dtype, a);
    case Function::expm1:
      return unary<scalar::Expm1>(dtype, a);
    case Function::log:
      return unary<scalar::Log>(dtype, a);
    case Function::log1p:
      return unary<scalar::Log1p>(dtype, a);
    case Function::sin:
      return unary<scalar::Sin>(dtype, a);
    case Function::cos:
      return unary<scalar::Cos>(dtype, a);
    case Function::tan:
      return unary<scalar::Tan>(dtype, a);
    case Function::asin:
      return unary<scalar::Asin>(dtype, a);
    case Function::acos:
      return unary<scalar::Acos>(dtype, a);
    case Function::atan:
      return unary<scalar::Atan>(dtype, a);
    case Function::sinh:
      return unary<scalar::Sinh>(dtype, a);
    case Function::cosh:
      return unary<scalar::Cosh>(dtype, a);
    case Function::tanh:
      return unary<scalar::Tanh>(dtype, a);
    case Function::asinh:
      return unary<scalar::Asinh>(dtype, a);
    case Function::acosh:
      return unary<scalar::Acosh>(dtype, a);
    case Function::atanh:
      return unary<scalar::Atanh>(dtype, a);
    case Function::logistic:
      return unary<scalar::Logistic>(dtype, a);
    case Function::erf:
      return unary<scalar::Erf>(dtype, a);
    case Function::erfc:
      return unary<scalar::Erfc>(dtype, a);
    case Function::erfcx:
      return unary<scalar::Erfcx>(dtype, a);
    case Function::erf_inv:
      return unary<scalar::ErfInv>(dtype, a);
    case Function::erfc_inv:
      return unary<scalar::ErfcInv>(dtype, a);
    case Function::lgamma:
      return unary<scalar::Lgamma>(dtype, a);
    case Function::is_finite:
      return unary<scalar::IsFinite>(dtype, a);
    case Function::not_:
      return unary<scalar::Not>(dtype, a);
    case Function::polygamma:
      return parametric<scalar::Polygamma>(dtype, node.number, a);
    case Function::add:
      return binary<scalar::Add>(dtype, a, b);
    case Function::sub:
      return binary<scalar::Sub>(dtype, a, b);
    case Function::mul:
      return binary<scalar::Mul>(dtype, a, b);
    case Function::div:
      return binary<scalar::Div>(dtype, a, b);
    case Function::rem:
      return binary<scalar::Rem>(dtype, a, b);
    case Function::pow:
      return binary<scalar::Pow>(dtype, a, b);
    case Function::max:
      return binary<scalar::Max>(dtype, a, b);
    case Function::min:
      return binary<scalar::Min>(dtype, a, b);
    case Function::atan2:
      return binary<scalar::Atan2>(dtype, a, b);
    case Function::scale:
      return binary<scalar::Scale>(dtype, a, b);
    case Function::eq:
      return binary<scalar::Eq>(dtype, a, b);
    case Function::ne:
      return binary<scalar::Ne>(dtype, a, b);
    case Function::lt:
      return binary<scalar::Lt>(dtype, a, b);
    case Function::le:
      return binary<scalar::Le>(dtype, a, b);
    case Function::gt:
      return binary<scalar::Gt>(dtype, a, b);
    case Function::ge:
      return binary<scalar::Ge>(dtype, a, b);
    case Function::and_:
      return binary<scalar::And>(dtype, a, b);
    case Function::or_:
      return binary<scalar::Or>(dtype, a, b);
    case Function::xor_:
      return binary<scalar::Xor>(dtype, a, b);
    case Function::shift_left:
      return binary<scalar::ShiftLeft>(dtype, a, b);
    case Function::shift_right:
      return binary<scalar::ShiftRight>(dtype, a, b);
    case Function::log_gamma_slope:
      return parametric<scalar::LogGammaSlope>(dtype, node.number, a, b);
    case Function::select:
      break;
  }
  return a != 0 ? b : c;
}

Bits convert(Dtype to, Dtype from, Bits a) {
  return visit(to, [&]<class To>() {
    return visit(from,
                 [&]<class From>() { return bits_of(convert_element<To>(element<From>(a))); });
  });
}

// ---- reductions and combinations ----

template <class F>
Bits reduce(Dtype dtype, const std::vector<Bits>& terms, double identity) {
  return visit(dtype, [&]<class T>() -> Bits {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      using Computed = scalar::Compute<T>;
      Computed first = static_cast<Computed>(identity);
      if constexpr (scalar::Integer<Computed>) {
        if (identity == -HUGE_VAL) first = std::numeric_limits<Computed>::min();
        if (identity == HUGE_VAL) first = std::numeric_limits<Computed>::max();
      }
      cpu::OrderedReduction<F, T, 1> reduction(first);
      for (const Bits bits : terms) {
        const T term = element<T>(bits);
        reduction.add_term(&term, 1, 1);
      }
      T result{};
      reduction.finish(&result, 1);
      return bits_of(result);
    } else {
      throw Bug("reference: a reduction of another dtype");
    }
  });
}

/// The place of the first extreme term, NaN being the most extreme of all.
std::int64_t place(Dtype dtype, const std::vector<Bits>& terms, bool largest) {
  return visit(dtype, [&]<class T>() {
    std::size_t best = 0;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      const auto x = scalar::load(element<T>(terms[i]));
      const auto extreme = scalar::load(element<T>(terms[best]));
      if (extreme != extreme) break;
      if (x != x || (largest ? x > extreme : x < extreme)) best = i;
    }
    return static_cast<std::int64_t>(best);
  });
}

Bits reduce(Combine combine, Dtype dtype, const std::vector<Bits>& terms) {
  switch (combine) {
    case Combine::sum:
      return reduce<scalar::Add>(dtype, terms, 0);
    case Combine::prod:
      return reduce<scalar::Mul>(dtype, terms, 1);
    case Combine::max:
      return reduce<scalar::Max>(dtype, terms, -HUGE_VAL);
    case Combine::min:
      return reduce<scalar::Min>(dtype, terms, HUGE_VAL);
    case Combine::and_:
      return reduce<scalar::And>(dtype, terms, 1);
    case Combine::or_:
      return reduce<scalar::Or>(dtype, terms, 0);
    case Combine::argmax:
      return bits_of(place(dtype, terms, true));
    case Combine::argmin:
      return bits_of(place(dtype, terms, false));
    case Combine::set:
      break;
  }
  throw Bug("reference: nothing is reduced by `set`");
}

Bits combine_elements(Combine combine, Dtype dtype, Bits old, Bits value) {
  switch (combine) {
    case Combine::set:
      return value;
    case Combine::sum:
      return binary<scalar::Add>(dtype, old, value);
    case Combine::prod:
      return binary<scalar::Mul>(dtype, old, value);
    case Combine::max:
      return binary<scalar::Max>(dtype, old, value);
    case Combine::min:
      return binary<scalar::Min>(dtype, old, value);
    case Combine::and_:
      return binary<scalar::And>(dtype, old, value);
    case Combine::or_:
      return binary<scalar::Or>(dtype, old, value);
    case Combine::argmax:
    case Combine::argmin:
      break;
  }
  throw Bug("reference: a store combines by no place");
}

// ---- the walk ----

class Reference {
 public:
  Reference(const Kernel& kernel, std::byte* const* arguments, cpu::FailureRecord& record,
            std::int64_t first_failure)
      : kernel_(kernel),
        record_(record),
        first_failure_(first_failure),
        values_(kernel.nodes.size()),
        positions_(kernel.axes.size()) {
    for (const nest::Buffer& buffer : kernel.buffers) {
      if (buffer.is_local) {
        locals_.emplace_back(static_cast<std::size_t>(buffer.elements) * buffer.dtype.size());
      } else {
        buffers_.push_back(arguments[buffers_.size()]);
      }
    }
    for (std::vector<std::byte>& local : locals_) buffers_.push_back(local.data());
  }

  void run(const Block& block) {
    for (const nest::Statement& statement : block)
      std::visit([&](const auto& is) { run(is); }, statement.is);
  }

 private:
  Bits value(Value which) const {
    const Node& node = kernel_.nodes[which];
    if (node.kind == Node::Kind::constant) return static_cast<Bits>(node.number);
    if (node.kind == Node::Kind::axis)
      return bits_of(positions_[static_cast<std::size_t>(node.number)]);
    return values_[which];
  }
  std::int64_t index(Value which) const { return element<std::int64_t>(value(which)); }
  Dtype dtype(Value which) const { return kernel_.nodes[which].dtype; }

  std::byte* place(std::uint32_t buffer, std::int64_t index) const {
    const nest::Buffer& to = kernel_.buffers[buffer];
    if (index < 0 || index >= to.elements) {
      throw Bug("reference: index " + std::to_string(index) + " in buffer " +
                std::to_string(buffer) + "\n" + to_string(kernel_));
    }
    return buffers_[buffer] + index * static_cast<std::int64_t>(to.dtype.size());
  }
  Bits read(std::uint32_t buffer, std::int64_t index) const {
    Bits bits = 0;
    std::memcpy(&bits, place(buffer, index), kernel_.buffers[buffer].dtype.size());
    return bits;
  }

  Bits compute(Value which) const {
    const Node& node = kernel_.nodes[which];
    const auto operand = [&](std::size_t i) {
      return i < node.operands.size() ? value(node.operands[i]) : 0;
    };
    switch (node.kind) {
      case Node::Kind::constant:
      case Node::Kind::axis:
        return value(which);
      case Node::Kind::load:
        if (node.operands.size() == 2 && operand(1) == 0) return 0;
        return read(static_cast<std::uint32_t>(node.number), index(node.operands[0]));
      case Node::Kind::apply:
        return apply(node, dtype(node.operands.back()), operand(0), operand(1), operand(2));
      case Node::Kind::convert:
        return convert(node.dtype, dtype(node.operands[0]), operand(0));
      case Node::Kind::bitcast:
        return node.dtype.is_bool() ? operand(0) != 0 : operand(0);
      case Node::Kind::index_add:
        return bits_of(index(node.operands[0]) + index(node.operands[1]));
      case Node::Kind::index_scale:
        return bits_of(index(node.operands[0]) * node.number);
      case Node::Kind::index_quotient:
        return bits_of(index(node.operands[0]) / node.number);
      case Node::Kind::index_remainder:
        return bits_of(index(node.operands[0]) % node.number);
      case Node::Kind::reduced:
      case Node::Kind::carried:
        break;
    }
    throw Bug("reference: a loop's value is computed by a statement");
  }

  void run(const nest::Define& define) { values_[define.value] = compute(define.value); }

  void run(const nest::Store& store) {
    if (store.when && value(*store.when) == 0) return;
    const Dtype type = kernel_.buffers[store.buffer].dtype;
    Bits bits = value(store.value);
    if (store.combine != Combine::set)
      bits = combine_elements(store.combine, type, read(store.buffer, index(store.index)), bits);
    std::memcpy(place(store.buffer, index(store.index)), &bits, type.size());
  }

  void run(const nest::Check& check) {
    if (value(check.ok) != 0 || record_.failure != 0) return;
    record_ = {first_failure_ + 1 + check.failure, index(check.offending)};
  }

  void run(const Loop& loop) {
    std::vector<std::vector<Bits>> terms(loop.reductions.size());
    for (const nest::Carry& carry : loop.carries) values_[carry.state] = value(carry.initial);
    walk(loop, 0, terms);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const nest::Reduction& reduction = loop.reductions[i];
      values_[reduction.result] = reduce(reduction.combine, dtype(reduction.term), terms[i]);
    }
  }

  /// All iterations along axes `depth` and after.
  void walk(const Loop& loop, std::size_t depth, std::vector<std::vector<Bits>>& terms) {
    if (depth == loop.axes.size()) {
      run(loop.body);
      for (std::size_t i = 0; i < terms.size(); ++i)
        terms[i].push_back(value(loop.reductions[i].term));
      std::vector<Bits> next;
      for (const nest::Carry& carry : loop.carries) next.push_back(value(carry.next));
      for (std::size_t i = 0; i < next.size(); ++i) values_[loop.carries[i].state] = next[i];
      return;
    }
    const std::int64_t extent = kernel_.axes[loop.axes[depth]];
    const bool down = loop.reverse && depth + 1 == loop.axes.size();
    for (std::int64_t i = 0; i < extent; ++i) {
      positions_[loop.axes[depth]] = down ? extent - 1 - i : i;
      walk(loop, depth + 1, terms);
    }
  }

  const Kernel& kernel_;
  cpu::FailureRecord& record_;
  std::int64_t first_failure_;
  std::vector<Bits> values_;
  std::vector<std::int64_t> positions_;
  std::vector<std::vector<std::byte>> locals_;
  std::vector<std::byte*> buffers_;
};

// ---- comparison ----

/// The arguments of one run, between guards that nobody may touch.
class Memory {
 public:
  explicit Memory(const KernelCase& test) {
    for (const std::vector<std::byte>& argument : test.arguments) {
      const std::size_t size = argument.size() + 2 * guard + alignment;
      std::vector<std::byte>& bytes = bytes_.emplace_back(size, canary);
      void* start = bytes.data() + guard;
      std::size_t space = size - guard;
      std::align(alignment, argument.size() + guard, start, space);
      std::memcpy(start, argument.data(), argument.size());
      pointers_.push_back(static_cast<std::byte*>(start));
    }
  }

  std::byte* const* pointers() const { return pointers_.data(); }

  bool is_intact(const KernelCase& test) const {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      for (const std::byte* at = bytes_[i].data(); at < pointers_[i]; ++at)
        if (*at != canary) return false;
      const std::byte* end = bytes_[i].data() + bytes_[i].size();
      for (const std::byte* at = pointers_[i] + test.arguments[i].size(); at < end; ++at)
        if (*at != canary) return false;
    }
    return true;
  }

  /// Where the arguments differ; all NaN are one.
  static std::string difference(const Kernel& kernel, const Memory& got, const Memory& want) {
    for (std::size_t i = 0; i < want.pointers_.size(); ++i) {
      std::string text = visit(kernel.buffers[i].dtype, [&]<class T>() -> std::string {
        for (std::int64_t k = 0; k < kernel.buffers[i].elements; ++k) {
          const auto at = k * static_cast<std::int64_t>(sizeof(T));
          Bits a = 0;
          Bits b = 0;
          std::memcpy(&a, got.pointers_[i] + at, sizeof(T));
          std::memcpy(&b, want.pointers_[i] + at, sizeof(T));
          if (a == b) continue;
          const auto x = convert_element<double>(element<T>(a));
          const auto y = convert_element<double>(element<T>(b));
          if (std::isnan(x) && std::isnan(y)) continue;
          return "buffer " + std::to_string(i) + ", element " + std::to_string(k) + ": got " +
                 hom::to_string(x) + ", want " + hom::to_string(y) + " (" + std::to_string(a) +
                 ", " + std::to_string(b) + ")";
        }
        return "";
      });
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr std::size_t alignment = 64;
  static constexpr std::byte canary{0xa5};
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::byte*> pointers_;
};

std::string difference(const KernelCase& test, const Memory& got, const Memory& want,
                       const cpu::FailureRecord& record, const cpu::FailureRecord& expected) {
  if (!got.is_intact(test)) return "memory outside the arguments was written";
  if (record.failure != expected.failure || record.value != expected.value) {
    return "failure " + std::to_string(record.failure) + " with " + std::to_string(record.value) +
           " instead of " + std::to_string(expected.failure) + " with " +
           std::to_string(expected.value);
  }
  return Memory::difference(test.kernel, got, want);
}

}  // namespace

void run_reference(const Kernel& kernel, std::byte* const* arguments, cpu::FailureRecord& record,
                   std::int64_t first_failure) {
  Reference(kernel, arguments, record, first_failure).run(kernel.body);
}

std::string difference_from_reference(const KernelCase& test, const LaunchKernel& launch) {
  const Memory want(test);
  cpu::FailureRecord expected;
  run_reference(test.kernel, want.pointers(), expected);

  std::int64_t extent = 0;
  if (test.kernel.is_splittable)
    extent = test.kernel.axes[std::get<Loop>(test.kernel.body[0].is).axes[0]];
  const auto run = [&](const std::vector<std::int64_t>& bounds) -> std::string {
    const Memory got(test);
    cpu::FailureRecord record;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
      launch(got.pointers(), bounds[i], bounds[i + 1], record);
    return difference(test, got, want, record, expected);
  };
  std::string wrong = run({0, extent});
  if (wrong.empty() && extent > 1) {
    wrong = run({0, (extent + 2) / 3, extent / 2 + 1, extent});
    if (!wrong.empty()) wrong = "in parts: " + wrong;
  }
  return wrong.empty() ? wrong : wrong + "\n" + to_string(test.kernel);
}

}  // namespace hom::laws
