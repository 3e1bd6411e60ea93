// tests/errors/compile/struct_not_adapted.cc -- a struct of tensors that Hom cannot look into
// expect: hom:
// expect: BOOST_HANA_DEFINE_STRUCT
#include "tests/errors/fails.h"

struct Plain {
  Tensor weight;
};
struct Adapted {
  BOOST_HANA_DEFINE_STRUCT(Adapted, (Tensor, weight));
};

MISTAKE(struct_not_adapted) {
  const auto f = [](const auto& p) { return sum(p.weight); };
#ifdef ALLOWED
  const Adapted p{ones({3})};
  grad(f)(p);
#else
  const Plain p{ones({3})};
  grad(f)(p);  // here
#endif
}
