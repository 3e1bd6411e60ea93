// backends/cpu/native_function.h -- functions of numbers as plain function pointers
//
//     auto slope = native<double(double)>(grad([](Tensor x) { return sin(x) * x; }));
//     double (*f)(double) = slope.pointer();          // for a library that knows nothing of Hom
//     double y = slope(0.5);
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include <hom/backends/cpu/compile.h>

namespace hom {

namespace detail {

/// The C++ type that an argument or result of this type is stored as: that of its dtype.
template <Arithmetic T>
using StoredAs = std::conditional_t<
    std::same_as<T, bool> || std::floating_point<T>, T,
    std::conditional_t<
        sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, std::int8_t, std::uint8_t>,
        std::conditional_t<sizeof(T) <= 4,
                           std::conditional_t<dtype_of<T>() == i32, std::int32_t, std::uint32_t>,
                           std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>>>;

/// Numbers of a result: one, or those of a tuple, pair or array.
template <class T>
inline constexpr std::size_t number_count = 1;
template <class... Ts>
inline constexpr std::size_t number_count<std::tuple<Ts...>> = sizeof...(Ts);
template <class A, class B>
inline constexpr std::size_t number_count<std::pair<A, B>> = 2;
template <class T, std::size_t N>
inline constexpr std::size_t number_count<std::array<T, N>> = N;

template <class T>
constexpr bool is_number_list() {
  if constexpr (is_tuple_like<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (Arithmetic<std::tuple_element_t<I, T>> && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else {
    return Arithmetic<T>;
  }
}

/// Throws unless the program has this many results, each a number of its dtype.
void require_number_results(const Program& program, const std::vector<Dtype>& dtypes,
                            const Location& at);
[[noreturn]] void fail_no_slot(std::size_t slots, const Location& at);

}  // namespace detail

/// A compiled function of numbers: an object that can be called, and a plain function pointer that
/// lives as long as this object or a copy of it. R and the arguments are C++ numbers; R may also be
/// a tuple, pair or array of numbers. Threads may call it at once. At most `slots` objects of one
/// signature live at a time, copies not counted.
template <class Signature>
class Native;

template <class R, class... Args>
class Native<R(Args...)> {
  static_assert(
      detail::is_number_list<R>() && (Arithmetic<Args> && ...),
      "hom: native<R(Args...)> is for functions of C++ numbers, which give a number, or a "
      "tuple, pair or array of numbers. For arrays there is CompiledProgram::raw().");

 public:
  using Pointer = R (*)(Args...);
  static constexpr std::size_t slots = 64;

  Native(CompiledProgram program, const Location& at)
      : slot_(std::make_shared<Slot>(std::move(program), at)) {}

  R operator()(Args... args) const { return call(slot_->raw, args...); }
  Pointer pointer() const { return slot_->pointer; }
  const CompiledProgram& program() const { return slot_->program; }

 private:
  static R call(const RawFunction& raw, Args... args) {
    std::tuple<detail::StoredAs<Args>...> stored{static_cast<detail::StoredAs<Args>>(args)...};
    return std::apply(
        [&](const auto&... values) {
          const std::array<const std::byte*, sizeof...(Args)> inputs{
              reinterpret_cast<const std::byte*>(&values)...};
          return results(raw, inputs.data());
        },
        stored);
  }

  static R results(const RawFunction& raw, const std::byte* const* inputs) {
    if constexpr (Arithmetic<R>) {
      detail::StoredAs<R> result;
      std::byte* const output = reinterpret_cast<std::byte*>(&result);
      raw.call(raw.context, inputs, &output);
      return static_cast<R>(result);
    } else {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        std::tuple<detail::StoredAs<std::tuple_element_t<I, R>>...> stored;
        const std::array<std::byte*, sizeof...(I)> outputs{
            reinterpret_cast<std::byte*>(&std::get<I>(stored))...};
        raw.call(raw.context, inputs, outputs.data());
        return R{static_cast<std::tuple_element_t<I, R>>(std::get<I>(stored))...};
      }(std::make_index_sequence<detail::number_count<R>>());
    }
  }

  // A plain function pointer carries no object, so each object has a function of its own, which
  // knows the object by its place in this table.
  static inline std::array<std::atomic<const RawFunction*>, slots> table{};
  template <std::size_t I>
  static R function(Args... args) {
    return call(*table[I].load(std::memory_order_acquire), args...);
  }
  template <std::size_t... I>
  static constexpr std::array<Pointer, slots> functions(std::index_sequence<I...>) {
    return {&function<I>...};
  }

  struct Slot {
    Slot(CompiledProgram compiled, const Location& at)
        : program(std::move(compiled)), raw(program.raw()) {
      static constexpr auto all = functions(std::make_index_sequence<slots>());
      for (index = 0; index < slots; ++index) {
        const RawFunction* none = nullptr;
        if (table[index].compare_exchange_strong(none, &raw)) {
          pointer = all[index];
          return;
        }
      }
      detail::fail_no_slot(slots, at);
    }
    ~Slot() { table[index].store(nullptr, std::memory_order_release); }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

    CompiledProgram program;
    RawFunction raw;
    Pointer pointer = nullptr;
    std::size_t index = 0;
  };
  std::shared_ptr<const Slot> slot_;
};

namespace detail {

template <class T>
std::vector<Dtype> number_dtypes() {
  if constexpr (Arithmetic<T>) {
    return {dtype_of<T>()};
  } else {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::vector<Dtype>{dtype_of<std::tuple_element_t<I, T>>()...};
    }(std::make_index_sequence<number_count<T>>());
  }
}

template <class F, class R, class... Args>
Native<R(Args...)> native_function(const F& f, const CompileOptions& options, const Location& at,
                                   std::type_identity<R(Args...)>) {
  const auto captured = capture_function(f, options.name, at, Args{}...);
  require_number_results(captured.program, number_dtypes<R>(), at);
  return {compile_program(captured.program, options), at};
}

}  // namespace detail

/// `f` compiled for C++ numbers: `native<double(double, double)>(f)`. Throws `Error` where f's
/// results are other than the numbers that the signature says.
template <class Signature, class F>
Native<Signature> native(const F& f, const CompileOptions& options = {},
                         const Location& at = Location::current()) {
  return detail::native_function(f, options, at, std::type_identity<Signature>());
}

}  // namespace hom
