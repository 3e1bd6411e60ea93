// tests/laws/support.cc -- element by element, without the kernels under test
#include <hom/tests/laws/support.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <hom/categories/transpose.h>

namespace hom::laws {
namespace {

/// Calls f(position in the buffer) for each element in row-major order.
template <class F>
void for_each_position(const Array& array, F&& f) {
  Shape index(array.type.shape.size(), 0);
  for (std::int64_t n = array.type.size(); n > 0; --n) {
    std::int64_t position = array.offset;
    for (std::size_t i = 0; i < index.size(); ++i) position += index[i] * array.strides[i];
    f(position);
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < array.type.shape[i]) break;
      index[i] = 0;
    }
  }
}

std::string at_element(std::size_t which, std::size_t element, double got, double want) {
  return "result " + std::to_string(which) + ", element " + std::to_string(element) + ": got " +
         to_string(got) + ", want " + to_string(want);
}

std::string difference_in_type(std::span<const Tensor> got, std::span<const Tensor> want) {
  if (got.size() != want.size())
    return std::to_string(got.size()) + " results instead of " + std::to_string(want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i].type() != want[i].type())
      return to_string(got[i].type()) + " instead of " + to_string(want[i].type());
  }
  return "";
}

}  // namespace

std::vector<std::uint64_t> bits_of(const Tensor& x) {
  std::vector<std::uint64_t> bits;
  visit(x.dtype(), [&]<class T>() {
    const Array& array = x.array();
    for_each_position(array, [&](std::int64_t position) {
      T value;
      std::memcpy(&value, array.buffer->data() + position * static_cast<std::int64_t>(sizeof(T)),
                  sizeof(T));
      if constexpr (dtype_of<T>().is_float()) {
        if (std::isnan(static_cast<double>(convert_element<double>(value)))) {
          bits.push_back(UINT64_MAX);
          return;
        }
      }
      std::uint64_t word = 0;
      std::memcpy(&word, &value, sizeof(T));
      bits.push_back(word);
    });
  });
  return bits;
}

std::string difference_in_bits(std::span<const Tensor> got, std::span<const Tensor> want) {
  if (std::string text = difference_in_type(got, want); !text.empty()) return text;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::vector<std::uint64_t> a = bits_of(got[i]);
    const std::vector<std::uint64_t> b = bits_of(want[i]);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (a[k] != b[k])
        return at_element(i, k, got[i].to_vector()[k], want[i].to_vector()[k]) + " (in bits)";
    }
  }
  return "";
}

std::string difference(std::span<const Tensor> got, std::span<const Tensor> want,
                       double tolerance) {
  if (std::string text = difference_in_type(got, want); !text.empty()) return text;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::vector<double> a = got[i].to_vector();
    const std::vector<double> b = want[i].to_vector();
    double magnitude = 1;
    for (double value : b) magnitude = std::max(magnitude, std::abs(value));
    for (std::size_t k = 0; k < a.size(); ++k) {
      const bool close = std::abs(a[k] - b[k]) <= tolerance * magnitude ||
                         (std::isnan(a[k]) && std::isnan(b[k])) || a[k] == b[k];
      if (!close) return at_element(i, k, a[k], b[k]);
    }
  }
  return "";
}

Tensor in_random_layout(const Tensor& x, Choices& choices) {
  const TensorType type = x.type();
  const std::size_t rank = type.shape.size();
  const std::vector<std::uint64_t> bits = bits_of(x);
  const bool uniform =
      !bits.empty() &&
      std::all_of(bits.begin(), bits.end(), [&](std::uint64_t word) { return word == bits[0]; });
  std::vector<std::size_t> order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  for (std::size_t i = rank; i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(i)))]);
  Shape strides(rank, 1);
  const std::int64_t lead = choices.below(3);
  std::int64_t offset = lead;
  std::int64_t reach = 1;
  for (std::size_t axis : order) {
    if (uniform) {
      strides[axis] = choices.one_in(2) ? 0 : reach;
      if (strides[axis] == 0) continue;
    }
    // An axis of one element may have any stride.
    const std::int64_t stride = (choices.one_in(3) ? 2 : 1) * reach;
    const std::int64_t extent = type.shape[axis];
    strides[axis] = choices.one_in(3) ? -stride : stride;
    if (strides[axis] < 0 && extent > 0) offset += stride * (extent - 1);
    reach = stride * std::max<std::int64_t>(extent, 1);
  }
  const std::shared_ptr<Array> array = Array::allocate(TensorType{type.dtype, Shape{lead + reach}});
  std::memset(array->buffer->data(), 0x5a, array->buffer->bytes());
  if (type.dtype.is_bool()) std::memset(array->buffer->data(), 1, array->buffer->bytes());
  array->type = type;
  array->strides = strides;
  array->offset = type.size() > 0 ? offset : 0;
  const std::size_t width = type.dtype.size();
  std::vector<std::int64_t> from;
  for_each_position(x.array(), [&](std::int64_t position) { from.push_back(position); });
  std::size_t next = 0;
  for_each_position(*array, [&](std::int64_t position) {
    std::memcpy(array->buffer->data() + static_cast<std::size_t>(position) * width,
                x.array().buffer->data() + static_cast<std::size_t>(from[next++]) * width, width);
  });
  return Tensor(array);
}

