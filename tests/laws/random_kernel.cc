// tests/laws/random_kernel.cc -- statements and loops of random kernels
#include <hom/tests/laws/random_kernel.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <hom/backends/nests/nest_functions.h>
#include <hom/tests/laws/random_kernel_drawing.h>

namespace hom::laws {

using nest::Block;
using nest::Combine;
using nest::Function;
using nest::Kernel;
using nest::Loop;
using nest::Node;

KernelDrawing::KernelDrawing(Choices& choices, const KernelWish& wish)
    : choices_(choices), wish_(wish) {}

Dtype KernelDrawing::dtype() {
  return choices_.one_in(8) ? choices_.among(all_dtypes) : choices_.among(palette_);
}

std::int64_t KernelDrawing::iterations() const {
  std::int64_t product = 1;
  for (const Axis axis : open_) product *= kernel_.axes[axis];
  return product;
}

bool KernelDrawing::is_vector_open() const {
  return kernel_.vector_axis &&
         std::find(open_.begin(), open_.end(), *kernel_.vector_axis) != open_.end();
}

/// One that a store of this dtype can have.
Combine KernelDrawing::combination(Dtype dtype) {
  while (true) {
    const auto combine = static_cast<Combine>(choices_.between(1, 6));
    if (nest::takes(combine, dtype)) return combine;
  }
}

// ---- loops ----

/// Of two axes, and without an order of its iterations.
static bool may_have_tiles(const Loop& loop) {
  if (loop.axes.size() != 2 || !loop.reductions.empty() || !loop.carries.empty() || loop.reverse)
    return false;
  return std::all_of(loop.body.begin(), loop.body.end(), [](const nest::Statement& statement) {
    const auto* store = std::get_if<nest::Store>(&statement.is);
    return std::holds_alternative<nest::Define>(statement.is) ||
           (store != nullptr && store->combine == Combine::set);
  });
}

template <class Fill>
void KernelDrawing::inside(Loop loop, Fill&& fill) {
  Block body;
  Block* const outer = std::exchange(block_, &body);
  const std::size_t known = scope_.size();
  open_.insert(open_.end(), loop.axes.begin(), loop.axes.end());
  for (const nest::Carry& carry : loop.carries) learn(carry.state);
  fill(loop);
  open_.resize(open_.size() - loop.axes.size());
  for (; scope_.size() > known; scope_.pop_back()) known_[scope_.back()] = false;
  block_ = outer;
  loop.body = std::move(body);
  if (may_have_tiles(loop) && !choices_.one_in(4)) {
    constexpr std::int64_t heights[] = {1, 2, 5, 8, 16, 33};
    loop.tile = {choices_.among(heights), choices_.one_in(2) ? 64 : 128};
  }
  for (const nest::Carry& carry : loop.carries) learn(carry.state);
  for (const nest::Reduction& reduction : loop.reductions) learn(reduction.result);
  block_->push_back({std::move(loop)});
}

/// Up to this many axes that are not open, the vectorised one last.
std::vector<nest::Axis> KernelDrawing::free_axes(std::size_t most) {
  std::vector<Axis> axes;
  for (Axis axis = 0; axis < kernel_.axes.size(); ++axis) {
    if (std::find(open_.begin(), open_.end(), axis) == open_.end()) axes.push_back(axis);
  }
  while (axes.size() > most || (axes.size() > 1 && choices_.one_in(3)))
    axes.erase(axes.begin() + choices_.below(static_cast<std::int64_t>(axes.size())));
  if (choices_.one_in(2)) std::reverse(axes.begin(), axes.end());
  if (kernel_.vector_axis) {
    const auto vector = std::find(axes.begin(), axes.end(), *kernel_.vector_axis);
    if (vector != axes.end()) std::rotate(vector, vector + 1, axes.end());
  }
  return axes;
}

void KernelDrawing::draw_loop(int depth) {
  const std::vector<Axis> axes = free_axes(static_cast<std::size_t>(choices_.between(1, 3)));
  if (!axes.empty()) draw_loop(axes, depth, false);
}

void KernelDrawing::draw_loop(const std::vector<Axis>& axes, int depth, bool is_plain) {
  Loop loop{.axes = {axes.begin(), axes.end()}, .body = {}};
  const bool is_vectorised = kernel_.vector_axis == axes.back();
  if (!is_plain && !is_vectorised) {
    for (std::int64_t n = choices_.one_in(2) ? choices_.between(1, 3) : 0; n > 0; --n) {
      const Dtype dtype = !loop.carries.empty() && choices_.one_in(2)
                              ? kernel_.nodes[loop.carries[0].state].dtype
                              : this->dtype();
      const Value initial = value(dtype, 1);
      loop.carries.push_back(
          {add({Node::Kind::carried, {}, dtype, {}, loop_values_++}), initial, initial});
    }
    loop.reverse = choices_.one_in(4);
  }
  const bool reduces = !is_plain && !loop.reverse && (is_vector_open() || choices_.one_in(2));
  std::vector<Value> results;
  for (const nest::Carry& carry : loop.carries) results.push_back(carry.state);
  inside(std::move(loop), [&](Loop& loop) {
    draw_block(depth + 1);
    if (is_vectorised && choices_.one_in(2)) draw_loop(depth + 1);
    for (nest::Carry& carry : loop.carries) {
      const Dtype dtype = kernel_.nodes[carry.state].dtype;
      const nest::Carry& other = choices_.among(loop.carries);
      if (choices_.one_in(3) && kernel_.nodes[other.state].dtype == dtype) {
        carry.next = other.state;
      } else if (choices_.one_in(5)) {
        carry.next = value(dtype, 2);
      } else {
        const Value term = value(dtype, 1);
        const Function function = dtype.is_bool()      ? Function::xor_
                                  : choices_.one_in(2) ? Function::add
                                                       : Function::max;
        carry.next = apply(function, dtype, {carry.state, term});
      }
    }
    if (reduces) {
      for (std::int64_t n = choices_.between(1, 3); n > 0; --n)
        if (const auto reduction = draw_reduction()) loop.reductions.push_back(*reduction);
    }
    for (const nest::Reduction& reduction : loop.reductions) results.push_back(reduction.result);
  });
  for (const Value result : results) {
    if (!choices_.one_in(4))
      store(add_buffer(kernel_.nodes[result].dtype, {}), injective(), result);
  }
}

std::optional<nest::Reduction> KernelDrawing::draw_reduction() {
  const Dtype dtype = this->dtype();
  const auto combine = static_cast<Combine>(choices_.between(1, 8));
  if (!nest::takes(combine, dtype)) return std::nullopt;
  const Value term = value(dtype, 2);
  const Dtype result = combine >= Combine::argmax ? i64 : dtype;
  return nest::Reduction{combine, term, add({Node::Kind::reduced, {}, result, {}, loop_values_++})};
}

// ---- statements ----

void KernelDrawing::store(std::uint32_t buffer, const Index& index, Value value, Combine combine) {
  reach(buffer, index.largest);
  kernel_.buffers[buffer].is_written = true;
  if (combine != Combine::set) kernel_.buffers[buffer].is_read = true;
  block_->emplace_back().is = nest::Store{buffer, index.value, value, combine, index.when};
}

void KernelDrawing::draw_store() {
  const Dtype dtype = this->dtype();
  const Value what = value(dtype, 3);
  Index index = injective();
  if (choices_.one_in(5)) index.when = value(bool_, 1);
  store(add_buffer(dtype, {}), index, what);
}

void KernelDrawing::draw_combining_store() {
  Dtype dtype = this->dtype();
  // In a loop inside the vectorised one, iterations come in another order when several are done at
  // once: only what rounds nothing may meet there.
  const bool in_order = !is_vector_open() || open_.back() == *kernel_.vector_axis;
  if (!in_order && dtype.is_float()) dtype = i32;
  const Value what = value(dtype, 2);
  const Index index = choices_.one_in(2) ? selected() : anywhere();
  const Combine combine =
      dtype.is_bool() && in_order && choices_.one_in(4) ? Combine::or_ : combination(dtype);
  store(add_buffer(dtype, {}), index, what, combine);
}

/// y[i] = f(y[i])
void KernelDrawing::draw_update() {
  const Dtype dtype = this->dtype();
  const std::uint32_t buffer = add_buffer(dtype, {});
  kernel_.buffers[buffer].is_written = true;  // nothing else reads it
  const Index index = injective();
  const Value old = load(buffer, index);
  const Value other = value(dtype, 1);
  store(buffer, index,
        apply(dtype.is_bool() ? Function::xor_ : Function::sub, dtype, {old, other}));
}

void KernelDrawing::draw_check() {
  const auto failure = static_cast<std::uint32_t>(kernel_.failures.size());
  kernel_.failures.push_back({failure, 0});
  Value ok = value(bool_, 2);
  const Value offending = choices_.one_in(2) ? value(i64, 1) : anywhere().value;
  if (choices_.one_in(2)) {  // seldom wrong
    const Value rare = apply(Function::ne, bool_,
                             {anywhere().value, index_constant(choices_.below(2 * iterations()))});
    ok = apply(Function::or_, bool_, {ok, rare});
  }
  block_->emplace_back().is = nest::Check{ok, offending, failure};
}

/// One loop writes what the next one reads, perhaps the other way round.
void KernelDrawing::draw_stage() {
  const std::vector<Axis> axes = free_axes(2);
  if (axes.empty()) return;
  const bool is_local = !is_vector_open() && choices_.one_in(2);
  const Dtype dtype = this->dtype();
  const std::uint32_t buffer = add_buffer(dtype, {});
  kernel_.buffers[buffer].is_local = is_local;
  kernel_.buffers[buffer].is_written = true;
  std::vector<Step> steps;
  std::int64_t size = 1;
  const auto step = [&](Axis axis) {
    steps.push_back({axis, size});
    size *= kernel_.axes[axis];
  };
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) step(*axis);
  if (!is_local) {
    for (const Axis axis : open_) step(axis);
  }
  const Loop loop{.axes = {axes.begin(), axes.end()}, .body = {}};
  // The offsets that `affine` draws would differ.
  const auto place = [&](bool reversed) {
    std::optional<Value> sum;
    for (const Step& step : steps) {
      Value term = axis(step.axis);
      if (step.stride != 1) term = placed({Node::Kind::index_scale, {}, i64, {term}, step.stride});
      sum = sum ? placed({Node::Kind::index_add, {}, i64, {*sum, term}}) : term;
    }
    if (reversed) {
      const Value back = placed({Node::Kind::index_scale, {}, i64, {axis(axes.back())}, -2});
      sum = placed({Node::Kind::index_add, {}, i64, {*sum, back}});
      sum = placed(
          {Node::Kind::index_add, {}, i64, {*sum, index_constant(kernel_.axes[axes.back()] - 1)}});
    }
    return Index{*sum, size - 1};
  };
  inside(loop, [&](Loop&) { store(buffer, place(false), value(dtype, 2)); });
  if (choices_.one_in(2)) draw_statement(9);
  inside(loop, [&](Loop& second) {
    load(buffer, place(choices_.one_in(2)));
    draw_store();
    if (choices_.one_in(2)) {
      if (const auto reduction = draw_reduction()) second.reductions.push_back(*reduction);
    }
  });
}

