// categories/derivative.cc -- derivatives composed from the two functors
#include <hom/categories/derivative.h>

#include <hom/categories/transpose.h>

namespace hom {
namespace {

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
  const Program pullback = pullback_of(lin);

  Builder builder;
  std::vector<Slot> primal = builder.append_program(lin.primal, builder.add_inputs_of(program));
  std::vector<Slot> operands(primal.begin() + 1, primal.end());
  static const Primitive& constant = standard_primitives().find("constant");
  operands.push_back(builder.append(
      constant, {{"value", {1.0}}, {"dtype", {result.dtype}}, {"shape", {result.shape}}}, {}, at));
  std::vector<Slot> outputs{primal[0]};
  for (Slot slot : builder.append_program(pullback, operands)) outputs.push_back(slot);
  Object codomain = product_of(builder, outputs);
  return std::move(builder).finish(std::move(outputs), {derived_name("value_and_grad_", program),
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
      std::move(outputs), {derived_name("jvp_", program), std::move(domain), std::move(codomain)});
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
