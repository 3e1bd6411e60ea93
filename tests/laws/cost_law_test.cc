// tests/laws/cost_law_test.cc -- the cost law: a gradient costs a constant times the function, step
// by step
//
// Each primitive states its factor. For any program, the steps built and the work done by
// value_and_gradient stay below the sum of factor times own cost over its steps, plus one step and
// one element for the seed and for each gradient.
#include <algorithm>
#include <cstdio>
#include <set>

#include <gtest/gtest.h>

#include <hom/categories/cost.h>
#include <hom/core/text.h>
#include <hom/hom.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

struct Bound {
  double steps = 0;
  double work = 0;
};

/// How many steps a step counts for: one, or one for each operand where there may be any number of
/// them.
double own_steps(const Step& step) {
  const bool variadic = step.primitive.max_operands > 8;
  return variadic ? std::max(1.0, static_cast<double>(step.operands.size())) : 1;
}

/// The factor that the primitive states. Products and running extremes work in ⌈log₂ n⌉ levels, and
/// state what holds for up to 16 elements in a group, which is 4 levels; each level more is at most
/// three tenths of that.
double stated_factor(const Program& program, const Step& step) {
  const std::string& name = step.primitive.name;
  std::int64_t n = 1;
  const Shape shape = step.operands.empty() ? Shape{} : program.type(step.operands[0]).shape;
  if (name == "reduce_prod") {
    for (std::int64_t axis : step.attributes.shape("axes")) n *= shape.begin()[axis];
  } else if (name == "cumprod" || name == "cummax" || name == "cummin") {
    n = shape.begin()[step.attributes.integer("axis")];
  }
  double levels = 0;
  for (std::int64_t reach = 1; reach < n; reach *= 2) ++levels;
  return step.primitive.cost_factor * (1 + 0.3 * std::max(0.0, levels - 4));
}

Bound bound_of(const Program& program);

/// Of `cond` the branch that costs more runs. A rule that is given is a program of its own beside
/// the function, and what `checkpoint` computes again costs once more.
Bound bound_inside(const Step& step) {
  Bound most;
  Bound sum;
  for (const auto& [name, attribute] : step.attributes) {
    const auto* body = std::get_if<ProgramPtr>(&attribute.value);
    if (!body) continue;
    const Bound one = bound_of(**body);
    most = {std::max(most.steps, one.steps), std::max(most.work, one.work)};
    sum = {sum.steps + one.steps, sum.work + one.work};
  }
  const std::string& name = step.primitive.name;
  if (name == "checkpoint") return {2 * most.steps, 2 * most.work};
  return name == "cond" ? most : sum;
}

struct Repeated {
  double times = 1;
  /// Elements that pass from iteration to iteration.
  double handed_over = 0;
};

/// A loop stacks the residuals of each iteration, at most what its body works, and writes and reads
/// them; carries and the cotangents of constants pass through each.
Repeated repeated_by(const Program& program, const Step& step) {
  const std::string& name = step.primitive.name;
  if (name != "scan" && name != "while") return {};
  const auto iterations =
      static_cast<double>(step.attributes.integer(name == "scan" ? "length" : "bound"));
  Repeated repeated{3 * iterations + 1, 0};
  for (Slot slot : step.operands)
    repeated.handed_over += iterations * static_cast<double>(program.type(slot).size());
  for (std::uint32_t r = 0; r < step.result_count; ++r) {
    repeated.handed_over +=
        iterations * static_cast<double>(program.type(step.first_result + r).size());
  }
  return repeated;
}

/// Σ factor · own cost over all steps. A call runs for nothing but hands over its operands, whose
/// cotangents come back and are added to others; that counts as reading them.
Bound bound_of(const Program& program) {
  Bound sum;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    const double factor = stated_factor(program, step);
    sum.steps += factor * own_steps(step);
    if (!step.primitive.call_derivative) {
      sum.work += factor * static_cast<double>(cost(program, step).work);
      continue;
    }
    for (Slot slot : step.operands)
      sum.work += factor * static_cast<double>(program.type(slot).size());
    const Bound inside = bound_inside(step);
    const Repeated repeated = repeated_by(program, step);
    sum.steps += inside.steps * repeated.times;
    sum.work += inside.work * repeated.times + factor * repeated.handed_over;
  }
  return sum;
}

