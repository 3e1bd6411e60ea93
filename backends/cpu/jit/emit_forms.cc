// backends/cpu/jit/emit_forms.cc -- which values are vectors, and how wide loops are
#include <hom/backends/cpu/jit/emit_forms.h>

#include <algorithm>

#include <hom/backends/nests/affine.h>
#include <hom/backends/nests/sums_apart.h>

namespace hom::cpu {

using nest::Combine;
using nest::Kernel;
using nest::Loop;
using nest::Node;
using nest::Value;

namespace {

/// Whether it makes no difference which of two iterations comes first.
bool may_be_reordered(const nest::Block& block) {
  return std::all_of(block.begin(), block.end(), [](const nest::Statement& statement) {
    if (const auto* loop = std::get_if<Loop>(&statement.is)) return may_be_reordered(loop->body);
    if (const auto* store = std::get_if<nest::Store>(&statement.is))
      return store->combine == Combine::set;
    if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is))
      return may_be_reordered(shortcut->quick) && may_be_reordered(shortcut->full);
    return std::holds_alternative<nest::Define>(statement.is);
  });
}

}  // namespace

bool is_ordered(const nest::Reduction& reduction, const nest::Kernel& kernel) {
  return kernel.nodes[reduction.term].dtype.is_float() && reduction.combine < Combine::argmax;
}

ValueForms::ValueForms(const Kernel& kernel) : kernel_(kernel) {
  if (kernel.vector_axis) {
    strides_ = nest::strides_along(kernel, *kernel.vector_axis);
  } else {
    strides_.assign(kernel.nodes.size(), 0);
  }
  // A mask is as wide as the widest of what it is computed from; loaded and reduced ones are bytes.
  mask_bytes_.assign(kernel.nodes.size(), 1);
  for (Value value = 0; value < kernel.nodes.size(); ++value) {
    const Node& what = node(value);
    if (what.kind != Node::Kind::apply && what.kind != Node::Kind::convert) continue;
    for (const Value operand : what.operands) {
      const Dtype of = dtype(operand);
      int bytes = static_cast<int>(computing(of).size());
      if (of.is_bool()) bytes = varies(operand) ? mask_bytes_[operand] : 1;
      mask_bytes_[value] = std::max(mask_bytes_[value], bytes);
    }
  }
}

int ValueForms::bytes_of(Value value) const {
  return dtype(value).is_bool() ? mask_bytes(value)
                                : static_cast<int>(computing(dtype(value)).size());
}

std::optional<std::int64_t> ValueForms::stride(Value value) const {
  if (is_vector(value)) return std::nullopt;
  return lanes_ > 1 ? strides_[value] : 0;
}

Dtype ValueForms::computing(Dtype dtype) {
  return dtype.is_float() && dtype.size() == 2 ? f32 : dtype;
}

// ---- loops ----

bool ValueForms::has_checks(const nest::Block& block) {
  return std::any_of(block.begin(), block.end(), [](const nest::Statement& statement) {
    const Loop* loop = std::get_if<Loop>(&statement.is);
    return loop != nullptr ? has_checks(loop->body)
                           : std::holds_alternative<nest::Check>(statement.is);
  });
}

std::int64_t ValueForms::iterations(const Loop& loop) const {
  std::int64_t count = 1;
  for (const nest::Axis axis : loop.axes) count *= extent(axis);
  return count;
}

bool ValueForms::is_worth_unrolling(const Loop& loop) const {
  const std::int64_t count = iterations(loop);
  const bool is_pairwise =
      std::any_of(loop.reductions.begin(), loop.reductions.end(),
                  [](const nest::Reduction& reduction) { return reduction.pairwise; });
  return !is_split(loop) && !is_pairwise &&
         (count == 1 || (count <= 16 && count * nest::weight_of(loop.body) <= 64));
}

bool ValueForms::wants_shorter_vectors(const Loop& loop) const {
  return loop.reductions.empty() && nest::weight_of(loop.body) >= nest::long_body;
}

bool ValueForms::adds_in_chunks(const Loop& loop, int lanes) const {
  // A body is spelled out eight times; in a long one adding is the least.
  constexpr std::int64_t longest_body = 12;
  constexpr std::int64_t chunk = 64;
  const std::int64_t terms = extent(loop.axes.back());
  if (loop.reductions.empty() || !loop.carries.empty() || loop.reverse) return false;
  if (iterations(loop) != terms || nest::weight_of(loop.body) > longest_body) return false;
  if (!may_be_reordered(loop.body)) return false;
  std::int64_t ordered = 0;
  for (const nest::Reduction& reduction : loop.reductions) {
    if (reduction.combine >= Combine::argmax || reduction.pairwise) return false;
    ordered += is_ordered(reduction, kernel_) ? 1 : 0;
  }
  if (ordered == 0) return false;
  // One by one, each reduction has eight accumulators.
  return lanes == 1 ? ordered <= 2 && terms >= 16 && !is_split(loop) : terms > chunk;
}

int ValueForms::lanes_for(const Loop& loop, int vector_bytes) const {
  if (lanes_ > 1 || kernel_.vector_axis != loop.axes.back() || !loop.carries.empty() ||
      loop.reverse)
    return 1;
  const std::int64_t positions = extent(loop.axes.back());
  int lanes = vector_bytes / widest(loop);
  const bool is_ordered_loop =
      std::any_of(loop.reductions.begin(), loop.reductions.end(),
                  [&](const nest::Reduction& reduction) { return is_ordered(reduction, kernel_); });
  if (is_ordered_loop) {
    lanes = std::min(lanes, 8);
    // Rows that do not fill the eight lanes would meet inside a vector.
    if (iterations(loop) != positions && positions % 8 != 0) return 1;
  } else if (!loop.reductions.empty() && iterations(loop) != positions && positions % lanes != 0) {
    return 1;
  }
  while (lanes > positions) lanes /= 2;
  return lanes;
}

int ValueForms::widest(const Loop& loop) const {
  int bytes = widest(loop.body);
  const auto use = [&](Value value) {
    if (varies(value)) bytes = std::max(bytes, bytes_of(value));
  };
  for (const nest::Reduction& reduction : loop.reductions) {
    // Accumulators are vectors, whatever the term.
    bytes = std::max(bytes, bytes_of(reduction.term));
    use(reduction.result);
  }
  for (const nest::Carry& carry : loop.carries) use(carry.state);
  return bytes;
}

int ValueForms::widest(const nest::Block& block) const {
  int bytes = 1;
  const auto use = [&](Value value) {
    if (varies(value)) bytes = std::max(bytes, bytes_of(value));
  };
  for (const nest::Statement& statement : block) {
    if (const auto* define = std::get_if<nest::Define>(&statement.is)) {
      // Strided indices are numbers until something computes with them.
      if (!varies(define->value) || is_strided(define->value)) continue;
      use(define->value);
      const Node& node = kernel_.nodes[define->value];
      const bool is_load = node.kind == Node::Kind::load;
      for (std::size_t i = is_load ? 1 : 0; i < node.operands.size(); ++i) use(node.operands[i]);
    } else if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      // A number is stored in all lanes, too.
      if (varies(store->index) || varies(store->value) || (store->when && varies(*store->when)))
        bytes = std::max(bytes, bytes_of(store->value));
    } else if (const auto* loop = std::get_if<Loop>(&statement.is)) {
      bytes = std::max(bytes, widest(*loop));
    } else if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is)) {
      // The other blocks compute the same in the same dtypes.
      bytes = std::max(bytes, widest(shortcut->full));
    }
  }
  return bytes;
}

}  // namespace hom::cpu
