// core/builder.cc -- appending with types, cancellation and hash-consing; removal of dead steps
#include <hom/core/builder.h>

#include <algorithm>
#include <bit>

namespace hom {
namespace {

constexpr std::uint32_t vacant = UINT32_MAX;

std::size_t hash_type(const TensorType& type) {
  std::size_t hash = static_cast<std::size_t>(type.dtype.id);
  for (std::int64_t extent : type.shape)
    hash = hash_combine(hash, static_cast<std::size_t>(extent));
  return hash_combine(hash, type.shape.size());
}

std::size_t hash_step(const Primitive& primitive, std::uint32_t attributes,
                      std::span<const Slot> operands) {
  std::size_t hash = hash_combine(std::bit_cast<std::size_t>(&primitive), attributes);
  for (Slot slot : operands) hash = hash_combine(hash, slot);
  return hash;
}

/// Tensors from the closure are numbered within each program, so their steps cannot be copied.
bool is_captured(const Primitive& primitive) { return primitive.name == "captured"; }

}  // namespace

Builder::Builder(Zeros zeros) : zeros_(zeros) {
  program_.attributes_.emplace_back();
  program_.scopes_.emplace_back();
  index_.assign(64, vacant);
}

std::uint32_t Builder::intern_type(const TensorType& type) {
  const std::size_t hash = hash_type(type);
  const auto [begin, end] = types_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (program_.types_[it->second] == type) return it->second;
  }
  const auto id = static_cast<std::uint32_t>(program_.types_.size());
  program_.types_.push_back(type);
  types_by_hash_.emplace(hash, id);
  return id;
}

std::uint32_t Builder::intern_attributes(const Attributes& attributes) {
  if (attributes.empty()) return 0;
  const std::size_t hash = attributes.hash();
  const auto [begin, end] = attributes_by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (program_.attributes_[it->second] == attributes) return it->second;
  }
  const auto id = static_cast<std::uint32_t>(program_.attributes_.size());
  program_.attributes_.push_back(attributes);
  attributes_by_hash_.emplace(hash, id);
  return id;
}

std::uint32_t Builder::intern_scope(const std::string& scope) {
  if (scope.empty()) return 0;
  // Scopes open and close in stretches, so the last one is nearly always the right one.
  if (program_.scopes_.back() == scope)
    return static_cast<std::uint32_t>(program_.scopes_.size() - 1);
  const auto found = std::find(program_.scopes_.begin(), program_.scopes_.end(), scope);
  if (found != program_.scopes_.end())
    return static_cast<std::uint32_t>(found - program_.scopes_.begin());
  program_.scopes_.push_back(scope);
  return static_cast<std::uint32_t>(program_.scopes_.size() - 1);
}

Slot Builder::add_slot(std::uint32_t type, std::uint32_t definition) {
  program_.slot_types_.push_back(type);
  program_.definitions_.push_back(definition);
  return static_cast<Slot>(program_.slot_types_.size() - 1);
}

Slot Builder::add_input(const TensorType& type, std::string name) {
  const Slot slot = add_slot(intern_type(type), Program::is_none);
  program_.inputs_.push_back(slot);
  program_.input_names_.push_back(std::move(name));
  return slot;
}

std::uint32_t Builder::find_equal(std::size_t hash, const Primitive& primitive,
                                  std::uint32_t attributes, std::span<const Slot> operands) const {
  for (std::size_t at = hash & (index_.size() - 1);; at = (at + 1) & (index_.size() - 1)) {
    const std::uint32_t candidate = index_[at];
    if (candidate == vacant) return vacant;
    if (step_hashes_[candidate] != hash) continue;
    const Program::StepRecord& record = program_.steps_[candidate];
    if (record.primitive == &primitive && record.attributes == attributes &&
        record.operand_count == operands.size() &&
        std::equal(operands.begin(), operands.end(),
                   program_.operands_.begin() + record.operand_begin)) {
      return candidate;
    }
  }
}

