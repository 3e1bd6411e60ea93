// core/operations/einsum.cc -- subscripts as diagonals, sums, and contractions of pairs
#include <hom/core/operations/einsum.h>

#include <algorithm>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/operations/subscripts.h>

namespace hom {
namespace {

/// An operand, with a label for each of its axes.
struct Term {
  Tensor x;
  Labels labels;

  std::int64_t axis_of(int label) const {
    return std::find(labels.begin(), labels.end(), label) - labels.begin();
  }
  Shape axes_of(const Labels& wanted) const {
    Shape axes;
    for (int label : wanted) axes.push_back(axis_of(label));
    return axes;
  }
};

/// Axes that share the label become one: the flat elements n^k with a step that goes along the
/// diagonal, where the first of these axes was.
void take_diagonal(Term& term, int label) {
  Shape same;
  Shape order;
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    (term.labels[i] == label ? same : order).push_back(static_cast<std::int64_t>(i));
  }
  const std::int64_t place = term.axis_of(label);
  order.insert(order.begin() + place, same.begin(), same.end());
  const Tensor x = transpose(term.x, order);
  const Shape shape = x.shape();
  const std::int64_t n = shape[static_cast<std::size_t>(place)];
  std::int64_t flat = 1;
  std::int64_t along = 0;
  for (std::size_t i = 0; i < same.size(); ++i) {
    along += flat;
    flat *= n;
  }
  Shape size(shape.begin(), shape.begin() + place);
  size.push_back(flat);
  size.insert(size.end(), shape.begin() + place + signed_size(same), shape.end());
  const Tensor elements = reshape(x, size);
  Shape step(size.size(), 1);
  step[static_cast<std::size_t>(place)] = along;
  size[static_cast<std::size_t>(place)] = n;
  term.x = slice(elements, Shape(size.size(), 0), size, step);
  Labels labels;
  for (int each : term.labels) {
    if (each != label || !contains(labels, label)) labels.push_back(each);
  }
  term.labels = std::move(labels);
}

void take_diagonals(Term& term) {
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    const int label = term.labels[i];
    if (std::count(term.labels.begin(), term.labels.end(), label) > 1) take_diagonal(term, label);
  }
}

/// Without the axes of extent 1 that are to broadcast.
void drop_repeated_axes(Term& term, const std::map<int, std::int64_t>& extents) {
  Shape shape;
  Labels labels;
  const Shape own = term.x.shape();
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != extents.at(term.labels[i])) continue;
    shape.push_back(own[i]);
    labels.push_back(term.labels[i]);
  }
  term.x = reshape(term.x, shape);
  term.labels = std::move(labels);
}

