// backends/cpu/jit/x86_host.cc -- one jump for each function of the library
#include <hom/backends/cpu/jit/x86_host.h>

#include <mutex>
#include <unordered_map>

#include <asmjit/x86.h>

#include <hom/core/error.h>

namespace hom::cpu::x86 {

namespace {

class Entrances {
 public:
  void* of(void* function) {
    const std::lock_guard lock(mutex_);
    void*& made = made_[function];
    if (made == nullptr) {
      asmjit::CodeHolder code;
      code.init(runtime_.environment());
      asmjit::x86::Assembler to(&code);
      to.vzeroupper();
      to.mov(asmjit::x86::r11, asmjit::Imm(reinterpret_cast<std::uintptr_t>(function)));
      to.jmp(asmjit::x86::r11);
      ensure(runtime_.add(&made, &code) == asmjit::kErrorOk, "no memory for code");
    }
    return made;
  }

 private:
  std::mutex mutex_;
  asmjit::JitRuntime runtime_;
  std::unordered_map<void*, void*> made_;
};

}  // namespace

void* entrance(void* function) {
  static Entrances entrances;
  return entrances.of(function);
}

}  // namespace hom::cpu::x86
