// backends/nests/arrange.cc -- values placed in loops
//
// The tree of loops is walked from its root. In each loop, what is to be stored deeper waits for
// the reductions that it depends on: those of one phase share their loops, and the next phase
// starts where their results are known. A value is computed in the outermost block where all that
// it needs is known; where two phases need it, in each, unless that costs more than keeping it in a
// local buffer.
#include <algorithm>
#include <deque>
#include <unordered_map>

#include <hom/backends/nests/affine.h>
#include <hom/backends/nests/kernel_maker.h>
#include <hom/backends/nests/rewrite.h>
#include <hom/backends/nests/vector_axis.h>

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
  std::size_t child_towards(std::size_t above, std::size_t below) const;

  std::vector<Value> values_of(const Task& task) const;
  void collect(Value value, std::size_t loop, std::vector<bool>& seen,
               std::vector<const PendingReduction*>& found) const;
  int phase_of(Value value, std::size_t loop, std::unordered_map<Value, int>& known) const;

  void build(std::size_t loop, const std::vector<Task>& tasks);
  /// Lets later phases of the same loops load what an earlier one has computed at a cost.
  void keep_shared(std::size_t loop, std::vector<Bundle>& bundles);
  std::optional<Value> worth_keeping(const std::vector<Bundle*>& phases, std::size_t loop);
  /// A value with another one in place of `old`, in what a phase computes.
  Value replaced(Value value, Value old, Value by, std::size_t loop,
                 std::unordered_map<Value, Value>& done);
  void run_bundle(const Bundle& bundle);
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
  /// Goals and reductions that were rewritten; their addresses last.
  std::deque<Goal> goals_;
  std::deque<PendingReduction> reductions_;
};

std::size_t Arranger::child_towards(std::size_t above, std::size_t below) const {
  while (draft_.loops[below].parent != static_cast<int>(above))
    below = static_cast<std::size_t>(draft_.loops[below].parent);
  return below;
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
  keep_shared(loop, bundles);
  for (const Bundle& bundle : bundles) run_bundle(bundle);
  for (const Task& task : here) finish(task);
}

/// The most expensive value that two phases compute alike, where recomputing it costs more than
/// keeping it.
std::optional<Value> Arranger::worth_keeping(const std::vector<Bundle*>& phases, std::size_t loop) {
  AxisSet inside = 0;
  for (Axis axis : phases[0]->axes) inside |= axis_bit(axis);
  const std::size_t count = draft_.values.size();
  // How many phases need a value that they compute inside.
  std::vector<int> needed_by(count, 0);
  std::vector<Value> reached;
  for (const Bundle* bundle : phases) {
    std::vector<bool> seen(count, false);
    std::vector<Value> open;
    const auto visit = [&](Value value) {
      if (seen[value] || level_[value] >= 0 || (draft_.values.axes(value) & inside) == 0) return;
      seen[value] = true;
      open.push_back(value);
    };
    for (const Task& task : bundle->tasks) {
      for (Value value : values_of(task)) visit(value);
    }
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      if (needed_by[value]++ == 0) reached.push_back(value);
      if (const auto r = reduction_of_.find(value); r != reduction_of_.end()) {
        if (r->second->above != loop) visit(r->second->term);
        continue;
      }
      for (Value operand : node(value).operands) visit(operand);
    }
  }
  std::sort(reached.begin(), reached.end());
  std::unordered_map<Value, double> costs;
  std::optional<Value> best;
  double best_cost = cheap;
  for (Value value : reached) {
    const Node& n = node(value);
    double cost = 0;
    if (n.kind == Node::Kind::apply) cost = cost_of(n.function);
    if (n.kind == Node::Kind::load) cost = 1;
    if (const auto r = reduction_of_.find(value); r != reduction_of_.end()) {
      double terms = 1;
      for (Axis axis : r->second->along) terms *= static_cast<double>(draft_.extents[axis]);
      const auto term = costs.find(r->second->term);
      cost = terms * (1 + (term == costs.end() ? 0 : term->second));
    }
    // Shared parts count more than once: this weighs, it need not be exact.
    for (Value operand : n.operands) {
      if (const auto found = costs.find(operand); found != costs.end()) cost += found->second;
    }
    costs.emplace(value, cost);
    const bool is_data = n.kind == Node::Kind::apply || n.kind == Node::Kind::convert ||
                         n.kind == Node::Kind::reduced;
    if (is_data && needed_by[value] > 1 && cost > best_cost) {
      best = value;
      best_cost = cost;
    }
  }
  return best;
}

