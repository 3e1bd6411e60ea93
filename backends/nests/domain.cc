// backends/nests/domain.cc -- domains and reads by role
#include <hom/backends/nests/domain.h>

#include <algorithm>

#include <hom/core/axes.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

Shape reduced_axes(const Step& step) {
  if (step.attributes.has("axes")) return step.attributes.shape("axes");
  return {step.attributes.integer("axis")};
}

Entry constant_entry(std::int64_t position, std::int64_t extent) {
  return extent == 1 ? Entry{} : Entry{Entry::Kind::constant, {}, position};
}

/// The window of a static update at a result's index: whether it holds it, and where in it.
std::optional<Index> in_window(const Program& program, const Step& step, const Index& at) {
  const Shape& window = program.type(step.operands[1]).shape;
  const Shape& whole = program.type(step.operands[0]).shape;
  const Shape& start = step.attributes.shape("start");
  const Shape& stride = step.attributes.shape("step");
  Index inside = at;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i].kind == Entry::Kind::axes) continue;
    if (window[i] == whole[i] && start[i] == 0 && stride[i] == 1) continue;
    const std::int64_t from_start = at[i].position - start[i];
    if (from_start % stride[i] != 0) return std::nullopt;
    const std::int64_t position = from_start / stride[i];
    if (position < 0 || position >= window[i]) return std::nullopt;
    inside[i] = constant_entry(position, window[i]);
  }
  return inside;
}

}  // namespace

ContractionAxes contraction_axes(const Program& program, const Step& step) {
  const Attributes& a = step.attributes;
  const Shape& lhs_batch = a.shape("lhs_batch");
  const Shape& rhs_batch = a.shape("rhs_batch");
  const Shape& lhs_contract = a.shape("lhs_contract");
  const Shape& rhs_contract = a.shape("rhs_contract");
  ContractionAxes axes;
  const auto add = [&](std::int64_t lhs, std::int64_t rhs) {
    axes.lhs.push_back(lhs);
    axes.rhs.push_back(rhs);
  };
  for (std::size_t i = 0; i < lhs_batch.size(); ++i) add(lhs_batch[i], rhs_batch[i]);
  for (std::int64_t i = 0; i < program.type(step.operands[0]).rank(); ++i) {
    if (!contains(lhs_batch, i) && !contains(lhs_contract, i)) add(i, -1);
  }
  for (std::int64_t i = 0; i < program.type(step.operands[1]).rank(); ++i) {
    if (!contains(rhs_batch, i) && !contains(rhs_contract, i)) add(-1, i);
  }
  for (std::size_t i = 0; i < lhs_contract.size(); ++i) add(lhs_contract[i], rhs_contract[i]);
  return axes;
}

Shape domain_of(const Program& program, const Step& step, Role role) {
  if (role == Role::reduction) return program.type(step.operands[0]).shape;
  if (role != Role::contraction) return program.type(step.first_result).shape;
  const ContractionAxes axes = contraction_axes(program, step);
  Shape shape;
  for (std::size_t i = 0; i < axes.lhs.size(); ++i) {
    shape.push_back(
        axes.lhs[i] >= 0
            ? program.type(step.operands[0]).shape[static_cast<std::size_t>(axes.lhs[i])]
            : program.type(step.operands[1]).shape[static_cast<std::size_t>(axes.rhs[i])]);
  }
  return shape;
}

SmallVector<bool, 4> summed_axes(const Program& program, const Step& step, Role role) {
  SmallVector<bool, 4> summed(domain_of(program, step, role).size(), false);
  if (role == Role::reduction) {
    for (std::int64_t axis : reduced_axes(step)) summed[static_cast<std::size_t>(axis)] = true;
  } else if (role == Role::contraction) {
    for (std::size_t i = program.type(step.first_result).shape.size(); i < summed.size(); ++i)
      summed[i] = true;
  }
  return summed;
}

SmallVector<Read, 4> reads_of(const Program& program, const Step& step, Role role,
                              const Index& at) {
  SmallVector<Read, 4> reads;
  const std::string& name = step.primitive.name;
  switch (role) {
    case Role::contraction: {
      const ContractionAxes axes = contraction_axes(program, step);
      for (std::size_t k = 0; k < 2; ++k) {
        const auto& own = k == 0 ? axes.lhs : axes.rhs;
        Index index(program.type(step.operands[k]).shape.size());
        for (std::size_t i = 0; i < at.size(); ++i) {
          if (own[i] >= 0) index[static_cast<std::size_t>(own[i])] = at[i];
        }
        reads.push_back({step.operands[k], index});
      }
      break;
    }
    case Role::chosen: {
      const auto inside = in_window(program, step, at);
      const bool adds = step.attributes.string("combine") != "set";
      if (!inside || adds) reads.push_back({step.operands[0], at});
      if (inside) reads.push_back({step.operands[1], *inside});
      break;
    }
    case Role::reading:
      reads.push_back({step.operands[0], std::nullopt});
      if (name == "pad") {
        reads.push_back({step.operands[1], Index{}});
      } else {
        const Shape& shape = program.type(step.operands[1]).shape;
        Index place(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(shape.size()) - 1);
        if (name == "dynamic_slice") place.clear();
        for (std::int64_t j = 0; j < shape.back(); ++j) {
          Index coordinate = place;
          coordinate.push_back(constant_entry(j, shape.back()));
          reads.push_back({step.operands[1], coordinate});
        }
      }
      break;
    case Role::view:
      // Too deep to be followed.
      for (Slot operand : step.operands) reads.push_back({operand, std::nullopt});
      break;
    default:
      for (Slot operand : step.operands) reads.push_back({operand, at});
      break;
  }
  return reads;
}

std::optional<Index> domain_shown(const Program& program, const Step& step, Role role,
                                  std::size_t k, const Index& operand) {
  const Shape domain = domain_of(program, step, role);
  Index shown(domain.size());
  for (std::size_t i = 0; i < domain.size(); ++i) {
    if (domain[i] != 1) shown[i].kind = Entry::Kind::free;
  }
  switch (role) {
    case Role::contraction: {
      const ContractionAxes axes = contraction_axes(program, step);
      const auto& own = k == 0 ? axes.lhs : axes.rhs;
      for (std::size_t i = 0; i < domain.size(); ++i) {
        if (own[i] >= 0) shown[i] = operand[static_cast<std::size_t>(own[i])];
      }
      return shown;
    }
    case Role::chosen:
      for (std::size_t i = 0; i < domain.size(); ++i) {
        if (domain[i] == 1) continue;
        if (program.type(step.operands[1]).shape[i] == domain[i] &&
            step.attributes.shape("start")[i] == 0 && step.attributes.shape("step")[i] == 1) {
          shown[i] = operand[i];
        } else {
          shown[i].kind = Entry::Kind::unrolled;
        }
      }
      return shown;
    case Role::reading:
      if (k != 1 || step.primitive.name != "gather") return std::nullopt;
      for (std::size_t i = 0; i + 1 < operand.size(); ++i) shown[i] = operand[i];
      return shown;
    case Role::view:
      return std::nullopt;
    default:
      return operand;
  }
}

}  // namespace hom::nest
