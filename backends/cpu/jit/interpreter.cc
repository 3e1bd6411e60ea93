// backends/cpu/jit/interpreter.cc -- kernels that are interpreted, as code
#include <hom/backends/cpu/jit/interpreter.h>

#include <new>

#include <hom/backends/cpu/jit/interpreter_code.h>

namespace hom::cpu {
namespace {

/// Memory of a thread, as large as any kernel needed so far.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch() { release(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* of(std::size_t bytes) {
    if (bytes > bytes_) {
      release();
      data_ = static_cast<std::byte*>(::operator new(bytes, alignment));
      bytes_ = bytes;
    }
    return data_;
  }

 private:
  static constexpr std::align_val_t alignment{64};

  void release() {
    if (data_ != nullptr) ::operator delete(data_, alignment);
    data_ = nullptr;
    bytes_ = 0;
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

class Interpreter : public Code {
 public:
  explicit Interpreter(std::span<const nest::Kernel> kernels) {
    std::int64_t failures = 0;
    for (const nest::Kernel& kernel : kernels) {
      verify(kernel);
      kernels_.push_back(prepare(kernel, failures));
      failures += static_cast<std::int64_t>(kernel.failures.size());
    }
  }

  void launch(std::size_t kernel, std::byte* const* arguments, std::int64_t low, std::int64_t high,
              FailureRecord& record) const override {
    thread_local Scratch scratch;
    const InterpretedKernel& code = kernels_[kernel];
    run(code, scratch.of(code.scratch_bytes), arguments, low, high, record);
  }

  std::string describe() const override { return "interpreter"; }

 private:
  std::vector<InterpretedKernel> kernels_;
};

}  // namespace

std::shared_ptr<const Code> interpret(std::span<const nest::Kernel> kernels) {
  return std::make_shared<Interpreter>(kernels);
}

}  // namespace hom::cpu
