// tests/laws/support.h -- bits, layouts, inner products and derivatives at a point, for tests of
// laws
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hom/categories/linearize.h>
#include <hom/core/executor.h>
#include <hom/tests/laws/random_program.h>

namespace hom::laws {

using Tensors = std::vector<Tensor>;

/// The elements in row-major order as bits; every NaN is one.
std::vector<std::uint64_t> bits_of(const Tensor& x);
/// Where two lists of tensors differ in type or bits; empty where they do not.
std::string difference_in_bits(std::span<const Tensor> got, std::span<const Tensor> want);
/// Where two lists of tensors differ by more than `tolerance` times their magnitude (at least 1).
std::string difference(std::span<const Tensor> got, std::span<const Tensor> want, double tolerance);

/// The same elements with axes permuted in memory, reversed or with gaps; with stride 0 where they
/// are equal.
Tensor in_random_layout(const Tensor& x, Choices& choices);

/// Σ aᵢ·bᵢ over all elements of all tensors, and Σ |aᵢ·bᵢ|.
struct Inner {
  double product = 0;
  double magnitude = 0;
};
Inner inner(std::span<const Tensor> a, std::span<const Tensor> b);

Tensors random_like(std::span<const TensorType> types, Choices& choices);
/// x + h·dx, where dx has one tensor for each float in x.
Tensors moved(std::span<const Tensor> x, std::span<const Tensor> dx, double h);
/// Those that are floats.
Tensors floats_of(std::span<const Tensor> x);

/// A linear program with its residuals: dx… ↦ dy….
struct LinearAtPoint {
  Program program;
  Tensors residuals;

  std::vector<bool> marked() const;
  std::vector<TensorType> domain() const;
  std::vector<TensorType> codomain() const { return program.output_types(); }
  Tensors operator()(std::span<const Tensor> dx) const;
  /// The transpose with the same residuals.
  LinearAtPoint transposed() const;
};

/// The derivative at a point in all float inputs, of all float outputs.
LinearAtPoint derivative_at(const Program& program, std::span<const Tensor> x);

/// The smallest precision among the floats of a program and of programs inside: 2⁻⁸ for bf16, 2⁻⁵²
/// for f64.
double coarsest_epsilon(const Program& program);

}  // namespace hom::laws
