// backends/nests/lower.cc -- items of a partition as instructions, programs inside as loops and
// branches
#include <hom/backends/nests/lower.h>

#include <algorithm>
#include <map>

#include <hom/backends/nests/epilogues.h>
#include <hom/backends/nests/kernel_maker.h>
#include <hom/backends/nests/late_steps.h>
#include <hom/core/primitive.h>

namespace hom::nest {
namespace {

using Destinations = std::vector<std::optional<Address>>;

bool is_same(const Address& a, const Address& b) {
  return a.buffer == b.buffer && a.offset == b.offset &&
         std::equal(a.moves.begin(), a.moves.end(), b.moves.begin(), b.moves.end(),
                    [](const Address::Move& x, const Address::Move& y) {
                      return x.loop == y.loop && x.stride == y.stride;
                    });
}

std::int64_t bytes_of(const TensorType& type) {
  return type.size() * static_cast<std::int64_t>(type.dtype.size());
}

class Lowering {
 public:
  explicit Lowering(const LowerOptions& options) : options_(options) {}

  Plan run(const Program& program) &&;

 private:
  std::uint32_t add_buffer(PlannedBuffer buffer);
  Address temporary(const TensorType& type, std::string label);
  Address constant(const Tensor& tensor);

  friend class Region;

  const LowerOptions& options_;
  Plan plan_;
  std::map<const Array*, Address> constants_;
};

/// One program: its steps on buffers of the plan.
class Region {
 public:
  Region(Lowering& lowering, const Program& program, std::vector<Address> inputs)
      : lowering_(lowering),
        plan_(lowering.plan_),
        program_(lowering.options_.fuse ? with_late_steps(program) : program),
        first_step_(static_cast<std::uint32_t>(lowering.plan_.origins.size())),
        addresses_(program_.slot_count()) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      addresses_[program_.inputs()[i]] = std::move(inputs[i]);
  }

  /// Instructions that compute the outputs, each at its destination where it has one. `outputs` are
  /// where they are then. The first inputs are `carries`, which updates may change in place; an
  /// output that is there already stays.
  Instructions run(const Destinations& destinations, std::vector<Address>& outputs,
                   std::span<const Address> carries = {});

 private:
  const TensorType& type(Slot slot) const { return program_.type(slot); }
  Invocation invocation(const Step& step, std::vector<TensorType>& types) const;
  PartitionOptions partition_options() const;
  void add_origins();
  Address address(Slot slot);
  void emit(Instruction instruction) { body_.push_back(std::move(instruction)); }
  void copy(const Address& to, const Address& from, const TensorType& type, std::uint32_t step);

  void launch(const Item& item, std::uint32_t index);
  void run_step(const Item& item);
  void call(const Step& step, const Item& item);
  void scan(const Step& step, const std::vector<Address>& operands);
  void loop(const Step& step, const std::vector<Address>& operands);
  void branch(const Step& step, const std::vector<Address>& operands);
  /// A program inside, on these inputs.
  Instructions inside(const Program& program, std::vector<Address> inputs,
                      const Destinations& destinations, std::vector<Address>& outputs);
  /// The body of a loop, and its results as the next carries.
  Instructions iteration(const Program& body, std::vector<Address> inputs,
                         std::span<const Address> carries, Destinations destinations,
                         std::uint32_t step);
  std::vector<Address> results_of(const Step& step);

