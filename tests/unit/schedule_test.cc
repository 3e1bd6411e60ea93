// tests/unit/schedule_test.cc -- what shares a kernel, and how it is looped
#include <algorithm>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/plan_reference.h>
#include <hom/tests/laws/support.h>

namespace hom {
namespace {

nest::Plan plan_of(const Program& program) { return nest::lower(program, laws::eager_routines()); }

/// Numbers between −2 and 2, the same in every run.
Tensor numbers(const TensorType& type) {
  laws::Choices choices(static_cast<std::uint64_t>(type.size()) + 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < type.size(); ++i) values.push_back(choices.real(-2, 2));
  return tensor(values, type.shape).astype(type.dtype);
}

/// The plan, after its results are found equal to the eager ones.
nest::Plan checked_plan(const Program& program) {
  const nest::Plan plan = plan_of(program);
  for (const nest::Kernel& kernel : plan.kernels) nest::verify(kernel);
  std::vector<Tensor> inputs;
  for (const TensorType& type : program.input_types()) inputs.push_back(numbers(type));
  cpu::FailureRecord record;
  EXPECT_EQ(laws::difference_in_bits(laws::run_reference(plan, inputs, record),
                                     evaluate(program, inputs)),
            "")
      << to_string(plan);
  EXPECT_EQ(record.failure, 0);
  return plan;
}

std::string kernels(const nest::Plan& plan) {
  std::string text = to_string(plan);
  for (const nest::Kernel& kernel : plan.kernels) text += "\n" + to_string(kernel);
  return text;
}

/// All loops of a block, outer before inner ones.
void collect_loops(const nest::Block& block, std::vector<const nest::Loop*>& loops) {
  for (const nest::Statement& statement : block) {
    const auto* loop = std::get_if<nest::Loop>(&statement.is);
    if (loop == nullptr) continue;
    loops.push_back(loop);
    collect_loops(loop->body, loops);
  }
}

std::size_t loop_count(const nest::Kernel& kernel) {
  std::vector<const nest::Loop*> loops;
  collect_loops(kernel.body, loops);
  return loops.size();
}

TEST(Schedule, a_chain_of_elementwise_steps_is_one_flat_loop) {
  const auto f = [](Tensor x, Tensor y) { return exp(x * y) + tanh(x) / (y * y + 1.0); };
  const nest::Plan plan = checked_plan(program(f, f32[{3, 40, 5}], f32[{3, 40, 5}]));
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  EXPECT_EQ(loop_count(plan.kernels[0]), 1u) << kernels(plan);
  EXPECT_TRUE(plan.kernels[0].is_splittable);
}

TEST(Schedule, softmax_layer_norm_and_log_sum_exp_are_one_kernel_each) {
  const auto layer = [](Tensor x) { return layer_norm(x); };
  const auto soft = [](Tensor x) { return softmax(x); };
  const auto lse = [](Tensor x) { return logsumexp(x, -1); };
  const auto loss = [](Tensor x) { return mean(log_softmax(x)); };
  const TensorType type = f32[{50, 130}];
  for (const Program& p : {program(layer, type), program(soft, type), program(lse, type)}) {
    const nest::Plan plan = checked_plan(p);
    EXPECT_EQ(plan.kernels.size(), 1u) << kernels(plan);
    EXPECT_TRUE(plan.kernels[0].is_splittable) << kernels(plan);
  }
  // A sum of all elements has one order, which does not end rows: the terms are stored first.
  const nest::Plan plan = checked_plan(program(loss, type));
  EXPECT_EQ(plan.kernels.size(), 2u) << kernels(plan);
}

TEST(Schedule, exponentials_are_kept_for_the_next_phase_not_computed_again) {
  const nest::Plan plan =
      checked_plan(program([](Tensor x) { return softmax(x); }, f32[{50, 130}]));
  ASSERT_EQ(plan.kernels.size(), 1u);
  const nest::Kernel& kernel = plan.kernels[0];
  const auto exponentials =
      std::count_if(kernel.nodes.begin(), kernel.nodes.end(), [](const nest::Node& node) {
        return node.kind == nest::Node::Kind::apply && node.function == nest::Function::exp;
      });
  EXPECT_EQ(exponentials, 1);
  EXPECT_TRUE(kernel.buffers.back().is_local) << kernels(plan);
  // A row that is too long for a local buffer is computed twice.
  const nest::Plan longer =
      plan_of(program([](Tensor x) { return softmax(x); }, f32[{2, 100'000}]));
  EXPECT_FALSE(longer.kernels[0].buffers.back().is_local) << kernels(longer);
}

TEST(Schedule, a_loss_and_its_gradient_share_the_loops_of_the_rows) {
  const auto loss = [](Tensor logits, Tensor targets) {
    return -sum(log_softmax(logits) * targets) / 50.0;
  };
  const auto both = [&](Tensor x, Tensor y) { return value_and_grad(loss)(x, y); };
  const nest::Plan plan = checked_plan(program(both, f64[{50, 20}], f64[{50, 20}]));
  EXPECT_LE(plan.kernels.size(), 2u) << kernels(plan);
}

TEST(Schedule, distances_to_centres_are_nested_reductions) {
  const auto nearest = [](Tensor points, Tensor centres) {
    const Tensor difference = expand_dims(points, 1) - centres;
    return min(sum(difference * difference, -1), -1);
  };
  const nest::Plan plan = checked_plan(program(nearest, f64[{40, 6}], f64[{9, 6}]));
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  EXPECT_EQ(plan.arena_bytes, 0);
  for (const nest::PlannedBuffer& buffer : plan.buffers)
    EXPECT_NE(buffer.place, nest::PlannedBuffer::Place::temporary) << kernels(plan);
}

TEST(Schedule, a_batched_scalar_program_is_one_loop_over_the_batch) {
  const auto rotated = [](Tensor angle, Tensor p) {
    const Tensor c = cos(angle), s = sin(angle);
    return stack({c * p(0) - s * p(1), s * p(0) + c * p(1), p(2)}, 0);
  };
  const auto many = [&](Tensor angles, Tensor points) { return vmap(rotated)(angles, points); };
  const nest::Plan plan = checked_plan(program(many, f64[{5000}], f64[{5000, 3}]));
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  EXPECT_EQ(loop_count(plan.kernels[0]), 1u) << kernels(plan);
  // cos and sin once for each lane, though three results use them.
  const nest::Kernel& kernel = plan.kernels[0];
  EXPECT_EQ(std::count_if(kernel.nodes.begin(), kernel.nodes.end(),
                          [](const nest::Node& node) {
                            return node.kind == nest::Node::Kind::apply &&
                                   (node.function == nest::Function::cos ||
                                    node.function == nest::Function::sin);
                          }),
            2);
}

TEST(Schedule, small_matrix_products_of_a_batch_are_unrolled_in_its_loop) {
  const auto f = [](Tensor a, Tensor b) {
    return vmap([](Tensor x, Tensor y) { return matmul(x, y); })(a, b);
  };
  const nest::Plan plan = checked_plan(program(f, f64[{1000, 3, 3}], f64[{1000, 3, 3}]));
  EXPECT_TRUE(plan.routines.empty()) << kernels(plan);
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  EXPECT_EQ(loop_count(plan.kernels[0]), 1u) << kernels(plan);
}

TEST(Schedule, products_with_oneself_need_all_pairs_of_positions) {
  const auto pairs = [](Tensor x) {
    const Tensor y = sin(x) + 1.0;
    return matmul(swap_axes(y, 0, 1), y);
  };
  // One term, and so few that the product is computed where it is used; then a routine.
  for (const Shape& shape : {Shape{1, 20}, Shape{3, 23}, Shape{4, 300}, Shape{9, 23}}) {
    checked_plan(program(pairs, f64[shape]));
    checked_plan(program([&](Tensor x) { return sum(square(pairs(x)), 1); }, f64[shape]));
  }
}

TEST(Schedule, large_products_of_few_terms_are_in_the_loops_that_use_them) {
  const auto f = [](Tensor x, Tensor w) { return tanh(matmul(x, w)); };
  EXPECT_TRUE(checked_plan(program(f, f64[{500, 3}], f64[{3, 40}])).routines.empty());
  EXPECT_FALSE(checked_plan(program(f, f64[{500, 30}], f64[{30, 40}])).routines.empty());
}

TEST(Schedule, steps_of_a_product_wait_for_the_loops_that_use_them) {
  // The sum of squares is recorded in between.
  const auto distances = [](Tensor x, Tensor y) {
    const Tensor products = 2.0 * matmul(x, transpose(y));
    return min(sum(square(y), 1) - products, 1);
  };
  const nest::Plan plan = checked_plan(program(distances, f64[{300, 8}], f64[{200, 8}]));
  EXPECT_EQ(plan.kernels.size(), 2U) << kernels(plan);
}

TEST(Schedule, what_is_looked_up_at_the_place_of_an_extreme_needs_no_check) {
  const auto nearest = [](Tensor x, Tensor y) { return take(y, argmin(x, 1)); };
  for (const nest::Kernel& kernel :
       checked_plan(program(nearest, f64[{30, 20}], f64[{20, 3}])).kernels)
    EXPECT_TRUE(kernel.failures.empty()) << to_string(kernel);
  // One position too few.
  bool has_check = false;
  const Program outside = program(nearest, f64[{30, 20}], f64[{19, 3}]);
  for (const nest::Kernel& kernel : plan_of(outside).kernels)
    has_check = has_check || !kernel.failures.empty();
  EXPECT_TRUE(has_check);
}

TEST(Schedule, sums_over_outer_axes_run_along_the_rows_in_memory) {
  const nest::Plan plan =
      checked_plan(program([](Tensor x) { return sum(x * 2.0, 0); }, f32[{300, 64}]));
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  ASSERT_TRUE(plan.kernels[0].vector_axis.has_value());
  EXPECT_EQ(plan.kernels[0].axes[*plan.kernels[0].vector_axis], 64) << kernels(plan);
}

TEST(Schedule, what_a_few_lanes_share_is_loaded_once_in_a_vector_loop_around_them) {
  // Directions of a derivative: each of a few lanes meets the same strided elements.
  const auto f = [](Tensor directions, Tensor p) {
    return vmap(
        [](Tensor d, Tensor q) {
          return d * (q(all, 0) * q(all, 1) + exp(q(all, 2))) / (q(all, 3) + 3.0);
        },
        {0, unmapped})(directions, p);
  };
  const nest::Plan plan = checked_plan(program(f, f64[{15, 200}], f64[{200, 4}]));
  ASSERT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  std::vector<const nest::Loop*> loops;
  collect_loops(plan.kernels[0].body, loops);
  ASSERT_EQ(loops.size(), 2u) << kernels(plan);
  EXPECT_EQ(loops[0]->axes[0], plan.kernels[0].vector_axis) << kernels(plan);
}

TEST(Schedule, a_scan_is_a_loop_of_the_plan_around_one_kernel) {
  const auto f = [](Tensor x) {
    return scan([](Tensor c, Tensor e) { return std::pair{c * 0.5 + e, sin(c)}; }, Tensor(0.0), x);
  };
  const nest::Plan plan = checked_plan(program(f, f64[{100}]));
  EXPECT_EQ(plan.kernels.size(), 1u) << kernels(plan);
  const auto is_loop = [](const nest::Instruction& i) {
    return std::holds_alternative<nest::Repeat>(i.is);
  };
  EXPECT_EQ(std::count_if(plan.body.begin(), plan.body.end(), is_loop), 1);
}

TEST(Schedule, a_carry_that_is_updated_in_place_is_not_copied) {
  const auto f = [](Tensor x) {
    return fori_loop(0, 50, [](Tensor i, Tensor c) { return c.at(i).set(2.0); }, x);
  };
  const nest::Plan plan = checked_plan(program(f, f64[{50}]));
  for (const nest::Instruction& instruction : plan.body) {
    const auto* repeat = std::get_if<nest::Repeat>(&instruction.is);
    if (repeat == nullptr) continue;
    for (const nest::Instruction& inner : repeat->body) {
      const auto* copy = std::get_if<nest::Copy>(&inner.is);
      EXPECT_TRUE(copy == nullptr || copy->bytes < 50 * 8) << kernels(plan);
    }
  }
}

TEST(Schedule, long_programs_split_into_kernels_of_a_largest_size) {
  const auto f = [](Tensor x) {
    for (int i = 0; i < 3000; ++i) x = sin(x) * 0.9;
    return x;
  };
  const nest::Plan plan = checked_plan(program(f, f64[{4}]));
  EXPECT_GT(plan.kernels.size(), 5u);
  for (const nest::Kernel& kernel : plan.kernels) EXPECT_LE(kernel.nodes.size(), 3000u);
}

TEST(Schedule, activations_follow_a_large_product_panel_by_panel) {
  const auto f = [](Tensor x, Tensor w, Tensor b) { return relu(matmul(x, w) + b); };
  nest::LowerOptions options = laws::eager_routines();
  class Rows : public nest::Routine {
   public:
    void run(std::span<const std::byte* const>, std::span<std::byte* const>,
             std::byte*) const override {}
    bool has_rows() const override { return true; }
    std::int64_t panel() const override { return 64; }
    std::string describe() const override { return "rows"; }
    nest::Work work() const override { return {}; }
  };
  options.routine = [](const Invocation&, std::span<const nest::Layout>) {
    return std::make_shared<Rows>();
  };
  const auto has_epilogue = [&](const Program& p) {
    const nest::Plan plan = nest::lower(p, options);
    for (const nest::Instruction& instruction : plan.body) {
      const auto* call = std::get_if<nest::Call>(&instruction.is);
      if (call != nullptr && call->epilogue) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_epilogue(program(f, f32[{1024, 512}], f32[{512, 512}], f32[{512}])));
  // What fits a cache needs none, and a sum over the rows cannot follow them.
  EXPECT_FALSE(has_epilogue(program(f, f32[{32, 64}], f32[{64, 64}], f32[{64}])));
  const auto columns = [](Tensor x, Tensor w) { return sum(matmul(x, w), 0); };
  EXPECT_FALSE(has_epilogue(program(columns, f32[{1024, 512}], f32[{512, 512}])));
}

}  // namespace
}  // namespace hom
