// categories/linear.h -- categories of linear arrows, and the driver that reads linear programs in
// them
//
// In a category of linear maps × is a product and a coproduct at once (a biproduct), so that what
// goes out of a product, `fork` and `project`, has a mirror image that comes in:
//
//     join(f, g)              f ▽ g : a × b → c, the sum of f ∘ exl and g ∘ exr
//     inject(a, positions)    the factors at these positions → a, zero elsewhere and summed where a
//                             position repeats: inl, inr, jam and the zero arrow at once
//     scale(s)                x ↦ s·x, element by element, for a fixed tensor s
//
// with the laws of Cartesian categories turned around, and where both meet
//
//     (f ▽ g) ∘ inl = f          (f ▽ g) ∘ inr = g          inl ▽ inr = id
//     h ∘ (f ▽ g) = (h ∘ f) ▽ (h ∘ g)
//     exl ∘ inl = id             exr ∘ inl = 0              (f ▽ g) ∘ (h △ k) = f ∘ h + g ∘ k
//     h ∘ (f + g) = h ∘ f + h ∘ g      (f + g) ∘ h = f ∘ h + g ∘ h
//
// `primitive` is given operations that are linear in what varies: neg, reduce_sum, or the section
// of dot_general by a known matrix.
//
// C. Elliott, "The Simple Essence of Automatic Differentiation" (2018), sections 4.4–4.6.
#pragma once

#include <hom/categories/read.h>

namespace hom::categories {

template <class K>
concept LinearCategory =
    Cartesian<K> && requires(const K& k, const typename K::Arrow& f, const Environment& a,
                             const Positions& positions, const Tensor& factor) {
      { k.join(f, f) } -> std::same_as<typename K::Arrow>;
      { k.inject(a, positions) } -> std::same_as<typename K::Arrow>;
      { k.scale(factor) } -> std::same_as<typename K::Arrow>;
    };

/// a → a × b
template <LinearCategory K>
typename K::Arrow inl(const K& k, const Environment& a, const Environment& b) {
  return k.inject(product(a, b), range(0, a.size()));
}
/// b → a × b
template <LinearCategory K>
typename K::Arrow inr(const K& k, const Environment& a, const Environment& b) {
  return k.inject(product(a, b), range(a.size(), b.size()));
}
/// a × a → a, the sum
template <LinearCategory K>
typename K::Arrow jam(const K& k, const Environment& a) {
  return k.inject(a, twice(a));
}
/// f + g = jam ∘ (f △ g)
template <LinearCategory K>
typename K::Arrow plus(const K& k, const typename K::Arrow& f, const typename K::Arrow& g) {
  return k.compose(jam(k, k.codomain(f)), k.fork(f, g));
}
/// a → b, through the unit
template <LinearCategory K>
typename K::Arrow zero(const K& k, const Environment& a, const Environment& b) {
  return k.compose(k.inject(b, {}), k.project(a, {}));
}

/// Why a primitive is linear in none of its operands, or empty: what categories of linear arrows
/// lack.
std::string lacks_linear(const Primitive& primitive);
/// Why an operation is not linear in the operands that vary, or empty.
std::string why_not_linear(const Operation& operation);
/// Whether every element is 0 or −0.
bool all_zero(const Tensor& x);

/// A program read with some inputs known: the outputs that do not depend on the others, and the
/// arrow from the others to the remaining outputs.
template <LinearCategory K>
struct PartialArrow {
  /// One for each output; empty where it varies.
  Tensors known;
  typename K::Arrow arrow;
};

/// The program where the inputs that `known` has (one for each input, empty where it varies) are
/// fixed. Steps that depend on nothing else are computed at once; of the others those operands
/// become `Operation::known`. A `cond` is the arrow of the branch that its predicate chooses.
template <LinearCategory K>
PartialArrow<K> read_partial(const K& k, const Program& program, const Tensors& known);

/// The arrow of a linear program whose first inputs are the given residuals, as in
/// `Linearization::linear`, from the other inputs to the outputs. Throws `Error` at the line of a
/// step that is not linear.
template <LinearCategory K>
typename K::Arrow read_linear(const K& k, const Program& program, const Tensors& residuals = {}) {
  Tensors known = residuals;
  known.resize(program.inputs().size());
  const PartialArrow<K> partial = read_partial(k, program, known);
  Positions varying;
  for (std::size_t i = 0; i < partial.known.size(); ++i) {
    if (partial.known[i].is_empty()) {
      varying.push_back(i);
    } else if (!all_zero(partial.known[i])) {
      fail({k.name() + ": output " + std::to_string(i) + " is constant and not 0",
            "linear arrows take 0 to 0; read other programs in a category such as GAD"},
           Location::current());
    }
  }
  return k.compose(k.inject(program.output_types(), varying), partial.arrow);
}

namespace detail {

/// The walk of `read_partial`: the arrow so far, to the slots that vary and are in use.
template <LinearCategory K>
class PartialReading {
 public:
  PartialReading(const K& k, const Program& program, const Tensors& known)
      : k_(k), program_(program), last_use_(last_uses(program)), known_(program.slot_count()) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      known_[program.inputs()[i]] = known[i];
      if (known[i].is_empty()) live_.slots.push_back(program.inputs()[i]);
    }
    arrow_ = k.id(live_.types(program));
  }

