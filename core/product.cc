// core/product.cc -- errors of products
#include <hom/core/product.h>

namespace hom::detail {

void require_same_structure(const std::vector<std::string>& first,
                            const std::vector<std::string>& other, const Location& at) {
  if (first == other) return;
  std::size_t i = 0;
  while (i < first.size() && i < other.size() && first[i] == other[i]) ++i;
  const std::string here = i < first.size() ? "`" + first[i] + "`" : "nothing";
  const std::string there = i < other.size() ? "`" + other[i] + "`" : "nothing";
  fail({"the structures of products differ: leaf " + std::to_string(i) + " is " + here +
            " in the first and " + there + " in another",
        "pass products of one type, with vectors of one length and maps with the same keys"},
       at);
}

}  // namespace hom::detail
