// tests/gradbench/lstm.h -- the loss of a diagonal LSTM over a sequence
#pragma once

#include <hom/tests/gradbench/workload.h>

namespace hom::gradbench {

/// Gradient in all weights, through a scan over the characters.
Workload lstm(const Records& in);

}  // namespace hom::gradbench
