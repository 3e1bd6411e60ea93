// tests/unit/memory_plan_test.cc -- memory is shared only where that changes no result
#include <hom/backends/nests/memory_plan.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "plan_support.h"
#include <gtest/gtest.h>

#include <hom/backends/nests/arena.h>
#include <hom/backends/nests/in_place.h>
#include <hom/backends/nests/liveness.h>

namespace hom::testing {
namespace {

using nest::Address;
using nest::Plan;
using Place = nest::PlannedBuffer::Place;

std::uint32_t add_buffer(Plan& plan, std::int64_t elements, Place place, std::uint32_t index = 0) {
  plan.buffers.push_back({.type = i64[{elements}], .place = place, .index = index});
  return static_cast<std::uint32_t>(plan.buffers.size() - 1);
}

/// How a kernel of `make_kernel` reads and writes arrays of rows·columns elements.
enum class Pattern : std::uint8_t {
  /// Loads at the index of the store.
  same,
  /// The same, but loads again after the store of the first result, for the others.
  late,
  /// Loads backwards.
  reversed,
  /// Loads columns, stores rows.
  transposed,
  /// Reduces all elements in one loop, stores in another.
  reduced,
  /// Reduces a row, then loads and stores it.
  rows,
};
constexpr Pattern all_patterns[] = {Pattern::same,       Pattern::late,    Pattern::reversed,
                                    Pattern::transposed, Pattern::reduced, Pattern::rows};

/// Operands are the first arguments, `results` more the last.
nest::Kernel make_kernel(Pattern pattern, std::size_t operands, std::size_t results,
                         std::int64_t rows, std::int64_t columns, int salt) {
  KernelWriter w("k");
  const std::int64_t n = rows * columns;
  for (std::size_t i = 0; i < operands; ++i) w.buffer(n, true, false);
  for (std::size_t i = 0; i < results; ++i) w.buffer(n, false, true);
  const nest::Axis i = w.axis(rows);
  const nest::Axis j = w.axis(columns);
  const auto function = [&](std::size_t r) {
    return static_cast<nest::Function>((static_cast<std::size_t>(salt) + r) % 10);
  };
  const auto hash = [&](nest::Block& block, std::size_t r, SmallVector<nest::Value, 3> of) {
    const nest::Value y = w.apply(function(r), std::move(of));
    define(block, y);
    return y;
  };
  const auto hash_of_loads = [&](nest::Block& block, nest::Value index) {
    nest::Value sum = w.constant(salt);
    for (std::uint32_t b = 0; b < operands; ++b) {
      const nest::Value x = w.load(b, index);
      define(block, x);
      sum = hash(block, b, {sum, x});
    }
    return sum;
  };
  const auto first_result = static_cast<std::uint32_t>(operands);
  const auto store_all = [&](nest::Block& block, nest::Value index, nest::Value value) {
    for (std::uint32_t r = 0; r < results; ++r)
      store(block, first_result + r, index, r == 0 ? value : hash(block, r, {value}));
  };
  const nest::Value index = w.at(i, columns, j);
  nest::Loop loop = loop_over({i, j});
  switch (pattern) {
    case Pattern::same:
      store_all(loop.body, index, hash_of_loads(loop.body, index));
      w.kernel.is_splittable = true;
      break;
    case Pattern::late: {
      // Row by row: loads and stores, then the same loads again.
      loop.axes = {i};
      nest::Loop first = loop_over({j});
      nest::Loop again = loop_over({j});
      store(first.body, first_result, index, hash_of_loads(first.body, index));
      const nest::Value value = hash(again.body, 3, {hash_of_loads(again.body, index)});
      for (std::uint32_t r = 1; r < results; ++r) store(again.body, first_result + r, index, value);
      loop.body.push_back({std::move(first)});
      loop.body.push_back({std::move(again)});
      w.kernel.is_splittable = true;
      break;
    }
    case Pattern::reversed:
      store_all(loop.body, index,
                hash_of_loads(loop.body, w.sum(w.constant(n - 1), w.scaled(index, -1))));
      break;
    case Pattern::transposed:
      store_all(loop.body, w.at(j, rows, i), hash_of_loads(loop.body, index));
      break;
    case Pattern::reduced: {
      const nest::Value total = w.node({.kind = nest::Node::Kind::reduced, .dtype = i64});
      nest::Loop sum = loop_over({i, j});
      sum.reductions.push_back({nest::Combine::sum, hash_of_loads(sum.body, index), total});
      w.kernel.body.push_back({std::move(sum)});
      store_all(loop.body, index, hash(loop.body, 1, {total, w.position(i), w.position(j)}));
      break;
    }
    case Pattern::rows: {
      const nest::Value total = w.node({.kind = nest::Node::Kind::reduced, .dtype = i64});
      loop.axes = {i};
      nest::Loop sum = loop_over({j});
      sum.reductions.push_back({nest::Combine::sum, hash_of_loads(sum.body, index), total});
      loop.body.push_back({std::move(sum)});
      nest::Loop stores = loop_over({j});
      const nest::Value loads = hash_of_loads(stores.body, index);
      store_all(stores.body, index, hash(stores.body, 2, {total, loads}));
      loop.body.push_back({std::move(stores)});
      w.kernel.is_splittable = true;
      break;
    }
  }
  w.kernel.body.push_back({std::move(loop)});
  return std::move(w.kernel);
}

/// A kernel that combines its first argument into the second.
nest::Kernel update_kernel(std::int64_t n) {
  KernelWriter w("update");
  w.buffer(n, true, false);
  w.buffer(n, true, true);
  const nest::Axis i = w.axis(n);
  nest::Loop loop = loop_over({i});
  const nest::Value x = w.load(0, w.position(i));
  define(loop.body, x);
  loop.body.push_back({nest::Store{1, w.position(i), x, nest::Combine::sum}});
  w.kernel.body.push_back({std::move(loop)});
  return std::move(w.kernel);
}

/// Draws plans: kernels, routines with epilogues, copies, updates, loops with carries and stacked
/// results, while loops, branches.
class PlanDrawing {
 public:
  explicit PlanDrawing(unsigned seed) : random_(seed) {}

