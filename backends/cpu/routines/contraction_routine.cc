// backends/cpu/routines/contraction_routine.cc -- copies where they must be, then one product for
// each index of the batch
#include <hom/backends/cpu/routines/contraction_routine.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include <hom/backends/cpu/loops.h>
#include <hom/backends/cpu/routines/product_axes.h>
#include <hom/backends/cpu/routines/product_kinds.h>
#include <hom/backends/cpu/sharing.h>
#include <hom/backends/cpu/thread_pool.h>
#include <hom/backends/cpu/threads.h>

namespace hom::cpu {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Computes in `T` on elements stored as `Stored`.
template <class T, class Stored>
class ContractionRoutine final : public nest::Routine {
  static constexpr bool is_widened = sizeof(T) != sizeof(Stored);
  static constexpr bool is_free_order = std::is_floating_point_v<T> && !is_widened;

 public:
  ContractionRoutine(const Invocation& step, const nest::Layout& a, const nest::Layout& b)
      : type_(step.result_types[0]),
        axes_(product_axes(step.attributes, a, b, is_widened)),
        bytes_read_((static_cast<double>(a.type.size()) + static_cast<double>(b.type.size())) *
                    sizeof(Stored)) {
    if (type_.size() == 0 || axes_.k == 0) return;
    product_.emplace(left(nullptr, axes_.m), right(nullptr));
    copies_a_ = copies_of(axes_.a);
    copies_b_ = copies_of(axes_.b);
    product_scratch_ = aligned(product_->scratch_bytes());
    a_scratch_ = axes_.a.is_copied ? aligned(axes_.a.copied_elements() * size) : 0;
    b_scratch_ = axes_.b.is_copied ? aligned(axes_.b.copied_elements() * size) : 0;
    result_scratch_ = is_widened ? aligned(type_.size() * size) : 0;
  }

  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           std::byte* scratch) const override {
    if (type_.size() == 0) return;
    if (axes_.k == 0) {  // an empty sum
      std::memset(results[0], 0, static_cast<std::size_t>(type_.size()) * sizeof(Stored));
      return;
    }
    const BufferReuse reuse;
    std::byte* rest = scratch + product_scratch_;
    const T* a = operand(axes_.a, operands[0], copies_a_, rest);
    const T* b = operand(axes_.b, operands[1], copies_b_, rest + a_scratch_);
    if constexpr (is_widened) {
      T* wide = reinterpret_cast<T*>(rest + a_scratch_ + b_scratch_);
      multiply_in_parts(a, b, wide, scratch);
      Stored* to = reinterpret_cast<Stored*>(results[0]);
      for (std::int64_t i = 0; i < type_.size(); ++i) to[i] = static_cast<Stored>(wide[i]);
    } else {
      multiply_in_parts(a, b, reinterpret_cast<T*>(results[0]), scratch);
    }
  }

  std::int64_t scratch_bytes() const override {
    return product_scratch_ + a_scratch_ + b_scratch_ + result_scratch_;
  }

  bool has_rows() const override {
    return is_free_order && product_ && !axes_.a.is_copied && !axes_.b.is_copied &&
           type_.rank() > 0 && type_.shape.back() == axes_.n;
  }
  void run_rows(std::span<const std::byte* const> operands, std::byte* result, std::byte* scratch,
                std::int64_t low, std::int64_t high) const override {
    if (!has_rows()) return Routine::run_rows(operands, result, scratch, low, high);
    const BufferReuse reuse;
    multiply(reinterpret_cast<const T*>(operands[0]), reinterpret_cast<const T*>(operands[1]),
             reinterpret_cast<T*>(result), scratch, low, high);
  }
  std::int64_t panel() const override {
    constexpr std::int64_t panel_bytes = 128 << 10;
    const std::int64_t rows = panel_bytes / std::max<std::int64_t>(axes_.n * size, 1);
    return std::max(rows / tile_rows * tile_rows, least_panel());
  }

  bool has_free_rows() const override { return has_rows() && product_->has_rows(); }

