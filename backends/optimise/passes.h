// backends/optimise/passes.h -- the passes, one a file
#pragma once

#include <hom/backends/optimise/optimise.h>

namespace hom::optimiser {

Pass inline_calls();
Pass share_steps();
Pass fold_constants();
Pass arithmetic();
Pass integers();
Pass logic();
Pass conversions();
Pass powers();
Pass views();
Pass slices();
Pass reductions();
Pass indices();
Pass contractions();
Pass named_functions();
Pass reassociation();
Pass hoist_invariants();
Pass dead_results();

}  // namespace hom::optimiser