  PartialArrow<K> result() {
    for (std::size_t i = 0; i < program_.step_count(); ++i) step(i);
    PartialArrow<K> result;
    std::vector<Slot> varying;
    for (Slot slot : program_.outputs()) {
      result.known.push_back(known_[slot]);
      if (known_[slot].is_empty()) varying.push_back(slot);
    }
    result.arrow = k_.compose(k_.project(live_.types(program_), live_.places_of(varying)), arrow_);
    return result;
  }

 private:
  void step(std::size_t index) {
    const Step step = program_.step(index);
    Operation operation = operation_of(program_, step);
    std::vector<Slot> varying;
    for (std::size_t i = 0; i < step.operands.size(); ++i) {
      operation.known[i] = known_[step.operands[i]];
      if (operation.known[i].is_empty()) varying.push_back(step.operands[i]);
    }
    if (varying.empty()) {
      set_results(step, operation({}));
      return;
    }
    const PartialArrow<K> inner = arrow_of(operation);
    set_results(step, inner.known);
    const Environment environment = live_.types(program_);
    const Positions kept = live_.needed_after(index, last_use_);
    typename K::Arrow next =
        k_.compose(inner.arrow, k_.project(environment, live_.places_of(varying)));
    if (!kept.empty()) next = k_.fork(k_.project(environment, kept), next);
    arrow_ = k_.compose(next, arrow_);

    LiveSlots after;
    for (std::size_t place : kept) after.slots.push_back(live_.slots[place]);
    for (std::uint32_t r = 0; r < step.result_count; ++r) {
      if (inner.known[r].is_empty()) after.slots.push_back(step.first_result + r);
    }
    live_ = std::move(after);
  }

  void set_results(const Step& step, const Tensors& results) {
    for (std::uint32_t r = 0; r < step.result_count; ++r)
      known_[step.first_result + r] = results[r];
  }

  PartialArrow<K> arrow_of(const Operation& operation) {
    if (const ProgramPtr program = decomposition(operation))
      return read_partial(k_, *program, operation.known);
    if (operation.is("barrier")) return {operation.known, k_.id(operation.domain())};
    if (operation.is("cond") && !operation.varies(0)) {
      const char* branch = operation.known[0].item<bool>() ? "then" : "otherwise";
      return read_partial(k_, *operation.attributes.program(branch),
                          Tensors(operation.known.begin() + 1, operation.known.end()));
    }
    std::string reason = k_.lacks(*operation.primitive);
    if (reason.empty()) reason = why_not_linear(operation);
    if (!reason.empty()) fail_operation(k_.name(), operation, reason);
    return {Tensors(operation.results.size()), k_.primitive(operation)};
  }

  const K& k_;
  const Program& program_;
  std::vector<std::size_t> last_use_;
  Tensors known_;
  LiveSlots live_;
  typename K::Arrow arrow_;
};

}  // namespace detail

template <LinearCategory K>
PartialArrow<K> read_partial(const K& k, const Program& program, const Tensors& known) {
  ensure(known.size() == program.inputs().size(), "read_partial: one entry for each input");
  return detail::PartialReading<K>(k, program, known).result();
}

}  // namespace hom::categories