  std::optional<Slices> slices() const override {
    if (!has_rows()) return std::nullopt;
    if (!axes_.batch.empty()) {
      return Slices{axes_.batch_size(),
                    axes_.m,
                    1,
                    {axes_.a.batch_slice(axes_.batch, axes_.m, axes_.k),
                     axes_.b.batch_slice(axes_.batch, axes_.k, axes_.n)}};
    }
    if (!has_free_rows()) return std::nullopt;
    const bool has_dense_rows =
        axes_.a.column_stride > 0 && (axes_.k - 1) * axes_.a.column_stride < axes_.a.row_stride;
    return Slices{axes_.m, 1, least_panel(), {has_dense_rows ? axes_.a.row_stride : 0, 0}};
  }

  std::string describe() const override {
    return "dot_general by " + (product_ ? product_->name() : "Hom");
  }
  nest::Work work() const override {
    const double results = static_cast<double>(type_.size());
    return {2 * results * static_cast<double>(axes_.k), bytes_read_, results * sizeof(Stored)};
  }

 private:
  static constexpr std::int64_t size = sizeof(T);
  /// A multiple of the heights of all tiles.
  static constexpr std::int64_t tile_rows = 48;

  /// By measurement on results of up to 1024² (tests/benchmarks/contractions.cc): panels cost the
  /// product nothing while b stays in the second-level cache, else about 2 % from this height on,
  /// since parts of b are copied anew for each.
  std::int64_t least_panel() const {
    const bool b_is_large = axes_.k * axes_.n * size > (320 << 10);
    return b_is_large ? 4 * tile_rows : tile_rows;
  }

  static AxisList<2> copies_of(const ProductAxes::Side& side) {
    if (!side.is_copied) return {};
    const Shape dense = row_major_strides(side.shape);
    AxisList<2> axes = merge_axes<2>(side.shape, {&dense, &side.strides});
    prefer_long_rows(axes);
    return axes;
  }

  /// The elements that the product reads: where they are, or copied.
  static const T* operand(const ProductAxes::Side& side, const std::byte* from,
                          const AxisList<2>& axes, std::byte* to) {
    if (!side.is_copied) return reinterpret_cast<const T*>(from);
    const auto row = [](const Pointers<2>& at, const std::array<std::int64_t, 2>& strides,
                        std::int64_t n) {
      T* write = reinterpret_cast<T*>(at[0]);
      const Stored* read = reinterpret_cast<const Stored*>(at[1]);
      for (std::int64_t i = 0; i < n; ++i)
        write[i * strides[0]] = static_cast<T>(read[i * strides[1]]);
    };
    for_each_row(axes, {to, const_cast<std::byte*>(from)}, {size, sizeof(Stored)}, row);
    return reinterpret_cast<const T*>(to);
  }

  MatrixView<T> left(const T* data, std::int64_t rows) const {
    return {data, rows, axes_.k, axes_.a.row_stride, axes_.a.column_stride};
  }
  MatrixView<T> right(const T* data) const {
    return {data, axes_.k, axes_.n, axes_.b.row_stride, axes_.b.column_stride};
  }

  // ---- several threads ----

  /// Roughly, on one thread.
  double estimated_ns() const {
    const double operations = 2 * static_cast<double>(type_.size()) * static_cast<double>(axes_.k);
    return operations * size / 240;
  }

  /// How the result is cut. Bits do not depend on it, so it may depend on the number of threads.
  struct Parts {
    std::int64_t rows, columns;
  };
  Parts parts() const {
    const std::int64_t all_rows = axes_.batch_size() * axes_.m;
    const Parts whole{all_rows, axes_.n};
    const SharingLimits limits = sharing_limits();
    const double ns = estimated_ns();
    const int threads = is_in_chunk() ? 1 : hom::threads();
    if (threads == 1 || ns < limits.least_ns) return whole;
    // Enough for an even share although some threads come late, none too short.
    const auto most = static_cast<std::int64_t>(ns / limits.chunk_ns);
    const std::int64_t wanted =
        std::min<std::int64_t>(4 * threads, std::max<std::int64_t>(most, 2));
    const auto cut = [](std::int64_t extent, std::int64_t parts, std::int64_t unit) {
      const std::int64_t length = (extent + parts - 1) / parts;
      return std::min((length + unit - 1) / unit * unit, extent);
    };
    if (axes_.batch_size() > 1 && (axes_.batch_size() >= wanted || !product_->has_rows()))
      return {cut(axes_.batch_size(), wanted, 1) * axes_.m, axes_.n};
    if (!product_->has_rows()) return whole;
    // Columns first: each part copies only its own part of b.
    std::int64_t across = 1;
    if (product_->has_parts()) {
      const std::int64_t least = all_rows < 24 * wanted ? 64 : 256;
      across = std::clamp<std::int64_t>(axes_.n / least, 1, wanted);
    }
    const std::int64_t down = std::clamp<std::int64_t>((wanted + across - 1) / across, 1,
                                                       std::max<std::int64_t>(all_rows / 24, 1));
    return {cut(all_rows, down, 12), cut(axes_.n, across, 64)};
  }

