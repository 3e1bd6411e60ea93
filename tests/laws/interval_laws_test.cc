// tests/laws/interval_laws_test.cc -- intervals contain every value, whatever is rounded where
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <hom/categories/interval.h>
#include <hom/hom.h>
#include <hom/tests/laws/drawing.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

using categories::IntervalArithmetic;
using categories::Intervals;
using Boxes = std::vector<IntervalTensor>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// ---- every value of a random program at a random point of a box ----

/// One input as a box around it: most often narrow, sometimes a point or wide; integers and bools
/// are points, or ranges where asked for.
IntervalTensor random_box(const Tensor& x, bool ranges, Choices& choices) {
  const TensorType type = x.type();
  const double radius = choices.one_in(4) ? 0 : std::ldexp(1.0, -choices.between(0, 20));
  std::vector<Interval> elements;
  const IntervalTensor point(x);
  for (const Interval& element : point.elements()) {
    const double value = element.lo;
    if (element.is_empty()) {
      elements.push_back({inf, -inf, true});
    } else if (type.dtype.is_float()) {
      const auto rounded = [&](double end) { return tensor(end, type.dtype).item<double>(); };
      const double low = std::min(value, rounded(value - radius * choices.real(0, 1)));
      const double high = std::max(value, rounded(value + radius * choices.real(0, 1)));
      elements.push_back({low, high, false});
    } else if (ranges && std::abs(value) < 100) {
      elements.push_back({type.dtype.is_bool() || type.dtype.is_unsigned_integer()
                              ? 0
                              : value - static_cast<double>(choices.below(3)),
                          type.dtype.is_bool() ? 1 : value + static_cast<double>(choices.below(3)),
                          false});
    } else {
      elements.push_back(element);
    }
  }
  if (!ranges && !type.dtype.is_float()) return x;
  return {type, std::move(elements)};
}

/// A point of the box: ends, and what lies between.
Tensor random_point(const IntervalTensor& box, Choices& choices) {
  if (!box.exact().is_empty()) return box.exact();
  std::vector<double> values;
  for (const Interval& x : box.elements()) {
    if (x.is_empty()) {
      values.push_back(nan);
      continue;
    }
    const double between = x.lo + (x.hi - x.lo) * choices.real(0, 1);
    values.push_back(choices.one_in(4) ? x.lo : choices.one_in(4) ? x.hi : between);
  }
  return tensor(values, box.type().shape).astype(box.type().dtype);
}

/// What the category refuses by name.
std::vector<std::string> without_bounds() {
  std::vector<std::string> names;
  for (const Primitive* p : standard_primitives().all()) {
    if (!Intervals{}.lacks(*p).empty()) names.push_back(p->name);
  }
  return names;
}

struct Counts {
  std::int64_t elements = 0;
  std::int64_t narrow = 0;
};

std::string bounds_contain_values(const RandomProgram& program, Choices& choices, bool ranges,
                                  Counts& counts) {
  const Program captured = program.program();
  Boxes boxes;
  for (const Tensor& x : program.inputs) boxes.push_back(random_box(x, ranges, choices));
  const Boxes bounds = interpret(Intervals{}, captured, boxes);
  for (int sample = 0; sample < 4; ++sample) {
    Tensors point;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      point.push_back(sample == 0 ? program.inputs[i] : random_point(boxes[i], choices));
      // Large integers are rounded on their way through f64.
      if (!boxes[i].contains(point.back())) point.back() = program.inputs[i];
    }
    Tensors values;
    try {
      values = evaluate(captured, point);
    } catch (const Error&) {
      continue;  // a read outside a tensor, of this point only
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (bounds[k].type() != values[k].type()) return "a bound has another type than its value";
      if (!bounds[k].contains(values[k])) {
        const std::vector<double> list = values[k].to_vector();
        for (std::size_t i = 0; i < list.size(); ++i) {
          if (bounds[k].elements()[i].contains(list[i])) continue;
          return "result " + std::to_string(k) + ", element " + std::to_string(i) + ": " +
                 hom::to_string(list[i]) + " is not in " + to_string(bounds[k].elements()[i]);
        }
      }
      for (const Interval& bound : bounds[k].elements()) {
        ++counts.elements;
        counts.narrow += bound.hi - bound.lo <= 10 && !bound.may_be_nan;
      }
    }
  }
  return "";
}

void bounds_contain_values(const char* law, int cases, int lines, const Wish& wish, bool ranges,
                           double narrow) {
  Counts counts;
  for_random_programs(law, cases, lines, wish, [&](const RandomProgram& program, Choices& choices) {
    return bounds_contain_values(program, choices, ranges, counts);
  });
  EXPECT_GE(counts.elements, 1000);
  // Bounds that say nothing would contain everything.
  EXPECT_GE(static_cast<double>(counts.narrow), narrow * static_cast<double>(counts.elements));
}

