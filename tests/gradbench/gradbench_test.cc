// tests/gradbench/gradbench_test.cc -- every output of every eval equals the expected file
//
// |a − e| ≤ 1e-9·max(1, |a| + |e|) for each element, where GradBench itself allows 1e-4; NaN is
// wrong. Small workloads come with Hom. Those that are too large for that are run where
// HOM_GRADBENCH names the folder that has them: tools/test looks for one beside the repository.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include <hom/tests/gradbench/evals.h>
#include <hom/tests/gradbench/hello.h>
#include <hom/tests/gradbench/particle.h>
#include <hom/tests/gradbench/saddle.h>

namespace hom::gradbench {
namespace {

const std::string here = "tests/gradbench/data/";

/// Where two lists of numbers differ, or the empty string.
std::string difference(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size())
    return std::to_string(got.size()) + " elements instead of " + std::to_string(want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed = 1e-9 * std::max(1.0, std::abs(got[i]) + std::abs(want[i]));
    if (!(std::abs(got[i] - want[i]) <= allowed))
      return "element " + std::to_string(i) + ": " + to_string(got[i]) + " instead of " +
             to_string(want[i]);
  }
  return "";
}

std::vector<double> elements_of(const Results& results) {
  std::vector<double> all;
  for (const Tensor& x : results) {
    const std::vector<double> values = x.to_vector();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void expect_outputs(const Eval& eval, const std::string& folder, const std::string& name) {
  SCOPED_TRACE(name);
  const Workload workload = eval.make(Records::read(folder + name + ".in.txt"));
  const Records expected = Records::read(folder + name + ".out.txt");
  const Results primal = workload.primal();
  std::size_t compared = 0;
  for (const auto& [output, value] : workload.named(primal, workload.gradient())) {
    if (!expected.has(output)) continue;
    EXPECT_EQ(value.shape(), expected[output].shape()) << output;
    EXPECT_EQ(difference(value.to_vector(), expected[output].to_vector()), "") << output;
    ++compared;
  }
  EXPECT_EQ(compared, expected.all().size());
  EXPECT_EQ(difference(workload.by_hand(), elements_of(primal)), "") << "the scalar loop";
}

/// In bytes.
double memory_of_the_machine() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

class Outputs : public testing::TestWithParam<std::tuple<Runner, Eval>> {
 protected:
  Outputs() { current_runner() = std::get<Runner>(GetParam()); }
  ~Outputs() override { current_runner() = Runner::evaluation; }
  static const Eval& eval() { return std::get<Eval>(GetParam()); }
};
TEST_P(Outputs, equal_the_expected_file) {
  for (const std::string& name : eval().small) expect_outputs(eval(), here, name);
}
TEST_P(Outputs, equal_the_expected_file_for_large_workloads) {
  const char* folder = std::getenv("HOM_GRADBENCH");
  if (!folder) GTEST_SKIP() << "HOM_GRADBENCH does not name the folder that has them";
  for (const std::string& name : eval().large) {
    // Its Jacobian and what it is made of take 7 GB.
    if (name.starts_with("ba14") && memory_of_the_machine() < 12e9) {
      std::cout << name << " is left out: this machine has less than 12 GB\n";
      continue;
    }
    expect_outputs(eval(), std::string(folder) + "/", name);
  }
}
INSTANTIATE_TEST_SUITE_P(Evals, Outputs,
                         testing::Combine(testing::Values(Runner::evaluation, Runner::compiled),
                                          testing::ValuesIn(evals())),
                         [](const auto& test) {
                           const bool compiled = std::get<0>(test.param) == Runner::compiled;
                           return std::get<1>(test.param).name + (compiled ? "_compiled" : "");
                         });

TEST(OdeOutputs, are_right_though_they_are_small) {
  // The rule is absolute below 1. In the eval's own sizes all of these are 0, which proves nothing.
  for (const char* name : {"ode_n8_s10", "ode_n12_s100"}) {
    const Records in = Records::read(here + name + ".in.txt");
    const Records expected = Records::read(here + name + ".out.txt");
    for (const Eval& eval : evals()) {
      if (eval.name != "ode") continue;
      const Tensor want = expected["gradient_of_last"];
      const Tensor got = eval.make(in).gradient()[0];
      EXPECT_GT(norm(want).item(), 0);
      EXPECT_LE(norm(got - want).item(), 1e-9 * norm(want).item());
    }
  }
}

TEST(Hello, squares_and_doubles_in_turn) {
  Tensor x = 1.0;
  for (double square : {1.0, 4.0, 64.0, 16384.0}) {
    x = square_of(x);
    EXPECT_EQ(x.item(), square);
    x = double_of(x);
    EXPECT_EQ(x.item(), 2 * square);
  }
}

class Nested : public testing::TestWithParam<Modes> {};
TEST_P(Nested, particle_lands_nearest) {
  // One program, with the whole optimisation in it.
  const Program whole = program([&] { return best_landing(GetParam()); });
  EXPECT_EQ(difference(evaluate(whole, {})[0].to_vector(), {0.2071918746486116}), "");
  const Workload once = particle(GetParam());
  EXPECT_EQ(difference(once.by_hand(), elements_of(once.primal())), "");
}
TEST_P(Nested, saddle_is_found) {
  constexpr double near_zero = 8.246324826140356e-06;
  const Program whole = program([&] { return saddle_point(GetParam()); });
  const std::vector<double> place = evaluate(whole, {})[0].to_vector();
  EXPECT_EQ(difference(place, {near_zero, near_zero, near_zero, near_zero}), "");
  // The rule is absolute below 1, and these are small.
  for (double coordinate : place) EXPECT_NEAR(coordinate / near_zero, 1, 1e-9);
  const Workload once = saddle(GetParam());
  EXPECT_EQ(difference(once.by_hand(), elements_of(once.primal())), "");
  EXPECT_EQ(difference(elements_of(once.gradient()), {2, 2}), "");
}
INSTANTIATE_TEST_SUITE_P(AllModes, Nested, testing::ValuesIn(all_modes),
                         [](const auto& modes) { return std::string(modes.param.name); });

TEST(Records, tell_what_is_wrong_with_a_file) {
  const auto error_of = [](const std::string& text) {
    const std::string path = testing::TempDir() + "records.txt";
    std::ofstream(path) << text;
    try {
      Records::read(path)["x"];
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(error_of("x 1 2\n1 2\n"), "");
  EXPECT_NE(error_of("x 1 2\n1\n").find("ends in the middle of a record"), std::string::npos);
  EXPECT_NE(error_of("x 1 2\n1 y\n").find("has a word where a number"), std::string::npos);
  EXPECT_NE(error_of("y 0\n1\n").find("has no record `x`"), std::string::npos);
  EXPECT_THROW(Records::read(testing::TempDir() + "nowhere.txt"), Error);
}

}  // namespace
}  // namespace hom::gradbench