/// A small local buffer at constant indices.
void KernelDrawing::draw_unrolled() {
  if (is_vector_open()) return;
  const Dtype dtype = this->dtype();
  const std::uint32_t buffer = add_buffer(dtype, {});
  kernel_.buffers[buffer].is_local = true;
  kernel_.buffers[buffer].is_written = true;
  const std::int64_t extent = choices_.between(1, 4);
  for (std::int64_t i = 0; i < extent; ++i)
    store(buffer, {index_constant(i), extent - 1}, value(dtype, 1));
  for (std::int64_t i = extent; i-- > 0;) load(buffer, {index_constant(i), extent - 1});
}

void KernelDrawing::draw_statement(int depth) {
  const std::int64_t kind = choices_.below(16);
  if (kind < 6 && depth < 3) {
    draw_loop(depth);
  } else if (kind == 6 && depth < 3) {
    draw_stage();
  } else if (kind == 7) {
    draw_unrolled();
  } else if (kind == 8) {
    draw_check();
  } else if (kind < 11) {
    draw_combining_store();
  } else if (kind == 11) {
    draw_update();
  } else if (kind == 12) {
    value(dtype(), 3);
  } else {
    draw_store();
  }
}

void KernelDrawing::draw_block(int depth) {
  for (std::int64_t n = choices_.between(1, depth == 0 ? 4 : 2); n > 0; --n) draw_statement(depth);
  if (choices_.one_in(3)) draw_store();
}

