// docs/categories/graph.cc -- a program as boxes and wires
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const auto f = [](Tensor x, Tensor y) { return cos(x + y * x); };
  const Graph g = graph(f, f64[{}], f64[{}]);
  for (const Graph::Wire& wire : g.wires)
    std::cout << g.nodes[wire.from].title << " -> " << g.nodes[wire.to].title << "\n";
  save_dot(g, "f.dot");  // and save_svg draws it
}
