// tests/gradbench/gmm.h -- the log posterior of a mixture of Gaussians with a Wishart prior
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

struct Mixture {
  BOOST_HANA_DEFINE_STRUCT(Mixture,
                           /// Logarithms of weights, [k].
                           (Tensor, alpha),
                           /// Means, [k, d].
                           (Tensor, mu),
                           /// Logarithms of the diagonals of Q, [k, d].
                           (Tensor, q),
                           /// Below the diagonals, column by column, [k, d(d − 1)/2].
                           (Tensor, l));
};

/// Gradient in all of the mixture, for data x [n, d].
Workload gmm(const Records& in);

}  // namespace hom::gradbench
