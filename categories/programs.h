// categories/programs.h -- the free category: arrows are programs themselves, as data
//
// An arrow a → b is a graph of steps that is shared with other arrows, and in it the slots of its
// outputs. It models `Cartesian` for all programs, where reading gives the program back, and
// `LinearCategory` for linear ones: the data representation of linear maps. The functor to
// `Additive` is evaluation.
//
// compose(g, f) appends the steps of g to the graph of f, with hash-consing: it costs |g| whatever
// the length of f, and a fork of two arrows in one graph costs nothing. A sum of an arrow with
// itself is one step. So arrows that grow at their end, as under `Begin`, take linear time, where
// functions that are doubled n times run 2ⁿ times. Graphs only grow; arrows stay what they were.
//
// C. Elliott, "Compiling to Categories" (2017), section 7 (Graphs); "The Simple Essence of
// Automatic Differentiation" (2018), section "Extracting a data representation".
#pragma once

#include <memory>

#include <hom/categories/linear.h>
#include <hom/core/builder.h>

namespace hom::categories {

struct Programs {
  struct Arrow {
    std::shared_ptr<Builder> graph;
    /// The inputs of the graph, all of them.
    std::vector<Slot> inputs;
    std::vector<Slot> outputs;
  };

  std::string name() const { return "programs"; }
  std::string lacks(const Primitive&) const { return ""; }
  Environment domain(const Arrow& f) const;
  Environment codomain(const Arrow& f) const;

  Arrow id(const Environment& a) const;
  Arrow compose(const Arrow& g, const Arrow& f) const;
  Arrow fork(const Arrow& f, const Arrow& g) const;
  Arrow project(const Environment& a, const Positions& positions) const;
  Arrow primitive(const Operation& operation) const;
  Arrow cond(const Arrow& then, const Arrow& otherwise) const;

  Arrow join(const Arrow& f, const Arrow& g) const;
  Arrow inject(const Environment& a, const Positions& positions) const;
  Arrow scale(const Tensor& factor) const;
};

/// The arrow as a finished program of its own, without the rest of its graph.
Program to_program(const Programs::Arrow& arrow);

}  // namespace hom::categories
