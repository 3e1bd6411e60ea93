// backends/nests/strip_parts.h -- what forming strips is made of
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <hom/backends/nests/dependence.h>
#include <hom/backends/nests/strips.h>

namespace hom::nest {

// ---- strip_slices.cc ----

/// The slices of a call that may be in strips.
std::optional<Routine::Slices> slices_of(const Plan& plan, const Call& call);

/// The accesses of a launch or call with their slices, where it may run in `count` of them.
std::optional<BufferAccesses> sliced(const Plan& plan, const Instruction& instruction,
                                     std::int64_t count);

/// Whether two instructions may run slice by slice, one after the other.
bool agree(const BufferAccesses& a, const BufferAccesses& b);

/// Calls visit(address) for each argument of a launch, operand and result of a call.
template <class Visit>
void each_address(Instruction& instruction, const Visit& visit) {
  if (auto* launch = std::get_if<Launch>(&instruction.is)) {
    for (Address& address : launch->arguments) visit(address);
  } else {
    auto& call = std::get<Call>(instruction.is);
    for (Address& address : call.operands) visit(address);
    for (Address& address : call.results) visit(address);
  }
}

// ---- strip_memory.cc ----

/// How many slices make a strip; 0 where strips are not worth it. `uses` counts the accesses of the
/// whole plan to each buffer.
std::int64_t slices_together(const Plan& plan, const Strips& strips,
                             std::span<const std::uint32_t> uses, const StripOptions& options);

/// Gives strips memory for what nobody else needs, and their launches and calls positions and rows
/// for each slice; false where they are not worth it.
bool give_memory(Plan& plan, Strips& strips, std::span<const std::uint32_t> uses,
                 const StripOptions& options);

}  // namespace hom::nest