TEST(Intervals, contain_values_of_smooth_programs) {
  bounds_contain_values(
      "intervals contain values, f64", 4000, 12,
      {.domain = Domain::smooth, .without = without_bounds(), .max_size = 30, .bounded = true},
      false, 0.9);
}
TEST(Intervals, contain_values_of_every_dtype) {
  bounds_contain_values(
      "intervals contain values, of every dtype", 6000, 12,
      {.domain = Domain::tame, .without = without_bounds(), .max_size = 30, .bounded = true}, false,
      0.5);
}
TEST(Intervals, contain_values_where_integers_and_bools_are_unknown) {
  bounds_contain_values(
      "intervals contain values, with unknown integers", 6000, 10,
      {.domain = Domain::tame, .without = without_bounds(), .max_size = 30, .bounded = true}, true,
      0.3);
}
TEST(Intervals, contain_values_with_infinities_and_nan) {
  bounds_contain_values(
      "intervals contain values, wild", 6000, 8,
      {.domain = Domain::wild, .without = without_bounds(), .max_size = 30, .bounded = true}, false,
      0.1);
}

TEST(Intervals, contain_values_of_every_primitive) {
  Counts counts;
  for (const Primitive* p : standard_primitives().all()) {
    if (!Intervals{}.lacks(*p).empty()) continue;
    for (Domain domain : {Domain::smooth, Domain::tame, Domain::wild}) {
      int drawn = 0;
      Choices choices(run_seed() * 31 + static_cast<std::uint64_t>(domain));
      for (int attempt = 0; attempt < 400 && drawn < 60 * case_factor(); ++attempt) {
        const Dtype dtype = domain == Domain::smooth ? f64 : choices.among(all_dtypes);
        const SizeClass size = choices.among(all_size_classes);
        const auto program =
            single_step(*p, dtype[random_shape(size, choices)],
                        {.domain = domain, .without = without_bounds(), .bounded = true}, choices);
        if (!program) continue;
        ++drawn;
        std::string wrong;
        try {
          wrong = bounds_contain_values(*program, choices, choices.one_in(2), counts);
        } catch (const std::exception& error) {
          wrong = error.what();
        }
        EXPECT_EQ(wrong, "") << p->name << "\n" << text_of(*program);
        if (!wrong.empty()) break;
      }
    }
  }
}

/// At a point, a function of one number has a bound of a few units in the last place.
TEST(Intervals, of_points_are_tight) {
  int checked = 0;
  for (const Primitive* p : standard_primitives().all()) {
    for (Dtype dtype : {f64, f32}) {
      Choices choices(run_seed() + 5);
      for (int attempt = 0; attempt < 40; ++attempt) {
        const Wish wish{.domain = dtype == f64 ? Domain::smooth : Domain::tame, .bounded = true};
        const auto program = single_step(*p, dtype[{}], wish, choices);
        if (!program || !Intervals{}.lacks(*p).empty() || p->run) continue;
        const Program captured = program->program();
        // A draw may have had to make its operands first.
        if (captured.step_count() != 1) continue;
        Boxes points(program->inputs.begin(), program->inputs.end());
        const Boxes bounds = interpret(Intervals{}, captured, points);
        for (std::size_t k = 0; k < bounds.size(); ++k) {
          if (bounds[k].type() != dtype[{}]) continue;
          const Interval& bound = bounds[k].elements()[0];
          // Whole lines; remainders jump; sums of many terms have a bound in their number.
          if (!std::isfinite(bound.hi - bound.lo)) continue;
          if (p->name == "rem" || p->name == "scatter") continue;
          const double unit = dtype == f64 ? 0x1p-52 : 0x1p-23;
          const double size = std::max(std::abs(bound.lo), std::abs(bound.hi));
          const double allowed = 14 * unit * size + 1e-40;
          EXPECT_LE(bound.hi - bound.lo, allowed) << p->name << " " << to_string(bound);
          ++checked;
        }
      }
    }
  }
  EXPECT_GE(checked, 300);
}

// ---- ends of + − × ÷ √ against exact arithmetic ----

/// 113 bits: products of f64 are exact, sums and quotients nearly.
using Quad = __float128;

double random_double(Choices& choices) {
  const double value = choices.real(-2, 2);
  return std::ldexp(choices.one_in(5) ? std::round(value * 8) : value,
                    static_cast<int>(choices.between(-60, 60)));
}