  Lowering& lowering_;
  Plan& plan_;
  const Program program_;
  std::uint32_t first_step_;
  Partition partition_;
  /// Of buffers, by the slot that owns them.
  std::vector<std::optional<Address>> addresses_;
  Instructions body_;
};

std::uint32_t Lowering::add_buffer(PlannedBuffer buffer) {
  plan_.buffers.push_back(std::move(buffer));
  return static_cast<std::uint32_t>(plan_.buffers.size() - 1);
}

Address Lowering::temporary(const TensorType& type, std::string label) {
  return {add_buffer(
      {.type = type, .place = PlannedBuffer::Place::temporary, .label = std::move(label)})};
}

Address Lowering::constant(const Tensor& tensor) {
  const auto [found, is_new] = constants_.try_emplace(tensor.array_pointer().get());
  if (is_new) {
    const auto index = static_cast<std::uint32_t>(plan_.constants.size());
    plan_.constants.push_back(row_major(tensor));
    found->second = {add_buffer({.type = tensor.array().type,
                                 .place = PlannedBuffer::Place::constant,
                                 .index = index,
                                 .label = "c" + std::to_string(index)})};
  }
  return found->second;
}

Plan Lowering::run(const Program& program) && {
  plan_.input_count = program.inputs().size();
  std::vector<Address> inputs;
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    inputs.push_back({add_buffer({.type = program.type(program.inputs()[i]),
                                  .place = PlannedBuffer::Place::input,
                                  .index = static_cast<std::uint32_t>(i),
                                  .label = program.input_names()[i]})});
  }
  plan_.output_types = program.output_types();
  // Each output that is computed has a buffer of its own.
  Destinations destinations;
  std::map<Slot, Address> known;
  static const Primitive* const captured = &standard_primitives().find("captured");
  for (std::size_t k = 0; k < program.outputs().size(); ++k) {
    const Slot slot = program.outputs()[k];
    const std::uint32_t definition = program.definition(slot);
    if (definition == Program::is_none || &program.step(definition).primitive == captured) {
      destinations.emplace_back();
      continue;
    }
    const auto [found, is_new] = known.try_emplace(slot);
    if (is_new) {
      found->second = {add_buffer({.type = program.type(slot),
                                   .place = PlannedBuffer::Place::output,
                                   .index = static_cast<std::uint32_t>(k),
                                   .label = "output " + std::to_string(k)})};
    }
    destinations.emplace_back(found->second);
  }
  std::vector<Address> outputs;
  plan_.body = Region(*this, program, std::move(inputs)).run(destinations, outputs);
  for (const Address& output : outputs) plan_.outputs.push_back(output.buffer);
  if (options_.fuse) form_strips(plan_, options_.strips);
  attach_epilogues(plan_, plan_.body);
  return std::move(plan_);
}

void Region::add_origins() {
  for (std::size_t i = 0; i < program_.step_count(); ++i) {
    const Step step = program_.step(i);
    Origin origin{step.primitive.name, step.at, step.scope};
    if (!step.operands.empty()) origin.operand = type(step.operands[0]);
    if (origin.primitive == "dynamic_slice") origin.window = type(step.first_result).shape;
    if (origin.primitive == "dynamic_update_slice") origin.window = type(step.operands[1]).shape;
    plan_.origins.push_back(std::move(origin));
  }
}

Invocation Region::invocation(const Step& step, std::vector<TensorType>& types) const {
  types.clear();
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    types.push_back(type(step.first_result + r));
  return {step.primitive, step.attributes, types, step.at};
}

PartitionOptions Region::partition_options() const {
  PartitionOptions options;
  options.largest_group = lowering_.options_.largest_kernel;
  options.fuse = lowering_.options_.fuse;
  if (lowering_.options_.takes_layout) {
    options.takes_strides = [this](const Step& step, std::size_t operand, const Shape& shape,
                                   const Shape& strides) {
      if (role_of(program_, step) == Role::control) return false;
      std::vector<TensorType> types;
      return lowering_.options_.takes_layout(
          invocation(step, types), operand, {{type(step.operands[operand]).dtype, shape}, strides});
    };
  }
  if (lowering_.options_.has_routine) {
    options.is_routine = [this](const Step& step) {
      std::vector<TensorType> types;
      return lowering_.options_.has_routine(invocation(step, types));
    };
  }
  return options;
}

Address Region::address(Slot slot) {
  const Slot owner = partition_.slots[slot].buffer;
  if (!addresses_[owner]) {
    const std::uint32_t definition = program_.definition(owner);
    if (definition != Program::is_none && program_.step(definition).primitive.name == "captured") {
      addresses_[owner] = lowering_.constant(program_.captured()[static_cast<std::size_t>(
          program_.step(definition).attributes.integer("index"))]);
    } else {
      addresses_[owner] = lowering_.temporary(type(owner), slot_name(program_, owner));
    }
  }
  return *addresses_[owner];
}

void Region::copy(const Address& to, const Address& from, const TensorType& type,
                  std::uint32_t step) {
  if (is_same(to, from) || type.size() == 0) return;
  emit({Copy{to, from, bytes_of(type)}, step});
}

