// core/function.cc -- stand-ins, names of arguments, and programs brought to common inputs
#include <hom/core/function.h>

namespace hom::detail {

Tensor stand_in(TensorType type) {
  Array array;
  array.strides = Shape(type.shape.size(), 0);
  array.buffer = std::make_shared<Buffer>(type.dtype.size());
  std::fill_n(array.buffer->data(), type.dtype.size(), std::byte{0});
  array.type = std::move(type);
  return Tensor(std::make_shared<const Array>(std::move(array)));
}

std::vector<std::string> argument_names(std::size_t count) {
  constexpr const char* few[] = {"x", "y", "z"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count <= std::size(few) ? few[i] : "x" + std::to_string(i));
  return names;
}

Tensor stand_in(const TensorType& type) {
  Array array;
  array.type = type;
  array.strides = Shape(type.shape.size(), 0);
  array.buffer = std::make_shared<Buffer>(type.dtype.size());
  return Tensor(std::make_shared<const Array>(std::move(array)));
}

namespace {
/// The program with `before` inputs that it ignores in front of its last `captured` ones, and
/// `after` behind.
ProgramPtr widened(const Program& program, std::size_t captured, std::span<const TensorType> before,
                   std::span<const TensorType> after) {
  Builder builder;
  std::vector<Slot> inputs;
  const std::vector<TensorType> types = program.input_types();
  const std::size_t own = types.size() - captured;
  for (std::size_t i = 0; i < own; ++i)
    inputs.push_back(builder.add_input(types[i], program.input_names()[i]));
  std::size_t number = 0;
  const auto next_name = [&] { return "captured" + std::to_string(number++); };
  for (const TensorType& type : before) builder.add_input(type, next_name());
  for (std::size_t i = own; i < types.size(); ++i)
    inputs.push_back(builder.add_input(types[i], next_name()));
  for (const TensorType& type : after) builder.add_input(type, next_name());
  std::vector<Slot> outputs = builder.append_program(program, inputs);
  return std::make_shared<const Program>(
      std::move(builder).finish(std::move(outputs), {program.name(), {}, program.codomain()}));
}
}  // namespace

std::vector<ProgramPtr> with_common_inputs(std::span<const CapturedProgram> programs) {
  std::vector<ProgramPtr> common;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::vector<TensorType> before;
    std::vector<TensorType> after;
    for (std::size_t k = 0; k < programs.size(); ++k) {
      if (k == i) continue;
      std::vector<TensorType>& types = k < i ? before : after;
      for (const Tensor& x : programs[k].captured_operands) types.push_back(x.type());
    }
    common.push_back(
        widened(programs[i].program, programs[i].captured_operands.size(), before, after));
  }
  return common;
}

}  // namespace hom::detail
