// tests/laws/random_kernel_reference.cc -- kernels by plain recursion
#include <hom/tests/laws/random_kernel_reference.h>

#include <cmath>
#include <cstring>

#include <hom/tests/laws/random_kernel_elements.h>

namespace hom::laws {
namespace {

using nest::Block;
using nest::Combine;
using nest::Kernel;
using nest::Loop;
using nest::Node;
using nest::Value;

// ---- the walk ----

class Reference {
 public:
  Reference(const Kernel& kernel, std::byte* const* arguments, cpu::FailureRecord& record,
            std::int64_t first_failure, std::int64_t low, std::int64_t high)
      : kernel_(kernel),
        low_(low),
        high_(high),
        record_(record),
        first_failure_(first_failure),
        values_(kernel.nodes.size()),
        positions_(kernel.axes.size()) {
    for (const nest::Buffer& buffer : kernel.buffers) {
      if (buffer.is_local) {
        locals_.emplace_back(static_cast<std::size_t>(buffer.elements) * buffer.dtype.size());
      } else {
        buffers_.push_back(arguments[buffers_.size()]);
      }
    }
    for (std::vector<std::byte>& local : locals_) buffers_.push_back(local.data());
  }

  void run(const Block& block) {
    for (const nest::Statement& statement : block)
      std::visit([&](const auto& is) { run(is); }, statement.is);
  }

 private:
  Bits value(Value which) const {
    const Node& node = kernel_.nodes[which];
    if (node.kind == Node::Kind::constant) return static_cast<Bits>(node.number);
    if (node.kind == Node::Kind::axis)
      return bits_of(positions_[static_cast<std::size_t>(node.number)]);
    return values_[which];
  }
  std::int64_t index(Value which) const { return element<std::int64_t>(value(which)); }
  Dtype dtype(Value which) const { return kernel_.nodes[which].dtype; }

  std::byte* place(std::uint32_t buffer, std::int64_t index) const {
    const nest::Buffer& to = kernel_.buffers[buffer];
    if (index < 0 || index >= to.elements) {
      throw Bug("reference: index " + std::to_string(index) + " in buffer " +
                std::to_string(buffer) + "\n" + to_string(kernel_));
    }
    return buffers_[buffer] + index * static_cast<std::int64_t>(to.dtype.size());
  }
  Bits read(std::uint32_t buffer, std::int64_t index) const {
    Bits bits = 0;
    std::memcpy(&bits, place(buffer, index), kernel_.buffers[buffer].dtype.size());
    return bits;
  }

  Bits compute(Value which) const {
    const Node& node = kernel_.nodes[which];
    const auto operand = [&](std::size_t i) {
      return i < node.operands.size() ? value(node.operands[i]) : 0;
    };
    switch (node.kind) {
      case Node::Kind::constant:
      case Node::Kind::axis:
        return value(which);
      case Node::Kind::load:
        if (node.operands.size() == 2 && operand(1) == 0) return 0;
        return read(static_cast<std::uint32_t>(node.number), index(node.operands[0]));
      case Node::Kind::apply:
        return apply(node, dtype(node.operands.back()), operand(0), operand(1), operand(2));
      case Node::Kind::convert:
        return convert(node.dtype, dtype(node.operands[0]), operand(0));
      case Node::Kind::bitcast:
        return node.dtype.is_bool() ? operand(0) != 0 : operand(0);
      case Node::Kind::index_add:
        return bits_of(index(node.operands[0]) + index(node.operands[1]));
      case Node::Kind::index_scale:
        return bits_of(index(node.operands[0]) * node.number);
      case Node::Kind::index_quotient:
        return bits_of(index(node.operands[0]) / node.number);
      case Node::Kind::index_remainder:
        return bits_of(index(node.operands[0]) % node.number);
      case Node::Kind::block:
        return bits_of(low_ / kernel_.block);
      case Node::Kind::reduced:
      case Node::Kind::carried:
        break;
    }
    throw Bug("reference: a loop's value is computed by a statement");
  }