Instructions Region::run(const Destinations& destinations, std::vector<Address>& outputs,
                         std::span<const Address> carries) {
  add_origins();
  PartitionOptions options = partition_options();
  options.owned_inputs.assign(carries.size(), true);
  partition_ = partition(program_, options);
  // What is computed for an output is stored where that is to be.
  for (std::size_t k = 0; k < destinations.size(); ++k) {
    if (!destinations[k]) continue;
    const Slot owner = partition_.slots[program_.outputs()[k]].buffer;
    const Placement& p = partition_.slots[owner];
    const bool is_made = p.item != Placement::nowhere || type(owner).size() == 0;
    const bool is_given = p.is_input || (p.item == Placement::nowhere && p.role == Role::captured &&
                                         type(owner).size() > 0);
    if (is_made && !is_given && !addresses_[owner]) addresses_[owner] = *destinations[k];
  }
  for (std::uint32_t i = 0; i < partition_.items.size(); ++i) {
    const Item& item = partition_.items[i];
    switch (item.kind) {
      case Item::Kind::group:
        launch(item, i);
        break;
      case Item::Kind::copy:
        copy(address(item.to), address(item.from), type(item.to),
             first_step_ + program_.definition(item.to));
        break;
      case Item::Kind::step:
        run_step(item);
        break;
    }
  }
  outputs.clear();
  for (std::size_t k = 0; k < program_.outputs().size(); ++k) {
    const Slot slot = program_.outputs()[k];
    const Address place = address(slot);
    const bool stays = !destinations[k] || (k < carries.size() && is_same(place, carries[k]));
    if (!stays) copy(*destinations[k], place, type(slot), Node::no_step);
    outputs.push_back(stays ? place : *destinations[k]);
  }
  return std::move(body_);
}

void Region::launch(const Item& item, std::uint32_t index) {
  DraftOfGroup group =
      draft_of(program_, partition_, partition_.groups[item.group], index, first_step_);
  if (group.draft.goals.empty()) return;
  std::uint32_t step = Node::no_step;
  const Group& members = partition_.groups[item.group];
  if (members.last_step) {
    step = first_step_ + *members.last_step;
  } else if (!members.members.empty()) {
    step = first_step_ + program_.definition(members.members.back());
  }
  Launch launch{static_cast<std::uint32_t>(plan_.kernels.size()), {}};
  for (Slot slot : group.arguments) launch.arguments.push_back(address(slot));
  plan_.kernels.push_back(
      arranged(std::move(group.draft), "k" + std::to_string(plan_.kernels.size())));
  emit({std::move(launch), step});
}

std::vector<Address> Region::results_of(const Step& step) {
  std::vector<Address> results;
  for (std::uint32_t r = 0; r < step.result_count; ++r)
    results.push_back(address(step.first_result + r));
  return results;
}

void Region::run_step(const Item& item) {
  const Step step = program_.step(item.step);
  if (partition_.slots[step.first_result].role == Role::routine) return call(step, item);
  std::vector<Address> operands;
  for (const StridedView& view : item.operands) {
    operands.push_back(address(view.base));
    operands.back().offset += view.offset * static_cast<std::int64_t>(type(view.base).dtype.size());
  }
  const std::string& name = step.primitive.name;
  if (name == "scan") return scan(step, operands);
  if (name == "while") return loop(step, operands);
  if (name == "cond") return branch(step, operands);
  const Program& program =
      *step.attributes.program(name == "custom_linear" ? "forward" : "program");
  std::vector<Address> outputs;
  const std::vector<Address> results = results_of(step);
  for (Instruction& instruction :
       inside(program, operands, {results.begin(), results.end()}, outputs)) {
    emit(std::move(instruction));
  }
}

void Region::call(const Step& step, const Item& item) {
  Call call;
  std::vector<Layout> layouts;
  for (std::size_t k = 0; k < item.operands.size(); ++k) {
    const StridedView& view = item.operands[k];
    const TensorType& operand = type(step.operands[k]);
    Address at = address(view.base);
    at.offset += view.offset * static_cast<std::int64_t>(operand.dtype.size());
    call.operands.push_back(at);
    layouts.push_back({operand, view.strides});
  }
  call.results = results_of(step);
  std::vector<TensorType> types;
  auto routine = lowering_.options_.routine(invocation(step, types), layouts);
  if (routine->scratch_bytes() > 0)
    call.scratch = lowering_.temporary(u8[{routine->scratch_bytes()}], "scratch");
  call.routine = static_cast<std::uint32_t>(plan_.routines.size());
  plan_.routines.push_back(std::move(routine));
  emit({std::move(call), first_step_ + item.step});
}

