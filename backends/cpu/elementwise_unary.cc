// backends/cpu/elementwise_unary.cc -- the elementwise primitives of one operand
#include <hom/backends/cpu/elementwise.h>
#include <hom/backends/cpu/registration.h>

namespace hom::cpu {

void add_unary_kernels(KernelTable& table) {
  table.add("neg", unary_kernel<scalar::Neg>);
  table.add("abs", unary_kernel<scalar::Abs>);
  table.add("sign", unary_kernel<scalar::Sign>);
  table.add("round", unary_kernel<scalar::Round>);
  table.add("floor", unary_kernel<scalar::Floor>);
  table.add("ceil", unary_kernel<scalar::Ceil>);
  table.add("sqrt", unary_kernel<scalar::Sqrt>);
  table.add("rsqrt", unary_kernel<scalar::Rsqrt>);
  table.add("exp", unary_kernel<scalar::Exp>);
  table.add("expm1", unary_kernel<scalar::Expm1>);
  table.add("log", unary_kernel<scalar::Log>);
  table.add("log1p", unary_kernel<scalar::Log1p>);
  table.add("sin", unary_kernel<scalar::Sin>);
  table.add("cos", unary_kernel<scalar::Cos>);
  table.add("tan", unary_kernel<scalar::Tan>);
  table.add("asin", unary_kernel<scalar::Asin>);
  table.add("acos", unary_kernel<scalar::Acos>);
  table.add("atan", unary_kernel<scalar::Atan>);
  table.add("sinh", unary_kernel<scalar::Sinh>);
  table.add("cosh", unary_kernel<scalar::Cosh>);
  table.add("tanh", unary_kernel<scalar::Tanh>);
  table.add("asinh", unary_kernel<scalar::Asinh>);
  table.add("acosh", unary_kernel<scalar::Acosh>);
  table.add("atanh", unary_kernel<scalar::Atanh>);
  table.add("logistic", unary_kernel<scalar::Logistic>);
  table.add("erf", unary_kernel<scalar::Erf>);
  table.add("is_finite", unary_kernel<scalar::IsFinite>);
  table.add("not", unary_kernel<scalar::Not>);
}

}  // namespace hom::cpu
