// backends/cpu/convolution.cc -- `conv_general` by convolver.h, sums in the order of
// matrix_product.h for floats, with one rounding at the end for 16 bits; integers wrap
#include <cstring>

#include <hom/backends/cpu/convolver.h>
#include <hom/backends/cpu/eigen_product.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {
namespace {

template <class T, class Stored>
void convolve(const ConvolutionSizes& sizes, const Array& x, const Array& kernel, Array& y) {
  const Convolver<T, Stored> convolver(sizes);
  Buffer scratch(static_cast<std::size_t>(convolver.scratch_elements()) * sizeof(T));
  convolver.run(x.data<Stored>(), kernel.data<Stored>(), y.data<Stored>(),
                reinterpret_cast<T*>(scratch.data()),
                [](std::size_t, const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
                  if constexpr (scalar::Integer<T>) {
                    multiply_integers(a, b, c);
                  } else if (a.columns == 1) {
                    multiply_outer(a, b, c);
                  } else {
                    multiply(a, b, c);
                  }
                });
}

TensorList conv_general_kernel(const Invocation& step, TensorList operands) {
  auto result = Array::allocate(step.result_types[0]);
  const TensorType& type = result->type;
  if (type.size() == 0) return list_of(std::move(result));
  const Tensor x = row_major(operands[0]);
  const Tensor kernel = row_major(operands[1]);
  const Shape shape = x.shape();
  if (x.size() == 0 || kernel.size() == 0) {  // empty sums, or all padding with nothing in it
    std::memset(first_byte(*result), 0, static_cast<std::size_t>(type.size()) * type.dtype.size());
    return list_of(std::move(result));
  }
  const std::int64_t groups = step.attributes.integer("groups");
  const ConvolutionSizes sizes{shape[0], groups, shape.back() / groups, type.shape.back() / groups,
                               convolution_axes(step.attributes, shape, kernel.shape())};
  const Array& a = array_of(x);
  const Array& b = array_of(kernel);
  switch (type.dtype.id) {
    case Dtype::Id::i8:
    case Dtype::Id::u8:
      convolve<std::uint8_t, std::uint8_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::i32:
    case Dtype::Id::u32:
      convolve<std::uint32_t, std::uint32_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::i64:
    case Dtype::Id::u64:
      convolve<std::uint64_t, std::uint64_t>(sizes, a, b, *result);
      break;
    case Dtype::Id::f16:
      convolve<float, float16>(sizes, a, b, *result);
      break;
    case Dtype::Id::bf16:
      convolve<float, bfloat16>(sizes, a, b, *result);
      break;
    case Dtype::Id::f32:
      convolve<float, float>(sizes, a, b, *result);
      break;
    case Dtype::Id::f64:
      convolve<double, double>(sizes, a, b, *result);
      break;
    case Dtype::Id::boolean:
      fail(Complaint{"conv_general: no CPU kernel for bool", "convert to an integer dtype first"},
           step.at);
  }
  return list_of(std::move(result));
}

}  // namespace

void add_convolution_kernels(KernelTable& table) { table.add("conv_general", conv_general_kernel); }

}  // namespace hom::cpu
