// categories/sparsity_windows.cc -- rules for sliding windows and convolutions: each result depends
// on what its window has
#include <hom/categories/sparsity_rule.h>
#include <hom/core/windows.h>

namespace hom::categories {
namespace {

/// The numbers of what goes into each element of a result, united.
Tensor united_groups(IndexSets& sets, const Tensor& of,
                     const std::vector<std::vector<std::size_t>>& groups, const Shape& shape) {
  const Tensor all = row_major(of);
  SetTensor result(shape);
  std::vector<IndexSets::Id> terms;
  for (std::int64_t k = 0; k < result.size(); ++k) {
    terms.clear();
    for (std::size_t i : groups[static_cast<std::size_t>(k)]) terms.push_back(ids(all)[i]);
    result[k] = sets.unite(terms);
  }
  return result.tensor();
}

/// Windows of the elements, or the other way about: the windows that hold each element.
std::vector<std::vector<std::size_t>> groups_of(const Operation& step, const Shape& elements,
                                                bool of_elements) {
  const auto windows = window_elements(window_axes(step.attributes, elements));
  if (!of_elements) return windows;
  std::vector<std::vector<std::size_t>> holders(static_cast<std::size_t>(element_count(elements)));
  for (std::size_t o = 0; o < windows.size(); ++o) {
    for (std::size_t i : windows[o]) holders[i].push_back(o);
  }
  return holders;
}

Tensor windowed(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  return united_groups(sets, x[0].sets, groups_of(step, x[0].type.shape, false),
                       step.results[0].shape);
}

Tensor spread(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Shape& shape = step.results[0].shape;
  return united_groups(sets, x[0].sets, groups_of(step, shape, true), shape);
}

/// What selects has slope zero.
Tensor selected(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  if (x[2].sets.is_empty()) return {};
  return united_groups(sets, x[2].sets,
                       groups_of(step, x[0].type.shape, step.is("window_select_spread")),
                       step.results[0].shape);
}

/// One operand of a convolution: its sets, and its values where they are known.
struct Factor {
  Tensor sets;
  std::vector<double> values;

  explicit Factor(const Dependences& x) {
    if (!x.sets.is_empty()) sets = row_major(x.sets);
    if (!x.known.is_empty()) values = x.known.to_vector();
  }
  bool is_zero(std::size_t i) const { return !values.empty() && values[i] == 0; }
  void add(std::vector<IndexSets::Id>& terms, std::size_t i) const {
    if (!sets.is_empty()) terms.push_back(ids(sets)[i]);
  }
};

/// On both factors of each product, unless the other one is known to be 0.
Tensor convolution(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Shape& shape = x[0].type.shape;
  const Shape& kernel = x[1].type.shape;
  const auto axes = convolution_axes(step.attributes, shape, kernel);
  const Factor image(x[0]);
  const Factor weights(x[1]);
  const std::int64_t in = kernel[kernel.size() - 2];
  const std::int64_t channels = kernel.back();
  const std::int64_t out = channels / step.attributes.integer("groups");
  std::int64_t places = 1;
  for (const ConvolutionAxis& axis : axes) places *= axis.kernel;
  SetTensor result(step.results[0].shape);
  std::vector<IndexSets::Id> terms;
  for (std::int64_t e = 0; e < result.size(); ++e) {
    terms.clear();
    for (std::int64_t k = 0; k < places; ++k) {
      std::int64_t output = e / channels;
      std::int64_t tap = k;
      std::int64_t element = 0;
      std::int64_t step_size = 1;
      bool is_inside = true;
      for (std::size_t i = axes.size(); i-- > 0;) {
        const std::int64_t along = axes[i].element(output % axes[i].count(), tap % axes[i].kernel);
        output /= axes[i].count();
        tap /= axes[i].kernel;
        is_inside = is_inside && along >= 0;
        element += along * step_size;
        step_size *= axes[i].extent;
      }
      if (!is_inside) continue;
      element += output * step_size;
      for (std::int64_t c = 0; c < in; ++c) {
        const auto a =
            static_cast<std::size_t>(element * shape.back() + e % channels / out * in + c);
        const auto b = static_cast<std::size_t>((k * in + c) * channels + e % channels);
        if (!weights.is_zero(b)) image.add(terms, a);
        if (!image.is_zero(a)) weights.add(terms, b);
      }
    }
    result[e] = sets.unite(terms);
  }
  return result.tensor();
}

}  // namespace

void add_window_sparsity(SparsityRules& rules) {
  for (const char* name : {"window_sum", "window_max", "window_min"}) rules[name] = windowed;
  rules["window_spread"] = spread;
  for (const char* name : {"window_select_sum", "window_select_spread"}) rules[name] = selected;
  rules["conv_general"] = convolution;
}

}  // namespace hom::categories
