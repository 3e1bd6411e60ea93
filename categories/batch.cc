// categories/batch.cc -- one walk over the steps: those that touch a batched slot by their rule,
// the others as they are
#include <hom/categories/batch.h>

#include <algorithm>

#include <hom/core/capture.h>

namespace hom {
namespace {

struct Walk {
  const Program& program;
  std::int64_t size;
  Capture capture{Location::current()};
  Tensor alive = {};
  std::vector<Tensor> value = std::vector<Tensor>(program.slot_count());
  std::vector<bool> batched = std::vector<bool>(program.slot_count());

  void step(const Step& step);
  void by_rule(const Step& step, std::span<const Tensor> x, const std::vector<bool>& mask);
};

void Walk::by_rule(const Step& step, std::span<const Tensor> x, const std::vector<bool>& mask) {
  require(static_cast<bool>(step.primitive.batch), step.at, [&] {
    return Complaint{"vmap: " + step.primitive.name + " has no batch rule",
                     "a primitive gets one in its declaration; map(f, xs) runs lane after lane"};
  });
  SmallVector<TensorType, 4> types;
  for (Slot slot : step.operands) types.push_back(program.type(slot));
  SmallVector<TensorType, 4> result_types;
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    result_types.push_back(program.type(step.first_result + r));
  const std::int64_t lanes = size;
  const std::vector<Tensor> results =
      step.primitive.batch({step.primitive,
                            step.attributes,
                            x,
                            mask,
                            {types.data(), types.size()},
                            {result_types.data(), result_types.size()},
                            size,
                            alive,
                            step.at,
                            [lanes](const Program& inner, const std::vector<bool>& marked,
                                    bool masked, const std::vector<bool>* wanted) {
                              return hom::batch(inner, marked, lanes, masked, wanted);
                            }});
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    TensorType for_all = result_types[r];
    const TensorType type = results[r].type();
    const bool is_batched = type != for_all;
    for_all.shape.insert(for_all.shape.begin(), size);
    ensure(!is_batched || type == for_all, "batch: a rule returned a result of another type");
    value[step.first_result + r] = results[r];
    batched[step.first_result + r] = is_batched;
  }
}

void Walk::step(const Step& step) {
  const LocationScope line(step.at);
  std::optional<NameScope> scope;
  if (!step.scope.empty()) scope.emplace(step.scope);
  TensorList x;
  std::vector<bool> mask;
  for (Slot slot : step.operands) {
    x.push_back(value[slot]);
    mask.push_back(batched[slot]);
  }
  const bool any = std::find(mask.begin(), mask.end(), true) != mask.end();
  if (any || (!alive.is_empty() && step.primitive.partial)) {
    by_rule(step, {x.data(), x.size()}, mask);
    return;
  }
  SmallVector<Slot, 4> operands;
  for (const Tensor& operand : x) operands.push_back(operand.slot());
  const Slot first =
      capture.builder().append_step(program, step, {operands.data(), operands.size()});
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    value[step.first_result + r] = capture.symbol(first + r, step.at);
}

}  // namespace

BatchedProgram batch(const Program& program, const std::vector<bool>& batched, std::int64_t size,
                     bool masked, const std::vector<bool>* wanted) {
  Walk walk{program, size};
  if (masked) walk.alive = walk.capture.input(bool_[{size}], "alive");
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    const Slot slot = program.inputs()[i];
    TensorType type = program.type(slot);
    if (batched[i]) type.shape.insert(type.shape.begin(), size);
    walk.value[slot] = walk.capture.input(type, program.input_names()[i]);
    walk.batched[slot] = batched[i];
  }
  for (std::size_t i = 0; i < program.step_count(); ++i) walk.step(program.step(i));

  BatchedProgram result;
  std::vector<Tensor> outputs;
  for (std::size_t k = 0; k < program.outputs().size(); ++k) {
    const Slot slot = program.outputs()[k];
    const Tensor& y = walk.value[slot];
    const LocationScope line(y.location());
    const bool repeat = wanted && (*wanted)[k] && !walk.batched[slot];
    outputs.push_back(repeat ? repeated_for_lanes(y, size) : y);
    result.output_batched.push_back(walk.batched[slot] || repeat);
  }
  result.program =
      walk.capture.finish(outputs, {program.name(), {}, {}}, Location::current()).program;
  return result;
}

}  // namespace hom
