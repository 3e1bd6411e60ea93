// tests/laws/evaluation_laws_test.cc -- what every way of running a program has in common: the bits
// of its results
//
// Values include NaN, infinities, −0 and the ends of the integers; dtypes are all of them.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

const Wish wild{.domain = Domain::wild};

std::string same_on_other_layouts(const RandomProgram& program, Choices& choices) {
  const Tensors want = program(program.inputs);
  Tensors elsewhere;
  for (const Tensor& x : program.inputs) elsewhere.push_back(in_random_layout(x, choices));
  if (std::string wrong = difference_in_bits(elsewhere, program.inputs); !wrong.empty())
    return "the test's own layout: " + wrong;
  if (std::string wrong = difference_in_bits(program(elsewhere), want); !wrong.empty())
    return "eager: " + wrong;
  return difference_in_bits(evaluate(program.program(), elsewhere), want);
}

std::string same_eager_as_program(const RandomProgram& program, Choices&) {
  return difference_in_bits(evaluate(program.program(), program.inputs), program(program.inputs));
}

std::string same_every_time(const RandomProgram& program, Choices&) {
  const Program captured = program.program();
  const Tensors want = evaluate(captured, program.inputs);
  const Program again = program.program();
  // What is computed from the closure alone is computed at capture, into new arrays.
  const bool closed = std::none_of(program.lines.begin(), program.lines.end(),
                                   [](const auto& line) { return !line.closure.is_empty(); });
  if (closed && (!(again == captured) || again.hash() != captured.hash()))
    return "captured twice, the programs differ";
  if (std::string wrong = difference_in_bits(evaluate(captured, program.inputs), want);
      !wrong.empty())
    return wrong;
  Tensors elsewhere;
  std::thread([&] { elsewhere = evaluate(captured, program.inputs); }).join();
  return difference_in_bits(elsewhere, want);
}

std::string inputs_are_left_alone(const RandomProgram& program, Choices&) {
  std::vector<std::vector<std::uint64_t>> before;
  for (const Tensor& x : program.inputs) before.push_back(bits_of(x));
  evaluate(program.program(), program.inputs);
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (bits_of(program.inputs[i]) != before[i])
      return "input " + std::to_string(i) + " has changed";
  }
  return "";
}

/// Every law above of one step.
std::string evaluation_laws(const RandomProgram& program, Choices& choices) {
  for (const auto& law :
       {same_on_other_layouts, same_eager_as_program, same_every_time, inputs_are_left_alone}) {
    if (std::string wrong = law(program, choices); !wrong.empty()) return wrong;
  }
  return "";
}

TEST(Laws, every_primitive_dtype_and_size_class_was_drawn) {
  std::set<std::tuple<std::string, Dtype::Id, SizeClass>> drawn;
  std::string undrawn;
  for (const Primitive* p : standard_primitives().all()) {
    if (only_raises(*p)) continue;
    for (Dtype dtype : all_dtypes) {
      if (!p->dtypes.contains(dtype)) continue;
      for (SizeClass size : all_size_classes) {
        Choices choices(run_seed() * 7919 + static_cast<std::uint64_t>(dtype.id) * 64 +
                        static_cast<std::uint64_t>(size));
        int found = 0;
        for (int attempt = 0; attempt < 200 && found < 2 * case_factor(); ++attempt) {
          const TensorType data = dtype[random_shape(size, choices)];
          const auto program = single_step(*p, data, wild, choices);
          if (!program || program->lines.back().primitive != p) continue;
          ++found;
          const std::string wrong = evaluation_laws(*program, choices);
          ASSERT_EQ(wrong, "") << text_of(*program);
          drawn.emplace(p->name, dtype.id, size);
        }
        // Bits of NaN are not compared, positions are no bool, and there is no axis in rank 0.
        const bool none = p->name == "iota" && dtype.is_bool();
        if (found == 0 && !none)
          undrawn += "\n  " + p->name + " " + to_string(dtype) + " " + name_of(size);
      }
    }
  }
  EXPECT_EQ(undrawn, "");
  EXPECT_GT(drawn.size(), 1000u);
}