/// Whether the bound is at most one number wide and holds the exact value.
void expect_directed(const char* operation, const Interval& bound, Quad exact) {
  EXPECT_LE(static_cast<Quad>(bound.lo), exact) << operation << " " << to_string(bound);
  EXPECT_GE(static_cast<Quad>(bound.hi), exact) << operation << " " << to_string(bound);
  EXPECT_LE(bound.hi, std::nextafter(bound.lo, inf)) << operation << " " << to_string(bound);
}

TEST(Intervals, ends_are_rounded_in_the_right_direction) {
  Choices choices(run_seed());
  const IntervalArithmetic a(f64);
  for (int i = 0; i < 20000 * case_factor(); ++i) {
    const double x = random_double(choices);
    const double y = random_double(choices);
    const Interval px{x, x};
    const Interval py{y, y};
    expect_directed("+", a.add(px, py), static_cast<Quad>(x) + y);
    expect_directed("-", a.sub(px, py), static_cast<Quad>(x) - y);
    expect_directed("*", a.mul(px, py), static_cast<Quad>(x) * y);
    if (y != 0) expect_directed("/", a.div(px, py), static_cast<Quad>(x) / y);
    const Interval root = a.sqrt({std::abs(x), std::abs(x)});
    EXPECT_LE(static_cast<Quad>(root.lo) * root.lo, static_cast<Quad>(std::abs(x)));
    EXPECT_GE(static_cast<Quad>(root.hi) * root.hi, static_cast<Quad>(std::abs(x)));
    EXPECT_LE(root.hi, std::nextafter(root.lo, inf));
    if (HasFailure()) return;
  }
}

TEST(Intervals, exact_results_stay_exact) {
  const IntervalArithmetic a(f64);
  EXPECT_EQ(a.add({0, 1}, {2, 3}), (Interval{2, 4}));
  EXPECT_EQ(a.sub({0, 1}, {2, 3}), (Interval{-3, -1}));
  EXPECT_EQ(a.mul({-1, 2}, {-3, 4}), (Interval{-6, 8}));
  EXPECT_EQ(a.div({1, 2}, {4, 8}), (Interval{0.125, 0.5}));
  EXPECT_EQ(a.square({-1, 2}), (Interval{0, 4}));
  EXPECT_EQ(a.sqrt({4, 9}), (Interval{2, 3}));
  EXPECT_EQ(a.abs({-3, 2}), (Interval{0, 3}));
  const Interval inexact = a.add({0.1, 0.1}, {0.2, 0.2});
  EXPECT_EQ(inexact.hi, std::nextafter(inexact.lo, inf));
}

TEST(Intervals, sixteen_bits_round_to_the_next_number) {
  for (Dtype dtype : {f16, bf16}) {
    const IntervalArithmetic a(dtype);
    Choices choices(3);
    for (int i = 0; i < 3000; ++i) {
      const double x = std::ldexp(choices.real(-2, 2), static_cast<int>(choices.between(-20, 12)));
      const Interval bound = a.outward(x, x, false);
      ASSERT_LE(bound.lo, x);
      ASSERT_GE(bound.hi, x);
      const auto is_number = [&](double end) { return tensor(end, dtype).item<double>() == end; };
      ASSERT_TRUE(is_number(bound.lo) && is_number(bound.hi)) << to_string(bound);
      // Nothing lies between.
      const double nearest = tensor(x, dtype).item<double>();
      ASSERT_TRUE(nearest == bound.lo || nearest == bound.hi) << to_string(bound);
      const double middle = tensor((bound.lo + bound.hi) / 2, dtype).item<double>();
      ASSERT_TRUE(middle == bound.lo || middle == bound.hi) << to_string(bound);
    }
    EXPECT_EQ(a.outward(1e300, 1e300, false).hi, inf);
    EXPECT_LT(a.outward(1e300, 1e300, false).lo, 1e39);
  }
}

// ---- rules that were decided ----

TEST(Intervals, a_divisor_that_may_be_0_gives_the_whole_line) {
  const auto quotient = [](Tensor x, Tensor y) { return x / y; };
  EXPECT_EQ(Interval(interval(quotient)(Interval{1, 2}, Interval{-1, 1})),
            (Interval{-inf, inf, false}));
  EXPECT_EQ(Interval(interval(quotient)(Interval{0, 2}, Interval{0, 1})),
            (Interval{-inf, inf, true}));
}

TEST(Intervals, what_is_undefined_is_marked) {
  const Interval root = interval([](Tensor x) { return sqrt(x); })(Interval{-1, 4});
  EXPECT_EQ(root, (Interval{0, 2, true}));
  const Interval none = interval([](Tensor x) { return sqrt(x); })(Interval{-2, -1});
  EXPECT_TRUE(none.is_empty() && none.may_be_nan);
  EXPECT_EQ(to_string(none), "NaN");
  EXPECT_EQ(to_string(root), "[0.0, 2.0] or NaN");
}

