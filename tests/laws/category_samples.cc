// tests/laws/category_samples.cc -- random chains, and matrices from values on the basis
#include <hom/tests/laws/category_samples.h>

#include <algorithm>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom::laws {
namespace {

template <class F>
Matrices::Arrow matrix_of_function(const Environment& a, const Environment& b, const F& f) {
  Matrices::Arrow matrix{a, b, dimension(b), dimension(a), {}};
  matrix.entries.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
  Tensors x;
  for (const TensorType& type : a) x.push_back(zeros(type));
  std::int64_t column = 0;
  for (Tensor& factor : x) {
    const TensorType type = factor.type();
    for (std::int64_t k = 0; k < type.size(); ++k, ++column) {
      std::vector<double> basis(static_cast<std::size_t>(type.size()));
      basis[static_cast<std::size_t>(k)] = 1;
      factor = tensor(basis, type.shape).astype(type.dtype);
      std::int64_t row = 0;
      for (const Tensor& y : f(x)) {
        for (double value : y.to_vector()) matrix.at(row++, column) = value;
      }
    }
    factor = zeros(type);
  }
  return matrix;
}

}  // namespace

Chain random_chain(const RandomProgram& random, Choices& choices) {
  const Program whole = random.program();
  const auto steps = static_cast<std::int64_t>(whole.step_count());
  const std::int64_t first = choices.between(0, steps);
  const std::int64_t second = choices.between(first, steps);
  return chain_of(whole, static_cast<std::size_t>(first), static_cast<std::size_t>(second),
                  random.inputs);
}

Matrices::Arrow matrix_of(const Additive&, const Additive::Arrow& f) {
  return matrix_of_function(f.domain, f.codomain, f);
}

Matrices::Arrow matrix_of(const Programs& k, const Programs::Arrow& f) {
  const Program program = to_program(f);
  return matrix_of_function(k.domain(f), k.codomain(f),
                            [&](const Tensors& x) { return evaluate(program, x); });
}

Matrices::Arrow transposed(const Matrices::Arrow& f) {
  Matrices::Arrow t{f.codomain, f.domain, f.columns, f.rows, f.entries};
  for (std::int64_t i = 0; i < f.rows; ++i) {
    for (std::int64_t j = 0; j < f.columns; ++j) t.at(j, i) = f.at(i, j);
  }
  return t;
}

std::string difference(const Matrices::Arrow& got, const Matrices::Arrow& want) {
  if (got.domain != want.domain)
    return "domain " + categories::to_string(got.domain) + " instead of " +
           categories::to_string(want.domain);
  if (got.codomain != want.codomain)
    return "codomain " + categories::to_string(got.codomain) + " instead of " +
           categories::to_string(want.codomain);
  return difference(Tensors{to_tensor(got)}, Tensors{to_tensor(want)}, 1e-9);
}

std::string differ(const Functions<Arrays>&, const Functions<Arrays>::Arrow& f,
                   const Functions<Arrays>::Arrow& g, const Tensors& at, Choices&) {
  return difference_in_bits(f(at), g(at));
}

std::string differ(const Functions<Intervals>&, const Functions<Intervals>::Arrow& f,
                   const Functions<Intervals>::Arrow& g, const Tensors& at, Choices& choices) {
  std::vector<IntervalTensor> boxes;
  for (const Tensor& x : at) {
    const bool is_float = x.dtype().is_float();
    boxes.push_back(is_float ? IntervalTensor(x, x + 0.25 * choices.real(0, 1))
                             : IntervalTensor(x));
  }
  const std::vector<IntervalTensor> y = f(boxes);
  const std::vector<IntervalTensor> z = g(boxes);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (y[i].elements() != z[i].elements())
      return "result " + std::to_string(i) + ": " + to_string(y[i]) + " instead of " +
             to_string(z[i]);
  }
  return y.size() == z.size() ? "" : "another number of results";
}

std::string differ(const Functions<Sparsity>& c, const Functions<Sparsity>::Arrow& f,
                   const Functions<Sparsity>::Arrow& g, const Tensors& at, Choices&) {
  std::vector<Dependences> x;
  std::uint64_t next = 0;
  for (const Tensor& point : at) {
    if (point.dtype().is_float()) {
      x.push_back(c.algebra.inputs(point.type(), next));
      next += static_cast<std::uint64_t>(point.size());
    } else {
      x.push_back({point.type(), {}, point});
    }
  }
  const std::vector<Dependences> y = f(x);
  const std::vector<Dependences> z = g(x);
  if (y.size() != z.size()) return "another number of results";
  for (std::size_t i = 0; i < y.size(); ++i) {
    // Both have their sets in one table, so equal sets have equal ids.
    if (!c.algebra.same(y[i], z[i])) return "result " + std::to_string(i) + " has other sets";
    const bool same_value = y[i].known.is_empty() ||
                            difference_in_bits(Tensors{y[i].known}, Tensors{z[i].known}).empty();
    if (!same_value) return "result " + std::to_string(i) + " has another value";
  }
  return "";
}

std::string differ(const Programs& c, const Programs::Arrow& f, const Programs::Arrow& g,
                   const Tensors& at, Choices& choices) {
  if (c.domain(f) != c.domain(g)) return "the domains differ";
  if (c.codomain(f) != c.codomain(g)) return "the codomains differ";
  // Arrows of linear programs are tested at points of their own.
  Tensors x = at;
  bool fits = at.size() == c.domain(f).size();
  for (std::size_t i = 0; fits && i < at.size(); ++i) fits = at[i].type() == c.domain(f)[i];
  if (!fits) x = random_like(c.domain(f), choices);
  return difference(evaluate(to_program(f), x), evaluate(to_program(g), x), 1e-9);
}

}  // namespace hom::laws