TEST(Laws, evaluation_does_not_depend_on_layout) {
  for_random_programs("evaluation_does_not_depend_on_layout", 3200, 20, wild,
                      same_on_other_layouts);
}

TEST(Laws, eager_equals_program) {
  for_random_programs("eager_equals_program", 3200, 20, wild, same_eager_as_program);
}

TEST(Laws, eager_equals_program_for_every_named_function) {
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  const std::pair<const char*, Function> functions[] = {
      {"relu", [](const Tensor& x, const Tensor&) { return relu(x); }},
      {"log_sigmoid", [](const Tensor& x, const Tensor&) { return log_sigmoid(x); }},
      {"softplus", [](const Tensor& x, const Tensor&) { return softplus(x, 2); }},
      {"silu", [](const Tensor& x, const Tensor&) { return silu(x); }},
      {"gelu", [](const Tensor& x, const Tensor&) { return gelu(x); }},
      {"hypot", [](const Tensor& x, const Tensor& y) { return hypot(x, y); }},
      {"sinc", [](const Tensor& x, const Tensor&) { return sinc(x); }},
      {"square", [](const Tensor& x, const Tensor&) { return square(x); }},
      {"logsumexp", [](const Tensor& x, const Tensor&) { return logsumexp(x, 1, Keep::yes); }},
      {"logaddexp", [](const Tensor& x, const Tensor& y) { return logaddexp(x, y); }},
      {"logcumsumexp", [](const Tensor& x, const Tensor&) { return logcumsumexp(x, 1); }},
      {"softmax", [](const Tensor& x, const Tensor&) { return softmax(x); }},
      {"log_softmax", [](const Tensor& x, const Tensor&) { return log_softmax(x, 0); }},
      {"mean_squared_error",
       [](const Tensor& x, const Tensor& y) { return mean_squared_error(x, y); }},
      {"layer_norm", [](const Tensor& x, const Tensor&) { return layer_norm(x); }},
      {"batch_norm", [](const Tensor& x, const Tensor&) { return batch_norm(x); }},
      {"attention", [](const Tensor& x, const Tensor& y) { return attention(x, y, x); }},
      {"mean", [](const Tensor& x, const Tensor&) { return mean(x, 0); }},
      {"variance", [](const Tensor& x, const Tensor&) { return variance(x, 1); }},
      {"standard_deviation", [](const Tensor& x, const Tensor&) { return standard_deviation(x); }},
      {"norm", [](const Tensor& x, const Tensor&) { return norm(x, 1); }},
      {"max_or", [](const Tensor& x, const Tensor&) { return max_or(x, 0.5, 1); }},
      {"matmul", [](const Tensor& x, const Tensor& y) { return matmul(x, y.T()); }},
      {"outer", [](const Tensor& x, const Tensor& y) { return outer(x(0), y(1)); }},
      {"clamp", [](const Tensor& x, const Tensor& y) { return clamp(x, -1, y); }},
      {"remainder", [](const Tensor& x, const Tensor& y) { return x % y + x / 3 - 2 * y; }},
      {"roll", [](const Tensor& x, const Tensor&) { return roll(x, 1, 1); }},
      {"tril", [](const Tensor& x, const Tensor& y) { return tril(x) + triu(y, 1); }},
      {"diagonal", [](const Tensor& x, const Tensor&) { return diagonal(x); }},
      {"solve",
       [](const Tensor& x, const Tensor& y) {
         const Tensor wide = x.astype(f32);
         return solve(matmul(wide, wide.T()) + eye(3, f32), y.astype(f32));
       }},
      {"lstsq",
       [](const Tensor& x, const Tensor& y) { return lstsq(x.astype(f64), y.astype(f64)); }},
      {"determinant",
       [](const Tensor& x, const Tensor& y) { return determinant(matmul(x, y.T()).astype(f64)); }},
      {"slogdet",
       [](const Tensor& x, const Tensor& y) {
         const LogDeterminant logs = slogdet(matmul(x, y.T()).astype(f64));
         return logs.sign * logs.logarithm;
       }},
      {"expm", [](const Tensor& x, const Tensor& y) { return expm(matmul(x, y.T()).astype(f64)); }},
      {"matrix_power",
       [](const Tensor& x, const Tensor& y) {
         return matrix_power(matmul(x, y.T()).astype(f32), 5);
       }},
      {"matrix_norm",
       [](const Tensor& x, const Tensor&) { return matrix_norm(x.astype(f32), MatrixNorm::two); }},
      {"eigh",
       [](const Tensor& x, const Tensor& y) {
         const Eigh e = eigh(matmul(x, y.T()).astype(f64));
         return matmul(e.vectors, diagonal_matrix(e.values));
       }},
      {"indexing",
       [](const Tensor& x, const Tensor& y) {
         return x(Range{0, 2}, newaxis, Range{3, 0, -1}) + y(1, 2);
       }},
      {"take", [](const Tensor& x, const Tensor&) { return take(x, tensor({2, 0}), 1); }},
      {"stack", [](const Tensor& x, const Tensor& y) { return stack({x, y, 1.0}, -1); }},
  };
  for (const auto& [name, function] : functions) {
    Choices choices(run_seed());
    for (Dtype dtype : {f64, f32, f16, bf16}) {
      for (int i = 0; i < 6 * case_factor() && !HasNonfatalFailure(); ++i) {
        const Domain domain = i % 2 ? Domain::wild : Domain::tame;
        const Tensors x{random_tensor(dtype[{3, 4}], domain, choices),
                        random_tensor(dtype[{3, 4}], domain, choices)};
        const Program captured =
            program([f = function](Tensor a, Tensor b) { return f(a, b); }, x[0], x[1]);
        const Tensors want{function(x[0], x[1])};
        EXPECT_EQ(difference_in_bits(evaluate(captured, x), want), "")
            << name << " of " << x[0] << ", " << x[1];
        const Tensors elsewhere{in_random_layout(x[0], choices), in_random_layout(x[1], choices)};
        EXPECT_EQ(difference_in_bits(evaluate(captured, elsewhere), want), "")
            << name << " of another layout of " << x[0] << ", " << x[1];
      }
    }
  }
}

