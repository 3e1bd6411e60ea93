// backends/nests/nest_work.cc -- how much a kernel computes and moves
#include <algorithm>

#include <hom/backends/nests/nest.h>

namespace hom::nest {
namespace {

class Counter {
 public:
  explicit Counter(const Kernel& kernel)
      : kernel_(kernel), loaded_(kernel.buffers.size(), 0), stored_(kernel.buffers.size(), 0) {}

  /// Counts a block that runs `times` times.
  void count(const Block& block, double times) {
    for (const Statement& statement : block) {
      if (const Define* define = std::get_if<Define>(&statement.is)) {
        count(kernel_.nodes[define->value], times);
      } else if (const Store* store = std::get_if<Store>(&statement.is)) {
        count(*store, times);
      } else if (const Loop* loop = std::get_if<Loop>(&statement.is)) {
        double iterations = times;
        for (const Axis axis : loop->axes) iterations *= static_cast<double>(kernel_.axes[axis]);
        work_.flops += iterations * static_cast<double>(loop->reductions.size());
        count(loop->body, iterations);
      } else if (const Shortcut* shortcut = std::get_if<Shortcut>(&statement.is)) {
        count(shortcut->full, times);
      }
    }
  }

  Work work() const {
    Work work = work_;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      if (buffer.is_local) continue;  // stays in the cache
      const auto moved = [&](double elements) {
        return std::min(elements, static_cast<double>(buffer.elements)) *
               static_cast<double>(buffer.dtype.size());
      };
      work.bytes_read += moved(loaded_[i]);
      work.bytes_written += moved(stored_[i]);
    }
    return work;
  }

 private:
  void count(const Node& node, double times) {
    if (node.kind == Node::Kind::apply) work_.flops += times;
    if (node.kind == Node::Kind::load) loaded_[static_cast<std::size_t>(node.number)] += times;
  }

  void count(const Store& store, double times) {
    stored_[store.buffer] += times;
    if (store.combine == Combine::set) return;
    loaded_[store.buffer] += times;
    work_.flops += times;
  }

  const Kernel& kernel_;
  Work work_;
  /// Elements of each buffer.
  std::vector<double> loaded_;
  std::vector<double> stored_;
};

}  // namespace

Work work_of(const Kernel& kernel) {
  Counter counter(kernel);
  counter.count(kernel.body, 1);
  return counter.work();
}

}  // namespace hom::nest
