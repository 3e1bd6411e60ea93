// docs/categories/depth.cc -- a category of one's own: the longest chain of steps to each result
#include <algorithm>
#include <iostream>

#include <hom/categories/interpret.h>
#include <hom/hom.h>

using namespace hom;

/// How many steps lie one behind the other: the time that as many processors as there are steps
/// would need.
struct Depths {
  using Value = int;

  std::string name() const { return "depths"; }
  std::string lacks(const Primitive& primitive) const {
    return primitive.name == "cond" ? "it would have to choose a branch" : "";
  }
  std::vector<int> primitive(const categories::Operation& operation, std::span<const int> x) const {
    const int deepest = x.empty() ? 0 : *std::max_element(x.begin(), x.end());
    const bool computes = !x.empty();  // literals are there from the start
    return std::vector<int>(operation.results.size(), deepest + computes);
  }
};

int main() {
  const auto f = [](Tensor x, Tensor y) { return std::tuple{cos(x + y * x), x * y}; };
  const Program p = program(f, f64[{}], f64[{}]);
  for (int depth : categories::interpret(Depths{}, p, {0, 0})) std::cout << depth << " ";
  std::cout << "\n";
}
