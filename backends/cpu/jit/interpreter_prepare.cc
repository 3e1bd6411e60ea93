// backends/cpu/jit/interpreter_prepare.cc -- from a kernel to instructions
//
// A value that depends on the vector axis is a tile, but for indices that move with that axis by a
// fixed step (interpreter_values.h).
#include <algorithm>
#include <cstring>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/jit/interpreter_code.h>
#include <hom/backends/cpu/jit/interpreter_tiles.h>
#include <hom/backends/cpu/jit/interpreter_values.h>

namespace hom::cpu {
namespace {

using nest::Axis;
using nest::Block;
using nest::Kernel;
using nest::Loop;
using nest::Node;
using nest::Value;
using Kind = Instruction::Kind;

class Preparation {
 public:
  Preparation(const Kernel& kernel, std::int64_t first_failure)
      : kernel_(kernel),
        first_failure_(first_failure),
        values_(kernel),
        places_(kernel.nodes.size()),
        bases_(kernel.nodes.size()),
        counters_(kernel.axes.size()) {
    for (Value value = 0; value < kernel.nodes.size(); ++value) {
      if (node(value).kind == Node::Kind::axis && values_.varies[value] && values_.is_tile[value])
        spread_axes_.push_back(value);
    }
  }

  InterpretedKernel run() {
    constants();
    for (std::size_t i = 0; i < kernel_.body.size(); ++i)
      std::visit([&](const auto& is) { emit(is); }, kernel_.body[i].is);
    code_.argument_count = static_cast<std::uint32_t>(kernel_.argument_count());
    const std::int64_t extent = kernel_.vector_axis ? kernel_.axes[*kernel_.vector_axis] : 1;
    const std::int64_t most = runs_side_by_side_ ? std::min(extent, reduced_lanes) : extent;
    end_ = tiles_.place(code_, aligned(end_), most);
    for (const nest::Buffer& buffer : kernel_.buffers) {
      if (buffer.is_local)
        code_.locals.push_back(
            allocate(static_cast<std::size_t>(buffer.elements) * buffer.dtype.size()));
    }
    code_.pointers = allocate(kernel_.buffers.size() * sizeof(std::byte*));
    code_.scratch_bytes = end_;
    return std::move(code_);
  }

 private:
  // ---- places ----

  static std::uint32_t aligned(std::uint32_t offset) { return (offset + 63) / 64 * 64; }

  std::uint32_t allocate(std::size_t bytes) {
    const std::uint32_t at = aligned(end_);
    if (bytes > UINT32_MAX - 8 - at) throw Bug("interpreter: scratch memory beyond 4 GiB");
    end_ = at + static_cast<std::uint32_t>((bytes + 7) / 8 * 8);
    return at;
  }

  /// Room for one element.
  Place scalar() {
    const Place place{end_, 0};
    end_ += 8;
    return place;
  }

  void constants() {
    for (Value value = 0; value < kernel_.nodes.size(); ++value) {
      if (kernel_.nodes[value].kind == Node::Kind::constant) places_[value] = scalar();
    }
    code_.constants.resize(end_);
    for (Value value = 0; value < kernel_.nodes.size(); ++value) {
      const Node& node = kernel_.nodes[value];
      if (node.kind == Node::Kind::constant)
        std::memcpy(code_.constants.data() + places_[value].offset, &node.number, 8);
    }
  }

  const Node& node(Value value) const { return kernel_.nodes[value]; }

  /// A value's elements.
  Place operand(Value value) const {
    if (node(value).kind == Node::Kind::axis && !values_.varies[value])
      return counters_[static_cast<std::size_t>(node(value).number)];
    return places_[value];
  }

  /// An index: of each lane, or of the first one.
  Place index(Value value) const {
    if (!values_.is_moving(value)) return operand(value);
    return node(value).kind == Node::Kind::axis
               ? counters_[static_cast<std::size_t>(node(value).number)]
               : bases_[value];
  }
  std::int64_t step(Value value) const { return values_.step[value].value_or(0); }

  Place room_for(Value value) {
    return values_.varies[value] ? tiles_.add(node(value).dtype.size()) : scalar();
  }

  Instruction& push(Instruction instruction) {
    code_.instructions.push_back(instruction);
    return code_.instructions.back();
  }
  std::uint32_t next() const { return static_cast<std::uint32_t>(code_.instructions.size()); }

  // ---- values ----

  void emit(const nest::Define& define) {
    const Value value = define.value;
    if (node(value).kind == Node::Kind::constant || node(value).kind == Node::Kind::axis) return;
    if (is_index_arithmetic(node(value).kind) && values_.is_moving(value)) {
      bases_[value] = scalar();
      emit_index(value, bases_[value], false);
      if (values_.is_tile[value]) spread(value);
      return;
    }
    const Place to = places_[value] = room_for(value);
    switch (node(value).kind) {
      case Node::Kind::load:
        emit_load(value, to);
        break;
      case Node::Kind::apply:
        emit_apply(value, to);
        break;
      case Node::Kind::convert: {
        const Value from = node(value).operands[0];
        emit_row(value, to, convert_row_of(node(value).dtype, node(from).dtype));
        break;
      }
      case Node::Kind::bitcast: {
        // Nothing but 0 and 1 may be read as a bool.
        const Dtype dtype = node(value).dtype;
        emit_row(value, to, dtype.is_bool() ? convert_row_of(bool_, u8) : copy_row(dtype));
        break;
      }
      case Node::Kind::block:
        push({.kind = Kind::block, .to = to, .number = kernel_.block});
        break;
      default:
        emit_index(value, to, values_.varies[value]);
        break;
    }
  }

