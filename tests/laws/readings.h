// tests/laws/readings.h -- text, syntax, pictures and costs as categories, for the laws
//
// An arrow of these is what is read off a program: its text, its expression, its picture, its cost.
// So their arrows are programs, and two are equal where they read alike: both sides of each law
// must be spelled, drawn and counted in the same way. Costs are a category of their own as well,
// which knows no programs; there products are lax, since f △ g pays for f whether exl wants it or
// not.
#pragma once

#include <string>

#include <hom/categories/cost.h>
#include <hom/categories/graph.h>
#include <hom/categories/programs.h>
#include <hom/categories/syntax.h>
#include <hom/core/text.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {

using namespace hom::categories;

/// Programs up to what `Reading` tells of them.
template <class Reading>
struct Read : Programs {
  std::string name() const { return Reading::name; }
};

struct Text {
  static constexpr const char* name = "text";
  static std::string of(const Program& program) { return to_text(program); }
};
struct Expression {
  static constexpr const char* name = "syntax";
  static std::string of(const Program& program) { return syntax(program); }
};
struct Picture {
  static constexpr const char* name = "graph";
  static std::string of(const Program& program) { return to_dot(graph(program)); }
};
inline std::string to_string(const Cost& cost) {
  return std::to_string(cost.steps) + " steps, work " + std::to_string(cost.work);
}
struct Expense {
  static constexpr const char* name = "cost";
  static std::string of(const Program& program) { return to_string(cost(program)); }
};

template <class Reading>
std::string differ(const Read<Reading>&, const Programs::Arrow& f, const Programs::Arrow& g,
                   const Tensors&, Choices&) {
  const std::string got = Reading::of(to_program(f));
  const std::string want = Reading::of(to_program(g));
  return got == want ? "" : "\n" + got + "\ninstead of\n" + want;
}

/// What it takes to run an arrow once, by the laws alone: composition and △ add, and all that is
/// not a primitive costs nothing.
struct Costs {
  struct Arrow {
    Environment domain;
    Environment codomain;
    Cost cost;
  };

  std::string name() const { return "costs"; }
  std::string lacks(const Primitive&) const { return ""; }
  const Environment& domain(const Arrow& f) const { return f.domain; }
  const Environment& codomain(const Arrow& f) const { return f.codomain; }

  Arrow id(const Environment& a) const { return {a, a, {}}; }
  Arrow compose(const Arrow& g, const Arrow& f) const {
    return {f.domain, g.codomain, sum(f.cost, g.cost)};
  }
  Arrow fork(const Arrow& f, const Arrow& g) const {
    return {f.domain, product(f.codomain, g.codomain), sum(f.cost, g.cost)};
  }
  Arrow project(const Environment& a, const Positions& positions) const {
    return {a, factors(a, positions), {}};
  }
  Arrow primitive(const Operation& operation) const {
    const bool is_free = !operation.captured.is_empty();  // it is there already, as one step
    std::int64_t work = 0;
    for (const Environment& types : {operation.types, operation.results}) {
      for (const TensorType& type : types) work += is_free ? 0 : type.size();
    }
    return {operation.domain(), operation.results, {1, work, {}}};
  }
  /// The branch that works more, and the predicate that is read.
  Arrow cond(const Arrow& then, const Arrow& otherwise) const {
    const Arrow& dearer = then.cost.work < otherwise.cost.work ? otherwise : then;
    return {product({bool_[{}]}, then.domain), then.codomain, sum({1, 1, {}}, dearer.cost)};
  }

  static Cost sum(Cost a, const Cost& b) { return a += b; }
};

inline std::string differ(const Costs&, const Costs::Arrow& f, const Costs::Arrow& g,
                          const Tensors&, Choices&) {
  return to_string(f.cost) == to_string(g.cost)
             ? ""
             : to_string(f.cost) + " instead of " + to_string(g.cost);
}

}  // namespace hom::laws
