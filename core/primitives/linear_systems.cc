// core/primitives/linear_systems.cc -- triangular_solve, lu_solve: linear in their right side
#include <hom/core/primitives/matrices.h>

namespace hom {
namespace {

using namespace matrices;
using Kind = AttributeSpec::Kind;

/// The same step on another right side.
Tensor solved_again(const Linearizing& at, const Tensor& right_side) {
  std::vector<Tensor> operands(at.x.begin(), at.x.end());
  operands.back() = right_side;
  return apply(at.primitive, at.attributes, operands, LocationScope::current({}))[0];
}

/// a·x = b, so a·dx = db − da·x; `da` as the step reads it, or empty.
std::vector<Tensor> derivative_of_solution(const Linearizing& at, const Tensor& da) {
  Tensor right_side = at.dx.back();
  if (!da.is_empty()) {
    const bool is_transposed = at.attributes.boolean("transposed");
    const Tensor moved = matmul(is_transposed ? transposed(da) : da, at.y[0]);
    right_side = right_side.is_empty() ? -moved : right_side - moved;
  }
  return {right_side.is_empty() ? Tensor() : solved_again(at, right_side)};
}

void transpose_solution(const Transposing& at) {
  const std::size_t right = at.x.size() - 1;
  for (std::size_t i = 0; i < right; ++i) {
    if (at.linear[i]) at.not_linear("the matrix depends on the input");
  }
  Attributes back = at.attributes;
  back.set("transposed", {!at.attributes.boolean("transposed")});
  std::vector<Tensor> operands(at.x.begin(), at.x.end());
  operands[right] = at.ct[0];
  at.add(right, apply(at.primitive, back, operands, at.at)[0]);
}

std::vector<Tensor> batch_solution(const Batching& at) {
  bool one_matrix = true;
  for (std::size_t i = 0; i + 1 < at.x.size(); ++i) one_matrix = one_matrix && !at.batched[i];
  return one_matrix ? std::vector{solved_for_lanes(at)} : batch_elementwise(at);
}

/// The triangle that the step reads.
Tensor triangle_of(const Tensor& a, const Attributes& attributes) {
  if (a.is_empty()) return a;
  const std::int64_t without_diagonal = attributes.boolean("unit") ? 1 : 0;
  return attributes.boolean("lower") ? tril(a, -without_diagonal) : triu(a, without_diagonal);
}

}  // namespace

void add_linear_system_primitives(PrimitiveTable& table) {
  table.add({.name = "triangular_solve",
             .min_operands = 2,
             .max_operands = 2,
             .attributes = {{"lower", Kind::boolean},
                            {"transposed", Kind::boolean},
                            {"unit", Kind::boolean}},
             .dtypes = matrices::dtypes,
             .type =
                 [](const Typing& typing) {
                   require_dtypes(typing);
                   require_square(typing);
                   require_right_side(typing, 1);
                   return std::vector{typing.operands[1]};
                 },
             .derivative =
                 [](const Linearizing& at) {
                   return derivative_of_solution(at, triangle_of(at.dx[0], at.attributes));
                 },
             .transpose = transpose_solution,
             .batch = batch_solution,
             .cost_factor = 18,
             .shapes = "[…, n, n], [… n, m] → [… n, m]",
             .formula = "a⁻¹·(db − da·y)"});

  // The factors are those of the matrix, which only derivatives read: they solve again with the
  // same factors, so that these need no derivative.
  table.add(
      {.name = "lu_solve",
       .min_operands = 4,
       .max_operands = 4,
       .attributes = {{"transposed", Kind::boolean}},
       .dtypes = matrices::dtypes,
       .type =
           [](const Typing& typing) {
             const TensorType& a = typing.operands[0];
             const TensorType& b = typing.operands[3];
             const bool of_floats = matrices::dtypes.contains(a.dtype) && b.dtype == a.dtype;
             typing.require(of_floats, [&] {
               return Complaint{"lu_solve: takes f32, f64, got " + list_types(typing.operands)};
             });
             require_square(typing);
             const bool of_factors =
                 typing.operands[1] == a &&
                 typing.operands[2] == i64[vectors_of(a, rows_of(a.shape)).shape];
             typing.require(of_factors, [&] {
               return Complaint{"lu_solve: " + list_types(typing.operands) +
                                " are not a matrix, its factors, and a right side"};
             });
             require_right_side(typing, 3);
             return std::vector{b};
           },
       .derivative = [](const Linearizing& at) { return derivative_of_solution(at, at.dx[0]); },
       .transpose = transpose_solution,
       .batch = batch_solution,
       .cost_factor = 8,
       .shapes = "[…, n, n], [… n, n], i64 [… n], [… n, m] → [… n, m]",
       .formula = "a⁻¹·(db − da·y)"});
}

}  // namespace hom
