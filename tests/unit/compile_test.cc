// tests/unit/compile_test.cc -- compiled functions: the same results, signatures, cache, pointers
#include <atomic>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::testing {
namespace {

struct Layer {
  BOOST_HANA_DEFINE_STRUCT(Layer, (Tensor, weight), (Tensor, bias), (std::string, activation),
                           (double, slope), (std::vector<Tensor>, more));
};
Tensor forward(const Layer& p, Tensor x) {
  Tensor y = matmul(x, p.weight) + p.bias;
  for (const Tensor& m : p.more) y = y + m;
  return p.activation == "relu" ? relu(y) : y * p.slope;
}
Layer layer(const std::string& activation = "relu", double slope = 2.0, std::size_t more = 0) {
  return {ones({3, 2}) * 0.5, ones({2}), activation, slope, std::vector<Tensor>(more, ones({2}))};
}

class Compile : public ::testing::TestWithParam<Tier> {
 protected:
  CompileOptions options() const { return {.tier = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Both, Compile, ::testing::Values(Tier::interpreter, Tier::native),
                         [](const auto& tier) {
                           return tier.param == Tier::native ? "native" : "interpreter";
                         });

TEST_P(Compile, compiled_equals_eager) {
  const auto f = [](Tensor x, Tensor y) { return std::pair{cos(x + y * x), sum(x * y)}; };
  const auto compiled = compile(f, options());
  for (const Dtype dtype : {f32, f64, f16, bf16}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 37}}) {
      const Tensor x = (arange(element_count(shape)) * 0.37).astype(dtype);
      const Tensor a = reshape(x, shape);
      const auto [eager, eager_sum] = f(a, a + 1);
      const auto [got, got_sum] = compiled(a, a + 1);
      EXPECT_TRUE(array_equal(got, eager)) << to_string(a.type());
      EXPECT_TRUE(array_equal(got_sum, eager_sum)) << to_string(a.type());
    }
  }
}

TEST_P(Compile, numbers_are_tensors_of_rank_0) {
  const auto f = [](Tensor x, Tensor y) { return x + y; };
  const auto compiled = compile(f, options());
  EXPECT_EQ(compiled(0.5, 2.0).item(), 2.5);
  EXPECT_EQ(compiled(0.5, 2.0).dtype(), f64);
  EXPECT_EQ(compiled(0.5F, 2.0F).dtype(), f32);
  EXPECT_EQ(compiled(std::int16_t{-3}, 4).dtype(), i32);
  EXPECT_EQ(compiled(std::int16_t{-3}, 4).item<int>(), 1);
  EXPECT_EQ(compiled(std::uint8_t{250}, std::uint8_t{10}).item<int>(), 4);
  EXPECT_EQ(compiled(Tensor(0.5), 2.0).item(), 2.5);
  const auto negation = compile([](Tensor b) { return !b; }, options());
  EXPECT_EQ(negation(true).item<bool>(), false);
  EXPECT_EQ(negation(false).item<bool>(), true);
}

TEST_P(Compile, products_keep_their_structure) {
  // The captured function takes tensors where the caller gives numbers.
  const auto g = [](const std::map<std::string, std::array<Tensor, 2>>& p,
                    const std::optional<Tensor>& bias, const std::tuple<Tensor, Tensor>& t) {
    auto result = p;
    for (auto& [name, pair] : result) {
      pair[0] = pair[0] * std::get<0>(t) + std::get<1>(t);
      if (bias) pair[1] = pair[1] + *bias;
    }
    return result;
  };
  const auto compiled = compile(g, options());
  std::map<std::string, std::array<Tensor, 2>> p;
  p["a"] = {ones({2}), ones({3})};
  p["a rather long name of a parameter"] = {ones({4}), zeros({3})};
  const auto got = compiled(p, std::optional<Tensor>(ones({3})), std::tuple{Tensor(2.0), 5});
  EXPECT_TRUE(array_equal(got.at("a")[0], full({2}, 7.0)));
  EXPECT_TRUE(array_equal(got.at("a")[1], full({3}, 2.0)));
  EXPECT_TRUE(array_equal(got.at("a rather long name of a parameter")[1], ones({3})));
  EXPECT_TRUE(array_equal(
      compiled(p, std::optional<Tensor>(), std::tuple{Tensor(2.0), 5}).at("a")[1], ones({3})));
  EXPECT_EQ(compiled.compilations(), 2U);
  p["b"] = {ones({2}), ones({3})};
  p.erase("a");
  compiled(p, std::optional<Tensor>(), std::tuple{Tensor(2.0), 5});  // keys are part of it
  EXPECT_EQ(compiled.compilations(), 3U);
}

