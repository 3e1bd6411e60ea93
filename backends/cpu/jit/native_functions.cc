// backends/cpu/jit/native_functions.cc -- the table of functions that emitted code calls
#include <hom/backends/cpu/jit/native_functions.h>

#include <vector>

#include <hom/backends/cpu/scalar_gamma.h>
#include <hom/backends/cpu/scalar_math.h>
#include <hom/backends/cpu/scalar_special.h>
#include <hom/backends/cpu/vector_functions.h>

namespace hom::cpu {
namespace {

using nest::Function;

struct Entry {
  std::string name;
  Function function;
  Dtype operand;
  /// The dtype that a conversion gives; of functions that of the operands.
  Dtype result;
  bool is_conversion;
  void* of_number;
  void* of_vector;
};

template <class F, class T>
struct Unary {
  static T number(T x) { return F{}(x); }
  static void vector(T* to, const T* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = F{}(x[i]);
  }
};
template <class F, class T>
struct Binary {
  static T number(T a, T b) { return F{}(a, b); }
  static void vector(T* to, const T* a, const T* b, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = F{}(a[i], b[i]);
  }
};
template <class F, class T>
struct UnaryWith {
  static T number(std::int64_t parameter, T x) { return F{}(parameter, x); }
  static void vector(std::int64_t parameter, T* to, const T* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = F{}(parameter, x[i]);
  }
};
template <class F, class T>
struct BinaryWith {
  static T number(std::int64_t parameter, T a, T b) { return F{}(parameter, a, b); }
  static void vector(std::int64_t parameter, T* to, const T* a, const T* b, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = F{}(parameter, a[i], b[i]);
  }
};
template <class To, class From>
struct Conversion {
  static std::uint16_t number(From x) { return convert_element<To>(x).bits; }
  static void vector(std::uint16_t* to, const From* x, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = number(x[i]);
  }
};

class Table {
 public:
  Table() {
    unary<scalar::Erfcx>(Function::erfcx);
    unary<scalar::ErfInv>(Function::erf_inv);
    unary<scalar::ErfcInv>(Function::erfc_inv);
    unary<scalar::Lgamma>(Function::lgamma);
    floats<UnaryWith, scalar::Polygamma>(Function::polygamma);
    floats<BinaryWith, scalar::LogGammaSlope>(Function::log_gamma_slope);
    of_math(Function::pow, vector_functions().binary_f32(Function::pow));
    of_math(Function::pow, vector_functions().binary_f64(Function::pow));
    of_math(Function::rem, vector_functions().binary_f32(Function::rem));
    of_math(Function::rem, vector_functions().binary_f64(Function::rem));
    unary<scalar::Far<Function::far_sin>>(Function::far_sin);
    unary<scalar::Far<Function::far_cos>>(Function::far_cos);
    unary<scalar::Far<Function::far_tan>>(Function::far_tan);
    each<Binary, scalar::Pow, std::int8_t, std::int32_t, std::int64_t, std::uint8_t, std::uint32_t,
         std::uint64_t>(Function::pow);
    conversions<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, double>();
    for (const Entry& entry : entries_) pointers_.push_back(entry.of_number);
    for (const Entry& entry : entries_) pointers_.push_back(entry.of_vector);
  }

  const std::vector<Entry>& entries() const { return entries_; }
  void* const* pointers() const { return pointers_.data(); }

 private:
  void add(Function function, Dtype dtype, void* of_number, void* of_vector) {
    entries_.push_back({std::string(name_of(function)) + "_" + std::string(dtype.name()), function,
                        dtype, dtype, false, of_number, of_vector});
  }
  template <template <class, class> class Wrapper, class F, class T>
  void add(Function function) {
    add(function, dtype_of<T>(), reinterpret_cast<void*>(&Wrapper<F, T>::number),
        reinterpret_cast<void*>(&Wrapper<F, T>::vector));
  }
  /// A function of backends/math/ that is not spelled out.
  template <class T>
  void of_math(Function function, const BinaryFunction<T>* entry) {
    add(function, dtype_of<T>(), reinterpret_cast<void*>(entry->of_number),
        reinterpret_cast<void*>(entry->of_row));
  }
  template <template <class, class> class Wrapper, class F, class... T>
  void each(Function function) {
    (add<Wrapper, F, T>(function), ...);
  }
  template <template <class, class> class Wrapper, class F>
  void floats(Function function) {
    each<Wrapper, F, float, double>(function);
  }
  template <class F>
  void unary(Function function) {
    floats<Unary, F>(function);
  }
  template <class To, class From>
  void conversion() {
    const Dtype from = dtype_of<From>();
    const Dtype to = dtype_of<To>();
    entries_.push_back({std::string(from.name()) + "_to_" + std::string(to.name()), Function::neg,
                        from, to, true, reinterpret_cast<void*>(&Conversion<To, From>::number),
                        reinterpret_cast<void*>(&Conversion<To, From>::vector)});
  }
  template <class... From>
  void conversions() {
    (conversion<float16, From>(), ...);
    (conversion<bfloat16, From>(), ...);
  }

  std::vector<Entry> entries_;
  std::vector<void*> pointers_;
};

const Table& table() {
  static const Table instance;
  return instance;
}

template <class Matches>
std::optional<int> find(Matches matches) {
  const std::vector<Entry>& entries = table().entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (matches(entries[i])) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace

int native_function_count() { return static_cast<int>(table().entries().size()); }

std::optional<int> native_function(Function function, Dtype dtype) {
  return find([&](const Entry& entry) {
    return !entry.is_conversion && entry.function == function && entry.operand == dtype;
  });
}

std::optional<int> native_conversion(Dtype from, Dtype to) {
  return find([&](const Entry& entry) {
    return entry.is_conversion && entry.operand == from && entry.result == to;
  });
}

std::string native_function_name(int entry) {
  return table().entries()[static_cast<std::size_t>(entry)].name;
}

void* const* native_functions() { return table().pointers(); }

}  // namespace hom::cpu
