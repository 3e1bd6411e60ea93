// backends/cpu/jit/emit_forms.h -- how emitters hold the values of a kernel, and how they run loops
//
// In a vectorised loop, values that do not depend on the vector axis stay numbers, and so do
// indices that move with it by a constant stride: they are held for the first lane. All others are
// vectors, a bool as a mask of 0 and -1 as wide as what it is made of. A 16-bit float is held as
// its bits, and computed in f32. Emitters share these choices, and with them the order of effects.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::cpu {

/// Whether the result depends on the order of its terms.
bool is_ordered(const nest::Reduction& reduction, const nest::Kernel& kernel);

class ValueForms {
 public:
  explicit ValueForms(const nest::Kernel& kernel);

  /// Lanes of the loop that is being emitted; 1 outside vectorised ones.
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }

  /// Whether a value is held as a vector now.
  bool is_vector(nest::Value value) const {
    return lanes_ > 1 && varies(value) && !is_strided(value);
  }
  /// What is added from lane to lane; nothing for vectors.
  std::optional<std::int64_t> stride(nest::Value value) const;
  /// Whether the value depends on the vector axis at all.
  bool varies(nest::Value value) const { return strides_[value] != 0; }
  /// Whether it is an index that is held as the number of the first lane.
  bool is_strided(nest::Value value) const {
    return strides_[value] && (dtype(value) == i64 || dtype(value) == i32);
  }
  /// Bytes of a lane where it is a vector.
  int bytes_of(nest::Value value) const;
  /// Bytes a lane of a bool that is held as a mask.
  int mask_bytes(nest::Value value) const { return mask_bytes_[value]; }
  /// The dtype that elements of `dtype` are computed in: f32 for the 16-bit floats.
  static Dtype computing(Dtype dtype);

  // ---- loops ----

  std::int64_t extent(nest::Axis axis) const { return kernel_.axes[axis]; }
  std::int64_t iterations(const nest::Loop& loop) const;
  bool is_split(const nest::Loop& loop) const { return &loop == nest::split_loop(kernel_); }
  /// Whether every iteration is spelled out.
  bool is_worth_unrolling(const nest::Loop& loop) const;
  /// How many iterations along its last axis are done at once, with vectors of so many bytes; 1
  /// where the loop is none of vectors.
  int lanes_for(const nest::Loop& loop, int vector_bytes) const;
  static bool has_checks(const nest::Block& block);
  /// Whether a loop adds the terms of its reductions chunk by chunk (ordered_sum.h), with `lanes`
  /// positions at once: eight bodies follow each other, and what they add to stays in registers.
  bool adds_in_chunks(const nest::Loop& loop, int lanes) const;
  /// Whether what whole vectors leave of a loop is worth halves of them, quarters …
  bool wants_shorter_vectors(const nest::Loop& loop) const;

 protected:
  const nest::Node& node(nest::Value value) const { return kernel_.nodes[value]; }
  Dtype dtype(nest::Value value) const { return node(value).dtype; }

  const nest::Kernel& kernel_;

 private:
  /// Bytes of the widest element among the vectors of a block, in a loop along the vector axis.
  int widest(const nest::Block& block) const;
  int widest(const nest::Loop& loop) const;

  std::vector<std::optional<std::int64_t>> strides_;
  std::vector<int> mask_bytes_;
  int lanes_ = 1;
};

}  // namespace hom::cpu