  Plan draw(int length) {
    const int inputs = below(3) + 1;
    for (int i = 0; i < inputs; ++i) {
      known_.push_back(add_buffer(plan_, length_(), Place::input, static_cast<std::uint32_t>(i)));
      ++plan_.input_count;
    }
    draw_body(plan_.body, length, 2);
    const int outputs = below(3) + 1;
    for (int o = 0; o < outputs; ++o) draw_output();
    for (const std::uint32_t b : plan_.outputs) plan_.output_types.push_back(plan_.buffers[b].type);
    return std::move(plan_);
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::int64_t length_() { return lengths_[below(4)]; }
  std::int64_t rows_of(std::int64_t n) { return n == 12 ? 4 : n == 24 ? 6 : 1; }

  std::uint32_t temporary(std::int64_t elements) {
    return add_buffer(plan_, elements, Place::temporary);
  }
  /// A known buffer of n elements; there is one.
  std::uint32_t known(std::int64_t n) {
    std::vector<std::uint32_t> fit;
    for (const std::uint32_t b : known_) {
      if (plan_.buffers[b].type.size() == n) fit.push_back(b);
    }
    // Recent ones more often.
    const int k = static_cast<int>(fit.size());
    return fit[static_cast<std::size_t>(std::max(below(k), below(k)))];
  }
  std::uint32_t any_known() {
    return known_[static_cast<std::size_t>(below(static_cast<int>(known_.size())))];
  }

  void launch(nest::Instructions& to, nest::Kernel kernel, std::vector<Address> arguments) {
    plan_.kernels.push_back(std::move(kernel));
    to.push_back(
        {nest::Launch{static_cast<std::uint32_t>(plan_.kernels.size() - 1), std::move(arguments)}});
  }

  /// A kernel that writes these.
  void draw_kernel(nest::Instructions& to, std::vector<Address> results, std::int64_t n) {
    std::vector<Address> arguments;
    const auto operands = static_cast<std::size_t>(below(3) + 1);
    bool any = false;
    for (const std::uint32_t b : known_) any = any || plan_.buffers[b].type.size() == n;
    const std::size_t count = any ? operands : 0;
    for (std::size_t k = 0; k < count; ++k) arguments.push_back({known(n)});
    arguments.insert(arguments.end(), results.begin(), results.end());
    const Pattern pattern = all_patterns[below(2) ? below(6) : 0];
    launch(to, make_kernel(pattern, count, results.size(), rows_of(n), n / rows_of(n), below(99)),
           std::move(arguments));
  }

  void draw_call(nest::Instructions& to) {
    const std::int64_t n = length_();
    std::vector<std::int64_t> sizes;
    nest::Call call;
    for (int k = below(2) + 1; k > 0; --k) {
      call.operands.push_back({any_known()});
      sizes.push_back(plan_.buffers[call.operands.back().buffer].type.size());
    }
    call.results.push_back({temporary(n)});
    call.scratch = Address{temporary(1)};
    plan_.routines.push_back(std::make_shared<HashRoutine>(sizes, rows_of(n), n / rows_of(n)));
    call.routine = static_cast<std::uint32_t>(plan_.routines.size() - 1);
    std::uint32_t value = call.results[0].buffer;
    if (below(2)) {
      std::vector<Address> arguments{{value}};
      bool any = false;
      for (const std::uint32_t b : known_) any = any || plan_.buffers[b].type.size() == n;
      // Often what the routine reads too, as long as it runs.
      const std::uint32_t operand = call.operands[0].buffer;
      if (plan_.buffers[operand].type.size() == n && below(2)) {
        arguments.push_back({operand});
      } else if (any && below(2)) {
        arguments.push_back({known(n)});
      }
      value = temporary(n);
      arguments.push_back({value});
      plan_.kernels.push_back(make_kernel(below(2) ? Pattern::same : Pattern::rows,
                                          arguments.size() - 1, 1, rows_of(n), n / rows_of(n),
                                          below(99)));
      call.epilogue =
          nest::Launch{static_cast<std::uint32_t>(plan_.kernels.size() - 1), std::move(arguments)};
    }
    to.push_back({std::move(call)});
    known_.push_back(value);
  }

  void draw_copy(nest::Instructions& to) {
    const std::uint32_t from = any_known();
    const std::uint32_t result = temporary(plan_.buffers[from].type.size());
    to.push_back({nest::Copy{{result}, {from}, plan_.buffers[from].bytes()}});
    known_.push_back(result);
  }

  void draw_update(nest::Instructions& to) {
    const std::uint32_t x = any_known();
    const std::uint32_t y = temporary(plan_.buffers[x].type.size());
    to.push_back({nest::Copy{{y}, {x}, plan_.buffers[x].bytes()}});
    launch(to, update_kernel(plan_.buffers[x].type.size()),
           {{known(plan_.buffers[x].type.size())}, {y}});
    known_.push_back(y);
  }

  void draw_loop(nest::Instructions& to, int depth) {
    const std::vector<std::uint32_t> outside = known_;
    std::vector<std::uint32_t> carries;
    for (int k = below(2) + 1; k > 0; --k) {
      const std::uint32_t initial = any_known();
      carries.push_back(temporary(plan_.buffers[initial].type.size()));
      to.push_back({nest::Copy{{carries.back()}, {initial}, plan_.buffers[initial].bytes()}});
    }
    known_.insert(known_.end(), carries.begin(), carries.end());
    const std::vector<std::uint32_t> inside = known_;
    const bool repeats = below(2) != 0;
    std::vector<std::uint32_t> stacked;
    nest::Repeat repeat{plan_.loop_count++, below(3) + 1, {}};
    nest::While loop{{}, {}, {}, 3};
    nest::Instructions& body = repeats ? repeat.body : loop.body;
    if (!repeats) {
      draw_body(loop.condition, below(3), 0);
      loop.predicate.buffer = any_known();
    }
    draw_body(body, below(4) + 1, depth - 1);
    if (repeats && below(2)) {
      const std::int64_t n = length_();
      stacked.push_back(temporary(n * repeat.count));
      draw_kernel(body, {{stacked[0], 0, {{repeat.id, n * 8}}}}, n);
    }
    std::vector<std::uint32_t> nexts;
    for (const std::uint32_t carry : carries) {
      const std::int64_t n = plan_.buffers[carry].type.size();
      nexts.push_back(temporary(n));
      draw_kernel(body, {{nexts.back()}}, n);
    }
    for (std::size_t k = 0; k < carries.size(); ++k)
      body.push_back({nest::Copy{{carries[k]}, {nexts[k]}, plan_.buffers[nexts[k]].bytes()}});
    if (repeats) {
      to.push_back({std::move(repeat)});
    } else {
      to.push_back({std::move(loop)});
    }
    known_ = outside;
    known_.insert(known_.end(), carries.begin(), carries.end());
    known_.insert(known_.end(), stacked.begin(), stacked.end());
  }

  void draw_branch(nest::Instructions& to, int depth) {
    const std::vector<std::uint32_t> outside = known_;
    const std::int64_t n = length_();
    const std::uint32_t result = temporary(n);
    nest::Branch branch{{any_known()}, {}, {}};
    for (nest::Instructions* way : {&branch.then, &branch.otherwise}) {
      draw_body(*way, below(4), depth - 1);
      draw_kernel(*way, {{result}}, n);
      known_ = outside;
    }
    to.push_back({std::move(branch)});
    known_.push_back(result);
  }

  void draw_body(nest::Instructions& to, int length, int depth) {
    for (int k = 0; k < length; ++k) {
      const int kind = below(depth > 0 ? 10 : 8);
      if (kind < 5) {
        const std::int64_t n = length_();
        std::vector<Address> results;
        for (int r = below(2) + 1; r > 0; --r) results.push_back({temporary(n)});
        draw_kernel(to, results, n);
        for (const Address& r : results) known_.push_back(r.buffer);
      } else if (kind == 5) {
        draw_copy(to);
      } else if (kind == 6) {
        draw_update(to);
      } else if (kind == 7) {
        draw_call(to);
      } else if (kind == 8) {
        draw_loop(to, depth);
      } else {
        draw_branch(to, depth);
      }
    }
  }

  void draw_output() {
    const auto index = static_cast<std::uint32_t>(plan_.outputs.size());
    const int kind = below(4);
    if (kind == 0) {
      plan_.outputs.push_back(0);  // an input
    } else if (kind == 1 && index > 0) {
      plan_.outputs.push_back(plan_.outputs[0]);
    } else if (kind == 2) {
      const std::uint32_t from = any_known();
      const std::uint32_t to =
          add_buffer(plan_, plan_.buffers[from].type.size(), Place::output, index);
      plan_.body.push_back({nest::Copy{{to}, {from}, plan_.buffers[from].bytes()}});
      plan_.outputs.push_back(to);
    } else {
      const std::int64_t n = length_();
      const std::uint32_t to = add_buffer(plan_, n, Place::output, index);
      draw_kernel(plan_.body, {{to}}, n);
      plan_.outputs.push_back(to);
    }
  }

  static constexpr std::int64_t lengths_[] = {1, 12, 12, 24};
  std::mt19937 random_;
  Plan plan_;
  std::vector<std::uint32_t> known_;
};

std::vector<std::uint64_t> garbage(std::int64_t bytes, std::uint64_t seed) {
  std::vector<std::uint64_t> words(static_cast<std::size_t>(bytes / 8 + 1));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mixed(seed, i);
  return words;
}
std::byte* bytes_of(std::vector<std::uint64_t>& words) {
  return reinterpret_cast<std::byte*>(words.data());
}

struct Outcome {
  std::vector<std::vector<std::uint64_t>> outputs;
  std::vector<PlanMachine::Event> events;
};

/// Runs on memory that holds garbage: as planned, or with every buffer on its own.
Outcome run_of(const Plan& plan, bool planned, bool donated, std::uint64_t seed) {
  std::vector<std::vector<std::uint64_t>> owned(plan.buffers.size());
  std::vector<std::uint64_t> arena = garbage(plan.arena_bytes, seed);
  std::vector<std::vector<std::uint64_t>> outputs(plan.outputs.size());
  std::vector<std::byte*> pointers(plan.buffers.size());
  std::vector<std::byte*> inputs(plan.input_count);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const nest::PlannedBuffer& buffer = plan.buffers[b];
    const bool is_input = buffer.place == Place::input;
    owned[b] = garbage(buffer.bytes(), is_input ? 1000 + buffer.index : mixed(seed, b));
    pointers[b] = bytes_of(owned[b]);
    if (is_input) inputs[buffer.index] = pointers[b];
  }
  std::vector<std::byte*> output_memory(plan.outputs.size());
  for (std::size_t o = 0; o < plan.outputs.size(); ++o) {
    const std::uint32_t b = plan.outputs[o];
    output_memory[o] = pointers[b];
    if (donated && plan.donations[o] != Plan::not_donated) {
      output_memory[o] = inputs[plan.donations[o]];
    }
  }
  if (planned) {
    for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
      const nest::PlannedBuffer& buffer = plan.buffers[b];
      if (buffer.place == Place::temporary) pointers[b] = bytes_of(arena) + buffer.offset;
      if (buffer.place == Place::output) pointers[b] = output_memory[buffer.index];
    }
  }
  Outcome run;
  PlanMachine machine(plan, pointers);
  run.events = std::move(machine.events);
  for (const std::uint32_t b : plan.outputs) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(pointers[b]);
    run.outputs.emplace_back(words, words + plan.buffers[b].type.size());
  }
  return run;
}

