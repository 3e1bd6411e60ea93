// docs/optimiser.cc -- the snippets of optimiser.md, what they print, and its tables of rules
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void report() {
  auto f = [](Tensor x, Tensor y) {
    return abs(x - -named("half", [](Tensor z) { return z / 2.0; })(y));
  };
  std::cout << optimisation_report(program(f, f32[{3}], f32[{3}])) << "\n";
}

void options() {
  auto norm = [](Tensor x) { return x / sqrt(sum(x * x)); };
  const Program before = program(norm, f64[{3}]);
  std::cout << to_text(optimise(before));                         // the same bits
  std::cout << to_text(optimise(before, {.reassociate = true}));  // other roundings
}

void one_pass() {
  auto f = [](Tensor x) { return x / sum(x, 1, Keep::yes); };
  const Program before = program(f, f64[{2, 3}]);
  const Program after = pass_named("views").run(before, {});
  std::cout << before.step_count() << " steps, then " << after.step_count() << "\n";
  optimise(before, {}, [](const Pass& pass, const Program&, const Program& changed) {
    std::cout << pass.name << " leaves " << changed.step_count() << "\n";
  });
}

/// For a table: bars are marks there.
std::string cell(const std::string& text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

void tables() {
  std::cout << "| pass | what it does |\n|---|---|\n";
  for (const Pass& pass : standard_passes())
    std::cout << "| `" << pass.name << "` | " << pass.description << " |\n";
  for (const Pass& pass : standard_passes()) {
    std::cout << "\n| " << pass.name << " | why | bits |\n|---|---|---|\n";
    for (const RuleDescription& rule : pass.rules) {
      std::cout << "| " << cell(rule.formula) << " | " << cell(rule.why) << " | "
                << (rule.reassociates ? "`reassociate`" : "stay") << " |\n";
    }
  }
}

}  // namespace

int main() {
  report();
  options();
  one_pass();
  tables();
}