  void run(const nest::Define& define) { values_[define.value] = compute(define.value); }

  void run(const nest::Store& store) {
    if (store.when && value(*store.when) == 0) return;
    const Dtype type = kernel_.buffers[store.buffer].dtype;
    Bits bits = value(store.value);
    if (store.combine != Combine::set)
      bits = combine_elements(store.combine, type, read(store.buffer, index(store.index)), bits);
    std::memcpy(place(store.buffer, index(store.index)), &bits, type.size());
  }

  void run(const nest::Check& check) {
    if (value(check.ok) != 0 || record_.failure != 0) return;
    record_ = {first_failure_ + 1 + check.failure, index(check.offending)};
  }

  void run(const nest::Shortcut& shortcut) {
    run(shortcut.attempt);
    run(element<bool>(value(shortcut.holds)) ? shortcut.quick : shortcut.full);
  }

  void run(const Loop& loop) {
    std::vector<std::vector<Bits>> terms(loop.reductions.size());
    for (const nest::Carry& carry : loop.carries) values_[carry.state] = value(carry.initial);
    walk(loop, 0, terms);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const nest::Reduction& reduction = loop.reductions[i];
      values_[reduction.result] =
          reduce(reduction.combine, dtype(reduction.term), terms[i], reduction.pairwise);
    }
  }

  /// All iterations along axes `depth` and after.
  void walk(const Loop& loop, std::size_t depth, std::vector<std::vector<Bits>>& terms) {
    if (depth == loop.axes.size()) {
      run(loop.body);
      for (std::size_t i = 0; i < terms.size(); ++i)
        terms[i].push_back(value(loop.reductions[i].term));
      std::vector<Bits> next;
      for (const nest::Carry& carry : loop.carries) next.push_back(value(carry.next));
      for (std::size_t i = 0; i < next.size(); ++i) values_[loop.carries[i].state] = next[i];
      return;
    }
    const std::int64_t extent = kernel_.axes[loop.axes[depth]];
    const bool down = loop.reverse && depth + 1 == loop.axes.size();
    const bool is_block = kernel_.block > 0 && depth == 0 && &loop == nest::split_loop(kernel_);
    const std::int64_t end = is_block ? high_ : extent;
    for (std::int64_t i = is_block ? low_ : 0; i < end; ++i) {
      positions_[loop.axes[depth]] = down ? extent - 1 - i : i;
      walk(loop, depth + 1, terms);
    }
  }

  const Kernel& kernel_;
  std::int64_t low_;
  std::int64_t high_;
  cpu::FailureRecord& record_;
  std::int64_t first_failure_;
  std::vector<Bits> values_;
  std::vector<std::int64_t> positions_;
  std::vector<std::vector<std::byte>> locals_;
  std::vector<std::byte*> buffers_;
};

// ---- comparison ----

/// The arguments of one run, between guards that nobody may touch.
class Memory {
 public:
  explicit Memory(const KernelCase& test) {
    for (const std::vector<std::byte>& argument : test.arguments) {
      const std::size_t size = argument.size() + 2 * guard + alignment;
      std::vector<std::byte>& bytes = bytes_.emplace_back(size, canary);
      void* start = bytes.data() + guard;
      std::size_t space = size - guard;
      std::align(alignment, argument.size() + guard, start, space);
      std::memcpy(start, argument.data(), argument.size());
      pointers_.push_back(static_cast<std::byte*>(start));
    }
  }

  std::byte* const* pointers() const { return pointers_.data(); }

  bool is_intact(const KernelCase& test) const {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      for (const std::byte* at = bytes_[i].data(); at < pointers_[i]; ++at)
        if (*at != canary) return false;
      const std::byte* end = bytes_[i].data() + bytes_[i].size();
      for (const std::byte* at = pointers_[i] + test.arguments[i].size(); at < end; ++at)
        if (*at != canary) return false;
    }
    return true;
  }

