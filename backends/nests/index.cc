// backends/nests/index.cc -- symbolic indices through views
#include <hom/backends/nests/index.h>

#include <algorithm>

#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

constexpr std::int64_t longest_unrolled = 4;
/// An axis alone: from 8 on it fills vectors.
constexpr std::int64_t longest_unrolled_alone = 7;
constexpr std::int64_t most_unrolled = 16;
/// Beside fewer other elements there is nothing to vectorise along.
constexpr std::int64_t enough_others = 8;

/// A digit of a number in mixed radix: an axis, or a constant of this extent, or any position of an
/// unrolled axis.
struct Digit {
  Entry::Kind kind;
  Axis axis;
  std::int64_t position;
  std::int64_t extent;
};

/// Digits of an index, most significant first; without units.
std::optional<SmallVector<Digit, 8>> digits_of(const Index& index, const Shape& shape,
                                               const AxisTable& table) {
  SmallVector<Digit, 8> digits;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Entry& entry = index[i];
    switch (entry.kind) {
      case Entry::Kind::unit:
        break;
      case Entry::Kind::free:
        return std::nullopt;
      case Entry::Kind::axes:
        for (Axis axis : entry.axes) digits.push_back({entry.kind, axis, 0, table.extents[axis]});
        break;
      case Entry::Kind::constant:
      case Entry::Kind::unrolled:
        digits.push_back({entry.kind, 0, entry.position, shape[i]});
        break;
    }
  }
  return digits;
}

/// The same number in other extents.
std::optional<Index> regrouped(SmallVector<Digit, 8> digits, const Shape& shape,
                               const AxisTable& table) {
  Index result(shape.size());
  // From the least significant end, so that what is split off is the inner part.
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    Entry& entry = result[i];
    std::int64_t left = shape[i];
    std::int64_t weight = 1;
    bool is_first = true;
    while (left > 1) {
      if (digits.empty()) return std::nullopt;
      Digit& digit = digits.back();
      if (!is_first && entry.kind != digit.kind) return std::nullopt;
      entry.kind = digit.kind;
      is_first = false;
      if (left % digit.extent == 0) {
        if (digit.kind == Entry::Kind::axes) entry.axes.push_back(digit.axis);
        entry.position += digit.position * weight;
        weight *= digit.extent;
        left /= digit.extent;
        digits.pop_back();
        continue;
      }
      if (digit.extent % left != 0) return std::nullopt;
      if (digit.kind == Entry::Kind::axes) {
        if (!table.split) return std::nullopt;
        const auto inner = table.split(digit.axis, left);
        if (!inner) return std::nullopt;
        entry.axes.push_back(*inner);
      } else {
        entry.position += digit.position % left * weight;
        digit.position /= left;
      }
      digit.extent /= left;
      left = 1;
    }
    std::reverse(entry.axes.begin(), entry.axes.end());
  }
  return digits.empty() ? std::optional(result) : std::nullopt;
}

bool covers_axis(const Step& slice, std::size_t axis, std::int64_t extent) {
  return slice.attributes.shape("start")[axis] == 0 && slice.attributes.shape("step")[axis] == 1 &&
         slice.attributes.shape("size")[axis] == extent;
}

}  // namespace

SmallVector<bool, 4> unrolled_axes(const Shape& shape) {
  SmallVector<bool, 4> result(shape.size(), false);
  std::int64_t size = 1;
  for (std::int64_t extent : shape) size *= extent;
  const bool is_long = std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) {
    return extent > longest_unrolled_alone;
  });
  if (size <= most_unrolled && !is_long) {
    for (std::size_t i = 0; i < shape.size(); ++i) result[i] = shape[i] > 1;
    return result;
  }
  std::int64_t unrolled = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t product = unrolled * shape[i];
    if (shape[i] == 1 || shape[i] > longest_unrolled || product > most_unrolled ||
        size / product < enough_others) {
      continue;
    }
    result[i] = true;
    unrolled = product;
  }
  return result;
}

AxisSet axes_of(const Index& index) {
  AxisSet set = 0;
  for (const Entry& entry : index) {
    for (Axis axis : entry.axes) set |= axis_bit(axis);
  }
  return set;
}

