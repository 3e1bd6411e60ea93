// examples/recurrent_network_by_scan.cc -- a recurrent network learns to add up what it hears
#include <iostream>

#include <hom/hom.h>

using namespace hom;

struct Cell {
  BOOST_HANA_DEFINE_STRUCT(Cell, (Tensor, recurrent), (Tensor, input), (Tensor, bias),
                           (Tensor, read));
};

int main() {
  constexpr std::int64_t hidden = 8;
  constexpr std::int64_t length = 12;
  constexpr std::int64_t batch = 32;
  const std::vector<Key> keys = split(key(1), 4);
  auto random = [&](std::size_t i, const Shape& shape) {
    return uniform(keys[i], shape, -0.5, 0.5);
  };
  Cell cell{random(0, {hidden, hidden}), random(1, {hidden}), zeros({hidden}, f32),
            random(2, {hidden})};

  // One sequence: the state is the carry, and each element gives one prediction.
  auto network = [](const Cell& c, Tensor xs) {
    auto step = [&](Tensor state, Tensor x) {
      const Tensor next = tanh(matmul(c.recurrent, state) + c.input * x + c.bias);
      return std::pair{next, sum(c.read * next)};
    };
    return scan(step, zeros({hidden}, f32), xs).second;
  };

  // All sequences at once, and the loss over them.
  auto loss = [&](const Cell& c, Tensor xs, Tensor sums) {
    return mean_squared_error(vmap(network, {unmapped, 0})(c, xs), sums);
  };
  const Tensor xs = 0.5 * random(3, {batch, length});
  const Tensor sums = cumsum(xs, 1);

  for (int i = 0; i <= 600; ++i) {
    const auto [value, slope] = value_and_grad(loss)(cell, xs, sums);
    if (i % 200 == 0) std::cout << "step " << i << ": loss " << (round(value * 1e4) / 1e4) << "\n";
    cell = tree_map([](Tensor w, Tensor dw) { return w - 0.1 * dw; }, cell, slope);
  }

  // The program is as long for 12 elements as for 12,000.
  auto steps = [&](std::int64_t n) {
    return program(grad(loss), cell, f32[{batch, n}], f32[{batch, n}]).step_count();
  };
  std::cout << (steps(length) == steps(12'000) ? "one program" : "two programs") << "\n";
}
