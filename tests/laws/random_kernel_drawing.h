// tests/laws/random_kernel_drawing.h -- a random kernel while it is drawn
#pragma once

#include <optional>
#include <vector>

#include <hom/tests/laws/random_kernel.h>

namespace hom::laws {

class KernelDrawing {
 public:
  KernelDrawing(Choices& choices, const KernelWish& wish);

  KernelCase draw();

 private:
  using Value = nest::Value;
  using Axis = nest::Axis;

  /// What a buffer holds at first.
  struct Content {
    /// Positions from a little below 0 to a little above this, or anything if negative.
    std::int64_t positions = -1;
    /// No position is out of range.
    bool is_inside = false;
  };

  /// An index and the largest that it may be; with a condition where it may be out of range.
  struct Index {
    Value value;
    std::int64_t largest;
    std::optional<Value> when = {};
  };

  struct Step {
    Axis axis;
    std::int64_t stride;
  };

  // In random_kernel_values.cc:

  /// Equal nodes are one.
  Value add(nest::Node node);
  bool is_known(Value value) const;
  void learn(Value value);
  /// Computed at the end of the current block, unless it is known there.
  Value placed(nest::Node node);
  Value apply(nest::Function function, Dtype dtype, SmallVector<Value, 3> operands,
              std::int64_t number = 0);

  Value constant(Dtype dtype);
  Value index_constant(std::int64_t number);
  Value axis(Axis axis);
  /// Any value of this dtype: one that is known, or a new one.
  Value value(Dtype dtype, int depth);
  std::optional<Value> known_value(Dtype dtype);
  Value function_value(Dtype dtype, int depth);
  Value index_value();
  Value converted(Dtype dtype, int depth);

  std::uint32_t add_buffer(Dtype dtype, Content content);
  Value load(std::uint32_t buffer, const Index& index);
  Value load(Dtype dtype);
  /// Σ stride·axis + offset, so that 0 is the smallest.
  Index affine(const std::vector<Step>& steps);
  Index affine_with_quotients();
  /// Of all open axes.
  Index injective();
  /// In no order, perhaps the same for several iterations.
  Index anywhere();
  /// By a position that is read from a buffer.
  Index selected();
  /// A load or store at this index stays within the buffer.
  void reach(std::uint32_t buffer, std::int64_t largest);

  // In random_kernel.cc:

  void draw_block(int depth);
  void draw_statement(int depth);
  void draw_loop(int depth);
  void draw_loop(const std::vector<Axis>& axes, int depth, bool is_plain);
  std::vector<Axis> free_axes(std::size_t most);
  std::optional<nest::Reduction> draw_reduction();
  void draw_store();
  void draw_combining_store();
  void draw_update();
  void draw_check();
  void draw_stage();
  void draw_unrolled();
  void store(std::uint32_t buffer, const Index& index, Value value,
             nest::Combine combine = nest::Combine::set);
  /// Runs `fill` for the body of a new loop in the current block.
  template <class Fill>
  void inside(nest::Loop loop, Fill&& fill);

  Dtype dtype();
  std::int64_t iterations() const;
  bool is_vector_open() const;
  nest::Combine combination(Dtype dtype);
  void choose_blocks();
  void arguments_first();
  std::vector<std::byte> content_of(std::size_t buffer);

  Choices& choices_;
  KernelWish wish_;
  nest::Kernel kernel_;
  std::vector<Content> contents_;
  std::vector<Dtype> palette_;
  std::vector<bool> known_;
  /// In the order in which they became known.
  std::vector<Value> scope_;
  std::vector<Axis> open_;
  nest::Block* block_ = nullptr;
  std::int64_t loop_values_ = 0;
};

}  // namespace hom::laws
