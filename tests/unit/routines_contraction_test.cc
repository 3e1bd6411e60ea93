// tests/unit/routines_contraction_test.cc -- contractions of a plan against the eager executor and
// sums in double
#include <cstdlib>
#include <limits>

#include "routines_support.h"

#include <hom/backends/cpu/routines/libraries.h>
#include <hom/hom.h>

namespace hom::testing {
namespace {

/// Random axes of both operands, paired for contraction and for batches.
struct Axes {
  Shape lhs_contract, rhs_contract, lhs_batch, rhs_batch, lhs_shape, rhs_shape;

  Axes(Random& random, std::int64_t longest) {
    enum class Role { contract, batch, free };
    struct Axis {
      Role role;
      std::size_t number;
      std::int64_t extent;
    };
    std::vector<Axis> lhs, rhs;
    const auto extent = [&] {
      const std::int64_t kind = uniform(random, 0, 19);
      return kind == 0 ? 0 : kind < 3 ? 1 : uniform(random, 1, longest);
    };
    const auto paired = [&](Role role, std::int64_t most) {
      const auto count = static_cast<std::size_t>(uniform(random, 0, 2));
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t both = std::min(extent(), most);
        lhs.push_back({role, i, both});
        rhs.push_back({role, i, both});
      }
      return count;
    };
    const std::size_t contracted = paired(Role::contract, longest);
    const std::size_t batches = paired(Role::batch, 3);
    for (auto* axes : {&lhs, &rhs}) {
      for (std::int64_t i = uniform(random, 0, 2); i > 0; --i)
        axes->push_back({Role::free, 0, extent()});
    }
    const auto place = [&](std::vector<Axis>& axes, Shape& contract, Shape& batch, Shape& shape) {
      std::shuffle(axes.begin(), axes.end(), random);
      contract.resize(contracted);
      batch.resize(batches);
      for (const Axis& axis : axes) {
        const auto position = static_cast<std::int64_t>(shape.size());
        if (axis.role == Role::contract) contract[axis.number] = position;
        if (axis.role == Role::batch) batch[axis.number] = position;
        shape.push_back(axis.extent);
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
  std::int64_t terms() const {
    std::int64_t count = 1;
    for (const std::int64_t axis : lhs_contract) count *= lhs_shape[static_cast<std::size_t>(axis)];
    return count;
  }
};

/// |got − want| ≤ 2·K·ε·Σ|aₖbₖ|: two sums of K terms, each within K·ε·Σ|aₖbₖ|.
template <Element T>
void expect_near(const Tensor& got, const Tensor& want, const Tensor& magnitudes,
                 std::int64_t terms, const std::string& what) {
  const std::vector<T> a = elements<T>(got), b = elements<T>(want), scale = elements<T>(magnitudes);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const T bound = 2 * static_cast<T>(terms) * std::numeric_limits<T>::epsilon() * scale[i];
    ASSERT_LE(std::abs(a[i] - b[i]), bound) << what << ", element " << i;
  }
}

template <Element T>
void check(const Attributes& attributes, const Tensor& a, const Tensor& b, std::int64_t terms) {
  const Tensor want = hom::testing::run("dot_general", attributes, a, b);
  const Prepared prepared("dot_general", attributes, {a, b});
  const std::string what =
      prepared.routine().describe() + ": " + to_string(a.type()) + " · " + to_string(b.type());
  std::vector<Tensor> results{prepared.run()[0]};
  if (prepared.routine().has_rows()) {
    const std::int64_t rows = std::max<std::int64_t>(want.size() / want.shape().back(), 1);
    for (const std::int64_t at_once : {std::int64_t{1}, std::int64_t{7}, rows})
      results.push_back(prepared.run_rows(at_once));
    results.push_back(prepared.run_rows(prepared.routine().panel()));
    if (prepared.routine().describe().ends_with("by Hom")) {
      for (const Tensor& rows_of : results) EXPECT_TRUE(array_equal(rows_of, results[0])) << what;
    }
  }
  for (const Tensor& result : results) {
    if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      const Tensor magnitudes = hom::testing::run("dot_general", attributes, abs(a), abs(b));
      expect_near<T>(result, want, magnitudes, terms, what);
    } else {
      ASSERT_TRUE(array_equal(result, want, true)) << what;
    }
  }
}

template <Element T>
void check_random(Random& random, std::int64_t longest) {
  const Axes axes(random, longest);
  const Tensor a = random_tensor<T>(random, axes.lhs_shape, tame_element<T>);
  const Tensor b = random_tensor<T>(random, axes.rhs_shape, tame_element<T>);
  check<T>(axes.attributes(), a, b, axes.terms());
}

TEST(RoutinesContraction, equals_eager_for_random_axes_and_layouts) {
  Random random(1);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (int i = 0; i < 150; ++i) check_random<T>(random, 5);
      for (int i = 0; i < 60; ++i) check_random<T>(random, 17);
    }
  });
}

