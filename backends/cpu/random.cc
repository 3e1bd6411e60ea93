// backends/cpu/random.cc -- `random_bits`: element i of a key depends on the key and on i alone
#include <algorithm>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/threefry.h>

namespace hom::cpu {
namespace {

/// Elements first … first + n − 1, whose numbers share the high word.
template <class T>
void fill_block(T* to, std::uint64_t first, std::uint32_t n, scalar::TwoWords key) {
  const auto low = static_cast<std::uint32_t>(first);
  const auto high = static_cast<std::uint32_t>(first >> 32);
#pragma omp simd
  for (std::uint32_t i = 0; i < n; ++i) {
    const scalar::TwoWords bits = scalar::threefry2x32({low + i, high}, key);
    if constexpr (sizeof(T) == 8) {
      to[i] = bits.first | std::uint64_t{bits.second} << 32;
    } else {
      to[i] = static_cast<T>(bits.first);
    }
  }
}

template <class T>
void fill_bits(std::byte* bytes, std::int64_t n, scalar::TwoWords key) {
  T* to = reinterpret_cast<T*>(bytes);
  constexpr std::int64_t block = 1 << 20;  // a divisor of 2^32
  for (std::int64_t first = 0; first < n; first += block) {
    const auto count = static_cast<std::uint32_t>(std::min(block, n - first));
    fill_block(to + first, static_cast<std::uint64_t>(first), count, key);
  }
}

TensorList random_bits_kernel(const Invocation& step, TensorList operands) {
  const std::shared_ptr<Array> keys = row_major_copy(array_of(operands[0]));
  const TensorType& type = step.result_types[0];
  auto result = Array::allocate(type);
  if (type.size() == 0) return list_of(std::move(result));
  const auto fill_one = type.dtype == u8    ? fill_bits<std::uint8_t>
                        : type.dtype == u32 ? fill_bits<std::uint32_t>
                                            : fill_bits<std::uint64_t>;
  const std::int64_t size = element_count(step.attributes.shape("shape"));
  const std::uint32_t* words = keys->data<std::uint32_t>();
  std::byte* to = first_byte(*result);
  for (std::int64_t done = 0; done < type.size(); done += size) {
    fill_one(to, size, {words[0], words[1]});
    words += 2;
    to += size * static_cast<std::int64_t>(type.dtype.size());
  }
  return list_of(std::move(result));
}

}  // namespace

void add_random_kernels(KernelTable& table) { table.add("random_bits", random_bits_kernel); }

}  // namespace hom::cpu