  void emit_index(Value value, Place to, bool is_tile) {
    const Node& is = node(value);
    const auto kind =
        static_cast<Kind>(static_cast<int>(Kind::index_add) + static_cast<int>(is.kind) -
                          static_cast<int>(Node::Kind::index_add));
    const auto place = [&](std::size_t i) {
      if (i >= is.operands.size()) return Place{};
      return is_tile ? operand(is.operands[i]) : index(is.operands[i]);
    };
    push({.kind = kind,
          .is_tile = is_tile,
          .to = to,
          .a = place(0),
          .b = place(1),
          .number = is.number});
  }

  /// The tile of an index that moves by a fixed step.
  void spread(Value value) {
    places_[value] = tiles_.add(sizeof(std::int64_t));
    push({.kind = Kind::positions,
          .is_tile = true,
          .to = places_[value],
          .a = index(value),
          .number = step(value)});
  }

  void emit_row(Value value, Place to, Row<2> row) {
    push({.kind = Kind::unary,
          .is_tile = values_.varies[value],
          .to = to,
          .a = operand(node(value).operands[0])})
        .call.unary = row;
  }

  void emit_apply(Value value, Place to) {
    const Node& is = node(value);
    const Dtype dtype = node(is.operands.back()).dtype;
    Instruction i{.kind = Kind::unary, .is_tile = values_.varies[value], .to = to};
    i.a = operand(is.operands[0]);
    if (is.operands.size() > 1) i.b = operand(is.operands[1]);
    if (is.operands.size() > 2) i.c = operand(is.operands[2]);
    i.number = is.number;
    if (is.function == nest::Function::polygamma) {
      i.kind = Kind::polygamma;
      i.call.parametric = polygamma_row_of(dtype);
    } else if (is.function == nest::Function::log_gamma_slope) {
      i.kind = Kind::log_gamma_slope;
      i.call.parametric_binary = log_gamma_slope_row_of(dtype);
    } else if (is.function == nest::Function::select) {
      i.kind = Kind::ternary;
      i.call.ternary = select_row_of(dtype);
    } else if (is.function == nest::Function::fma) {
      i.kind = Kind::ternary;
      i.call.ternary = fma_row_of(dtype);
    } else if (is.operands.size() == 2) {
      i.kind = Kind::binary;
      i.call.binary = binary_row_of(is.function, dtype);
    } else {
      i.call.unary = unary_row_of(is.function, dtype);
    }
    push(i);
  }

  /// A load or store at `at`.
  Instruction access(Kind kind, std::int64_t buffer, Value at, bool is_tile) const {
    const auto number = static_cast<std::uint32_t>(buffer);
    return {.kind = kind,
            .is_tile = is_tile,
            .element_bytes = static_cast<std::uint8_t>(kernel_.buffers[number].dtype.size()),
            .buffer = number,
            .a = index(at),
            .number = step(at)};
  }

  void emit_load(Value value, Place to) {
    const Node& is = node(value);
    Instruction i = access(Kind::load, is.number, is.operands[0], values_.varies[value]);
    i.to = to;
    i.is_masked = is.operands.size() == 2;
    if (i.is_masked) i.b = operand(is.operands[1]);
    if (i.is_masked || i.a.stride != 0) {
      i.kind = Kind::gather;
      i.call.gather = gather_of(is.dtype);
    } else {
      i.call.unary = copy_row(is.dtype);
    }
    push(i);
  }

  // ---- statements ----

  void emit(const nest::Store& store) {
    const Dtype dtype = kernel_.buffers[store.buffer].dtype;
    Instruction i = access(Kind::store, store.buffer, store.index, in_tiles_);
    i.b = operand(store.value);
    i.is_masked = store.when.has_value();
    if (i.is_masked) i.c = operand(*store.when);
    if (i.is_masked || i.a.stride != 0 || store.combine != nest::Combine::set) {
      i.kind = Kind::scatter;
      i.call.scatter = scatter_of(store.combine, dtype);
    } else {
      i.call.unary = copy_row(dtype);
    }
    push(i);
  }

  void emit(const nest::Check& check) {
    push({.kind = Kind::check,
          .is_tile = in_tiles_,
          .a = operand(check.ok),
          .b = operand(check.offending),
          .number = first_failure_ + 1 + check.failure});
  }

  void assign(Place to, Place from, Dtype dtype) {
    push({.kind = Kind::unary, .is_tile = to.stride != 0, .to = to, .a = from}).call.unary =
        copy_row(dtype);
  }

