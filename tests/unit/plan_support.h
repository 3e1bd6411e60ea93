// tests/unit/plan_support.h -- small kernels and plans by hand, random plans, and a machine that
// runs them on hashes
//
// All elements are 64 bits wide. What a kernel computes is a hash of all that it reads, so that one
// wrong element anywhere changes the results.
#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include <hom/backends/nests/plan.h>

namespace hom::testing {

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15U + b + 0x7F4A7C15U;
  x ^= x >> 31U;
  x *= 0xBF58476D1CE4E5B9U;
  return x ^ (x >> 29U);
}

/// Writes kernels statement by statement.
class KernelWriter {
 public:
  explicit KernelWriter(std::string name) { kernel.name = std::move(name); }

  std::uint32_t buffer(std::int64_t elements, bool read, bool written, Dtype dtype = i64) {
    kernel.buffers.push_back({.dtype = dtype,
                              .elements = elements,
                              .is_read = read,
                              .is_written = written,
                              .label = "b" + std::to_string(kernel.buffers.size())});
    return static_cast<std::uint32_t>(kernel.buffers.size() - 1);
  }
  nest::Axis axis(std::int64_t extent) {
    kernel.axes.push_back(extent);
    return static_cast<nest::Axis>(kernel.axes.size() - 1);
  }
  nest::Value node(nest::Node node) {
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      const nest::Node& other = kernel.nodes[i];
      if (other.kind == node.kind && other.function == node.function && other.dtype == node.dtype &&
          other.number == node.number && other.operands == node.operands)
        return static_cast<nest::Value>(i);
    }
    kernel.nodes.push_back(std::move(node));
    return static_cast<nest::Value>(kernel.nodes.size() - 1);
  }
  nest::Value position(nest::Axis a) {
    return node({.kind = nest::Node::Kind::axis, .dtype = i64, .number = a});
  }
  nest::Value constant(std::int64_t number) {
    return node({.kind = nest::Node::Kind::constant, .dtype = i64, .number = number});
  }
  nest::Value scaled(nest::Value a, std::int64_t factor) {
    return node(
        {.kind = nest::Node::Kind::index_scale, .dtype = i64, .operands = {a}, .number = factor});
  }
  nest::Value sum(nest::Value a, nest::Value b) {
    return node({.kind = nest::Node::Kind::index_add, .dtype = i64, .operands = {a, b}});
  }
  /// low·n + high, the index of a matrix with rows of n.
  nest::Value at(nest::Axis row, std::int64_t n, nest::Axis column) {
    return sum(scaled(position(row), n), position(column));
  }
  nest::Value load(std::uint32_t buffer, nest::Value index) {
    return node({.kind = nest::Node::Kind::load,
                 .dtype = kernel.buffers[buffer].dtype,
                 .operands = {index},
                 .number = buffer});
  }
  nest::Value apply(nest::Function function, SmallVector<nest::Value, 3> operands,
                    Dtype dtype = i64) {
    return node({.kind = nest::Node::Kind::apply,
                 .function = function,
                 .dtype = dtype,
                 .operands = std::move(operands)});
  }

  nest::Kernel kernel;
};

inline void define(nest::Block& block, nest::Value value) {
  block.push_back({nest::Define{value}});
}
inline void store(nest::Block& block, std::uint32_t buffer, nest::Value index, nest::Value value) {
  block.push_back({nest::Store{buffer, index, value}});
}

inline nest::Loop loop_over(SmallVector<nest::Axis, 4> axes) {
  nest::Loop loop;
  loop.axes = std::move(axes);
  return loop;
}

/// Runs one kernel on hashes.
class HashMachine {
 public:
  HashMachine(const nest::Kernel& kernel, std::vector<std::uint64_t*> buffers, std::int64_t low,
              std::int64_t high)
      : kernel_(kernel), buffers_(std::move(buffers)), low_(low), high_(high) {
    values_.resize(kernel.nodes.size());
    axes_.resize(kernel.axes.size());
    run(kernel.body);
  }

 private:
  using Kind = nest::Node::Kind;