/// When each buffer holds something that is read later, from the events of a run.
std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> live_times(
    const std::vector<PlanMachine::Event>& events, std::size_t buffers) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> times(buffers);
  for (const PlanMachine::Event& e : events) {
    auto& own = times[e.buffer];
    if (own.empty() && e.reads) own.emplace_back(0, e.time);  // an input
    if (e.reads) {
      own.back().second = e.time;
    } else if (own.empty() || e.replaces) {
      own.emplace_back(e.time, e.time);
    } else {
      // Part of it may have been written before: live in between only if that is read later.
      own.back().second = std::max(own.back().second, own.back().first);
    }
  }
  return times;
}

TEST(MemoryPlan, planned_memory_changes_no_result) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Plan plan = PlanDrawing(seed).draw(3 + static_cast<int>(seed % 12));
    const Outcome separate = run_of(plan, false, false, 1);
    plan_memory(plan);
    ASSERT_EQ(run_of(plan, true, false, 2).outputs, separate.outputs) << "seed " << seed;
    // Outputs that are inputs show the donated memory: donated inputs are none of them.
    ASSERT_EQ(run_of(plan, true, true, 3).outputs, separate.outputs) << "seed " << seed;
  }
}

TEST(MemoryPlan, live_buffers_do_not_overlap) {
  int shared = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Plan plan = PlanDrawing(seed).draw(3 + static_cast<int>(seed % 12));
    const auto times = live_times(run_of(plan, false, false, 1).events, plan.buffers.size());
    plan_memory(plan);
    for (std::uint32_t a = 0; a < plan.buffers.size(); ++a) {
      const nest::PlannedBuffer& x = plan.buffers[a];
      if (x.place != Place::temporary) continue;
      ASSERT_EQ(x.offset % nest::memory_alignment, 0);
      ASSERT_LE(x.offset + x.bytes(), plan.arena_bytes);
      for (std::uint32_t b = a + 1; b < plan.buffers.size(); ++b) {
        const nest::PlannedBuffer& y = plan.buffers[b];
        if (y.place != Place::temporary || x.offset >= y.offset + y.bytes() ||
            y.offset >= x.offset + x.bytes())
          continue;
        for (const auto& [begin, end] : times[a]) {
          for (const auto& [other_begin, other_end] : times[b]) {
            const std::int64_t low = std::max(begin, other_begin);
            const std::int64_t high = std::min(end, other_end);
            ASSERT_LE(high, low) << "seed " << seed << ", buffers " << a << " and " << b;
            shared += high == low;
          }
        }
      }
    }
  }
  EXPECT_GT(shared, 500);  // in place
}

