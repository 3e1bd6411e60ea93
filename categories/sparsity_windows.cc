// categories/sparsity_windows.cc -- rules for sliding windows and convolutions
#include <hom/categories/sparsity_rule.h>
#include <hom/core/windows.h>

namespace hom::categories {
namespace {

/// Each window on what lies in it.
Tensor gathered(IndexSets& sets, const Operation& step, const Tensor& of) {
  const Tensor from = row_major(of);
  const auto windows = window_elements(window_axes(step.attributes, of.shape()));
  SetTensor result(step.results[0].shape);
  std::vector<IndexSets::Id> list;
  for (std::int64_t o = 0; o < result.size(); ++o) {
    list.clear();
    for (std::size_t element : windows[static_cast<std::size_t>(o)])
      list.push_back(ids(from)[element]);
    result[o] = sets.unite(list);
  }
  return result.tensor();
}

/// Each element on the windows in which it lies.
Tensor spread(IndexSets& sets, const Operation& step, const Tensor& of) {
  const Tensor from = row_major(of);
  SetTensor result(step.results[0].shape);
  const auto windows = window_elements(window_axes(step.attributes, step.results[0].shape));
  std::vector<std::vector<IndexSets::Id>> lists(static_cast<std::size_t>(result.size()));
  for (std::size_t o = 0; o < windows.size(); ++o) {
    for (std::size_t element : windows[o]) lists[element].push_back(ids(from)[o]);
  }
  for (std::int64_t e = 0; e < result.size(); ++e)
    result[e] = sets.unite(lists[static_cast<std::size_t>(e)]);
  return result.tensor();
}

/// A rule in the operand that varies; the others only say what is selected.
template <Tensor (*rule)(IndexSets&, const Operation&, const Tensor&)>
SparsityRule in_operand(std::size_t operand) {
  return [operand](IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
    return x[operand].sets.is_empty() ? Tensor() : rule(sets, step, x[operand].sets);
  };
}

/// One operand of a convolution, row-major: its sets, and where it is a zero that is known.
struct Factor {
  Tensor sets;
  std::vector<double> known;

  explicit Factor(const Dependences& x) : sets(row_major(sets_of(x))) {
    if (!x.known.is_empty()) known = x.known.to_vector();
  }
  bool is_zero(std::size_t i) const { return !known.empty() && known[i] == 0; }
};

/// On the places that the kernel meets, in the channels of the group, and on the kernel there.
Tensor convolution(IndexSets& sets, const Operation& step, std::span<const Dependences> x) {
  const Shape& shape = x[0].type.shape;
  const Shape& kernel = x[1].type.shape;
  const std::vector<ConvolutionAxis> axes = convolution_axes(step.attributes, shape, kernel);
  const Factor data(x[0]);
  const Factor weights(x[1]);
  const std::int64_t in = kernel[kernel.size() - 2];
  const std::int64_t channels = step.results[0].shape.back();
  const std::int64_t out = channels / step.attributes.integer("groups");
  std::int64_t outputs = 1;
  std::int64_t places = 1;
  for (const ConvolutionAxis& axis : axes) {
    outputs *= axis.count();
    places *= axis.kernel;
  }
  SetTensor result(step.results[0].shape);
  std::vector<IndexSets::Id> list;
  for (std::int64_t e = 0; e < result.size(); ++e) {
    const std::int64_t channel = e % channels;
    list.clear();
    for (std::int64_t k = 0; k < places; ++k) {
      // The place in x, from the last axis to the first.
      std::int64_t o = e / channels % outputs;
      std::int64_t rest = k;
      std::int64_t element = 0;
      std::int64_t stride = 1;
      bool is_inside = true;
      for (std::size_t i = axes.size(); i-- > 0;) {
        const std::int64_t along = axes[i].element(o % axes[i].count(), rest % axes[i].kernel);
        o /= axes[i].count();
        rest /= axes[i].kernel;
        is_inside = is_inside && along >= 0;
        element += along * stride;
        stride *= axes[i].extent;
      }
      if (!is_inside) continue;
      element += e / channels / outputs * stride;
      for (std::int64_t c = 0; c < in; ++c) {
        const auto weight = static_cast<std::size_t>((k * in + c) * channels + channel);
        const auto own = static_cast<std::size_t>(element * shape.back() + channel / out * in + c);
        if (!weights.is_zero(weight)) list.push_back(ids(data.sets)[own]);
        if (!data.is_zero(own)) list.push_back(ids(weights.sets)[weight]);
      }
    }
    result[e] = sets.unite(list);
  }
  return result.tensor();
}

}  // namespace

void add_window_sparsity(SparsityRules& rules) {
  for (const char* name : {"window_sum", "window_max", "window_min"})
    rules[name] = in_operand<gathered>(0);
  rules["window_spread"] = in_operand<spread>(0);
  rules["window_select_sum"] = in_operand<gathered>(2);
  rules["window_select_spread"] = in_operand<spread>(2);
  rules["conv_general"] = convolution;
}

}  // namespace hom::categories
