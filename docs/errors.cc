// docs/errors.cc -- the mistakes of errors.md beside their mended twins; prints the messages
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>
#include <vector>

#include <hom/hom.h>

using namespace hom;

namespace {

namespace shapes_do_not_broadcast {
void mistake() {
  const Tensor scores = zeros({64, 10});
  const Tensor shifted = scores - max(scores, 1);
}
void mended() {
  const Tensor scores = zeros({64, 10});
  const Tensor shifted = scores - max(scores, 1, Keep::yes);
}
}  // namespace shapes_do_not_broadcast

namespace inner_extents_differ {
void mistake() {
  const Tensor x = zeros({64, 784}, f32);
  const Tensor weight = zeros({128, 784}, f32);
  auto forward = named("forward", [&](Tensor input) { return matmul(input, weight); });
  forward(x);
}
void mended() {
  const Tensor x = zeros({64, 784}, f32);
  const Tensor weight = zeros({128, 784}, f32);
  auto forward = named("forward", [&](Tensor input) { return matmul(input, weight.T()); });
  forward(x);
}
}  // namespace inner_extents_differ

namespace value_of_a_symbol {
void mistake() {
  auto f = [](Tensor x) { return x.item() > 0 ? x : -x; };
  grad(f)(2.0);
}
void mended() {
  auto f = [](Tensor x) { return where(x > 0, x, -x); };
  grad(f)(2.0);
}
}  // namespace value_of_a_symbol

namespace leaked_symbol {
void mistake() {
  Tensor inner;
  auto f = [&](Tensor x) {
    inner = sin(x);
    return inner * inner;
  };
  const Tensor slope = grad(f)(2.0);
  inner + slope;
}
void mended() {
  auto f = [](Tensor x) {
    const Tensor inner = sin(x);
    return std::pair{inner * inner, inner};
  };
  auto [values, slopes] = jvp(f)(2.0, 1.0);
  values.second + slopes.first;
}
}  // namespace leaked_symbol

namespace another_thread {
void mistake() {
  std::exception_ptr failure;
  auto f = [&](Tensor x) {
    std::thread worker([&] {
      try {
        sin(x);
      } catch (const Error&) {
        failure = std::current_exception();
      }
    });
    worker.join();
    return x;
  };
  grad(f)(2.0);
  if (failure) std::rethrow_exception(failure);
}
void mended() {
  auto f = [](Tensor x) { return sin(x); };
  std::thread worker([&] { grad(f)(2.0); });
  worker.join();
}
}  // namespace another_thread

namespace empty_tensor {
void mistake() {
  Tensor total;
  for (const double x : {1.0, 2.0}) total += x;
}
void mended() {
  Tensor total = 0.0;
  for (const double x : {1.0, 2.0}) total += x;
}
}  // namespace empty_tensor

namespace gradient_of_a_vector {
void mistake() {
  auto squares = [](Tensor x) { return x * x; };
  grad(squares)(tensor({1.0, 2.0, 3.0}));
}
void mended() {
  auto squares = [](Tensor x) { return x * x; };
  grad([&](Tensor x) { return sum(squares(x)); })(tensor({1.0, 2.0, 3.0}));
  jacobian(squares)(tensor({1.0, 2.0, 3.0}));
}
}  // namespace gradient_of_a_vector

namespace gradient_of_an_integer {
void mistake() {
  auto square = [](Tensor x) { return x * x; };
  grad(square)(3);
}
void mended() {
  auto square = [](Tensor x) { return x * x; };
  grad(square)(3.0);
}
}  // namespace gradient_of_an_integer

namespace not_linear {
void mistake() {
  auto shifted = [](Tensor x) { return 2.0 * x + 1.0; };
  transpose(shifted, f64[{3}])(ones({3}));
}
void mended() {
  auto doubled = [](Tensor x) { return 2.0 * x; };
  transpose(doubled, f64[{3}])(ones({3}));
}
}  // namespace not_linear

namespace floats_only {
void mistake() {
  const Tensor n = arange(4);
  const Tensor roots = sqrt(n);
}
void mended() {
  const Tensor n = arange(4);
  const Tensor roots = sqrt(n.astype(f64));
}
}  // namespace floats_only

namespace number_does_not_fit {
void mistake() {
  const Tensor pixels = zeros({28, 28}, u8);
  const Tensor brighter = pixels + 300;
}
void mended() {
  const Tensor pixels = zeros({28, 28}, u8);
  const Tensor brighter = pixels.astype(i32) + 300;
}
}  // namespace number_does_not_fit

namespace out_of_range {
void mistake() {
  const Tensor table = zeros({100, 16});
  const Tensor rows = take(table, tensor({3, 100}));
}
void mended() {
  const Tensor table = zeros({100, 16});
  const Tensor rows = take(table, tensor({3, 100}), 0, Bounds::clip);
}
}  // namespace out_of_range

namespace extreme_of_nothing {
void mistake() {
  const Tensor measured = zeros({0, 3});
  const Tensor largest = max(measured, 0);
}
void mended() {
  const Tensor measured = zeros({0, 3});
  const Tensor largest = max_or(measured, 0.0, 0);
}
}  // namespace extreme_of_nothing

namespace structures_differ {
void mistake() {
  const std::vector<Tensor> weights{1.0, 2.0};
  const std::vector<Tensor> gradient{0.1};
  tree_map([](Tensor w, Tensor dw) { return w - dw; }, weights, gradient);
}
void mended() {
  const std::vector<Tensor> weights{1.0, 2.0};
  const std::vector<Tensor> gradient{0.1, 0.2};
  tree_map([](Tensor w, Tensor dw) { return w - dw; }, weights, gradient);
}
}  // namespace structures_differ

namespace numbers_of_lanes {
void mistake() {
  auto predict = [](Tensor weight, Tensor x) { return dot(weight, x); };
  vmap(predict)(ones({10}), ones({64, 10}));
}
void mended() {
  auto predict = [](Tensor weight, Tensor x) { return dot(weight, x); };
  vmap(predict, {unmapped, 0})(ones({10}), ones({64, 10}));
}
}  // namespace numbers_of_lanes

namespace lanes_of_a_scalar {
void mistake() {
  auto scaled = [](Tensor x, Tensor factor) { return x * factor; };
  vmap(scaled)(ones({64, 10}), 2.0);
}
void mended() {
  auto scaled = [](Tensor x, Tensor factor) { return x * factor; };
  vmap(scaled, {0, unmapped})(ones({64, 10}), 2.0);
}
}  // namespace lanes_of_a_scalar

namespace carry_changes_its_type {
void mistake() {
  auto halves = [](Tensor i, Tensor sum) { return sum + pow(0.5, i); };
  fori_loop(0, 10, halves, 0);
}
void mended() {
  auto halves = [](Tensor i, Tensor sum) { return sum + pow(0.5, i); };
  fori_loop(0, 10, halves, 0.0);
}
}  // namespace carry_changes_its_type

namespace elements_of_a_scan {
void mistake() {
  const Tensor widths = full({9}, 0.1);
  const Tensor heights = linspace(0, 1, 10);
  auto area = [](Tensor sum, std::pair<Tensor, Tensor> x) {
    const Tensor next = sum + x.first * x.second;
    return std::pair{next, next};
  };
  scan(area, 0.0, std::pair{widths, heights});
}
void mended() {
  const Tensor widths = full({9}, 0.1);
  const Tensor heights = linspace(0, 1, 10);
  auto area = [](Tensor sum, std::pair<Tensor, Tensor> x) {
    const Tensor next = sum + x.first * x.second;
    return std::pair{next, next};
  };
  scan(area, 0.0, std::pair{widths, heights(Range{1, 10})});
}
}  // namespace elements_of_a_scan

namespace reverse_mode_of_a_while_loop {
void mistake() {
  auto doubled = [](Tensor x) {
    return while_loop([](Tensor y) { return y < 100; }, [](Tensor y) { return 2 * y; }, x);
  };
  grad(doubled)(1.0);
}
void mended() {
  auto goes_on = [](Tensor y) { return y < 100; };
  auto twice = [](Tensor y) { return 2 * y; };
  grad([&](Tensor x) { return while_loop(goes_on, twice, x, {.bound = 64}); })(1.0);
  jvp([&](Tensor x) { return while_loop(goes_on, twice, x); })(1.0, 1.0);
}
}  // namespace reverse_mode_of_a_while_loop

namespace branches_differ {
void mistake() {
  auto f = [](Tensor x) {
    return cond(max(x) > 1, [](Tensor t) { return sum(t); }, [](Tensor t) { return t; }, x);
  };
  jacobian(f)(ones({3}));
}
void mended() {
  auto f = [](Tensor x) {
    return cond(max(x) > 1, [](Tensor t) { return t / sum(t); }, [](Tensor t) { return t; }, x);
  };
  jacobian(f)(ones({3}));
}
}  // namespace branches_differ

namespace rule_with_a_closure {
void mistake() {
  auto power = [](Tensor x, Tensor a) {
    auto f = custom_jvp([&](Tensor t) { return pow(t, a); },
                        [&](Tensor t, Tensor, Tensor dt) { return a * pow(t, a - 1) * dt; });
    return f(x);
  };
  grad(power, wrt<0, 1>)(2.0, 3.0);
}
void mended() {
  auto power = custom_jvp([](Tensor x, Tensor a) { return pow(x, a); },
                          [](Tensor x, Tensor a, Tensor y, Tensor dx, Tensor da) {
                            return a * pow(x, a - 1) * dx + y * log(x) * da;
                          });
  grad(power, wrt<0, 1>)(2.0, 3.0);
}
}  // namespace rule_with_a_closure

namespace rule_that_is_not_linear {
void mistake() {
  auto square =
      custom_jvp([](Tensor x) { return x * x; }, [](Tensor, Tensor, Tensor dx) { return dx * dx; });
  grad(square)(3.0);
}
void mended() {
  auto square = custom_jvp([](Tensor x) { return x * x; },
                           [](Tensor x, Tensor, Tensor dx) { return 2 * x * dx; });
  grad(square)(3.0);
}
}  // namespace rule_that_is_not_linear

namespace cotangent_of_another_shape {
void mistake() {
  auto energy = custom_vjp([](Tensor x) { return sum(x * x); },
                           [](Tensor x) { return std::pair{sum(x * x), x}; },
                           [](Tensor x, Tensor ct) { return 2 * sum(x) * ct; });
  grad(energy)(ones({3}));
}
void mended() {
  auto energy = custom_vjp([](Tensor x) { return sum(x * x); },
                           [](Tensor x) { return std::pair{sum(x * x), x}; },
                           [](Tensor x, Tensor ct) { return 2 * x * ct; });
  grad(energy)(ones({3}));
}
}  // namespace cotangent_of_another_shape

namespace forward_mode_of_a_custom_vjp {
void mistake() {
  auto same = [](Tensor x) { return x; };
  auto forward = [](Tensor x) { return std::pair{x, std::tuple<>()}; };
  auto clipped =
      custom_vjp(same, forward, [](std::tuple<>, Tensor ct) { return clamp(ct, -1, 1); });
  jvp([&](Tensor x) { return 5 * clipped(x); })(2.0, 1.0);
}
void mended() {
  auto same = [](Tensor x) { return x; };
  auto forward = [](Tensor x) { return std::pair{x, std::tuple<>()}; };
  auto clipped =
      custom_vjp(same, forward, [](std::tuple<>, Tensor ct) { return clamp(ct, -1, 1); });
  grad([&](Tensor x) { return 5 * clipped(x); })(2.0);
}
}  // namespace forward_mode_of_a_custom_vjp

namespace equations_and_unknowns {
void mistake() {
  auto root =
      implicit([](Tensor a) { return sqrt(a); }, [](Tensor x, Tensor a) { return sum(x * x - a); });
  jacobian(root)(tensor({4.0, 9.0}));
}
void mended() {
  auto root =
      implicit([](Tensor a) { return sqrt(a); }, [](Tensor x, Tensor a) { return x * x - a; });
  jacobian(root)(tensor({4.0, 9.0}));
}
}  // namespace equations_and_unknowns

namespace value_of_an_update {
void mistake() {
  Tensor table = zeros({4, 3});
  table.at(all, 0) = tensor({1.0, 2.0, 3.0});
}
void mended() {
  Tensor table = zeros({4, 3});
  table.at(0) = tensor({1.0, 2.0, 3.0});
  table.at(all, 0) = tensor({1.0, 2.0, 3.0, 4.0});
}
}  // namespace value_of_an_update

namespace read_by_a_mask {
void mistake() {
  const Tensor x = tensor({1.0, -2.0, 3.0});
  const Tensor total = sum(x(x > 0));
}
void mended() {
  Tensor x = tensor({1.0, -2.0, 3.0});
  const Tensor total = sum(where(x > 0, x, 0));
  x.at(x < 0) = 0.0;
}
}  // namespace read_by_a_mask

/// Prints the error of the mistake, and sees that there is one, and none in the twin.
void show(void (*mistake)(), void (*mended)()) {
  mended();
  try {
    mistake();
  } catch (const Error& error) {
    std::cout << error.what() << "\n\n";
    return;
  }
  std::cout << "the mistake went unnoticed\n";
  std::exit(EXIT_FAILURE);
}

}  // namespace