  std::uint64_t evaluated(nest::Value value) const {
    const nest::Node& node = kernel_.nodes[value];
    switch (node.kind) {
      case Kind::axis:
        return static_cast<std::uint64_t>(axes_[static_cast<std::size_t>(node.number)]);
      case Kind::constant:
        return static_cast<std::uint64_t>(node.number);
      case Kind::index_add:
        return evaluated(node.operands[0]) + evaluated(node.operands[1]);
      case Kind::index_scale:
        return evaluated(node.operands[0]) * static_cast<std::uint64_t>(node.number);
      default:
        return values_[value];
    }
  }
  void define(nest::Value value) {
    const nest::Node& node = kernel_.nodes[value];
    if (node.kind == Kind::load) {
      values_[value] = buffers_[static_cast<std::size_t>(node.number)][evaluated(node.operands[0])];
    } else if (node.kind == Kind::apply) {
      std::uint64_t hash = static_cast<std::uint64_t>(node.function);
      for (const nest::Value operand : node.operands) hash = mixed(hash, evaluated(operand));
      values_[value] = hash;
    }
  }
  void run(const nest::Block& block) {
    for (const nest::Statement& statement : block) {
      if (const auto* d = std::get_if<nest::Define>(&statement.is)) {
        define(d->value);
      } else if (const auto* s = std::get_if<nest::Store>(&statement.is)) {
        std::uint64_t& to = buffers_[s->buffer][evaluated(s->index)];
        to =
            s->combine == nest::Combine::set ? evaluated(s->value) : mixed(to, evaluated(s->value));
      } else {
        run(std::get<nest::Loop>(statement.is));
      }
    }
  }
  void run(const nest::Loop& loop) {
    std::vector<std::uint64_t> terms(loop.reductions.size(), 17);
    std::int64_t total = 1;
    for (const nest::Axis a : loop.axes) total *= kernel_.axes[a];
    std::int64_t first = 0;
    if (kernel_.is_splittable && loop.axes.size() > 0 && &loop == outermost()) {
      const std::int64_t inner = total / kernel_.axes[loop.axes[0]];
      first = low_ * inner;
      total = high_ * inner;
    }
    for (std::int64_t i = first; i < total; ++i) {
      std::int64_t rest = i;
      for (std::size_t k = loop.axes.size(); k-- > 0;) {
        axes_[loop.axes[k]] = rest % kernel_.axes[loop.axes[k]];
        rest /= kernel_.axes[loop.axes[k]];
      }
      run(loop.body);
      for (std::size_t r = 0; r < terms.size(); ++r)
        terms[r] = mixed(terms[r], evaluated(loop.reductions[r].term));
    }
    for (std::size_t r = 0; r < terms.size(); ++r) values_[loop.reductions[r].result] = terms[r];
  }
  const nest::Loop* outermost() const { return &std::get<nest::Loop>(kernel_.body[0].is); }

  const nest::Kernel& kernel_;
  std::vector<std::uint64_t*> buffers_;
  std::int64_t low_;
  std::int64_t high_;
  std::vector<std::uint64_t> values_;
  std::vector<std::int64_t> axes_;
};

/// Results are hashes of all elements of all operands, and of the position.
class HashRoutine : public nest::Routine {
 public:
  HashRoutine(std::vector<std::int64_t> operands, std::int64_t rows, std::int64_t columns)
      : operands_(std::move(operands)), rows_(rows), columns_(columns) {}

  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           std::byte* scratch) const override {
    run_rows(operands, results[0], scratch, 0, rows_);
  }
  bool has_rows() const override { return true; }
  std::int64_t panel() const override { return 2; }
  void run_rows(std::span<const std::byte* const> operands, std::byte* result, std::byte* scratch,
                std::int64_t low, std::int64_t high) const override {
    std::uint64_t hash = 5;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto* x = reinterpret_cast<const std::uint64_t*>(operands[k]);
      for (std::int64_t i = 0; i < operands_[k]; ++i) hash = mixed(hash, x[i]);
    }
    if (scratch) std::memcpy(scratch, &hash, sizeof hash);
    auto* y = reinterpret_cast<std::uint64_t*>(result);
    for (std::int64_t i = low * columns_; i < high * columns_; ++i)
      y[i] = mixed(hash, static_cast<std::uint64_t>(i));
    if (scratch) std::memcpy(&hash, scratch, sizeof hash);
  }
  std::int64_t scratch_bytes() const override { return 8; }
  std::string describe() const override { return "hash"; }
  nest::Work work() const override { return {}; }

 private:
  std::vector<std::int64_t> operands_;
  std::int64_t rows_;
  std::int64_t columns_;
};

/// One run of a plan on given memory, buffer by buffer; `on_access` hears what each instruction
/// does, in the order of the run.
class PlanMachine {
 public:
  struct Event {
    std::uint32_t buffer;
    std::int64_t time;
    bool reads;
    bool writes;
    bool replaces;
  };

