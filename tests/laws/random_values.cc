// tests/laws/random_values.cc -- choices, shapes by size class, and tensors by domain
#include <algorithm>
#include <cmath>
#include <limits>

#include <hom/tests/laws/random_program.h>

namespace hom::laws {
namespace {

template <Element T>
T random_element(Domain domain, Choices& choices) {
  if constexpr (std::same_as<T, bool>) {
    return choices.one_in(2);
  } else if constexpr (dtype_of<T>().is_float()) {
    const auto narrow = [](double value) { return convert_element<T>(value); };
    if (domain == Domain::wild) {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      static const std::vector<double> special = {
          0, -0.0, 1, -1, 0.5, infinity, -infinity, std::nan(""), 1e30, -3e-40, 65504, 1e-310};
      if (choices.one_in(3)) return narrow(choices.among(special));
      if (choices.one_in(3)) return narrow(static_cast<double>(choices.between(-4, 4)));
      return narrow(choices.real(-3, 3));
    }
    const double size = choices.real(0.1, 1.9);
    return narrow(choices.one_in(2) ? size : -size);
  } else {
    if (domain == Domain::wild) {
      const std::int64_t kind = choices.below(8);
      if (kind == 0) return std::numeric_limits<T>::min();
      if (kind == 1) return std::numeric_limits<T>::max();
      if (kind == 2) return static_cast<T>(choices.bits());
    }
    return static_cast<T>(choices.between(std::is_signed_v<T> ? -3 : 0, 5));
  }
}

}  // namespace

std::uint64_t Choices::bits() {
  // SplitMix64 (G. Steele et al., "Fast splittable pseudorandom number generators", 2014).
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

SizeClass size_class_of(std::int64_t elements) {
  if (elements == 0) return SizeClass::zero;
  if (elements == 1) return SizeClass::one;
  if (elements >= 32) return SizeClass::large;
  return elements % 2 == 1 ? SizeClass::odd : SizeClass::small;
}

std::string name_of(SizeClass size) {
  const char* const names[] = {"zero", "one", "small", "odd", "large"};
  return names[static_cast<int>(size)];
}

Shape random_shape(SizeClass size, Choices& choices, std::int64_t min_rank) {
  for (;;) {
    const std::int64_t least =
        size == SizeClass::one ? min_rank : std::max<std::int64_t>(min_rank, 1);
    const std::int64_t rank = choices.between(least, 5);
    // Extents whose product is not too large: long axes for few of them.
    const std::int64_t longest = rank == 1 ? 100 : rank == 2 ? 16 : 5;
    Shape shape;
    for (std::int64_t i = 0; i < rank; ++i) {
      shape.push_back(size == SizeClass::one || choices.one_in(4) ? 1
                                                                  : choices.between(2, longest));
    }
    if (size == SizeClass::zero) shape.begin()[choices.below(rank)] = 0;
    const std::int64_t elements = element_count(shape);
    if (elements <= 100 && size_class_of(elements) == size) return shape;
  }
}

Tensor random_tensor(const TensorType& type, Domain domain, Choices& choices) {
  return visit(type.dtype, [&]<class T>() {
    std::shared_ptr<Array> array = Array::allocate(type);
    const bool uniform = choices.one_in(8);
    for (std::int64_t i = 0; i < type.size(); ++i) {
      array->data<T>()[i] =
          i > 0 && uniform ? array->data<T>()[0] : random_element<T>(domain, choices);
    }
    return Tensor(std::move(array));
  });
}

Tensor OperandSketch::value(Domain domain, Choices& choices) const {
  if (limits.empty() && !is_exponent) return random_tensor(type, domain, choices);
  return visit(type.dtype, [&]<class T>() {
    std::shared_ptr<Array> array = Array::allocate(type);
    for (std::int64_t i = 0; i < type.size(); ++i) {
      const std::int64_t limit =
          is_exponent ? 4 : limits.begin()[i % static_cast<std::int64_t>(limits.size())];
      const bool signed_type = std::is_signed_v<T>;
      const std::int64_t low = inside || is_exponent || !signed_type ? 0 : -2;
      array->data<T>()[i] =
          convert_element<T>(choices.between(low, inside ? limit - 1 : limit + 1));
    }
    return Tensor(std::move(array));
  });
}

}  // namespace hom::laws