int main() {
  show(shapes_do_not_broadcast::mistake, shapes_do_not_broadcast::mended);
  show(inner_extents_differ::mistake, inner_extents_differ::mended);
  show(value_of_a_symbol::mistake, value_of_a_symbol::mended);
  show(leaked_symbol::mistake, leaked_symbol::mended);
  show(another_thread::mistake, another_thread::mended);
  show(empty_tensor::mistake, empty_tensor::mended);
  show(gradient_of_a_vector::mistake, gradient_of_a_vector::mended);
  show(gradient_of_an_integer::mistake, gradient_of_an_integer::mended);
  show(not_linear::mistake, not_linear::mended);
  show(floats_only::mistake, floats_only::mended);
  show(number_does_not_fit::mistake, number_does_not_fit::mended);
  show(out_of_range::mistake, out_of_range::mended);
  show(extreme_of_nothing::mistake, extreme_of_nothing::mended);
  show(structures_differ::mistake, structures_differ::mended);
  show(numbers_of_lanes::mistake, numbers_of_lanes::mended);
  show(lanes_of_a_scalar::mistake, lanes_of_a_scalar::mended);
  show(carry_changes_its_type::mistake, carry_changes_its_type::mended);
  show(elements_of_a_scan::mistake, elements_of_a_scan::mended);
  show(reverse_mode_of_a_while_loop::mistake, reverse_mode_of_a_while_loop::mended);
  show(branches_differ::mistake, branches_differ::mended);
  show(rule_with_a_closure::mistake, rule_with_a_closure::mended);
  show(rule_that_is_not_linear::mistake, rule_that_is_not_linear::mended);
  show(cotangent_of_another_shape::mistake, cotangent_of_another_shape::mended);
  show(forward_mode_of_a_custom_vjp::mistake, forward_mode_of_a_custom_vjp::mended);
  show(equations_and_unknowns::mistake, equations_and_unknowns::mended);
  show(value_of_an_update::mistake, value_of_an_update::mended);
  show(read_by_a_mask::mistake, read_by_a_mask::mended);
}
