// tests/errors/run/structure_mismatch_in_tree_map.cc -- products with fewer leaves
// expect: the structures of products differ
// expect: `tree[1]`
// expect: hint: pass products of one type, with vectors of one length and maps with the same keys
#include <vector>

#include "tests/errors/fails.h"

MISTAKE(structure_mismatch_in_tree_map) {
  const auto add = [](Tensor a, Tensor b) { return a + b; };
  const std::vector<Tensor> x{1.0, 2.0};
  const std::vector<Tensor> shorter{1.0};
#ifdef ALLOWED
  tree_map(add, x, x);
#else
  tree_map(add, x, shorter);  // here
#endif
}
