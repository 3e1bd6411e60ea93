// backends/nests/spelled_out.cc -- one rewriting after the other
#include <hom/backends/nests/spelled_out.h>

#include <hom/backends/nests/expand_functions.h>
#include <hom/backends/nests/shortcuts.h>
#include <hom/backends/nests/sums_apart.h>

namespace hom::nest {

// Shortcuts want loops without reductions, and products before they are spelled.
Kernel spelled_out(const Kernel& kernel) {
  return expanded(with_shortcuts(with_sums_apart(kernel)));
}

}  // namespace hom::nest
