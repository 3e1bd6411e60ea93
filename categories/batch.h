// categories/batch.h -- the functor batch: a program to the same program for many lanes at once
#pragma once

#include <cstdint>
#include <vector>

#include <hom/core/batched_program.h>

namespace hom {

/// The program that does what `program` does for `size` lanes at once. Batched inputs have the
/// lanes as a further axis in front; the others are the same for all lanes, and so are results that
/// depend on nothing batched.
///
/// It walks the steps once, and each primitive brings one rule; composition and products need none
/// (batch (g ∘ f) = batch g ∘ batch f). A `cond` whose predicate is batched runs both branches,
/// each under the mask of the lanes that take it, and selects: `masked` asks for a program whose
/// first input is such a mask, bool [size]. Dead lanes neither raise nor keep a loop running; their
/// results mean nothing. `wanted`, where given, marks outputs that are batched in any case. Throws
/// `Error` at a step whose primitive has no batch rule.
BatchedProgram batch(const Program& program, const std::vector<bool>& batched, std::int64_t size,
                     bool masked = false, const std::vector<bool>* wanted = nullptr);

}  // namespace hom
