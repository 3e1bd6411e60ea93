// tests/unit/eager_support.h -- random layouts and slow references for the eager tests
//
// References read elements one by one through strides and compute in long double or __int128, so
// that they share nothing with the kernels.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <hom/backends/cpu/eager.h>

namespace hom::testing {

using Random = std::mt19937_64;

inline std::int64_t uniform(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// The results of one step, typed by the primitive's own rule.
inline TensorList compute(const std::string& name, const Attributes& attributes,
                          TensorList operands, const Location& at = Location::current()) {
  const Primitive& primitive = standard_primitives().find(name);
  std::vector<TensorType> operand_types;
  for (const Tensor& operand : operands) operand_types.push_back(operand.type());
  const std::vector<TensorType> types =
      primitive.type(Typing{primitive, attributes, operand_types, at});
  TensorList results =
      default_executor().execute(Invocation{primitive, attributes, types, at}, std::move(operands));
  EXPECT_EQ(results.size(), types.size()) << name;
  for (std::size_t i = 0; i < types.size(); ++i)
    EXPECT_EQ(to_string(results[i].type()), to_string(types[i])) << name;
  return results;
}

template <class... Operands>
Tensor run(const std::string& name, const Attributes& attributes, Operands&&... operands) {
  TensorList list;
  (list.push_back(std::forward<Operands>(operands)), ...);
  return std::move(compute(name, attributes, std::move(list))[0]);
}

// ---- elements, one by one ----

/// Every index of a shape, in row-major order.
inline std::vector<Shape> indices_of(const Shape& shape) {
  std::vector<Shape> all;
  Shape index(shape.size(), 0);
  for (std::int64_t n = element_count(shape); n > 0; --n) {
    all.push_back(index);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return all;
}

template <Element T>
T element(const Tensor& x, const Shape& index) {
  const Array& array = x.array();
  std::int64_t position = array.offset;
  for (std::size_t i = 0; i < index.size(); ++i) position += index[i] * array.strides[i];
  EXPECT_GE(position, 0);
  EXPECT_LE((position + 1) * static_cast<std::int64_t>(sizeof(T)),
            static_cast<std::int64_t>(array.buffer->bytes()));
  return reinterpret_cast<const T*>(array.buffer->data())[position];
}

template <Element T>
std::vector<T> elements(const Tensor& x) {
  std::vector<T> all;
  for (const Shape& index : indices_of(x.shape())) all.push_back(element<T>(x, index));
  return all;
}

/// Integers compute in 128 bits, floats in long double.
template <Element T>
using Wide = std::conditional_t<dtype_of<T>().is_float(), long double, __int128>;

template <Element T>
Wide<T> wide(T value) {
  if constexpr (sizeof(T) == 2) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <Element T>
T narrow(Wide<T> value) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// Representable values between two floats of one dtype.
template <Element T>
long double steps_between(T a, T b) {
  const auto ordinal = [](T x) -> __int128 {
    using Bits =
        std::conditional_t<sizeof(T) == 2, std::uint16_t,
                           std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
    const Bits bits = std::bit_cast<Bits>(x);
    constexpr Bits sign = Bits(Bits{1} << (8 * sizeof(T) - 1));
    return bits & sign ? -static_cast<__int128>(bits & Bits(~sign)) : static_cast<__int128>(bits);
  };
  const __int128 difference = ordinal(a) - ordinal(b);
  return static_cast<long double>(difference < 0 ? -difference : difference);
}

template <Element T>
::testing::AssertionResult is_close(T got, T want, double steps) {
  if constexpr (dtype_of<T>().is_float()) {
    const bool got_nan = std::isnan(static_cast<double>(got));
    const bool want_nan = std::isnan(static_cast<double>(want));
    if (got_nan || want_nan ? got_nan == want_nan : steps_between(got, want) <= steps)
      return ::testing::AssertionSuccess();
  } else {
    if (got == want) return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << "got " << static_cast<double>(got) << ", want " << static_cast<double>(want) << " ("
         << dtype_of<T>().name() << ", " << steps << " steps allowed)";
}

/// Compares with row-major elements; stops at the first difference.
template <Element T>
void expect_elements(const Tensor& got, const std::vector<T>& want, double steps,
                     const std::string& what) {
  const std::vector<T> all = elements<T>(got);
  ASSERT_EQ(all.size(), want.size()) << what;
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(is_close<T>(all[i], want[i], steps))
        << what << ", element " << i << " of " << to_string(got.type());
  }
}

// ---- random tensors ----

/// Small values mostly, with the edges of the dtype among them.
template <Element T>
T random_element(Random& random) {
  if constexpr (std::same_as<T, bool>) {
    return uniform(random, 0, 1) == 1;
  } else if constexpr (dtype_of<T>().is_float()) {
    const std::int64_t kind = uniform(random, 0, 19);
    const double specials[] = {0.0, -0.0, std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    if (kind < 5) return narrow<T>(specials[kind]);
    if (kind < 9) return narrow<T>(uniform(random, -4, 4));
    return narrow<T>(std::normal_distribution<double>(0, 2)(random));
  } else {
    const std::int64_t kind = uniform(random, 0, 9);
    if (kind == 0) return std::numeric_limits<T>::min();
    if (kind == 1) return std::numeric_limits<T>::max();
    if (kind == 2) return static_cast<T>(random());
    return static_cast<T>(uniform(random, std::is_signed_v<T> ? -9 : 0, 12));
  }
}

/// Elements between −2 and 2 (0 and 3 for unsigned integers) without special values: sums stay well
/// conditioned.
template <Element T>
T tame_element(Random& random) {
  if constexpr (dtype_of<T>().is_float()) {
    return narrow<T>(std::uniform_real_distribution<double>(-2, 2)(random));
  } else if constexpr (std::same_as<T, bool>) {
    return random_element<bool>(random);
  } else {
    return static_cast<T>(uniform(random, std::is_signed_v<T> ? -2 : 0, 3));
  }
}

/// Random strides: axes permuted in memory, reversed, stepped over, or (where allowed) broadcast;
/// with an offset.
inline std::shared_ptr<Array> random_layout(Random& random, TensorType type,
                                            bool may_broadcast = true) {
  const auto rank = type.shape.size();
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  if (uniform(random, 0, 1)) std::shuffle(order.begin(), order.end(), random);
  Shape strides(rank, 1);
  const std::int64_t lead = uniform(random, 0, 2);
  std::int64_t offset = lead;
  std::int64_t reach = 1;
  for (std::size_t k = rank; k-- > 0;) {
    const std::size_t axis = order[k];
    const std::int64_t kind = uniform(random, 0, 7);
    if (kind == 0 && may_broadcast) {
      strides[axis] = 0;
      continue;
    }
    const std::int64_t stride = kind == 1 ? 2 * reach : reach;
    strides[axis] = kind == 2 ? -stride : stride;
    if (kind == 2 && type.shape[axis] > 0) offset += stride * (type.shape[axis] - 1);
    reach = stride * std::max<std::int64_t>(type.shape[axis], 1);
  }
  if (uniform(random, 0, 3) == 0) {  // plain
    strides = row_major_strides(type.shape);
    offset = lead;
    reach = std::max<std::int64_t>(type.size(), 1);
  }
  auto array = Array::allocate(TensorType{type.dtype, Shape{lead + reach}});
  array->type = std::move(type);
  array->strides = strides;
  array->offset = array->type.size() ? offset : 0;
  return array;
}

template <Element T>
Tensor random_tensor(Random& random, const Shape& shape, T (*draw)(Random&) = random_element<T>,
                     bool may_broadcast = true) {
  auto array = random_layout(random, dtype_of<T>()[shape], may_broadcast);
  T* data = reinterpret_cast<T*>(array->buffer->data());
  const std::size_t count = array->buffer->bytes() / sizeof(T);
  for (std::size_t i = 0; i < count; ++i) data[i] = draw(random);
  return Tensor(std::move(array));
}

/// Ranks 0 … 5; now and then an extent of 0 or a long one.
inline Shape random_shape(Random& random, std::int64_t min_rank = 0) {
  Shape shape;
  const std::int64_t rank = uniform(random, min_rank, 5);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t kind = uniform(random, 0, 15);
    const std::int64_t extent = kind == 0               ? 0
                                : kind < 4              ? 1
                                : kind == 4 && rank < 3 ? uniform(random, 30, 150)
                                                        : uniform(random, 2, 5);
    shape.push_back(extent);
  }
  return shape;
}

/// A row-major tensor of the given elements.
template <Element T>
Tensor row_of(const std::vector<T>& values) {
  return tensor<T>(values, Shape{static_cast<std::int64_t>(values.size())});
}

/// Calls `f.template operator()<T>()` for each dtype in the set.
template <class F>
void for_each_dtype(DtypeSet dtypes, F&& f) {
  for (Dtype dtype : all_dtypes) {
    if (dtypes.contains(dtype)) visit(dtype, f);
  }
}

// ---- references ----

inline bool contains(const Shape& list, std::size_t value) {
  return std::find(list.begin(), list.end(), static_cast<std::int64_t>(value)) != list.end();
}

/// Expects |got − want| ≤ steps·ε·scale, where scale is the sum of the terms' magnitudes.
template <Element T>
void expect_within(T got, Wide<T> want, long double scale, long double steps, const char* what) {
  if constexpr (dtype_of<T>().is_float()) {
    const long double epsilon = std::same_as<T, float16>    ? 0x1p-10L
                                : std::same_as<T, bfloat16> ? 0x1p-7L
                                : std::same_as<T, float>    ? 0x1p-23L
                                                            : 0x1p-52L;
    ASSERT_LE(std::fabs(wide(got) - want), steps * epsilon * scale + 1e-7L)
        << what << ": got " << wide(got) << ", want " << want;
  } else {
    ASSERT_EQ(got, narrow<T>(want)) << what;
  }
}

/// Elements of `x` at `source(index)` for each index of `shape`.
template <Element T>
std::vector<T> picked(const Tensor& x, const Shape& shape,
                      const std::function<Shape(const Shape&)>& source) {
  std::vector<T> all;
  for (const Shape& index : indices_of(shape)) all.push_back(element<T>(x, source(index)));
  return all;
}

/// A row-major array of reference values that is written by index.
template <Element T>
struct Grid {
  Shape shape;
  std::vector<T> values;

  explicit Grid(const Tensor& x) : shape(x.shape()), values(elements<T>(x)) {}
  Grid(Shape extents, T value)
      : shape(std::move(extents)), values(static_cast<std::size_t>(element_count(shape)), value) {}
  typename std::vector<T>::reference at(const Shape& index) {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < index.size(); ++i) position = position * shape[i] + index[i];
    return values[static_cast<std::size_t>(position)];
  }
};

template <Element T>
T combined(const std::string& combine, T old, T update) {
  if (combine == "set") return update;
  if constexpr (std::same_as<T, bool>) {
    return update;
  } else {
    const Wide<T> a = wide(old);
    const Wide<T> b = wide(update);
    if (combine == "add") return narrow<T>(a + b);
    if (combine == "mul") return narrow<T>(a * b);
    return narrow<T>((combine == "min") == (a < b) ? a : b);
  }
}

template <Element T>
std::vector<const char*> combines() {
  return std::same_as<T, bool> ? std::vector{"set"} : std::vector{"set", "add"};
}

}  // namespace hom::testing