void Builder::index_step(std::uint32_t step) {
  const auto insert = [this](std::uint32_t entry) {
    std::size_t at = step_hashes_[entry] & (index_.size() - 1);
    while (index_[at] != vacant) at = (at + 1) & (index_.size() - 1);
    index_[at] = entry;
  };
  if (2 * (step_hashes_.size() + 1) > index_.size()) {
    index_.assign(2 * index_.size(), vacant);
    for (std::uint32_t entry = 0; entry < step; ++entry) insert(entry);
  }
  insert(step);
}

Slot Builder::append_record(const Primitive& primitive, std::uint32_t attributes,
                            std::span<const Slot> operands,
                            std::span<const std::uint32_t> result_types, const Location& at,
                            std::uint32_t scope) {
  const auto step = static_cast<std::uint32_t>(program_.steps_.size());
  const auto first = static_cast<Slot>(program_.slot_types_.size());
  program_.steps_.push_back({&primitive, attributes,
                             static_cast<std::uint32_t>(program_.operands_.size()),
                             static_cast<std::uint32_t>(operands.size()), first,
                             static_cast<std::uint32_t>(result_types.size()), scope, at});
  program_.operands_.insert(program_.operands_.end(), operands.begin(), operands.end());
  for (std::uint32_t type : result_types) add_slot(type, step);
  return first;
}

Slot Builder::append(const Primitive& primitive, const Attributes& attributes,
                     std::span<const Slot> operands, const Location& at, const std::string& scope) {
  const std::uint32_t attributes_id = intern_attributes(attributes);
  const std::size_t hash = hash_step(primitive, attributes_id, operands);
  if (const std::uint32_t equal = find_equal(hash, primitive, attributes_id, operands);
      equal != vacant) {
    return program_.steps_[equal].first_result;
  }

  const std::vector<TensorType> results = type_results(primitive, attributes, operands, at);
  if (primitive.simplify) {
    if (const auto slot = primitive.simplify(
            Simplifying{*this, primitive, attributes, operands, results.at(0), at, scope}))
      return *slot;
  }
  return append_typed(hash, primitive, attributes_id, operands, results, at, scope);
}

Slot Builder::append_exactly(const Primitive& primitive, const Attributes& attributes,
                             std::span<const Slot> operands, const Location& at,
                             const std::string& scope) {
  const std::uint32_t attributes_id = intern_attributes(attributes);
  return append_typed(hash_step(primitive, attributes_id, operands), primitive, attributes_id,
                      operands, type_results(primitive, attributes, operands, at), at, scope);
}

std::vector<TensorType> Builder::type_results(const Primitive& primitive,
                                              const Attributes& attributes,
                                              std::span<const Slot> operands,
                                              const Location& at) const {
  SmallVector<TensorType, 4> types;
  for (Slot slot : operands) types.push_back(type(slot));
  return result_types(primitive, attributes, {types.data(), types.size()}, at);
}

Slot Builder::append_typed(std::size_t hash, const Primitive& primitive, std::uint32_t attributes,
                           std::span<const Slot> operands, const std::vector<TensorType>& results,
                           const Location& at, const std::string& scope) {
  // Steps are pure, so one without results leaves no trace: nothing can refer to it.
  if (results.empty()) return static_cast<Slot>(slot_count());
  SmallVector<std::uint32_t, 4> result_types;
  for (const TensorType& result : results) result_types.push_back(intern_type(result));
  const auto step = static_cast<std::uint32_t>(program_.steps_.size());
  const Slot first =
      append_record(primitive, attributes, operands, {result_types.data(), result_types.size()}, at,
                    intern_scope(scope));
  step_hashes_.push_back(hash);
  index_step(step);
  return first;
}

Slot Builder::append(const Primitive& primitive, const Attributes& attributes,
                     std::initializer_list<Slot> operands, const Location& at) {
  return append(primitive, attributes, std::span<const Slot>(operands.begin(), operands.size()), at,
                NameScope::current());
}

Slot Builder::capture(const Tensor& concrete, const Location& at) {
  const Array& array = concrete.array(at);
  if (const auto found = captured_slots_.find(&array); found != captured_slots_.end())
    return found->second;
  static const Primitive& captured = standard_primitives().find("captured");
  const auto position = static_cast<std::int64_t>(program_.captured_.size());
  program_.captured_.push_back(concrete);
  const Attributes attributes{
      {"index", {position}}, {"dtype", {array.type.dtype}}, {"shape", {array.type.shape}}};
  const Slot slot = append(captured, attributes, {}, at);
  captured_slots_.emplace(&array, slot);
  return slot;
}

