// tests/unit/eager_contraction_test.cc -- dot_general against loops over indices, in value and in
// bits
#include <algorithm>
#include <cstring>

#include "eager_support.h"

#include <hom/backends/cpu/matrix_product.h>

namespace hom::testing {
namespace {

/// Random axes of both operands, paired for contraction and for batches.
struct Contraction {
  Shape lhs_contract, rhs_contract, lhs_batch, rhs_batch, lhs_shape, rhs_shape;

  Contraction(Random& random, std::int64_t longest) {
    std::vector<std::array<std::int64_t, 2>> lhs, rhs;  // role and number within the role
    const auto count = [&] { return uniform(random, 0, 2); };
    const std::int64_t contracted = count(), batches = count(), lhs_free = count(),
                       rhs_free = count();
    Shape contract_extents, batch_extents;
    const auto extent = [&] {
      return uniform(random, 0, 19) == 0 ? 0 : uniform(random, 1, longest);
    };
    for (std::int64_t i = 0; i < contracted; ++i) {
      contract_extents.push_back(extent());
      lhs.push_back({0, i});
      rhs.push_back({0, i});
    }
    for (std::int64_t i = 0; i < batches; ++i) {
      batch_extents.push_back(std::min<std::int64_t>(extent(), 3));
      lhs.push_back({1, i});
      rhs.push_back({1, i});
    }
    for (std::int64_t i = 0; i < lhs_free; ++i) lhs.push_back({2, extent()});
    for (std::int64_t i = 0; i < rhs_free; ++i) rhs.push_back({2, extent()});
    const auto place = [&](auto& axes, Shape& contract, Shape& batch, Shape& shape) {
      std::shuffle(axes.begin(), axes.end(), random);
      contract.resize(static_cast<std::size_t>(contracted));
      batch.resize(static_cast<std::size_t>(batches));
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const auto [role, number] = axes[axis];
        const auto k = static_cast<std::size_t>(number);
        if (role == 0) contract[k] = static_cast<std::int64_t>(axis);
        if (role == 1) batch[k] = static_cast<std::int64_t>(axis);
        shape.push_back(role == 0 ? contract_extents[k] : role == 1 ? batch_extents[k] : number);
      }
    };
    place(lhs, lhs_contract, lhs_batch, lhs_shape);
    place(rhs, rhs_contract, rhs_batch, rhs_shape);
  }

  Attributes attributes() const {
    return {{"lhs_contract", {lhs_contract}},
            {"rhs_contract", {rhs_contract}},
            {"lhs_batch", {lhs_batch}},
            {"rhs_batch", {rhs_batch}}};
  }
};

template <Element T>
void check_contraction(Random& random, std::int64_t longest) {
  const Contraction c(random, longest);
  const Tensor a = random_tensor<T>(random, c.lhs_shape, tame_element<T>);
  const Tensor b = random_tensor<T>(random, c.rhs_shape, tame_element<T>);
  const Tensor result = run("dot_general", c.attributes(), a, b);
  Shape sum_shape;
  for (std::int64_t axis : c.lhs_contract)
    sum_shape.push_back(c.lhs_shape[static_cast<std::size_t>(axis)]);
  const auto sum_indices = indices_of(sum_shape);
  for (const Shape& index : indices_of(result.shape())) {
    Shape left(c.lhs_shape.size(), -1), right(c.rhs_shape.size(), -1);
    std::size_t next = 0;
    for (; next < c.lhs_batch.size(); ++next) {
      left[static_cast<std::size_t>(c.lhs_batch[next])] =
          right[static_cast<std::size_t>(c.rhs_batch[next])] = index[next];
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!contains(c.lhs_contract, i) && !contains(c.lhs_batch, i)) left[i] = index[next++];
    }
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (!contains(c.rhs_contract, i) && !contains(c.rhs_batch, i)) right[i] = index[next++];
    }
    Wide<T> want = 0;
    long double scale = 0;
    for (const Shape& k : sum_indices) {
      for (std::size_t i = 0; i < k.size(); ++i) {
        left[static_cast<std::size_t>(c.lhs_contract[i])] =
            right[static_cast<std::size_t>(c.rhs_contract[i])] = k[i];
      }
      const Wide<T> product = wide(element<T>(a, left)) * wide(element<T>(b, right));
      want += product;
      scale += std::fabs(static_cast<long double>(product));
    }
    // Sixteen-bit floats accumulate in f32, whose errors vanish beside the one rounding.
    expect_within<T>(element<T>(result, index), want, scale,
                     sizeof(T) == 2 ? 1 : 2 + static_cast<long double>(sum_indices.size()),
                     "dot_general");
  }
}

