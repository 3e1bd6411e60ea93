// core/primitive.h -- what a primitive is, and the table of them
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hom/core/program.h>

namespace hom {

/// A set of dtypes.
class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  constexpr DtypeSet(std::initializer_list<Dtype> dtypes) {
    for (Dtype dtype : dtypes) bits_ |= bit(dtype);
  }
  constexpr bool contains(Dtype dtype) const { return (bits_ & bit(dtype)) != 0; }
  friend constexpr DtypeSet operator|(DtypeSet a, DtypeSet b) {
    DtypeSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }
  friend constexpr bool operator==(DtypeSet, DtypeSet) = default;

 private:
  static constexpr std::uint32_t bit(Dtype dtype) { return 1u << static_cast<unsigned>(dtype.id); }
  std::uint32_t bits_ = 0;
};

inline constexpr DtypeSet floats{f16, bf16, f32, f64};
inline constexpr DtypeSet signed_integers{i8, i32, i64};
inline constexpr DtypeSet unsigned_integers{u8, u32, u64};
inline constexpr DtypeSet integers = signed_integers | unsigned_integers;
inline constexpr DtypeSet numbers = floats | integers;
inline constexpr DtypeSet booleans{bool_};
inline constexpr DtypeSet every_dtype = numbers | booleans;
std::string to_string(DtypeSet dtypes);

struct BatchedProgram;
struct Invocation;
struct Linearization;
class Builder;

/// What the typing rule of a primitive sees: operand types and attributes. Rules complain through
/// `require`.
struct Typing {
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const TensorType> operands;
  const Location& at;

  template <std::invocable Text>
  void require(bool ok, Text&& complaint) const {
    hom::require(ok, at, std::forward<Text>(complaint));
  }
};

/// What a derivative rule sees: the step, with operands, results and tangents as tensors of the
/// capture in progress.
struct Linearizing {
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const Tensor> x;
  std::span<const Tensor> y;
  /// Tangents of the operands; empty where the operand does not vary.
  std::span<const Tensor> dx;
};

/// What the derivative rule of a primitive with a program inside sees; it records the primal step
/// itself.
struct LinearizingCall {
  const Attributes& attributes;
  std::span<const Tensor> x;
  std::span<const Tensor> dx;
  /// The functor, for the programs inside: `active` marks inputs, `wanted` (or null) outputs that
  /// get a tangent even where it is zero.
  std::function<Linearization(const Program&, const std::vector<bool>& active,
                              const std::vector<bool>* wanted)>
      linearize;
  /// The functor transpose, for rules that are given by their transposes.
  std::function<Program(const Program&, const std::vector<bool>& linear)> transpose;
};

struct PrimalAndTangent {
  std::vector<Tensor> y;
  /// Empty where a result does not vary.
  std::vector<Tensor> dy;
};

/// What a transpose rule sees: `y = L(x…)`, linear jointly in the operands marked `linear`. It adds
/// to cotangents.
struct Transposing {
  const Primitive& primitive;
  const Attributes& attributes;
  /// Operands; those that are linear are empty: only their types are known.
  std::span<const Tensor> x;
  std::span<const TensorType> types;
  const std::vector<bool>& linear;
  /// Cotangents of the results; empty where zero.
  std::span<const Tensor> ct;
  /// Cotangents of the operands so far; empty where zero. Rules call `add` or take and replace one
  /// of these.
  std::span<Tensor> accumulators;
  const Location& at;
  /// The functor, for programs inside: other inputs…, cotangents of outputs…, cotangents so far of
  /// the inputs marked in `accumulated`… ↦ cotangents of the inputs marked in `linear`.
  std::function<Program(const Program&, const std::vector<bool>& linear,
                        const std::vector<bool>& accumulated)>
      transpose;

  /// x̄ᵢ += contribution.
  void add(std::size_t operand, const Tensor& contribution) const;
  /// The accumulator of operand i, or zeros: for steps that add a part in place.
  Tensor accumulator(std::size_t operand) const;
  /// Throws `Error`: the step is not linear, because …
  [[noreturn]] void not_linear(const std::string& why) const;
};

/// What a batch rule sees: one step, to be done for `size` lanes at once. A batched operand has the
/// lanes as a further axis in front; the others are the same for all lanes.
struct Batching {
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const Tensor> x;
  /// Which operands are batched. At least one is, but for partial primitives under a mask.
  const std::vector<bool>& batched;
  /// The types of the operands and of the results for one lane.
  std::span<const TensorType> types;
  std::span<const TensorType> result_types;
  std::int64_t size;
  /// bool [size]: the lanes whose results matter; empty: all of them. Dead lanes must neither raise
  /// nor loop for ever.
  const Tensor& alive;
  const Location& at;
  /// The functor, for programs inside. `wanted` (or null) marks outputs that are batched even where
  /// they are the same for all lanes. With `masked`, the program's first input is the mask of the
  /// lanes alive, bool [size].
  std::function<BatchedProgram(const Program&, const std::vector<bool>& batched, bool masked,
                               const std::vector<bool>* wanted)>
      batch;

