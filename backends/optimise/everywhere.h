// backends/optimise/everywhere.h -- passes over the programs inside loops and branches
#pragma once

#include <functional>
#include <vector>

#include <hom/core/builder.h>

namespace hom::optimiser {

/// The programs in attributes, those inside them before them; each once. Not recursive.
std::vector<ProgramPtr> programs_inside(const Program& program);

/// The attributes with other programs in them: `replacement` of each.
Attributes with_programs(const Attributes& attributes,
                         const std::function<ProgramPtr(const ProgramPtr&)>& replacement);

/// `pass` of each program inside, the innermost first, and of the program itself. A program that it
/// leaves as it is stays the same object.
Program everywhere(const Program& program, const std::function<Program(const Program&)>& pass);

/// Name, domain and codomain, which passes keep.
Builder::Signature signature_of(const Program& program);

}  // namespace hom::optimiser
