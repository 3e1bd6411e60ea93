// tests/unit/eager_contraction_test.cc -- dot_general against loops over indices
#include <algorithm>

#include "eager_support.h"

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

}  // namespace
}  // namespace hom::testing
