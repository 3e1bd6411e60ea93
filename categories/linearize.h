// categories/linearize.h -- the functor linearize: a program to itself with a linear approximation
#pragma once

#include <vector>

#include <hom/core/linearization.h>

namespace hom {

/// The derivative of a program as a linear program (C. Elliott, "The Simple Essence of Automatic
/// Differentiation", 2018, section 4: D f = f △ f′, here with the residuals of f that f′ needs made
/// explicit). Each primitive brings one rule; composition and products are the chain rule and need
/// none.
///
/// `active` marks the inputs that vary; integer and bool inputs never do. `wanted`, where given,
/// marks the outputs that get a tangent, which is zero where they do not vary; by default those
/// that vary. Throws `Error` at a step whose primitive has no derivative, with the reason.
Linearization linearize(const Program& program, const std::vector<bool>& active,
                        const std::vector<bool>* wanted = nullptr);

}  // namespace hom