TEST(MemoryPlan, arena_is_near_what_is_live) {
  double worst = 1;
  double arena = 0;
  double live = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    Plan plan = PlanDrawing(seed).draw(3 + static_cast<int>(seed % 40));
    plan_memory(plan);
    ASSERT_GE(plan.arena_bytes, plan.live_bytes) << "seed " << seed;
    ASSERT_LE(plan.arena_bytes, 2 * plan.live_bytes) << "seed " << seed;
    arena += static_cast<double>(plan.arena_bytes);
    live += static_cast<double>(plan.live_bytes);
    if (plan.live_bytes > 0)
      worst = std::max(worst, static_cast<double>(plan.arena_bytes) / plan.live_bytes);
  }
  EXPECT_LE(arena, 1.1 * live);
  RecordProperty("worst", std::to_string(worst));
}

/// x → k → … → k → y, each kernel of one operand.
Plan chain(std::size_t length, Pattern pattern) {
  Plan plan;
  std::uint32_t last = add_buffer(plan, 24, Place::input);
  plan.input_count = 1;
  plan.kernels.push_back(make_kernel(pattern, 1, 1, 6, 4, 3));
  for (std::size_t i = 0; i < length; ++i) {
    const bool is_output = i + 1 == length;
    const std::uint32_t next =
        add_buffer(plan, 24, is_output ? Place::output : Place::temporary, 0);
    plan.body.push_back({nest::Launch{0, {{last}, {next}}}});
    last = next;
  }
  plan.outputs = {last};
  plan.output_types = {plan.buffers[last].type};
  return plan;
}

