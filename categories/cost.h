// categories/cost.h -- the category of costs: an arrow is what it takes to run it once
//
//     cost(program(f, f64[{3}])).work
//
// All objects are one, and an arrow is a pair of counts. Composition and products add, so the laws
// hold because addition is associative and 0 is its unit:
//
//     cost id = cost exl = cost exr = cost dup = 0
//     cost (g . f) = cost f + cost g
//     cost (f △ g) = cost f + cost g
//
// A primitive is one step, and its work is the elements of its operands (read) and of its results
// (written). That is the work of an executor without views and without updates in place: reshaping
// n elements is 2n, and adding one element into n is 2n + 1. Constants, positions and broadcasts
// count as written; a tensor from the closure is there already and counts nothing. Programs that
// are called count as often as they are called; of `cond` it is the branch that works more, and
// the predicate that is read; a `scan` counts its body as often as it runs it, and a `while` as
// often as its bound lets it, or once without one.
//
// A step that is used twice is counted once, as it is run once: the cost of n-fold doubling,
// `x = x + x`, is n steps.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <hom/core/program.h>

namespace hom {

/// Counts of steps and of work; they stop at the largest number instead of overflowing.
struct Cost {
  std::int64_t steps = 0;
  /// Elements read and written.
  std::int64_t work = 0;
  /// The part of `work` that each primitive has.
  std::map<std::string, std::int64_t> by_primitive = {};

  Cost& operator+=(const Cost& other);
};

/// What the program costs; linear in its steps, whatever the number of calls of each program
/// inside.
Cost cost(const Program& program);

/// What one step of `program` costs, with the programs inside it.
Cost cost(const Program& program, const Step& step);

}  // namespace hom
