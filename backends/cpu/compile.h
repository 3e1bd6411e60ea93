// backends/cpu/compile.h -- functions as native programs: compile
//
//     auto step = compile([](Tensor x, Tensor y) { return cos(x + y * x); });
//     Tensor z = step(x, y);
//
// The first call captures the function, optimises its program, fuses it into loops, plans its
// memory and compiles the loops; later calls with arguments of the same types run what is there.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hom/backends/cpu/call_frame.h>
#include <hom/backends/cpu/compile_options.h>
#include <hom/core/function.h>

namespace hom {

namespace cpu {
class Executable;
}  // namespace cpu

/// A whole compiled program as a plain function: `call(context, inputs, outputs)`. Elements are
/// row-major. Each address is a multiple of 64, or of the largest power of 2 that is not above the
/// number of bytes there. Outputs overlap neither each other nor inputs. Threads may call at once.
/// Throws `Error` as the compiled program does.
struct RawFunction {
  using Pointer = void (*)(const void* context, const std::byte* const* inputs,
                           std::byte* const* outputs);
  Pointer call;
  /// Lives as long as a `CompiledProgram` that it was taken from.
  const void* context;
};

/// A program as one executable. Cheap to copy; copies are one executable. Threads may call it at
/// once.
class CompiledProgram {
 public:
  /// Results for inputs of the program's types. The memory of an input that is given away
  /// (`std::move`) and has no other owner may become a result's. Throws `Error` for inputs of other
  /// types, and, after the run, for an index out of range.
  std::vector<Tensor> operator()(std::vector<Tensor> inputs,
                                 const Location& at = Location::current()) const;

  /// The program as it was given, before it was optimised.
  const Program& program() const;
  /// Bytes that one run needs for temporaries: known before it runs.
  std::int64_t peak_bytes() const;
  /// `g++ 12.2, AVX2`, `interpreter`.
  std::string tier() const;
  RawFunction raw() const;
  /// Frees what is kept for further runs: temporaries, and results that nobody holds.
  void release() const;

  /// For the library.
  const cpu::Executable& executable() const;

 private:
  friend CompiledProgram compile_program(Program program, const CompileOptions& options);
  struct Content;
  explicit CompiledProgram(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
  std::shared_ptr<const Content> content_;
};

/// Compiles a program. Throws `Error` where a step has no code, or there is no compiler and
/// `Tier::native` is asked for.
CompiledProgram compile_program(Program program, const CompileOptions& options = {});

namespace detail {

/// The programs of a compiled function, by signature.
class CompileCache {
 public:
  struct Entry {
    std::vector<std::uint64_t> words;
    std::vector<StaticValue> statics;
    /// What `statics` point to.
    std::vector<std::shared_ptr<const void>> static_copies;
    CompiledProgram program;
    std::size_t output_count;
    /// The output with symbols for leaves, of the type that the signature's first word stands for.
    std::shared_ptr<const void> skeleton;
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  struct CapturedCall {
    Program program;
    std::shared_ptr<const void> skeleton;
  };

  CompileCache(CompileOptions options, const Location& at);

  /// The program for a signature, or null.
  EntryPtr find(const CallSignature& signature);
  /// Compiles it, unless another thread just did.
  EntryPtr compile(const CallSignature& signature, const std::function<CapturedCall()>& capture);
  /// The most recently called first.
  std::vector<CompiledProgram> programs() const;
  /// How often a program was compiled.
  std::size_t compilations() const;
  void clear();
  const CompileOptions& options() const { return options_; }

 private:
  /// After so many compilations, or when the cache overflows, one line on stderr says what keeps
  /// changing.
  static constexpr std::size_t thrashing = 16;

  EntryPtr find_locked(const CallSignature& signature);
  void hint(const Entry& before, const Entry& now) const;

  const CompileOptions options_;
  const Location at_;
  mutable std::mutex mutex_;
  /// One compilation at a time.
  std::mutex compiling_;
  /// The most recently called first.
  std::vector<EntryPtr> entries_;
  std::size_t compilations_ = 0;
  bool has_hinted_ = false;
};

/// Runs an entry on the leaves of a frame; results are the frame's outputs.
void run_entry(const CompileCache::Entry& entry, CallFrame& frame, const Location& at);

/// Its address stands for the C++ types of a call.
template <class... Args>
inline constexpr char signature_of = 0;

}  // namespace detail

/// A function object that is compiled when it is called: see `compile`.
template <class F>
class Compiled {
 public:
  Compiled(F f, CompileOptions options, const Location& at)
      : f_(std::move(f)),
        at_(at),
        cache_(std::make_shared<detail::CompileCache>(std::move(options), at)) {}

