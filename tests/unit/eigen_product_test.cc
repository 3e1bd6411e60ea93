// tests/unit/eigen_product_test.cc -- products of integers against a triple loop, outer products
// against products in order, in every bit
#include <hom/backends/cpu/eigen_product.h>

#include <array>
#include <bit>
#include <cstring>

#include "eager_support.h"

namespace hom::testing {
namespace {

/// A matrix within memory of its own, its rows and columns far apart, side by side, reversed or
/// repeated.
template <class T>
struct LaidOut {
  std::vector<T> memory;
  cpu::MatrixView<T> view;

  LaidOut(Random& random, std::int64_t rows, std::int64_t columns, T (*draw)(Random&)) {
    const bool by_columns = uniform(random, 0, 1);
    const auto step = [&](std::int64_t span) {
      const std::int64_t kind = uniform(random, 0, 5);
      return kind == 0   ? 0
             : kind == 1 ? -span
             : kind == 2 ? span + 3
             : kind == 3 ? -2 * span
                         : span;
    };
    const std::int64_t inner = step(1), inner_extent = by_columns ? rows : columns;
    const std::int64_t outer = step(std::max<std::int64_t>(1, 4 * inner_extent));
    view = {nullptr, rows, columns, by_columns ? inner : outer, by_columns ? outer : inner};
    std::int64_t first = 0, last = 0;
    for (const auto& [extent, stride] :
         {std::pair{rows, view.row_stride}, std::pair{columns, view.column_stride}}) {
      (stride < 0 ? first : last) += std::max<std::int64_t>(0, extent - 1) * stride;
    }
    memory.resize(static_cast<std::size_t>(last - first + 1));
    for (T& element : memory) element = draw(random);
    view.data = memory.data() - first;
  }
  T at(std::int64_t i, std::int64_t j) const {
    return view.data[i * view.row_stride + j * view.column_stride];
  }
};

/// Integers of all bits.
template <Element T>
T any_bits(Random& random) {
  return static_cast<T>(random());
}

/// Extents on both sides of where Eigen takes over.
std::int64_t any_extent(Random& random) {
  constexpr std::array<std::int64_t, 14> extents{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 40, 70, 130};
  return extents[static_cast<std::size_t>(uniform(random, 0, extents.size() - 1))];
}

template <class T>
void check_integers(Random& random) {
  const std::int64_t m = any_extent(random), k = any_extent(random), n = any_extent(random);
  const LaidOut<T> a(random, m, k, any_bits<T>), b(random, k, n, any_bits<T>);
  std::vector<T> got(static_cast<std::size_t>(m * n + 1), T{7});
  cpu::multiply_integers(a.view, b.view, got.data());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::uint64_t want = 0;
      for (std::int64_t t = 0; t < k; ++t) want += std::uint64_t{a.at(i, t)} * b.at(t, j);
      ASSERT_EQ(got[static_cast<std::size_t>(i * n + j)], static_cast<T>(want))
          << m << " x " << k << " x " << n << ", strides " << a.view.row_stride << ' '
          << a.view.column_stride << ", " << b.view.row_stride << ' ' << b.view.column_stride;
    }
  }
  ASSERT_EQ(got.back(), T{7}) << "wrote past the end";
}

TEST(IntegerProducts, EqualATripleLoopForEveryLayoutAndExtent) {
  Random random(41);
  for (int round = 0; round < 1500; ++round) {
    check_integers<std::uint8_t>(random);
    check_integers<std::uint32_t>(random);
    check_integers<std::uint64_t>(random);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(IntegerProducts, OfBatchesEqualATripleLoopOnEveryDtype) {
  Random random(42);
  for_each_dtype(DtypeSet{i8, u8, i32, u32, i64, u64}, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::same_as<T, bool>) {
      for (int round = 0; round < 100; ++round) {
        const std::int64_t m = any_extent(random), k = any_extent(random), n = any_extent(random),
                           batches = uniform(random, 0, 3);
        const Tensor x = random_tensor<T>(random, {m, batches, k}, any_bits<T>);
        const Tensor y = random_tensor<T>(random, {batches, n, k}, any_bits<T>);
        const auto a = elements<T>(x), b = elements<T>(y);
        std::vector<T> want;
        for (std::int64_t batch = 0; batch < batches; ++batch) {
          for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              std::uint64_t sum = 0;
              for (std::int64_t t = 0; t < k; ++t) {
                sum += static_cast<std::uint64_t>(
                           a[static_cast<std::size_t>((i * batches + batch) * k + t)]) *
                       static_cast<std::uint64_t>(
                           b[static_cast<std::size_t>((batch * n + j) * k + t)]);
              }
              want.push_back(static_cast<T>(sum));
            }
          }
        }
        const Attributes attributes{{"lhs_contract", {Shape{2}}},
                                    {"rhs_contract", {Shape{2}}},
                                    {"lhs_batch", {Shape{1}}},
                                    {"rhs_batch", {Shape{0}}}};
        ASSERT_EQ(elements<T>(run("dot_general", attributes, x, y)), want)
            << dtype_of<T>().name() << ' ' << m << " x " << k << " x " << n;
      }
    }
  });
}