Inner inner(std::span<const Tensor> a, std::span<const Tensor> b) {
  Inner sum;
  ensure(a.size() == b.size(), "inner: as many tensors on both sides");
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::vector<double> x = a[i].to_vector();
    const std::vector<double> y = b[i].to_vector();
    ensure(x.size() == y.size(), "inner: as many elements on both sides");
    for (std::size_t k = 0; k < x.size(); ++k) {
      sum.product += x[k] * y[k];
      sum.magnitude += std::abs(x[k] * y[k]);
    }
  }
  return sum;
}

Tensors random_like(std::span<const TensorType> types, Choices& choices) {
  Tensors list;
  for (const TensorType& type : types) list.push_back(random_tensor(type, Domain::tame, choices));
  return list;
}

Tensors moved(std::span<const Tensor> x, std::span<const Tensor> dx, double h) {
  Tensors list;
  std::size_t next = 0;
  for (const Tensor& value : x) {
    if (value.dtype() != f64) {
      list.push_back(value);
      continue;
    }
    std::vector<double> sum = value.to_vector();
    const std::vector<double> direction = dx[next++].to_vector();
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += h * direction[k];
    list.push_back(tensor(sum, value.shape()));
  }
  return list;
}

Tensors floats_of(std::span<const Tensor> x) {
  Tensors list;
  for (const Tensor& value : x) {
    if (value.dtype().is_float()) list.push_back(value);
  }
  return list;
}

std::vector<bool> LinearAtPoint::marked() const {
  std::vector<bool> linear(residuals.size(), false);
  linear.resize(program.inputs().size(), true);
  return linear;
}

std::vector<TensorType> LinearAtPoint::domain() const {
  const std::vector<TensorType> all = program.input_types();
  return {all.begin() + static_cast<std::ptrdiff_t>(residuals.size()), all.end()};
}

Tensors LinearAtPoint::operator()(std::span<const Tensor> dx) const {
  Tensors arguments = residuals;
  arguments.insert(arguments.end(), dx.begin(), dx.end());
  return evaluate(program, arguments);
}

LinearAtPoint LinearAtPoint::transposed() const {
  return {transpose(program, marked()), residuals};
}

LinearAtPoint derivative_at(const Program& program, std::span<const Tensor> x) {
  std::vector<bool> wanted;
  for (const TensorType& type : program.output_types()) wanted.push_back(type.dtype.is_float());
  const Linearization lin = linearize(program, std::vector<bool>(x.size(), true), &wanted);
  const Tensors all = evaluate(lin.primal, {x.begin(), x.end()});
  return {lin.linear,
          {all.begin() + static_cast<std::ptrdiff_t>(program.outputs().size()), all.end()}};
}

double coarsest_epsilon(const Program& program) {
  double epsilon = 0x1p-52;
  for (Slot slot = 0; slot < program.slot_count(); ++slot) {
    const Dtype dtype = program.type(slot).dtype;
    epsilon = std::max(epsilon, dtype == bf16  ? 0x1p-8
                                : dtype == f16 ? 0x1p-11
                                : dtype == f32 ? 0x1p-23
                                               : 0);
  }
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    for (const auto& [name, attribute] : program.step(i).attributes) {
      if (const auto* inner = std::get_if<ProgramPtr>(&attribute.value))
        epsilon = std::max(epsilon, coarsest_epsilon(**inner));
    }
  }
  return epsilon;
}

}  // namespace hom::laws
