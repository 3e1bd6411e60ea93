// tests/laws/for_random_programs.cc -- properties of random programs, checked and shrunk by
// RapidCheck
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <hom/core/text.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {
namespace {

std::string show(const Recipe& recipe) {
  std::string text = "recipe {";
  for (std::uint64_t seed : recipe.seeds)
    text += (text.back() == '{' ? "" : ", ") + std::to_string(seed) + "u";
  return text + "}";
}

}  // namespace

std::string text_of(const RandomProgram& program) {
  std::string text = "as drawn:\n" + to_text(program.program_as_it_stands()) + "as captured:\n" +
                     to_text(program.program());
  for (const Tensor& x : program.inputs) text += "  at " + to_string(x) + "\n";
  return text;
}

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* given = std::getenv("HOM_SEED");
    if (!given) return std::uint64_t{1};
    if (std::string(given) == "random") return std::uint64_t{std::random_device()()};
    return std::uint64_t{std::strtoull(given, nullptr, 10)};
  }();
  return seed;
}

int case_factor() {
  const char* given = std::getenv("HOM_CASES");
  return given ? std::max(1, std::atoi(given)) : 1;
}

void for_random_programs(const char* law, int cases, int max_lines, const Wish& wish,
                         const Property& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (!std::getenv("RC_PARAMS")) {
    params.seed = run_seed();
    params.maxSuccess = cases * case_factor();
  }
  rc::detail::TestMetadata metadata;
  metadata.id = law;
  metadata.description = law;
  const auto seed = rc::gen::noShrink(rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>()));
  const auto recipes =
      rc::gen::scale(max_lines / 100.0, rc::gen::container<std::vector<std::uint64_t>>(seed));
  const auto testable = [&] {
    const Recipe recipe{*recipes};
    const RandomProgram program = random_program(recipe, wish);
    Choices choices(recipe.seeds.empty() ? 0 : recipe.seeds[0] + 1);
    std::string wrong;
    try {
      wrong = property(program, choices);
    } catch (const std::exception& error) {
      wrong = std::string("it throws: ") + error.what();
    }
    if (wrong.empty()) return;
    RC_FAIL(wrong + "\nin the program of the " + show(recipe) + "\n" + text_of(program));
  };
  std::cout << law << ": " << params.maxSuccess << " programs, HOM_SEED=" << run_seed() << "\n";
  const rc::detail::TestResult result = rc::detail::checkTestable(testable, metadata, params);
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>())
      << law << ", HOM_SEED=" << run_seed()
      << " (or replay by RC_PARAMS as printed below): " << message.str();
}

}  // namespace hom::laws
