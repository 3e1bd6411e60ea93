// backends/nests/tiles.cc -- which two loops become one in tiles, and how large these are
#include <hom/backends/nests/tiles.h>

#include <algorithm>

#include <hom/backends/nests/affine.h>

namespace hom::nest {
namespace {

constexpr std::int64_t line_bytes = 64;
/// Columns shorter than this stay in the nearest cache from one row to the next.
constexpr std::int64_t shortest_column = 128;
constexpr std::int64_t shortest_row = 8;
/// Positions of a tile along the vectors: as many lines as a small part of that cache, and not more
/// pages than the processor finds at once.
constexpr std::int64_t tile_length = 64;
/// What was computed once a row is computed for each vector, if it costs no more (additions).
constexpr double most_repeated = 16;

class Tiling {
 public:
  explicit Tiling(Kernel kernel) : kernel_(std::move(kernel)) {}

  Kernel run() && {
    if (kernel_.vector_axis) {
      along_vectors_ = strides_along(kernel_, *kernel_.vector_axis);
      visit(kernel_.body);
    }
    return std::move(kernel_);
  }

 private:
  using Strides = std::vector<std::optional<std::int64_t>>;

  void visit(Block& block) {
    for (Statement& statement : block) {
      auto* loop = std::get_if<Loop>(&statement.is);
      if (loop != nullptr && !tile(*loop)) visit(loop->body);
    }
  }

  static bool is_plain(const Loop& loop) {
    return loop.axes.size() == 1 && loop.reductions.empty() && loop.carries.empty() &&
           !loop.reverse && loop.tile.empty();
  }

  /// Whether iterations have no order: what they store does not combine, and no check is the first.
  static bool has_no_order(const Block& block) {
    return std::all_of(block.begin(), block.end(), [](const Statement& statement) {
      const auto* store = std::get_if<Store>(&statement.is);
      return std::holds_alternative<Define>(statement.is) ||
             (store != nullptr && store->combine == Combine::set);
    });
  }

  /// The bytes of an element that lies beside its neighbour along the rows, but far from the one
  /// along the vectors.
  std::optional<std::int64_t> element_across(const Block& block, const Strides& along_rows) const {
    for (const Statement& statement : block) {
      const auto* define = std::get_if<Define>(&statement.is);
      if (define == nullptr || kernel_.nodes[define->value].kind != Node::Kind::load) continue;
      const Node& load = kernel_.nodes[define->value];
      const auto size = static_cast<std::int64_t>(load.dtype.size());
      const auto far = along_vectors_[load.operands[0]];
      const auto near = along_rows[load.operands[0]];
      if (!far || !near || std::abs(*near) != 1) continue;
      if (std::abs(*far) >= line_bytes / size) return size;
    }
    return std::nullopt;
  }

  double cost(const Block& block) const {
    double sum = 0;
    for (const Statement& statement : block) {
      const Node& node = kernel_.nodes[std::get<Define>(statement.is).value];
      if (node.kind == Node::Kind::apply) sum += cost_of(node.function);
      if (node.kind == Node::Kind::load || node.kind == Node::Kind::convert) sum += 1;
    }
    return sum;
  }

  /// Merges a loop with the one inside it, if that is all it does.
  bool tile(Loop& rows) {
    if (!is_plain(rows) || rows.body.empty()) return false;
    auto* const columns = std::get_if<Loop>(&rows.body.back().is);
    if (columns == nullptr || !is_plain(*columns) || columns->axes[0] != kernel_.vector_axis)
      return false;
    Block before(rows.body.begin(), rows.body.end() - 1);
    const bool defines_only = std::all_of(
        before.begin(), before.end(),
        [](const Statement& statement) { return std::holds_alternative<Define>(statement.is); });
    if (!defines_only || !has_no_order(columns->body) || cost(before) > most_repeated) return false;
    if (kernel_.axes[columns->axes[0]] < shortest_column ||
        kernel_.axes[rows.axes[0]] < shortest_row)
      return false;
    const auto size = element_across(columns->body, strides_along(kernel_, rows.axes[0]));
    if (!size) return false;
    Loop merged;
    merged.axes = {rows.axes[0], columns->axes[0]};
    merged.tile = {line_bytes / *size, tile_length};
    merged.body = std::move(before);
    merged.body.insert(merged.body.end(), columns->body.begin(), columns->body.end());
    rows = std::move(merged);
    return true;
  }

  Kernel kernel_;
  Strides along_vectors_;
};

}  // namespace

Kernel with_tiles(Kernel kernel) { return Tiling(std::move(kernel)).run(); }

void tile_kernels(Plan& plan) {
  for (Kernel& kernel : plan.kernels) kernel = with_tiles(std::move(kernel));
}

}  // namespace hom::nest
