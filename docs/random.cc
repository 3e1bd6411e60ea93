// docs/random.cc -- the snippets of random.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void keys() {
  const Key root = key(42);
  const std::vector<Key> two = split(root);  // one for each use
  std::cout << uniform(two[0], {3}) << "\n" << normal(two[1], {3}) << "\n";
  std::cout << array_equal(uniform(two[0], {3}), uniform(two[0], {5})(Range{0, 3})) << "\n";
}

void steps() {
  const Key training = key(7);
  for (int step = 0; step < 2; ++step) {
    const Key of_step = fold_in(training, step);
    std::cout << permutation(of_step, 6) << "\n";
  }
}

void lanes() {
  const auto draw = [](Key k) { return random_integers(k, {4}, 0, 10); };
  const Key many{random_bits(key(1), {3, 2})};  // words u32[3, 2]: three keys
  std::cout << vmap(draw)(many) << "\n";
}

void pathwise() {
  const auto loss = [](Tensor mean, Tensor deviation) {
    const Tensor x = mean + deviation * normal(key(3), {10000}, f64);
    return hom::mean(x * x);  // its expectation is mean² + deviation²
  };
  const auto [of_mean, of_deviation] = grad(loss, wrt<0, 1>)(1.0, 2.0);
  std::cout << of_mean << ", " << of_deviation << "\n";

  const auto second_moment = [](Tensor alpha) {
    return mean(square(gamma(key(4), alpha, {10000})));  // its expectation is alpha² + alpha
  };
  std::cout << grad(second_moment)(3.0) << "\n";
}

void choices() {
  const Tensor logits = log(tensor({0.7, 0.2, 0.1}));
  std::cout << categorical(key(5), broadcast_to(logits, {10, 3})) << "\n";
  std::cout << bernoulli(key(6), tensor({0.0, 0.5, 1.0})) << "\n";
}

}  // namespace

int main() {
  keys();
  steps();
  lanes();
  pathwise();
  choices();
}
