// core/function.cc -- names of arguments, and programs brought to common inputs
#include <hom/core/function.h>

namespace hom::detail {

std::vector<std::string> argument_names(std::size_t count) {
  constexpr const char* few[] = {"x", "y", "z"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i)
    names.push_back(count <= std::size(few) ? few[i] : "x" + std::to_string(i));
  return names;
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

std::pair<ProgramPtr, ProgramPtr> with_common_inputs(Program first, std::size_t first_captured,
                                                     Program second, std::size_t second_captured) {
  const std::vector<TensorType> a = first.input_types();
  const std::vector<TensorType> b = second.input_types();
  const std::span<const TensorType> of_first(a.end() - static_cast<std::ptrdiff_t>(first_captured),
                                             a.end());
  const std::span<const TensorType> of_second(
      b.end() - static_cast<std::ptrdiff_t>(second_captured), b.end());
  return {widened(first, first_captured, {}, of_second),
          widened(second, second_captured, of_first, {})};
}

}  // namespace hom::detail
