// tests/laws/lanes.cc -- the same program in many lanes: drawn, stacked, compared
#include <hom/tests/laws/lanes.h>

#include <hom/hom.h>

namespace hom::laws {
namespace {

/// Another value for an input: any of its type, or one that is in range where x is.
Tensor another(const Tensor& x, bool in_range, Choices& choices) {
  if (!in_range) return random_tensor(x.type(), Domain::wild, choices);
  return x.dtype().is_bool() ? x
                             : where(random_tensor(bool_[x.shape()], Domain::wild, choices), x, 0);
}

/// Input i of all lanes: stacked where it is batched.
Tensor stacked(const std::vector<Tensors>& lanes, std::size_t i, const Tensor& shared,
               bool batched) {
  if (!batched) return shared;
  TensorType none = shared.type();
  none.shape.insert(none.shape.begin(), 0);
  Tensors parts;
  for (const Tensors& lane : lanes) parts.push_back(lane[i]);
  return parts.empty() ? zeros(none) : stack(parts);
}

}  // namespace

std::string text_of(const Example& example) {
  std::string text = to_text(example.program);
  for (const Tensor& x : example.inputs) text += "  at " + to_string(x) + "\n";
  return text;
}

std::vector<Tensors> random_lanes(const Example& one, const Mask& batched, std::int64_t size,
                                  Choices& choices) {
  std::vector<Tensors> lanes(static_cast<std::size_t>(size), one.inputs);
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) {
    for (const bool in_range : {false, true}) {
      Tensors inputs = one.inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (batched[i]) inputs[i] = another(inputs[i], in_range, choices);
      }
      try {
        evaluate(one.program, inputs);
        lanes[lane] = inputs;
        break;
      } catch (const Error&) {  // out of range: it stays as it was
      }
    }
  }
  return lanes;
}

Tensors stacked(const std::vector<Tensors>& lanes, const Tensors& shared, const Mask& batched) {
  Tensors inputs;
  for (std::size_t i = 0; i < shared.size(); ++i)
    inputs.push_back(stacked(lanes, i, shared[i], batched[i]));
  return inputs;
}

Mask subset(std::uint64_t bits, std::size_t size) {
  Mask marked;
  for (std::size_t i = 0; i < size; ++i) marked.push_back((bits >> i & 1) != 0);
  return marked;
}

Mask random_mask(std::size_t size, Choices& choices) {
  const auto one = std::uint64_t{1} << choices.below(static_cast<std::int64_t>(size));
  return subset(choices.bits() | one, size);
}

Tensors lane_of(const Tensors& outputs, const Mask& batched, std::size_t lane) {
  Tensors own;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    own.push_back(batched[k] ? outputs[k](static_cast<std::int64_t>(lane)) : outputs[k]);
  return own;
}

std::string wrong_types(const Example& one, const Tensors& outputs, const Mask& batched,
                        std::int64_t size) {
  const std::vector<TensorType> types = one.program.output_types();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    TensorType type = types[k];
    if (batched[k]) type.shape.insert(type.shape.begin(), size);
    if (outputs[k].type() != type)
      return "output " + std::to_string(k) + " is " + to_string(outputs[k].type()) + ", not " +
             to_string(type);
  }
  return "";
}

std::string batch_equals_loop(const Example& one, const Mask& batched, std::int64_t size,
                              Choices& choices) {
  const std::vector<Tensors> lanes = random_lanes(one, batched, size, choices);
  const BatchedProgram many = batch(one.program, batched, size);
  const Tensors outputs = evaluate(many.program, stacked(lanes, one.inputs, batched));
  if (std::string wrong = wrong_types(one, outputs, many.output_batched, size); !wrong.empty())
    return wrong;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const Tensors got = lane_of(outputs, many.output_batched, lane);
    if (std::string wrong = difference_in_bits(got, evaluate(one.program, lanes[lane]));
        !wrong.empty())
      return "lane " + std::to_string(lane) + " of " + std::to_string(size) + ": " + wrong;
  }
  return "";
}

}  // namespace hom::laws
