// tests/unit/routines_contraction_test.cc -- contractions of a plan against the eager executor and
// sums in double
#include <limits>

#include "routines_support.h"

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
    // Panels as the scheduler takes them are the same bits.
    const Tensor panels = prepared.run_rows(prepared.routine().panel());
    EXPECT_TRUE(array_equal(panels, results[0], true)) << what;
  }
  for (const Tensor& result : results) {
    if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      const Tensor magnitudes = hom::testing::run("dot_general", attributes, abs(a), abs(b));
      expect_near<T>(result, want, magnitudes, std::max<std::int64_t>(terms, 1), what);
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

TEST(RoutinesContraction, equals_eager_for_every_size_class) {
  Random random(2);
  const std::int64_t sizes[] = {0, 1, 2, 7, 16, 65, 130, 300};
  for (const std::int64_t m : sizes) {
    for (const std::int64_t k : sizes) {
      for (const std::int64_t n : sizes) {
        if (m * k * n > 4'000'000) continue;
        const Attributes attributes{{"lhs_contract", {Shape{1}}},
                                    {"rhs_contract", {Shape{0}}},
                                    {"lhs_batch", {Shape{}}},
                                    {"rhs_batch", {Shape{}}}};
        const auto drawn = [&]<class T>(std::int64_t rows, std::int64_t columns) {
          return random_tensor<T>(random, {rows, columns}, tame_element<T>);
        };
        check<float>(attributes, drawn.template operator()<float>(m, k),
                     drawn.template operator()<float>(k, n), k);
        check<double>(attributes, drawn.template operator()<double>(m, k),
                      drawn.template operator()<double>(k, n), k);
      }
    }
  }
}

}  // namespace
}  // namespace hom::testing