// ---- outer products of floats ----

template <std::floating_point T>
auto bits_of(T x) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(x);
}

template <std::floating_point T>
T finite_element(Random& random) {
  const std::int64_t kind = uniform(random, 0, 9);
  if (kind == 0) return T{0};
  if (kind == 1) return -T{0};
  if (kind == 2) return std::numeric_limits<T>::max();
  if (kind == 3) return -std::numeric_limits<T>::denorm_min();
  return std::normal_distribution<T>()(random);
}

/// Now and then an infinity or a NaN, whose sign and payload no result may show.
template <std::floating_point T>
T rarely_special(Random& random) {
  const std::int64_t kind = uniform(random, 0, 99);
  if (kind == 0) return std::numeric_limits<T>::infinity();
  if (kind == 1) return -std::numeric_limits<T>::infinity();
  if (kind == 2) return -std::numeric_limits<T>::quiet_NaN();
  if (kind == 3) return std::bit_cast<T>(bits_of(std::numeric_limits<T>::quiet_NaN()) | 5);
  return finite_element<T>(random);
}

template <std::floating_point T>
void check_outer(Random& random, std::int64_t m, std::int64_t n, T (*draw)(Random&)) {
  const LaidOut<T> a(random, m, 1, draw), b(random, 1, n, draw);
  std::vector<T> got(static_cast<std::size_t>(m * n + 1), T{7}), want(got);
  cpu::multiply_outer(a.view, b.view, got.data());
  cpu::multiply(a.view, b.view, want.data());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(bits_of(got[i]), bits_of(want[i]))
        << m << " x 1 x " << n << ", element " << i << ": " << got[i] << " or " << want[i];
  }
}

TEST(OuterProducts, HaveTheBitsOfProductsInOrder) {
  Random random(43);
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t m = any_extent(random), n = any_extent(random);
    check_outer<float>(random, m, n, round % 2 ? finite_element<float> : rarely_special<float>);
    check_outer<double>(random, m, n, round % 2 ? finite_element<double> : rarely_special<double>);
    if (::testing::Test::HasFatalFailure()) return;
  }
  for (const auto& [m, n] : {std::pair{1, 5000}, {5000, 1}, {2, 3001}, {3001, 2}, {130, 77}}) {
    for (int round = 0; round < 10; ++round) {
      check_outer<float>(random, m, n, finite_element<float>);
      check_outer<double>(random, m, n, finite_element<double>);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(OuterProducts, OfEveryFloatDtypeRoundOnce) {
  Random random(44);
  const Attributes attributes{{"lhs_contract", {Shape{}}},
                              {"rhs_contract", {Shape{}}},
                              {"lhs_batch", {Shape{}}},
                              {"rhs_batch", {Shape{}}}};
  for_each_dtype(DtypeSet{f16, bf16, f32, f64}, [&]<class T>() {
    if constexpr (dtype_of<T>().is_float()) {
      using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
      for (int round = 0; round < 40; ++round) {
        const auto draw = round % 2 ? random_element<T> : tame_element<T>;
        const Tensor x = random_tensor<T>(random, {uniform(random, 1, 90)}, draw);
        const Tensor y = random_tensor<T>(random, {uniform(random, 1, 90)}, draw);
        std::vector<T> want;
        for (const T a : elements<T>(x)) {
          for (const T b : elements<T>(y)) {
            const Sum sum = Sum{0} + static_cast<Sum>(a) * static_cast<Sum>(b);
            want.push_back(
                static_cast<T>(std::isnan(sum) ? std::numeric_limits<Sum>::quiet_NaN() : sum));
          }
        }
        const auto got = elements<T>(run("dot_general", attributes, x, y));
        ASSERT_EQ(got.size(), want.size());
        ASSERT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(T)), 0)
            << dtype_of<T>().name();
      }
    }
  });
}

}  // namespace
}  // namespace hom::testing
