// tests/oracles/functions.cc -- each function of oracle.py in Hom's words
#include <hom/tests/oracles/functions.h>

#include <hom/hom.h>

namespace hom {
namespace {

using Tensors = std::vector<Tensor>;
using X = const Tensors&;
using Functions = std::vector<OracleFunction>;

/// A function of one result.
template <class F>
OracleFunction one(std::string name, const F& f, double epsilons = 8, bool whole = false) {
  return {std::move(name), [f](X x) { return Tensors{f(x)}; }, epsilons, whole};
}
/// Whose errors are those of numbers near 1, that cancel.
template <class F>
OracleFunction difference(std::string name, const F& f, double epsilons = 8) {
  return {std::move(name), [f](X x) { return Tensors{f(x)}; }, epsilons, false, 1};
}
/// A function of one tensor, and of two.
OracleFunction unary(std::string name, Tensor (*f)(const Operand&), double epsilons = 8) {
  return one(std::move(name), [f](X x) { return f(x[0]); }, epsilons);
}
OracleFunction binary(std::string name, Tensor (*f)(const Operand&, const Operand&),
                      double epsilons = 8) {
  return one(std::move(name), [f](X x) { return f(x[0], x[1]); }, epsilons);
}

void append(Functions& all, Functions more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Functions elementwise() {
  return {
      one("neg", [](X x) { return -x[0]; }),
      one("neg of integers", [](X x) { return -x[0]; }),
      unary("abs", abs),
      unary("abs at 0", abs),
      unary("sign", sign),
      unary("round", round),
      unary("round at halves", round),
      unary("floor", floor),
      unary("floor at halves", floor),
      unary("ceil", ceil),
      unary("ceil at halves", ceil),
      unary("sqrt", sqrt),
      unary("rsqrt", rsqrt),
      unary("exp", exp),
      unary("exp far out", exp),
      unary("expm1", expm1),
      unary("expm1 near 0", expm1),
      unary("log", log),
      unary("log of edges", log),
      unary("log1p", log1p),
      unary("log1p near 0", log1p),
      unary("log2", log2),
      unary("log10", log10),
      unary("sin", sin),
      unary("sin far out", sin),
      unary("cos", cos),
      unary("cos far out", cos),
      unary("tan", tan, 16),
      unary("asin", asin, 16),
      unary("acos", acos, 16),
      unary("atan", atan),
      unary("sinh", sinh),
      unary("cosh", cosh),
      // The slope 1 − y² loses what y rounds.
      difference("tanh", [](X x) { return tanh(x[0]); }),
      unary("tanh far out", tanh),
      unary("asinh", asinh),
      unary("acosh", acosh, 16),
      unary("atanh", atanh, 16),
      difference("logistic", [](X x) { return logistic(x[0]); }),
      difference("logistic far out", [](X x) { return logistic(x[0]); }),
      unary("erf", erf, 32),
      unary("is_finite", is_finite),
      unary("is_nan", is_nan),
      unary("is_inf", is_inf),
      one("not", [](X x) { return ~x[0]; }),
      one("not of integers", [](X x) { return ~x[0]; }),
      unary("stop_gradient", stop_gradient),
  };
}

Functions of_two() {
  return {
      one("add", [](X x) { return x[0] + x[1]; }),
      one("add of integers", [](X x) { return x[0] + x[1]; }),
      one("add broadcasts", [](X x) { return x[0] + x[1]; }),
      one("sub", [](X x) { return x[0] - x[1]; }),
      one("sub of integers", [](X x) { return x[0] - x[1]; }),
      one("mul", [](X x) { return x[0] * x[1]; }),
      one("mul of integers", [](X x) { return x[0] * x[1]; }),
      binary("scale", scale),
      one("div", [](X x) { return x[0] / x[1]; }),
      one("div of integers", [](X x) { return x[0] / x[1]; }),
      one("rem", [](X x) { return x[0] % x[1]; }),
      one("rem of integers", [](X x) { return x[0] % x[1]; }),
      binary("pow", pow, 16),
      one("pow of negative bases", [](X x) { return pow(x[0], 3.0); }),
      binary("max", maximum),
      binary("min", minimum),
      binary("max of ties", maximum),
      binary("max of nan", maximum),
      binary("atan2", atan2),
      binary("atan2 in four quadrants", atan2),
      one("eq", [](X x) { return x[0] == x[1]; }),
      one("ne", [](X x) { return x[0] != x[1]; }),
      one("lt", [](X x) { return x[0] < x[1]; }),
      one("le", [](X x) { return x[0] <= x[1]; }),
      one("gt", [](X x) { return x[0] > x[1]; }),
      one("ge", [](X x) { return x[0] >= x[1]; }),
      one("eq of edges", [](X x) { return x[0] == x[1]; }),
      one("ne of edges", [](X x) { return x[0] != x[1]; }),
      one("lt of edges", [](X x) { return x[0] < x[1]; }),
      one("le of edges", [](X x) { return x[0] <= x[1]; }),
      one("gt of edges", [](X x) { return x[0] > x[1]; }),
      one("ge of edges", [](X x) { return x[0] >= x[1]; }),
      one("and", [](X x) { return x[0] & x[1]; }),
      one("or", [](X x) { return x[0] | x[1]; }),
      one("xor", [](X x) { return x[0] ^ x[1]; }),
      one("shift_left", [](X x) { return x[0] << x[1]; }),
      one("shift_right", [](X x) { return x[0] >> x[1]; }),
      binary("hypot", hypot),
      one(
          "logaddexp", [](X x) { return logaddexp(x[0], x[1]); }, 32),
      one("select", [](X x) { return where(x[0], x[1], x[2]); }),
      one("where broadcasts", [](X x) { return where(x[0], x[1], x[2]); }),
      one("clamp", [](X x) { return clamp(x[0], -1, 1); }),
      one("convert to f64", [](X x) { return x[0].astype(f64); }),
      one("convert to i32", [](X x) { return x[0].astype(i32); }),
      one("convert to bool", [](X x) { return x[0] != 0; }),
      one("bitcast to u32", [](X x) { return bitcast(x[0], u32); }),
      one("bitcast to i64", [](X x) { return bitcast(x[0], i64); }),
  };
}

Functions shaping() {
  return {
      one("broadcast_in_dim", [](X x) { return broadcast_in_dim(x[0], {2, 3, 4}, {1}); }),
      one(
          "broadcast_to", [](X x) { return broadcast_to(x[0], {2, 3, 4}); }, 8, true),
      one("reshape", [](X x) { return reshape(x[0], {2, 6}); }),
      one("transpose", [](X x) { return transpose(x[0], {2, 0, 1}); }),
      one("slice", [](X x) { return slice(x[0], {1, 4}, {3, 2}, {1, -2}); }),
      one("flip", [](X x) { return flip(x[0], {0, 2}); }),
      one("pad", [](X x) { return pad(x[0], 7, {1, 0}, {2, 1}, {0, 2}); }),
      one("concat", [](X x) { return concat({x[0], x[1], x[2]}, 1); }),
      one("stack", [](X x) { return stack({x[0], x[1]}, 1); }),
      one(
          "tile", [](X x) { return tile(x[0], {2, 3}); }, 8, true),
      one(
          "repeat", [](X x) { return repeat(x[0], 3, 1); }, 8, true),
      one("roll", [](X x) { return roll(x[0], 2, 1); }),
      one("tril", [](X x) { return tril(x[0], 1); }),
      one("triu", [](X x) { return triu(x[0], -1); }),
      one("diagonal", [](X x) { return diagonal(x[0]); }),
      one("move_axis", [](X x) { return move_axis(x[0], 0, 2); }),
  };
}

Functions indexing() {
  const auto scattered = [](Combine combine) {
    return [combine](X x) { return scatter(x[0], expand_dims(x[1], 1), x[2], {0}, combine); };
  };
  return {
      one(
          "take", [](X x) { return take(x[0], x[1], 1); }, 8, true),
      one(
          "take_along_axis", [](X x) { return take_along_axis(x[0], x[1], 1); }, 8, true),
      one(
          "gather", [](X x) { return gather(x[0], x[1], {0, 2}); }, 8, true),
      one(
          "gather that clips", [](X x) { return take(x[0], x[1], 0, Bounds::clip); }, 8, true),
      one("scatter that adds", scattered(Combine::add), 8, true),
      one("scatter that sets", scattered(Combine::set)),
      one("scatter that multiplies", scattered(Combine::mul)),
      one("scatter maximum", scattered(Combine::max)),
      one("dynamic_slice", [](X x) { return dynamic_slice(x[0], x[1], {2, 3}); }),
      one("dynamic_update_slice", [](X x) { return dynamic_update_slice(x[0], x[1], x[2]); }),
      one("update_slice", [](X x) { return update_slice(x[0], x[1], {1, 2}, {2, 1}); }),
      one("at add", [](X x) { return x[0].at(Range{.step = 2}, 1).add(x[1]); }),
      one(
          "segment_sum", [](X x) { return segment_sum(x[0], x[1], 4); }, 8, true),
      one(
          "segment_prod", [](X x) { return segment_prod(x[0], x[1], 4); }, 32),
      one("segment_max", [](X x) { return segment_max(x[0], x[1], 2); }),
      one("segment_min", [](X x) { return segment_min(x[0], x[1], 2); }),
      one("one_hot", [](X x) { return one_hot(x[0], 4, f64); }),
  };
}

Functions reductions() {
  const auto add = [](Functions& list, std::string name, auto f, bool whole) {
    list.push_back(one(name, [f](X x) { return f(x[0], Axes()); }, 64, whole));
    list.push_back(
        one(name + " along the first", [f](X x) { return f(x[0], Axes(0)); }, 64, whole));
    list.push_back(one(name + " along the last", [f](X x) { return f(x[0], Axes(-1)); }));
    list.push_back(
        one(name + " along the last of integers", [f](X x) { return f(x[0], Axes(-1)); }));
  };
  Functions sums;
  add(sums, "reduce_sum", [](const Tensor& x, const Axes& axes) { return sum(x, axes); }, true);
  add(sums, "reduce_prod", [](const Tensor& x, const Axes& axes) { return prod(x, axes); }, false);
  std::erase_if(sums, [](const OracleFunction& f) { return f.name.ends_with("the last"); });
  Functions list{
      one("max_or", [](X x) { return max_or(x[0], 0.25, -1); }),
      one("min_or", [](X x) { return min_or(x[0], 0.25, -1); }),
      one("reduce_prod with zeros", [](X x) { return prod(x[0]); }),
      one("reduce_prod with two zeros", [](X x) { return prod(x[0]); }),
      one("reduce_max", [](X x) { return max(x[0]); }),
      one("reduce_max along the last", [](X x) { return max(x[0], -1); }),
      one("reduce_max of ties", [](X x) { return max(x[0]); }),
      one("reduce_max of nan", [](X x) { return max(x[0]); }),
      one("reduce_min", [](X x) { return min(x[0]); }),
      one("reduce_min along the last", [](X x) { return min(x[0], -1); }),
      one("reduce_min of ties", [](X x) { return min(x[0]); }),
      one("reduce_min of nan", [](X x) { return min(x[0]); }),
      one("reduce_and", [](X x) { return all_of(x[0], -1); }),
      one("reduce_or", [](X x) { return any_of(x[0], -1); }),
      one("argmax", [](X x) { return argmax(x[0], -1); }),
      one("argmax of ties and nan", [](X x) { return argmax(x[0], -1); }),
      one("argmin", [](X x) { return argmin(x[0], -1); }),
      one("argmin of ties and nan", [](X x) { return argmin(x[0], -1); }),
      one(
          "mean", [](X x) { return mean(x[0], -1); }, 16, true),
      one(
          "variance", [](X x) { return variance(x[0], -1); }, 32, true),
      one(
          "variance with ddof", [](X x) { return variance(x[0], 0, Keep::no, 1); }, 32, true),
      one(
          "standard_deviation", [](X x) { return standard_deviation(x[0], -1); }, 32, true),
      one(
          "norm", [](X x) { return norm(x[0], -1); }, 16, true),
      one(
          "cumsum", [](X x) { return cumsum(x[0], -1); }, 16, true),
      one(
          "cumsum from the end", [](X x) { return cumsum(x[0], 0, true); }, 16, true),
      one(
          "cumprod", [](X x) { return cumprod(x[0], -1); }, 32, true),
      one("cumprod with zeros", [](X x) { return cumprod(x[0]); }),
      one(
          "cummax", [](X x) { return cummax(x[0], -1); }, 16, true),
      one(
          "cummin", [](X x) { return cummin(x[0], -1); }, 16, true),
      one(
          "logcumsumexp", [](X x) { return logcumsumexp(x[0], -1); }, 64, true),
  };
  append(list, std::move(sums));
  return list;
}

Functions contractions() {
  return {
      one(
          "matmul", [](X x) { return matmul(x[0], x[1]); }, 64, true),
      one("matmul of integers", [](X x) { return matmul(x[0], x[1]); }),
      one(
          "dot_general",
          [](X x) {
            return dot_general(
                x[0], x[1],
                {.lhs_contract = {2}, .rhs_contract = {1}, .lhs_batch = {0}, .rhs_batch = {2}});
          },
          32, true),
      one(
          "dot", [](X x) { return dot(x[0], x[1]); }, 16, true),
      one(
          "outer", [](X x) { return outer(x[0], x[1]); }, 16, true),
  };
}

Functions neural() {
  return {
      unary("relu", relu),
      unary("relu at 0", relu),
      one(
          "log_sigmoid", [](X x) { return log_sigmoid(x[0]); }, 32, true),
      one(
          "softplus", [](X x) { return softplus(x[0]); }, 32, true),
      one(
          "silu", [](X x) { return silu(x[0]); }, 32, true),
      one(
          "gelu", [](X x) { return gelu(x[0]); }, 32, true),
      difference(
          "sinc", [](X x) { return sinc(x[0]); }, 16),
      unary("square", square),
      one(
          "logsumexp", [](X x) { return logsumexp(x[0], -1); }, 64, true),
      one(
          "logsumexp of all", [](X x) { return logsumexp(x[0]); }, 64, true),
      one(
          "softmax", [](X x) { return softmax(x[0]); }, 64, true),
      one(
          "softmax along the first", [](X x) { return softmax(x[0], 0); }, 64, true),
      one(
          "log_softmax", [](X x) { return log_softmax(x[0]); }, 64, true),
      one(
          "cross_entropy", [](X x) { return cross_entropy(x[0], x[1]); }, 64, true),
      one(
          "cross_entropy of probabilities", [](X x) { return cross_entropy(x[0], x[1]); }, 64,
          true),
      one(
          "mean_squared_error", [](X x) { return mean_squared_error(x[0], x[1]); }, 32, true),
      one(
          "layer_norm", [](X x) { return layer_norm(x[0]); }, 256, true),
      one(
          "batch_norm", [](X x) { return batch_norm(x[0]); }, 256, true),
      one(
          "attention", [](X x) { return attention(x[0], x[1], x[2]); }, 64, true),
      one(
          "causal attention",
          [](X x) { return attention(x[0], x[1], x[2], tril(ones({4, 4})) != 0); }, 64, true),
  };
}

Functions special_functions() {
  return {
      unary("ndtr", ndtr, 64),
      // The oracle takes the logarithm of a number near 1.
      difference(
          "log_ndtr", [](X x) { return log_ndtr(x[0]); }, 64),
      unary("ndtri", ndtri, 64),
      unary("erf_inv", erf_inv, 32),
      unary("erfc", erfc, 32),
      unary("erfcx", erfcx, 64),
      unary("erfc_inv", erfc_inv, 64),
      difference(
          "lgamma", [](X x) { return lgamma(x[0]); }, 16),
      difference(
          "lgamma of negatives", [](X x) { return lgamma(x[0]); }, 64),
      difference(
          "polygamma of order 0", [](X x) { return digamma(x[0]); }, 32),
      one(
          "polygamma of order 1", [](X x) { return polygamma(1, x[0]); }, 32),
      one(
          "polygamma of order 3", [](X x) { return polygamma(3, x[0]); }, 32),
  };
}

Functions sorting() {
  return {
      one("sort", [](X x) { return sort(x[0]); }),
      one("sort along the first", [](X x) { return sort(x[0], 0); }),
      one("sort descending", [](X x) { return sort(x[0], -1, Order::descending); }),
      one("argsort", [](X x) { return argsort(x[0]); }),
      one("top_k", [](X x) { return top_k(x[0], 2).values; }),
      one("top_k indices", [](X x) { return top_k(x[0], 2).indices; }),
      one("sort_by_key", [](X x) { return sort_by_key(x[0], x[1]).second; }),
      one("median", [](X x) { return median(x[0], -1); }),
      one(
          "quantile", [](X x) { return quantile(x[0], 0.3, 0); }, 16, true),
      one("searchsorted", [](X x) { return searchsorted(sort(x[0]), x[1]); }),
  };
}

std::vector<Tensor> parts(const Complex& z) { return {z.re, z.im}; }

Functions spectra() {
  return {
      {"fft2", [](X x) { return parts(fft2(Complex{x[0], x[1]})); }, 32, true},
      {"fft", [](X x) { return parts(fft(Complex{x[0], x[1]})); }, 32, true},
      {"fft inverse", [](X x) { return parts(ifft(Complex{x[0], x[1]})); }, 32, true},
      {"rfft", [](X x) { return parts(rfft(x[0])); }, 32, true},
      one(
          "irfft", [](X x) { return irfft(Complex{x[0], x[1]}, 8); }, 32, true),
  };
}

Functions windows() {
  const Windows rows{
      .window = {1, 3}, .stride = {1, 2}, .dilation = {1, 2}, .low = {0, 1}, .high = {0, 2}};
  const auto convolved = [](std::int64_t groups) {
    return [groups](X x) {
      const Shape twos(x[0].shape().size() - 2, 2);
      const Shape ones(twos.size(), 1);
      return conv(x[0], x[1],
                  {.stride = twos,
                   .padding = Padding::sides(ones, twos),
                   .dilation = twos,
                   .groups = groups});
    };
  };
  Functions list{
      one(
          "conv_transpose", [](X x) { return conv_transpose(x[0], x[1], {.stride = {2}}); }, 64,
          true),
      one(
          "window_sum", [rows](X x) { return window_sum(x[0], rows); }, 16, true),
      one(
          "window_max", [rows](X x) { return window_max(x[0], rows); }, 16, true),
      one(
          "window_min", [rows](X x) { return window_min(x[0], rows); }, 16, true),
      one("max_pool", [](X x) { return max_pool(x[0], {2, 2}); }),
      one(
          "avg_pool", [](X x) { return avg_pool(x[0], {2, 2}); }, 16, true),
      one("conv_general", convolved(1), 64, true),
      one("conv_general by groups", convolved(2), 64, true),
      one(
          "conv to the same extents",
          [](X x) { return conv(x[0], x[1], {.stride = {1, 2}, .padding = Padding::same()}); }, 64,
          true),
  };
  for (const char* subscripts : {"ij,jk->ik", "bij,bjk->bik", "i,j->ji", "...i,i", "ab,bc,cd->ad",
                                 "ii->", "ii->i", "ij->ji", "ij->"}) {
    list.push_back(one(
        "einsum " + std::string(subscripts), [subscripts](X x) { return einsum(subscripts, x); },
        64, true));
  }
  return list;
}

Tensor adjoint(const Tensor& x) { return swap_axes(x, -1, -2); }
Tensor unit(const Tensor& x) { return eye(x.shape().back(), x.dtype()); }
double order(const Tensor& x) { return static_cast<double>(x.shape().back()); }
Tensor definite(const Tensor& x) { return matmul(x, adjoint(x)) + order(x) * unit(x); }
Tensor invertible(const Tensor& x) { return x + 2 * order(x) * unit(x); }
/// With a spectrum that lies apart.
Tensor ramp(const Tensor& x) {
  const Tensor diagonal = arange(x.shape().back()).astype(x.dtype()) + 1;
  return x + 3 * order(x) * diagonal_matrix(diagonal);
}
Tensor symmetric(const Tensor& x) { return ramp((x + adjoint(x)) / 2); }

Functions linear_algebra() {
  return {
      one(
          "cholesky", [](X x) { return cholesky(definite(x[0])); }, 128, true),
      one(
          "triangular_solve", [](X x) { return triangular_solve(invertible(x[0]), x[1]); }, 128,
          true),
      one(
          "triangular_solve of the transpose",
          [](X x) {
            return triangular_solve(invertible(x[0]), x[1],
                                    {.lower = false, .transposed = true, .unit = true});
          },
          128, true),
      {"lu",
       [](X x) {
         const Lu factors = lu(x[0]);
         return Tensors{factors.packed, factors.permutation};
       },
       1024, true},
      one(
          "lu_solve in solve", [](X x) { return solve(invertible(x[0]), x[1]); }, 128, true),
      one(
          "inverse", [](X x) { return inverse(invertible(x[0])); }, 128, true),
      {"qr",
       [](X x) {
         const Qr factors = qr(x[0]);
         return Tensors{factors.q, factors.r};
       },
       1024, true},
      one(
          "eigh values", [](X x) { return eigh(symmetric(x[0])).values; }, 256, true),
      one(
          "eigh of a function",
          [](X x) {
            const Eigh s = eigh(symmetric(x[0]));
            return matmul(s.vectors * expand_dims(log(abs(s.values) + 20.0), -2),
                          adjoint(s.vectors));
          },
          256, true),
      one(
          "svd values", [](X x) { return singular_values(ramp(x[0])); }, 256, true),
      one(
          "svd of a function",
          [](X x) {
            const Svd s = svd(ramp(x[0]));
            return matmul(s.u * expand_dims(log(s.s + 2.0), -2), s.vt);
          },
          256, true),
      one(
          "determinant", [](X x) { return determinant(x[0]); }, 256, true),
      one(
          "determinant of a singular matrix", [](X x) { return determinant(x[0]); }, 64, true),
      one(
          "cofactor", [](X x) { return cofactor(invertible(x[0])); }, 256, true),
      {"slogdet",
       [](X x) {
         const LogDeterminant d = slogdet(x[0]);
         return Tensors{d.sign, d.logarithm};
       },
       1024, true},
      one(
          "pinv", [](X x) { return pinv(x[0]); }, 4096, true),
      one(
          "lstsq", [](X x) { return lstsq(x[0], x[1]); }, 4096, true),
      one(
          "expm", [](X x) { return expm(x[0]); }, 512, true),
      one(
          "matrix_power", [](X x) { return matrix_power(x[0], 5); }, 256, true),
      one(
          "inverse power", [](X x) { return matrix_power(invertible(x[0]), -2); }, 128, true),
      one(
          "matrix_norm frobenius", [](X x) { return matrix_norm(x[0]); }, 32, true),
      one(
          "matrix_norm nuclear", [](X x) { return matrix_norm(x[0], MatrixNorm::nuclear); }, 1024,
          true),
      one(
          "matrix_norm one", [](X x) { return matrix_norm(x[0], MatrixNorm::one); }, 32, true),
      one(
          "matrix_norm infinity", [](X x) { return matrix_norm(x[0], MatrixNorm::infinity); }, 32,
          true),
      one(
          "matrix_norm two", [](X x) { return matrix_norm(x[0], MatrixNorm::two); }, 1024, true),
      one(
          "trace", [](X x) { return trace(x[0]); }, 16, true),
  };
}

}  // namespace

const std::vector<OracleFunction>& oracle_functions() {
  static const Functions all = [] {
    Functions list;
    for (auto group : {elementwise, of_two, special_functions, shaping, indexing, sorting,
                       reductions, contractions, spectra, windows, linear_algebra, neural})
      append(list, group());
    return list;
  }();
  return all;
}

std::map<std::string, std::string> primitives_without_oracle() {
  const char* const closed = "its values are what it is asked for: tests/unit";
  const char* const program = "it does what its program does: tests/laws";
  return {{"constant", closed},
          {"captured", closed},
          {"iota", closed},
          {"random_bits", "the published vectors are in tests/unit/random_test.cc"},
          {"barrier", "it is the identity"},
          {"log_gamma_slope", "it is in the derivative of gamma numbers: tests/unit"},
          {"window_spread", "it is the transpose of window_sum"},
          {"window_select_sum", "it is in the derivative of window_max"},
          {"window_select_spread", "it is in the derivative of window_max"},
          {"call", program},
          {"cond", program},
          {"scan", program},
          {"while", program},
          {"custom_jvp", program},
          {"custom_vjp", program},
          {"custom_linear", program},
          {"reverse_only", "it only raises"},
          {"composite", program},
          {"checkpoint", program}};
}

}  // namespace hom