const Attributes matrix_product{{"lhs_contract", {Shape{1}}},
                                {"rhs_contract", {Shape{0}}},
                                {"lhs_batch", {Shape{}}},
                                {"rhs_batch", {Shape{}}}};

template <Element T>
void check_matrices(Random& random, std::int64_t m, std::int64_t k, std::int64_t n) {
  check<T>(matrix_product, random_tensor<T>(random, {m, k}, tame_element<T>),
           random_tensor<T>(random, {k, n}, tame_element<T>), k);
}

TEST(RoutinesContraction, equals_eager_for_every_size_class) {
  Random random(2);
  const std::int64_t sizes[] = {0, 1, 2, 7, 16, 65, 130, 300};
  for (const std::int64_t m : sizes) {
    for (const std::int64_t k : sizes) {
      for (const std::int64_t n : sizes) {
        if (m * k * n > 4'000'000) continue;
        check_matrices<float>(random, m, k, n);
        check_matrices<double>(random, m, k, n);
      }
    }
  }
}

TEST(RoutinesContraction, equals_eager_where_operands_are_copied_block_by_block) {
  Random random(3);
  for (int i = 0; i < 4; ++i) {  // of all layouts
    check_matrices<float>(random, 401, 1030, 301);
    check_matrices<double>(random, 300, 700, 2100);
  }
}

/// While it lives, HOM_LIBRARIES has this value.
class Libraries {
 public:
  explicit Libraries(const char* value) { setenv("HOM_LIBRARIES", value, 1); }
  ~Libraries() { unsetenv("HOM_LIBRARIES"); }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
};

class RoutinesContractionBy : public ::testing::TestWithParam<cpu::Library> {};

TEST_P(RoutinesContractionBy, library_alone_equals_eager) {
  const std::string name(cpu::name_of(GetParam()));
  const Libraries alone(std::string(cpu::key_of(GetParam())).c_str());
  const Tensor example = tensor(std::vector<float>(64 * 64, 1), Shape{64, 64});
  const Prepared prepared("dot_general", matrix_product, {example, example});
  if (prepared.routine().describe() != "dot_general by " + name)
    GTEST_SKIP() << name << " is not installed, or not for this processor";
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    check_random<float>(random, 17);
    check_random<double>(random, 17);
  }
  for (const std::int64_t n : {2, 33, 64, 100}) {
    check_matrices<float>(random, n, 2 * n, n);
    check_matrices<double>(random, n, n, n + 1);
  }
  check_matrices<float>(random, 200, 300, 250);
}

INSTANTIATE_TEST_SUITE_P(Each, RoutinesContractionBy,
                         ::testing::Values(cpu::Library::hom, cpu::Library::eigen,
                                           cpu::Library::openblas, cpu::Library::onednn,
                                           cpu::Library::libxsmm),
                         [](const auto& at) { return std::string(cpu::key_of(at.param)); });

TEST(RoutinesContraction, without_libraries_has_the_bits_of_eager) {
  const Libraries none("none");
  Random random(5);
  const Tensor a = random_tensor<float>(random, {40, 700}, tame_element<float>);
  const Tensor b = random_tensor<float>(random, {700, 50}, tame_element<float>);
  const Prepared prepared("dot_general", matrix_product, {a, b});
  EXPECT_EQ(prepared.routine().describe(), "dot_general by Hom in order");
  EXPECT_TRUE(array_equal(prepared.run()[0], run("dot_general", matrix_product, a, b)));
}

