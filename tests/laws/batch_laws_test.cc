// tests/laws/batch_laws_test.cc -- laws of the functor batch: what it computes for many lanes is,
// bit for bit, what a loop over the lanes computes
#include <algorithm>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

const Wish wild{.domain = Domain::wild};

bool has_nan(const Tensor& x) { return x.dtype().is_float() && any_of(is_nan(x)).item<bool>(); }

/// Another value for an input: any of its type, or one that is in range where x is.
Tensor another(const Tensor& x, bool in_range, Choices& choices) {
  if (!in_range) return random_tensor(x.type(), Domain::wild, choices);
  if (x.dtype().is_bool()) return x;
  return where(random_tensor(bool_[x.shape()], Domain::wild, choices), x, 0);
}

/// The inputs of each lane. Those not batched are the same in all; no lane raises.
std::vector<Tensors> random_lanes(const RandomProgram& program, const std::vector<bool>& batched,
                                  std::int64_t size, Choices& choices) {
  const auto is_bitcast = [](const RandomProgram::Line& line) {
    return line.primitive && line.primitive->name == "bitcast";
  };
  const bool no_nan = std::any_of(program.lines.begin(), program.lines.end(), is_bitcast);
  std::vector<Tensors> lanes;
  for (std::int64_t lane = 0; lane < size; ++lane) {
    lanes.push_back(program.inputs);
    if (lane == 0) continue;
    for (const bool in_range : {false, true}) {
      Tensors inputs = program.inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (batched[i]) inputs[i] = another(inputs[i], in_range, choices);
      }
      try {
        const Tensors all = program.values(inputs);
        if (no_nan && std::any_of(all.begin(), all.end(), has_nan)) continue;
        lanes.back() = inputs;
        break;
      } catch (const Error&) {
      }
    }
  }
  return lanes;
}

/// Input i of all lanes: stacked where it is batched.
Tensor input_of(const std::vector<Tensors>& lanes, std::size_t i, const Tensor& original,
                bool batched) {
  if (!batched) return original;
  TensorType none = original.type();
  none.shape.insert(none.shape.begin(), 0);
  Tensors parts;
  for (const Tensors& lane : lanes) parts.push_back(lane[i]);
  return parts.empty() ? zeros(none) : stack(parts);
}

std::vector<bool> subset(std::uint64_t bits, std::size_t size) {
  std::vector<bool> marked;
  for (std::size_t i = 0; i < size; ++i) marked.push_back((bits >> i & 1) != 0);
  return marked;
}

/// Lane l of output k.
Tensor lane_of(const Tensors& outputs, const BatchedProgram& batched, std::size_t k,
               std::size_t lane) {
  return batched.output_batched[k] ? outputs[k](static_cast<std::int64_t>(lane)) : outputs[k];
}

/// The law for one program, subset of inputs and number of lanes.
std::string batch_equals_loop(const RandomProgram& random, const std::vector<bool>& batched,
                              std::int64_t size, Choices& choices) {
  const Program one = random.program();
  const std::vector<Tensors> lanes = random_lanes(random, batched, size, choices);
  const BatchedProgram many = batch(one, batched, size);
  Tensors inputs;
  for (std::size_t i = 0; i < random.inputs.size(); ++i)
    inputs.push_back(input_of(lanes, i, random.inputs[i], batched[i]));
  const Tensors outputs = evaluate(many.program, inputs);
  const std::vector<TensorType> types = one.output_types();
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    TensorType type = types[k];
    if (many.output_batched[k]) type.shape.insert(type.shape.begin(), size);
    if (outputs[k].type() != type)
      return "output " + std::to_string(k) + " is " + to_string(outputs[k].type()) + ", not " +
             to_string(type);
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    Tensors got;
    for (std::size_t k = 0; k < outputs.size(); ++k) got.push_back(lane_of(outputs, many, k, lane));
    if (std::string wrong = difference_in_bits(got, evaluate(one, lanes[lane])); !wrong.empty())
      return "lane " + std::to_string(lane) + " of " + std::to_string(size) + ": " + wrong;
  }
  return "";
}

