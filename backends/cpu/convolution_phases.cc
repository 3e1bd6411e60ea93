// backends/cpu/convolution_phases.cc -- phases along each axis, and all combinations of them
#include <hom/backends/cpu/convolution_phases.h>

#include <algorithm>
#include <numeric>

namespace hom::cpu {
namespace {

std::int64_t floored(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

std::vector<PhaseAxis> phases_along(const ConvolutionAxis& axis) {
  const std::int64_t step = axis.spacing / std::gcd(axis.stride, axis.spacing);
  std::vector<PhaseAxis> phases;
  for (std::int64_t first = 0; first < std::min(step, axis.count()); ++first) {
    PhaseAxis phase{first,
                    step,
                    (axis.count() - first + step - 1) / step,
                    step * axis.stride / axis.spacing,
                    {},
                    {},
                    axis.extent};
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const std::int64_t place = first * axis.stride + k * axis.dilation - axis.low;
      if (place % axis.spacing != 0) continue;
      phase.taps.push_back(k);
      phase.elements.push_back(floored(place, axis.spacing));
    }
    phases.push_back(std::move(phase));
  }
  return phases;
}

void find_taps(const ConvolutionSizes& sizes, ConvolutionPhase& phase) {
  Shape counts;
  for (const PhaseAxis& along : phase.axes)
    counts.push_back(static_cast<std::int64_t>(along.taps.size()));
  phase.tap_step = phase.axes.empty() ? 0 : phase.axes.back().tap_step();
  for_each_index(counts, [&](const Shape& index) {
    std::int64_t tap = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      tap = tap * sizes.axes[i].kernel + phase.axes[i].taps[static_cast<std::size_t>(index[i])];
    phase.taps.push_back(tap);
  });
}

void find_outputs(const ConvolutionSizes& sizes, ConvolutionPhase& phase) {
  Shape counts;
  for (const PhaseAxis& along : phase.axes) counts.push_back(along.count);
  for_each_index(counts, [&](const Shape& index) {
    std::int64_t output = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      output = output * sizes.axes[i].count() + phase.axes[i].first + index[i] * phase.axes[i].step;
      phase.positions.push_back(index[i] * phase.axes[i].stride);
    }
    phase.outputs.push_back(output);
  });
}

}  // namespace

std::int64_t ConvolutionSizes::x_elements() const {
  std::int64_t elements = 1;
  for (const ConvolutionAxis& axis : axes) elements *= axis.extent;
  return elements;
}

std::int64_t ConvolutionSizes::y_elements() const {
  std::int64_t elements = 1;
  for (const ConvolutionAxis& axis : axes) elements *= axis.count();
  return elements;
}

std::int64_t ConvolutionSizes::places() const {
  std::int64_t places = 1;
  for (const ConvolutionAxis& axis : axes) places *= axis.kernel;
  return places;
}

std::int64_t PhaseAxis::tap_step() const {
  const std::int64_t step = elements.size() > 1 ? elements[1] - elements[0] : 1;
  for (std::size_t t = 1; t < elements.size(); ++t) {
    if (elements[t] != elements[t - 1] + step) return 0;
  }
  return step;
}

bool ConvolutionPhase::is_identity() const {
  return taps.size() == 1 && std::all_of(axes.begin(), axes.end(), [](const PhaseAxis& along) {
           return along.stride == 1 && along.step == 1 && along.elements[0] == 0 &&
                  along.count == along.extent;
         });
}

std::vector<ConvolutionPhase> convolution_phases(const ConvolutionSizes& sizes) {
  std::vector<std::vector<PhaseAxis>> along;
  Shape counts;
  for (const ConvolutionAxis& axis : sizes.axes) {
    along.push_back(phases_along(axis));
    counts.push_back(static_cast<std::int64_t>(along.back().size()));
  }
  std::vector<ConvolutionPhase> phases;
  for_each_index(counts, [&](const Shape& index) {
    ConvolutionPhase phase;
    for (std::size_t i = 0; i < index.size(); ++i)
      phase.axes.push_back(along[i][static_cast<std::size_t>(index[i])]);
    find_taps(sizes, phase);
    find_outputs(sizes, phase);
    phases.push_back(std::move(phase));
  });
  return phases;
}

}  // namespace hom::cpu