/// Whether there was anything to sum.
bool sum_what_nobody_needs(Term& term, const Labels& needed) {
  Shape axes;
  Labels labels;
  for (std::size_t i = 0; i < term.labels.size(); ++i) {
    if (contains(needed, term.labels[i])) {
      labels.push_back(term.labels[i]);
    } else {
      axes.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (axes.empty()) return false;
  term.x = sum(term.x, Axes(axes));
  term.labels = std::move(labels);
  return true;
}

/// The operand as a view with these labels: in their order, and repeated along those it lacks.
Tensor aligned(const Term& term, const Labels& labels, const std::map<int, std::int64_t>& extents) {
  Shape permutation;
  Shape axes;
  Shape shape;
  for (int label : labels) {
    if (contains(term.labels, label)) {
      permutation.push_back(term.axis_of(label));
      axes.push_back(signed_size(shape));
    }
    shape.push_back(extents.at(label));
  }
  const Tensor ordered = transpose(term.x, permutation);
  return shape == ordered.shape() ? ordered : broadcast_in_dim(ordered, shape, axes);
}

/// The product of two operands, summed over the labels that nobody needs.
Term contracted(const Term& a, const Term& b, const Labels& needed,
                const std::map<int, std::int64_t>& extents) {
  Labels batch;
  Labels summed;
  Labels own;
  Labels others;
  for (int label : a.labels) {
    const bool shared = contains(b.labels, label);
    (!shared ? own : contains(needed, label) ? batch : summed).push_back(label);
  }
  for (int label : b.labels) {
    if (!contains(a.labels, label)) others.push_back(label);
  }
  const Labels labels = united(united(batch, own), others);
  // Without a sum, and with nothing to pair with everything: element by element.
  if (summed.empty() && (own.empty() || others.empty())) {
    const Tensor left = aligned(a, labels, extents);
    const Tensor right = aligned(b, labels, extents);
    return {left * right, labels};
  }
  return {dot_general(a.x, b.x,
                      {a.axes_of(summed), b.axes_of(summed), a.axes_of(batch), b.axes_of(batch)}),
          labels};
}

Tensor summed_products(std::string_view text, std::vector<Tensor> operands, const Location& at) {
  std::vector<TensorType> types;
  for (const Tensor& x : operands) types.push_back(x.type());
  const Subscripts subscripts = subscripts_of(text, types, at);
  const Dtype dtype = operands[0].dtype();

  std::vector<Term> terms;
  std::vector<Labels> needed(operands.size(), subscripts.result);
  bool sums_first = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = 0; j < operands.size(); ++j) {
      if (i != j) needed[i] = united(needed[i], subscripts.operands[j]);
    }
    for (int label : subscripts.operands[i]) sums_first = sums_first || !contains(needed[i], label);
  }
  require(!dtype.is_bool() || (operands.size() == 1 && !sums_first), at, [&] {
    return Complaint{"einsum: \"" + std::string(text) + "\" adds or multiplies bool",
                     "convert with astype(i64)"};
  });
  const std::size_t roundings = operands.size() - 1 + (sums_first ? 1 : 0);
  const bool widen = dtype.is_float() && dtype.size() == 2 && roundings > 1;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Term term{widen ? convert(operands[i], f32) : operands[i], subscripts.operands[i]};
    take_diagonals(term);
    drop_repeated_axes(term, subscripts.extents);
    sum_what_nobody_needs(term, needed[i]);
    terms.push_back(std::move(term));
  }

  std::vector<Labels> labels;
  for (const Term& term : terms) labels.push_back(term.labels);
  for (const auto& [i, j] : contraction_order(labels, subscripts.result, subscripts.extents)) {
    const Term a = terms[i];
    const Term b = terms[j];
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
    Labels still = subscripts.result;
    for (const Term& other : terms) still = united(still, other.labels);
    terms.push_back(contracted(a, b, still, subscripts.extents));
  }
  const Tensor result = transpose(terms[0].x, terms[0].axes_of(subscripts.result));
  return widen ? convert(result, dtype) : result;
}

Tensor of_operands(std::string_view text, std::initializer_list<const Operand*> operands) {
  const std::span<const Operand* const> list(operands.begin(), operands.size());
  const LocationScope line(LocationScope::current(list.back()->at()));
  const Dtype dtype = common_dtype(list);
  std::vector<Tensor> tensors;
  for (const Operand* operand : list) tensors.push_back(operand->as(dtype));
  return summed_products(text, std::move(tensors), list.back()->at());
}

}  // namespace

Tensor einsum(std::string_view subscripts, const Operand& a) {
  return of_operands(subscripts, {&a});
}
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b) {
  return of_operands(subscripts, {&a, &b});
}
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c) {
  return of_operands(subscripts, {&a, &b, &c});
}
Tensor einsum(std::string_view subscripts, const Operand& a, const Operand& b, const Operand& c,
              const Operand& d) {
  return of_operands(subscripts, {&a, &b, &c, &d});
}

Tensor einsum(std::string_view subscripts, std::initializer_list<Operand> operands) {
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  const Location at = operands.size() ? operands.begin()->at() : Location::current();
  const LocationScope line(LocationScope::current(at));
  require(operands.size() > 0, at, [] { return Complaint{"einsum: no operands"}; });
  const Dtype dtype = common_dtype(pointers);
  std::vector<Tensor> tensors;
  for (const Operand& operand : operands) tensors.push_back(operand.as(dtype));
  return summed_products(subscripts, std::move(tensors), at);
}

Tensor einsum(std::string_view subscripts, std::span<const Tensor> operands, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require(!operands.empty(), at, [] { return Complaint{"einsum: no operands"}; });
  Dtype dtype = operands[0].dtype();
  for (const Tensor& x : operands) dtype = promote(dtype, x.dtype());
  std::vector<Tensor> tensors;
  for (const Tensor& x : operands) tensors.push_back(convert(x, dtype));
  return summed_products(subscripts, std::move(tensors), at);
}

}  // namespace hom