TEST(MemoryPlan, elementwise_chains_run_in_the_memory_of_their_result) {
  Plan plan = chain(50, Pattern::same);
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.donations, std::vector<std::uint32_t>{0});
  for (std::size_t b = 1; b < plan.buffers.size(); ++b)
    EXPECT_EQ(plan.buffers[b].place, Place::output);
}

TEST(MemoryPlan, transposed_chains_need_two_buffers) {
  Plan plan = chain(50, Pattern::transposed);
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 2 * 24 * 8);
  EXPECT_EQ(plan.donations, std::vector<std::uint32_t>{0});  // the input is long dead by then
}

TEST(MemoryPlan, carries_are_computed_in_place) {
  Plan plan;
  const std::uint32_t x = add_buffer(plan, 24, Place::input);
  const std::uint32_t carry = add_buffer(plan, 24, Place::output);
  const std::uint32_t next = add_buffer(plan, 24, Place::temporary);
  plan.input_count = 1;
  plan.outputs = {carry};
  plan.loop_count = 1;
  plan.kernels.push_back(make_kernel(Pattern::rows, 2, 1, 6, 4, 3));
  plan.body.push_back({nest::Copy{{carry}, {x}, 24 * 8}});
  nest::Repeat repeat{0, 3, {}};
  repeat.body.push_back({nest::Launch{0, {{carry}, {x}, {next}}}});
  repeat.body.push_back({nest::Copy{{carry}, {next}, 24 * 8}});
  plan.body.push_back({std::move(repeat)});
  const Outcome separate = run_of(plan, false, false, 1);
  plan_memory(plan);
  EXPECT_EQ(plan.buffers[next].place, Place::output);
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.donations, std::vector<std::uint32_t>{Plan::not_donated});  // read in the loop
  EXPECT_EQ(run_of(plan, true, false, 2).outputs, separate.outputs);
}

