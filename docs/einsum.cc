// docs/einsum.cc -- the snippets of einsum.md, and what they print
#include <iostream>

#include <hom/hom.h>

using namespace hom;

namespace {

void named_axes() {
  const Tensor a = tensor({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor b = tensor({{0.0, 1.0}, {1.0, 0.0}});
  std::cout << einsum("ij,jk->ik", a, b) << "\n";  // the matrix product
  std::cout << einsum("ij->ji", a) << "\n";        // transposed
  std::cout << einsum("ij->i", a) << "\n";         // the sum of each row
  std::cout << einsum("ii->i", a) << "\n";         // the diagonal
  std::cout << einsum("ii->", a) << "\n";          // the trace
  std::cout << einsum("ij,ij->", a, b) << "\n";    // the sum of products
}

void pullback() {
  auto trace = [](Tensor x) { return einsum("ii->", x); };
  std::cout << grad(trace)(ones({2, 2})) << "\n";
}

void attention_scores() {
  const Tensor q = ones({4, 8, 10, 16});  // batch, heads, positions, depth
  const Tensor k = ones({4, 8, 12, 16});
  std::cout << to_string(einsum("...qd,...kd->...qk", q, k).type()) << "\n";
}

void order() {
  auto chain = [](Tensor a, Tensor b, Tensor x) { return einsum("ij,jk,k->i", a, b, x); };
  std::cout << to_text(program(chain, f64[{50, 60}], f64[{60, 70}], f64[{70}])) << "\n";
}

}  // namespace

int main() {
  named_axes();
  pullback();
  attention_scores();
  order();
}