std::optional<Index> index_read(const Step& view, const TensorType& operand,
                                const TensorType& result, const Index& at, const AxisTable& table) {
  const std::string& name = view.primitive.name;
  Index read(operand.shape.size());
  if (name == "broadcast_in_dim") {
    const Shape& axes = view.attributes.shape("axes");
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (operand.shape[i] != 1) read[i] = at[static_cast<std::size_t>(axes[i])];
    }
    return read;
  }
  if (name == "transpose") {
    const Shape& permutation = view.attributes.shape("permutation");
    for (std::size_t i = 0; i < at.size(); ++i)
      read[static_cast<std::size_t>(permutation[i])] = at[i];
    return read;
  }
  if (name == "slice") {
    const Shape& start = view.attributes.shape("start");
    const Shape& step = view.attributes.shape("step");
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (covers_axis(view, i, operand.shape[i])) {
        read[i] = at[i];
      } else if (at[i].kind == Entry::Kind::constant || at[i].kind == Entry::Kind::unit) {
        read[i].kind = Entry::Kind::constant;
        read[i].position = start[i] + step[i] * at[i].position;
        if (operand.shape[i] == 1) read[i] = Entry{};
      } else {
        return std::nullopt;
      }
    }
    return read;
  }
  if (name == "reshape") {
    const auto digits = digits_of(at, result.shape, table);
    return digits ? regrouped(*digits, operand.shape, table) : std::nullopt;
  }
  return at;  // stop_gradient, barrier
}

std::optional<PartRead> part_read(const Program& program, const Step& step, const Index& at) {
  if (step.primitive.name == "concat") {
    const auto axis = static_cast<std::size_t>(step.attributes.integer("axis"));
    if (at[axis].kind != Entry::Kind::constant && at[axis].kind != Entry::Kind::unit)
      return std::nullopt;
    std::int64_t position = at[axis].position;
    for (std::size_t k = 0; k < step.operands.size(); ++k) {
      const std::int64_t extent = program.type(step.operands[k]).shape[axis];
      if (position >= extent) {
        position -= extent;
        continue;
      }
      Index part = at;
      part[axis] = extent == 1 ? Entry{} : Entry{Entry::Kind::constant, {}, position};
      return PartRead{k, part};
    }
    return std::nullopt;
  }
  const Shape& low = step.attributes.shape("low");
  const Shape& high = step.attributes.shape("high");
  const Shape& interior = step.attributes.shape("interior");
  const Shape& shape = program.type(step.operands[0]).shape;
  Index part = at;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (low[i] == 0 && high[i] == 0 && interior[i] == 0) continue;
    if (at[i].kind != Entry::Kind::constant && at[i].kind != Entry::Kind::unit) return std::nullopt;
    const std::int64_t from_low = at[i].position - low[i];
    const std::int64_t stride = interior[i] + 1;
    if (from_low < 0 || from_low % stride != 0 || from_low / stride >= shape[i])
      return PartRead{1, {}};
    part[i] = shape[i] == 1 ? Entry{} : Entry{Entry::Kind::constant, {}, from_low / stride};
  }
  return PartRead{0, part};
}

std::optional<Index> index_shown(const Step& view, const TensorType& operand,
                                 const TensorType& result, const Index& at,
                                 const AxisTable& table) {
  const std::string& name = view.primitive.name;
  Index shown(result.shape.size());
  if (name == "broadcast_in_dim") {
    const Shape& axes = view.attributes.shape("axes");
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (result.shape[i] != 1) shown[i].kind = Entry::Kind::free;
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (operand.shape[i] != 1) shown[static_cast<std::size_t>(axes[i])] = at[i];
    }
    return shown;
  }
  if (name == "transpose") {
    const Shape& permutation = view.attributes.shape("permutation");
    for (std::size_t i = 0; i < shown.size(); ++i)
      shown[i] = at[static_cast<std::size_t>(permutation[i])];
    return shown;
  }
  if (name == "slice") {
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (covers_axis(view, i, operand.shape[i])) {
        shown[i] = at[i];
      } else if (at[i].kind != Entry::Kind::unrolled) {
        return std::nullopt;
      } else if (result.shape[i] != 1) {
        shown[i].kind = Entry::Kind::unrolled;
      }
    }
    return shown;
  }
  if (name == "reshape") {
    const auto digits = digits_of(at, operand.shape, table);
    return digits ? regrouped(*digits, result.shape, table) : std::nullopt;
  }
  if (name == "concat") {
    const auto axis = static_cast<std::size_t>(view.attributes.integer("axis"));
    shown = at;
    shown[axis] = Entry{};
    if (result.shape[axis] != 1) shown[axis].kind = Entry::Kind::unrolled;
    return shown;
  }
  if (name == "pad") {
    shown = at;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (operand.shape[i] == result.shape[i]) continue;
      shown[i] = Entry{};
      if (result.shape[i] != 1) shown[i].kind = Entry::Kind::unrolled;
    }
    return shown;
  }
  return at;
}

std::vector<Index> instances_of(const Index& index, const Shape& shape) {
  std::vector<Index> all{index};
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i].kind != Entry::Kind::unrolled) continue;
    std::vector<Index> next;
    for (const Index& one : all) {
      for (std::int64_t position = 0; position < shape[i]; ++position) {
        next.push_back(one);
        next.back()[i] = Entry{Entry::Kind::constant, {}, position};
      }
    }
    all = std::move(next);
  }
  return all;
}

}  // namespace hom::nest