/// Keeps every operand, so that no step may write into one.
class Keeping : public Executor {
 public:
  TensorList execute(const Invocation& step, TensorList operands) override {
    for (const Tensor& x : operands) kept_.push_back(x);
    return default_executor().execute(step, std::move(operands));
  }

 private:
  Tensors kept_;
};

TEST(Laws, updates_in_place_change_nothing) {
  const auto law = [](const RandomProgram& random, Choices& choices) -> std::string {
    const Program captured = random.program();
    const LinearAtPoint derivative = derivative_at(captured, random.inputs);
    const LinearAtPoint pullback = derivative.transposed();
    const Tensors dx = random_like(derivative.domain(), choices);
    const Tensors ct = random_like(pullback.domain(), choices);
    const std::array in_place{evaluate(captured, random.inputs), derivative(dx), pullback(ct)};
    Keeping keeping;
    const ExecutorScope scope(keeping);
    const std::array kept{evaluate(captured, random.inputs), derivative(dx), pullback(ct)};
    for (std::size_t i = 0; i < kept.size(); ++i) {
      if (std::string wrong = difference_in_bits(in_place[i], kept[i]); !wrong.empty())
        return wrong;
    }
    return "";
  };
  for_random_programs("updates_in_place_change_nothing", 2400, 24, {.domain = Domain::tame}, law);
  const Wish updates{
      .domain = Domain::tame,
      .primitives = {"slice", "gather", "scatter", "dynamic_slice", "dynamic_update_slice",
                     "update_slice", "add", "reshape", "transpose", "neg", "call"}};
  for_random_programs("updates_in_place_change_nothing, of reads and writes", 2400, 30, updates,
                      law);
}

TEST(Laws, evaluation_is_deterministic) {
  for_random_programs("evaluation_is_deterministic", 1600, 20, wild, same_every_time);
}

