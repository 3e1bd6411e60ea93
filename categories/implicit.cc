// categories/implicit.cc -- the rule of an implicit function, and the linear solve in it
#include <hom/categories/implicit.h>

#include <limits>

#include <hom/categories/batch.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/linear_algebra.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>

namespace hom::detail {
namespace {

/// A⁻¹ b for A [n, n] and b [n].
Tensor solved(const Tensor& a, const Tensor& b, const Location& at) {
  const Tensor x =
      solve(Operand(widened(Operand(a, at)), at), Operand(widened(Operand(b, at)), at));
  return x.astype(b.dtype());
}

/// The leaves one after the other, as one vector, and back.
Tensor flattened(const std::vector<Tensor>& parts, const Location& at) {
  std::vector<Tensor> vectors;
  for (const Tensor& x : parts) vectors.push_back(ravel(Operand(x, at)));
  return concat(vectors, 0, at);
}

std::vector<Tensor> unflattened(const Tensor& vector, std::span<const TensorType> types) {
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (const TensorType& type : types) {
    parts.push_back(reshape(slice(vector, {start}, {type.size()}, {1}), type.shape));
    start += type.size();
  }
  return parts;
}

template <class T>
void append(std::vector<T>& list, std::span<const T> more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

Program implicit_rule(const Program& residual, std::size_t unknowns, std::size_t arguments,
                      const Location& at) {
  const std::vector<TensorType> types = residual.input_types();
  const std::span<const TensorType> all(types);
  const std::span<const TensorType> x_types = all.first(unknowns);
  const std::span<const TensorType> argument_types = all.subspan(unknowns, arguments);
  const std::span<const TensorType> closure_types = all.subspan(unknowns + arguments);
  for (const TensorType& type : x_types) {
    require(type.dtype.is_float() && type.dtype == x_types[0].dtype, at, [&] {
      return Complaint{"implicit: the solution has a leaf " + to_string(type) +
                           ", and all of its leaves are floats of one dtype",
                       "convert with astype inside solve"};
    });
  }
  // ∂residual/∂x and ∂residual/∂θ apart; what they share of the residual is recorded once.
  std::vector<bool> in_unknowns(types.size(), false);
  std::vector<bool> in_arguments(types.size(), false);
  std::fill_n(in_unknowns.begin(), unknowns, true);
  std::fill_n(in_arguments.begin() + static_cast<std::ptrdiff_t>(unknowns), arguments, true);
  const std::vector<bool> wanted(residual.outputs().size(), true);
  const Linearization by_unknowns = linearize(residual, in_unknowns, &wanted);
  const Linearization by_arguments = linearize(residual, in_arguments, &wanted);

  Capture capture(at);
  const LocationScope line(at);
  std::vector<TensorType> input_types(argument_types.begin(), argument_types.end());
  append(input_types, x_types);
  for (const TensorType& type : argument_types) {
    if (type.dtype.is_float()) input_types.push_back(type);
  }
  append(input_types, closure_types);
  const std::vector<Tensor> inputs = capture.inputs(input_types);
  const std::span<const Tensor> given(inputs);
  const auto x = given.subspan(arguments, unknowns);
  const auto tangents = given.subspan(arguments + unknowns,
                                      inputs.size() - arguments - unknowns - closure_types.size());

  std::vector<Tensor> operands(x.begin(), x.end());
  append(operands, given.first(arguments));
  append(operands, given.last(closure_types.size()));
  const auto residuals_of = [&](const Linearization& lin) -> std::vector<Tensor> {
    const std::vector<Tensor> primal = apply(lin.primal, operands, at);
    return {primal.begin() + static_cast<std::ptrdiff_t>(residual.outputs().size()), primal.end()};
  };

  // ∂residual/∂θ · dθ
  std::vector<Tensor> linear = residuals_of(by_arguments);
  append(linear, tangents);
  const Tensor right = flattened(apply(by_arguments.linear, linear, at), at);

  // The columns of ∂residual/∂x: its action on all unit vectors at once.
  const std::vector<Tensor> residuals = residuals_of(by_unknowns);
  const TensorType vector{x_types[0].dtype, right.shape()};
  const Program action = [&] {
    Capture inner(at);
    std::vector<TensorType> inner_types;
    for (const Tensor& r : residuals) inner_types.push_back(r.type());
    inner_types.push_back(vector);
    std::vector<Tensor> symbols = inner.inputs(inner_types);
    const std::vector<Tensor> parts = unflattened(symbols.back(), x_types);
    symbols.pop_back();
    append(symbols, std::span<const Tensor>(parts));
    const Tensor result = flattened(apply(by_unknowns.linear, symbols, at), at);
    return inner.finish({&result, 1}, {}, at).program;
  }();
  const std::int64_t n = vector.shape[0];
  std::vector<bool> batched(residuals.size(), false);
  batched.push_back(true);
  const std::vector<bool> yes{true};
  std::vector<Tensor> basis = residuals;
  basis.push_back(eye(n, vector.dtype, at));
  const Tensor columns = apply(batch(action, batched, n, false, &yes).program, basis, at)[0];

  const Tensor dx = -solved(transpose(columns), right, at);
  return capture.finish(unflattened(dx, x_types), {"implicit_rule", {}, {}}, at).program;
}

namespace {
double tolerance_of(Dtype dtype) {
  return dtype == f64 ? 1e-12 : dtype == f32 ? 1e-6 : dtype == f16 ? 0.01 : 0.1;
}
}  // namespace

Tensor still_changes(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                     double tolerance, const Location& at) {
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    require(before[i].type(at) == after[i].type(at), at, [&] {
      return Complaint{"fixed_point: f takes leaf " + std::to_string(i) + " of x as " +
                           to_string(before[i].type()) + " and returns it as " +
                           to_string(after[i].type()),
                       "start from the type that f returns, or convert with astype in f"};
    });
  }
  const LocationScope line(at);
  Tensor changes = full({}, 0, bool_, at);
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    const Dtype dtype = before[i].dtype();
    // In f64, where what f16 can tell apart is exact.
    const Tensor old = before[i].astype(f64, at);
    const Tensor next = after[i].astype(f64, at);
    const double relative = tolerance > 0 ? tolerance : tolerance_of(dtype);
    const Tensor allowed = relative * maximum(1.0, abs(next));
    changes = changes || any_of(abs(next - old) > allowed);
  }
  return changes;
}

Tensor settled_or_nan(const Tensor& leaf, const Tensor& changes, const Location& at) {
  const LocationScope line(at);
  return leaf.dtype().is_float() ? where(changes, std::numeric_limits<double>::quiet_NaN(), leaf)
                                 : leaf;
}

}  // namespace hom::detail