TEST(MemoryPlan, an_operand_needed_in_the_next_iteration_is_kept) {
  // The temporary is written by the loop's last instruction, which reads x for the last time in
  // the text, but not in the run.
  Plan plan;
  const std::uint32_t input = add_buffer(plan, 24, Place::input);
  const std::uint32_t x = add_buffer(plan, 24, Place::temporary);
  const std::uint32_t y = add_buffer(plan, 24, Place::temporary);
  const std::uint32_t out = add_buffer(plan, 24, Place::output);
  plan.input_count = 1;
  plan.outputs = {out};
  plan.loop_count = 1;
  plan.kernels.push_back(make_kernel(Pattern::same, 1, 1, 6, 4, 3));
  plan.kernels.push_back(update_kernel(24));
  plan.body.push_back({nest::Launch{0, {{input}, {x}}}});
  plan.body.push_back({nest::Launch{0, {{input}, {out}}}});
  nest::Repeat repeat{0, 3, {}};
  repeat.body.push_back({nest::Launch{1, {{x}, {out}}}});
  repeat.body.push_back({nest::Launch{0, {{x}, {y}}}});
  plan.body.push_back({std::move(repeat)});
  const Outcome separate = run_of(plan, false, false, 1);
  plan_memory(plan);
  EXPECT_NE(plan.buffers[x].offset, plan.buffers[y].offset);
  EXPECT_EQ(run_of(plan, true, false, 2).outputs, separate.outputs);
}

