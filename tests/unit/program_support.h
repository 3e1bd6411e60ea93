// tests/unit/program_support.h -- programs for tests: built step by step, or at random
#pragma once

#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hom/core/builder.h>

namespace hom {

/// A program written down step by step: `s("add", {x, s("sin", {y})})`.
class Sketch {
 public:
  Slot input(const std::string& name, const TensorType& type = f64[{}]) {
    factors_.push_back({name, type});
    return builder.add_input(type, name);
  }

  Slot operator()(const char* primitive, std::vector<Slot> operands,
                  const Attributes& attributes = {}, const std::string& scope = "",
                  const Location& at = Location::current()) {
    const Primitive*& known = primitives_[primitive];
    if (!known) known = &standard_primitives().find(primitive);
    return builder.append(*known, attributes, operands, at, scope);
  }

  Slot constant(Attribute value, const TensorType& type = f64[{}],
                const Location& at = Location::current()) {
    return (*this)("constant", {},
                   {{"value", std::move(value)}, {"dtype", {type.dtype}}, {"shape", {type.shape}}},
                   "", at);
  }

  Slot sum(Slot x) { return (*this)("reduce_sum", {x}, {{"axes", {Shape{0}}}}); }
  Slot spread(Slot x, std::int64_t n) {
    return (*this)("broadcast_in_dim", {x}, {{"shape", {Shape{n}}}, {"axes", {Shape{}}}});
  }

  /// The program, with the inputs as arguments and one result or a product of them.
  Program returning(std::vector<Slot> outputs, std::string name = "") {
    std::vector<Object::Factor> results;
    for (Slot slot : outputs) results.push_back({"", builder.type(slot)});
    Object codomain = results.size() == 1 ? results[0].object : Object::product(std::move(results));
    return std::move(builder).finish(
        std::move(outputs),
        {std::move(name), Object::product(std::move(factors_)), std::move(codomain)});
  }
  ProgramPtr shared(std::vector<Slot> outputs, std::string name = "") {
    return std::make_shared<const Program>(returning(std::move(outputs), std::move(name)));
  }

  Builder builder;

 private:
  std::map<std::string_view, const Primitive*> primitives_;
  std::vector<Object::Factor> factors_;
};

/// A program of about `steps` steps on f64[] and f64[3], with calls, steps with several results,
/// captured tensors, and constants of every kind.
inline Program random_program(std::mt19937& random, int steps, int nesting = 2) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  Sketch s;
  std::vector<Slot> scalars{s.input("x"), s.input("v12")};
  std::vector<Slot> vectors{s.input("weight", f64[{3}]),
                            s.input("a name \"with\" quotes", f64[{3}])};
  const auto any = [&](const std::vector<Slot>& slots) { return slots[below(slots.size())]; };
  std::vector<ProgramPtr> programs;
  if (nesting > 0) {
    for (int i = 0; i < 2; ++i) {
      programs.push_back(
          std::make_shared<const Program>(random_program(random, steps / 2, nesting - 1)));
    }
  }
  const std::vector<double> values{0.1,
                                   -0.0,
                                   1e300,
                                   5e-324,
                                   3.0,
                                   std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  for (int i = 0; i < steps; ++i) {
    std::vector<Slot>& group = below(2) ? scalars : vectors;
    const TensorType type = s.builder.type(group[0]);
    switch (below(9)) {
      case 0:
        group.push_back(s("sin", {any(group)}));
        break;
      case 1:
        group.push_back(s("add", {any(group), any(group)}));
        break;
      case 2:
        group.push_back(s("mul", {any(group), any(group)}));
        break;
      case 3:
        scalars.push_back(s.sum(any(vectors)));
        break;
      case 4:
        vectors.push_back(s.spread(any(scalars), 3));
        break;
      case 5:
        group.push_back(s.constant({values[below(values.size())]}, type));
        break;
      case 6: {
        const Slot pair = s("barrier", {any(scalars), any(vectors)});
        scalars.push_back(pair);
        vectors.push_back(pair + 1);
        break;
      }
      case 7: {
        const auto array = Array::allocate(type);
        std::fill_n(array->data<double>(), type.size(), 0.5);
        group.push_back(s.builder.capture(Tensor(array), Location::current()));
        break;
      }
      default:
        if (programs.empty()) break;
        const Slot first = s("call", {any(scalars), any(scalars), any(vectors), any(vectors)},
                             {{"program", {programs[below(programs.size())]}}});
        scalars.push_back(first);
        vectors.push_back(first + 1);
    }
  }
  return s.returning({scalars.back(), vectors.back(), any(scalars)}, below(2) ? "part" : "");
}

/// The message of the error that `f` throws.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace hom