TEST_P(Compile, structs_are_compiled_for_their_static_members) {
  const auto compiled = compile(forward, options());
  const Tensor x = ones({4, 3});
  for (const Layer& p : {layer(), layer("linear"), layer("linear", 3.0), layer("relu", 2.0, 2)})
    EXPECT_TRUE(array_equal(compiled(p, x), forward(p, x)));
  EXPECT_EQ(compiled.compilations(), 4U);
  EXPECT_TRUE(array_equal(compiled(layer("linear"), x), forward(layer("linear"), x)));
  EXPECT_EQ(compiled.compilations(), 4U);
}

TEST_P(Compile, empty_leaves_are_the_unit) {
  const auto step = compile(
      [](const std::pair<Tensor, Tensor>& p) {
        const auto loss = [](const std::pair<Tensor, Tensor>& q) { return sum(square(q.first)); };
        return grad(loss)(p);
      },
      options());
  const auto g = step(std::pair{ones({3}), tensor({1, 2})});
  EXPECT_TRUE(array_equal(g.first, full({3}, 2.0)));
  EXPECT_TRUE(g.second.is_empty());
  const auto f =
      compile([](const std::pair<Tensor, Tensor>& p) { return p.first * 3.0; }, options());
  EXPECT_TRUE(array_equal(f(g), full({3}, 6.0)));
}

TEST_P(Compile, recompiles_for_other_types_only) {
  int captures = 0;
  const auto f = compile(
      [&](Tensor x) {
        ++captures;
        return x * 2.0;
      },
      options());
  f(ones({3}));
  f(zeros({3}));
  f(ones({6})(Range{0, 6, 2}));
  EXPECT_EQ(captures, 1);
  f(ones({4}));
  f(ones({3}, f32));
  f(ones({3, 1}));
  f(2.0);
  EXPECT_EQ(captures, 5);
  f(Tensor(7.0));
  f(ones({3}));
  EXPECT_EQ(captures, 5);
  EXPECT_EQ(f.compilations(), 5U);
}

TEST_P(Compile, closures_are_read_when_compiled) {
  Tensor rate(0.5);
  double number = 1.0;
  const auto f = compile([&](Tensor x) { return x * rate + number; }, options());
  EXPECT_EQ(f(2.0).item(), 2.0);
  rate = Tensor(3.0);
  number = 7.0;
  EXPECT_EQ(f(2.0).item(), 2.0);    // frozen
  EXPECT_EQ(f(2.0F).item(), 13.0);  // another signature
  f.clear();
  EXPECT_EQ(f(2.0).item(), 13.0);
}

TEST_P(Compile, prepared_types_are_the_signature_of_tensors) {
  const auto f = compile([](Tensor x, Tensor y) { return x + y; }, options());
  const CompiledProgram program = f.prepare(f64[{3}], f64[{}]);
  EXPECT_EQ(f.compilations(), 1U);
  f(ones({3}), 1.0);
  EXPECT_EQ(f.compilations(), 1U);
  EXPECT_TRUE(array_equal(program({ones({3}), Tensor(2.0)})[0], full({3}, 3.0)));
  EXPECT_EQ(program.program().inputs().size(), 2U);
  EXPECT_FALSE(program.tier().empty());
}

TEST_P(Compile, copies_share_what_is_compiled) {
  const auto f = compile([](Tensor x) { return x + 1.0; }, options());
  const auto g = f;
  f(1.0);
  g(2.0);
  EXPECT_EQ(g.compilations(), 1U);
}

TEST_P(Compile, the_cache_drops_what_was_called_least_recently) {
  CompileOptions bounded = options();
  bounded.cache = 2;
  const auto f = compile([](Tensor x) { return x + 1.0; }, bounded);
  f(ones({1}));
  f(ones({2}));
  f(ones({1}));
  f(ones({3}));  // drops {2}
  EXPECT_EQ(f.programs().size(), 2U);
  EXPECT_EQ(f.compilations(), 3U);
  f(ones({1}));
  EXPECT_EQ(f.compilations(), 3U);
  f(ones({2}));
  EXPECT_EQ(f.compilations(), 4U);
}