/// The law under a mask: dead lanes, with integers that would raise, change nothing in the others.
std::string dead_lanes_are_spared(const RandomProgram& random, const std::vector<bool>& batched,
                                  std::int64_t size, Choices& choices) {
  const Program one = random.program();
  std::vector<Tensors> lanes = random_lanes(random, batched, size, choices);
  const BatchedProgram many = batch(one, batched, size, true);
  std::vector<bool> alive;
  for (std::int64_t lane = 0; lane < size; ++lane) alive.push_back(choices.one_in(2));
  const bool any = std::find(alive.begin(), alive.end(), true) != alive.end();
  std::vector<std::uint8_t> mask(alive.begin(), alive.end());
  Tensors inputs{tensor(mask, {size}).astype(bool_)};
  const std::vector<Tensors> good = lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    for (Tensor& x : lanes[lane]) {
      if (!alive[lane] && x.dtype().is_integer()) x = full(x.shape(), -1, i64).astype(x.dtype());
    }
  }
  for (std::size_t i = 0; i < random.inputs.size(); ++i) {
    Tensor shared = random.inputs[i];
    if (!any && shared.dtype().is_integer())
      shared = full(shared.shape(), -1, i64).astype(shared.dtype());
    inputs.push_back(input_of(lanes, i, shared, batched[i]));
  }
  const Tensors outputs = evaluate(many.program, inputs);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!alive[lane]) continue;
    Tensors got;
    for (std::size_t k = 0; k < outputs.size(); ++k) got.push_back(lane_of(outputs, many, k, lane));
    if (std::string wrong = difference_in_bits(got, evaluate(one, good[lane])); !wrong.empty())
      return "under a mask, lane " + std::to_string(lane) + ": " + wrong;
  }
  return "";
}

/// Which operands of a step are batched, where these inputs are (which come first among values).
std::uint64_t of_operands(std::uint64_t inputs, const std::vector<std::size_t>& operands) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) bits |= (inputs >> operands[i] & 1) << i;
  return bits;
}

TEST(Laws, batch_equals_loop_for_every_primitive_and_subset_of_operands) {
  std::string undrawn;
  std::size_t drawn = 0;
  for (const Primitive* p : standard_primitives().all()) {
    if (p->max_operands == 0) continue;  // nothing to batch
    EXPECT_TRUE(p->batch) << p->name;
    std::set<std::uint64_t> subsets;
    for (Dtype dtype : all_dtypes) {
      if (!p->dtypes.contains(dtype)) continue;
      Choices choices(run_seed() * 104729 + static_cast<std::uint64_t>(dtype.id));
      int found = 0;
      for (int attempt = 0; attempt < 400 && found < 8 * case_factor(); ++attempt) {
        const SizeClass size = all_size_classes[attempt % 5];
        const auto program = single_step(*p, dtype[random_shape(size, choices)], wild, choices);
        if (!program || program->lines.back().primitive != p) continue;
        ++found;
        const std::size_t inputs = program->inputs.size();
        for (std::uint64_t bits = 1; bits < std::uint64_t{1} << inputs; ++bits) {
          for (std::int64_t lanes : {0, 1, 3}) {
            for (const auto& law : {batch_equals_loop, dead_lanes_are_spared}) {
              const std::string wrong = law(*program, subset(bits, inputs), lanes, choices);
              ASSERT_EQ(wrong, "") << "inputs " << bits << " of\n" << text_of(*program);
              ++drawn;
            }
          }
          subsets.insert(of_operands(bits, program->lines.back().operands));
        }
        const std::string wrong = dead_lanes_are_spared(*program, subset(0, inputs), 2, choices);
        ASSERT_EQ(wrong, "") << "no input of\n" << text_of(*program);
      }
      if (found < 2) undrawn += "\n  " + p->name + " " + to_string(dtype);
    }
    if (p->min_operands == p->max_operands) {
      subsets.erase(0);
      EXPECT_EQ(subsets.size(), (std::size_t{1} << p->max_operands) - 1) << p->name;
    }
  }
  EXPECT_EQ(undrawn, "");
  EXPECT_GT(drawn, 10000u);
}

std::string batch_equals_loop_of_random_program(const RandomProgram& program, Choices& choices) {
  const std::size_t inputs = program.inputs.size();
  const std::uint64_t one = std::uint64_t{1} << choices.below(static_cast<std::int64_t>(inputs));
  const std::uint64_t bits = choices.bits() | one;
  const std::int64_t sizes[] = {0, 1, 2, 3};
  const std::int64_t size = choices.among(sizes);
  return batch_equals_loop(program, subset(bits, inputs), size, choices);
}

TEST(Laws, batch_equals_loop) {
  for_random_programs("batch_equals_loop", 2400, 20, wild, batch_equals_loop_of_random_program);
}

}  // namespace
}  // namespace hom::laws
