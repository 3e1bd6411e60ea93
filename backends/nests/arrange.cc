// backends/nests/arrange.cc -- values placed in loops
//
// The tree of loops is walked from its root. In each loop, what is to be stored deeper waits for
// the reductions that it depends on: those of one phase share their loops, and the next phase
// starts where their results are known. A value is computed in the outermost block where all that
// it needs is known; where two phases need it, in each, unless that costs more than keeping it in a
// local buffer.
#include <algorithm>
#include <map>
#include <unordered_map>

#include <hom/backends/nests/kernel_maker.h>
#include <hom/backends/nests/rewrite.h>

namespace hom::nest {
namespace {

/// What the phases of a loop share is kept where recomputing costs more than this (additions), in
/// at most so many bytes.
constexpr double cheap = 12;
constexpr std::int64_t most_local_bytes = 32 << 10;

bool is_free(const Node& node) {
  return node.kind == Node::Kind::constant || node.kind == Node::Kind::axis;
}

class Arranger {
 public:
  Arranger(Draft draft, std::string name) : draft_(std::move(draft)) {
    kernel_.name = std::move(name);
  }

  Kernel run() &&;

 private:
  /// A block that is being filled, inside the loops along `axes`.
  struct Open {
    Block block;
    AxisSet axes;
    std::vector<Value> defined;
  };
  /// What is to be done in a loop or below it: a goal, or the term of a reduction.
  struct Task {
    const Goal* goal = nullptr;
    const PendingReduction* term = nullptr;
    std::size_t loop;
  };
  /// Tasks that share loops.
  struct Bundle {
    int phase;
    std::vector<Axis> axes;
    std::size_t loop;
    std::vector<Task> tasks;
    std::vector<const PendingReduction*> reductions;
  };

  const Node& node(Value value) const { return draft_.values[value]; }
  AxisSet path(std::size_t loop) const;
  std::vector<Axis> axes_between(std::size_t above, std::size_t below) const;
  std::size_t child_towards(std::size_t above, std::size_t below) const;

  void choose_vector_axis();
  double benefit(Axis axis) const;
  bool may_be_last(Axis axis) const;

  std::vector<Value> values_of(const Task& task) const;
  void collect(Value value, std::size_t loop, std::vector<bool>& seen,
               std::vector<const PendingReduction*>& found) const;
  int phase_of(Value value, std::size_t loop, std::unordered_map<Value, int>& known) const;

  void build(std::size_t loop, const std::vector<Task>& tasks);
  void run_bundle(std::size_t loop, const Bundle& bundle);
  void finish(const Task& task);
  void open(AxisSet axes) { open_.push_back({{}, axes, {}}); }
  Block close();
  void require(Value value);
  void define_at(std::size_t level, Value value);