/// x…, ct… ↦ y…, x̄…: what value_and_gradient is, for any results.
Program value_and_pullback(const Program& f) {
  std::vector<bool> wanted;
  for (const TensorType& type : f.output_types()) wanted.push_back(type.dtype.is_float());
  const Linearization lin = linearize(f, std::vector<bool>(f.inputs().size(), true), &wanted);
  std::vector<bool> linear(lin.residual_count, false);
  linear.resize(lin.linear.inputs().size(), true);
  const Program pullback = transpose(lin.linear, linear);
  Builder builder;
  std::vector<Slot> inputs;
  for (std::size_t i = 0; i < f.inputs().size(); ++i)
    inputs.push_back(builder.add_input(f.input_types()[i], f.input_names()[i]));
  std::vector<Slot> cotangents;
  for (const TensorType& type : lin.linear.output_types())
    cotangents.push_back(builder.add_input(type, "ct" + std::to_string(cotangents.size())));
  std::vector<Slot> primal = builder.append_program(lin.primal, inputs);
  std::vector<Slot> outputs(primal.begin(),
                            primal.begin() + static_cast<std::ptrdiff_t>(f.outputs().size()));
  std::vector<Slot> operands(primal.begin() + static_cast<std::ptrdiff_t>(f.outputs().size()),
                             primal.end());
  operands.insert(operands.end(), cotangents.begin(), cotangents.end());
  for (Slot slot : builder.append_program(pullback, operands)) outputs.push_back(slot);
  return std::move(builder).finish(std::move(outputs), {});
}

/// What the gradients that are zeros cost: a step, and an element for each of theirs, whatever the
/// function is.
Cost cost_of_zeros(const Program& both, std::size_t values) {
  Cost zeros;
  std::set<std::uint32_t> seen;
  for (std::size_t i = values; i < both.outputs().size(); ++i) {
    const std::uint32_t step = both.definition(both.outputs()[i]);
    if (step == Program::is_none || !seen.insert(step).second ||
        both.step(step).primitive.name != "constant")
      continue;
    zeros += cost(both, both.step(step));
  }
  return zeros;
}

/// The largest factors measured for a primitive alone, over shapes of 8 elements or more and
/// extents up to 16.
struct Measured {
  double steps = 0;
  double work = 0;
  std::string program;
};

Measured measure(const Primitive& p) {
  Measured most;
  std::vector<Dtype> dtypes;
  for (Dtype dtype : {f64, i32, bool_, u32}) {
    if (p.dtypes.contains(dtype)) dtypes.push_back(dtype);
  }
  Choices choices(2718);
  for (int attempt = 0; attempt < 400; ++attempt) {
    Shape shape = random_shape(choices.one_in(2) ? SizeClass::large : SizeClass::odd, choices);
    if (element_count(shape) < 8 ||
        std::any_of(shape.begin(), shape.end(), [](std::int64_t n) { return n > 16; }))
      continue;
    // Extents of 16 are what factors that grow with the logarithm are stated for.
    if (attempt % 8 == 0) shape = {16};
    if (attempt % 8 == 1) shape = {16, 5};
    const auto random = single_step(p, dtypes[0][shape], {.domain = Domain::tame}, choices);
    if (!random) continue;
    const Program f = random->program();
    if (f.step_count() != 1 || &f.step(0).primitive != &p) continue;
    const Program both = value_and_pullback(f);
    const Cost own = cost(f);
    if (own.work < 8) continue;
    const Cost zeros = cost_of_zeros(both, f.outputs().size());
    const double levels = stated_factor(f, f.step(0)) / p.cost_factor;
    const double work =
        static_cast<double>(cost(both).work - zeros.work) / static_cast<double>(own.work) / levels;
    const auto steps = static_cast<double>(std::max(static_cast<std::int64_t>(both.steps_built()),
                                                    cost(both).steps) -
                                           zeros.steps) /
                       own_steps(f.step(0)) / levels;
    most.steps = std::max(most.steps, steps);
    if (work > most.work) {
      most.work = work;
      most.program = text_of(*random);
    }
  }
  return most;
}

