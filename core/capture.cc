// core/capture.cc -- the stack of captures of a thread, and the application of primitives and
// programs
#include <hom/core/capture.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

namespace hom {
namespace {

thread_local Capture* innermost = nullptr;

std::atomic<std::uint64_t> next_capture_id{1};

/// Captures in progress on any thread: only to tell a leaked symbol from one of another thread.
struct LiveCaptures {
  std::mutex mutex;
  std::set<std::uint64_t> ids;
};

LiveCaptures& live_captures() {
  static LiveCaptures live;
  return live;
}

/// Concrete results know their line, as symbols do.
template <class List>
List made_at(const Location& at, List results) {
  for (Tensor& y : results) y = Tensor(y.array_pointer(), at);
  return results;
}

TensorList apply_at_once(const Primitive& primitive, const Attributes& attributes,
                         TensorList operands, const Location& at) {
  const LocationScope line(at);
  SmallVector<TensorType, 4> types;
  for (const Tensor& operand : operands) types.push_back(operand.array(at).type);
  const std::vector<TensorType> results =
      result_types(primitive, attributes, {types.data(), types.size()}, at);
  return made_at(at, execute(Invocation{primitive, attributes, results, at}, std::move(operands)));
}

}  // namespace

Capture::Capture(const Location& at) : id_(next_capture_id++), at_(at), enclosing_(innermost) {
  const std::scoped_lock lock(live_captures().mutex);
  live_captures().ids.insert(id_);
  // Last, since the destructor does not run where the constructor throws.
  innermost = this;
}

Capture::~Capture() {
  innermost = enclosing_;
  const std::scoped_lock lock(live_captures().mutex);
  live_captures().ids.erase(id_);
}

Capture* Capture::current() { return innermost; }

Tensor Capture::input(const TensorType& type, std::string name) {
  ensure(outer_operands_.empty(), "inputs come before captured operands");
  return symbol(builder_.add_input(type, std::move(name)), at_);
}

std::vector<Tensor> Capture::inputs(std::span<const TensorType> types,
                                    std::span<const std::string> names) {
  std::vector<Tensor> list;
  for (const TensorType& type : types) {
    const std::size_t i = list.size();
    list.push_back(input(type, names.empty() ? "x" + std::to_string(i) : names[i]));
  }
  return list;
}

void fail_leaked(const Tensor& symbol, const Location& at) {
  bool elsewhere = false;
  {
    const std::scoped_lock lock(live_captures().mutex);
    elsewhere = live_captures().ids.contains(symbol.capture_id());
  }
  const std::string origin = to_string(symbol.location());
  if (elsewhere) {
    fail({"a symbolic tensor made at " + origin +
              " is used on another thread than the one that captures it",
          "capture the whole function on one thread; give other threads concrete tensors"},
         at);
  }
  fail({"a symbolic tensor made at " + origin + " is used after its capture has ended",
        "return it from the captured function, instead of keeping it in a variable outside"},
       at);
}

Capture* Capture::of(const Tensor& symbol) {
  Capture* capture = innermost;
  while (capture && capture->id_ != symbol.capture_id()) capture = capture->enclosing_;
  return capture;
}

TensorType Tensor::type(const Location& at) const {
  if (array_) return array_->type;
  require(capture_ != 0, at, [] {
    return Complaint{
        "an empty tensor is used",
        "a default-constructed Tensor has no value; integer leaves of a gradient are empty too"};
  });
  if (Capture* capture = Capture::of(*this)) return capture->builder().type(slot_);
  fail_leaked(*this, at);
}

Slot Capture::slot_of(const Tensor& x, const Location& at) {
  if (x.is_symbolic() && x.capture_id() == id_) return x.slot();
  const TensorType type = x.type(at);
  if (x.is_concrete()) return builder_.capture(x, at);
  const auto [found, is_new] = outer_slots_.try_emplace({x.capture_id(), x.slot()}, Slot{});
  if (is_new) {
    found->second = builder_.add_input(type, "captured" + std::to_string(outer_operands_.size()));
    outer_operands_.push_back(x);
  }
  return found->second;
}

Closure Capture::finish(std::span<const Tensor> outputs, Builder::Signature signature,
                        const Location& at) {
  std::vector<Slot> slots;
  for (const Tensor& output : outputs) slots.push_back(slot_of(output, at));
  if (!outer_operands_.empty()) {
    if (signature.domain.is_tensor) signature.domain = Object::product({{"", signature.domain}});
    for (std::size_t i = 0; i < outer_operands_.size(); ++i) {
      signature.domain.factors.push_back(
          {"captured" + std::to_string(i), outer_operands_[i].type(at)});
    }
  }
  return Closure{std::move(builder_).finish(std::move(slots), std::move(signature)),
                 std::move(outer_operands_)};
}

TensorList apply(const Primitive& primitive, const Attributes& attributes,
                 std::span<const Tensor> operands, const Location& given) {
  const Location& at = LocationScope::current(given);
  bool symbolic = operands.empty() && innermost != nullptr;
  for (const Tensor& operand : operands) symbolic = symbolic || !operand.is_concrete();
  if (!symbolic) {
    return apply_at_once(primitive, attributes, TensorList(operands.begin(), operands.end()), at);
  }
  if (!innermost) {
    for (const Tensor& operand : operands)
      static_cast<void>(operand.type(at));  // throws for the empty or leaked one
  }
  Capture& capture = *innermost;
  SmallVector<Slot, 4> slots;
  for (const Tensor& operand : operands) slots.push_back(capture.slot_of(operand, at));
  Builder& builder = capture.builder();
  const Slot first =
      builder.append(primitive, attributes, {slots.data(), slots.size()}, at, NameScope::current());
  if (first >= builder.slot_count()) return {};  // a step without results
  TensorList results{capture.symbol(first, at)};
  // A step that simplified has one result; only steps with several have more.
  if (const auto step = builder.definition(first);
      step && step->first_result == first && &step->primitive == &primitive) {
    for (std::uint32_t r = 1; r < step->result_count; ++r)
      results.push_back(capture.symbol(first + r, at));
  }
  return results;
}

TensorList apply_in_place(const Primitive& primitive, const Attributes& attributes,
                          TensorList operands, const Location& given) {
  const bool concrete = std::all_of(operands.begin(), operands.end(),
                                    [](const Tensor& x) { return x.is_concrete(); });
  if (!concrete || operands.empty())
    return apply(primitive, attributes, {operands.data(), operands.size()}, given);
  return apply_at_once(primitive, attributes, std::move(operands), LocationScope::current(given));
}

Tensor apply_one(const Primitive& primitive, const Attributes& attributes,
                 std::initializer_list<Tensor> operands, const Location& at) {
  return apply(primitive, attributes, {operands.begin(), operands.size()}, at)[0];
}

std::vector<Tensor> apply(const Program& program, std::span<const Tensor> inputs,
                          const Location& at) {
  ensure(inputs.size() == program.inputs().size(), "apply: one tensor for each input");
  const bool symbolic =
      std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return !x.is_concrete(); });
  if (!symbolic) return made_at(at, evaluate(program, {inputs.begin(), inputs.end()}, at));
  if (!innermost) {
    for (const Tensor& input : inputs) static_cast<void>(input.type(at));
  }
  std::vector<Slot> slots;
  for (const Tensor& input : inputs) slots.push_back(innermost->slot_of(input, at));
  std::vector<Tensor> outputs;
  for (Slot slot : innermost->builder().append_program(program, slots))
    outputs.push_back(innermost->symbol(slot, at));
  return outputs;
}

}  // namespace hom