TEST_P(Compile, thrashing_is_told_once) {
  CompileOptions named_options = options();
  named_options.name = "step";
  const auto f = compile([](Tensor x, Tensor y) { return sum(x) + y; }, named_options);
  ::testing::internal::CaptureStderr();
  for (std::int64_t n = 1; n <= 30; ++n) f(ones({n}), 1.0);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("`step`"), std::string::npos) << said;
  EXPECT_NE(said.find("compile_test.cc"), std::string::npos) << said;
  EXPECT_NE(said.find("argument `x` went from f64[15] to f64[16]"), std::string::npos) << said;
  EXPECT_NE(said.find("pad"), std::string::npos) << said;
}

TEST_P(Compile, threads_compile_once_for_each_signature) {
  std::atomic<int> captures = 0;
  const auto f = compile(
      [&](Tensor x) {
        ++captures;
        return x * 2.0;
      },
      options());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t n = 1; n < 4; ++n) {
        for (int i = 0; i < 20; ++i)
          if (!array_equal(f(ones({n})), full({n}, 2.0))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(captures, 3);
}

TEST_P(Compile, inside_a_capture_it_is_the_function) {
  const auto f = compile([](Tensor x) { return sin(x) * x; }, {.name = "wave"});
  const Program p = program([&](Tensor x) { return f(x) + 1.0; }, f64[{}]);
  EXPECT_NE(to_text(p).find("call"), std::string::npos);
  EXPECT_NE(to_text(p).find("wave"), std::string::npos);
  EXPECT_EQ(f.compilations(), 0U);
  const auto plain = [](Tensor x) { return sin(x) * x; };
  EXPECT_EQ(grad(f)(0.7).item(), grad(plain)(0.7).item());
  EXPECT_EQ(grad(grad(f))(0.7).item(), grad(grad(plain))(0.7).item());
  const Tensor x = arange(5) * 0.5;
  EXPECT_TRUE(array_equal(vmap(f)(x), plain(x)));
  const auto outer = compile([&](Tensor y) { return grad(f)(y) + f(y * 2.0); }, options());
  EXPECT_EQ(outer(0.7).item(), (grad(plain)(Tensor(0.7)) + plain(Tensor(1.4))).item());
  EXPECT_EQ(f.compilations(), 0U);
}

TEST_P(Compile, a_whole_training_step) {
  const auto loss = [](const std::vector<Tensor>& p, Tensor x, Tensor y) {
    return mean(square(matmul(tanh(matmul(x, p[0]) + p[1]), p[2]) - y));
  };
  const auto step = [&](const std::vector<Tensor>& p, Tensor x, Tensor y, Tensor rate) {
    auto [l, g] = value_and_grad(loss)(p, x, y);
    return std::pair{l, tree_map([&](Tensor w, Tensor dw) { return w - rate * dw; }, p, g)};
  };
  const auto compiled = compile(step, options());
  const Tensor x = reshape(sin(arange(40) * 1.3), {10, 4});
  const Tensor y = reshape(cos(arange(10) * 0.7), {10, 1});
  std::vector<Tensor> p{reshape(cos(arange(32) * 1.0), {4, 8}) * 0.3, zeros({8}),
                        reshape(sin(arange(8) * 1.0), {8, 1}) * 0.3};
  std::vector<Tensor> q = p;
  double first = 0;
  double last = 0;
  for (int i = 0; i < 30; ++i) {
    auto [l, next] = step(p, x, y, Tensor(0.1));
    auto [l2, next2] = compiled(std::move(q), x, y, 0.1);
    p = std::move(next);
    q = std::move(next2);
    EXPECT_NEAR(l2.item(), l.item(), 1e-12 * (1 + std::abs(l.item())));
    if (i == 0) first = l2.item();
    last = l2.item();
  }
  EXPECT_LT(last, 0.9 * first);
  EXPECT_EQ(compiled.compilations(), 1U);
}

TEST_P(Compile, programs_refuse_other_inputs) {
  const CompiledProgram f = compile(program([](Tensor x) { return x + 1.0; }, f64[{3}]), options());
  EXPECT_TRUE(array_equal(f({ones({3})})[0], full({3}, 2.0)));
  EXPECT_THROW(f({ones({4})}), Error);
  EXPECT_THROW(f({ones({3}, f32)}), Error);
  EXPECT_THROW(f({}), Error);
  EXPECT_THROW(f({Tensor()}), Error);
}

TEST_P(Compile, peak_bytes_are_known_before_the_run) {
  const auto f = compile([](Tensor x) { return matmul(matmul(x, x), x); }, options());
  const CompiledProgram program = f.prepare(f64[{32, 32}]);
  EXPECT_GE(program.peak_bytes(), 32 * 32 * 8);
}

TEST(Native, plain_pointers_to_functions_of_numbers) {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  const Native<double(double, double)> g = native<double(double, double)>(f);
  double (*const pointer)(double, double) = g.pointer();
  for (const double x : {0.1, -2.0, 1e3}) {
    EXPECT_EQ(g(x, 0.2), f(x, 0.2).item());
    EXPECT_EQ(pointer(x, 0.2), f(x, 0.2).item());
  }
  const auto both =
      native<std::pair<float, float>(float)>(value_and_grad([](Tensor x) { return sin(x) * x; }));
  const auto [value, slope] = both(0.5F);
  EXPECT_EQ(value, (sin(Tensor(0.5F)) * Tensor(0.5F)).item<float>());
  EXPECT_FLOAT_EQ(slope, std::sin(0.5F) + 0.5F * std::cos(0.5F));
  const auto mixed = native<std::tuple<bool, int, std::uint8_t>(int, bool)>(
      [](Tensor n, Tensor b) { return std::tuple{n > 3 && b, n * 2, (n + 1).astype(u8)}; });
  EXPECT_EQ(mixed(5, true), (std::tuple{true, 10, std::uint8_t{6}}));
  EXPECT_EQ(mixed(5, false), (std::tuple{false, 10, std::uint8_t{6}}));
  const auto short_one =
      native<short(short, std::int16_t)>([](Tensor a, Tensor b) { return a + b; });
  EXPECT_EQ(short_one(-5, 3), -2);
  const auto constant = native<double()>([] { return Tensor(4.0); });
  EXPECT_EQ(constant(), 4.0);
  const auto same = native<std::array<double, 2>(double)>([](Tensor x) { return std::pair{x, x}; });
  EXPECT_EQ(same(3.0), (std::array{3.0, 3.0}));
}

TEST(Native, pointers_belong_to_their_objects) {
  using Function = Native<double(double)>;
  const auto make = [](double k) {
    return native<double(double)>([k](Tensor x) { return x + k; }, {.tier = Tier::interpreter});
  };
  std::vector<Function> many;
  for (std::size_t i = 0; i < Function::slots; ++i) many.push_back(make(static_cast<double>(i)));
  for (std::size_t i = 0; i < many.size(); ++i)
    EXPECT_EQ(many[i].pointer()(1.0), 1.0 + static_cast<double>(i));
  EXPECT_THROW(make(0), Error);
  const Function copy = many[3];
  many.clear();
  EXPECT_EQ(copy.pointer()(1.0), 4.0);
  EXPECT_EQ(make(9.0)(1.0), 10.0);  // there is room again
}

TEST(Native, threads_call_one_pointer) {
  const auto f = native<double(double)>(
      [](Tensor x) { return fori_loop(0, 3, [](Tensor, Tensor s) { return sin(s) + 1.0; }, x); });
  const double want = f(0.3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) wrong += f.pointer()(0.3) != want;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Native, results_that_are_no_such_numbers_are_refused) {
  EXPECT_THROW(native<double(double)>([](Tensor x) { return x * ones({2}); }), Error);
  EXPECT_THROW(native<float(double)>([](Tensor x) { return x; }), Error);
  EXPECT_THROW((native<std::pair<double, double>(double)>([](Tensor x) { return x; })), Error);
}

TEST(Tiers, without_a_compiler_the_interpreter_says_so_once) {
  // In a process of its own, so that nothing is cached and nobody has been told.
  const auto run = [] {
    setenv("HOM_CXX", "/nonexistent/compiler", 1);
    setenv("HOM_EMITTER", "c++", 1);  // machine code needs no compiler
    const auto f = compile([](Tensor x) { return x * 2.0 + 1.0; });
    const auto g = compile([](Tensor x) { return x * 3.0 + 1.0; });
    if (f(3.0).item() != 7.0 || g(3.0).item() != 10.0) std::exit(1);
    if (f.programs()[0].tier() != "interpreter") std::exit(2);
    try {
      compile([](Tensor x) { return x * 4.0 + 1.0; }, {.tier = Tier::native})(1.0);
    } catch (const Error&) {
      std::exit(0);
    }
    std::exit(3);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "hom: compiled functions are interpreted: [^\n]*\n$");
}

}  // namespace
}  // namespace hom::testing