TEST(CostLaw, every_primitive_keeps_the_factor_that_it_states) {
  std::printf("%-22s %8s %8s %8s\n", "primitive", "stated", "steps", "work");
  for (const Primitive* p : standard_primitives().all()) {
    if (p->call_derivative || only_raises(*p))
      continue;  // their factor is that of the steps inside
    const Measured most = measure(*p);
    // A factor of one or two is right for what does not vary, however little it costs.
    const double highest = std::max({most.steps, most.work, 1.0});
    const bool too_small = p->cost_factor < std::max(most.steps, most.work);
    const bool too_large = p->cost_factor > 2.5 * highest;
    std::printf("%-22s %8.1f %8.1f %8.2f%s\n", p->name.c_str(), p->cost_factor, most.steps,
                most.work,
                too_small   ? "  TOO SMALL"
                : too_large ? "  TOO LARGE"
                            : "");
    EXPECT_FALSE(too_small) << p->name << " states " << p->cost_factor << ", measured " << highest
                            << "\n"
                            << most.program;
    EXPECT_FALSE(too_large) << p->name << " states " << p->cost_factor << ", measured at most "
                            << highest;
  }
}

TEST(CostLaw, add_mul_and_sin_cost_at_most_four_times) {
  for (const char* name : {"add", "mul", "sin"}) {
    const Primitive& p = standard_primitives().find(name);
    EXPECT_LE(p.cost_factor, 4) << name;
    const Measured most = measure(p);
    EXPECT_LE(most.work, 4) << name;
    EXPECT_LE(most.steps, 4) << name;
  }
}

/// Σ of all float results: a function of rank 0.
Program scalar_program(const RandomProgram& random) {
  Capture capture(Location::current());
  Tensors arguments;
  for (const Tensor& x : random.inputs)
    arguments.push_back(capture.input(x.type(), "x" + std::to_string(arguments.size())));
  Tensor total = full({}, 0.0);
  for (const Tensor& y : floats_of(random(arguments))) total = total + sum(y.astype(f64));
  return capture.finish(std::vector{total}, {}, Location::current()).program;
}

std::string keeps_the_cost_law(const RandomProgram& random, Choices&) {
  const Program f = scalar_program(random);
  const Program both =
      value_and_gradient(f, std::vector<bool>(f.inputs().size(), true), Location::current());
  Bound bound = bound_of(f);
  bound.steps += 1;
  bound.work += 1;
  // The gradient of an input that nothing depends on is a zero for each element.
  for (const TensorType& type : f.input_types()) {
    bound.steps += 1;
    bound.work += static_cast<double>(type.size());
  }
  const Cost measured = cost(both);
  const auto exceeded = [&](const char* what, double got, double most) {
    return got <= most ? std::string()
                       : std::string(what) + ": " + to_string(got) + " > " + to_string(most) +
                             "\n" + to_text(f) + to_text(both);
  };
  std::string wrong = exceeded("steps built", static_cast<double>(both.steps_built()), bound.steps);
  wrong += exceeded("steps", static_cast<double>(measured.steps), bound.steps);
  wrong += exceeded("work", static_cast<double>(measured.work), bound.work);
  return wrong;
}

TEST(CostLaw, the_cost_law) {
  for_random_programs("the_cost_law", 9000, 24, {.domain = Domain::tame}, keeps_the_cost_law);
  for_random_programs("the_cost_law, of smooth programs", 4500, 30, {.domain = Domain::smooth},
                      keeps_the_cost_law);
  // Each value is used many times, and every use adds to one cotangent.
  const Wish dense{
      .domain = Domain::tame,
      .primitives = {"sin", "mul", "add", "sub", "exp", "tanh", "max", "select", "neg"},
      .max_size = 20};
  for_random_programs("the_cost_law, of elementwise steps", 4500, 30, dense, keeps_the_cost_law);
}