std::vector<Slot> Builder::add_inputs_of(const Program& program) {
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    slots.push_back(add_input(program.type(program.inputs()[i]), program.input_names()[i]));
  }
  return slots;
}

Slot Builder::append_step(const Program& program, const Step& step,
                          std::span<const Slot> operands) {
  if (!is_captured(step.primitive)) {
    return append(step.primitive, step.attributes, operands, step.at, step.scope);
  }
  const auto index = static_cast<std::size_t>(step.attributes.integer("index"));
  return capture(program.captured()[index], step.at);
}

std::vector<Slot> Builder::append_program(const Program& program, std::span<const Slot> inputs) {
  ensure(inputs.size() == program.inputs().size(), "append_program: one slot for each input");
  std::vector<Slot> slots(program.slot_count());
  for (std::size_t i = 0; i < inputs.size(); ++i) slots[program.inputs()[i]] = inputs[i];
  std::vector<Slot> operands;
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    operands.clear();
    for (Slot slot : step.operands) operands.push_back(slots[slot]);
    const Slot first = append_step(program, step, operands);
    for (std::uint32_t r = 0; r < step.result_count; ++r) slots[step.first_result + r] = first + r;
  }
  std::vector<Slot> outputs;
  for (Slot slot : program.outputs()) outputs.push_back(slots[slot]);
  return outputs;
}

std::optional<Step> Builder::definition(Slot slot) const {
  const std::uint32_t step = program_.definition(slot);
  if (step == Program::is_none) return std::nullopt;
  return program_.step(step);
}

const Attribute* Builder::literal(Slot slot) const {
  static const Primitive* constant = &standard_primitives().find("constant");
  const std::uint32_t step = program_.definition(slot);
  if (step == Program::is_none || program_.steps_[step].primitive != constant) return nullptr;
  return &program_.attributes_[program_.steps_[step].attributes].get("value");
}

bool Builder::is_zero(Slot slot) const {
  return type(slot).size() == 0 || is_literal(slot, 0.0) || is_literal(slot, -0.0);
}

bool Builder::is_literal(Slot slot, double value) const {
  const Attribute* attribute = literal(slot);
  if (!attribute) return false;
  const double found = number<double>(*attribute);
  return std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(value);
}

struct Builder::Liveness {
  std::vector<bool> slots;
  std::vector<bool> steps;
};

Builder::Liveness Builder::liveness(const std::vector<Slot>& outputs) const {
  Liveness live{std::vector<bool>(slot_count()), std::vector<bool>(program_.steps_.size())};
  for (Slot slot : outputs) live.slots[slot] = true;
  for (std::size_t i = program_.steps_.size(); i-- > 0;) {
    const Program::StepRecord& record = program_.steps_[i];
    for (Slot r = 0; r < record.result_count; ++r)
      live.steps[i] = live.steps[i] || live.slots[record.first_result + r];
    if (!live.steps[i]) continue;
    for (std::uint32_t k = 0; k < record.operand_count; ++k)
      live.slots[program_.operands_[record.operand_begin + k]] = true;
  }
  return live;
}

bool Builder::is_compact(const Liveness& live, std::size_t input_count) const {
  if (program_.inputs_.size() > input_count) return false;
  for (std::size_t i = 0; i < program_.inputs_.size(); ++i) {
    if (program_.inputs_[i] != i) return false;
  }
  return std::find(live.steps.begin(), live.steps.end(), false) == live.steps.end();
}