TEST(MemoryPlan, what_a_routine_reads_is_not_overwritten_by_its_epilogue) {
  // The kernel may write over its second operand, but the routine reads that for each panel.
  for (const bool routine_reads_it : {false, true}) {
    Plan plan;
    const std::uint32_t input = add_buffer(plan, 24, Place::input);
    const std::uint32_t x = add_buffer(plan, 24, Place::temporary);
    const std::uint32_t product = add_buffer(plan, 24, Place::temporary);
    const std::uint32_t out = add_buffer(plan, 24, Place::output);
    plan.input_count = 1;
    plan.outputs = {out};
    plan.kernels.push_back(make_kernel(Pattern::same, 1, 1, 6, 4, 3));
    plan.routines.push_back(std::make_shared<HashRoutine>(std::vector<std::int64_t>{24}, 6, 4));
    KernelWriter w("backwards");
    w.buffer(24, true, false);
    w.buffer(24, true, false);
    w.buffer(24, false, true);
    const nest::Axis i = w.axis(6);
    const nest::Axis j = w.axis(4);
    nest::Loop loop = loop_over({i, j});
    const nest::Value a = w.load(
        0, w.sum(w.scaled(w.position(i), 4), w.sum(w.constant(3), w.scaled(w.position(j), -1))));
    const nest::Value b = w.load(1, w.at(i, 4, j));
    const nest::Value y = w.apply(nest::Function::add, {a, b});
    for (const nest::Value value : {a, b, y}) define(loop.body, value);
    store(loop.body, 2, w.at(i, 4, j), y);
    w.kernel.body.push_back({std::move(loop)});
    w.kernel.is_splittable = true;
    plan.kernels.push_back(std::move(w.kernel));
    plan.body.push_back({nest::Launch{0, {{input}, {x}}}});
    nest::Call call;
    call.operands.push_back({routine_reads_it ? x : input});
    call.results.push_back({product});
    call.epilogue = nest::Launch{1, {{product}, {x}, {out}}};
    plan.body.push_back({std::move(call)});
    const Outcome separate = run_of(plan, false, false, 1);
    plan_memory(plan);
    EXPECT_EQ(plan.buffers[x].place, routine_reads_it ? Place::temporary : Place::output);
    EXPECT_EQ(run_of(plan, true, false, 2).outputs, separate.outputs);
  }
}

TEST(MemoryPlan, kernels_say_what_they_may_overwrite) {
  const auto may_share = [](Pattern pattern) {
    const nest::Kernel kernel = make_kernel(pattern, 1, 2, 6, 4, 3);
    return nest::KernelAccesses(kernel).may_share(0, 1);
  };
  EXPECT_TRUE(may_share(Pattern::same));
  EXPECT_FALSE(may_share(Pattern::late));
  EXPECT_FALSE(may_share(Pattern::reversed));
  EXPECT_FALSE(may_share(Pattern::transposed));
  EXPECT_TRUE(may_share(Pattern::reduced));
  EXPECT_TRUE(may_share(Pattern::rows));
}

TEST(MemoryPlan, stores_that_meet_share_nothing) {
  // All iterations of i store to the same places: a later load would see them.
  KernelWriter w("k");
  w.buffer(4, true, false);
  w.buffer(4, false, true);
  const nest::Axis i = w.axis(3);
  const nest::Axis j = w.axis(4);
  const nest::Value state = w.node({.kind = nest::Node::Kind::carried, .dtype = i64});
  nest::Loop outer = loop_over({i});
  nest::Loop inner = loop_over({j});
  const nest::Value x = w.load(0, w.position(j));
  define(inner.body, x);
  store(inner.body, 1, w.position(j), x);
  outer.carries.push_back({state, w.constant(0), w.constant(1)});
  outer.body.push_back({std::move(inner)});
  w.kernel.body.push_back({std::move(outer)});
  EXPECT_FALSE(nest::KernelAccesses(w.kernel).may_share(0, 1));
}

TEST(MemoryPlan, kernels_that_run_in_parts_load_again) {
  // What stands before the loop is run for each part.
  for (const bool in_parts : {false, true}) {
    KernelWriter w("k");
    w.buffer(4, true, false);
    w.buffer(4, false, true);
    const nest::Axis i = w.axis(4);
    const nest::Value x = w.load(0, w.constant(0));
    define(w.kernel.body, x);
    nest::Loop loop = loop_over({i});
    store(loop.body, 1, w.position(i), x);
    w.kernel.body.push_back({std::move(loop)});
    w.kernel.is_splittable = in_parts;
    EXPECT_EQ(nest::KernelAccesses(w.kernel).may_share(0, 1), !in_parts);
  }
}

