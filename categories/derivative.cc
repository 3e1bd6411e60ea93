// categories/derivative.cc -- derivatives composed from the two functors
#include <hom/categories/derivative.h>

#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

std::vector<bool> transposed_inputs(const Linearization& lin) {
  std::vector<bool> linear(lin.residual_count, false);
  linear.resize(lin.linear.inputs().size(), true);
  return linear;
}

std::string prefixed(const char* prefix, const Program& program) {
  return program.name().empty() ? "" : prefix + program.name();
}

/// The domain's factors, with the tangents of active inputs behind.
Object with_tangents(const Program& program, std::span<const Slot> tangents,
                     const Builder& builder) {
  Object domain = program.domain();
  if (domain.is_tensor) domain = Object::product({{"", domain}});
  for (Slot slot : tangents)
    domain.factors.push_back({slot_name(builder.program(), slot), builder.type(slot)});
  return domain;
}

/// A product of the outputs, as leaves.
Object product_of(const Builder& builder, std::span<const Slot> outputs) {
  std::vector<Object::Factor> factors;
  for (Slot slot : outputs) factors.push_back({"", builder.type(slot)});
  return Object::product(std::move(factors));
}

Shape joined(const Shape& a, const Shape& b) {
  Shape all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

/// 1 at element k, 0 elsewhere, as steps of the capture in progress.
Tensor basis_vector(const TensorType& type, std::int64_t k) {
  if (type.shape.empty()) return ones({}, type.dtype);
  const Tensor position = iota(i64[{type.size()}]);
  return reshape((position == k).astype(type.dtype), type.shape);
}

/// The linear program applied to every basis vector, its results joined along a new first axis, one
/// row a vector. `linear` has one varying input, the last; each result becomes [n, …].
std::vector<Tensor> rows_of(const Program& linear, const std::vector<Tensor>& residuals) {
  const TensorType type = linear.input_types().back();
  const auto shared = std::make_shared<const Program>(linear);
  static const Primitive& call = standard_primitives().find("call");
  std::vector<std::vector<Tensor>> columns(linear.outputs().size());
  for (std::int64_t k = 0; k < type.size(); ++k) {
    std::vector<Tensor> operands = residuals;
    operands.push_back(basis_vector(type, k));
    // A rank-0 input has one basis vector, whose steps are worth seeing; more share one program.
    std::vector<Tensor> results;
    if (type.size() == 1) {
      results = apply(linear, operands, Location::current());
    } else {
      const TensorList list = apply(call, {{"program", {shared}}}, operands, Location::current());
      results.assign(list.begin(), list.end());
    }
    for (std::size_t o = 0; o < results.size(); ++o) columns[o].push_back(results[o]);
  }
  std::vector<Tensor> rows;
  const std::vector<TensorType> out_types = linear.output_types();
  for (std::size_t o = 0; o < columns.size(); ++o) {
    if (type.size() == 1) {
      rows.push_back(expand_dims(columns[o][0], 0));
    } else if (columns[o].empty()) {
      rows.push_back(zeros(joined({0}, out_types[o].shape), out_types[o].dtype));
    } else {
      rows.push_back(stack(columns[o]));
    }
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

Program value_and_gradient(const Program& program, const std::vector<bool>& active,
                           const Location& at) {
  require(program.outputs().size() == 1 && program.type(program.outputs()[0]).rank() == 0, at, [&] {
    return Complaint{"grad: the function returns " + to_string(program.codomain()) +
                         ", not one tensor of rank 0",
                     "reduce it with sum or mean; jacobian and vjp differentiate other results"};
  });
  const TensorType& result = program.type(program.outputs()[0]);
  require(result.dtype.is_float(), at, [&] {
    return Complaint{
        "grad: the function returns " + to_string(result) + ", and only floats have derivatives",
        "convert with astype(f32) or astype(f64) before the computation"};
  });
  const std::vector<bool> wanted{true};
  const Linearization lin = linearize(program, active, &wanted);
  const Program pullback = transpose(lin.linear, transposed_inputs(lin));

  Builder builder;
  std::vector<Slot> primal = builder.append_program(lin.primal, builder.add_inputs_of(program));
  std::vector<Slot> operands(primal.begin() + 1, primal.end());
  static const Primitive& constant = standard_primitives().find("constant");
  operands.push_back(builder.append(
      constant, {{"value", {1.0}}, {"dtype", {result.dtype}}, {"shape", {result.shape}}}, {}, at));
  std::vector<Slot> outputs{primal[0]};
  for (Slot slot : builder.append_program(pullback, operands)) outputs.push_back(slot);
  Object codomain = product_of(builder, outputs);
  return std::move(builder).finish(std::move(outputs), {prefixed("value_and_grad_", program),
                                                        program.domain(), std::move(codomain)});
}

Program pushforward(const Program& program, const std::vector<bool>& active) {
  std::vector<bool> wanted;
  for (const TensorType& type : program.output_types()) wanted.push_back(type.dtype.is_float());
  const Linearization lin = linearize(program, active, &wanted);
  Builder builder;
  const std::vector<Slot> inputs = builder.add_inputs_of(program);
  const std::vector<TensorType> types = lin.linear.input_types();
  std::vector<Slot> tangents;
  for (std::size_t i = lin.residual_count; i < types.size(); ++i) {
    tangents.push_back(builder.add_input(types[i], lin.linear.input_names()[i]));
  }
  const std::vector<Slot> primal = builder.append_program(lin.primal, inputs);
  const auto results = static_cast<std::ptrdiff_t>(program.outputs().size());
  std::vector<Slot> operands(primal.begin() + results, primal.end());
  operands.insert(operands.end(), tangents.begin(), tangents.end());
  std::vector<Slot> outputs(primal.begin(), primal.begin() + results);
  for (Slot slot : builder.append_program(lin.linear, operands)) outputs.push_back(slot);
  Object domain = with_tangents(program, tangents, builder);
  Object codomain = product_of(builder, outputs);
  return std::move(builder).finish(
      std::move(outputs), {prefixed("jvp_", program), std::move(domain), std::move(codomain)});
}

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
      const Program pullback = transpose(lin.linear, transposed_inputs(lin));
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
      .finish(
          outputs,
          {prefixed("jacobian_", program), program.domain(), Object::product(std::move(codomain))},
          at)
      .program;
}

namespace detail {

void require_some_float(bool any, const std::vector<std::string>& types, const Location& at) {
  require(any, at, [&] {
    std::string list;
    for (const std::string& type : types) list += (list.empty() ? "" : ", ") + type;
    return Complaint{
        "grad: no float to differentiate in: " +
            (list.empty() ? "the argument has no tensors" : list),
        "convert with astype(f32) or astype(f64), or name other arguments with wrt<…>"};
  });
}

void append_cotangents(std::vector<Tensor>& inputs, const std::vector<TensorType>& types,
                       const std::vector<Tensor>& cotangents, const Location& at) {
  require(types.size() == cotangents.size(), at, [&] {
    return Complaint{"transpose: " + std::to_string(cotangents.size()) +
                         " cotangents for a function with " + std::to_string(types.size()) +
                         " results",
                     "a cotangent has the structure of the result"};
  });
  for (std::size_t i = 0; i < types.size(); ++i) {
    inputs.push_back(matched("cotangent", Operand(cotangents[i], at), types[i],
                             "cotangent[" + std::to_string(i) + "]", at));
  }
}

Tensor matched(const char* what, const Operand& given, const TensorType& type,
               const std::string& path, const Location& at) {
  require(given.is_weak() || !given.tensor().is_empty(), at, [&] {
    return Complaint{
        std::string(what) + " `" + path + "` is empty, but belongs to " + to_string(type),
        "pass zeros for what does not vary"};
  });
  const Tensor value = given.as(type.dtype);
  require(value.shape(at) == type.shape, at, [&] {
    return Complaint{std::string(what) + " `" + path + "` is " + to_string(given.value().type(at)) +
                         ", not " + to_string(type),
                     "it has the type of the value that it belongs to"};
  });
  return value;
}

}  // namespace detail
}  // namespace hom
