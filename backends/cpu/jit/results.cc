// backends/cpu/jit/results.cc -- arrays for results, used again when nobody holds them any more
#include <hom/backends/cpu/jit/results.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace hom::cpu {
namespace {

/// Whether `owners` is all there are. Another thread may have dropped its share just now: its reads
/// come before our writes.
template <class A>
bool is_owned_by(const std::shared_ptr<A>& array, long owners) {
  if (array.use_count() != owners || array->buffer.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

std::int64_t bytes_of(const TensorType& type) {
  return type.size() * static_cast<std::int64_t>(type.dtype.size());
}

/// `x = f(x)` needs two arrays in turn, and small ones cost nothing to keep.
std::size_t most_arrays(const TensorType& type) {
  constexpr std::int64_t small = std::int64_t{64} << 10;
  return bytes_of(type) <= small ? 8 : 2;
}

}  // namespace

ResultPool::ResultPool(std::vector<TensorType> types) {
  for (TensorType& type : types) {
    const std::size_t most = most_arrays(type);
    const std::int64_t bytes = bytes_of(type);
    results_.push_back({std::move(type), bytes, {}, most});
  }
}

void ResultPool::keep(Result& result, const std::shared_ptr<Array>& array) {
  if (result.arrays.size() < result.most) {
    result.arrays.push_back(array);
  } else {
    result.arrays[result.oldest] = array;
    result.oldest = (result.oldest + 1) % result.most;
  }
}

std::shared_ptr<Array> ResultPool::take(std::size_t number) {
  Result& result = results_[number];
  {
    const std::scoped_lock lock(mutex_);
    for (const std::shared_ptr<Array>& array : result.arrays) {
      if (is_owned_by(array, 1)) return array;
    }
  }
  std::shared_ptr<Array> array = Array::allocate(result.type);
  const std::scoped_lock lock(mutex_);
  keep(result, array);
  return array;
}

std::shared_ptr<Array> ResultPool::donated(std::size_t number, Tensor& x) {
  const std::scoped_lock lock(mutex_);
  Result& result = results_[number];
  const std::shared_ptr<const Array>& given = x.array_pointer();
  const auto kept = std::find(result.arrays.begin(), result.arrays.end(), given);
  const bool is_kept = kept != result.arrays.end();
  if (!is_owned_by(given, is_kept ? 2 : 1)) return nullptr;
  const bool is_same_type = given->type == result.type;
  if (!is_same_type && bytes_of(given->type) != result.bytes) return nullptr;
  // Views of a larger buffer keep their place in it only where elements have one size.
  if (given->offset != 0 && given->type.dtype.size() != result.type.dtype.size()) return nullptr;
  // Arrays are const only to those who share them.
  std::shared_ptr<Array> array = std::const_pointer_cast<Array>(given);
  x = Tensor();
  if (!is_same_type) {
    array->strides = row_major_strides(result.type.shape);
    array->type = result.type;
  }
  if (!is_kept && static_cast<std::int64_t>(array->buffer->bytes()) == result.bytes)
    keep(result, array);
  return array;
}

void ResultPool::clear() {
  // What is freed is freed without the lock.
  std::vector<std::shared_ptr<Array>> gone;
  const std::scoped_lock lock(mutex_);
  for (Result& result : results_) {
    gone.insert(gone.end(), result.arrays.begin(), result.arrays.end());
    result.arrays.clear();
    result.oldest = 0;
  }
}

}  // namespace hom::cpu
