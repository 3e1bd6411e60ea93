// backends/nests/nest_functions.cc -- the scalar functions of kernels: names, operands, costs
#include <hom/backends/nests/nest_functions.h>

#include <algorithm>
#include <array>

#include <hom/backends/nests/nest.h>

namespace hom::nest {
namespace {

/// Dtypes of a function's operands (of `select`: of the last two).
enum class Domain : std::uint8_t {
  any,
  /// Integers and floats.
  number,
  floating,
  /// f32 and f64.
  wide,
  integer,
  /// bool and integers.
  logical,
};

struct Row {
  Function function;
  std::string_view name;
  int arity;
  Domain domain;
  double cost;
};

// Costs were measured over 4096 elements in cache, on one core of an x86-64 server: a unit is an
// addition, 0.1 ns of f32 with SSE2, 0.2 ns of f64 with AVX2. What g++ vectorises is near 1, the
// functions of backends/math/ are from 8 on (tests/benchmarks/vector_math.cc), and what libm does
// alone is 75 and more.
constexpr std::array<Row, function_count> rows{{
    {Function::neg, "neg", 1, Domain::number, 1},
    {Function::abs, "abs", 1, Domain::number, 1},
    {Function::sign, "sign", 1, Domain::number, 3},
    {Function::round, "round", 1, Domain::floating, 4},
    {Function::floor, "floor", 1, Domain::floating, 4},
    {Function::ceil, "ceil", 1, Domain::floating, 4},
    {Function::sqrt, "sqrt", 1, Domain::floating, 4},
    {Function::rsqrt, "rsqrt", 1, Domain::floating, 6},
    {Function::exp, "exp", 1, Domain::floating, 14},
    {Function::expm1, "expm1", 1, Domain::floating, 14},
    {Function::log, "log", 1, Domain::floating, 15},
    {Function::log1p, "log1p", 1, Domain::floating, 16},
    {Function::sin, "sin", 1, Domain::floating, 14},
    {Function::cos, "cos", 1, Domain::floating, 14},
    {Function::tan, "tan", 1, Domain::floating, 20},
    {Function::asin, "asin", 1, Domain::floating, 15},
    {Function::acos, "acos", 1, Domain::floating, 15},
    {Function::atan, "atan", 1, Domain::floating, 18},
    {Function::sinh, "sinh", 1, Domain::floating, 25},
    {Function::cosh, "cosh", 1, Domain::floating, 25},
    {Function::tanh, "tanh", 1, Domain::floating, 18},
    {Function::asinh, "asinh", 1, Domain::floating, 30},
    {Function::acosh, "acosh", 1, Domain::floating, 25},
    {Function::atanh, "atanh", 1, Domain::floating, 25},
    {Function::logistic, "logistic", 1, Domain::floating, 20},
    {Function::erf, "erf", 1, Domain::floating, 35},
    {Function::erfc, "erfc", 1, Domain::floating, 45},
    {Function::erfcx, "erfcx", 1, Domain::floating, 130},
    {Function::erf_inv, "erf_inv", 1, Domain::floating, 750},
    {Function::erfc_inv, "erfc_inv", 1, Domain::floating, 750},
    {Function::lgamma, "lgamma", 1, Domain::floating, 75},
    {Function::is_finite, "is_finite", 1, Domain::floating, 1},
    {Function::not_, "not", 1, Domain::logical, 1},
    {Function::polygamma, "polygamma", 1, Domain::floating, 300},
    {Function::add, "add", 2, Domain::number, 1},
    {Function::sub, "sub", 2, Domain::number, 1},
    {Function::mul, "mul", 2, Domain::number, 1},
    {Function::div, "div", 2, Domain::number, 4},
    {Function::rem, "rem", 2, Domain::number, 8},
    {Function::pow, "pow", 2, Domain::number, 50},
    {Function::max, "max", 2, Domain::number, 2},
    {Function::min, "min", 2, Domain::number, 2},
    {Function::atan2, "atan2", 2, Domain::floating, 30},
    {Function::scale, "scale", 2, Domain::floating, 3},
    {Function::eq, "eq", 2, Domain::any, 1},
    {Function::ne, "ne", 2, Domain::any, 1},
    {Function::lt, "lt", 2, Domain::any, 1},
    {Function::le, "le", 2, Domain::any, 1},
    {Function::gt, "gt", 2, Domain::any, 1},
    {Function::ge, "ge", 2, Domain::any, 1},
    {Function::and_, "and", 2, Domain::logical, 1},
    {Function::or_, "or", 2, Domain::logical, 1},
    {Function::xor_, "xor", 2, Domain::logical, 1},
    {Function::shift_left, "shift_left", 2, Domain::integer, 2},
    {Function::shift_right, "shift_right", 2, Domain::integer, 2},
    {Function::log_gamma_slope, "log_gamma_slope", 2, Domain::floating, 35000},
    {Function::select, "select", 3, Domain::any, 1},
    {Function::fma, "fma", 3, Domain::wide, 1},
    {Function::far_sin, "far_sin", 1, Domain::wide, 3},
    {Function::far_cos, "far_cos", 1, Domain::wide, 3},
    {Function::far_tan, "far_tan", 1, Domain::wide, 3},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (static_cast<std::size_t>(rows[i].function) != i) return false;
  }
  return true;
}
static_assert(is_in_order(), "a row for each function, in the order of their declaration");

const Row& row_of(Function function) { return rows[static_cast<std::size_t>(function)]; }

}  // namespace

std::string_view name_of(Function function) { return row_of(function).name; }

std::optional<Function> function_named(std::string_view primitive) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == primitive; });
  if (found == rows.end() || found->function > Function::select) return std::nullopt;
  return found->function;
}

int arity_of(Function function) { return row_of(function).arity; }

double cost_of(Function function) { return row_of(function).cost; }

bool takes(Function function, Dtype dtype) {
  switch (row_of(function).domain) {
    case Domain::any:
      return true;
    case Domain::number:
      return !dtype.is_bool();
    case Domain::floating:
      return dtype.is_float();
    case Domain::wide:
      return dtype == f32 || dtype == f64;
    case Domain::integer:
      return dtype.is_integer();
    case Domain::logical:
      break;
  }
  return !dtype.is_float();
}

bool is_test(Function function) {
  return function == Function::is_finite || (function >= Function::eq && function <= Function::ge);
}

bool takes(Combine combine, Dtype dtype) {
  switch (combine) {
    case Combine::sum:
    case Combine::prod:
    case Combine::max:
    case Combine::min:
      return !dtype.is_bool();
    case Combine::and_:
    case Combine::or_:
      return dtype.is_bool();
    case Combine::set:
    case Combine::argmax:
    case Combine::argmin:
      break;
  }
  return true;
}

}  // namespace hom::nest