  /// Where the arguments differ; all NaN are one.
  static std::string difference(const Kernel& kernel, const Memory& got, const Memory& want) {
    for (std::size_t i = 0; i < want.pointers_.size(); ++i) {
      std::string text = visit(kernel.buffers[i].dtype, [&]<class T>() -> std::string {
        for (std::int64_t k = 0; k < kernel.buffers[i].elements; ++k) {
          const auto at = k * static_cast<std::int64_t>(sizeof(T));
          Bits a = 0;
          Bits b = 0;
          std::memcpy(&a, got.pointers_[i] + at, sizeof(T));
          std::memcpy(&b, want.pointers_[i] + at, sizeof(T));
          if (a == b) continue;
          const auto x = convert_element<double>(element<T>(a));
          const auto y = convert_element<double>(element<T>(b));
          if (std::isnan(x) && std::isnan(y)) continue;
          return "buffer " + std::to_string(i) + ", element " + std::to_string(k) + ": got " +
                 hom::to_string(x) + ", want " + hom::to_string(y) + " (" + std::to_string(a) +
                 ", " + std::to_string(b) + ")";
        }
        return "";
      });
      if (!text.empty()) return text;
    }
    return "";
  }

 private:
  static constexpr std::size_t guard = 256;
  static constexpr std::size_t alignment = 64;
  static constexpr std::byte canary{0xa5};
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::byte*> pointers_;
};

std::string difference(const KernelCase& test, const Memory& got, const Memory& want,
                       const cpu::FailureRecord& record, const cpu::FailureRecord& expected) {
  if (!got.is_intact(test)) return "memory outside the arguments was written";
  if (record.failure != expected.failure || record.value != expected.value) {
    return "failure " + std::to_string(record.failure) + " with " + std::to_string(record.value) +
           " instead of " + std::to_string(expected.failure) + " with " +
           std::to_string(expected.value);
  }
  return Memory::difference(test.kernel, got, want);
}

}  // namespace

void run_reference(const Kernel& kernel, std::byte* const* arguments, cpu::FailureRecord& record,
                   std::int64_t first_failure) {
  const nest::Loop* const loop = nest::split_loop(kernel);
  const std::int64_t extent = loop == nullptr ? 0 : kernel.axes[loop->axes[0]];
  if (kernel.block == 0) {
    Reference(kernel, arguments, record, first_failure, 0, extent).run(kernel.body);
    return;
  }
  for (std::int64_t low = 0; low < extent; low += kernel.block) {
    const std::int64_t high = std::min(extent, low + kernel.block);
    Reference(kernel, arguments, record, first_failure, low, high).run(kernel.body);
  }
}

std::string difference_from_reference(const KernelCase& test, const LaunchKernel& launch) {
  const Memory want(test);
  cpu::FailureRecord expected;
  run_reference(test.kernel, want.pointers(), expected);

  std::int64_t extent = 0;
  if (test.kernel.is_splittable) extent = test.kernel.axes[nest::split_loop(test.kernel)->axes[0]];
  const auto run = [&](const std::vector<std::int64_t>& bounds) -> std::string {
    const Memory got(test);
    cpu::FailureRecord record;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i)
      launch(got.pointers(), bounds[i], bounds[i + 1], record);
    return difference(test, got, want, record, expected);
  };
  if (test.kernel.block > 0) {
    std::vector<std::int64_t> bounds{0};
    while (bounds.back() < extent)
      bounds.push_back(std::min(extent, bounds.back() + test.kernel.block));
    const std::string wrong = run(bounds);
    return wrong.empty() ? wrong : "in blocks: " + wrong + "\n" + to_string(test.kernel);
  }
  std::string wrong = run({0, extent});
  if (wrong.empty() && extent > 1) {
    wrong = run({0, (extent + 2) / 3, extent / 2 + 1, extent});
    if (!wrong.empty()) wrong = "in parts: " + wrong;
  }
  return wrong.empty() ? wrong : wrong + "\n" + to_string(test.kernel);
}

}  // namespace hom::laws
