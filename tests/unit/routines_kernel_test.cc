// tests/unit/routines_kernel_test.cc -- steps by their eager kernels, on memory of a plan
//
// Programs of the user's run eagerly on an executor that computes each step twice: by the eager
// kernel, which is the oracle, and by the step's routine.
#include <set>
#include <thread>

#include "routines_support.h"

#include <hom/hom.h>

namespace hom::testing {
namespace {

class BothWays final : public Executor {
 public:
  TensorList execute(const Invocation& step, TensorList operands) override {
    std::vector<nest::Layout> layouts;
    std::vector<const std::byte*> pointers;
    TensorList laid_out;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      Tensor x = operands[i];
      nest::Layout layout{x.type(), x.array().strides};
      if (!cpu::takes_layout(step, i, layout)) {
        x = row_major(x);
        layout.strides = x.array().strides;
      }
      layouts.push_back(layout);
      pointers.push_back(cpu::first_byte(x.array()));
      laid_out.push_back(std::move(x));
    }
    const auto routine = cpu::routine_for(step, layouts);
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<std::byte*> results;
    for (const TensorType& type : step.result_types) {
      memory.push_back(
          std::make_unique<Guarded>(type.size() * static_cast<std::int64_t>(type.dtype.size())));
      results.push_back(memory.back()->data());
    }
    Guarded scratch(routine->scratch_bytes());
    std::vector<Tensor> before;
    for (const Tensor& operand : operands) before.push_back(copy(operand));
    routine->run(pointers, results, scratch.data());
    for (std::size_t i = 0; i < operands.size(); ++i)
      EXPECT_TRUE(array_equal(operands[i], before[i], true)) << step.primitive.name << " wrote";
    EXPECT_TRUE(scratch.is_intact()) << step.primitive.name;
    TensorList want = default_executor().execute(step, std::move(operands));
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(memory[i]->is_intact()) << step.primitive.name;
      const Tensor got = tensor_from_bytes(results[i], step.result_types[i]);
      const bool is_sum =
          step.primitive.name == "dot_general" || step.primitive.name == "conv_general";
      // Sums in another order: their bound has tests of its own.
      const bool is_equal =
          is_sum && got.dtype().is_float() && got.size() > 0
              ? max(abs(got - want[i])).item() <= 1e-4 * (1 + max(abs(want[i])).item())
              : array_equal(got, want[i], true);
      EXPECT_TRUE(is_equal) << routine->describe() << ", result " << i << ": " << to_string(got)
                            << "\nnot " << to_string(want[i]);
    }
    seen.insert(step.primitive.name);
    return want;
  }

  std::set<std::string> seen;
};

TEST(RoutinesKernel, every_kernel_equals_eager) {
  BothWays both;
  {
    Random random(1);
    const Tensor x = row_major(random_tensor<double>(random, {6, 6}, tame_element<double>));
    const Tensor y = row_major(random_tensor<double>(random, {3, 6, 6}, tame_element<double>));
    const Tensor image = row_major(random_tensor<float>(random, {2, 9, 8, 3}, tame_element<float>));
    const Tensor filter =
        row_major(random_tensor<float>(random, {3, 3, 3, 4}, tame_element<float>));
    const Tensor spd = matmul(x, transpose(x)) + 6.0 * eye(6);
    const ExecutorScope scope(both);
    const auto loss = [](Tensor a, Tensor m) {
      return sum(solve(a, m)) + slogdet(a).logarithm + sum(cholesky(a)) + sum(sort(m)) +
             sum(cumsum(m, 0)) + sum(a(2, all)) + sum(max_pool(reshape(m, {1, 6, 6, 1}), {2, 2}));
    };
    value_and_grad(loss, wrt<0, 1>)(spd, x);
    value_and_grad([](Tensor a, Tensor w) { return sum(square(conv(a, w))); }, wrt<0, 1>)(image,
                                                                                          filter);
    svd(y);
    eigh(spd);
    qr(y);
    lu(y);
    determinant(y);
    cofactor(y);
    pinv(x);
    fft(Complex{x, x});
    argsort(x);
    top_k(x, 3);
    normal(key(3), {4, 5});
    x.at(Range{1, 4}).add(1.0);
    x.at(2, 3).set(7.0);
    x(tensor({1, 0, 5}));
    where(x > 0.0, x, -x);
    concat({x, x}, 1);
    pad(x, 0.0, {1, 0}, {2, 1});
    avg_pool(image, {2, 2});
    einsum("bij,bjk->bik", y, y);
  }
  for (const char* name :
       {"cholesky", "lu", "qr", "eigh", "svd", "triangular_solve", "lu_solve", "determinant",
        "pinv", "fft", "sort", "window_max", "random_bits", "dot_general", "conv_general", "gather",
        "scatter", "update_slice", "cumsum"})
    EXPECT_TRUE(both.seen.contains(name)) << name << " was not tried";
}

// ---- what users bring ----

struct Steps {
  Primitive primitive;
  Attributes attributes = {};
  TensorType type = f64[{3}];
  Location at = Location::current();

  std::shared_ptr<const nest::Routine> routine() const {
    const nest::Layout layout{type, {1}};
    return cpu::routine_for(Invocation{primitive, attributes, {&type, 1}, at}, {&layout, 1});
  }
};

std::vector<double> run_on(const nest::Routine& routine, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  const auto* operand = reinterpret_cast<const std::byte*>(x.data());
  auto* result = reinterpret_cast<std::byte*>(y.data());
  routine.run({&operand, 1}, {&result, 1}, nullptr);
  return y;
}

