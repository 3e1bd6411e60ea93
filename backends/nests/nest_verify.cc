// backends/nests/nest_verify.cc -- whether a kernel is well-formed
#include <algorithm>
#include <bit>

#include <hom/backends/nests/nest_functions.h>

namespace hom::nest {
namespace {

using Kind = Node::Kind;

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), known_(kernel.nodes.size(), false), is_open_(kernel.axes.size(), false) {}

  void run() {
    for (std::size_t a = 0; a < kernel_.axes.size(); ++a)
      expect(kernel_.axes[a] >= 1, [&] { return axis_name(a) + " has no positions"; });
    if (kernel_.vector_axis) axis(*kernel_.vector_axis);
    buffers();
    for (Value value = 0; value < kernel_.nodes.size(); ++value) node(value);
    block(kernel_.body);
    expect(kernel_.block == 0 || (kernel_.block > 0 && kernel_.is_splittable),
           [] { return std::string("in blocks, but not splittable"); });
    if (kernel_.is_splittable) splittable();
  }

 private:
  template <class Text>
  void expect(bool ok, Text&& text) const {
    if (!ok) [[unlikely]] {
      throw Bug("kernel `" + kernel_.name + "`: " + text() + "\n" + to_string(kernel_));
    }
  }

  static std::string name(Value value) { return "v" + std::to_string(value); }
  static std::string axis_name(std::size_t axis) { return "a" + std::to_string(axis); }

  // ---- buffers and nodes, wherever they are used ----

