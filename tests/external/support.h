// support.h -- what the tests of the extension share
#pragma once

#include <string>

#include "rms_norm.h"
#include "squareplus.h"
#include "stencil.h"
#include <gtest/gtest.h>

namespace extension {

/// Hom's tables with the extension in them, and afterwards as they were.
class Extended : public testing::Test {
 protected:
  Extended() {
    add_squareplus(hom::standard_primitives());
    add_squareplus(hom::cpu_kernels());
    add_squareplus(hom::categories::interval_rules());
    add_stencil(hom::standard_primitives());
    add_stencil(hom::cpu_kernels());
  }
  ~Extended() override { reset(); }

  void reset() {
    hom::standard_primitives() = primitives_;
    hom::cpu_kernels() = kernels_;
    hom::categories::interval_rules() = interval_rules_;
  }

 private:
  const hom::PrimitiveTable primitives_ = hom::standard_primitives();
  const hom::KernelTable kernels_ = hom::cpu_kernels();
  const hom::categories::IntervalRules interval_rules_ = hom::categories::interval_rules();
};

/// The largest difference of elements.
inline double distance(const hom::Tensor& a, const hom::Tensor& b) {
  return hom::max(hom::abs(a - b)).item();
}

/// The message of the error that the function raises, or the empty string.
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const hom::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace extension
