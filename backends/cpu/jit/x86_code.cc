// backends/cpu/jit/x86_code.cc -- kernels encoded, and kept in memory that can run
#include <hom/backends/cpu/jit/x86_code.h>

#include <optional>
#include <utility>
#include <vector>

#include <hom/backends/cpu/jit/emit_cpp.h>
#include <hom/backends/cpu/jit/x86_kernel.h>
#include <hom/backends/cpu/jit/x86_plan.h>
#include <hom/backends/nests/spelled_out.h>

namespace hom::cpu::x86 {

namespace {

/// What asmjit refuses ends the emission.
class Refusals final : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) override {
    throw Error("machine code: " + std::string(message));
  }
};

asmjit::JitRuntime& runtime() {
  // Never destroyed: code may run until the process ends.
  static auto* const instance = new asmjit::JitRuntime;
  return *instance;
}

/// Memory with code, freed with its last owner.
class Module {
 public:
  explicit Module(void* start) : start_(start) {}
  ~Module() { runtime().release(start_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  const std::byte* start() const { return static_cast<const std::byte*>(start_); }

 private:
  void* start_;
};

class X86Code final : public Code {
 public:
  X86Code(void* start, std::vector<KernelFunction> kernels, PlanFunction function,
          const nest::Plan& plan, Target target)
      : module_(start),
        kernels_(std::move(kernels)),
        function_(function),
        target_(std::move(target)) {
    text_plan_.kernels = plan.kernels;
    text_plan_.origins = plan.origins;
  }

  void launch(std::size_t kernel, std::byte* const* arguments, std::int64_t low, std::int64_t high,
              FailureRecord& record) const override {
    kernels_[kernel](arguments, low, high, &record);
  }
  PlanFunction plan() const override { return function_; }
  std::string describe() const override { return "machine code, " + target_.name; }
  std::string source(std::size_t kernel) const override {
    return emit_cpp_kernel(text_plan_, kernel, target_.vector_bytes);
  }

 private:
  Module module_;
  std::vector<KernelFunction> kernels_;
  PlanFunction function_;
  /// For `source`.
  nest::Plan text_plan_;
  Target target_;
};

}  // namespace

bool is_supported() {
#if defined(__x86_64__)
  const asmjit::CpuFeatures::X86& has = asmjit::CpuInfo::host().features().x86();
  return has.hasAVX2() && has.hasFMA() && has.hasBMI2() && has.hasF16C();
#else
  return false;
#endif
}

const Target& machine_target() {
  static const Target target{32, {}, "AVX2"};
  return target;
}

MachineCode machine_code(const nest::Plan& plan, const Target& target) {
  if (!is_supported()) return {nullptr, "this processor has no AVX2"};
  try {
    Refusals refusals;
    asmjit::CodeHolder holder;
    holder.init(runtime().environment());
    holder.setErrorHandler(&refusals);
    asmjit::x86::Compiler compiler(&holder);
    std::vector<Label> entries;
    std::int64_t failures = 0;
    for (const nest::Kernel& kernel : plan.kernels) {
      const nest::Kernel shortened = nest::spelled_out(kernel);
      KernelEmitter emitter(shortened, compiler, target.vector_bytes, failures);
      entries.push_back(emitter.emit()->label());
      failures += static_cast<std::int64_t>(kernel.failures.size());
    }
    compiler.finalize();
    holder.detach(&compiler);
    asmjit::x86::Assembler assembler(&holder);
    const Label function = emit_plan_function(plan, entries, assembler);
    void* start = nullptr;
    if (runtime().add(&start, &holder) != asmjit::kErrorOk)
      return {nullptr, "no memory for machine code"};
    const auto at = [&](const Label& label) {
      return static_cast<std::byte*>(start) + holder.labelOffset(label);
    };
    std::vector<KernelFunction> kernels;
    for (const Label& entry : entries)
      kernels.push_back(reinterpret_cast<KernelFunction>(at(entry)));
    return {std::make_shared<X86Code>(start, std::move(kernels),
                                      reinterpret_cast<PlanFunction>(at(function)), plan, target)};
  } catch (const Error& error) {
    return {nullptr, error.what()};
  }
}

std::string assembly(const nest::Kernel& kernel, int vector_bytes) {
  Refusals refusals;
  asmjit::CodeHolder holder;
  holder.init(asmjit::Environment(asmjit::Arch::kX64));
  holder.setErrorHandler(&refusals);
  asmjit::StringLogger text;
  holder.setLogger(&text);
  asmjit::x86::Compiler compiler(&holder);
  compiler.addDiagnosticOptions(asmjit::DiagnosticOptions::kValidateAssembler |
                                asmjit::DiagnosticOptions::kValidateIntermediate);
  const nest::Kernel shortened = nest::spelled_out(kernel);
  KernelEmitter(shortened, compiler, vector_bytes, 0).emit();
  compiler.finalize();
  return std::string(text.data(), text.dataSize());
}

}  // namespace hom::cpu::x86
