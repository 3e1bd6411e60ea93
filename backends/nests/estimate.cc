// backends/nests/estimate.cc -- how long a kernel takes, roughly
//
// Right within a factor of two or three: enough to tell what is worth several threads.
#include <algorithm>

#include <hom/backends/nests/sharing.h>

namespace hom::nest {
namespace {

/// Of one addition, of numbers or of a vector of 32 bytes.
constexpr double operation_ns = 0.3;
/// Of a byte that comes from the cache, and from memory.
constexpr double near_byte_ns = 0.01;
constexpr double far_byte_ns = 0.05;
constexpr double near_bytes = 1 << 20;
constexpr double vector_bytes = 32;

class Estimate {
 public:
  explicit Estimate(const Kernel& kernel) : kernel_(kernel) {}

  double operations(const Block& block, double times, bool in_vectors) const {
    double sum = 0;
    for (const Statement& statement : block) {
      if (const Define* define = std::get_if<Define>(&statement.is)) {
        sum += times * of(define->value, in_vectors);
      } else if (const Store* store = std::get_if<Store>(&statement.is)) {
        sum += times * per_element(store->value, in_vectors);
      } else if (const Loop* loop = std::get_if<Loop>(&statement.is)) {
        double iterations = times;
        for (const Axis axis : loop->axes) iterations *= static_cast<double>(kernel_.axes[axis]);
        const bool vectors = in_vectors || kernel_.vector_axis == loop->axes.back();
        for (const Reduction& reduction : loop->reductions)
          sum += iterations * per_element(reduction.term, vectors);
        sum += operations(loop->body, iterations, vectors);
      } else if (const Shortcut* shortcut = std::get_if<Shortcut>(&statement.is)) {
        sum += operations(shortcut->full, times, in_vectors);
      }
    }
    return sum;
  }

 private:
  /// The part of a vector that an element is; 1 of numbers.
  double per_element(Value value, bool in_vectors) const {
    if (!in_vectors) return 1;
    const auto bytes = static_cast<double>(kernel_.nodes[value].dtype.size());
    // What does not vary is computed once for a vector.
    return std::clamp(bytes, 4.0, 8.0) / vector_bytes;
  }

  double of(Value value, bool in_vectors) const {
    const Node& node = kernel_.nodes[value];
    double cost = 0;
    switch (node.kind) {
      case Node::Kind::load:
      case Node::Kind::convert:
        cost = 1;
        break;
      case Node::Kind::apply:
        cost = cost_of(node.function);
        break;
      case Node::Kind::index_quotient:
      case Node::Kind::index_remainder:
        cost = 4;
        break;
      default:
        break;
    }
    return cost * per_element(value, in_vectors);
  }

  const Kernel& kernel_;
};

}  // namespace

double estimated_ns(const Kernel& kernel) {
  const double computing = operation_ns * Estimate(kernel).operations(kernel.body, 1, false);
  const Work work = work_of(kernel);
  const double bytes = work.bytes_read + work.bytes_written;
  return std::max(computing, bytes * (bytes > near_bytes ? far_byte_ns : near_byte_ns));
}

}  // namespace hom::nest