TEST(EagerContraction, MatchesLoopsOnEveryDtypeAndLayout) {
  Random random(26);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int round = 0; round < 60; ++round) check_contraction<T>(random, 4);
      for (int round = 0; round < 6; ++round) check_contraction<T>(random, 9);
    }
  });
}

TEST(EagerContraction, MatricesLargerThanABlockMatchLoopsInEveryOrientation) {
  Random random(27);
  const std::int64_t m = 37, k = 301, n = 45;
  for_each_dtype(DtypeSet{i32, f16, f32, f64}, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int orientation = 0; orientation < 4; ++orientation) {
        const bool left = orientation & 1, right = orientation & 2;
        const Tensor a = tensor(elements<T>(random_tensor<T>(random, {m * k}, tame_element<T>)),
                                left ? Shape{k, m} : Shape{m, k});
        const Tensor b = tensor(elements<T>(random_tensor<T>(random, {k * n}, tame_element<T>)),
                                right ? Shape{n, k} : Shape{k, n});
        const Attributes attributes{{"lhs_contract", {Shape{left ? 0 : 1}}},
                                    {"rhs_contract", {Shape{right ? 1 : 0}}},
                                    {"lhs_batch", {Shape{}}},
                                    {"rhs_batch", {Shape{}}}};
        const Tensor result = run("dot_general", attributes, a, b);
        for (const Shape& index : indices_of({m, n})) {
          Wide<T> want = 0;
          for (std::int64_t i = 0; i < k; ++i) {
            want += wide(element<T>(a, left ? Shape{i, index[0]} : Shape{index[0], i})) *
                    wide(element<T>(b, right ? Shape{index[1], i} : Shape{i, index[1]}));
          }
          expect_within<T>(element<T>(result, index), want, 2 * k, 1, "matrix product");
        }
      }
    }
  });
}

// ---- bits ----

template <Element T>
void expect_same_bits(const std::vector<T>& got, const std::vector<T>& want, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::memcmp(&got[i], &want[i], sizeof(T)), 0)
        << what << " of " << dtype_of<T>().name() << ", element " << i << ": "
        << static_cast<long double>(wide(got[i])) << " or "
        << static_cast<long double>(wide(want[i]));
  }
}

/// Floats of all magnitudes whose sums show in which order they were added; integers of any bits.
template <Element T>
T rough_element(Random& random) {
  if constexpr (dtype_of<T>().is_float()) {
    const double size = std::exp2(static_cast<double>(uniform(random, -8, 8)));
    return narrow<T>(std::uniform_real_distribution<double>(-size, size)(random));
  } else {
    return static_cast<T>(random());
  }
}

/// The elements of a row-major tensor, laid out at random.
template <Element T>
Tensor laid_out(Random& random, const std::vector<T>& values, const Shape& shape) {
  auto array = random_layout(random, dtype_of<T>()[shape], false);
  const std::vector<Shape> indices = indices_of(shape);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::int64_t position = array->offset;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      position += indices[i][axis] * array->strides[axis];
    reinterpret_cast<T*>(array->buffer->data())[position] = values[i];
  }
  return Tensor(std::move(array));
}

Attributes matrix_product() {
  return {{"lhs_contract", {Shape{1}}},
          {"rhs_contract", {Shape{0}}},
          {"lhs_batch", {Shape{}}},
          {"rhs_batch", {Shape{}}}};
}