// ---- the whole ----

/// Renumbers buffers: local ones come last.
void KernelDrawing::arguments_first() {
  std::vector<std::uint32_t> order;
  for (const bool is_local : {false, true}) {
    for (std::uint32_t i = 0; i < kernel_.buffers.size(); ++i) {
      if (kernel_.buffers[i].is_local == is_local) order.push_back(i);
    }
  }
  std::vector<std::uint32_t> number(order.size());
  std::vector<nest::Buffer> buffers;
  std::vector<Content> contents;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    number[order[i]] = i;
    buffers.push_back(kernel_.buffers[order[i]]);
    contents.push_back(contents_[order[i]]);
  }
  kernel_.buffers = std::move(buffers);
  contents_ = std::move(contents);
  for (Node& node : kernel_.nodes) {
    if (node.kind == Node::Kind::load) node.number = number[static_cast<std::size_t>(node.number)];
  }
  const auto renumber = [&](const auto& self, Block& block) -> void {
    for (nest::Statement& statement : block) {
      if (auto* store = std::get_if<nest::Store>(&statement.is)) {
        store->buffer = number[store->buffer];
      } else if (auto* loop = std::get_if<Loop>(&statement.is)) {
        self(self, loop->body);
      }
    }
  };
  renumber(renumber, kernel_.body);
}

