// categories/jacobian.cc -- Jacobians: the linear program, or its transpose, once for a whole basis
#include <hom/categories/jacobian.h>

#include <algorithm>

#include <hom/categories/batch.h>
#include <hom/categories/transpose.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

Shape joined(const Shape& a, const Shape& b) {
  Shape all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// The linear program applied to every basis vector at once: each result is [n, …], one row a
/// vector. `linear` has one varying input, the last.
std::vector<Tensor> rows_of(const Program& linear, const std::vector<Tensor>& residuals) {
  const TensorType type = linear.input_types().back();
  const std::vector<TensorType> out_types = linear.output_types();
  const std::int64_t n = type.size();
  std::vector<Tensor> operands = residuals;
  std::vector<Tensor> rows;
  if (n == 0) {
    for (const TensorType& out : out_types)
      rows.push_back(zeros(joined({0}, out.shape), out.dtype));
  } else if (n == 1) {
    operands.push_back(ones(type.shape, type.dtype));
    for (const Tensor& y : apply(linear, operands, Location::current()))
      rows.push_back(expand_dims(y, 0));
  } else {
    std::vector<bool> batched(residuals.size(), false);
    batched.push_back(true);
    const std::vector<bool> all(out_types.size(), true);
    operands.push_back(reshape(eye(n, type.dtype), joined({n}, type.shape)));
    rows = apply(batch(linear, batched, n, false, &all).program, operands, Location::current());
  }
  return rows;
}

Tensor first_axis_last(const Tensor& x) {
  Shape permutation;
  for (std::int64_t axis = 1; axis < x.rank(); ++axis) permutation.push_back(axis);
  permutation.push_back(0);
  return transpose(x, permutation);
}

/// Inputs as symbols; the primal part of a linearisation recorded in the capture, as outputs and
/// residuals.
std::vector<Tensor> residuals_of(const Linearization& lin, std::size_t outputs,
                                 const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> all = apply(lin.primal, inputs, Location::current());
  return {all.begin() + static_cast<std::ptrdiff_t>(outputs), all.end()};
}

}  // namespace

Program jacobian(const Program& program, const std::vector<bool>& active, Mode mode,
                 const Location& at) {
  const std::vector<TensorType> input_types = program.input_types();
  const std::vector<TensorType> output_types = program.output_types();
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<std::size_t> varying;
  for (std::size_t i = 0; i < input_types.size(); ++i) {
    if (!active[i] || !input_types[i].dtype.is_float()) continue;
    varying.push_back(i);
    columns += input_types[i].size();
  }
  for (const TensorType& type : output_types) {
    require(type.dtype.is_float(), at, [&] {
      return Complaint{"jacobian: the function returns " + to_string(program.codomain()) +
                           ", and only floats have derivatives",
                       "return the float results only"};
    });
    rows += type.size();
  }
  const bool forward = mode == Mode::forward || (mode == Mode::automatic && columns <= rows);

  Capture capture(at);
  const LocationScope line(at);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < input_types.size(); ++i)
    inputs.push_back(capture.input(input_types[i], program.input_names()[i]));
  std::vector<std::vector<Tensor>> blocks(output_types.size(), std::vector<Tensor>(varying.size()));
  if (forward) {
    // One linearisation for each input leaf, so that the zero tangents of the others are never
    // computed with.
    const std::vector<bool> wanted(output_types.size(), true);
    for (std::size_t v = 0; v < varying.size(); ++v) {
      std::vector<bool> alone(input_types.size(), false);
      alone[varying[v]] = true;
      const Linearization lin = linearize(program, alone, &wanted);
      const std::vector<Tensor> rows_by_output =
          rows_of(lin.linear, residuals_of(lin, output_types.size(), inputs));
      for (std::size_t o = 0; o < output_types.size(); ++o) {
        blocks[o][v] = reshape(first_axis_last(rows_by_output[o]),
                               joined(output_types[o].shape, input_types[varying[v]].shape));
      }
    }
  } else {
    for (std::size_t o = 0; o < output_types.size(); ++o) {
      std::vector<bool> wanted(output_types.size(), false);
      wanted[o] = true;
      const Linearization lin = linearize(program, active, &wanted);
      const Program pullback = pullback_of(lin);
      const std::vector<Tensor> rows_by_input =
          rows_of(pullback, residuals_of(lin, output_types.size(), inputs));
      for (std::size_t v = 0; v < varying.size(); ++v) {
        blocks[o][v] =
            reshape(rows_by_input[v], joined(output_types[o].shape, input_types[varying[v]].shape));
      }
    }
  }
  // Columns come in the dtype of the result, rows in that of the argument: both ways give the
  // wider.
  std::vector<Tensor> outputs;
  for (std::size_t o = 0; o < blocks.size(); ++o) {
    for (std::size_t v = 0; v < varying.size(); ++v) {
      const Dtype dtype = promote(output_types[o].dtype, input_types[varying[v]].dtype);
      outputs.push_back(convert(blocks[o][v], dtype));
    }
  }
  std::vector<Object::Factor> codomain;
  for (const Tensor& block : outputs) codomain.push_back({"", block.type()});
  return capture
      .finish(outputs,
              {derived_name("jacobian_", program), program.domain(),
               Object::product(std::move(codomain))},
              at)
      .program;
}

}  // namespace hom