/// Extents 1, small, odd, around a vector, around a chunk of 256, and beyond.
std::int64_t extent_of_class(Random& random, int size_class) {
  switch (size_class) {
    case 0:
      return 1;
    case 1:
      return uniform(random, 2, 9);
    case 2:
      return uniform(random, 10, 40);
    case 3:
      return uniform(random, 60, 70);
    default:
      return uniform(random, 250, 530);
  }
}

/// One sum in the order that matrix_product.h states.
template <std::floating_point T>
T ordered_sum(const std::vector<T>& a, const std::vector<T>& b) {
  const std::size_t terms = a.size(), lanes = terms < 64 ? 1 : 8;
  T total = 0;
  for (std::size_t start = 0; start < terms; start += 256) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      T sum = 0;
      for (std::size_t k = start + lane; k < std::min(start + 256, terms); k += lanes)
        sum += a[k] * b[k];
      total += sum;
    }
  }
  return std::isnan(total) ? std::numeric_limits<T>::quiet_NaN() : total;
}

template <Element T>
std::vector<T> drawn(Random& random, std::int64_t count, T (*draw)(Random&)) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values) value = draw(random);
  return values;
}

/// Every pair of layouts gives the bits of row-major operands.
template <Element T>
void check_layouts(Random& random, const Contraction& c, T (*draw)(Random&), int layouts) {
  const auto a = drawn<T>(random, element_count(c.lhs_shape), draw);
  const auto b = drawn<T>(random, element_count(c.rhs_shape), draw);
  const auto want = elements<T>(
      run("dot_general", c.attributes(), tensor(a, c.lhs_shape), tensor(b, c.rhs_shape)));
  for (int i = 0; i < layouts; ++i) {
    expect_same_bits<T>(
        elements<T>(run("dot_general", c.attributes(), laid_out(random, a, c.lhs_shape),
                        laid_out(random, b, c.rhs_shape))),
        want, "dot_general");
  }
}

TEST(EagerContraction, LayoutsNeverChangeABit) {
  Random random(28);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int round = 0; round < 40; ++round)
        check_layouts<T>(random, Contraction(random, 9), rough_element<T>, 4);
      for (int round = 0; round < 20; ++round)  // with infinities, NaN and −0
        check_layouts<T>(random, Contraction(random, 6), random_element<T>, 4);
    }
  });
}

TEST(EagerContraction, LayoutsNeverChangeABitOfMatrixProductsOfAnySize) {
  Random random(29);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int sizes = 0; sizes < 125; ++sizes) {
        const std::int64_t m = extent_of_class(random, sizes % 5);
        const std::int64_t k = extent_of_class(random, sizes / 5 % 5);
        const std::int64_t n = extent_of_class(random, sizes / 25);
        if (m * k * n > (sizeof(T) == 1 ? 100'000 : 3'000'000)) continue;
        const auto draw = sizes % 2 ? rough_element<T> : random_element<T>;
        const auto a = drawn<T>(random, m * k, draw), b = drawn<T>(random, k * n, draw);
        const Attributes attributes = matrix_product();
        const auto want = elements<T>(
            run("dot_general", attributes, tensor(a, Shape{m, k}), tensor(b, Shape{k, n})));
        for (int layout = 0; layout < 3; ++layout) {
          SCOPED_TRACE(::testing::Message() << m << " x " << k << " x " << n);
          expect_same_bits<T>(
              elements<T>(run("dot_general", attributes, laid_out(random, a, {m, k}),
                              laid_out(random, b, {k, n}))),
              want, "matrix product");
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  });
}

TEST(EagerContraction, BroadcastOperandsHaveTheBitsOfTheirCopies) {
  Random random(30);
  for_each_dtype(DtypeSet{i32, f16, bf16, f32, f64}, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int round = 0; round < 60; ++round) {
        const Contraction c(random, 12);
        const Tensor a = random_tensor<T>(random, c.lhs_shape, rough_element<T>);
        const Tensor b = random_tensor<T>(random, c.rhs_shape, rough_element<T>);
        expect_same_bits<T>(
            elements<T>(run("dot_general", c.attributes(), a, b)),
            elements<T>(run("dot_general", c.attributes(), tensor(elements<T>(a), c.lhs_shape),
                            tensor(elements<T>(b), c.rhs_shape))),
            "dot_general");
      }
    }
  });
}

