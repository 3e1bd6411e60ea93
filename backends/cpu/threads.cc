// backends/cpu/threads.cc -- how many processors this process may use
#include <hom/backends/cpu/threads.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include <sched.h>

#include <hom/core/error.h>

namespace hom {
namespace {

constexpr int most_threads = 1024;

int processors_of_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) return std::max(1, CPU_COUNT(&mask));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Processors of a quota and its period, both in microseconds.
std::optional<int> processors_of(double quota, double period) {
  if (!(quota > 0) || !(period > 0)) return std::nullopt;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

/// `cpu.max` of version 2 holds `max 100000` or `200000 100000`.
std::optional<int> quota_in(const std::string& folder) {
  if (std::ifstream file(folder + "/cpu.max"); file) {
    std::string quota;
    double period = 0;
    if (file >> quota >> period && quota != "max")
      return processors_of(std::strtod(quota.c_str(), nullptr), period);
    return std::nullopt;
  }
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (quota_file >> quota && period_file >> period) return processors_of(quota, period);
  return std::nullopt;
}

/// The smallest quota of this process's control group and those around it.
int processors_of_quota() {
  int least = most_threads;
  const auto look = [&](const std::string& root, std::string path) {
    for (;;) {
      if (const auto quota = quota_in(root + path)) least = std::min(least, *quota);
      if (path.empty() || path == "/") return;
      path.erase(path.find_last_of('/'));
    }
  };
  // Lines are `0::/path` of version 2 and `4:cpu,cpuacct:/path` of version 1.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") look("/sys/fs/cgroup", path);
    if (controllers.find(",cpu,") != std::string::npos) look("/sys/fs/cgroup/cpu", path);
  }
  return least;
}

int first_number() {
  if (const char* const text = std::getenv("HOM_THREADS")) {
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (end != text && *end == '\0' && number >= 1)
      return static_cast<int>(std::min<long>(number, most_threads));
  }
  return std::min({processors_of_mask(), processors_of_quota(), most_threads});
}

/// 0 where nobody has asked or said.
std::atomic<int> number = 0;

}  // namespace

int threads() {
  const int known = number.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const int first = first_number();
  int none = 0;
  return number.compare_exchange_strong(none, first, std::memory_order_relaxed) ? first : none;
}

void set_threads(int n) {
  require(n >= 0 && n <= most_threads, {}, [&] {
    return Complaint{
        "set_threads: " + std::to_string(n) + " is not from 0 to " + std::to_string(most_threads),
        "0 means as many as there are processors for this process"};
  });
  number.store(n, std::memory_order_relaxed);
}

}  // namespace hom