TEST(Laws, evaluation_leaves_its_inputs_alone) {
  for_random_programs("evaluation_leaves_its_inputs_alone", 3200, 20, wild, inputs_are_left_alone);
}

TEST(Laws, random_programs_are_not_trivial) {
  std::map<std::string, int> count;
  std::size_t steps = 0;
  for_random_programs("random_programs_are_not_trivial", 2400, 20, wild,
                      [&](const RandomProgram& program, Choices&) {
                        for (const RandomProgram::Line& line : program.lines)
                          count[line.primitive ? line.primitive->name : "input"] += 1;
                        steps += program.program().step_count();
                        return "";
                      });
  EXPECT_GT(steps, 1000u);
  for (const Primitive* p : standard_primitives().all())
    EXPECT_GT(count[p->name] + only_raises(*p), 0) << p->name;
}

TEST(Laws, finish_keeps_meaning) {
  for_random_programs("finish_keeps_meaning", 2400, 20, wild,
                      [](const RandomProgram& program, Choices& choices) -> std::string {
                        std::vector<std::size_t> everything;
                        for (std::size_t i = 0; i < program.types.size(); ++i)
                          everything.push_back(i);
                        const Program whole = program.program(everything);
                        const Tensors all = evaluate(whole, program.inputs);
                        std::vector<std::size_t> some;
                        Tensors want;
                        for (std::size_t i : everything) {
                          if (choices.one_in(4)) {
                            some.push_back(i);
                            want.push_back(all[i]);
                          }
                        }
                        const Program part = program.program(some);
                        if (part.step_count() > whole.step_count())
                          return "fewer outputs need more steps";
                        std::vector<bool> used(part.slot_count());
                        for (Slot slot : part.outputs()) used[slot] = true;
                        for (std::size_t i = 0; i < part.step_count(); ++i) {
                          for (Slot slot : part.step(i).operands) used[slot] = true;
                        }
                        for (std::size_t i = 0; i < part.step_count(); ++i) {
                          bool live = false;
                          for (std::uint32_t r = 0; r < part.step(i).result_count; ++r)
                            live = live || used[part.step(i).first_result + r];
                          if (!live)
                            return "a dead step of " + part.step(i).primitive.name + " is left";
                        }
                        return difference_in_bits(evaluate(part, program.inputs), want);
                      });
}

/// Without what stands for tensors of the closure: a step that has no other operands is computed
/// where it is captured, and leaves one for each of its results.
std::size_t computed_steps(const Program& program) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < program.step_count(); ++i)
    count += program.step(i).primitive.name != "captured";
  return count;
}

std::string same_without_simplification(const RandomProgram& program, Choices&) {
  const Program plain = program.program_as_it_stands();
  const Program simplified = program.program();
  if (computed_steps(simplified) > computed_steps(plain)) return "simplification has made steps";
  const Tensors want = evaluate(plain, program.inputs);
  if (std::string wrong = difference_in_bits(program(program.inputs), want); !wrong.empty())
    return "eager: " + wrong;
  return difference_in_bits(evaluate(simplified, program.inputs), want);
}

TEST(Laws, building_simplifications_keep_bits) {
  Wish wish = wild;
  for_random_programs("building_simplifications_keep_bits", 3200, 24, wish,
                      same_without_simplification);
  // Few kinds of steps on literals, so that they meet.
  wish.simplifiable = true;
  wish.max_size = 20;
  wish.primitives = {"neg",     "abs",   "add",      "sub",     "mul",       "div",
                     "pow",     "max",   "min",      "scale",   "select",    "not",
                     "and",     "or",    "constant", "reshape", "transpose", "broadcast_in_dim",
                     "convert", "slice", "round",    "floor",   "ceil",      "eq",
                     "rem"};
  for_random_programs("building_simplifications_keep_bits, with literals", 12000, 24, wish,
                      same_without_simplification);
  wish.primitives = {"reshape", "transpose", "broadcast_in_dim", "slice", "convert"};
  for_random_programs("building_simplifications_keep_bits, of views", 2400, 24, wish,
                      same_without_simplification);
}

}  // namespace
}  // namespace hom::laws
