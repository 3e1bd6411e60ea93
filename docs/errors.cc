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
}
