// examples/error_messages.cc -- a mistake is told with operands, line, function and way out
#include <iostream>

#include <hom/hom.h>

using namespace hom;

/// Prints the error that `f` throws.
template <class F>
void show(F f) {
  try {
    f();
  } catch (const Error& error) {
    std::cout << error.what() << "\n\n";
  }
}

int main() {
  const auto forward = named("forward", [](Tensor x, Tensor weight) { return matmul(x, weight); });
  show([&] { forward(zeros({64, 784}, f32), zeros({128, 10}, f32)); });

  // Captured or not, the message is the same, and so it is from inside a derivative.
  const auto loss = [&](Tensor weight, Tensor x) { return sum(forward(x, weight)); };
  show([&] { grad(loss)(zeros({128, 10}, f32), zeros({64, 784}, f32)); });

  show([] { grad([](Tensor x) { return x * x; })(tensor({1.0, 2.0})); });

  // hom::Error is the user's mistake; hom::Bug, which nothing here throws, would be Hom's own.
  show([] { take(arange(3), tensor({0, 7})); });
}
