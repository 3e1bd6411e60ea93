// backends/optimise/elementwise.cc -- which primitives are functions of single elements
#include <hom/backends/optimise/elementwise.h>

#include <unordered_set>

namespace hom::optimiser {
namespace {

constexpr const char* names[] = {"neg",        "abs",        "sign",
                                 "round",      "floor",      "ceil",
                                 "sqrt",       "rsqrt",      "exp",
                                 "expm1",      "log",        "log1p",
                                 "sin",        "cos",        "tan",
                                 "asin",       "acos",       "atan",
                                 "sinh",       "cosh",       "tanh",
                                 "asinh",      "acosh",      "atanh",
                                 "logistic",   "erf",        "erfc",
                                 "erfcx",      "erf_inv",    "erfc_inv",
                                 "lgamma",     "polygamma",  "is_finite",
                                 "not",        "convert",    "bitcast",
                                 "add",        "sub",        "mul",
                                 "scale",      "div",        "rem",
                                 "pow",        "max",        "min",
                                 "atan2",      "eq",         "ne",
                                 "lt",         "le",         "gt",
                                 "ge",         "and",        "or",
                                 "xor",        "select",     "log_gamma_slope",
                                 "shift_left", "shift_right"};

}  // namespace

bool is_elementwise(const Primitive& primitive) {
  static const std::unordered_set<const Primitive*> known = [] {
    std::unordered_set<const Primitive*> set;
    for (const char* name : names) set.insert(&standard_primitives().find(name));
    return set;
  }();
  return known.contains(&primitive);
}

}  // namespace hom::optimiser
