// tests/benchmarks/calls.cc -- from a typed call of a compiled function to native code and back
//
//     bazel run -c opt //tests/benchmarks:calls
//
// ns of a call whose code takes almost nothing, the least of many rounds: by the plain pointer, by
// numbers, by tensors, and with many leaves.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <hom/hom.h>

using namespace hom;

namespace {

template <class Call>
void row(const std::string& name, const Call& call) {
  using Clock = std::chrono::steady_clock;
  constexpr int calls = 2000;
  double least = 1e300;
  for (int round = 0; round < 300; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::nano> elapsed = Clock::now() - start;
    least = std::min(least, elapsed.count() / calls);
  }
  std::printf("| %s | %.0f |\n", name.c_str(), least);
  std::fflush(stdout);
}

volatile double sink = 0;

}  // namespace

int main() {
  std::printf("| call | ns |\n|---|---|\n");
  const auto f = [](Tensor x, Tensor y) { return x * y + x; };
  const auto plain = native<double(double, double)>(f);
  double (*pointer)(double, double) = plain.pointer();
  row("plain pointer, double(double, double)", [&] { sink = pointer(0.1, 0.2); });

  const auto g = compile(f);
  row("f(0.1, 0.2)", [&] { g(0.1, 0.2); });
  const Tensor x(0.1);
  const Tensor y(0.2);
  row("f(x, y), tensors of rank 0", [&] { g(x, y); });
  Tensor kept;
  row("kept = f(x, y)", [&] { kept = g(x, y); });
  const Tensor left = copy(ones({8}));
  const Tensor right = copy(ones({8}));
  row("f(x, y), tensors of 8 elements", [&] { g(left, right); });
  const auto with_gradient = compile(value_and_grad(f, wrt<0, 1>));
  row("value_and_grad(f)(x, y), three results", [&] { with_gradient(x, y); });

  const auto step = compile([](std::vector<Tensor> p, Tensor rate) {
    for (Tensor& one : p) one = one - rate * one;
    return p;
  });
  const std::vector<Tensor> leaves(20, copy(ones({4})));
  row("20 leaves to 20 results", [&] { step(leaves, 0.1); });
  std::vector<Tensor> given;
  for (int i = 0; i < 20; ++i) given.push_back(copy(ones({4})));
  row("p = f(std::move(p)), 20 leaves", [&] { given = step(std::move(given), 0.1); });
  return 0;
}