  void buffers() const {
    bool local = false;
    for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      const auto complain = [&](const char* what) {
        return [i, what] { return "buffer " + std::to_string(i) + what; };
      };
      expect(buffer.elements >= 0, complain(" has a negative size"));
      expect(buffer.is_local || !local, complain(" is an argument after a local one"));
      local = buffer.is_local;
    }
  }

  const Buffer& buffer(std::int64_t number) const {
    expect(number >= 0 && number < static_cast<std::int64_t>(kernel_.buffers.size()),
           [&] { return "there is no buffer " + std::to_string(number); });
    return kernel_.buffers[static_cast<std::size_t>(number)];
  }

  void axis(std::int64_t number) const {
    expect(number >= 0 && number < static_cast<std::int64_t>(kernel_.axes.size()),
           [&] { return "there is no axis " + std::to_string(number); });
  }

  const Node& value(Value value) const {
    expect(value < kernel_.nodes.size(), [&] { return "there is no " + name(value); });
    return kernel_.nodes[value];
  }

  void typed(Value what, Dtype dtype, const char* role) const {
    expect(value(what).dtype == dtype, [&] {
      return std::string(role) + " " + name(what) + " is " +
             std::string(kernel_.nodes[what].dtype.name()) + ", not " + std::string(dtype.name());
    });
  }

  void node(Value which) const {
    const Node& node = kernel_.nodes[which];
    const auto complain = [&](const char* what) {
      return [which, what] { return name(which) + what; };
    };
    for (const Value operand : node.operands)
      expect(operand < which, complain(" has an operand that is not an earlier node"));
    const std::size_t count = node.operands.size();
    const auto takes_indices = [&](std::size_t wanted) {
      expect(count == wanted, complain(" has a wrong number of operands"));
      for (const Value operand : node.operands) typed(operand, i64, "the index");
      expect(node.dtype == i64, complain(" is an index that is not i64"));
    };
    switch (node.kind) {
      case Kind::axis:
        takes_indices(0);
        axis(node.number);
        break;
      case Kind::block:
        takes_indices(0);
        expect(kernel_.block > 0, complain(" counts blocks, but the kernel has none"));
        break;
      case Kind::constant:
      case Kind::reduced:
      case Kind::carried:
        expect(count == 0, complain(" has operands"));
        break;
      case Kind::load:
        expect(count == 1 || count == 2, complain(" has a wrong number of operands"));
        expect(buffer(node.number).is_read, complain(" loads from a buffer that is not read"));
        expect(buffer(node.number).dtype == node.dtype, complain(" has not its buffer's dtype"));
        typed(node.operands[0], i64, "the index");
        if (count == 2) typed(node.operands[1], bool_, "the condition");
        break;
      case Kind::apply:
        apply(which);
        break;
      case Kind::convert:
        expect(count == 1, complain(" has a wrong number of operands"));
        break;
      case Kind::bitcast:
        expect(count == 1, complain(" has a wrong number of operands"));
        expect(kernel_.nodes[node.operands[0]].dtype.size() == node.dtype.size(),
               complain(" takes bits of another size"));
        break;
      case Kind::index_add:
        takes_indices(2);
        break;
      case Kind::index_scale:
        takes_indices(1);
        break;
      case Kind::index_quotient:
      case Kind::index_remainder:
        takes_indices(1);
        expect(node.number > 0, complain(" divides by a number that is not positive"));
        break;
    }
  }

  void apply(Value which) const {
    const Node& node = kernel_.nodes[which];
    const auto complain = [&](const char* what) {
      return [&, what] { return name(which) + ", " + std::string(name_of(node.function)) + what; };
    };
    expect(static_cast<std::size_t>(node.function) < function_count,
           [&] { return name(which) + " has no function"; });
    expect(node.operands.size() == static_cast<std::size_t>(arity_of(node.function)),
           complain(", has a wrong number of operands"));
    std::size_t first = 0;
    if (node.function == Function::select) {
      typed(node.operands[0], bool_, "the condition");
      first = 1;
    }
    const Dtype dtype = kernel_.nodes[node.operands[first]].dtype;
    for (std::size_t i = first; i < node.operands.size(); ++i)
      typed(node.operands[i], dtype, "the operand");
    expect(takes(node.function, dtype), complain(", does not take this dtype"));
    expect(node.dtype == (is_test(node.function) ? bool_ : dtype), complain(", has a wrong dtype"));
  }

  // ---- placement ----

  void known(Value which, const char* role) const {
    const Node& node = value(which);
    if (node.kind == Kind::constant) return;
    const bool is_known =
        node.kind == Kind::axis ? is_open_[static_cast<std::size_t>(node.number)] : known_[which];
    expect(is_known, [&] {
      return std::string(role) + " " + name(which) +
             (node.kind == Kind::axis ? " is a position outside the loops along its axis"
                                      : " is not known where it is used");
    });
  }

  void learn(Value which) {
    expect(!known_[which], [&] { return name(which) + " is computed where it is known already"; });
    known_[which] = true;
    learnt_.push_back(which);
  }

  /// Forgets what was learnt since there were `count` values.
  void forget(std::size_t count) {
    for (; learnt_.size() > count; learnt_.pop_back()) known_[learnt_.back()] = false;
  }

  void block(const Block& statements) {
    for (const Statement& statement : statements)
      std::visit([&](const auto& is) { place(is); }, statement.is);
  }

  void place(const Define& define) {
    const Node& node = value(define.value);
    expect(node.kind != Kind::reduced && node.kind != Kind::carried, [&] {
      return name(define.value) + " is known by its loop and cannot be computed elsewhere";
    });
    for (const Value operand : node.operands) known(operand, "the operand");
    if (node.kind == Kind::constant || node.kind == Kind::axis) {
      known(define.value, "the value");
    } else {
      learn(define.value);
    }
  }

  void place(const Store& store) const {
    const Buffer& to = buffer(store.buffer);
    expect(to.is_written, [&] { return "a store into a buffer that is not written: " + to.label; });
    known(store.index, "the index");
    typed(store.index, i64, "the index");
    known(store.value, "the stored value");
    typed(store.value, to.dtype, "the stored value");
    if (store.when) {
      known(*store.when, "the condition");
      typed(*store.when, bool_, "the condition");
    }
    expect(store.combine <= Combine::or_ && takes(store.combine, to.dtype), [&] {
      return "a store cannot combine by " + std::string(name_of(store.combine)) + " in " +
             std::string(to.dtype.name());
    });
  }

  void place(const Check& check) const {
    known(check.ok, "the condition");
    typed(check.ok, bool_, "the condition");
    known(check.offending, "the offending value");
    typed(check.offending, i64, "the offending value");
    expect(check.failure < kernel_.failures.size(),
           [&] { return "there is no failure " + std::to_string(check.failure); });
  }

  void place(const Loop& loop) {
    open(loop);
    const std::size_t before = learnt_.size();
    for (const Carry& carry : loop.carries) {
      expect(value(carry.state).kind == Kind::carried,
             [&] { return name(carry.state) + " is a state but not a carried value"; });
      known(carry.initial, "the initial value");
      typed(carry.initial, kernel_.nodes[carry.state].dtype, "the initial value");
    }
    for (const Carry& carry : loop.carries) learn(carry.state);
    block(loop.body);
    for (const Carry& carry : loop.carries) {
      known(carry.next, "the next value");
      typed(carry.next, kernel_.nodes[carry.state].dtype, "the next value");
    }
    for (const Reduction& reduction : loop.reductions) verify_reduction(reduction);
    forget(before);
    for (const Axis axis : loop.axes) is_open_[axis] = false;
    for (const Carry& carry : loop.carries) learn(carry.state);
    for (const Reduction& reduction : loop.reductions) learn(reduction.result);
  }

  void place(const Shortcut& shortcut) {
    const auto is_plain = [](const Block& statements) {
      return std::all_of(statements.begin(), statements.end(), [](const Statement& statement) {
        return std::holds_alternative<Define>(statement.is) ||
               std::holds_alternative<Store>(statement.is);
      });
    };
    expect(is_plain(shortcut.attempt) && is_plain(shortcut.quick) && is_plain(shortcut.full),
           [] { return std::string("a shortcut with other than definitions and stores"); });
    const std::size_t before = learnt_.size();
    block(shortcut.attempt);
    known(shortcut.holds, "the condition");
    typed(shortcut.holds, bool_, "the condition");
    block(shortcut.quick);
    forget(before);
    block(shortcut.full);
    forget(before);
  }

  void open(const Loop& loop) {
    expect(!loop.axes.empty(), [] { return std::string("a loop along no axis"); });
    for (const Axis number : loop.axes) {
      axis(number);
      expect(!is_open_[number],
             [&] { return "a loop along " + axis_name(number) + " inside one along it"; });
      is_open_[number] = true;
    }
    if (!loop.tile.empty()) verify_tile(loop);
    const auto vector = std::find(loop.axes.begin(), loop.axes.end(), kernel_.vector_axis);
    if (vector == loop.axes.end()) return;
    expect(vector + 1 == loop.axes.end(), [&] {
      return "the vector axis " + axis_name(*vector) + " is not the last of its loop";
    });
    expect(loop.carries.empty() && !loop.reverse, [&] {
      return "the loop along the vector axis " + axis_name(*vector) + " has an order";
    });
  }

  void verify_tile(const Loop& loop) const {
    const auto has_order = [](const Statement& statement) {
      const auto* store = std::get_if<Store>(&statement.is);
      return std::holds_alternative<Loop>(statement.is) ||
             std::holds_alternative<Check>(statement.is) ||
             (store != nullptr && store->combine != Combine::set);
    };
    expect(loop.axes.size() == 2 && loop.tile.size() == 2 && loop.tile[0] > 0 && loop.tile[1] > 0 &&
               loop.tile[1] % 64 == 0,
           [] {
             return std::string("tiles of a loop that has not two axes, or not of whole vectors");
           });
    expect(loop.reductions.empty() && loop.carries.empty() && !loop.reverse &&
               std::none_of(loop.body.begin(), loop.body.end(), has_order),
           [] { return std::string("tiles of a loop that has an order"); });
  }

  void verify_reduction(const Reduction& reduction) const {
    known(reduction.term, "the term");
    const Dtype dtype = kernel_.nodes[reduction.term].dtype;
    const Node& result = value(reduction.result);
    expect(result.kind == Kind::reduced,
           [&] { return name(reduction.result) + " is a result but not a reduced value"; });
    expect(reduction.combine != Combine::set && takes(reduction.combine, dtype), [&] {
      return name(reduction.result) + " cannot be the " + std::string(name_of(reduction.combine)) +
             " of " + std::string(dtype.name());
    });
    typed(reduction.result, reduction.combine >= Combine::argmax ? i64 : dtype, "the result");
    expect(!reduction.pairwise || (reduction.combine < Combine::argmax && !kernel_.vector_axis),
           [&] { return name(reduction.result) + " is pairwise, of places or among vectors"; });
  }

  void splittable() const {
    const Loop* loop = split_loop(kernel_);
    if (kernel_.block > 0) return in_blocks(loop);
    const bool ends_with_it = loop != nullptr && loop == std::get_if<Loop>(&kernel_.body.back().is);
    expect(ends_with_it && loop->reductions.empty() && loop->carries.empty(), [] {
      return std::string("splittable, but not one loop without reductions and carries");
    });
  }

  void in_blocks(const Loop* loop) const {
    const auto loops = std::count_if(
        kernel_.body.begin(), kernel_.body.end(),
        [](const Statement& statement) { return std::holds_alternative<Loop>(statement.is); });
    expect(loop != nullptr && loops == 1 && loop->carries.empty() && !loop->reverse,
           [] { return std::string("in blocks, but not one loop without carries"); });
    std::int64_t terms = kernel_.block;
    for (std::size_t i = 1; i < loop->axes.size(); ++i) terms *= kernel_.axes[loop->axes[i]];
    expect(terms % 64 == 0 && std::has_single_bit(static_cast<std::uint64_t>(terms / 64)), [&] {
      return "blocks of " + std::to_string(terms) + " terms, not of a power of two times 64";
    });
  }

  const Kernel& kernel_;
  std::vector<bool> known_;
  /// Values in the order in which they became known.
  std::vector<Value> learnt_;
  std::vector<bool> is_open_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace hom::nest
