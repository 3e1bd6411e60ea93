// backends/nests/narrow.cc -- ranges of integers, from operands to results
#include <hom/backends/nests/narrow.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace hom::nest {
namespace {

/// What an integer may be, both included; far within 64 bits, so that sums of two are.
struct Range {
  std::int64_t low, high;
};
using MaybeRange = std::optional<Range>;
constexpr std::int64_t most = std::int64_t{1} << 61;

MaybeRange range(__int128 low, __int128 high) {
  if (low < -most || high > most) return std::nullopt;
  return Range{static_cast<std::int64_t>(low), static_cast<std::int64_t>(high)};
}

MaybeRange scaled(MaybeRange a, std::int64_t factor) {
  if (!a) return std::nullopt;
  const __int128 x = static_cast<__int128>(a->low) * factor;
  const __int128 y = static_cast<__int128>(a->high) * factor;
  return range(std::min(x, y), std::max(x, y));
}

MaybeRange product(MaybeRange a, MaybeRange b) {
  if (!a || !b) return std::nullopt;
  const auto times = [](std::int64_t x, std::int64_t y) { return static_cast<__int128>(x) * y; };
  const __int128 all[] = {times(a->low, b->low), times(a->low, b->high), times(a->high, b->low),
                          times(a->high, b->high)};
  return range(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
}

/// All that the dtype can hold, where that is 32 bits or fewer.
MaybeRange range_of(Dtype dtype) {
  if (dtype.is_bool()) return Range{0, 1};
  if (dtype.is_float() || dtype.size() > 4) return std::nullopt;
  const int bits = 8 * static_cast<int>(dtype.size());
  if (dtype.is_signed_integer())
    return Range{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return Range{0, (std::int64_t{1} << bits) - 1};
}

class Ranges {
 public:
  explicit Ranges(const Kernel& kernel) : kernel_(kernel) {
    for (const Node& node : kernel.nodes) ranges_.push_back(of(node));
  }

  bool fits(Value value) const {
    return ranges_[value] && ranges_[value]->low >= INT32_MIN && ranges_[value]->high <= INT32_MAX;
  }

 private:
  MaybeRange of(const Node& node) const {
    const auto operand = [&](std::size_t i) { return ranges_[node.operands[i]]; };
    switch (node.kind) {
      case Node::Kind::axis:
        return Range{0, kernel_.axes[static_cast<std::size_t>(node.number)] - 1};
      case Node::Kind::constant:
        return node.dtype == i64 ? range(node.number, node.number) : std::nullopt;
      case Node::Kind::index_add:
        return sum(operand(0), operand(1));
      case Node::Kind::index_scale:
        return scaled(operand(0), node.number);
      case Node::Kind::index_quotient:
        return operand(0) ? range(operand(0)->low / node.number, operand(0)->high / node.number)
                          : std::nullopt;
      case Node::Kind::index_remainder:
        return Range{0, node.number - 1};
      case Node::Kind::convert: {
        const Dtype from = kernel_.nodes[node.operands[0]].dtype;
        return node.dtype == i64 ? range_of(from) : std::nullopt;
      }
      case Node::Kind::apply:
        return node.dtype == i64 ? applied(node) : std::nullopt;
      default:
        return std::nullopt;
    }
  }

  MaybeRange applied(const Node& node) const {
    const auto operand = [&](std::size_t i) { return ranges_[node.operands[i]]; };
    switch (node.function) {
      case Function::add:
        return sum(operand(0), operand(1));
      case Function::sub:
        return sum(operand(0), scaled(operand(1), -1));
      case Function::neg:
        return scaled(operand(0), -1);
      case Function::mul:
        return product(operand(0), operand(1));
      default:
        return std::nullopt;
    }
  }

  static MaybeRange sum(MaybeRange a, MaybeRange b) {
    if (!a || !b) return std::nullopt;
    return range(static_cast<__int128>(a->low) + b->low, static_cast<__int128>(a->high) + b->high);
  }

  const Kernel& kernel_;
  std::vector<MaybeRange> ranges_;
};

bool is_comparison(Function function) {
  switch (function) {
    case Function::eq:
    case Function::ne:
    case Function::lt:
    case Function::le:
    case Function::gt:
    case Function::ge:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<bool> wants_narrow_operands(const Kernel& kernel) {
  std::vector<bool> wants(kernel.nodes.size(), false);
  if (!kernel.vector_axis) return wants;
  const bool is_wide = std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [](const Node& node) {
    const bool is_index = node.dtype == i64 && node.kind != Node::Kind::load;
    return node.dtype.size() == 8 && !is_index && node.kind != Node::Kind::constant;
  });
  if (is_wide) return wants;
  const Ranges ranges(kernel);
  for (Value value = 0; value < kernel.nodes.size(); ++value) {
    const Node& node = kernel.nodes[value];
    const bool is_kind = node.kind == Node::Kind::apply
                             ? is_comparison(node.function)
                             : node.kind == Node::Kind::convert && node.dtype.is_float();
    wants[value] = is_kind && kernel.nodes[node.operands[0]].dtype == i64 &&
                   std::all_of(node.operands.begin(), node.operands.end(),
                               [&](Value operand) { return ranges.fits(operand); });
  }
  return wants;
}

}  // namespace hom::nest
