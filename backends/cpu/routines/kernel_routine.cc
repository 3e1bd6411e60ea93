// backends/cpu/routines/kernel_routine.cc -- windows on the operands, the kernel, copies of results
#include <hom/backends/cpu/routines/kernel_routine.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/kernel.h>

namespace hom::cpu {
namespace {

/// The operands of one run as tensors, made once for many runs.
struct Windows {
  std::vector<std::shared_ptr<Array>> arrays;
  TensorList tensors;
};

/// The bytes before the first element and from it on that elements lie in.
struct Reach {
  std::int64_t before = 0, after = 0;
};

Reach reach_of(const nest::Layout& layout) {
  Reach reach;
  if (layout.type.size() == 0) return reach;
  const auto size = static_cast<std::int64_t>(layout.type.dtype.size());
  reach.after = size;
  for (std::size_t i = 0; i < layout.strides.size(); ++i) {
    const std::int64_t steps = (layout.type.shape[i] - 1) * layout.strides[i] * size;
    (steps < 0 ? reach.before : reach.after) += std::abs(steps);
  }
  return reach;
}

class KernelRoutine final : public nest::Routine {
 public:
  KernelRoutine(const Invocation& step, Kernel kernel, std::span<const nest::Layout> operands)
      : primitive_(step.primitive),
        attributes_(step.attributes),
        result_types_(step.result_types.begin(), step.result_types.end()),
        at_(step.at),
        kernel_(kernel),
        operands_(operands.begin(), operands.end()) {
    for (const nest::Layout& layout : operands_) reaches_.push_back(reach_of(layout));
  }

  void run(std::span<const std::byte* const> operands, std::span<std::byte* const> results,
           std::byte*) const override {
    const BufferReuse reuse;
    const LocationScope line(at_);
    const Lease lease(*this, operands);
    const Invocation step{primitive_, attributes_, result_types_, at_};
    // The list is a copy, so that no kernel takes itself for the owner of its operands.
    const TensorList made = computed(step, lease.windows().tensors);
    require_types(made);
    for (std::size_t i = 0; i < made.size(); ++i) place(made[i].array(at_), results[i]);
  }

  std::string describe() const override {
    const bool is_composite = primitive_.name == "composite";
    return is_composite ? "composite `" + attributes_.string("name") + "`" : primitive_.name;
  }
  nest::Work work() const override;

 private:
  /// Windows for one run. What somebody keeps of them gets memory of its own at the end.
  class Lease {
   public:
    Lease(const KernelRoutine& routine, std::span<const std::byte* const> operands)
        : routine_(routine), windows_(routine.take_windows()) {
      for (std::size_t i = 0; i < operands.size(); ++i) {
        // Kernels read them only; arrays have no const form.
        windows_->arrays[i]->buffer->show(const_cast<std::byte*>(operands[i]) -
                                          routine.reaches_[i].before);
      }
    }
    ~Lease() {
      bool is_free = true;
      for (const std::shared_ptr<Array>& array : windows_->arrays) {
        // One owner here, one in the list of tensors.
        if (array.use_count() == 2 && array->buffer.use_count() == 1) continue;
        array->buffer->keep();
        is_free = false;
      }
      if (is_free) routine_.give_back(std::move(windows_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    const Windows& windows() const { return *windows_; }

   private:
    const KernelRoutine& routine_;
    std::unique_ptr<Windows> windows_;
  };

  std::unique_ptr<Windows> take_windows() const {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Windows> windows = std::move(free_.back());
        free_.pop_back();
        return windows;
      }
    }
    auto windows = std::make_unique<Windows>();
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Reach& reach = reaches_[i];
      auto array = std::make_shared<Array>();
      array->type = operands_[i].type;
      array->strides = operands_[i].strides;
      array->offset = reach.before / static_cast<std::int64_t>(array->type.dtype.size());
      array->buffer =
          std::make_shared<Buffer>(nullptr, static_cast<std::size_t>(reach.before + reach.after));
      windows->tensors.push_back(Tensor(array, at_));
      windows->arrays.push_back(std::move(array));
    }
    return windows;
  }
  void give_back(std::unique_ptr<Windows> windows) const {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(windows));
  }

