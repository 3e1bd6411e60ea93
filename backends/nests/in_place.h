// backends/nests/in_place.h -- whether a kernel may write what it reads: two arguments as one
// memory
#pragma once

#include <cstdint>
#include <vector>

#include <hom/backends/nests/nest.h>

namespace hom::nest {

/// The loads and stores of a kernel with their places among its loops, found once.
class KernelAccesses {
 public:
  explicit KernelAccesses(const Kernel& kernel);

  /// Whether argument `written`, of which the kernel reads nothing, may have the memory of argument
  /// `read`, which it does not write: each element is loaded for the last time before it is stored.
  /// Known to be so where each load of it comes before each store in the same iteration, at the
  /// same index, or in an earlier loop of the kernel; otherwise false.
  bool may_share(std::uint32_t read, std::uint32_t written) const;

 private:
  static constexpr std::uint32_t outside = UINT32_MAX;
  /// Where something happens: in a loop, as a statement of it. Statements are numbered in the order
  /// of the text.
  struct Place {
    std::uint32_t loop = outside;
    std::uint32_t statement = 0;
  };
  struct LoopPlace {
    Place place;
    std::uint32_t depth;
    const Loop* loop;
  };
  struct Site {
    Place place;
    Value index;
    bool combines;
  };

  void walk(const Block& block, std::uint32_t loop);
  /// Notes the loads that the value needs and that no statement has defined.
  void use(Value value, Place place);
  bool precedes(const Site& load, const Site& store) const;
  bool is_injective(const Site& store) const;

  const Kernel& kernel_;
  std::vector<LoopPlace> loops_;
  /// By buffer.
  std::vector<std::vector<Site>> loads_;
  std::vector<std::vector<Site>> stores_;
  std::vector<bool> defined_;
  std::uint32_t statements_ = 0;
};

}  // namespace hom::nest