Program Builder::compacted(const Liveness& live, std::vector<Slot>& outputs,
                           std::size_t input_count) {
  Program& old = program_;
  Builder fresh;
  Program& result = fresh.program_;
  result.types_ = std::move(old.types_);
  result.scopes_ = std::move(old.scopes_);
  std::vector<Slot> renamed(old.slot_count());
  for (std::size_t i = 0; i < old.inputs_.size(); ++i) {
    if (i >= input_count) {
      ensure(!live.slots[old.inputs_[i]], "finish: a live step uses a dropped input");
      continue;
    }
    renamed[old.inputs_[i]] = fresh.add_slot(old.slot_types_[old.inputs_[i]], Program::is_none);
    result.inputs_.push_back(renamed[old.inputs_[i]]);
  }
  result.input_names_ = std::move(old.input_names_);
  result.input_names_.resize(result.inputs_.size());
  // Only live attributes stay: a dead step's program may hold on to large tensors.
  std::vector<std::uint32_t> kept_attributes(old.attributes_.size(), vacant);
  kept_attributes[0] = 0;
  const auto keep = [&](std::uint32_t attributes) {
    if (kept_attributes[attributes] == vacant) {
      kept_attributes[attributes] = static_cast<std::uint32_t>(result.attributes_.size());
      result.attributes_.push_back(std::move(old.attributes_[attributes]));
    }
    return kept_attributes[attributes];
  };
  std::vector<Slot> operands;
  std::vector<std::uint32_t> types;
  for (std::size_t i = 0; i < old.steps_.size(); ++i) {
    if (!live.steps[i]) continue;
    const Program::StepRecord& record = old.steps_[i];
    operands.clear();
    types.clear();
    for (std::uint32_t k = 0; k < record.operand_count; ++k) {
      operands.push_back(renamed[old.operands_[record.operand_begin + k]]);
    }
    for (Slot r = 0; r < record.result_count; ++r)
      types.push_back(old.slot_types_[record.first_result + r]);
    std::uint32_t attributes = 0;
    if (!is_captured(*record.primitive)) {
      attributes = keep(record.attributes);
    } else {
      // Captured tensors that are dead are forgotten, and the others renumbered.
      Attributes renumbered = old.attributes_[record.attributes];
      const auto index = static_cast<std::size_t>(renumbered.integer("index"));
      renumbered.set("index", Attribute{static_cast<std::int64_t>(result.captured_.size())});
      result.captured_.push_back(old.captured_[index]);
      attributes = static_cast<std::uint32_t>(result.attributes_.size());
      result.attributes_.push_back(std::move(renumbered));
    }
    const Slot first = fresh.append_record(*record.primitive, attributes, operands, types,
                                           record.at, record.scope);
    for (Slot r = 0; r < record.result_count; ++r) renamed[record.first_result + r] = first + r;
  }
  for (Slot& slot : outputs) slot = renamed[slot];
  return std::move(result);
}

namespace {

/// Programs made by functors have no C++ arguments: their inputs are a plain product. An input that
/// was a part of something (`p.weight`) is a factor without a label.
Object product_of_inputs(const Program& program) {
  std::vector<Object::Factor> factors;
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    const std::string& name = program.input_names()[i];
    const bool is_label = name.find_first_of(".[") == std::string::npos;
    factors.push_back({is_label ? name : "", program.type(program.inputs()[i])});
  }
  return Object::product(std::move(factors));
}

Object product_of_outputs(const Program& program) {
  std::vector<Object::Factor> factors;
  for (Slot slot : program.outputs()) factors.push_back({"", program.type(slot)});
  return factors.size() == 1 ? factors[0].object : Object::product(std::move(factors));
}

/// Equal programs hash alike; attributes are left to the comparison.
std::size_t structural_hash(const Program& program) {
  std::size_t hash = program.inputs().size();
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    const Step step = program.step(i);
    hash = hash_step(step.primitive, 0, step.operands) + 31 * hash;
  }
  for (Slot slot : program.outputs()) hash = hash_combine(hash, slot);
  return hash;
}

}  // namespace

Program Builder::finish(std::vector<Slot> outputs, Signature signature,
                        std::size_t input_count) && {
  const std::size_t built = program_.steps_.size();
  const Liveness live = liveness(outputs);
  Program result =
      is_compact(live, input_count) ? std::move(program_) : compacted(live, outputs, input_count);
  result.outputs_ = std::move(outputs);
  result.name_ = std::move(signature.name);
  result.domain_ =
      signature.domain == Object() ? product_of_inputs(result) : std::move(signature.domain);
  result.codomain_ =
      signature.codomain == Object() ? product_of_outputs(result) : std::move(signature.codomain);
  result.steps_built_ = built;
  result.hash_ = structural_hash(result);
  *this = Builder();
  return result;
}

}  // namespace hom