TEST(CostLaw, n_fold_doubling_has_work_n) {
  constexpr std::int64_t n = 1000;
  const auto doubled = [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x = x + x;
    return x;
  };
  const Program f = program(doubled, f64[{}]);
  EXPECT_EQ(cost(f).steps, n);
  EXPECT_EQ(cost(f).work, 3 * n);
  EXPECT_EQ(cost(f).by_primitive.at("add"), 3 * n);
  const Program both = value_and_gradient(f, {true}, Location::current());
  EXPECT_LE(both.steps_built(), 2 * n + 1);
  EXPECT_LE(cost(both).work, 6 * n + 1);
  // And of the gradient's gradient.
  const Program twice = program(grad(grad([&](Tensor x) { return doubled(x) * x; })), f64[{}]);
  EXPECT_LE(cost(twice).steps, 40 * n);
}

TEST(CostLaw, cost_counts_called_programs_as_often_as_they_are_called) {
  const auto twice = named("twice", [](Tensor x) { return x + x; });
  const Program f = program([&](Tensor x) { return twice(twice(x)); }, f64[{4}]);
  EXPECT_EQ(cost(f).steps, 4);
  EXPECT_EQ(cost(f).work, 24);
  const auto branches = [](Tensor c, Tensor x) {
    return cond(c, [](Tensor t) { return sin(cos(t)); }, [](Tensor t) { return -t; }, x);
  };
  EXPECT_EQ(cost(program(branches, bool_[{}], f64[{4}])).steps, 3);
  EXPECT_EQ(cost(program(branches, bool_[{}], f64[{4}])).work, 1 + 16);
  EXPECT_EQ(cost(program([](Tensor x) { return x; }, f64[{4}])).work, 0);
  EXPECT_EQ(cost(program([](Tensor x) { return x * 3.0; }, f64[{4}])).work, 4 + 12);
}

// ---- what is written when gradients run ----

/// Counts the elements that steps write: those of the update where a result is updated in place.
class Counting : public Executor {
 public:
  TensorList execute(const Invocation& step, TensorList operands) override {
    std::vector<const Buffer*> buffers;
    std::vector<std::int64_t> sizes;
    for (const Tensor& x : operands) {
      buffers.push_back(x.array().buffer.get());
      sizes.push_back(x.size());
    }
    TensorList results = default_executor().execute(step, std::move(operands));
    for (const Tensor& y : results) {
      const bool in_place = !buffers.empty() && y.array().buffer.get() == buffers[0];
      const std::string& name = step.primitive.name;
      const bool is_update =
          name == "update_slice" || name == "dynamic_update_slice" || name == "scatter";
      const bool is_uniform =
          name == "constant" || name == "broadcast_in_dim";  // a view of one element
      written += is_uniform              ? 1
                 : is_update && in_place ? sizes[name == "scatter" ? 2 : 1]
                                         : y.size();
      in_place_updates += is_update && in_place;
      updates += is_update;
    }
    return results;
  }
  std::int64_t written = 0;
  std::int64_t updates = 0;
  std::int64_t in_place_updates = 0;
};

template <class F>
Counting counted(F&& f) {
  Counting counting;
  const ExecutorScope scope(counting);
  f();
  return counting;
}

Tensor sum_of_elements(const Tensor& x) {
  Tensor total = x(0);
  for (std::int64_t i = 1; i < x.extent(0); ++i) total = total + x(i);
  return total;
}

Tensor sum_of_gathered(const Tensor& x) {
  Tensor total = full({}, 0.0);
  for (std::int64_t i = 0; i < x.extent(0); ++i)
    total = total + sum(gather(x, reshape(Tensor(i), {1, 1}), {0}));
  return total;
}

Tensor sum_of_windows(const Tensor& x) {
  Tensor total = full({}, 0.0);
  for (std::int64_t i = 0; i < x.extent(0); ++i)
    total = total + sum(dynamic_slice(x, reshape(Tensor(i), {1}), {1}));
  return total;
}

