// docs/compile.cc -- the snippets of compile.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

struct Affine {
  BOOST_HANA_DEFINE_STRUCT(Affine, (Tensor, weight), (Tensor, bias));
};

void of_a_training_step() {
  auto loss = [](const Affine& p, Tensor x, Tensor y) {
    return mean(square(matmul(x, p.weight) + p.bias - y));
  };
  auto step = compile([=](const Affine& p, Tensor x, Tensor y, Tensor rate) {
    auto [l, g] = value_and_grad(loss)(p, x, y);
    return std::pair{l, tree_map([&](Tensor w, Tensor dw) { return w - rate * dw; }, p, g)};
  });
  const Tensor x = reshape(arange(12) / 10.0, {4, 3});
  Affine p{zeros({3, 1}), zeros({1})};
  for (int i = 0; i < 3; ++i) {
    auto [l, next] = step(std::move(p), x, ones({4, 1}), 0.1);  // p's memory becomes next's
    p = std::move(next);
    std::cout << l << "\n";
  }
}

void of_signatures() {
  auto f = compile([](Tensor x) { return sum(x * x); });
  f(ones({3}));
  f(zeros({3}));        // runs what is there
  f(ones({4}));         // another shape: compiled again
  f(ones({4}, f32));    // another dtype: and again
  f.prepare(f64[{5}]);  // ahead of the first call
  std::cout << f.compilations() << " programs\n";
}

void of_frozen_values() {
  double rate = 0.5;
  auto frozen = compile([&](Tensor x) { return x - rate * x; });
  auto argument = compile([](Tensor x, Tensor r) { return x - r * x; });
  frozen(8.0);
  rate = 0.25;
  std::cout << frozen(8.0) << ", " << argument(8.0, rate) << "\n";
}

void of_options() {
  auto softly = [](Tensor x) { return log(1 + exp(x)); };
  auto native_only = compile(softly, {.name = "softly", .tier = Tier::native});
  auto no_compiler = compile(softly, {.tier = Tier::interpreter});
  std::cout << array_equal(native_only(ones({100})), no_compiler(ones({100}))) << "\n";
}

void of_explaining() {
  auto f = compile([](Tensor x, Tensor w) { return softmax(matmul(x, w), 1); });
  const Explanation e = explain(f, f64[{32, 64}], f64[{64, 10}]);
  for (const ExplainedStep& s : e.steps) std::cout << s.flops << " FLOP, " << s.bytes << " bytes\n";
  std::cout << (e.memory.arena_bytes <= e.memory.temporary_bytes) << ": temporaries share memory\n";
  std::cout << fallbacks(f, f64[{32, 64}], f64[{64, 10}]).size() << " fallbacks\n";
}

void of_profiling() {
  auto f = compile([](Tensor x, Tensor w) { return tanh(matmul(x, w)); });
  const Profile p = profile(f, ones({32, 64}), ones({64, 10}));
  std::cerr << p;              // a table
  save_trace(p, "step.json");  // for chrome://tracing and ui.perfetto.dev
}

void of_pointers() {
  auto slope = native<double(double)>(grad([](Tensor x) { return x * x * x; }));
  double (*pointer)(double) = slope.pointer();  // for a library that knows nothing of Hom
  std::cout << pointer(2.0) << "\n";
}

}  // namespace

int main() {
  of_a_training_step();
  of_signatures();
  of_frozen_values();
  of_options();
  of_explaining();
  of_profiling();
  of_pointers();
}