  /// The results of f. C++ numbers are tensors of rank 0. While another function is captured, or on
  /// its symbols, it is just f, recorded as one `call` step.
  template <class... Args>
  auto operator()(Args&&... args) const {
    constexpr bool has_values = !(std::same_as<std::remove_cvref_t<Args>, TensorType> || ...);
    static_assert(
        has_values,
        "hom: a compiled function is called with tensors; prepare(types...) takes types.");
    if constexpr (!has_values) {
      return;
    } else if constexpr (detail::is_capturable<F, std::remove_cvref_t<Args>...>()) {
      using Output = decltype(detail::tensors_in(f_(detail::tensors_in(args)...)));
      if (Capture::current() || (detail::has_symbol(args) || ...))
        return Output(named(name(), std::cref(f_), at_)(args...));
      detail::CallFrameScope scope;
      detail::CallFrame& frame = scope.frame();
      const auto entry = entry_of(frame.signature, args...);
      constexpr bool borrows =
          ((std::is_lvalue_reference_v<Args> || Arithmetic<std::remove_cvref_t<Args>>) && ...);
      (detail::take_leaves<borrows>(frame.leaves, std::forward<Args>(args)), ...);
      detail::run_entry(*entry, frame, at_);
      if constexpr (std::same_as<Output, Tensor>) {
        return std::move(frame.outputs[0]);
      } else {
        return Output(detail::with_moved_leaves(*static_cast<const Output*>(entry->skeleton.get()),
                                                frame.outputs));
      }
    }
  }

  /// Compiles for arguments of these types: tensors and numbers, whose values do not matter, or
  /// types, `step.prepare(f32[{64, 784}])`.
  template <class... Args>
  CompiledProgram prepare(const Args&... args) const {
    static_assert(detail::is_capturable<F, Args...>(),
                  "hom: prepare takes what the function takes, or types in place of tensors.");
    detail::CallFrameScope scope;
    return entry_of(scope.frame().signature, args...)->program;
  }

  /// What has been compiled and is kept, the most recently called first.
  std::vector<CompiledProgram> programs() const { return cache_->programs(); }
  /// How often it was compiled: once for each signature, and again for those that were dropped.
  std::size_t compilations() const { return cache_->compilations(); }
  /// Drops all that has been compiled. The next call captures the function again, with what its
  /// closure holds then.
  void clear() const { cache_->clear(); }

 private:
  std::string name() const {
    return cache_->options().name.empty() ? "compiled" : cache_->options().name;
  }

  template <class... Args>
  auto entry_of(detail::CallSignature& signature, const Args&... args) const {
    using Output = decltype(detail::tensors_in(f_(detail::tensors_in(args)...)));
    // Types stand for tensors, so both are one signature.
    signature.add(reinterpret_cast<std::uintptr_t>(&detail::signature_of<TensorsOf<Args>...>));
    (detail::sign(signature, args, at_), ...);
    if (auto entry = cache_->find(signature)) return entry;
    return cache_->compile(signature, [&]() -> detail::CompileCache::CapturedCall {
      auto captured = detail::capture_function(f_, cache_->options().name, at_, args...);
      return {std::move(captured.program),
              std::make_shared<const Output>(std::move(captured.skeleton))};
    });
  }

  F f_;
  Location at_;
  std::shared_ptr<detail::CompileCache> cache_;
};

/// `f` as a compiled function of the same arguments. It is captured and compiled when it is called
/// with arguments of types that it has not seen: other dtypes and shapes, other structure, other
/// static members. What its closure holds is read then. Copies share what is compiled; threads may
/// call it at once. An argument that is given away (`std::move`) and has no other owner may be
/// overwritten by a result; nothing else is.
template <class F>
  requires(!std::derived_from<F, Program>)
Compiled<F> compile(F f, CompileOptions options = {}, const Location& at = Location::current()) {
  return {std::move(f), std::move(options), at};
}

/// A program that is there already, for its one signature: `compile_program`.
inline CompiledProgram compile(Program program, const CompileOptions& options = {}) {
  return compile_program(std::move(program), options);
}

}  // namespace hom
