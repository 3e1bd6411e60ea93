// tests/laws/random_kernel_elements.cc -- scalar functions, reductions and combinations by dtype
#include <hom/tests/laws/random_kernel_elements.h>

#include <bit>
#include <cmath>

#include <hom/backends/cpu/ordered_sum.h>
#include <hom/backends/cpu/scalar_gamma.h>
#include <hom/backends/cpu/scalar_special.h>

namespace hom::laws {

using nest::Combine;
using nest::Function;
using nest::Node;

namespace {

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

}  // namespace

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
    case Function::fma:
      return dtype == f32
                 ? bits_of(std::fma(element<float>(a), element<float>(b), element<float>(c)))
                 : bits_of(std::fma(element<double>(a), element<double>(b), element<double>(c)));
    case Function::far_sin:
      return unary<scalar::Far<Function::far_sin>>(dtype, a);
    case Function::far_cos:
      return unary<scalar::Far<Function::far_cos>>(dtype, a);
    case Function::far_tan:
      return unary<scalar::Far<Function::far_tan>>(dtype, a);
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

namespace {

template <class F>
Bits reduce(Dtype dtype, const std::vector<Bits>& terms, bool pairwise, double identity) {
  return visit(dtype, [&]<class T>() -> Bits {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      using Computed = scalar::Compute<T>;
      Computed first = static_cast<Computed>(identity);
      if constexpr (scalar::Integer<Computed>) {
        if (identity == -HUGE_VAL) first = std::numeric_limits<Computed>::min();
        if (identity == HUGE_VAL) first = std::numeric_limits<Computed>::max();
      }
      if (pairwise) {
        // The left half of a tree of blocks is the largest power of two that is not all of them.
        const auto fold = [&](const auto& self, std::size_t low, std::size_t high) -> Computed {
          if (high - low == 1) return scalar::load(element<T>(terms[low]));
          const std::size_t half = std::bit_floor(high - low - 1);
          return F{}(self(self, low, low + half), self(self, low + half, high));
        };
        return bits_of(static_cast<T>(fold(fold, 0, terms.size())));
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

}  // namespace

Bits reduce(Combine combine, Dtype dtype, const std::vector<Bits>& terms, bool pairwise) {
  switch (combine) {
    case Combine::sum:
      return reduce<scalar::Add>(dtype, terms, pairwise, 0);
    case Combine::prod:
      return reduce<scalar::Mul>(dtype, terms, pairwise, 1);
    case Combine::max:
      return reduce<scalar::Max>(dtype, terms, pairwise, -HUGE_VAL);
    case Combine::min:
      return reduce<scalar::Min>(dtype, terms, pairwise, HUGE_VAL);
    case Combine::and_:
      return reduce<scalar::And>(dtype, terms, pairwise, 1);
    case Combine::or_:
      return reduce<scalar::Or>(dtype, terms, pairwise, 0);
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

}  // namespace hom::laws