  void multiply_in_parts(const T* a, const T* b, T* c, std::byte* scratch) const {
    const std::int64_t rows = axes_.batch_size() * axes_.m;
    const Parts part = parts();
    const std::int64_t across = (axes_.n + part.columns - 1) / part.columns;
    const std::int64_t down = (rows + part.rows - 1) / part.rows;
    if (across * down == 1) return multiply(a, b, c, scratch, 0, rows);
    parallel_for(across * down, [&](std::int64_t i) {
      std::byte* const own = chunk_scratch(product_scratch_);
      const std::int64_t low = i % down * part.rows, first = i / down * part.columns;
      multiply(a, b, c, own, low, std::min(low + part.rows, rows), first,
               std::min(part.columns, axes_.n - first));
    });
  }

  /// Rows [low, high) of the result, those of all products counted as one.
  void multiply(const T* a, const T* b, T* c, std::byte* scratch, std::int64_t low,
                std::int64_t high) const {
    multiply(a, b, c, scratch, low, high, 0, axes_.n);
  }
  /// The same for `columns` of them from `first` on.
  void multiply(const T* a, const T* b, T* c, std::byte* scratch, std::int64_t low,
                std::int64_t high, std::int64_t first_column, std::int64_t columns) const {
    while (low < high) {
      const std::int64_t index = axes_.batch.empty() ? 0 : low / axes_.m;
      const std::int64_t first = low - index * axes_.m;
      const std::int64_t rows = std::min(axes_.m - first, high - low);
      std::int64_t a_offset = first * axes_.a.row_stride, b_offset = 0, rest = index;
      for (std::size_t i = axes_.batch.size(); i-- > 0;) {
        const std::int64_t position = i > 0 ? rest % axes_.batch[i] : rest;
        a_offset += position * axes_.a.batch_strides[i];
        b_offset += position * axes_.b.batch_strides[i];
        if (i > 0) rest /= axes_.batch[i];
      }
      MatrixView<T> part_of_b = right(b + b_offset);
      if constexpr (is_free_order) {
        // Whole products that the last axis of the batch walks as one.
        if (const std::int64_t whole = (high - low) / std::max<std::int64_t>(axes_.m, 1);
            first == 0 && whole > 1 && !axes_.batch.empty() && columns == axes_.n) {
          const std::int64_t last = axes_.batch.back();
          const BatchSteps steps{std::min(whole, last - index % last), axes_.a.batch_strides.back(),
                                 axes_.b.batch_strides.back(), axes_.m * axes_.n};
          product_->multiply_batch(left(a + a_offset, axes_.m), part_of_b, c + low * axes_.n, steps,
                                   scratch);
          low += steps.count * axes_.m;
          continue;
        }
      }
      if (columns == axes_.n) {
        product_->multiply(left(a + a_offset, rows), part_of_b, c + low * axes_.n, scratch);
      } else {
        part_of_b.data += first_column * part_of_b.column_stride;
        part_of_b.columns = columns;
        product_->multiply_part(left(a + a_offset, rows), part_of_b,
                                c + low * axes_.n + first_column, axes_.n, scratch);
      }
      low += rows;
    }
  }

  const TensorType type_;
  ProductAxes axes_;
  /// None where there is nothing to add.
  std::optional<ProductOf<T, Stored>> product_;
  double bytes_read_;
  /// How operands are copied: to, from.
  AxisList<2> copies_a_, copies_b_;
  std::int64_t product_scratch_ = 0, a_scratch_ = 0, b_scratch_ = 0, result_scratch_ = 0;
};

}  // namespace

std::shared_ptr<const nest::Routine> contraction_routine(const Invocation& step,
                                                         std::span<const nest::Layout> operands) {
  return visit_products(operands[0].type.dtype, step, [&]<class T, class Stored>() {
    return std::shared_ptr<const nest::Routine>(
        std::make_shared<ContractionRoutine<T, Stored>>(step, operands[0], operands[1]));
  });
}

}  // namespace hom::cpu
