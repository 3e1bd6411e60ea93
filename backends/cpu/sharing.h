// backends/cpu/sharing.h -- how much work is worth several threads
#pragma once

namespace hom::cpu {

/// Nanoseconds on one thread, as estimated (docs/performance.md says what was measured).
struct SharingLimits {
  /// Less work than this stays on the thread that calls.
  float least_ns = 100'000;
  /// What one chunk takes, about: much more than taking it, and little to wait for.
  float chunk_ns = 20'000;
};

/// Those in force. Results do not depend on them.
SharingLimits sharing_limits();

/// Others while it lives, for tests: all threads see them.
class SharingLimitsScope {
 public:
  explicit SharingLimitsScope(SharingLimits limits);
  ~SharingLimitsScope();
  SharingLimitsScope(const SharingLimitsScope&) = delete;
  SharingLimitsScope& operator=(const SharingLimitsScope&) = delete;

 private:
  SharingLimits before_;
};

}  // namespace hom::cpu