Value Arranger::replaced(Value value, Value old, Value by, std::size_t loop,
                         std::unordered_map<Value, Value>& done) {
  if (value == old) return by;
  if (level_[value] >= 0) return value;
  if (const auto found = done.find(value); found != done.end()) return found->second;
  Value result = value;
  if (const auto r = reduction_of_.find(value); r != reduction_of_.end()) {
    const PendingReduction& pending = *r->second;
    if (pending.above != loop) {
      const Value term = replaced(pending.term, old, by, loop, done);
      if (term != pending.term) {
        AxisSet along = 0;
        for (Axis axis : pending.along) along |= axis_bit(axis);
        result = draft_.values.reduced(node(value).dtype, term, along, node(value).step);
        reductions_.push_back(pending);
        reductions_.back().term = term;
        reductions_.back().result = result;
        reduction_of_.emplace(result, &reductions_.back());
      }
    }
  } else {
    const Node n = node(value);
    SmallVector<Value, 3> operands;
    bool changes = false;
    for (Value operand : n.operands) {
      operands.push_back(replaced(operand, old, by, loop, done));
      changes |= operands.back() != operand;
    }
    if (changes) result = draft_.values.copy(n, operands, draft_.values.axes(value));
  }
  level_.resize(draft_.values.size(), -1);
  done.emplace(value, result);
  return result;
}

void Arranger::keep_shared(std::size_t loop, std::vector<Bundle>& bundles) {
  if (draft_.carries) return;
  for (std::size_t first = 0; first < bundles.size(); ++first) {
    std::vector<Bundle*> phases;
    std::int64_t positions = 1;
    for (Axis axis : bundles[first].axes) positions *= draft_.extents[axis];
    for (std::size_t k = first; k < bundles.size(); ++k) {
      if (bundles[k].axes == bundles[first].axes && bundles[k].loop == bundles[first].loop)
        phases.push_back(&bundles[k]);
    }
    // Where lanes of an outer axis run together each would need a buffer of its own.
    const bool is_wide =
        kernel_.vector_axis && (path_of(draft_.loops, loop) & axis_bit(*kernel_.vector_axis)) != 0;
    while (phases.size() > 1 && !is_wide) {
      const std::optional<Value> kept = worth_keeping(phases, loop);
      if (!kept) break;
      const Dtype dtype = node(*kept).dtype;
      if (positions * static_cast<std::int64_t>(dtype.size()) > most_local_bytes) break;
      const auto buffer = static_cast<std::uint32_t>(draft_.buffers.size());
      draft_.buffers.push_back({.dtype = dtype,
                                .elements = positions,
                                .is_read = true,
                                .is_written = true,
                                .is_local = true,
                                .label = "kept" + std::to_string(buffer)});
      Value index = draft_.values.position(0);
      for (Axis axis : bundles[first].axes) {
        const std::int64_t extent = draft_.extents[axis];
        index =
            draft_.values.add(draft_.values.scale(index, extent), draft_.values.axis(axis, extent));
      }
      const Value recalled =
          draft_.values.load(buffer, dtype, index, draft_.values.truth(true), node(*kept).step);
      level_.resize(draft_.values.size(), -1);
      // The first phase that needs it stores it; the others load it.
      bool is_stored = false;
      for (Bundle* bundle : phases) {
        std::unordered_map<Value, Value> done;
        std::vector<Task> tasks = bundle->tasks;
        bool uses = false;
        for (Task& task : tasks) {
          if (task.term != nullptr) {
            PendingReduction changed = *task.term;
            changed.term = replaced(changed.term, *kept, recalled, loop, done);
            if (changed.term == task.term->term) continue;
            uses = true;
            if (!is_stored) continue;
            reductions_.push_back(changed);
            for (const PendingReduction*& r : bundle->reductions) {
              if (r == task.term) r = &reductions_.back();
            }
            reduction_of_[changed.result] = &reductions_.back();
            task.term = &reductions_.back();
          } else {
            Goal changed = *task.goal;
            bool differs = false;
            const auto replace = [&](Value& value) {
              const Value was = value;
              value = replaced(value, *kept, recalled, loop, done);
              differs |= value != was;
            };
            if (auto* store = std::get_if<Store>(&changed.is)) {
              replace(store->index);
              replace(store->value);
              if (store->when) replace(*store->when);
            } else {
              replace(std::get<Check>(changed.is).ok);
              replace(std::get<Check>(changed.is).offending);
            }
            if (!differs) continue;
            uses = true;
            if (!is_stored) continue;
            goals_.push_back(changed);
            task.goal = &goals_.back();
          }
        }
        if (uses && !is_stored) {
          goals_.push_back({Store{buffer, index, *kept}, bundle->loop});
          bundle->tasks.push_back({&goals_.back(), nullptr, bundle->loop});
          is_stored = true;
        } else {
          bundle->tasks = tasks;
        }
      }
    }
  }
}

void Arranger::run_bundle(const Bundle& bundle) {
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
  std::visit([&](const auto& is) { open_.back().block.emplace_back().is = is; }, task.goal->is);
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
  kernel_.vector_axis = choose_vector_axis(draft_);
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
    is_plain = is_plain && loop->reductions.empty() && loop->carries.empty() &&
               !stores_meet(kernel_, *loop);
  }
  kernel_.is_splittable = is_plain && loops == 1;
  return std::move(kernel_);
}

}  // namespace

Kernel arranged(Draft draft, std::string name) {
  return Arranger(std::move(draft), std::move(name)).run();
}

}  // namespace hom::nest
