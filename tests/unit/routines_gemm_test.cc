// tests/unit/routines_gemm_test.cc -- products compiled for each instruction set, those that this
// processor has
#include <limits>

#include "routines_support.h"

#include <hom/backends/cpu/routines/eigen_gemm.h>
#include <hom/backends/cpu/routines/fma_gemm.h>

namespace hom::testing {
namespace {

using cpu::MatrixView;

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

/// Operands with neighbours along rows or columns, and gaps.
template <class T>
struct Operands {
  std::vector<T> a_elements, b_elements;
  MatrixView<T> a, b;

  Operands(Random& random, std::int64_t m, std::int64_t k, std::int64_t n) {
    const auto view = [&](std::int64_t rows, std::int64_t columns, std::vector<T>& storage) {
      const bool by_rows = uniform(random, 0, 1) == 1;
      const std::int64_t stride = (by_rows ? columns : rows) + uniform(random, 0, 3);
      storage.resize(static_cast<std::size_t>(stride * (by_rows ? rows : columns)));
      for (T& element : storage) element = tame_element<T>(random);
      return MatrixView<T>{storage.data(), rows, columns, by_rows ? stride : 1,
                           by_rows ? 1 : stride};
    };
    a = view(m, k, a_elements);
    b = view(k, n, b_elements);
  }

  std::size_t size() const { return static_cast<std::size_t>(a.rows * b.columns); }

  void expect_near(const std::vector<T>& c) const {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < b.columns; ++j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t t = 0; t < a.columns; ++t) {
          const long double term =
              static_cast<long double>(a.data[i * a.row_stride + t * a.column_stride]) *
              b.data[t * b.row_stride + j * b.column_stride];
          sum += term;
          magnitude += std::fabs(term);
        }
        ASSERT_LE(
            std::fabs(c[static_cast<std::size_t>(i * b.columns + j)] - sum),
            static_cast<long double>(a.columns) * std::numeric_limits<T>::epsilon() * magnitude)
            << a.rows << "×" << a.columns << "×" << b.columns << " at " << i << ", " << j;
      }
    }
  }
};

template <class F>
void for_sizes(F&& f) {
  for (const auto& [m, k, n] : {std::array<std::int64_t, 3>{1, 1, 1},
                                {2, 3, 2},
                                {6, 16, 8},
                                {7, 9, 8},
                                {8, 8, 8},
                                {17, 3, 4},
                                {12, 5, 33},
                                {13, 40, 31},
                                {25, 7, 70},
                                {5, 100, 129},
                                {3, 513, 260},
                                {40, 300, 300},
                                {61, 1025, 17},
                                {300, 900, 257}})
    f(m, k, n);
}

template <class T>
std::vector<T> product(const cpu::FmaGemm<T>& gemm, const Operands<T>& operands) {
  std::vector<T> c(operands.size());
  const MatrixView<T>& a = operands.a;
  Guarded scratch(gemm.scratch_bytes(a, operands.b));
  gemm.multiply(a, operands.b, c.data(), operands.b.columns, scratch.data());
  EXPECT_TRUE(scratch.is_intact());
  return c;
}

template <class T>
void check_fma() {
  Random random(1);
  for_sizes([&](std::int64_t m, std::int64_t k, std::int64_t n) {
    const Operands<T> operands(random, m, k, n);
    const std::vector<T> c = product(cpu::fma_gemm_avx2<T>(), operands);
    operands.expect_near(c);
    if (has_avx512()) {
      EXPECT_EQ(product(cpu::fma_gemm_avx512<T>(), operands), c);
    }
    // A row of a product is the product of the row.
    Operands<T> row = operands;
    row.a.rows = 1;
    row.a.data += (m - 1) * row.a.row_stride;
    EXPECT_EQ(product(cpu::fma_gemm_avx2<T>(), row),
              std::vector<T>(c.end() - static_cast<std::ptrdiff_t>(n), c.end()));
  });
}

TEST(FmaGemm, has_the_same_bits_for_every_vector_width_and_any_rows) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  check_fma<float>();
  check_fma<double>();
}

