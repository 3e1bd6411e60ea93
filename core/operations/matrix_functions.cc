// core/operations/matrix_functions.cc -- least squares, functions and norms of matrices
#include <hom/core/operations/matrix_functions.h>

#include <algorithm>
#include <array>
#include <limits>

#include <hom/core/capture.h>
#include <hom/core/loops.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/linear_algebra.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

/// The type of a matrix or a batch of them, square if asked. Throws for others.
TensorType matrix_type(const char* name, const Operand& a, bool square = false) {
  const TensorType type = a.value().type(a.at());
  require(type.rank() >= 2, a.at(), [&] {
    return Complaint{
        std::string(name) + ": takes a matrix, or a batch of them, got " + to_string(type),
        "the matrix is the last two axes; expand_dims adds one"};
  });
  require(type.dtype == f32 || type.dtype == f64, a.at(), [&] {
    return Complaint{std::string(name) + ": takes f32 or f64, got " + to_string(type),
                     "convert with astype"};
  });
  require(!square || type.shape.back() == type.shape[type.shape.size() - 2], a.at(), [&] {
    return Complaint{std::string(name) + ": takes square matrices […, n, n], got " +
                     to_string(type)};
  });
  return type;
}

double cutoff_for(const TensorType& type, std::optional<double> cutoff) {
  const double epsilon = type.dtype == f32 ? std::numeric_limits<float>::epsilon()
                                           : std::numeric_limits<double>::epsilon();
  const std::int64_t longest = std::max(type.shape.back(), type.shape[type.shape.size() - 2]);
  return cutoff.value_or(epsilon * static_cast<double>(longest));
}

/// The numerator of the Padé approximant to eˣ of degree d over its constant term: bₖ = (2d − k)!
/// d!/((2d)! k! (d − k)!).
std::vector<double> coefficients_of(int degree) {
  std::vector<double> b{1};
  for (int k = 1; k <= degree; ++k)
    b.push_back(b.back() * (degree - k + 1) / (k * (2.0 * degree - k + 1)));
  return b;
}

/// (even − odd)⁻¹(even + odd), the Padé approximant to e^a.
Tensor pade(const Tensor& a, const Tensor& unit, int degree) {
  const std::vector<double> b = coefficients_of(degree);
  std::vector<Tensor> powers{unit, matmul(a, a)};  // of a²
  for (int k = 2; k <= 3; ++k) powers.push_back(matmul(powers.back(), powers[1]));
  const auto part = [&](int first) {
    // Powers from 8 on are a⁶ times others.
    Tensor low = b[static_cast<std::size_t>(first)] * powers[0];
    Tensor high;
    for (int k = 1; 2 * k + first <= degree; ++k) {
      const double factor = b[static_cast<std::size_t>(2 * k + first)];
      if (k <= 3) {
        low = low + factor * powers[static_cast<std::size_t>(k)];
      } else {
        const Tensor term = factor * powers[static_cast<std::size_t>(k - 3)];
        high = high.is_empty() ? term : high + term;
      }
    }
    return high.is_empty() ? low : low + matmul(powers[3], high);
  };
  const Tensor even = part(0);
  const Tensor odd = matmul(a, part(1));
  const Tensor denominator = even - odd;
  return solve(denominator, even + odd);
}

}  // namespace

Tensor pinv(const Operand& a, std::optional<double> cutoff) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = matrix_type("pinv", a);
  return apply_one(primitive("pinv"), {{"cutoff", {cutoff_for(type, cutoff)}}}, {a.value()},
                   a.at());
}

Tensor lstsq(const Operand& a, const Operand& b, std::optional<double> cutoff) {
  const LocationScope line(LocationScope::current(b.at()));
  const TensorType left = matrix_type("lstsq", a);
  const TensorType right = b.value().type(b.at());
  const bool is_vector = right.rank() == 1;
  const std::int64_t rows = right.rank() == 0 ? -1
                            : is_vector       ? right.shape[0]
                                              : right.shape[right.shape.size() - 2];
  require(rows == left.shape[left.shape.size() - 2], b.at(), [&] {
    return Complaint{"lstsq: the right side " + to_string(right) +
                         " does not have the rows of the matrix " + to_string(left),
                     "it is a vector [m], or columns […, m, k]"};
  });
  return matmul(pinv(a, cutoff), b);
}

