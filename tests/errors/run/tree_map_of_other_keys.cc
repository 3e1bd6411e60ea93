// tests/errors/run/tree_map_of_other_keys.cc -- maps with different keys
// expect: the structures of products differ
// expect: `tree.bias`
// expect: `tree.weight`
#include <map>
#include <string>

#include "tests/errors/fails.h"

MISTAKE(tree_map_of_other_keys) {
  using Parameters = std::map<std::string, Tensor>;
  const auto add = [](Tensor a, Tensor b) { return a + b; };
  const Parameters x{{"bias", 1.0}};
  const Parameters y{{"weight", 1.0}};
#ifdef ALLOWED
  tree_map(add, x, x);
  tree_map(add, y, y);
#else
  tree_map(add, x, y);  // here
#endif
}
