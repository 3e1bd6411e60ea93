// tests/laws/batch_laws_test.cc -- laws of the functor batch: what it computes for many lanes is,
// bit for bit, what a loop over the lanes computes
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/lanes.h>

namespace hom::laws {
namespace {

// The bits of a NaN depend on how it was made.
const Wish wild{.domain = Domain::wild, .without = {"bitcast"}};

/// −1 wherever it is an integer: as an index or a power, it raises.
Tensor poisoned(const Tensor& x) {
  return x.dtype().is_integer() ? full(x.shape(), -1, i64).astype(x.dtype()) : x;
}

/// The law under a mask: dead lanes that would raise change nothing in the others.
std::string dead_lanes_are_spared(const Example& one, const Mask& batched, std::int64_t size,
                                  Choices& choices) {
  const std::vector<Tensors> good = random_lanes(one, batched, size, choices);
  std::vector<Tensors> lanes = good;
  Tensors shared = one.inputs;
  std::vector<std::uint8_t> alive;
  for (Tensors& lane : lanes) {
    alive.push_back(choices.one_in(2));
    if (!alive.back()) std::transform(lane.begin(), lane.end(), lane.begin(), poisoned);
  }
  if (std::find(alive.begin(), alive.end(), 1) == alive.end())
    std::transform(shared.begin(), shared.end(), shared.begin(), poisoned);
  const BatchedProgram many = batch(one.program, batched, size, true);
  Tensors inputs = stacked(lanes, shared, batched);
  inputs.insert(inputs.begin(), tensor(alive, {size}).astype(bool_));
  const Tensors outputs = evaluate(many.program, inputs);
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (!alive[lane]) continue;
    const Tensors got = lane_of(outputs, many.output_batched, lane);
    if (std::string wrong = difference_in_bits(got, evaluate(one.program, good[lane]));
        !wrong.empty())
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
  std::size_t checked = 0;
  for (const Primitive* p : standard_primitives().all()) {
    if (p->max_operands == 0) continue;  // nothing to batch
    EXPECT_TRUE(p->batch) << p->name;
    if (only_raises(*p)) continue;
    std::set<std::uint64_t> subsets;
    for (Dtype dtype : all_dtypes) {
      if (!p->dtypes.contains(dtype)) continue;
      Choices choices(run_seed() * 104729 + static_cast<std::uint64_t>(dtype.id));
      int found = 0;
      for (int attempt = 0; attempt < 400 && found < 8 * case_factor(); ++attempt) {
        const SizeClass size = all_size_classes[attempt % 5];
        const auto program =
            single_step(*p, dtype[random_shape(size, choices)], {.domain = Domain::wild}, choices);
        if (!program || program->lines.back().primitive != p) continue;
        ++found;
        const Example one{program->program(), program->inputs};
        const std::size_t inputs = one.inputs.size();
        for (std::uint64_t bits = 0; bits < std::uint64_t{1} << inputs; ++bits) {
          const Mask batched = subset(bits, inputs);
          for (std::int64_t lanes : {0, 1, 3}) {
            std::string wrong;
            try {
              wrong = dead_lanes_are_spared(one, batched, lanes, choices);
              if (wrong.empty()) wrong = batch_equals_loop(one, batched, lanes, choices);
            } catch (const std::exception& error) {
              wrong = std::string("it throws: ") + error.what();
            }
            ASSERT_EQ(wrong, "") << "inputs " << bits << " batched of\n" << text_of(one);
            ++checked;
          }
          subsets.insert(of_operands(bits, program->lines.back().operands));
        }
      }
      if (found < 8) undrawn += "\n  " + p->name + " " + to_string(dtype);
    }
    if (p->min_operands == p->max_operands) {
      EXPECT_EQ(subsets.size(), std::size_t{1} << p->max_operands) << p->name;
    }
  }
  EXPECT_EQ(undrawn, "");
  EXPECT_GT(checked, 10000u);
}

TEST(Laws, batch_equals_loop) {
  const auto law = [](const RandomProgram& random, Choices& choices) {
    const Example one{random.program(), random.inputs};
    return batch_equals_loop(one, random_mask(one.inputs.size(), choices),
                             choices.among(lane_counts), choices);
  };
  for_random_programs("batch_equals_loop", 2400, 20, wild, law);
  const Wish control{.domain = Domain::wild,
                     .primitives = {"call", "cond", "gather", "scatter", "dynamic_slice", "pow",
                                    "dynamic_update_slice", "add", "lt", "select"}};
  for_random_programs("batch_equals_loop, of calls and conds", 2400, 20, control, law);
}

TEST(Laws, batch_of_batch_equals_loop) {
  for_random_programs("batch_of_batch_equals_loop", 1600, 16, wild,
                      [](const RandomProgram& random, Choices& choices) -> std::string {
                        const Example one{random.program(), random.inputs};
                        const Mask inner = random_mask(one.inputs.size(), choices);
                        const std::int64_t size = choices.among(lane_counts);
                        const std::vector<Tensors> lanes = random_lanes(one, inner, size, choices);
                        const Example rows{batch(one.program, inner, size).program,
                                           stacked(lanes, one.inputs, inner)};
                        return batch_equals_loop(rows, random_mask(one.inputs.size(), choices),
                                                 choices.among(lane_counts), choices);
                      });
}

TEST(Laws, batch_keeps_composition) {
  for_random_programs(
      "batch_keeps_composition", 1600, 20, wild,
      [](const RandomProgram& random, Choices& choices) -> std::string {
        // g ∘ f, cut after some step: f gives every slot so far to g.
        const Program whole = random.program();
        const auto cut = static_cast<std::size_t>(
            choices.between(0, static_cast<std::int64_t>(whole.step_count())));
        Builder first;
        std::vector<Slot> slots = first.add_inputs_of(whole);
        const auto run = [&](Builder& builder, std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const Step step = whole.step(i);
            SmallVector<Slot, 4> operands;
            for (Slot slot : step.operands) operands.push_back(slots[slot]);
            const Slot made = builder.append_step(whole, step, {operands.data(), operands.size()});
            slots.resize(step.first_result + step.result_count);
            for (std::uint32_t r = 0; r < step.result_count; ++r)
              slots[step.first_result + r] = made + r;
          }
        };
        run(first, 0, cut);
        const Program f = std::move(first).finish(slots, {});
        Builder second;
        for (std::size_t k = 0; k < slots.size(); ++k)
          slots[k] = second.add_input(whole.type(static_cast<Slot>(k)), "x");
        run(second, cut, whole.step_count());
        std::vector<Slot> outputs;
        for (Slot slot : whole.outputs()) outputs.push_back(slots[slot]);
        const Program g = std::move(second).finish(outputs, {});

        const Mask batched = random_mask(random.inputs.size(), choices);
        const std::int64_t size = choices.among(lane_counts);
        const Example one{whole, random.inputs};
        const Tensors x =
            stacked(random_lanes(one, batched, size, choices), random.inputs, batched);
        const BatchedProgram of_f = batch(f, batched, size);
        const BatchedProgram of_g = batch(g, of_f.output_batched, size);
        const BatchedProgram of_both = batch(whole, batched, size);
        if (of_g.output_batched != of_both.output_batched) return "other outputs are batched";
        return difference_in_bits(evaluate(of_g.program, evaluate(of_f.program, x)),
                                  evaluate(of_both.program, x));
      });
}

TEST(Laws, vmap_along_any_axes_equals_the_loop) {
  for_random_programs("vmap_along_any_axes_equals_the_loop", 1600, 16, wild,
                      [](const RandomProgram& random, Choices& choices) -> std::string {
                        const Example one{random.program(), random.inputs};
                        const Mask batched = random_mask(one.inputs.size(), choices);
                        Lanes in{{}, choices.among(lane_counts)};
                        const std::vector<Tensors> lanes =
                            random_lanes(one, batched, in.size, choices);
                        Tensors x = stacked(lanes, one.inputs, batched);
                        for (std::size_t i = 0; i < x.size(); ++i) {
                          in.axes.emplace_back();
                          if (!batched[i]) continue;
                          in.axes[i] = choices.below(x[i].rank());
                          x[i] = move_axis(x[i], 0, *in.axes[i]);
                        }
                        Shape out;
                        for (const TensorType& type : one.program.output_types())
                          out.push_back(choices.between(-type.rank() - 1, type.rank()));
                        const Program map = vmap(one.program, in, out, Location::current());
                        Tensors got = evaluate(map, x);
                        for (std::size_t k = 0; k < got.size(); ++k)
                          got[k] = move_axis(got[k], out.begin()[k], 0);
                        const Mask all(got.size(), true);
                        if (std::string wrong = wrong_types(one, got, all, in.size); !wrong.empty())
                          return wrong;
                        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
                          if (std::string wrong = difference_in_bits(
                                  lane_of(got, all, lane), evaluate(one.program, lanes[lane]));
                              !wrong.empty())
                            return wrong;
                        }
                        return "";
                      });
}

}  // namespace
}  // namespace hom::laws
