// backends/nests/slices.cc -- indices as sums of axes
#include <hom/backends/nests/slices.h>

#include <algorithm>
#include <vector>

namespace hom::nest {
namespace {

/// An index as coefficients of axes.
struct AffineIndex {
  std::vector<std::int64_t> coefficients;
  std::int64_t constant = 0;
};

/// Adds `factor` times a value; false where it is no affine index.
bool add_to(AffineIndex& sum, const Kernel& kernel, Value value, std::int64_t factor) {
  const Node& node = kernel.nodes[value];
  switch (node.kind) {
    case Node::Kind::axis:
      sum.coefficients[static_cast<std::size_t>(node.number)] += factor;
      return true;
    case Node::Kind::constant:
      sum.constant += factor * node.number;
      return true;
    case Node::Kind::index_add:
      return add_to(sum, kernel, node.operands[0], factor) &&
             add_to(sum, kernel, node.operands[1], factor);
    case Node::Kind::index_scale:
      return add_to(sum, kernel, node.operands[0], factor * node.number);
    default:
      return false;
  }
}

class Slices {
 public:
  Slices(const Kernel& kernel, std::uint32_t argument, Axis axis)
      : kernel_(kernel), argument_(argument), axis_(axis) {}

  std::optional<std::int64_t> stride() {
    for (const Node& node : kernel_.nodes) {
      if (node.kind == Node::Kind::load && node.number == argument_) add(node.operands[0]);
    }
    stores(kernel_.body);
    return is_known_ ? stride_ : std::nullopt;
  }

 private:
  void stores(const Block& block) {
    for (const Statement& statement : block) {
      if (const auto* store = std::get_if<Store>(&statement.is)) {
        if (store->buffer == argument_) add(store->index);
      } else if (const auto* loop = std::get_if<Loop>(&statement.is)) {
        stores(loop->body);
      } else if (const auto* shortcut = std::get_if<Shortcut>(&statement.is)) {
        for (const Block* part : {&shortcut->attempt, &shortcut->quick, &shortcut->full})
          stores(*part);
      }
    }
  }

  void add(Value value) {
    if (!is_known_) return;
    AffineIndex index{std::vector<std::int64_t>(kernel_.axes.size(), 0)};
    is_known_ = add_to(index, kernel_, value, 1);
    if (!is_known_) return;
    const std::int64_t stride = index.coefficients[axis_];
    // Where the other axes may lead.
    std::int64_t low = index.constant;
    std::int64_t high = index.constant;
    for (Axis other = 0; other < kernel_.axes.size(); ++other) {
      if (other == axis_) continue;
      const std::int64_t reach = index.coefficients[other] * (kernel_.axes[other] - 1);
      (reach < 0 ? low : high) += reach;
    }
    is_known_ = stride >= 0 && low >= 0 && high < std::max<std::int64_t>(stride, 1) &&
                (!stride_ || *stride_ == stride);
    stride_ = stride;
  }

  const Kernel& kernel_;
  const std::uint32_t argument_;
  const Axis axis_;
  bool is_known_ = true;
  std::optional<std::int64_t> stride_;
};

}  // namespace

std::optional<std::int64_t> slice_stride(const Kernel& kernel, std::uint32_t argument, Axis axis) {
  return Slices(kernel, argument, axis).stride();
}

}  // namespace hom::nest