/// Rows that overlap, of runs of terms at random places, in lines.
template <class T>
void check_windows(Random& random) {
  const std::int64_t columns = uniform(random, 1, 70), rows = uniform(random, 1, 20);
  const std::int64_t lines = uniform(random, 0, 4), a_row = uniform(random, 0, 3);
  const std::int64_t c_row = columns + uniform(random, 0, 2), line = rows * c_row;
  std::vector<cpu::TermRun> runs(static_cast<std::size_t>(uniform(random, 0, 5)));
  std::int64_t k = 0;
  for (cpu::TermRun& run : runs) {
    run = {uniform(random, 0, 900), uniform(random, 0, 3) == 0 ? 512 : uniform(random, 1, 40)};
    k += run.terms;
  }
  const auto drawn = [&](std::int64_t size) {
    std::vector<T> elements(static_cast<std::size_t>(size));
    for (T& element : elements) element = tame_element<T>(random);
    return elements;
  };
  const std::vector<T> a = drawn(2000), b = drawn(k * columns);
  const auto product_by = [&](const cpu::FmaGemm<T>& gemm) {
    std::vector<T> panels(b.size()), c(static_cast<std::size_t>(lines * line), T(7));
    gemm.write_panels({b.data(), k, columns, columns, 1}, rows, panels.data());
    std::vector<typename cpu::Windows<T>::Line> all;
    for (std::int64_t l = 0; l < lines; ++l) all.push_back({a.data() + 7 * l, c.data() + l * line});
    gemm.multiply_windows({all, rows, a_row, c_row, runs}, panels.data(), columns);
    return c;
  };
  const std::vector<T> c = product_by(cpu::fma_gemm_avx2<T>());
  if (has_avx512()) {
    EXPECT_EQ(product_by(cpu::fma_gemm_avx512<T>()), c);
  }
  for (std::int64_t i = 0; i < lines * rows; ++i) {
    for (std::int64_t j = 0; j < c_row; ++j) {
      const T got = c[static_cast<std::size_t>(i * c_row + j)];
      if (j >= columns) {
        ASSERT_EQ(got, T(7)) << "between rows";
        continue;
      }
      long double sum = 0, magnitude = 0;
      std::int64_t t = 0;
      for (const cpu::TermRun& run : runs) {
        for (std::int64_t r = 0; r < run.terms; ++r, ++t) {
          const std::int64_t at = i / rows * 7 + i % rows * a_row + run.offset + r;
          const long double term = static_cast<long double>(a[static_cast<std::size_t>(at)]) *
                                   b[static_cast<std::size_t>(t * columns + j)];
          sum += term;
          magnitude += std::fabs(term);
        }
      }
      ASSERT_LE(std::fabs(got - sum),
                static_cast<long double>(k) * std::numeric_limits<T>::epsilon() * magnitude)
          << rows << " rows, " << columns << " columns, " << k << " terms at " << i << ", " << j;
    }
  }
}

TEST(FmaGemm, multiplies_windows_with_the_same_bits_for_every_vector_width) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  Random random(4);
  for (int i = 0; i < 200; ++i) {
    check_windows<float>(random);
    check_windows<double>(random);
  }
}

/// Products of a batch, with gaps between them and one operand now and then the same for all, have
/// the bits of each product alone; what lies between results stays.
template <class T>
void check_batches(const cpu::FmaGemm<T>& gemm) {
  Random random(3);
  const auto check = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
    const std::int64_t count = uniform(random, 0, 5);
    const Operands<T> first(random, m, k, n);
    const auto many = [&](const std::vector<T>& one, std::int64_t step) {
      std::vector<T> all(one.size() + static_cast<std::size_t>(step * count));
      for (T& element : all) element = tame_element<T>(random);
      return all;
    };
    const auto step = [&](std::int64_t size) {
      return uniform(random, 0, 3) == 0 ? 0 : size + uniform(random, 0, 2);
    };
    const std::int64_t c_row = n + uniform(random, 0, 2);
    const cpu::BatchSteps steps{count, step(m * k), step(k * n), m * c_row + 1};
    const std::vector<T> a_elements = many(first.a_elements, steps.a);
    const std::vector<T> b_elements = many(first.b_elements, steps.b);
    MatrixView<T> a = first.a, b = first.b;
    a.data = a_elements.data();
    b.data = b_elements.data();
    std::vector<T> c(static_cast<std::size_t>(steps.c * count), T(7));
    std::vector<T> expected = c;
    Guarded scratch(gemm.scratch_bytes(a, b));
    gemm.multiply_batch(a, b, c.data(), c_row, steps, scratch.data());
    EXPECT_TRUE(scratch.is_intact());
    for (std::int64_t i = 0; i < count; ++i) {
      gemm.multiply(a, b, expected.data() + i * steps.c, c_row, scratch.data());
      a.data += steps.a;
      b.data += steps.b;
    }
    EXPECT_EQ(c, expected) << count << " of " << m << "×" << k << "×" << n;
  };
  for (int i = 0; i < 300; ++i)
    check(uniform(random, 1, 40), uniform(random, 1, 40), uniform(random, 1, 70));
  check(0, 3, 4);
  check(3, 4, 0);
  for_sizes(check);
}

TEST(FmaGemm, batches_have_the_bits_of_their_products) {
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  check_batches(cpu::fma_gemm_avx2<float>());
  check_batches(cpu::fma_gemm_avx2<double>());
  if (!has_avx512()) GTEST_SKIP() << "this processor has no AVX-512";
  check_batches(cpu::fma_gemm_avx512<float>());
  check_batches(cpu::fma_gemm_avx512<double>());
}

template <class T>
void check_eigen(const cpu::EigenGemm<T>& gemm) {
  Random random(2);
  for_sizes([&](std::int64_t m, std::int64_t k, std::int64_t n) {
    const Operands<T> operands(random, m, k, n);
    const cpu::EigenBlocks blocks = gemm.blocks(m, k, n);
    std::vector<T> c(operands.size());
    Guarded scratch(cpu::eigen_scratch_bytes<T>(blocks));
    gemm.multiply(operands.a, operands.b, c.data(), blocks, scratch.data());
    EXPECT_TRUE(scratch.is_intact());
    operands.expect_near(c);
  });
}

TEST(EigenGemm, is_near_for_every_instruction_set) {
  check_eigen(cpu::eigen_gemm_sse2<float>());
  check_eigen(cpu::eigen_gemm_sse2<double>());
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  check_eigen(cpu::eigen_gemm_avx2<float>());
  check_eigen(cpu::eigen_gemm_avx2<double>());
  if (!has_avx512()) GTEST_SKIP() << "this processor has no AVX-512";
  check_eigen(cpu::eigen_gemm_avx512<float>());
  check_eigen(cpu::eigen_gemm_avx512<double>());
}

}  // namespace
}  // namespace hom::testing
