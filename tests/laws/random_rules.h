// tests/laws/random_rules.h -- how steps of each primitive are drawn: for the files of random_step
#pragma once

#include <map>
#include <string_view>

#include <hom/tests/laws/random_program.h>

namespace hom::laws {

/// Gives a step on data of type x attributes that type, and further operands; false where this draw
/// does not fit.
using RandomRule = bool (*)(StepSketch& step, const TensorType& x, Domain domain, Choices& choices);
using RandomRules = std::map<std::string_view, RandomRule>;

/// Of what sums over axes: reductions, running ones, windows, products, convolutions, spectra,
/// sorting, factorizations.
RandomRules algebra_rules();

inline std::int64_t rank_of(const Shape& shape) { return static_cast<std::int64_t>(shape.size()); }
Shape random_permutation(std::int64_t rank, Choices& choices);
/// Each axis or not, in order.
Shape random_axes(std::int64_t rank, Choices& choices);
Dtype random_dtype(DtypeSet dtypes, Choices& choices);
/// Sets an attribute if the primitive takes it.
void set(StepSketch& step, std::string_view name, Attribute value);

}  // namespace hom::laws
