// backends/cpu/routines/convolution_routine.cc -- products of windows, or a product prepared for
// each phase of a convolution
#include <hom/backends/cpu/routines/convolution_routine.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include <hom/backends/cpu/convolver.h>
#include <hom/backends/cpu/routines/product_kinds.h>
#include <hom/backends/cpu/routines/window_convolver.h>

namespace hom::cpu {
namespace {

ConvolutionSizes sizes_of(const Invocation& step, const TensorType& x, const TensorType& kernel) {
  const std::int64_t groups = step.attributes.integer("groups");
  return {x.shape[0], groups, x.shape.back() / groups, step.result_types[0].shape.back() / groups,
          convolution_axes(step.attributes, x.shape, kernel.shape)};
}

template <class T, class Stored>
class ConvolutionRoutine final : public nest::Routine {
  static constexpr bool has_windows = std::is_floating_point_v<T> && std::is_same_v<T, Stored>;

 public:
  ConvolutionRoutine(const Invocation& step, const TensorType& x, const TensorType& kernel)
      : type_(step.result_types[0]) {
    const double results = static_cast<double>(type_.size());
    work_.bytes_read = static_cast<double>(x.size() + kernel.size()) * sizeof(Stored);
    work_.bytes_written = results * sizeof(Stored);
    // With nothing in x or in the kernel, results are empty sums, or all padding.
    if (type_.size() == 0 || x.size() == 0 || kernel.size() == 0) return;
    const ConvolutionSizes sizes = sizes_of(step, x, kernel);
    work_.flops = 2 * results * static_cast<double>(sizes.places() * sizes.in);
    if constexpr (has_windows) {
      windows_ = WindowConvolver<T>::for_sizes(sizes);
      if (windows_) return;
    }
    convolver_.emplace(sizes);
    products_.resize(convolver_->phase_count());
    for (std::size_t i = 0; i < products_.size(); ++i) {
      if (!convolver_->has_products(i)) continue;
      const std::int64_t terms = convolver_->product_terms(i);
      products_[i].emplace(MatrixView<T>{nullptr, convolver_->product_rows(i), terms, terms, 1},
                           MatrixView<T>{nullptr, terms, sizes.out, sizes.y_channels(), 1});
      product_scratch_ = std::max(product_scratch_, products_[i]->scratch_bytes());
    }
    product_scratch_ = (product_scratch_ + 63) / 64 * 64;
  }

  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           std::byte* scratch) const override {
    if constexpr (has_windows) {
      if (windows_) {
        return windows_->run(reinterpret_cast<const T*>(operands[0]),
                             reinterpret_cast<const T*>(operands[1]),
                             reinterpret_cast<T*>(results[0]), scratch);
      }
    }
    if (!convolver_) {
      if (type_.size() > 0)
        std::memset(results[0], 0, static_cast<std::size_t>(type_.size()) * sizeof(Stored));
      return;
    }
    const BufferReuse reuse;
    convolver_->run(
        reinterpret_cast<const Stored*>(operands[0]), reinterpret_cast<const Stored*>(operands[1]),
        reinterpret_cast<Stored*>(results[0]), reinterpret_cast<T*>(scratch + product_scratch_),
        [&](std::size_t phase, const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
          products_[phase]->multiply(a, b, c, scratch);
        });
  }

  std::int64_t scratch_bytes() const override {
    if constexpr (has_windows) {
      if (windows_) return windows_->scratch_bytes();
    }
    if (!convolver_) return 0;
    return product_scratch_ + convolver_->scratch_elements() * static_cast<std::int64_t>(sizeof(T));
  }
  std::string describe() const override {
    if constexpr (has_windows) {
      if (windows_) return "conv_general by Hom";
    }
    const auto product = std::find_if(products_.begin(), products_.end(),
                                      [](const auto& one) { return one.has_value(); });
    return "conv_general by " + (product == products_.end() ? "Hom" : (*product)->name());
  }
  nest::Work work() const override { return work_; }

 private:
  const TensorType type_;
  /// Instead of the convolver, where there may be one.
  std::conditional_t<has_windows, std::optional<WindowConvolver<T>>, std::nullopt_t> windows_{
      std::nullopt};
  /// None where nothing is added.
  std::optional<Convolver<T, Stored>> convolver_;
  /// Of each phase that is products.
  std::vector<std::optional<ProductOf<T, Stored>>> products_;
  std::int64_t product_scratch_ = 0;
  nest::Work work_;
};

}  // namespace

std::shared_ptr<const nest::Routine> convolution_routine(const Invocation& step,
                                                         std::span<const nest::Layout> operands) {
  return visit_products(operands[0].type.dtype, step, [&]<class T, class Stored>() {
    return std::shared_ptr<const nest::Routine>(
        std::make_shared<ConvolutionRoutine<T, Stored>>(step, operands[0].type, operands[1].type));
  });
}

}  // namespace hom::cpu