/// Puts the table back.
struct TableScope {
  const KernelTable before = cpu_kernels();
  ~TableScope() { cpu_kernels() = before; }
};

Tensor kept;

TEST(RoutinesKernel, a_kernel_of_the_users_runs_and_may_keep_its_operand) {
  const TableScope table;
  cpu_kernels().add("doubled", [](const Invocation&, TensorList x) {
    kept = x[0];
    TensorList list;
    list.push_back(x[0] + x[0]);
    return list;
  });
  const Steps doubled{{.name = "doubled"}};
  const auto routine = doubled.routine();
  EXPECT_EQ(routine->describe(), "doubled");
  {
    const std::vector<double> x{1, 2, 3};
    EXPECT_EQ(run_on(*routine, x), (std::vector<double>{2, 4, 6}));
  }
  EXPECT_EQ(kept.to_vector(), (std::vector<double>{1, 2, 3}));
  const Tensor first = kept;
  EXPECT_EQ(run_on(*routine, {4, 5, 6}), (std::vector<double>{8, 10, 12}));
  EXPECT_EQ(first.to_vector(), (std::vector<double>{1, 2, 3}));
  kept = Tensor();
  EXPECT_EQ(run_on(*routine, {7, 8, 9}), (std::vector<double>{14, 16, 18}));
}

TEST(RoutinesKernel, a_kernel_may_return_its_operand_or_a_view) {
  const TableScope table;
  cpu_kernels().add("same", [](const Invocation&, TensorList x) { return x; });
  cpu_kernels().add("backwards", [](const Invocation&, TensorList x) {
    TensorList list;
    list.push_back(x[0](Range{.step = -1}));
    return list;
  });
  const Steps same{{.name = "same"}}, backwards{{.name = "backwards"}};
  EXPECT_EQ(run_on(*same.routine(), {1, 2, 3}), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run_on(*backwards.routine(), {1, 2, 3}), (std::vector<double>{3, 2, 1}));
}

TEST(RoutinesKernel, results_of_other_types_are_refused) {
  const TableScope table;
  cpu_kernels().add("wrong", [](const Invocation&, TensorList x) {
    TensorList list;
    list.push_back(sum(x[0]));
    return list;
  });
  const Steps wrong{{.name = "wrong"}};
  try {
    run_on(*wrong.routine(), {1, 2, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("wrong: its CPU kernel gives (f64[])"),
              std::string::npos)
        << error.what();
  }
}

TEST(RoutinesKernel, errors_name_the_line_of_the_step) {
  const Tensor x = tensor(std::vector<double>{1, 2, 3});
  const Location line = Location::current();
  const Prepared prepared("gather", {{"axes", {Shape{0}}}, {"mode", {std::string("check")}}},
                          {x, tensor(std::vector<std::int64_t>{5}, Shape{1, 1})}, line);
  try {
    prepared.run();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(to_string(line)), std::string::npos) << error.what();
  }
}

TEST(RoutinesKernel, primitives_without_a_kernel_are_refused_by_name) {
  try {
    Steps{{.name = "unheard_of"}}.routine();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("unheard_of: the CPU compiler has no kernel"),
              std::string::npos);
  }
}

TEST(RoutinesKernel, composites_run_by_their_kernel_or_by_their_decomposition) {
  const TableScope table;
  cpu_kernels().add_composite("negated_if_short",
                              [](const Invocation&, TensorList& x) -> std::optional<TensorList> {
                                if (x[0].size() > 3) return std::nullopt;
                                TensorList list;
                                list.push_back(-x[0]);
                                return list;
                              });
  // The decomposition is another function, to tell them apart.
  const auto f = composite("negated_if_short", [](Tensor x) { return 2.0 * x; });
  for (const std::int64_t size : {3, 4}) {
    const Program program =
        detail::program_of([&f](Tensor x) { return f(x); }, Location::current(), zeros({size}));
    const Step step = program.step(0);
    const TensorType type = f64[{size}];
    const nest::Layout layout{type, {1}};
    const auto routine = cpu::routine_for(
        Invocation{step.primitive, step.attributes, {&type, 1}, step.at}, {&layout, 1});
    EXPECT_EQ(routine->describe(), "composite `negated_if_short`");
    const std::vector<double> x(static_cast<std::size_t>(size), 1.0);
    EXPECT_EQ(run_on(*routine, x)[0], size == 3 ? -1.0 : 2.0);
  }
}

TEST(RoutinesKernel, threads_may_run_one_routine_at_once) {
  const auto routine = Prepared("sort", {{"axis", {std::int64_t{0}}}, {"descending", {false}}},
                                {tensor(std::vector<double>(64, 0.0))});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&routine, t] {
      for (int i = 0; i < 200; ++i) {
        std::vector<double> x(64), places(64);
        for (std::size_t j = 0; j < 64; ++j) x[j] = static_cast<double>((j * 37 + i + t) % 64);
        std::vector<std::byte> second(64 * 8);
        const auto* operand = reinterpret_cast<const std::byte*>(x.data());
        std::byte* results[] = {reinterpret_cast<std::byte*>(places.data()), second.data()};
        routine.routine().run({&operand, 1}, {results, routine.types().size()}, nullptr);
        for (std::size_t j = 0; j < 64; ++j) ASSERT_EQ(places[j], static_cast<double>(j));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hom::testing