  PlanMachine(const nest::Plan& plan, std::vector<std::byte*> buffers)
      : plan_(plan), buffers_(std::move(buffers)), positions_(plan.loop_count) {
    run(plan.body);
  }
  std::vector<Event> events;
  std::int64_t time = 1;

 private:
  std::byte* at(const nest::Address& address) const {
    std::int64_t offset = address.offset;
    for (const nest::Address::Move& move : address.moves)
      offset += positions_[move.loop] * move.stride;
    return buffers_[address.buffer] + offset;
  }
  void note(const nest::Address& address, bool reads, bool writes, bool replaces = false) {
    events.push_back({address.buffer, time, reads, writes, replaces});
  }
  void launch(const nest::Launch& launch, std::int64_t low, std::int64_t high) {
    std::vector<std::uint64_t*> arguments;
    for (const nest::Address& a : launch.arguments)
      arguments.push_back(reinterpret_cast<std::uint64_t*>(at(a)));
    HashMachine(plan_.kernels[launch.kernel], arguments, low, high);
  }
  void note(const nest::Launch& launch) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const nest::Buffer& b = plan_.kernels[launch.kernel].buffers[i];
      // The kernels of these tests write all that they do not read.
      note(launch.arguments[i], b.is_read, b.is_written,
           !b.is_read && launch.arguments[i].moves.empty());
    }
  }
  std::int64_t extent(const nest::Launch& launch) const {
    const nest::Kernel& kernel = plan_.kernels[launch.kernel];
    if (!kernel.is_splittable) return 0;
    return kernel.axes[std::get<nest::Loop>(kernel.body[0].is).axes[0]];
  }
  bool holds(const nest::Address& predicate) {
    note(predicate, true, false);
    ++time;
    return (std::to_integer<int>(*at(predicate)) & 1) != 0;
  }
  void run(const nest::Instructions& body) {
    for (const nest::Instruction& instruction : body) run(instruction);
  }
  void run(const nest::Instruction& instruction) {
    if (const auto* l = std::get_if<nest::Launch>(&instruction.is)) {
      note(*l);
      launch(*l, 0, extent(*l));
      ++time;
    } else if (const auto* c = std::get_if<nest::Call>(&instruction.is)) {
      run(*c);
    } else if (const auto* copy = std::get_if<nest::Copy>(&instruction.is)) {
      note(copy->from, true, false);
      note(copy->to, false, true,
           copy->to.moves.empty() && copy->bytes == plan_.buffers[copy->to.buffer].bytes());
      std::memmove(at(copy->to), at(copy->from), static_cast<std::size_t>(copy->bytes));
      ++time;
    } else if (const auto* r = std::get_if<nest::Repeat>(&instruction.is)) {
      for (std::int64_t i = 0; i < r->count; ++i) {
        positions_[r->id] = i;
        run(r->body);
      }
      positions_[r->id] = 0;
    } else if (const auto* w = std::get_if<nest::While>(&instruction.is)) {
      run(w->condition);
      for (std::int64_t i = 0; holds(w->predicate) && i < w->bound; ++i) {
        run(w->body);
        run(w->condition);
      }
    } else if (const auto* strips = std::get_if<nest::Strips>(&instruction.is)) {
      for (std::int64_t i = 0; i < strips->count(); ++i) {
        positions_[strips->id] = i;
        run(strips->body);
      }
      positions_[strips->id] = 0;
    } else {
      const auto& b = std::get<nest::Branch>(instruction.is);
      run(holds(b.predicate) ? b.then : b.otherwise);
    }
  }
  void run(const nest::Call& call) {
    const nest::Routine& routine = *plan_.routines[call.routine];
    std::vector<const std::byte*> operands;
    for (const nest::Address& a : call.operands) {
      note(a, true, false);
      operands.push_back(at(a));
    }
    note(call.results[0], false, true, true);
    std::byte* const result = at(call.results[0]);
    if (call.scratch) note(*call.scratch, false, true, true);
    std::byte* const scratch = call.scratch ? at(*call.scratch) : nullptr;
    if (call.epilogue) {
      note(*call.epilogue);
      const std::int64_t rows = extent(*call.epilogue);
      for (std::int64_t low = 0; low < rows; low += routine.panel()) {
        const std::int64_t high = std::min(rows, low + routine.panel());
        routine.run_rows(operands, result, scratch, low, high);
        launch(*call.epilogue, low, high);
      }
    } else {
      routine.run(operands, std::span(&result, 1), scratch);
    }
    ++time;
  }

  const nest::Plan& plan_;
  std::vector<std::byte*> buffers_;
  std::vector<std::int64_t> positions_;
};

}  // namespace hom::testing
