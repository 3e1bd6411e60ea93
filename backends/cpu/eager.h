// backends/cpu/eager.h -- the eager executor: each step is one call of a kernel
#pragma once

#include <hom/backends/cpu/kernel.h>

namespace hom {

/// Computes each step at once with the kernel of its primitive. Thread-safe as long as nobody
/// extends the table meanwhile. `default_executor()` is one of these on `cpu_kernels()`.
class EagerExecutor : public Executor {
 public:
  /// The table must outlive the executor.
  explicit EagerExecutor(const KernelTable& kernels = cpu_kernels()) : kernels_(kernels) {}

  /// Throws `Error` for a primitive without a kernel, naming it.
  TensorList execute(const Invocation& step, TensorList operands) override;
  /// Throws `Error` where a kernel gives results of other types than the decomposition does.
  std::optional<TensorList> composite(const Invocation& step, TensorList& operands) override;

 private:
  const KernelTable& kernels_;
};

}  // namespace hom
