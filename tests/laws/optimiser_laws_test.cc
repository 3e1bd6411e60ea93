// tests/laws/optimiser_laws_test.cc -- laws of the optimiser: each pass, and all of them, keep what
// a program computes
//
// Without `reassociate` results are equal bit for bit (NaN equals NaN), for values that include
// NaN, infinities, −0 and the ends of the integers; with it, within a bound for tame values.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <hom/backends/optimise/everywhere.h>
#include <hom/backends/optimise/optimise.h>
#include <hom/hom.h>
#include <hom/tests/laws/lanes.h>

namespace hom::laws {
namespace {

// The bits of a NaN depend on how it was made.
const Wish wild{.domain = Domain::wild, .without = {"bitcast"}};

/// Few kinds of steps on literals, so that rules meet.
Wish wish_of(std::vector<std::string> primitives) {
  return {.domain = Domain::wild,
          .primitives = std::move(primitives),
          .simplifiable = true,
          .max_size = 40};
}
const std::vector<std::string> elementwise{
    "neg",          "abs", "sign",      "add",        "sub",         "mul",   "div",
    "pow",          "max", "min",       "scale",      "select",      "not",   "and",
    "or",           "xor", "constant",  "convert",    "round",       "floor", "ceil",
    "eq",           "ne",  "lt",        "le",         "gt",          "ge",    "rem",
    "sqrt",         "exp", "is_finite", "shift_left", "shift_right", "iota",  "broadcast_in_dim",
    "stop_gradient"};
const std::vector<std::string> views{"reshape",      "transpose",  "broadcast_in_dim",
                                     "slice",        "pad",        "concat",
                                     "update_slice", "neg",        "add",
                                     "reduce_sum",   "reduce_max", "reduce_prod",
                                     "reduce_and",   "reduce_or",  "iota",
                                     "constant",     "reduce_min"};
const std::vector<std::string> reads{
    "gather",       "scatter", "dynamic_slice", "dynamic_update_slice",
    "update_slice", "slice",   "iota",          "eq",
    "select",       "convert", "reduce_sum",    "broadcast_in_dim",
    "reshape",      "constant"};
const std::vector<std::string> products{
    "dot_general", "transpose", "broadcast_in_dim", "reshape", "constant", "mul", "add"};
const std::vector<std::string> programs{
    "call", "cond", "scan", "while", "custom_jvp",       "custom_vjp", "checkpoint",   "composite",
    "add",  "mul",  "sin",  "slice", "broadcast_in_dim", "constant",   "custom_linear"};

/// Steps that compute something: neither leaves nor views, which cost nothing, nor calls, which
/// cost what they call. Programs inside count once for each step that has them. `most` counts for a
/// step the most that rules make of it: a product and a sum of a contraction of one term, a clamp
/// and a conversion of a gather, a gather, its indices and a sum of a masked sum.
std::size_t computing_steps(const Program& program, bool most = false) {
  static const std::map<std::string, std::size_t> growing{
      {"dot_general", 2}, {"gather", 3}, {"reduce_sum", 2}};
  static const std::set<std::string> free{"constant", "captured",     "iota",  "broadcast_in_dim",
                                          "reshape",  "transpose",    "slice", "call",
                                          "barrier",  "stop_gradient"};
  std::map<const Program*, std::size_t> known;
  const auto count = [&](const Program& p) {
    std::size_t steps = 0;
    for (std::size_t i = 0; i < p.step_count(); ++i) {
      const Step step = p.step(i);
      const auto found = growing.find(step.primitive.name);
      steps += most && found != growing.end() ? found->second : !free.contains(step.primitive.name);
      for (const auto& [name, attribute] : step.attributes) {
        if (const auto* inside = std::get_if<ProgramPtr>(&attribute.value))
          steps += known.at(inside->get());
      }
    }
    return steps;
  };
  for (const ProgramPtr& inside : optimiser::programs_inside(program))
    known[inside.get()] = count(*inside);
  return count(program);
}

std::string difference_in_signature(const Program& got, const Program& want) {
  if (got.input_types() != want.input_types()) return "types of inputs differ";
  if (got.output_types() != want.output_types()) return "types of outputs differ";
  if (got.input_names() != want.input_names()) return "names of inputs differ";
  if (got.name() != want.name()) return "names differ";
  if (!(got.domain() == want.domain()) || !(got.codomain() == want.codomain()))
    return "domains or codomains differ";
  return "";
}

/// Every line that a step of the optimised program names is one of the original.
std::string foreign_line(const Program& got, const Program& want) {
  const auto lines = [](const Program& program) {
    std::set<std::string> all;
    const auto add = [&](const Program& p) {
      for (std::size_t i = 0; i < p.step_count(); ++i) all.insert(to_string(p.step(i).at));
    };
    add(program);
    for (const ProgramPtr& inside : optimiser::programs_inside(program)) add(*inside);
    return all;
  };
  const std::set<std::string> known = lines(want);
  for (const std::string& line : lines(got)) {
    if (!known.contains(line)) return "a step names " + line;
  }
  return "";
}

/// The optimised program equals the original on these inputs, and wherever that does not raise.
std::string same_results(const Program& optimised, const Program& program, const Tensors& inputs,
                         Choices& choices) {
  if (std::string wrong =
          difference_in_bits(evaluate(optimised, inputs), evaluate(program, inputs));
      !wrong.empty())
    return wrong;
  for (int i = 0; i < 2; ++i) {
    Tensors others;
    for (const TensorType& type : program.input_types())
      others.push_back(random_tensor(type, Domain::wild, choices));
    Tensors want;
    try {
      want = evaluate(program, others);
    } catch (const Error&) {
      continue;
    }
    if (std::string wrong = difference_in_bits(evaluate(optimised, others), want); !wrong.empty())
      return "at other inputs: " + wrong;
  }
  return "";
}

/// The laws of one pass, or of all, on one program.
std::string laws_of(const std::string& name, const Program& optimised, const Program& program,
                    const Tensors& inputs, Choices& choices) {
  std::string wrong = difference_in_signature(optimised, program);
  if (wrong.empty()) wrong = foreign_line(optimised, program);
  if (wrong.empty()) wrong = same_results(optimised, program, inputs, choices);
  return wrong.empty() ? "" : name + ": " + wrong + "\nto\n" + to_text(optimised);
}

/// The steps of calls inside, so that counts can be compared.
Program called_inline(const Program& program) {
  return pass_named("inline_calls").run(program, {});
}

std::string passes_keep_bits(const Program& program, const Tensors& inputs, Choices& choices) {
  const Program flat = called_inline(program);
  for (const Pass& pass : standard_passes()) {
    for (const Program* p : {&program, &flat}) {
      const Program after = pass.run(*p, {});
      if (std::string wrong = laws_of(pass.name, after, *p, inputs, choices); !wrong.empty())
        return wrong;
      if (p == &flat && computing_steps(after) > computing_steps(flat, true))
        return pass.name + ": more steps than before\n" + to_text(after);
    }
  }
  const Program optimised = optimise(program);
  if (std::string wrong = laws_of("all passes", optimised, program, inputs, choices);
      !wrong.empty())
    return wrong;
  if (computing_steps(optimised) > computing_steps(flat, true))
    return "all passes: more steps than before\n" + to_text(optimised);
  if (!(optimise(optimised) == optimised))
    return "optimised twice, it changes again:\n" + to_text(optimised) + "to\n" +
           optimisation_report(optimised) + to_text(optimise(optimised));
  return "";
}

std::string keeps_bits(const RandomProgram& random, Choices& choices) {
  const std::string wrong = passes_keep_bits(random.program(), random.inputs, choices);
  if (!wrong.empty() || choices.one_in(3) == 0) return wrong;
  return passes_keep_bits(random.program_as_it_stands(), random.inputs, choices);
}

TEST(Laws, every_pass_keeps_the_bits_of_every_primitive) {
  for (const Primitive* p : standard_primitives().all()) {
    if (only_raises(*p) || p->name == "bitcast") continue;
    for (Dtype dtype : all_dtypes) {
      if (!p->dtypes.contains(dtype)) continue;
      Choices choices(run_seed() * 6007 + static_cast<std::uint64_t>(dtype.id));
      int found = 0;
      for (int attempt = 0; attempt < 50 && found < 3 * case_factor(); ++attempt) {
        const SizeClass size = all_size_classes[attempt % 5];
        const auto program = single_step(*p, dtype[random_shape(size, choices)], wild, choices);
        if (!program || program->lines.back().primitive != p) continue;
        ++found;
        ASSERT_EQ(passes_keep_bits(program->program(), program->inputs, choices), "")
            << text_of(*program);
      }
    }
  }
}

TEST(Laws, every_pass_keeps_bits) {
  for_random_programs("every_pass_keeps_bits", 1200, 20, wild, keeps_bits);
}
TEST(Laws, every_pass_keeps_bits_of_elementwise_steps) {
  for_random_programs("every_pass_keeps_bits, elementwise", 4000, 24, wish_of(elementwise),
                      keeps_bits);
}
TEST(Laws, every_pass_keeps_bits_of_views) {
  for_random_programs("every_pass_keeps_bits, views", 3000, 16, wish_of(views), keeps_bits);
}
TEST(Laws, every_pass_keeps_bits_of_reads) {
  for_random_programs("every_pass_keeps_bits, reads", 2000, 16, wish_of(reads), keeps_bits);
}
TEST(Laws, every_pass_keeps_bits_of_products) {
  for_random_programs("every_pass_keeps_bits, products", 2000, 12, wish_of(products), keeps_bits);
}
TEST(Laws, every_pass_keeps_bits_of_programs_inside) {
  Wish wish{.domain = Domain::wild, .primitives = programs, .simplifiable = true, .depth = 3};
  for_random_programs("every_pass_keeps_bits, programs inside", 1500, 12, wish, keeps_bits);
}

TEST(Laws, optimising_keeps_the_bits_of_derivatives) {
  const auto law = [](const RandomProgram& random, Choices& choices) -> std::string {
    const Program captured = random.program();
    const LinearAtPoint derivative = derivative_at(captured, random.inputs);
    const LinearAtPoint pullback = derivative.transposed();
    for (const LinearAtPoint* linear : {&derivative, &pullback}) {
      Tensors inputs = linear->residuals;
      for (Tensor& x : random_like(linear->domain(), choices)) inputs.push_back(std::move(x));
      if (std::string wrong = passes_keep_bits(linear->program, inputs, choices); !wrong.empty())
        return wrong + "from\n" + to_text(linear->program);
    }
    return "";
  };
  Wish tame = wild;
  tame.domain = Domain::tame;
  for_random_programs("optimising_keeps_the_bits_of_derivatives", 800, 16, tame, law);
  tame.primitives = programs;
  for_random_programs("optimising_keeps_the_bits_of_derivatives, programs inside", 500, 10, tame,
                      law);
}

TEST(Laws, optimising_keeps_the_bits_of_batches) {
  const auto law = [](const RandomProgram& random, Choices& choices) -> std::string {
    const Example one{random.program(), random.inputs};
    if (one.inputs.empty()) return "";
    const Mask batched = random_mask(one.inputs.size(), choices);
    const std::int64_t size = choices.among(lane_counts);
    const BatchedProgram many = batch(one.program, batched, size);
    const Tensors inputs = stacked(random_lanes(one, batched, size, choices), one.inputs, batched);
    const std::string wrong = passes_keep_bits(many.program, inputs, choices);
    return wrong.empty() ? "" : wrong + "from\n" + to_text(many.program);
  };
  for_random_programs("optimising_keeps_the_bits_of_batches", 800, 16, wild, law);
}

TEST(Laws, reassociating_stays_within_rounding_errors) {
  const auto law = [](const RandomProgram& random, Choices&) -> std::string {
    const Program program = random.program();
    const OptimiseOptions options{.reassociate = true};
    const Tensors want = evaluate(program, random.inputs);
    for (const Tensor& x : want) {
      if (!all_of(is_finite(x.astype(f64))).item<bool>()) return "";
    }
    // Smooth programs are well-conditioned at these values: a hundred roundings are enough for all
    // of some ten thousand of them.
    const double bound = 1000 * coarsest_epsilon(program);
    for (const Pass& pass : standard_passes()) {
      const Program after = pass.run(program, options);
      if (std::string wrong = difference(evaluate(after, random.inputs), want, bound);
          !wrong.empty())
        return pass.name + ": " + wrong + "\nto\n" + to_text(after);
    }
    const Program after = optimise(program, options);
    if (!(optimise(after, options) == after))
      return "optimised twice, it changes again:\n" + to_text(after) + "to\n" +
             optimisation_report(after, options);
    const std::string wrong = difference(evaluate(after, random.inputs), want, bound);
    return wrong.empty() ? "" : "all passes: " + wrong + "\nto\n" + to_text(after);
  };
  Wish smooth{.domain = Domain::smooth, .simplifiable = true};
  for_random_programs("reassociating_stays_within_rounding_errors", 1500, 16, smooth, law);
  smooth.primitives = {"add",        "sub",        "mul",      "div",         "neg",
                       "exp",        "log",        "sqrt",     "pow",         "log1p",
                       "reduce_sum", "reduce_max", "constant", "dot_general", "broadcast_in_dim",
                       "transpose",  "reshape"};
  for_random_programs("reassociating_stays_within_rounding_errors, of arithmetic", 3000, 20, smooth,
                      law);
}

}  // namespace
}  // namespace hom::laws
