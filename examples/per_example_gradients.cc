// examples/per_example_gradients.cc -- one gradient for each example of a batch, without a loop
#include <iostream>

#include <hom/hom.h>

using namespace hom;

struct Line {
  BOOST_HANA_DEFINE_STRUCT(Line, (Tensor, slope), (Tensor, offset));
};

int main() {
  // The loss of one example.
  auto loss = [](Line line, Tensor x, Tensor y) {
    const Tensor error = line.slope * x + line.offset - y;
    return error * error;
  };
  const Line line{2.0, -1.0};
  const Tensor x = tensor({0.0, 1.0, 2.0, 3.0});
  const Tensor y = tensor({-1.0, 1.5, 3.0, 9.0});

  // The line is the same for all examples; x and y have one lane for each.
  const auto per_example = vmap(grad(loss), {unmapped, 0, 0});
  const Line each = per_example(line, x, y);
  std::cout << "slopes   " << each.slope << "\n";
  std::cout << "offsets  " << each.offset << "\n";

  // Each gradient clipped to norm 1, and only then their mean.
  const Tensor norms = hypot(each.slope, each.offset);
  const auto clipped = [&](Tensor g) { return mean(g / maximum(norms, 1.0)); };
  std::cout << "clipped  " << clipped(each.slope) << ", " << clipped(each.offset) << "\n";

  // Without clipping, their sum is the gradient of the sum.
  const auto total = [&](Line l) { return sum(vmap(loss, {unmapped, 0, 0})(l, x, y)); };
  std::cout << "sums     " << sum(each.slope) << " = " << grad(total)(line).slope << "\n";

  // Lanes that take another branch cost, but harm nothing: the root of a negative number is not
  // taken, and its gradient is not NaN.
  auto root = [](Tensor a) {
    return cond(a > 0, [](Tensor b) { return sqrt(b); }, [](Tensor) { return Tensor(0.0); }, a);
  };
  std::cout << "roots    " << vmap(root)(tensor({4.0, -4.0})) << "\n";
  std::cout << "slopes   " << vmap(grad(root))(tensor({4.0, -4.0})) << "\n";
}