std::vector<std::byte> KernelDrawing::content_of(std::size_t buffer) {
  const nest::Buffer& is = kernel_.buffers[buffer];
  const Content& content = contents_[buffer];
  std::vector<std::byte> bytes(static_cast<std::size_t>(is.elements) * is.dtype.size());
  if (content.positions < 0) {
    const Domain domain = choices_.one_in(2) ? Domain::wild : Domain::tame;
    const Tensor x = random_tensor(is.dtype[{is.elements}], domain, choices_);
    std::memcpy(bytes.data(), x.array().buffer->data(), bytes.size());
    return bytes;
  }
  visit(is.dtype, [&]<class T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      for (std::int64_t i = 0; i < is.elements; ++i) {
        const std::int64_t margin = content.is_inside ? 0 : 2;
        std::int64_t position =
            choices_.between(std::is_signed_v<T> ? -margin : 0, content.positions - 1 + margin);
        if (sizeof(T) == 8 && !content.is_inside && choices_.one_in(9)) position = 1LL << 40;
        const T element = static_cast<T>(position);
        std::memcpy(bytes.data() + i * static_cast<std::int64_t>(sizeof(T)), &element, sizeof(T));
      }
    }
  });
  return bytes;
}

/// Where the body is one loop with reductions, perhaps a kernel in blocks: each stores its results.
/// Where no loop is along a vector axis, results may be those of blocks.
void KernelDrawing::choose_blocks() {
  const auto pairwise = [&](const auto& self, nest::Block& block) -> void {
    for (nest::Statement& statement : block) {
      auto* const loop = std::get_if<Loop>(&statement.is);
      if (loop == nullptr) continue;
      self(self, loop->body);
      for (nest::Reduction& reduction : loop->reductions)
        reduction.pairwise = reduction.combine < nest::Combine::argmax && choices_.one_in(2);
    }
  };
  if (!kernel_.vector_axis && choices_.one_in(2)) pairwise(pairwise, kernel_.body);
  Loop* found = nullptr;
  for (nest::Statement& statement : kernel_.body) {
    auto* const loop = std::get_if<Loop>(&statement.is);
    if (loop == nullptr) continue;
    if (found != nullptr) return;
    found = loop;
  }
  if (found == nullptr || found->reductions.empty() || !found->carries.empty() || found->reverse ||
      !choices_.one_in(2))
    return;
  std::int64_t inner = 1;
  for (std::size_t i = 1; i < found->axes.size(); ++i) inner *= kernel_.axes[found->axes[i]];
  if (!std::has_single_bit(static_cast<std::uint64_t>(inner))) return;
  kernel_.is_splittable = true;
  kernel_.block = std::max<std::int64_t>(64 / inner, 1) << choices_.below(2);
  for (nest::Statement& statement : found->body) {
    // What blocks store alike would be stored by the last of them alone.
    if (std::holds_alternative<nest::Store>(statement.is)) return;
  }
  const std::int64_t extent = kernel_.axes[found->axes[0]];
  const std::int64_t blocks = (extent + kernel_.block - 1) / kernel_.block;
  const Value block = add({Node::Kind::block, {}, i64, {}});
  kernel_.body.emplace_back().is = nest::Define{block};
  for (const nest::Reduction& reduction : std::vector(found->reductions)) {
    const Dtype dtype = kernel_.nodes[reduction.result].dtype;
    const std::uint32_t buffer = add_buffer(dtype, {});
    kernel_.buffers[buffer].is_written = true;
    reach(buffer, blocks - 1);
    kernel_.body.emplace_back().is = nest::Store{buffer, block, reduction.result};
  }
}