TEST(Intervals, extremes_inside_are_found) {
  const Interval sine = interval([](Tensor x) { return sin(x); })(Interval{0, 2});
  EXPECT_EQ(sine.hi, 1);
  EXPECT_LE(sine.lo, 0);
  EXPECT_GE(sine.lo, -1e-15);
  const Interval cosine = interval([](Tensor x) { return cos(x); })(Interval{-1, 4});
  EXPECT_EQ(cosine, (Interval{-1, 1}));
  EXPECT_EQ(Interval(interval([](Tensor x) { return x * x; })(Interval{-1, 2})), (Interval{0, 4}));
  const Interval hyperbolic = interval([](Tensor x) { return cosh(x); })(Interval{-1, 0.5});
  EXPECT_EQ(hyperbolic.lo, 1);
  const Interval tangent = interval([](Tensor x) { return tan(x); })(Interval{1, 2});
  EXPECT_EQ(tangent, (Interval{-inf, inf}));
}

TEST(Intervals, undecided_predicates_give_the_hull) {
  const auto choose = [](Tensor x) { return where(x > 0.0, x + 10.0, x - 10.0); };
  EXPECT_EQ(Interval(interval(choose)(Interval{1, 2})), (Interval{11, 12}));
  EXPECT_EQ(Interval(interval(choose)(Interval{-2, -1})), (Interval{-12, -11}));
  EXPECT_EQ(Interval(interval(choose)(Interval{-1, 2})), (Interval{-11, 12}));
  const auto branch = [](Tensor x) {
    return cond(x > 0.0, [](Tensor y) { return y + 10.0; }, [](Tensor y) { return y - 10.0; }, x);
  };
  EXPECT_EQ(Interval(interval(branch)(Interval{1, 2})), (Interval{11, 12}));
  EXPECT_EQ(Interval(interval(branch)(Interval{-1, 2})), (Interval{-11, 12}));
}

TEST(Intervals, products_of_boxes_keep_their_structure) {
  const IntervalTensor box(tensor({0.0, 1.0}), tensor({1.0, 3.0}));
  const auto f = [](const std::pair<Tensor, Tensor>& p, std::vector<Tensor> more) {
    return std::tuple{sum(p.first), p.second + more[0], std::pair{p.first, more[1]}};
  };
  const auto [total, shifted, both] = interval(f)(
      std::pair{box, Interval{1, 2}}, std::vector<IntervalTensor>{{Interval{0, 1}}, Tensor(5)});
  EXPECT_EQ(Interval(total), (Interval{1, 4}));
  EXPECT_EQ(Interval(shifted), (Interval{1, 3}));
  EXPECT_EQ(both.first.elements(), box.elements());
  EXPECT_EQ(both.second.exact().item<int>(), 5);
}

TEST(Intervals, derivatives_are_programs_with_bounds_too) {
  // The mean value form: f(x) ∈ f(c) + f′(X)·(X − c).
  const auto f = [](Tensor x) { return x * (1.0 - x); };
  const Interval slope = interval(grad(f))(Interval{0, 1});
  EXPECT_EQ(slope, (Interval{-1, 1}));
}

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Intervals, what_has_no_bounds_fails_at_its_line) {
  const std::string text =
      message([] { interval([](Tensor x) { return bitcast(x, i64); })(Interval{0, 1}); });
  EXPECT_NE(text.find("intervals: no arrow for bitcast: the bits of two ends"), std::string::npos)
      << text;
  EXPECT_NE(text.find("interval_laws_test.cc"), std::string::npos) << text;
  const std::string ends = message([] { IntervalTensor(tensor({1.0, 2.0}), tensor({2.0, 1.0})); });
  EXPECT_NE(ends.find("element 1 has its lower end 2.0 above its upper end 1.0"), std::string::npos)
      << ends;
  const std::string nested = message([] {
    program(
        [](Tensor y) {
          interval([&](Tensor x) { return x + y; })(Interval{0, 1});
          return y;
        },
        f64[{}]);
  });
  EXPECT_NE(nested.find("call interval(f) outside"), std::string::npos) << nested;
}

TEST(Intervals, have_a_rule_for_every_primitive_but_bitcast_and_factorizations) {
  for (const Primitive* p : standard_primitives().all()) {
    const bool is_refused = p->name == "bitcast" || only_raises(*p) || is_for_matrices(p->name);
    EXPECT_EQ(Intervals{}.lacks(*p).empty(), !is_refused) << p->name;
  }
  const std::string text =
      message([] { interval([](Tensor x) { return determinant(x); })(IntervalTensor(eye(2))); });
  EXPECT_NE(text.find("intervals: no arrow for determinant: elimination and rotations"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace hom::laws