  void emit(const nest::Shortcut& shortcut) {
    for (const nest::Statement& statement : shortcut.full)
      std::visit([&](const auto& is) { emit(is); }, statement.is);
  }

  void emit(const Loop& loop) {
    for (const nest::Carry& carry : loop.carries) {
      places_[carry.state] = room_for(carry.state);
      assign(places_[carry.state], operand(carry.initial), node(carry.state).dtype);
    }
    const auto first = static_cast<std::uint32_t>(code_.reductions.size());
    for (const nest::Reduction& reduction : loop.reductions) begin(reduction);
    const bool is_split = kernel_.is_splittable && open_loops_ == 0;
    std::vector<std::uint32_t> begins;
    for (const Axis axis : loop.axes) {
      begins.push_back(next());
      begin(loop, axis, is_split && begins.size() == 1);
    }
    ++open_loops_;
    for (const nest::Statement& statement : loop.body)
      std::visit([&](const auto& is) { emit(is); }, statement.is);
    --open_loops_;
    // Terms are those of this iteration, also where they are states.
    for (std::uint32_t i = 0; i < loop.reductions.size(); ++i) {
      const Value term = loop.reductions[i].term;
      push({.kind = Kind::add_terms,
            .is_tile = values_.varies[term] || kernel_.vector_axis == loop.axes.back(),
            .target = first + i,
            .a = operand(term)});
    }
    carry(loop);
    for (std::size_t i = begins.size(); i-- > 0;) end(loop, loop.axes[i], begins[i]);
    for (std::uint32_t i = 0; i < loop.reductions.size(); ++i) {
      const Value result = loop.reductions[i].result;
      places_[result] = room_for(result);
      push({.kind = Kind::finish_reduction,
            .is_tile = values_.varies[result],
            .target = first + i,
            .to = places_[result]});
    }
  }

  void begin(const nest::Reduction& reduction) {
    const bool side_by_side = values_.varies[reduction.result];
    runs_side_by_side_ |= side_by_side;
    const ReductionFunctions functions =
        reduction.pairwise
            ? pairwise_functions(reduction.combine, node(reduction.term).dtype)
            : reduction_functions(reduction.combine, node(reduction.term).dtype, side_by_side);
    const auto number = static_cast<std::uint32_t>(code_.reductions.size());
    code_.reductions.push_back({functions, allocate(functions.bytes)});
    if (functions.begins_with_loop) push({.kind = Kind::begin_reduction, .target = number});
  }

  void begin(const Loop& loop, Axis axis, bool is_split) {
    const bool is_vector = kernel_.vector_axis == axis;
    counters_[axis] = {allocate(sizeof(Counter)), 0};
    push({.kind = is_vector ? Kind::begin_tiles : Kind::begin_loop,
          .is_reverse = loop.reverse && axis == loop.axes.back(),
          .is_split = is_split,
          .to = counters_[axis],
          .number = kernel_.axes[axis]});
    if (!is_vector) return;
    in_tiles_ = true;
    for (const Value value : spread_axes_) spread(value);
  }

  void end(const Loop& loop, Axis axis, std::uint32_t begin) {
    const bool is_vector = kernel_.vector_axis == axis;
    code_.instructions[begin].target = next();
    push({.kind = is_vector ? Kind::end_tiles : Kind::end_loop,
          .is_reverse = loop.reverse && axis == loop.axes.back(),
          .target = begin,
          .to = counters_[axis]});
    if (is_vector) in_tiles_ = false;
  }

  /// All states change at once: where one becomes another, the old ones are kept until all are
  /// read.
  void carry(const Loop& loop) {
    const auto is_state = [&](Value value) {
      return std::any_of(loop.carries.begin(), loop.carries.end(), [&](const nest::Carry& carry) {
        return carry.state == value && carry.next != value;
      });
    };
    std::vector<Place> next;
    for (const nest::Carry& carry : loop.carries) {
      next.push_back(operand(carry.next));
      if (carry.next == carry.state || !is_state(carry.next)) continue;
      const Place kept = room_for(carry.next);
      assign(kept, next.back(), node(carry.next).dtype);
      next.back() = kept;
    }
    for (std::size_t i = 0; i < next.size(); ++i) {
      const nest::Carry& carry = loop.carries[i];
      if (carry.next != carry.state) assign(places_[carry.state], next[i], node(carry.state).dtype);
    }
  }

  const Kernel& kernel_;
  std::int64_t first_failure_;
  InterpretedValues values_;
  InterpretedKernel code_;
  Tiles tiles_;
  /// Where elements of a value lie now; where the first lane of a moving index lies.
  std::vector<Place> places_;
  std::vector<Place> bases_;
  std::vector<Place> counters_;
  /// Nodes of the vector axis, where something else than addresses is computed from them.
  std::vector<Value> spread_axes_;
  std::uint32_t end_ = 0;
  int open_loops_ = 0;
  bool in_tiles_ = false;
  bool runs_side_by_side_ = false;
};

}  // namespace

InterpretedKernel prepare(const Kernel& kernel, std::int64_t first_failure) {
  return Preparation(kernel, first_failure).run();
}

}  // namespace hom::cpu
