// backends/cpu/kernel.cc -- the kernel table
#include <hom/backends/cpu/kernel.h>

#include <atomic>

#include <hom/backends/cpu/registration.h>

namespace hom {
namespace {

std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

template <class Map>
auto found_in(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : found->second;
}

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> names;
  for (const auto& entry : map) names.push_back(entry.first);
  return names;
}

}  // namespace

KernelTable::KernelTable() : stamp_(next_stamp()) {}

Kernel KernelTable::find(std::string_view primitive) const { return found_in(kernels_, primitive); }

void KernelTable::add(std::string primitive, Kernel kernel) {
  const auto [entry, is_new] = kernels_.emplace(std::move(primitive), kernel);
  if (!is_new) throw Error("kernel table: `" + entry->first + "` has a CPU kernel already");
  stamp_ = next_stamp();
}

std::vector<std::string> KernelTable::names() const { return keys_of(kernels_); }

CompositeKernel KernelTable::find_composite(std::string_view name) const {
  return found_in(composites_, name);
}

void KernelTable::add_composite(std::string name, CompositeKernel kernel) {
  const auto [entry, is_new] = composites_.emplace(std::move(name), kernel);
  if (!is_new)
    throw Error("kernel table: composite `" + entry->first + "` has a CPU kernel already");
}

std::vector<std::string> KernelTable::composite_names() const { return keys_of(composites_); }

KernelTable& cpu_kernels() {
  static KernelTable table = [] {
    KernelTable kernels;
    cpu::add_function_kernels(kernels);
    cpu::add_conversion_kernels(kernels);
    cpu::add_view_kernels(kernels);
    cpu::add_data_movement_kernels(kernels);
    cpu::add_indexing_kernels(kernels);
    cpu::add_reduction_kernels(kernels);
    cpu::add_cumulative_kernels(kernels);
    cpu::add_reduce_window_kernels(kernels);
    cpu::add_sorting_kernels(kernels);
    cpu::add_contraction_kernels(kernels);
    cpu::add_convolution_kernels(kernels);
    cpu::add_linear_algebra_kernels(kernels);
    cpu::add_fft_kernels(kernels);
    cpu::add_random_kernels(kernels);
    return kernels;
  }();
  return table;
}

}  // namespace hom
