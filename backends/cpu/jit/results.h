// backends/cpu/jit/results.h -- arrays for the results of an executable, used again when nobody
// holds them any more
#pragma once

#include <memory>
#include <vector>

#include <hom/backends/cpu/spin_lock.h>
#include <hom/core/tensor.h>

namespace hom::cpu {

/// Arrays that were results of former runs. Thread-safe.
class ResultPool {
 public:
  /// One list of arrays for each of these results.
  explicit ResultPool(std::vector<TensorType> types);

  /// A row-major array for result number `result`, whose elements nobody else sees.
  std::shared_ptr<Array> take(std::size_t result);
  /// The array of `x` to hold result number `result`, if nobody but `x` and this pool holds it and
  /// its bytes are as many; otherwise null. `x` is to be row-major and aligned. Takes `x` away.
  std::shared_ptr<Array> donated(std::size_t result, Tensor& x);
  /// Frees the arrays that nobody else holds, and forgets the others.
  void clear();

 private:
  struct Result {
    TensorType type;
    std::int64_t bytes;
    /// At most `most`, the next to be replaced is number `oldest`.
    std::vector<std::shared_ptr<Array>> arrays;
    std::size_t most;
    std::size_t oldest = 0;
  };
  void keep(Result& result, const std::shared_ptr<Array>& array);

  SpinLock mutex_;
  std::vector<Result> results_;
};

}  // namespace hom::cpu