TEST(CostLaw, n_reads_of_single_elements_cost_n) {
  using Read = Tensor (*)(const Tensor&);
  for (const auto& [name, read] : {std::pair<const char*, Read>{"x(i)", sum_of_elements},
                                   {"gather", sum_of_gathered},
                                   {"dynamic_slice", sum_of_windows}}) {
    const auto of_input = [read = read](Tensor x) { return read(x); };
    const auto of_value = [read = read](Tensor x) { return read(sin(x)); };
    for (std::int64_t n : {100, 400}) {
      const Tensor x = arange(n, f64) * 0.01;
      const Tensor ct = Tensor(1.0);
      for (const auto& [way, count] :
           {std::pair{"grad of an input", counted([&] { grad(of_input)(x); })},
            {"grad of a value", counted([&] { grad(of_value)(x); })},
            {"vjp", counted([&] { vjp(of_value)(x).second(ct); })}}) {
        EXPECT_LE(count.written, 16 * n) << name << ", " << way << ", n = " << n;
        EXPECT_EQ(count.updates, n) << name << ", " << way;
        // The first of them makes the accumulator.
        EXPECT_GE(count.in_place_updates, n - 1) << name << ", " << way;
      }
    }
    EXPECT_EQ(grad(of_input)(tensor({1.0, 2.0})).to_vector(), (std::vector{1.0, 1.0})) << name;
  }
}

TEST(CostLaw, n_updates_and_their_gradient_cost_n) {
  using Update = Tensor (*)(const Tensor&, std::int64_t);
  const std::pair<const char*, Update> updates[] = {
      {"set", [](const Tensor& x, std::int64_t i) { return x.at(i).set(2.0 * x(-1 - i)); }},
      {"add", [](const Tensor& x, std::int64_t i) { return x.at(i).add(x(-1 - i)); }},
      {"mul", [](const Tensor& x, std::int64_t i) { return x.at(i).mul(x(-1 - i)); }},
      {"max", [](const Tensor& x, std::int64_t i) { return x.at(i).max(x(-1 - i)); }},
      {"computed set", [](const Tensor& x, std::int64_t i) { return x.at(Tensor(i)).set(x(0)); }},
      {"computed mul", [](const Tensor& x, std::int64_t i) { return x.at(Tensor(i)).mul(x(0)); }},
      {"computed twice, add",
       [](const Tensor& x, std::int64_t i) { return x.at(tensor({i, i})).add(x(Range{0, 2})); }}};
  for (const auto& [name, update] : updates) {
    const auto f = [update = update](Tensor x) {
      for (std::int64_t i = 0; i < x.extent(0); ++i) x = update(x, i);
      return sum(sin(x));
    };
    for (std::int64_t n : {100, 400}) {
      const Tensor x = arange(n, f64) * 0.01;
      const Program value = program(f, x);
      EXPECT_LE(counted([&] { evaluate(value, {x}); }).written, 32 * n) << name << ", n = " << n;
      EXPECT_LE(counted([&] { grad(f)(x); }).written, 128 * n) << name << ", n = " << n;
    }
  }
}

TEST(CostLaw, an_update_in_place_never_reaches_another_owner) {
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const Tensor y = update_slice(x, full({1}, 5.0), {1}, {1}, Combine::add);
  EXPECT_EQ(x.to_vector(), (std::vector{1.0, 2.0, 3.0}));
  EXPECT_EQ(y.to_vector(), (std::vector{1.0, 7.0, 3.0}));
  const Tensor seed = tensor({0.0, 0.0, 0.0});
  const Program f =
      program([](Tensor a, Tensor u) { return update_slice(a, u, {0}, {1}, Combine::add); },
              f64[{3}], f64[{1}]);
  EXPECT_EQ(evaluate(f, {seed, tensor({4.0})})[0].to_vector(), (std::vector{4.0, 0.0, 0.0}));
  EXPECT_EQ(seed.to_vector(), (std::vector{0.0, 0.0, 0.0}));
}

}  // namespace
}  // namespace hom::laws
