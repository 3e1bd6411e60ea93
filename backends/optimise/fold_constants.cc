// backends/optimise/fold_constants.cc -- what is the same in each run is computed now
//
// By the executor that computes eagerly, so bits are those of a run.
#include <algorithm>
#include <cstring>

#include <hom/backends/optimise/effects.h>
#include <hom/backends/optimise/elementwise.h>
#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/passes.h>
#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/executor.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {
namespace {

/// The most elements of an operand or result that is looked at.
constexpr std::int64_t most_elements = 4096;
/// Results that are no larger become tensors of the closure even where operands are smaller.
constexpr std::int64_t few_elements = 64;

template <Element T>
Attribute attribute_of(T value) {
  if constexpr (std::same_as<T, bool>) {
    return {value};
  } else if constexpr (dtype_of<T>().is_float()) {
    return {convert_element<double>(value)};
  } else if constexpr (std::is_unsigned_v<T>) {
    return {std::uint64_t{value}};
  } else {
    return {std::int64_t{value}};
  }
}

/// The element that all elements are, bit for bit.
std::optional<Attribute> uniform_value(const Tensor& x) {
  const Array& array = x.array();
  if (array.type.size() == 0) return Attribute{0.0};
  const bool is_one = std::all_of(array.strides.begin(), array.strides.end(),
                                  [](std::int64_t stride) { return stride == 0; });
  if (!is_one && array.type.size() > most_elements) return std::nullopt;
  std::optional<Attribute> value;
  visit(array.type.dtype, [&]<class T>() {
    const Tensor dense = is_one ? x : row_major(x);
    const T* elements = dense.array().data<T>();
    for (std::int64_t i = 1; !is_one && i < array.type.size(); ++i) {
      if (std::memcmp(&elements[i], elements, sizeof(T)) != 0) return;
    }
    value = attribute_of(*elements);
  });
  return value;
}

/// Folds one program.
class Folder {
 public:
  explicit Folder(const Program& program) : program_(program) {}

  Program run() {
    std::vector<Slot> slots(program_.slot_count());
    const std::vector<Slot> inputs = builder_.add_inputs_of(program_);
    for (std::size_t i = 0; i < inputs.size(); ++i) slots[program_.inputs()[i]] = inputs[i];
    std::vector<Slot> operands;
    for (std::size_t i = 0; i < program_.step_count(); ++i) {
      const Step step = program_.step(i);
      operands.clear();
      for (Slot slot : step.operands) operands.push_back(slots[slot]);
      Slot first = 0;
      if (const auto folded = fold(step, operands)) {
        first = *folded;
      } else {
        first = builder_.append_step(program_, step, operands);
      }
      for (std::uint32_t r = 0; r < step.result_count; ++r)
        slots[step.first_result + r] = first + r;
    }
    std::vector<Slot> outputs;
    for (Slot slot : program_.outputs()) outputs.push_back(slots[slot]);
    return std::move(builder_).finish(std::move(outputs), signature_of(program_));
  }

 private:
  /// What is known of a slot of the new program.
  struct Known {
    Tensor value;
    /// Counted positions are not kept as tensors: to compute them again is cheaper than to read.
    bool counts = false;
  };

  bool is_known(Slot slot) const { return slot < known_.size() && !known_[slot].value.is_empty(); }
  void set_known(Slot slot, Known known) {
    if (slot >= known_.size()) known_.resize(slot + 1);
    known_[slot] = std::move(known);
  }

  std::optional<Slot> literal(const Tensor& value, const Step& step) {
    const auto uniform = uniform_value(value);
    if (!uniform) return std::nullopt;
    const Slot slot = append_literal(builder_, *uniform, value.array().type, step.at, step.scope);
    if (value.array().type.size() <= most_elements) set_known(slot, {value});
    return slot;
  }

  /// A function of single elements of literals of any size: of one element.
  std::optional<Slot> of_literals(const Step& step, std::span<const Slot> operands) {
    if (!is_elementwise(step.primitive)) return std::nullopt;
    TensorList values;
    for (Slot slot : operands) {
      const Attribute* value = builder_.literal(slot);
      if (!value) return std::nullopt;
      const TensorType type = builder_.type(slot).dtype[{}];
      const Attributes attributes{
          {"value", *value}, {"dtype", {type.dtype}}, {"shape", {type.shape}}};
      values.push_back(
          execute(Invocation{words().constant, attributes, {&type, 1}, step.at}, {})[0]);
    }
    const TensorType& result = program_.type(step.first_result);
    const TensorType one = result.dtype[{}];
    const Tensor value = execute(Invocation{step.primitive, step.attributes, {&one, 1}, step.at},
                                 std::move(values))[0];
    return append_literal(builder_, *uniform_value(value), result, step.at, step.scope);
  }

  /// The slot of a step that is not needed.
  std::optional<Slot> fold(const Step& step, std::span<const Slot> operands) {
    const Vocabulary& w = words();
    const Primitive* p = &step.primitive;
    if (p == &w.captured) {
      const Tensor& tensor =
          program_.captured()[static_cast<std::size_t>(step.attributes.integer("index"))];
      if (const auto slot = literal(tensor, step)) return slot;
      const Slot slot = builder_.capture(tensor, step.at);
      if (tensor.array().type.size() <= most_elements) set_known(slot, {tensor});
      return slot;
    }
    if (p == &w.barrier || p == &w.random_bits || p->run || step.result_count != 1 ||
        may_raise(program_, step))
      return std::nullopt;
    const TensorType& type = program_.type(step.first_result);
    if (const auto slot = of_literals(step, operands)) return slot;
    if (type.size() > most_elements) return std::nullopt;
    bool counts = p == &w.iota;
    std::int64_t largest = few_elements;
    TensorList values;
    for (Slot slot : operands) {
      if (!is_known(slot)) return std::nullopt;
      values.push_back(known_[slot].value);
      counts = counts || known_[slot].counts;
      largest = std::max(largest, values[values.size() - 1].array().type.size());
    }
    Tensor value;
    try {
      value = execute(Invocation{*p, step.attributes, {&type, 1}, step.at}, std::move(values))[0];
    } catch (const Error&) {
      return std::nullopt;  // a primitive without a kernel here
    }
    if (p == &w.constant) {
      const Slot slot = builder_.append_step(program_, step, operands);
      set_known(slot, {std::move(value)});
      return slot;
    }
    if (const auto slot = literal(value, step)) return slot;
    if (counts || p == &w.broadcast || type.size() > largest) {
      const Slot slot = builder_.append_step(program_, step, operands);
      set_known(slot, {std::move(value), counts});
      return slot;
    }
    const Slot slot = builder_.capture(value, step.at);
    set_known(slot, {std::move(value)});
    return slot;
  }

  const Program& program_;
  Builder builder_{Builder::Zeros::exact};
  std::vector<Known> known_;
};

}  // namespace

Pass fold_constants() {
  return {"fold_constants",
          "steps on literals and on small tensors of the closure are computed now",
          [](const Program& program, const OptimiseOptions&) {
            return everywhere(program, [](const Program& p) { return Folder(p).run(); });
          },
          {{"f(c…) = its value",
            "by the executor itself, up to 4096 elements; not random bits, not what may raise. "
            "Values whose elements are equal become literals, small ones tensors of the closure"},
           {"a tensor of the closure = c", "where its elements are equal"}}};
}

}  // namespace hom::optimiser
