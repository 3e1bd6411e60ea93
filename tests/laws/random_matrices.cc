// tests/laws/random_matrices.cc -- operands for primitives on matrices: square, well-conditioned,
// with eigenvalues apart, where the primitive or a derivative needs it
#include <cmath>
#include <set>

#include <hom/hom.h>
#include <hom/tests/laws/drawing.h>

namespace hom::laws {
namespace {

bool takes_any_matrix(const std::string& name) {
  return name == "lu" || name == "qr" || name == "svd" || name == "pinv";
}

/// The distance between neighbours in lists of `n`, at least; infinite where there are none.
double smallest_gap(const Tensor& sorted, std::int64_t n) {
  double least = std::numeric_limits<double>::infinity();
  const std::vector<double> values = sorted.to_vector();
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (static_cast<std::int64_t>(i) % n != 0)
      least = std::min(least, std::abs(values[i] - values[i - 1]));
  }
  return least;
}

bool all_above(const Tensor& x, double least) {
  return all(x, [&](double v) { return std::abs(v) > least; });
}

/// Whether each pivot of elimination is large, and larger than what else stands in its column.
bool pivots_stand_out(const Tensor& matrices) {
  const std::vector<double> values = matrices.to_vector();
  const auto n = static_cast<std::size_t>(matrices.extent(-1));
  const auto m = static_cast<std::size_t>(matrices.extent(-2));
  for (std::size_t first = 0; first < values.size(); first += m * n) {
    std::vector<double> a(values.begin() + static_cast<std::ptrdiff_t>(first),
                          values.begin() + static_cast<std::ptrdiff_t>(first + m * n));
    for (std::size_t j = 0; j < std::min(m, n); ++j) {
      std::size_t best = j;
      for (std::size_t i = j; i < m; ++i) {
        if (std::abs(a[i * n + j]) > std::abs(a[best * n + j])) best = i;
      }
      const double pivot = a[best * n + j];
      if (std::abs(pivot) < 0.2) return false;
      for (std::size_t i = j; i < m; ++i) {
        if (i != best && std::abs(pivot) - std::abs(a[i * n + j]) < 0.02) return false;
      }
      std::swap_ranges(a.begin() + static_cast<std::ptrdiff_t>(j * n),
                       a.begin() + static_cast<std::ptrdiff_t>((j + 1) * n),
                       a.begin() + static_cast<std::ptrdiff_t>(best * n));
      for (std::size_t i = j + 1; i < m; ++i) {
        const double factor = a[i * n + j] / pivot;
        for (std::size_t k = j; k < n; ++k) a[i * n + k] -= factor * a[j * n + k];
      }
    }
  }
  return true;
}

}  // namespace

bool is_for_matrices(const std::string& name) {
  static const std::set<std::string> names{
      "cholesky", "triangular_solve", "lu",       "lu_solve", "qr", "eigh",
      "svd",      "determinant",      "cofactor", "pinv"};
  return names.count(name) != 0;
}

bool matrix_is_smooth_at(const std::string& name, const Attributes& attributes,
                         std::span<const Tensor> x) {
  const Tensor& a = x[0];
  if (a.size() == 0) return true;
  const std::int64_t k = std::min(a.extent(-2), a.extent(-1));
  if (name == "cholesky") {
    const std::vector<double> values = eigvalsh(a).to_vector();
    return std::all_of(values.begin(), values.end(), [](double v) { return v > 0.2; });
  }
  if (name == "triangular_solve") return attributes.boolean("unit") || all_above(diagonal(a), 0.2);
  if (name == "lu") return pivots_stand_out(a);
  if (name == "lu_solve") {
    // Where the factors are not those of the matrix, the derivative is of no function.
    const Lu factors = lu(a);
    return array_equal(factors.packed, x[1]) && array_equal(factors.permutation, x[2]) &&
           all_above(singular_values(a), 0.2);
  }
  if (name == "qr") return all_above(diagonal(qr(a).r), 0.2);
  if (name == "eigh") return smallest_gap(eigvalsh(a), k) > 0.3;
  if (name == "svd") {
    const Tensor s = singular_values(a);
    return all_above(s, 0.3) && smallest_gap(s, k) > 0.3;
  }
  if (name == "pinv") return all_above(singular_values(a), 0.3);
  return true;
}

std::size_t Drawing::matrices(const Primitive& p, std::size_t x, Choices& choices) {
  const TensorType given = type(x);
  if (!p.dtypes.contains(given.dtype)) return x;
  const auto shaped = [&](std::size_t value, const Shape& shape) {
    return line(primitive("reshape"), {{"shape", {shape}}}, {value}).value_or(value);
  };
  const bool is_matrix = given.rank() >= 2;
  const bool is_square = is_matrix && given.shape.back() == given.shape[given.shape.size() - 2];
  if (!is_square && !(is_matrix && takes_any_matrix(p.name))) {
    std::int64_t n = 0;
    while ((n + 1) * (n + 1) <= given.size() && n < 4) ++n;
    if (given.size() == 0) {
      x = shaped(x, choices.one_in(2) ? Shape{0, 0} : Shape{0, 2, 2});
    } else {
      const std::int64_t count = given.size() / (n * n);
      x = shaped(x, {given.size()});
      x = line(primitive("slice"),
               {{"start", {Shape{0}}}, {"size", {Shape{count * n * n}}}, {"step", {Shape{1}}}}, {x})
              .value_or(x);
      x = shaped(x, count == 1 && choices.one_in(2) ? Shape{n, n} : Shape{count, n, n});
    }
  }
  if (wish_.domain != Domain::smooth || p.name == "determinant" || p.name == "cofactor") return x;
  // Moderate and, but for a small part, diagonal with values that are apart.
  const auto small = line("tanh", {x});
  if (!small) return x;
  const auto part = line("mul", {*small, number(0.3, *small)});
  if (!part) return x;
  const TensorType made = type(*part);
  const std::int64_t rows = made.shape[made.shape.size() - 2];
  const std::int64_t columns = made.shape.back();
  const TensorType grid = i64[{rows, columns}];
  const Tensor on_diagonal = iota(grid, 0) == iota(grid, 1);
  const Tensor ramp = where(on_diagonal, 1.5 * (iota(grid, 0).astype(f64) + 1.0), 0.0);
  const std::size_t apart = input(copy(broadcast_to(ramp, made.shape)));
  return line("add", {*part, apart}).value_or(x);
}

bool Drawing::draw_lu_solve(std::size_t a, Choices& choices) {
  const Primitive& p = primitive("lu_solve");
  const auto sketch = random_step(p, type(a), wish_.domain, choices);
  if (!sketch) return false;
  std::vector<std::size_t> operands{a};
  // Factors of the matrix itself; or, where values are not compared with differences, any.
  if (wish_.domain == Domain::smooth || choices.one_in(2)) {
    const auto factors = line("lu", {a});
    if (!factors) return false;
    operands.insert(operands.end(), {*factors, *factors + 1, find(sketch->operands[3], choices)});
  } else {
    for (std::size_t i = 1; i < 4; ++i)
      operands.push_back(input(sketch->operands[i].value(wish_.domain, choices)));
  }
  return line(p, sketch->attributes, operands).has_value();
}

}  // namespace hom::laws