  TensorList computed(const Invocation& step, TensorList operands) const {
    if (kernel_) return kernel_(step, std::move(operands));
    const ExecutorScope eager(default_executor());
    return primitive_.run(step, std::move(operands));
  }

  /// A kernel may be the user's.
  void require_types(const TensorList& made) const {
    bool same = made.size() == result_types_.size();
    for (std::size_t i = 0; same && i < made.size(); ++i)
      same = made[i].array(at_).type == result_types_[i];
    require(same, at_, [&] {
      std::string given, wanted;
      for (const Tensor& result : made)
        given += (given.empty() ? "" : ", ") + to_string(result.type());
      for (const TensorType& type : result_types_)
        wanted += (wanted.empty() ? "" : ", ") + to_string(type);
      return Complaint{primitive_.name + ": its CPU kernel gives (" + given +
                           "), its typing rule (" + wanted + ")",
                       "let the kernel return tensors of `step.result_types`"};
    });
  }

  static void place(const Array& from, std::byte* to) {
    if (from.type.size() == 0) return;
    if (from.is_row_major()) {
      std::memcpy(to, first_byte(from),
                  static_cast<std::size_t>(from.type.size()) * from.type.dtype.size());
    } else {
      copy_elements(from.type.dtype, from.type.shape, {to, row_major_strides(from.type.shape)},
                    region_of(from));
    }
  }

  const Primitive& primitive_;
  const Attributes attributes_;
  const std::vector<TensorType> result_types_;
  const Location at_;
  const Kernel kernel_;
  const std::vector<nest::Layout> operands_;
  std::vector<Reach> reaches_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Windows>> free_;
};

/// Operations of the usual algorithms: Golub and Van Loan, "Matrix Computations", for factors.
double operations(const std::string& name, const TensorType& x, double results) {
  const auto size = static_cast<double>(x.size());
  if (x.rank() >= 1 && name == "sort") {
    return size * std::log2(std::max<double>(2, static_cast<double>(x.shape.back())));
  }
  if (name == "fft") return 5 * results * std::log2(std::max(2.0, results));
  if (x.rank() < 2) return results;
  const auto rows = static_cast<double>(x.shape[x.shape.size() - 2]);
  const auto columns = static_cast<double>(x.shape.back());
  const double cubes = size * std::min(rows, columns);
  if (name == "cholesky") return cubes / 3;
  if (name == "lu" || name == "determinant") return 2 * cubes / 3;
  if (name == "qr") return 4 * cubes;
  if (name == "eigh") return 9 * cubes;
  if (name == "svd" || name == "pinv") return 22 * cubes;
  if (name == "triangular_solve") return results * rows;
  if (name == "lu_solve") return 2 * results * rows;
  return results;
}

nest::Work KernelRoutine::work() const {
  const auto bytes = [](const TensorType& type) {
    return static_cast<double>(type.size()) * static_cast<double>(type.dtype.size());
  };
  nest::Work work;
  double results = 0;
  for (const nest::Layout& operand : operands_) work.bytes_read += bytes(operand.type);
  for (const TensorType& type : result_types_) {
    work.bytes_written += bytes(type);
    results += static_cast<double>(type.size());
  }
  work.flops =
      operands_.empty() ? results : operations(primitive_.name, operands_[0].type, results);
  return work;
}

}  // namespace

std::shared_ptr<const nest::Routine> kernel_routine(const Invocation& step,
                                                    std::span<const nest::Layout> operands) {
  const Kernel kernel = step.primitive.run ? nullptr : cpu_kernels().find(step.primitive.name);
  require(step.primitive.run || kernel, step.at, [&] {
    return Complaint{step.primitive.name + ": the CPU compiler has no kernel for this primitive",
                     "add one to cpu_kernels() before compiling"};
  });
  return std::make_shared<KernelRoutine>(step, kernel, operands);
}

}  // namespace hom::cpu
