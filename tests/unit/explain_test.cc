// tests/unit/explain_test.cc -- what is told of compiled functions agrees with what they do
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <hom/backends/cpu/jit/executable.h>
#include <hom/hom.h>

namespace hom::testing {
namespace {

const auto layer = [](Tensor x, Tensor w, Tensor b) { return sum(tanh(matmul(x, w) + b), 1); };
constexpr std::int64_t n = 32, k = 48, m = 24;

std::vector<Tensor> arguments() {
  return {reshape(sin(arange(n * k) * 0.7), {n, k}), reshape(cos(arange(k * m) * 0.3), {k, m}),
          ones({m}) * 0.1};
}

bool mentions(const std::vector<std::string>& lines, const std::string& text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

TEST(Explain, steps_know_lines_buffers_and_work) {
  const auto f = compile(named("layer", layer));
  const Explanation e = explain(f, f64[{n, k}], f64[{k, m}], f64[{m}]);
  EXPECT_EQ(f.compilations(), 1U);
  ASSERT_FALSE(e.steps.empty());
  double flops = 0;
  std::vector<std::string> lines;
  std::vector<std::string> buffers;
  std::string loops;
  for (const ExplainedStep& step : e.steps) {
    flops += step.flops;
    EXPECT_GT(step.bytes, 0) << step.name;
    EXPECT_EQ(step.runs, 1);
    lines.insert(lines.end(), step.lines.begin(), step.lines.end());
    buffers.insert(buffers.end(), step.buffers.begin(), step.buffers.end());
    loops += step.loops;
  }
  EXPECT_GE(flops, 2.0 * n * k * m);
  EXPECT_LE(flops, 2.0 * n * k * m + 100.0 * n * m);
  EXPECT_TRUE(mentions(lines, "explain_test.cc"));
  EXPECT_TRUE(mentions(lines, "tanh, in `layer`"));
  EXPECT_TRUE(mentions(buffers, "reads x: f64[32, 48], an input"));
  EXPECT_TRUE(mentions(buffers, "an output"));
  EXPECT_NE(loops.find("tanh"), std::string::npos) << loops;
}

TEST(Explain, text_shows_loops_and_source) {
  const auto f = compile([](Tensor x) { return exp(x) * 2.0; }, {.tier = Tier::native});
  const Explanation e = explain(f, f64[{100}]);
  std::ostringstream text;
  text << e;
  EXPECT_NE(text.str().find("exp"), std::string::npos);
  EXPECT_NE(text.str().find("memory:"), std::string::npos);
  EXPECT_EQ(text.str().find("    | "), std::string::npos);
  EXPECT_NE(to_string(e, true).find("    | "), std::string::npos);
  EXPECT_NE(e.plan.find("k0(b1, b0)"), std::string::npos) << e.plan;
  const Explanation interpreted =
      explain(compile([](Tensor x) { return exp(x); }, {.tier = Tier::interpreter}), f64[{4}]);
  EXPECT_EQ(interpreted.tier, "interpreter");
  EXPECT_TRUE(interpreted.steps[0].source.empty());
}

TEST(Explain, memory_is_what_the_plan_says) {
  const auto f = compile([](Tensor x, Tensor w) {
    const Tensor a = matmul(x, w);
    const Tensor b = matmul(a, w);
    return matmul(tanh(b), w) + a;
  });
  const Explanation e = explain(f, f64[{32, 32}], f64[{32, 32}]);
  const std::int64_t one = 32 * 32 * 8;
  EXPECT_GE(e.memory.live_bytes, one);
  EXPECT_GE(e.memory.arena_bytes, e.memory.live_bytes);
  EXPECT_GE(e.memory.temporary_bytes, e.memory.arena_bytes);
  EXPECT_EQ(f.prepare(f64[{32, 32}], f64[{32, 32}]).peak_bytes(), e.memory.arena_bytes);
  EXPECT_FALSE(e.memory.in_place.empty()) << to_string(e);
  const Explanation sum =
      explain(compile([](Tensor x, Tensor y) { return x + y; }), f64[{32}], f64[{32}]);
  ASSERT_EQ(sum.memory.donations.size(), 1U);
  EXPECT_EQ(sum.memory.donations[0], "output 0 may take the memory of input `x`");
  EXPECT_EQ(sum.memory.arena_bytes, 0);
}

TEST(Explain, loops_of_the_plan_count_runs) {
  const auto f = compile([](Tensor x, Tensor w) {
    return fori_loop(0, 7, [&](Tensor, Tensor s) { return matmul(tanh(s), w); }, x);
  });
  const Explanation e = explain(f, f64[{16, 16}], f64[{16, 16}]);
  std::int64_t most = 0;
  int deepest = 0;
  for (const ExplainedStep& step : e.steps) {
    most = std::max(most, step.runs);
    deepest = std::max(deepest, step.depth);
  }
  EXPECT_EQ(most, 7);
  EXPECT_EQ(deepest, 1);
}

TEST(Explain, programs_are_found_for_the_arguments) {
  const auto f = compile(layer);
  const std::vector<Tensor> x = arguments();
  f(x[0], x[1], x[2]);
  explain(f, x[0], x[1], x[2]);
  EXPECT_EQ(f.compilations(), 1U);
}

TEST(Fallbacks, none_where_there_are_loops) {
  const auto f = compile([](Tensor x, Tensor i) {
    const Tensor y = softmax(cumsum(take(x, i), 1) * 2.0, 1);
    return std::pair{argmax(y, 1),
                     scan([](Tensor s, Tensor v) { return std::pair{s + v, s * v}; }, y(0), y)};
  });
  EXPECT_TRUE(fallbacks(f, f64[{8, 5}], i64[{6}]).empty());
  const auto sorted = compile([](Tensor x) { return sort(x); });
  EXPECT_TRUE(fallbacks(sorted, f64[{8}]).empty());  // has no loops
}

TEST(Fallbacks, an_eager_kernel_where_loops_would_do_is_named) {
  // By hand, since the scheduler leaves nothing behind: a call in a loop in a branch.
  nest::Plan plan;
  for (const char* primitive : {"sort", "add", "while"})
    plan.origins.push_back({primitive, Location::current(), "forward"});
  nest::Instructions calls;
  for (std::uint32_t step = 0; step < 3; ++step) calls.push_back({nest::Call{}, step});
  nest::Branch branch{{0}, {}, {{nest::Repeat{0, 2, calls}}}};
  plan.body.push_back({std::move(branch)});
  const std::vector<Fallback> found = fallbacks(plan);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].primitive, "add");
  EXPECT_EQ(found[1].primitive, "while");
  std::ostringstream text;
  text << found[0];
  EXPECT_NE(text.str().find("explain_test.cc"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(", in `forward`"), std::string::npos) << text.str();
}

TEST(Profile, steps_add_up_to_the_call) {
  const auto f = compile(layer);
  const std::vector<Tensor> x = arguments();
  const Profile p = profile(f, x[0], x[1], x[2]);
  ASSERT_FALSE(p.steps.empty());
  EXPECT_GT(p.seconds, 0);
  double flops = 0;
  for (const ProfiledStep& step : p.steps) {
    EXPECT_GT(step.seconds, 0) << step.name;
    EXPECT_EQ(step.runs, 1);
    flops += step.flops;
  }
  EXPECT_GE(flops, 2.0 * n * k * m);
  EXPECT_EQ(p.events.size(), p.steps.size());
  std::ostringstream text;
  text << p;
  EXPECT_NE(text.str().find("GFLOP/s"), std::string::npos);
  EXPECT_NE(text.str().find("explain_test.cc"), std::string::npos);
}

TEST(Profile, iterations_are_counted) {
  const auto f = compile([](Tensor x, Tensor w) {
    return fori_loop(0, 7, [&](Tensor, Tensor s) { return matmul(tanh(s), w); }, x);
  });
  const Profile p = profile(f, ones({16, 16}), ones({16, 16}));
  std::int64_t most = 0;
  for (const ProfiledStep& step : p.steps) most = std::max(most, step.runs);
  EXPECT_EQ(most, 7);
}

TEST(Profile, traces_are_json_for_chrome) {
  const auto f = compile(layer);
  const std::vector<Tensor> x = arguments();
  const Profile p = profile(f, x[0], x[1], x[2]);
  const std::string path = ::testing::TempDir() + "hom_trace.json";
  save_trace(p, path);
  std::ifstream file(path);
  const nlohmann::json trace = nlohmann::json::parse(file);
  std::remove(path.c_str());
  ASSERT_EQ(trace["traceEvents"].size(), p.events.size());
  double last = 0;
  for (const auto& event : trace["traceEvents"]) {
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["ts"].get<double>(), last);
    last = event["ts"].get<double>() + event["dur"].get<double>() - 1e-6;
    EXPECT_TRUE(event["args"].contains("flops"));
  }
  EXPECT_THROW(save_trace(p, "/nonexistent/folder/trace.json"), Error);
}

TEST(Profile, the_machine_has_a_peak) {
  const MachinePeak& peak = machine_peak();
  EXPECT_GT(peak.bytes_per_second, 1e8);
  EXPECT_GT(peak.f32_per_second, 1e8);
  EXPECT_GT(peak.f32_per_second, peak.f64_per_second);
  EXPECT_EQ(&peak, &machine_peak());
}

TEST(Profile, mistakes_are_named) {
  const auto f = compile([](Tensor x, Tensor i) { return take(x, i); });
  EXPECT_THROW(profile(f, ones({3}), tensor({4})), Error);
  const CompiledProgram program = f.prepare(f64[{3}], i64[{1}]);
  const std::vector<Tensor> inputs{ones({3}), tensor({std::int64_t{0}})};
  EXPECT_THROW(profile_program(program, inputs, {.repeats = 0}), Error);
  EXPECT_THROW(profile_program(program, std::span(inputs).first(1)), Error);
}

}  // namespace
}  // namespace hom::testing
