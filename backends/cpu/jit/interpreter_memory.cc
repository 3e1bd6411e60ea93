// backends/cpu/jit/interpreter_memory.cc -- gathers and scatters by dtype
#include <hom/backends/cpu/jit/interpreter_memory.h>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/scalar_math.h>

namespace hom::cpu {
namespace {

template <class T>
void gather(const std::byte* bytes, const Indices& indices, const Mask& mask, std::byte* result,
            std::int64_t lanes) {
  const T* from = reinterpret_cast<const T*>(bytes);
  T* to = reinterpret_cast<T*>(result);
  if (mask.when == nullptr) {
    for (std::int64_t i = 0; i < lanes; ++i) to[i] = from[indices[i]];
  } else {
    for (std::int64_t i = 0; i < lanes; ++i) to[i] = mask[i] ? from[indices[i]] : T{};
  }
}

/// What a store does to an element that is there.
struct Set {
  template <class T>
  T operator()(T, T value) const {
    return value;
  }
};
template <class F>
struct Combined {
  template <class T>
  T operator()(T old, T value) const {
    return scalar::apply<F>(old, value);
  }
};

template <class F, class T>
void scatter(std::byte* bytes, const Indices& indices, const Mask& mask, const std::byte* elements,
             std::int64_t stride, std::int64_t lanes) {
  T* to = reinterpret_cast<T*>(bytes);
  const T* values = reinterpret_cast<const T*>(elements);
  for (std::int64_t i = 0; i < lanes; ++i) {
    if (mask.when != nullptr && !mask[i]) continue;
    T& element = to[indices[i]];
    element = F{}(element, values[i * stride]);
  }
}

template <class F>
Scatter combining(Dtype dtype) {
  return visit(dtype, []<class T>() -> Scatter {
    if constexpr (std::is_invocable_v<F, scalar::Compute<T>, scalar::Compute<T>>) {
      return &scatter<Combined<F>, T>;
    } else {
      throw Bug("interpreter: a store combines elements of a dtype that does not");
    }
  });
}

}  // namespace

Gather gather_of(Dtype dtype) {
  return visit_storage(dtype, []<class T>() -> Gather { return &gather<T>; });
}

Scatter scatter_of(nest::Combine combine, Dtype dtype) {
  switch (combine) {
    case nest::Combine::set:
      return visit_storage(dtype, []<class T>() -> Scatter { return &scatter<Set, T>; });
    case nest::Combine::sum:
      return combining<scalar::Add>(dtype);
    case nest::Combine::prod:
      return combining<scalar::Mul>(dtype);
    case nest::Combine::max:
      return combining<scalar::Max>(dtype);
    case nest::Combine::min:
      return combining<scalar::Min>(dtype);
    case nest::Combine::and_:
      return combining<scalar::And>(dtype);
    case nest::Combine::or_:
      return combining<scalar::Or>(dtype);
    case nest::Combine::argmax:
    case nest::Combine::argmin:
      break;
  }
  throw Bug("interpreter: a store combines by a place");
}

}  // namespace hom::cpu
