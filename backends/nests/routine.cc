// backends/nests/routine.cc -- what a routine without rows answers
#include <hom/backends/nests/plan.h>

namespace hom::nest {

void Routine::run_rows(std::span<const std::byte* const>, std::byte*, std::byte*, std::int64_t,
                       std::int64_t) const {
  throw Bug("rows are asked of a routine that has none: " + describe());
}

}  // namespace hom::nest
