// backends/cpu/fft.cc -- `fft`: slices along an axis, transformed one by one in f64
#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/fourier.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/slices.h>

namespace hom::cpu {
namespace {

/// The transform with + in the exponent is that with − of re and im exchanged, exchanged back.
template <class T>
void transform(const Slices& slices, const std::array<const T*, 2>& from,
               const std::array<T*, 2>& to) {
  const FourierTransform fourier(slices.extent);
  std::vector<ComplexNumber> slice(static_cast<std::size_t>(slices.extent));
  std::vector<ComplexNumber> scratch;
  slices.for_each([&](std::int64_t first) {
    std::int64_t i = first;
    for (ComplexNumber& x : slice) {
      x = {static_cast<double>(from[0][i]), static_cast<double>(from[1][i])};
      i += slices.stride;
    }
    fourier(slice, scratch);
    i = first;
    for (const ComplexNumber& y : slice) {
      to[0][i] = static_cast<T>(y.re);
      to[1][i] = static_cast<T>(y.im);
      i += slices.stride;
    }
  });
}

template <class T>
TensorList transformed(const Invocation& step, const TensorList& operands) {
  const TensorType& type = step.result_types[0];
  const Tensor re = row_major(operands[0]);
  const Tensor im = row_major(operands[1]);
  const std::shared_ptr<Array> results[2] = {Array::allocate(type), Array::allocate(type)};
  if (type.size() > 0) {
    const std::size_t real = step.attributes.boolean("inverse") ? 1 : 0;
    const T* from[2] = {re.array().data<T>(), im.array().data<T>()};
    transform<T>(Slices(type.shape, step.attributes.count("axis")), {from[real], from[1 - real]},
                 {results[real]->data<T>(), results[1 - real]->data<T>()});
  }
  TensorList list;
  for (const auto& result : results) list.push_back(Tensor(result));
  return list;
}

TensorList fft_kernel(const Invocation& step, TensorList operands) {
  return operands[0].dtype() == f32 ? transformed<float>(step, operands)
                                    : transformed<double>(step, operands);
}

}  // namespace

void add_fft_kernels(KernelTable& table) { table.add("fft", fft_kernel); }

}  // namespace hom::cpu
