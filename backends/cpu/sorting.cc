// backends/cpu/sorting.cc -- `sort`: the order of the keys along an axis, and what moves with them
#include <algorithm>
#include <bit>
#include <vector>

#include <hom/backends/cpu/copy.h>
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>
#include <hom/backends/cpu/slices.h>

namespace hom::cpu {
namespace {

/// An unsigned number in the order of the keys: NaN above everything, and −0 beside +0.
template <class T>
auto rank_of(T key) {
  if constexpr (std::same_as<T, bool>) {
    return static_cast<std::uint8_t>(key);
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    constexpr U sign = std::is_signed_v<T> ? U{1} << (sizeof(T) * 8 - 1) : U{0};
    return static_cast<U>(static_cast<U>(key) ^ sign);
  } else {
    const scalar::Compute<T> x = scalar::load(key);
    using U = std::conditional_t<sizeof(x) == 8, std::uint64_t, std::uint32_t>;
    constexpr U sign = U{1} << (sizeof(x) * 8 - 1);
    if (x != x) return ~U{0};
    const U bits = std::bit_cast<U>(x == 0 ? decltype(x){0} : x);
    return (bits & sign) != 0 ? ~bits : static_cast<U>(bits | sign);
  }
}

template <class U>
struct Ranked {
  U rank;
  std::int64_t place;

  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.place < b.place;
  }
};

/// Sorts by one byte after the other, the last first; each pass keeps the order of the one before.
template <class U>
void radix_sort(std::vector<Ranked<U>>& list, std::vector<Ranked<U>>& scratch) {
  scratch.resize(list.size());
  for (unsigned shift = 0; shift < sizeof(U) * 8; shift += 8) {
    std::array<std::size_t, 257> start{};
    const auto digit = [shift](U rank) { return static_cast<std::size_t>(rank >> shift & 0xff); };
    for (const Ranked<U>& entry : list) ++start[digit(entry.rank) + 1];
    if (start[digit(list[0].rank) + 1] == list.size()) continue;  // all alike
    for (std::size_t i = 0; i < 256; ++i) start[i + 1] += start[i];
    for (const Ranked<U>& entry : list) scratch[start[digit(entry.rank)]++] = entry;
    list.swap(scratch);
  }
}

/// Where each of 0 … n − 1 stands among the keys, if these are all of them: what sorts by
/// positions need no comparisons for.
template <class T>
bool find_places(const T* keys, std::int64_t stride, std::vector<std::int64_t>& places) {
  const auto n = static_cast<std::int64_t>(places.size());
  std::fill(places.begin(), places.end(), -1);
  for (std::int64_t i = 0; i < n; ++i) {
    const T key = keys[i * stride];
    if (key < 0 || key >= n || places[static_cast<std::size_t>(key)] >= 0) return false;
    places[static_cast<std::size_t>(key)] = i;
  }
  return true;
}

/// order[first + i·stride] is where element i of the sorted slice comes from.
using FindOrder = void (*)(const Slices& slices, bool descending, const std::byte* keys,
                           std::int64_t* order);

template <class T>
void find_order(const Slices& slices, bool descending, const std::byte* bytes,
                std::int64_t* order) {
  using U = decltype(rank_of(T{}));
  constexpr std::int64_t few = 256;
  const T* keys = reinterpret_cast<const T*>(bytes);
  std::vector<Ranked<U>> list(static_cast<std::size_t>(slices.extent));
  std::vector<Ranked<U>> scratch;
  std::vector<std::int64_t> places(std::same_as<T, std::int64_t> ? list.size() : 0);
  slices.for_each([&](std::int64_t first) {
    if constexpr (std::same_as<T, std::int64_t>) {
      if (find_places(keys + first, slices.stride, places)) {
        if (descending) std::reverse(places.begin(), places.end());
        for (std::int64_t i = 0; i < slices.extent; ++i) {
          order[first + i * slices.stride] =
              first + places[static_cast<std::size_t>(i)] * slices.stride;
        }
        return;
      }
    }
    for (std::int64_t i = 0; i < slices.extent; ++i) {
      const U rank = rank_of(keys[first + i * slices.stride]);
      list[static_cast<std::size_t>(i)] = {descending ? static_cast<U>(~rank) : rank, i};
    }
    if (slices.extent < few) {
      std::sort(list.begin(), list.end());
    } else {
      radix_sort(list, scratch);
    }
    for (std::int64_t i = 0; i < slices.extent; ++i) {
      order[first + i * slices.stride] =
          first + list[static_cast<std::size_t>(i)].place * slices.stride;
    }
  });
}

constexpr PerDtype<FindOrder> orders =
    per_dtype<FindOrder>([]<class T>() -> FindOrder { return &find_order<T>; });

std::shared_ptr<Array> reordered(const Array& x, const std::vector<std::int64_t>& order) {
  auto result = Array::allocate(x.type);
  visit_storage(x.type.dtype, [&]<class T>() {
    const T* from = reinterpret_cast<const T*>(first_byte(x));
    T* to = result->data<T>();
    for (std::size_t i = 0; i < order.size(); ++i) to[i] = from[order[i]];
  });
  return result;
}

TensorList sort_kernel(const Invocation& step, TensorList operands) {
  TensorList results;
  const TensorType& type = step.result_types[0];
  if (type.size() == 0) return operands;
  for (Tensor& operand : operands) {
    if (!array_of(operand).is_row_major()) operand = Tensor(row_major_copy(array_of(operand)));
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(type.size()));
  const FindOrder find = entry_for(orders, type.dtype, step);
  find(Slices(type.shape, step.attributes.count("axis")), step.attributes.boolean("descending"),
       first_byte(array_of(operands[0])), order.data());
  for (const Tensor& operand : operands)
    results.push_back(Tensor(reordered(array_of(operand), order)));
  return results;
}

}  // namespace

void add_sorting_kernels(KernelTable& table) { table.add("sort", sort_kernel); }

}  // namespace hom::cpu