struct MatrixLayout {
  std::int64_t row_stride, column_stride;
};

/// Each width of vectors, each way that the operands may lie, against sums one by one.
template <std::floating_point T>
void check_order(Random& random, std::int64_t m, std::int64_t k, std::int64_t n,
                 T (*draw)(Random&)) {
  SCOPED_TRACE(::testing::Message() << m << " x " << k << " x " << n);
  std::vector<std::vector<T>> rows, columns;
  for (std::int64_t i = 0; i < m; ++i) rows.push_back(drawn<T>(random, k, draw));
  for (std::int64_t j = 0; j < n; ++j) columns.push_back(drawn<T>(random, k, draw));
  std::vector<T> want;
  for (const auto& row : rows) {
    for (const auto& column : columns) want.push_back(ordered_sum(row, column));
  }
  for (int layout = 0; layout < 9; ++layout) {
    const int left = layout % 3, right = layout / 3;  // rows, columns or neither without gaps
    const std::int64_t gap = 2, a_unit = left == 2 ? 2 : 1, b_unit = right == 2 ? 2 : 1;
    const MatrixLayout a_at{left == 1 ? a_unit : k * a_unit + gap,
                            left == 1 ? m * a_unit + gap : a_unit};
    const MatrixLayout b_at{right == 1 ? b_unit : n * b_unit + gap,
                            right == 1 ? k * b_unit + gap : b_unit};
    std::vector<T> a(static_cast<std::size_t>(1 + m * a_at.row_stride + k * a_at.column_stride));
    std::vector<T> b(static_cast<std::size_t>(1 + k * b_at.row_stride + n * b_at.column_stride));
    for (std::int64_t t = 0; t < k; ++t) {
      const auto term = static_cast<std::size_t>(t);
      for (std::int64_t i = 0; i < m; ++i)
        a[static_cast<std::size_t>(1 + i * a_at.row_stride + t * a_at.column_stride)] =
            rows[static_cast<std::size_t>(i)][term];
      for (std::int64_t j = 0; j < n; ++j)
        b[static_cast<std::size_t>(1 + t * b_at.row_stride + j * b_at.column_stride)] =
            columns[static_cast<std::size_t>(j)][term];
    }
    for (const cpu::VectorWidth width : cpu::vector_widths()) {
      std::vector<T> got(want.size(), T{7});
      cpu::multiply<T>({a.data() + 1, m, k, a_at.row_stride, a_at.column_stride},
                       {b.data() + 1, k, n, b_at.row_stride, b_at.column_stride}, got.data(),
                       width);
      expect_same_bits<T>(got, want, "matrix product in order");
    }
  }
}

TEST(MatrixProduct, AddsInTheStatedOrderAtEveryWidthAndLayout) {
  Random random(31);
  const auto check = [&]<class T>() {
    for (int sizes = 0; sizes < 125; ++sizes) {
      const std::int64_t m = extent_of_class(random, sizes % 5);
      const std::int64_t k = extent_of_class(random, sizes / 5 % 5);
      const std::int64_t n = extent_of_class(random, sizes / 25);
      if (m * k * n > 2'000'000) continue;
      check_order<T>(random, m, k, n, sizes % 3 ? rough_element<T> : random_element<T>);
      if (::testing::Test::HasFatalFailure()) return;
    }
    check_order<T>(random, 3, 0, 4, rough_element<T>);
    check_order<T>(random, 1, 2000, 1, rough_element<T>);
    check_order<T>(random, 2, 3, 2100, rough_element<T>);  // more than a block of columns
    check_order<T>(random, 400, 70, 5, rough_element<T>);  // more than a block of rows
  };
  check.operator()<float>();
  check.operator()<double>();
}

