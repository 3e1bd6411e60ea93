// tests/benchmarks/vmap.cc -- one batched call beside a loop of calls: Jacobians, and a small
// function over many lanes
//
// Prints times in ms, each the median of several runs that alternate, and their ratio. Both sides
// give the same bits, which is checked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <vector>

#include <hom/hom.h>

using namespace hom;

namespace {

double milliseconds(const std::function<Tensor()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  return elapsed.count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void row(const char* name, const std::function<Tensor()>& loop,
         const std::function<Tensor()>& batched) {
  ensure(array_equal(loop(), batched()), "both ways give the same bits");
  std::vector<double> loops;
  std::vector<double> batches;
  for (int round = 0; round < 15; ++round) {
    loops.push_back(milliseconds(loop));
    batches.push_back(milliseconds(batched));
  }
  const double a = median(loops);
  const double b = median(batches);
  std::printf("| %-58s | %9.3f | %9.3f | %6.1f |\n", name, a, b, a / b);
}

/// 100 → 100, with one hidden layer.
struct Network {
  Tensor first = uniform(key(1), {100, 100}, -0.1, 0.1, f64);
  Tensor second = uniform(key(2), {100, 100}, -0.1, 0.1, f64);
  Tensor operator()(const Tensor& x) const { return tanh(matmul(second, tanh(matmul(first, x)))); }
};

/// Columns by one call of the linear map for each basis vector.
Tensor jacobian_by_columns(const Network& f, const Tensor& x) {
  const auto map = linearize(f)(x).second;
  const Tensor basis = eye(x.size());
  std::vector<Tensor> columns;
  for (std::int64_t k = 0; k < x.size(); ++k) columns.push_back(map(basis(k)));
  return stack(columns, 1);
}

/// Rows by one call of the pullback for each.
Tensor jacobian_by_rows(const Network& f, const Tensor& x) {
  const auto pullback = vjp(f)(x).second;
  const Tensor basis = eye(x.size());
  std::vector<Tensor> rows;
  for (std::int64_t k = 0; k < x.size(); ++k) rows.push_back(pullback(basis(k)));
  return stack(rows);
}

template <class F>
std::function<Tensor()> loop_over(const F& f, const Tensor& x) {
  return [f, x] {
    std::vector<Tensor> results;
    for (std::int64_t lane = 0; lane < x.extent(0); ++lane) results.push_back(f(x(lane)));
    return stack(results);
  };
}

}  // namespace

int main() {
  std::printf("| %-58s | loop, ms  | vmap, ms  | ratio  |\n|---|---|---|---|\n", "");
  const Network f;
  const Tensor x = uniform(key(3), {100}, -1, 1, f64);
  row(
      "Jacobian of a function from 100 to 100 numbers, forward",
      [&] { return jacobian_by_columns(f, x); }, [&] { return jacobian(f, Mode::forward)(x); });
  row(
      "the same, reverse", [&] { return jacobian_by_rows(f, x); },
      [&] { return jacobian(f, Mode::reverse)(x); });

  const Tensor lanes = uniform(key(4), {1000, 8}, -1, 1, f64);
  const auto small = [](const Tensor& a) { return sum(a * sin(a)) / (1 + sum(a * a)); };
  row("a function of 8 numbers, 1,000 lanes, eager", loop_over(small, lanes),
      [&] { return vmap(small)(lanes); });
  const Program one = program(small, f64[{8}]);
  const Program many = program(vmap(small), f64[{1000, 8}]);
  const auto run = [&](const Tensor& a) { return evaluate(one, {a})[0]; };
  row("the same, captured once", loop_over(run, lanes), [&] { return evaluate(many, {lanes})[0]; });
  const auto slope = grad(small);
  row("its gradient, 1,000 lanes, captured at each call", loop_over(slope, lanes),
      [&] { return vmap(slope)(lanes); });
}
