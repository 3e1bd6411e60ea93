// backends/cpu/sharing.cc -- the limits in force
#include <hom/backends/cpu/sharing.h>

#include <atomic>

namespace hom::cpu {
namespace {

std::atomic<SharingLimits>& limits() {
  static std::atomic<SharingLimits> instance = SharingLimits{};
  return instance;
}

}  // namespace

SharingLimits sharing_limits() { return limits().load(std::memory_order_relaxed); }

SharingLimitsScope::SharingLimitsScope(SharingLimits those)
    : before_(limits().exchange(those, std::memory_order_relaxed)) {}

SharingLimitsScope::~SharingLimitsScope() { limits().store(before_, std::memory_order_relaxed); }

}  // namespace hom::cpu
