// tests/errors/compile/compiled_static_member_without_equality.cc -- a member that decides nothing
//
// expect: hom: a member that is neither a tensor nor a product of tensors decides which program
#include "tests/errors/fails.h"

struct Opaque {
  int value;
};
struct Comparable {
  int value;
  bool operator==(const Comparable&) const = default;
};
struct OpaqueLayer {
  BOOST_HANA_DEFINE_STRUCT(OpaqueLayer, (Tensor, weight), (Opaque, kind));
};
struct ComparableLayer {
  BOOST_HANA_DEFINE_STRUCT(ComparableLayer, (Tensor, weight), (Comparable, kind));
};

MISTAKE(compiled_static_member_without_equality) {
  const auto f =
      compile([](const auto& p) { return p.weight * p.kind.value; }, {.tier = Tier::interpreter});
#ifdef ALLOWED
  f(ComparableLayer{ones({3}), {2}});
#else
  f(OpaqueLayer{ones({3}), {2}});  // here
#endif
}