  Draft draft_;
  Kernel kernel_;
  std::vector<Open> open_;
  /// The block in which a value is known, counted from the outermost; −1 where it is not.
  std::vector<int> level_;
  std::unordered_map<Value, const PendingReduction*> reduction_of_;
};

AxisSet Arranger::path(std::size_t loop) const {
  AxisSet axes = 0;
  for (int n = static_cast<int>(loop); n >= 0;
       n = draft_.loops[static_cast<std::size_t>(n)].parent) {
    for (Axis axis : draft_.loops[static_cast<std::size_t>(n)].axes) axes |= axis_bit(axis);
  }
  return axes;
}

std::size_t Arranger::child_towards(std::size_t above, std::size_t below) const {
  while (draft_.loops[below].parent != static_cast<int>(above))
    below = static_cast<std::size_t>(draft_.loops[below].parent);
  return below;
}

std::vector<Axis> Arranger::axes_between(std::size_t above, std::size_t below) const {
  std::vector<std::size_t> nodes;
  for (std::size_t n = below; n != above; n = static_cast<std::size_t>(draft_.loops[n].parent))
    nodes.push_back(n);
  std::vector<Axis> axes;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    for (Axis axis : draft_.loops[nodes[i]].axes) axes.push_back(axis);
  }
  return axes;
}

// ---- the vectorised axis ----

/// Whether every loop along the axis may have it as its last one.
bool Arranger::may_be_last(Axis axis) const {
  if (draft_.carries && draft_.carries->axis == axis) return false;
  for (const PendingReduction& r : draft_.reductions) {
    const auto found = std::find(r.along.begin(), r.along.end(), axis);
    if (found == r.along.end()) continue;
    if (r.combine == Combine::argmax || r.combine == Combine::argmin) return false;
    if (found + 1 != r.along.end()) return false;
  }
  // A loop of several axes that ends a reduction keeps their order.
  for (const LoopNode& loop : draft_.loops) {
    const auto found = std::find(loop.axes.begin(), loop.axes.end(), axis);
    if (found == loop.axes.end() || found + 1 == loop.axes.end()) continue;
    for (const PendingReduction& r : draft_.reductions) {
      if (std::find(r.along.begin(), r.along.end(), axis) != r.along.end()) return false;
    }
  }
  return true;
}

double Arranger::benefit(Axis axis) const {
  const std::int64_t extent = draft_.extents[axis];
  if (extent < 4) return -1;
  const auto executions = [&](AxisSet axes) {
    double count = 1;
    for (Axis a = 0; a < draft_.extents.size(); ++a) {
      if ((axes & axis_bit(a)) != 0) count *= static_cast<double>(draft_.extents[a]);
    }
    return count;
  };
  double total = 0;
  const auto access = [&](Value index, bool is_store) {
    const auto stride = stride_along(draft_.values, index, axis);
    if (stride == 1) return is_store ? 1.5 : 1.0;
    if (stride == 0) return is_store ? -1.0 : 0.25;
    return -1.0;
  };
  for (Value value = 0; value < draft_.values.size(); ++value) {
    const AxisSet axes = draft_.values.axes(value);
    if ((axes & axis_bit(axis)) == 0) continue;
    const Node& n = node(value);
    if (n.kind == Node::Kind::load) {
      total += executions(axes) * access(n.operands[0], false);
    } else if (n.kind == Node::Kind::apply && n.dtype != i64) {
      total += executions(axes) * 0.5;
    }
  }
  for (const Goal& goal : draft_.goals) {
    const auto* store = std::get_if<Store>(&goal.is);
    if (store == nullptr) continue;
    const AxisSet axes = path(goal.loop);
    if ((axes & axis_bit(axis)) != 0) total += executions(axes) * access(store->index, true);
  }
  // Short loops are mostly remainder.
  return extent < 8 ? total / 4 : total;
}

void Arranger::choose_vector_axis() {
  double best = 0;
  for (const LoopNode& loop : draft_.loops) {
    for (Axis axis : loop.axes) {
      if (draft_.extents[axis] < 2 || !may_be_last(axis)) continue;
      const double score = benefit(axis);
      if (score <= best) continue;
      best = score;
      kernel_.vector_axis = axis;
    }
  }
  if (!kernel_.vector_axis) return;
  for (LoopNode& loop : draft_.loops) {
    const auto found = std::find(loop.axes.begin(), loop.axes.end(), *kernel_.vector_axis);
    if (found != loop.axes.end()) std::rotate(found, found + 1, loop.axes.end());
  }
}

// ---- which loops, in which order ----

std::vector<Value> Arranger::values_of(const Task& task) const {
  if (task.term != nullptr) return {task.term->term};
  std::vector<Value> values;
  if (const auto* store = std::get_if<Store>(&task.goal->is)) {
    values = {store->index, store->value};
    if (store->when) values.push_back(*store->when);
    if (draft_.carries) {
      for (const Carry& carry : draft_.carries->carries) values.push_back(carry.next);
    }
  } else {
    const Check& check = std::get<Check>(task.goal->is);
    values = {check.ok, check.offending};
  }
  return values;
}

/// The reductions that end in `loop` and are still to be done for a value.
void Arranger::collect(Value value, std::size_t loop, std::vector<bool>& seen,
                       std::vector<const PendingReduction*>& found) const {
  if (seen[value] || level_[value] >= 0) return;
  seen[value] = true;
  if (const auto r = reduction_of_.find(value); r != reduction_of_.end()) {
    collect(r->second->term, loop, seen, found);
    if (r->second->above == loop) found.push_back(r->second);
    return;
  }
  for (Value operand : node(value).operands) collect(operand, loop, seen, found);
}

/// How many rounds of loops below `loop` come before a value is known.
int Arranger::phase_of(Value value, std::size_t loop, std::unordered_map<Value, int>& known) const {
  if (level_[value] >= 0) return 0;
  if (const auto found = known.find(value); found != known.end()) return found->second;
  int phase = 0;
  if (const auto r = reduction_of_.find(value); r != reduction_of_.end()) {
    phase = phase_of(r->second->term, loop, known) + (r->second->above == loop ? 1 : 0);
  } else {
    for (Value operand : node(value).operands)
      phase = std::max(phase, phase_of(operand, loop, known));
  }
  known.emplace(value, phase);
  return phase;
}

void Arranger::build(std::size_t loop, const std::vector<Task>& tasks) {
  std::vector<bool> seen(draft_.values.size(), false);
  std::vector<const PendingReduction*> reductions;
  for (const Task& task : tasks) {
    for (Value value : values_of(task)) collect(value, loop, seen, reductions);
  }
  std::unordered_map<Value, int> phases;
  std::vector<Bundle> bundles;
  const auto bundle_for = [&](int phase, const std::vector<Axis>& axes,
                              std::size_t target) -> Bundle& {
    for (Bundle& bundle : bundles) {
      if (bundle.phase == phase && bundle.axes == axes && bundle.loop == target) return bundle;
    }
    bundles.push_back({phase, axes, target, {}, {}});
    return bundles.back();
  };
  for (const PendingReduction* r : reductions) {
    const int phase = phase_of(r->term, loop, phases);
    Bundle& bundle = bundle_for(phase, {r->along.begin(), r->along.end()}, r->below);
    bundle.tasks.push_back({nullptr, r, r->below});
    bundle.reductions.push_back(r);
  }
  std::vector<Task> here;
  for (const Task& task : tasks) {
    if (task.loop == loop) {
      here.push_back(task);
      continue;
    }
    int phase = 0;
    for (Value value : values_of(task)) phase = std::max(phase, phase_of(value, loop, phases));
    const std::size_t child = child_towards(loop, task.loop);
    const SmallVector<Axis, 4>& axes = draft_.loops[child].axes;
    bundle_for(phase, {axes.begin(), axes.end()}, child).tasks.push_back(task);
  }
  std::stable_sort(bundles.begin(), bundles.end(),
                   [](const Bundle& a, const Bundle& b) { return a.phase < b.phase; });
  for (const Bundle& bundle : bundles) run_bundle(loop, bundle);
  for (const Task& task : here) finish(task);
}

void Arranger::run_bundle(std::size_t loop, const Bundle& bundle) {
  (void)loop;
  const bool carries = draft_.carries.has_value() && bundle.axes.size() == 1 &&
                       bundle.axes[0] == draft_.carries->axis;
  if (carries) {
    for (const Carry& carry : draft_.carries->carries) require(carry.initial);
  }
  std::vector<Loop> loops;
  if (!bundle.reductions.empty() || carries) {
    loops.emplace_back().axes.assign(bundle.axes.begin(), bundle.axes.end());
  } else {
    for (Axis axis : bundle.axes) loops.emplace_back().axes.push_back(axis);
  }
  const std::size_t outside = open_.size();
  for (const Loop& one : loops) {
    AxisSet axes = open_.back().axes;
    for (Axis axis : one.axes) axes |= axis_bit(axis);
    open(axes);
  }
  if (carries) {
    for (const Carry& carry : draft_.carries->carries) {
      level_[carry.state] = static_cast<int>(open_.size()) - 1;
      open_.back().defined.push_back(carry.state);
    }
  }
  build(bundle.loop, bundle.tasks);
  for (std::size_t i = loops.size(); i-- > 0;) {
    Loop done = std::move(loops[i]);
    if (i + 1 == loops.size()) {
      for (const PendingReduction* r : bundle.reductions)
        done.reductions.push_back({r->combine, r->term, r->result});
      if (carries) {
        for (const Carry& carry : draft_.carries->carries) require(carry.next);
        done.carries = draft_.carries->carries;
        done.reverse = draft_.carries->reverse;
      }
    }
    done.body = close();
    open_.back().block.push_back({std::move(done)});
  }
  for (const PendingReduction* r : bundle.reductions) {
    level_[r->result] = static_cast<int>(outside) - 1;
    open_.back().defined.push_back(r->result);
  }
}

void Arranger::finish(const Task& task) {
  for (Value value : values_of(task)) require(value);
  if (task.term != nullptr) return;
  std::visit([&](const auto& is) { open_.back().block.push_back({is}); }, task.goal->is);
}

Block Arranger::close() {
  Open last = std::move(open_.back());
  open_.pop_back();
  for (Value value : last.defined) level_[value] = -1;
  return std::move(last.block);
}

void Arranger::define_at(std::size_t level, Value value) {
  level_[value] = static_cast<int>(level);
  if (is_free(node(value))) {
    // Known wherever its loop is open.
    open_[level].defined.push_back(value);
    return;
  }
  open_[level].block.push_back({Define{value}});
  open_[level].defined.push_back(value);
}

void Arranger::require(Value value) {
  if (level_[value] >= 0) return;
  const Node& n = node(value);
  ensure(n.kind != Node::Kind::reduced && n.kind != Node::Kind::carried,
         "a reduction's loop comes before what uses its result");
  int level = 0;
  for (Value operand : n.operands) {
    require(operand);
    level = std::max(level, level_[operand]);
  }
  const AxisSet axes = draft_.values.axes(value);
  while ((axes & ~open_[static_cast<std::size_t>(level)].axes) != 0) ++level;
  // A load waits for its loop: stores of other loops may come before it.
  define_at(static_cast<std::size_t>(level), value);
}

Kernel Arranger::run() && {
  draft_ = with_merged_axes(std::move(draft_));
  choose_vector_axis();
  for (const PendingReduction& r : draft_.reductions) reduction_of_.emplace(r.result, &r);
  level_.assign(draft_.values.size(), -1);
  std::vector<Task> tasks;
  for (const Goal& goal : draft_.goals) tasks.push_back({&goal, nullptr, goal.loop});
  open(0);
  build(0, tasks);
  kernel_.body = close();
  kernel_.buffers = std::move(draft_.buffers);
  kernel_.axes = std::move(draft_.extents);
  kernel_.failures = std::move(draft_.failures);
  kernel_.nodes = std::move(draft_.values).take();
  std::size_t loops = 0;
  bool is_plain = true;
  for (const Statement& statement : kernel_.body) {
    const auto* loop = std::get_if<Loop>(&statement.is);
    if (loop == nullptr) {
      is_plain = is_plain && std::holds_alternative<Define>(statement.is);
      continue;
    }
    ++loops;
    is_plain = is_plain && loop->reductions.empty() && loop->carries.empty();
  }
  kernel_.is_splittable = is_plain && loops == 1 && !combines(kernel_.body);
  return std::move(kernel_);
}

}  // namespace

Kernel arranged(Draft draft, std::string name) {
  return Arranger(std::move(draft), std::move(name)).run();
}

}  // namespace hom::nest
