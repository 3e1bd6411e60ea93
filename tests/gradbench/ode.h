// tests/gradbench/ode.h -- a chain of linear differential equations by Runge and Kutta
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// The solution, and the gradient of its last component in all rates.
Workload ode(const Records& in);

}  // namespace hom::gradbench