TEST(EagerContraction, ARowOfAProductIsTheProductOfTheRow) {
  Random random(32);
  for (const std::int64_t k : {5, 63, 64, 65, 300}) {
    const std::int64_t m = 19, n = 23;
    const auto a = drawn<float>(random, m * k, rough_element<float>);
    const auto b = drawn<float>(random, k * n, rough_element<float>);
    const auto all = elements<float>(
        run("dot_general", matrix_product(), tensor(a, Shape{m, k}), tensor(b, Shape{k, n})));
    for (std::int64_t i = 0; i < m; ++i) {
      const std::vector<float> row(a.begin() + i * k, a.begin() + (i + 1) * k);
      expect_same_bits<float>(
          elements<float>(run("dot_general", matrix_product(), tensor(row, Shape{1, k}),
                              tensor(b, Shape{k, n}))),
          {all.begin() + i * n, all.begin() + (i + 1) * n}, "row");
    }
  }
}

TEST(EagerContraction, SumsWithoutTermsOrOfNegativeZerosArePositiveZeros) {
  for_each_dtype(DtypeSet{f16, bf16, f32, f64}, [&]<class T>() {
    if constexpr (dtype_of<T>().is_float()) {
      for (const std::int64_t m : {1, 2, 20}) {
        for (const std::int64_t n : {1, 3, 40}) {
          for (const std::int64_t k : {0, 1, 5, 64, 260}) {
            const std::vector<T> a(static_cast<std::size_t>(m * k), narrow<T>(-0.0L));
            const std::vector<T> b(static_cast<std::size_t>(k * n), narrow<T>(1));
            const std::vector<T> zeros(static_cast<std::size_t>(m * n), narrow<T>(0));
            expect_same_bits<T>(elements<T>(run("dot_general", matrix_product(),
                                                tensor(a, Shape{m, k}), tensor(b, Shape{k, n}))),
                                zeros, "zero");
          }
        }
      }
    }
  });
}

TEST(EagerContraction, ErrorsStayBelowTheStatedBound) {
  Random random(33);
  for (const std::int64_t k : {3, 63, 64, 200, 1000, 5000}) {
    for (const std::int64_t m : {1, 7}) {
      const std::int64_t n = 9;
      const auto a = drawn<float>(random, m * k, rough_element<float>);
      const auto b = drawn<float>(random, k * n, rough_element<float>);
      const auto c = elements<float>(
          run("dot_general", matrix_product(), tensor(a, Shape{m, k}), tensor(b, Shape{k, n})));
      const auto steps = static_cast<long double>(k < 64 ? k : 32 + 8 * ((k + 255) / 256));
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          long double want = 0, scale = 0;
          for (std::int64_t t = 0; t < k; ++t) {
            const long double product =
                static_cast<long double>(a[static_cast<std::size_t>(i * k + t)]) *
                b[static_cast<std::size_t>(t * n + j)];
            want += product;
            scale += std::fabs(product);
          }
          EXPECT_LE(std::fabs(c[static_cast<std::size_t>(i * n + j)] - want),
                    steps * 0x1.001p-24L * scale);
        }
      }
    }
  }
}

TEST(EagerContraction, ProductsOfSmallWholeNumbersAreExact) {
  Random random(34);
  const std::int64_t m = 130, k = 600, n = 70;
  for_each_dtype(DtypeSet{i32, u64, f32, f64}, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T> && !std::same_as<T, bool>) {
      const auto whole = +[](Random& r) { return static_cast<T>(uniform(r, 0, 9)); };
      const auto a = drawn<T>(random, m * k, whole), b = drawn<T>(random, k * n, whole);
      const auto c = elements<T>(
          run("dot_general", matrix_product(), tensor(a, Shape{m, k}), tensor(b, Shape{k, n})));
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          std::int64_t want = 0;
          for (std::int64_t t = 0; t < k; ++t)
            want += static_cast<std::int64_t>(a[static_cast<std::size_t>(i * k + t)]) *
                    static_cast<std::int64_t>(b[static_cast<std::size_t>(t * n + j)]);
          ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], static_cast<T>(want));
        }
      }
    }
  });
}

}  // namespace
}  // namespace hom::testing