  /// Operand i with the lanes in front, repeated for each lane where it is the same for all.
  Tensor lifted(std::size_t operand) const;
};

/// What a simplification rule sees while a step is about to be appended; it may append others
/// instead.
struct Simplifying {
  Builder& builder;
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const Slot> operands;
  const TensorType& result;
  const Location& at;
  const std::string& scope;

  /// A step to take the place of this one, on its line.
  Slot append(const Primitive& other, const Attributes& with, std::initializer_list<Slot> on) const;
  /// A literal of the result's type.
  Slot literal(const Attribute& value) const;
};

/// The slot that stands for the step's result, where the step is not needed.
using SimplifyRule = std::function<std::optional<Slot>(const Simplifying&)>;
using TypeRule = std::function<std::vector<TensorType>(const Typing&)>;
using DerivativeRule = std::function<std::vector<Tensor>(const Linearizing&)>;
using CallDerivativeRule = std::function<PrimalAndTangent(const LinearizingCall&)>;
using TransposeRule = std::function<void(const Transposing&)>;
/// The results of the step, each batched (one axis more than for one lane) or the same for all
/// lanes.
using BatchRule = std::function<std::vector<Tensor>(const Batching&)>;
/// How a step is computed from the programs inside it.
using RunRule = std::function<TensorList(const Invocation&, TensorList)>;

/// One attribute that a primitive takes.
struct AttributeSpec {
  enum class Kind { boolean, integer, number, string, dtype, shape, program, list };
  std::string name;
  Kind kind;
};

/// An operation of the language, declared once: name, attributes, typing, derivative and transpose
/// side by side.
struct Primitive {
  std::string name;
  /// Operands: at least `min_operands`, at most `max_operands`.
  int min_operands = 1;
  int max_operands = 1;
  std::vector<AttributeSpec> attributes = {};
  /// Dtypes of the operands that carry data (indices, predicates and keys have their own, checked
  /// by `type`).
  DtypeSet dtypes = every_dtype;
  TypeRule type = {};
  /// Applied while a program is built; must keep IEEE results bit for bit.
  SimplifyRule simplify = {};

  /// At most one of these; without either, `no_derivative` says why.
  DerivativeRule derivative = {};
  CallDerivativeRule call_derivative = {};
  std::string no_derivative = {};
  /// Linear in some operands? Then its transpose.
  TransposeRule transpose = {};
  /// The step for many lanes at once.
  BatchRule batch = {};
  /// May it raise when it runs, or not terminate? Then its batch rule spares dead lanes, and is
  /// asked even where no operand is batched.
  bool partial = false;
  /// Where it has programs inside; all others are computed by the executor.
  RunRule run = {};

  /// Work of value_and_grad of this step over its own (elements read and written), at most: the
  /// cost law.
  double cost_factor = 4;
  /// For the tables in the documentation.
  std::string shapes = {};
  std::string formula = {};
};

/// Whether the float results of a step are zero because it is linear and its operands marked are
/// zero: in all floats at once, or, of a product, in one of them.
bool is_zero_by_linearity(const Primitive& primitive, std::span<const TensorType> operands,
                          const std::vector<bool>& zero);

/// Result types of a step; throws where operands do not fit the primitive.
std::vector<TensorType> result_types(const Primitive& primitive, const Attributes& attributes,
                                     std::span<const TensorType> operands, const Location& at);

/// Primitives by name. A plain value: copies share their declarations, a copy may be extended, and
/// assigning a former copy takes out what was added since:
///
///     const PrimitiveTable before = standard_primitives();
///     standard_primitives().add({.name = "squareplus", …});
///     standard_primitives() = before;
///
/// A declaration lives as long as a table that ever held it, so that programs which have steps of
/// it stay valid: they run, print and differentiate as before, only their text is no longer read.
/// Not to be changed while other threads look names up.
class PrimitiveTable {
 public:
  PrimitiveTable() = default;
  PrimitiveTable(const PrimitiveTable&) = default;
  PrimitiveTable& operator=(const PrimitiveTable& other);

  /// Takes ownership and returns the declaration at its lasting address. Throws where the name is
  /// taken.
  const Primitive& add(Primitive primitive);
  /// Throws `Error` for an unknown name, with the nearest known one.
  const Primitive& find(std::string_view name) const;
  /// In order of declaration.
  std::vector<const Primitive*> all() const;
  bool contains(std::string_view name) const;

 private:
  std::vector<std::shared_ptr<const Primitive>> primitives_;
  // Keys are the names inside the primitives.
  std::unordered_map<std::string_view, const Primitive*> by_name_;
  // What programs may refer to though assignment took it out.
  std::vector<std::shared_ptr<const Primitive>> former_;
};

/// The table with Hom's primitives, made on first use. A user may add to it; to take one of Hom's
/// own out of it is not supported, since the library looks its own names up.
PrimitiveTable& standard_primitives();

}  // namespace hom
