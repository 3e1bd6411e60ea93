// docs/numbers.cc -- the edge cases of numbers.md, each computed
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>

#include <hom/hom.h>

using namespace hom;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void heading(const char* text) { std::cout << text << "\n"; }

/// One row: an expression and its value, without the type where that is f64.
void row(const char* what, const Tensor& value) {
  std::string text = to_string(value);
  if (value.dtype() == f64) text.erase(0, text.find(' ') + 1);
  std::string line = "  ";
  line += what;
  line.resize(std::max<std::size_t>(line.size() + 1, 42), ' ');
  std::cout << line << text << "\n";
}

/// The gradient of the sum of f.
template <class F>
Tensor slope(F f, const Tensor& x) {
  return grad([&](Tensor v) { return sum(f(v)); })(x);
}

void literals() {
  heading("C++ numbers as tensors");
  row("Tensor(true)", true);
  row("Tensor(3), 16-bit integers too", 3);
  row("Tensor(3u)", 3u);
  row("Tensor(std::int64_t{3})", std::int64_t{3});
  row("Tensor(std::uint8_t{3})", std::uint8_t{3});
  row("Tensor(0.5f)", 0.5f);
  std::cout << "  Tensor(0.5)                             " << to_string(Tensor(0.5)) << "\n";
}

void extremes() {
  heading("ties and kinks: gradients");
  row("maximum(x, y) at (1, 1)", stack({grad([](Tensor x) { return maximum(x, 1.0); })(1.0),
                                        grad([](Tensor y) { return maximum(1.0, y); })(1.0)}));
  row("max of (3, 3, 1)", slope([](Tensor x) { return max(x); }, tensor({3.0, 3.0, 1.0})));
  row("abs, sign at 0", stack({grad([](Tensor x) { return abs(x); })(0.0),
                               grad([](Tensor x) { return sign(x); })(0.0)}));
  row("relu at 0", grad([](Tensor x) { return relu(x); })(0.0));
  row("clamp(x, 0, 1) at 0 and 1",
      slope([](Tensor x) { return clamp(x, 0.0, 1.0); }, tensor({0.0, 1.0})));
  row("norm at (0, 0)", slope([](Tensor x) { return norm(x); }, zeros({2})));
  row("hypot at (0, 0)", grad([](Tensor x) { return hypot(x, 0.0); })(0.0));
  row("standard_deviation of (5, 5)",
      slope([](Tensor x) { return standard_deviation(x); }, tensor({5.0, 5.0})));
}

void guarded() {
  heading("the branch not taken, and what is multiplied by zero: gradients");
  row("where(x > 0, sqrt(x), 0) at 0",
      grad([](Tensor x) { return where(x > 0.0, sqrt(x), 0.0); })(0.0));
  row("where(x > 0, log(x), x) at 0",
      grad([](Tensor x) { return where(x > 0.0, log(x), x); })(0.0));
  auto root_of_square = [](Tensor x) { return sqrt(x * x); };
  row("sqrt(x * x) at 0, reverse", grad(root_of_square)(0.0));
  row("sqrt(x * x) at 0, forward", jvp(root_of_square)(0.0, 1.0).second);
}

void powers() {
  heading("powers");
  row("pow(0, 0)", pow(Tensor(0.0), 0.0));
  row("d/dx pow(x, 2) at 0", grad([](Tensor x) { return pow(x, 2.0); })(0.0));
  row("d/dy pow(0, y) at 2", grad([](Tensor y) { return pow(0.0, y); })(2.0));
}

void whole_numbers() {
  heading("integers");
  row("7 / 2, -7 / 2", tensor({7, -7}) / 2);
  row("7 % -2, -7 % 2", stack({Tensor(7) % -2, Tensor(-7) % 2}));
  row("7 / 0, 7 % 0", stack({Tensor(7) / 0, Tensor(7) % 0}));
  const std::int32_t least = INT32_MIN;
  row("least i32 / -1", Tensor(least) / -1);
  row("u8: 250 + 10", tensor<std::uint8_t>({250}) + 10);
  row("1 << 31, 1 << 32", stack({Tensor(1) << 31, Tensor(1) << 32}));
  row("-8 >> 1, -8 >> 99", tensor({-8, -8}) >> tensor({1, 99}));
  row("pow(3, 4)", pow(Tensor(3), 4));
  row("-7.0 % 3.0, 7.0 % 0.0", stack({Tensor(-7.0) % 3.0, Tensor(7.0) % 0.0 == nan}));
}

void conversions() {
  heading("float to integer");
  const Tensor wild = tensor({2.9, -2.9, 1e300, -inf, nan});
  row("2.9, -2.9, 1e300, -inf, nan to i8", wild.astype(i8));
  row("to u32", wild.astype(u32));
}

void missing_numbers() {
  heading("NaN");
  const Tensor x = tensor({1.0, nan, 3.0, nan});
  row("max", max(x));
  row("argmax", argmax(x, 0));
  row("maximum(nan, 1)", maximum(nan, Tensor(1.0)));
  row("nan == nan", Tensor(nan) == nan);
}

void sums() {
  heading("sums");
  row("0.1f, 10^6 times", sum(full({1000000}, 0.1, f32)));
  row("bf16 0.1, 10^4 times", sum(full({10000}, 0.1, bf16)));
  row("last of cumsum of 2^25 ones in f32", cumsum(ones({1 << 25}, f32))(-1));
}

void out_of_range() {
  heading("positions outside 0 … 2: of gather, and of scatter onto 0 0 0");
  const Tensor x = tensor({1.0, 2.0, 3.0});
  const Tensor at = reshape(tensor({1, 5, -1}), {3, 1});
  row("gather, clip", gather(x, at, {0}, Bounds::clip));
  row("gather, drop", gather(x, at, {0}, Bounds::drop));
  row("scatter, drop", scatter(zeros({3}), at, x, {0}, Combine::add, Bounds::drop));
  row("scatter, clip", scatter(zeros({3}), at, x, {0}, Combine::add, Bounds::clip));
}

void nothing() {
  heading("reductions of no elements");
  const Tensor none = zeros({0});
  row("sum, prod, logsumexp", stack({sum(none), prod(none), logsumexp(none)}));
  row("all_of, any_of", stack({all_of(none > 0.0), any_of(none > 0.0)}));
  row("mean is NaN", is_nan(mean(none)));
  row("max_or(none, 7)", max_or(none, 7.0));
}

}  // namespace

int main() {
  literals();
  extremes();
  guarded();
  powers();
  whole_numbers();
  conversions();
  missing_numbers();
  sums();
  out_of_range();
  nothing();
}