TEST(RoutinesContraction, unknown_libraries_are_refused_by_name) {
  const Libraries wrong("eigen,mkl");
  const Tensor x = tensor(std::vector<float>(16, 1), Shape{4, 4});
  try {
    Prepared("dot_general", matrix_product, {x, x});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no library `mkl`"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("hom, eigen, openblas, onednn, libxsmm"),
              std::string::npos);
  }
}

/// The stated bound, against sums in long double.
template <Element T>
void expect_bound(Random& random, std::int64_t m, std::int64_t k, std::int64_t n) {
  const Tensor a = random_tensor<T>(random, {m, k}, tame_element<T>);
  const Tensor b = random_tensor<T>(random, {k, n}, tame_element<T>);
  const std::vector<T> x = elements<T>(a), y = elements<T>(b);
  const std::vector<T> c = elements<T>(Prepared("dot_general", matrix_product, {a, b}).run()[0]);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0, magnitude = 0;
      for (std::int64_t t = 0; t < k; ++t) {
        const long double term = static_cast<long double>(x[static_cast<std::size_t>(i * k + t)]) *
                                 y[static_cast<std::size_t>(t * n + j)];
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_LE(std::fabs(c[static_cast<std::size_t>(i * n + j)] - sum),
                static_cast<long double>(k) * std::numeric_limits<T>::epsilon() * magnitude);
    }
  }
}

TEST(RoutinesContraction, errors_stay_within_the_bound) {
  Random random(6);
  for (const std::int64_t k : {2, 63, 64, 513, 2000}) {
    expect_bound<float>(random, 13, k, 35);
    expect_bound<double>(random, 5, k, 17);
  }
}

TEST(RoutinesContraction, infinities_and_nan_propagate) {
  Random random(7);
  for (int round = 0; round < 40; ++round) {
    const Tensor a = random_tensor<float>(random, {9, 20}, random_element<float>);
    const Tensor b = random_tensor<float>(random, {20, 35}, tame_element<float>);
    const std::vector<float> got =
        elements<float>(Prepared("dot_general", matrix_product, {a, b}).run()[0]);
    const std::vector<float> want = elements<float>(run("dot_general", matrix_product, a, b));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i]));
      ASSERT_EQ(std::isinf(got[i]), std::isinf(want[i]));
      if (std::isinf(got[i])) {
        ASSERT_EQ(got[i], want[i]);
      }
    }
  }
}

TEST(RoutinesContraction, bool_is_refused) {
  const Tensor x = tensor(std::vector<bool>(4, true), Shape{2, 2});
  const Primitive& primitive = standard_primitives().find("dot_general");
  const TensorType type = bool_[{2, 2}];
  const nest::Layout layout{type, {2, 1}};
  const nest::Layout both[] = {layout, layout};
  const Location at = Location::current();
  EXPECT_THROW(cpu::routine_for(Invocation{primitive, matrix_product, {&type, 1}, at}, both),
               Error);
}

/// A batch in which one operand is the same for all is one product.
TEST(RoutinesContraction, broadcast_batches_are_folded_and_have_rows) {
  const Attributes batched{{"lhs_contract", {Shape{2}}},
                           {"rhs_contract", {Shape{1}}},
                           {"lhs_batch", {Shape{0}}},
                           {"rhs_batch", {Shape{0}}}};
  Random random(8);
  const Tensor a = random_tensor<float>(random, {6, 5, 30}, tame_element<float>, false);
  const Tensor matrix = random_tensor<float>(random, {30, 20}, tame_element<float>, false);
  const Tensor b = broadcast_to(matrix, {6, 30, 20});
  check<float>(batched, row_major(a), b, 30);
  EXPECT_TRUE(Prepared("dot_general", batched, {row_major(a), b}).routine().has_rows());
  check<float>(batched, a, b, 30);
}

}  // namespace
}  // namespace hom::testing
