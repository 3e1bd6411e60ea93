// tests/unit/transformation_support.h -- numbers without a pattern, how near results are, and what
// an error says
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom::testing {

using Values = std::vector<double>;
inline Values values(const Tensor& x) { return x.to_vector(); }

/// Numbers between −1 and 1, the same in every run.
inline Tensor numbers(const Shape& shape, double scale = 0.3) {
  return reshape(sin(arange(element_count(shape), f64) * scale + scale), shape);
}

/// Bit for bit, where NaN equals NaN.
inline void expect_equal(const Tensor& got, const Tensor& want) {
  EXPECT_TRUE(array_equal(got, want, true)) << got << "\nnot " << want;
}

inline void expect_near(const Tensor& got, const Tensor& want, double tolerance = 1e-12) {
  ASSERT_EQ(got.type(), want.type());
  EXPECT_LT(max_or(abs(got - want), 0.0).item(), tolerance) << got << "\nnot " << want;
}

/// The message of the error that f throws.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

inline void expect_says(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

/// f of each row of x, stacked.
template <class F>
Tensor rows(const F& f, const Tensor& x) {
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < x.extent(0); ++i) all.push_back(f(x(i)));
  return stack(all);
}

}  // namespace hom::testing
