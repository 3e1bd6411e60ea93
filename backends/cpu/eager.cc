// backends/cpu/eager.cc -- dispatch by primitive
#include <hom/backends/cpu/eager.h>

#include <array>

namespace hom {
namespace {

/// A look-up that was done before. The address of a primitive alone does not identify it, because
/// another may live there later; the name is compared too, which costs a few nanoseconds.
struct CachedLookup {
  const Primitive* primitive = nullptr;
  std::uint64_t stamp = 0;
  Kernel kernel = nullptr;
  std::string name = {};
};

CachedLookup& cache_line(const Primitive& primitive) {
  constexpr std::size_t lines = 256;
  thread_local std::array<CachedLookup, lines> cache;
  const auto address = reinterpret_cast<std::uintptr_t>(&primitive);
  return cache[(address >> 4 ^ address >> 12) % lines];
}

[[noreturn]] void fail_without_kernel(const Invocation& step) {
  fail(Complaint{step.primitive.name + ": the eager CPU executor has no kernel for this primitive",
                 "add one to a KernelTable and compute with an EagerExecutor on that table"},
       step.at);
}

}  // namespace

TensorList EagerExecutor::execute(const Invocation& step, TensorList operands) {
  CachedLookup& line = cache_line(step.primitive);
  if (line.primitive != &step.primitive || line.stamp != kernels_.stamp() ||
      line.name != step.primitive.name) [[unlikely]] {
    const Kernel kernel = kernels_.find(step.primitive.name);
    if (kernel == nullptr) fail_without_kernel(step);
    line = CachedLookup{&step.primitive, kernels_.stamp(), kernel, step.primitive.name};
  }
  return line.kernel(step, std::move(operands));
}

Executor& default_executor() {
  static EagerExecutor executor;
  return executor;
}

}  // namespace hom
