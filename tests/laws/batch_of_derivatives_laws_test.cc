// tests/laws/batch_of_derivatives_laws_test.cc -- batch and derivatives commute, and Jacobians are
// batched derivatives
#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/lanes.h>

namespace hom::laws {
namespace {

const Wish tame{.domain = Domain::tame};

/// The derivative at a point as a program of residuals and tangents.
Example as_example(const LinearAtPoint& linear, Choices& choices) {
  Example example{linear.program, linear.residuals};
  for (const Tensor& dx : random_like(linear.domain(), choices)) example.inputs.push_back(dx);
  return example;
}

TEST(Laws, batch_of_derivatives_equals_loop) {
  for_random_programs(
      "batch_of_derivatives_equals_loop", 1600, 16, tame,
      [](const RandomProgram& random, Choices& choices) -> std::string {
        const LinearAtPoint derivative = derivative_at(random.program(), random.inputs);
        for (const LinearAtPoint& linear : {derivative, derivative.transposed()}) {
          if (linear.program.inputs().empty()) continue;
          const Example one = as_example(linear, choices);
          const std::int64_t size = choices.among(lane_counts);
          const Mask any = random_mask(one.inputs.size(), choices);
          for (const Mask& batched : {linear.marked(), any}) {
            if (std::string wrong = batch_equals_loop(one, batched, size, choices); !wrong.empty())
              return wrong;
          }
        }
        return "";
      });
}

TEST(Laws, derivative_of_batch_is_batch_of_derivative) {
  for_random_programs(
      "derivative_of_batch_is_batch_of_derivative", 1600, 16, tame,
      [](const RandomProgram& random, Choices& choices) -> std::string {
        const Program one = random.program();
        const Mask all(random.inputs.size(), true);
        const Mask wanted(one.outputs().size(), true);
        const std::vector<Tensors> lanes(2, random.inputs);
        const BatchedProgram many = batch(one, all, 2, false, &wanted);
        const LinearAtPoint together =
            derivative_at(many.program, stacked(lanes, random.inputs, all));
        const LinearAtPoint each = derivative_at(one, random.inputs);
        const auto law = [&](const LinearAtPoint& rows, const LinearAtPoint& row) -> std::string {
          const std::vector<Tensors> dx{random_like(row.domain(), choices),
                                        random_like(row.domain(), choices)};
          if (dx[0].empty()) return "";
          const Tensors got = rows(stacked(dx, dx[0], Mask(dx[0].size(), true)));
          for (std::size_t lane = 0; lane < 2; ++lane) {
            if (std::string wrong = difference(lane_of(got, Mask(got.size(), true), lane),
                                               row(dx[lane]), 64 * coarsest_epsilon(one));
                !wrong.empty())
              return wrong;
          }
          return "";
        };
        const std::string wrong = law(together, each);
        return wrong.empty() ? law(together.transposed(), each.transposed()) : wrong;
      });
}

TEST(Laws, jacobian_equals_the_derivative_of_every_basis_vector) {
  for_random_programs(
      "jacobian_equals_the_derivative_of_every_basis_vector", 800, 12, tame,
      [](const RandomProgram& random, Choices&) -> std::string {
        // One input and one output, both floats.
        const Program all = random.program();
        const auto is_float = [&](std::size_t i) { return random.inputs[i].dtype().is_float(); };
        std::size_t input = 0;
        while (input < random.inputs.size() && !is_float(input)) ++input;
        std::size_t output = 0;
        while (output < random.outputs.size() && !all.output_types()[output].dtype.is_float())
          ++output;
        if (input == random.inputs.size() || output == random.outputs.size()) return "";
        const Program one = random.program({random.outputs[output]});
        Mask active(random.inputs.size(), false);
        active[input] = true;
        const Mask wanted{true};
        const Linearization lin = linearize(one, active, &wanted);
        const Tensors primal = evaluate(lin.primal, random.inputs);
        const LinearAtPoint linear{lin.linear, {primal.begin() + 1, primal.end()}};
        const TensorType x = random.inputs[input].type();
        const Tensor columns =
            evaluate(jacobian(one, active, Mode::forward, Location::current()), random.inputs)[0];
        const Tensor flat = reshape(columns, {primal[0].size(), x.size()});
        for (std::int64_t k = 0; k < x.size(); ++k) {
          const Tensor basis = reshape((arange(x.size()) == k).astype(x.dtype), x.shape);
          // Of literal tangents, scale makes +0 where it could be −0.
          const Tensor want = ravel(linear(Tensors{basis})[0]).astype(flat.dtype());
          if (std::string wrong = difference(Tensors{flat(hom::all, k)}, Tensors{want}, 0);
              !wrong.empty())
            return "column " + std::to_string(k) + ": " + wrong;
        }
        return "";
      });
}

}  // namespace
}  // namespace hom::laws
