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

/// Kernels of composites are found by name alone, so that a function of another meaning may have
/// taken it.
void require_types(const Invocation& step, const std::string& name, const TensorList& results) {
  bool same = results.size() == step.result_types.size();
  for (std::size_t i = 0; same && i < results.size(); ++i)
    same = results[i].array(step.at).type == step.result_types[i];
  require(same, step.at, [&] {
    std::string given, wanted;
    for (const Tensor& result : results)
      given += (given.empty() ? "" : ", ") + to_string(result.type());
    for (const TensorType& type : step.result_types)
      wanted += (wanted.empty() ? "" : ", ") + to_string(type);
    return Complaint{"composite `" + name + "`: its CPU kernel gives (" + given +
                         "), its decomposition (" + wanted + ")",
                     "a kernel returns nothing for operands that it does not know"};
  });
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

std::optional<TensorList> EagerExecutor::composite(const Invocation& step, TensorList& operands) {
  const std::string& name = step.attributes.string("name");
  const CompositeKernel kernel = kernels_.find_composite(name);
  if (kernel == nullptr) return std::nullopt;
  std::optional<TensorList> results = kernel(step, operands);
  if (results) require_types(step, name, *results);
  return results;
}

Executor& default_executor() {
  static EagerExecutor executor;
  return executor;
}

}  // namespace hom
