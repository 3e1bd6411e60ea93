// backends/cpu/elementwise_special.cc -- the elementwise primitives that are special functions
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/scalar_gamma.h>
#include <hom/backends/cpu/scalar_special.h>

namespace hom::cpu {
namespace {

using PolygammaOf = void (*)(std::int64_t n, std::int64_t size, const std::byte* x, std::byte* to);

template <class T>
void polygamma_of(std::int64_t n, std::int64_t size, const std::byte* bytes, std::byte* result) {
  const T* x = reinterpret_cast<const T*>(bytes);
  T* to = reinterpret_cast<T*>(result);
  for (std::int64_t i = 0; i < size; ++i)
    to[i] = static_cast<T>(scalar::Polygamma{}(n, scalar::load(x[i])));
}

constexpr PerDtype<PolygammaOf> polygammas = per_dtype<PolygammaOf>([]<class T>() -> PolygammaOf {
  if constexpr (scalar::Float<scalar::Compute<T>>) {
    return &polygamma_of<T>;
  } else {
    return nullptr;
  }
});

TensorList polygamma_kernel(const Invocation& step, TensorList operands) {
  const Tensor x = row_major(operands[0]);
  auto result = Array::allocate(x.type());
  const PolygammaOf run = entry_for(polygammas, x.dtype(), step);
  run(step.attributes.integer("n"), x.size(), first_byte(array_of(x)), first_byte(*result));
  return list_of(std::move(result));
}

using SlopeOf = void (*)(std::int64_t k, std::int64_t size, const std::byte* alpha,
                         const std::byte* t, std::byte* to);

template <class T>
void slope_of(std::int64_t k, std::int64_t size, const std::byte* parameters,
              const std::byte* numbers, std::byte* result) {
  const T* alpha = reinterpret_cast<const T*>(parameters);
  const T* t = reinterpret_cast<const T*>(numbers);
  T* to = reinterpret_cast<T*>(result);
  for (std::int64_t i = 0; i < size; ++i) {
    to[i] = static_cast<T>(scalar::LogGammaSlope{}(k, scalar::load(alpha[i]), scalar::load(t[i])));
  }
}

constexpr PerDtype<SlopeOf> slopes = per_dtype<SlopeOf>([]<class T>() -> SlopeOf {
  if constexpr (scalar::Float<scalar::Compute<T>>) {
    return &slope_of<T>;
  } else {
    return nullptr;
  }
});

TensorList slope_kernel(const Invocation& step, TensorList operands) {
  const Tensor alpha = row_major(operands[0]);
  const Tensor t = row_major(operands[1]);
  auto result = Array::allocate(t.type());
  const SlopeOf run = entry_for(slopes, t.dtype(), step);
  run(step.attributes.integer("k"), t.size(), first_byte(array_of(alpha)), first_byte(array_of(t)),
      first_byte(*result));
  return list_of(std::move(result));
}

}  // namespace

void add_special_kernels(KernelTable& table) {
  table.add("lgamma", unary_kernel<scalar::Lgamma>);
  table.add("polygamma", polygamma_kernel);
  table.add("log_gamma_slope", slope_kernel);
  table.add("erfc", unary_kernel<scalar::Erfc>);
  table.add("erfcx", unary_kernel<scalar::Erfcx>);
  table.add("erf_inv", unary_kernel<scalar::ErfInv>);
  table.add("erfc_inv", unary_kernel<scalar::ErfcInv>);
}

}  // namespace hom::cpu