TEST(MemoryPlan, what_iterations_hand_on_lives_through_the_loop) {
  // In each iteration `late` is read before it is written, and `rows` is written in another place.
  Plan plan;
  const std::uint32_t late = add_buffer(plan, 24, Place::temporary);
  const std::uint32_t own = add_buffer(plan, 24, Place::temporary);
  const std::uint32_t rows = add_buffer(plan, 72, Place::temporary);
  plan.loop_count = 1;
  plan.kernels.push_back(make_kernel(Pattern::same, 1, 1, 6, 4, 3));
  nest::Repeat repeat{0, 3, {}};
  repeat.body.push_back({nest::Launch{0, {{late}, {own}}}});
  repeat.body.push_back({nest::Launch{0, {{own}, {late}}}});
  repeat.body.push_back({nest::Launch{0, {{own}, {rows, 0, {{0, 192}}}}}});
  repeat.body.push_back({nest::Launch{0, {{rows}, {own}}}});
  plan.body.push_back({std::move(repeat)});
  const nest::Liveness liveness(plan);
  const auto spans = [&](std::uint32_t buffer) {
    const nest::Segments& segments = liveness.segments(buffer);
    EXPECT_EQ(segments.size(), 1U);
    return std::pair{segments[0].begin, segments[0].end};
  };
  // Position 1 is the begin of the loop, 6 its end.
  EXPECT_EQ(spans(late), (std::pair{1U, 6U}));
  EXPECT_EQ(spans(rows), (std::pair{1U, 6U}));
  EXPECT_EQ(spans(own), (std::pair{2U, 5U}));
}

TEST(MemoryPlan, elements_of_other_sizes_share_after_the_loop_only) {
  for (const bool later : {false, true}) {
    KernelWriter w("k");
    w.buffer(24, true, false, i64);
    w.buffer(24, false, true, f32);
    const nest::Axis i = w.axis(24);
    const nest::Value x = w.load(0, w.position(i));
    nest::Loop loads = loop_over({i});
    define(loads.body, x);
    nest::Loop stores = loop_over({i});
    const nest::Value y = w.node({.kind = nest::Node::Kind::constant, .dtype = f32, .number = 0});
    store(later ? stores.body : loads.body, 1, w.position(i), y);
    w.kernel.body.push_back({std::move(loads)});
    if (later) w.kernel.body.push_back({std::move(stores)});
    EXPECT_EQ(nest::KernelAccesses(w.kernel).may_share(0, 1), later);
  }
}

TEST(MemoryPlan, empty_plans_and_buffers) {
  Plan plan;
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 0);
  EXPECT_EQ(plan.live_bytes, 0);
  Plan empty;
  const std::uint32_t x = add_buffer(empty, 0, Place::input);
  const std::uint32_t t = add_buffer(empty, 0, Place::temporary);
  const std::uint32_t unused = add_buffer(empty, 8, Place::temporary);
  const std::uint32_t y = add_buffer(empty, 0, Place::output);
  empty.input_count = 1;
  empty.outputs = {y};
  empty.body.push_back({nest::Copy{{t}, {x}, 0}});
  empty.body.push_back({nest::Copy{{y}, {t}, 0}});
  plan_memory(empty);
  EXPECT_EQ(empty.arena_bytes, 0);
  EXPECT_EQ(empty.buffers[unused].offset, 0);
}

TEST(MemoryPlan, packing_reuses_and_keeps_apart) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<nest::MemoryBlock> blocks;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t begin = random() % 50;
      blocks.push_back({begin, begin + static_cast<std::uint32_t>(random() % 10),
                        static_cast<std::int64_t>(1 + random() % 9) * 64});
    }
    const nest::Packing packing = nest::pack(blocks);
    std::int64_t most = 0;
    for (std::uint32_t time = 0; time < 60; ++time) {
      std::int64_t live = 0;
      for (const auto& block : blocks)
        live += block.begin <= time && time <= block.end ? block.bytes : 0;
      most = std::max(most, live);
    }
    EXPECT_GE(packing.bytes, most);
    EXPECT_LE(static_cast<double>(packing.bytes), 1.35 * static_cast<double>(most));
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      for (std::size_t b = a + 1; b < blocks.size(); ++b) {
        if (blocks[a].end < blocks[b].begin || blocks[b].end < blocks[a].begin) continue;
        EXPECT_TRUE(packing.offsets[a] + blocks[a].bytes <= packing.offsets[b] ||
                    packing.offsets[b] + blocks[b].bytes <= packing.offsets[a]);
      }
    }
  }
}

TEST(MemoryPlan, a_hundred_thousand_buffers_in_time) {
  // Quadratic planning would take minutes.
  Plan plan = chain(100'000, Pattern::transposed);
  plan_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 2 * 24 * 8);
  Plan in_place = chain(100'000, Pattern::same);
  plan_memory(in_place);
  EXPECT_EQ(in_place.arena_bytes, 0);
}

}  // namespace
}  // namespace hom::testing
