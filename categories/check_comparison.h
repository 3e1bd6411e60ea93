// categories/check_comparison.h -- forward mode, reverse mode and differences of one program at one
// point
#pragma once

#include <string>
#include <vector>

#include <hom/categories/check_slopes.h>
#include <hom/categories/linearize.h>

namespace hom::checking {

/// A program at a point: its values nearby, and its derivative by both modes.
class Point {
 public:
  /// `active` marks the inputs that may vary; of those the floats do. The program outlives this.
  Point(const Program& program, std::vector<Tensor> inputs, const std::vector<bool>& active,
        const Location& at);

  /// Positions of the inputs that vary, and of the outputs that are floats.
  const std::vector<std::size_t>& varying() const { return varying_; }
  const std::vector<std::size_t>& floats() const { return floats_; }
  /// Elements of each float output.
  const std::vector<Numbers>& values() const { return values_; }
  Numbers input(std::size_t v) const { return inputs_[varying_[v]].to_vector(at_); }
  Shape input_shape(std::size_t v) const { return inputs_[varying_[v]].shape(at_); }
  Shape output_shape(std::size_t o) const {
    return program_.type(program_.outputs()[floats_[o]]).shape;
  }
  /// Why a mode is not there; empty where it is.
  const std::string& no_forward() const { return no_forward_; }
  const std::string& no_reverse() const { return no_reverse_; }

  /// The float outputs with input v moved by h·direction.
  std::vector<Numbers> moved(std::size_t v, const Numbers& direction, double h) const;
  /// J v for each float output; nothing where there is no forward mode.
  std::vector<Numbers> forward(std::size_t v, const Numbers& direction);
  /// Jᵀ w for each input that varies; nothing where there is no reverse mode.
  std::vector<Numbers> reverse(std::size_t output, const Numbers& cotangent);

 private:
  Tensor like_input(std::size_t v, const Numbers& elements) const;
  std::vector<Numbers> results_of(const Program& program, const std::vector<Tensor>& inputs,
                                  std::string& missing) const;

  const Program& program_;
  Evaluation run_;
  std::vector<Tensor> inputs_;
  Location at_;
  std::vector<std::size_t> varying_;
  std::vector<std::size_t> floats_;
  Linearization linear_;
  Program pullback_;
  std::vector<Tensor> residuals_;
  std::vector<Numbers> values_;
  std::string no_forward_;
  std::string no_reverse_;
};

/// Compares the methods at a point: one check for each float output and each input that varies,
/// output by output. `magnitude`: how large the numbers are that are rounded, where larger than the
/// results.
std::vector<DerivativeCheck> compare(Point& point, const CheckOptions& options, Precision precision,
                                     const std::vector<std::string>& outputs,
                                     const std::vector<std::string>& inputs, double magnitude = 0);

}  // namespace hom::checking
