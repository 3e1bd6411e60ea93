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

}  // namespace

KernelTable::KernelTable() : stamp_(next_stamp()) {}

Kernel KernelTable::find(std::string_view primitive) const {
  const auto found = kernels_.find(primitive);
  return found == kernels_.end() ? nullptr : found->second;
}

void KernelTable::add(std::string primitive, Kernel kernel) {
  const auto [entry, is_new] = kernels_.emplace(std::move(primitive), kernel);
  if (!is_new) throw Error("kernel table: `" + entry->first + "` has a CPU kernel already");
  stamp_ = next_stamp();
}

std::vector<std::string> KernelTable::names() const {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernels_) names.push_back(name);
  return names;
}

KernelTable& cpu_kernels() {
  static KernelTable table = [] {
    KernelTable kernels;
    cpu::add_unary_kernels(kernels);
    cpu::add_arithmetic_kernels(kernels);
    cpu::add_logic_kernels(kernels);
    cpu::add_conversion_kernels(kernels);
    cpu::add_view_kernels(kernels);
    cpu::add_data_movement_kernels(kernels);
    cpu::add_indexing_kernels(kernels);
    cpu::add_reduction_kernels(kernels);
    cpu::add_cumulative_kernels(kernels);
    cpu::add_contraction_kernels(kernels);
    cpu::add_random_kernels(kernels);
    return kernels;
  }();
  return table;
}

}  // namespace hom
