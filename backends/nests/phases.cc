// backends/nests/phases.cc -- long loops at the top of a kernel, each a kernel of its own
//
// What a phase computes outside its loop and a later one needs goes through memory, a temporary for
// each value, unless it is a function of constants and of what the kernel only reads: then it is
// computed again.
#include <hom/backends/nests/phases.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <hom/backends/nests/affine.h>
#include <hom/backends/nests/excerpt.h>

namespace hom::nest {
namespace {

/// Chunks of terms, as in ordered_sum.h.
constexpr std::int64_t chunk = 64;

class Splitting {
 public:
  Splitting(const Kernel& kernel, const SharingOptions& options)
      : kernel_(kernel),
        options_(options),
        segment_of_(kernel.nodes.size(), nowhere),
        crossing_(kernel.nodes.size()),
        is_written_(kernel.buffers.size(), false) {}

  Phases run() {
    result_.argument_count = static_cast<std::uint32_t>(kernel_.argument_count());
    cut();
    const bool any = std::any_of(segments_.begin(), segments_.end(),
                                 [](const Segment& segment) { return segment.is_wide; });
    if (!any) return {};
    for_each_store(kernel_.body, [&](const Store& store) { is_written_[store.buffer] = true; });
    find_definitions();
    find_pure();
    share_locals();
    // From the last to the first: what a segment needs of others is known before they are made.
    for (std::size_t s = segments_.size(); s-- > 0;) make(s);
    std::reverse(result_.phases.begin(), result_.phases.end());
    name();
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t nowhere = UINT32_MAX;

  /// Neighbouring statements of the body, as one kernel: a wide loop, or anything else.
  struct Segment {
    std::vector<const Statement*> statements;
    bool is_wide = false;
    /// Of a wide loop with reductions.
    std::int64_t block = 0;
    /// The wide loop before this segment, whose results are combined here.
    const Loop* combines = nullptr;
    std::int64_t blocks = 0;
    std::int64_t terms_of_block = 0;
    std::vector<std::uint32_t> partials = {};
    /// Values that later segments load, and the temporaries that hold them.
    std::vector<std::pair<Value, std::uint32_t>> stored = {};
  };

  // ---- which statements ----

  double ns_of(const Statement& statement) const {
    Kernel alone = kernel_;
    alone.body = {statement};
    return estimated_ns(alone);
  }

  bool is_wide(const Statement& statement, std::int64_t& block) const {
    block = 0;
    const auto* loop = std::get_if<Loop>(&statement.is);
    if (loop == nullptr || !loop->carries.empty() || loop->reverse || stores_meet(kernel_, *loop))
      return false;
    const std::int64_t extent = kernel_.axes[loop->axes[0]];
    if (extent < 2) return false;
    const double ns = ns_of(statement);
    if (ns < options_.least_ns) return false;
    if (loop->reductions.empty()) return true;
    for (const Reduction& reduction : loop->reductions) {
      if (reduction.pairwise) return false;
      const Dtype dtype = kernel_.nodes[reduction.term].dtype;
      if (reduction.combine >= Combine::argmax && dtype.is_bool()) return false;
    }
    std::int64_t inner = 1;
    for (std::size_t i = 1; i < loop->axes.size(); ++i) inner *= kernel_.axes[loop->axes[i]];
    if (!std::has_single_bit(static_cast<std::uint64_t>(inner))) return false;
    const double wanted = options_.piece_ns / (ns / static_cast<double>(extent));
    block = std::max<std::int64_t>(chunk / inner, 1);
    while (static_cast<double>(block) < wanted) block *= 2;
    return block < extent;
  }

  void cut() {
    for (const Statement& statement : kernel_.body) {
      std::int64_t block = 0;
      if (is_wide(statement, block)) {
        segments_.push_back({{&statement}, true, block});
        if (block == 0) continue;
        const Loop& loop = std::get<Loop>(statement.is);
        Segment combining{};
        combining.combines = &loop;
        combining.blocks = (kernel_.axes[loop.axes[0]] + block - 1) / block;
        combining.terms_of_block = block;
        for (std::size_t i = 1; i < loop.axes.size(); ++i)
          combining.terms_of_block *= kernel_.axes[loop.axes[i]];
        segments_.push_back(std::move(combining));
        continue;
      }
      // Results of blocks are combined without vectors, and so is what stands beside them.
      const bool fits =
          !segments_.empty() && !segments_.back().is_wide &&
          (segments_.back().combines == nullptr || !std::holds_alternative<Loop>(statement.is));
      if (!fits) segments_.emplace_back();
      segments_.back().statements.push_back(&statement);
    }
  }

  // ---- what they share ----

  void find_definitions() {
    for (std::uint32_t s = 0; s < segments_.size(); ++s) {
      for (const Statement* statement : segments_[s].statements) {
        if (const auto* define = std::get_if<Define>(&statement->is)) {
          segment_of_[define->value] = s;
        } else if (const auto* loop = std::get_if<Loop>(&statement->is)) {
          // Those of a wide loop are there once they are combined.
          const std::uint32_t where = segments_[s].block > 0 ? s + 1 : s;
          for (const Reduction& reduction : loop->reductions) segment_of_[reduction.result] = where;
          for (const Carry& carry : loop->carries) segment_of_[carry.state] = where;
        }
      }
    }
  }

  void find_pure() {
    is_pure_.assign(kernel_.nodes.size(), false);
    for (Value value = 0; value < kernel_.nodes.size(); ++value) {
      const Node& node = kernel_.nodes[value];
      const bool is_fixed = node.kind != Node::Kind::axis && node.kind != Node::Kind::reduced &&
                            node.kind != Node::Kind::carried && node.kind != Node::Kind::block;
      const bool is_stale =
          node.kind == Node::Kind::load && is_written_[static_cast<std::size_t>(node.number)];
      is_pure_[value] = is_fixed && !is_stale &&
                        std::all_of(node.operands.begin(), node.operands.end(),
                                    [&](Value operand) { return is_pure_[operand]; });
    }
  }

  std::uint32_t temporary(Dtype dtype, std::int64_t elements) {
    result_.temporaries.push_back(dtype[{elements}]);
    return static_cast<std::uint32_t>(result_.temporaries.size() - 1);
  }

  /// Local buffers of which several segments know become temporaries.
  void share_locals() {
    std::vector<std::uint32_t> used_by(kernel_.buffers.size(), nowhere);
    for (std::uint32_t s = 0; s < segments_.size(); ++s) {
      const auto use = [&](std::size_t buffer) {
        if (!kernel_.buffers[buffer].is_local) return;
        if (used_by[buffer] == nowhere) used_by[buffer] = s;
        if (used_by[buffer] != s && !shared_locals_.contains(buffer)) {
          shared_locals_[buffer] =
              temporary(kernel_.buffers[buffer].dtype, kernel_.buffers[buffer].elements);
        }
      };
      Excerpt excerpt(kernel_);
      for (const Statement* statement : segments_[s].statements)
        excerpt.body().push_back(*statement);
      for (const Value value : excerpt.needed(definitions_outside(s))) {
        const Node& node = kernel_.nodes[value];
        if (node.kind == Node::Kind::load) use(static_cast<std::size_t>(node.number));
      }
      for_each_store(excerpt.body(), [&](const Store& store) { use(store.buffer); });
    }
  }

  /// Values that other segments compute, but for pure ones.
  std::vector<bool> definitions_outside(std::size_t s) const {
    std::vector<bool> outside(kernel_.nodes.size());
    for (Value value = 0; value < outside.size(); ++value)
      outside[value] = segment_of_[value] != nowhere && segment_of_[value] != s && !is_pure_[value];
    return outside;
  }

  // ---- kernels ----

  std::uint32_t place(Excerpt& excerpt, std::map<std::uint32_t, std::uint32_t>& temporaries,
                      std::uint32_t number, bool is_written) {
    const auto [found, is_new] = temporaries.try_emplace(number);
    if (is_new) {
      const TensorType& type = result_.temporaries[number];
      found->second = excerpt.add(Buffer{.dtype = type.dtype,
                                         .elements = type.size(),
                                         .is_read = !is_written,
                                         .is_written = is_written,
                                         .label = "between" + std::to_string(number)});
    }
    return found->second;
  }

  void make(std::size_t s) {
    Segment& segment = segments_[s];
    Excerpt excerpt(kernel_);
    std::map<std::uint32_t, std::uint32_t> temporaries;
    Block own;
    for (const Statement* statement : segment.statements) own.push_back(*statement);
    if (segment.block > 0) store_partials(s, excerpt, temporaries, own);
    Block combined;
    if (segment.combines != nullptr) combine_partials(s, excerpt, temporaries, combined);
    for (const auto& [value, number] : segment.stored) {
      const std::uint32_t to = place(excerpt, temporaries, number, true);
      own.push_back({Store{to, excerpt.position(0), value}});
    }
    excerpt.body() = own;
    const std::vector<bool> outside = definitions_outside(s);
    Block before;
    for (const Value value : excerpt.needed(outside)) {
      if (value >= kernel_.nodes.size()) continue;
      const bool is_here = segment_of_[value] == s || segment_of_[value] == nowhere;
      if (is_here) continue;
      if (outside[value]) {
        if (!crossing_[value]) {
          crossing_[value] = temporary(kernel_.nodes[value].dtype, 1);
          segments_[segment_of_[value]].stored.push_back({value, *crossing_[value]});
        }
        const std::uint32_t from = place(excerpt, temporaries, *crossing_[value], false);
        excerpt.replace(value, Node{.kind = Node::Kind::load,
                                    .dtype = kernel_.nodes[value].dtype,
                                    .operands = {excerpt.position(0)},
                                    .number = from,
                                    .step = kernel_.nodes[value].step});
      }
      before.emplace_back().is = Define{value};
    }
    excerpt.body() = std::move(before);
    excerpt.body().insert(excerpt.body().end(), combined.begin(), combined.end());
    excerpt.body().insert(excerpt.body().end(), own.begin(), own.end());
    finish(segment, excerpt, temporaries);
  }

  void finish(const Segment& segment, Excerpt& excerpt,
              const std::map<std::uint32_t, std::uint32_t>& temporaries) {
    bool has_effects = false;
    for (const Statement& statement : excerpt.body())
      has_effects = has_effects || !std::holds_alternative<Define>(statement.is);
    if (!has_effects) return;
    for (const auto& [buffer, number] : shared_locals_) {
      // Written in parts by one segment after the other, so never to be taken for fresh.
      excerpt.buffer(static_cast<std::uint32_t>(buffer)).is_local = false;
    }
    keep_earlier_writes(segment, excerpt);
    Excerpt::Result done = excerpt.finish("", segment.combines == nullptr);
    done.kernel.is_splittable = segment.is_wide;
    done.kernel.block = segment.block;
    std::map<std::uint32_t, std::uint32_t> number_of;
    for (const auto& [number, buffer] : temporaries) number_of[buffer] = number;
    for (const auto& [buffer, number] : shared_locals_)
      number_of[static_cast<std::uint32_t>(buffer)] = number;
    for (std::uint32_t& argument : done.arguments) {
      if (const auto found = number_of.find(argument); found != number_of.end())
        argument = result_.argument_count + found->second;
    }
    result_.phases.push_back({std::move(done.kernel), std::move(done.arguments)});
  }

  /// What an earlier segment has written, and this one writes in other places, must live between
  /// them: this one reads it, as far as the plan of memory knows.
  void keep_earlier_writes(const Segment& segment, Excerpt& excerpt) const {
    std::vector<bool> before(kernel_.buffers.size(), false);
    for (const Segment& other : segments_) {
      if (&other == &segment) break;
      for (const Statement* statement : other.statements) {
        const Block block{*statement};
        for_each_store(block, [&](const Store& store) { before[store.buffer] = true; });
      }
    }
    for (std::uint32_t b = 0; b < before.size(); ++b) {
      Buffer& buffer = excerpt.buffer(b);
      const bool combines_there = kernel_.buffers[b].is_read && kernel_.buffers[b].is_written;
      buffer.is_read = before[b] || combines_there;
    }
  }

  /// Totals of 16-bit floats stay in f32 until all are one.
  static Dtype partial_dtype(Dtype dtype) {
    return dtype.is_float() && dtype.size() == 2 ? f32 : dtype;
  }

  /// After the loop: each result at the place of its block. Of the place of an extreme the extreme
  /// too.
  void store_partials(std::size_t s, Excerpt& excerpt,
                      std::map<std::uint32_t, std::uint32_t>& temporaries, Block& statements) {
    auto& loop = std::get<Loop>(statements[0].is);
    std::vector<Reduction> reductions;
    for (const Reduction& reduction : loop.reductions) {
      const Node& term = excerpt.node(reduction.term);
      if (reduction.combine >= Combine::argmax) {
        const Value extreme = excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = term.dtype});
        reductions.push_back({reduction.combine, reduction.term,
                              excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = i64})});
        reductions.push_back({reduction.combine == Combine::argmax ? Combine::max : Combine::min,
                              reduction.term, extreme});
      } else if (partial_dtype(term.dtype) != term.dtype) {
        const Value wide = excerpt.add(Node{.kind = Node::Kind::convert,
                                            .dtype = f32,
                                            .operands = {reduction.term},
                                            .step = term.step});
        loop.body.push_back({Define{wide}});
        reductions.push_back({reduction.combine, wide,
                              excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = f32})});
      } else {
        reductions.push_back({reduction.combine, reduction.term,
                              excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = term.dtype})});
      }
    }
    loop.reductions = reductions;
    const Value block = excerpt.add(Node{.kind = Node::Kind::block, .dtype = i64});
    statements.push_back({Define{block}});
    for (std::size_t i = 0; i < reductions.size(); ++i) {
      const std::uint32_t to = place(excerpt, temporaries, segments_[s + 1].partials[i], true);
      statements.push_back({Store{to, block, reductions[i].result}});
    }
  }

  /// One loop over the blocks.
  void combine_partials(std::size_t s, Excerpt& excerpt,
                        std::map<std::uint32_t, std::uint32_t>& temporaries, Block& statements) {
    Segment& segment = segments_[s];
    const Axis axis = excerpt.add_axis(segment.blocks);
    const Value block = excerpt.add(Node{.kind = Node::Kind::axis, .dtype = i64, .number = axis});
    Loop loop;
    loop.axes.push_back(axis);
    Block after;
    const auto partial = [&](Dtype dtype) {
      segment.partials.push_back(temporary(dtype, segment.blocks));
      return place(excerpt, temporaries, segment.partials.back(), false);
    };
    const auto load = [&](std::uint32_t buffer, Dtype dtype, Value index) {
      return excerpt.add(
          Node{.kind = Node::Kind::load, .dtype = dtype, .operands = {index}, .number = buffer});
    };
    for (const Reduction& reduction : segment.combines->reductions) {
      const Dtype dtype = kernel_.nodes[reduction.term].dtype;
      const Value result = reduction.result;
      if (reduction.combine >= Combine::argmax) {
        const std::uint32_t places = partial(i64);
        const Value term = load(partial(dtype), dtype, block);
        const Value first = excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = i64});
        loop.body.push_back({Define{term}});
        loop.reductions.push_back({reduction.combine, term, first});
        const Value place = load(places, i64, first);
        const Value start = excerpt.add(Node{.kind = Node::Kind::index_scale,
                                             .dtype = i64,
                                             .operands = {first},
                                             .number = segment.terms_of_block});
        excerpt.replace(result, Node{.kind = Node::Kind::index_add,
                                     .dtype = i64,
                                     .operands = {start, place},
                                     .step = kernel_.nodes[result].step});
        after.push_back({Define{place}});
        after.push_back({Define{start}});
        after.push_back({Define{result}});
        continue;
      }
      const Dtype wide = partial_dtype(dtype);
      const Value term = load(partial(wide), wide, block);
      loop.body.push_back({Define{term}});
      if (wide == dtype) {
        loop.reductions.push_back({reduction.combine, term, result, true});
        continue;
      }
      const Value total = excerpt.add(Node{.kind = Node::Kind::reduced, .dtype = wide});
      loop.reductions.push_back({reduction.combine, term, total, true});
      excerpt.replace(result, Node{.kind = Node::Kind::convert,
                                   .dtype = dtype,
                                   .operands = {total},
                                   .step = kernel_.nodes[result].step});
      after.push_back({Define{result}});
    }
    statements.push_back({std::move(loop)});
    statements.insert(statements.end(), after.begin(), after.end());
  }

  void name() {
    for (std::size_t i = 0; i < result_.phases.size(); ++i)
      result_.phases[i].kernel.name = kernel_.name + "." + std::to_string(i);
  }

  const Kernel& kernel_;
  const SharingOptions& options_;
  Phases result_;
  std::vector<Segment> segments_;
  /// Where a value is computed outside all loops but these.
  std::vector<std::uint32_t> segment_of_;
  std::vector<bool> is_pure_;
  /// The temporary through which a value goes.
  std::vector<std::optional<std::uint32_t>> crossing_;
  std::vector<bool> is_written_;
  std::map<std::size_t, std::uint32_t> shared_locals_;
};

}  // namespace

Phases split_into_phases(const Kernel& kernel, const SharingOptions& options) {
  if (kernel.is_splittable || estimated_ns(kernel) < options.least_ns) return {};
  return Splitting(kernel, options).run();
}

}  // namespace hom::nest
