// tests/laws/random_program.h -- random programs from the table of primitives, for tests of laws
//
// A program is drawn from a recipe, a list of seeds: one for the inputs, then one for each line.
// Leaving out a seed leaves out a line, which is how RapidCheck makes a failing program small. Each
// line is run as it is drawn, so that its values are known: what would raise, or lies too near to a
// kink for finite differences, is not drawn.
//
// A failure prints the recipe, the program, and how to replay it. Programs are the same in every
// run. `HOM_SEED=7` draws others (`HOM_SEED=random` different ones each time; the seed is printed),
// `HOM_CASES=20` twenty times as many; `RC_PARAMS` is RapidCheck's own and wins.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hom/core/capture.h>
#include <hom/core/primitive.h>

namespace hom::laws {

/// A stream of choices; equal seeds choose equally.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  /// 0 … n − 1
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
  }
  /// low … high, both included
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool one_in(std::int64_t n) { return below(n) == 0; }
  double real(double low, double high) {
    return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  template <class List>
  const auto& among(const List& list) {
    return std::begin(list)[below(static_cast<std::int64_t>(std::size(list)))];
  }

 private:
  std::uint64_t state_;
};

/// How many elements the operand with the data has: none, 1, an even number below 32, an odd one,
/// or 32 … 100.
enum class SizeClass { zero, one, small, odd, large };
inline constexpr SizeClass all_size_classes[] = {SizeClass::zero, SizeClass::one, SizeClass::small,
                                                 SizeClass::odd, SizeClass::large};
SizeClass size_class_of(std::int64_t elements);
std::string name_of(SizeClass size);
/// Of rank `min_rank` … 5 (1 … 5 at least where there is more than one element).
Shape random_shape(SizeClass size, Choices& choices, std::int64_t min_rank = 0);

enum class Domain {
  /// Every primitive and dtype; values include NaN, infinities, −0 and the ends of the integers.
  wild,
  /// The same with values near 1, whose derivatives are finite.
  tame,
  /// f64, integers and bool, all values at a distance from every kink, pole and jump.
  smooth,
};

/// A row-major tensor of random elements.
Tensor random_tensor(const TensorType& type, Domain domain, Choices& choices);

/// An operand to be found or made for a step.
struct OperandSketch {
  TensorType type;
  /// Coordinates along the last axis: below these limits, or (not `inside`) just outside as well.
  Shape limits = {};
  bool inside = false;
  /// A power of integers is not negative.
  bool is_exponent = false;
  Tensor value(Domain domain, Choices& choices) const;
  bool is_plain() const { return limits.empty() && !is_exponent; }
};

/// A step to be: what its operands have to be.
struct StepSketch {
  const Primitive* primitive;
  Attributes attributes = {};
  std::vector<OperandSketch> operands = {};
  /// Where the data is; −1 for leaves.
  int data = 0;
};

/// A step of `primitive` on `data` (leaves: which makes `data`), with attributes that type; nothing
/// where this draw does not fit. Throws where the primitive has no rule here: a new primitive needs
/// one. Primitives with programs inside are drawn by `random_program` only.
std::optional<StepSketch> random_step(const Primitive& primitive, const TensorType& data,
                                      Domain domain, Choices& choices);

/// Whether it does nothing but raise when it runs, so that it is never drawn.
bool only_raises(const Primitive& primitive);

/// Whether a step has derivatives of every order in a neighbourhood of these operands.
bool is_smooth_at(const Primitive& primitive, const Attributes& attributes,
                  std::span<const Tensor> operands);

/// A program as a function on tensors, with a point to evaluate it at.
struct RandomProgram {
  struct Line {
    /// Null for an input; `captured` for a tensor in the closure.
    const Primitive* primitive = nullptr;
    Attributes attributes = {};
    /// Values are numbered in order: the results of all lines.
    std::vector<std::size_t> operands = {};
    Tensor closure = {};
    std::size_t results = 1;
  };

  std::vector<Line> lines;
  std::vector<TensorType> types;
  std::vector<Tensor> inputs;
  std::vector<std::size_t> outputs;

  /// The outputs; runs on concrete tensors, or records.
  std::vector<Tensor> operator()(std::span<const Tensor> arguments) const;
  /// All values that it computes.
  std::vector<Tensor> values(std::span<const Tensor> arguments) const;
  /// The program of the outputs, or of other values.
  Program program() const { return program(outputs); }
  Program program(const std::vector<std::size_t>& wanted) const;
  /// The same without any simplification and sharing: every line is one step.
  Program program_as_it_stands() const;
};

struct Recipe {
  std::vector<std::uint64_t> seeds;
};

struct Wish {
  Domain domain = Domain::smooth;
  /// Of the lines to be drawn, by name; empty: all of them.
  std::vector<std::string> primitives = {};
  /// Not to be drawn.
  std::vector<std::string> without = {};
  /// Literals and pairs of steps that cancel, more often.
  bool simplifiable = false;
  /// Inputs to start from; empty: random ones.
  std::vector<Tensor> inputs = {};
  /// No step makes a tensor larger than this out of smaller ones.
  std::int64_t max_size = 100;
  /// Bodies of primitives with programs inside nest as deep as this.
  int depth = 2;
  /// No `while` without a bound.
  bool bounded = false;
};

/// The program of a recipe. Its outputs are what nothing else uses, and one value more.
RandomProgram random_program(const Recipe& recipe, const Wish& wish = {});

/// A program of one step on the given data, or (`call`, `cond`) with a random body.
std::optional<RandomProgram> single_step(const Primitive& primitive, const TensorType& data,
                                         const Wish& wish, Choices& choices);

/// Its text form, and its inputs.
std::string text_of(const RandomProgram& program);

/// The seed of this run: HOM_SEED, or 1.
std::uint64_t run_seed();
/// HOM_CASES, or 1.
int case_factor();

/// What is wrong with a law at a program, or the empty string; choices are for tangents and the
/// like.
using Property = std::function<std::string(const RandomProgram&, Choices&)>;

/// Checks a property of `cases` random programs of up to about `max_lines` lines. The smallest
/// failing program that RapidCheck finds is a test failure.
void for_random_programs(const char* law, int cases, int max_lines, const Wish& wish,
                         const Property& property);

}  // namespace hom::laws