KernelCase KernelDrawing::draw() {
  kernel_.name = "random";
  for (std::int64_t n = choices_.between(1, 3); n > 0; --n)
    palette_.push_back(choices_.among(all_dtypes));
  constexpr std::int64_t extents[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 65, 130};
  std::int64_t product = 1;
  for (std::int64_t n = choices_.between(1, 4); n > 0; --n) {
    std::int64_t extent = choices_.among(extents);
    if (choices_.one_in(12)) extent = choices_.between(500, 1500);
    if (product * extent > wish_.iterations) extent = choices_.between(1, 3);
    kernel_.axes.push_back(extent);
    product *= extent;
  }
  if (!choices_.one_in(3)) {
    kernel_.vector_axis =
        static_cast<Axis>(choices_.below(static_cast<std::int64_t>(kernel_.axes.size())));
  }
  block_ = &kernel_.body;
  if (choices_.one_in(3)) {
    draw_loop(free_axes(3), 0, true);
  } else {
    draw_block(0);
    draw_store();
  }
  choose_blocks();
  arguments_first();
  if (const Loop* loop = kernel_.body.size() == 1 && kernel_.block == 0
                             ? std::get_if<Loop>(&kernel_.body[0].is)
                             : nullptr)
    kernel_.is_splittable = loop->reductions.empty() && loop->carries.empty() && !loop->reverse;
  KernelCase result{kernel_, {}};
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    if (!kernel_.buffers[i].is_local) result.arguments.push_back(content_of(i));
  }
  return result;
}

KernelCase random_kernel(Choices& choices, const KernelWish& wish) {
  return KernelDrawing(choices, wish).draw();
}

}  // namespace hom::laws
