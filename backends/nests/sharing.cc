// backends/nests/sharing.cc -- pieces of launches
#include <hom/backends/nests/sharing.h>

#include <algorithm>
#include <cmath>

#include <hom/backends/nests/phases.h>

namespace hom::nest {
namespace {

/// Pieces of vectors begin at cache lines of every dtype.
constexpr std::int64_t vector_unit = 64;

/// Positions of the first axis for one piece, or 0 where it is not worth it.
std::int64_t grain_of(const Kernel& kernel, const SharingOptions& options) {
  const Loop* const loop = split_loop(kernel);
  if (loop == nullptr || loop->axes.empty()) return 0;
  const Axis axis = loop->axes[0];
  const std::int64_t extent = kernel.axes[axis];
  const double ns = estimated_ns(kernel);
  if (ns < options.least_ns || extent < 2) return 0;
  if (kernel.block > 0) return kernel.block;
  const double position_ns = ns / static_cast<double>(extent);
  const std::int64_t unit = kernel.vector_axis == axis ? vector_unit
                            : loop->tile.empty()       ? 1
                                                       : loop->tile[0];
  auto grain = static_cast<std::int64_t>(std::ceil(options.piece_ns / position_ns));
  grain = std::clamp<std::int64_t>((grain + unit - 1) / unit * unit, unit, extent);
  return grain < extent ? grain : 0;
}

/// Of matrix products, roughly.
constexpr double flops_per_ns = 60;

class Sharing {
 public:
  Sharing(Plan& plan, const SharingOptions& options) : plan_(plan), options_(options) {}

  void run(Instructions& instructions) {
    Instructions done;
    for (Instruction& instruction : instructions) {
      if (auto* launch = std::get_if<Launch>(&instruction.is)) {
        if (split(*launch, instruction.step, done)) continue;
        launch->grain = nest::grain_of(plan_.kernels[launch->kernel], options_);
      } else if (auto* repeat = std::get_if<Repeat>(&instruction.is)) {
        run(repeat->body);
      } else if (auto* loop = std::get_if<While>(&instruction.is)) {
        run(loop->condition);
        run(loop->body);
      } else if (auto* branch = std::get_if<Branch>(&instruction.is)) {
        run(branch->then);
        run(branch->otherwise);
      } else if (auto* strips = std::get_if<Strips>(&instruction.is)) {
        strips->grain = grain_of(*strips);
      }
      done.push_back(std::move(instruction));
    }
    instructions = std::move(done);
  }

 private:
  /// Strips are shared as wholes.
  std::int64_t grain_of(const Strips& strips) const {
    double ns = 0;
    for (const Instruction& instruction : strips.body) {
      if (const auto* launch = std::get_if<Launch>(&instruction.is)) {
        ns += estimated_ns(plan_.kernels[launch->kernel]);
      } else {
        ns += plan_.routines[std::get<Call>(instruction.is).routine]->work().flops / flops_per_ns;
      }
    }
    if (ns < options_.least_ns) return 0;
    const double strip_ns = ns / static_cast<double>(strips.count());
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(options_.piece_ns / strip_ns), 1,
                                    strips.count());
  }

  /// Puts launches of the kernel's phases in its place, if it has any.
  bool split(const Launch& launch, std::uint32_t step, Instructions& to) {
    Phases phases = split_into_phases(plan_.kernels[launch.kernel], options_);
    if (phases.phases.empty()) return false;
    std::vector<Address> addresses = launch.arguments;
    for (const TensorType& type : phases.temporaries) {
      addresses.push_back({static_cast<std::uint32_t>(plan_.buffers.size())});
      plan_.buffers.push_back(
          {.type = type, .place = PlannedBuffer::Place::temporary, .label = "between"});
    }
    bool is_first = true;
    for (Phases::Phase& phase : phases.phases) {
      Launch one{launch.kernel, {}};
      // The first one in the place of the kernel that is gone.
      if (!is_first) {
        one.kernel = static_cast<std::uint32_t>(plan_.kernels.size());
        plan_.kernels.emplace_back();
      }
      is_first = false;
      for (const std::uint32_t argument : phase.arguments)
        one.arguments.push_back(addresses[argument]);
      one.grain = nest::grain_of(phase.kernel, options_);
      // Blocks have their places whoever runs them.
      if (phase.kernel.block > 0) one.grain = phase.kernel.block;
      plan_.kernels[one.kernel] = std::move(phase.kernel);
      to.push_back({std::move(one), step});
    }
    return true;
  }

  Plan& plan_;
  const SharingOptions& options_;
};

}  // namespace

void share_launches(Plan& plan, const SharingOptions& options) {
  Sharing(plan, options).run(plan.body);
}

}  // namespace hom::nest