Tensor matrix_rank(const Operand& a, std::optional<double> cutoff) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = matrix_type("matrix_rank", a);
  const Tensor s = singular_values(a);
  const Tensor least = cutoff_for(type, cutoff) * max_or(s, 0, -1, Keep::yes);
  return sum((s > least).astype(i64), -1);
}

Tensor expm(const Operand& a) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = matrix_type("expm", a, true);
  if (type.size() == 0) return a.value();
  // The degree and the largest norm at which its error is below the precision of the dtype: table
  // 2.3 of the paper.
  const int degree = type.dtype == f32 ? 7 : 13;
  const double largest = type.dtype == f32 ? 3.925724783138660 : 5.371920351148152;
  constexpr std::int64_t most_squarings = 64;
  const Tensor x = a.value();
  const Tensor norm = stop_gradient(matrix_norm(x, MatrixNorm::one));
  const Tensor wanted = ceil(log2(norm / largest));
  // NaN and −∞ convert to integers that are clamped, too.
  const Tensor count = clamp(wanted.astype(i64), 0, most_squarings);
  const Tensor squarings = expand_dims(expand_dims(count, -1), -1);
  const Tensor factor = pow(2.0, -squarings.astype(type.dtype));
  const std::int64_t n = type.shape.back();
  const Tensor unit = broadcast_to(eye(n, type.dtype), type.shape);
  const Tensor start = pade(x * factor, unit, degree);
  const Tensor rounds = max(count);
  const auto goes_on = [&](const Tensor& round, const Tensor&) { return round < rounds; };
  const auto square_once = [&](const Tensor& round, const Tensor& power) {
    const Tensor squared = matmul(power, power);
    return std::pair{round + 1, where(round < squarings, squared, power)};
  };
  return while_loop(goes_on, square_once, std::pair{zeros({}, i64), start},
                    {.bound = most_squarings})
      .second;
}

Tensor matrix_power(const Operand& a, std::int64_t k) {
  const LocationScope line(LocationScope::current(a.at()));
  const TensorType type = matrix_type("matrix_power", a, true);
  Tensor power = k < 0 ? inverse(a) : a.value();
  if (k == 0) return broadcast_to(eye(type.shape.back(), type.dtype), type.shape);
  Tensor product;
  std::uint64_t rest = k < 0 ? -static_cast<std::uint64_t>(k) : static_cast<std::uint64_t>(k);
  for (;;) {
    if (rest % 2 == 1) product = product.is_empty() ? power : matmul(product, power);
    rest /= 2;
    if (rest == 0) return product;
    power = matmul(power, power);
  }
}

Tensor matrix_norm(const Operand& a, MatrixNorm kind) {
  const LocationScope line(LocationScope::current(a.at()));
  static_cast<void>(matrix_type("matrix_norm", a));
  switch (kind) {
    case MatrixNorm::frobenius:
      return norm(a, {-2, -1});
    case MatrixNorm::one:
      return max_or(sum(abs(a), -2), 0, -1);
    case MatrixNorm::infinity:
      return max_or(sum(abs(a), -1), 0, -1);
    case MatrixNorm::nuclear:
    case MatrixNorm::two:
      break;
  }
  // A value of 0 has a kink there, like a norm.
  const Tensor s = singular_values(a);
  const Tensor guarded = where(s == 0, 0, s);
  return kind == MatrixNorm::nuclear ? sum(guarded, -1) : max_or(guarded, 0, -1);
}

Tensor trace(const Operand& a) {
  const LocationScope line(LocationScope::current(a.at()));
  return sum(diagonal(a), -1);
}

Tensor diagonal_matrix(const Operand& v) {
  const LocationScope line(LocationScope::current(v.at()));
  const TensorType type = v.value().type(v.at());
  require(type.rank() >= 1, v.at(), [&] {
    return Complaint{"diagonal_matrix: takes a vector, or a batch of them, got " + to_string(type)};
  });
  const TensorType square = i64[{type.shape.back(), type.shape.back()}];
  const Tensor row = iota(square, 0);
  return where(row == iota(square, 1), expand_dims(v, -1), false);
}

}  // namespace hom