Instructions Region::inside(const Program& program, std::vector<Address> inputs,
                            const Destinations& destinations, std::vector<Address>& outputs) {
  return Region(lowering_, program, std::move(inputs)).run(destinations, outputs);
}

Instructions Region::iteration(const Program& body, std::vector<Address> inputs,
                               std::span<const Address> carries, Destinations destinations,
                               std::uint32_t step) {
  // Next carries are computed beside the present ones, and take their place at the end.
  const std::vector<TensorType> types = body.output_types();
  for (std::size_t k = 0; k < carries.size(); ++k)
    destinations[k] = lowering_.temporary(types[k], "next " + std::to_string(k));
  std::vector<Address> outputs;
  Instructions instructions =
      Region(lowering_, body, std::move(inputs)).run(destinations, outputs, carries);
  for (std::size_t k = 0; k < carries.size(); ++k) {
    if (!is_same(outputs[k], carries[k]) && types[k].size() > 0)
      instructions.push_back({Copy{carries[k], outputs[k], bytes_of(types[k])}, step});
  }
  return instructions;
}

void Region::scan(const Step& step, const std::vector<Address>& operands) {
  const Attributes& a = step.attributes;
  const std::size_t carries = a.count("carries");
  const std::size_t scanned = a.count("scanned");
  const std::int64_t length = a.integer("length");
  const bool reverse = a.boolean("reverse");
  const Program& body = *a.program("body");
  const std::uint32_t origin = first_step_ + program_.definition(step.first_result);
  const LoopId id = plan_.loop_count++;
  const auto element = [&](Address whole, const TensorType& type) {
    const std::int64_t bytes = bytes_of(type);
    if (reverse && length > 0) whole.offset += (length - 1) * bytes;
    whole.moves.push_back({id, reverse ? -bytes : bytes});
    return whole;
  };
  const std::vector<Address> results = results_of(step);
  std::vector<Address> inputs = operands;
  for (std::size_t k = 0; k < carries; ++k) {
    copy(results[k], operands[k], type(step.operands[k]), origin);
    inputs[k] = results[k];
  }
  for (std::size_t k = carries; k < carries + scanned; ++k)
    inputs[k] = element(operands[k], body.type(body.inputs()[k]));
  Destinations destinations(results.size());
  for (std::size_t k = carries; k < results.size(); ++k)
    destinations[k] = element(results[k], body.type(body.outputs()[k]));
  Instructions instructions = iteration(body, std::move(inputs), {results.data(), carries},
                                        std::move(destinations), origin);
  emit({Repeat{id, length, std::move(instructions)}, origin});
}

void Region::loop(const Step& step, const std::vector<Address>& operands) {
  const Attributes& a = step.attributes;
  const std::size_t carries = a.count("carries");
  const std::uint32_t origin = first_step_ + program_.definition(step.first_result);
  const std::vector<Address> results = results_of(step);
  std::vector<Address> inputs = operands;
  for (std::size_t k = 0; k < carries; ++k) {
    copy(results[k], operands[k], type(step.operands[k]), origin);
    inputs[k] = results[k];
  }
  While loop;
  loop.bound = a.integer("bound");
  loop.predicate = lowering_.temporary(bool_[{}], "condition");
  std::vector<Address> outputs;
  loop.condition = inside(*a.program("condition"), inputs, {loop.predicate}, outputs);
  loop.body = iteration(*a.program("body"), inputs, {results.data(), carries},
                        Destinations(carries), origin);
  emit({std::move(loop), origin});
}

void Region::branch(const Step& step, const std::vector<Address>& operands) {
  const std::vector<Address> results = results_of(step);
  const std::vector<Address> inputs(operands.begin() + 1, operands.end());
  const Destinations destinations(results.begin(), results.end());
  std::vector<Address> outputs;
  Branch branch;
  branch.predicate = operands[0];
  branch.then = inside(*step.attributes.program("then"), inputs, destinations, outputs);
  branch.otherwise = inside(*step.attributes.program("otherwise"), inputs, destinations, outputs);
  emit({std::move(branch), first_step_ + program_.definition(step.first_result)});
}

}  // namespace

Plan lower(const Program& program, const LowerOptions& options) {
  return Lowering(options).run(program);
}

}  // namespace hom::nest
