// backends/nests/plan.cc -- what a routine does that cannot compute rows alone
#include <hom/backends/nests/plan.h>

namespace hom::nest {

void Routine::run_rows(std::span<const std::byte* const>, std::byte*, std::byte*, std::int64_t,
                       std::int64_t) const {
  throw Bug("the routine `" + describe() + "` was asked for rows, which it cannot compute alone");
}

}  // namespace hom::nest
